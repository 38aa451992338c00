"""Training of one Transformer block of Keras layers: attention, layer norm, dense; batch 32, 64 places, width 128."""

from workloads.dense import linear
from workloads.training import keras_step, torch_step
from workloads.weights import fill, noise, weight

BATCH, LENGTH, WIDTH, HEADS, HIDDEN = 32, 64, 128, 4, 512


def _data():
    return noise("places", BATCH, LENGTH, WIDTH, scale=0.5), noise("targets", BATCH, LENGTH, WIDTH, scale=0.5)


def block(tf):
    layers = tf.keras.layers
    x = tf.keras.Input([LENGTH, WIDTH])
    attended = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name="attention")(x, x)
    normed = layers.LayerNormalization(epsilon=1e-6, name="norm1")(x + attended)
    hidden = layers.Dense(HIDDEN, activation="relu", name="hidden")(normed)
    out = layers.LayerNormalization(epsilon=1e-6, name="norm2")(normed + layers.Dense(WIDTH, name="out")(hidden))
    return keras_step(tf, fill(tf.keras.Model(x, out)), *_data(), loss_of=tf.keras.losses.MeanSquaredError())


def _projection(torch, name, shape):
    """A dense layer of Keras's attention: its kernel has the heads as an axis of their own."""
    layer = torch.nn.Linear(WIDTH, WIDTH)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight(f"{name}/kernel", shape).reshape(WIDTH, WIDTH).T.copy()))
        layer.bias.zero_()
    return layer


def torch_block(torch, compiled):
    nn, split, joined = torch.nn, (WIDTH, HEADS, WIDTH // HEADS), (HEADS, WIDTH // HEADS, WIDTH)
    projections = nn.ModuleList([_projection(torch, name, split) for name in ("query", "key", "value")])
    output = _projection(torch, "attention_output", joined)
    norms = nn.ModuleList([nn.LayerNorm(WIDTH, eps=1e-6) for _ in range(2)])
    dense = nn.Sequential(linear(torch, "hidden", WIDTH, HIDDEN), nn.ReLU(), linear(torch, "out", HIDDEN, WIDTH))
    x, y = map(torch.from_numpy, _data())

    def forward():
        heads = [layer(x).unflatten(-1, split[1:]).transpose(1, 2) for layer in projections]
        attended = nn.functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        normed = norms[0](x + output(attended))
        return nn.functional.mse_loss(norms[1](normed + dense(normed)), y)

    modules = nn.ModuleList([projections, output, norms, dense])
    return torch_step(torch, forward, modules.parameters(), compiled)
