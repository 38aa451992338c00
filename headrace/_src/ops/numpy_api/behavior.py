"""`experimental_enable_numpy_behavior`: NumPy's methods, promotion and indexing on tensors."""

from typing import NamedTuple

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import gathering, joining, measuring, rearranging, selecting
from headrace._src.ops.numpy_api import arrays as numpy_arrays
from headrace._src.ops.numpy_api import elementwise as numpy_elementwise
from headrace._src.ops.numpy_api import linear as numpy_linear
from headrace._src.ops.numpy_api import reductions as numpy_reductions
from headrace._src.ops.numpy_api import shapes as numpy_shapes
from headrace._src.ops.numpy_api import weak_tensors
from headrace._src.ops.numpy_api.promotion import MODES
from headrace._src.ops.numpy_api.types import as_array, as_dtype, cast, set_options

_OPERATORS = {
    "add": numpy_elementwise.add, "sub": numpy_elementwise.subtract, "mul": numpy_elementwise.multiply,
    "truediv": numpy_elementwise.true_divide, "floordiv": numpy_elementwise.floor_divide,
    "mod": numpy_elementwise.mod, "pow": numpy_elementwise.power, "matmul": numpy_linear.matmul,
    "and": numpy_elementwise.bitwise_and, "or": numpy_elementwise.bitwise_or, "xor": numpy_elementwise.bitwise_xor,
}  # fmt: skip
_COMPARISONS = {
    "lt": numpy_elementwise.less, "le": numpy_elementwise.less_equal, "gt": numpy_elementwise.greater,
    "ge": numpy_elementwise.greater_equal, "eq": numpy_elementwise.equal, "ne": numpy_elementwise.not_equal,
}  # fmt: skip
# Python's operators as they are without the switch.
_PLAIN_OPERATORS = {
    name: Tensor.__dict__[name]
    for word in (*_OPERATORS, *_COMPARISONS) for name in (f"__{word}__", f"__r{word}__") if name in Tensor.__dict__
}  # fmt: skip
_METHODS = {
    "ravel": numpy_shapes.ravel, "clip": numpy_elementwise.clip, "flatten": numpy_shapes.flatten,
    "max": numpy_reductions.max_, "mean": numpy_reductions.mean, "min": numpy_reductions.min_,
}  # fmt: skip


def _astype(self, dtype):
    """This tensor with another dtype."""
    return cast(self, as_dtype(dtype))


def _reshape(self, *shape, **options):
    """The same elements in another shape."""
    return numpy_shapes.reshape(self, shape[0] if len(shape) == 1 else shape, **options)


def _transpose(self, *axes):
    """With the axes in another order."""
    order = None if not axes or axes[0] is None else (axes[0] if len(axes) == 1 else axes)
    return numpy_shapes.transpose(self, order)


def _method(name, function):
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"NumPy's `{name}` of this tensor."
    return method


def _operator(function):
    def forward(self, other):
        return function(self, other)

    def reflected(self, other):
        return function(other, self)

    return forward, reflected


def _comparison(function):
    def compare(self, other):
        if other is None:
            return function is numpy_elementwise.not_equal
        return function(self, other)

    return compare


def _is_advanced(key, inside=False):
    """Whether a part of an index holds positions or truth values, which select as in NumPy.

    Args:
        inside: it is one of several parts, so that a tuple is no index of its own.
    """
    if isinstance(key, (list, np.ndarray)) or (inside and isinstance(key, tuple)):
        return True
    return isinstance(key, Tensor) and (key.shape.rank or 0) > 0 and (inside or key.dtype is not dtypes.bool)


