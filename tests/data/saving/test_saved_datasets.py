"""`Dataset.save`, `Dataset.load` and `Dataset.snapshot`, and their files, which TensorFlow writes and reads as well."""

import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import subprocess

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.saving.snapshot_files import Metadata

Dataset = tf.data.Dataset
WRITTEN = pathlib.Path(__file__).parents[2] / "fixtures" / "saved_datasets"
SCRIPT = pathlib.Path(__file__).parent / "saved_by_tensorflow.py"


def values(dataset):
    return list(dataset.as_numpy_iterator())


# What TensorFlow wrote.


@pytest.mark.parametrize(("name", "compression"), [("plain", None), ("gzip", "GZIP"), ("snappy", "SNAPPY")])
def test_written_by_tensorflow(name, compression):
    dataset = Dataset.load(str(WRITTEN / name), compression=compression)
    assert dataset.element_spec == (tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.string))
    assert len(dataset) == 3
    found = values(dataset)
    assert [x.tolist() for x, _ in found] == [[0, 1], [2, 3], [4, 5]]
    assert [y for _, y in found] == [b"a", b"bb", b"ccc"]


def test_shards_written_by_tensorflow():
    one_by_one = Dataset.load(
        str(WRITTEN / "shards"), compression="SNAPPY", reader_func=lambda shards: shards.flat_map(lambda x: x)
    )
    assert values(one_by_one) == [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]
    two = Dataset.load(
        str(WRITTEN / "shards"),
        compression="SNAPPY",
        reader_func=lambda shards: shards.interleave(lambda x: x, cycle_length=2),
    )
    assert values(two) == [0, 1, 3, 4, 6, 7, 9, 2, 5, 8]  # TensorFlow's default on two processors
    assert sorted(values(Dataset.load(str(WRITTEN / "shards"), compression="SNAPPY"))) == list(range(10))


def test_composites_written_by_tensorflow():
    ragged = Dataset.load(str(WRITTEN / "ragged"))
    assert [x.numpy().tolist() for x in ragged] == [[1, 2], [3]]
    for element in Dataset.load(str(WRITTEN / "sparse")):
        np.testing.assert_array_equal(tf.sparse.to_dense(element["a"]), [[1, 0], [0, 2]])
        assert element["b"][0].numpy() == 1.5
        assert element["b"][1].numpy() == b"x"


# Both ways.

Pair = collections.namedtuple("Pair", "x y")
DATASETS = {
    "numbers": lambda: Dataset.from_tensor_slices(np.arange(3000.0).reshape(1000, 3)),
    "pairs": lambda: Dataset.from_tensor_slices(([[0, 1], [2, 3]], ["a", "bé"])),
    "dict": lambda: Dataset.from_tensors({"b": 1, "a": (2.5, "x")}).repeat(3),
    "named": lambda: Dataset.from_tensors(Pair(1, [2.5, 3.5])),
    "ragged": lambda: Dataset.from_tensor_slices(tf.ragged.constant([[[1, 2], [3]], [[4]]])),
    "sparse": lambda: Dataset.from_tensors(tf.sparse.from_dense([[1, 0], [0, 2]])).repeat(2),
    "sizes": lambda: Dataset.range(5).map(lambda n: tf.range(n)),
    "texts": lambda: Dataset.from_tensor_slices([["a", ""], ["ccc", "d" * 300]]),
    "empty": lambda: Dataset.range(3).take(0),
    "half": lambda: Dataset.from_tensors(tf.cast([[1, 0, 3]], tf.float16)),
    "bfloat16": lambda: Dataset.from_tensors(tf.cast([[1, 0, 3]], tf.bfloat16)),
    "bool": lambda: Dataset.from_tensors([True, False]),
    "unsigned": lambda: Dataset.from_tensors(tf.constant([2**64 - 1], tf.uint64)),
    "nothing": lambda: Dataset.from_tensors(tf.zeros([0, 3])),
}
COMPRESSIONS = [None, "GZIP", "SNAPPY"]


def as_lists(element):
    def plain(part):
        if isinstance(part, tf.RaggedTensor):
            return part.to_list()
        if isinstance(part, tf.SparseTensor):
            return tf.sparse.to_dense(part).numpy().tolist()
        part = part.numpy()
        return part.tolist() if hasattr(part, "tolist") else part

    text = json.dumps([plain(part) for part in tf.nest.flatten(element)], default=lambda x: x.decode())
    return json.loads(text)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", DATASETS)
