"""Checkpoints' files: equal to TensorFlow's to the last byte, whole or absent, and every kind of damage is named."""

import hashlib
import pathlib
import random
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
import record_bundles

import headrace as tf
from headrace._src.core import dtypes
from headrace._src.formats import bundle_files, durable_files
from headrace._src.formats.bundle_entries import Entry, decode_entry, encode_entry
from headrace._src.formats.sorted_table import Table
from headrace._src.formats.tensor_bundle import BundleReader, BundleWriter, write_bundle
from headrace._src.formats.tensor_slices import TensorSlice, whole

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "bundles"
DATA = "data-00000-of-00001"


def small(prefix, value=1.0, **options):
    tensors = [("a", tf.float32, np.full([3], value, np.float32)), ("b", tf.string, text(b"x", b"yz"))]
    write_bundle(prefix, tensors, **options)


def text(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_every_dtype_is_written_as_tensorflow_does(tmp_path):
    named = record_bundles.tensors(tf)
    write_bundle(tmp_path / "dtypes", [(name, tensor.dtype, tensor._a) for name, tensor in named.items()])
    for ending in ("index", DATA):
        assert (tmp_path / f"dtypes.{ending}").read_bytes() == (GOLDEN / f"dtypes.{ending}").read_bytes()


def test_every_dtype_is_read():
    reader = BundleReader(GOLDEN / "dtypes")
    named = record_bundles.tensors(tf)
    assert list(reader.keys()) == sorted(named)
    for name, tensor in named.items():
        array = reader.read(name)
        assert reader.entries[name].dtype is tensor.dtype
        assert array.dtype == tensor._a.dtype
        assert array.shape == tensor.shape == reader.entries[name].shape
        assert array.flags.writeable
        np.testing.assert_array_equal(array, tensor._a)


def test_many_entries_are_in_the_blocks_that_tensorflow_makes(tmp_path):
    numbers = ((n * 7919 % 6000, n) for n in range(6000))
    write_bundle(
        tmp_path / "many",
        ((f"model/layer_{k}/kernel/.ATTRIBUTES/VARIABLE_VALUE", tf.int32, np.array(n, np.int32)) for k, n in numbers),
    )
    data = (tmp_path / "many.index").read_bytes()
    assert hashlib.sha256(data).hexdigest() == (GOLDEN / "many.sha256").read_text().strip()
    assert BundleReader(tmp_path / "many").read("model/layer_1919/kernel/.ATTRIBUTES/VARIABLE_VALUE") == 1


def test_variants_keep_their_messages(tmp_path):
    reader = BundleReader(GOLDEN / "variants")
    assert b"tensorflow::TensorList" in reader.read("list").item()
    assert reader.read("lists").shape == (2,)
    write_bundle(tmp_path / "v", [(key, tf.variant, reader.read(key)) for key in reader.keys()])
    for ending in ("index", DATA):
        assert (tmp_path / f"v.{ending}").read_bytes() == (GOLDEN / f"variants.{ending}").read_bytes()


def test_small_dtypes_that_tensorflow_cannot_cast_to(tmp_path):
    named = {
        dtype.name: np.array([0, 1, 0, 1]).astype(dtype._np)
        for dtype in (*dtypes.SMALL_INTEGER, *dtypes.FLOAT8, dtypes.float4_e2m1fn)
    }
    assert named["int4"].dtype == ml_dtypes.int4
    write_bundle(tmp_path / "c", [(name, dtypes.as_dtype(name), array) for name, array in named.items()])
    reader = BundleReader(tmp_path / "c")
    for name, array in named.items():
        assert reader.read(name).tobytes() == array.tobytes()


def test_partitioned_tensors_are_joined():
    reader = BundleReader(GOLDEN / "merged")
    assert list(reader.keys()) == ["p", "whole"]
    assert reader.entries["p"].shape == (4, 3)
    np.testing.assert_array_equal(reader.read("p"), np.arange(12.0).reshape(4, 3))
    np.testing.assert_array_equal(reader.read("p", TensorSlice((1, 1), (2, 2))), [[4, 5], [7, 8]])
    np.testing.assert_array_equal(reader.read("p", TensorSlice((3, 0), (1, 1))), [[9]])


def test_partitioned_tensors_are_written_as_tensorflow_does(tmp_path):
    p = np.arange(12, dtype=np.float32).reshape(4, 3)
    with BundleWriter(tmp_path / "m", shards=2) as writer:
        writer.add_slice("p", tf.float32, p[:2], (4, 3), TensorSlice((0, 0), (2, -1)), shard=0)
        writer.add("whole", tf.float32, np.float32(1).reshape(()), shard=0)
        writer.add_slice("p", tf.float32, p[2:], (4, 3), TensorSlice((2, 0), (2, -1)), shard=1)
    for path in GOLDEN.glob("merged.*"):
        assert (tmp_path / path.name.replace("merged", "m")).read_bytes() == path.read_bytes()


def test_slices_must_cover_the_tensor_once(tmp_path):
    for number, rows in enumerate([[(0, 2)], [(0, 2), (1, 2), (3, 1)], [(0, 3), (2, 2)], [(0, 1), (0, 2), (3, 1)]]):
        prefix = tmp_path / f"s{number}"
        array = np.zeros([4, 2], np.float32)
        write_bundle(
            prefix,
            [("p", tf.float32, array[:n], ((4, 2), TensorSlice((start, 0), (n, -1)))) for start, n in rows],
        )
        with pytest.raises(tf.errors.DataLossError, match="the slices of key 'p' do not cover its shape"):
            BundleReader(prefix).read("p")


def test_several_shards_and_functions_as_values(tmp_path):
    arrays = {f"v{n}": np.full([n + 1, 7], n, np.int64) for n in range(10)}
    write_bundle(tmp_path / "c", [(name, tf.int64, lambda name=name: arrays[name]) for name in arrays], shards=3)
    assert len(list(tmp_path.glob("c.data-*-of-00003"))) == 3
    reader = BundleReader(tmp_path / "c")
    assert {reader.entries[name].shard for name in arrays} == {0, 1, 2}
    for name, array in arrays.items():
        np.testing.assert_array_equal(reader.read(name), array)


def test_arrays_that_do_not_lie_in_order(tmp_path):
    array = np.arange(3_000_000, dtype=np.float32).reshape(1500, 20, 100)
    odd = {"t": array.T, "step": array[::2, :, ::3], "fortran": np.asfortranarray(array), "back": array[::-1]}
    write_bundle(tmp_path / "c", [(name, tf.float32, value) for name, value in odd.items()])
    for name, value in odd.items():
        np.testing.assert_array_equal(BundleReader(tmp_path / "c").read(name), value)


@pytest.mark.parametrize("ending", ["", ".index", f".{DATA}"])
def test_a_path_may_name_one_of_the_files(tmp_path, ending):
    small(tmp_path / "c.v1")
    assert BundleReader(f"{tmp_path / 'c.v1'}{ending}").read("a").tolist() == [1, 1, 1]


def test_what_is_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match=r"Failed to find any matching files for .*none: there is no"):
        BundleReader(tmp_path / "none")
    small(tmp_path / "c")
    reader = BundleReader(tmp_path / "c")
    assert "a" in reader
    assert "z" not in reader
    with pytest.raises(tf.errors.NotFoundError, match=r"Key z not found in checkpoint .*c\."):
        reader.read("z")
    (tmp_path / f"c.{DATA}").unlink()
    assert reader.read("a").tolist() == [1, 1, 1]  # its files are open
    with pytest.raises(tf.errors.NotFoundError, match="It should have key 'a'"):
        BundleReader(tmp_path / "c").read("a")


