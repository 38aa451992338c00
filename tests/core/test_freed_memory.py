"""Freed memory of arrays is used again."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import headrace as tf

x = tf.ones([1000, 1024])
for _ in range(10):
    (x * 2.0 + x) * x
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    (x * 2.0 + x) * x
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of the GNU C library")
def test_large_arrays_need_no_new_pages():
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    # 300 arrays of 4 MB are 300,000 pages.
    assert int(result.stdout) < 5_000
