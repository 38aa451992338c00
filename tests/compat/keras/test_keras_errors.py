"""Errors that leave Keras: whose frames they show, and what they advise."""

import logging
import traceback

import numpy as np
import pytest

import headrace as tf

X, Y = np.zeros((64, 4), "float32"), np.zeros((64, 3), "float32")


@pytest.fixture
def model():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    return model


def frames_of(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def test_an_interrupt_leaves_the_model_usable(model):
    class Interrupt(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[Interrupt()])
    assert set(frames_of(caught.value)) == {__file__}
    assert len(frames_of(caught.value)) == 2
    before = model.optimizer.iterations.numpy()
    assert len(model.fit(X, Y, batch_size=8, verbose=0).history["loss"]) == 1
    assert model.optimizer.iterations.numpy() == before + 8


def test_labels_out_of_range():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 7") as caught:
            model.fit(X, np.full(64, 7), verbose=0)
        assert frames_of(caught.value) == [__file__]
        assert __file__ in str(caught.value)
        assert "keras/src" not in str(caught.value)


def test_all_frames_on_request(model):
    tf.debugging.disable_traceback_filtering()
    try:
        with pytest.raises(ValueError, match="cardinality") as caught:
            model.fit(X, Y[:5], verbose=0)
    finally:
        tf.debugging.enable_traceback_filtering()
    assert any("keras" in file for file in frames_of(caught.value)[1:])


def test_keras_has_a_switch_too(model):
    tf.keras.config.disable_traceback_filtering()
    try:
        with pytest.raises(ValueError, match="cardinality") as caught:
            model.fit(X, Y[:5], verbose=0)
    finally:
        tf.keras.config.enable_traceback_filtering()
    assert any("keras" in file for file in frames_of(caught.value)[1:])


def test_what_is_logged_has_the_hint(model, caplog):
    try:
        model.fit(X, verbose=0)
    except ValueError:
        logging.exception("failed")
    assert "pass y to fit" in caplog.text
    assert "headrace/_src" not in caplog.text


def test_signatures_stay():
    layer = tf.keras.layers.Dense(3, activation="relu")
    assert layer.get_config()["activation"] == "relu"

    class Scale(tf.keras.layers.Layer):
        def __init__(self, factor, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, x):
            return x * self.factor

    assert Scale(2.0).get_config()["factor"] == 2.0


def notes_of(call):
    with pytest.raises(Exception, match=".") as caught:
        call()
    return " ".join(getattr(caught.value, "__notes__", ()))


def test_none_is_no_labels_only_where_none_were_given(model):
    assert "no labels" in notes_of(lambda: model.fit(X, verbose=0))
    model.compile("sgd", lambda y, p: None)
    assert "without `return`" in notes_of(lambda: model.fit(X, Y, verbose=0))


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras's variables
def test_hints_about_shapes_and_damaged_files(tmp_path, model):
    assert "x[..., None]" in notes_of(lambda: tf.keras.layers.Conv2D(2, 3)(np.zeros((2, 8, 8), "float32")))
    model.compile("sgd", "sparse_categorical_crossentropy")
    assert "'categorical_crossentropy'" in notes_of(lambda: model.fit(X, Y, verbose=0))
    path = str(tmp_path / "m.keras")
    model.save(path)
    with open(path, "r+b") as file:
        file.truncate(100)
    assert "100 bytes, but it is damaged" in notes_of(lambda: tf.keras.models.load_model(path))
    assert notes_of(lambda: tf.keras.models.load_model(str(tmp_path / "no.keras"))) == ""


def test_hints_about_arguments_and_labels(model):
    dense = tf.keras.layers.Dense(2)
    dense(tf.ones((2, 3)))
    for call, meant in [
        (lambda: dense(tf.ones((2, 3)), trainin=True), "training"),
        (lambda: tf.keras.layers.Dropout(0.5)(tf.ones((2, 3)), trainin=True), "training"),
        (lambda: model.fit(X, Y, epoch=3), "epochs"),
        (lambda: model.compile("sgd", "mse", metric=["mae"]), "metrics"),
        (lambda: tf.keras.layers.Dense(4, activaton="relu"), "activation"),
        (lambda: tf.keras.layers.Dense(4, nam="a"), "name"),
    ]:
        assert notes_of(call) == f"Did you mean {meant!r}?"
    assert notes_of(lambda: dense(tf.ones((2, 3)), qwertz=True)) == ""
    model.compile("sgd", "mse")
    wide = np.ones((len(Y), 7), "float32")
    assert "as many units as a label has numbers" in notes_of(lambda: model.fit(X, wide, verbose=0))
