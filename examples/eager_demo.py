"""A self-checking eager demo: trains a linear regression, then a two-layer network on handwritten digits.

    python examples/eager_demo.py

Prints what it did and leaves with an error if either did not learn. Everything here is plain
TensorFlow 2: with `import tensorflow as tf` instead, it does the same.
"""

import pathlib
import sys
import time

import numpy as np

import headrace as tf

DIGITS = pathlib.Path(__file__).parent / "data" / "digits.npz"


def linear_regression(steps=200, learning_rate=0.1):
    """Fits y = w x + b to noisy points of y = 3 x - 2; returns the fitted w and b and the loss curve."""
    x = tf.random.uniform([256], -1.0, 1.0)
    y = 3.0 * x - 2.0 + tf.random.normal([256], stddev=0.1)
    w, b = tf.Variable(0.0), tf.Variable(0.0)
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w * x + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(learning_rate * dw)
        b.assign_sub(learning_rate * db)
        losses.append(float(loss))
    return float(w), float(b), losses


class TwoLayerNetwork:
    """784 pixels, one hidden layer of rectified units, 10 logits."""

    def __init__(self, hidden=128):
        self.w1 = tf.Variable(tf.random.truncated_normal([784, hidden], stddev=(2 / 784) ** 0.5))
        self.b1 = tf.Variable(tf.zeros([hidden]))
        self.w2 = tf.Variable(tf.random.truncated_normal([hidden, 10], stddev=(2 / hidden) ** 0.5))
        self.b2 = tf.Variable(tf.zeros([10]))
        self.variables = [self.w1, self.b1, self.w2, self.b2]

    def __call__(self, images):
        h = tf.nn.relu(tf.matmul(images, self.w1) + self.b1)
        return tf.matmul(h, self.w2) + self.b2

    def loss(self, images, labels):
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self(images)))

    def accuracy(self, images, labels):
        guess = tf.argmax(self(images), axis=1, output_type=tf.int32)
        return float(tf.reduce_mean(tf.cast(tf.equal(guess, labels), tf.float32)))


def load_digits():
    """Images as rows of 784 float32 in 0..1 and labels as int32: train, then test."""
    with np.load(DIGITS) as data:
        for part in ("train", "test"):
            images = tf.cast(tf.constant(data[part + "_images"]), tf.float32) / 255.0
            yield tf.reshape(images, [-1, 784]), tf.cast(tf.constant(data[part + "_labels"]), tf.int32)


def train_on_digits(epochs=10, batch=64, learning_rate=0.05, momentum=0.9):
    """Stochastic gradient descent with momentum; prints one line per epoch and returns the test accuracy."""
    (images, labels), (test_images, test_labels) = load_digits()
    network = TwoLayerNetwork()
    velocities = [tf.Variable(tf.zeros_like(v)) for v in network.variables]
    print(f"  before training: test accuracy {network.accuracy(test_images, test_labels):.1%}")
    count = images.shape[0]
    for epoch in range(1, epochs + 1):
        order = tf.random.shuffle(tf.range(count))
        total = 0.0
        for start in range(0, count - batch + 1, batch):
            rows = order[start:start + batch]
            with tf.GradientTape() as tape:
                loss = network.loss(tf.gather(images, rows), tf.gather(labels, rows))
            gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, network.variables), 5.0)
            for variable, velocity, gradient in zip(network.variables, velocities, gradients):
                velocity.assign(momentum * velocity - learning_rate * gradient)
                variable.assign_add(velocity)
            total += float(loss)
        loss = total / (count // batch)
        bar = "#" * round(50 * min(loss, 1.0))
        print(f"  epoch {epoch:2d}: loss {loss:.4f} {bar}")
    return network.accuracy(test_images, test_labels)


def main():
    tf.random.set_seed(2)
    start = time.perf_counter()
    print("linear regression on noisy points of y = 3 x - 2:")
    w, b, losses = linear_regression()
    print("  loss", " -> ".join(f"{loss:.4f}" for loss in losses[::25] + losses[-1:]))
    print(f"  found y = {w:.3f} x {b:+.3f}")
    print("two-layer network on 4,000 handwritten digits, tested on 1,000 others:")
    accuracy = train_on_digits()
    print(f"  after training: test accuracy {accuracy:.1%}")
    print(f"{time.perf_counter() - start:.1f} s in all")

    failures = []
    if abs(w - 3) > 0.05 or abs(b + 2) > 0.05:
        failures.append(f"the regression found w={w:.3f}, b={b:.3f}; expected 3 and -2 within 0.05")
    if accuracy < 0.9:
        failures.append(f"the network is right on {accuracy:.1%} of the test digits; expected at least 90%")
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
