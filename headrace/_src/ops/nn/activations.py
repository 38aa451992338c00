"""Activation functions of neural networks, element by element, and the ops of their gradients."""

import functools

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.traits import ELEMENTWISE, EQUAL_SHAPES, FAILS_BY_SHAPE, IDEMPOTENT, NEVER_FAILS, NONE
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math import exponential_kernels
from headrace._src.ops.math.arithmetic import MUL, NEG
from headrace._src.ops.math.comparison import LESS
from headrace._src.ops.math.elementwise import ABS, SIGMOID, SIGN, TANH, of_equal_shapes
from headrace._src.ops.math.half_kernels import converted, through_float32, widened
from headrace._src.ops.math.limit_kernels import between, chosen, gradient_where, maximum
from headrace._src.ops.math.special import ERF


def _small(kernel):
    """Half-precision floats through float32, where NumPy is fast and exact enough."""

    @functools.wraps(kernel)
    def run(*arrays, **attrs):
        dtype = arrays[0].dtype
        if dtype.itemsize == 2 and dtype.kind in "fV":
            return converted(kernel(*map(widened, arrays), **attrs), dtype)
        return kernel(*arrays, **attrs)

    return run


def _activation(name, text, formula, grad, *, types=dtypes.FLOATING, saves, small=True, kernel=None, traits=NONE):
    """An element-wise op from one formula of `(xp, *inputs, **attrs)`, for jax and, unless it has a kernel, NumPy."""
    kernel = kernel or functools.partial(formula, np)
    if small:
        kernel = through_float32(kernel) if "," not in text else _small(kernel)
    if name.endswith("Grad"):
        first, second = (part.partition(":")[0].strip() for part in text.split(",")[:2])
        kernel = of_equal_shapes(name, first, second, kernel)
        traits |= EQUAL_SHAPES | FAILS_BY_SHAPE
    else:
        traits |= NEVER_FAILS
    return Op(
        name,
        text,
        traits=ELEMENTWISE | traits,
        T=types,
        infer=same_as_input,
        kernel=kernel,
        lower=lambda ctx, *inputs, **attrs: formula(jnp, *inputs, **attrs),
        saves=saves,
        grad=grad,
    )


def _zeros(x):
    """The gradient of a step: zero almost everywhere."""
    return ZEROS_LIKE(x)


def _zero(x):
    return x.dtype.type(0)


# relu

_MANY = 8192


def _for_many(kernel, otherwise):
    """A kernel for large arrays, of halves too, and a simpler one for small arrays."""
    kernel = through_float32(kernel)
    return lambda x: otherwise(x) if x.size < _MANY else kernel(x)


RELU = _activation(
    "Relu",
    "features: T -> activations: T",
    lambda xp, x: xp.maximum(x, _zero(x)),
    lambda node, dy: (RELU_GRAD(dy, node.activations),),
    types=dtypes.REAL,
    saves=("activations",),
    small=False,
    kernel=_for_many(lambda x: maximum(x, _zero(x)), lambda x: np.maximum(x, x.dtype.type(0))),
    traits=IDEMPOTENT,
)
# At 0 the gradient is 0: the mask is strict.
RELU_GRAD = _activation(
    "ReluGrad",
    "gradients: T, features: T -> backprops: T",
    lambda xp, dy, x: xp.where(x > 0, dy, _zero(dy)),
    lambda node, dy: (RELU_GRAD(dy, node.features), _zeros(node.features)),
    types=dtypes.REAL,
    saves=("features",),
    small=False,
    kernel=gradient_where(lambda x: x > 0),
)


@api("nn.relu", of=RELU)
def relu(features, name=None) -> Tensor:
    """`max(features, 0)`.

    >>> tf.nn.relu([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """
    return RELU(features, name=name)


RELU6 = _activation(
    "Relu6",
    "features: T -> activations: T",
    lambda xp, x: xp.minimum(xp.maximum(x, _zero(x)), x.dtype.type(6)),
    lambda node, dy: (RELU6_GRAD(dy, node.activations),),
    types=dtypes.REAL,
    saves=("activations",),
    small=False,
    kernel=_for_many(
        lambda x: between(x, _zero(x), x.dtype.type(6)),
        lambda x: np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6)),
    ),
    traits=IDEMPOTENT,
)
RELU6_GRAD = _activation(
    "Relu6Grad",
    "gradients: T, features: T -> backprops: T",
    lambda xp, dy, x: xp.where((x > 0) & (x < 6), dy, _zero(dy)),
    lambda node, dy: (RELU6_GRAD(dy, node.features), _zeros(node.features)),
    types=dtypes.REAL,
    saves=("features",),
    small=False,
    kernel=gradient_where(lambda x: (x > 0) & (x < 6)),
)


