"""What is said of names that TensorFlow has and headrace has not, and of packages that are not installed.

All of it stands in one table, missing_names.tsv, which is read when a program asks for such a name.
"""

import dis
import fnmatch
import functools
import pathlib
import sys
from typing import Any, NamedTuple

from headrace._src.core.tracebacks import IMPLEMENTATION

TABLE = pathlib.Path(__file__).with_suffix(".tsv")

PLANNED, NO, MOVED, FORMER, PACKAGE = "planned", "no", "moved", "former", "package"
STATUSES = PLANNED, NO, MOVED, FORMER, PACKAGE
_SAID = {
    PLANNED: "is not in headrace yet; it is planned.",
    NO: "is not in headrace.",
    MOVED: "is not in TensorFlow 2.",
    FORMER: "was in Keras 2; Keras 3, which tf.keras is, has it no more.",
}


class Row(NamedTuple):
    """A name, which may have a `*` in it, what becomes of it, what it is, and what to do."""

    name: str
    status: str
    what: str
    advice: str

    def covers(self, name: str) -> bool:
        """Whether the row is about this name: it is the row's, or below it."""
        return fnmatch.fnmatchcase(name, self.name) or name.startswith((f"{self.name}.", f"{self.name}#"))


@functools.cache
def rows() -> tuple[Row, ...]:
    """The table."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(Row(*line.split("\t")) for line in lines if line and not line.startswith("# "))


def row_of(name: str) -> Row | None:
    """What the table has about `tf.lite.Interpreter`, `tensorflow.contrib.layers` or `import jax`: the closest row."""
    found = [row for row in rows() if row.covers(name)]
    return max(found, key=lambda row: len(row.name), default=None)


def about(name: str) -> str | None:
    """Sentences about a name that is not there; None when the table has nothing about it.

    >>> from headrace._src.core.missing_names import about
    >>> print(about("tf.log"))
    tf.log (a name of TensorFlow 1) is not in TensorFlow 2. Use tf.math.log.
    """
    row = row_of(name)
    if row is None and name.startswith("tf.compat."):  # tf.compat.v1.lite is tf.lite
        row = row_of("tf." + name.split(".", 3)[-1])
    if row is None:
        return None
    subject = name if "*" in row.name else row.name
    if row.status == PACKAGE:
        package = row.name.removeprefix("import ")
        return f"The package {package!r} is not installed: {row.what}. Install it with: {row.advice}"
    return f"{subject} ({row.what}) {_SAID[row.status]} {row.advice}"


class _Nothing:
    """What an error says that it was looking at, so that Python suggests no other name."""

    def __dir__(self):
        return []


def absence(module: str, attribute: str, said: str | None) -> Exception:
    """The error for an attribute that a module does not have, and of which something can be said.

    Where it is imported by name, Python would replace an AttributeError by one of its own; and it would add the
    suggestion of a similar name to one that does not say at which object it looked.
    """
    if said is None:
        return AttributeError(f"module {module!r} has no attribute {attribute!r}")
    if _is_imported():
        return ImportError(f"cannot import name {attribute!r} from {module!r}. {said}", name=module)
    return unlike_any(f"module {module!r} has no attribute {attribute!r}. {said}", attribute)


def unlike_any(text: str, attribute: str) -> AttributeError:
    """An error for an attribute to which Python adds no suggestion."""
    return AttributeError(text, name=attribute, obj=_Nothing())


def _is_imported() -> bool:
    """Whether the innermost frame outside of this package is at a name of `from ... import ...`."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(IMPLEMENTATION):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]
