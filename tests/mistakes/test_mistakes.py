"""Typical mistakes, most of them asked about again and again: what is printed names the user's line and what to do.

Each is a small program. Lines that end in `#!` must be named, by file and number; the texts after the program must
appear. All are run by one process, as scripts are; see run_mistakes.py.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys

import mistakes_in_functions
import mistakes_with_keras
import mistakes_with_tensors
import pytest

BEGINNING = "import numpy as np\nimport headrace as tf\n"
MISTAKES = {
    **mistakes_with_tensors.MISTAKES,
    **mistakes_in_functions.MISTAKES,
    **mistakes_with_keras.MISTAKES,
}
MOST_LINES = 20
FOLDER = pathlib.Path(__file__).parent


def printed(folder):
    """What is printed of each mistake, by the name of its file."""
    for name, (program, _) in MISTAKES.items():
        (folder / f"{name}.py").write_text(BEGINNING + program.lstrip("\n"), encoding="utf-8")
    command = [sys.executable, FOLDER / "run_mistakes.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def problems_of(text, folder, name):
    """What is wrong with what was printed of a mistake."""
    program, says = MISTAKES[name]
    length = len(text.splitlines())
    if length > MOST_LINES:
        yield f"{length} lines"
    for words in says:
        if words not in text:
            yield f"does not say {words!r}"
    lines = (BEGINNING + program.lstrip("\n")).splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("#!")]
    if not marked:
        yield "no line is marked"
    for number in marked:
        if f'File "{folder / name}.py", line {number}, in ' not in text:
            yield f"does not name line {number}"
    for place in ("headrace/_src", "site-packages/keras", "importlib", "contextlib", "functools"):
        if place in text.replace("\\", "/"):
            yield f"shows a frame of {place}"


def test_there_are_many():
    assert len(MISTAKES) >= 80


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")
def test_what_is_printed(tmp_path):
    results = printed(tmp_path)  # by one process, for all in one test: importing Keras takes longer than all of them
    found = []
    for name in MISTAKES:
        text = results[f"{name}.py"]
        found += [f"{name}: {problem}:\n{text}" for problem in problems_of(text, tmp_path, name)]
    assert not found, "\n".join(found)
