"""Optimizers of 1.x in `Model.compile`."""

import numpy as np
import pytest

import headrace as tf

train = tf.compat.v1.train
RATE = tf.constant(0.05)
OPTIMIZERS = {
    "GradientDescent": lambda: train.GradientDescentOptimizer(0.05),
    "GradientDescent, a tensor": lambda: train.GradientDescentOptimizer(RATE),
    "Momentum": lambda: train.MomentumOptimizer(0.05, 0.9),
    "Momentum, Nesterov": lambda: train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "Adam": lambda: train.AdamOptimizer(0.05, beta1=0.8),
    "Adagrad": lambda: train.AdagradOptimizer(0.05),
    "Adadelta": lambda: train.AdadeltaOptimizer(0.5),
}
X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
Y = X.sum(1, keepdims=True) ** 2


def model_and_variables():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    return model, model.trainable_variables


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_they_do_what_they_do_in_graphs(name):
    model, variables = model_and_variables()
    model.compile(OPTIMIZERS[name](), "mse")
    model.fit(X, Y, batch_size=4, epochs=5, verbose=0)
    _, others = model_and_variables()
    optimizer, values = OPTIMIZERS[name](), [tf.Variable(variable.value) for variable in others]
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.constant(X) @ values[0] + values[1] - Y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, values), values))
    for ours, expected in zip(variables, values):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_others_name_the_one_of_keras():
    model, _ = model_and_variables()
    with pytest.raises(ValueError, match=r"RMSPropOptimizer is for graphs.*tf\.keras\.optimizers\.RMSprop"):
        model.compile(train.RMSPropOptimizer(0.1), "mse")
