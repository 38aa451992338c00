"""From seeds to streams: `tf.random.set_seed`, the algorithms, and the ops that make keys of seeds."""

from __future__ import annotations

import enum

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.lazy import jnp
from headrace._src.core.random_state import random_state
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Rule
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR
from headrace._src.op.traits import CHANGES_NOTHING
from headrace._src.ops.arrays.casting import BITCAST, cast
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.random import lowering
from headrace._src.ops.random.bits import SCRAMBLING_KEY, Philox, ThreeFry, philox_blocks


@api("random.set_seed", dispatch=False)
def set_seed(seed) -> None:
    """Sets the global seed of random ops, and starts their sequences anew.

    A random op draws from a stream that the global seed and the op's own `seed` determine. With only a global
    seed, each eager call gets an op seed of its own, in a fixed order; with only an op seed, a default
    global seed is used; with neither, results differ from run to run. The seed is the same for all threads.

    Args:
        seed: an integer, or None to forget the seed.

    >>> tf.random.set_seed(7)
    >>> tf.random.uniform((3,)).numpy()
    array([0.8344538 , 0.23336661, 0.8796519 ], dtype=float32)
    """
    if context.graph is None:
        random_state.set_seed(seed)
    else:
        context.graph.seed = seed  # TF: a graph has a seed of its own, for what follows in it


@api("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """A random-number generator, for the `alg` arguments of random functions.

    Attributes:
        PHILOX: Philox4x32 with 10 rounds; what TensorFlow uses on CPUs and GPUs.
        THREEFRY: ThreeFry2x32 with 20 rounds.
        AUTO_SELECT: the default; here always Philox.
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def algorithm_number(alg):
    """An `alg` argument (a string, `Algorithm`, integer or tensor) as an integer, or the tensor."""
    if isinstance(alg, (int, np.integer)):
        return int(alg)
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, Tensor) and alg.dtype.is_integer:
        return alg
    if isinstance(alg, str):
        name = alg.strip().lower().replace("-", "").replace("_", "")
        for algorithm in Algorithm:
            if name == algorithm.name.lower().replace("_", ""):
                return algorithm.value
        raise unsupported_algorithm(alg)
    raise TypeError(f"random: alg must be a string, integer, tensor or tf.random.Algorithm, got {alg!r}.")


def unsupported_algorithm(alg) -> ValueError:
    """The error for an algorithm that there is not."""
    return ValueError(
        f"random: alg must be 'philox' (1), 'threefry' (2) or 'auto_select' (3), got {alg!r}."
    )


def take_stream(owner, seed: int, seed2: int, blocks: int) -> Philox:
    """The part of a stateful op's stream that this call may use; see `RandomState.reserve`."""
    seed, seed2, first = random_state.reserve(owner, seed, seed2, blocks)
    return Philox.from_op_seeds(seed, seed2).skip(first)


def check_seed_pair(op: str, seed: np.ndarray) -> None:
    if seed.shape != (2,):
        raise errors.invalid_argument(f"{op}: seed must have shape (2,), got shape {seed.shape}.")


def seeded_stream(op: str, seed: np.ndarray) -> Philox:
    """The stream of a stateless op for its input `seed`."""
    check_seed_pair(op, seed)
    return Philox.from_seed_pair(seed)


def keyed_stream(op: str, key: np.ndarray, counter: np.ndarray, alg: np.ndarray) -> Philox | ThreeFry:
    """The stream of a V2 stateless op for its inputs."""
    number = checked_algorithm(op, key, counter, alg)
    return (ThreeFry if number == 2 else Philox).from_key_counter(key, counter)


def checked_algorithm(op, key, counter, alg) -> int:
    """The algorithm's number, once key and counter are seen to have the shapes that it needs."""
    if np.shape(alg) != ():
        raise errors.invalid_argument(f"{op}: alg must be a scalar, got shape {np.shape(alg)}.")
    number = int(alg)
    if number not in (1, 2, 3):
        raise errors.invalid_argument(f"{op}: Unsupported algorithm id: {number}.")
    if tuple(key.shape) != (1,):
        raise errors.invalid_argument(f"{op}: key must have shape (1,), got shape {tuple(key.shape)}.")
    needed = 1 if number == 2 else 2
    if len(counter.shape) != 1 or counter.shape[0] < needed:
        raise errors.invalid_argument(
            f"{op}: counter must be a vector with length at least {needed}, got shape {tuple(counter.shape)}."
        )
    return number


