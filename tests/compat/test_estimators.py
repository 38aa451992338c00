"""Estimators give what TensorFlow 2.15's give: variables and their names, metrics, predictions, events, files."""

import json
import logging
import os
import pathlib

import estimator_programs as programs
import numpy as np
import pytest

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_estimators.json").read_text())
E = tf.estimator
NUMBER = tf.feature_column.numeric_column("a")


def close(got, wanted):
    """Equal but for the last digits of numbers."""
    if isinstance(wanted, dict):
        assert sorted(got) == sorted(wanted)
        for key, value in wanted.items():
            close(got[key], value)
    elif isinstance(wanted, list):
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted):
            close(a, b)
    elif isinstance(wanted, float):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=3e-5)
    else:
        assert got == wanted


@pytest.mark.parametrize("name", sorted(RECORDED["canned"]))
def test_canned(name, tmp_path):
    close(programs.canned_program(tf, str(tmp_path / "model"), name), RECORDED["canned"][name])


@pytest.mark.parametrize("name", sorted(RECORDED["own"]))
def test_own(name, tmp_path):
    close(json.loads(json.dumps(programs.OWN[name](tf, str(tmp_path / "model")))), RECORDED["own"][name])


def test_nothing_is_left_out():
    assert set(programs.canned(tf)) == set(RECORDED["canned"])
    assert set(programs.OWN) == set(RECORDED["own"])


def own(tmp_path, **arguments):
    return E.Estimator(programs.model(tf), str(tmp_path), params={"begin": 0.5}, **arguments)


def test_what_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        own(tmp_path).train(programs.data(tf, programs.NUMBERS)).evaluate(programs.data(tf, programs.NUMBERS, times=1))
    text = "\n".join(caplog.messages)
    for part in ("Using config", "loss = ", "step = 0", "Saving checkpoints for 6", "Loss for final step",
                 "Saving dict for global step 6: error = "):  # fmt: skip
        assert part in text, part


def test_hooks_and_listeners_are_called_in_order(tmp_path):
    notes = []

    class Hook(E.SessionRunHook):
        def begin(self):
            notes.append("begin")

        def end(self, session):
            notes.append("end")

    class Listener(E.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            notes.append(int(global_step_value))

    own(tmp_path).train(programs.data(tf, programs.NUMBERS), [Hook()], steps=2, saving_listeners=[Listener()])
    assert notes == ["begin", 0, 2, "end"] or notes == ["begin", 0, "end", 2]


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "w": ["x", "y", "z"]}, index=[5, 6, 7])
    labels = pandas.Series([1, 0, 1], index=[5, 6, 7])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        batch = tf.compat.v1.estimator.inputs.pandas_input_fn(frame, labels, 2, shuffle=False)()
        features, found = session.run(batch)
    assert features["a"].tolist() == [1.0, 2.0]
    assert features["w"].tolist() == [b"x", b"y"]
    assert found.tolist() == [1, 0]


def test_metrics_are_added(tmp_path):
    more = E.add_metrics(own(tmp_path), lambda labels: {"largest": tf.compat.v1.metrics.mean(tf.reduce_max(labels))})
    found = more.evaluate(programs.data(tf, programs.NUMBERS, times=1))
    assert found["largest"] == 3.5
    assert "error" in found


def test_a_model_of_several_modes(tmp_path):
    trained = own(tmp_path / "model").train(programs.data(tf, programs.NUMBERS), steps=1)
    spec = {"a": tf.TensorSpec([None, 1], tf.float32)}
    receivers = {
        E.ModeKeys.PREDICT: E.export.build_raw_serving_input_receiver_fn(spec),
        E.ModeKeys.EVAL: E.experimental.build_raw_supervised_input_receiver_fn(spec, spec["a"]),
    }
    path = trained.experimental_export_all_saved_models(str(tmp_path / "exported"), receivers)
    for tag, key, outputs in (
        ("serve", "serving_default", ["twice", "y"]),
        ("eval", "eval", ["loss", "metrics/error/update_op", "metrics/error/value"]),
    ):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            found = tf.compat.v1.saved_model.load(session, [tag], path.decode()).signature_def[key]
            assert sorted(found.outputs) == outputs
            loss = session.run(found.outputs[outputs[0]].name, {one.name: [[1.0]] for one in found.inputs.values()})
        assert np.isfinite(loss).all()


def linear(**arguments):
    return E.LinearClassifier([NUMBER], **arguments)


