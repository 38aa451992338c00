"""Files of Keras are there as a whole or not at all; an interrupted training goes on from weights of a known epoch."""

import json
import os

import numpy as np
import pytest

import headrace as tf
from headrace._src.formats import durable_files

tf.install_as_tensorflow()
pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")

X, Y = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(4, 3), np.ones([4, 1], "float32")


def model_with(value):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.set_weights([np.full([3, 1], value, "float32"), np.full([1], value, "float32")])
    return model


SAVED = {
    "m.keras": (lambda model, path: model.save(path), lambda path: tf.keras.models.load_model(path, compile=False)),
    "m.h5": (lambda model, path: model.save(path), lambda path: tf.keras.models.load_model(path, compile=False)),
    "m.weights.h5": (lambda model, path: model.save_weights(path), lambda path: with_weights(path)),
    "w.h5": (lambda model, path: model.save_weights(path), lambda path: with_weights(path)),
}


def with_weights(path):
    model = model_with(0.0)
    model.load_weights(path)
    return model


class Failing(durable_files.Disk):
    """A disk whose n-th flush or rename fails."""

    def __init__(self, at):
        self.left = at

    def _count(self):
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")

    def sync(self, file):
        self._count()
        super().sync(file)

    def rename(self, source, target):
        self._count()
        super().rename(source, target)


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("at", [0, 1])
def test_a_failure_leaves_the_file_before(tmp_path, name, at):
    save, load = SAVED[name]
    path = str(tmp_path / name)
    save(model_with(1.0), path)
    with (
        durable_files.disk_replaced(Failing(at)),
        pytest.raises(tf.errors.ResourceExhaustedError, match="Nothing that was saved before has changed"),
    ):
        save(model_with(2.0), path)
    assert os.listdir(tmp_path) == [name]
    assert load(path).get_weights()[1] == [1.0]
    save(model_with(3.0), path)
    assert load(path).get_weights()[1] == [3.0]


@pytest.mark.parametrize("name", SAVED)
def test_an_error_while_writing_leaves_the_file_before(tmp_path, name, monkeypatch):
    save, load = SAVED[name]
    path = str(tmp_path / name)
    save(model_with(1.0), path)
    broken = model_with(2.0)
    monkeypatch.setattr(type(broken.layers[0]), "save_own_variables", fail)
    monkeypatch.setattr("keras.src.legacy.saving.legacy_h5_format.save_subset_weights_to_hdf5_group", fail)
    with pytest.raises(RuntimeError, match="broken"):
        save(broken, path)
    assert os.listdir(tmp_path) == [name]
    assert load(path).get_weights()[1] == [1.0]


def fail(*_, **__):
    raise RuntimeError("broken")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    model_with(1.0).save(str(tmp_path / "real" / "m.keras"))
    os.symlink(tmp_path / "real" / "m.keras", tmp_path / "m.keras")
    model_with(2.0).save(str(tmp_path / "m.keras"))
    assert os.path.islink(tmp_path / "m.keras")
    assert tf.keras.models.load_model(str(tmp_path / "real" / "m.keras")).get_weights()[1] == [2.0]


def test_leftovers_of_a_killed_process_are_swept(tmp_path):
    left = tmp_path / f".m.keras.{durable_files._host()}-{2**22 + 1}-{'0' * 16}.partial.weights.h5"
    left.write_bytes(b"half of it")
    durable_files.remove_leftovers(str(tmp_path))
    assert not left.exists()


# BackupAndRestore.


class Stop(tf.keras.callbacks.Callback):
    """Ends the training as a crash would, in the midst of an epoch."""

    def __init__(self, epoch):
        super().__init__()
        self._epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self._epoch:
            raise KeyboardInterrupt


def compiled():
    tf.keras.utils.set_random_seed(5)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.05), "mse")
    return model


def fit(model, folder, *callbacks):
    backup = tf.keras.callbacks.BackupAndRestore(str(folder), delete_checkpoint=False)
    return model.fit(X, Y, epochs=6, verbose=0, shuffle=False, callbacks=[backup, *callbacks])


def interrupted(folder, epoch=3):
    with pytest.raises(KeyboardInterrupt):
        fit(compiled(), folder, Stop(epoch))


def test_an_interrupted_training_ends_as_one_that_was_not(tmp_path):
    whole = compiled()
    fit(whole, tmp_path / "a")
    interrupted(tmp_path / "b")
    model = compiled()
    history = fit(model, tmp_path / "b")
    assert history.epoch == [3, 4, 5]
    for a, b in zip(whole.get_weights(), model.get_weights()):
        assert a == pytest.approx(b, rel=1e-6)


def test_weights_and_epoch_cannot_be_of_two_times(tmp_path):
    interrupted(tmp_path)
    state = tmp_path / "training_metadata.json"
    state.write_text(json.dumps({"epoch": 2, "batch": 0}))  # as if the crash had come between the two files
    assert fit(compiled(), tmp_path).epoch == [3, 4, 5]


def test_backups_of_keras_alone_are_read(tmp_path):
    interrupted(tmp_path)
    model = compiled()
    model.optimizer.build(model.trainable_variables)
    model.save_weights(str(tmp_path / "latest.weights.h5"))  # without what is added here
    (tmp_path / "training_metadata.json").write_text(json.dumps({"epoch": 4, "batch": 0}))
    assert fit(model, tmp_path).epoch == [4, 5]
