"""Layers models for TensorFlow.js: what is in the files; and, where the runtime is, that they train the same."""

import json
import re

import comparing
import numpy as np
import pytest

import headrace as tf
from headrace._src.cli.convert import main

layers, keras = tf.keras.layers, tf.keras


def written(model, folder, **settings):
    tf.js.save(model, folder, format="layers", **settings)
    return json.loads((folder / "model.json").read_text())


def test_a_sequential_model(tmp_path):
    model = keras.Sequential([
        keras.Input((6, 6, 1), name="image"), layers.Conv2D(2, 3, activation="silu", kernel_regularizer="l2"),
        layers.LeakyReLU(0.2),
        layers.DepthwiseConv2D(2), layers.Flatten(), layers.Dense(3, kernel_constraint=keras.constraints.MaxNorm(2)),
    ])  # fmt: skip
    found = written(model, tmp_path)
    assert found["format"] == "layers-model"
    described = found["modelTopology"]["model_config"]
    assert described["class_name"] == "Sequential"
    first, convolution, leaky, _, _, dense = described["config"]["layers"]
    assert first == {
        "class_name": "InputLayer",
        "config": {
            "batch_input_shape": [None, 6, 6, 1], "dtype": "float32", "sparse": False, "name": "image",
        },
    }  # fmt: skip
    assert convolution["config"]["activation"] == "swish"
    assert convolution["config"]["kernel_regularizer"] == {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.01}}
    assert leaky["config"]["alpha"] == 0.2
    assert dense["config"]["kernel_constraint"] == {"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 0}}
    assert "module" not in json.dumps(described)
    names = [one["name"].partition("/")[2] for one in found["weightsManifest"][0]["weights"]]
    assert names == ["kernel", "bias", "depthwise_kernel", "bias", "kernel", "bias"]
    data = np.fromfile(tmp_path / "group1-shard1of1.bin", np.float32)
    np.testing.assert_array_equal(data, np.concatenate([np.ravel(one) for one in model.get_weights()]))


def test_calls_of_layers_and_of_models_in_models(tmp_path):
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(3, name="same")], name="inner")
    a = keras.Input((3,), name="a")
    shared = layers.Dense(3, name="shared")
    b, c = shared(a), shared(inner(a))
    found = written(keras.Model(a, [layers.Dense(2, name="same")(b + c), inner(b)]), tmp_path)
    config = found["modelTopology"]["model_config"]["config"]
    calls = {layer["name"]: layer["inbound_nodes"] for layer in config["layers"]}
    assert calls["shared"] == [[["a", 0, 0, {}]], [["inner", 1, 0, {}]]]
    (sum_of_both,) = [layer["name"] for layer in config["layers"] if layer["class_name"] == "Add"]
    assert calls[sum_of_both] == [[["shared", 0, 0, {}], ["shared", 1, 0, {}]]]
    assert config["input_layers"] == [["a", 0, 0]]
    # The making of a model counts as its first call.
    assert config["output_layers"][1] == ["inner", 2, 0]
    names = {one["name"] for one in found["weightsManifest"][0]["weights"]}
    assert len(names) == 6
    assert {"same/kernel", "same_1/kernel", "shared/kernel"} <= names


def test_names_of_weights_of_layers_in_layers(tmp_path):
    model = keras.Sequential([
        keras.Input((5, 3)), layers.Bidirectional(layers.LSTM(2, return_sequences=True, name="cell"), name="both"),
        layers.TimeDistributed(layers.Dense(2), name="each"),
        layers.RNN([layers.LSTMCell(2), layers.SimpleRNNCell(2)], name="stack"),
    ])  # fmt: skip
    names = [one["name"] for one in written(model, tmp_path)["weightsManifest"][0]["weights"]]
    parts = ("kernel", "recurrent_kernel", "bias")
    assert names == [
        *(f"both/{way}_cell/{part}" for way in ("forward", "backward") for part in parts),
        "each/kernel", "each/bias",
        *(f"stack/RNNCell_{number}/{part}" for number in (0, 1) for part in parts),
    ]  # fmt: skip


class Own(layers.Layer):
    def call(self, x):
        return x


# Layers of a vector and of a sequence, and what is said of them.
NOT_THERE = [
    (lambda y, x: layers.GRU(3, name="gate")(x), "gate (GRU): reset_after=True"),
    (lambda y, x: layers.Dense(2, activation="hard_sigmoid", name="h")(y), "h (Dense): activation='hard_sigmoid'"),
    (lambda y, x: Own(name="own")(y), "own (Own): no such layer"),
    (lambda y, x: keras.ops.roll(y, 1), "(Roll): no such layer"),
    (lambda y, x: y + 1.0, "(Add): it is called with something else than tensors of layers"),
    (lambda y, x: layers.Conv1D(2, 2, padding="causal", name="causal")(x), "causal (Conv1D): padding='causal'"),
    (lambda y, x: layers.MultiHeadAttention(1, 2, name="a")(x, x), "a (MultiHeadAttention): no such layer"),
    (lambda y, x: layers.ReLU(negative_slope=0.1, name="sloped")(y), "sloped (ReLU): negative_slope=0.1"),
    (lambda y, x: layers.Dense(2, activity_regularizer="l1", name="b")(y), "b (Dense): activity_regularizer='L1'"),
    (lambda y, x: layers.Softmax(1, name="first")(x), "first (Softmax): axis=1"),
    (lambda y, x: layers.Dense(2, kernel_regularizer=keras.regularizers.OrthogonalRegularizer(), name="right")(y),
     "right (Dense): kernel_regularizer='OrthogonalRegularizer'"),
]  # fmt: skip


