"""Switches that change a whole process, each in one of its own."""

import subprocess
import sys


def test_strict_mode_makes_deprecations_errors():
    program = (
        "import warnings\nimport headrace as tf\ntf.experimental.enable_strict_mode()\n"
        "caught = 0\ntry:\n    exec(compile('import warnings; warnings.warn(\"old\", DeprecationWarning)', 'x', 'exec'), "
        "{'__name__': 'headrace.somewhere'})\nexcept DeprecationWarning:\n    caught = 1\n"
        "warnings.warn('of the user', UserWarning)\nprint(caught)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
