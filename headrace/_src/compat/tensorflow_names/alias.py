"""Letting `import tensorflow` mean headrace, in this process, for programs and packages that say so.

`tensorflow.x` is the module `headrace.x`, the same object under both names; `tensorflow.keras` is Keras itself, on its
tensorflow backend; and the few modules below `tensorflow.python` that Keras and other packages import are made of the
names in inner_modules.py. Keras tells tensors by the module of their class, so the classes that it looks for are
then said to be from where TensorFlow has them; pickles find them there, and here.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types

from headrace._src.compat.keras import deferred_imports
from headrace._src.compat.keras.replacements import MODULES, replace_in
from headrace._src.compat.tensorflow_names.inner_modules import CLASSES, INTERNALS
from headrace._src.compat.tensorflow_names.messages import FILES, FOLDERS, MessageModule
from headrace._src.core import missing_names
from headrace._src.core.garbage import lasting_objects
from headrace._src.core.tracebacks import entrance
from headrace._src.op.api import api, provided
from headrace._src.op.loading import load

_NAME, _OURS = "tensorflow", "headrace"
_KERAS = "keras._tf_keras.keras"  # what TensorFlow calls tf.keras


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow.x.y`."""

    @entrance
    def find_spec(self, fullname, path=None, target=None):
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        inside = fullname[len(_NAME) + 1 :]
        if inside in FILES:
            return importlib.util.spec_from_loader(fullname, self)
        if inside in INTERNALS or inside in FOLDERS:
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        if not _exists(_place(inside)):
            raise ModuleNotFoundError(_missing(fullname, inside), name=fullname)
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec):
        inside = spec.name[len(_NAME) + 1 :]
        if inside in FILES:
            return MessageModule(spec.name, inside)
        if inside in INTERNALS or inside in FOLDERS:
            return _Internal(spec.name, INTERNALS.get(inside, {}))
        module = importlib.import_module(_place(inside))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        alias = module.__spec__
        if isinstance(module, MessageModule):
            return
        if isinstance(module, _Internal):
            module.__path__ = []
            return
        module.__spec__ = alias.loader_state  # it stays what it was
        sys.modules[alias.name] = module


class _Replacing(importlib.abc.MetaPathFinder):
    """Finds the modules of Keras in which names are replaced, and replaces them once the module has been read.

    And those that import much that is rarely used: they are read in another way.
    """

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("keras."):
            return None
        reader = deferred_imports.reader(fullname)
        if reader is None and fullname not in MODULES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            read = spec.loader.exec_module

            def exec_module(module):
                if reader is None:
                    read(module)
                else:
                    reader(module, read)
                replace_in(module)

            spec.loader.exec_module = exec_module
        return spec


def _exists(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _missing(fullname, inside):
    """What to say of a module that is not there."""
    if inside == "keras" or (inside.startswith("keras.") and not _exists("keras")):
        return f"tensorflow.keras is Keras. {missing_names.about('import keras')}"
    message = f"No module named {fullname!r} in headrace, which stands for TensorFlow in this process."
    said = missing_names.about(fullname) or missing_names.about(f"tf.{inside}")
    return message if said is None else f"{message} {said}"


def _place(inside):
    """Where `tensorflow.<inside>` is."""
    if inside == "keras" or inside.startswith("keras."):
        return _KERAS + inside[len("keras") :]
    return f"{_OURS}.{inside}" if inside else _OURS


class _Internal(types.ModuleType):
    """A module of TensorFlow's own, as far as other packages need it."""

    def __init__(self, name, names):
        super().__init__(name, "The part of this module of TensorFlow that other packages use, from headrace.")
        self.__names = names

    @entrance
    def __getattr__(self, name):
        if name.startswith("__") or name not in self.__names:
            said = None if name.startswith("__") else missing_names.about(f"{self.__name__}.{name}")
            raise missing_names.absence(self.__name__, name, said)
        module, _, attribute = self.__names[name].partition(":")
        value = load(module)
        for part in filter(None, attribute.split(".")):
            value = getattr(value, part)
        setattr(self, name, value)
        return value

    def __dir__(self):
        return sorted(self.__names)


@api("install_as_tensorflow", dispatch=False)
def install() -> None:
    """From now on, in this process, `import tensorflow` gives headrace, and Keras runs on it.

    A TensorFlow that is installed in the same environment is not touched. The backend that keras.json or the
    environment names is overridden in this process.

    Raises:
        RuntimeError: TensorFlow itself has been imported already, or Keras on another backend.
    """
    loaded = sys.modules.get(_NAME)
    if loaded is not None and loaded.__name__ != _OURS:
        raise RuntimeError(
            "TensorFlow itself is already imported in this process. Call headrace.install_as_tensorflow() before "
            "anything imports tensorflow or keras."
        )
    if any(isinstance(finder, _Alias) for finder in sys.meta_path):
        return
    keras = sys.modules.get("keras.src.backend.config")
    if keras is not None and keras.backend() != "tensorflow":
        raise RuntimeError(
            f"Keras is already imported in this process, on its {keras.backend()} backend. Import headrace and use "
            "tf.keras (or call headrace.install_as_tensorflow()) before anything imports keras."
        )
    os.environ["KERAS_BACKEND"] = "tensorflow"
    sys.meta_path[:0] = [_Alias(), _Replacing()]
    for name in MODULES:
        if name in sys.modules:
            replace_in(sys.modules[name])
    for place, (module, name) in CLASSES.items():
        folder, _, attribute = place.partition(":")
        getattr(load(folder), attribute).__module__ = f"{_NAME}.{module}"
        INTERNALS.setdefault(module, {}).setdefault(name, place)
    # `from tensorflow.experimental import dtensor` asks the module itself, which goes by headrace's name.
    for inside in [name for name in INTERNALS if name.startswith("experimental.")]:
        folder, _, name = inside.rpartition(".")
        setattr(importlib.import_module(f"{_OURS}.{folder}"), name, importlib.import_module(f"{_NAME}.{inside}"))


def _of_keras(name):
    """The public names of something that is Keras's."""
    return [f"{folder}{name}" for folder in ("", "compat.v1.", "compat.v2.")]


@provided(*_of_keras("keras"))
def keras():
    """`tf.keras`: Keras on its tensorflow backend, with headrace as that TensorFlow.

    Raises:
        RuntimeError: TensorFlow itself has been imported already, or Keras on another backend.
        ImportError: Keras is not installed.
    """
    install()
    try:
        with lasting_objects():
            return importlib.import_module(_KERAS)
    except ModuleNotFoundError as error:
        if error.name not in ("keras", _KERAS):
            raise
        raise ImportError(f"tf.keras is Keras. {missing_names.about('import keras')}") from None


# TF: these parts of Keras have a name of their own.


@provided(*_of_keras("losses"))
def keras_losses():
    return importlib.import_module(f"{keras().__name__}.losses")


@provided(*_of_keras("metrics"))
def keras_metrics():
    return importlib.import_module(f"{keras().__name__}.metrics")


@provided(*_of_keras("optimizers"))
def keras_optimizers():
    return importlib.import_module(f"{keras().__name__}.optimizers")


@provided(*_of_keras("initializers"))
def keras_initializers():
    return importlib.import_module(f"{keras().__name__}.initializers")
