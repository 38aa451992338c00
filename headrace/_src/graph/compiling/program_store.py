"""Compiled programs that are kept on disk from run to run.

A program is machine code in a pickled description: who can write an entry can do whatever this user can. So entries are
read only from a folder and from files that belong to this user and that nobody else can write; links are not followed;
and each has a signature by a key that is made with the folder, over its name and its contents. What is damaged, was
made with another key, or is another program's is not read at all: it is as if it was not there. Nothing that is wrong
with the folder is an error of the program that wants to compile. About a folder that the user has named, a warning says
the first time what it is; the one in the user's cache folder is then silently not used, and `headrace cache` says why.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib.metadata
import logging
import os
import pickle
import secrets
import sys
from dataclasses import dataclass

import numpy as np

from headrace._src.core import operating_system, private_files
from headrace._src.core.tracebacks import PARENT
from headrace._src.graph.compiling.blocks import Block, inner_blocks
from headrace._src.graph.compiling.programs import OPTIONS, Built
from headrace._src.op.definition import REGISTRY
from headrace._src.version import HEADRACE_VERSION

logger = logging.getLogger("headrace")

# The environment variables that name the folder ("0": there is none), and say how many megabytes may be in it.
VARIABLE, SIZE_VARIABLE = "HEADRACE_COMPILE_CACHE", "HEADRACE_COMPILE_CACHE_MB"
_OFF, _DEFAULT = ("", "0"), (None, "1")
_MEGABYTES = 256
_ENDING, _KEY = ".program", "key"
_LETTERS = b"headrace program 2\n"
_SIGNATURE = 32
_warned: set[str] = set()


def folder() -> str | None:
    """Where programs are kept; None when they are not, or when it is not known which processors can run them."""
    given = os.environ.get(VARIABLE)
    if given in _OFF or not _processor():
        return None
    return operating_system.user_cache_folder("programs") if given in _DEFAULT else given


def is_default() -> bool:
    """Whether the folder is the one in the user's cache folder, which nobody has asked for."""
    return os.environ.get(VARIABLE) in _DEFAULT


def _prepared(place):
    """Make the folder, or see that the one that is there is this user's alone.

    Raises:
        NotPrivate: it is somebody else's.
        OSError: it cannot be made.
    """
    if not is_default():
        return private_files.private_folder(place, secret=False)
    ours = os.path.dirname(place)
    private_files.own_folder(os.path.dirname(ours))
    private_files.private_folder(ours, secret=False)
    return private_files.private_folder(place)


def problem() -> str | None:
    """Why nothing can be kept in the folder; None when it can."""
    place = folder()
    try:
        if place is not None and not os.access(_prepared(place), os.W_OK):
            return f"{place} cannot be written to"
    except (OSError, private_files.NotPrivate) as error:
        return str(error)
    return None


def name_of(request: bytes, block: Block | None = None) -> str | None:
    """The name of the entry of a pickled request; None when nothing is kept.

    Args:
        request: all that a program is made of.
        block: the block in it. What programs have of an op that is defined or changed elsewhere, the request does not
            say: they are not kept.
    """
    if folder() is None or (block is not None and not _all_ours(block)):
        return None
    digest = hashlib.sha256(_surroundings())
    digest.update(request)
    return digest.hexdigest() + _ENDING


def prepare() -> None:
    """Find out what does not change while this process runs, so that later calls need not."""
    if folder() is not None:
        _surroundings()


def _all_ours(block) -> bool:
    for instruction in block.instructions:
        if not is_ours(REGISTRY[instruction.op].lower):
            return False
        if not all(_all_ours(inner) for inner in inner_blocks(instruction)):
            return False
    return True


def is_ours(lower) -> bool:
    """Whether a lowering is one of headrace's: its files are part of what programs are kept by."""
    while isinstance(lower, functools.partial):
        lower = lower.func
    return lower is None or str(getattr(lower, "__module__", "")).startswith("headrace._src.")


def _surroundings() -> bytes:
    """What a program depends on besides the request: versions, the processor, how many of them may be used, options."""
    threads = operating_system.processor_count()
    settings = sorted(item for item in os.environ.items() if item[0].startswith(("XLA_", "JAX_")))
    parts = (_versions(), _sources(), _processor(), str(threads), repr(settings), repr(sorted(OPTIONS.items())))
    return "\0".join(parts).encode()


