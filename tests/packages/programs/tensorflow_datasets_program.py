"""TensorFlow Datasets: a data set that is built here, without a download."""

import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from checks import check


class Numbers(tfds.core.GeneratorBasedBuilder):
    """Squares of numbers."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict(
            {
                "x": tfds.features.Tensor(shape=(2,), dtype=np.float32),
                "name": tfds.features.Text(),
                "label": tfds.features.ClassLabel(names=["even", "odd"]),
                "image": tfds.features.Image(shape=(4, 4, 3)),
                "many": tfds.features.Sequence(np.int64),
            }
        )
        return tfds.core.DatasetInfo(builder=self, features=features, supervised_keys=("x", "label"))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(20), "test": self._generate_examples(6)}

    def _generate_examples(self, count):
        for i in range(count):
            image = np.full((4, 4, 3), i, np.uint8)
            yield i, {"x": [i, i * i], "name": f"n{i}", "label": i % 2, "image": image, "many": list(range(i % 3))}


with tempfile.TemporaryDirectory() as folder:
    builder = Numbers(data_dir=folder)
    check("prepare", lambda: builder.download_and_prepare())
    check("splits", lambda: {name: split.num_examples for name, split in builder.info.splits.items()})
    check(
        "elements",
        lambda: [
            [e["name"].decode(), e["x"], int(e["label"]), e["image"].sum(), e["many"]]
            for e in sorted(tfds.as_numpy(builder.as_dataset(split="test")), key=lambda e: e["name"])
        ],
    )
    check("part", lambda: sum(1 for _ in builder.as_dataset(split="train[25%:75%]")))
    check("supervised", lambda: str(builder.as_dataset(split="train", as_supervised=True).element_spec))
    check(
        "shuffled",
        lambda: len({e["name"] for e in tfds.as_numpy(builder.as_dataset(split="train", shuffle_files=True))}),
    )
    check("batches", lambda: [x["x"].shape.as_list() for x in builder.as_dataset(split="test", batch_size=4)])

    def trained():
        data = builder.as_dataset(split="train", as_supervised=True).batch(5)
        model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return len(model.fit(data, epochs=2, verbose=0).history["loss"])

    check("training", trained)
