"""The main job: trains a convolutional network on handwritten digits and draws what it confuses.

    python examples/demo.py [--epochs 6] [--picture digits.png] [--all] [--quick]

Shows progress, prints the test accuracy, and draws the confusion matrix and the worst mistakes into a PNG. Leaves
with an error if the network did not learn. Plain TensorFlow 2: `import tensorflow as tf` does the same.
"""

import argparse
import sys
import time

import handwriting
import numpy as np
from PIL import Image, ImageDraw, ImageFont

import headrace as tf

INK, PAPER, FAINT, RED = (30, 30, 40), (255, 255, 255), (120, 120, 130), (190, 40, 40)


def build():
    """Two convolutions, each followed by pooling, and two dense layers: 28x28 pixels to 10 logits."""
    return tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dropout(0.3),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])  # fmt: skip


def text(drawing, place, words, size=15, color=INK, anchor="mm"):
    drawing.text(place, str(words), fill=color, font=ImageFont.load_default(size), anchor=anchor)


def draw_matrix(drawing, matrix, left, top, cell=38):
    """The confusion matrix: a row for each true digit, a column for each answer, darker for more."""
    share = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    for i in range(10):
        text(drawing, (left - 14, top + (i + 0.5) * cell), i)
        text(drawing, (left + (i + 0.5) * cell, top - 14), i)
        for j in range(10):
            box = [left + j * cell, top + i * cell, left + (j + 1) * cell - 2, top + (i + 1) * cell - 2]
            depth = share[i, j] ** 0.4  # a few mistakes in a hundred shall be seen
            hue = np.array((35, 90, 160) if i == j else (200, 60, 40))
            color = tuple(int(c) for c in 245 + (hue - 245) * depth)
            drawing.rectangle(box, fill=color)
            if matrix[i, j]:
                ink = PAPER if depth > 0.55 else INK
                text(drawing, (left + (j + 0.5) * cell - 1, top + (i + 0.5) * cell - 1), int(matrix[i, j]), 13, ink)
    text(drawing, (left + 5 * cell, top - 34), "what the network says", 13, FAINT)
    text(drawing, (left - 14, top - 34), "true", 13, FAINT)


def draw_mistakes(picture, drawing, images, labels, logits, left, top, columns=4, rows=4, cell=94):
    """The mistakes that the network was surest of, each with the true digit and the answer."""
    chances = tf.nn.softmax(logits).numpy()
    answers = chances.argmax(axis=1)
    wrong = np.flatnonzero(answers != labels)
    worst = wrong[np.argsort(-chances[wrong, answers[wrong]])][: columns * rows]
    text(drawing, (left, top - 34), f"the surest of {len(wrong)} mistakes", 13, FAINT, "lm")
    for k, i in enumerate(worst):
        x, y = left + k % columns * cell, top + k // columns * cell
        digit = Image.fromarray(255 - (images[i, :, :, 0] * 255).astype(np.uint8)).resize((56, 56))
        picture.paste(digit.convert("RGB"), (x, y))
        drawing.rectangle([x - 1, y - 1, x + 56, y + 56], outline=FAINT)
        text(drawing, (x + 28, y + 68), f"{labels[i]}, said {answers[i]} ({chances[i, answers[i]]:.0%})", 11, RED)


def draw(path, images, labels, logits, accuracy):
    """Writes the picture of what the network answered to the test digits."""
    matrix = tf.math.confusion_matrix(labels, logits.argmax(axis=1), num_classes=10).numpy()
    picture = Image.new("RGB", (880, 520), PAPER)
    drawing = ImageDraw.Draw(picture)
    text(drawing, (30, 28), f"{len(labels):,} test digits, {accuracy:.1%} right", 20, INK, "lm")
    draw_matrix(drawing, matrix, left=60, top=110)
    draw_mistakes(picture, drawing, images, labels, logits, left=490, top=110)
    tf.io.write_file(path, tf.io.encode_png(np.asarray(picture)))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--epochs", type=int, default=6)
    options.add_argument("--picture", default="digits.png", help="where to draw (default: digits.png)")
    options.add_argument("--all", action="store_true", help="train on all of MNIST, if it is in Keras's cache")
    options.add_argument("--quick", action="store_true", help="one pass over fewer digits, for tests")
    chosen = options.parse_args()

    tf.keras.utils.set_random_seed(1)
    (images, labels), (test_images, test_labels) = handwriting.load_digits(quick=not chosen.all)
    epochs, enough = chosen.epochs, 0.95
    if chosen.quick:
        epochs, enough, images, labels = 2, 0.75, images[:2000], labels[:2000]

    network = build()
    print(f"a network of {network.count_params():,} parameters, {epochs} epochs")
    network.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    start = time.perf_counter()
    network.fit(images, labels, batch_size=50, epochs=epochs, validation_data=(test_images, test_labels))
    print(f"trained in {time.perf_counter() - start:.1f} s")

    logits = network.predict(test_images, batch_size=250, verbose=0)
    accuracy = float(np.mean(logits.argmax(axis=1) == test_labels))
    print(f"test accuracy: {accuracy:.1%}")
    draw(chosen.picture, test_images, test_labels, logits, accuracy)
    print(f"drawn: {chosen.picture}")
    if accuracy < enough:
        sys.exit(f"the network did not learn: a test accuracy of {enough:.0%} was expected")


if __name__ == "__main__":
    main()
