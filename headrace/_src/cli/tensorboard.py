"""`headrace tensorboard`: starts the installed TensorBoard, in a process where `tensorflow` does not mean headrace."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence

_MISSING = """headrace tensorboard: TensorBoard is not installed in {prefix}.
    pip install 'headrace[tensorboard]'
installs it; for the profile page also
    pip install xprof
"""
_NO_PROFILES = "headrace tensorboard: for the profile page, pip install xprof.\n"
_PROFILE_PLUGINS = ("xprof", "tensorboard_plugin_profile")


def tensorboard(arguments: Sequence[str]) -> int:
    """Start TensorBoard with these arguments, and wait for its end; returns the exit code.

    It runs in a process of its own, in which nothing of headrace is imported: TensorBoard looks for TensorFlow, and
    uses what it finds for files.
    """
    if importlib.util.find_spec("tensorboard") is None:
        sys.stderr.write(_MISSING.format(prefix=sys.prefix))
        return 1
    if not any(importlib.util.find_spec(name) for name in _PROFILE_PLUGINS):
        sys.stderr.write(_NO_PROFILES)
    command = [sys.executable, "-m", "tensorboard.main", *arguments]
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(command[0], command)  # signals then reach it without anybody between
    return subprocess.call(command)
