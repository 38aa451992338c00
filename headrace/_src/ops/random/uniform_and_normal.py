"""Tensors of uniform, normal and truncated normal numbers: the stateful and the stateless ops."""

from __future__ import annotations

import math

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Rule, known_array, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import shape_from_value
from headrace._src.ops.math.arithmetic import add
from headrace._src.ops.random import lowering, samplers
from headrace._src.ops.random.seeds import (
    checked_algorithm,
    infer_seed,
    key_counter_alg,
    keyed_stream,
    seeded_stream,
    take_stream,
)

# TF: a call reserves this many blocks for each output, whatever it uses.
BLOCKS_PER_OUTPUT = 256
_PHILOX = (1, 3)  # the numbers of the algorithm

_SMALL = 1 << 31
_FULL_INT = frozenset({dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64})


def shape_tensor(shape):
    """A `shape` argument as an integer tensor."""
    if type(shape) in (list, tuple):
        if context.graph is None and all(type(dim) is int and -_SMALL < dim < _SMALL for dim in shape):
            return EagerTensor(np.array(shape, np.int32), dtypes.int32)  # 8 us less than to_tensor
        if not shape:
            return to_tensor(shape, dtypes.int32)
    return to_tensor(shape)


def sample_shape(op: str, shape: np.ndarray) -> tuple[int, ...]:
    """The shape that a `shape` input describes, or InvalidArgumentError."""
    if shape.ndim != 1:
        raise errors.invalid_argument(f"{op}: shape must be a vector of integers, got shape {shape.shape}.")
    dims = tuple(shape.tolist())
    size = 1
    for dim in dims:
        if dim < 0:
            raise errors.invalid_argument(f"{op}: shape must not be negative, got {dims}.")
        size *= dim
    if size >= 1 << 62:
        raise errors.invalid_argument(f"{op}: shape {dims} has too many elements.")
    return dims


def _size(dims) -> int:
    return math.prod(dims)


def _infer_shape(op, shape):
    if shape.shape.rank not in (None, 1):
        raise errors.invalid_argument(f"{op}: shape must be a vector of integers, got shape {shape.shape}.")
    return shape_from_value(shape)


def shape_of_batch(batch, shape):
    """For rules of vectorization: the shape of what is drawn for all elements, from that of one."""
    return to_tensor(batch.with_size(unstacked(shape, "shape")), shape.tensor.dtype)


def _vectorize_stateful(batch, node, shape, *bounds):
    return batch.apply(node, [shape_of_batch(batch, shape), *map(unstacked, bounds)])


def _stateful(name, sampler):
    """The record of a stateful op that fills a shape."""

    def kernel(shape, seed, seed2, dtype):
        dims = sample_shape(name, shape)
        stream = take_stream((name, dtype, shape.dtype), seed, seed2, _size(dims) * BLOCKS_PER_OUTPUT)
        return getattr(samplers, sampler)(stream, dims, dtype._np)

    def lower(ctx, shape, seed, seed2, dtype):
        dims = sample_shape(name, shape)
        stream = lowering.Philox(*ctx.random_stream(seed, seed2, _size(dims) * BLOCKS_PER_OUTPUT))
        return getattr(lowering, sampler)(stream, dims, dtype._np)

    return Op(
        name,
        "shape: T, *, seed: int = 0, seed2: int = 0, dtype: type -> output: dtype",
        T=dtypes.INDEX,
        dtype=dtypes.FLOATING,
        infer=lambda shape, seed, seed2, dtype: _infer_shape(name, shape),
        kernel=kernel,
        lower=lower,
        static=("shape",),
        grad=None,
        vectorize=_vectorize_stateful,
        stateful=True,
    )


RANDOM_UNIFORM = _stateful("RandomUniform", "uniform")
RANDOM_STANDARD_NORMAL = _stateful("RandomStandardNormal", "normal")
TRUNCATED_NORMAL = _stateful("TruncatedNormal", "truncated_normal")


