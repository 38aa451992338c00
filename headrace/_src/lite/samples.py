"""Examples of inputs of a model, from a file or by chance."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.formats import files
from headrace._src.saved_model.signatures import argument_keywords

_COUNT = 16  # examples that are drawn
_SIZE = 8  # of an axis that is not known


def samples_for(concrete: Any, path: str | None = None) -> list[dict[str, np.ndarray]]:
    """Examples of the inputs of a function, by their names; each is a batch of one where the batch is not known.

    Args:
        concrete: the function.
        path: an `.npy` file for one input, or an `.npz` file with an array for each; without it, random numbers.

    Raises:
        InvalidArgumentError: the file does not fit.
    """
    names = argument_keywords(concrete)
    specs = dict(zip(names, concrete.inputs))
    if path is None:
        random = np.random.default_rng(0)
        return [{name: _drawn(tensor, random) for name, tensor in specs.items()} for _ in range(_COUNT)]
    arrays = _loaded(path, names)
    counts = {len(array) for array in arrays.values()}
    if len(counts) != 1:
        raise errors.invalid_argument(f"{path}: the arrays have different numbers of examples.")
    return [
        {name: _example(array[number], specs[name], path) for name, array in arrays.items()}
        for number in range(counts.pop())
    ]


def _loaded(path, names):
    try:
        found = np.load(io.BytesIO(files.read(path)), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise errors.invalid_argument(f"{path} is no .npy or .npz file: {error}") from error
    if isinstance(found, np.ndarray):
        found = {names[0]: found} if len(names) == 1 else {}
    arrays = {name: found[name] for name in found}
    if set(arrays) != set(names) or any(array.ndim == 0 for array in arrays.values()):
        raise errors.invalid_argument(f"{path} must have an array of examples for each input: {', '.join(names)}.")
    return arrays


def _example(value, tensor, path):
    """One example, as the model takes it."""
    value = np.asarray(value, tensor.dtype.as_numpy_dtype)
    if tensor.shape.rank is not None and value.ndim == tensor.shape.rank - 1:
        value = value[None]
    if not tensor.shape.is_compatible_with(value.shape):
        raise errors.invalid_argument(f"{path}: an example of shape {value.shape} does not fit {tensor.shape}.")
    return value


def _drawn(tensor, random):
    if tensor.shape.rank is None or tensor.dtype._kind not in "fiu":
        raise errors.invalid_argument(
            f"Examples of {tensor.dtype.name} of shape {tensor.shape} are not drawn: give some by --samples."
        )
    dims = [(1 if place == 0 else _SIZE) if size is None else size for place, size in enumerate(tensor.shape.as_list())]
    drawn = random.normal(size=dims) if tensor.dtype._kind == "f" else random.integers(0, 2, dims)
    return drawn.astype(tensor.dtype.as_numpy_dtype)
