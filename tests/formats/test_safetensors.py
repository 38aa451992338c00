"""safetensors files: those of the format's own library to the last byte; unsound headers of every kind are refused."""

import contextlib
import json
import random

import numpy as np
import pytest
import record_safetensors as recorded

import headrace as tf
from headrace._src.formats import durable_files
from headrace._src.formats.safetensors_files import TensorFile, write_shards

GOLDEN = recorded.FOLDER


def tensors():
    """What was recorded."""
    named = {f"numbers/{name}": tf.cast(recorded.VALUES, name) for name in recorded.DTYPES}
    named |= {'ünicode "quoted"\n': tf.constant(7.0), "empty": tf.zeros([0, 3]), "b": tf.ones([1]), "a": tf.ones([2])}
    return named


def test_files_are_equal_to_those_of_the_library(tmp_path):
    tf.safetensors.save_file(tensors(), tmp_path / "file", recorded.METADATA)
    assert (tmp_path / "file").read_bytes() == (GOLDEN / "dtypes.safetensors").read_bytes()
    assert tf.safetensors.save(tensors(), recorded.METADATA) == (GOLDEN / "dtypes.safetensors").read_bytes()
    assert tf.safetensors.save({}) == (GOLDEN / "nothing.safetensors").read_bytes()


def test_every_dtype_is_read():
    expected, loaded = tensors(), tf.safetensors.load_file(GOLDEN / "dtypes.safetensors")
    assert sorted(loaded) == sorted(expected)
    for name, tensor in expected.items():
        assert loaded[name].dtype is tensor.dtype
        assert loaded[name].shape == tensor.shape
        np.testing.assert_array_equal(loaded[name].numpy(), tensor.numpy())
    assert tf.safetensors.load_file(GOLDEN / "nothing.safetensors") == {}
    with tf.safetensors.safe_open(GOLDEN / "dtypes.safetensors") as file:
        assert file.metadata() == recorded.METADATA


def test_the_library_reads_ours(tmp_path):
    numpy_side = pytest.importorskip("safetensors.numpy")
    named = {name: tensor for name, tensor in tensors().items() if "float8" not in name}
    tf.safetensors.save_file(named, tmp_path / "file")
    for name, array in numpy_side.load_file(tmp_path / "file").items():
        np.testing.assert_array_equal(array, named[name].numpy())


@pytest.mark.parametrize("path", ["model.safetensors.index.json", "model-00001-of-00002.safetensors"])
def test_an_index_and_a_part(path):
    loaded = tf.safetensors.load_file(GOLDEN / path)
    assert sorted(loaded) == (["x", "y", "z"] if path.endswith("json") else ["x", "y"])
    assert loaded["x"].numpy().tolist() == [0.0] * 3


def test_parts_of_tensors(tmp_path):
    tf.safetensors.save_file({"x": tf.reshape(tf.range(24), [4, 3, 2]), "s": tf.constant(1)}, tmp_path / "file")
    expected = np.arange(24).reshape(4, 3, 2)
    with tf.safetensors.safe_open(tmp_path / "file") as file:
        rows = file.get_slice("x")
        assert (rows.dtype, rows.shape) == (tf.int32, (4, 3, 2))
        for index in (
            np.s_[1:3],
            np.s_[:],
            np.s_[2:1],
            np.s_[1:3, ::2],
            np.s_[-2:, 1, 0],
            np.s_[3],
            np.s_[::2],
            np.s_[..., 1],
        ):
            np.testing.assert_array_equal(rows[index].numpy(), expected[index])
        assert file.get_slice("s")[()].numpy() == 1
        assert "x" in file
        assert list(file) == ["s", "x"]
        with pytest.raises(tf.errors.NotFoundError, match="no tensor 'y'"):
            file.get_slice("y")
        with pytest.raises(tf.errors.NotFoundError, match="no tensor 'y'"):
            file.get_tensor("y")


