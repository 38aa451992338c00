"""Two folders exchange their names: in one step where the operating system can do that."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_HERE = -100  # AT_FDCWD: paths are relative to the current folder
# The kernel, the file system or the C library does not know how.
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def _function() -> Callable[[bytes, bytes], int] | None:
    if sys.platform == "win32":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        rename = library.renameat2
        rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        return lambda a, b: rename(_HERE, a, _HERE, b, _EXCHANGE)
    if hasattr(library, "renamex_np"):
        swap = library.renamex_np
        swap.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
        return lambda a, b: swap(a, b, _EXCHANGE)
    return None


_exchange = _function()


def exchange(a: str, b: str) -> None:
    """Gives each of two files or folders of one file system the name of the other.

    Where that cannot be done in one step, nothing has the name `b` for a moment.
    """
    if _exchange is not None:
        if _exchange(os.fsencode(a), os.fsencode(b)) == 0:
            return
        number = ctypes.get_errno()
        if number not in _UNKNOWN:
            raise OSError(number, os.strerror(number), a, None, b)
    _exchange_by_renames(a, b)


def _exchange_by_renames(a, b):
    aside = f"{a}.aside"
    os.rename(b, aside)
    try:
        os.rename(a, b)
    except OSError:
        os.rename(aside, b)
        raise
    os.rename(aside, a)
