"""Losses of `tf.nn` that are not softmax: sigmoid and Poisson losses, norms, and averages over replicas."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.product_threads import on_one_thread, one_thread
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import scalar
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.measuring import SHAPE, known_rank
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.math import reductions
from headrace._src.ops.math.arithmetic import ADD, SUB
from headrace._src.ops.math.division import DIV_NO_NAN
from headrace._src.ops.math.elementwise import ABS, EXP, LOG, LOG1P, SQUARE
from headrace._src.ops.nn.activations import RELU


@on_one_thread(one_thread)
def _l2_loss(t):
    wide = t.astype(np.float32) if t.dtype.itemsize == 2 else t
    return np.asarray(np.vdot(wide, wide) / 2).astype(t.dtype)


def _vectorize_l2_loss(batch, node, x):
    axes = list(range(1, 1 + batch.rank(x)))
    total = SUM(SQUARE(x.tensor), to_tensor(axes, dtypes.int32))
    return total * to_tensor(0.5, total.dtype)


L2_LOSS = Op(
    "L2Loss",
    "t: T -> output: T",
    T=dtypes.FLOATING,
    infer=scalar,
    kernel=_l2_loss,
    lower=lambda ctx, t: jnp.sum(t * t) / 2,
    saves=("t",),
    grad=lambda node, dy: (node.t * dy,),
    vectorize=_vectorize_l2_loss,
)


@api("nn.l2_loss")
def l2_loss(t, name=None) -> Tensor:
    """Half the sum of squares.

    >>> tf.nn.l2_loss([3.0, 4.0]).numpy()
    np.float32(12.5)
    """
    return L2_LOSS(t, name=name)


def _check_same_shape(function, first, second, names):
    if not first.shape.is_compatible_with(second.shape):
        raise ValueError(
            f"{function}: {names[0]} and {names[1]} must have the same shape, got {first.shape} and {second.shape}."
        )


@api("nn.sigmoid_cross_entropy_with_logits", elementwise=2, result_scope="logistic_loss")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None) -> Tensor:
    """The cross entropy of independent yes/no decisions, from logits, without overflow.

    Args:
        labels: probabilities, of the shape of `logits`.
        logits: unscaled log odds.
        name: accepted for compatibility.

    Raises:
        ValueError: when the shapes differ.
    """
    if labels is None or logits is None:
        raise ValueError("nn.sigmoid_cross_entropy_with_logits: both labels and logits must be given.")
    x = to_tensor(logits)
    z = to_tensor(labels, hint=x.dtype)
    _check_same_shape("nn.sigmoid_cross_entropy_with_logits", x, z, ("logits", "labels"))
    # max(x, 0) - x z + log(1 + exp(-|x|)), with a gradient that is right at 0 too.
    zeros = ZEROS_LIKE(x)
    positive = x >= zeros
    relu = SELECT_V2(positive, x, zeros)
    minus_abs = SELECT_V2(positive, -x, x)
    return ADD(relu - x * z, LOG1P(EXP(minus_abs)), name=name)


@api("nn.weighted_cross_entropy_with_logits", result_scope="logistic_loss")
def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None) -> Tensor:
    """Sigmoid cross entropy in which positive examples count `pos_weight` times.

    Raises:
        ValueError: when the shapes differ.
    """
    x = to_tensor(logits)
    z = to_tensor(labels, hint=x.dtype)
    _check_same_shape("nn.weighted_cross_entropy_with_logits", x, z, ("logits", "labels"))
    weight = 1 + (to_tensor(pos_weight, hint=x.dtype) - 1) * z
    tail = LOG1P(EXP(-ABS(x))) + RELU(-x)
    return ADD((1 - z) * x, weight * tail, name=name)


@api("nn.log_poisson_loss")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None) -> Tensor:
    """The negative log likelihood of Poisson-distributed targets, given the logarithm of the rate.

    Args:
        targets: of the shape of `log_input`.
        log_input: the logarithm of the predicted rate.
        compute_full_loss: add Stirling's approximation of the term that does not depend on `log_input`.
        name: accepted for compatibility.

    Raises:
        ValueError: when the shapes differ.
    """
    c = to_tensor(log_input)
    z = to_tensor(targets, hint=c.dtype)
    _check_same_shape("nn.log_poisson_loss", c, z, ("log_input", "targets"))
    loss = SUB(EXP(c), c * z, name=name)
    if not compute_full_loss:
        return loss
    stirling = z * LOG(z) - z + 0.5 * LOG(2 * np.pi * z)
    return loss + SELECT_V2((z >= 0) & (z <= 1), ZEROS_LIKE(z), stirling)


@api("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss) -> Tensor:
    """The sum of the losses, divided by the number of replicas: one, unless a strategy distributes the model."""
    loss = to_tensor(regularization_loss)
    return reductions.reduce_sum(loss)


@api("nn.compute_average_loss")
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None) -> Tensor:
    """The per-example losses, weighted, summed and divided by the global batch size.

    Args:
        per_example_loss: one loss per example (at least 1-D).
        sample_weight: optional weights, of a shape that broadcasts from the left.
        global_batch_size: an integer scalar; otherwise the number of examples.

    Raises:
        ValueError: for a scalar loss without a batch size, or a batch size that is no scalar.
        TypeError: for a batch size that is no integer.
    """
    losses = to_tensor(per_example_loss)
    if losses.shape.rank == 0:
        raise ValueError("nn.compute_average_loss: per_example_loss must have an axis for the examples, got a scalar.")
    dtype = losses.dtype
    if sample_weight is not None:
        weights = to_tensor(sample_weight, hint=dtype)
        if weights.dtype is not dtype:
            weights = CAST(weights, DstT=dtype)
        rank = known_rank("nn.compute_average_loss", "per_example_loss", losses)
        while known_rank("nn.compute_average_loss", "sample_weight", weights) < rank:
            weights = EXPAND_DIMS(weights, -1)
        losses = losses * weights
    if global_batch_size is None:
        count = STRIDED_SLICE(SHAPE(losses), [0], [1], [1], shrink_axis_mask=1)
    else:
        count = to_tensor(global_batch_size)
        if count.shape.rank != 0:
            raise ValueError(f"nn.compute_average_loss: global_batch_size must be a scalar, got shape {count.shape}.")
        if not count.dtype.is_integer:
            raise TypeError(f"nn.compute_average_loss: global_batch_size must be an integer, got {count.dtype.name}.")
        if isinstance(count, EagerTensor) and count._a < 0:
            raise errors.invalid_argument(f"nn.compute_average_loss: global_batch_size is {count._a}, below 0.")
    total = reductions.reduce_sum(losses)
    # TF: an empty batch has loss 0.
    return DIV_NO_NAN(total, CAST(count, DstT=dtype))