@api("nn.relu6", of=RELU6)
def relu6(features, name=None) -> Tensor:
    """`min(max(features, 0), 6)`."""
    return RELU6(features, name=name)


def _leaky_relu(x, alpha):
    slope = np.float32(alpha)
    scaled = x * x.dtype.type(slope)
    # Of x and its product with such a number the greater is wanted, which costs less than a choice.
    if 0 < slope <= 1:
        return np.maximum(scaled, x)
    return chosen(x > 0, x, scaled)


# TF: float attributes are single precision, whatever the dtype of the tensors.
LEAKY_RELU = _activation(
    "LeakyRelu",
    "features: T, *, alpha: float = 0.2 -> activations: T",
    lambda xp, x, alpha: xp.where(x > 0, x, x * x.dtype.type(np.float32(alpha))),
    lambda node, dy: (LEAKY_RELU_GRAD(dy, node.features, alpha=node.attrs["alpha"]),),
    saves=("features",),
    kernel=_leaky_relu,
)
LEAKY_RELU_GRAD = _activation(
    "LeakyReluGrad",
    "gradients: T, features: T, *, alpha: float = 0.2 -> backprops: T",
    lambda xp, dy, x, alpha: xp.where(x > 0, dy, dy * dy.dtype.type(np.float32(alpha))),
    lambda node, dy: (LEAKY_RELU_GRAD(dy, node.features, alpha=node.attrs["alpha"]), _zeros(node.features)),
    saves=("features",),
    kernel=lambda dy, x, alpha: chosen(x > 0, dy, dy * dy.dtype.type(np.float32(alpha))),
)


@api("nn.leaky_relu", elementwise=1)
def leaky_relu(features, alpha=0.2, name=None) -> Tensor:
    """`features` where positive, `alpha * features` elsewhere."""
    features = to_tensor(features)
    if features.dtype.is_integer:
        features = CAST(features, DstT=dtypes.float32)
    return LEAKY_RELU(features, alpha=alpha, name=name)


# elu and selu

ELU = _activation(
    "Elu",
    "features: T -> activations: T",
    lambda xp, x: xp.where(x < 0, xp.expm1(xp.minimum(x, _zero(x))), x),
    lambda node, dy: (ELU_GRAD(dy, node.activations),),
    saves=("activations",),
    kernel=exponential_kernels.elu,
)


ELU_GRAD = _activation(
    "EluGrad",
    "gradients: T, outputs: T -> backprops: T",
    lambda xp, dy, y: xp.where(y < 0, (y + y.dtype.type(1)) * dy, dy),
    lambda node, dy: (
        ELU_GRAD(dy, node.outputs),
        SELECT_V2(LESS(node.outputs, 0), dy * node.gradients, 0.0),
    ),
    saves=("gradients", "outputs"),
    kernel=exponential_kernels.elu_grad,
)


@api("nn.elu", of=ELU)
def elu(features, name=None) -> Tensor:
    """`features` where positive, `exp(features) - 1` elsewhere."""
    return ELU(features, name=name)


_SCALE = 1.0507009873554805
_SCALE_ALPHA = 1.7580993408473766  # scale times alpha = 1.6732632423543772

SELU = _activation(
    "Selu",
    "features: T -> activations: T",
    lambda xp, x: xp.where(
        x < 0, x.dtype.type(_SCALE_ALPHA) * xp.expm1(xp.minimum(x, _zero(x))), x.dtype.type(_SCALE) * x
    ),
    lambda node, dy: (SELU_GRAD(dy, node.activations),),
    saves=("activations",),
    kernel=exponential_kernels.selu,
)
SELU_GRAD = _activation(
    "SeluGrad",
    "gradients: T, outputs: T -> backprops: T",
    lambda xp, dy, y: xp.where(y < 0, (y + y.dtype.type(_SCALE_ALPHA)) * dy, y.dtype.type(_SCALE) * dy),
    lambda node, dy: (
        SELU_GRAD(dy, node.outputs),
        SELECT_V2(LESS(node.outputs, 0), dy * node.gradients, 0.0),
    ),
    saves=("gradients", "outputs"),
    kernel=exponential_kernels.selu_grad,
)