def framed(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


LARGE = [1 << 40, 1 << 40]
UNSOUND = {
    "nothing": (b"", "it has 0 bytes"),
    "a short length": (b"\x02\0\0", "the length of the header alone takes 8"),
    "a long header": ((100_000_001).to_bytes(8, "little") + b"{}", "more than the 100000000"),
    "a huge length": (b"\xff" * 8, "18446744073709551615 bytes"),
    "a header that is cut off": (framed({"a": entry()})[:20], "the file ends at 20"),
    "another beginning": (framed(b" {}"), "begins with b' '"),
    "no JSON": (framed(b"{nothing}"), "cannot be read"),
    "no text": (framed(b'{"\xff": 1}'), "cannot be read"),
    "a name twice": (framed(b'{"a": 1, "a": 2}'), "'a' stands twice"),
    "a field twice": (framed(b'{"a": {"dtype": "F32", "dtype": "F32"}}'), "'dtype' stands twice"),
    "no finite number": (framed(b'{"a": NaN}'), "NaN"),
    "deep nesting": (framed(b'{"a":' + b"[" * 200_000), "nested too deeply"),
    "a tensor that is a number": (framed({"a": 1}), "tensor 'a' has 1"),
    "a missing field": (framed({"a": {"dtype": "F32", "shape": []}}), r"\['dtype', 'shape'\]"),
    "a field too many": (framed({"a": entry() | {"x": 1}}, bytes(4)), "'x'"),
    "another dtype": (framed({"a": entry("F33")}, bytes(4)), "unknown dtype 'F33'"),
    "a dtype that is no text": (framed({"a": entry([])}, bytes(4)), "unknown dtype"),
    "a negative size": (framed({"a": entry(shape=[-1])}, bytes(4)), r"shape \[-1\]"),
    "a size that is no integer": (framed({"a": entry(shape=[1.0])}, bytes(4)), r"shape \[1.0\]"),
    "a size that is a bool": (framed({"a": entry(shape=[True])}, bytes(4)), r"shape \[True\]"),
    "many dimensions": (framed({"a": entry(shape=[1] * 65)}, bytes(4)), "has the shape"),
    "a huge shape": (framed({"a": entry(shape=LARGE)}, bytes(4)), "takes 4835703278458516698824704"),
    "a huge shape of nothing": (framed({"a": entry(shape=[0, *LARGE], offsets=[0, 0])}), "no array can have"),
    "a wrong size": (framed({"a": entry(shape=[2])}, bytes(4)), "has 4 bytes at offset 0, but F32 of shape .* takes 8"),
    "three offsets": (framed({"a": entry(offsets=[0, 4, 4])}, bytes(4)), "data_offsets"),
    "offsets the other way": (framed({"a": entry(offsets=[4, 0])}, bytes(4)), "data_offsets"),
    "negative offsets": (framed({"a": entry(offsets=[-4, 0])}, bytes(4)), "data_offsets"),
    "an overlap": (framed({"a": entry(), "b": entry(offsets=[2, 6])}, bytes(6)), "'b' at offset 2 overlaps"),
    "the same place": (framed({"a": entry(), "b": entry()}, bytes(4)), "overlaps the one before it, which ends at 4"),
    "a hole": (framed({"a": entry(), "b": entry(offsets=[8, 12])}, bytes(12)), "'b' at offset 8 does not follow"),
    "a hole at the beginning": (framed({"a": entry(offsets=[4, 8])}, bytes(8)), "'a' at offset 4 does not follow"),
    "data too short": (framed({"a": entry()}, bytes(3)), "end at offset 4, but 3 bytes follow the header: it is trunc"),
    "data too long": (framed({"a": entry()}, bytes(5)), "what comes behind them belongs to none"),
    "metadata that are no texts": (framed({"__metadata__": {"a": 1}}), "must map texts to texts"),
    "metadata that are a list": (framed({"__metadata__": []}), "must map texts to texts"),
}


@pytest.mark.parametrize("what", UNSOUND)
def test_unsound_files_are_refused(tmp_path, what):
    data, match = UNSOUND[what]
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=match) as caught:
        tf.safetensors.load_file(path)
    assert str(path) in caught.value.message
    with pytest.raises(tf.errors.DataLossError, match=match):
        tf.safetensors.load(data)


