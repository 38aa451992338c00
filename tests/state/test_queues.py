"""Queues between threads and in sessions; `tests/ops/cases/state/queues.py` has what they give."""

import threading

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1


class _Worker(threading.Thread):
    """Runs a function, and keeps what it returned or raised."""

    def __init__(self, function):
        super().__init__(daemon=True)
        self._function = function
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self._function()
        except Exception as error:
            self.error = error

    def done(self):
        self.join(300)
        assert not self.is_alive()
        return self


def test_taking_waits_for_elements():
    queue = tf.queue.FIFOQueue(2, tf.int32, shapes=[[]])
    worker = _Worker(lambda: queue.dequeue_many(5).numpy().tolist())
    for number in range(5):
        queue.enqueue(number)
    assert worker.done().result == [0, 1, 2, 3, 4]


def test_putting_waits_for_room():
    queue = tf.queue.FIFOQueue(2, tf.int32, shapes=[[]])
    worker = _Worker(lambda: queue.enqueue_many([tf.range(6)]))
    assert [int(queue.dequeue()) for _ in range(6)] == list(range(6))
    worker.done()
    assert queue.size().numpy() == 0


def test_closing_ends_the_waiting():
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    worker = _Worker(queue.dequeue)
    queue.close()
    assert isinstance(worker.done().error, tf.errors.OutOfRangeError)
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    queue.enqueue(4)
    started = threading.Event()
    worker = _Worker(lambda: (started.set(), queue.enqueue(5)))
    started.wait(300)
    queue.close(cancel_pending_enqueues=True)
    assert isinstance(worker.done().error, tf.errors.CancelledError)
    assert queue.dequeue().numpy() == 4


def test_elements_that_wait_come_in_after_closing():
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    worker = _Worker(lambda: queue.enqueue_many([[4, 5, 6]]))
    first = int(queue.dequeue())
    queue.close()
    assert [first, int(queue.dequeue()), int(queue.dequeue())] == [4, 5, 6]
    assert worker.done().error is None


@pytest.mark.parametrize("make", [
    lambda: tf.queue.FIFOQueue(9, [tf.int64, tf.int64], shapes=[[], []]),
    lambda: tf.queue.PriorityQueue(9, [tf.int64], shapes=[[]]),
    lambda: tf.queue.RandomShuffleQueue(9, 0, [tf.int64, tf.int64], shapes=[[], []]),
], ids=["in_order", "by_priority", "shuffled"])  # fmt: skip
def test_what_is_too_little_stays(make):
    queue = make()
    queue.enqueue_many([tf.constant([4, 5, 6], tf.int64)] * 2)
    queue.close()
    with pytest.raises(tf.errors.OutOfRangeError):
        queue.dequeue_many(4)
    assert sorted(queue.dequeue_many(3)[1].numpy().tolist()) == [4, 5, 6]


def test_a_shuffling_queue_keeps_some_until_it_is_closed():
    queue = tf.queue.RandomShuffleQueue(9, 2, tf.int32, shapes=[[]])
    queue.enqueue_many([[4, 5]])
    worker = _Worker(lambda: int(queue.dequeue()))
    queue.enqueue(6)
    assert worker.done().result in (4, 5, 6)
    worker = _Worker(lambda: int(queue.dequeue()))
    queue.close()
    assert worker.done().result in (4, 5, 6)


def test_orders_follow_seeds():
    def order(seed):
        queue = tf.queue.RandomShuffleQueue(200, 0, tf.int32, shapes=[[]], seed=seed)
        queue.enqueue_many([tf.range(100)])
        return queue.dequeue_many(100).numpy().tolist()

    tf.random.set_seed(3)
    first = order(5)
    tf.random.set_seed(3)
    assert order(5) == first != sorted(first)
    assert order(6) != first
    assert sorted(first) == list(range(100))


def test_sessions_have_queues_of_their_own():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(9, [tf.float32, tf.string], shapes=[[], [2]], name="waiting")
        place = v1.placeholder(tf.float32, [None])
        texts = tf.fill([tf.size(place), 2], "x")
        put = queue.enqueue_many((place, texts))
        number, text = queue.dequeue()
        batch, _ = queue.dequeue_many(2)
        rest, _ = queue.dequeue_up_to(4)
        assert (queue.name, put.type, number.op.type) == ("waiting", "QueueEnqueueManyV2", "QueueDequeueV2")
        assert (text.shape.as_list(), batch.shape.as_list(), rest.shape.as_list()) == ([2], [2], [None])
        size, close = queue.size(), queue.close()
        with v1.Session() as one, v1.Session() as other:
            one.run(put, {place: [4.0, 5.0, 6.0, 7.0]})
            assert (one.run(size), other.run(size)) == (4, 0)
            assert one.run(number) == 4.0
            assert one.run(batch).tolist() == [5.0, 6.0]
            one.run(close)
            assert one.run(rest).tolist() == [7.0]
            with pytest.raises(tf.errors.OutOfRangeError):
                one.run(number)


def test_names_of_one():
    assert v1.FIFOQueue is v1.queue.FIFOQueue is tf.queue.FIFOQueue
    assert v1.io.QueueBase is v1.QueueBase is tf.queue.QueueBase


def test_queues_with_a_name_are_shared():
    first = tf.queue.FIFOQueue(4, tf.int32, shared_name="both")
    second = tf.queue.FIFOQueue(4, tf.int32, shared_name="both")
    first.enqueue(7)
    assert second.dequeue().numpy() == 7


def test_a_queue_made_in_a_function_lives_outside_of_it():
    made = []

    @tf.function
    def put(x):
        if not made:
            made.append(tf.queue.FIFOQueue(4, tf.int32, shapes=[[]]))
        made[0].enqueue(x)
        return made[0].size()

    assert [int(put(tf.constant(n))) for n in (4, 5)] == [1, 2]
    assert made[0].dequeue_many(2).numpy().tolist() == [4, 5]


def test_ops_want_queues():
    with pytest.raises(tf.errors.InvalidArgumentError, match="handle of a queue"):
        tf.raw_ops.QueueSizeV2(handle=tf.Variable(1.0).handle)
    queue = tf.queue.FIFOQueue(4, tf.int32)
    queue.enqueue(np.int32(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="components"):
        tf.raw_ops.QueueDequeueV2(handle=queue.queue_ref, component_types=[tf.float32])
    assert queue.dequeue().numpy() == 3
