"""`headrace.safetensors`: files in which weights travel between frameworks, read and written without other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from headrace._src.checkpoint.safetensors_names import named_variables
from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats import files
from headrace._src.formats.safetensors_files import (
    TensorFiles,
    Value,
    decoded,
    encoded,
    write_file,
    write_shards,
)
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.state.variables import Variable

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


# Tensors by name.


@api("safetensors.save", dispatch=False)
def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file.

    Args:
        tensors: names to tensors, variables or arrays.
        metadata: texts to texts.

    Raises:
        InvalidArgumentError: a tensor is of a dtype that the format does not have, such as string.

    >>> len(tf.safetensors.save({"w": tf.ones([2, 3])}))
    96
    """
    return encoded(_values(tensors), _texts(metadata))


@api("safetensors.load", dispatch=False)
def load(data: bytes) -> dict[str, EagerTensor]:
    """The tensors in the bytes of a safetensors file, by name.

    Raises:
        DataLossError: these are no such bytes.

    >>> tf.safetensors.load(tf.safetensors.save({"w": tf.constant([1, 2])}))["w"].numpy()
    array([1, 2], dtype=int32)
    """
    found, _ = decoded(data)
    return {name: EagerTensor(array, dtype) for name, (dtype, array) in found.items()}


@api("safetensors.save_file", dispatch=False)
def save_file(
    tensors: Mapping[str, Any],
    filename: Any,
    metadata: Mapping[str, str] | None = None,
    max_shard_size: int | str | None = None,
) -> None:
    """Writes tensors into a safetensors file, which appears as a whole, and would then survive a power cut.

    Args:
        tensors: names to tensors, variables or arrays.
        filename: such as "model.safetensors".
        metadata: texts to texts, which other programs may read, such as {"format": "tf"}.
        max_shard_size: a number of bytes, or a text such as "2GB". Where the tensors are larger than that, they are
            written into several files, and `model.safetensors.index.json` says which is where.

    Raises:
        InvalidArgumentError: a tensor is of a dtype that the format does not have, such as string.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> tf.safetensors.save_file({"w": tf.ones([2]), "b": tf.zeros([], tf.bfloat16)}, path)
    >>> tf.safetensors.load_file(path)["b"].dtype
    tf.bfloat16
    """
    _save(_values(tensors), filename, metadata, max_shard_size)


@api("safetensors.load_file", dispatch=False)
def load_file(filename: Any) -> dict[str, EagerTensor]:
    """The tensors of a safetensors file, by name.

    Args:
        filename: the file; or an index of several files (`model.safetensors.index.json`); or a folder that has one such
            file or index.

    Raises:
        NotFoundError: a file is not there.
        DataLossError: one is damaged, or is no safetensors file.
    """
    with TensorFiles(filename) as source:
        return {name: _tensor(source, name) for name in source.places}


def _tensor(source, name):
    return EagerTensor(source.read(name), source.places[name].dtype)


def _values(tensors) -> dict[str, Value]:
    if not isinstance(tensors, Mapping):
        raise TypeError(
            f"safetensors: expected a dict of names and tensors, got {tensors!r}. For the variables of an object there "
            "is save_model."
        )
    values = {}
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"safetensors: the names of tensors are texts, got {name!r}.")
        values[name] = _value(tensor)
    return values


def _value(tensor) -> Value:
    inner = getattr(tensor, "_value", None)  # of Keras's variables
    tensor = inner if isinstance(inner, Variable) else tensor
    if isinstance(tensor, Variable):
        variable = tensor
        return variable.dtype, tuple(variable.shape), lambda: variable.value()._a
    tensor = to_tensor(tensor)
    if not isinstance(tensor, EagerTensor):
        raise TypeError(f"safetensors: {tensor!r} has no value inside of a function. Save outside of functions.")
    return tensor.dtype, tuple(tensor.shape), lambda: tensor._a


def _save(values, filename, metadata, max_shard_size):
    path = files.path_string(filename)
    if max_shard_size is None:
        write_file(path, values, _texts(metadata))
    else:
        write_shards(path, values, _bytes(max_shard_size), _texts(metadata))


def _texts(metadata):
    metadata = dict(metadata or {})
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"safetensors: metadata are texts by text, got {key!r}: {value!r}. Use str(...).")
    return metadata


