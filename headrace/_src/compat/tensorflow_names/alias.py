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
import json
import os
import sys

from headrace._src.compat.keras import deferred_imports
from headrace._src.compat.tensorflow_names import child_path
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
_BACKEND = "tensorflow"  # Keras's name of the backend that headrace is
_KERAS = "keras._tf_keras.keras"  # what TensorFlow calls tf.keras
_KERAS_2 = "tf_keras.api._{version}.keras"  # with TF_USE_LEGACY_KERAS=1
_READING = "_initializing"  # what Python notes in the spec of a module while the module is read
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


class _BeingRead(importlib.machinery.ModuleSpec):
    """The spec of a module of Keras that asked for TensorFlow while it was read: its names are replaced afterwards."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == _READING and not value and self.name in sys.modules:
            _replacements.replace_in(sys.modules[self.name])


def _replace_when_read(module):
    if getattr(module.__spec__, _READING, False):
        module.__spec__.__class__ = _BeingRead
    else:
        _replacements.replace_in(module)


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
def install(children=True) -> None:
    """From now on, in this process, `import tensorflow` gives headrace, and Keras runs on it.

    A TensorFlow that is installed in the same environment is not touched. The backend that keras.json or the
    environment names is overridden in this process.

    Args:
        children: whether it is so in Python processes of this environment that this one starts, too. The environment
            variable HEADRACE_CHILDREN=0 says no for all programs.

    Raises:
        RuntimeError: TensorFlow itself has been imported already, or Keras on another backend.
    """
    if not _is_installed():
        backend = _loaded_backend()
        if backend not in (None, _BACKEND):
            raise RuntimeError(
                f"Keras is already imported in this process, on its {backend} backend. Import headrace and use "
                "tf.keras (or call headrace.install_as_tensorflow()) before anything imports keras."
            )
        _install(with_keras=True)
    if children:
        child_path.add_to_environment()


def stand_in() -> None:
    """What `import tensorflow` itself does where headrace stands for TensorFlow: in a child process, or by the shim.

    As with TensorFlow, Keras stays on the backend that the user has chosen.
    """
    if not _is_installed():
        _install(with_keras=(_loaded_backend() or _chosen_backend()) == _BACKEND)


def _is_installed():
    return any(isinstance(finder, _Alias) for finder in sys.meta_path)


def _install(with_keras):
    loaded = sys.modules.get(_NAME)
    if loaded is not None and loaded.__name__ != _OURS:
        raise RuntimeError(
            "TensorFlow itself is already imported in this process. Call headrace.install_as_tensorflow() before "
            "anything imports tensorflow or keras."
        )
    share_pool()
    sys.meta_path.insert(0, _Alias())
    if with_keras:
        os.environ["KERAS_BACKEND"] = _BACKEND
        sys.meta_path.insert(1, _Replacing())
        for name in [name for name in sys.modules if name.startswith("keras.")]:
            if name in _replacements.MODULES:
                _replace_when_read(sys.modules[name])
    for place, (module, _) in CLASSES.items():
        folder, _, attribute = place.partition(":")
        getattr(load(folder), attribute).__module__ = f"{_NAME}.{module}"
    # `from tensorflow.experimental import dtensor` asks the module itself, which goes by headrace's name.
    importlib.import_module(f"{_OURS}.experimental").dtensor = importlib.import_module(f"{_NAME}.{_DTENSOR}")


def _loaded_backend():
    """The backend of the Keras that is imported; None if none is."""
    keras = sys.modules.get("keras.src.backend.config")
    return None if keras is None else keras.backend()


def _chosen_backend():
    """The backend on which Keras would be imported: of the environment, of keras.json, or its usual one."""
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"]
    folder = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(folder, "keras.json"), encoding="utf-8") as file:
            return json.load(file).get("backend", _BACKEND)
    except (OSError, ValueError, AttributeError):  # as Keras does: what cannot be read says nothing
        return _BACKEND


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
    install(children=False)  # the program has not said that it means all processes
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
