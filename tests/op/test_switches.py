"""Switches that change a whole process, each in one of its own."""

import subprocess
import sys

import headrace as tf

STRICT = """
import warnings
import headrace as tf

tf.experimental.enable_strict_mode()
library = compile("import warnings; warnings.warn('old', DeprecationWarning)", "x", "exec")
try:
    exec(library, {"__name__": "headrace.somewhere"})
except DeprecationWarning:
    print("raised")
warnings.warn("of the user")
"""


def test_strict_mode_makes_deprecations_errors():
    done = subprocess.run([sys.executable, "-c", STRICT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "raised"


def test_switches_exist():
    assert callable(tf.experimental.enable_strict_mode)