def test_dtypes_that_there_are_no_tensors_of(tmp_path):
    (tmp_path / "f").write_bytes(framed({"a": entry("F8_E8M0", [4], [0, 4])}, bytes(4)))
    with pytest.raises(tf.errors.UnimplementedError, match="tensor 'a' is F8_E8M0"):
        tf.safetensors.load_file(tmp_path / "f")
    for tensor in tf.constant("x"), tf.constant(1j, tf.complex128):
        with pytest.raises(tf.errors.InvalidArgumentError, match="tensor 't' is .* which the format does not have"):
            tf.safetensors.save({"t": tensor})


def test_other_bad_arguments(tmp_path):
    with pytest.raises(TypeError, match="expected a dict"):
        tf.safetensors.save_file(tf.Module(), tmp_path / "f")
    with pytest.raises(TypeError, match="names of tensors are texts"):
        tf.safetensors.save({1: tf.ones([])})
    with pytest.raises(TypeError, match=r"metadata are texts by text, got 'step': 3"):
        tf.safetensors.save({}, {"step": 3})
    with pytest.raises(tf.errors.InvalidArgumentError, match="__metadata__"):
        tf.safetensors.save({"__metadata__": tf.ones([])})
    with pytest.raises(tf.errors.InvalidArgumentError, match="no UTF-8"):
        tf.safetensors.save({"\udcff": tf.ones([])})
    for size in "2 parsecs", "GB", "", -3, "0":
        with pytest.raises(ValueError, match="max_shard_size"):
            tf.safetensors.save_file({}, tmp_path / "f", max_shard_size=size)
    with pytest.raises(tf.errors.NotFoundError):
        tf.safetensors.load_file(tmp_path / "nothing")
    with pytest.raises(tf.errors.NotFoundError, match="this one has none"):
        tf.safetensors.load_file(tmp_path)
    assert not list(tmp_path.iterdir())


# Several files.


def model(value, count=5):
    return {f"layer_{n}": tf.fill([10], value + n) for n in range(count)}


def values(loaded):
    return {name: tensor.numpy().tolist() for name, tensor in loaded.items()}


def test_shards(tmp_path):
    path = tmp_path / "model.safetensors"
    tf.safetensors.save_file(model(1.0), path, {"by": "me"}, max_shard_size=100)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "model-00001-of-00003.safetensors",
        "model-00002-of-00003.safetensors",
        "model-00003-of-00003.safetensors",
        "model.safetensors.index.json",
    ]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"] == {"total_size": 200, "by": "me"}
    assert index["weight_map"]["layer_4"] == "model-00003-of-00003.safetensors"
    for source in tmp_path, tmp_path / "model.safetensors.index.json":
        assert values(tf.safetensors.load_file(source)) == values(model(1.0))
    # The old files stay whole until the new ones are there, and go then.
    tf.safetensors.save_file(model(2.0), path, max_shard_size="100B")
    assert values(tf.safetensors.load_file(tmp_path)) == values(model(2.0))
    assert sorted(file.name for file in tmp_path.iterdir())[0] == "model-r2-00001-of-00003.safetensors"
    assert len(list(tmp_path.iterdir())) == 4
    tf.safetensors.save_file(model(3.0), path, max_shard_size="1KiB")
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]
    tf.safetensors.save_file(model(4.0), path, max_shard_size=50)
    assert len(list(tmp_path.iterdir())) == 6
    assert values(tf.safetensors.load_file(tmp_path)) == values(model(4.0))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"[]", "no index"),
        (b"{", "no index"),
        (b"\xff", "no index"),
        (b"[" * 200_000, "no index"),
        (b'{"weight_map": 3}', "no index"),
        (b'{"weight_map": {"x": 3}}', "must name a file"),
        (b'{"weight_map": {}, "metadata": []}', "no index"),
        (b'{"weight_map": {"x": "../model.safetensors"}}', "not in its folder"),
        (b'{"weight_map": {"x": "/etc/passwd"}}', "not in its folder"),
        (b'{"weight_map": {"x": ".."}}', "not in its folder"),
        (b'{"weight_map": {"nothing": "part.safetensors"}}', "tensor 'nothing' should be in"),
    ],
)
def test_unsound_indices(tmp_path, content, match):
    tf.safetensors.save_file({"x": tf.ones([1])}, tmp_path / "part.safetensors")
    (tmp_path / "model.safetensors.index.json").write_bytes(content)
    with pytest.raises(tf.errors.DataLossError, match=match) as caught:
        tf.safetensors.load_file(tmp_path)
    assert "model.safetensors.index.json" in caught.value.message


