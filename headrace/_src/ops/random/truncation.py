"""Normal numbers between bounds that are given as tensors: the ops, and the gradient through samples."""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.arrays.broadcasting import sum_to
from headrace._src.ops.math.arithmetic import maximum, minimum
from headrace._src.ops.math.elementwise import exp, log, log1p, square
from headrace._src.ops.math.special import ERFC
from headrace._src.ops.random import bounded_normal, lowering, rejection_lowering
from headrace._src.ops.random.distributions import trailing_samples
from headrace._src.ops.random.seeds import infer_seed, seeded_stream, take_stream
from headrace._src.ops.random.uniform_and_normal import sample_shape, shape_tensor

# TF: without parameter vectors, the stream goes on to a new block after so many numbers.
_PART = 100
_DTYPES = frozenset({dtypes.float16, dtypes.float32, dtypes.float64})


def _check_vectors(dims, parameters):
    """Refuses parameters that are neither scalars nor vectors of the length of the first dimension."""
    name = "ParameterizedTruncatedNormal"
    if not dims:
        raise errors.invalid_argument(f"{name}: shape must have at least one dimension, got ().")
    for argument, value in zip(("means", "stdevs", "minvals", "maxvals"), parameters):
        if len(value.shape) > 1:
            raise errors.invalid_argument(
                f"{name}: {argument} must be a scalar or vector, got shape {tuple(value.shape)}."
            )
        if len(value.shape) == 1 and value.shape[0] not in (1, dims[0]):
            raise errors.invalid_argument(
                f"{name}: {argument} must have length 1 or {dims[0]}, got shape {tuple(value.shape)}."
            )


