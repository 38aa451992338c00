"""`tf.compat.v1.resource_loader`: files beside the program that asks for them."""

import os
import sys

from headrace._src.core.tracebacks import PACKAGE
from headrace._src.op.api import api


def _folder_of_caller():
    """The folder of the first file, from here outwards, that is not of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return os.path.dirname(frame.f_code.co_filename)


@api("compat.v1.resource_loader.load_resource", dispatch=False)
def load_resource(path) -> bytes:
    """The bytes of a file of this package.

    Args:
        path: relative to the folder of the package.

    Raises:
        OSError: there is no such file.
    """
    with open(os.path.abspath(os.path.join(PACKAGE, path)), "rb") as file:
        return file.read()


@api("compat.v1.resource_loader.get_data_files_path", dispatch=False)
def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder_of_caller()


@api("compat.v1.resource_loader.get_root_dir_with_all_resources", dispatch=False)
def get_root_dir_with_all_resources() -> str:
    """The folder that data files of the calling program are below: of its `.runfiles` if it has such, else its own."""
    folder = _folder_of_caller()
    parts = folder.split(os.sep)
    for place, part in enumerate(parts):
        if part.endswith(".runfiles"):
            return os.sep.join(parts[: place + 2])
    return folder


@api("compat.v1.resource_loader.get_path_to_datafile", dispatch=False)
def get_path_to_datafile(path) -> str:
    """The path of a file beside the one that calls this.

    Args:
        path: relative to the folder of the calling file.
    """
    return os.path.join(_folder_of_caller(), path)


@api("compat.v1.resource_loader.readahead_file_path", dispatch=False)
def readahead_file_path(path, readahead="128M") -> str:
    """The path as it is: files here are read ahead by the system.

    Args:
        path: a path.
        readahead: accepted. TF: not used there either.
    """
    return path
