"""An LSTM that learns to write, character by character, and writes at several temperatures.

    python examples/text_generation.py [TEXT_FILE] [--steps 500] [--quick]

Reads data/beyond_good_and_evil.txt (the beginning of the book, in the public domain) or the file given. A low
temperature takes the likeliest characters, a high one dares more.
"""

import argparse
import pathlib
import sys
import time

import numpy as np

import headrace as tf

BOOK = pathlib.Path(__file__).parent / "data" / "beyond_good_and_evil.txt"


class Writer(tf.keras.Model):
    """Characters in, for each the logits of the next one out."""

    def __init__(self, characters, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(characters, 32)
        self.lstm = tf.keras.layers.LSTM(units, return_sequences=True, return_state=True)
        self.answer = tf.keras.layers.Dense(characters)

    def call(self, inputs, state=None):
        outputs, *state = self.lstm(self.embedding(inputs), initial_state=state)
        return self.answer(outputs), state


def write(following, state, count, temperature, characters):
    """Goes on writing from a state of the network: `count` characters."""
    written = []
    logits, *state = state
    for _ in range(count):
        chosen, logits, state = following(logits, state, tf.constant(temperature))
        written.append(characters[int(chosen[0, 0])])
    return "".join(written)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("file", nargs="?", type=pathlib.Path, default=BOOK, help="a text in UTF-8")
    options.add_argument("--steps", type=int, default=500)
    options.add_argument("--quick", action="store_true", help="a small network and few steps, for tests")
    chosen = options.parse_args()
    steps, units, length, letters = (60, 64, 20, 40) if chosen.quick else (chosen.steps, 128, 40, 300)

    tf.keras.utils.set_random_seed(1)
    text = chosen.file.read_text(encoding="utf-8").lower()
    characters = sorted(set(text))
    table = tf.keras.layers.StringLookup(vocabulary=characters, num_oov_indices=0)
    numbers = tf.cast(table(tf.strings.unicode_split(text, "UTF-8")), tf.int32)
    print(f"{len(text):,} characters, {len(characters)} of them different; {steps} steps")
    sequences = tf.data.Dataset.from_tensor_slices(numbers).batch(length + 1, drop_remainder=True)
    batches = sequences.map(lambda s: (s[:-1], s[1:])).cache().shuffle(10_000).batch(32, drop_remainder=True)

    model = Writer(len(characters), units)
    optimizer = tf.keras.optimizers.Adam(3e-3, clipnorm=1.0)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x)[0])
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def following(logits, state, temperature):
        chosen = tf.random.categorical(logits[:, -1] / temperature, 1)
        return chosen, *model(chosen, state)

    start, losses = time.perf_counter(), []
    for x, y in batches.repeat().take(steps):
        losses.append(float(step(x, y)))
        if len(losses) % max(steps // 10, 1) == 0:
            print(f"step {len(losses)}: loss {np.mean(losses[-10:]):.3f}, {time.perf_counter() - start:.0f} s")

    opening = text[1000 : 1000 + length]
    logits, state = model(numbers[tf.newaxis, 1000 : 1000 + length])
    for temperature in (0.2, 0.5, 1.0, 1.2):
        print(f"\ntemperature {temperature}: {opening!r} goes on with")
        print(write(following, [logits[:, -1:], *state], letters, temperature, characters))
    # Guessing evenly costs log(number of characters); knowing how frequent each one is costs about 2.9.
    reached, enough = float(np.mean(losses[-10:])), 3.1 if chosen.quick else 2.3
    if reached > enough:
        sys.exit(f"the network did not learn: the loss is {reached:.2f}, {enough} was expected")


if __name__ == "__main__":
    main()
