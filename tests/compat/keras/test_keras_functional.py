"""Functions of `tf` and of Keras's backend on symbolic tensors of Keras, as in TensorFlow 2.0."""

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
keras = pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")
K = tf.keras.backend

X = np.linspace(0.1, 0.9, 24, dtype="float32").reshape(6, 4)
# A function of a tensor of shape (None, 4), and the shape that Keras knows of its result.
FUNCTIONS = {
    "operators": (lambda x: tf.nn.relu(x - 0.5) * 2.0, (None, 4)),
    "list of tensors": (lambda x: tf.concat([x, tf.square(x)], -1), (None, 8)),
    "tensor in a shape": (lambda x: tf.reshape(x, [tf.shape(x)[0], 2, 2]), (None, 2, 2)),
    "keywords": (lambda x: tf.reduce_mean(input_tensor=x, axis=1, keepdims=True), (None, 1)),
    "twice": (lambda x: tf.matmul(x, x, transpose_b=True), (None, None)),
    "several results": (lambda x: tf.subtract(*tf.split(x, 2, axis=1)), (None, 2)),
    "named results": (lambda x: tf.concat(tf.nn.moments(x, [1], keepdims=True), 1), (None, 2)),
    "dtypes": (lambda x: tf.one_hot(tf.cast(tf.argmax(x, -1), tf.int32), 4), (None, 4)),
    "conditions": (lambda x: tf.where(x > 0.5, x, tf.zeros_like(x)), (None, 4)),
    "after a product with a number": (lambda x: tf.stack([x, x * 2], axis=1), (None, 2, 4)),
    "first argument is a number": (lambda x: tf.subtract(1.0, x), (None, 4)),
    "functions of the backend": (lambda x: K.mean(K.square(x), axis=-1), (None,)),
    "static shapes": (lambda x: K.reshape(x, (-1, 2, K.int_shape(x)[1] // 2)), (None, 2, 2)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_steps_of_a_model(name, tmp_path):
    function, shape = FUNCTIONS[name]
    given = keras.Input((4,))
    model = keras.Model(given, function(given))
    assert model.output_shape == shape
    expected = function(tf.constant(X))
    np.testing.assert_allclose(model(X), expected, rtol=1e-6)
    np.testing.assert_allclose(keras.models.clone_model(model)(X), expected, rtol=1e-6)
    model.save(tmp_path / "model.keras")
    np.testing.assert_allclose(keras.models.load_model(tmp_path / "model.keras")(X), expected, rtol=1e-6)


def test_gradients_pass_through_the_steps():
    given = keras.Input((4,))
    hidden = tf.square(keras.layers.Dense(3, kernel_initializer="ones", name="hidden")(given) + 1.0)
    model = keras.Model(given, tf.reduce_sum(hidden, axis=1, keepdims=True))
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    model.fit(X, np.zeros((6, 1)), verbose=0)
    assert np.all(model.get_weights()[0] != before)
    assert [layer.name for layer in model.layers if layer.name == "hidden"] == ["hidden"]


def test_values_of_symbolic_tensors_are_refused():
    with pytest.raises(ValueError, match="KerasTensor"):
        tf.convert_to_tensor(keras.Input((4,)))
    with pytest.raises(ValueError, match="KerasTensor"):
        tf.constant(2.0) + tf.convert_to_tensor(keras.Input((4,)))
