"""Programs in Keras as people write them: layers, optimizers and pipelines together."""

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
keras = pytest.importorskip("keras")

OPTIMIZERS = ["Adadelta", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Lion", "Nadam", "RMSprop", "SGD"]


def trained_table(optimizer, dtype, **how):
    """The embeddings after two steps; a batch has the same index more than once."""
    ids = np.array([[1, 4, 4], [2, 1, 0], [4, 4, 4], [5, 0, 2]])
    layers = [keras.Input((3,), dtype=dtype), keras.layers.Embedding(6, 2), keras.layers.Flatten()]
    model = keras.Sequential([*layers, keras.layers.Dense(1, kernel_initializer="ones")])
    model.layers[0].set_weights([np.arange(12, dtype="float32").reshape(6, 2) / 10])
    model.compile(getattr(keras.optimizers, optimizer)(0.1), "mse", **how)
    model.fit(ids.astype(dtype), np.ones((4, 1)), batch_size=2, shuffle=False, verbose=0)
    return model.get_weights()[0]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])  # Keras makes int32 indices of floating ones
def test_embeddings_are_trained_in_graphs_as_eagerly(optimizer, dtype):
    traced = trained_table(optimizer, dtype)
    np.testing.assert_allclose(traced, trained_table(optimizer, dtype, run_eagerly=True), rtol=1e-5)
    assert np.any(traced[1] != [0.2, 0.3])


def test_an_optimizer_knows_a_variable_that_is_an_argument():
    picture, optimizer = tf.Variable([[0.5, 0.9]]), keras.optimizers.Adam(0.1)

    @tf.function
    def step(picture):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((picture - 2.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, picture), picture)])
        picture.assign(tf.clip_by_value(picture, 0.0, 1.0))
        return loss

    for _ in range(3):
        step(picture)
    np.testing.assert_allclose(picture, [[0.8, 1.0]], atol=1e-3)
    optimizer.apply_gradients([(tf.ones_like(picture), picture)])  # the same variable outside of the function
    assert int(optimizer.iterations) == 4


def test_an_optimizer_is_built_within_a_branch():
    """As in training steps that add up gradients and apply them now and then."""
    weight, total = keras.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    step, optimizer = tf.Variable(0), keras.optimizers.SGD(0.1, momentum=0.9)

    def apply():
        optimizer.apply_gradients([(total, weight)])
        total.assign([0.0, 0.0])

    @tf.function
    def train():
        total.assign_add([1.0, 2.0])
        step.assign_add(1)
        tf.cond(step % 2 == 0, apply, lambda: None)

    for _ in range(4):
        train()
    np.testing.assert_allclose(weight, [1.0 - 0.2 - 0.38, 2.0 - 0.4 - 0.76], rtol=1e-6)
    assert int(optimizer.iterations) == 2
