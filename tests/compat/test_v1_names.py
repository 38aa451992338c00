"""The page about the names of `tf.compat.v1` is true: what is there, how much that is, and why the rest is not."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.slow  # a process that looks at every name
def test_the_page_is_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "v1_names"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
