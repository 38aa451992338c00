"""`ram://`: files that live in the memory of this process, for tests and for passing data on."""

import errno
import io
import os
import threading
import time

from headrace._src.formats.local_files import FileStatistics, FileSystem


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)


class _MemoryFile(io.BytesIO):
    """A file that is kept when it is flushed or closed."""

    def __init__(self, store: "MemoryFiles", key: str, contents: bytes, appends: bool):
        super().__init__(contents)
        self._store, self._key, self._appends = store, key, appends
        if appends:
            self.seek(0, io.SEEK_END)

    def write(self, data):
        if self._appends:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def flush(self):
        if not self.closed:
            super().flush()
            self._store._keep(self._key, self.getvalue())

    def close(self):
        if not self.closed:
            self.flush()
        super().close()


class MemoryFiles(FileSystem):
    """Files in a dictionary. As in TensorFlow, directories above a file are there without being made."""

    def __init__(self, prefix: str = "ram://"):
        self._prefix = prefix
        self._lock = threading.RLock()
        self._files: dict[str, tuple[bytes, int]] = {}  # contents and time of the last change
        self._directories: set[str] = set()

    def _key(self, path: str) -> str:
        return "/".join(part for part in path.removeprefix(self._prefix).split("/") if part not in ("", "."))

    def _keep(self, key: str, contents: bytes) -> None:
        with self._lock:
            self._files[key] = (contents, time.time_ns())

    def _is_directory(self, key: str) -> bool:
        if not key or key in self._directories:
            return True
        start = key + "/"
        return any(name.startswith(start) for name in (*self._files, *self._directories))

    def _check_parents(self, key: str, path: str) -> None:
        parts = key.split("/")
        for count in range(1, len(parts)):
            if "/".join(parts[:count]) in self._files:
                raise _error(errno.ENOTDIR, path)

    def open(self, path, mode):
        key = self._key(path)
        with self._lock:
            if self._is_directory(key):
                raise _error(errno.EISDIR, path)
            self._check_parents(key, path)
            if mode[0] == "r" and key not in self._files:
                raise _error(errno.ENOENT, path)
            contents = self._files[key][0] if mode[0] != "w" and key in self._files else b""
            if mode == "r":
                return io.BytesIO(contents)
            if mode[0] == "w" or key not in self._files:
                self._keep(key, b"")
            return _MemoryFile(self, key, contents, mode[0] == "a")

    def exists(self, path):
        key = self._key(path)
        with self._lock:
            return key in self._files or self._is_directory(key)

    def stat(self, path):
        key = self._key(path)
        with self._lock:
            if key in self._files:
                contents, changed = self._files[key]
                return FileStatistics(len(contents), changed, False)
            if self._is_directory(key):
                return FileStatistics(0, 0, True)
            self._check_parents(key, path)
        raise _error(errno.ENOENT, path)

    def list(self, path):
        key = self._key(path)
        with self._lock:
            if not self._is_directory(key):
                raise _error(errno.ENOTDIR if key in self._files else errno.ENOENT, path)
            start = f"{key}/" if key else ""
            names = (*self._files, *self._directories)
            return sorted({name[len(start) :].partition("/")[0] for name in names if name.startswith(start)} - {""})

    def make_directory(self, path):
        key = self._key(path)
        with self._lock:
            if self.exists(path):
                raise _error(errno.EEXIST, path)
            self._check_parents(key, path)
            self._directories.add(key)

    def make_directories(self, path):
        key = self._key(path)
        with self._lock:
            if key in self._files:
                raise _error(errno.ENOTDIR, path)
            self._check_parents(key, path)
            if key:
                self._directories.add(key)

    def remove_file(self, path):
        key = self._key(path)
        with self._lock:
            if key not in self._files:
                raise _error(errno.EISDIR if self._is_directory(key) else errno.ENOENT, path)
            self._keep_parents(key)
            del self._files[key]

    def _keep_parents(self, key: str) -> None:
        # A directory does not end with its last file.
        folder = key.rpartition("/")[0]
        if folder:
            self._directories.add(folder)

    def remove_tree(self, path):
        key = self._key(path)
        with self._lock:
            if not self._is_directory(key):
                raise _error(errno.ENOTDIR if key in self._files else errno.ENOENT, path)
            self._keep_parents(key)
            inside = f"{key}/" if key else ""
            self._files = {name: file for name, file in self._files.items() if not name.startswith(inside)}
            self._directories = {
                name for name in self._directories if name != key and not name.startswith(inside)
            }

    def rename(self, source, target):
        old, new = self._key(source), self._key(target)
        with self._lock:
            self._check_parents(new, target)
            if old in self._files:
                if self._is_directory(new):
                    raise _error(errno.EISDIR, target)
                self._keep_parents(old)
                self._files[new] = self._files.pop(old)
                return
            if not self._is_directory(old):
                raise _error(errno.ENOENT, source)
            if new in self._files:
                raise _error(errno.ENOTDIR, target)
            if new != old and f"{new}/".startswith(f"{old}/"):
                raise _error(errno.EINVAL, target)
            if self._is_directory(new) and self.list(target) and new != old:
                raise _error(errno.ENOTEMPTY, target)
            self._keep_parents(old)

            def moved(name: str) -> str:
                return new + name[len(old) :] if name == old or name.startswith(old + "/") else name

            self._files = {moved(name): file for name, file in self._files.items()}
            self._directories = {moved(name) for name in self._directories} | {new}
