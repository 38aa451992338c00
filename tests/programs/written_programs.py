"""Small programs written by hand, of which TensorFlow and headrace must make the same: values shown, or the error.

A file in `written` has many, each below a line `### name`. They use `tf`, `np` and `show(...)`. Where headrace means
something else on purpose, the first line of a program says what it does, and why:

    # ours: TypeError, because TensorFlow fails inside of itself with an AttributeError

Run with an interpreter that has TensorFlow to record what it makes of them:

    $TENSORFLOW_PYTHON tests/programs/written_programs.py
"""

import json
import linecache
import os
import pathlib
import re
import warnings

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
FILE = FOLDER.parent / "golden" / "written_programs.json"


def programs() -> dict:
    """Name to source, of all files."""
    found = {}
    for path in sorted((FOLDER / "written").glob("*.txt")):
        for part in re.split(r"^### ", path.read_text(), flags=re.MULTILINE)[1:]:
            name, source = part.split("\n", 1)
            key = f"{path.stem}/{name.strip()}"
            assert key not in found, f"{key} is there twice"
            found[key] = source
    return found


def ours(source) -> str | None:
    """What headrace does otherwise than TensorFlow, if the program says so."""
    match = re.match(r"# ours: (.*?), because", source)
    return match and match.group(1)


def outcome(tf, name, source) -> dict:
    """What the program shows, and the class names of the error that ends it, the most specific first."""
    shown: list = []
    file = f"<program {name}>"
    # As a notebook does with its cells.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"tf": tf, "np": np, "__name__": "__main__", "show": lambda *x: shown.append(" ".join(map(str, x)))}
    error = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what AutoGraph cannot convert runs with a warning
            exec(compile(source, file, "exec"), names)  # our own programs
    except Exception as raised:
        error = [kind.__name__ for kind in type(raised).__mro__ if issubclass(kind, Exception)]
    return {"shown": shown, "error": error}


def main():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    lines = []
    for name, source in programs().items():
        result = outcome(tf, name, source)
        result["error"] = result["error"][:1]
        lines.append(f"{json.dumps(name)}: {json.dumps(result)}")
    FILE.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
