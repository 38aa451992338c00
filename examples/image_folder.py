"""MobileNetV2 on a folder of images: a folder of JPEG or PNG files for each class.

    python examples/image_folder.py [FOLDER] [--weights imagenet] [--size 96] [--epochs 10] [--quick]

Reads, decodes and resizes the images with tf.data, and trains a small MobileNetV2 on them. With --weights imagenet
the published weights are downloaded (or taken from Keras's cache), kept as they are, and only the last layer is
trained. Without a folder it generates one: discs, squares and stripes.
"""

import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np

import headrace as tf


def generate(folder, count, random, size=80):
    """A folder for each of three shapes, with `count` JPEG files of it in random places and colors."""
    rows, columns = np.mgrid[0:size, 0:size]
    for number, name in enumerate(("disc", "square", "stripes")):
        (folder / name).mkdir()
        for i in range(count):
            y, x = random.integers(size // 3, 2 * size // 3, size=2)
            r = random.integers(size // 5, size // 3)
            if name == "disc":
                inside = (rows - y) ** 2 + (columns - x) ** 2 < r * r
            elif name == "square":
                inside = (abs(rows - y) < r) & (abs(columns - x) < r)
            else:
                inside = (rows + x) // 6 % 2 == 0
            light, dark = random.integers(120, 200, size=3), random.integers(0, 80, size=3)
            light[number] += 55  # each shape leans to a color of its own
            dark[number - 1] = 0
            image = np.where(inside[:, :, np.newaxis], light, dark) + random.integers(-20, 21, (size, size, 3))
            jpeg = tf.io.encode_jpeg(np.clip(image, 0, 255).astype(np.uint8))
            tf.io.write_file(str(folder / name / f"{i:04}.jpg"), jpeg)


def datasets(folder, size, batch):
    """Training and test batches of (images in -1..1, class numbers), and the names of the classes.

    Every fifth image is kept for the test, or those of the folder `test` beside `train`.
    """
    split = (folder / "train").is_dir() and (folder / "test").is_dir()
    classes = sorted(p.name for p in (folder / "train" if split else folder).iterdir() if p.is_dir())
    parts = {"train": [], "test": []}
    for part in parts:
        for number, name in enumerate(classes):
            inside = folder / part / name if split else folder / name
            files = sorted(str(p) for p in inside.iterdir() if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
            if not split:
                files = [f for i, f in enumerate(files) if (i % 5 == 4) == (part == "test")]
            parts[part] += [(f, number) for f in files]

    def read(path, label):
        image = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)
        return tf.image.resize(image, [size, size]) / 127.5 - 1.0, label

    def flipped(image, label):
        return tf.image.random_flip_left_right(image), label

    def pipeline(part, training):
        paths, labels = zip(*parts[part])
        data = tf.data.Dataset.from_tensor_slices((list(paths), np.array(labels, np.int32)))
        data = data.map(read, num_parallel_calls=tf.data.AUTOTUNE).cache()
        if training:
            data = data.shuffle(1000).map(flipped)
        return data.batch(batch).prefetch(tf.data.AUTOTUNE)

    print(f"{len(classes)} classes, {len(parts['train'])} images to train with, {len(parts['test'])} to test with")
    return pipeline("train", True), pipeline("test", False), classes


def build(size, classes, weights, width):
    """MobileNetV2 without its last layer, and a dense layer for our classes."""
    body = tf.keras.applications.MobileNetV2(
        input_shape=(size, size, 3), alpha=width, include_top=False, weights=weights, pooling="avg"
    )
    body.trainable = weights is None
    inputs = tf.keras.Input((size, size, 3))
    # Its batch normalization averages over a thousand steps; a short training needs faster ones.
    for layer in body.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.8
    outputs = tf.keras.layers.Dense(classes)(body(inputs))
    return tf.keras.Model(inputs, outputs)


def train(folder, chosen):
    """Trains on the folder; returns the test accuracy and the number of classes."""
    training, test, classes = datasets(folder, chosen.size, batch=16)
    width = 1.0 if chosen.weights else 0.35  # weights are published for few widths; 0.35 is the smallest
    model = build(chosen.size, len(classes), chosen.weights, width)
    print(f"MobileNetV2 of width {width}: {model.count_params():,} parameters, {len(model.layers[1].layers)} layers")
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    start = time.perf_counter()
    model.fit(training, epochs=chosen.epochs, shuffle=False, verbose=2)
    loss, accuracy = model.evaluate(test, verbose=0)
    print(f"trained in {time.perf_counter() - start:.1f} s; test loss {loss:.3f}, test accuracy {accuracy:.1%}")
    return accuracy, len(classes)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", nargs="?", type=pathlib.Path, help="a folder for each class, or train and test")
    options.add_argument("--weights", choices=["imagenet"], help="begin with the published weights")
    options.add_argument("--size", type=int, default=96)
    options.add_argument("--epochs", type=int, default=10)
    options.add_argument("--quick", action="store_true", help="few and small images, for tests")
    chosen = options.parse_args()

    tf.keras.utils.set_random_seed(1)
    if chosen.quick:
        chosen.size, chosen.epochs = 48, 8
    if chosen.folder:
        accuracy, classes = train(chosen.folder, chosen)
    else:
        with tempfile.TemporaryDirectory() as folder:
            generate(pathlib.Path(folder), 40 if chosen.quick else 80, np.random.default_rng(1))
            accuracy, classes = train(pathlib.Path(folder), chosen)
    enough = 1.5 / classes if classes > 2 else 0.7  # chance is 1 / classes
    if accuracy < enough:
        sys.exit(f"the network did not learn: a test accuracy of {enough:.0%} was expected")


if __name__ == "__main__":
    main()
