"""Variables of modules and Keras models in safetensors files: their names, what does not fit, when nothing changes."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.checkpoint.safetensors_names import named_variables

keras = tf.keras


class Layer(tf.Module):
    """A module with a variable of its own."""

    def __init__(self, value, dtype=tf.float32):
        super().__init__()
        self.kernel = tf.Variable(tf.fill([2], tf.cast(value, dtype)))


class Network(tf.Module):
    """Modules in attributes, lists, dictionaries; one of them twice."""

    def __init__(self, value=0.0):
        super().__init__()
        self.first = Layer(value + 1)
        self.layers = [Layer(value + 2), {"inner": Layer(value + 3)}]
        self.again = self.first
        self.step = tf.Variable(int(value), trainable=False, dtype=tf.int64)
        self.name_of_it = "not saved"


NAMES = ["first.kernel", "layers.0.kernel", "layers.1.inner.kernel", "step"]


def values(module):
    return {name: variable.numpy().tolist() for name, variable in named_variables(module).items()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_modules(path):
    source = Network(5.0)
    tf.safetensors.save_model(source, path, {"format": "tf"})
    loaded = tf.safetensors.load_file(path)
    assert sorted(name.replace("again", "first") for name in loaded) == NAMES
    target = Network()
    assert tf.safetensors.load_model(target, path) == ([], [])
    assert values(target) == values(source)


def test_shards_of_a_module(path):
    tf.safetensors.save_model(Network(5.0), path, max_shard_size=10)
    target = Network()
    tf.safetensors.load_model(target, path.parent)
    assert values(target) == values(Network(5.0))


def test_what_does_not_fit_is_listed_and_nothing_changes(path):
    tf.safetensors.save_file(
        {
            "first.kernel": tf.zeros([3]),
            "layers.0.kernel": tf.ones([2]),
            "layers.1.inner.kernel": tf.ones([2], tf.float64),
            "other": tf.ones([]),
        },
        path,
    )
    module = Network()
    module.again = None
    before = values(module)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.safetensors.load_model(module, path)
    text = caught.value.message
    assert f"{path} does not fit Network, and nothing was loaded" in text
    for line in (
        "missing in the file: step int64[]",
        "not in the model: other float32[]",
        "first.kernel float32[3] in the file, float32[2] in the model",
        "layers.1.inner.kernel float64[2] in the file, float32[2] in the model",
        "cast=True",
        "strict=False",
    ):
        assert line in text
    assert "layers.0.kernel" not in text
    assert values(module) == before
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.safetensors.load_model(module, path, strict=False, cast=True)
    assert "missing" not in caught.value.message
    assert "float64" not in caught.value.message
    assert values(module) == before


def test_not_strict_and_other_dtypes(path):
    tf.safetensors.save_file({"layers.0.kernel": tf.constant([1.5, 2.5], tf.bfloat16), "x": tf.ones([])}, path)
    module = Network()
    module.again = None
    result = tf.safetensors.load_model(module, path, strict=False, cast=True)
    assert result.missing == ["first.kernel", "layers.1.inner.kernel", "step"]
    assert result.unexpected == ["x"]
    assert module.layers[0].kernel.numpy().tolist() == [1.5, 2.5]


def test_names_of_another_framework(path):
    def names(name):
        return name.replace(".kernel", ".weight")

    tf.safetensors.save_model(Network(1.0), path, names=names)
    assert "layers.0.weight" in tf.safetensors.load_file(path)
    target = Network()
    tf.safetensors.load_model(target, path, names=names)
    assert values(target) == values(Network(1.0))
    with pytest.raises(ValueError, match="gives 'x' to two variables"):
        tf.safetensors.save_model(Network(), path, names=lambda name: "x")


def test_bad_arguments(path):
    with pytest.raises(TypeError, match="expected a tf.Module"):
        tf.safetensors.save_model({"a": tf.ones([])}, path)
    with pytest.raises(ValueError, match="has no variables"):
        tf.safetensors.save_model(tf.Module(), path)
    module = tf.Module()
    module.text = tf.Variable("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'text' is string"):
        tf.safetensors.save_model(module, path)
    assert not path.exists()

    @tf.function
    def function():
        tf.safetensors.load_model(module, path)

    with pytest.raises(RuntimeError, match="outside of functions"):
        function()


# Keras.


def sequential():
    return keras.Sequential([
        keras.Input([4]), keras.layers.Dense(3), keras.layers.BatchNormalization(), keras.layers.Dense(2, name="out"),
        keras.layers.Dense(2),
    ])  # fmt: skip


class Subclassed(keras.Model):
    """Layers in attributes, lists and dictionaries, and a weight of its own."""

    def __init__(self):
        super().__init__()
        self.block = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(3)])
        self.rest = [keras.layers.Dense(2), {"x": keras.layers.LSTM(2)}]
        self.scale = self.add_weight(shape=(2,), name="scale")

    def call(self, x):
        return self.rest[1]["x"](self.rest[0](self.block(x))[:, None] * self.scale)


def test_names_do_not_depend_on_what_was_made_before():
    for _ in range(2):  # Keras names the layers of the second one dense_4, ...
        assert list(named_variables(sequential())) == [
            "dense.kernel", "dense.bias", "batch_normalization.gamma", "batch_normalization.beta",
            "batch_normalization.moving_mean", "batch_normalization.moving_variance", "out.kernel", "out.bias",
            "dense_1.kernel", "dense_1.bias",
        ]  # fmt: skip
    model = Subclassed()
    model(tf.ones([1, 4]))
    assert sorted(named_variables(model)) == [
        "dense.bias", "dense.kernel", "lstm.lstm_cell.bias", "lstm.lstm_cell.kernel",
        "lstm.lstm_cell.recurrent_kernel", "scale", "sequential.dense.bias", "sequential.dense.kernel",
        "sequential.dense_1.bias", "sequential.dense_1.kernel",
    ]  # fmt: skip


@pytest.mark.parametrize("make", [sequential, Subclassed])
def test_keras_models(path, make):
    x = tf.constant(np.random.default_rng(1).normal(size=[3, 4]).astype(np.float32))
    source, target = make(), make()
    expected = source(x).numpy()
    tf.safetensors.save_model(source, path)
    target(x)
    assert tf.safetensors.load_model(target, path) == ([], [])
    np.testing.assert_array_equal(target(x).numpy(), expected)


def test_a_keras_model_that_is_not_built(path):
    with pytest.raises(ValueError, match="has no variables. A Keras model has them once it is built"):
        tf.safetensors.save_model(keras.Sequential([keras.layers.Dense(3)]), path)


def test_keras_layers_in_a_module_and_weights_as_tensors(path):
    module = tf.Module()
    module.dense = keras.layers.Dense(2)
    module.dense(tf.ones([1, 3]))
    assert sorted(named_variables(module)) == ["dense.bias", "dense.kernel"]
    tf.safetensors.save_file({weight.path: weight for weight in module.dense.weights}, path)
    assert [list(tensor.shape) for tensor in tf.safetensors.load_file(path).values()] == [[2], [3, 2]]
