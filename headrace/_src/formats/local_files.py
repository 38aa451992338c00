"""What a file system can do, with TensorFlow's errors, and the one of this machine."""

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from headrace._src.core import errors, operating_system

_CODES = {
    errors.INVALID_ARGUMENT: "EINVAL ENAMETOOLONG E2BIG EDOM EFAULT EILSEQ ENOTTY ESPIPE ELOOP",
    errors.DEADLINE_EXCEEDED: "ETIMEDOUT ETIME",
    errors.NOT_FOUND: "ENODEV ENOENT ENXIO ESRCH",
    errors.ALREADY_EXISTS: "EEXIST EADDRNOTAVAIL EALREADY",
    errors.PERMISSION_DENIED: "EPERM EACCES EROFS",
    errors.FAILED_PRECONDITION: "ENOTEMPTY EISDIR ENOTDIR EBADF EBUSY ECHILD EPIPE ETXTBSY",
    errors.RESOURCE_EXHAUSTED: "ENOSPC EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENODATA ENOMEM",
    errors.OUT_OF_RANGE: "EFBIG EOVERFLOW ERANGE",
    errors.UNIMPLEMENTED: "ENOSYS ENOTSUP EXDEV",
    errors.UNAVAILABLE: "EAGAIN ECONNREFUSED ECONNABORTED ECONNRESET EINTR EHOSTDOWN EHOSTUNREACH ENETDOWN ENETRESET",
    errors.ABORTED: "EDEADLK ESTALE",
    errors.CANCELLED: "ECANCELED",
}
_CODE_OF_ERRNO = {
    getattr(errno, name): code for code, names in _CODES.items() for name in names.split() if hasattr(errno, name)
}


def typed(error: Exception, path: str) -> errors.OpError:
    """The `tf.errors` exception for what the operating system, or a library in its place, says about a path."""
    if isinstance(error, MemoryError):
        return errors.resource_exhausted(f"{path}; not enough memory for it")
    if not isinstance(error, OSError):
        return errors.invalid_argument(f"{path!r}; {error}")  # such as a path with a zero byte
    number = error.errno
    if number is None:  # libraries raise FileNotFoundError("...") without a number
        for kind, number_of_kind in _ERRNO_OF_CLASS.items():
            if isinstance(error, kind):
                number = number_of_kind
                break
    text = error.strerror if error.errno is not None and error.strerror else str(error)
    return errors.from_code(_CODE_OF_ERRNO.get(number, errors.UNKNOWN), f"{path}; {text}")


_ERRNO_OF_CLASS = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    TimeoutError: errno.ETIMEDOUT,
    ConnectionError: errno.ECONNRESET,
}


@contextlib.contextmanager
def typed_errors(path: str) -> Iterator[None]:
    """Turns failures of the block, which works on `path`, into `tf.errors` that name it."""
    try:
        yield
    except (OSError, ValueError, MemoryError) as error:
        raise typed(error, path) from error


class FileStatistics(NamedTuple):
    """What `tf.io.gfile.stat` says about a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


class FileSystem:
    """The methods of a file system. Paths carry their scheme; files are binary; errors are OSErrors or typed."""

    def open(self, path: str, mode: str) -> BinaryIO:
        """Opens a file; mode is "r", "w" or "a", with or without "+"."""
        raise NotImplementedError

    def read(self, path: str) -> bytes:
        """The contents of a file."""
        with self.open(path, "r") as file:
            return file.read()

    def exists(self, path: str) -> bool:
        raise NotImplementedError

    def stat(self, path: str) -> FileStatistics:
        raise NotImplementedError

    def list(self, path: str) -> list[str]:
        """The names in a directory, in no particular order."""
        raise NotImplementedError

    def make_directory(self, path: str) -> None:
        """Makes one directory; an error if it, or no parent, is there."""
        raise NotImplementedError

    def make_directories(self, path: str) -> None:
        """Makes a directory and its parents, where they are not there."""
        raise NotImplementedError

    def remove_file(self, path: str) -> None:
        raise NotImplementedError

    def remove_tree(self, path: str) -> None:
        """Removes a directory and all in it."""
        raise NotImplementedError

    def rename(self, source: str, target: str) -> None:
        """Moves a file or directory; a file in its place is replaced."""
        raise NotImplementedError

    def replace(self, path: str, contents: bytes) -> None:
        """Writes a whole file, in one step where the system can: readers see the old one or the new one."""
        with self.open(path, "w") as file:
            file.write(contents)

    def is_directory(self, path: str) -> bool:
        """Whether a directory is there; False also if nothing is."""
        try:
            return self.stat(path).is_directory
        except (OSError, errors.NotFoundError):
            return False


_READING = operating_system.reading_flags()
_PART = 1 << 24  # bytes that are read at a time where the size is not known


class LocalFiles(FileSystem):
    """The files of this machine."""

    def open(self, path, mode):
        if mode == "r":
            # Unbuffered: readers here ask for large blocks themselves.
            return open(path, "rb", buffering=0)
        # TF: "w+" and "r+" exist for GFile only, with Python's meaning.
        return open(path, {"w": "wb", "a": "ab", "r+": "r+b", "w+": "w+b", "a+": "a+b"}[mode])

    def read(self, path):
        # In few calls of the system: at each one another thread may get its turn, which readers in threads wait for.
        file = os.open(path, _READING)
        try:
            size = os.fstat(file).st_size
            contents = os.read(file, size + 1)
            if len(contents) == size > 0:
                return contents
            parts = [contents]  # the file is large, is being written, or has no size, as a pipe
            while parts[-1]:
                parts.append(os.read(file, _PART))
            return b"".join(parts)
        finally:
            os.close(file)

    def exists(self, path):
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def stat(self, path):
        found = os.stat(path)
        return FileStatistics(found.st_size, found.st_mtime_ns, stat.S_ISDIR(found.st_mode))

    def list(self, path):
        return os.listdir(path)

    def make_directory(self, path):
        os.mkdir(path)

    def make_directories(self, path):
        os.makedirs(path, exist_ok=True)

    def remove_file(self, path):
        os.unlink(path)

    def remove_tree(self, path):
        shutil.rmtree(path)

    def rename(self, source, target):
        operating_system.replace(source, target)

    def replace(self, path, contents):
        if os.path.exists(path) and not os.path.isfile(path):  # a directory (an error), a pipe, a device
            return super().replace(path, contents)
        # Through links to the file they lead to, as a plain write does, and with the access rights that it would give.
        path = os.path.realpath(path)
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f"{name[:64]}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
        try:
            file = open(temporary, "xb")
        except PermissionError:
            return super().replace(path, contents)  # a file may be writable in a directory that is not
        with file:
            try:
                file.write(contents)
                if os.path.exists(path):
                    os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
                file.close()  # some systems rename closed files only
                operating_system.replace(temporary, path)
            except BaseException:
                file.close()
                os.unlink(temporary)
                raise
