"""`tf.io.gfile`: files and directories of this machine, of `ram://`, and of what fsspec reaches."""

import io
from typing import Any

from headrace._src.core import errors
from headrace._src.formats import files as filesystem
from headrace._src.formats.local_files import FileStatistics, typed_errors
from headrace._src.op.api import api

_MODES = ("r", "w", "a", "r+", "w+", "a+")
_BLOCK = 64 << 10


@api("io.gfile.GFile", "compat.v1.io.gfile.GFile", "compat.v1.gfile.GFile", "compat.v1.gfile.Open")
class GFile:
    r"""A file, which is opened when it is first read or written.

    Args:
        name: the path: str, bytes or PathLike; of any scheme.
        mode: "r", "w" or "a", with "+" for reading and writing, with "b" for bytes instead of (UTF-8) text.

    Raises:
        InvalidArgumentError: for another mode.
        NotFoundError, FailedPreconditionError, PermissionDeniedError: (when first used) no such file, a directory,
            not allowed, or not opened for this.

    >>> with tf.io.gfile.GFile("/tmp/headrace_doc.txt", "w") as file:
    ...     file.write("one\ntwo\n")
    >>> with tf.io.gfile.GFile("/tmp/headrace_doc.txt") as file:
    ...     file.readlines()
    ['one\n', 'two\n']
    """

    def __init__(self, name, mode="r") -> None:
        self._path = filesystem.path_string(name)
        self._name, self._mode = name, mode
        self._binary = "b" in mode
        plain = mode.replace("b", "", 1)
        if plain not in _MODES:
            raise errors.invalid_argument(
                f"GFile: mode must be 'r', 'w', 'a', 'r+', 'w+' or 'a+', with or without 'b', got {mode!r}."
            )
        self._plain_mode = plain
        self._file = None

    @property
    def name(self) -> str:
        """The path, as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode, as it was given."""
        return self._mode

    def _opened(self):
        if self._file is None:
            file = filesystem.open_file(self._path, self._plain_mode)
            self._file = io.BufferedReader(file, _BLOCK) if isinstance(file, io.RawIOBase) else file
            if self._plain_mode == "a+":
                self._file.seek(0)  # TF: reading starts at the beginning; writing appends wherever one has read
        return self._file

    def _for_reading(self):
        if self._plain_mode in ("w", "a"):
            raise errors.permission_denied(f"{self._path}; File isn't open for reading (mode {self._mode!r})")
        return self._opened()

    def _text(self, data: bytes):
        return data if self._binary else data.decode()

    def size(self) -> int:
        """The length of the file in bytes."""
        if self._file is not None and self._plain_mode != "r":
            self.flush()
        return filesystem.stat(self._path).length

    def write(self, file_content) -> None:
        """Adds text or bytes; text is written as UTF-8.

        Raises:
            PermissionDeniedError: the file was opened for reading.
            TypeError: for anything that is neither.
        """
        if self._plain_mode == "r":
            raise errors.permission_denied(f"{self._path}; File isn't open for writing (mode {self._mode!r})")
        if isinstance(file_content, str):
            file_content = file_content.encode()
        elif not isinstance(file_content, (bytes, bytearray, memoryview)):
            raise TypeError(f"GFile.write: expected a string or bytes, got {file_content!r}.")
        with typed_errors(self._path):
            self._opened().write(file_content)

    def read(self, n=-1) -> Any:
        """The next `n` bytes of the file, or all that are left (n = -1), as bytes or text."""
        if n < -1:
            raise errors.invalid_argument(f"{self._path}; Can't read a negative number of bytes: {n}")
        with typed_errors(self._path):
            data = self._for_reading().read(n)
        return self._text(data)

    def readline(self) -> Any:
        r"""The next line with its end, as bytes or text; empty at the end of the file. Drops "\r"."""
        with typed_errors(self._path):
            line = self._for_reading().readline()
        # TF: carriage returns are dropped by this method, wherever they stand, and kept by `read`.
        return self._text(line.replace(b"\r", b"") if b"\r" in line else line)

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def __iter__(self) -> "GFile":
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """The next line; StopIteration at the end."""
        return self.__next__()

    def tell(self) -> int:
        """The position in the file, in bytes."""
        with typed_errors(self._path):
            return self._opened().tell()

    def seek(self, offset=None, whence=0, position=None) -> None:
        """Goes to a position.

        Args:
            offset: in bytes.
            whence: counted from the beginning (0), the present position (1) or the end (2).
            position: the old name of `offset`.

        Raises:
            InvalidArgumentError: for a negative position or another whence.
            OutOfRangeError: past the end of the file, where the position then is.
        """
        if position is not None:
            offset = position
        elif offset is None:
            raise TypeError("GFile.seek: offset must be given.")
        file = self._for_reading()
        with typed_errors(self._path):
            here = file.tell()
            end = file.seek(0, io.SEEK_END)
            if whence not in (0, 1, 2):
                file.seek(here)
                raise errors.invalid_argument(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
            target = offset + (0, here, end)[whence]
            if target < 0:
                file.seek(here)
                raise errors.invalid_argument(f"{self._path}; Seeking to a negative position: {target}")
            if target > end:
                raise errors.out_of_range(f"{self._path}; reached end of file: it has {end} bytes, not {target}")
            file.seek(target)

    def seekable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Makes what was written visible to readers of the file."""
        if self._file is not None and self._plain_mode != "r":
            with typed_errors(self._path):
                self._file.flush()

    def close(self) -> None:
        """Closes the file. Using it again opens it again."""
        file, self._file = self._file, None
        if file is not None:
            with typed_errors(self._path):
                file.close()

    def __enter__(self) -> "GFile":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __del__(self):
        if getattr(self, "_file", None) is not None:
            self._file.close()


@api("compat.v1.gfile.FastGFile")
class FastGFile(GFile):
    """A `GFile`; it was once a faster one."""


@api("io.gfile.exists", "compat.v1.io.gfile.exists", dispatch=False, told=True)
def exists(path) -> bool:
    """Whether there is a file or directory at `path`.

    >>> tf.io.gfile.exists("/no/such/file")
    False
    """
    return filesystem.exists(path)


@api("io.gfile.isdir", "compat.v1.io.gfile.isdir", dispatch=False, told=True)
def isdir(path) -> bool:
    """Whether there is a directory at `path`."""
    return filesystem.is_directory(path)


@api("io.gfile.stat", "compat.v1.io.gfile.stat", dispatch=False, told=True)
def stat(path) -> FileStatistics:
    """`length` in bytes, `mtime_nsec` (when it was last changed) and `is_directory` of what is at `path`.

    Raises:
        NotFoundError: nothing is.
    """
    return filesystem.stat(path)


@api("io.gfile.listdir", "compat.v1.io.gfile.listdir", dispatch=False, told=True)
def listdir(path) -> list[str]:
    """The names in a directory, sorted.

    Raises:
        NotFoundError: there is no directory at `path`.
    """
    return filesystem.names_in(path)


@api("io.gfile.mkdir", "compat.v1.io.gfile.mkdir", dispatch=False, told=True)
def mkdir(path) -> None:
    """Makes a directory in one that is there; nothing happens if it is there already.

    Raises:
        NotFoundError: there is no directory to make it in.
    """
    filesystem.make_directory(path)


@api("io.gfile.makedirs", "compat.v1.io.gfile.makedirs", dispatch=False, told=True)
def makedirs(path) -> None:
    """Makes a directory and those above it, where they are not there.

    Raises:
        FailedPreconditionError: a file is in the way.
    """
    filesystem.make_directories(path)


@api("io.gfile.remove", "compat.v1.io.gfile.remove", dispatch=False, told=True)
def remove(path) -> None:
    """Removes a file.

    Raises:
        NotFoundError: there is none.
        FailedPreconditionError: `path` is a directory; see `rmtree`.
    """
    filesystem.remove(path)


@api("io.gfile.rmtree", "compat.v1.io.gfile.rmtree", dispatch=False, told=True)
def rmtree(path) -> None:
    """Removes a directory and all that is in it.

    Raises:
        NotFoundError: there is none.
    """
    filesystem.remove_tree(path)


@api("io.gfile.copy", "compat.v1.io.gfile.copy", dispatch=False, told=True)
def copy(src, dst, overwrite=False) -> None:
    """Copies a file, also from one file system to another.

    Args:
        src: the file.
        dst: the path of the copy.
        overwrite: whether a file in its place may be replaced.

    Raises:
        NotFoundError: there is no `src`.
        AlreadyExistsError: there is a `dst`.
    """
    filesystem.copy(src, dst, overwrite)


@api("io.gfile.rename", "compat.v1.io.gfile.rename", dispatch=False, told=True)
def rename(src, dst, overwrite=False) -> None:
    """Gives a file or directory another path.

    Args:
        src: what to move.
        dst: its new path.
        overwrite: whether a file in its place may be replaced.

    Raises:
        NotFoundError: there is no `src`.
        AlreadyExistsError: there is a `dst`.
        UnimplementedError: the paths are on different file systems.
    """
    filesystem.rename(src, dst, overwrite)


@api("io.gfile.glob", "compat.v1.io.gfile.glob", dispatch=False, told=True)
def glob(pattern) -> list[str]:
    """The paths that match shell patterns, sorted for each pattern; wildcards stay within one component of a path.

    Args:
        pattern: one pattern, or an iterable of patterns.

    >>> tf.io.gfile.glob("/no/such/*")
    []
    """
    if isinstance(pattern, (str, bytes)) or hasattr(pattern, "__fspath__"):
        return filesystem.matching(pattern)
    return [path for one in pattern for path in filesystem.matching(one)]


@api("io.gfile.walk", "compat.v1.io.gfile.walk", dispatch=False, told=True)
def walk(top, topdown=True, onerror=None) -> Any:
    """Goes through a directory and all below it.

    Args:
        top: the directory.
        topdown: whether a directory comes before those in it.
        onerror: a function that is called with the error for each directory that cannot be listed.

    Yields:
        (path of a directory, names of the directories in it, names of the files in it).
    """
    return filesystem.walk(top, topdown, onerror)


@api("io.gfile.join", "compat.v1.io.gfile.join", dispatch=False, told=True)
def join(path, *paths) -> Any:
    """Parts of a path joined by separators; an absolute part starts anew.

    >>> tf.io.gfile.join("gs://bucket", "folder", "file")
    'gs://bucket/folder/file'
    """
    return filesystem.join(path, *paths)


@api("io.gfile.get_registered_schemes", "compat.v1.io.gfile.get_registered_schemes", dispatch=False)
def get_registered_schemes() -> list[str]:
    """The schemes that paths may have: "" and "file" for this machine, "ram", and those of fsspec if installed."""
    return filesystem.schemes()
