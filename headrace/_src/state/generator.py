"""`tf.random.Generator`: a random-number generator whose position in its stream is a variable."""

from __future__ import annotations

import os

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.lazy import jnp
from headrace._src.core.random_state import random_state
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.trackable import AutoTrackable
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import shape_from_value, vector
from headrace._src.op.lowering import NotLowerable
from headrace._src.op.traits import WRITES_VARIABLE
from headrace._src.ops.arrays.casting import bitcast, cast
from headrace._src.ops.arrays.joining import concat, stack, unstack
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.math.reductions import reduce_prod
from headrace._src.ops.random import samplers as random_samplers
from headrace._src.ops.random.bits import Philox
from headrace._src.ops.random.distributions import draw_binomial
from headrace._src.ops.random.seeds import Algorithm, algorithm_number, unsupported_algorithm
from headrace._src.ops.random.uniform_and_normal import (
    BLOCKS_PER_OUTPUT,
    STATELESS_RANDOM_NORMAL_V2,
    STATELESS_RANDOM_UNIFORM_FULL_INT_V2,
    STATELESS_RANDOM_UNIFORM_INT_V2,
    STATELESS_RANDOM_UNIFORM_V2,
    STATELESS_TRUNCATED_NORMAL_V2,
    check_bounds,
    check_numbers,
    sample_shape,
    scale,
    scale_to_range,
)
from headrace._src.state.storage import storage_of
from headrace._src.state.variables import Variable

_MASK64 = (1 << 64) - 1
_COUNTER_SIZE = {1: 2, 2: 1, 3: 2}


# The ops on the variable that holds the state: the counter's 64-bit halves, low half first, then the key.


def _advance(op: str, resource, alg: int, count: int) -> np.ndarray:
    """Moves the state on by `count` outputs; gives counter and key as they were."""
    storage = storage_of(resource)
    if storage.dtype is not dtypes.int64:
        raise errors.invalid_argument(f"{op}: the state must be an int64 variable, got {storage.dtype.name}.")
    if alg not in _COUNTER_SIZE:
        raise errors.invalid_argument(f"{op}: Unsupported algorithm id: {alg}.")
    with storage.lock:
        state = storage.read()
        size = _COUNTER_SIZE[alg]
        if state.ndim != 1 or state.size < size + 1:
            raise errors.invalid_argument(
                f"{op}: the state must be a vector of at least {size + 1} numbers, got shape {state.shape}."
            )
        fresh = state.copy()
        fresh[:size].view(np.uint64)[:] = _skip(state[:size].view(np.uint64).tolist(), count)
        storage.set(fresh)
    return state[: size + 1]


def _skip(counter: list[int], count: int) -> list[int]:
    count = count * BLOCKS_PER_OUTPUT & _MASK64
    low = counter[0] + count
    if len(counter) == 1:
        return [low & _MASK64]
    # TF: going back (adding nearly 2**64) carries nothing into the upper half.
    carry = low >> 64 if count >> 32 != 0xFFFFFFFF else 0
    return [low & _MASK64, counter[1] + carry & _MASK64]


def _lower_advance(ctx, resource, alg, delta):
    """The same for a program, where the state is a value like those of other variables."""
    size, state = _COUNTER_SIZE.get(int(alg)), ctx.read_variable(resource)
    if size is None or state.dtype != np.int64 or state.ndim != 1 or state.size < size + 1:
        raise NotLowerable("a state that does not fit the algorithm")  # the kernel says what is wrong
    before = state.view(np.uint64)
    count = jnp.asarray(delta).astype(np.uint64) * np.uint64(BLOCKS_PER_OUTPUT)
    low = before[0] + count
    after = before.at[0].set(low)
    if size == 2:
        carry = (low < count) & (count >> np.uint64(32) != np.uint64(0xFFFFFFFF))
        after = after.at[1].add(carry.astype(np.uint64))
    ctx.assign_variable(resource, after.view(np.int64))
    return state[: size + 1]


RNG_READ_AND_SKIP = Op(
    "RngReadAndSkip",
    "resource: resource, alg: int32, delta: uint64 -> value: int64",
    traits=WRITES_VARIABLE,
    infer=vector,
    kernel=lambda resource, alg, delta: _advance("RngReadAndSkip", resource, int(alg), int(delta)),
    lower=_lower_advance,
    static=("alg",),
    grad=None,
    stateful=True,
)


