"""The functions of `tf.data.experimental` that stand for methods give what the methods give."""

import pytest
from random_pipelines import values_of

import headrace as tf


def _numbers():
    return tf.data.Dataset.range(6)


def _rows():
    return _numbers().map(lambda x: tf.range(x + 1))


def _length(x):
    return tf.shape(x)[0]


def _lengths(rows):
    return rows.row_lengths()


PAIRS = {
    "unique": (lambda: _numbers().map(lambda x: x % 2).apply(tf.data.experimental.unique()),
               lambda: _numbers().map(lambda x: x % 2).unique()),
    "unbatch": (lambda: _numbers().batch(4).apply(tf.data.experimental.unbatch()), _numbers),
    "take_while": (lambda: _numbers().apply(tf.data.experimental.take_while(lambda x: x < 3)),
                   lambda: _numbers().take_while(lambda x: x < 3)),
    "scan": (lambda: _numbers().apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))),
             lambda: _numbers().scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))),
    "ignore_errors": (lambda: _numbers().apply(tf.data.experimental.ignore_errors()), _numbers),
    "enumerate_dataset": (lambda: _numbers().apply(tf.data.experimental.enumerate_dataset(2)),
                          lambda: _numbers().enumerate(2)),
    "dense_to_ragged_batch": (lambda: _rows().apply(tf.data.experimental.dense_to_ragged_batch(2)).map(_lengths),
                              lambda: _rows().ragged_batch(2).map(_lengths)),
    "bucket_by_sequence_length": (
        lambda: _rows().apply(tf.data.experimental.bucket_by_sequence_length(_length, [3], [2, 2])),
        lambda: _rows().bucket_by_sequence_length(_length, [3], [2, 2])),
    "group_by_window": (
        lambda: _numbers().apply(tf.data.experimental.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)),
        lambda: _numbers().group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)),
    "Counter": (lambda: tf.data.experimental.Counter(3, 2).take(4), lambda: tf.data.Dataset.counter(3, 2).take(4)),
    "RandomDataset": (lambda: tf.data.experimental.RandomDataset(4).take(3),
                      lambda: tf.data.Dataset.random(4).take(3)),
    "choose_from_datasets": (
        lambda: tf.data.experimental.choose_from_datasets([_numbers(), _numbers()], _numbers().map(lambda x: x % 2)),
        lambda: tf.data.Dataset.choose_from_datasets(
            [_numbers(), _numbers()], _numbers().map(lambda x: x % 2), stop_on_empty_dataset=False)),
    "sample_from_datasets": (
        lambda: tf.data.experimental.sample_from_datasets([_numbers(), _numbers().skip(3)], [0.5, 0.5], seed=1),
        lambda: tf.data.Dataset.sample_from_datasets([_numbers(), _numbers().skip(3)], [0.5, 0.5], seed=1)),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_same_as_the_method(name):
    function, method = PAIRS[name]
    assert values_of(function()) == values_of(method())


def test_rejection_resample():
    def resampled(seed):
        step = tf.data.experimental.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], seed=seed)
        return _numbers().repeat(20).apply(step)

    values = values_of(resampled(3))
    assert {label for label, _ in values} == {0, 1}
    assert values == values_of(resampled(3))


def test_other_functions():
    assert int(tf.data.experimental.cardinality(_numbers())) == 6
    assert int(tf.data.experimental.get_single_element(_numbers().take(1))) == 0
    sparse = next(iter(_rows().apply(tf.data.experimental.dense_to_sparse_batch(2, [6]))))
    assert sparse.shape == [2, 6]


def test_classes():
    options = tf.data.Options()
    assert isinstance(options.threading, tf.data.ThreadingOptions)
    assert tf.data.experimental.ThreadingOptions is tf.data.ThreadingOptions
    assert isinstance(options.autotune, tf.data.experimental.AutotuneOptions)
    assert isinstance(options.experimental_distribute, tf.data.experimental.DistributeOptions)
    assert isinstance(options.experimental_optimization, tf.data.experimental.OptimizationOptions)
    assert isinstance(options.experimental_service, tf.data.experimental.ServiceOptions)
    other = tf.data.Options()
    other.deterministic = False
    assert options.merge(other).deterministic is False
    iterator = iter(_numbers())
    assert isinstance(iterator, tf.data.Iterator)
    assert tf.data.IteratorSpec.from_value(iterator) == tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))
    assert isinstance(_numbers().as_numpy_iterator(), tf.data.NumpyIterator)
