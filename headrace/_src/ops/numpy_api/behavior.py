"""`experimental_enable_numpy_behavior`: NumPy's methods, promotion and indexing on tensors."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import broadcasting, gathering, joining, measuring, rearranging, selecting, shaping
from headrace._src.ops.numpy_api import arrays as numpy_arrays
from headrace._src.ops.numpy_api import elementwise as numpy_elementwise
from headrace._src.ops.numpy_api import linear as numpy_linear
from headrace._src.ops.numpy_api import reductions as numpy_reductions
from headrace._src.ops.numpy_api import shapes as numpy_shapes
from headrace._src.ops.numpy_api.types import as_array, as_dtype, cast, set_prefer_float32

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


def _is_advanced(key):
    """Whether an index holds lists or arrays of positions, which select as in NumPy."""
    if isinstance(key, (list, np.ndarray)):
        return True
    return isinstance(key, Tensor) and key.dtype is not dtypes.bool and key.shape.rank != 0


def _numpy_getitem(plain):
    def getitem(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if not any(_is_advanced(part) for part in keys):
            return plain(self, key)
        return _advanced(self, keys)

    return getitem


def _advanced(x, keys):
    """Indexing with arrays: basic parts first, then a gather over the axes that arrays select."""
    consumed = sum(1 for part in keys if part is not None and part is not Ellipsis)
    if Ellipsis in [part for part in keys if not isinstance(part, (Tensor, np.ndarray, list))]:
        at = next(i for i, part in enumerate(keys) if part is Ellipsis)
        keys = (*keys[:at], *[slice(None)] * (x.shape.rank - consumed), *keys[at + 1 :])
    basic = tuple(slice(None) if _is_advanced(part) else part for part in keys)
    # Integers next to arrays broadcast with them.
    basic = tuple(slice(None) if isinstance(part, int) and not isinstance(part, bool) else part for part in basic)
    chosen, axis = [], 0
    for part in keys:
        if _is_advanced(part) or (isinstance(part, int) and not isinstance(part, bool)):
            chosen.append((axis, as_array(part)))
        axis += 1
    x = x[basic]
    axes = [axis for axis, _ in chosen]
    indices = []
    for axis, part in chosen:
        if part.dtype is dtypes.bool:
            part = shaping.reshape(selecting.where(part), [-1])
        part = cast(part, dtypes.int64)
        indices.append(selecting.where(part < 0, part + cast(measuring.shape(x)[axis], dtypes.int64), part))
    shape = np.broadcast_shapes(*[tuple(part.shape) for part in indices])
    joined = joining.stack([broadcasting.broadcast_to(part, list(shape)) for part in indices], axis=-1)
    rest = [axis for axis in range(x.shape.rank) if axis not in axes]
    result = gathering.gather_nd(rearranging.transpose(x, axes + rest), joined)
    # Adjacent index arrays leave their axes in place, others put them in front.
    if axes[0] and axes == list(range(axes[0], axes[0] + len(axes))):
        before, inside = list(range(len(shape), len(shape) + axes[0])), list(range(len(shape)))
        after = list(range(len(shape) + axes[0], result.shape.rank))
        result = rearranging.transpose(result, before + inside + after)
    return result


@api("experimental.numpy.experimental_enable_numpy_behavior", dispatch=False)
def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy") -> None:
    """Give tensors NumPy's methods, promotion of operands and indexing, for this process.

    Args:
        prefer_float32: make float32 the default floating dtype of `tf.experimental.numpy`.
        dtype_conversion_mode: "legacy" or "off" (no promotion in operators); TensorFlow's "safe" and "all" are not
            offered.

    Raises:
        ValueError: for another mode.
    """
    if dtype_conversion_mode not in ("legacy", "off"):
        raise ValueError(
            f"experimental_enable_numpy_behavior: dtype_conversion_mode must be 'legacy' or 'off', got "
            f"{dtype_conversion_mode!r}."
        )
    set_prefer_float32(bool(prefer_float32))
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
