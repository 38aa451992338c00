"""`headrace tensorboard` starts the installed TensorBoard, without headrace in its process."""

import os
import subprocess
import sys

import pytest

from headrace._src.cli import tensorboard

STAND_IN = """
import json, sys
print(json.dumps([sys.argv[1:], sorted(name for name in sys.modules if name.startswith(("headrace", "tensorflow")))]))
raise SystemExit(5)
"""


def started(tmp_path, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "headrace", "tensorboard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_starts_the_installed_one(tmp_path):
    package = tmp_path / "tensorboard"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text(STAND_IN)
    result = started(tmp_path, "--logdir", "logs", "--port=0")
    assert result.stdout == '[["--logdir", "logs", "--port=0"], []]\n', result.stderr
    assert result.returncode == 5


def test_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(tensorboard.importlib.util, "find_spec", lambda name: None)
    assert tensorboard.tensorboard(["--logdir", "logs"]) == 1
    assert "pip install 'headrace[tensorboard]'" in capsys.readouterr().err


@pytest.mark.parametrize("plugin", ["xprof", "tensorboard_plugin_profile", None])
def test_says_what_profiles_need(monkeypatch, capsys, plugin):
    monkeypatch.setattr(tensorboard.importlib.util, "find_spec", lambda name: name in ("tensorboard", plugin) or None)
    monkeypatch.setattr(tensorboard.os, "name", "nt")
    monkeypatch.setattr(tensorboard.subprocess, "call", lambda command: command)
    assert tensorboard.tensorboard(["--logdir", "logs"])[1:] == ["-m", "tensorboard.main", "--logdir", "logs"]
    assert ("pip install xprof" in capsys.readouterr().err) == (plugin is None)
