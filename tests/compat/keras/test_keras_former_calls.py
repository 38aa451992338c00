"""Calls of Keras as programs of TensorFlow 2.0 write them, and Keras 3 by itself does not take them."""

import importlib

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
keras = pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")
layers, optimizers, backend = tf.keras.layers, tf.keras.optimizers, tf.keras.backend

X = np.linspace(-1, 1, 24, dtype="float32").reshape(8, 3)
Y = X.sum(1, keepdims=True)


def linear(optimizer="sgd"):
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(3,))])
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def test_layers_take_the_shape_of_a_batch_and_states_are_reset():
    model = tf.keras.Sequential([layers.LSTM(3, batch_input_shape=(2, None, 3), stateful=True), layers.Dense(1)])
    assert model.input_shape == (2, None, 3)
    first = model(X.reshape(2, 4, 3))
    second = model(X.reshape(2, 4, 3))
    assert not np.allclose(first, second)
    model.reset_states()
    np.testing.assert_allclose(model(X.reshape(2, 4, 3)), first, rtol=1e-6)


def test_units_may_be_numbers_of_numpy():
    layer = layers.Dense(np.prod(np.array([2, 3])))
    assert layer(X).shape == (8, 6)
    assert type(layer.units) is int
    with pytest.raises(ValueError, match="units"):
        layers.Dense(np.float32(3))


def test_shapes_of_layers():
    model = linear()
    assert (model.layers[0].input_shape, model.layers[0].output_shape) == ((None, 3), (None, 1))

    class Own(layers.Layer):
        def __init__(self):
            super().__init__()
            self.output_shape = "of the user"

    assert Own().output_shape == "of the user"
    assert not hasattr(layers.Dense(3), "output_shape")


def test_metrics_of_layers():
    class Noting(layers.Layer):
        def call(self, inputs):
            self.add_metric(tf.reduce_max(inputs), name="largest", aggregation="mean")
            return inputs

    model = tf.keras.Sequential([Noting(), layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["largest"], [(X[:4].max() + X[4:].max()) / 2] * 2, rtol=1e-6)
    with pytest.raises(ValueError, match="aggregation"):
        layers.Layer().add_metric(1.0, name="a", aggregation="sum")


def test_values_of_metrics():
    metric = tf.keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    assert [float(value) for value in metric.get_weights()] == [4.0, 2.0]
    metric.set_weights([9.0, 3.0])
    assert float(metric.result()) == 3.0


def test_generators():
    def batches():
        while True:
            yield X, Y

    model = linear()
    history = model.fit_generator(batches(), steps_per_epoch=2, epochs=3, verbose=0, workers=2).history
    assert len(history["loss"]) == 3
    np.testing.assert_allclose(model.evaluate_generator(batches(), steps=1), model.evaluate(X, Y, verbose=0))
    np.testing.assert_allclose(model.predict_generator(batches(), steps=1), model.predict(X, verbose=0))
    model.fit(X, Y, verbose=0, max_queue_size=3, workers=1, use_multiprocessing=False)


def test_classes():
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones", activation="sigmoid")])
    np.testing.assert_array_equal(model.predict_classes(X), Y > 0)
    several = tf.keras.Sequential([layers.Softmax()])
    np.testing.assert_array_equal(several.predict_classes(X), X.argmax(1))
    np.testing.assert_allclose(several.predict_proba(X).sum(1), np.ones(8), rtol=1e-6)


# Optimizers.


def test_short_name_of_the_learning_rate():
    optimizer = optimizers.Adam(lr=0.25)
    assert float(optimizer.lr) == 0.25
    optimizer.lr = 0.5
    assert float(optimizer.learning_rate) == 0.5
    backend.set_value(optimizer.lr, 0.125)
    assert backend.get_value(optimizer.learning_rate) == 0.125


def test_decay():
    optimizer, variable = optimizers.SGD(lr=1.0, decay=0.5), tf.Variable(0.0)
    for expected in (-1.0, -1.0 - 1 / 1.5, -1.0 - 1 / 1.5 - 1 / 2):
        optimizer.apply_gradients([(tf.constant(1.0), variable)])
        np.testing.assert_allclose(variable, expected, rtol=1e-6)
    assert float(optimizers.SGD(0.5, decay=0.0).learning_rate) == 0.5


@pytest.mark.parametrize("make", [tf.Variable, keras.Variable])
def test_minimize(make):
    variable, optimizer = make(3.0), optimizers.SGD(0.1)
    optimizer.minimize(lambda: variable * variable, [variable])
    np.testing.assert_allclose(variable, 2.4, rtol=1e-6)
    optimizer.minimize(lambda: variable * variable, lambda: [variable])
    with tf.GradientTape() as tape:
        loss = variable * 2.0
    optimizer.minimize(loss, [variable], tape=tape)
    np.testing.assert_allclose(variable, 1.72, rtol=1e-6)
    with pytest.raises(ValueError, match="tape"):
        optimizer.minimize(loss, [variable])
    assert int(optimizer.get_weights()[0]) == 3


# Functions and modules.


def test_functions_of_tensors_of_a_model():
    model = tf.keras.Sequential([layers.Dense(2, kernel_initializer="ones", input_shape=(3,)), layers.Dense(1)])
    found = backend.function([model.layers[0].input], [model.layers[0].output])([X])
    np.testing.assert_allclose(found[0], np.repeat(Y, 2, 1), atol=1e-6)


def test_training_goes_on_with_a_model_from_an_hdf5_file(tmp_path):
    tf.keras.utils.set_random_seed(1)  # a compiled step rounds otherwise: neither of the models may have one by chance
    model = linear("adam")
    model.fit(X, Y + 1, epochs=2, verbose=0)
    model.save(tmp_path / "model.h5")
    loaded = tf.keras.models.load_model(tmp_path / "model.h5")
    np.testing.assert_allclose(loaded.evaluate(X, Y, verbose=0), model.evaluate(X, Y, verbose=0))
    for each in (model, loaded):
        each.fit(X, Y + 1, verbose=0)
    np.testing.assert_allclose(loaded.get_weights()[0], model.get_weights()[0], rtol=1e-6)
    assert int(loaded.optimizer.iterations) == 3


def test_modules_of_layers_that_prepare_data():
    preprocessing = importlib.import_module("tensorflow.keras.layers.experimental.preprocessing")
    assert preprocessing.Rescaling is layers.Rescaling
    assert layers.experimental.preprocessing.RandomFlip is layers.RandomFlip
    assert tf.keras.experimental.CosineDecay is optimizers.schedules.CosineDecay
