"""Running sums, products and log-sum-exps along an axis."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, NoRule, Ragged, Rule, along_axes, known_array
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.comparison import GREATER, LESS
from headrace._src.ops.math.complex_numbers import zero_like
from headrace._src.ops.math.division import DIV_NO_NAN
from headrace._src.ops.math.elementwise import EXP, LOG
from headrace._src.ops.math.reductions import one_axis


def _axis(name, axis, rank):
    if axis.ndim:
        raise errors.invalid_argument(f"{name}: axis must be a scalar, got shape {axis.shape}.")
    at = int(axis)
    if not -rank <= at < rank:
        raise errors.invalid_argument(f"{name}: axis must be in [{-rank}, {rank}), got {at}.")
    return at % rank


def _infer(name):
    def infer(x, axis, exclusive, reverse):
        if axis.value is not None and x.shape.rank is not None:
            _axis(name, np.asarray(axis.value), x.shape.rank)
        return x.shape

    return infer


def _scan(name, accumulate, empty):
    """The kernel of a running reduction; `empty` is the reduction of nothing."""

    def kernel(x, axis, exclusive, reverse):
        axis = _axis(name, axis, x.ndim)
        dtype = x.dtype
        if dtype.itemsize == 2 and dtype.kind in "fV":
            return kernel(x.astype(np.float32), np.asarray(axis), exclusive, reverse).astype(dtype)
        if reverse:
            x = np.flip(x, axis)
        if exclusive and x.shape[axis]:
            before = np.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), empty, dtype)
            rest = tuple(slice(None, -1) if i == axis else slice(None) for i in range(x.ndim))
            out = np.concatenate([before, accumulate(x[rest], axis)], axis)
        else:
            out = accumulate(x, axis)
        return np.flip(out, axis) if reverse else out

    return kernel


def _lower_scan(name, scan, empty):
    def lower(ctx, x, axis, exclusive, reverse):
        axis = _axis(name, axis, x.ndim)
        if exclusive and x.shape[axis]:
            edge = jnp.full_like(lax.slice_in_dim(x, 0, 1, axis=axis), empty)
            if reverse:
                parts = [scan(lax.slice_in_dim(x, 1, None, axis=axis), axis, True), edge]
            else:
                parts = [edge, scan(lax.slice_in_dim(x, 0, -1, axis=axis), axis, False)]
            return jnp.concatenate(parts, axis)
        return scan(x, axis, reverse)

    return lower


def _scan_op(name, accumulate, scan, empty, grad, saves, T, vectorize=along_axes):
    return Op(
        name,
        "x: T, axis: Tidx, *, exclusive: bool = False, reverse: bool = False -> out: T",
        T=T,
        Tidx=dtypes.INDEX,
        infer=_infer(name),
        kernel=_scan(name, accumulate, empty),
        lower=_lower_scan(name, scan, empty),
        static=("axis",),
        saves=saves,
        grad=grad,
        vectorize=vectorize,
    )


def _grad_cumsum(node, dy):
    attrs = node.attrs
    return CUMSUM(dy, node.axis, exclusive=attrs["exclusive"], reverse=not attrs["reverse"]), None


def _vectorize_ragged_cumsum(batch, node, x, axis):
    is_plain = isinstance(x, Ragged) and not node.attrs["exclusive"] and not node.attrs["reverse"]
    if not is_plain or not x.tensor.dtype.is_integer:
        raise NoRule("its sums depend on the order")
    if batch.rank(x) != 1 or int(known_array(axis, "axis")) not in (0, -1):
        raise NoRule("it sums along several axes")
    sums = CUMSUM(x.tensor, to_tensor(0))
    with_zero = CONCAT([to_tensor([0], sums.dtype), sums], to_tensor(0))
    before = GATHER_V2(with_zero, batch.starts(x.splits), to_tensor(0))
    return x.like(sums - batch.spread(Batched(before, True), x.splits))


CUMSUM = _scan_op(
    "Cumsum",
    lambda x, axis: np.add.accumulate(x, axis, dtype=x.dtype),
    lambda x, axis, reverse: lax.cumsum(x, axis, reverse=reverse),
    0,
    _grad_cumsum,
    ("axis",),
    dtypes.NUMBER,
    Rule(along_axes.stacked, _vectorize_ragged_cumsum),
)


@api("math.cumsum", "cumsum")
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None) -> Tensor:
    """The sum of all elements up to each one along an axis.

    >>> tf.cumsum([1, 2, 3]).numpy().tolist()
    [1, 3, 6]

    Args:
        x: numbers.
        axis: the axis, which may be negative.
        exclusive: leave out the element itself, so that the first sum is 0.
        reverse: sum from the end.
        name: accepted for compatibility.
    """
    return CUMSUM(x, one_axis(axis), exclusive=exclusive, reverse=reverse, name=name)


def _grad_cumprod(node, dy):
    attrs = node.attrs
    total = CUMSUM(node.out * dy, node.axis, exclusive=attrs["exclusive"], reverse=not attrs["reverse"])
    # TF: where x is zero the gradient is zero, and complex tensors are not conjugated.
    return DIV_NO_NAN(total, node.x), None


CUMPROD = _scan_op(
    "Cumprod",
    lambda x, axis: np.multiply.accumulate(x, axis, dtype=x.dtype),
    lambda x, axis, reverse: lax.cumprod(x, axis, reverse=reverse),
    1,
    _grad_cumprod,
    ("x", "axis", "out"),
    dtypes.NUMBER,
)


@api("math.cumprod")
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None) -> Tensor:
    """The product of all elements up to each one along an axis.

    >>> tf.math.cumprod([1, 2, 3], exclusive=True).numpy().tolist()
    [1, 1, 2]

    Args:
        x: numbers.
        axis: the axis, which may be negative.
        exclusive: leave out the element itself, so that the first product is 1.
        reverse: multiply from the end.
        name: accepted for compatibility.
    """
    return CUMPROD(x, one_axis(axis), exclusive=exclusive, reverse=reverse, name=name)


def _log_of_positive(x, mask):
    """`log(x)` where the mask holds, and next to nothing elsewhere, also for gradients."""
    lowest = EagerTensor(np.array(x.dtype.min), x.dtype)
    return SELECT_V2(mask, LOG(SELECT_V2(mask, x, ONES_LIKE(x))), lowest)


def _grad_cumulative_logsumexp(node, dy):
    # Weights of the sums are differences of logarithms: gradients are split by sign and added as logarithms.
    attrs = node.attrs
    x, y = node.x, node.out

    def part(mask, size):
        logs = _log_of_positive(size, mask) - y
        total = CUMULATIVE_LOGSUMEXP(
            logs, node.axis, exclusive=attrs["exclusive"], reverse=not attrs["reverse"]
        )
        return EXP(total + x)

    zero = zero_like(dy)
    return part(GREATER(dy, zero), dy) - part(LESS(dy, zero), -dy), None


def _lower_logsumexp(x, axis, reverse):
    return lax.cumlogsumexp(x, axis, reverse=reverse)


CUMULATIVE_LOGSUMEXP = _scan_op(
    "CumulativeLogsumexp",
    lambda x, axis: np.logaddexp.accumulate(x, axis),
    _lower_logsumexp,
    -np.inf,
    _grad_cumulative_logsumexp,
    ("x", "axis", "out"),
    dtypes.FLOATING,
)


@api("math.cumulative_logsumexp")
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None) -> Tensor:
    """`log(cumsum(exp(x)))` without overflow or underflow.

    Args:
        x: floating numbers.
        axis: the axis, which may be negative.
        exclusive: leave out the element itself, so that the first result is -inf.
        reverse: begin at the end.
        name: accepted for compatibility.
    """
    axis = one_axis(axis)
    return CUMULATIVE_LOGSUMEXP(x, axis, exclusive=exclusive, reverse=reverse, name=name)
