"""`Supervisor` and `SessionManager`: the loops of 1.x before monitored sessions."""

import os
import threading

import pytest

import headrace as tf

v1 = tf.compat.v1


def counting():
    """A graph with a step, and an operation that counts."""
    step = v1.train.get_or_create_global_step()
    v1.summary.scalar("step", step)
    return step, v1.assign_add(step, 1)


def test_training_goes_on_from_the_checkpoint(tmp_path):
    seen = []
    for _ in range(2):
        with tf.Graph().as_default():
            _, train = counting()
            supervisor = v1.train.Supervisor(logdir=str(tmp_path), save_model_secs=0)
            with supervisor.managed_session() as session:
                for _ in range(3):
                    seen.append(int(session.run(train)))
                supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
    assert seen == [1, 2, 3, 4, 5, 6]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")
    assert "VarHandleOp" in (tmp_path / "graph.pbtxt").read_text()


def test_services_save_and_write_at_once(tmp_path):
    with tf.Graph().as_default():
        counting()
        supervisor = v1.train.Supervisor(logdir=str(tmp_path), save_model_secs=600)
        saved, written = threading.Event(), threading.Event()
        for name, done in (("_save", saved), ("_write_summaries", written)):
            def call(session, work=getattr(supervisor, name), done=done):
                work(session)
                done.set()

            setattr(supervisor, name, call)
        with supervisor.managed_session():
            assert saved.wait(60)
            assert written.wait(60)
    assert os.path.exists(tmp_path / "model.ckpt-0.index")
    (events,) = [name for name in os.listdir(tmp_path) if name.startswith("events")]
    kinds = [event.WhichOneof("what") for event in v1.train.summary_iterator(str(tmp_path / events))]
    assert kinds == ["file_version", "session_log", "summary", "session_log"]


def test_the_end_of_the_data_is_no_error_and_others_are():
    def run(error):
        with tf.Graph().as_default():
            counting()
            with v1.train.Supervisor().managed_session():
                raise error

    run(tf.errors.OutOfRangeError(None, None, "no more"))
    with pytest.raises(ZeroDivisionError):
        run(ZeroDivisionError())


def test_basic_train_loop():
    with tf.Graph().as_default():
        _, train = counting()
        supervisor, seen = v1.train.Supervisor(), []

        def step(session, last):
            seen.append(int(session.run(train)))
            if seen[-1] == last:
                supervisor.request_stop()

        v1.train.basic_train_loop(supervisor, step, args=(4,))
    assert seen == [1, 2, 3, 4]


def test_a_session_manager_says_what_has_no_value():
    with tf.Graph().as_default():
        one = v1.get_variable("one", initializer=1.0)
        v1.get_variable("two", initializer=2.0)
        manager = v1.train.SessionManager(ready_op=v1.report_uninitialized_variables())
        with pytest.raises(RuntimeError, match=r"\['two'\] have no value"):
            manager.prepare_session("", init_op=one.initializer)
        with pytest.raises(RuntimeError, match="no init_op"):
            manager.prepare_session("")
        _, is_ready = manager.recover_session("")
        assert not is_ready
        with pytest.raises(TimeoutError, match="not ready"):
            manager.wait_for_session("", max_wait_secs=0)
        everything = v1.global_variables_initializer()
        assert manager.prepare_session("", init_op=everything).run(one) == 1.0


def test_a_looper_thread_calls_until_it_is_stopped():
    coordinator, seen = tf.train.Coordinator(), []

    def call():
        seen.append(1)
        if len(seen) == 3:
            coordinator.request_stop()

    v1.train.LooperThread.loop(coordinator, 0.001, call)
    coordinator.join()
    assert len(seen) == 3
