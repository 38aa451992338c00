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
