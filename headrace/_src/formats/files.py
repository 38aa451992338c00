"""The door to files: every path that headrace opens goes through these functions, whatever its scheme."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from typing import BinaryIO

from headrace._src.core import errors, file_access
from headrace._src.formats import path_patterns, remote_files
from headrace._src.formats.local_files import FileStatistics, FileSystem, LocalFiles, typed_errors
from headrace._src.formats.memory_files import MemoryFiles

_LOCAL = LocalFiles()
_NATIVE: dict[str, FileSystem] = {"": _LOCAL, "file": _LOCAL, "ram": MemoryFiles()}
_SCHEME = re.compile(r"([a-zA-Z][0-9a-zA-Z.+-]*)://")


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


def path_bytes(path: str) -> bytes:
    """The bytes that string tensors hold for a path."""
    return os.fsencode(path)


def scheme_of(path: str) -> str:
    """The `gs` of `gs://bucket/file`; empty for plain paths."""
    found = _SCHEME.match(path)
    return found[1] if found else ""


def system_of(path: str) -> tuple[FileSystem, str]:
    """The file system of a path, and the path as that system wants it.

    Raises:
        PermissionDeniedError: an operation of a loaded model may not touch the path.
    """
    if file_access.process.has_policies:
        file_access.check(path)
    scheme = scheme_of(path)
    if scheme == "file":
        path = path[7:]
    return _NATIVE.get(scheme) or remote_files.RemoteFiles(scheme), path


def schemes() -> list[str]:
    """The schemes that paths may have."""
    return sorted({*_NATIVE, *remote_files.known_schemes()})


def open_file(path, mode: str = "r") -> BinaryIO:
    """Opens a file for bytes; mode is "r", "w" or "a", with or without "+"."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        return system.open(place, mode)


def read(path) -> bytes:
    """The contents of a file."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        return system.read(place)


def write(path, contents: bytes) -> None:
    """Makes a file with these contents, or replaces it: where the system can, in one step."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        system.replace(place, contents)


def exists(path) -> bool:
    """Whether a file or directory is there."""
    path = path_string(path)
    if not path:
        return False
    with typed_errors(path):
        system, place = system_of(path)
        return system.exists(place)


def is_directory(path) -> bool:
    """Whether a directory is there."""
    path = path_string(path)
    if not path:
        return False
    with typed_errors(path):
        system, place = system_of(path)
        return system.is_directory(place)


def stat(path) -> FileStatistics:
    """Length, time of the last change, and whether it is a directory."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        return system.stat(place)


def names_in(path) -> list[str]:
    """The names in a directory, sorted."""
    path = path_string(path)
    if not is_directory(path):
        raise errors.not_found(f"Could not find directory {path}")
    with typed_errors(path):
        system, place = system_of(path)
        return sorted(system.list(place))


def make_directory(path) -> None:
    """Makes a directory in one that is there; nothing happens if it is there already."""
    path = path_string(path)
    if not path:  # TF: the directory of a bare file name is there
        return
    with typed_errors(path):
        system, place = system_of(path)
        try:
            system.make_directory(place)
        except FileExistsError:
            pass  # TF: also when it is a file


def make_directories(path) -> None:
    """Makes a directory and its parents, where they are not there."""
    path = path_string(path)
    if not path:
        return
    with typed_errors(path):
        system, place = system_of(path)
        try:
            system.make_directories(place)
        except (FileExistsError, NotADirectoryError):
            raise errors.failed_precondition(f"{path}; it, or a part of it, is not a directory") from None


def remove(path) -> None:
    """Removes a file."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        system.remove_file(place)


def remove_tree(path) -> None:
    """Removes a directory and all in it, or a file."""
    path = path_string(path)
    with typed_errors(path):
        system, place = system_of(path)
        if system.is_directory(place):
            system.remove_tree(place)
        else:
            system.remove_file(place)