def test_all_layers_that_are_not_there_are_named(tmp_path):
    y, x = keras.Input((4,)), keras.Input((4, 4))
    outputs = [layers.Dense(2, name="fine")(y), *(make(y, x) for make, _ in NOT_THERE)]
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.js.save(keras.Model([y, x], outputs), tmp_path, format="layers")
    text = raised.value.message
    for _, expected in NOT_THERE:
        assert expected in text
    assert "format='graph'" in text
    assert "fine" not in text
    assert not (tmp_path / "model.json").exists()


def unbuilt():
    return keras.Sequential([layers.Dense(2)])


class Subclassed(keras.Model):
    def call(self, x):
        return x


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (unbuilt, "is not built"),
        (Subclassed, "Sequential or functional Keras model, got Subclassed"),
        (lambda: tf.function(lambda x: x), "Sequential or functional Keras model, got"),
        (lambda: 3, "Sequential or functional Keras model, got int"),
    ],
)
def test_what_is_no_layers_model(tmp_path, make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tf.js.save(make(), tmp_path, format="layers")


def test_a_layer_of_two_models_is_refused(tmp_path):
    shared = layers.Dense(3, name="shared")
    first = keras.Sequential([keras.Input((3,)), shared])
    second = keras.Sequential([keras.Input((3,)), shared])
    x = keras.Input((3,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="shared \\(Dense\\): it is in several models at once"):
        tf.js.save(keras.Model(x, first(x) + second(x)), tmp_path, format="layers")


def test_zeros_for_masked_steps(tmp_path):
    def model(*first):
        return keras.Sequential([keras.Input((5, 2)), *first, layers.LSTM(2, zero_output_for_mask=True, name="memory")])

    tf.js.save(model(), tmp_path, format="layers")
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="memory \\(LSTM\\): zero_output_for_mask=True, with masks"
    ):
        tf.js.save(model(layers.Masking()), tmp_path, format="layers")


@pytest.mark.filterwarnings("ignore:__array__ implementation")  # Keras writes variables
def test_command(tmp_path, capsys):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.save(tmp_path / "model.keras")
    arguments = ["js", str(tmp_path / "model.keras"), str(tmp_path / "out"), "--format", "layers"]
    assert main([*arguments, "--quantize", "uint8"]) == 0
    found = json.loads((tmp_path / "out" / "model.json").read_text())
    assert found["format"] == "layers-model"
    assert found["weightsManifest"][0]["weights"][0]["quantization"]["dtype"] == "uint8"
    keras.Sequential([keras.Input((2, 2)), layers.GRU(1)]).save(tmp_path / "model.keras")
    assert main(arguments) == 1
    assert "reset_after=True" in capsys.readouterr().err
    with pytest.raises(ValueError, match="format must be one of graph, layers"):
        tf.js.save(model, tmp_path, format="h5")


def classifier():
    return keras.Sequential([
        keras.Input((8, 8, 2)), layers.Conv2D(3, 3, activation="relu", name="features"), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dense(4, activation="softmax", name="head", kernel_regularizer="l2"),
    ])  # fmt: skip


def regression():
    x = keras.Input((6, 3))
    y = layers.LSTM(4, name="features")(x)
    return keras.Model(x, layers.Dense(1, name="head")(layers.Concatenate()([y, layers.LayerNormalization()(y)])))


@pytest.mark.slow
@pytest.mark.skipif(
    not comparing.has_node(), reason="Node and TensorFlow.js are not there: scripts/js_models installs it"
)
@pytest.mark.parametrize("frozen", [(), ("features",)])
@pytest.mark.parametrize(
    ("make", "loss", "name"), [(classifier, "categorical_crossentropy", "categoricalCrossentropy"),
                               (regression, "mean_squared_error", "meanSquaredError")],
)  # fmt: skip
def test_a_step_of_training(tmp_path, make, loss, name, frozen):
    tf.keras.utils.set_random_seed(4)
    model, rng = make(), np.random.default_rng(5)
    x = rng.uniform(-1, 1, (5, *model.input_shape[1:])).astype(np.float32)
    y = np.eye(4, dtype=np.float32)[[0, 3, 1, 2, 2]] if model.output_shape[1] == 4 else rng.random((5, 1), np.float32)
    tf.js.save(model, tmp_path, format="layers")
    fit = {"y": comparing.value_for_node(y), "loss": name, "rate": 0.5, "frozen": list(frozen)}
    (found,) = comparing.computed_in_node([comparing.job(tmp_path, model, [x], fit)])
    assert "error" not in found, found
    before = model.get_weights()
    np.testing.assert_allclose(found["output_0"], model(x), atol=1e-5)
    for layer in frozen:
        model.get_layer(layer).trainable = False
    model.compile(keras.optimizers.SGD(0.5), loss)
    np.testing.assert_allclose(found["loss"], model.train_on_batch(x, y), rtol=1e-5)
    weights = [value for key, value in found.items() if key.startswith("weight ")]
    # There, weights that are trained come first.
    order = [*model.trainable_weights, *model.non_trainable_weights]
    assert len(weights) == len(order)
    for value, expected in zip(weights, order):
        np.testing.assert_allclose(value, expected, atol=1e-5)
    moved = [not np.array_equal(old, new) for old, new in zip(before, model.get_weights())]
    assert any(moved)
    assert all(moved) == (not frozen)
