"""Monitored sessions and their hooks do what TensorFlow's do: in which order, what is saved, when they stop."""

import json
import pathlib

import pytest
import v1_saving_programs as programs

import headrace as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json"
RECORDED = json.loads(GOLDEN.read_text())["hooks"]
v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _no_writers_afterwards():
    """Writers are kept by folder, and tests have folders of their own."""
    yield
    v1.summary.FileWriterCache.clear()


@pytest.mark.parametrize("name", sorted(programs.FAMILIES["hooks"]))
def test_programs(name):
    programs.compare(name, programs.result_of(tf, programs.FAMILIES["hooks"][name]), RECORDED[name])


def test_errors_that_pass():
    """A session is made anew, and the run is tried again; hooks are told of the new session."""

    class Failing(v1.train.SessionRunHook):
        created = runs = 0

        def after_create_session(self, session, coord):
            self.created += 1

        def after_run(self, context, values):
            self.runs += 1
            if self.runs == 1:
                raise tf.errors.AbortedError(None, None, "for a moment")

    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        hook = Failing()
        with v1.train.MonitoredSession(hooks=[hook]) as sess:
            assert sess.run(w) == 1.0
        assert (hook.created, hook.runs) == (2, 2)
        with pytest.raises(tf.errors.AbortedError), v1.train.SingularMonitoredSession(hooks=[Failing()]) as sess:
            sess.run(w)


def test_training_goes_on(tmp_path):
    """Killed between two checkpoints, training goes on from the one before."""
    for stop in (5, 9):
        with tf.Graph().as_default():
            step = v1.train.get_or_create_global_step()
            w = v1.get_variable("w", initializer=0.0)
            train = tf.group(v1.assign_add(w, 2.0), v1.assign_add(step, 1))
            keywords = dict(checkpoint_dir=str(tmp_path), save_checkpoint_steps=2, save_summaries_steps=None)
            try:
                with v1.train.MonitoredTrainingSession(**keywords, log_step_count_steps=None) as sess:
                    while True:
                        sess.run(train)
                        if sess.run(step) == stop:
                            raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
    assert tf.train.latest_checkpoint(tmp_path).endswith("model.ckpt-8")
    assert tf.train.load_variable(tmp_path, "w") == 16.0


def test_log_lines(caplog):
    caplog.set_level("INFO", "tensorflow")
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        hooks = [
            v1.train.LoggingTensorHook({"weight": w}, every_n_iter=2),
            v1.train.LoggingTensorHook([w], at_end=True, formatter=lambda values: f"at the end {values['w:0']}"),
        ]
        with v1.train.MonitoredSession(hooks=hooks) as sess:
            for _ in range(3):
                sess.run(w)
    lines = [record.getMessage() for record in caplog.records]
    assert len([line for line in lines if line.startswith("weight = 1.0")]) == 2
    assert lines[-1] == "at the end 1.0"


def test_speed_is_written(tmp_path):
    with tf.Graph().as_default():
        train = v1.assign_add(v1.train.get_or_create_global_step(), 1)
        hooks = [v1.train.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path)), v1.train.StopAtStepHook(5)]
        with v1.train.MonitoredSession(hooks=hooks) as sess:
            while not sess.should_stop():
                sess.run(train)
    v1.summary.FileWriterCache.clear()
    (path,) = tmp_path.iterdir()
    tags = [value.tag for event in v1.train.summary_iterator(path) for value in event.summary.value]
    assert tags
    assert set(tags) == {"global_step/sec"}


@pytest.mark.parametrize("handles", [True, False])
def test_summaries_come_every_few_steps(tmp_path, handles):
    with tf.Graph().as_default(), v1.variable_scope("", use_resource=handles):
        step = v1.train.get_or_create_global_step()
        v1.summary.scalar("step", step)
        train = v1.assign_add(step, 1)
        hooks = [v1.train.StopAtStepHook(12)]
        with v1.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=hooks,
                                               save_summaries_steps=5, save_checkpoint_steps=20) as sess:  # fmt: skip
            while not sess.should_stop():
                sess.run(train)
    v1.summary.FileWriterCache.clear()
    (path,) = tmp_path.glob("events*")
    events = v1.train.summary_iterator(path)
    assert [event.step for event in events for value in event.summary.value if value.tag == "step"] == [1, 6, 11]


def test_a_step_function_has_one_argument():
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        with v1.train.MonitoredSession() as sess:
            with pytest.raises(ValueError, match=r"`step_context` argument.*got \('context',\)"):
                sess.run_step_fn(lambda context: None)