def _stateless(name, sampler, default, allowed):
    """The record of a stateless op that takes a pair of seeds."""

    def kernel(shape, seed, dtype):
        dims = sample_shape(name, shape)
        return getattr(samplers, sampler)(seeded_stream(name, seed), dims, dtype._np)

    def lower(ctx, shape, seed, dtype):
        stream = lowering.philox_from_seed_pair(seed)
        return getattr(lowering, sampler)(stream, sample_shape(name, shape), dtype._np)

    def infer(shape, seed, dtype):
        infer_seed(name, seed)
        return _infer_shape(name, shape)

    return Op(
        name,
        f"shape: T, seed: Tseed, *, dtype: type = {default} -> output: dtype",
        T=dtypes.INDEX,
        Tseed=dtypes.INDEX,
        dtype=allowed,
        infer=infer,
        kernel=kernel,
        lower=lower,
        static=("shape",),
        grad=None,
    )


STATELESS_RANDOM_UNIFORM = _stateless("StatelessRandomUniform", "uniform", "float32", dtypes.FLOATING)
STATELESS_RANDOM_NORMAL = _stateless("StatelessRandomNormal", "normal", "float32", dtypes.FLOATING)
STATELESS_TRUNCATED_NORMAL = _stateless(
    "StatelessTruncatedNormal", "truncated_normal", "float32", dtypes.FLOATING
)
STATELESS_RANDOM_UNIFORM_FULL_INT = _stateless(
    "StatelessRandomUniformFullInt", "uniform_full_int", "uint64", _FULL_INT
)


def _vectorize_keyed(sampler):
    """The rule of a stateless op: where keys differ between elements, a function of arrays draws for all of them."""

    def rule(batch, node, shape, key, counter, alg, *bounds):
        if not batch.on_host:
            raise NoRule("its seed differs between elements")
        dims, algorithm, *limits = (known_array(x, "shape, algorithm or bound") for x in (shape, alg, *bounds))
        if int(algorithm) not in _PHILOX:
            raise NoRule("it is of another algorithm")
        if dims.ndim != 1 or (dims < 0).any() or (limits and not limits[0] < limits[1]):
            raise NoRule("its shape or its bounds are wrong")
        (output,) = node.outputs
        shape, dtype = tuple(dims.tolist()), output.dtype._np

        def draw(keys, counters):
            return samplers.draw_with_keys(sampler, keys, counters, shape, dtype, *limits)

        return batch.call_on_arrays(draw, [batch.stack(key), batch.stack(counter)], output.dtype)

    return Rule(rule, quiet=True)  # an element draws in less time than what follows takes


def _stateless_keyed(name, sampler, default, allowed):
    """The record of a stateless op that takes key, counter and algorithm."""

    def kernel(shape, key, counter, alg, dtype):
        stream = keyed_stream(name, key, counter, alg)
        return getattr(samplers, sampler)(stream, sample_shape(name, shape), dtype._np)

    def lower(ctx, shape, key, counter, alg, dtype):
        stream = lowering.stream_for(key, counter, checked_algorithm(name, key, counter, alg))
        return getattr(lowering, sampler)(stream, sample_shape(name, shape), dtype._np)

    return Op(
        name,
        "shape: Tshape, key: uint64, counter: uint64, alg: int32, *, "
        f"dtype: type = {default} -> output: dtype",
        Tshape=dtypes.INDEX,
        dtype=allowed,
        infer=lambda shape, key, counter, alg, dtype: _infer_shape(name, shape),
        kernel=kernel,
        lower=lower,
        static=("shape", "alg"),
        grad=None,
        vectorize=_vectorize_keyed(sampler),
    )


STATELESS_RANDOM_UNIFORM_V2 = _stateless_keyed(
    "StatelessRandomUniformV2", "uniform", "float32", dtypes.FLOATING
)
STATELESS_RANDOM_NORMAL_V2 = _stateless_keyed(
    "StatelessRandomNormalV2", "normal", "float32", dtypes.FLOATING
)
STATELESS_TRUNCATED_NORMAL_V2 = _stateless_keyed(
    "StatelessTruncatedNormalV2", "truncated_normal", "float32", dtypes.FLOATING
)
STATELESS_RANDOM_UNIFORM_FULL_INT_V2 = _stateless_keyed(
    "StatelessRandomUniformFullIntV2", "uniform_full_int", "uint64", _FULL_INT
)


def _check_range(op, dims, minval, maxval) -> None:
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.ndim:
            raise errors.invalid_argument(f"{op}: {name} must be a scalar, got shape {bound.shape}.")
    # Nothing is drawn from an empty range for an empty tensor.
    if minval >= maxval and _size(dims):
        raise errors.invalid_argument(f"{op}: minval must be below maxval, got {minval} and {maxval}.")


