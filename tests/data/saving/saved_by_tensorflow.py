"""Run by TensorFlow's Python: saves the datasets in tests/fixtures/saved_datasets, or reads what headrace saved.

python saved_by_tensorflow.py write FOLDER
python saved_by_tensorflow.py read FOLDER < JSON of names and compressions
"""

import importlib
import json
import pathlib
import shutil
import sys

tf = importlib.import_module("tensorflow") if __name__ == "__main__" else None  # pytest looks at all files


def write(folder):
    """Save them."""
    pairs = tf.data.Dataset.from_tensor_slices(([[0, 1], [2, 3], [4, 5]], ["a", "bb", "ccc"]))
    for name, compression in (("plain", None), ("gzip", "GZIP"), ("snappy", "SNAPPY")):
        pairs.save(f"{folder}/{name}", compression=compression)
    tf.data.Dataset.range(5).save(f"{folder}/range")
    tf.data.Dataset.range(10).save(f"{folder}/shards", shard_func=lambda x: x % 3, compression="SNAPPY")
    tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]])).save(f"{folder}/ragged")
    sparse = {"a": tf.sparse.from_dense([[1, 0], [0, 2]]), "b": (1.5, "x")}
    tf.data.Dataset.from_tensors(sparse).repeat(2).save(f"{folder}/sparse")
    write_distributed(f"{folder}/distributed")


def write_distributed(folder):
    """Have two workers save one. Only what a reader looks at is kept of it."""
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer(service.DispatcherConfig(work_dir=f"{folder}_work", fault_tolerant_mode=True))
    address = dispatcher.target.partition("://")[2]
    workers = [service.WorkerServer(service.WorkerConfig(address, heartbeat_interval_ms=500)) for _ in range(2)]
    dataset = tf.data.Dataset.range(50).map(lambda x: (x, tf.strings.as_string(x)))
    tf.data.experimental.distributed_save(dataset, folder, address)
    tf.data.Dataset.load(folder, wait=True)
    del workers
    for name in ("streams", "prefetched_splits", "dataset_def.proto"):
        path = pathlib.Path(folder, name)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(f"{folder}_work")


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.SparseTensor):
        return tf.sparse.to_dense(value).numpy().tolist()
    value = value.numpy()
    value = value.tolist() if hasattr(value, "tolist") else value
    return json.loads(json.dumps(value, default=lambda item: item.decode() if isinstance(item, bytes) else str(item)))


def read(folder):
    """Print the elements of each."""
    for name, compression in json.load(sys.stdin):
        dataset = tf.data.Dataset.load(str(pathlib.Path(folder, name)), compression=compression)
        elements = [[plain(part) for part in tf.nest.flatten(element)] for element in dataset]
        print(json.dumps([name, len(dataset), elements]))


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
