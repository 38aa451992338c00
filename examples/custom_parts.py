"""A layer, a loss, a metric and a training step of one's own, in a model that `fit` trains.

    python examples/custom_parts.py [--quick]

Separates two interleaved spirals with radial basis functions. The loss looks at hard examples (focal loss), the
metric counts the wrong ones of the rarer class, and the training step clips gradients and reports their norm.
"""

import argparse
import sys

import numpy as np

import headrace as tf


class RadialBasis(tf.keras.layers.Layer):
    """exp(-|x - c|^2 / w^2) for each of some centers c, which are learned, as is the width w of each."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.centers = self.add_weight(
            name="centers", shape=(self.units, input_shape[-1]), initializer=tf.keras.initializers.RandomUniform(-1, 1)
        )
        self.scales = self.add_weight(
            name="scales", shape=(self.units,), initializer=tf.keras.initializers.Constant(3.0)
        )

    def call(self, inputs):
        offsets = inputs[:, tf.newaxis, :] - self.centers
        return tf.exp(-tf.reduce_sum(tf.square(offsets), axis=-1) * tf.square(self.scales))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class FocalLoss(tf.keras.losses.Loss):
    """Cross entropy that counts what is right already for little: (1 - p)^focus of it."""

    def __init__(self, focus=1.0, name="focal_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self.focus = focus

    def call(self, y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        chance = tf.clip_by_value(y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred), 1e-6, 1.0)
        return tf.reduce_mean(-((1.0 - chance) ** self.focus) * tf.math.log(chance), axis=-1)


class WrongOnes(tf.keras.metrics.Metric):
    """How many examples of the class 1 were taken for class 0."""

    def __init__(self, name="wrong_ones", **kwargs):
        super().__init__(name=name, **kwargs)
        self.count = self.add_weight(name="count", shape=(), initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        missed = tf.cast((tf.cast(y_true, tf.float32) > 0.5) & (y_pred < 0.5), tf.float32)
        if sample_weight is not None:
            missed *= tf.cast(sample_weight, tf.float32)
        self.count.assign_add(tf.reduce_sum(missed))

    def result(self):
        return self.count


class ClippedModel(tf.keras.Model):
    """A model whose training step clips the gradients to a norm of 1, and reports the norm."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            answers = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=answers)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, answers)
        return {**{m.name: m.result() for m in self.metrics}, "norm": norm}


def spirals(count, random):
    """Points in the plane, and on which of two interleaved spirals each lies."""
    which = random.integers(0, 2, size=count)
    turn = np.sqrt(random.uniform(0.05, 1, size=count)) * 1.5 * 2 * np.pi
    angle = turn + which * np.pi
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (turn / (3 * np.pi))[:, np.newaxis]
    points += random.normal(0, 0.015, points.shape)
    return points.astype(np.float32), which[:, np.newaxis].astype(np.float32)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="fewer epochs, for tests")
    epochs, enough = (12, 0.7) if options.parse_args().quick else (40, 0.95)

    tf.keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    (x, y), (test_x, test_y) = spirals(4000, random), spirals(1000, random)
    inputs = tf.keras.Input((2,))
    outputs = tf.keras.layers.Dense(1, activation="sigmoid")(RadialBasis(60)(inputs))
    model = ClippedModel(inputs, outputs)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-2), loss=FocalLoss(), metrics=[WrongOnes(), "binary_accuracy"]
    )
    model.fit(x, y, batch_size=100, epochs=epochs, verbose=2)
    result = model.evaluate(test_x, test_y, batch_size=500, verbose=0, return_dict=True)
    print(f"test accuracy {result['binary_accuracy']:.1%}, {result['wrong_ones']:.0f} ones missed")

    # The configuration of the layer rebuilds it; its weights carry over.
    twin = tf.keras.Model.from_config(model.get_config(), custom_objects={"RadialBasis": RadialBasis})
    twin.set_weights(model.get_weights())
    same = np.allclose(twin.predict(test_x, verbose=0), model.predict(test_x, verbose=0), atol=1e-5)
    if result["binary_accuracy"] < enough or not same:
        sys.exit(f"the model did not learn (an accuracy of {enough:.0%} was expected), or its twin answers otherwise")


if __name__ == "__main__":
    main()