def _draw_ints(op, stream, dims, minval, maxval):
    _check_range(op, dims, minval, maxval)
    if not _size(dims):
        return np.empty(dims, minval.dtype)
    return samplers.uniform_int(stream, dims, int(minval), int(maxval), minval.dtype)


def _lower_ints(ctx, op, stream, dims, minval, maxval):
    if _size(dims):
        ctx.check(minval < maxval, errors.InvalidArgumentError, f"{op}: minval must be below maxval.")
    return lowering.uniform_int(stream, dims, minval, maxval, minval.dtype)


def _uniform_int(shape, minval, maxval, seed, seed2):
    name = "RandomUniformInt"
    dims = sample_shape(name, shape)
    owner = name, minval.dtype, shape.dtype
    stream = take_stream(owner, seed, seed2, _size(dims) * BLOCKS_PER_OUTPUT)
    return _draw_ints(name, stream, dims, minval, maxval)


def _lower_uniform_int(ctx, shape, minval, maxval, seed, seed2):
    dims = sample_shape("RandomUniformInt", shape)
    stream = lowering.Philox(*ctx.random_stream(seed, seed2, _size(dims) * BLOCKS_PER_OUTPUT))
    return _lower_ints(ctx, "RandomUniformInt", stream, dims, minval, maxval)


RANDOM_UNIFORM_INT = Op(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout, *, seed: int = 0, seed2: int = 0 -> output: Tout",
    T=dtypes.INDEX,
    Tout=dtypes.INDEX,
    infer=lambda shape, minval, maxval, seed, seed2: _infer_shape("RandomUniformInt", shape),
    kernel=_uniform_int,
    lower=_lower_uniform_int,
    static=("shape",),
    grad=None,
    vectorize=_vectorize_stateful,
    stateful=True,
)


def _stateless_int(shape, seed, minval, maxval):
    name = "StatelessRandomUniformInt"
    return _draw_ints(name, seeded_stream(name, seed), sample_shape(name, shape), minval, maxval)


def _lower_stateless_int(ctx, shape, seed, minval, maxval):
    name = "StatelessRandomUniformInt"
    stream = lowering.philox_from_seed_pair(seed)
    return _lower_ints(ctx, name, stream, sample_shape(name, shape), minval, maxval)


def _infer_stateless_int(shape, seed, minval, maxval):
    infer_seed("StatelessRandomUniformInt", seed)
    return _infer_shape("StatelessRandomUniformInt", shape)


STATELESS_RANDOM_UNIFORM_INT = Op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    T=dtypes.INDEX,
    Tseed=dtypes.INDEX,
    dtype=dtypes.INDEX,
    infer=_infer_stateless_int,
    kernel=_stateless_int,
    lower=_lower_stateless_int,
    static=("shape",),
    grad=None,
)


def _keyed_int(shape, key, counter, alg, minval, maxval):
    name = "StatelessRandomUniformIntV2"
    return _draw_ints(name, keyed_stream(name, key, counter, alg), sample_shape(name, shape), minval, maxval)


def _lower_keyed_int(ctx, shape, key, counter, alg, minval, maxval):
    name = "StatelessRandomUniformIntV2"
    stream = lowering.stream_for(key, counter, checked_algorithm(name, key, counter, alg))
    return _lower_ints(ctx, name, stream, sample_shape(name, shape), minval, maxval)


STATELESS_RANDOM_UNIFORM_INT_V2 = Op(
    "StatelessRandomUniformIntV2",
    "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype -> output: dtype",
    Tshape=dtypes.INDEX,
    dtype=_FULL_INT,
    infer=lambda shape, *inputs: _infer_shape("StatelessRandomUniformIntV2", shape),
    kernel=_keyed_int,
    lower=_lower_keyed_int,
    static=("shape", "alg"),
    grad=None,
    vectorize=_vectorize_keyed("uniform_int"),
)


def scale(draws, factor, offset, name=None):
    """`draws * factor + offset`, leaving out what plain numbers make superfluous.

    Args:
        draws: the tensor that was drawn.
        factor, offset: numbers or tensors; when they are Python numbers 1 and 0, they change nothing.
        name: a name for the result.
    """
    dtype = draws.dtype
    plain = type(factor) in (int, float) and type(offset) in (int, float)
    if plain and factor == 1 and offset == 0:
        return draws
    return add(draws * to_tensor(factor, dtype), to_tensor(offset, dtype), name=name)


