"""Runs small programs, each a file of its own, and says what Python would print of the error that ends each.

    python run_mistakes.py FOLDER

It prints a JSON dictionary: name of the file to what `sys.excepthook` wrote. One process runs them all, for importing
Keras takes longer than all of them.
"""

import contextlib
import io
import json
import os
import pathlib
import sys
import types


def outcome(path: pathlib.Path) -> str:
    """What is printed when the program is run."""
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next  # without the frame of this function
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            sys.excepthook(type(error), error, error.__traceback__)
        return printed.getvalue()
    return "It runs."


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    results = {}
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        for path in sorted(folder.glob("*.py")):
            results[path.name] = outcome(path)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
