"""Replicas hand over to each other in one order, and end together."""

import os
import signal
import threading

import pytest

import headrace as tf


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def number_here():
    return int(tf.convert_to_tensor(tf.distribute.get_replica_context().replica_id_in_sync_group))


def test_replicas_take_turns_in_the_order_of_their_numbers(strategy):
    seen = []

    def step():
        for part in range(3):
            seen.append((part, number_here()))
            tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

    strategy.run(step)
    assert seen == [(part, i) for part in range(3) for i in range(2)]


def test_no_thread_is_left_after_an_error(strategy):
    before = threading.active_count()

    def step():
        if number_here() == 1:
            raise KeyError("second")
        tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))
        raise AssertionError("the first replica must not go on")

    with pytest.raises(KeyError, match="second"):
        strategy.run(step)
    assert threading.active_count() <= before  # those of earlier tests may end meanwhile


def test_an_interrupt_ends_all_replicas(strategy, interrupts_answered):
    before = threading.active_count()

    def step():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**9):  # long enough to be interrupted
            pass

    with pytest.raises(KeyboardInterrupt):
        strategy.run(step)
    assert threading.active_count() == before


def test_what_holds_for_the_thread_holds_on_replicas(strategy):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape, tf.name_scope("outer"):
        tape.watch(x)
        names = strategy.run(lambda: tf.Variable(1.0, name="v").name)
        y = strategy.run(lambda: x * x)
    assert names.values == ("outer/v:0", "outer/v:0")
    assert tape.gradient(y.values[1], x).numpy() == 6.0


def test_names_in_graphs(strategy):
    @tf.function
    def f():
        def step():
            tf.distribute.get_replica_context().merge_call(lambda s, x: s.experimental_local_results(x), (tf.ones(2),))
            return tf.add(1.0, 2.0, name="sum")  # traced for each replica, as one value of each was asked for

        return strategy.run(step)

    names = [op.name for op in f.get_concrete_function().graph.get_operations()]
    assert "sum" in names
    assert "replica_1/sum" in names


def test_control_dependencies_stay_with_their_replica(strategy):
    v = tf.Variable(0.0)

    @tf.function
    def f():
        def step():
            with tf.control_dependencies([v.assign_add(1.0)]):
                total = tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))
            return total + v

        return strategy.run(step)

    assert [part.numpy() for part in f().values] == [4.0, 4.0]
