"""Broken files of TensorFlow Lite: each must be refused with an error of headrace's, or run.

    python lite_fuzz.py FIRST COUNT SEED

tries files number FIRST to FIRST + COUNT - 1 and prints a line for each before it is tried, `number`, and one after it,
`number outcome`. LiteRT is C++: where it crashes, the last line tells the number.
"""

import resource
import sys

import numpy as np

import headrace as tf

_NUMBERS = (0, 1, 2, 3, 255, 256, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_MEMORY = 6 << 30


def models():
    """Files of several kinds, to be broken."""
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    image = tf.keras.Sequential([
        tf.keras.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu"), layers.DepthwiseConv2D(3),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dense(5, activation="softmax"),
    ])  # fmt: skip
    sequence = tf.keras.Sequential([tf.keras.Input((4, 3)), layers.LSTM(4)])
    words = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
    )
    total = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="x")])
    def looked_up(x):
        return words.lookup(x)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def added(x):
        total.assign_add(x)
        return total + tf.cond(x[0] > 0.0, lambda: x, lambda: -x)

    found = [tf.lite.TFLiteConverter.from_keras_model(model).convert() for model in (image, sequence)]
    for function in (looked_up, added):
        found.append(tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()]).convert())
    converter = tf.lite.TFLiteConverter.from_keras_model(image)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([np.ones((1, 8, 8, 3), np.float32) * i] for i in range(2))
    return [*found, converter.convert()]


def mutated(data, random):
    """A file, broken in one of several ways."""
    made = bytearray(data)
    kind = random.integers(0, 6)
    if kind == 0:
        return bytes(made[: random.integers(0, len(made))])
    if kind == 1:
        for place in random.integers(0, len(made), random.integers(1, 9)):
            made[place] ^= 1 << random.integers(0, 8)
    elif kind == 2:
        for place in random.integers(0, len(made), random.integers(1, 5)):
            made[place] = random.integers(0, 256)
    elif kind == 3:
        for place in random.integers(0, len(made) // 4, random.integers(1, 3)) * 4:
            made[place : place + 4] = int(random.choice(_NUMBERS)).to_bytes(4, "little")
    else:
        size = int(random.integers(1, 64))
        source, target = (int(random.integers(0, len(made) - size)) for _ in range(2))
        made[target : target + size] = bytes(size) if kind == 4 else made[source : source + size]
    return bytes(made)


def outcome(data):
    """What becomes of a file: it is loaded and made ready, or refused."""
    try:
        interpreter = tf.lite.Interpreter(model_content=data, num_threads=1)
        interpreter.get_signature_list()
        interpreter.get_input_details()
        interpreter.allocate_tensors()
    except tf.errors.OpError as error:
        return type(error).__name__
    return "ready"


def main():
    first, count, seed = map(int, sys.argv[1:])
    files = models()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for number in range(first, first + count):
        random = np.random.default_rng([seed, number])
        data = mutated(files[number % len(files)], random)
        print(number, flush=True)
        print(number, outcome(data), flush=True)


if __name__ == "__main__":
    main()
