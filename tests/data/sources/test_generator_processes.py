"""Generators in processes of their own."""

import gc
import multiprocessing
import os

import numpy as np
import pytest

import headrace as tf

Spec = tf.TensorSpec


def count(stop):
    for i in range(stop):
        yield i, np.full(3, i, np.float32), f"é{i}"


def process_number():
    while True:
        yield os.getpid()


def failing():
    yield 1
    yield "x"
    raise KeyError("bad thing")


def large():
    for i in range(3):
        yield np.full(300_000, i, np.float64)


def dying():
    yield 1
    os._exit(3)


class Doubles:
    """A generator with state that travels."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self):
        for i in range(4):
            yield i * self.factor


def of(function, signature, processes=1, args=()):
    options = tf.data.Options()
    options.headrace_worker_processes = processes
    return tf.data.Dataset.from_generator(function, output_signature=signature, args=args).with_options(options)


COUNT = (Spec([], tf.int64), Spec([3], tf.float32), Spec([], tf.string))


@pytest.mark.slow
def test_elements_are_the_same():
    expected = list(tf.data.Dataset.from_generator(count, output_signature=COUNT, args=[1000]).as_numpy_iterator())
    dataset = of(count, COUNT, args=[1000])
    found = list(dataset.as_numpy_iterator())
    assert len(found) == 1000
    for (a, b, c), (x, y, z) in zip(found, expected):
        assert (a, c) == (x, z)
        np.testing.assert_array_equal(b, y)
    batches = list(dataset.batch(300).as_numpy_iterator())
    assert [len(batch[0]) for batch in batches] == [300, 300, 300, 100]
    np.testing.assert_array_equal(np.concatenate([batch[0] for batch in batches]), np.arange(1000))
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_they_come_from_other_processes():
    iterator = iter(of(process_number, Spec([], tf.int64)))
    number = int(next(iterator))
    assert number != os.getpid()
    assert [child.pid for child in multiprocessing.active_children()] == [number]
    del iterator
    gc.collect()
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_no_more_processes_than_asked_for():
    one = of(process_number, Spec([], tf.int64)).take(1)
    numbers = [int(x) for pair in tf.data.Dataset.zip(one, one) for x in pair]
    assert sorted(number == os.getpid() for number in numbers) == [False, True]


@pytest.mark.slow
def test_errors():
    iterator = iter(of(failing, Spec([], tf.int64)))
    assert int(next(iterator)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)could not be converted.*element 1"):
        next(iterator)
    with pytest.raises(tf.errors.UnknownError, match=r"(?s)bad thing.*in failing.*element 2"):
        next(iterator)
    assert list(iterator) == []
    with pytest.raises(tf.errors.UnavailableError, match="exit code 3"):
        list(of(dying, Spec([], tf.int64)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="picklable"):
        list(of(lambda: iter([1]), Spec([], tf.int64)))
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_large_elements_and_objects():
    assert [x[-1] for x in of(large, Spec([300_000], tf.float64)).as_numpy_iterator()] == [0, 1, 2]
    assert list(of(Doubles(5), Spec([], tf.int32)).as_numpy_iterator()) == [0, 5, 10, 15]


@pytest.mark.slow
def test_resume():
    dataset = of(count, COUNT, args=[50])
    iterator = iter(dataset)
    for _ in range(20):
        next(iterator)
    other = iter(dataset)
    other.load_state_dict(iterator.state_dict())
    assert [int(x[0]) for x in other] == list(range(20, 50))
