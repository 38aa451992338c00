"""Every reader of several files, asked: what if one is missing, short, there twice, damaged, or from another run?

What is read is all that was written, or there is an error that says which file is wrong.
"""

import pathlib
import random
import shutil

import pytest

import headrace as tf

Dataset = tf.data.Dataset
WRITTEN_BY_TENSORFLOW = pathlib.Path(__file__).parents[2] / "fixtures" / "saved_datasets" / "shards"
COUNT = 10
TYPED = (tf.errors.NotFoundError, tf.errors.DataLossError, tf.errors.FailedPreconditionError)


class Store:
    """Elements in files.

    Args:
        write: writes them to a folder; those of another run have other values.
        read: a dataset of what is there.
        compression: of the files.
        lists_files: whether the files that hold elements are known from somewhere else.
    """

    def __init__(self, write, read, compression=None, lists_files=True):
        self._write = write
        self._read = read
        self.compression = compression
        self.lists_files = lists_files

    def write(self, folder, run=0):
        self._write(folder, self.compression, run)

    def read(self, folder):
        """The values, in order."""
        return sorted(int(element) % 100 for element in self._read(folder, self.compression))


def _source(run):
    return Dataset.range(100 * run, 100 * run + COUNT)


def _save(folder, compression, run):
    _source(run).save(folder, compression=compression, shard_func=lambda x: x % 3 * 5)


def _copy_of_tensorflow(folder, compression, run):
    shutil.copytree(WRITTEN_BY_TENSORFLOW, folder)


def _load(folder, compression):
    return Dataset.load(folder, compression=compression)


def _snapshot(folder, compression, run=0):
    # The constant is a variable's value: the pipeline of the other run is the same one.
    shift = tf.Variable(100 * run, dtype=tf.int64)
    dataset = Dataset.range(COUNT).map(lambda x: x + shift)
    return dataset.snapshot(str(folder), compression=compression, shard_func=lambda x: x % 3)


def _write_snapshot(folder, compression, run):
    dataset = _snapshot(folder, compression, run)
    assert len(list(dataset)) == COUNT


def _cache(folder, compression, run=0):
    folder.mkdir(exist_ok=True)
    return _source(run).cache(str(folder / "cache"))


def _write_cache(folder, compression, run):
    assert len(list(_cache(folder, compression, run))) == COUNT


STORES = {
    "saved": Store(_save, _load),
    "saved, GZIP": Store(_save, _load, "GZIP"),
    "saved, SNAPPY": Store(_save, _load, "SNAPPY"),
    "saved by TensorFlow": Store(_copy_of_tensorflow, _load, "SNAPPY", lists_files=False),
    "snapshot": Store(_write_snapshot, _snapshot),
    "snapshot, GZIP": Store(_write_snapshot, _snapshot, "GZIP"),
    "cache": Store(_write_cache, _cache),
}
PARTS = ("*.snapshot", "*.data-*")  # files that hold elements


def _files(folder, *patterns):
    return sorted(path for pattern in patterns for path in folder.rglob(pattern) if path.is_file())


@pytest.fixture(params=STORES)
def store(request):
    return STORES[request.param]


def test_all_is_there(store, tmp_path):
    store.write(tmp_path / "a")
    assert store.read(tmp_path / "a") == list(range(COUNT))


def test_a_missing_file(store, tmp_path):
    store.write(tmp_path / "a")
    for path in _files(tmp_path / "a", *PARTS):
        held = path.read_bytes()
        path.unlink()
        with pytest.raises(tf.errors.NotFoundError, match=path.name):
            store.read(tmp_path / "a")
        path.write_bytes(held)


def test_a_missing_shard(store, tmp_path):
    store.write(tmp_path / "a")
    for shard in sorted((tmp_path / "a").rglob("*.shard")):
        shard.rename(tmp_path / "away")
        with pytest.raises(tf.errors.NotFoundError, match=shard.name if store.lists_files else "promises 10 elements"):
            store.read(tmp_path / "a")
        (tmp_path / "away").rename(shard)
        assert store.read(tmp_path / "a") == list(range(COUNT))


def test_a_missing_run(store, tmp_path):
    store.write(tmp_path / "a")
    runs = {shard.parent for shard in (tmp_path / "a").rglob("*.shard")}
    for run in runs:
        shutil.rmtree(run)
        with pytest.raises(tf.errors.NotFoundError, match=run.name):
            store.read(tmp_path / "a")


def test_a_short_file(store, tmp_path):
    store.write(tmp_path / "a")
    for path in _files(tmp_path / "a", *PARTS):
        held = path.read_bytes()
        for size in {*range(0, len(held), 9), len(held) - 1}:
            path.write_bytes(held[:size])
            with pytest.raises(TYPED, match=path.name if store.lists_files or size else "promises 10 elements"):
                store.read(tmp_path / "a")
        path.write_bytes(held)


