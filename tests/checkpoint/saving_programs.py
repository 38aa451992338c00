"""Programs around saving whose results TensorFlow recorded: what they return, or which error they end with.

Each is run in an empty folder, with `tf`, `v1` (`tf.compat.v1`), `R` (`tf.raw_ops`), and the functions below. The last
line is an expression, the result.

    python tests/checkpoint/record_saving.py    # with TensorFlow; writes tests/golden/saving.json
"""

import ast
import os
import pathlib
import re
import tempfile
import textwrap

import numpy as np


def plain(value):
    """Results as JSON has them."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [str(value.dtype), value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [plain(item) for item in value]


def listing(path="."):
    """All files below a folder, without those of writers that are at work."""
    root = pathlib.Path(path)
    return sorted(
        str(file.relative_to(root)) for file in root.rglob("*") if file.is_file() and "tempstate" not in file.name
    )


def names_of(graph):
    """The operations of a graph: name, type and inputs."""
    return [
        [op.name, op.type, [x.name for x in op.inputs], sorted(c.name for c in op.control_inputs)]
        for op in graph.get_operations()
    ]


def _said(error):
    """The first line of a message, without where it happened."""
    text = re.sub(r"\{\{.*?\}\}", "", str(error)).strip().partition("\n")[0]
    return re.sub(r" \[Op:\w+\]$", "", text).strip()


def result_of(tf, code):
    """What a program returns, or its error: class and message."""
    tree = ast.parse(textwrap.dedent(code))
    last = ast.Expression(tree.body.pop().value)
    names = {"tf": tf, "v1": tf.compat.v1, "R": tf.raw_ops, "np": np, "os": os, "listing": listing, "names": names_of}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(compile(tree, "<program>", "exec"), names)
            return {"value": plain(eval(compile(last, "<program>", "eval"), names))}
        except Exception as error:
            return {"error": type(error).__name__, "text": _said(error)}
        finally:
            os.chdir(before)


_SAVED = """
R.SaveV2(prefix="p", tensor_names=["x", "s"], shape_and_slices=["", ""],
         tensors=[tf.constant([1.0, 2.0]), tf.constant(["a", ""])])
