"""Iterators: in Python, in functions, as arguments, and optionals."""

import gc
import weakref

import numpy as np
import pytest

import headrace as tf


def test_next_and_get_next():
    iterator = iter(tf.data.Dataset.range(2))
    assert int(next(iterator)) == 0
    assert int(iterator.get_next()) == 1
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()


def test_optionals_from_iterators():
    iterator = iter(tf.data.Dataset.range(1))
    first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert bool(first.has_value())
    assert int(first.get_value()) == 0
    assert not bool(second.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        second.get_value()


def test_iterator_as_an_argument_of_a_function():
    traces = []

    @tf.function
    def two(iterator):
        traces.append(1)
        return next(iterator) + iterator.get_next()

    iterator = iter(tf.data.Dataset.range(6))
    assert [int(two(iterator)) for _ in range(3)] == [1, 5, 9]
    assert int(two(iter(tf.data.Dataset.range(2)))) == 1
    assert len(traces) == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        two(iterator)


def test_dataset_as_an_argument_of_a_function():
    @tf.function
    def total(dataset):
        result = tf.constant(0, tf.int64)
        for x in dataset:
            if x == 7:
                break
            result += x
        return result

    assert int(total(tf.data.Dataset.range(10))) == 21
    assert int(total(tf.data.Dataset.range(3))) == 3
    assert total.experimental_get_tracing_count() == 1


def test_captured_dataset_and_iterator():
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1.0, 2.0], "b": ["x", "y"]})
    iterator = iter(dataset)

    @tf.function
    def first():
        return next(iterator)["b"]

    @tf.function
    def total():
        result = 0.0
        for element in dataset:
            result += element["a"]
        return result

    assert [first().numpy(), first().numpy()] == [b"x", b"y"]
    assert float(total()) == 3.0


def test_dataset_made_in_a_function():
    @tf.function
    def squares(n):
        result = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(n).map(lambda x: x * x).batch(2):
            result += tf.reduce_sum(x)
        return result

    assert int(squares(tf.constant(4, tf.int64))) == 14
    assert int(squares(tf.constant(5, tf.int64))) == 30


def test_gradients_of_loops_over_datasets():
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
    w = tf.Variable(2.0)

    @tf.function
    def loss():
        result = 0.0
        for x in dataset:
            result += w * x * w
        return result

    with tf.GradientTape() as tape:
        value = loss()
    assert float(value) == 24.0
    assert float(tape.gradient(value, w)) == 24.0


def test_training_inside_a_loop_over_a_dataset():
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(4, dtype=np.float32), 3 * np.arange(4, dtype=np.float32)))
    w = tf.Variable(0.0)

    @tf.function
    def train(epochs):
        for _ in tf.range(epochs):
            for x, y in dataset:
                with tf.GradientTape() as tape:
                    loss = (w * x - y) ** 2
                w.assign_sub(0.05 * tape.gradient(loss, w))

    train(tf.constant(20))
    assert abs(float(w) - 3) < 1e-3


def test_optional_as_argument_output_and_loop_variable():
    @tf.function
    def more(optional, iterator):
        total = tf.constant(0, tf.int64)
        while optional.has_value():
            total += optional.get_value()
            optional = iterator.get_next_as_optional()
        return total, optional

    iterator = iter(tf.data.Dataset.range(5))
    total, left = more(iterator.get_next_as_optional(), iterator)
    assert int(total) == 10
    assert not bool(left.has_value())
    assert left.element_spec == tf.TensorSpec([], tf.int64)


def test_optionals_of_structures():
    optional = tf.experimental.Optional.from_value({"a": 1, "b": (2.0, "c")})
    value = optional.get_value()
    assert int(value["a"]) == 1
    assert value["b"][1].numpy() == b"c"
    assert optional._type_spec == tf.OptionalSpec(optional.element_spec)
    assert not bool(tf.experimental.Optional.empty(tf.TensorSpec([])).has_value())


def test_iterators_are_independent():
    dataset = tf.data.Dataset.range(3)
    one, two = iter(dataset), iter(dataset)
    assert [int(next(one)), int(next(one)), int(next(two))] == [0, 1, 0]


def test_sources_are_not_written_to():
    source = np.arange(12, dtype=np.float32).reshape(3, 4)
    dataset = tf.data.Dataset.from_tensor_slices(source).map(lambda x: tf.exp(x) * 2.0 + 1.0)
    first = [x.numpy() for x in dataset.batch(2)]
    second = [x.numpy() for x in dataset.batch(2)]
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a, b)


def test_structures_keep_their_kind():
    dataset = tf.data.Dataset.from_tensor_slices({"b": [1, 2], "a": [3, 4]})
    element = next(iter(dataset))
    assert list(element) == ["b", "a"]
    assert (int(element["b"]), int(element["a"])) == (1, 3)


def test_state_at_the_end_and_before_the_start():
    dataset = tf.data.Dataset.range(3).map(lambda x: x + 1)
    iterator = iter(dataset)
    start = iterator.state_dict()
    assert [int(x) for x in iterator] == [1, 2, 3]
    end = iterator.state_dict()
    fresh = iter(dataset)
    fresh.load_state_dict(end)
    assert list(fresh) == []
    fresh.load_state_dict(start)
    assert [int(x) for x in fresh] == [1, 2, 3]


def test_calls_with_the_same_iterator_find_their_trace_at_once():
    """Other iterators, tapes, more arguments and other kinds of elements go the usual way."""

    @tf.function(reduce_retracing=True)
    def following(iterator, twice=False):
        value = tf.cast(iterator.get_next(), tf.float32)
        return value * 2.0 if twice else value

    numbers = tf.data.Dataset.range(5)
    first, second = iter(numbers), iter(numbers.skip(1))
    assert [float(following(x)) for x in (first, first, first, second, first, second)] == [0, 1, 2, 1, 3, 2]
    assert float(following(second, twice=True)) == 6.0
    assert float(following(first, True)) == 8.0
    with tf.GradientTape():
        assert float(following(second)) == 4.0
    with pytest.raises(tf.errors.OutOfRangeError):
        following(second)
    floats = iter(tf.data.Dataset.from_tensor_slices([[1.5, 2.5]]).batch(1))
    assert following(floats).numpy().tolist() == [[1.5, 2.5]]
    assert following.experimental_get_tracing_count() == 3


def test_an_iterator_that_was_an_argument_is_freed():
    @tf.function
    def following(iterator):
        return iterator.get_next()

    iterator = iter(tf.data.Dataset.range(5))
    assert [int(following(iterator)) for _ in range(3)] == [0, 1, 2]
    resource = weakref.ref(iterator._handle._a[()])
    del iterator
    gc.collect()
    assert resource() is None
