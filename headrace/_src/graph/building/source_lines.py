"""The user's line that made an operation."""

import os
import sys
import sysconfig

from headrace._src.core.tracebacks import PACKAGE, is_users

_STANDARD = [sysconfig.get_paths()["stdlib"] + os.sep + name for name in ("contextlib.py", "functools.py")]
_ours: dict[str, bool] = {}
_users: dict[str, bool] = {}


def is_ours(filename: str) -> bool:
    """Whether a file belongs to this package (or is a wrapper of the standard library that it uses)."""
    known = _ours.get(filename)
    if known is None:
        known = _ours[filename] = filename.startswith(PACKAGE) or filename in _STANDARD
    return known


def users_line() -> tuple[str, int, str]:
    """File, line and function of the innermost frame that is the user's: not of this package, nor of Keras.

    Where there is none, of the innermost one that is not of this package.
    """
    frame = sys._getframe(1)
    outside = None
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        users = _users.get(file)
        if users is None:
            users = _users[file] = is_users(file)
        if users:
            return file, frame.f_lineno, code.co_name
        if outside is None and not is_ours(file):
            outside = file, frame.f_lineno, code.co_name
        frame = frame.f_back
    return outside or ("", 0, "")