def test_a_part_that_is_missing(tmp_path):
    tf.safetensors.save_file(model(1.0), tmp_path / "m.safetensors", max_shard_size=100)
    (tmp_path / "m-00002-of-00003.safetensors").unlink()
    with pytest.raises(tf.errors.NotFoundError, match=r"m-00002-of-00003.safetensors.*Copy all files"):
        tf.safetensors.load_file(tmp_path)


class FailingDisk(durable_files.Disk):
    """Fails at a step."""

    def __init__(self, at):
        self.at, self.count = at, 0

    def _step(self):
        self.count += 1
        if self.count == self.at:
            raise OSError(28, "No space left on device")


for _name in ("create", "write", "sync", "rename", "remove", "sync_folder"):

    def _failing(self, *args, _name=_name):
        self._step()
        return getattr(durable_files.Disk, _name)(self, *args)

    setattr(FailingDisk, _name, _failing)


@pytest.mark.parametrize("size", [None, 100])
def test_whatever_fails_the_old_or_the_new_file_is_there(tmp_path, size):
    path, at = tmp_path / "model.safetensors", 0
    tf.safetensors.save_file(model(0.0), path, max_shard_size=size)
    before = values(tf.safetensors.load_file(tmp_path))
    while True:
        at += 1
        new = model(float(at))
        disk = FailingDisk(at)
        with durable_files.disk_replaced(disk), contextlib.suppress(tf.errors.ResourceExhaustedError):
            tf.safetensors.save_file(new, path, max_shard_size=size)
        loaded = values(tf.safetensors.load_file(tmp_path))
        assert loaded in (before, values(new))
        before = loaded
        if disk.count < at:
            break
    assert at > (4 if size is None else 15)
    assert loaded == values(new)


def test_large_tensors_are_not_copied(tmp_path):
    made = []

    def make(n):
        made.append(n)
        return np.full([1 << 18], n, np.float32)

    write_shards(
        str(tmp_path / "m.safetensors"),
        {str(n): (tf.float32, (1 << 18,), lambda n=n: make(n)) for n in range(4)},
        1 << 30,
    )
    assert made == [0, 1, 2, 3]
    with TensorFile(tmp_path / "m.safetensors") as file:
        assert file.read("3")[-1] == 3.0


def test_a_store_without_renames(tmp_path):
    tf.safetensors.save_file(model(1.0), "ram://safetensors/model.safetensors", max_shard_size=100)
    assert values(tf.safetensors.load_file("ram://safetensors")) == values(model(1.0))


def test_bytes_at_random_give_typed_errors():
    rng = random.Random(1)
    data = tf.safetensors.save(model(1.0))
    for _ in range(2000):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            tf.safetensors.load(bytes(changed))
        except (tf.errors.DataLossError, tf.errors.UnimplementedError):
            continue
