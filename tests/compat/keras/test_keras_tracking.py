"""Checkpoints of Keras's objects: layers in lists and dicts, and models that are restored before they are called."""

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
pytest.importorskip("keras")

X = np.linspace(-1.0, 1.0, 6, dtype="float32").reshape(2, 3)


def dense(units=2):
    return tf.keras.layers.Dense(units, bias_initializer="glorot_normal" if units > 1 else "ones")


class Nested:
    """Makes a model class with layers in all kinds of containers; `made` says what `__init__` leaves for later."""

    def __new__(cls, later=False):
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.first = dense()
                self.blocks = []
                self.named = {}
                self.sizes = [1, 2, 3]
                self.pair = (dense(), "text")
                if not later:
                    self.fill()

            def fill(self):
                self.blocks.append(dense())
                self.blocks.extend([dense(), [dense()]])
                self.named["a"] = dense()
                self.named.update({"b": dense(1)})

            def call(self, x):
                for layer in [self.first, *self.blocks[:2], self.blocks[2][0], self.pair[0], *self.named.values()]:
                    x = layer(x)
                return x

        return Net()


def keys(path):
    return [name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name, _ in tf.train.list_variables(path)]


@pytest.fixture
def saved(tmp_path):
    tf.keras.utils.set_random_seed(1)
    model = Nested()
    expected = model(X).numpy()
    return tf.train.Checkpoint(model=model).save(str(tmp_path / "ck")), expected


def test_layers_in_lists_dicts_and_tuples_are_saved(saved):
    path, _ = saved
    layers = sorted({key.rpartition("/")[0] for key in keys(path) if key.startswith("model")})
    assert layers == [
        "model/blocks/0", "model/blocks/1", "model/blocks/2/0", "model/first", "model/named/a", "model/named/b",
        "model/pair/0",
    ]  # fmt: skip


def test_lists_without_layers_are_no_part_of_the_file(saved):
    assert "sizes" not in Nested()._trackable_children()
    assert not any("sizes" in key for key in keys(saved[0]))


@pytest.mark.parametrize("when", ["before the first call", "after the first call"])
def test_all_of_them_are_restored(saved, when):
    path, expected = saved
    model = Nested()
    if when.startswith("after"):
        model(X)
    status = tf.train.Checkpoint(model=model).restore(path)
    assert model(X).numpy() == pytest.approx(expected, abs=0)
    status.assert_consumed()


def test_what_is_added_to_lists_and_dicts_later_is_restored_then(saved):
    path, expected = saved
    model = Nested(later=True)
    status = tf.train.Checkpoint(model=model).restore(path)
    model.fill()
    assert model(X).numpy() == pytest.approx(expected, abs=0)
    status.assert_consumed()


def test_a_list_that_contains_itself(tmp_path):
    layer = tf.keras.layers.Dense(1)
    layer.blocks = []
    layer.blocks.append(layer.blocks)
    assert "blocks" not in layer._trackable_children()
    layer.blocks.append(dense())
    layer.blocks[1](X)
    layer(X)
    path = tf.train.Checkpoint(layer=layer).write(str(tmp_path / "ck"))
    assert "layer/blocks/1/_kernel" in keys(path)


def test_cells_of_a_stack_are_saved(tmp_path):
    def make():
        cells = [tf.keras.layers.GRUCell(2), tf.keras.layers.LSTMCell(3)]
        return tf.keras.layers.RNN(cells)

    x = np.ones([1, 4, 2], "float32")
    first, second = make(), make()
    expected = first(x).numpy()
    path = tf.train.Checkpoint(layer=first).write(str(tmp_path / "ck"))
    assert len(keys(path)) == 7
    tf.train.Checkpoint(layer=second).read(path).expect_partial()
    assert second(x).numpy() == pytest.approx(expected, abs=0)


def train(model, optimizer, steps=3):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(X)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("make", [
    Nested, lambda: tf.keras.Sequential([dense(), dense()]),
    lambda: tf.keras.Sequential([tf.keras.Input((3,)), dense(), tf.keras.layers.BatchNormalization(), dense()]),
], ids=["subclassed", "sequential without shapes", "sequential"])  # fmt: skip
def test_training_goes_on_where_it_was(tmp_path, make):
    tf.keras.utils.set_random_seed(1)
    model, optimizer = make(), tf.keras.optimizers.Adam(0.01)
    train(model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(tmp_path / "ck"))
    expected = train(model, optimizer)

    model, optimizer = make(), tf.keras.optimizers.Adam(0.5)
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).restore(path)
    assert train(model, optimizer) == pytest.approx(expected, rel=1e-6)
    status.assert_consumed()


def test_a_model_under_fit_goes_on_too(tmp_path):
    def make():
        tf.keras.utils.set_random_seed(4)
        model = tf.keras.Sequential([dense(), dense(1)])
        model.compile("adam", "mse")
        return model

    y = np.ones([2, 1], "float32")
    model = make()
    model.fit(X, y, epochs=3, verbose=0)
    path = tf.train.Checkpoint(model).save(str(tmp_path / "ck"))
    expected = model.fit(X, y, epochs=3, verbose=0).history["loss"]

    model = make()
    tf.train.Checkpoint(model).restore(path)
    assert model.fit(X, y, epochs=3, verbose=0).history["loss"] == pytest.approx(expected, rel=1e-6)