def _rng_skip(resource, algorithm, delta):
    _advance("RngSkip", resource, int(algorithm), int(delta))


def _lower_skip(ctx, resource, algorithm, delta):
    _lower_advance(ctx, resource, algorithm, delta)
    return ()


RNG_SKIP = Op(
    "RngSkip",
    "resource: resource, algorithm: int64, delta: int64 -> ",
    traits=WRITES_VARIABLE,
    infer=lambda resource, algorithm, delta: (),
    kernel=_rng_skip,
    lower=_lower_skip,
    static=("algorithm",),
    grad=None,
    stateful=True,
)


def _stream_of(op, resource, algorithm, count) -> Philox:
    if int(algorithm) != Algorithm.PHILOX.value:
        raise errors.invalid_argument(f"{op}: Unsupported algorithm id: {int(algorithm)}.")
    state = _advance(op, resource, 1, count).view(np.uint64)
    return Philox.from_key_counter(state[2:], state[:2])


_INTEGERS = frozenset({dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64})
_COUNTS = dtypes.INDEX | {dtypes.float16, dtypes.float32, dtypes.float64}


def _stateful(name, sampler, default, allowed):
    """The record of an op that draws from the state and moves it on."""

    def kernel(resource, algorithm, shape, dtype):
        if dtype not in allowed:
            names = ", ".join(sorted(one.name for one in allowed))
            raise errors.invalid_argument(f"{name}: dtype must be one of {names}, got {dtype.name}.")
        dims = sample_shape(name, shape)
        stream = _stream_of(name, resource, algorithm, int(np.prod(dims, dtype=np.int64)))
        return getattr(random_samplers, sampler)(stream, dims, dtype._np)

    return Op(
        name,
        "resource: resource, algorithm: int64, shape: shape_dtype, *, "
        f"dtype: type = {default} -> output: dtype",
        shape_dtype=dtypes.INDEX,
        infer=lambda resource, algorithm, shape, dtype: shape_from_value(shape),
        kernel=kernel,
        lower=None,  # TF: Generator itself draws with RngReadAndSkip and stateless ops
        grad=unregistered,
        stateful=True,
    )


STATEFUL_STANDARD_NORMAL = _stateful("StatefulStandardNormalV2", "normal", "float32", dtypes.FLOATING)
STATEFUL_TRUNCATED_NORMAL = _stateful(
    "StatefulTruncatedNormal", "truncated_normal", "float32", dtypes.FLOATING
)
STATEFUL_UNIFORM = _stateful("StatefulUniform", "uniform", "float32", dtypes.FLOATING)
STATEFUL_UNIFORM_FULL_INT = _stateful("StatefulUniformFullInt", "uniform_full_int", "uint64", _INTEGERS)


def _stateful_int(resource, algorithm, shape, minval, maxval):
    name = "StatefulUniformInt"
    dims = sample_shape(name, shape)
    if minval.ndim or maxval.ndim:
        raise errors.invalid_argument(f"{name}: minval and maxval must be scalars.")
    if minval >= maxval:
        raise errors.invalid_argument(f"{name}: minval must be below maxval, got {minval} and {maxval}.")
    stream = _stream_of(name, resource, algorithm, int(np.prod(dims, dtype=np.int64)))
    return random_samplers.uniform_int(stream, dims, int(minval), int(maxval), minval.dtype)


STATEFUL_UNIFORM_INT = Op(
    "StatefulUniformInt",
    "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
    shape_dtype=dtypes.INDEX,
    dtype=_INTEGERS,
    infer=lambda resource, algorithm, shape, minval, maxval: shape_from_value(shape),
    kernel=_stateful_int,
    lower=None,  # TF: Generator itself draws with RngReadAndSkip and stateless ops
    grad=unregistered,
    stateful=True,
)


