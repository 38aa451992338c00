"""`save_weights` and `load_weights` with checkpoints by path, and the callbacks that save during training."""

import os

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")

X, Y = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(4, 3), np.ones([4, 1], "float32")


def subclassed():
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)]

        def call(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    return Net()


def sequential():
    k = tf.keras.layers
    return tf.keras.Sequential([k.Dense(4, activation="relu"), k.BatchNormalization(), k.Dense(1)])


def functional():
    x = tf.keras.Input((3,))
    return tf.keras.Model(x, tf.keras.layers.Dense(1)(tf.keras.layers.Dense(4, activation="tanh")(x)))


MODELS = [subclassed, sequential, functional]


def trained(make, epochs=2):
    tf.keras.utils.set_random_seed(3)
    model = make()
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    model.fit(X, Y, epochs=epochs, verbose=0)
    return model


@pytest.mark.parametrize("make", MODELS)
def test_a_path_without_an_ending_is_a_checkpoint(tmp_path, make):
    model = trained(make)
    path = str(tmp_path / "new" / "ckpt")
    model.save_weights(path)
    assert sorted(os.listdir(tmp_path / "new")) == ["checkpoint", "ckpt.data-00000-of-00001", "ckpt.index"]
    assert tf.train.latest_checkpoint(str(tmp_path / "new")) == path

    other = make()
    status = other.load_weights(tf.train.latest_checkpoint(str(tmp_path / "new")))
    assert other(X).numpy() == pytest.approx(model(X).numpy(), abs=0)
    status.assert_existing_objects_matched()
    status.expect_partial()


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("when", ["before compile", "after compile", "after fit"])
def test_training_goes_on(tmp_path, make, when):
    path = str(tmp_path / "ckpt")
    model = trained(make)
    model.save_weights(path)
    expected = model.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"]

    other = make() if when != "after fit" else trained(make)
    if when == "after compile":
        other.compile(tf.keras.optimizers.Adam(0.5), "mse")
    other.load_weights(path)
    if when == "before compile":
        other.compile(tf.keras.optimizers.Adam(0.5), "mse")
    assert other.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_a_path_that_names_one_of_the_files(tmp_path, ending):
    model = trained(functional)
    model.save_weights(str(tmp_path / "ckpt"))
    other = functional()
    other.load_weights(str(tmp_path / "ckpt") + ending).expect_partial()
    assert other(X).numpy() == pytest.approx(model(X).numpy(), abs=0)


@pytest.mark.parametrize("call", [
    lambda model, path: model.save_weights(path, save_format="tf"),
    lambda model, path: model.save_weights(path, True, "tf"),
    lambda model, path: model.save_weights(path, options=tf.train.CheckpointOptions()),
    lambda model, path: model.save_weights(os.fsencode(path)),
])  # fmt: skip
def test_arguments_of_2_0(tmp_path, call):
    call(trained(functional), str(tmp_path / "ckpt"))
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "ckpt")


@pytest.mark.parametrize(("name", "save_format"), [("w.h5", None), ("w.hdf5", None), ("w", "h5"), ("w.h5", "h5")])
@pytest.mark.parametrize("by_name", [False, True])
def test_h5_files_of_keras_2(tmp_path, name, save_format, by_name):
    model, path = trained(functional), str(tmp_path / name)
    model.save_weights(path, save_format=save_format)
    other = tf.keras.models.clone_model(model)
    assert other.load_weights(path, by_name=by_name) is None
    assert other(X).numpy() == pytest.approx(model(X).numpy(), abs=0)


