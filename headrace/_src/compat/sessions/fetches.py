"""What `Session.run` is asked for and given: nested structures of fetches, and feeds of tensors and composites."""

import collections
import collections.abc

import numpy as np

from headrace._src.core import nest
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.op.convert import eager_constant
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue
from headrace._src.state.variables import Variable

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class Fetches:
    """A structure of fetches, taken apart: the tensors and operations that it needs, and how to put values in."""

    def __init__(self, graph: BaseGraph, fetches):
        self.tensors: list[SymbolicTensor] = []
        self.operations: list[Operation] = []
        self._positions: dict[int, int] = {}
        self._graph = graph
        self._build = self._reader(fetches)

    def values(self, arrays: list):
        """The structure with the values of its elements, given those of `tensors`; None for operations."""
        return self._build(arrays)

    def _reader(self, fetch):
        """A function from the values of all tensors to what stands for `fetch`."""
        if fetch is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(fetch, (list, tuple)) and not hasattr(fetch, "_as_graph_element"):
            parts = [self._reader(item) for item in fetch]
            if hasattr(fetch, "_fields"):
                return lambda arrays: type(fetch)(*(part(arrays) for part in parts))
            return lambda arrays: type(fetch)([part(arrays) for part in parts])
        if isinstance(fetch, collections.abc.Mapping):
            readers = {key: self._reader(item) for key, item in fetch.items()}

            def read(arrays):
                filled = {key: part(arrays) for key, part in readers.items()}
                return filled if type(fetch) is dict else type(fetch)(filled)

            return read
        if _is_attrs(fetch):
            names = [field.name for field in type(fetch).__attrs_attrs__]
            parts = [self._reader(getattr(fetch, name)) for name in names]
            return lambda arrays: type(fetch)(*(part(arrays) for part in parts))
        if isinstance(fetch, SparseTensor):
            return self._composite(SparseTensorValue, (fetch.indices, fetch.values, fetch.dense_shape))
        if isinstance(fetch, IndexedSlices):
            return self._composite(IndexedSlicesValue, (fetch.values, fetch.indices, fetch.dense_shape))
        if isinstance(fetch, RaggedTensor):
            parts = self._readers_of(nest.flatten(fetch, expand_composites=True))
            return lambda arrays: _ragged_value(fetch, [part(arrays) for part in parts])
        return self._leaf(fetch)

    def _readers_of(self, items):
        return [self._reader(item) for item in items]

    def _composite(self, kind, parts):
        readers = [None if part is None else self._reader(part) for part in parts]
        return lambda arrays: kind(*(None if reader is None else reader(arrays) for reader in readers))

    def _leaf(self, fetch):
        try:
            element = self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or Tensor. '
                f"({error})"
            ) from None
        except ValueError as error:
            raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})") from None
        except KeyError as error:
            raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})") from None
        if not self._graph.is_fetchable(element) or (
            isinstance(element, SymbolicTensor) and not self._graph.is_fetchable(element.op)
        ):
            raise ValueError(f"Tensor or operation {element!r} has been marked as not fetchable.")
        if isinstance(element, Operation):
            self.operations.append(element)
            return lambda arrays: None
        position = self._positions.get(id(element))
        if position is None:
            position = self._positions[id(element)] = len(self.tensors)
            self.tensors.append(element)
        dtype = element.dtype
        return lambda arrays: EagerTensor(arrays[position], dtype).numpy()


def _is_attrs(value):
    return hasattr(type(value), "__attrs_attrs__") and not isinstance(value, (Tensor, Variable))


def _ragged_value(ragged, arrays):
    tensors = [None if a is None else EagerTensor(np.asarray(a), t.dtype)
               for a, t in zip(arrays, nest.flatten(ragged, expand_composites=True))]
    return nest.pack_sequence_as(ragged, tensors, expand_composites=True)


def fed_pairs(graph, feed_dict) -> list:
    """Pairs of a tensor and its array, for what `feed_dict` gives.

    Raises:
        TypeError: a key is no tensor of the graph, or a value is a tensor or does not fit the dtype.
        ValueError: a shape does not fit, or the tensor may not be fed.
    """
    pairs = []
    for key, value in feed_dict.items():
        for tensor, part in _expanded(graph, key, value):
            pairs.append((tensor, _array(tensor, part)))
            if not graph.is_feedable(tensor):
                raise ValueError(f"Tensor {tensor.name} may not be fed.")
    return pairs


def _expanded(graph, key, value):
    """The tensors that a key of a feed stands for, with their values."""
    if isinstance(key, SparseTensor):
        if hasattr(value, "indices"):
            value = (value.indices, value.values, value.dense_shape)
        indices, values, shape = value
        return [(key.indices, indices), (key.values, values), (key.dense_shape, shape)]
    if isinstance(key, IndexedSlices):
        parts = [key.values, key.indices] + ([] if key.dense_shape is None else [key.dense_shape])
        given = (value.values, value.indices, value.dense_shape) if hasattr(value, "indices") else value
        return list(zip(parts, given))
    if isinstance(key, RaggedTensor):
        tensors = nest.flatten(key, expand_composites=True)
        parts = nest.flatten(value, expand_composites=True)
        return list(zip(tensors, [part.numpy() if isinstance(part, EagerTensor) else part for part in parts]))
    if isinstance(key, (list, tuple)):
        kind = type(key).__name__
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: Can not convert a {kind} into a Tensor.")
    try:
        return [(graph.as_graph_element(key, allow_operation=False), value)]
    except (TypeError, KeyError, ValueError) as error:
        if isinstance(error, TypeError):
            error = f"Can not convert a {type(key).__name__} into a Tensor."
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None


def _array(tensor, value):
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
            f"lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed "
            f"to the argument `feed_dict` with key {tensor}."
        )
    dtype = tensor.dtype
    if isinstance(value, int) and dtype._kind in "iu" and dtype._np.type(0) is not None:
        limits = np.iinfo(dtype._np)
        if not limits.min <= value <= limits.max:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                f"{dtype.as_numpy_dtype}. Try explicitly setting the type of the feed tensor to a larger type "
                "(e.g. int64)."
            )
    if dtype._np.hasobject:
        array = eager_constant(value, dtype)._a if dtype._kind == "s" else np.asarray(value, object)
    else:
        array = np.array(value, dtype=dtype._np)  # a copy: the session may keep it as the value of a variable
    if not tensor.shape.is_compatible_with(array.shape):
        raise ValueError(f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape "
                         f"{tensor.shape}")
    return array
