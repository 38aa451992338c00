"""Sonnet 2: modules, their names and parameters, an optimiser, a checkpoint."""

import os
import tempfile

import numpy as np
import sonnet as snt
import tensorflow as tf
from checks import check

X = tf.constant(np.linspace(-1, 1, 2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3))
HALF = snt.initializers.Constant(0.05)


def trained(optimizer):
    net = snt.Sequential([snt.Flatten(), snt.Linear(4, w_init=HALF), tf.nn.relu, snt.Linear(1, w_init=HALF)])
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(X) - 1.0) ** 2)
        variables = net.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
        losses.append(loss)
    return losses


def saved():
    with tempfile.TemporaryDirectory() as folder:
        net, other = snt.nets.MLP([3, 2], w_init=HALF), snt.nets.MLP([3, 2])
        flat = tf.reshape(X, [2, -1])
        expected = net(flat)
        other(flat)
        path = tf.train.Checkpoint(module=net).save(os.path.join(folder, "model"))
        tf.train.Checkpoint(module=other).restore(path).assert_consumed()
        return [tf.reduce_max(tf.abs(other(flat) - expected)), len(tf.train.list_variables(path))]


def recurrent():
    core = snt.LSTM(3, w_i_init=HALF, w_h_init=HALF)
    outputs, _ = snt.dynamic_unroll(core, tf.ones([4, 2, 5]), core.initial_state(2))
    return outputs


check("names", lambda: [v.name for v in (lambda m: (m(tf.ones([1, 3])), m)[1])(snt.nets.MLP([4, 2])).variables])
check("Linear", lambda: snt.Linear(3, w_init=HALF)(tf.ones([2, 4])))
check("Conv2D", lambda: snt.Conv2D(2, 3, w_init=HALF)(X))
check("Conv2DTranspose", lambda: snt.Conv2DTranspose(2, 3, stride=2, w_init=HALF)(X))
check("BatchNorm", lambda: snt.BatchNorm(True, True)(X, is_training=True))
check("LayerNorm", lambda: snt.LayerNorm(-1, True, True)(X))
check("GroupNorm", lambda: snt.GroupNorm(3)(X))
check("Embed", lambda: snt.Embed(5, 2, initializer=HALF)(tf.constant([1, 3])))
check("LSTM", recurrent)
check("ResNet50", lambda: snt.nets.ResNet50(10)(tf.ones([1, 32, 32, 3]), is_training=False).shape.as_list())
for name, optimizer in {
    "SGD": snt.optimizers.SGD(0.001), "Momentum": snt.optimizers.Momentum(0.001, 0.9), "Adam": snt.optimizers.Adam(0.1),
    "RMSProp": snt.optimizers.RMSProp(0.01),
}.items():  # fmt: skip
    check(name, lambda: trained(optimizer))
check("checkpoint", saved)
check("tf.function", lambda: tf.function(snt.Linear(3, w_init=HALF))(tf.ones([2, 4])))
