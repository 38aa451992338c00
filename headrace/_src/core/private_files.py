"""Files that only this user may write, or even read: secrets, and what is unpickled.

A name in a folder that others can write may be theirs: a link to somewhere else, or a file with their contents. So who
owns a file is asked of the open file, not of its name; links are not followed, and what is new is made, never opened.
Where the system has no owners (Windows), folders of the user are protected by the system, and this is not asked.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile

from headrace._src.core import operating_system

_OTHERS_WRITE = 0o022
_OTHERS_READ = 0o077


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
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    _check(os.lstat(path), path, stat.S_ISDIR, _OTHERS_READ if secret else _OTHERS_WRITE)
    return path


def own_folder(path: str) -> str:
    """Make a folder in one of this user's, or take the one that is there, if it is this user's; it may be a link.

    Who works for another user (with `sudo`, say, and that one's home) must not leave files there.

    Raises:
        NotPrivate: it belongs to somebody else, or would be made in a folder of somebody else's.
        OSError: it cannot be made.
    """
    try:
        about, place = os.stat(path), path
    except FileNotFoundError:
        place = os.path.dirname(path)
        about = os.stat(place)
    if about.st_uid != operating_system.user():
        raise NotPrivate(f"{place}: this belongs to the user {about.st_uid}, not to {operating_system.user()}")
    if place != path:
        with contextlib.suppress(FileExistsError):  # another process has made it meanwhile
            os.mkdir(path, 0o700)
    return path


def check_folder(path: str) -> None:
    """Refuse a folder into which others could write, unless each may change only what is their own there.

    Raises:
        NotPrivate: they could.
        OSError: there is none.
    """
    about = os.stat(path)
    if operating_system.user() is not None and about.st_mode & _OTHERS_WRITE and not about.st_mode & stat.S_ISVTX:
        raise NotPrivate(f"{path}: other users can write to this folder (mode {stat.S_IMODE(about.st_mode):o})")


def runtime_folder() -> str:
    """The folder of this user for what lives no longer than programs do.

    Raises:
        NotPrivate, OSError: it cannot be had.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    user = operating_system.user()
    name = "headrace" if user is None else f"headrace-{user}"
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
    descriptor = os.open(path, operating_system.reading_flags(follow_links=False))
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
        operating_system.replace(temporary, path)  # a link in its place is replaced, not followed
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
        is_made = operating_system.rename_to_new(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    if not is_made:
        os.unlink(temporary)
    return is_made


def _written_beside(path, data):
    """The name of a new file with these contents."""
    temporary = f"{path}.{secrets.token_hex(8)}"
    descriptor = os.open(temporary, operating_system.creating_flags(), 0o600)
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
    user = operating_system.user()
    if user is None:
        return
    if about.st_uid != user:
        raise NotPrivate(f"{path}: this belongs to the user {about.st_uid}, not to {user}")
    if about.st_mode & forbidden:
        raise NotPrivate(f"{path}: others can change or read this (mode {stat.S_IMODE(about.st_mode):o})")
