"""`import tensorflow` that means headrace: one object by every path, clear errors, pickles, the order of imports."""

import json
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")  # of Keras itself
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(program, folder=None, **environment):
    """What a program prints, in a Python of its own; `folder` comes first on its path."""
    path = os.pathsep.join(filter(None, [str(folder) if folder else None, ROOT, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_one_object_by_every_path():
    tf.keras
    import keras
    import tensorflow
    import tensorflow as named
    import tensorflow.keras as below
    import tensorflow.keras.backend
    from tensorflow import keras as imported
    from tensorflow import nn
    from tensorflow.compat.v1 import placeholder
    from tensorflow.keras import Model, layers
    from tensorflow.keras.datasets import mnist
    from tensorflow.keras.layers import Dense
    from tensorflow.keras.preprocessing.image import load_img
    from tensorflow.keras.utils import to_categorical

    assert tensorflow is tf
    assert named is tf
    assert below is imported is tf.keras
    assert nn is tf.nn
    assert placeholder is tf.compat.v1.placeholder
    assert Dense is layers.Dense is tf.keras.layers.Dense is keras.layers.Dense
    assert Model is keras.Model
    assert callable(mnist.load_data)
    assert callable(to_categorical)
    assert callable(load_img)
    assert tensorflow.keras.backend.backend() == "tensorflow"


def test_keras_under_the_names_of_tensorflow():
    import keras

    for name in ("losses", "metrics", "optimizers", "initializers"):
        assert getattr(tf, name) is getattr(tf.keras, name)
    assert tf.losses.MeanSquaredError is keras.losses.MeanSquaredError
    assert tf.metrics.Accuracy is keras.metrics.Accuracy
    assert tf.optimizers.Adam is keras.optimizers.Adam
    assert tf.initializers.GlorotUniform is keras.initializers.GlorotUniform


def test_internals_give_the_classes_themselves():
    tf.keras
    from tensorflow.python.framework.ops import EagerTensor
    from tensorflow.python.framework.tensor import Tensor
    from tensorflow.python.trackable.data_structures import ListWrapper

    assert Tensor is tf.Tensor
    assert isinstance(tf.constant(1), EagerTensor)
    assert isinstance(tf.Module().__class__, type)
    assert issubclass(ListWrapper, list)


def test_what_does_not_exist():
    tf.keras
    with pytest.raises(ModuleNotFoundError, match="tensorflow.python.no_such.*headrace"):
        import tensorflow.python.no_such
    with pytest.raises(ModuleNotFoundError, match="tensorflow.no_such"):
        import tensorflow.no_such  # noqa: F401
    with pytest.raises(ImportError, match="no_such_name"):
        from tensorflow import no_such_name  # noqa: F401
    with pytest.raises(AttributeError, match="the inside of TensorFlow.*tf.Tensor"):
        import tensorflow.python.framework.ops as ops

        ops.no_such_name


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    tf.keras
    for value in (
        tf.constant([[1.0, 2.0]]), tf.constant(["a", b"\xff"]), tf.constant(3, tf.bfloat16), tf.float32,
        tf.TensorSpec([None, 3], tf.int64, "x"), tf.TensorShape([1, None]),
    ):  # fmt: skip
        again = pickle.loads(pickle.dumps(value, protocol))
        assert type(again) is type(value)
        if tf.is_tensor(value):
            assert again.dtype == value.dtype
            np.testing.assert_array_equal(again.numpy(), value.numpy())
        else:
            assert again == value
    variable = pickle.loads(pickle.dumps(tf.Variable([1.0, 2.0], name="weights"), protocol))
    assert isinstance(variable, tf.Variable)
    np.testing.assert_array_equal(variable.numpy(), [1, 2])
    ragged = tf.ragged.constant([[1, 2], [3]])
    assert pickle.loads(pickle.dumps(ragged, protocol)).to_list() == ragged.to_list()


def test_pickles_of_layers_and_models():
    layer = tf.keras.layers.Dense(3)
    layer.build((None, 2))
    again = pickle.loads(pickle.dumps(layer))
    assert type(again) is tf.keras.layers.Dense
    np.testing.assert_array_equal(again.kernel.numpy(), layer.kernel.numpy())
    model = tf.keras.Sequential([tf.keras.Input((2,)), layer, tf.keras.layers.Dense(1)])
    again = pickle.loads(pickle.dumps(model))
    x = np.ones((4, 2), "float32")
    np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())


# The order of imports: in a Python of its own.


@pytest.mark.slow
def test_the_first_use_of_keras_installs_the_alias():
    assert run("""
        import sys
        import headrace as tf
        assert "tensorflow" not in sys.modules and "keras" not in sys.modules
        tf.keras.layers.Dense
        import tensorflow, keras
        print(tensorflow is tf, keras.backend.backend())
    """) == "True tensorflow"  # fmt: skip


def test_installing_without_keras():
    assert run("""
        import sys
        import headrace
        headrace.install_as_tensorflow()
        headrace.install_as_tensorflow()
        import tensorflow as tf
        print(tf is headrace, "keras" in sys.modules, tf.constant(1).numpy())
    """) == "True False 1"  # fmt: skip


@pytest.mark.slow
def test_pickles_from_before_the_alias_load_after_it():
    assert run("""
        import pickle
        import headrace as tf
        before = pickle.dumps(tf.constant([1, 2]))
        tf.install_as_tensorflow()
        after = pickle.dumps(tf.constant([1, 2]))
        print(pickle.loads(before).numpy(), pickle.loads(after).numpy())
    """) == "[1 2] [1 2]"  # fmt: skip


@pytest.mark.slow
def test_the_backend_of_the_user_is_overridden(tmp_path):
    (tmp_path / "keras.json").write_text(json.dumps({"backend": "jax", "floatx": "float32", "epsilon": 1e-7}))
    program = """
        import headrace as tf
        print(tf.keras.backend.backend(), tf.keras.config.backend())
    """
    assert run(program, KERAS_HOME=str(tmp_path)) == "tensorflow tensorflow"
    assert run(program, KERAS_HOME=str(tmp_path), KERAS_BACKEND="jax") == "tensorflow tensorflow"
    assert json.loads((tmp_path / "keras.json").read_text())["backend"] == "jax"


def test_an_installed_tensorflow_is_not_read(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("raise SystemExit('the other one')")
    (tmp_path / "tensorflow" / "only_there.py").write_text("")
    assert run("""
        import headrace
        headrace.install_as_tensorflow()
        import tensorflow
        print(tensorflow is headrace)
        try:
            import tensorflow.only_there
        except ImportError as error:
            print("headrace" in str(error))
    """, tmp_path).split() == ["True", "True"]  # fmt: skip


def test_tensorflow_itself_was_imported_before(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("__version__ = '2.21.0'")
    assert "TensorFlow itself is already imported" in run("""
        import tensorflow
        import headrace as tf
        for use in (lambda: tf.keras, lambda: tf.losses, tf.install_as_tensorflow):
            try:
                use()
            except RuntimeError as error:
                message = str(error)
            else:
                raise SystemExit("no error")
        print(message)
        assert tf.add(1, 2).numpy() == 3  # all else works beside it
    """, tmp_path)  # fmt: skip


def test_keras_on_another_backend_was_imported_before(tmp_path):
    backend = tmp_path / "keras" / "src" / "backend"
    backend.mkdir(parents=True)
    for folder in (tmp_path / "keras", tmp_path / "keras" / "src", backend):
        (folder / "__init__.py").write_text("")
    (backend / "config.py").write_text("def backend():\n    return 'torch'\n")
    assert "on its torch backend" in run("""
        import keras.src.backend.config
        import headrace as tf
        try:
            tf.keras
        except RuntimeError as error:
            print(error)
    """, tmp_path)  # fmt: skip


def test_without_keras(tmp_path):
    (tmp_path / "keras.py").write_text("raise ModuleNotFoundError(\"No module named 'keras'\", name='keras')")
    assert "pip install keras" in run("""
        import headrace as tf
        try:
            tf.keras
        except ImportError as error:
            print(error)
    """, tmp_path)  # fmt: skip


@pytest.mark.slow
def test_headrace_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport tensorflow as tf\nfrom tensorflow import keras\nimport beside\n"
        "print(tf.__name__, keras.backend.backend(), sys.argv[1:], __name__, beside.x)\n"
    )
    (tmp_path / "beside.py").write_text("x = 5")
    done = subprocess.run(
        [sys.executable, "-m", "headrace", "run", str(script), "--flag", "1"],
        env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.stdout.strip() == "headrace tensorflow ['--flag', '1'] __main__ 5", done.stderr
