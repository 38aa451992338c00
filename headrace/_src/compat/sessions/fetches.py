"""What `Session.run` is asked for and given: nested structures of fetches, and feeds of tensors and composites."""

import collections
import collections.abc
import weakref

import numpy as np

from headrace._src.compat.sessions.session_handles import GET_SESSION_HANDLE, TensorHandle
from headrace._src.core import nest
from headrace._src.core.large_arrays import aligned_empty
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.op.convert import eager_constant
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor, SparseTensorValue
from headrace._src.state.variables import Variable

# From how many bytes on what is fed lies as compiled programs want it; smaller arrays are copied faster than that.
_ALIGNED = 8192
IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class Fetches:
    """A structure of fetches, taken apart: the tensors and operations that it needs, and how to put values in."""

    def __init__(self, graph: BaseGraph, fetches, session):
        self._session = weakref.ref(session)  # which keeps this
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
        if element.op.record is GET_SESSION_HANDLE:
            dtype, session = element.op.inputs[0].dtype, self._session
            return lambda arrays: TensorHandle(arrays[position][()], dtype, session())
        if element.dtype._kind == "q":
            return lambda arrays: EagerTensor(arrays[position], element.dtype).numpy()

        def read(arrays):
            array = arrays[position]
            return array.copy() if array.ndim else array[()]  # as the method `numpy` of tensors

        return read


def _is_attrs(value):
    return hasattr(type(value), "__attrs_attrs__") and not isinstance(value, (Tensor, Variable))


def _ragged_value(ragged, arrays):
    tensors = [None if a is None else EagerTensor(np.asarray(a), t.dtype)
               for a, t in zip(arrays, nest.flatten(ragged, expand_composites=True))]
    return nest.pack_sequence_as(ragged, tensors, expand_composites=True)


def fetch_key(fetches):
    """By what a session knows that it was asked for the same before: a hashable key; None where it cannot tell.

    Objects are known by their identities, so whoever keeps the key must keep them.
    """
    kind = type(fetches)
    if kind is list or kind is tuple:
        keys = [fetch_key(item) for item in fetches]
        return None if None in keys else (kind, *keys)
    if kind is dict:
        keys = [fetch_key(item) for item in fetches.values()]
        return None if None in keys else (kind, tuple(fetches), *keys)
    if kind is str:
        return fetches
    return id(fetches) if isinstance(fetches, (SymbolicTensor, Operation, Variable)) else None


def fetched_objects(fetches) -> list:
    """The objects whose identities are in the key of `fetches`."""
    if isinstance(fetches, dict):
        fetches = fetches.values()
    if isinstance(fetches, (SymbolicTensor, Operation, Variable, str)):
        return [fetches]
    return [found for item in fetches for found in fetched_objects(item)]


class Feed:
    """A tensor that is fed, and how its values become arrays."""

    __slots__ = ("_dims", "_dtype", "_shape", "tensor")

    def __init__(self, tensor):
        self.tensor = tensor
        self._dtype = tensor.dtype._np
        self._shape = self._dims = None

    def array(self, value) -> np.ndarray:
        """The value as an array of its own.

        Raises:
            TypeError: the value is a tensor, or does not fit the dtype.
            ValueError: its shape does not fit.
        """
        if not self._fits(value):
            return _array(self.tensor, value)
        if value.nbytes < _ALIGNED:
            return value.copy()
        array = aligned_empty(value.shape, self._dtype)
        np.copyto(array, value)
        return array


    def lent(self, value) -> np.ndarray:
        """The value as an array that only a compiled program reads, before the run returns: of the user's own memory
        where it lies as programs want it.

        Raises: what `array` raises.
        """
        return value if self._fits(value) and value.flags.c_contiguous else self.array(value)

    def _fits(self, value):
        """Whether a value is an array that can be fed as it is."""
        if type(value) is not np.ndarray or value.dtype is not self._dtype or self._dtype.hasobject:
            return False
        shape = self.tensor.shape
        if shape is not self._shape:
            self._shape, self._dims = shape, None if shape.rank is None else tuple(shape.as_list())
        dims = self._dims
        return dims is None or dims == value.shape or (
            len(dims) == value.ndim and all(n is None or n == m for n, m in zip(dims, value.shape))
        )


def feeds_of(graph, key) -> list:
    """The tensors that a key of a feed stands for.

    Raises:
        TypeError: it is no tensor of the graph.
        ValueError: the tensor may not be fed.
    """
    feeds = [Feed(tensor) for tensor in _tensors_of(graph, key)]
    for feed in feeds:
        if not graph.is_feedable(feed.tensor):
            raise ValueError(f"Tensor {feed.tensor.name} may not be fed.")
    return feeds


def _tensors_of(graph, key):
    if isinstance(key, SparseTensor):
        return [key.indices, key.values, key.dense_shape]
    if isinstance(key, IndexedSlices):
        return [key.values, key.indices] + ([] if key.dense_shape is None else [key.dense_shape])
    if isinstance(key, RaggedTensor):
        return nest.flatten(key, expand_composites=True)
    if isinstance(key, (list, tuple)):
        kind = type(key).__name__
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: Can not convert a {kind} into a Tensor.")
    try:
        return [graph.as_graph_element(key, allow_operation=False)]
    except (TypeError, KeyError, ValueError) as error:
        if isinstance(error, TypeError):
            error = f"Can not convert a {type(key).__name__} into a Tensor."
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None


def parts_fed(key, value) -> list:
    """The values for the tensors that a key of a feed stands for."""
    if isinstance(key, SparseTensor):
        if hasattr(value, "indices"):
            value = (value.indices, value.values, value.dense_shape)
        indices, values, shape = value
        return [indices, values, shape]
    if isinstance(key, IndexedSlices):
        return list((value.values, value.indices, value.dense_shape) if hasattr(value, "indices") else value)
    if isinstance(key, RaggedTensor):
        parts = nest.flatten(value, expand_composites=True)
        return [part.numpy() if isinstance(part, EagerTensor) else part for part in parts]
    return [value]


def _array(tensor, value):
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
            f"lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed "
            f"to the argument `feed_dict` with key {tensor}."
        )
    if isinstance(value, TensorHandle):
        value = value.kept()
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
