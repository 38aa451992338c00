"""Ten small trainings, each a few steps of a compiled function, for `scripts/accelerator`: the same on any device."""

import numpy as np

import headrace as tf

_RNG = np.random.default_rng(7)


def _weights(*shapes, dtype="float32"):
    rng = np.random.default_rng(3)
    return [tf.Variable((0.3 * rng.standard_normal(shape)).astype(dtype)) for shape in shapes]


def _data(*shape, dtype="float32"):
    return _RNG.standard_normal(shape).astype(dtype)


_X, _IMAGES, _SEQUENCES = _data(16, 6), _data(8, 8, 8, 3), _data(8, 5, 6)
_Y, _LABELS = _data(16, 2), _RNG.integers(0, 4, 8)
_IDS = _RNG.integers(0, 12, (8, 5))
_X64, _Y64 = _data(16, 6, dtype="float64"), _data(16, 2, dtype="float64")


def _squares(y, wanted):
    return tf.reduce_mean(tf.square(y - wanted))


def _entropy(logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant(_LABELS), logits))


def dense():
    a, b, c = weights = _weights((6, 8), (8,), (8, 2))
    return weights, lambda: _squares(tf.nn.relu(_X @ a + b) @ c, _Y)


def convolution():
    kernel, bias, out = weights = _weights((3, 3, 3, 4), (4,), (4, 4))

    def loss():
        h = tf.nn.relu(tf.nn.conv2d(_IMAGES, kernel, 1, "SAME") + bias)
        h = tf.nn.max_pool2d(h, 2, 2, "VALID")
        return _entropy(tf.reduce_mean(h, [1, 2]) @ out)

    return weights, loss


def recurrent():
    a, b, out = weights = _weights((6, 7), (7, 7), (7, 4))

    def loss():
        state = tf.zeros([8, 7])
        for i in tf.range(5):
            state = tf.tanh(tf.constant(_SEQUENCES)[:, i] @ a + state @ b)
        return _entropy(state @ out)

    return weights, loss


def embedding():
    table, out = weights = _weights((12, 6), (6, 4))
    return weights, lambda: _entropy(tf.reduce_mean(tf.gather(table, _IDS), 1) @ out)


def normalized():
    a, scale, shift, out = weights = _weights((6, 8), (8,), (8,), (8, 2))

    def loss():
        h = _X @ a
        mean, variance = tf.nn.moments(h, [0])
        return _squares(tf.nn.batch_normalization(h, mean, variance, shift, scale, 1e-3) @ out, _Y)

    return weights, loss


def attention():
    q, k, v, out = weights = _weights((6, 6), (6, 6), (6, 6), (6, 4))

    def loss():
        x = tf.constant(_SEQUENCES)
        scores = tf.einsum("bid,bjd->bij", x @ q, x @ k) / np.float32(6**0.5)
        return _entropy(tf.reduce_mean(tf.nn.softmax(scores) @ (x @ v), 1) @ out)

    return weights, loss


def dropped_out():
    a, b = weights = _weights((6, 16), (16, 2))
    return weights, lambda: _squares(tf.nn.dropout(tf.nn.relu(_X @ a), 0.4) @ b, _Y)


def double_precision():
    a, b = weights = _weights((6, 8), (8, 2), dtype="float64")
    return weights, lambda: _squares(tf.sigmoid(_X64 @ a) @ b, _Y64)


def branching():
    a, b = weights = _weights((6, 8), (8, 2))

    def loss():
        h = _X @ a
        h = tf.nn.relu(h) if tf.reduce_sum(h) > 0 else tf.nn.elu(h)
        return _squares(h @ b, _Y)

    return weights, loss


def decomposed():
    a, b = weights = _weights((6, 6), (6, 2))

    def loss():
        square = tf.matmul(a, a, transpose_b=True) + 2.0 * tf.eye(6)
        return _squares(tf.constant(_X) @ tf.linalg.solve(square, b), _Y) + 0.01 * tf.linalg.logdet(square)

    return weights, loss


TRAININGS = [
    dense, convolution, recurrent, embedding, normalized, attention, dropped_out, double_precision, branching,
    decomposed,
]  # fmt: skip


def trained(make, device: str, steps: int) -> list:
    """The losses of the steps and the weights after them, as arrays, of one training on a device."""
    tf.random.set_seed(11)
    weights, loss_of = make()
    moments = [tf.Variable(tf.zeros_like(w)) for w in weights]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of()
        for w, m, g in zip(weights, moments, tape.gradient(loss, weights)):
            m.assign(0.9 * m + tf.convert_to_tensor(g))
            w.assign_sub(0.05 * m)
        return loss

    with tf.device(device):
        losses = [step() for _ in range(steps)]
    return [x.numpy() for x in [*losses, *weights]]


def trained_by_replicas(make, devices: list, steps: int) -> list:
    """The same by replicas on several devices, which all have the same data: losses of each, and the weights."""
    tf.random.set_seed(11)
    strategy = tf.distribute.MirroredStrategy(devices)
    with strategy.scope():
        weights, loss_of = make()
        moments = [tf.Variable(tf.zeros_like(w)) for w in weights]

    def replica():
        with tf.GradientTape() as tape:
            loss = loss_of()
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, weights)]
        gradients = tf.distribute.get_replica_context().all_reduce("MEAN", gradients)
        for w, m, g in zip(weights, moments, gradients):
            m.assign(0.9 * m + g)
            w.assign_sub(0.05 * m)
        return loss

    step = tf.function(lambda: strategy.run(replica))
    losses = [loss for _ in range(steps) for loss in strategy.experimental_local_results(step())]
    return [x.numpy() for x in [*losses, *weights]]
