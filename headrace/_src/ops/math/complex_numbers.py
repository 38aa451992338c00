"""Complex numbers and their parts."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import broadcast, same_as_input
from headrace._src.op.registry import lookup
from headrace._src.op.traits import ELEMENTWISE, INVOLUTION, NEVER_FAILS
from headrace._src.ops.arrays.broadcasting import sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.math.comparison import LESS

REAL_OF_COMPLEX = frozenset({dtypes.float32, dtypes.float64})


def _as(array, dtype):
    return array if array.dtype == dtype else array.astype(dtype)


def zero_like(x):
    """A scalar zero of the dtype of `x`, to broadcast against it."""
    return EagerTensor(np.zeros((), x.dtype._np), x.dtype)


def _grad_conj(node, dy):
    return (CONJ(dy),)


CONJ = Op(
    "Conj",
    "input: T -> output: T",
    traits=ELEMENTWISE | NEVER_FAILS | INVOLUTION,
    T=dtypes.COMPLEX | {dtypes.variant},
    infer=same_as_input,
    kernel=np.conjugate,
    lower=lambda ctx, input: jnp.conj(input),
    grad=_grad_conj,
)


def conjugate(x):
    """The complex conjugate for gradients: `x` itself when it is real."""
    return CONJ(x) if x.dtype._kind == "c" else x


@api("math.conj", elementwise=1)
def conj(x, name=None) -> Tensor:
    """The complex conjugate; real tensors are returned as they are.

    >>> tf.math.conj([1 + 2j]).numpy()
    array([1.-2.j])

    Raises:
        TypeError: when `x` is no number.
    """
    x = to_tensor(x)
    if x.dtype._kind == "c" or x.dtype is dtypes.variant:
        return CONJ(x, name=name)
    if x.dtype._kind in "fiuq":
        return x
    raise TypeError(f"math.conj: x must be numeric, got {x.dtype.name}.")


def _grad_real(node, dy):
    return (COMPLEX(dy, zero_like(dy), Tout=node.input_dtype),)


REAL = Op(
    "Real",
    "input: T, *, Tout: type = float32 -> output: Tout",
    traits=ELEMENTWISE | NEVER_FAILS,
    T=dtypes.COMPLEX,
    Tout=REAL_OF_COMPLEX,
    infer=same_as_input,
    kernel=lambda input, Tout: _as(input.real, Tout._np),
    lower=lambda ctx, input, Tout: jnp.real(input).astype(Tout._np),
    saves=("input_dtype",),
    grad=_grad_real,
)


@api("math.real", elementwise=1)
def real(input, name=None) -> Tensor:
    """The real part; real tensors are returned as they are.

    >>> tf.math.real([1 + 2j]).numpy()
    array([1.])
    """
    input = to_tensor(input)
    if input.dtype._kind == "c":
        return REAL(input, Tout=input.dtype.real_dtype, name=name)
    if input.dtype._kind in "fiuq":
        return input
    raise TypeError(f"math.real: input must be numeric, got {input.dtype.name}.")


def _grad_imag(node, dy):
    return (COMPLEX(zero_like(dy), dy, Tout=node.input_dtype),)


IMAG = Op(
    "Imag",
    "input: T, *, Tout: type = float32 -> output: Tout",
    traits=ELEMENTWISE | NEVER_FAILS,
    T=dtypes.COMPLEX,
    Tout=REAL_OF_COMPLEX,
    infer=same_as_input,
    kernel=lambda input, Tout: _as(input.imag, Tout._np),
    lower=lambda ctx, input, Tout: jnp.imag(input).astype(Tout._np),
    saves=("input_dtype",),
    grad=_grad_imag,
)


@api("math.imag", elementwise=1)
def imag(input, name=None) -> Tensor:
    """The imaginary part; zeros for real tensors.

    >>> tf.math.imag([1 + 2j]).numpy()
    array([2.])
    """
    input = to_tensor(input)
    if input.dtype._kind == "c":
        return IMAG(input, Tout=input.dtype.real_dtype, name=name)
    return lookup("ZerosLike")(input, name=name)


def _complex(real, imag, Tout):
    shape = np.broadcast_shapes(real.shape, imag.shape)
    out = np.empty(shape, Tout._np)
    out.real = real
    out.imag = imag
    return out


def _grad_complex(node, dy):
    x, y = node.real_shape, node.imag_shape
    return sum_to(_part(REAL, dy), x, y), sum_to(_part(IMAG, dy), y, x)


def _part(op, dy):
    return op(dy, Tout=dy.dtype.real_dtype)


COMPLEX = Op(
    "Complex",
    "real: T, imag: T, *, Tout: type = complex64 -> out: Tout",
    traits=ELEMENTWISE,
    T=REAL_OF_COMPLEX,
    Tout=dtypes.COMPLEX,
    infer=broadcast,
    kernel=_complex,
    lower=lambda ctx, real, imag, Tout: lax.complex(*jnp.broadcast_arrays(real, imag)).astype(Tout._np),
    saves=("real_shape", "imag_shape"),
    grad=_grad_complex,
)


@api("complex", "dtypes.complex", elementwise=2)
def complex(real, imag, name=None) -> Tensor:
    """Complex numbers from real and imaginary parts, both float32 or both float64.

    >>> tf.complex(1.0, 2.0)
    <tf.Tensor: shape=(), dtype=complex64, numpy=(1+2j)>

    Raises:
        TypeError: for other dtypes.
    """
    real = to_tensor(real)
    imag = to_tensor(imag)
    pair = (real.dtype, imag.dtype)
    if pair == (dtypes.float64, dtypes.float64):
        out = dtypes.complex128
    elif pair == (dtypes.float32, dtypes.float32):
        out = dtypes.complex64
    else:
        raise TypeError(
            f"complex: real and imag must both be float32 or both float64, got {real.dtype.name} and "
            f"{imag.dtype.name}. Cast them with tf.cast."
        )
    return COMPLEX(real, imag, Tout=out, name=name)


def _grad_complex_abs(node, dy):
    # TF: zero where the absolute value is zero.
    scale = lookup("DivNoNan")(dy, node.y)
    return (COMPLEX(scale, zero_like(scale), Tout=node.x.dtype) * node.x,)


COMPLEX_ABS = Op(
    "ComplexAbs",
    "x: T, *, Tout: type = float32 -> y: Tout",
    traits=ELEMENTWISE | NEVER_FAILS,
    T=dtypes.COMPLEX,
    Tout=REAL_OF_COMPLEX,
    infer=same_as_input,
    kernel=lambda x, Tout: _as(np.abs(x), Tout._np),
    lower=lambda ctx, x, Tout: jnp.abs(x).astype(Tout._np),
    saves=("x", "y"),
    grad=_grad_complex_abs,
)


def _grad_angle(node, dy):
    # dy * i x / |x|^2, written as -dy / (im + i re).
    x = node.input
    factor = lookup("Reciprocal")(COMPLEX(_part(IMAG, x), _part(REAL, x), Tout=x.dtype))
    return (-COMPLEX(dy, zero_like(dy), Tout=x.dtype) * factor,)


ANGLE = Op(
    "Angle",
    "input: T, *, Tout: type = float32 -> output: Tout",
    traits=ELEMENTWISE | NEVER_FAILS,
    T=dtypes.COMPLEX,
    Tout=REAL_OF_COMPLEX,
    infer=same_as_input,
    kernel=lambda input, Tout: _as(np.angle(input), Tout._np),
    lower=lambda ctx, input, Tout: jnp.angle(input).astype(Tout._np),
    saves=("input",),
    grad=_grad_angle,
)


@api("math.angle", elementwise=1)
def angle(input, name=None) -> Tensor:
    """The argument of complex numbers, in (-pi, pi]; for real ones 0 or pi.

    >>> f"{float(tf.math.angle(1j)):.4f}"
    '1.5708'
    """
    input = to_tensor(input)
    if input.dtype._kind == "c":
        return ANGLE(input, Tout=input.dtype.real_dtype, name=name)
    if input.dtype._kind != "f":
        raise TypeError(f"math.angle: input must be floating or complex, got {input.dtype.name}.")
    zeros = lookup("ZerosLike")(input)
    negative = LESS(input, zeros)
    pi = lookup("OnesLike")(input)
    pi = pi * CAST(EagerTensor(np.array(np.pi), dtypes.float64), DstT=input.dtype)
    return lookup("SelectV2")(negative, pi, zeros)
