"""Console scripts that TensorFlow has too: where it is installed they start its own, unless headrace is meant.

Whoever is installed last has its file in the folder of scripts. If that is headrace, a command that a user has always
had would otherwise change its meaning. `HEADRACE_CLI=1` says that headrace is meant; so do `headrace saved-model` and
`headrace upgrade`.
"""

import importlib.machinery
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.core.lazy import LazyModule

_saved_model = LazyModule("headrace._src.cli.saved_model.commands")
_upgrade = LazyModule("headrace._src.upgrade.command")

SWITCH = "HEADRACE_CLI"
_OURS = "headrace"


def theirs(script: str) -> Callable[[], Any] | None:
    """What another installed distribution has for a console script; None without one.

    Whichever it is (tensorflow, tensorflow-cpu, tf-nightly ...) is told by its metadata, not by its name. One that was
    removed, but for its metadata, does not count.
    """
    for entry in _entries(script):
        module = entry.value.partition(":")[0].strip()
        if _can_be_imported(module.partition(".")[0]):
            return entry.load()
    return None


def _entries(script: str) -> Iterator[importlib.metadata.EntryPoint]:
    for distribution in importlib.metadata.distributions():
        for entry in distribution.entry_points:
            ours = entry.value.partition(".")[0] == _OURS
            if entry.group == "console_scripts" and entry.name == script and not ours:
                yield entry


def _can_be_imported(package):
    return importlib.machinery.PathFinder.find_spec(package) is not None


def start(script: str, ours: Callable[[], Any]) -> Any:
    """Carry out a console script: theirs, or ours if there is none or the user wants it.

    Args:
        script: its name.
        ours: what headrace has for it.
    """
    if os.environ.get(SWITCH, "0") in ("", "0"):
        function = theirs(script)
        if function is not None:
            return function()
    return ours()


def saved_model_cli() -> None:
    """The console script `saved_model_cli`."""
    sys.exit(start("saved_model_cli", lambda: _saved_model.main()))


def tf_upgrade_v2() -> None:
    """The console script `tf_upgrade_v2`."""
    sys.exit(start("tf_upgrade_v2", lambda: _upgrade.main()))
