"""Letting `import tensorflow` mean headrace, for programs that say so."""

import importlib
import importlib.abc
import importlib.util
import sys

_NAME, _OURS = "tensorflow", "headrace"


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow.x.y` as `headrace.x.y`: the same module under both names."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        ours = _OURS + fullname[len(_NAME) :]
        try:
            if importlib.util.find_spec(ours) is None:
                return None
        except ModuleNotFoundError:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec):
        module = importlib.import_module(_OURS + spec.name[len(_NAME) :])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        alias = module.__spec__
        module.__spec__ = alias.loader_state  # it stays what it was
        sys.modules[alias.name] = module


def install():
    """From now on, `import tensorflow` gives headrace.

    Raises:
        RuntimeError: TensorFlow itself has been imported already.
    """
    loaded = sys.modules.get(_NAME)
    if loaded is not None and loaded.__name__ != _OURS:
        raise RuntimeError("TensorFlow itself is already imported; install the alias before anything imports it.")
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())
