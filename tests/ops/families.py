"""The families of rows: one file each in `cases`, in folders by subject."""

import importlib
import pathlib

CASES = pathlib.Path(__file__).resolve().parent / "cases"
_MODULES = {
    path.stem: f"cases.{path.parent.name}.{path.stem}" for path in CASES.glob("*/*.py") if path.stem != "__init__"
}
NAMES = sorted(_MODULES)


def rows_of(family: str) -> list:
    """The rows of a family."""
    return importlib.import_module(_MODULES[family]).ROWS
