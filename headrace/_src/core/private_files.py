"""Files that only this user may write, or even read: secrets, and what is unpickled.

A name in a folder that others can write may be theirs: a link to somewhere else, or a file with their contents. So who
owns a file is asked of the open file, not of its name; links are not followed, and what is new is made, never opened.
Where the system has no owners (Windows), folders of the user are protected by the system, and this is not asked.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile

_OTHERS_WRITE = 0o022
_OTHERS_READ = 0o077
_HAS_OWNERS = hasattr(os, "getuid")


class NotPrivate(Exception):
    """A file or folder that somebody else could have made, or can change; the message says how that shows."""


def private_folder(path: str, secret: bool = True) -> str:
    """Make a folder that only this user can enter, or take the one that is there.

    Args:
        path: the folder.
        secret: whether one that is there must be such that nobody else can look into it; otherwise it is enough that
            nobody else can write to it.

    Raises:
        NotPrivate: what is there is somebody else's.
        OSError: it cannot be made.
    """
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    _check(os.lstat(path), path, stat.S_ISDIR, _OTHERS_READ if secret else _OTHERS_WRITE)
    return path


def check_folder(path: str) -> None:
    """Refuse a folder into which others could write, unless each may change only what is their own there.

    Raises:
        NotPrivate: they could.
        OSError: there is none.
    """
    about = os.stat(path)
    if _HAS_OWNERS and about.st_mode & _OTHERS_WRITE and not about.st_mode & stat.S_ISVTX:
        raise NotPrivate(f"{path}: other users can write to this folder (mode {stat.S_IMODE(about.st_mode):o})")


def runtime_folder() -> str:
    """The folder of this user for what lives no longer than programs do.

    Raises:
        NotPrivate, OSError: it cannot be had.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    name = f"headrace-{os.getuid()}" if _HAS_OWNERS else "headrace"
    return private_folder(os.path.join(base, name))


def read(path: str, secret: bool = False) -> bytes:
    """The contents of a file that only this user can have written.

    Args:
        path: the file.
        secret: whether nobody else may be able to read it, either.

    Raises:
        NotPrivate: somebody else could have.
        OSError: there is no such file, or the name is a link.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        _check(os.fstat(descriptor), path, stat.S_ISREG, _OTHERS_READ if secret else _OTHERS_WRITE)
        return file.read()


def write(path: str, data: bytes) -> None:
    """Make a file that nobody else can read, in the place of one of that name; all at once.

    Raises:
        OSError: it cannot be made.
    """
    temporary = _written_beside(path, data)
    try:
        os.replace(temporary, path)  # a link in its place is replaced, not followed
    except BaseException:
        os.unlink(temporary)
        raise


def write_new(path: str, data: bytes) -> bool:
    """The same, unless there is something of that name already. Returns whether the file was made.

    Raises:
        OSError: it cannot be made.
    """
    temporary = _written_beside(path, data)
    try:
        if hasattr(os, "link"):
            os.link(temporary, path)
        else:
            os.rename(temporary, path)
            return True
    except FileExistsError:
        return False
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    return True


def _written_beside(path, data):
    """The name of a new file with these contents."""
    temporary = f"{path}.{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _check(about, path, is_kind, forbidden):
    if not is_kind(about.st_mode):
        raise NotPrivate(f"{path}: this is a link, or no {'folder' if is_kind is stat.S_ISDIR else 'file'}")
    if not _HAS_OWNERS:
        return
    if about.st_uid != os.getuid():
        raise NotPrivate(f"{path}: this belongs to the user {about.st_uid}, not to {os.getuid()}")
    if about.st_mode & forbidden:
        raise NotPrivate(f"{path}: others can change or read this (mode {stat.S_IMODE(about.st_mode):o})")
