"""Embeddings of Keras's TensorBoard callback, where the projector finds them."""

import numpy as np
import pytest

import headrace as tf

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # in Keras


def fitted(folder, **arguments):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Input([3]), layers.Embedding(4, 2, name="words"), layers.Flatten(), layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.TensorBoard(str(folder), write_graph=False, **arguments)
    model.fit(np.zeros([2, 3]), np.ones([2, 1]), epochs=2, verbose=0, callbacks=[callback])
    return model


def test_are_texts_beside_the_event_file(tmp_path):
    (tmp_path / "names.tsv").write_text("a\nb\nc\nd\n")
    model = fitted(tmp_path, embeddings_freq=1, embeddings_metadata={"words": "names.tsv"})
    folder = tmp_path / "train"
    assert (folder / "projector_config.pbtxt").read_text().splitlines() == [
        "embeddings {",
        '  tensor_name: "words"',
        '  metadata_path: "names.tsv"',
        '  tensor_path: "keras_embedding_words.tsv"',
        "  tensor_shape: 4",
        "  tensor_shape: 2",
        "}",
    ]
    rows = np.loadtxt(folder / "keras_embedding_words.tsv", delimiter="\t")
    np.testing.assert_allclose(rows, model.layers[0].embeddings.numpy(), rtol=1e-6)
    assert (folder / "names.tsv").read_text() == "a\nb\nc\nd\n"
    assert list(folder.glob("events*"))
    # What Keras writes is there too.
    assert (folder / "keras_embedding.ckpt-1.weights.h5").exists()
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"\n'
        '  metadata_path: "names.tsv"\n}\n'
    )


def test_unknown_layers_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"Unrecognized `Embedding` layer names .*\['word'\].* has: \['words'\]"):
        fitted(tmp_path, embeddings_freq=1, embeddings_metadata={"word": "names.tsv"})
