"""Trees of files: which there are, what happens to each, and how they are shared among processes."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import NamedTuple

from headrace._src.core import operating_system
from headrace._src.upgrade.files import Job, Outcome, can_be_upgraded, process, write
from headrace._src.upgrade.rewriting import Options

_FEW = 128  # files for which starting processes takes longer than it saves
_AT_ONCE = 16


class Plan(NamedTuple):
    """What a tree holds."""

    jobs: list[Job]
    copies: list[tuple[str, str]]
    links: list[tuple[str, str]]
    errors: list[tuple[str, str]]  # folders that cannot be read, and why


def plan(root: str, target: str | None, options: Options, copy_others: bool, wants_texts: bool = False) -> Plan:
    """Look through a tree.

    Args:
        root: the tree.
        target: where it goes; None where nothing is written, and `root` itself in place.
        options: what the user asked for.
        copy_others: whether other files are copied to another target.
        wants_texts: whether outcomes shall have the texts.
    """
    found = Plan([], [], [], [])
    elsewhere = target is not None and os.path.realpath(target) != os.path.realpath(root)
    left_out = os.path.realpath(target) if elsewhere else None

    def unreadable(error):
        found.errors.append((error.filename, f"the folder cannot be read: {error.strerror}"))

    for folder, folders, files in os.walk(root, onerror=unreadable):
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(name for name in folders if name not in linked
                            and os.path.realpath(os.path.join(folder, name)) != left_out)
        for name in sorted([*files, *linked]):
            source = os.path.join(folder, name)
            goal = os.path.join(target, os.path.relpath(source, root)) if target is not None else None
            if os.path.islink(source):
                found.links.append((source, goal if elsewhere else ""))
            elif can_be_upgraded(name):
                found.jobs.append(Job(source, goal, options, wants_texts))
            elif elsewhere and copy_others:
                found.copies.append((source, goal))
    return found


def copied(copies: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Copy other files. Yields those that could not be, and why."""
    for source, target in copies:
        try:
            if not os.path.isfile(source):
                raise OSError(0, "it is not a plain file")
            with open(source, "rb") as file:
                write(target, file.read(), like=source)
        except OSError as error:
            yield source, f"it cannot be copied: {error.strerror or error}"


def linked(links: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Make the links of a tree in another one; what they lead to is not looked at. Yields those that failed."""
    for source, target in links:
        if not target:
            continue
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.islink(target):
                os.unlink(target)
            shutil.copy2(source, target, follow_symlinks=False)
        except OSError as error:
            yield source, f"the link cannot be copied: {error.strerror or error}"


def outcomes(jobs: list[Job], processes: int, done: Callable[[int], None]) -> list[Outcome]:
    """Upgrade files, in several processes if they are many.

    Args:
        jobs: the files.
        processes: how many processes at most.
        done: is told how many are finished.
    """
    if len(jobs) < _FEW or processes < 2:
        results = []
        for job in jobs:
            results.append(process(job))
            done(len(results))
        return results
    with operating_system.new_processes().Pool(min(processes, len(jobs) // _AT_ONCE)) as pool:
        results = []
        for outcome in pool.imap(process, jobs, chunksize=_AT_ONCE):
            results.append(outcome)
            done(len(results))
        return results
