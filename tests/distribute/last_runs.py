"""What the long proofs have found when they last ran: a line for each in a small file, with date, versions and seed."""

import datetime
import importlib.metadata
import pathlib
import platform

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden"
PACKAGES = "headrace", "jax", "numpy", "keras"


def keep(file, kind, said, seed):
    """Remember what a run has found, in the place of what one of the same kind has.

    Args:
        file: its name in tests/golden.
        kind: the command, and which part of it this was.
        said: what was found.
        seed: of its random numbers.
    """
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    line = f"{kind}: {datetime.date.today()}, Python {platform.python_version()}, {versions}; seed {seed}: {said}"
    path = FOLDER / file
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = [kept for kept in lines if not kept.startswith(f"{kind}: ")]
    path.write_text("\n".join(sorted([*lines, line])) + "\n", encoding="utf-8")
