"""Maps that draw random numbers for whole blocks: the numbers are those of one call after another."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import dtypes
from headrace._src.core.random_state import random_state
from headrace._src.data.running.functions import BlockFunction
from headrace._src.ops.random import calls as random_calls
from headrace._src.ops.random.bits import Philox, philox_blocks
from headrace._src.ops.random.distributions import RANDOM_GAMMA
from headrace._src.ops.random.uniform_and_normal import RANDOM_UNIFORM, RANDOM_UNIFORM_INT

IMAGES = np.random.default_rng(0).integers(0, 256, (50, 12, 10, 3)).astype(np.uint8)


def _augmented(image):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_crop(image, [8, 7, 3])
    return tf.image.random_brightness(tf.cast(image, tf.float32), 0.2)


FUNCTIONS = {
    "augmented": _augmented,
    "colours": lambda x: tf.image.random_hue(tf.image.random_saturation(tf.cast(x, tf.float32) / 255, 0.5, 2), 0.1),
    "noise": lambda x: tf.cast(x, tf.float64) + tf.random.normal(tf.shape(x), dtype=tf.float64),
    "truncated": lambda x: tf.cast(x, tf.float16) * tf.random.truncated_normal([3], dtype=tf.float16),
    "integers": lambda x: (x, tf.random.uniform([], -4, 5, tf.int64), tf.random.uniform([2], 0, 9, tf.int32, seed=3)),
    "unused": lambda x: [tf.random.uniform([]), x][1],
    "choice": lambda x: tf.cond(tf.random.uniform([]) < 0.5, lambda: x, lambda: 255 - x),
}


def _dataset(name):
    tf.random.set_seed(7)
    return tf.data.Dataset.from_tensor_slices(IMAGES).map(FUNCTIONS[name], num_parallel_calls=tf.data.AUTOTUNE)


def _stage(dataset):
    return dataset._variant_tensor.numpy()


def _values(elements):
    return [np.asarray(part) for element in elements for part in tf.nest.flatten(element)]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [1, 7, 50, 64])
def test_batches_hold_what_single_elements_are(name, size):
    dataset = _dataset(name)
    assert isinstance(_stage(dataset).vectorized, BlockFunction)
    singles = list(dataset)
    expected = [
        tf.nest.map_structure(lambda *x: np.stack(x), *group)
        for group in (singles[i : i + size] for i in range(0, len(singles), size))
    ]
    for found, wanted in zip(_values(_dataset(name).batch(size)), _values(expected), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("name", ["augmented", "integers"])
def test_walks_begin_anew_and_go_on_from_where_they_were(name):
    dataset = _dataset(name).batch(8)
    for a, b in zip(_values(dataset), _values(dataset), strict=True):  # TF: streams begin with the walk
        np.testing.assert_array_equal(a, b)
    iterator = iter(dataset)
    for _ in range(3):
        next(iterator)
    state = iterator.state_dict()
    expected = _values(iterator)
    resumed = iter(dataset)
    resumed.load_state_dict(state)
    for found, wanted in zip(_values(resumed), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_block_that_fails_has_drawn_nothing():
    def fails_at_twenty(x):
        number = tf.random.uniform([], 0, 1000, tf.int64)
        tf.debugging.Assert(x != 20, ["wrong"])
        return x, number

    tf.random.set_seed(3)
    dataset = tf.data.Dataset.range(40).map(fails_at_twenty)
    expected = [int(y) for _, y in dataset.take(20)]
    tf.random.set_seed(3)
    dataset = tf.data.Dataset.range(40).map(fails_at_twenty).batch(8)
    found = []
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 20"):
        for _, y in dataset:
            found += y.numpy().tolist()
    assert found == expected[:16]


def test_what_depends_on_the_element_is_drawn_for_each():
    dataset = tf.data.Dataset.range(1, 9).map(lambda x: tf.random.uniform([], 0, x, tf.int64, seed=1))
    assert _stage(dataset).vectorized is None
    assert all(y < x for x, y in zip(range(1, 9), dataset.as_numpy_iterator()))


KINDS = [
    (op, dtype)
    for op in random_calls._SAMPLERS
    for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
    if dtype.is_integer == (op is RANDOM_UNIFORM_INT)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0].name}-{kind[1].name}")
@pytest.mark.parametrize("shape", [[], [1], [3], [5, 7], [40, 40, 3]])
def test_calls_at_once(kind, shape):
    op, dtype = kind
    inputs = [np.array(shape, np.int32)]
    attrs = {"seed": 7, "seed2": 9}
    if dtype.is_integer:
        inputs += [np.array(-5, dtype._np), np.array(1_000_003, dtype._np)]
    else:
        attrs["dtype"] = dtype
    assert random_calls.can_draw(op, attrs, inputs)
    tf.random.set_seed(1)
    expected = np.stack([np.asarray(op.kernel(*inputs, **attrs)) for _ in range(6)])
    used = [stream.used for stream in random_state._streams.values()]
    tf.random.set_seed(1)
    found = np.concatenate([random_calls.draw(op, attrs, inputs, count) for count in (4, 2)])
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    assert [stream.used for stream in random_state._streams.values()] == used


def test_calls_that_are_not_drawn_at_once():
    shape = np.array([2], np.int32)
    floats = {"dtype": dtypes.float32}
    assert not random_calls.can_draw(RANDOM_GAMMA, {}, [shape, np.array(1.0)])
    assert not random_calls.can_draw(RANDOM_UNIFORM, floats, [None])
    assert not random_calls.can_draw(RANDOM_UNIFORM, floats, [np.array([0], np.int32)])
    assert not random_calls.can_draw(RANDOM_UNIFORM, floats, [np.array([-1], np.int32)])
    assert not random_calls.can_draw(RANDOM_UNIFORM_INT, {}, [shape, np.array(3), np.array(3)])


# With seeds of their own for each element.


def _stateless_augmented(image, number):
    seed = tf.stack([number, number + 1])
    image = tf.image.stateless_random_flip_left_right(image, seed)
    image = tf.image.stateless_random_crop(image, [8, 7, 3], seed)
    return tf.image.stateless_random_contrast(tf.cast(image, tf.float32), 0.5, 2.0, seed)


STATELESS = {
    "augmented": _stateless_augmented,
    "uniform": lambda x, n: tf.random.stateless_uniform([3], [n, -n], dtype=tf.float64),
    "small seeds": lambda x, n: tf.random.stateless_uniform([], tf.cast(tf.stack([n, 5]), tf.int32)),
    "integers": lambda x, n: tf.random.stateless_uniform([5], [n, 1], -7, 1000, tf.int64),
    "all integers": lambda x, n: tf.random.stateless_uniform([2, 2], [n, 1], None, None, tf.uint32),
    "normal": lambda x, n: tf.random.stateless_normal([7], [n, 1]),
    "truncated": lambda x, n: tf.random.stateless_truncated_normal([7], [n, 1], dtype=tf.float16),
}


@pytest.mark.parametrize("name", STATELESS)
def test_seeds_that_differ_between_elements(name):
    numbers = tf.data.Dataset.range(-9, 41)
    dataset = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(IMAGES), numbers)).map(STATELESS[name])
    assert _stage(dataset).vectorized is not None
    expected = np.stack(_values(dataset))
    found = np.concatenate(_values(dataset.batch(16)))
    assert found.dtype == expected.dtype
    if name == "augmented":
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-4)
    else:
        assert found.tobytes() == expected.tobytes()


def test_bounds_that_differ_between_elements():
    dataset = tf.data.Dataset.range(1, 9).map(lambda x: tf.random.stateless_uniform([], [x, 1], 0, x, tf.int64))
    singles = list(dataset.as_numpy_iterator())
    assert all(y < x for x, y in zip(range(1, 9), singles))
    assert np.concatenate(_values(dataset.batch(3))).tolist() == singles


def test_blocks_of_many_streams():
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**64, 7, dtype=np.uint64)
    counters = rng.integers(0, 2**64, (7, 2), dtype=np.uint64)
    counters[3, 0] = 2**64 - 2  # so that the upper half changes on the way
    for count in (1, 3, 50):
        found = philox_blocks(keys, counters, count)
        for row, key, counter in zip(found, keys, counters):
            np.testing.assert_array_equal(row, Philox.from_key_counter([key], counter).blocks(count))
    assert philox_blocks(keys[:0], counters[:0], 3).shape == (0, 3, 4)