def test_files_of_keras_3_stay(tmp_path):
    model, path = trained(functional), str(tmp_path / "w.weights.h5")
    model.save_weights(path)
    other = functional()
    other.load_weights(path)
    assert other(X).numpy() == pytest.approx(model(X).numpy(), abs=0)
    assert os.listdir(tmp_path) == ["w.weights.h5"]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"filepath": "w.h5", "save_format": "tf"}, "looks like an HDF5 file"),
    ({"filepath": "w", "save_format": "zip"}, "Was expecting one of"),
])  # fmt: skip
def test_wrong_arguments_of_save_weights(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        trained(functional).save_weights(**arguments)
    assert os.listdir(tmp_path) == []


def test_a_model_without_weights_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="have not yet been created"):
        subclassed().save_weights(str(tmp_path / "ckpt"))


def test_wrong_arguments_of_load_weights(tmp_path):
    model = trained(functional)
    model.save_weights(str(tmp_path / "ckpt"))
    with pytest.raises(ValueError, match="filepath is None, which is what tf.train.latest_checkpoint gives"):
        model.load_weights(None)
    with pytest.raises(ValueError, match="only for HDF5 files"):
        model.load_weights(str(tmp_path / "ckpt"), by_name=True)
    with pytest.raises(ValueError, match="is a folder of checkpoints"):
        model.load_weights(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match="no checkpoint .*other.index"):
        model.load_weights(str(tmp_path / "other"))
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))]).load_weights(
            tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(tmp_path / "foreign"))
        )


def test_weights_that_do_not_fit_change_nothing(tmp_path):
    trained(functional).save_weights(str(tmp_path / "ckpt"))
    x = tf.keras.Input((3,))
    other = tf.keras.Model(x, tf.keras.layers.Dense(1)(tf.keras.layers.Dense(5)(x)))
    before = other.get_weights()
    with pytest.raises(ValueError, match=r"shape \(3, 4\) when attempting to restore variable with shape \(3, 5\)"):
        other.load_weights(str(tmp_path / "ckpt"))
    assert all(np.array_equal(a, b) for a, b in zip(before, other.get_weights()))


# ModelCheckpoint.


@pytest.mark.parametrize("make", MODELS)
def test_checkpoints_during_training(tmp_path, make):
    callback = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "cp-{epoch:04d}"), save_weights_only=True)
    model = make()
    model.compile("adam", "mse")
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[callback])
    latest = tf.train.latest_checkpoint(str(tmp_path))
    assert os.path.basename(latest) == "cp-0003"
    assert sorted(os.listdir(tmp_path))[1::2] == [f"cp-{n:04d}.data-00000-of-00001" for n in (1, 2, 3)]
    other = make()
    other.load_weights(latest).expect_partial()
    assert other(X).numpy() == pytest.approx(model(X).numpy(), abs=0)


def test_period(tmp_path):
    callback = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "cp-{epoch}.ckpt"), save_weights_only=True, period=2)
    model = trained(functional)
    model.fit(X, Y, epochs=5, verbose=0, callbacks=[callback])
    assert sorted(path.name for path in tmp_path.glob("*.index")) == ["cp-2.ckpt.index", "cp-4.ckpt.index"]


def test_the_best_weights(tmp_path):
    path = str(tmp_path / "best")
    callback = tf.keras.callbacks.ModelCheckpoint(path, "loss", save_best_only=True, save_weights_only=True)
    model = trained(functional)
    model.fit(X, Y, verbose=0, callbacks=[callback])
    expected = model(X).numpy()
    model.fit(X, Y + 100.0, verbose=0, callbacks=[callback])  # a loss that is worse
    other = functional()
    other.load_weights(path).expect_partial()
    assert other(X).numpy() == pytest.approx(expected, abs=0)
    assert model(X).numpy() != pytest.approx(expected, abs=0)


def test_save_freq_in_batches(tmp_path):
    callback = tf.keras.callbacks.ModelCheckpoint(
        str(tmp_path / "cp-{epoch}-{batch}"), save_weights_only=True, save_freq=2
    )
    trained(functional).fit(X, Y, batch_size=1, epochs=1, verbose=0, callbacks=[callback])
    assert {name.partition(".")[0] for name in os.listdir(tmp_path)} == {"checkpoint", "cp-1-2", "cp-1-4"}
