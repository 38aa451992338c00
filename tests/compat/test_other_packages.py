"""Packages that stand on TensorFlow or Keras: KerasHub, TensorFlow Datasets, Keras's wrappers for scikit-learn.

Each test is skipped where its package is not installed. KerasHub and TensorFlow Datasets bring a TensorFlow along when
pip installs them; `pip install --no-deps` and the small packages that they name leave it out.
"""

import importlib
import importlib.util
import pickle

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
keras = pytest.importorskip("keras")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the packages warn of much


def package(name):
    """The package, or a skip if it is not installed; that it cannot be imported is a failure."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    return importlib.import_module(name)


# KerasHub.


@pytest.fixture(autouse=True)
def _seed():
    """What is learned in a few steps depends on the first weights."""
    keras.utils.set_random_seed(1)


def tokens(rows=64, length=12, words=30):
    ids = np.random.default_rng(0).integers(0, words, (rows, length)).astype("int32")
    return {"token_ids": ids, "padding_mask": np.ones_like(ids), "segment_ids": np.zeros_like(ids)}


def test_a_classifier_of_texts_from_its_configuration():
    hub = package("keras_hub")
    backbone = hub.models.BertBackbone(
        vocabulary_size=30, num_layers=1, num_heads=2, hidden_dim=16, intermediate_dim=32, max_sequence_length=12
    )
    backbone = hub.models.BertBackbone.from_config(backbone.get_config())
    model = hub.models.BertTextClassifier(backbone=backbone, num_classes=2, preprocessor=None)
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    x = tokens()
    y = (x["token_ids"][:, 0] > 15).astype("int32")
    losses = model.fit(x, y, batch_size=16, epochs=10, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]


def test_a_language_model_learns_and_generates():
    hub = package("keras_hub")
    backbone = hub.models.GPT2Backbone(
        vocabulary_size=30, num_layers=1, num_heads=2, hidden_dim=32, intermediate_dim=32, max_sequence_length=12
    )
    model = hub.models.GPT2CausalLM(backbone=backbone, preprocessor=None)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        sampler="greedy",
    )  # fmt: skip
    counting = np.tile(np.arange(13), (32, 1))
    x = {"token_ids": counting[:, :-1], "padding_mask": np.ones((32, 12), "int32")}
    model.fit(x, counting[:, 1:], epochs=40, verbose=0)
    begun = {"token_ids": np.array([[0, 1, 2, 3] + [0] * 8]), "padding_mask": np.array([[1] * 4 + [0] * 8])}
    written = np.asarray(model.generate(begun, stop_token_ids=None)["token_ids"])
    assert written.tolist() == [list(range(12))]


def test_a_classifier_of_images():
    hub = package("keras_hub")
    backbone = hub.models.ResNetBackbone(
        input_conv_filters=[64], input_conv_kernel_sizes=[3], stackwise_num_filters=[64, 64],
        stackwise_num_blocks=[1, 1], stackwise_num_strides=[1, 2], block_type="basic_block", image_shape=(16, 16, 3),
    )  # fmt: skip
    model = hub.models.ImageClassifier(backbone=backbone, num_classes=2)
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    images = np.random.default_rng(0).normal(size=(32, 16, 16, 3)).astype("float32")
    losses = model.fit(images, (images.mean((1, 2, 3)) > 0).astype("int32"), epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_tokenizers():
    hub = package("keras_hub")
    assert np.asarray(hub.tokenizers.ByteTokenizer()("hello")).tolist() == list(b"hello")
    pairs = hub.tokenizers.BytePairTokenizer(vocabulary={"a": 0, "b": 1, "ab": 2}, merges=["a b"])
    assert np.asarray(pairs("ab")).tolist() == [2]


# TensorFlow Datasets.


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A data set with features of every usual kind, written and ready to be read."""
    tfds = package("tensorflow_datasets")

    class Things(tfds.core.GeneratorBasedBuilder):
        """Some things."""

        VERSION = tfds.core.Version("1.0.0")

        def _info(self):
            return tfds.core.DatasetInfo(
                builder=self,
                features=tfds.features.FeaturesDict({
                    "image": tfds.features.Image(shape=(6, 5, 3)),
                    "label": tfds.features.ClassLabel(names=["low", "high"]),
                    "name": tfds.features.Text(),
                    "vector": tfds.features.Tensor(shape=(3,), dtype=np.float32),
                    "words": tfds.features.Sequence(tfds.features.Text()),
                    "boxes": tfds.features.Sequence({"box": tfds.features.BBoxFeature(), "area": np.int64}),
                }),
                supervised_keys=("image", "label"),
            )  # fmt: skip

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples(0, 20), "test": self._generate_examples(20, 25)}

        def _generate_examples(self, first, last):
            for i in range(first, last):
                box = tfds.features.BBox(0.0, 0.25, 0.5, 1.0)
                yield (
                    i,
                    {
                        "image": np.full((6, 5, 3), i, np.uint8), "label": int(i >= 10), "name": f"thing {i}",
                        "vector": np.full(3, i, np.float32), "words": ["w"] * (i % 3),
                        "boxes": [{"box": box, "area": i}] * (i % 2),
                    },
                )  # fmt: skip

    builder = Things(data_dir=str(tmp_path_factory.mktemp("things")))
    builder.download_and_prepare()
    return builder


