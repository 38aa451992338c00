"""Starting programs of this folder once for each of several workers."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("TF_CONFIG", "HEADRACE_SECRET")}


def launch(program, *arguments, workers=2, options=(), **variables):
    """Run `headrace launch` with a program of this folder to its end."""
    path = os.path.join(HERE, program)
    command = [sys.executable, "-m", "headrace", "launch", "-n", str(workers), *options, path, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **variables}, timeout=300)
