"""Local response normalisation: LRN and its gradient."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.options import real
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.matmul import MATMUL


def _check(op, shape, depth_radius):
    if len(shape) != 4:
        raise errors.invalid_argument(f"{op}: the input must have 4 dimensions, got shape {tuple(shape)}.")
    if not 0 <= depth_radius < 2**31:
        raise errors.invalid_argument(f"{op}: depth_radius must be from 0 to 2**31 - 1, got {depth_radius}.")


def _band(channels, radius):
    """A matrix that sums each channel with its neighbours up to `radius` away."""
    at = np.arange(channels)
    return np.abs(at[:, None] - at) <= radius


def _neighbour_sums(x, radius):
    channels = x.shape[-1]
    sums = x.reshape(x.size // max(channels, 1), channels) @ _band(channels, radius).astype(x.dtype)
    return sums.reshape(x.shape)


def _power(norm, beta):
    """`norm ** -beta`; roots are many times as fast as powers, and betas are mostly 0.5, 0.75 or 1."""
    if beta == 1:
        return 1 / norm
    sqrt = np.sqrt if isinstance(norm, np.ndarray) else jnp.sqrt
    if beta == 0.5:
        return 1 / sqrt(norm)
    if beta == 0.75:
        root = sqrt(norm)
        return 1 / (root * sqrt(root))
    return norm**-beta


def _wide(x):
    return x if x.dtype.itemsize >= 4 else x.astype(np.float32)


def _lrn(input, depth_radius, bias, alpha, beta):
    _check("LRN", input.shape, depth_radius)
    x = _wide(input)
    norm = bias + alpha * _neighbour_sums(x * x, depth_radius)
    return (x * _power(norm, beta)).astype(input.dtype)


def _lrn_gradient(input_grads, input_image, output_image, depth_radius, bias, alpha, beta):
    _check("LRNGrad", input_image.shape, depth_radius)
    if not tuple(input_grads.shape) == tuple(input_image.shape) == tuple(output_image.shape):
        raise errors.invalid_argument(
            "LRNGrad: input_grads, input_image and output_image must have one shape, got "
            f"{tuple(input_grads.shape)}, {tuple(input_image.shape)} and {tuple(output_image.shape)}."
        )
    dy, x, y = _wide(input_grads), _wide(input_image), _wide(output_image)
    norm = bias + alpha * _neighbour_sums(x * x, depth_radius)
    dx = dy * _power(norm, beta) - (2 * alpha * beta) * x * _neighbour_sums(dy * y / norm, depth_radius)
    return dx.astype(input_image.dtype)


_ATTRIBUTES = "*, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5"


def _grad_lrn(node, dy):
    return (LRN_GRAD(dy, node.input, node.output, **node.attrs),)


LRN = Op(
    "LRN",
    f"input: T, {_ATTRIBUTES} -> output: T",
    T=dtypes.FLOATING,
    infer=same_as_input,
    kernel=_lrn,
    lower=lambda ctx, input, **attrs: _lrn(input, **attrs),
    saves=("input", "output"),
    grad=_grad_lrn,
    vectorize=merging(),
)


def _grad_lrn_gradient(node, a):
    """With N = bias + alpha W(x²), W the sum over neighbours, LRNGrad is g / N^beta - 2ab x W(g y / N)."""
    attrs = node.attrs
    alpha, beta = attrs["alpha"], attrs["beta"]
    g, x, y = node.input_grads, node.input_image, node.output_image
    channels = x.shape[-1]
    band = CAST(_band(channels, attrs["depth_radius"]), DstT=x.dtype)
    matmul, shape = MATMUL, node.input_image_shape

    def sums(u):
        return RESHAPE(matmul(RESHAPE(u, [-1, channels]), band), shape)

    norm = attrs["bias"] + alpha * sums(x * x)
    power = norm**-beta
    spread = sums(a * x)
    factor = 2 * alpha * beta
    to_g = a * power - factor * spread * y / norm
    to_y = -factor * spread * g / norm
    to_norm = factor * spread * g * y / (norm * norm) - beta * a * g * power / norm
    to_x = 2 * alpha * x * sums(to_norm) - factor * a * sums(g * y / norm)
    return to_g, to_x, to_y


LRN_GRAD = Op(
    "LRNGrad",
    f"input_grads: T, input_image: T, output_image: T, {_ATTRIBUTES} -> output: T",
    T=dtypes.FLOATING,
    infer=lambda input_grads, input_image, output_image, **attrs: input_image.shape,
    kernel=_lrn_gradient,
    lower=lambda ctx, *inputs, **attrs: _lrn_gradient(*inputs, **attrs),
    saves=("input_grads", "input_image", "output_image", "input_image_shape"),
    grad=_grad_lrn_gradient,
    vectorize=merging(3),
)


@api("nn.local_response_normalization", "nn.lrn")
def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None) -> Tensor:
    """Divides each value by a power of the sum of squares of its neighbouring channels.

    The result is `input / (bias + alpha * sums) ** beta`, where `sums` adds the squares of the channels up to
    `depth_radius` away.

    Args:
        input: data of shape (batch, rows, columns, channels).
        depth_radius: how many channels on each side count.
        bias: keeps the divisor from zero.
        alpha: scales the sums.
        beta: the power.
        name: a name for the operation.

    >>> tf.nn.local_response_normalization([[[[3.0, 4.0]]]], depth_radius=1, bias=0, beta=0.5).numpy().ravel()
    array([0.6, 0.8], dtype=float32)
    """
    return LRN(
        input,
        depth_radius=int(depth_radius),
        bias=real("bias", bias),
        alpha=real("alpha", alpha),
        beta=real("beta", beta),
        name=name,
    )
