"""Runs when a Python process starts that a program on headrace has started: there, `tensorflow` means headrace too.

Python imports a module of this name at its start. `child_path.py` puts this folder into PYTHONPATH, and the environment
that is meant into HEADRACE_CHILDREN: a Python of another environment goes its own way. A module of the same name that
the environment has is run as well.
"""

import importlib.machinery
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SWITCH = "HEADRACE_CHILDREN"
# TensorBoard looks for TensorFlow only to read files with it, and does that by itself where there is none.
_NOT_MEANT = "tensorboard"


class _Waiting:
    """Lets `tensorflow` mean headrace once something asks for it: processes that do not are as fast as ever."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "tensorflow":
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        if _is_not_meant():
            return None
        if importlib.util.find_spec("headrace") is None:  # the other program has it from a folder of its own
            sys.path.append(os.path.abspath(os.path.join(_FOLDER, *[os.pardir] * 5)))
        importlib.import_module("headrace._src.compat.tensorflow_names.alias").stand_in()
        return importlib.util.find_spec(fullname)


def _is_not_meant():
    path = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    return any(os.path.splitext(part)[0] == _NOT_MEANT for part in os.path.abspath(path).split(os.sep)[-2:])


def _run_the_next():
    """Run the module of this name that Python would have found without this one."""
    paths = [path for path in sys.path if os.path.abspath(path) != _FOLDER]
    spec = importlib.machinery.PathFinder.find_spec(__name__, paths)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[__name__] = module
        spec.loader.exec_module(module)


if os.environ.get(_SWITCH) == sys.prefix:
    sys.meta_path.insert(0, _Waiting())
_run_the_next()
