"""The rules: `symbols.tsv` (what a name of 1.x becomes), `notes.tsv` (what is said about it), `contrib.tsv`."""

import functools
import pathlib
from typing import NamedTuple

_FOLDER = pathlib.Path(__file__).parent

DROPPED = "!"  # in `positional`: the argument at this place no longer exists
STAYS = "."  # in `positional`: the argument at this place needs no keyword


class Rule(NamedTuple):
    """What happens to one name of TensorFlow 1.x.

    `becomes` is its new name. `positional` says for each place of 1.x what a positional argument there becomes: it
    stays, is dropped, or gets a keyword. `keywords` maps old keywords to new ones, or to nothing when they are dropped.
    `call` names a function of `calls.py` that rewrites calls. `note` is a key of `notes.tsv`.
    """

    becomes: str
    positional: tuple[str, ...]
    keywords: dict[str, str]
    call: str
    note: str

    @property
    def changes(self) -> bool:
        """Whether anything but a message comes of it."""
        return bool(self.becomes or self.positional or self.keywords or self.call)


class Note(NamedTuple):
    """What the report says: `level` is INFO, WARNING or ERROR; `{name}` in `text` is the name in question."""

    level: str
    text: str


def _rows(name):
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


@functools.cache
def symbols() -> dict[str, Rule]:
    """Rules by the name of 1.x, such as `tf.placeholder`.

    >>> symbols()["tf.placeholder"].becomes
    'tf.compat.v1.placeholder'
    """
    rules = {}
    for name, becomes, positional, keywords, call, note in _rows("symbols.tsv"):
        pairs = dict(pair.split("=") for pair in keywords.split())
        rules[name] = Rule(becomes, tuple(positional.split()), pairs, call, note)
    return rules


@functools.cache
def notes() -> dict[str, Note]:
    """Notes by their keys."""
    return {key: Note(level, text) for key, level, text in _rows("notes.tsv")}


@functools.cache
def contrib() -> dict[str, str]:
    """What to use instead of a part of `tf.contrib`, by the part's name (the longest that fits counts)."""
    return dict(_rows("contrib.tsv"))


def contrib_advice(name: str) -> str:
    """What to use instead of a name in `tf.contrib`.

    >>> contrib_advice("tf.contrib.slim.conv2d")
    'the package tf_slim (pip install tf_slim; import tf_slim as slim)'
    """
    parts = name.split(".")
    for count in range(len(parts), 1, -1):
        advice = contrib().get(".".join(parts[:count]))
        if advice is not None:
            return advice
    raise KeyError(name)