def check_numbers(dtype, *numbers):
    """Refuses what cannot become a tensor of that dtype (a float for an integer dtype)."""
    for number in numbers:
        to_tensor(number, dtype)


def _accepted(function, dtype, allowed):
    if dtype not in allowed:
        names = ", ".join(sorted(one.name for one in allowed))
        raise ValueError(f"{function}: dtype must be one of {names}, got {dtype.name}.")


@api("random.normal", result_scope="random_normal")
def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None) -> Tensor:
    """Normal numbers.

    Args:
        shape: the shape of the result.
        mean, stddev: of the distribution; they may have any shapes that broadcast with `shape`.
        dtype: float16, bfloat16, float32 or float64.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    >>> tf.random.set_seed(5)
    >>> tf.random.normal([2, 2], seed=1).numpy()
    array([[-1.3768897 , -0.01258316],
           [-0.169515  ,  1.0824056 ]], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    check_numbers(dtype, mean, stddev)
    seed, seed2 = draw_seeds(seed)
    draws = RANDOM_STANDARD_NORMAL(shape_tensor(shape), dtype=dtype, seed=seed, seed2=seed2)
    return scale(draws, stddev, mean, name)


@api("random.truncated_normal", result_scope="truncated_normal")
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None) -> Tensor:
    """Normal numbers, drawn again while they are more than two standard deviations from the mean.

    The arguments are those of `tf.random.normal`.
    """
    dtype = dtypes.as_dtype(dtype)
    check_numbers(dtype, mean, stddev)
    seed, seed2 = draw_seeds(seed)
    draws = TRUNCATED_NORMAL(shape_tensor(shape), dtype=dtype, seed=seed, seed2=seed2)
    return scale(draws, stddev, mean, name)


@api("random.uniform", scope="random_uniform")
def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None) -> Tensor:
    """Numbers uniform on [minval, maxval).

    Args:
        shape: the shape of the result.
        minval: the lower bound, included. Scalar for integers, otherwise broadcast with `shape`.
        maxval: the upper bound, excluded; 1 by default for floating-point numbers.
        dtype: float16, bfloat16, float32, float64, int32 or int64. Integers are very slightly biased unless
            `maxval - minval` is a power of two.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: a name for the operation.

    >>> tf.random.set_seed(5)
    >>> int(tf.random.uniform([], maxval=3, dtype=tf.int32, seed=10))
    2

    Raises:
        ValueError: if the dtype is none of these, or is an integer and `maxval` is missing.
    """
    dtype = dtypes.as_dtype(dtype)
    _accepted("random.uniform", dtype, dtypes.FLOATING | dtypes.INDEX)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"random.uniform: maxval must be given for the integer dtype {dtype.name}.")
        maxval = 1
    shape = shape_tensor(shape)
    if dtype.is_integer:
        minval, maxval = to_tensor(minval, dtype), to_tensor(maxval, dtype)
        seed, seed2 = draw_seeds(seed)
        return RANDOM_UNIFORM_INT(shape, minval, maxval, seed=seed, seed2=seed2, name=name)
    seed, seed2 = draw_seeds(seed)
    draws = RANDOM_UNIFORM(shape, dtype=dtype, seed=seed, seed2=seed2)
    if type(minval) is int and minval == 0:
        if type(maxval) is int and maxval == 1:
            return draws
        return draws * to_tensor(maxval, dtype)
    minval, maxval = to_tensor(minval, dtype), to_tensor(maxval, dtype)
    return add(draws * (maxval - minval), minval, name=name)


@api("random.stateless_normal")
def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
) -> Tensor:
    """Normal numbers that depend on nothing but the arguments.

    Args:
        shape: the shape of the result.
        seed: two integers.
        mean, stddev: of the distribution.
        dtype: float16, bfloat16, float32 or float64.
        name: a name for the operation.
        alg: "philox", "threefry", "auto_select" or a `tf.random.Algorithm`.

    >>> tf.random.stateless_normal([2], seed=[1, 2]).numpy()
    array([0.5441101 , 0.20738031], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    check_numbers(dtype, mean, stddev)
    draws = STATELESS_RANDOM_NORMAL_V2(shape_tensor(shape), *key_counter_alg(seed, alg), dtype=dtype)
    return scale(draws, stddev, mean, name)


@api("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
) -> Tensor:
    """Normal numbers within two standard deviations of the mean, that depend on nothing but the arguments.

    The arguments are those of `tf.random.stateless_normal`.
    """
    dtype = dtypes.as_dtype(dtype)
    check_numbers(dtype, mean, stddev)
    draws = STATELESS_TRUNCATED_NORMAL_V2(shape_tensor(shape), *key_counter_alg(seed, alg), dtype=dtype)
    return scale(draws, stddev, mean, name)


@api("random.stateless_uniform")
def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"
) -> Tensor:
    """Numbers uniform on [minval, maxval), or on all integers, that depend on nothing but the arguments.

    Args:
        shape: the shape of the result.
        seed: two integers.
        minval: the lower bound, included.
        maxval: the upper bound, excluded; 1 by default for floating-point numbers.
        dtype: a floating-point dtype, int32 or int64; or, when both bounds are None, int32, int64, uint32 or
            uint64, for numbers of the dtype's whole range.
        name: a name for the operation.
        alg: "philox", "threefry", "auto_select" or a `tf.random.Algorithm`.

    >>> tf.random.stateless_uniform([2], seed=[1, 2]).numpy()
    array([0.8440604 , 0.19204533], dtype=float32)

    Raises:
        ValueError: if the dtype is none of these, or only one bound is given for an integer dtype.
    """
    dtype = dtypes.as_dtype(dtype)
    _accepted("random.stateless_uniform", dtype, dtypes.FLOATING | _FULL_INT)
    check_bounds("random.stateless_uniform", dtype, minval, maxval)
    if dtype.is_integer and minval is not None and dtype not in dtypes.INDEX:
        raise ValueError(f"random.stateless_uniform: with bounds, dtype must be signed, got {dtype.name}.")
    key = key_counter_alg(seed, alg)
    shape = shape_tensor(shape)
    if dtype.is_integer and minval is None:
        return STATELESS_RANDOM_UNIFORM_FULL_INT_V2(shape, *key, dtype=dtype, name=name)
    maxval = 1 if maxval is None else maxval
    low, high = to_tensor(minval, dtype), to_tensor(maxval, dtype)
    if dtype.is_integer:
        return STATELESS_RANDOM_UNIFORM_INT_V2(shape, *key, low, high, name=name)
    draws = STATELESS_RANDOM_UNIFORM_V2(shape, *key, dtype=dtype)
    return scale_to_range(draws, minval, maxval, name)


