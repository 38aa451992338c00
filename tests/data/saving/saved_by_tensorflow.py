"""Run by TensorFlow's Python: saves the datasets in tests/fixtures/saved_datasets, or reads what headrace saved.

python saved_by_tensorflow.py write FOLDER
python saved_by_tensorflow.py read FOLDER < JSON of names and compressions
"""

import importlib
import json
import pathlib
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
