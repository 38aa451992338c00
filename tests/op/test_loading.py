"""Loading families when they are used: any name can be the first one, in a process of its own."""

import os
import subprocess
import sys

import pytest

from headrace._src import index

PROGRAMS = {
    "a gradient that needs another family": (
        "x = tf.constant([1.0, 2.0])\nwith tf.GradientTape() as t:\n    t.watch(x)\n    y = tf.gather(x, [1, 1])\n"
        "print(tf.convert_to_tensor(t.gradient(y, x)).numpy().tolist())",
        "[0.0, 2.0]",
    ),
    "ragged tensors extend dense functions": (
        "r = tf.ragged.constant([[1, 2], [3]])\nprint((r + 1).to_list(), tf.abs(-r).to_list())",
        "[[2, 3], [4]] [[1, 2], [3]]",
    ),
    "ragged results of string functions do too": (
        "r = tf.strings.split(['a b', 'c'])\nprint(tf.strings.upper(r).to_list())",
        "[[b'A', b'B'], [b'C']]",
    ),
    "a raw op": ("print(tf.raw_ops.Softplus(features=[0.0]).numpy().tolist())", "[0.6931471824645996]"),
    "lists of tensors": ("print(tf.convert_to_tensor([tf.constant(1), 2]).numpy().tolist())", "[1, 2]"),
    "a submodule": ("import headrace.math.special as s\nprint(s is tf.math.special)", "True"),
    "star import": ("from headrace.bitwise import *\nprint(bitwise_and(6, 3).numpy())", "2"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_use(name):
    program, want = PROGRAMS[name]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import headrace as tf\n" + program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == want


def test_unknown_names_are_attribute_errors():
    import headrace as tf

    with pytest.raises(AttributeError, match="no attribute 'sqrtt'"):
        tf.math.sqrtt
    with pytest.raises(AttributeError, match="NoSuchOp"):
        tf.raw_ops.NoSuchOp


# Imports each file in a process of its own that has nothing of headrace yet, and prints what failed.
_EACH_FIRST = """
import importlib, os, sys, traceback
import numpy
for name in sys.argv[1:]:
    if not (child := os.fork()):
        try:
            importlib.import_module(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""
_FILES = sorted({place.partition(":")[0] for names in index.MODULES.values() for place in names.values() if place})


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="one process that has imported NumPy becomes many by forking")
@pytest.mark.parametrize("folder", sorted({".".join(file.split(".")[:2]) for file in _FILES}))
def test_every_file_can_be_the_first(folder):
    files = [f"headrace._src.{file}" for file in _FILES if ".".join(file.split(".")[:2]) == folder]
    done = subprocess.run([sys.executable, "-c", _EACH_FIRST, *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
