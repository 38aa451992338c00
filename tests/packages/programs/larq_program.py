"""larq: layers with binary weights, their quantizers, and training."""

import larq
import numpy as np
import tensorflow as tf
from checks import check

tf.random.set_seed(0)
X = tf.constant(np.linspace(-2, 2, 16, dtype=np.float32).reshape(4, 4))


def gradient(quantizer):
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = quantizer(X)
    return [y, tape.gradient(y, X)]


for name in ("SteSign", "ApproxSign", "SwishSign", "SteHeaviside", "SteTern", "DoReFa", "MagnitudeAwareSign"):
    check(name, lambda: gradient(getattr(larq.quantizers, name)()))


def fitted():
    model = larq.models.tf.keras.Sequential(
        [
            larq.models.tf.keras.layers.Input((4,)),
            larq.layers.QuantDense(8, kernel_quantizer="ste_sign", kernel_constraint="weight_clip"),
            larq.layers.QuantDense(1, input_quantizer="ste_sign", kernel_quantizer="ste_sign"),
        ]
    )
    model.compile("adam", "mse")
    model.fit(X, tf.ones([4, 1]), epochs=2, verbose=0)
    with larq.context.quantized_scope(True):
        kernel = model.layers[0].get_weights()[0]
    return sorted(set(np.unique(kernel).tolist()))


check("training", fitted)
