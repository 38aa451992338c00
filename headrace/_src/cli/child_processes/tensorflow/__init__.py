"""What `import tensorflow` finds in Python processes that a program under `headrace run` starts: headrace.

Programs that are installed, such as TensorBoard, find what they would find without it.
"""

import importlib
import os
import sys

from headrace._src.compat.tensorflow_names.alias import install


def _is_installed_program():
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path is not None and os.path.realpath(path).startswith(os.path.realpath(sys.prefix) + os.sep)


del sys.modules[__name__]  # to make place for the module that is meant
if _is_installed_program():
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.dirname(__file__))]
else:
    install()
importlib.import_module(__name__)
