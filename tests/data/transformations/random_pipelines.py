"""Random pipelines: the same seed gives the same one, with any number of calls at the same time."""

import random

import headrace as tf


def values_of(dataset):
    """The elements as nested lists, to be compared."""
    return [plain(element) for element in dataset]


def plain(value):
    """A value as lists, tuples and Python numbers."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    if isinstance(value, tf.data.Dataset):
        return values_of(value)
    return value.numpy().tolist()


def _numbers(choose, parallel):
    kind = choose.randrange(4)
    if kind == 0:
        return tf.data.Dataset.range(choose.randrange(5, 40))
    if kind == 1:
        return tf.data.Dataset.from_tensor_slices([choose.randrange(100) for _ in range(choose.randrange(3, 30))]).map(
            lambda x: tf.cast(x, tf.int64)
        )
    if kind == 2:
        start = choose.randrange(10)
        return tf.data.Dataset.range(choose.randrange(2, 5)).flat_map(
            lambda x: tf.data.Dataset.range(start, start + x + 2)
        )
    length, cycle = choose.randrange(1, 6), choose.randrange(1, 5)
    return tf.data.Dataset.range(choose.randrange(2, 8)).interleave(
        lambda x: tf.data.Dataset.range(x, x + length), cycle_length=cycle, block_length=choose.randrange(1, 3),
        num_parallel_calls=parallel and min(parallel, cycle),
    )  # fmt: skip


def _square(choose, parallel, dataset):
    return dataset.map(lambda x: x * x % 97, num_parallel_calls=parallel)


def _draw(choose, parallel, dataset):
    limit = choose.randrange(2, 50)
    return dataset.map(
        lambda x: x + tf.random.uniform([], 0, limit, tf.int64), num_parallel_calls=parallel
    )


def _draw_sometimes(choose, parallel, dataset):
    return dataset.map(
        lambda x: tf.cond(x % 3 == 0, lambda: x + tf.random.uniform([], 0, 9, tf.int64), lambda: x),
        num_parallel_calls=parallel,
    )


def _python(choose, parallel, dataset):
    return dataset.map(
        lambda x: tf.ensure_shape(tf.py_function(lambda y: y + 1, [x], tf.int64), []), num_parallel_calls=parallel
    )


def _filter(choose, parallel, dataset):
    modulus = choose.randrange(2, 5)
    return dataset.filter(lambda x: x % modulus != 1)


def _shuffle(choose, parallel, dataset):
    return dataset.shuffle(
        choose.choice([1, 3, 10, 1000]), seed=choose.choice([None, 5]), reshuffle_each_iteration=choose.random() < 0.7
    )


def _batch(choose, parallel, dataset):
    batched = dataset.batch(choose.randrange(1, 7), drop_remainder=choose.random() < 0.3, num_parallel_calls=parallel)
    return batched.map(lambda x: tf.reduce_sum(x) + tf.cast(tf.size(x), tf.int64), num_parallel_calls=parallel)


def _batch_and_back(choose, parallel, dataset):
    return dataset.batch(choose.randrange(1, 7)).unbatch()


def _window(choose, parallel, dataset):
    size, shift = choose.randrange(1, 5), choose.randrange(1, 4)
    return dataset.window(size, shift=shift).flat_map(lambda window: window.batch(3).map(tf.reduce_sum))


def _interleave(choose, parallel, dataset):
    cycle = choose.randrange(1, 6)
    return dataset.take(12).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=cycle,
        num_parallel_calls=parallel and min(parallel, cycle),
    )  # fmt: skip


def _scan(choose, parallel, dataset):
    return dataset.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total * 2 - x))


STEPS = [
    _square, _square, _draw, _draw_sometimes, _python, _filter, _shuffle, _shuffle, _batch, _batch_and_back, _window,
    _interleave, _scan,
    lambda choose, parallel, dataset: dataset.repeat(choose.randrange(1, 4)),
    lambda choose, parallel, dataset: dataset.take(choose.randrange(1, 60)),
    lambda choose, parallel, dataset: dataset.skip(choose.randrange(0, 6)),
    lambda choose, parallel, dataset: dataset.prefetch(choose.choice([1, 3, tf.data.AUTOTUNE])),
    lambda choose, parallel, dataset: dataset.cache(),
    lambda choose, parallel, dataset: dataset.concatenate(tf.data.Dataset.range(choose.randrange(1, 6))),
    lambda choose, parallel, dataset: dataset.shard(choose.randrange(1, 3), 0),
    lambda choose, parallel, dataset: tf.data.Dataset.zip((dataset, dataset.skip(1))).map(lambda x, y: x * 2 - y),
    lambda choose, parallel, dataset: dataset.enumerate().map(lambda i, x: i * 3 + x, num_parallel_calls=parallel),
]  # fmt: skip


def pipeline(seed, parallel):
    """The pipeline of a seed, with so many calls at the same time (None: one after another)."""
    tf.random.set_seed(seed)
    choose = random.Random(seed)
    dataset = _numbers(choose, parallel)
    for _ in range(choose.randrange(1, 7)):
        dataset = choose.choice(STEPS)(choose, parallel, dataset)
    return dataset.take(200)
