"""The script that type checkers read in `scripts/check` runs, and every public function says what it returns."""

import inspect
import os
import pathlib
import subprocess
import sys
import types

from headrace._src.op.api import PUBLIC
from headrace._src.op.loading import load_everything

FOLDER = pathlib.Path(__file__).resolve().parent


def test_the_script_runs():
    env = dict(os.environ, PYTHONPATH=str(FOLDER.parents[1]))
    done = subprocess.run([sys.executable, FOLDER / "user_script.py"], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr


def test_every_public_function_says_what_it_returns():
    load_everything()
    functions = {name: value for name, value in dict.items(PUBLIC) if isinstance(value, types.FunctionType)}
    silent = [name for name, value in functions.items() if "return" not in inspect.unwrap(value).__annotations__]
    assert not silent, "Write the type after `->`; `Any` where it depends on the arguments."