def _stateful_binomial(resource, algorithm, shape, counts, probs, dtype):
    name = "StatefulRandomBinomial"
    dims = sample_shape(name, shape)
    sets = int(np.prod(np.broadcast_shapes(counts.shape, probs.shape), dtype=np.int64))
    samples = int(np.prod(dims, dtype=np.int64)) // max(sets, 1)
    # TF: what is reserved is not what is used.
    stream = _stream_of(name, resource, algorithm, sets * 2 * 100 * (samples + 3) // 4)
    return draw_binomial(name, stream, shape, counts, probs, dtype)


STATEFUL_RANDOM_BINOMIAL = Op(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T, *, "
    "dtype: type = int64 -> output: dtype",
    S=dtypes.INDEX,
    T=_COUNTS,
    infer=lambda resource, algorithm, shape, counts, probs, dtype: shape_from_value(shape),
    kernel=_stateful_binomial,
    lower=None,  # TF: Generator itself draws with RngReadAndSkip and stateless ops
    grad=unregistered,
    stateful=True,
    dtype=_COUNTS,
)


def _unpredictable(shape, dtype):
    dims = sample_shape("NonDeterministicInts", shape)
    if dtype not in _INTEGERS:
        raise errors.not_found(f"NonDeterministicInts: dtype must be an integer, got {dtype.name}.")
    size = int(np.prod(dims, dtype=np.int64))
    return np.frombuffer(os.urandom(size * dtype._np.itemsize), dtype._np).reshape(dims)


NON_DETERMINISTIC_INTS = Op(
    "NonDeterministicInts",
    "shape: shape_dtype, *, dtype: type = int64 -> output: dtype",
    shape_dtype=dtypes.INDEX,
    infer=lambda shape, dtype: shape_from_value(shape),
    kernel=_unpredictable,
    lower=None,  # a program that is compiled once would draw the same numbers every time
    grad=unregistered,
    stateful=True,
)


def _counter_size(alg) -> int:
    size = _COUNTER_SIZE.get(int(alg))
    if size is None:
        raise unsupported_algorithm(int(alg))
    return size


def _state_tensor(state):
    """A state, or a part of one, as int64; numbers beyond 2**63 are read as unsigned."""

    def signed(number):
        return number - (1 << 64) if isinstance(number, int) and number >= 1 << 63 else number

    return cast(nest.map_structure(signed, state), dtypes.int64)


@api("random.create_rng_state", "random.experimental.create_rng_state", dispatch=False, told=True)
def create_rng_state(seed, alg) -> Tensor:
    """The state of a generator for a seed.

    Args:
        seed: an integer of any size, or a vector of integers, filled up with zeros on the left.
        alg: "philox", "threefry", "auto_select" or a `tf.random.Algorithm`.

    >>> tf.random.create_rng_state(1234, "philox").numpy().tolist()
    [1234, 0, 0]
    """
    size = _counter_size(algorithm_number(alg)) + 1
    if isinstance(seed, int):
        seed = [seed >> 64 * i & _MASK64 for i in range(size)]
    state = reshape(_state_tensor(seed), [-1])[:size]
    return concat([to_tensor(np.zeros(size, np.int64)), state], 0)[-size:]


def _shape_tensor(shape):
    if isinstance(shape, (list, tuple)) and not shape:
        return to_tensor(shape, dtypes.int64)
    return to_tensor(shape)


@api("random.Generator", "random.experimental.Generator")
class Generator(AutoTrackable):
    """A random-number generator: equal states give equal numbers, whatever else happens.

    Make one with `from_seed`, `from_state`, `from_key_counter` or `from_non_deterministic_state`. Each method
    that gives numbers moves the state on. The state is a variable, so generators can be saved and restored.

    Args:
        copy_from: a generator to copy.
        state: the state, a vector of int64; if it is a variable, the generator uses that variable.
        alg: the algorithm: "philox", "threefry", "auto_select" or a `tf.random.Algorithm`.

    >>> g = tf.random.Generator.from_seed(1234)
    >>> g.normal((2,)).numpy()
    array([0.9356609, 1.0854305], dtype=float32)
    >>> g.state.numpy().tolist()
    [1746, 0, 0]
    """

    def __init__(self, copy_from=None, state=None, alg=None) -> None:
        # Each replica of this strategy has numbers of its own, though their states are equal.
        self._strategy = None if context.place is None else context.place.strategy
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("Generator: give either copy_from, or state and alg.")
            self._state_var = self._make_variable(copy_from.state)
            self._alg = copy_from.algorithm
            return
        if state is None or alg is None:
            raise AssertionError("Generator: state and alg must be given together.")
        alg = algorithm_number(alg)
        shape = [_counter_size(alg) + 1]
        if isinstance(state, Variable):
            state.shape.assert_is_compatible_with(shape)
            self._state_var = state
        else:
            state = _state_tensor(state)
            state.shape.assert_is_compatible_with(shape)
            self._state_var = self._make_variable(state)
        self._alg = alg

    @staticmethod
    def _make_variable(value):
        # TF: Keras knows the variable by this name.
        return Variable(to_tensor(value), trainable=False, dtype=dtypes.int64, name="StateVar")

    @classmethod
    def from_state(cls, state, alg) -> Generator:
        """A generator with a given state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None) -> Generator:
        """A generator for a seed: an integer of any size or a vector of integers."""
        alg = algorithm_number(Algorithm.PHILOX if alg is None else alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None) -> Generator:
        """A generator that begins somewhere else every time.

        Raises:
            RuntimeError: when determinism is enabled.
        """
        if random_state.deterministic:
            raise RuntimeError('"from_non_deterministic_state" cannot be called when determinism is enabled.')
        alg = algorithm_number(Algorithm.PHILOX if alg is None else alg)
        return cls(state=NON_DETERMINISTIC_INTS([_counter_size(alg) + 1]), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg) -> Generator:
        """A generator with a given key, a scalar, and counter, a vector of two (Philox) or one."""
        alg = algorithm_number(alg)
        return cls(state=_join(key, counter, alg), alg=alg)

    def reset(self, state) -> None:
        """Sets the state."""
        state = _state_tensor(state)
        state.shape.assert_is_compatible_with([_counter_size(self._alg) + 1])
        self._state_var.assign(state)

    def reset_from_seed(self, seed) -> None:
        """Sets the state to that of a new generator with this seed."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter) -> None:
        """Sets key and counter."""
        self._state_var.assign(_join(key, counter, self._alg))

    @property
    def state(self) -> Variable:
        """The variable that holds the state: counter and key."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm; see `tf.random.Algorithm`."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The last number of the state, which tells one stream from another."""
        return self._state_var[-1]

    def skip(self, delta) -> Tensor:
        """Moves the state on as drawing `delta` numbers would.

        Returns:
            The state before.
        """
        alg, delta = cast(to_tensor(self._alg), dtypes.int32), cast(to_tensor(delta), dtypes.uint64)
        before = [RNG_READ_AND_SKIP(copy.handle, alg, delta) for copy in self._state_var._copies_to_write()]
        return before[0]

    def _next(self, shape):
        """Key, counter and algorithm for drawing a tensor of that shape, past which the state moves."""
        before = self.skip(reduce_prod(shape))
        size = _counter_size(self._alg)
        if type(before) is EagerTensor:
            words = before._a.view(np.uint64)
            key, counter = words[size : size + 1], words[:size]
            return self._key_here(EagerTensor(key, dtypes.uint64)), EagerTensor(counter, dtypes.uint64), self._alg
        words = bitcast(before, dtypes.uint64)
        return self._key_here(words[size : size + 1]), words[:size], self._alg

    def _key_here(self, key):
        """The key of the stream that this replica draws from, made of the key of all and the replica's number."""
        place = context.place
        if place is None or place.replica is None or place.strategy is not self._strategy:
            return key
        number = cast(reshape(place.replica.replica_id_in_sync_group, [1]), dtypes.uint64)
        counter = concat([number, to_tensor([0] * (_counter_size(self._alg) - 1), dtypes.uint64)], 0)
        return STATELESS_RANDOM_UNIFORM_FULL_INT_V2([1], key, counter, self._alg, dtype=dtypes.uint64)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None) -> Tensor:
        """Normal numbers; the arguments are those of `tf.random.normal`."""
        dtype = dtypes.as_dtype(dtype)
        check_numbers(dtype, mean, stddev)
        shape = _shape_tensor(shape)
        return scale(STATELESS_RANDOM_NORMAL_V2(shape, *self._next(shape), dtype=dtype), stddev, mean, name)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None) -> Tensor:
        """Normal numbers within two standard deviations; the arguments are those of `tf.random.normal`."""
        dtype = dtypes.as_dtype(dtype)
        check_numbers(dtype, mean, stddev)
        shape = _shape_tensor(shape)
        draws = STATELESS_TRUNCATED_NORMAL_V2(shape, *self._next(shape), dtype=dtype)
        return scale(draws, stddev, mean, name)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None) -> Tensor:
        """Numbers uniform on [minval, maxval), or, for integers when both are None, on the whole range.

        The arguments are those of `tf.random.uniform`.

        Raises:
            ValueError: if only one bound is given for an integer dtype.
        """
        dtype = dtypes.as_dtype(dtype)
        check_bounds("random.Generator.uniform", dtype, minval, maxval)
        shape = _shape_tensor(shape)
        if dtype.is_integer:
            if minval is None:
                return self.uniform_full_int(shape, dtype, name)
            minval, maxval = to_tensor(minval, dtype), to_tensor(maxval, dtype)
            return STATELESS_RANDOM_UNIFORM_INT_V2(shape, *self._next(shape), minval, maxval, name=name)
        maxval = 1 if maxval is None else maxval
        check_numbers(dtype, minval, maxval)
        draws = STATELESS_RANDOM_UNIFORM_V2(shape, *self._next(shape), dtype=dtype)
        return scale_to_range(draws, minval, maxval, name)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None) -> Tensor:
        """Integers uniform on the whole range of int32, uint32, int64 or uint64."""
        dtype = dtypes.as_dtype(dtype)
        shape = _shape_tensor(shape)
        return STATELESS_RANDOM_UNIFORM_FULL_INT_V2(shape, *self._next(shape), dtype=dtype, name=name)

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None) -> Tensor:
        """Numbers of the binomial distribution; the arguments are those of `tf.random.stateless_binomial`."""
        dtype = dtypes.as_dtype(dtype)
        counts, probs = to_tensor(counts), to_tensor(probs)
        alg = cast(to_tensor(self._alg), dtypes.int64)
        return STATEFUL_RANDOM_BINOMIAL(
            self._state_var.handle, alg, _shape_tensor(shape), counts, probs, dtype=dtype, name=name
        )

    def _new_keys(self, count):
        return self.uniform_full_int([count], dtypes.int64)

    def make_seeds(self, count=1) -> Tensor:
        """Seeds for stateless random functions, as int64 of shape (2, count)."""
        keys = self._new_keys(count)
        return stack([keys, cast(keys * 0, dtypes.int64)])

    def split(self, count=1) -> list[Generator]:
        """A list of `count` generators, independent of each other and of this one."""
        zeros = [0] * _counter_size(self._alg)
        keys = unstack(self._new_keys(count), count)
        return [Generator(state=[*zeros, key], alg=self._alg) for key in keys]


def _join(key, counter, alg):
    counter, key = _state_tensor(counter), _state_tensor(key)
    counter.shape.assert_is_compatible_with([_counter_size(alg)])
    key.shape.assert_is_compatible_with([])
    return concat([counter, reshape(key, [1])], 0)


_global_generator: Generator | None = None


@api("random.get_global_generator", "random.experimental.get_global_generator", dispatch=False)
def get_global_generator() -> Generator:
    """The generator of the whole program, made from an unpredictable state when first asked for.

    Raises:
        RuntimeError: when determinism is enabled and `set_global_generator` was not called.
    """
    global _global_generator
    if _global_generator is None:
        if random_state.deterministic:
            raise RuntimeError(
                '"get_global_generator" cannot be called if determinism is enabled, unless '
                '"set_global_generator" has already been called. Please call "set_global_generator" first.'
            )
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


@api("random.set_global_generator", "random.experimental.set_global_generator", dispatch=False)
def set_global_generator(generator) -> None:
    """Replaces the generator of the whole program.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    >>> tf.random.get_global_generator().uniform(()).numpy()
    np.float32(0.78749514)
    """
    global _global_generator
    _global_generator = generator
