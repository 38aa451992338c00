"""Softmax and the cross-entropies computed from logits."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import LazyModule, jax, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, merging, on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import normalize_axis, same_as_input, whole
from headrace._src.op.lanes import MANY
from headrace._src.op.traits import FAILS_BY_SHAPE
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import RANK, SHAPE
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.math.arithmetic import MUL
from headrace._src.ops.math.comparison import EQUAL, LOGICAL_AND
from headrace._src.ops.math.elementwise import EXP
from headrace._src.ops.math.half_kernels import converted, widened
from headrace._src.ops.math.reduction_kernels import reduced
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged.row_arithmetic import require

# Many programs have no large arrays.
half_floats = LazyModule("headrace._src.core.half_floats")
large_arrays = LazyModule("headrace._src.core.large_arrays")
parts = LazyModule("headrace._src.core.parts")


def _wide(x):
    """Half-precision floats as float32, others as they are."""
    return widened(x) if x.dtype.itemsize == 2 else x


def _narrow(x, dtype):
    return x if x.dtype == dtype else converted(x, dtype)


def _by_rows(function, of_long_row, logits):
    """A function of each row; for large arrays in several threads, some rows or a part of one at a time.

    Args:
        function: of rows and, if that is not None, memory for the result.
        of_long_row: the same for one row, which it divides among threads.
        logits: rows along the last axis.
    """
    if logits.size <= MANY or not logits.flags.c_contiguous:
        return _narrow(function(_wide(logits)), logits.dtype)
    width = logits.shape[-1]
    result = large_arrays.empty(logits.shape, logits.dtype)
    rows, out = logits.reshape(-1, width), result.reshape(-1, width)
    is_half = logits.dtype.itemsize == 2
    if width > MANY and not is_half:
        for row, target in zip(rows, out):
            of_long_row(row, target)
        return result

    def compute(part):
        if is_half:
            wide = np.empty(rows[part].shape, np.float32)
            half_floats.widen(rows[part], wide)
            half_floats.narrow(function(wide, wide), out[part])
        else:
            function(rows[part], out[part])

    parts.in_long_slices(compute, len(rows), width)
    return result


def _sum_of_exponentials(row, shifted, exponentials):
    """Of a long row: writes what it is without its maximum, and `exp` of that, and returns the sum.

    Who has written a part adds it up: a part that another processor has read takes long to be written over.
    """
    largest, sums = row.max(), {}

    def compute(part):
        np.exp(np.subtract(row[part], largest, out=shifted[part]), out=exponentials[part])
        sums[part.start] = reduced(np.add, exponentials[part], (0,))

    parts.in_long_slices(compute, row.size)
    return np.add.reduce([sums[start] for start in sorted(sums)])


def _softmax(logits):
    if not logits.ndim:
        raise errors.invalid_argument("Softmax: logits must have >= 1 dimension, got a scalar.")
    if not logits.size:
        return logits
    return _by_rows(_softmax_of_rows, _softmax_of_long_row, logits)


def _softmax_of_rows(x, out=None):
    last = (x.ndim - 1,)
    e = np.subtract(x, reduced(np.maximum, x, last, True), out=out)
    np.exp(e, e)
    e /= reduced(np.add, e, last, True)
    return e


def _softmax_of_long_row(row, out):
    total = _sum_of_exponentials(row, out, out)
    parts.in_long_slices(lambda part: np.divide(out[part], total, out=out[part]), row.size)


def _grad_softmax(node, dy):
    mul, y = MUL, node.softmax
    inner = SUM(mul(dy, y), [-1], keep_dims=True)
    return (mul(dy - inner, y),)


SOFTMAX = Op(
    "Softmax",
    "logits: T -> softmax: T",
    traits=FAILS_BY_SHAPE,
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=_softmax,
    lower=lambda ctx, logits: jax.nn.softmax(logits, axis=-1),
    saves=("softmax",),
    grad=_grad_softmax,
    vectorize=on_last_axes(),
)


def _log_softmax(logits):
    if not logits.ndim:
        raise errors.invalid_argument("LogSoftmax: logits must have >= 1 dimension, got a scalar.")
    if not logits.size:
        return logits
    return _by_rows(_log_softmax_of_rows, _log_softmax_of_long_row, logits)


def _log_softmax_of_rows(x, out=None):
    last = (x.ndim - 1,)
    shifted = np.subtract(x, reduced(np.maximum, x, last, True), out=out)
    shifted -= np.log(reduced(np.add, np.exp(shifted), last, True))
    return shifted


def _log_softmax_of_long_row(row, out):
    total = np.log(_sum_of_exponentials(row, out, np.empty_like(row)))
    parts.in_long_slices(lambda part: np.subtract(out[part], total, out=out[part]), row.size)


def _grad_log_softmax(node, dy):
    total = SUM(dy, [-1], keep_dims=True)
    return (dy - total * EXP(node.logsoftmax),)


LOG_SOFTMAX = Op(
    "LogSoftmax",
    "logits: T -> logsoftmax: T",
    traits=FAILS_BY_SHAPE,
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=_log_softmax,
    lower=lambda ctx, logits: jax.nn.log_softmax(logits, axis=-1),
    saves=("logsoftmax",),
    grad=_grad_log_softmax,
    vectorize=on_last_axes(),
)


def _along(op, logits, axis, name):
    """Apply an op of the last axis along another one."""
    x = to_tensor(logits)
    axis = -1 if axis is None else whole(axis, "axis")
    rank = x.shape.rank
    if axis == -1 or (rank is not None and rank and axis == rank - 1):
        return op(x, name=name)
    if rank is None:
        raise ValueError(f"{op.name}: axis {axis} needs logits of known rank.")
    if not -rank <= axis < rank:
        raise errors.invalid_argument(f"{op.name}: axis must be in [{-rank}, {rank}), got {axis}.")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return TRANSPOSE(op(TRANSPOSE(x, order)), order, name=name)


@api("nn.softmax", "math.softmax")
def softmax(logits, axis=None, name=None) -> Tensor:
    """`exp(logits)` divided by its sum along `axis` (the last by default).

    >>> tf.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    return _along(SOFTMAX, logits, axis, name)


