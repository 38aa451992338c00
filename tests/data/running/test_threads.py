"""Threads of pipelines: they end with the iterator, hand errors on, and do not hold the program up."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types

import pytest

import headrace as tf
from headrace._src.data.running import threads


def _threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("headrace-")]


SECONDS = 300  # nothing takes so long, on the busiest machine


def _wait_for_none():
    deadline = time.monotonic() + SECONDS
    while _threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not _threads()


def _slowly(x):
    time.sleep(0.005)
    return x


def _slow_numbers():
    return tf.data.Dataset.range(10**9).map(lambda x: tf.py_function(_slowly, [x], tf.int64))


def test_prefetch_threads_end_when_the_iterator_is_dropped():
    iterator = iter(_slow_numbers().prefetch(4))
    assert int(next(iterator)) == 0
    assert _threads()
    del iterator
    gc.collect()
    assert _wait_for_none()


def test_map_threads_end_when_the_iterator_is_dropped():
    def identity(x):
        return tf.py_function(lambda y: y, [x], tf.int64)

    iterator = iter(tf.data.Dataset.range(10**9).map(identity, num_parallel_calls=4))
    assert int(next(iterator)) == 0
    assert _threads()
    del iterator
    gc.collect()
    assert _wait_for_none()


def test_threads_end_with_the_dataset():
    assert len(list(_slow_numbers().take(10).prefetch(2))) == 10
    assert _wait_for_none()


def test_elements_that_are_made_quickly_need_no_thread(monkeypatch):
    monkeypatch.setattr(threads, "_WORTH_A_THREAD", 10.0)  # on a busy machine, anything may take a moment
    iterator = iter(tf.data.Dataset.range(1000).prefetch(4))
    for _ in range(5):
        next(iterator)
    assert [thread for thread in _threads() if "prefetch" in thread.name] == []


def test_a_thread_ends_when_elements_turn_out_to_be_made_quickly(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(threads, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))

    def numbers():
        for n in range(2000):
            now[0] += 0.01 if n < 3 else 1e-6
            yield n

    dataset = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32)).prefetch(4)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    cursor = iterator._iterator_resource._a[()]._cursor
    assert cursor._thread is not None
    assert [int(x) for x in iterator] == list(range(3, 2000))
    assert cursor._worth > 3 * threads._WORTH_A_THREAD


def test_waiting_elements_are_ready_at_once():
    iterator = iter(_slow_numbers().prefetch(4))
    next(iterator)
    deadline = time.monotonic() + SECONDS
    while len(iterator._iterator_resource._a[()]._cursor._work.ready) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_prefetch_makes_no_more_than_asked_for():
    made = []

    def note(x):
        made.append(int(x))
        time.sleep(0.001)
        return x

    dataset = tf.data.Dataset.range(100).map(lambda x: tf.py_function(note, [x], tf.int64)).prefetch(3)
    iterator = iter(dataset)
    next(iterator)
    time.sleep(0.2)
    assert len(made) <= 1 + 3 + 1


def test_errors_come_in_their_turn():
    def check(x):
        tf.debugging.assert_less(x, tf.constant(3, tf.int64))
        return x

    for parallel in (None, 4):
        iterator = iter(tf.data.Dataset.range(5).map(check, num_parallel_calls=parallel).prefetch(10))
        assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Dataset.map \(.*test_threads.py:\d+\): element 3"):
            next(iterator)


def test_several_threads_share_an_iterator():
    iterator = iter(tf.data.Dataset.range(2000).map(lambda x: x + 1).prefetch(8))
    found, lock = [], threading.Lock()

    def read():
        for x in iterator:
            with lock:
                found.append(int(x))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert sorted(found) == list(range(1, 2001))


def _run(program, interrupt=False):
    """Run a program, and interrupt it when it says that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    try:
        assert process.stdout.readline().strip() == "ready"
        if interrupt:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("step", ["prefetch(2)", "map(slow, num_parallel_calls=4)", "skip(1)"])
def test_ctrl_c_ends_a_running_pipeline_at_once(step):
    program = f"""
        import signal
        import time
        import headrace as tf

        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background

        def wait(x):
            if x == 10:
                print("ready")
            time.sleep(0.05)
            return x

        def slow(x):
            return tf.py_function(wait, [x], tf.int64)

        dataset = tf.data.Dataset.range(10**9).map(slow).{step}
        try:
            for x in dataset:
                pass
        except KeyboardInterrupt:
            print("interrupted")
    """
    code, out, err = _run(program, interrupt=True)
    assert "interrupted" in out, err
    assert code == 0, err


def test_leaving_with_threads_at_work():
    program = """
        import headrace as tf
        from headrace._src.data.running import threads

        threads._SECONDS_TO_END = None  # it is not left to itself: it ends
        iterator = iter(tf.data.Dataset.range(10**9).map(lambda x: x + 1).prefetch(100))
        next(iterator)
        iterator._iterator_resource._a[()]._cursor._start()
        print("ready")
    """
    code, _, err = _run(program)
    assert code == 0, err
    assert not err


def test_interleaved_datasets_are_read_at_the_same_time():
    go_on = threading.Event()
    go_on.set()

    def last_waits(x):
        assert x % 10 < 3 or go_on.wait(SECONDS)
        return _slowly(x)

    def slow(x):
        return tf.data.Dataset.range(4).map(lambda y: tf.py_function(last_waits, [x * 10 + y], tf.int64))

    numbers = tf.data.Dataset.range(4)
    expected = [int(x) for x in numbers.interleave(slow, cycle_length=4)]
    dataset = numbers.interleave(slow, cycle_length=4, num_parallel_calls=4)
    iterator = iter(dataset)
    go_on.clear()  # none of the threads can have ended already
    found = [int(next(iterator)) for _ in range(6)]
    assert len([thread for thread in _threads() if "prefetch" in thread.name]) >= 2
    go_on.set()
    state = iterator.state_dict()
    assert found + [int(x) for x in iterator] == expected
    resumed = iter(dataset)
    resumed.load_state_dict(state)
    assert [int(x) for x in resumed] == expected[6:]
    del iterator, resumed
    gc.collect()
    assert _wait_for_none()


def test_an_error_of_the_input_comes_after_the_results_before_it():
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.assert_cardinality(5))
    iterator = iter(dataset.map(lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64), num_parallel_calls=4))
    assert [int(next(iterator)) for _ in range(3)] == [0, 2, 4]
    with pytest.raises(tf.errors.FailedPreconditionError):
        next(iterator)
