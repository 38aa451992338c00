"""LSTM and GRU of 256 units over 40 steps: as a Python loop of ops, and as layers of Keras."""

import numpy as np

from workloads.dense import linear
from workloads.training import Adam, function, keras_step, torch_step
from workloads.weights import fill, noise, weight

UNITS, WIDTH, LENGTH, BATCH = 256, 64, 40, 50


def _sequences():
    return noise("sequences", BATCH, LENGTH, WIDTH, scale=0.5), np.arange(BATCH, dtype=np.int64) % WIDTH


def _loop_weights():
    shapes = (WIDTH + UNITS, 4 * UNITS), (4 * UNITS,), (UNITS, WIDTH), (WIDTH,)
    return [noise(f"loop{number}", *shape, scale=0.05) for number, shape in enumerate(shapes)]


def loop(tf):
    variables = [tf.Variable(value) for value in _loop_weights()]
    kernel, bias, out, out_bias = variables
    adam = Adam(tf, variables)
    x, y = map(tf.constant, _sequences())

    def step(x, y):
        with tf.GradientTape() as tape:
            h = c = tf.zeros([BATCH, UNITS])
            for t in range(LENGTH):
                gates = tf.matmul(tf.concat([x[:, t], h], 1), kernel) + bias
                i, f, g, o = tf.split(gates, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
            logits = tf.matmul(h, out) + out_bias
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        adam.apply(tape.gradient(loss, variables))
        return loss

    run = function(tf, step)
    return lambda: float(run(x, y))


def torch_loop(torch, compiled):
    parameters = [torch.nn.Parameter(torch.from_numpy(value)) for value in _loop_weights()]
    kernel, bias, out, out_bias = parameters
    x, y = map(torch.from_numpy, _sequences())

    def forward():
        h = c = torch.zeros(BATCH, UNITS)
        for t in range(LENGTH):
            gates = torch.addmm(bias, torch.cat([x[:, t], h], 1), kernel)
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return torch.nn.functional.cross_entropy(torch.addmm(out_bias, h, out), y)

    return torch_step(torch, forward, parameters, compiled)


def layer(kind):
    """Training of `keras.layers.LSTM` or `GRU`."""

    def build(tf):
        recurrent = getattr(tf.keras.layers, kind)(UNITS, name="recurrent", bias_initializer="zeros")
        out = tf.keras.layers.Dense(WIDTH, name="out")
        model = tf.keras.Sequential([tf.keras.Input([LENGTH, WIDTH]), recurrent, out])
        return keras_step(tf, fill(model), *_sequences())

    return build


def torch_layer(kind):
    """The same with `torch.nn.LSTM` or `GRU`, whose gates stand in another order."""

    def build(torch, compiled):
        gates = {"LSTM": [0, 1, 2, 3], "GRU": [1, 0, 2]}[kind]
        recurrent = getattr(torch.nn, kind)(WIDTH, UNITS, batch_first=True)
        out, name = linear(torch, "out", UNITS, WIDTH), {"LSTM": "lstm_cell", "GRU": "gru_cell"}[kind]
        with torch.no_grad():
            recurrent.bias_ih_l0.zero_()
            recurrent.bias_hh_l0.zero_()
            for part, size, parameter in [("kernel", WIDTH, recurrent.weight_ih_l0),
                                          ("recurrent_kernel", UNITS, recurrent.weight_hh_l0)]:  # fmt: skip
                value = weight(f"{name}/{part}", (size, len(gates) * UNITS)).reshape(size, len(gates), UNITS)
                parameter.copy_(torch.from_numpy(value[:, gates].reshape(size, -1).T.copy()))
        # Keras's LSTM has one bias, its GRU has both.
        recurrent.bias_hh_l0.requires_grad_(kind == "GRU")
        x, y = map(torch.from_numpy, _sequences())

        def forward():
            states, _ = recurrent(x)
            return torch.nn.functional.cross_entropy(out(states[:, -1]), y)

        parameters = [p for p in [*recurrent.parameters(), *out.parameters()] if p.requires_grad]
        return torch_step(torch, forward, parameters, compiled)

    return build