def spec(**arguments):
    return E.EstimatorSpec(**arguments)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: E.Estimator(None), ValueError, "got None"),
    (lambda: E.Estimator(lambda x: x), ValueError, "must take features"),
    (lambda: E.Estimator(lambda features: 0, params={"a": 1}), ValueError, "does not take them"),
    (lambda: E.Estimator(lambda features, other: 0), ValueError, r"also wants \['other'\]"),
    (lambda: E.Estimator(lambda features: 0, config={}), ValueError, "must be a RunConfig"),
    (lambda: E.Estimator(lambda features: 0, "x", E.RunConfig("y")), ValueError, "the RunConfig says 'y'"),
    (lambda: E.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1), ValueError, "not both"),
    (lambda: E.RunConfig(keep_checkpoint_max=-1), ValueError, "keep_checkpoint_max must be at least 0"),
    (lambda: E.RunConfig(train_distribute=object()), NotImplementedError, "one place"),
    (lambda: E.RunConfig().replace(colour=1), ValueError, "no setting 'colour'"),
    (lambda: spec(mode="no"), ValueError, "mode must be one of"),
    (lambda: spec(mode="train", loss=1.0), ValueError, "Missing train_op"),
    (lambda: spec(mode="eval"), ValueError, "Missing loss"),
    (lambda: spec(mode="infer"), ValueError, "Missing predictions"),
    (lambda: spec(mode="eval", loss=[1.0, 2.0]), ValueError, "must be a scalar"),
    (lambda: spec(mode="eval", loss=1.0, eval_metric_ops={"a": 3}), TypeError, "a value and an update"),
    (lambda: spec(mode="eval", loss=1.0, evaluation_hooks=[3]), TypeError, "SessionRunHook"),
    (lambda: linear().train(lambda: 0, steps=0), ValueError, "steps > 0"),
    (lambda: linear().train(lambda: 0, steps=1, max_steps=1), ValueError, "not both"),
    (lambda: linear().get_variable_names(), ValueError, "train it first"),
    (lambda: linear(n_classes=1), ValueError, "more than 2"),
    (lambda: linear(label_vocabulary=["a"]), ValueError, "2 words"),
    (lambda: linear(optimizer=tf.keras.optimizers.Nadam()), ValueError, "Adagrad"),
    (lambda: linear().train(lambda: ({"a": [[1.0]]}, [["x"]])), ValueError, "label_vocabulary"),
    (lambda: linear().train(lambda: ({"a": [[1.0]]}, [[2]])), tf.errors.InvalidArgumentError, "at most 1"),
    (lambda: linear().train(lambda: {"a": [[1.0]]}), ValueError, "no labels"),
    (lambda: linear(weight_column="b").train(lambda: ({"a": [[1.0]]}, [1])), ValueError, "no feature 'b'"),
    (lambda: E.DNNClassifier([], [NUMBER]), ValueError, "hidden_units"),
    (lambda: E.TrainSpec(3), TypeError, "must be a function"),
    (lambda: E.EvalSpec(lambda: 0, exporters=[3]), TypeError, "Exporter"),
    (lambda: E.LatestExporter("a", None, exports_to_keep=0), ValueError, "positive"),
    (lambda: E.inputs.numpy_input_fn({"a": np.arange(3)}), ValueError, "shuffle must be True or False"),
    (lambda: E.inputs.numpy_input_fn({"a": np.arange(3)}, np.arange(2), shuffle=False), ValueError, "equally long"),
    (lambda: E.classifier_parse_example_spec([NUMBER], "a"), ValueError, "also a feature"),
    (lambda: E.BaselineClassifier, AttributeError, "mean of the labels"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_several_machines_are_refused(monkeypatch):
    cluster = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    with pytest.raises(NotImplementedError, match="MultiWorkerMirroredStrategy"):
        E.RunConfig()


def test_predictions_of_different_sizes(tmp_path):
    def model_fn(features, mode):
        return E.EstimatorSpec(mode, {"a": features, "b": features[:1]})

    estimator = E.Estimator(model_fn, os.path.join(tmp_path, "model"))
    with pytest.raises(ValueError, match="equally many examples"):
        list(estimator.predict(lambda: tf.data.Dataset.from_tensors([1.0, 2.0])))


def test_a_partitioner_without_effect_is_told(tmp_path, caplog):
    columns = [tf.feature_column.numeric_column("x")]
    with caplog.at_level("WARNING", "headrace"):
        tf.compat.v1.estimator.LinearRegressor(columns, str(tmp_path), partitioner=lambda **unused: [2])
    assert "the partitioner has no effect" in caplog.text