def _numpy_getitem(plain):
    def getitem(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        inside = isinstance(key, tuple)
        if not any(_is_advanced(part, inside) for part in keys):
            return plain(self, key)
        return _advanced(self, plain, [_as_index(part) if _is_advanced(part, True) else part for part in keys])

    return getitem


class _Index(NamedTuple):
    """Positions along one axis or several: a tensor for each."""

    positions: list


def _as_index(part):
    tensor = as_array(part) if np.size(part) else to_tensor(part, dtypes.int64)
    if tensor.dtype is dtypes.bool:
        return _Index(joining.unstack(selecting.where(tensor), tensor.shape.rank, axis=1))
    return _Index([cast(tensor, dtypes.int64)])


def _advanced(x, plain, keys):
    """Indexing with arrays: basic parts first, then a gather over the axes that arrays select."""
    if any(part is Ellipsis for part in keys):
        at = next(i for i, part in enumerate(keys) if part is Ellipsis)
        taken = sum(len(part.positions) if isinstance(part, _Index) else part is not None for part in keys) - 1
        keys = [*keys[:at], *[slice(None)] * (x.shape.rank - taken), *keys[at + 1 :]]
    # TF: integers are basic parts, also next to arrays.
    basic, indices, axis = [], {}, 0
    for part in keys:
        if isinstance(part, _Index):
            basic += [slice(None)] * len(part.positions)
            for positions in part.positions:
                indices[axis] = positions
                axis += 1
        else:
            basic.append(part)
            axis += part is None or isinstance(part, slice)
    return _picked(plain(x, tuple(basic)), indices)


def _picked(x, indices):
    """The elements of `x` at positions, given for some of its axes."""
    axes = list(indices)
    sizes = cast(measuring.shape(x), dtypes.int64)
    positions = [selecting.where(part < 0, part + sizes[axis], part) for axis, part in indices.items()]
    rank = max(part.shape.rank for part in positions)
    if len(positions) > 1:
        together = sum(positions[1:], positions[0]) * 0  # zeros of the shape that all broadcast to
        positions = [part + together for part in positions]
    rest = [axis for axis in range(x.shape.rank) if axis not in indices]
    result = gathering.gather_nd(rearranging.transpose(x, axes + rest), joining.stack(positions, axis=-1))
    # Index arrays side by side leave their axes in place, others put them in front.
    if axes[0] and axes == list(range(axes[0], axes[0] + len(axes))):
        before, inside = list(range(rank, rank + axes[0])), list(range(rank))
        result = rearranging.transpose(result, before + inside + list(range(rank + axes[0], result.shape.rank)))
    return result


@api("experimental.numpy.experimental_enable_numpy_behavior", dispatch=False)
def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy") -> None:
    """Give tensors NumPy's methods, promotion of operands and indexing, for this process.

    Args:
        prefer_float32: make float32 the default floating dtype of `tf.experimental.numpy`.
        dtype_conversion_mode: "legacy" promotes the operands of operators as NumPy does. "all" has a result for any
            two dtypes, "safe" only where nothing is lost; in both, Python's numbers are weak, and so are tensors that
            are made of them without a dtype: the dtype of the other operand counts. "off" promotes nothing.

    Raises:
        ValueError: for another mode.
    """
    if dtype_conversion_mode not in MODES:
        raise ValueError(
            f"experimental_enable_numpy_behavior: dtype_conversion_mode must be one of {', '.join(MODES)}, got "
            f"{dtype_conversion_mode!r}."
        )
    set_options(prefer_float32=bool(prefer_float32), mode=dtype_conversion_mode)
    weak_tensors.keep_operands()
    for name, method in _PLAIN_OPERATORS.items():
        setattr(Tensor, name, method)
    if dtype_conversion_mode in ("safe", "all"):
        weak_tensors.promote_operands(safe=dtype_conversion_mode == "safe")
    if dtype_conversion_mode == "legacy":
        for name, function in _OPERATORS.items():
            forward, reflected = _operator(function)
            setattr(Tensor, f"__{name}__", forward)
            setattr(Tensor, f"__r{name}__", reflected)
        for name, function in _COMPARISONS.items():
            setattr(Tensor, f"__{name}__", _comparison(function))
    if not getattr(Tensor.__getitem__, "_from_numpy", False):
        getitem = _numpy_getitem(Tensor.__getitem__)
        getitem._from_numpy = True
        Tensor.__getitem__ = getitem
    Tensor.astype = _astype
    Tensor.reshape = _reshape
    Tensor.transpose = _transpose
    for name, function in _METHODS.items():
        setattr(Tensor, name, _method(name, function))
    Tensor.T = property(lambda self: numpy_shapes.transpose(self))
    Tensor.size = property(lambda self: numpy_arrays.size(self))
    Tensor.data = property(lambda self: self)
    Tensor.tolist = lambda self: self.numpy().tolist()
