"""The folder by which Python processes that a program under `headrace run` starts find headrace as `tensorflow`."""

import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child_processes")


def add_to_environment() -> None:
    """From now on, processes that this one starts find it."""
    paths = _paths()
    if FOLDER not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *paths])


def environment_without() -> dict[str, str]:
    """The environment for a process in which `tensorflow` is to be what is installed, or nothing."""
    paths = [path for path in _paths() if path != FOLDER]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**environment, "PYTHONPATH": os.pathsep.join(paths)} if paths else environment


def _paths():
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
