"""Threads that stop together."""

import threading

import pytest

import headrace as tf


def _started(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread


def test_threads_stop_when_one_asks():
    coordinator = tf.train.Coordinator()
    ended = []

    def work(number):
        coordinator.wait_for_stop()
        ended.append(number)

    threads = [_started(work, number) for number in range(3)]
    coordinator.register_thread(threads[2])
    assert not coordinator.should_stop()
    coordinator.request_stop()
    coordinator.join(threads[:2])
    assert coordinator.joined
    assert coordinator.should_stop()
    assert sorted(ended) == [0, 1, 2]
    coordinator.clear_stop()
    assert not coordinator.should_stop()
    assert not coordinator.joined


def test_join_raises_what_a_thread_raised():
    coordinator = tf.train.Coordinator()

    def work():
        with coordinator.stop_on_exception():
            raise KeyError("four")

    with pytest.raises(KeyError, match="four"):
        coordinator.join([_started(work)])
    with pytest.raises(KeyError, match="four"):
        coordinator.raise_requested_exception()
    with pytest.raises(ValueError, match="late"):
        coordinator.request_stop(ValueError("late"))


def test_the_end_of_data_is_no_error():
    coordinator = tf.train.Coordinator()
    with coordinator.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "no more")
    coordinator.join()
    coordinator.raise_requested_exception()
    coordinator.request_stop()
    own = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    own.request_stop(KeyError("done"))
    own.join()
    with pytest.raises(TypeError):
        own.request_stop("done")


def test_threads_that_go_on():
    coordinator, leave = tf.train.Coordinator(), threading.Event()
    thread = _started(leave.wait)
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match="still running"):
        coordinator.join([thread], stop_grace_period_secs=0.05)
    coordinator.clear_stop()
    coordinator.request_stop()
    coordinator.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    leave.set()
    thread.join()


def test_the_first_reason_counts():
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(KeyError("first"))
    coordinator.request_stop(ValueError("second"))
    with pytest.raises(KeyError, match="first"):
        coordinator.join()