def test_saved_and_loaded(tmp_path, name, compression):
    dataset = DATASETS[name]()
    path = tmp_path / "saved"
    assert dataset.save(path, compression=compression) is None
    loaded = Dataset.load(str(path), compression=compression)
    assert [as_lists(x) for x in loaded] == [as_lists(x) for x in dataset]
    if name != "named":
        assert loaded.element_spec == dataset.element_spec
    else:
        assert loaded.element_spec._fields == ("x", "y")
    assert repr(loaded).startswith("<_LoadDataset element_spec=")
    assert [as_lists(x) for x in loaded.batch(1)] == [as_lists(x) for x in dataset.batch(1)]
    given = Dataset.load(str(path), dataset.element_spec, compression)
    assert [as_lists(x) for x in given] == [as_lists(x) for x in dataset]


@pytest.mark.slow
@pytest.mark.skipif("TENSORFLOW_PYTHON" not in os.environ, reason="needs TensorFlow")
def test_read_by_tensorflow(tmp_path):
    asked, expected = [], []
    for name, make in DATASETS.items():
        if name == "bfloat16":
            continue  # JSON does not know it
        for compression in COMPRESSIONS:
            dataset = make()
            dataset.save(tmp_path / f"{name}_{compression}", compression=compression)
            asked.append([f"{name}_{compression}", compression])
            elements = [as_lists(x) for x in dataset]
            expected.append([f"{name}_{compression}", len(elements), elements])
    command = [os.environ["TENSORFLOW_PYTHON"], str(SCRIPT), "read", str(tmp_path)]
    run = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=600)
    assert [json.loads(line) for line in run.stdout.splitlines()] == expected


def test_saved_again_it_is_replaced(tmp_path):
    Dataset.range(5).save(tmp_path)
    Dataset.range(3).save(tmp_path)
    assert values(Dataset.load(tmp_path)) == [0, 1, 2]