@api("nn.log_softmax", "math.log_softmax", elementwise=1, ragged=0)
def log_softmax(logits, axis=None, name=None) -> Tensor:
    """The logarithm of softmax along `axis` (the last by default), without underflow."""
    return _along(LOG_SOFTMAX, logits, axis, name)


def _cross_entropy(features, labels):
    try:
        shape = np.broadcast_shapes(features.shape, labels.shape)
    except ValueError:
        shape = None
    if shape is None or len(shape) != 2:
        raise errors.invalid_argument(
            f"SoftmaxCrossEntropyWithLogits: logits and labels must be broadcastable matrices, got logits of shape "
            f"{features.shape} and labels of shape {labels.shape}."
        )
    x = np.broadcast_to(_wide(features), shape)
    targets = np.broadcast_to(_wide(labels), shape)
    if not x.size:
        return np.zeros(shape[0], features.dtype), np.zeros(shape, features.dtype)
    shifted = x - reduced(np.maximum, x, (1,), True)
    e = np.exp(shifted)
    total = reduced(np.add, e, (1,), True)
    # Where a label is 0 its term is 0, even when the logit is infinite.
    log_p = np.log(total) - shifted
    loss = np.sum(np.where(targets == 0, 0, targets * log_p), axis=1, dtype=x.dtype)
    return loss.astype(features.dtype), (e / total - targets).astype(features.dtype)


def _lower_cross_entropy(ctx, features, labels):
    shape = np.broadcast_shapes(features.shape, labels.shape)
    x, targets = jnp.broadcast_to(features, shape), jnp.broadcast_to(labels, shape)
    log_p = jax.nn.log_softmax(x, axis=1)
    loss = -jnp.sum(jnp.where(targets == 0, 0, targets * log_p), axis=1)
    return loss.astype(features.dtype), (jnp.exp(log_p) - targets).astype(features.dtype)


def _infer_cross_entropy(features, labels):
    from_both = _matrix(features.shape, labels.shape)
    return TensorShape([from_both[0]]), from_both


def _matrix(a, b):
    if a.rank is None or b.rank is None:
        return TensorShape([None, None])
    dims = []
    for m, n in zip(a.with_rank(2), b.with_rank(2)):
        dims.append(n if m == 1 else m if n == 1 else (m if m is not None else n))
    return TensorShape(dims)


def _grad_cross_entropy(node, dloss, dbackprop):
    x = node.features
    column = None if dloss is None else EXPAND_DIMS(dloss, -1)
    by_labels = None
    if node.wants(1):
        # TensorFlow leaves out what reaches the labels through the second output; then mixed second derivatives are
        # wrong.
        by_loss = None if column is None else MUL(column, -LOG_SOFTMAX(x))
        by_labels = _sum(by_loss, None if dbackprop is None else -dbackprop)
    return _grad_by_features(node, column, dbackprop), by_labels


