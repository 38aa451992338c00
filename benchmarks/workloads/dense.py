"""A perceptron with one hidden layer, 784-100-10: the overhead around small products."""

from workloads.training import keras_step, torch_step
from workloads.weights import fill, noise, weight

BATCH, FIT_STEPS = 50, 100


def _digits(count):
    return noise("digits", count, 784), noise("labels", count).view("int32") % 10


def _model(tf):
    layers = tf.keras.layers
    return fill(tf.keras.Sequential([
        tf.keras.Input([784]), layers.Dense(100, activation="relu", name="hidden"), layers.Dense(10, name="out"),
    ]))  # fmt: skip


def eager_step(tf):
    return keras_step(tf, _model(tf), *_digits(BATCH), eager=True)


def compiled_step(tf):
    return keras_step(tf, _model(tf), *_digits(BATCH))


def fit(tf):
    x, y = _digits(BATCH * FIT_STEPS)
    model = _model(tf)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return lambda: model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0, shuffle=False).history["loss"][-1]


def linear(torch, name, inputs, outputs):
    """`torch.nn.Linear` with the weights of a Keras layer of this name."""
    layer = torch.nn.Linear(inputs, outputs)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight(f"{name}/kernel", (inputs, outputs)).T.copy()))
        layer.bias.zero_()
    return layer


def torch_twin(torch, compiled):
    nn = torch.nn
    model = nn.Sequential(linear(torch, "hidden", 784, 100), nn.ReLU(), linear(torch, "out", 100, 10))
    x, y = _digits(BATCH)
    x, y = torch.from_numpy(x), torch.from_numpy(y).long()
    return torch_step(torch, lambda: nn.functional.cross_entropy(model(x), y), model.parameters(), compiled)