@api("nn.selu", of=SELU)
def selu(features, name=None) -> Tensor:
    """The self-normalising variant of elu: scaled, with a fixed slope."""
    return SELU(features, name=name)


# softplus and softsign

SOFTPLUS = _activation(
    "Softplus",
    "features: T -> activations: T",
    lambda xp, x: xp.logaddexp(x, _zero(x)),
    lambda node, dy: (SOFTPLUS_GRAD(dy, node.features),),
    saves=("features",),
    kernel=exponential_kernels.softplus,
)


def _grad_softplus_grad(node, dy):
    slope = SIGMOID(node.features)
    curve = slope * (1.0 - slope)
    return dy * slope, dy * node.gradients * curve


SOFTPLUS_GRAD = _activation(
    "SoftplusGrad",
    "gradients: T, features: T -> backprops: T",
    lambda xp, dy, x: dy / (xp.exp(-x) + x.dtype.type(1)),
    _grad_softplus_grad,
    saves=("gradients", "features"),
    kernel=exponential_kernels.softplus_grad,
)


@api("math.softplus", "nn.softplus", of=SOFTPLUS)
def softplus(features, name=None) -> Tensor:
    """`log(1 + exp(features))`, without overflow."""
    return SOFTPLUS(features, name=name)


SOFTSIGN = _activation(
    "Softsign",
    "features: T -> activations: T",
    lambda xp, x: x / (xp.abs(x) + x.dtype.type(1)),
    lambda node, dy: (SOFTSIGN_GRAD(dy, node.features),),
    saves=("features",),
)


def _grad_softsign_grad(node, dy):
    mul, x = MUL, node.features
    bottom = ABS(x) + 1.0
    squared = mul(bottom, bottom)
    curve = mul(SIGN(x), -2.0) / mul(squared, bottom)
    return SOFTSIGN_GRAD(dy, x), mul(mul(dy, node.gradients), curve)


SOFTSIGN_GRAD = _activation(
    "SoftsignGrad",
    "gradients: T, features: T -> backprops: T",
    lambda xp, dy, x: dy / xp.square(xp.abs(x) + x.dtype.type(1)),
    _grad_softsign_grad,
    saves=("gradients", "features"),
)


@api("math.softsign", "nn.softsign", of=SOFTSIGN)
def softsign(features, name=None) -> Tensor:
    """`features / (abs(features) + 1)`."""
    return SOFTSIGN(features, name=name)


# compositions


@api("math.log_sigmoid", of=NEG)
def log_sigmoid(x, name=None) -> Tensor:
    """`log(sigmoid(x))`, without underflow."""
    return NEG(SOFTPLUS(-to_tensor(x)), name=name)


@api("nn.crelu")
def crelu(features, axis=-1, name=None) -> Tensor:
    """relu of `features` and of `-features`, concatenated along `axis`."""
    features = to_tensor(features)
    return RELU(CONCAT([features, NEG(features)], axis), name=name)


def _single(number):
    # TF: the constants have single precision, also in a float64 computation.
    return float(np.float32(number))


@api("nn.gelu", elementwise=1, scope="Gelu")
def gelu(features, approximate=False, name=None) -> Tensor:
    """`features` times the normal distribution function of it.

    Args:
        features: floating.
        approximate: use the tanh approximation.
        name: accepted for compatibility.
    """
    x = to_tensor(features)
    if not x.dtype.is_floating:
        raise ValueError(f"nn.gelu: features must be floating, got {x.dtype.name}.")
    if approximate:
        inner = _single(0.7978845608028654) * (x + x * x * x * _single(0.044715))
        return MUL(0.5 * x, TANH(inner) + 1, name=name)
    return MUL(0.5 * x, ERF(x * _single(0.7071067811865476)) + 1, name=name)


@api("nn.silu", "nn.swish", elementwise=1)
def silu(features, beta=1.0) -> Tensor:
    """`features * sigmoid(beta * features)`."""
    x = to_tensor(features)
    scaled = x if isinstance(beta, (int, float)) and beta == 1.0 else to_tensor(beta, x.dtype) * x
    return x * SIGMOID(scaled)
