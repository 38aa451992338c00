"""What is said of names that are not there."""

import csv
import importlib
import pathlib
import re

import pytest

import headrace as tf
from headrace._src.core import lazy, missing_names

SYMBOLS = pathlib.Path(__file__).parents[1] / "fixtures" / "tf_symbols.tsv"

# There in part; of the last three, what other packages import, once `import tensorflow` means headrace.
IN_PART = {"tf.distribute", "tf.experimental.dtensor", "tf.python", "tf.core"}


def has(name):
    """Whether headrace has a public name, or a method written with #."""
    value = tf
    for part in re.split("[.#]", name.removeprefix("tf.")):
        value = getattr(value, part, None)
        if value is None:
            return False
    return True


def test_every_name_of_tensorflow_that_is_missing_has_a_row():
    with SYMBOLS.open(encoding="utf-8") as file:
        names = [row[0] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    unexplained = [name for name in names if not name.startswith("tf.keras") and not has(name)
                   and missing_names.row_of(name) is None]  # fmt: skip
    assert unexplained == []


@pytest.mark.parametrize("row", missing_names.rows(), ids=lambda row: row.name)
def test_rows(row):
    assert row.status in missing_names.STATUSES
    if row.status == missing_names.PACKAGE:
        assert row.name.startswith("import ")
        assert row.advice.startswith("pip install ")
        return
    if row.name.startswith("tf.") and "*" not in row.name and row.name not in IN_PART:
        assert not has(row.name), f"{row.name} is there: its row can go"
    # What is advised is there.
    for name in re.findall(r"\btf(?:\.\w+)+", row.advice):
        if not name.startswith(("tf.keras", "tf.contrib", row.name)):
            assert has(name), name


@pytest.mark.parametrize(("read", "said"), [
    (lambda: tf.lite.experimental.QuantizationDebugger, "debugger of quantized models.*planned"),
    (lambda: tf.compat.v1.lite, "TensorFlow Lite.*Use tf.lite"),
    (lambda: tf.distribute.coordinator.ClusterCoordinator, "MultiWorkerMirroredStrategy.*planned"),
    (lambda: tf.distribute.no_such_name, "planned"),
    (lambda: tf.Session, "run at once"),
    (lambda: tf.train.AdamOptimizer, "tf.keras.optimizers"),
    (lambda: tf.keras.layers.LocallyConnected2D, "other weights at each place.*Keras 2.*extract_patches"),
    (lambda: tf.keras.layers.CuDNNLSTM, "tf.keras.layers.LSTM"),
    (lambda: tf.keras.layers.experimental.SyncBatchNormalization, "synchronized=True"),
    (lambda: tf.keras.estimator.model_to_estimator, "model.fit"),
    (lambda: tf.keras.models.model_from_yaml, "to_json"),
    (lambda: tf.keras.Model.to_yaml, "to_json"),
    (lambda: tf.keras.utils.multi_gpu_model, "Leave it out"),
    (lambda: tf.get_default_graph, "name of TensorFlow 1.*tf.compat.v1.get_default_graph"),
    (lambda: tf.train.get_global_step, "tf.compat.v1.train.get_global_step"),
])  # fmt: skip
def test_what_is_said_of_an_attribute(read, said):
    with pytest.raises(AttributeError, match=said) as caught:
        read()
    assert dir(caught.value.obj) == []  # Python suggests nothing


def test_the_same_is_said_after_an_import_by_the_long_name():
    module = importlib.import_module("keras._tf_keras.keras.utils")  # as `import tensorflow.keras.utils` does
    with pytest.raises(AttributeError, match="was in Keras 2"):
        module.multi_gpu_model


def test_what_is_said_of_an_import():
    with pytest.raises(ImportError, match="cannot import name 'log' from 'headrace'.*Use tf.math.log"):
        from headrace import log  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'no_such' from 'headrace'"):
        from headrace import no_such  # noqa: F401


def test_other_names_are_suggested_as_usual():
    with pytest.raises(AttributeError) as caught:
        tf.reduce_men
    assert caught.value.obj is tf
    assert not hasattr(tf, "log")
    assert getattr(tf, "log", 5) == 5


def test_packages_that_are_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imagecodecs", None)
    module = lazy.LazyModule("imagecodecs")
    with pytest.raises(ModuleNotFoundError, match=r"JPEG XL.*pip install 'headrace\[jxl\]'") as caught:
        module.jpegxl_decode
    assert caught.value.name == "imagecodecs"
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        lazy.LazyModule("no_such_package").name