def _bytes(size):
    if isinstance(size, str):
        number, unit = size.rstrip("BKMGIbkmgi "), size[len(size.rstrip("BKMGIbkmgi ")) :].strip().upper()
        if not number.isdecimal() or (unit or "B") not in _UNITS:
            raise ValueError(
                f'safetensors: max_shard_size must be a number of bytes or a text such as "2GB", got {size!r}'
            )
        size = int(number) * _UNITS[unit or "B"]
    if size <= 0:
        raise ValueError(f"safetensors: max_shard_size must be above zero, got {size}.")
    return size


@api("safetensors.safe_open")
class SafeOpen:
    """A safetensors file that is open: tensors are read when they are asked for.

    Args:
        filename: as for `load_file`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> tf.safetensors.save_file({"w": tf.range(6)}, path, {"by": "me"})
    >>> with tf.safetensors.safe_open(path) as file:
    ...     print(file.keys(), file.metadata(), file.get_slice("w")[4:].numpy())
    ['w'] {'by': 'me'} [4 5]
    """

    def __init__(self, filename: Any) -> None:
        self._source = TensorFiles(filename)

    def keys(self) -> list[str]:
        """The names of the tensors, sorted."""
        return list(self._source.places)

    def metadata(self) -> dict[str, str]:
        """The texts that were saved with the tensors."""
        return dict(self._source.metadata)

    def get_tensor(self, name: str) -> EagerTensor:
        """A tensor.

        Raises:
            NotFoundError: there is none of this name.
        """
        array = self._source.read(name)
        return EagerTensor(array, self._source.places[name].dtype)

    def get_slice(self, name: str) -> TensorRows:
        """A tensor of which parts can be read by indexing."""
        if name not in self._source.places:
            raise errors.not_found(f"{self._source.path}: there is no tensor {name!r} in it.")
        return TensorRows(self._source, name)

    def __contains__(self, name: str) -> bool:
        return name in self._source.places

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.places)

    def __enter__(self) -> SafeOpen:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._source.close()


class TensorRows:
    """A tensor of a file. Indexing reads the rows that are asked for, and no others."""

    def __init__(self, source: TensorFiles, name: str) -> None:
        self._source = source
        self._name = name

    @property
    def dtype(self) -> dtypes.DType:
        return self._source.places[self._name].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._source.places[self._name].shape

    def __getitem__(self, index: Any) -> EagerTensor:
        index = index if isinstance(index, tuple) else (index,)
        first, rest = (index[0], index[1:]) if index else (Ellipsis, ())
        if self.shape and isinstance(first, slice) and first.step in (None, 1):
            start, stop, _ = first.indices(self.shape[0])
            rows = self._source.read_rows(self._name, start, max(start, stop))
            return EagerTensor(np.ascontiguousarray(rows[(slice(None), *rest)]), self.dtype)
        return EagerTensor(np.asarray(self._source.read(self._name)[index]), self.dtype)


# Modules and Keras models.


class LoadResult(NamedTuple):
    """What was left over when a file was loaded into a model: names of variables, and names of tensors in the file."""

    missing: list[str]
    unexpected: list[str]


@api("safetensors.save_model", dispatch=False)
def save_model(
    model: Any,
    filename: Any,
    metadata: Mapping[str, str] | None = None,
    max_shard_size: int | str | None = None,
    names: Callable[[str], str] | None = None,
) -> None:
    """Writes the variables of a module or Keras model into a safetensors file.

    Names in the file lead to the variable: attributes of a module, names of layers and weights of a Keras model, joined
    with dots, such as "layers.0.kernel" or "dense_1.bias". A variable that is reached on several ways is written once.
    Tables, the state of random generators and Python values are not part of such files; `tf.train.Checkpoint` saves
    these too.

    Args:
        model: a `tf.Module`, a Keras model or layer, or another object that has variables in its attributes.
        filename, metadata, max_shard_size: as for `save_file`.
        names: from these names to those that the file shall have.

    Raises:
        InvalidArgumentError: a variable is of a dtype that the format does not have, such as string.
        ValueError: two variables have the same name, or there are none, as in a Keras model that was not built.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> module = tf.Module()
    >>> module.layers = [tf.Variable([1.0]), tf.Variable([2.0])]
    >>> tf.safetensors.save_model(module, path)
    >>> sorted(tf.safetensors.load_file(path))
    ['layers.0', 'layers.1']
    """
    variables = _renamed(model, names)
    _save({name: _value(variable) for name, variable in variables.items()}, filename, metadata, max_shard_size)


