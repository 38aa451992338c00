"""The report: what was done to which file, and what needs a human."""

import collections
import re
from collections.abc import Sequence

from headrace._src.upgrade.files import Outcome

_LINE, _DOUBLE = "-" * 80, "=" * 80
_TITLE = "TensorFlow 2.0 Upgrade Script"
_NAME = re.compile(r"'?(tf\.[\w.]+)'?")


def is_issue(level: str) -> bool:
    """Whether a message needs somebody."""
    return level in ("WARNING", "ERROR")


def summary(outcomes: Sequence[Outcome], failures: Sequence[tuple[str, str]]) -> str:
    """The first part: counts, then everything that needs attention, file by file."""
    count = sum(is_issue(message.level) for outcome in outcomes for message in outcome.messages)
    parts = [_TITLE, "-" * len(_TITLE), f"Converted {sum(outcome.error is None for outcome in outcomes)} files",
             f"Detected {count} issues that require attention"]
    if failures:
        parts.append(f"Failed to convert {len(failures)} files")
    parts.append(_LINE)
    for outcome in outcomes:
        issues = [message for message in outcome.messages if is_issue(message.level)]
        if issues:
            path = outcome.job.source
            parts += [_LINE, f"File: {path}", _LINE]
            parts += [f"{path}:{m.line}:{m.column}: {m.level}: {m.text}" for m in issues]
    for path, said in failures:
        parts += [_LINE, f"File: {path}", _LINE, f"{path}: ERROR: Failed to convert: {said}"]
    return "\n".join(parts) + "\n"


def details(outcomes: Sequence[Outcome], failures: Sequence[tuple[str, str]], tree: str | None) -> str:
    """The second part: every change of every file, with old and new lines."""
    parts = [_DOUBLE, "Detailed log follows:", "", _DOUBLE]
    if tree is not None:
        parts += [_DOUBLE, f"Input tree: {tree!r}", _DOUBLE]
    for outcome in outcomes:
        parts += [_LINE, f"Processing file {outcome.job.source!r}", f" outputting to {outcome.job.target!r}", _LINE, ""]
        lines = collections.defaultdict(list)
        for message in outcome.messages:
            lines[message.line].append(f"{message.line}:{message.column}: {message.level}: {message.text}")
        for change in outcome.changes:
            marks = [f"         {change.marks}"] if change.marks.strip() else []
            lines[change.line] += ["", f"    Old: {change.old}", *marks, f"    New: {change.new}", ""]
        for number in sorted(lines):
            parts += lines[number]
        if outcome.error is not None:
            parts.append(f"ERROR: Failed to parse or write: {outcome.error}")
        parts += [_LINE, ""]
    written = {outcome.job.source for outcome in outcomes}
    parts += [f"{path}: ERROR: {said}" for path, said in failures if path not in written]
    return "\n".join(parts) + "\n"


def table(outcomes: Sequence[Outcome], failures: Sequence[tuple[str, str]], others: int) -> str:
    """Counts in columns: files by what became of them, messages by level, and what issues are mostly about."""
    levels = collections.Counter(message.level for outcome in outcomes for message in outcome.messages)
    names = collections.Counter(found[1] for outcome in outcomes for message in outcome.messages
                                if is_issue(message.level) and (found := _NAME.search(message.text)))
    rows = [("files changed", sum(outcome.changed for outcome in outcomes)),
            ("files unchanged", sum(not outcome.changed and outcome.error is None for outcome in outcomes)),
            ("files that failed", len(failures)), ("other files and links", others),
            ("changes and notes (INFO)", levels["INFO"]), ("to check (WARNING)", levels["WARNING"]),
            ("to do by hand (ERROR)", levels["ERROR"])]
    rows += [(f"  {name}", count) for name, count in names.most_common(8)]
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:<{width}}  {count:>7}\n" for name, count in rows)
