"""Positions of iterators as programs keep them: which pipeline they belong to, and that they are as they were taken.

A position is a tree of dicts, lists, numbers, strings, bytes and arrays, which the cursors of a pipeline made and which
only they understand. So that what was kept elsewhere is applied as a whole or refused as a whole, it says what pipeline
it belongs to, and has a checksum of all that is in it. The checksum does not depend on what stores change: tuples
become lists, NumPy's numbers Python's, and the order of keys may be another.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.data.running.stages import Stage

PIPELINE, CHECKSUM = "pipeline", "checksum"
_DEEPEST = 10_000  # levels of a tree; each step of a pipeline is one
_WHERE = "Iterator.load_state_dict"


def sealed(state: dict, stage: Stage) -> dict:
    """A position with what `check` asks for."""
    state = {**state, PIPELINE: described(stage)}
    return {**state, CHECKSUM: _checksum(state)}


def check(state: Any, stage: Stage | None) -> None:
    """Refuse what is not a position in a pipeline of the same steps, as it was taken.

    Raises:
        InvalidArgumentError: it belongs to another pipeline, or is no position at all.
        DataLossError: it was changed since it was taken.
    """
    if not isinstance(state, dict) or not isinstance(state.get(PIPELINE), str) or CHECKSUM not in state:
        raise errors.invalid_argument(
            f"{_WHERE}: this is no position that `state_dict` returned: expected a dict with {PIPELINE!r} and "
            f"{CHECKSUM!r}, got {_shown(state)}."
        )
    rest = {key: value for key, value in state.items() if key != CHECKSUM}
    try:
        found = _checksum(rest)
    except _TooDeep:
        raise errors.invalid_argument(
            f"{_WHERE}: this is no position: it is nested more than {_DEEPEST} levels deep."
        ) from None
    if found != state[CHECKSUM]:
        raise errors.data_loss(
            f"{_WHERE}: the position was changed since it was taken: its checksum is {_shown(state[CHECKSUM])}, that "
            f"of its contents {found}."
        )
    if stage is not None and state[PIPELINE] != described(stage):
        raise errors.invalid_argument(
            f"{_WHERE}: the position belongs to the pipeline {state[PIPELINE]}, and this iterator walks through "
            f"{described(stage)}. Make the dataset of the same steps."
        )


# What positions that do not fit make cursors raise.
UNFIT = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def unfit(stage: Stage, error: Exception) -> errors.OpError:
    """The error for a position that belongs to such a pipeline, but not to this one."""
    return errors.invalid_argument(
        f"{_WHERE}: the position does not fit this dataset ({described(stage)}): {type(error).__name__}: {error}."
    )


def writes_files(stage: Stage | None) -> bool:
    """Whether walks through a pipeline write files, so that there can be only one at a time."""
    return stage is not None and (stage.writes_files or any(map(writes_files, stage.inputs)))


def shared(stage: Stage | None) -> list:
    """Where stages stand in what all walks through them share: the seeds from which each draws its own."""
    return [(seeds, seeds.state()) for seeds in _seeds_in(stage)]


def share(saved: list) -> None:
    """Put that back."""
    for seeds, state in saved:
        seeds.restore(state)


def _seeds_in(stage):
    if stage is None:
        return []
    own = [stage.seeds] if hasattr(stage.seeds, "restore") else []
    return own + [seeds for before in stage.inputs for seeds in _seeds_in(before)]


def described(stage: Stage) -> str:
    """The steps of a pipeline and the components of its elements, in words."""
    components = ", ".join(f"{name}{shape}" for name, shape in zip(_type_names(stage), stage.shapes))
    return f"{_steps(stage)}: {components}"


def _type_names(stage):
    if stage.recipe:
        _, inputs, attrs = stage.recipe
        # Some sources have the tensors instead of their types; those of files have only strings.
        given = next((each for each in inputs if isinstance(each, (list, tuple))), ())
        types = attrs.get("output_types") or [getattr(tensor, "dtype", None) for tensor in given]
        if len(types) == len(stage.shapes):
            return [getattr(dtype, "name", "") for dtype in types]
    return [""] * len(stage.shapes)


def _steps(stage):
    inputs = ", ".join(map(_steps, stage.inputs))
    return f"{stage.method}({inputs})" if inputs else stage.method


def _shown(value):
    """What a message says of a value: short ones themselves, others by their kind."""
    if isinstance(value, dict):
        return f"one of {len(value)} keys"
    is_short = len(value) < 80 if isinstance(value, (str, bytes)) else isinstance(value, (bool, float, type(None)))
    return repr(value) if is_short else type(value).__name__


# The checksum.


class _TooDeep(Exception):
    """A tree that is nested deeper than any pipeline, or that contains itself."""


def _checksum(state):
    digest = hashlib.blake2b(digest_size=16)
    waiting = [(state, 0)]
    while waiting:
        value, depth = waiting.pop()
        parts = _add(digest, value)
        if parts:
            if depth > _DEEPEST:
                raise _TooDeep
            waiting += [(part, depth + 1) for part in reversed(parts)]
    return digest.hexdigest()


def _add(digest, value):
    """Add a value to a checksum: a letter for its kind, how long it is, what it is. Returns what is inside of it."""
    if isinstance(value, dict):
        return _add_parts(digest, b"d", [x for pair in sorted(value.items(), key=_order) for x in pair])
    if isinstance(value, (list, tuple)):
        return _add_parts(digest, b"l", value)
    if isinstance(value, np.ndarray) and (value.ndim or value.dtype == object):
        return _add_array(digest, value)
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex)):
        _add_bytes(digest, b"n", f"{type(value).__name__} {value!r}".encode())
    elif isinstance(value, str):
        _add_bytes(digest, b"s", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, (bytes, bytearray)):
        _add_bytes(digest, b"y", value)
    elif isinstance(value, Stage):
        _add_bytes(digest, b"p", described(value).encode("utf-8", "surrogatepass"))
    else:  # values of ragged and sparse tensors, and what is only of this process
        slots = getattr(type(value), "__slots__", ())
        parts = [getattr(value, slot, None) for slot in slots if slot != "__weakref__"]
        return _add_parts(digest, b"o", [type(value).__name__, *parts])
    return ()


def _order(pair):
    return type(pair[0]).__name__, repr(pair[0])


def _add_parts(digest, kind, parts):
    digest.update(kind + len(parts).to_bytes(8, "little"))
    return parts


def _add_bytes(digest, kind, data):
    digest.update(kind + len(data).to_bytes(8, "little"))
    digest.update(data)


def _add_array(digest, array):
    if array.dtype == object:
        _add_bytes(digest, b"a", repr(array.shape).encode())
        return _add_parts(digest, b"l", array.ravel().tolist())
    _add_bytes(digest, b"a", f"{array.dtype.name}{array.shape}".encode())
    digest.update(array.tobytes())
    return ()