def test_wrong_keys_are_refused_and_leave_nothing(tmp_path):
    for key in ("", "\0x"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not be empty"):
            write_bundle(tmp_path / "c", [(key, tf.float32, np.zeros([], np.float32))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Adding duplicate key: k"):
        write_bundle(tmp_path / "c", [("k", tf.float32, np.zeros([], np.float32))] * 2)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_the_old_checkpoint(tmp_path):
    small(tmp_path / "c")
    before = contents(tmp_path)

    def tensors():
        yield "a", tf.float32, np.zeros([1 << 19], np.float32)
        raise KeyError("the user's")

    with pytest.raises(KeyError):
        write_bundle(tmp_path / "c", tensors())
    assert contents(tmp_path) == before


def test_a_checkpoint_takes_the_place_of_another(tmp_path):
    small(tmp_path / "c", shards=2)
    old = BundleReader(tmp_path / "c")
    small(tmp_path / "c", 2.0)
    assert sorted(contents(tmp_path)) == [f"c.{DATA}", "c.index"]
    assert BundleReader(tmp_path / "c").read("a").tolist() == [2, 2, 2]
    assert old.read("a").tolist() == [1, 1, 1]


class _Stopped(Exception):
    pass


class _StopAfter(durable_files.Disk):
    """A disk on which nothing changes any more after some steps."""

    def __init__(self, steps):
        self.left = steps

    def _step(self):
        self.left -= 1
        if self.left < 0:
            raise _Stopped

    def create(self, path):
        self._step()
        return super().create(path)

    def write(self, file, data):
        self._step()
        super().write(file, data)

    def rename(self, source, target):
        self._step()
        super().rename(source, target)

    def remove(self, path):
        self._step()
        super().remove(path)


def test_stopped_anywhere_one_of_the_two_is_read_and_the_next_save_mends(tmp_path, monkeypatch):
    values = []
    for steps in range(100):
        folder = tmp_path / str(steps)
        folder.mkdir()
        small(folder / "c")
        try:
            with durable_files.disk_replaced(_StopAfter(steps)):
                small(folder / "c", 2.0)
        except _Stopped:
            pass
        else:
            break
        monkeypatch.setattr(durable_files, "_active", set())  # as in the process that comes after the crash
        values.append(BundleReader(folder / "c").read("a").tolist()[0])
        small(folder / "c", 3.0)
        assert BundleReader(folder / "c").read("a").tolist() == [3, 3, 3]
        assert sorted(contents(folder)) == [f"c.{DATA}", "c.index"]
    assert values == sorted(values)
    assert {1.0, 2.0} == set(values)


def test_removing(tmp_path):
    small(tmp_path / "c-1", shards=2)
    small(tmp_path / "c-10")
    bundle_files.remove_bundles([str(tmp_path / "c-1")])
    assert sorted(contents(tmp_path)) == [f"c-10.{DATA}", "c-10.index"]


def test_damage_is_named(tmp_path):
    small(tmp_path / "c")
    good = contents(tmp_path)
    path = tmp_path / f"c.{DATA}"
    path.write_bytes(good[path.name][:8])
    with pytest.raises(tf.errors.DataLossError, match=rf"c\.{DATA}: key 'a' at offset 0: .* ends at 8"):
        BundleReader(tmp_path / "c").read("a")
    path.write_bytes(b"\1" + good[path.name][1:])
    with pytest.raises(tf.errors.DataLossError, match="key 'a' at offset 0: checksum does not match"):
        BundleReader(tmp_path / "c").read("a")
    assert BundleReader(tmp_path / "c").read("b").tolist() == [b"x", b"yz"]
    for at in range(12, len(good[path.name])):
        path.write_bytes(good[path.name][:at] + b"\x7f" + good[path.name][at + 1 :])
        with pytest.raises(tf.errors.DataLossError, match=rf"{DATA}: key 'b' at offset 12: "):
            BundleReader(tmp_path / "c").read("b")


def test_sizes_are_checked_before_memory_is_taken(tmp_path):
    write_bundle(tmp_path / "c", [("a", tf.float32, np.zeros([3], np.float32))])
    with BundleWriter(tmp_path / "huge") as writer:
        for name, dtype, size in [("f", tf.float32, 4 << 40), ("s", tf.string, 4 << 40), ("wrong", tf.float32, 8)]:
            writer.add(name, dtype, np.zeros([2], np.float32) if dtype is tf.float32 else text(b"a", b"b"))
            writer._entries[name] = writer._entries[name]._replace(shape=(1 << 40,), size=size)
    reader = BundleReader(tmp_path / "huge")
    tracemalloc.start()
    for name in ("f", "s", "wrong"):
        with pytest.raises(tf.errors.DataLossError, match=f"key '{name}' at offset"):
            reader.read(name)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_streams(tmp_path):
    def tensors():
        for number in range(20):
            yield f"v{number}", tf.float32, lambda: np.zeros([1 << 20], np.float32)

    tracemalloc.start()
    write_bundle(tmp_path / "c", tensors())
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()


def test_big_endian_checkpoints_are_swapped(tmp_path, monkeypatch):
    array = np.arange(5, dtype=np.int32)
    with BundleWriter(tmp_path / "c") as writer:
        writer.add("a", tf.int32, array.byteswap())
    data = (tmp_path / "c.index").read_bytes()
    assert [key for key, _ in Table(data, "t").items()] == [b"", b"a"]
    monkeypatch.setattr("headrace._src.formats.tensor_bundle.decode_header", lambda header: (1, ">"))
    assert BundleReader(tmp_path / "c").read("a").tolist() == array.tolist()


def test_other_file_systems(tmp_path):
    prefix = f"ram://bundles/{random.Random(str(tmp_path)).random()}/c"
    tf.io.gfile.makedirs(prefix[:-2])
    small(prefix)
    small(prefix, 2.0)
    assert BundleReader(prefix).read("a").tolist() == [2, 2, 2]
    bundle_files.remove_bundles([prefix])
    assert tf.io.gfile.listdir(prefix[:-2]) == []


@pytest.mark.parametrize("size", [0, 1, 127, 128, 2**35, 2**62])
@pytest.mark.parametrize("shape", [(), (0,), (1, 1024, 1025), (2**40,), (1,) * 60])
def test_entries_there_and_back(shape, size):
    entry = Entry(tf.float32, shape, size % 7, size, size // 3, size % 2**32)
    assert decode_entry(encode_entry(entry)) == entry
    sliced = entry._replace(slices=(whole(len(shape)),))
    assert decode_entry(encode_entry(sliced))[:6] == entry[:6]


@pytest.mark.parametrize(
    "data",
    [
        b"\x08\x01\x12\x05\x12\x03\x08\x01",  # the shape is said to be longer
        b"\x08\x01\x12\x04\x12\x03\x08\x01",  # a dimension is said to be longer
        b"\x08\x15\x12\x00\x28\x80",  # the size ends too soon
        b"\x08\x00\x12\x00",  # no dtype
        b"\x08\x14\x12\x00",  # a resource
    ],
)
def test_entries_that_are_cut_off(data):
    with pytest.raises(ValueError, match="cut off|dtype|wire"):
        decode_entry(data)


def test_small_tensors_that_are_read_together(tmp_path):
    arrays = {f"k{i}": np.full((i % 5, 3), i, np.int64) for i in range(2000)} | {
        "large": np.arange(100_000, dtype=np.float32),
        "text": np.array([b"a", b""], object),
    }
    kinds = {"large": tf.float32, "text": tf.string}
    write_bundle(tmp_path / "x", [(key, kinds.get(key, tf.int64), array) for key, array in arrays.items()], shards=3)
    keys = list(reversed(arrays))
    with BundleReader(tmp_path / "x") as reader:
        for key, array in zip(keys, reader.read_many(keys), strict=True):
            np.testing.assert_array_equal(array, arrays[key])
            assert array.flags.writeable
            assert array.flags.owndata or array.base.flags.owndata
        with pytest.raises(tf.errors.NotFoundError, match="Key none"):
            reader.read_many(["k1", "none"])
    path = tmp_path / "x.data-00001-of-00003"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with BundleReader(tmp_path / "x") as reader, pytest.raises(tf.errors.DataLossError, match="checksum"):
        reader.read_many(keys)
