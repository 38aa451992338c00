"""A SavedModel as a folder that appears complete: written beside its place, then put there by renaming.

Where a model is already, readers find that one until the new one takes its place in a single step, on systems that can
exchange two folders; elsewhere the old one is moved aside first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from headrace._src.core import errors
from headrace._src.formats import durable_files, files
from headrace._src.formats.durable_files import disk, folder_of, local_path, saving_errors

# What a SavedModel consists of; whatever else is in its folder is not ours, and stays.
_OWN = frozenset(
    {"saved_model.pb", "saved_model.pbtxt", "saved_model.cpb", "fingerprint.pb", "variables", "assets", "debug"}
    # What Keras adds: the description of a model, which would be that of another one.
    | {"keras_metadata.pb", "config.json", "metadata.json", "model.weights.h5"}
)


@contextlib.contextmanager
def new_folder(path: str) -> Iterator[str]:
    """Gives a folder to write into, which becomes `path` when the block ends. If it fails, all is as it was before."""
    place = local_path(path)
    if place is None or _is_fixed(place):
        # Without renames, files appear one by one; what is written last in the block makes the model complete.
        files.make_directories(path)
        for folder in () if place is None else (place, os.path.join(place, "assets")):
            durable_files.remove_leftovers(folder)
        yield path
        return
    place = os.path.abspath(place)
    if os.path.exists(place) and not os.path.isdir(place):
        raise errors.FailedPreconditionError(None, None, f"{path} is not a directory")
    durable_files.make_folders(folder_of(place))
    durable_files.remove_leftovers(folder_of(place))
    temporary = durable_files.new_partial_folder(place)
    try:
        yield temporary
        with saving_errors(path):
            _keep_others(place, temporary)
            sync_tree(temporary)
            _put(temporary, place)
    finally:
        durable_files.remove_partial_folder(temporary)


def _is_fixed(place):
    """Whether a folder cannot be renamed: something is mounted there, or the folder around it is read-only."""
    place = os.path.abspath(place)
    return os.path.isdir(place) and (os.path.ismount(place) or not os.access(folder_of(place), os.W_OK))


def _keep_others(old, new):
    """Take over files that do not belong to a SavedModel."""
    durable_files.remove_leftovers(old)
    names = os.listdir(old) if os.path.isdir(old) else []
    for name in names:
        if name not in _OWN and not os.path.lexists(os.path.join(new, name)):
            _take_over(os.path.join(old, name), os.path.join(new, name))


def _take_over(source, target):
    if os.path.isdir(source) and not os.path.islink(source):
        disk().make_folder(target)
        for name in os.listdir(source):
            _take_over(os.path.join(source, name), os.path.join(target, name))
    else:
        disk().link(source, target)


def sync_tree(folder: str) -> None:
    """Flushes the names in a folder and in folders below it."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            sync_tree(path)
    disk().sync_folder(folder)


def _put(new, place):
    """Give a complete folder its name."""
    if not os.path.isdir(place):
        disk().rename(new, place)
    elif not os.listdir(place):
        disk().remove_folder(place)
        disk().rename(new, place)
    else:
        disk().exchange(new, place)
    disk().sync_folder(folder_of(place))