def _layout(dims, means, deviations, minvals, maxvals):
    """Whether all outputs have the same parameters, and how many sets and samples of each are drawn."""
    common = means.size == 1 and deviations.size == 1 and not minvals.shape and not maxvals.shape
    if common:
        return True, -(-math.prod(dims) // _PART), _PART
    return False, dims[0], math.prod(dims[1:])


def _blocks(sets, samples):
    return sets * 2 * bounded_normal.MAX_PROPOSALS * (samples + 3) // 4


def _parameterized(shape, means, stdevs, minvals, maxvals, seed, seed2):
    name = "ParameterizedTruncatedNormal"
    dims = sample_shape(name, shape)
    parameters = means, stdevs, minvals, maxvals
    _check_vectors(dims, parameters)
    common, sets, samples = _layout(dims, *parameters)
    stream = take_stream((name, means.dtype, shape.dtype), seed, seed2, _blocks(sets, samples))
    if common:
        size = math.prod(dims)
        sizes = [min(_PART, size - start) for start in range(0, size, _PART)]
        drawn = bounded_normal.bounded_normal_in_parts(stream, sizes, *parameters)
    else:
        spread = (np.broadcast_to(value, (sets,)) for value in parameters)
        drawn = bounded_normal.bounded_normal(stream, samples, *spread)
    return drawn.reshape(dims)


PARAMETERIZED_TRUNCATED_NORMAL = Op(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype, *, "
    "seed: int = 0, seed2: int = 0 -> output: dtype",
    T=dtypes.INDEX,
    dtype=_DTYPES,
    infer=lambda shape, *inputs, **attrs: shape_from_value(shape),
    kernel=_parameterized,
    lower=None,  # no public function makes it in TensorFlow 2; graphs of TensorFlow 1 run it on the host
    grad=None,
    stateful=True,
)


def _batch(op, parameters):
    try:
        return np.broadcast_shapes(*(tuple(value.shape) for value in parameters))
    except ValueError:
        shapes = ", ".join(str(tuple(value.shape)) for value in parameters)
        raise errors.invalid_argument(
            f"{op}: means, stddevs, minvals and maxvals must broadcast, got shapes {shapes}."
        ) from None


def _stateless(shape, seed, *parameters):
    name = "StatelessParameterizedTruncatedNormal"
    dims = sample_shape(name, shape)
    batch = _batch(name, parameters)
    samples = trailing_samples(name, dims, batch)
    spread = (np.broadcast_to(value, batch).ravel() for value in parameters)
    drawn = bounded_normal.bounded_normal(seeded_stream(name, seed), samples, *spread)
    return np.ascontiguousarray(drawn.T).reshape(dims)


def _lower_stateless(ctx, shape, seed, *parameters):
    name = "StatelessParameterizedTruncatedNormal"
    dims = sample_shape(name, shape)
    batch = _batch(name, parameters)
    samples = trailing_samples(name, dims, batch)
    means, deviations, low, high = (jnp.broadcast_to(value, batch).reshape(-1) for value in parameters)
    valid = (deviations > 0) & (low < high) & (jnp.isfinite(low) | jnp.isfinite(high))
    ctx.check(jnp.all(valid), errors.InvalidArgumentError, f"{name}: Invalid parameters.")
    stream = lowering.philox_from_seed_pair(seed)
    drawn, found = rejection_lowering.bounded_normal(stream, samples, means, deviations, low, high)
    ctx.check(found | ~jnp.all(valid), errors.InternalError, f"{name}: too many proposals were rejected.")
    return drawn.T.reshape(dims)


def _below(x):
    """The standard normal distribution function."""
    return ERFC(x * -math.sqrt(0.5)) * 0.5


def _grad_stateless(node, dy):
    # A sample stays at its quantile when the parameters change; see gamma_derivative.py.
    dtype = node.means_dtype
    limits = np.finfo(dtype._np)

    def standard(x):
        return (x - node.means) / node.stddevs

    sample, low, high = standard(node.output), standard(node.minvals), standard(node.maxvals)
    start, stop = _below(low), _below(high)
    quantile = (_below(sample) - start) / (stop - start)
    quantile = maximum(quantile, to_tensor(float(limits.tiny), dtype))
    quantile = minimum(quantile, to_tensor(1.0 - float(limits.eps), dtype))

    def at_bound(bound, share):
        return exp(0.5 * (square(sample) - square(bound)) + share)

    slopes = (
        None,
        sample,
        at_bound(low, log1p(-quantile)),
        at_bound(high, log(quantile)),
    )
    shapes = node.means_shape, node.stddevs_shape, node.minvals_shape, node.maxvals_shape
    grads = [dy if slope is None else dy * slope for slope in slopes]
    return None, None, *(sum_to(grad, shape, node.output_shape) for grad, shape in zip(grads, shapes))


def _infer_stateless(shape, seed, *parameters):
    infer_seed("StatelessParameterizedTruncatedNormal", seed)
    return shape_from_value(shape)


STATELESS_PARAMETERIZED_TRUNCATED_NORMAL = Op(
    "StatelessParameterizedTruncatedNormal",
    "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    S=dtypes.INDEX,
    Tseed=dtypes.INDEX,
    dtype=_DTYPES,
    infer=_infer_stateless,
    kernel=_stateless,
    lower=_lower_stateless,
    static=("shape",),
    saves=(
        *("means", "stddevs", "minvals", "maxvals", "output", "means_dtype", "output_shape"),
        *("means_shape", "stddevs_shape", "minvals_shape", "maxvals_shape"),
    ),
    grad=_grad_stateless,
)


@api("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None
) -> Tensor:
    """Normal numbers between bounds, that depend on nothing but the arguments.

    They are differentiable with respect to the four parameters, by implicit reparameterisation.

    Args:
        shape: the shape of the result; it ends with the shape to which the parameters broadcast.
        seed: two integers.
        means, stddevs: of the distribution before its ends are cut off.
        minvals, maxvals: the bounds, of which one may be infinite.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: if a standard deviation is not positive, bounds are in the wrong order, or
            `shape` does not end with the shape of the parameters.
    """
    parameters = [to_tensor(value) for value in (means, stddevs, minvals, maxvals)]
    return STATELESS_PARAMETERIZED_TRUNCATED_NORMAL(shape_tensor(shape), seed, *parameters, name=name)
