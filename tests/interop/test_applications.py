"""A model of keras.applications, saved and loaded in processes of their own; more: scripts/applications_interop."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "applications_interop"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")
def test_one_model():
    env = {name: value for name, value in os.environ.items() if name != "TENSORFLOW_PYTHON"}
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick"], env=env, capture_output=True, text=True)
    assert "1 models: 0 differ" in done.stdout, done.stderr
    assert done.returncode == 0
