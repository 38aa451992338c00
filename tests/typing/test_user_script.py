"""The script that type checkers read in `scripts/check` runs, and every public function says what it returns."""

import inspect
import os
import pathlib
import subprocess
import sys

from headrace._src.op.api import PUBLIC
from headrace._src.op.loading import load_everything

FOLDER = pathlib.Path(__file__).resolve().parent


def test_the_script_runs():
    env = dict(os.environ, PYTHONPATH=str(FOLDER.parents[1]))
    done = subprocess.run([sys.executable, FOLDER / "user_script.py"], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr


def test_every_public_function_says_what_it_returns():
    load_everything()
    functions = {name: inspect.unwrap(value) for name, value in dict.items(PUBLIC) if inspect.isfunction(value)}
    # Some wrap a class, one is NumPy's.
    ours = {name: f for name, f in functions.items() if inspect.isfunction(f) and f.__module__.startswith("headrace")}
    silent = [name for name, function in ours.items() if "return" not in function.__annotations__]
    assert not silent, "Write the type after `->`; `Any` where it depends on the arguments."
