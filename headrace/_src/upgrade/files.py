"""Single files: read, upgraded, and written as a whole or not at all."""

import os
import shutil
import tempfile
from typing import NamedTuple

from headrace._src.core import operating_system
from headrace._src.upgrade.notebook import upgrade_notebook
from headrace._src.upgrade.rewriting import Change, Message, Options, upgrade
from headrace._src.upgrade.source import SourceError

_SUFFIXES = {".py": upgrade, ".ipynb": upgrade_notebook}


class Job(NamedTuple):
    """A file to upgrade. `target` is None where nothing is written, and `source` itself in place."""

    source: str
    target: str | None
    options: Options
    wants_texts: bool = False  # keep the old and the new text, for a diff


class Outcome(NamedTuple):
    """What became of a file."""

    job: Job
    messages: list[Message]
    changes: list[Change]
    changed: bool
    error: str | None
    texts: tuple[str, str] | None = None


def can_be_upgraded(path: str) -> bool:
    """Whether a file is one of Python or a notebook, by its name."""
    return os.path.splitext(path)[1].lower() in _SUFFIXES


def process(job: Job) -> Outcome:
    """Upgrade a file. A file that cannot be is named in the outcome, and copied as it is."""
    try:
        with open(job.source, "rb") as file:
            original = file.read()
    except OSError as error:
        return Outcome(job, [], [], False, f"it cannot be read: {error.strerror or error}")
    data, messages, changes, said = original, [], [], None
    try:
        data, messages, changes = _SUFFIXES.get(os.path.splitext(job.source)[1].lower(), upgrade)(original, job.options)
    except SourceError as error:
        said = str(error.args[0])
        if len(error.args) > 1:
            data, messages, changes = error.args[1]
    except Exception as error:  # the rest of a tree goes on
        said = f"the tool failed ({type(error).__name__}: {error}); please report this"
    if job.target is not None and (job.target != job.source or data != original):
        try:
            write(job.target, data, like=job.source)
        except OSError as error:
            said = "; ".join(filter(None, [said, f"it cannot be written: {error.strerror or error}"]))
    texts = (_shown(original), _shown(data)) if job.wants_texts and data != original else None
    return Outcome(job, messages, changes, data != original, said, texts)


def _shown(data):
    return data.decode("utf-8", "replace")


def write(path: str, data: bytes, like: str | None = None) -> None:
    """Put a file into its place when it is complete: until then the old one is there.

    Args:
        path: its name.
        data: its bytes.
        like: a file whose permissions it gets.
    """
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    path = os.path.realpath(path)  # a link stays a link
    number, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".tf_upgrade_v2-")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        if like is not None:
            shutil.copymode(like, temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        operating_system.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