@functools.cache
def _sources() -> str:
    """Which files make programs: those of a checkout can change while the version stays."""
    digest = hashlib.sha256()
    for path, folders, files in os.walk(os.path.join(PARENT, "headrace", "_src")):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                about = os.stat(os.path.join(path, name))
                digest.update(f"{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()


@functools.cache
def _versions() -> str:
    found = [HEADRACE_VERSION, sys.version, np.__version__]
    for name in ("jax", "jaxlib"):
        try:
            found.append(importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            found.append("")
    return "\0".join(found)


_processor = functools.cache(operating_system.processor_kind)


def read(name: str) -> Built | None:
    """A program that was kept; None when there is none that can be trusted."""
    place = folder()
    if place is None:
        return None
    try:
        _prepared(place)
        path = os.path.join(place, name)
        content = _verified(private_files.read(path), name, _key(place))
        if content is None:
            return None
        built = pickle.loads(content)
        os.utime(path)  # what is used stays longest
    except FileNotFoundError:
        return None
    except private_files.NotPrivate as error:
        _warn(f"{error}. Nothing is read from there.")
        return None
    except Exception as error:  # whatever an entry of another version does
        logger.debug("A kept program is not used: %s", error)
        return None
    return built if isinstance(built, Built) else None


def write(name: str, built: Built) -> None:
    """Keep a program, wholly or not at all; then forget those that were not used for longest, if there are too many."""
    place = folder()
    if place is None:
        return
    try:
        _prepared(place)
        content = pickle.dumps(built, pickle.HIGHEST_PROTOCOL)
        data = _LETTERS + _signature(content, name, _key(place)) + content
        if len(data) > limit():
            return
        private_files.write(os.path.join(place, name), data)
        _make_room(place, limit())
    except (OSError, private_files.NotPrivate) as error:
        _warn(f"a compiled program could not be kept: {error}")


def discard(name: str) -> None:
    """Remove an entry that could not be loaded."""
    place = folder()
    if place is not None:
        _remove(os.path.join(place, name))


def _verified(data, name, key):
    """The contents of an entry; None if this is none of those that were written here."""
    start = len(_LETTERS) + _SIGNATURE
    content = memoryview(data)[start:]
    if not data.startswith(_LETTERS):
        return None
    given = data[len(_LETTERS) : start]
    return content if hmac.compare_digest(given, _signature(content, name, key)) else None


def _signature(content, name, key):
    made = hmac.new(key, name.encode() + b"\0", hashlib.sha256)
    made.update(content)
    return made.digest()


def _key(place) -> bytes:
    """The key of a folder, made when it is first needed."""
    path = os.path.join(place, _KEY)
    for _ in range(3):  # another process may make it at the same time
        try:
            key = private_files.read(path, secret=True)
            if len(key) == _SIGNATURE:
                return key
            os.unlink(path)
        except FileNotFoundError:
            pass
        private_files.write_new(path, secrets.token_bytes(_SIGNATURE))
    raise OSError(f"{path}: a key cannot be kept there")


def _warn(text, of_folder=True):
    if text not in _warned:
        _warned.add(text)
        level = logging.DEBUG if of_folder and is_default() else logging.WARNING
        logger.log(level, "headrace: the cache of compiled programs: %s", text)


# What is in the folder.


@dataclass
class Contents:
    """What is in the folder: `size` is in bytes, `foreign` counts somebody else's, `problem`: why it is not used."""

    folder: str
    programs: int
    size: int
    foreign: int
    problem: str | None


def limit() -> int:
    """How many bytes may be in the folder."""
    text = os.environ.get(SIZE_VARIABLE, "")
    try:
        return int(float(text) * 1e6) if text else _MEGABYTES * 10**6
    except ValueError:
        _warn(f"{SIZE_VARIABLE}={text!r} is no number of megabytes; {_MEGABYTES} are used.", of_folder=False)
        return _MEGABYTES * 10**6


def _entries(place):
    """The programs in a folder, the one that was not used for longest first: when, the size, the path, the owner."""
    found = []
    try:
        for entry in os.scandir(place):
            if entry.name.endswith(_ENDING) or _ENDING + "." in entry.name:  # also what was not written to its end
                about = entry.stat(follow_symlinks=False)
                found.append((about.st_mtime, about.st_size, entry.path, about.st_uid))
    except OSError:
        pass
    return sorted(found)


def _make_room(place, most):
    entries = _entries(place)
    size = sum(entry[1] for entry in entries)
    for _, length, path, _ in entries:
        if size <= most:
            return
        size -= length
        _remove(path)


def _remove(path):
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def contents() -> Contents | None:
    """What is kept; None when nothing is to be."""
    place = folder()
    if place is None:
        return None
    entries = _entries(place)
    owner = operating_system.user() or 0
    return Contents(place, len(entries), sum(x[1] for x in entries), sum(x[3] != owner for x in entries), problem())


def clear() -> int:
    """Remove all programs; how many."""
    place = folder()
    return 0 if place is None else sum(_remove(path) for _, _, path, _ in _entries(place))
