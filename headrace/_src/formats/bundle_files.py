"""The files of a checkpoint: their names, how they appear, how one takes the place of another, how they go.

A checkpoint with the prefix `p` is `p.index` and `p.data-00000-of-00001` (more for several shards). The index appears
last and goes first, so that whoever sees it can load the checkpoint.

Where a checkpoint takes the place of one with the same prefix, its files first appear with `.pending` at their end,
the index last. From then on the new one counts: readers here use pending files if the pending index is there, and the
next writer finishes what a crash has interrupted.
"""

import os
import re

from headrace._src.core import errors
from headrace._src.formats import durable_files, files
from headrace._src.formats.durable_files import NewFile, disk, local_path, saving_errors, sync_folder_of

_ENDING = re.compile(r"\.(?:index|data-\d{5}-of-\d{5})\Z")
_DATA = re.compile(r"\.data-\d{5}-of-\d{5}(?:\.pending)?\Z")
PENDING = ".pending"


def index_path(prefix: str) -> str:
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05}-of-{shards:05}"


def plain_prefix(path) -> str:
    """The prefix of a checkpoint, also where one of its files is named instead (`p.index` for `p`)."""
    path = files.path_string(path)
    short = _ENDING.sub("", path)
    if short != path and not is_there(path) and is_there(short):
        return short
    return path


def is_there(prefix: str) -> bool:
    """Whether there is a checkpoint with this prefix."""
    return files.exists(index_path(prefix)) or files.exists(index_path(prefix) + PENDING)


def publish(prefix: str, data: list[NewFile], index: NewFile) -> None:
    """Lets finished files appear under their names, so that a crash leaves the old checkpoint or the new one.

    Args:
        prefix: of the checkpoint. The caller is the only writer of its folder.
        data: a file for each shard.
        index: the index.
    """
    place = local_path(prefix)
    if place is None:
        return  # they appeared when they were finished, the index last
    replacing = os.path.exists(index_path(place))
    ending = PENDING if replacing else ""
    for file in data:
        file.appear(ending)
    sync_folder_of(prefix)
    index.appear(ending)
    sync_folder_of(prefix)
    if replacing:
        finish_pending(prefix)
    for path in data_paths(prefix):  # of a checkpoint with another number of shards that was there before
        if not path.endswith(f"-of-{len(data):05}"):
            durable_files.remove(path)


def pending_counts(place: str) -> bool:
    """Whether the pending checkpoint of a local prefix is complete, and is the newer one."""
    index = index_path(place)
    try:
        pending = os.stat(index + PENDING).st_mtime_ns
    except OSError:
        return False
    try:
        return pending >= os.stat(index).st_mtime_ns
    except OSError:
        return True


def current_ending(prefix: str) -> str:
    """What the names of the files to read end in."""
    place = local_path(prefix)
    return PENDING if place is not None and pending_counts(place) else ""


def identity(prefix: str) -> tuple:
    """Changes when another checkpoint takes the place of the one with a prefix."""
    place = local_path(prefix)
    return () if place is None else tuple(_file_identity(index_path(place) + ending) for ending in ("", PENDING))


def _file_identity(path):
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def finish_pending(prefix: str) -> None:
    """Lets a pending checkpoint take its place, if it is complete, and removes it otherwise."""
    place = local_path(prefix)
    if place is None:
        return
    index = index_path(place)
    pending = [path for path in data_paths(place) if path.endswith(PENDING)]
    if not pending_counts(place):
        pending += [index + PENDING] if os.path.exists(index + PENDING) else []
        for path in reversed(pending):
            durable_files.remove(path)
        return
    with saving_errors(prefix):
        for path in pending:
            disk().rename(path, path.removesuffix(PENDING))
        sync_folder_of(prefix)
        disk().rename(index + PENDING, index)
        sync_folder_of(prefix)


def data_paths(prefix: str) -> list[str]:
    """The files of data that there are for a prefix, of any number of shards, pending ones included."""
    folder, name = os.path.split(prefix)
    try:
        names = files.names_in(folder or ".")
    except errors.OpError:
        return []
    return [
        files.join(folder, other) if folder else other
        for other in names
        if other.startswith(name) and _DATA.fullmatch(other, len(name))
    ]


def remove_bundles(prefixes: list[str]) -> None:
    """Removes the files of checkpoints: each index first. What is not there is no error."""
    for prefix in prefixes:
        durable_files.remove(index_path(prefix) + PENDING)
        durable_files.remove(index_path(prefix))
    data = {path: prefix for prefix in prefixes for path in data_paths(prefix)}
    for prefix in {os.path.dirname(prefix): prefix for prefix in data.values()}.values():
        sync_folder_of(prefix)
    for path in data:
        durable_files.remove(path)
