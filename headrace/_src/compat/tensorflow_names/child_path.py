"""What lets Python processes that a program starts find headrace as `tensorflow` too: a folder with a start-up hook."""

import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child_processes")
SWITCH = "HEADRACE_CHILDREN"  # "0": never; otherwise the environment whose processes are meant


def add_to_environment() -> None:
    """From now on, Python processes of this environment that this one starts have the hook, unless the user says no."""
    if os.environ.get(SWITCH) == "0":
        return
    os.environ[SWITCH] = sys.prefix
    paths = _paths()
    if FOLDER not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *paths])


def remove_from_environment() -> None:
    """From now on, processes that this one starts do without, also if another program has started this one."""
    without = environment_without()
    for name in ("PYTHONPATH", SWITCH):
        if name not in without:
            os.environ.pop(name, None)
    os.environ.update(without)


def environment_without() -> dict[str, str]:
    """The environment for a process in which `tensorflow` is to be what is installed, or nothing."""
    paths = [path for path in _paths() if path != FOLDER]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", SWITCH)}
    return {**environment, "PYTHONPATH": os.pathsep.join(paths)} if paths else environment


def _paths():
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