def _refuse_existing(path: str, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.already_exists(f"{path}; file already exists. Pass overwrite=True to replace it.")


def _plain(scheme: str) -> str:
    return "" if scheme == "file" else scheme


def rename(source, target, overwrite: bool = False) -> None:
    """Moves a file or directory within a file system."""
    source, target = path_string(source), path_string(target)
    _refuse_existing(target, overwrite)
    with typed_errors(f"{source} to {target}"):
        system, place = system_of(source)
        if _plain(scheme_of(source)) != _plain(scheme_of(target)):
            raise errors.unimplemented(f"Renaming {source} to {target} not implemented: they are on different systems.")
        system.rename(place, system_of(target)[1])


def copy(source, target, overwrite: bool = False) -> None:
    """Copies a file, also between file systems."""
    source, target = path_string(source), path_string(target)
    _refuse_existing(target, overwrite)
    if is_directory(source):  # TF: the class of this error
        raise errors.invalid_argument(f"{source}; is a directory, copy takes a file")
    with open_file(source) as reader:
        if _same_file(source, target):
            return  # opening it for writing would empty it
        with open_file(target, "w") as writer, typed_errors(f"{source} to {target}"):
            shutil.copyfileobj(reader, writer, 1 << 20)


def _same_file(source: str, target: str) -> bool:
    if source == target:
        return True
    (one, first), (other, second) = system_of(source), system_of(target)
    try:
        return one is _LOCAL and other is _LOCAL and os.path.samefile(first, second)
    except OSError:
        return False


def join(path, *paths):
    """The paths joined by separators, as `os.path.join` does; schemes stay."""
    first = os.fspath(path)
    marker = b"://" if isinstance(first, bytes) else "://"
    if marker not in first:
        return os.path.join(path, *paths)
    return _join_with_slashes(first, *map(os.fspath, paths))


def _join_with_slashes(path, *paths):
    slash = b"/" if isinstance(path, bytes) else "/"
    for part in paths:
        if type(part) is not type(path):
            raise TypeError("gfile.join: str and bytes cannot be mixed in the parts of a path.")
        if part.startswith(slash):
            path = part
        else:
            path = path + part if not path or path.endswith(slash) else path + slash + part
    return path


def matching(pattern) -> list[str]:
    """The paths that match a shell pattern, sorted; wildcards stay within a component of the path."""
    pattern = path_string(pattern)
    if not pattern:
        return []
    if not path_patterns.has_wildcards(pattern):
        return [pattern] if exists(pattern) else []
    scheme = scheme_of(pattern)
    prefix = f"{scheme}://" if scheme else ""
    parts = pattern[len(prefix) :].split("/")
    # The components before the first wildcard are a directory to start from.
    fixed = next(index for index, part in enumerate(parts) if path_patterns.has_wildcards(part))
    start = prefix + "/".join(parts[:fixed])
    if fixed and not start.removeprefix(prefix):
        start = prefix + "/"
    elif not fixed and not prefix:
        start = "."  # TF: so that names found in the working directory start with "./"
    found = [start]
    for index in range(fixed, len(parts)):
        if not parts[index]:
            continue
        last = not any(parts[index + 1 :])
        expression = path_patterns.component_expression(parts[index])
        found = [
            below
            for directory in found
            if is_directory(directory)
            for name in _names_or_none(directory)
            if expression.fullmatch(name)
            for below in [_join_with_slashes(directory, name)]
            if last or is_directory(below)
        ]
    return sorted(found)


def _names_or_none(directory: str) -> list[str]:
    # What may not be read has no matches.
    try:
        return names_in(directory)
    except (errors.PermissionDeniedError, errors.NotFoundError):
        return []


def walk(
    top, topdown: bool = True, onerror: Callable[[errors.OpError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, names of directories in it, names of files in it) for `top` and all directories below."""
    top = path_string(top)
    try:
        names = names_in(top)
    except errors.OpError as error:
        if onerror is not None:
            onerror(error)
        return
    directories, files = [], []
    for name in names:
        (directories if is_directory(join(top, name)) else files).append(name)
    if topdown:
        yield top, directories, files
    for name in directories:
        yield from walk(join(top, name), topdown, onerror)
    if not topdown:
        yield top, directories, files