def only_philox(op: str, number: int) -> None:
    """Refuses ThreeFry where nothing says how it would be used."""
    if number == 2:
        raise errors.invalid_argument(f"{op}: Unsupported algorithm id: 2. Use alg='philox'.")


def infer_seed(op: str, seed) -> None:
    """Refuses a `seed` input that is known to have a wrong shape."""
    if not seed.shape.is_compatible_with((2,)):
        raise errors.invalid_argument(f"{op}: seed must have shape (2,), got shape {seed.shape}.")


def _key_and_counter(seed):
    stream = seeded_stream("StatelessRandomGetKeyCounter", seed)
    half = (1 << 64) - 1
    counter = [stream.counter & half, stream.counter >> 64]
    return np.array([stream.key], np.uint64), np.array(counter, np.uint64)


def _infer_key_and_counter(seed):
    infer_seed("StatelessRandomGetKeyCounter", seed)
    return TensorShape([1]), TensorShape([2])


def keys_and_counters(seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For pairs of seeds, (calls, 2): the keys, (calls, 1), and the counters, (calls, 2), of stateless ops."""
    counters = seeds.astype(np.int64).view(np.uint64)
    words = philox_blocks(np.full(len(seeds), SCRAMBLING_KEY, np.uint64), counters, 1)[:, 0].astype(np.uint64)
    halves = words[:, 0::2] | words[:, 1::2] << np.uint64(32)
    return halves[:, :1], np.stack([np.zeros(len(seeds), np.uint64), halves[:, 1]], 1)


def _vectorize_key_counter(batch, node, seed):
    if not batch.on_host:
        raise NoRule("its seed differs between elements")
    return batch.call_on_arrays(keys_and_counters, [seed.tensor], [dtypes.uint64, dtypes.uint64])


GET_KEY_COUNTER = Op(
    "StatelessRandomGetKeyCounter",
    "seed: Tseed -> key: uint64, counter: uint64",
    Tseed=dtypes.INDEX,
    infer=_infer_key_and_counter,
    kernel=_key_and_counter,
    lower=lambda ctx, seed: lowering.scramble(seed),
    grad=None,
    vectorize=Rule(_vectorize_key_counter, quiet=True),
)

_PHILOX = np.int32(Algorithm.PHILOX.value)

GET_KEY_COUNTER_ALG = Op(
    "StatelessRandomGetKeyCounterAlg",
    "seed: Tseed -> key: uint64, counter: uint64, alg: int32",
    Tseed=dtypes.INDEX,
    infer=lambda seed: (*_infer_key_and_counter(seed), SCALAR),
    kernel=lambda seed: (*_key_and_counter(seed), _PHILOX),
    lower=lambda ctx, seed: (*lowering.scramble(seed), jnp.asarray(_PHILOX)),
    grad=None,
)

GET_ALG = Op(
    "StatelessRandomGetAlg",
    "-> alg: int32",
    traits=CHANGES_NOTHING,
    infer=lambda: SCALAR,
    kernel=lambda: _PHILOX,
    lower=lambda ctx: jnp.asarray(_PHILOX),
    grad=None,
    stateful=True,  # TF: it depends on the device
)


def key_counter_alg(seed, alg):
    """The inputs `key`, `counter` and `alg` of V2 stateless ops, for the arguments `seed` and `alg`."""
    alg = algorithm_number("auto_select" if alg is None else alg)
    if not isinstance(alg, Tensor) and alg == Algorithm.THREEFRY.value:
        # TF: the two seeds, cut to 32 bits, are the key as they are.
        key = reshape(BITCAST(cast(to_tensor(seed), dtypes.uint32), type=dtypes.uint64), [1])
        return key, to_tensor(np.zeros(1, np.uint64)), alg
    if not isinstance(alg, Tensor) and alg not in (1, 3):
        raise unsupported_algorithm(alg)
    key, counter = GET_KEY_COUNTER(seed)
    return key, counter, alg