def test_a_file_that_holds_all_twice(store, tmp_path):
    store.write(tmp_path / "a")
    for path in _files(tmp_path / "a", *PARTS):
        held = path.read_bytes()
        path.write_bytes(held + held)
        with pytest.raises(tf.errors.DataLossError, match="promises"):
            store.read(tmp_path / "a")
        path.write_bytes(held)


def test_a_shard_that_is_there_twice(store, tmp_path):
    store.write(tmp_path / "a")
    for shard in sorted((tmp_path / "a").rglob("*.shard")):
        shutil.copytree(shard, shard.parent / "00000777.shard")
        shutil.copy(shard / "00000000.snapshot", shard / "00000009.snapshot")
        if store.lists_files:
            assert store.read(tmp_path / "a") == list(range(COUNT))  # and nothing else is looked at
        else:
            with pytest.raises(tf.errors.DataLossError, match="promises 10 elements, but there are at least"):
                store.read(tmp_path / "a")
        shutil.rmtree(shard.parent / "00000777.shard")
        (shard / "00000009.snapshot").unlink()


def test_a_file_of_another_run(store, tmp_path):
    if not store.lists_files:
        pytest.skip("nothing says which file belongs to which run")
    store.write(tmp_path / "a")
    store.write(tmp_path / "b", run=1)
    ours, others = _files(tmp_path / "a", *PARTS), _files(tmp_path / "b", *PARTS)
    assert [path.name for path in ours] == [path.name for path in others]
    for path, other in zip(ours, others):
        held = path.read_bytes()
        path.write_bytes(other.read_bytes())
        with pytest.raises(tf.errors.DataLossError, match=path.name):
            store.read(tmp_path / "a")
        path.write_bytes(held)
    for path in _files(tmp_path / "a", "snapshot.metadata", "*.index"):
        other = next(other for other in _files(tmp_path / "b", path.name))
        path.write_bytes(other.read_bytes())
        with pytest.raises(TYPED):
            store.read(tmp_path / "a")


def test_flipped_bytes(store, tmp_path):
    store.write(tmp_path / "a")
    rng = random.Random(13)
    for path in _files(tmp_path / "a", "*"):
        held = path.read_bytes()
        for place in rng.sample(range(len(held)), min(len(held), 40)):
            path.write_bytes(held[:place] + bytes([held[place] ^ 1 << rng.randrange(8)]) + held[place + 1 :])
            try:
                found = store.read(tmp_path / "a")
            except tf.errors.OpError:
                continue
            assert found == list(range(COUNT)), f"{path}, byte {place}"
        path.write_bytes(held)


def test_the_snapshot_of_another_pipeline(tmp_path):
    _write_snapshot(tmp_path / "a", None, 0)
    other = Dataset.range(COUNT).snapshot(str(tmp_path / "b"), compression=None)
    assert len(list(other)) == COUNT
    (metadata,) = (tmp_path / "a").glob("*/snapshot.metadata")
    (folder,) = (tmp_path / "b").iterdir()
    shutil.rmtree(folder)
    shutil.copytree(metadata.parent, folder)
    with pytest.raises(tf.errors.FailedPreconditionError, match="another pipeline"):
        list(other)


def test_files_that_another_walk_left_behind_are_not_read(tmp_path):
    """Three files of one run, the last of which is written twice, from an earlier state again."""
    dataset = Dataset.range(9).snapshot(str(tmp_path), compression=None, shard_func=lambda x: 0 * x)
    iterator = iter(dataset)
    states = []
    for _ in range(4):
        next(iterator)
        states.append(iterator.state_dict())
    iterator.load_state_dict(states[1])
    assert [int(x) for x in iterator] == list(range(2, 9))
    assert [int(x) for x in dataset] == list(range(9))


def test_elements_of_other_shapes_are_no_cache(tmp_path):
    path = str(tmp_path / "cache")
    list(Dataset.from_tensor_slices([[1, 2], [3, 4]]).cache(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Shape mismatch at component 0.*another pipeline"):
        list(Dataset.from_tensor_slices([[1, 2, 3]]).cache(path))


def test_a_service_that_gives_other_elements():
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.partition("://")[2]
    worker = service.WorkerServer(service.WorkerConfig(address, heartbeat_interval_ms=50))
    service.register_dataset(dispatcher.target, Dataset.range(3), dataset_id="mine")
    for spec, message in [
        (tf.TensorSpec([], tf.string), "expected string but got int64"),
        (tf.TensorSpec([2], tf.int64), r"expected \(2,\) but got \[\]"),
        ((tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64)), "has 1 components, expected 2"),
    ]:
        read = service.from_dataset_id("parallel_epochs", dispatcher.target, "mine", element_spec=spec)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){message}.*started anew"):
            list(read)
    dataset = Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))
    assert [int(x) for x in dataset] == [0, 1, 2]
    worker.stop()
    dispatcher.stop()
    port = int(address.partition(":")[2])
    dispatcher = service.DispatchServer(service.DispatcherConfig(port=port))
    Dataset.range(4).apply(service.distribute("parallel_epochs", dispatcher.target))
    with pytest.raises(tf.errors.NotFoundError, match="Dataset id"):
        list(dataset)
    dispatcher.stop()
