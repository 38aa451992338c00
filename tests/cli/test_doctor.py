"""`headrace doctor`."""

import os
import subprocess
import sys


def _doctor(**env):
    return subprocess.run(
        [sys.executable, "-m", "headrace", "doctor"], capture_output=True, text=True, env={**os.environ, **env}
    )


def test_says_what_is_there():
    result = _doctor()
    for word in ("headrace", "numpy", "XLA", "eager op", "devices"):
        assert word in result.stdout
    assert "Traceback" not in result.stderr


def test_says_what_to_do_when_the_compiler_is_off():
    result = _doctor(HEADRACE_COMPILE="0")
    assert "unset HEADRACE_COMPILE" in result.stdout
    assert result.returncode == 1