"""
_PARTS = """
R.SaveV2(prefix="p_temp/0", tensor_names=["x", "u"], shape_and_slices=["4 0,2", ""], tensors=[tf.constant([1., 2.]), 5])
R.SaveV2(prefix="p_temp/1", tensor_names=["x"], shape_and_slices=["4 2,2"], tensors=[tf.constant([3., 4.])])
"""
_FIRST = """
R.Save(filename="f", tensor_names=["x", "s"], data=[tf.constant([1.0, 2.0]), tf.constant(["a", ""])])
"""


def _restore(prefix, names, slices, dtypes):
    return f"R.RestoreV2(prefix={prefix!r}, tensor_names={names}, shape_and_slices={slices}, dtypes={dtypes})"


OPS = {
    "save makes folders": 'R.SaveV2(prefix="a/b/p", tensor_names=["x"], shape_and_slices=[""], tensors=[1])\nlisting()',
    "save and restore": _SAVED + _restore("p", ["s", "x"], ["", ""], ["string", "float32"]),
    "a slice": _SAVED + _restore("p", ["x"], ["2 1,1"], ["float32"]),
    "a key that is missing": _SAVED + _restore("p", ["x", "z"], ["", ""], ["float32", "float32"]),
    "another dtype": _SAVED + _restore("p", ["x"], [""], ["int32"]),
    "another shape": _SAVED + _restore("p", ["x"], ["3 0,1"], ["float32"]),
    "no slice": _SAVED + _restore("p", ["x"], ["junk"], ["float32"]),
    "a wrong slice": _SAVED + _restore("p", ["x"], ["2 junk"], ["float32"]),
    "fewer slices": _SAVED + _restore("p", ["x", "s"], [""], ["float32", "string"]),
    "fewer dtypes": _SAVED + _restore("p", ["x", "s"], ["", ""], ["float32"]),
    "no names": _SAVED + _restore("p", [], [], []),
    "no checkpoint": _restore("p", ["x"], [""], ["float32"]),
    "a scalar of names": _SAVED + _restore("p", "'x'", [""], ["float32"]),
    "two prefixes": 'R.SaveV2(prefix=["p", "q"], tensor_names=["x"], shape_and_slices=[""], tensors=[1])',
    "the same name twice": 'R.SaveV2(prefix="p", tensor_names=["x", "x"], shape_and_slices=["", ""], tensors=[1, 2])',
    "a slice of another shape": 'R.SaveV2(prefix="p", tensor_names=["x"], shape_and_slices=["4 1,3"], '
    "tensors=[[1, 2]])",
    "merge": _PARTS
    + 'R.MergeV2Checkpoints(checkpoint_prefixes=["p_temp/0", "p_temp/1"], destination_prefix="m")\n'
    + f"[{_restore('m', ['x', 'u', 'x'], ['', '', '4 1,2'], ['float32', 'int32', 'float32'])}, listing(), "
    'os.path.exists("p_temp")]',
    "merge and keep folders": _PARTS
    + 'R.MergeV2Checkpoints(checkpoint_prefixes=["p_temp/0", "p_temp/1"], destination_prefix="m", '
    'delete_old_dirs=False)\n[listing(), os.path.exists("p_temp")]',
    "merge what is missing": _PARTS
    + 'R.MergeV2Checkpoints(checkpoint_prefixes=["p_temp/0", "p_temp/2"], destination_prefix="m")',
    "merge what is there": _PARTS
    + 'R.MergeV2Checkpoints(checkpoint_prefixes=["p_temp/1", "p_temp/2"], destination_prefix="m", '
    f"allow_missing_files=True)\n[{_restore('m', ['x'], ['4 2,1'], ['float32'])}, listing()]",
    "merge nothing": 'R.MergeV2Checkpoints(checkpoint_prefixes=[], destination_prefix="m")',
    "names of shards": '[R.ShardedFilename(basename="a/b", shard=3, num_shards=12), '
    'R.ShardedFilename(basename="a", shard=-1, num_shards=1000000), R.ShardedFilespec(basename="a", num_shards=10)]',
    "a vector of shards": 'R.ShardedFilename(basename="a", shard=[1], num_shards=10)',
    "first version": _FIRST + '[R.Restore(file_pattern="f", tensor_name="x", dt=tf.float32), '
    'R.Restore(file_pattern="f", tensor_name="s", dt=tf.string), listing()]',
    "first version, a slice": _FIRST
    + 'R.RestoreSlice(file_pattern="f", tensor_name="x", shape_and_slice="2 1,1", dt=tf.float32)',
    "first version, restored by the second": _FIRST + _restore("f", ["x"], [""], ["float32"]),
    "first version, a name that is missing": _FIRST + 'R.Restore(file_pattern="f", tensor_name="z", dt=tf.float32)',
    "first version, another dtype": _FIRST + 'R.Restore(file_pattern="f", tensor_name="x", dt=tf.int32)',
    "first version, another shape": _FIRST
    + 'R.RestoreSlice(file_pattern="f", tensor_name="x", shape_and_slice="3 1,1", dt=tf.float32)',
    "first version, no file": 'R.Restore(file_pattern="f", tensor_name="x", dt=tf.float32)',
    "first version, a dtype that it cannot have": 'R.Save(filename="f", tensor_names=["x"], '
    "data=[tf.constant([1.0], tf.bfloat16)])",
    "first version, shards": """
for i in range(2):
    R.SaveSlices(filename=f"f-0000{i}-of-00002", tensor_names=["x"], shapes_and_slices=[f"4 {2 * i},2"],
                 data=[tf.constant([2 * i, 2 * i + 1])])
[R.Restore(file_pattern="f-?????-of-00002", tensor_name="x", dt=tf.int32),
 R.RestoreSlice(file_pattern="f-?????-of-00002", tensor_name="x", shape_and_slice="4 1,2", dt=tf.int32)]
""",
    "in a function": """
@tf.function(autograph=False)
def save(prefix, x):
    R.SaveV2(prefix=prefix, tensor_names=["x"], shape_and_slices=[""], tensors=[x])
@tf.function(autograph=False)
def restore(prefix):
    (y,) = R.RestoreV2(prefix=prefix, tensor_names=["x"], shape_and_slices=[""], dtypes=[tf.float32])
    return y + 1.0
save(tf.constant("p"), tf.constant([1.0, 2.0]))
[restore(tf.constant("p")), listing()]
""",
    "in a session": """
with tf.Graph().as_default(), v1.Session() as sess:
    x = v1.placeholder(tf.float32, [None])
    saved = R.SaveV2(prefix="p", tensor_names=["x"], shape_and_slices=["3 -"], tensors=[x])
    (y,) = R.RestoreV2(prefix="p", tensor_names=["x"], shape_and_slices=["3 1,2"], dtypes=[tf.float32])
    sess.run(saved, {x: [1.0, 2.0, 3.0]})
    result = [sess.run(y), y.shape.as_list()]
result
""",
}
PROGRAMS = {**OPS}
