"""`model.save(folder)` and `load_model(folder)`: a SavedModel that is also a model of Keras."""

import logging
import os

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")

X, Y = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(4, 3), np.ones([4, 1], "float32")


def functional():
    k = tf.keras.layers
    x = tf.keras.Input((3,), name="x")
    return tf.keras.Model(x, k.Dense(1, name="end")(k.Dropout(0.5)(k.Dense(4, activation="tanh")(x))))


def sequential():
    k = tf.keras.layers
    return tf.keras.Sequential([k.Dense(4, activation="relu"), k.BatchNormalization(), k.Dense(1, name="end")])


def subclassed():
    class Net(tf.keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.blocks = [tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)]

        def call(self, x):
            return self.blocks[1](self.blocks[0](x))

    return Net()


def trained(make):
    tf.keras.utils.set_random_seed(3)
    model = make()
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    model.fit(X, Y, epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("make", [functional, sequential])
@pytest.mark.parametrize("arguments", [{}, {"save_format": "tf"}, {"include_optimizer": True}])
def test_a_folder_is_a_saved_model_and_a_keras_model(tmp_path, make, arguments):
    model, path = trained(make), str(tmp_path / "model")
    model.save(path, **arguments)
    expected = model.predict(X, verbose=0)
    assert tf.saved_model.contains_saved_model(path)
    assert tf.saved_model.load(path)(X).numpy() == pytest.approx(expected, abs=1e-6)

    loaded = tf.keras.models.load_model(path)
    assert type(loaded) is type(model)
    assert loaded.predict(X, verbose=0) == pytest.approx(expected, abs=1e-6)
    assert int(loaded.optimizer.iterations) == 2
    assert [layer.name for layer in loaded.layers] == [layer.name for layer in model.layers]


def test_names_of_inputs_and_outputs_are_those_of_keras_2(tmp_path):
    trained(functional).save(str(tmp_path))
    predict = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    assert list(predict.structured_input_signature[1]) == ["x"]
    assert list(predict(x=tf.constant(X))) == ["end"]
    model = sequential()
    with pytest.raises(AttributeError, match="has no inputs yet"):
        assert model.input_names
    model(X)
    assert model.output_names == ["end"]


def test_signatures_of_the_user(tmp_path):
    model = trained(functional)
    double = tf.function(lambda x: 2.0 * model(x), input_signature=[tf.TensorSpec([None, 3])])
    model.save(str(tmp_path), signatures={"double": double})
    assert list(tf.saved_model.load(str(tmp_path)).signatures) == ["double"]


def test_a_model_without_a_description_still_computes_and_trains(tmp_path, caplog):
    model, path = trained(subclassed), str(tmp_path / "model")
    model.save(path)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        loaded = tf.keras.models.load_model(path)
    assert "cannot be used: Could not locate class 'Net'" in caplog.text
    assert loaded(X).numpy() == pytest.approx(model(X).numpy(), abs=1e-6)
    assert loaded.predict(X, verbose=0).shape == (4, 1)
    assert [variable.shape for variable in loaded.trainable_variables] == [(3, 4), (4,), (4, 1), (1,)]

    loaded.compile(tf.keras.optimizers.SGD(0.1), "mse")
    losses = loaded.fit(X, Y, epochs=3, verbose=0).history["loss"]
    assert losses[2] < losses[0]
    loaded.save(str(tmp_path / "again"))
    again = tf.keras.models.load_model(str(tmp_path / "again"))
    assert again(X).numpy() == pytest.approx(loaded(X).numpy(), abs=1e-6)
    with pytest.raises(NotImplementedError, match="Save it to a folder"):
        loaded.save(str(tmp_path / "m.keras"))


def test_the_class_of_the_program_as_a_custom_object(tmp_path):
    model, path = trained(subclassed), str(tmp_path)
    model.save(path)
    loaded = tf.keras.models.load_model(path, custom_objects={"Net": type(model)})
    assert type(loaded) is type(model)
    assert loaded(X).numpy() == pytest.approx(model(X).numpy(), abs=1e-6)
    assert int(loaded.optimizer.iterations) == 2


def test_what_export_wrote(tmp_path):
    model = trained(functional)
    model.export(str(tmp_path / "model"), verbose=False)
    loaded = tf.keras.models.load_model(str(tmp_path / "model"))
    assert loaded.predict(X, verbose=0) == pytest.approx(model.predict(X, verbose=0), abs=1e-6)


def test_a_saved_model_of_something_else(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(ValueError, match="but not of a Keras model.*Use tf.saved_model.load"):
        tf.keras.models.load_model(str(tmp_path))


def test_saving_something_else_there_takes_the_description_away(tmp_path):
    path = str(tmp_path / "model")
    trained(functional).save(path)
    assert os.path.exists(os.path.join(path, "config.json"))
    module = tf.Module()
    module.__call__ = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([None, 3])])
    tf.saved_model.save(module, path)
    assert not {"config.json", "metadata.json", "model.weights.h5"} & set(os.listdir(path))


def test_layers_with_random_numbers(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((4, 4, 1)), tf.keras.layers.RandomFlip(), tf.keras.layers.Flatten()])
    model.save(str(tmp_path))
    x = np.ones([1, 4, 4, 1], "float32")
    assert tf.saved_model.load(str(tmp_path))(x).shape == (1, 16)


def test_models_that_were_never_called(tmp_path):
    with pytest.raises(ValueError, match="its input shapes have not been set"):
        subclassed().save(str(tmp_path / "model"))
    assert os.listdir(tmp_path) == []


def test_h5_by_save_format(tmp_path):
    model = trained(functional)
    model.save(str(tmp_path / "model"), save_format="h5")
    with open(tmp_path / "model", "rb") as file:
        assert file.read(4) == b"\x89HDF"


def test_model_checkpoint_with_folders(tmp_path):
    callback = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "model-{epoch}"))
    model = trained(functional)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[callback])
    assert sorted(os.listdir(tmp_path)) == ["model-1", "model-2"]
    loaded = tf.keras.models.load_model(str(tmp_path / "model-2"))
    assert loaded.predict(X, verbose=0) == pytest.approx(model.predict(X, verbose=0), abs=1e-6)
