"""Keras's objects in checkpoints: what exists, and what is only built after the restore."""

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
pytest.importorskip("keras")
keras = tf.keras
X = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(8, 3)
Y = np.ones((8, 2), np.float32)


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(4, activation="relu")
        self.norm = keras.layers.BatchNormalization()
        self.last = keras.layers.Dense(2)
        self.scale = tf.Variable(1.0)

    def call(self, x, training=False):
        return self.last(self.norm(self.first(x), training=training)) * self.scale


def sequential():
    return keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(2)])


def built():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])


def functional():
    inputs = keras.Input((3,))
    return keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dense(4)(inputs)))


class Nested(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = Subclassed()
        self.head = sequential()

    def call(self, x):
        return self.head(self.inner(x))


MODELS = [Subclassed, sequential, built, functional, Nested]


@pytest.mark.parametrize("make", MODELS)
def test_models_that_are_not_built_yet(tmp_path, make):
    model = make()
    y = model(X)
    path = tf.train.Checkpoint(model=model).write(tmp_path / "x")
    fresh = make()
    status = tf.train.Checkpoint(model=fresh).read(path)
    np.testing.assert_array_equal(fresh(X), y)
    status.assert_consumed()


@pytest.mark.parametrize("make", MODELS)
def test_models_that_are_built_in_a_function(tmp_path, make):
    model = make()
    y = tf.function(lambda x: model(x))(X)
    path = tf.train.Checkpoint(model=model).write(tmp_path / "x")
    fresh = make()
    status = tf.train.Checkpoint(model=fresh).read(path)
    np.testing.assert_array_equal(tf.function(lambda x: fresh(x))(X), y)
    status.assert_consumed()


def step(model, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(X) - Y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return float(loss)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Ftrl", "Adafactor", "Lion"])
@pytest.mark.parametrize("make", [built, Subclassed])
def test_training_goes_on(tmp_path, make, name):
    def pair():
        keywords = {"momentum": 0.9} if name == "SGD" else {}
        return make(), getattr(keras.optimizers, name)(0.01, **keywords)

    model, optimizer = pair()
    for _ in range(3):
        step(model, optimizer)
    path = tf.train.Checkpoint(optimizer=optimizer, model=model).save(tmp_path / "x")
    expected = [step(model, optimizer) for _ in range(3)]
    model, optimizer = pair()
    status = tf.train.Checkpoint(optimizer=optimizer, model=model).restore(path)
    np.testing.assert_allclose([step(model, optimizer) for _ in range(3)], expected, rtol=1e-6)
    status.assert_consumed()


def test_a_compiled_model_goes_on(tmp_path):
    def fitted(model, epochs):
        return model.fit(X, Y, batch_size=4, epochs=epochs, shuffle=False, verbose=0).history["loss"]

    def make():
        model = sequential()
        model.compile("adam", "mse", metrics=["mae"])
        return model

    model = make()
    fitted(model, 2)
    path = tf.train.Checkpoint(model).write(tmp_path / "x")
    expected = fitted(model, 2)
    fresh = make()
    status = tf.train.Checkpoint(fresh).read(path)
    np.testing.assert_allclose(fitted(fresh, 2), expected, rtol=1e-6)
    status.assert_consumed()


def test_the_latest_restore_of_a_model_that_is_not_built_yet(tmp_path):
    paths = []
    for number in range(2):
        model = Subclassed()
        model(X)
        paths.append(tf.train.Checkpoint(model=model).write(tmp_path / str(number)))
    fresh = Subclassed()
    for path in paths:
        tf.train.Checkpoint(model=fresh).read(path).expect_partial()
    np.testing.assert_array_equal(fresh(X), model(X))


def test_a_shape_that_does_not_fit_is_told_when_the_model_is_built(tmp_path):
    model = keras.Sequential([keras.layers.Dense(5)])
    model(X)
    path = tf.train.Checkpoint(model=model).write(tmp_path / "x")
    fresh = keras.Sequential([keras.layers.Dense(2)])
    tf.train.Checkpoint(model=fresh).read(path)
    with pytest.raises(ValueError, match=r"shape \(3, 5\).*shape \(3, 2\): \(root\)\.model\._functional.*_kernel"):
        fresh(X)


def test_mixed_precision_keeps_the_variables_dtype(tmp_path):
    layer = keras.layers.Dense(2, dtype="mixed_float16")
    layer(X)
    path = tf.train.Checkpoint(layer=layer).write(tmp_path / "x")
    assert tf.train.load_variable(path, "layer/_kernel/.ATTRIBUTES/VARIABLE_VALUE").dtype == np.float32
    fresh = keras.layers.Dense(2, dtype="mixed_float16")
    tf.train.Checkpoint(layer=fresh).read(path)
    np.testing.assert_array_equal(fresh(X), layer(X))


def test_metrics(tmp_path):
    metric = keras.metrics.Mean()
    metric.update_state([1.0, 2.0, 6.0])
    checkpoint = tf.train.Checkpoint(metric=metric)
    assert checkpoint.metric is metric
    path = checkpoint.write(tmp_path / "x")
    assert [name for name, _ in tf.train.list_variables(path)][1:] == [
        "metric/count/.ATTRIBUTES/VARIABLE_VALUE",
        "metric/total/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    fresh = keras.metrics.Mean()
    tf.train.Checkpoint(metric=fresh).read(path).assert_consumed()
    fresh.update_state([7.0])
    assert float(fresh.result()) == 4.0


def test_lists_of_metrics(tmp_path):
    def make():
        return tf.train.Checkpoint(metrics=[keras.metrics.Mean(), {"auc": keras.metrics.AUC(num_thresholds=5)}])

    checkpoint, fresh = make(), make()
    checkpoint.metrics[0].update_state(3.0)
    checkpoint.metrics[1]["auc"].update_state([0, 1, 1], [0.1, 0.4, 0.9])
    fresh.read(checkpoint.write(tmp_path / "x")).assert_consumed()
    assert float(fresh.metrics[0].result()) == 3.0
    assert fresh.metrics[1]["auc"].result() == checkpoint.metrics[1]["auc"].result()


def test_a_metric_that_makes_its_variables_later(tmp_path):
    def make():
        return keras.metrics.F1Score()

    metric = make()
    metric.update_state([[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.4], [0.9, 0.1]])
    path = tf.train.Checkpoint(metric=metric).write(tmp_path / "x")
    fresh = make()
    status = tf.train.Checkpoint(metric=fresh).read(path)
    for one in (metric, fresh):
        one.update_state([[1.0, 0.0]], [[0.2, 0.8]])
    status.assert_consumed()
    np.testing.assert_array_equal(fresh.result(), metric.result())
