"""Indexing tensors and variables, `x[1:, ..., tf.newaxis]`, and boolean masks."""

import functools
import math
import numbers

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.dimensions import Dimension
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.registry import lookup
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.arrays.shaping import RESHAPE, SQUEEZE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE, resolve
from headrace._src.ops.arrays.small_integers import integers

_INDEX_HELP = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
    "tensors are valid indices, got {!r}"
)
_INDEX_DTYPES = frozenset({dtypes.int16, dtypes.int32, dtypes.int64})


def _as_index(index):
    """An index or bound as a Python int, or as a tensor when its value is not known; TypeError for all else."""
    if type(index) is int:
        return index
    if isinstance(index, (numbers.Integral, Dimension)):
        return int(index)
    dtype = getattr(index, "dtype", None)
    if dtype is not None:
        try:
            dtype = dtypes.as_dtype(dtype)
        except TypeError:
            dtype = None
    if dtype not in _INDEX_DTYPES or (index.shape and len(index.shape) == 1):
        raise TypeError(_INDEX_HELP.format(index))
    if isinstance(index, (EagerTensor, np.ndarray)) and index.ndim == 0:
        return int(index)
    return index


class Specification:
    """Python's index expression as the lists and masks that `StridedSlice` takes."""

    __slots__ = ("begin", "end", "masks", "strides")

    def __init__(self, key):
        entries = key if isinstance(key, (list, tuple)) else (key,)
        if entries and all(type(entry) is bool for entry in entries):
            # TF: these are no mask, and no integers either.
            raise errors.invalid_argument(
                f"StridedSlice: a list of booleans is no index, got {key!r}. Make a mask of it with "
                "tf.constant."
            )
        self.begin, self.end, self.strides = [], [], []
        begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
        for i, entry in enumerate(entries):
            bit = 1 << i
            if isinstance(entry, slice):
                begin_mask |= self._bound(self.begin, entry.start) * bit
                end_mask |= self._bound(self.end, entry.stop) * bit
                self._bound(self.strides, 1 if entry.step is None else entry.step)
                continue
            if entry is Ellipsis:
                ellipsis_mask |= bit
                entry = 0
            elif entry is None:
                new_axis_mask |= bit
                entry = 0
            else:
                entry = _as_index(entry)
                shrink_axis_mask |= bit
            self.begin.append(entry)
            self.end.append(entry + 1)
            self.strides.append(1)
        self.masks = {
            "begin_mask": begin_mask,
            "end_mask": end_mask,
            "ellipsis_mask": ellipsis_mask,
            "new_axis_mask": new_axis_mask,
            "shrink_axis_mask": shrink_axis_mask,
        }

    @staticmethod
    def _bound(bounds, bound):
        """Append a bound; True when there is none on this side."""
        if bound is None:
            bounds.append(0)
            return True
        bounds.append(_as_index(bound))
        return False

    @property
    def is_known(self):
        """Whether all bounds are Python integers."""
        return all(type(bound) is int for part in (self.begin, self.end, self.strides) for bound in part)

    def tensors(self):
        """begin, end and strides as tensors of one dtype, the widest among them."""
        parts = (self.begin, self.end, self.strides)
        if self.is_known:
            if context.graph is None and not any(_is_wide(bound) for part in parts for bound in part):
                return [integers(part) if part else _NO_BOUNDS for part in parts]
            wide = any(_is_wide(bound) for part in parts for bound in part)
            return [to_tensor(np.array(part, np.int64 if wide else np.int32)) for part in parts]
        kinds = {bound.dtype for part in parts for bound in part if isinstance(bound, Tensor)}
        kind = next((k for k in (dtypes.int64, dtypes.int32, dtypes.int16) if k in kinds), dtypes.int32)
        if kind is dtypes.int16:
            kind = dtypes.int32
        return [PACK([_as_kind(bound, kind) for bound in part]) for part in parts]


_NO_BOUNDS = EagerTensor(np.zeros(0, np.int32), dtypes.int32)


def _is_wide(bound):
    return not -(2**31) <= bound < 2**31


def _as_kind(bound, kind):
    if isinstance(bound, Tensor):
        return bound if bound.dtype is kind else CAST(bound, DstT=kind)
    return to_tensor(int(bound), kind)