def scale_to_range(draws, minval, maxval, name=None):
    """Numbers of [0, 1) stretched to [minval, maxval)."""
    if type(minval) is int and type(maxval) is int and (minval, maxval) == (0, 1):
        return draws
    low, high = to_tensor(minval, draws.dtype), to_tensor(maxval, draws.dtype)
    return add(draws * (high - low), low, name=name)


def check_bounds(function, dtype, minval, maxval) -> None:
    """Refuses integers with only one bound."""
    if dtype.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"{function}: minval and maxval must be both None or neither for the integer dtype {dtype.name}, "
            f"got {minval} and {maxval}."
        )


@api("random.split", "random.experimental.stateless_split")
def split(seed, num=2, alg="auto_select") -> Tensor:
    """Makes `num` new seeds of one.

    Args:
        seed: two integers.
        num: how many.
        alg: "philox", "threefry", "auto_select" or a `tf.random.Algorithm`.

    Returns:
        A tensor of shape (num, 2), of the dtype of `seed`.

    >>> tf.random.split([1, 2], num=2).numpy()
    array([[1105988140, 1738052849],
           [-335576002,  370444179]], dtype=int32)
    """
    seed = to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


@api("random.fold_in", "random.experimental.stateless_fold_in")
def fold_in(seed, data, alg="auto_select") -> Tensor:
    """Makes a new seed of a seed and an integer, such as the number of a step or a replica.

    Args:
        seed: two integers.
        data: an int32 or int64 scalar.
        alg: "philox", "threefry", "auto_select" or a `tf.random.Algorithm`.

    Returns:
        A seed of the dtype of `data`.

    >>> tf.random.fold_in([1, 2], 3).numpy()
    array([1105988140,          3], dtype=int32)
    """
    data = to_tensor(data)
    return to_tensor([stateless_uniform([], seed, None, None, data.dtype, alg=alg), data])
