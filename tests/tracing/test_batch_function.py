"""Calls from several threads that run as one."""

import threading
import time

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.control import batch_function

SECONDS = 300  # nothing takes so long, on the busiest machine


def until(condition):
    """Return when something that another thread does has happened."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def rows_waiting():
    with batch_function._lock:
        batchers = [batcher for found in batch_function._batchers.values() for batcher in found.values()]
    return sum(batch.size for batcher in batchers for batch in list(batcher._waiting))


class Gate:
    """A batch function that notes what it gets, and waits in each batch until it is let through."""

    def __init__(self, *args, is_open=True, **kwargs):
        self.seen = []
        self.passage = threading.Semaphore(1000 if is_open else 0)

        @tf.nondifferentiable_batch_function(*args, **kwargs)
        def double(x):
            return tf.numpy_function(self._note, [x], tf.float32) * 2.0

        self.double = double

    def _note(self, x):
        self.seen.append(x[:, 0].tolist())
        assert self.passage.acquire(timeout=SECONDS)
        return x

    def wait_for(self, count):
        """Return when so many batches have begun."""
        until(lambda: len(self.seen) >= count)


class Call(threading.Thread):
    def __init__(self, function, *numbers):
        super().__init__(daemon=True)
        self._function, self._numbers = function, numbers
        self.result = None
        self.start()

    def run(self):
        try:
            self.result = self._function(tf.constant([[x] for x in self._numbers], tf.float32))[:, 0].numpy().tolist()
        except Exception as error:
            self.result = error

    def get(self):
        self.join(SECONDS)
        return self.result


def calls_in_turn(function, *calls):
    """Call from one thread each; the next one when the last one waits."""
    threads = []
    for numbers in calls:
        before = rows_waiting()
        threads.append(Call(function, *numbers))
        until(lambda: rows_waiting() != before or not threads[-1].is_alive())  # noqa: B023
    return threads


def test_a_full_batch_does_not_wait():
    gate = Gate(1, 4, 10**9)
    calls = calls_in_turn(gate.double, [1], [2, 3], [4])
    assert [call.get() for call in calls] == [[2], [4, 6], [8]]
    assert gate.seen == [[1, 2, 3, 4]]


def test_a_call_that_does_not_fit_begins_another_batch():
    gate = Gate(1, 4, 10**9)
    calls = calls_in_turn(gate.double, [1, 2, 3], [4, 5], [6, 7])
    assert [call.get() for call in calls] == [[2, 4, 6], [8, 10], [12, 14]]
    assert gate.seen == [[1, 2, 3], [4, 5, 6, 7]]


def test_a_batch_waits_no_longer_than_it_may():
    gate = Gate(1, 4, 1000)
    assert Call(gate.double, 1).get() == [2]
    assert gate.seen == [[1]]


def test_batches_are_filled_up():
    gate = Gate(1, 4, 10, allowed_batch_sizes=[3, 4])
    assert Call(gate.double, 5).get() == [10]
    assert gate.seen == [[5, 5, 5]]


def test_large_calls_are_divided():
    gate = Gate(1, 8, 10, allowed_batch_sizes=[1, 3])
    assert Call(gate.double, 1, 2, 3, 4, 5, 6, 7).get() == [2, 4, 6, 8, 10, 12, 14]
    assert gate.seen == [[1, 2, 3], [4, 5, 6], [7]]


def test_so_many_batches_run_at_the_same_time():
    gate = Gate(2, 1, 0, is_open=False)
    calls = []
    for i in (1, 2):
        calls.append(Call(gate.double, i))
        gate.wait_for(i)
    before = rows_waiting()
    third = Call(gate.double, 3)
    until(lambda: rows_waiting() == before + 1)
    assert gate.seen == [[1], [2]]
    gate.passage.release(3)
    assert [call.get() for call in [*calls, third]] == [[2], [4], [6]]


def test_too_many_batches_wait():
    gate = Gate(1, 1, 0, max_enqueued_batches=1, is_open=False)
    first = Call(gate.double, 1)
    gate.wait_for(1)
    second = calls_in_turn(gate.double, [2])[0]
    assert isinstance(Call(gate.double, 3).get(), tf.errors.UnavailableError)
    gate.passage.release(2)
    assert [first.get(), second.get()] == [[2], [4]]


def test_an_error_is_for_all():
    @tf.nondifferentiable_batch_function(1, 2, 10**9)
    def checked(x):
        tf.debugging.assert_less(x, 5.0)
        return x

    results = [call.get() for call in calls_in_turn(checked, [1], [6])]
    assert all(isinstance(result, tf.errors.InvalidArgumentError) for result in results)
    assert [call.get() for call in calls_in_turn(checked, [1], [2])] == [[1], [2]]


def test_in_a_graph_with_a_variable():
    v = tf.Variable(3.0)
    batched = tf.nondifferentiable_batch_function(1, 10, 10)(lambda x: x * v)
    f = tf.function(lambda x: batched(x) + 1.0)
    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [4, 7])
    v.assign(5.0)
    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [6, 11])
    assert f.get_concrete_function(tf.TensorSpec([2])).output_shapes.as_list() == [None]


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        (dict(), 6, "Task size 6 is larger than maximum input batch size 4"),
        (dict(allowed_batch_sizes=[3, 2, 4]), 1, "monotonically increasing"),
        (dict(allowed_batch_sizes=[3], enable_large_batch_splitting=False), 1, "must equal max_batch_size"),
    ],
)
def test_refused(options, rows, message):
    batched = tf.nondifferentiable_batch_function(1, 4, 10, **options)(tf.identity)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        batched(tf.ones([rows, 2]))


def test_no_rows():
    batched = tf.nondifferentiable_batch_function(1, 4, 10)(tf.identity)
    assert batched(tf.ones([0, 2])).shape == [0, 2]


def test_nothing_given_or_returned():
    batched = tf.nondifferentiable_batch_function(1, 4, 10)
    with pytest.raises(ValueError, match="at least one tensor"):
        batched(lambda x: None)(tf.ones([1]))
    with pytest.raises(ValueError, match="at least one tensor"):
        batched(lambda: tf.ones([1]))()


def test_there_is_no_gradient():
    batched = tf.nondifferentiable_batch_function(1, 4, 10)(lambda x: x * 2.0)
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = batched(x)
    with pytest.raises(LookupError, match="BatchFunction"):
        tape.gradient(y, x)
