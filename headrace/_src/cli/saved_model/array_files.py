"""Arrays of .npy, .npz and pickle files, read without running code that such a file may bring along."""

import builtins
import io
import pickle
import zipfile
from typing import Any

import numpy as np

from headrace._src.cli.saved_model.models import CommandError
from headrace._src.formats import files

# The functions that pickles of arrays and plain values call, by module and name; of all versions of NumPy.
_NUMPY = {
    ("multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
    ("multiarray", "scalar"): np._core.multiarray.scalar,
    ("numeric", "_frombuffer"): np._core.numeric._frombuffer,
}
_MODULES = ("numpy.core", "numpy._core")
_TYPES = {name: getattr(builtins, name) for name in ("list", "tuple", "dict", "set", "bytes", "bytearray", "complex")}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        package, _, last = module.rpartition(".")
        if package in _MODULES and (last, name) in _NUMPY:
            return _NUMPY[last, name]
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if module.startswith("numpy.dtypes") and hasattr(np.dtypes, name):
            return getattr(np.dtypes, name)
        if module == "_codecs" and name == "encode":
            return _encoded
        if module == "builtins" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(
            f"it would call {module}.{name}, and only arrays and plain values are read from pickles"
        )


def _encoded(text, encoding="utf-8"):
    # Pickles of protocol 2 have bytes as texts, encoded in latin1.
    if encoding not in ("latin1", "utf-8"):
        raise pickle.UnpicklingError(f"it has a text in the encoding {encoding!r}")
    return text.encode(encoding)


def read_array(path: str, name: str | None = None) -> tuple[Any, str | None]:
    """The array of a file, and a warning, if there is reason for one.

    Args:
        path: of a file. What it is, is told by its first bytes, not by its name.
        name: of the array in an .npz file.

    Raises:
        CommandError: there is no such file or array, or it is damaged, or would run code.
    """
    if not files.exists(path):
        raise CommandError(f"{path}; No such file or directory")
    data = files.read(path)
    try:
        if data.startswith(b"PK"):
            return _from_archive(path, data, name), None
        value = _from_npy(io.BytesIO(data)) if data.startswith(np.lib.format.MAGIC_PREFIX) else _unpickled(data)
    except CommandError:
        raise
    except Exception as error:  # whatever bytes there are
        raise CommandError(f"Input file {path} is neither .npy, .npz nor a pickle of an array: {error}") from None
    warning = None
    if name is not None:
        warning = f'Input file {path} contains a single ndarray. Name key "{name}" ignored.'
    return value, warning


def _unpickled(data):
    return _ArrayUnpickler(io.BytesIO(data)).load()


def _from_archive(path, data, name):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [entry.removesuffix(".npy") for entry in archive.namelist()]
        if name is None and len(names) != 1:
            raise CommandError(
                f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to use. "
                f"There are: {', '.join(names)}. Write {path}[{names[0] if names else 'name'}]."
            )
        if name is not None and name not in names:
            there = ", ".join(names)
            raise CommandError(f'Input file {path} does not contain variable with name "{name}". There are: {there}.')
        entry = archive.namelist()[0 if name is None else names.index(name)]
        return _from_npy(io.BytesIO(archive.read(entry)))


def _from_npy(file):
    """NumPy's own reader, but for arrays of objects, such as strings, which are pickled."""
    start = file.tell()
    version = np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if header is not None:
        shape, _, dtype = header(file)
        if dtype.hasobject:
            return np.asarray(_unpickled(file.read()), object).reshape(shape)
    file.seek(start)
    return np.lib.format.read_array(file, allow_pickle=False)