@api("boolean_mask", scope="boolean_mask")
def boolean_mask(tensor, mask, axis=None, name="boolean_mask") -> Tensor:
    """The elements, or for a mask of fewer dimensions the slices, at which `mask` is true.

    Args:
        tensor: a tensor.
        mask: booleans; its shape must be that of the tensor's dimensions from `axis` on.
        axis: the first dimension to mask, 0 if None.
        name: a name for the operation.

    >>> tf.boolean_mask([[1, 2], [3, 4]], [True, False]).numpy().tolist()
    [[1, 2]]

    Raises:
        ValueError: when the mask is a scalar or its shape does not fit.
    """
    tensor, mask = to_tensor(tensor), to_tensor(mask)
    rank = mask.shape.rank
    if rank is None:
        raise ValueError(
            "boolean_mask: the number of dimensions of mask must be known, even if its shape is not."
        )
    if rank == 0:
        raise ValueError("boolean_mask: mask cannot be a scalar.")
    at = 0 if axis is None else int(get_static_value(axis))
    if at < 0:
        if tensor.shape.rank is None:
            raise ValueError("boolean_mask: a negative axis needs a tensor of known rank.")
        at += tensor.shape.rank
    tensor.shape[at : at + rank].assert_is_compatible_with(mask.shape)
    leading = tensor.shape[:at]
    if rank == 1:
        flat = tensor
    elif tensor.shape.is_fully_defined():
        dims = tuple(tensor.shape)
        flat = RESHAPE(tensor, [*dims[:at], math.prod(dims[at : at + rank]), *dims[at + rank :]])
    else:
        dims = shape_of(tensor)
        length = lookup("Prod")(dims[at : at + rank], [0], keep_dims=True)
        flat = RESHAPE(tensor, CONCAT([dims[:at], length, dims[at + rank :]], 0))
        if leading.rank is not None and tensor.shape.rank is not None:
            flat.set_shape(leading.concatenate([None]).concatenate(tensor.shape[at + rank :]))
    positions = SQUEEZE(lookup("Where")(mask if rank == 1 else RESHAPE(mask, [-1])), squeeze_dims=[1])
    return lookup("GatherV2")(flat, positions, integers(at), name=name)


def _is_mask(key):
    if isinstance(key, Tensor):
        return key.dtype is dtypes.bool
    return isinstance(key, bool) or (isinstance(key, np.ndarray) and key.dtype == np.bool_)


def _plain_key(key):
    """Whether NumPy and TensorFlow mean the same by this key: small non-boolean ints and slices of them."""
    kind = type(key)
    if kind is int or key is Ellipsis or key is None:
        return True
    if kind is slice:
        return (
            (key.start is None or type(key.start) is int)
            and (key.stop is None or type(key.stop) is int)
            and (key.step is None or type(key.step) is int)
        )
    return False


def getitem(self, key) -> Tensor:
    """`x[key]`: integers, slices, `...`, `tf.newaxis`, scalar integer tensors, or a boolean mask.

    >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
    >>> x[1, ::-1].numpy().tolist()
    [6, 5, 4]
    >>> x[x > 2].numpy().tolist()
    [3, 4, 5, 6]

    Raises:
        TypeError: when the key holds something else.
        InvalidArgumentError: when an index is out of bounds.
    """
    try:
        direct = False
        if type(self) is EagerTensor:
            mode = context.mode
            # Nothing follows this tensor: no need to tell anyone of the slice.
            direct = mode is None or (mode.graph is None and mode.device is None and self._id is None)
            if direct:
                keys = key if type(key) is tuple else (key,)
                if all(map(_plain_key, keys)):
                    try:
                        # The trailing ellipsis makes NumPy give an array also where no dimension is left.
                        return EagerTensor(self._a[keys if Ellipsis in keys else (*keys, ...)], self.dtype)
                    except (IndexError, ValueError):
                        pass  # the op says what is wrong
        if _is_mask(key):
            return boolean_mask(self, key)
        spec = Specification(key)
        if direct and spec.is_known:
            bounds = (tuple(spec.begin), tuple(spec.end), tuple(spec.strides))
            return EagerTensor(self._a[(*resolve(self._a.shape, *bounds, **spec.masks).index, ...)], self.dtype)
        return STRIDED_SLICE(self, *spec.tensors(), **spec.masks)
    except BaseException as error:
        hide_frames(error)
        raise


Tensor.__getitem__ = getitem


def variable_getitem(variable, key):
    """`v[key]` of a variable: the slice of its value, with a method `assign(value)` that writes the slice.

    The variable's `_assign_slice(begin, end, strides, masks, value, name=None)` does the writing.
    """
    if _is_mask(key):
        return boolean_mask(to_tensor(variable), key)
    spec = Specification(key)
    bounds = spec.tensors()
    result = STRIDED_SLICE(variable, *bounds, **spec.masks)
    result.assign = functools.partial(variable._assign_slice, *bounds, spec.masks)
    return result
