"""The door to files: every path that headrace opens goes through these functions, whatever its scheme."""

import os
from typing import BinaryIO

from headrace._src.core import errors
from headrace._src.formats.file_systems import FileSystem, LocalFiles, typed_errors

_LOCAL = LocalFiles()
_SYSTEMS: dict[str, FileSystem] = {"": _LOCAL, "file": _LOCAL}


def path_string(path) -> str:
    """A path as text: from str, UTF-8 bytes or an object of `os.PathLike`.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(path, str):
        return str(path)
    if not isinstance(path, bytes):
        try:
            path = os.fspath(path)
        except TypeError:
            raise TypeError(f"A path must be a string, bytes or os.PathLike, got {path!r}.") from None
    return os.fsdecode(path)


def scheme_of(path: str) -> str:
    """The `gs` of `gs://bucket/file`; empty for plain paths."""
    scheme, separator, _ = path.partition("://")
    # TF: letters, digits and dots only; "a/b://c" is a plain path.
    return scheme if separator and scheme.replace(".", "").isalnum() and scheme.isascii() else ""


def system_of(path: str) -> tuple[FileSystem, str]:
    """The file system of a path, and the path as that system wants it."""
    scheme = scheme_of(path)
    system = _SYSTEMS.get(scheme)
    if system is None:
        raise errors.unimplemented(f"File system scheme '{scheme}' not implemented (file: '{path}')")
    return system, path[7:] if scheme == "file" else path


def open_file(path, mode: str = "r") -> BinaryIO:
    """Opens a file for bytes; mode is "r", "w" or "a", with or without "+"."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        return system.open(place, mode)
