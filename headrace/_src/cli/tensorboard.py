"""`headrace tensorboard`: starts the installed TensorBoard, in a process where `tensorflow` does not mean headrace.

TensorBoard looks for TensorFlow, and has a stub of its own where that is missing, which reads event files as well. Only
checkpoints, of which the projector shows embeddings, are beyond it: the projector is given headrace for them.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence

from headrace._src.compat.tensorflow_names.child_path import environment_without
from headrace._src.core import operating_system

_MISSING = """headrace tensorboard: TensorBoard is not installed in {prefix}.
    pip install 'headrace[tensorboard]'
installs it; for the profile page also
    pip install xprof
"""
_NO_PROFILES = "headrace tensorboard: for the profile page, pip install xprof.\n"
_PROFILE_PLUGINS = ("xprof", "tensorboard_plugin_profile")


def tensorboard(arguments: Sequence[str]) -> int:
    """Start TensorBoard with these arguments, and wait for its end; returns the exit code."""
    if importlib.util.find_spec("tensorboard") is None:
        sys.stderr.write(_MISSING.format(prefix=sys.prefix))
        return 1
    if not any(importlib.util.find_spec(name) for name in _PROFILE_PLUGINS):
        sys.stderr.write(_NO_PROFILES)
    command = [sys.executable, "-m", __name__, *arguments]
    sys.stdout.flush()
    return operating_system.become(command, environment_without())


def lend_checkpoints() -> None:
    """Let the projector page read checkpoints, where there is no TensorFlow for it."""
    try:
        plugin = importlib.import_module("tensorboard.plugins.projector.projector_plugin")
        if plugin.tf.__version__ == "stub":
            plugin.tf = importlib.import_module("headrace")
    except (ImportError, AttributeError):
        return  # another TensorBoard than those of today: its projector shows what it can


if __name__ == "__main__":
    lend_checkpoints()
    importlib.import_module("tensorboard.main").run_main()
