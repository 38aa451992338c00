"""Readers, producers, batches and queue runners of 1.x give what TensorFlow gives."""

import json
import pathlib

import pytest
import v1_input_programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_input.json").read_text())
v1 = tf.compat.v1


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_program(name, tmp_path):
    assert v1_input_programs.programs(tf, str(tmp_path))[name]() == RECORDED[name]


def test_nothing_is_left_out(tmp_path):
    assert set(v1_input_programs.programs(tf, str(tmp_path))) == set(RECORDED)


@pytest.mark.parametrize("call", [
    lambda: v1.train.string_input_producer(["a"]), lambda: v1.train.batch([1], 2), lambda: v1.TextLineReader(),
    lambda: v1.train.limit_epochs(1, 2), lambda: v1.train.slice_input_producer([[1]]),
])
def test_queues_need_a_graph(call):
    with pytest.raises(RuntimeError, match=r"tf\.data"):
        call()


def test_an_error_in_a_thread_ends_all():
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = v1.FIFOQueue(2, [tf.float32], shapes=[[]])
        bad = tf.debugging.check_numerics(tf.constant(float("nan")), "bad")
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue(bad)]))
        taken = queue.dequeue()
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(sess, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(taken)
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            coordinator.join(threads)


def test_monitored_sessions_start_queue_runners():
    with tf.Graph().as_default():
        number = v1.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
        found = []
        with v1.train.MonitoredSession() as sess:
            while not sess.should_stop():
                found.append(int(sess.run(number)))
    assert found == [0, 1, 2]


@pytest.mark.parametrize("state", [b"\x08", b"\xff" * 12, b"\x22\x7fa", b"\x0d\x01"])
def test_states_of_readers_are_checked(state):
    with tf.Graph().as_default(), v1.Session() as sess:
        reader = v1.WholeFileReader()
        with pytest.raises(tf.errors.InvalidArgumentError, match="state"):
            sess.run(reader.restore_state(state))


def test_a_state_goes_on():
    with tf.Graph().as_default(), v1.Session() as sess:
        reader, other = v1.IdentityReader(), v1.IdentityReader()
        queue = v1.FIFOQueue(2, [tf.string], shapes=[[]])
        sess.run(queue.enqueue("x"))
        sess.run(reader.read(queue))
        sess.run(other.restore_state(sess.run(reader.serialize_state())))
        assert sess.run([other.num_records_produced(), other.num_work_units_completed()]) == [1, 1]
