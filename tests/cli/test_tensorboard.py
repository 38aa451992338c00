"""`headrace tensorboard` starts the installed TensorBoard; `tensorflow` does not mean headrace there."""

import os
import subprocess
import sys

import pytest

from headrace._src.cli import tensorboard
from headrace._src.compat.tensorflow_names import child_path

STAND_IN = """
import json, sys
from tensorboard.plugins.projector.projector_plugin import tf

def run_main():
    try:
        import tensorflow
    except ImportError:
        tensorflow = None
    print(json.dumps([sys.argv[1:], tensorflow is None, tf.__name__, hasattr(tf.train, "load_checkpoint")]))
    raise SystemExit(5)
"""
STUB = "class tf:\n    __name__ = 'stub'\n    __version__ = {!r}\n    class train: pass\n"


def stand_in(tmp_path, version):
    """A package in the place of TensorBoard, whose projector has a `tf` of some version."""
    files = {"main.py": STAND_IN, "plugins/projector/projector_plugin.py": STUB.format(version)}
    for path in ["__init__.py", "plugins/__init__.py", "plugins/projector/__init__.py", *files]:
        place = tmp_path / "tensorboard" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(files.get(path, ""))


def started(tmp_path, *arguments):
    # As under `headrace run`.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([child_path.FOLDER, str(tmp_path)])}
    command = [sys.executable, "-m", "headrace", "tensorboard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_starts_the_installed_one(tmp_path):
    stand_in(tmp_path, "stub")
    result = started(tmp_path, "--logdir", "logs", "--port=0")
    # Its projector reads checkpoints with headrace.
    assert result.stdout == '[["--logdir", "logs", "--port=0"], true, "headrace", true]\n', result.stderr
    assert result.returncode == 5


def test_leaves_tensorflow_to_the_projector(tmp_path, monkeypatch):
    stand_in(tmp_path, "2.21.0")
    monkeypatch.syspath_prepend(tmp_path)
    tensorboard.lend_checkpoints()
    plugin = sys.modules["tensorboard.plugins.projector.projector_plugin"]
    assert plugin.tf.__version__ == "2.21.0"
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)


def test_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(tensorboard.importlib.util, "find_spec", lambda name: None)
    assert tensorboard.tensorboard(["--logdir", "logs"]) == 1
    assert "pip install 'headrace[tensorboard]'" in capsys.readouterr().err


@pytest.mark.parametrize("plugin", ["xprof", "tensorboard_plugin_profile", None])
def test_says_what_profiles_need(monkeypatch, capsys, plugin):
    monkeypatch.setattr(tensorboard.importlib.util, "find_spec", lambda name: name in ("tensorboard", plugin) or None)
    monkeypatch.setattr(tensorboard.operating_system, "become", lambda command, environment: command)
    assert tensorboard.tensorboard(["--logdir", "logs"])[1:] == ["-m", tensorboard.__name__, "--logdir", "logs"]
    assert ("pip install xprof" in capsys.readouterr().err) == (plugin is None)
