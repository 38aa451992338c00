"""Record with TensorFlow the checkpoints that `test_tensor_bundle.py` compares with those written here."""

import hashlib
import importlib
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "golden" / "bundles"
NUMBERS = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 bfloat16"
).split()
SMALL = ["float8_e5m2", "float8_e4m3fn"]
QUANTIZED = ["qint8", "quint8", "qint16", "quint16", "qint32"]


def tensors(tf):
    """Name to tensor."""
    values = [[3, 0, 7], [1, 2, 4]]
    result = {f"numbers/{name}": tf.cast(tf.constant(values), name) for name in NUMBERS}
    result |= {f"small/{name}": tf.cast(tf.constant([0.0, 1.5, -2.0]), tf.as_dtype(name)) for name in SMALL}
    result |= {
        f"quantized/{name}": tf.bitcast(tf.constant([1, 2, 3], name[1:]), tf.as_dtype(name)) for name in QUANTIZED
    }
    result["empty"] = tf.zeros([0, 3])
    result["a scalar"] = tf.constant(3.5)
    result["strings/empty"] = tf.zeros([0], tf.string)
    result["strings/one"] = tf.constant(b"x")
    result["strings/lengths"] = tf.constant([[b"", b"a" * 127], [b"b" * 128, b"c" * 20000]])
    result["\u00fcber"] = tf.constant([True])
    return result


def _save(tf, prefix, named, slices=None):
    tf.raw_ops.SaveV2(
        prefix=str(FOLDER / prefix),
        tensor_names=list(named),
        shape_and_slices=slices or [""] * len(named),
        tensors=list(named.values()),
    )


def _record(tf):
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    _save(tf, "dtypes", tensors(tf))
    # More entries than fit into a block.
    many = {f"model/layer_{(n * 7919) % 6000}/kernel/.ATTRIBUTES/VARIABLE_VALUE": tf.constant(n) for n in range(6000)}
    _save(tf, "many", many)
    index = FOLDER / "many.index"
    (FOLDER / "many.sha256").write_text(hashlib.sha256(index.read_bytes()).hexdigest() + "\n")
    for path in FOLDER.glob("many.*"):
        if path.suffix != ".sha256":  # the file itself would be large
            path.unlink()
    handle = tf.raw_ops.TensorListFromTensor(tensor=[1.0, 2.0], element_shape=tf.constant([], tf.int32))
    _save(tf, "variants", {"list": handle, "lists": tf.stack([handle, handle])})
    _save(tf, "part_0", {"p": tf.reshape(tf.range(6.0), [2, 3]), "whole": tf.constant(1.0)}, ["4 3 0,2:-", ""])
    _save(tf, "part_1", {"p": tf.reshape(tf.range(6.0, 12.0), [2, 3])}, ["4 3 2,2:-"])
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(FOLDER / "part_0"), str(FOLDER / "part_1")],
        destination_prefix=str(FOLDER / "merged"),
        delete_old_dirs=False,
    )


def _record_first_version(tf):
    """A checkpoint of version 1, with a partitioned variable; what it has as `first_version.json`."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        numbers = v1.get_variable("numbers", initializer=tf.constant([[-1, 2], [3, -4]]))
        strings = v1.get_variable("strings", initializer=tf.constant([b"a", b"bcd"]), dtype=tf.string)
        with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(3)):
            part = v1.get_variable("part", shape=(5, 2), initializer=v1.random_uniform_initializer(seed=1))
        session.run(v1.global_variables_initializer())
        v1.train.Saver([numbers, strings, part], write_version=1).save(
            session, str(FOLDER / "first_version"), write_meta_graph=False, write_state=False
        )
        values = {"numbers": session.run(numbers).tolist(), "p/part": session.run(part.as_tensor()).tolist()}
    (FOLDER / "first_version.json").write_text(json.dumps(values) + "\n")


if __name__ == "__main__":
    tensorflow = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    _record(tensorflow)
    _record_first_version(tensorflow)
