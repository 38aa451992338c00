"""Keras is imported without scikit-learn, pandas, jax and Orbax, and uses them when a program does."""

import os
import subprocess
import sys
import textwrap

import pytest

from headrace._src.compat.keras import deferred_imports

# Packages that note when they are imported, with what Keras asks of them while it is read.
PACKAGES = {
    "pandas/__init__.py": """
        class Series(list):
            pass


        class DataFrame(list):
            pass


        read_csv = "a function"
    """,
    "orbax/__init__.py": "",
    "orbax/checkpoint/__init__.py": "v1 = 'what Keras uses'",
    "sklearn/__init__.py": "__version__ = '1.6'",
    "sklearn/base.py": """
        class BaseEstimator:
            pass


        class ClassifierMixin:
            pass


        class RegressorMixin:
            pass


        class TransformerMixin:
            pass
    """,
}

BEFORE = """
import sys
import headrace as tf

tf.keras.layers.Dense
assert not {"sklearn", "pandas", "jax", "orbax"} & set(sys.modules), "imported with Keras"
"""

USES = {
    "scikit-learn there": """
        import keras
        assert "SKLearnClassifier" in dir(tf.keras.wrappers)
        assert sys.modules["sklearn.base"].ClassifierMixin in tf.keras.wrappers.SKLearnClassifier.__mro__
        assert tf.keras.wrappers.SKLearnClassifier is keras.wrappers.SKLearnClassifier
    """,
    "a name that is not in keras.wrappers": """
        try:
            tf.keras.wrappers.Nothing
        except AttributeError as error:
            assert "Nothing" in str(error)
        else:
            raise SystemExit("no error")
    """,
    "pandas there": """
        from keras.src.trainers.data_adapters import array_slicing
        types = array_slicing.ARRAY_TYPES
        assert not isinstance([], types) and "pandas" not in sys.modules
        import pandas
        assert isinstance(pandas.Series(), types) and isinstance(pandas.DataFrame(), types)
        assert not isinstance([], types)
        assert isinstance(pandas.DataFrame(), array_slicing.pandas.DataFrame)
        assert not isinstance(pandas.Series(), array_slicing.pandas.DataFrame)
        assert array_slicing.pandas.read_csv == "a function"
    """,
    "jax can be imported afterwards": """
        import jax.monitoring
        assert hasattr(jax.monitoring, "record_scalar")
        from keras.src.callbacks.orbax_checkpoint import OrbaxCheckpoint  # a public name in newer versions only
        assert issubclass(OrbaxCheckpoint, tf.keras.callbacks.Callback)
    """,
    "Orbax there": """
        from keras.src.utils.module_utils import ocp
        assert "orbax" not in sys.modules
        ocp.initialize()
        assert "orbax.checkpoint" in sys.modules
    """,
}

ABSENT = """
    import sys
    sys.modules.update(pandas=None, sklearn=None, orbax=None)
    import headrace as tf
    tf.keras.layers.Dense
    from keras.src.trainers.data_adapters import array_slicing
    assert array_slicing.pandas is None and array_slicing.ARRAY_TYPES
    try:
        tf.keras.wrappers.SKLearnClassifier(lambda X, y: None)
    except ImportError as error:
        assert "scikit-learn" in str(error)
    else:
        raise SystemExit("no error")
    from keras.src.callbacks.orbax_checkpoint import OrbaxCheckpoint
    try:
        OrbaxCheckpoint("folder")
    except ImportError as error:
        assert "pip install orbax" in str(error)
    else:
        raise SystemExit("no error")
"""


def _run(text, folder):
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, "-c", textwrap.dedent(text)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture
def packages(tmp_path):
    """A folder with packages that stand for pandas and scikit-learn."""
    for name, text in PACKAGES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path


@pytest.mark.slow
def test_packages_are_imported_when_they_are_used(packages):
    _run(BEFORE + "\n".join(textwrap.dedent(use) for use in USES.values()), packages)


@pytest.mark.slow
def test_absent_packages(tmp_path):
    _run(ABSENT, tmp_path)


def test_a_module_whose_reading_fails_is_read_again():
    module, attempts = type(sys)("keras.wrappers"), []

    def read(module):
        attempts.append(module)
        if len(attempts) == 1:
            raise ImportError("not now")
        module.name = "here"

    deferred_imports.read_when_used(module, read)
    assert not attempts
    with pytest.raises(ImportError, match="not now"):
        _ = module.name
    assert module.name == "here"
    assert "name" in dir(module)
    assert len(attempts) == 2
