"""Numbers of the categorical, gamma, Poisson and binomial distributions: stateful and stateless ops."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape, broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, merging, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.arrays.broadcasting import BROADCAST_ARGS, BROADCAST_TO, sum_to
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.math.arithmetic import maximum
from headrace._src.ops.random import lowering, rejection, rejection_lowering, samplers
from headrace._src.ops.random.gamma_derivative import RANDOM_GAMMA_GRAD
from headrace._src.ops.random.seeds import (
    checked_algorithm,
    infer_seed,
    key_counter_alg,
    keyed_stream,
    only_philox,
    seeded_stream,
    take_stream,
)
from headrace._src.ops.random.uniform_and_normal import BLOCKS_PER_OUTPUT, sample_shape, shape_of_batch, shape_tensor

_GAMMA_DTYPES = frozenset({dtypes.float16, dtypes.float32, dtypes.float64})
_COUNTING_DTYPES = _GAMMA_DTYPES | dtypes.INDEX



# Categorical


def _check_logits(op, logits, num_samples) -> int:
    if logits.ndim != 2:
        raise errors.invalid_argument(f"{op}: logits must be a matrix, got shape {logits.shape}.")
    if np.ndim(num_samples):
        raise errors.invalid_argument(f"{op}: num_samples must be a scalar, got shape {num_samples.shape}.")
    if num_samples < 0:
        raise errors.invalid_argument(f"{op}: num_samples must not be negative, got {num_samples}.")
    if not logits.shape[1]:
        raise errors.invalid_argument(f"{op}: logits must have at least one class, got shape {logits.shape}.")
    return int(num_samples)


def _infer_categorical(op, logits, num_samples, *_):
    if logits.shape.rank not in (None, 2):
        raise errors.invalid_argument(f"{op}: logits must be a matrix, got shape {logits.shape}.")
    rows = None if logits.shape.rank is None else logits.shape[0]
    return TensorShape([rows, None if num_samples.value is None else int(num_samples.value)])


def _multinomial_blocks(rows, samples):
    # TF: two words for each sample, the samples of a row rounded up to four.
    return rows * -(-samples // 4) * 8 * BLOCKS_PER_OUTPUT


def _multinomial(logits, num_samples, seed, seed2, output_dtype):
    samples = _check_logits("Multinomial", logits, num_samples)
    blocks = _multinomial_blocks(logits.shape[0], samples)
    stream = take_stream(("Multinomial", logits.dtype, output_dtype), seed, seed2, blocks)
    return samplers.categorical(stream, logits, samples, output_dtype._np)


def _lower_multinomial(ctx, logits, num_samples, seed, seed2, output_dtype):
    samples = _check_logits("Multinomial", logits, num_samples)
    blocks = _multinomial_blocks(logits.shape[0], samples)
    stream = lowering.Philox(*ctx.random_stream(seed, seed2, blocks))
    return lowering.categorical(stream, logits, samples, output_dtype._np)


MULTINOMIAL = Op(
    "Multinomial",
    "logits: T, num_samples: int32, *, seed: int = 0, seed2: int = 0, output_dtype: type = int64 "
    "-> output: output_dtype",
    T=dtypes.REAL,
    infer=lambda logits, num_samples, **attrs: _infer_categorical("Multinomial", logits, num_samples),
    kernel=_multinomial,
    lower=_lower_multinomial,
    static=("num_samples",),
    grad=None,
    vectorize=merging(),
    stateful=True,
    output_dtype=dtypes.INDEX,
)


@api("random.categorical")
def categorical(logits, num_samples, dtype=None, seed=None, name=None) -> Tensor:
    """Draws classes from categorical distributions.

    Args:
        logits: a matrix; each row holds the unnormalised log-probabilities of one distribution.
        num_samples: how many classes to draw for each row.
        dtype: int32 or int64 (the default).
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    Returns:
        A tensor of shape (rows, num_samples).

    >>> tf.random.set_seed(1)
    >>> tf.random.categorical([[0.0, 50.0]], 3).numpy()
    array([[1, 1, 1]])
    """
    dtype = _class_dtype("random.categorical", dtype)
    logits = to_tensor(logits)
    seed, seed2 = draw_seeds(seed)
    return MULTINOMIAL(logits, num_samples, seed=seed, seed2=seed2, output_dtype=dtype, name=name)


def _class_dtype(function, dtype):
    dtype = dtypes.as_dtype(dtype) if dtype else dtypes.int64
    if dtype not in dtypes.INDEX:
        raise ValueError(f"{function}: dtype must be int32 or int64, got {dtype.name}.")
    return dtype


def _stateless_multinomial(logits, num_samples, seed, output_dtype):
    samples = _check_logits("StatelessMultinomial", logits, num_samples)
    stream = seeded_stream("StatelessMultinomial", seed)
    return samplers.categorical(stream, logits, samples, output_dtype._np)


def _lower_stateless_multinomial(ctx, logits, num_samples, seed, output_dtype):
    samples = _check_logits("StatelessMultinomial", logits, num_samples)
    stream = lowering.philox_from_seed_pair(seed)
    return lowering.categorical(stream, logits, samples, output_dtype._np)


def _infer_stateless_multinomial(logits, num_samples, seed, output_dtype):
    infer_seed("StatelessMultinomial", seed)
    return _infer_categorical("StatelessMultinomial", logits, num_samples)


STATELESS_MULTINOMIAL = Op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed, *, output_dtype: type = int64 -> output: output_dtype",
    T=dtypes.REAL,
    Tseed=dtypes.INDEX,
    infer=_infer_stateless_multinomial,
    kernel=_stateless_multinomial,
    lower=_lower_stateless_multinomial,
    static=("num_samples",),
    grad=None,
    output_dtype=dtypes.INDEX,
)


@api("random.stateless_categorical")
def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None) -> Tensor:
    """Draws classes from categorical distributions, depending on nothing but the arguments.

    Args:
        logits: a matrix; each row holds the unnormalised log-probabilities of one distribution.
        num_samples: how many classes to draw for each row.
        seed: two integers.
        dtype: int32 or int64.
        name: a name for the operation.
    """
    dtype = _class_dtype("random.stateless_categorical", dtype)
    return STATELESS_MULTINOMIAL(to_tensor(logits), num_samples, seed, output_dtype=dtype, name=name)


# Samples whose parameters stand at the end of the result's shape


def trailing_samples(op, dims, batch) -> int:
    """How many samples each parameter set has in a result of shape `dims`, which must end with `batch`."""
    batch = tuple(batch)
    if len(dims) < len(batch) or tuple(dims[len(dims) - len(batch) :]) != batch:
        raise errors.invalid_argument(
            f"{op}: shape must end with the shape of the parameters, {batch}, got {tuple(dims)}."
        )
    return math.prod(dims[: len(dims) - len(batch)])


def _infer_appended(shape, parameter):
    """The shape rule of ops whose result has shape `shape + parameter.shape`."""
    return shape_from_value(shape).concatenate(parameter.shape)


# Gamma


def _sum_to_alpha(node, dy):
    partial = RANDOM_GAMMA_GRAD(node.alpha, node.output)
    return sum_to(dy * partial, node.alpha_shape, node.output_shape)


def _gamma(shape, alpha, seed, seed2):
    dims = sample_shape("RandomGamma", shape)
    samples = math.prod(dims)
    owner = "RandomGamma", alpha.dtype, shape.dtype
    stream = take_stream(owner, seed, seed2, samples * alpha.size * BLOCKS_PER_OUTPUT)
    drawn = rejection.gamma(stream, alpha.astype(np.float64).ravel(), samples)
    return rejection.to_dtype(drawn, alpha.dtype).reshape(dims + alpha.shape)


def _lower_gamma(ctx, shape, alpha, seed, seed2):
    dims = sample_shape("RandomGamma", shape)
    samples = math.prod(dims)
    stream = lowering.Philox(*ctx.random_stream(seed, seed2, samples * alpha.size * BLOCKS_PER_OUTPUT))
    drawn = rejection_lowering.gamma(stream, alpha.reshape(-1), samples)
    return rejection_lowering.to_dtype(drawn, alpha.dtype).reshape(dims + alpha.shape)


def _vectorize_with_parameter(batch, node, shape, parameter):
    if not parameter.stacked:
        return batch.apply(node, [shape_of_batch(batch, shape), parameter])
    dims = unstacked(shape, "shape")
    (numbers,) = batch.apply(node, [dims, parameter])
    before, rank = dims.shape[0], numbers.shape.rank
    if before is None or rank is None:
        raise NoRule("the rank of its output is unknown")
    return TRANSPOSE(numbers, [before, *range(before), *range(before + 1, rank)])


RANDOM_GAMMA = Op(
    "RandomGamma",
    "shape: S, alpha: T, *, seed: int = 0, seed2: int = 0 -> output: T",
    S=dtypes.INDEX,
    T=_GAMMA_DTYPES,
    infer=lambda shape, alpha, seed, seed2: _infer_appended(shape, alpha),
    kernel=_gamma,
    lower=_lower_gamma,
    static=("shape",),
    saves=("alpha", "alpha_shape", "output", "output_shape"),
    grad=lambda node, dy: (None, _sum_to_alpha(node, dy)),
    vectorize=_vectorize_with_parameter,
    stateful=True,
)


def broadcast_dense(x, *others):
    """`x` broadcast with the shapes of the other tensors."""
    shape = x.shape
    for other in others:
        shape = broadcast_shapes(shape, other.shape)
    if shape.is_fully_defined():
        return BROADCAST_TO(x, shape.as_list())
    target = SHAPE(x, out_type=dtypes.int32)
    for other in others:
        target = BROADCAST_ARGS(target, SHAPE(other, out_type=dtypes.int32))
    return BROADCAST_TO(x, target)


def _scaled_gamma(draw, alpha, beta, dtype):
    """Draws for `alpha` and scales by `beta`; never zero, which a gamma variable is not."""
    dtype = dtypes.as_dtype(dtype)
    alpha = to_tensor(alpha, dtype)
    tiny = to_tensor(float(ml_dtypes.finfo(dtype._np).tiny), dtype)
    if beta is None:
        return maximum(tiny, draw(alpha))
    beta = to_tensor(beta, dtype)
    return maximum(tiny, draw(broadcast_dense(alpha, beta)) / beta)


@api("random.gamma")
def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None) -> Tensor:
    """Numbers of the gamma distribution.

    They are differentiable with respect to `alpha` and `beta`, by implicit reparameterisation.

    Args:
        shape: how many numbers to draw for each pair of parameters.
        alpha: the shape parameters.
        beta: the inverse scale parameters, broadcast with `alpha`; by default 1.
        dtype: float16, float32 or float64.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    Returns:
        A tensor of shape `shape + (alpha + beta).shape`.
    """
    shape = shape_tensor(shape)
    seed, seed2 = draw_seeds(seed)
    return _scaled_gamma(
        lambda alpha: RANDOM_GAMMA(shape, alpha, seed=seed, seed2=seed2, name=name), alpha, beta, dtype
    )


def _infer_stateless(op, shape, seed):
    infer_seed(op, seed)
    return shape_from_value(shape)


def _stateless_gamma(op, stream, shape, alpha):
    dims = sample_shape(op, shape)
    samples = trailing_samples(op, dims, alpha.shape)
    drawn = rejection.gamma(stream, alpha.astype(np.float64).ravel(), samples)
    return rejection.to_dtype(drawn, alpha.dtype).reshape(dims)


def _lower_stateless_gamma(op, stream, shape, alpha):
    dims = sample_shape(op, shape)
    samples = trailing_samples(op, dims, alpha.shape)
    drawn = rejection_lowering.gamma(stream, alpha.reshape(-1), samples)
    return rejection_lowering.to_dtype(drawn, alpha.dtype).reshape(dims)


STATELESS_RANDOM_GAMMA_V2 = Op(
    "StatelessRandomGammaV2",
    "shape: T, seed: Tseed, alpha: dtype -> output: dtype",
    T=dtypes.INDEX,
    Tseed=dtypes.INDEX,
    dtype=_GAMMA_DTYPES,
    infer=lambda shape, seed, alpha: _infer_stateless("StatelessRandomGammaV2", shape, seed),
    kernel=lambda shape, seed, alpha: _stateless_gamma(
        "StatelessRandomGammaV2", seeded_stream("StatelessRandomGammaV2", seed), shape, alpha
    ),
    lower=lambda ctx, shape, seed, alpha: _lower_stateless_gamma(
        "StatelessRandomGammaV2", lowering.philox_from_seed_pair(seed), shape, alpha
    ),
    static=("shape",),
    saves=("alpha", "alpha_shape", "output", "output_shape"),
    grad=lambda node, dy: (None, None, _sum_to_alpha(node, dy)),
)


def _stateless_gamma_keyed(shape, key, counter, alg, alpha):
    name = "StatelessRandomGammaV3"
    stream = keyed_stream(name, key, counter, alg)
    only_philox(name, int(alg))
    return _stateless_gamma(name, stream, shape, alpha)


def _lower_stateless_gamma_keyed(ctx, shape, key, counter, alg, alpha):
    name = "StatelessRandomGammaV3"
    only_philox(name, checked_algorithm(name, key, counter, alg))
    return _lower_stateless_gamma(name, lowering.Philox(key, counter), shape, alpha)


STATELESS_RANDOM_GAMMA_V3 = Op(
    "StatelessRandomGammaV3",
    "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype",
    shape_dtype=dtypes.INDEX,
    dtype=_GAMMA_DTYPES,
    infer=lambda shape, *inputs: shape_from_value(shape),
    kernel=_stateless_gamma_keyed,
    lower=_lower_stateless_gamma_keyed,
    static=("shape", "alg"),
    saves=("alpha", "alpha_shape", "output", "output_shape"),
    grad=lambda node, dy: (None, None, None, None, _sum_to_alpha(node, dy)),
)


@api("random.stateless_gamma")
def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None) -> Tensor:
    """Numbers of the gamma distribution that depend on nothing but the arguments.

    They are differentiable with respect to `alpha` and `beta`, by implicit reparameterisation.

    Args:
        shape: the shape of the result; it ends with the shape to which `alpha` and `beta` broadcast.
        seed: two integers.
        alpha: the shape parameters.
        beta: the inverse scale parameters; by default 1.
        dtype: float16, float32 or float64.
        name: a name for the operation.
    """
    shape = shape_tensor(shape)
    key, counter, alg = key_counter_alg(seed, "auto_select")
    return _scaled_gamma(
        lambda alpha: STATELESS_RANDOM_GAMMA_V3(shape, key, counter, alg, alpha, name=name),
        alpha,
        beta,
        dtype,
    )


# Poisson


def _appended_poisson(op, shape, rate, seed, seed2, dtype):
    dims = sample_shape(op, shape)
    samples = math.prod(dims)
    owner = op, rate.dtype, shape.dtype, dtype
    stream = take_stream(owner, seed, seed2, samples * rate.size * BLOCKS_PER_OUTPUT)
    drawn = rejection.poisson(stream, rate.astype(np.float64).ravel(), samples)
    return rejection.to_dtype(drawn, dtype._np).reshape(dims + rate.shape)


def _lower_appended_poisson(ctx, op, shape, rate, seed, seed2, dtype):
    dims = sample_shape(op, shape)
    samples = math.prod(dims)
    stream = lowering.Philox(*ctx.random_stream(seed, seed2, samples * rate.size * BLOCKS_PER_OUTPUT))
    drawn = rejection_lowering.poisson(stream, rate.reshape(-1), samples)
    return rejection_lowering.to_dtype(drawn, dtype._np).reshape(dims + rate.shape)


RANDOM_POISSON = Op(
    "RandomPoissonV2",
    "shape: S, rate: R, *, seed: int = 0, seed2: int = 0, dtype: type = int64 -> output: dtype",
    S=dtypes.INDEX,
    R=_COUNTING_DTYPES,
    infer=lambda shape, rate, seed, seed2, dtype: _infer_appended(shape, rate),
    kernel=lambda shape, rate, **attrs: _appended_poisson("RandomPoissonV2", shape, rate, **attrs),
    lower=lambda ctx, shape, rate, **attrs: _lower_appended_poisson(
        ctx, "RandomPoissonV2", shape, rate, **attrs
    ),
    static=("shape",),
    grad=unregistered,
    vectorize=_vectorize_with_parameter,
    stateful=True,
    dtype=_COUNTING_DTYPES,
)


@api("random.poisson")
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None) -> Tensor:
    """Numbers of the Poisson distribution.

    Args:
        shape: how many numbers to draw for each rate.
        lam: the rates.
        dtype: float16, float32, float64, int32 or int64.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    Returns:
        A tensor of shape `shape + lam.shape`.
    """
    dtype = dtypes.as_dtype(dtype)
    shape = shape_tensor(shape)
    rate = to_tensor(lam, hint=dtypes.float64)
    seed, seed2 = draw_seeds(seed)
    return RANDOM_POISSON(shape, rate, seed=seed, seed2=seed2, dtype=dtype, name=name)


def _stateless_poisson(shape, seed, lam, dtype):
    name = "StatelessRandomPoisson"
    dims = sample_shape(name, shape)
    samples = trailing_samples(name, dims, lam.shape)
    drawn = rejection.poisson(seeded_stream(name, seed), lam.astype(np.float64).ravel(), samples)
    return rejection.to_dtype(drawn, dtype._np).reshape(dims)


def _lower_stateless_poisson(ctx, shape, seed, lam, dtype):
    dims = sample_shape("StatelessRandomPoisson", shape)
    samples = trailing_samples("StatelessRandomPoisson", dims, lam.shape)
    stream = lowering.philox_from_seed_pair(seed)
    drawn = rejection_lowering.poisson(stream, lam.reshape(-1), samples)
    return rejection_lowering.to_dtype(drawn, dtype._np).reshape(dims)


STATELESS_RANDOM_POISSON = Op(
    "StatelessRandomPoisson",
    "shape: T, seed: Tseed, lam: Rtype, *, dtype: type -> output: dtype",
    T=dtypes.INDEX,
    Tseed=dtypes.INDEX,
    Rtype=_COUNTING_DTYPES,
    infer=lambda shape, seed, lam, dtype: _infer_stateless("StatelessRandomPoisson", shape, seed),
    kernel=_stateless_poisson,
    lower=_lower_stateless_poisson,
    static=("shape",),
    grad=None,
    dtype=_COUNTING_DTYPES,
)


@api("random.stateless_poisson")
def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None) -> Tensor:
    """Numbers of the Poisson distribution that depend on nothing but the arguments.

    Args:
        shape: the shape of the result; it ends with the shape of `lam`.
        seed: two integers.
        lam: the rates.
        dtype: float16, float32, float64, int32 or int64.
        name: a name for the operation.
    """
    dtype = dtypes.as_dtype(dtype)
    return STATELESS_RANDOM_POISSON(shape_tensor(shape), seed, lam, dtype=dtype, name=name)


# Binomial


def draw_binomial(op, stream, shape, counts, probs, dtype):
    """The samples of binomial ops, and how many parameter sets and samples of each there are."""
    dims = sample_shape(op, shape)
    try:
        counts, probs = np.broadcast_arrays(counts, probs)
    except ValueError:
        raise errors.invalid_argument(
            f"{op}: counts and probs must broadcast, got shapes {counts.shape} and {probs.shape}."
        ) from None
    samples = trailing_samples(op, dims, counts.shape)
    if counts.dtype.kind in "iu":
        counts, probs = counts.astype(np.float64), probs.astype(np.float64)
    drawn = rejection.binomial(stream, counts.ravel(), probs.ravel(), samples)
    return rejection.to_dtype(drawn, dtype._np).reshape(dims)


def _stateless_binomial(shape, seed, counts, probs, dtype):
    name = "StatelessRandomBinomial"
    return draw_binomial(name, seeded_stream(name, seed), shape, counts, probs, dtype)


def _lower_stateless_binomial(ctx, shape, seed, counts, probs, dtype):
    name = "StatelessRandomBinomial"
    dims = sample_shape(name, shape)
    batch = np.broadcast_shapes(counts.shape, probs.shape)
    samples = trailing_samples(name, dims, batch)
    if np.dtype(counts.dtype).kind in "iu":
        counts, probs = counts.astype(np.float64), probs.astype(np.float64)
    counts, probs = ((x + np.zeros(batch, x.dtype)).reshape(-1) for x in (counts, probs))
    stream = lowering.philox_from_seed_pair(seed)
    drawn = rejection_lowering.binomial(stream, counts, probs, samples)
    return rejection_lowering.to_dtype(drawn, dtype._np).reshape(dims)


STATELESS_RANDOM_BINOMIAL = Op(
    "StatelessRandomBinomial",
    "shape: S, seed: Tseed, counts: T, probs: T, *, dtype: type = int64 -> output: dtype",
    S=dtypes.INDEX,
    Tseed=dtypes.INDEX,
    T=_COUNTING_DTYPES,
    infer=lambda shape, seed, counts, probs, dtype: _infer_stateless("StatelessRandomBinomial", shape, seed),
    kernel=_stateless_binomial,
    lower=_lower_stateless_binomial,
    static=("shape",),
    grad=None,
    dtype=_COUNTING_DTYPES,
)


@api("random.stateless_binomial")
def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None) -> Tensor:
    """Numbers of the binomial distribution that depend on nothing but the arguments.

    Args:
        shape: the shape of the result; it ends with the shape to which `counts` and `probs` broadcast.
        seed: two integers.
        counts: the numbers of trials.
        probs: the probabilities of success.
        output_dtype: float16, float32, float64, int32 or int64.
        name: a name for the operation.
    """
    dtype = dtypes.as_dtype(output_dtype)
    probs = to_tensor(probs, hint=dtypes.float32)
    counts = to_tensor(counts, hint=probs.dtype)
    return STATELESS_RANDOM_BINOMIAL(shape_tensor(shape), seed, counts, probs, dtype=dtype, name=name)