def test_shards(tmp_path):
    Dataset.range(10).save(tmp_path, shard_func=lambda x: x % 3)
    found = sorted(str(path.relative_to(tmp_path)).split("/", 1)[1] for path in tmp_path.glob("*/*/*"))
    assert found == [f"0000000{i}.shard/00000000.snapshot" for i in range(3)]
    loaded = Dataset.load(tmp_path, reader_func=lambda shards: shards.flat_map(lambda shard: shard.take(2)))
    assert values(loaded) == [0, 3, 1, 4, 2, 5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar int64"):
        Dataset.range(3).save(tmp_path, shard_func=lambda x: tf.cast(x, tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=">= 0"):
        Dataset.range(3).save(tmp_path, shard_func=lambda x: x - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must return a tf.data.Dataset"):
        Dataset.load(tmp_path, reader_func=lambda shards: 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must return a dataset of"):
        Dataset.load(tmp_path, reader_func=lambda shards: shards.flat_map(lambda x: x.map(lambda y: y / 2)))


def test_other_names(tmp_path):
    tf.data.experimental.save(Dataset.range(3), str(tmp_path))
    assert values(tf.data.experimental.load(str(tmp_path))) == [0, 1, 2]

    @tf.function
    def save():
        Dataset.range(4).save(str(tmp_path))

    save()
    assert values(Dataset.load(str(tmp_path))) == [0, 1, 2, 3]


def test_functions_know_the_spec_of_a_folder_that_they_know(tmp_path):
    Dataset.range(4).map(lambda x: (x, tf.fill([2], 0.5))).save(str(tmp_path))

    @tf.function
    def total():
        dataset = Dataset.load(str(tmp_path))
        assert [spec.dtype for spec in dataset.element_spec] == [tf.int64, tf.float32]
        return dataset.reduce(0.0, lambda sum, pair: sum + tf.cast(pair[0], tf.float32) + pair[1][0])

    assert total().numpy() == 8.0


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no end"):
        Dataset.range(3).repeat().save(tmp_path)
    with pytest.raises(TypeError, match="cannot be saved"):
        Dataset.range(3).window(2).save(tmp_path)
    with pytest.raises(ValueError, match="compression"):
        Dataset.range(3).save(tmp_path, compression="FOO")
    with pytest.raises(tf.errors.UnimplementedError, match="CheckpointManager"):
        Dataset.range(3).save(tmp_path, checkpoint_args={})


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="element_spec file not found"):
        Dataset.load(tmp_path / "nowhere")
    with pytest.raises(tf.errors.NotFoundError, match="Could not find metadata file"):
        Dataset.load(tmp_path / "nowhere", tf.TensorSpec([], tf.int64))
    Dataset.range(3).save(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"holds elements of \['int64'\], but \['int32'\]"):
        Dataset.load(tmp_path, tf.TensorSpec([], tf.int32))
    with pytest.raises(tf.errors.DataLossError, match=r"(?s)expected \(2,\).*element 0"):
        values(Dataset.load(tmp_path, tf.TensorSpec([2], tf.int64)))
    with pytest.raises(tf.errors.DataLossError, match="GZIP"):
        values(Dataset.load(tmp_path, compression="GZIP"))
    with pytest.raises(tf.errors.DataLossError, match="SNAPPY"):
        values(Dataset.load(tmp_path, compression="SNAPPY"))
    metadata = Metadata.decoded((tmp_path / "snapshot.metadata").read_bytes())
    metadata.version = 1
    (tmp_path / "snapshot.metadata").write_bytes(metadata.encoded())
    with pytest.raises(tf.errors.UnimplementedError, match="version 1"):
        Dataset.load(tmp_path)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_resume(tmp_path, compression):
    source = Dataset.from_tensor_slices((np.arange(5000).reshape(1000, 5), [f"t{i}" for i in range(1000)]))
    source.save(tmp_path, compression=compression)
    dataset = Dataset.load(tmp_path, compression=compression)
    for position in (0, 1, 500, 999, 1000):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert [y.numpy() for _, y in other] == [f"t{i}".encode() for i in range(position, 1000)]
    assert [x.tolist() for x, _ in values(dataset.skip(998))] == [list(range(i, i + 5)) for i in (4990, 4995)]


# Snapshots.


def counted(path, calls, **arguments):
    def count(x):
        calls.append(int(x))
        return x * 2

    return Dataset.range(7).map(lambda x: tf.numpy_function(count, [x], tf.int64)).snapshot(str(path), **arguments)


@pytest.mark.parametrize("compression", ["AUTO", "GZIP", "SNAPPY", None])
def test_snapshots_are_written_once(tmp_path, compression):
    calls = []
    dataset = counted(tmp_path, calls, compression=compression)
    expected = [0, 2, 4, 6, 8, 10, 12]
    assert values(dataset) == expected
    assert values(dataset) == expected
    assert len(calls) == 7
    assert repr(dataset).startswith("<_MapDataset element_spec=TensorSpec(")
    assert int(dataset.cardinality()) == 7
    (folder,) = tmp_path.iterdir()
    metadata = Metadata.decoded((folder / "snapshot.metadata").read_bytes())
    assert (metadata.graph_hash, metadata.version, metadata.types, metadata.is_finished) == (
        folder.name, 2, [9, 9], True,
    )  # fmt: skip


def test_snapshots_that_were_not_finished(tmp_path):
    dataset = Dataset.range(6).snapshot(str(tmp_path))
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    assert values(dataset) == list(range(6))  # while somebody else writes
    assert [int(x) for x in iterator] == [3, 4, 5]
    assert values(dataset) == list(range(6))
    (folder,) = tmp_path.iterdir()
    assert Metadata.decoded((folder / "snapshot.metadata").read_bytes()).is_finished


def test_functions_of_snapshots(tmp_path):
    dataset = Dataset.range(6).snapshot(
        str(tmp_path), shard_func=lambda x: x % 2, reader_func=lambda shards: shards.flat_map(lambda shard: shard)
    )
    assert values(dataset) == list(range(6))
    assert values(dataset) == [0, 2, 4, 1, 3, 5]
    assert values(Dataset.range(7).apply(tf.data.experimental.snapshot(str(tmp_path)))) == list(range(7))
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar int64"):
        Dataset.range(6).snapshot(str(tmp_path), shard_func=lambda x: "a")
    with pytest.raises(ValueError, match="compression"):
        Dataset.range(6).snapshot(str(tmp_path), compression="FOO")


@pytest.mark.parametrize("position", [0, 2, 6])
@pytest.mark.parametrize("is_written", [False, True])
def test_resumed_snapshots(tmp_path, position, is_written):
    dataset = Dataset.range(6).snapshot(str(tmp_path))
    if is_written:
        values(dataset)
    iterator = iter(dataset)
    for _ in range(position):
        next(iterator)
    state = iterator.state_dict()
    other = iter(dataset)
    other.load_state_dict(state)
    del iterator
    assert [int(x) for x in other] == list(range(position, 6))
    assert values(dataset) == list(range(6))  # what the two have written together


# Damage.


def _mutated(data, rng):
    data = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0 and data:
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 1:
        del data[rng.randrange(len(data) + 1) :]
    elif kind == 2:
        data[rng.randrange(len(data) + 1) : rng.randrange(len(data) + 1)] = rng.randbytes(rng.randrange(12))
    else:
        data = bytearray(rng.randbytes(rng.randrange(64)))
    return bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "gzip", "snappy", "ragged", "sparse", "shards"])
def test_damaged_files_raise_typed_errors(tmp_path, name):
    rng = random.Random(name)
    compression = {"gzip": "GZIP", "snappy": "SNAPPY", "shards": "SNAPPY"}.get(name)
    for number in range(850):
        folder = tmp_path / str(number % 2)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(WRITTEN / name, folder)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        path = rng.choice([*files, *[file for file in files if file.suffix == ".snapshot"]])
        path.write_bytes(_mutated(path.read_bytes(), rng))
        with contextlib.suppress(tf.errors.OpError):
            for _ in Dataset.load(folder, compression=compression):
                pass