def _renamed(model, names):
    variables = named_variables(model)
    if not variables:
        raise ValueError(
            f"safetensors: {type(model).__name__} has no variables. A Keras model has them once it is built: call it, "
            "or build it with the shape of its input."
        )
    if names is None:
        return variables
    renamed: dict[str, Variable] = {}
    for name, variable in variables.items():
        other = names(name)
        if other in renamed:
            raise ValueError(f"safetensors: names gives {other!r} to two variables, the second one is {name!r}.")
        renamed[other] = variable
    return renamed


@api("safetensors.load_model", dispatch=False)
def load_model(
    model: Any,
    filename: Any,
    strict: bool = True,
    cast: bool = False,
    names: Callable[[str], str] | None = None,
) -> LoadResult:
    """Gives the variables of a module or Keras model the values of a safetensors file.

    If something does not fit, nothing is changed.

    Args:
        model: as for `save_model`.
        filename: as for `load_file`.
        strict: whether each variable must be in the file, and each tensor of the file must belong to one.
        cast: whether values of another dtype are converted to that of the variable.
        names: from the names of variables to those in the file, where these are others.

    Returns:
        A named tuple `(missing, unexpected)`: names of variables that are not in the file, and of tensors that belong
        to no variable. With `strict` both are empty.

    Raises:
        InvalidArgumentError: names, shapes or dtypes do not fit; all of them are listed.
        NotFoundError: there is no such file.
        DataLossError: it is damaged.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> tf.safetensors.save_file({"w": tf.constant([1.0, 2.0]), "other": tf.zeros([])}, path)
    >>> module = tf.Module()
    >>> module.w = tf.Variable([0.0, 0.0])
    >>> tf.safetensors.load_model(module, path, strict=False)
    LoadResult(missing=[], unexpected=['other'])
    >>> module.w.numpy()
    array([1., 2.], dtype=float32)
    """
    if context.graph is not None:
        raise RuntimeError("safetensors: load_model works outside of functions and graphs only. Call it before.")
    variables = _renamed(model, names)
    with TensorFiles(filename) as source:
        missing = sorted(set(variables) - set(source.places))
        unexpected = sorted(set(source.places) - set(variables))
        problems = _mismatches(variables, source, cast)
        if strict:
            problems = [
                *(f"missing in the file: {_described(name, variables[name])}" for name in missing),
                *(f"not in the model: {_described(name, source.places[name])}" for name in unexpected),
                *problems,
            ]
        if problems:
            raise errors.invalid_argument(_refusal(model, source.path, problems, missing or unexpected))
        for name, variable in variables.items():
            if name in source.places:
                array = source.read(name)
                wanted = variable.dtype._np
                variable.assign(EagerTensor(array if array.dtype == wanted else array.astype(wanted), variable.dtype))
    return LoadResult(missing, unexpected)


def _mismatches(variables, source, cast):
    problems = []
    for name, variable in variables.items():
        place = source.places.get(name)
        if place is None:
            continue
        fits = place.dtype is variable.dtype or (cast and _can_cast(place.dtype, variable.dtype))
        if not variable.shape.is_compatible_with(place.shape) or not fits:
            problems.append(f"{_described(name, place)} in the file, {_described('', variable).strip()} in the model")
    return problems


def _can_cast(one, other):
    kinds = {"f": "number", "i": "number", "u": "number", "b": "bool", "c": "complex"}
    return kinds.get(one._kind) == kinds.get(other._kind)


def _described(name, item):
    return f"{name} {item.dtype.name}{list(item.shape)}"


_MOST_LISTED = 40


def _refusal(model, path, problems, names_differ):
    more = f"\n  ... and {len(problems) - _MOST_LISTED} more" if len(problems) > _MOST_LISTED else ""
    listed = "\n  ".join(problems[:_MOST_LISTED])
    hint = " With strict=False, only what both have is loaded; names= translates names." if names_differ else ""
    return (
        f"{path} does not fit {type(model).__name__}, and nothing was loaded:\n  {listed}{more}\n"
        f"Values of another dtype are converted with cast=True.{hint}"
    )
