"""Letting `import tensorflow` mean headrace, in this process, for programs and packages that say so.

`tensorflow.x` is the module `headrace.x`, the same object under both names; `tensorflow.keras` is Keras itself, on its
tensorflow backend; and the few modules below `tensorflow.python` that Keras and other packages import are made of the
table inner_modules.tsv. Keras tells tensors by the module of their class, so the classes that it looks for are
then said to be from where TensorFlow has them; pickles find them there, and here.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

from headrace._src.compat.keras import deferred_imports
from headrace._src.compat.tensorflow_names.inner_modules import CLASSES, InnerModule, modules
from headrace._src.compat.tensorflow_names.messages import FILES, FOLDERS, MessageModule
from headrace._src.core import missing_names
from headrace._src.core.garbage import lasting_objects
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tracebacks import entrance
from headrace._src.formats.message_classes import share_pool
from headrace._src.op.api import api, provided
from headrace._src.op.loading import load

# Loads much, messages among it, of which `install` first says where they are made.
_replacements = LazyModule("headrace._src.compat.keras.replacements")

_NAME, _OURS = "tensorflow", "headrace"
_KERAS = "keras._tf_keras.keras"  # what TensorFlow calls tf.keras
_KERAS_2 = "tf_keras.api._{version}.keras"  # with TF_USE_LEGACY_KERAS=1
_DTENSOR = "experimental.dtensor"
_INNER = {"python", "compiler", "experimental", "tools"}  # where modules of the table are


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow.x.y`."""

    @entrance
    def find_spec(self, fullname, path=None, target=None):
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        inside = fullname[len(_NAME) + 1 :]
        if inside in FILES:
            return importlib.util.spec_from_loader(fullname, self)
        if _is_inner(inside):
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        if not _exists(_place(inside)):
            raise ModuleNotFoundError(_missing(fullname, inside), name=fullname)
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec):
        inside = spec.name[len(_NAME) + 1 :]
        if inside in FILES:
            return MessageModule(spec.name, inside)
        if _is_inner(inside):
            return InnerModule(spec.name, inside)
        module = importlib.import_module(_place(inside))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        alias = module.__spec__
        if isinstance(module, MessageModule):
            module.load()
            return
        if isinstance(module, InnerModule):
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
        if reader is None and fullname not in _replacements.MODULES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            read = spec.loader.exec_module

            def exec_module(module):
                if reader is None:
                    read(module)
                else:
                    reader(module, read)
                _replacements.replace_in(module)

            spec.loader.exec_module = exec_module
        return spec


def _is_inner(inside):
    """Whether it is a module of TensorFlow's own that other packages import."""
    return inside in FOLDERS or (inside.partition(".")[0] in _INNER and inside in modules())


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
    version = "v1" if inside.startswith("compat.v1.") else "v2"
    for former in ("compat.v2.", "compat.v1."):  # the Keras of both is Keras
        if inside == f"{former}keras" or inside.startswith(f"{former}keras."):
            inside = inside.removeprefix(former)
    if inside == "keras" or inside.startswith("keras."):
        return _keras_name(version) + inside[len("keras") :]
    return f"{_OURS}.{inside}" if inside else _OURS


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
    share_pool()
    sys.meta_path[:0] = [_Alias(), _Replacing()]
    for name in [name for name in sys.modules if name.startswith("keras.")]:
        if name in _replacements.MODULES:
            _replacements.replace_in(sys.modules[name])
    for place, (module, _) in CLASSES.items():
        folder, _, attribute = place.partition(":")
        getattr(load(folder), attribute).__module__ = f"{_NAME}.{module}"
    # `from tensorflow.experimental import dtensor` asks the module itself, which goes by headrace's name.
    importlib.import_module(f"{_OURS}.experimental").dtensor = importlib.import_module(f"{_NAME}.{_DTENSOR}")


def _keras_name(version="v2"):
    """The module that `tf.keras` is: Keras, or Keras 2 where the environment asks for it."""
    asks = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    return _KERAS_2.format(version=version) if asks else _KERAS


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
    name = _keras_name()
    try:
        with lasting_objects():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == "tf_keras":
            raise ImportError(f"TF_USE_LEGACY_KERAS is set. {missing_names.about('import tf_keras')}") from None
        if error.name not in ("keras", name):
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