def test_a_prepared_data_set_is_read(prepared):
    things = {thing["name"].decode(): thing for thing in prepared.as_dataset(split="train").as_numpy_iterator()}
    assert sorted(things) == sorted(f"thing {i}" for i in range(20))
    thing = things["thing 11"]
    assert thing["image"].shape == (6, 5, 3)
    assert (thing["image"] == 11).all()
    assert thing["label"] == 1
    assert thing["vector"].tolist() == [11, 11, 11]
    assert thing["words"].tolist() == [b"w", b"w"]
    assert thing["boxes"]["box"].tolist() == [[0.0, 0.25, 0.5, 1.0]]
    assert thing["boxes"]["area"].tolist() == [11]


def test_a_data_set_is_read_from_its_directory_in_parts_and_trains(prepared):
    tfds = package("tensorflow_datasets")
    builder = tfds.builder_from_directory(prepared.data_dir)
    assert builder.info.splits["test"].num_examples == 5
    half = builder.as_dataset(split="train[:50%]", shuffle_files=True)
    assert len(half) == 10
    pairs = builder.as_dataset(split="train", as_supervised=True).map(lambda x, y: (tf.cast(x, tf.float32) / 20, y))
    model = keras.Sequential([keras.Input((6, 5, 3)), keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = model.fit(pairs.batch(5), epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    images, _ = next(iter(tfds.as_numpy(pairs.batch(5))))
    assert images.shape == (5, 6, 5, 3)


# scikit-learn.


def classifier(X, y):
    model = keras.Sequential([keras.Input(X.shape[1:]), keras.layers.Dense(y.shape[1], activation="softmax")])
    model.compile(keras.optimizers.Adam(0.1), "categorical_crossentropy")
    return model


def regressor(X, y):
    model = keras.Sequential([keras.Input(X.shape[1:]), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.5), "mse")
    return model


def test_a_classifier_among_those_of_scikit_learn():
    package("sklearn")
    from sklearn.datasets import load_iris
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = load_iris(return_X_y=True)
    wrapped = keras.wrappers.SKLearnClassifier(classifier, fit_kwargs={"epochs": 30, "verbose": 0})
    pipeline = make_pipeline(StandardScaler(), wrapped).fit(x, y)
    assert pipeline.score(x, y) > 0.9


def test_a_regressor_is_pickled():
    package("sklearn")
    from sklearn.datasets import make_regression

    x, y = make_regression(100, 4, random_state=0)
    fitted = keras.wrappers.SKLearnRegressor(regressor, fit_kwargs={"epochs": 150, "verbose": 0}).fit(x, y)
    assert fitted.score(x, y) > 0.9
    assert np.allclose(pickle.loads(pickle.dumps(fitted)).predict(x), fitted.predict(x))
