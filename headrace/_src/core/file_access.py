"""Which files operations of a loaded model may touch: those in its own folder, unless the user allows more.

formats/files.py asks `check` for every path, once a policy exists. A policy holds while a kernel of the model runs, in
the thread that runs it; what opens files later, such as a dataset, remembers the policy that it was made under.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import threading
from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.core.thread_state import carried


class _Here(threading.local):
    policy: FilePolicy | None = None
    op: str = ""


class _Process:
    has_policies = False  # as long as no model was loaded, nobody needs to look further


_here = carried(_Here())
process = _Process()


class FilePolicy:
    """The operations of a model may touch files in one folder only.

    Args:
        folder: where the model is.
        place: file, line and function of the user's call that loaded it.
    """

    def __init__(self, folder: str, place: tuple) -> None:
        self.folder = folder
        self._place = place
        self._root = _resolved(folder)
        process.has_policies = True

    @contextlib.contextmanager
    def held(self, op: str) -> Iterator[None]:
        """Within this block, in this thread, only files in the folder can be touched."""
        before = _here.policy, _here.op
        _here.policy, _here.op = self, op
        try:
            yield
        finally:
            _here.policy, _here.op = before

    def guarding(self, op: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel of an op, under this policy."""

        def guarded(*args, **kwargs):
            with self.held(op):
                return kernel(*args, **kwargs)

        return guarded

    def check(self, path: str, op: str) -> None:
        """Refuse a path outside of the folder.

        Raises:
            PermissionDeniedError: it is outside.
        """
        if _is_within(path, self._root):
            return
        file, line, _ = self._place
        raise errors.permission_denied(
            f"{op}: an operation of the model in {self.folder!r} (loaded at {file}:{line}) wants to touch {path!r}, "
            "which is not in the folder of the model. If you trust the model, load it with "
            "`options=tf.saved_model.LoadOptions(experimental_allow_file_access=True)`."
        )


def _resolved(path):
    """A path without links and dots; a scheme other than file:// stays in front."""
    scheme, separator, rest = path.partition("://")
    if separator and scheme != "file":
        return f"{scheme}://{posixpath.normpath('/' + rest)}"
    return os.path.realpath(rest if separator else path)


def _is_within(path, root):
    place = _resolved(path)
    if "://" in place or "://" in root:
        return place == root or place.startswith(root.rstrip("/") + "/")
    return operating_system.is_within(place, root)


def check(path: str) -> None:
    """Refuse a path that the current policy, if there is one, does not allow."""
    policy = _here.policy
    if policy is not None:
        policy.check(path, _here.op)


def policy_here() -> FilePolicy | None:
    """The policy that holds now, in this thread."""
    return _here.policy
