"""`experimental_enable_numpy_behavior` in all modes: values and promotions that TensorFlow recorded."""

import json
import pathlib
import subprocess
import sys

import pytest
from numpy_behavior_rows import DTYPES, OPERATIONS, OTHERS, SETTINGS

RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "golden" / "numpy_behavior.json").read_text())
OPERANDS = [*DTYPES, *OTHERS]

# Where headrace computes what TensorFlow refuses or gives otherwise, and why: docs/decisions/0010-dtypes.md.
OTHERWISE = {
    "v[[[0, 1], [2, 3]]]",  # lists in lists are arrays of positions, as in NumPy
    "x[[], :]",  # no positions at all
    "c.transpose(2, 0, 1)",  # axes one by one, as in NumPy
    "tnp.logaddexp(1, 2)",  # of integers
    "x > 2.5",  # comparisons promote as well
    "x * np.ones([4])",  # "safe" asks NumPy's arrays the same as tensors
    "tnp.linspace(0, 1, 3)",  # the default dtype is that of the other functions, also with prefer_float32
    "c[:, x > 4]",  # masks of several axes may stand anywhere
}


def is_explained(mode, operation, name, other, recorded):
    if operation == "*" and "bool" in (name, other):
        return mode != "legacy"  # TensorFlow makes both booleans
    if mode == "safe" and other in OTHERS:
        return True  # NumPy's arrays are asked the same as tensors
    if (name, other) == ("bfloat16", "nd_int64"):
        return True  # TensorFlow depends on which comes first
    if name == "bool" and other in ("bool", *OTHERS):
        return recorded == "raises" or mode == "off"
    return False


@pytest.mark.parametrize(("mode", "prefer_float32"), SETTINGS)
def test_setting(mode, prefer_float32):
    script = pathlib.Path(__file__).with_name("record_numpy_behavior.py")
    command = [sys.executable, str(script), "headrace", mode, str(int(prefer_float32))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, recorded = json.loads(done.stdout.splitlines()[-1]), RECORDED[f"{mode} {int(prefer_float32)}"]
    other_values = {
        code: (value, recorded["values"][code])
        for code, value in found["values"].items()
        if value != recorded["values"][code] and code not in OTHERWISE
    }
    assert not other_values
    other_dtypes = [
        (operation, name, other, ours, theirs)
        for operation in OPERATIONS
        for name in DTYPES
        for other, ours, theirs in zip(
            OPERANDS, found["dtypes"][operation][name].split(), recorded["dtypes"][operation][name].split(), strict=True
        )
        if ours != theirs and not is_explained(mode, operation, name, other, theirs)
    ]
    assert not other_dtypes