def _grad_by_features(node, column, dbackprop):
    """The gradient by the features, of the loss and, to second order, of the second output: softmax - labels."""
    by_loss = None if column is None else MUL(column, node.backprop)
    if dbackprop is None:
        return by_loss
    p = SOFTMAX(node.features)
    inner = SUM(MUL(dbackprop, p), [1], keep_dims=True)
    return _sum(by_loss, MUL(dbackprop - inner, p))


def _sum(first, second):
    """The sum of two gradients of which one may be None."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _vectorize_cross_entropy(batch, node, features, labels):
    if batch.rank(features) != 2:
        raise NoRule("its features are not a matrix")
    return merging(2).stacked(batch, node, features, labels)


SOFTMAX_CROSS_ENTROPY = Op(
    "SoftmaxCrossEntropyWithLogits",
    "features: T, labels: T -> loss: T, backprop: T",
    T=dtypes.FLOATING,
    infer=_infer_cross_entropy,
    kernel=_cross_entropy,
    lower=_lower_cross_entropy,
    saves=("features", "backprop"),
    grad=_grad_cross_entropy,
    grad_takes_none=True,
    vectorize=_vectorize_cross_entropy,
)


def _sparse_cross_entropy(features, labels):
    if features.ndim != 2 or labels.ndim != 1 or features.shape[0] != labels.shape[0]:
        raise errors.invalid_argument(
            "SparseSoftmaxCrossEntropyWithLogits: logits must be [batch, classes] and labels [batch], got "
            f"{features.shape} and {labels.shape}."
        )
    classes = features.shape[1]
    if not classes:
        raise errors.invalid_argument(f"Must have at least one class, but got logits shape {features.shape}.")
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        bad = labels[(labels < 0) | (labels >= classes)][0]
        raise errors.invalid_argument(
            f"Received a label value of {bad} which is outside the valid range of [0, {classes}). The labels must be "
            f"from 0 to {classes - 1}, as the logits have {classes} classes: subtract the smallest label, or give the "
            "last layer as many units as there are classes."
        )
    x = _wide(features)
    rows = np.arange(len(labels))
    if not x.size:
        return np.zeros(0, features.dtype), features
    shifted = x - reduced(np.maximum, x, (1,), True)
    e = np.exp(shifted)
    total = reduced(np.add, e, (1,), True)
    loss = np.log(total[:, 0]) - shifted[rows, labels]
    e /= total
    e[rows, labels] -= 1
    return loss.astype(features.dtype, copy=False), _narrow(e, features.dtype)


def _lower_sparse_cross_entropy(ctx, features, labels):
    classes = features.shape[1]
    ctx.check(
        jnp.all((labels >= 0) & (labels < classes)),
        errors.InvalidArgumentError,
        f"Received a label value which is outside the valid range of [0, {classes}).",
    )
    log_p = jax.nn.log_softmax(features, axis=1)
    hot = jax.nn.one_hot(labels, classes, dtype=features.dtype)
    return -jnp.take_along_axis(log_p, labels[:, None], axis=1)[:, 0], jnp.exp(log_p) - hot


def _grad_sparse_cross_entropy(node, dloss, dbackprop):
    return _grad_by_features(node, None if dloss is None else EXPAND_DIMS(dloss, -1), dbackprop), None


SPARSE_SOFTMAX_CROSS_ENTROPY = Op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    T=dtypes.FLOATING,
    Tlabels=dtypes.INDEX,
    infer=lambda features, labels: (
        labels.shape if labels.shape.rank is not None else TensorShape([None]),
        features.shape,
    ),
    kernel=_sparse_cross_entropy,
    lower=_lower_sparse_cross_entropy,
    saves=("features", "backprop"),
    grad=_grad_sparse_cross_entropy,
    grad_takes_none=True,
    vectorize=_vectorize_cross_entropy,
)


def _flatten_outer(x):
    """`[..., classes]` as a matrix, and the outer shape."""
    shape = x.shape
    if shape.rank == 2:
        return x, None
    if shape.is_fully_defined():
        return RESHAPE(x, [-1 if shape.num_elements() else 0, shape[-1]]), tuple(shape[:-1].as_list())
    full = SHAPE(x)
    classes = STRIDED_SLICE(full, [-1], [0], [1], end_mask=1)
    outer = STRIDED_SLICE(full, [0], [-1], [1], begin_mask=1)
    return RESHAPE(x, CONCAT([[-1], classes], 0)), outer


def _cast(x, dtype):
    return CAST(x, DstT=dtype)


@api("nn.softmax_cross_entropy_with_logits", scope="softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None) -> Tensor:
    """The cross entropy between label distributions and softmax(logits), along `axis`.

    Args:
        labels: probabilities of the classes, of the shape of `logits`.
        logits: unscaled log probabilities.
        axis: the axis of the classes.
        name: accepted for compatibility.

    Returns:
        The loss, with the shape of `logits` less that axis.
    """
    logits = to_tensor(logits)
    labels = to_tensor(labels, hint=logits.dtype)
    if labels.dtype is not logits.dtype:
        labels = _cast(labels, logits.dtype)
    small = logits.dtype in (dtypes.float16, dtypes.bfloat16)
    precise, targets = (_cast(logits, dtypes.float32), _cast(labels, dtypes.float32)) if small else (logits, labels)
    rank = logits.shape.rank
    axis = axis if isinstance(axis, Tensor) else whole(axis, "axis")
    if rank is not None and rank and axis not in (-1, rank - 1):
        axis = normalize_axis(axis, rank, "softmax_cross_entropy_with_logits")
        order = [i for i in range(rank) if i != axis] + [axis]
        precise, targets = TRANSPOSE(precise, order), TRANSPOSE(targets, order)
    elif rank is None and axis != -1:
        rank = RANK(logits)
        axis = rank + axis if axis < 0 else axis
        parts = (0, axis), (axis + 1, rank), (axis, axis + 1)
        order = CONCAT([RANGE(start, limit, 1) for start, limit in parts], 0)
        precise, targets = TRANSPOSE(precise, order), TRANSPOSE(targets, order)
    flat, outer = _flatten_outer(precise)
    flat_targets, _ = _flatten_outer(targets)
    loss = SOFTMAX_CROSS_ENTROPY(flat, flat_targets, name=name).loss
    if outer is not None:
        loss = RESHAPE(loss, outer)
    return _cast(loss, logits.dtype) if small else loss


@api("nn.sparse_softmax_cross_entropy_with_logits", scope="SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None) -> Tensor:
    """The cross entropy between class numbers and softmax(logits) along the last axis.

    Args:
        labels: integers in [0, classes), of the shape of `logits` less the last axis.
        logits: unscaled log probabilities.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: for a label outside the range.
        ValueError: when the shapes do not fit.
    """
    labels, logits = to_tensor(labels), to_tensor(logits)
    small = logits.dtype in (dtypes.float16, dtypes.bfloat16)
    precise = _cast(logits, dtypes.float32) if small else logits
    if labels.dtype not in dtypes.INDEX:
        if not labels.dtype.is_integer:
            raise errors.invalid_argument(
                f"nn.sparse_softmax_cross_entropy_with_logits: labels must be integers, got {labels.dtype.name}."
            )
        labels = _cast(labels, dtypes.int64)
    if logits.shape.rank == 0:
        raise ValueError(f"Logits cannot be scalars. Received logits={logits!r}.")
    if logits.shape.rank is not None and labels.shape.rank is not None:
        if labels.shape.rank != logits.shape.rank - 1:
            raise ValueError(
                "nn.sparse_softmax_cross_entropy_with_logits: labels must have one dimension less than logits, got "
                f"labels of shape {labels.shape} and logits of shape {logits.shape}."
            )
        if not labels.shape.is_compatible_with(logits.shape[:-1]):
            raise ValueError(
                f"nn.sparse_softmax_cross_entropy_with_logits: labels of shape {labels.shape} do not fit logits of "
                f"shape {logits.shape}."
            )
    flat, outer = _flatten_outer(precise)
    if outer is not None and not (labels.shape.is_fully_defined() and logits.shape.is_fully_defined()):
        same_rank = EQUAL(RANK(labels) + 1, RANK(logits))
        same = EQUAL(SHAPE(labels), SHAPE(logits)[:-1])
        require(
            LOGICAL_AND(same_rank, ALL(same, [0])),
            "nn.sparse_softmax_cross_entropy_with_logits: labels must have the shape of logits without the last axis",
        )
    flat_labels = labels if outer is None else RESHAPE(labels, [-1])
    loss = SPARSE_SOFTMAX_CROSS_ENTROPY(flat, flat_labels, name=name).loss
    if outer is not None:
        loss = RESHAPE(loss, outer)
    return _cast(loss, logits.dtype) if small else loss


