"""Files of other schemes (`gs://`, `s3://`, `memory://` ...) through fsspec, where that is installed."""

import errno
import os

from headrace._src.core import errors, lazy
from headrace._src.formats import path_patterns
from headrace._src.formats.local_files import FileStatistics, FileSystem


def _directory_error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)


def known_schemes() -> list[str]:
    """The schemes that fsspec has a class for; none where it is not installed."""
    try:
        return sorted(name for name in lazy.fsspec.available_protocols() if name not in ("file", "local"))
    except ImportError:
        return []


class RemoteFiles(FileSystem):
    """The files of one scheme."""

    def __init__(self, scheme: str):
        self._scheme = scheme

    def _system(self, path: str):
        refusal = f"File system scheme '{self._scheme}' not implemented (file: '{path}')."
        try:
            return lazy.fsspec_core.url_to_fs(path)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "fsspec":
                raise errors.unimplemented(
                    f"{refusal} Install fsspec, and the package that it needs for this scheme, to use such files."
                ) from None
            raise errors.unimplemented(f"{refusal} {error}") from error
        except ImportError as error:
            raise errors.unimplemented(f"{refusal} {error}") from error
        except ValueError as error:
            if "Protocol not known" not in str(error):
                raise
            raise errors.unimplemented(f"{refusal} fsspec does not know it either.") from None

    def open(self, path, mode):
        system, place = self._system(path)
        if mode == "r" and system.isdir(place):
            raise _directory_error(errno.EISDIR, path)
        return system.open(place, mode[0] + "b" + mode[1:])

    def exists(self, path):
        system, place = self._system(path)
        return system.exists(place)

    def stat(self, path):
        system, place = self._system(path)
        info = system.info(place)
        try:
            changed = int(system.modified(place).timestamp() * 1e9)
        except (NotImplementedError, KeyError, TypeError, AttributeError, OSError):
            changed = 0  # not every store knows
        directory = info["type"] == "directory"
        return FileStatistics(0 if directory else int(info.get("size") or 0), changed, directory)

    def list(self, path):
        system, place = self._system(path)
        if not system.isdir(place):
            raise _directory_error(errno.ENOTDIR if system.exists(place) else errno.ENOENT, path)
        here = place.rstrip("/")
        names = [name.rstrip("/") for name in system.ls(place, detail=False)]
        return [name.rpartition("/")[2] for name in names if name != here]

    def make_directory(self, path):
        system, place = self._system(path)
        if system.exists(place):
            raise _directory_error(errno.EEXIST, path)
        system.mkdir(place, create_parents=False)

    def make_directories(self, path):
        system, place = self._system(path)
        if system.isfile(place):
            raise _directory_error(errno.ENOTDIR, path)
        system.makedirs(place, exist_ok=True)

    def remove_file(self, path):
        system, place = self._system(path)
        if system.isdir(place):
            raise _directory_error(errno.EISDIR, path)
        system.rm_file(place)

    def remove_tree(self, path):
        system, place = self._system(path)
        if not system.isdir(place):
            raise _directory_error(errno.ENOTDIR if system.exists(place) else errno.ENOENT, path)
        if path_patterns.has_wildcards(place):
            self._remove_by_name(system, place)
        else:
            system.rm(place, recursive=True)

    def _remove_by_name(self, system, place: str) -> None:
        # fsspec takes names with wildcards in them for patterns, but not where it works on single files.
        for name in system.find(place):
            system.rm_file(name)
        for directory in sorted([place, *system.find(place, withdirs=True)], reverse=True):
            if system.isdir(directory):
                system.rmdir(directory)

    def rename(self, source, target):
        system, place = self._system(source)
        if not system.exists(place):
            raise _directory_error(errno.ENOENT, source)
        _, target_place = self._system(target)
        directory = system.isdir(place)
        if not path_patterns.has_wildcards(place + target_place):
            system.mv(place, target_place, recursive=directory)
        elif directory:
            for name in system.find(place):
                below = target_place + name[len(place.rstrip("/")) :]
                system.makedirs(below.rpartition("/")[0], exist_ok=True)
                system.cp_file(name, below)
            self._remove_by_name(system, place)
        else:
            system.cp_file(place, target_place)
            system.rm_file(place)

    def replace(self, path, contents):
        system, place = self._system(path)
        system.pipe_file(place, contents)  # object stores write whole objects in one step
