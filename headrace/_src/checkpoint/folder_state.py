"""The file `checkpoint` of a folder, which says what the latest checkpoints in it are; and whether they are there."""

import logging
import os
from typing import Any

from headrace._src.core import errors
from headrace._src.core.lazy import protobuf_text_format
from headrace._src.formats import bundle_files, durable_files, files, folder_locks
from headrace._src.formats.checkpoint_messages import CheckpointState
from headrace._src.op.api import api

_NAME = "checkpoint"
_logger = logging.getLogger("tensorflow")


def state_path(folder: str, latest_filename: str | None = None) -> str:
    """The path of the file that has the state of a folder."""
    return files.join(folder, latest_filename or _NAME)


@api("compat.v1.train.generate_checkpoint_state_proto", dispatch=False)
def generate_checkpoint_state_proto(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
) -> Any:
    """The message that says what the latest checkpoints of a folder are.

    Args:
        save_dir: the folder.
        model_checkpoint_path: the latest checkpoint.
        all_model_checkpoint_paths: all that are there, oldest first; the latest is added if it is not the last.
        all_model_checkpoint_timestamps: when each was saved, in seconds since 1970.
        last_preserved_timestamp: when the last one that is never deleted was saved.

    Raises:
        ValueError: there are not as many times as paths.

    >>> tf.compat.v1.train.generate_checkpoint_state_proto("logs", "logs/model-2").model_checkpoint_path
    'model-2'
    """
    folder, latest = files.path_string(save_dir), files.path_string(model_checkpoint_path)
    paths = [files.path_string(path) for path in all_model_checkpoint_paths or ()]
    if not paths or paths[-1] != latest:
        paths.append(latest)
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and timestamps "
            f"{all_model_checkpoint_timestamps})"
        )
    if not os.path.isabs(folder):  # TF: paths in the file are relative to it, unless it is known by its whole path
        paths = [_relative(path, folder) for path in paths]
    return CheckpointState(
        model_checkpoint_path=paths[-1],
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def _relative(path, folder):
    return path if os.path.isabs(path) else os.path.relpath(path, folder)


@api("compat.v1.train.update_checkpoint_state", dispatch=False)
def update_checkpoint_state(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    latest_filename=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
) -> None:
    """Writes the file that says what the latest checkpoints of a folder are.

    The old file stays until the new one is on the disk, and is then replaced in one step.

    Args:
        save_dir: the folder.
        model_checkpoint_path: the latest checkpoint.
        all_model_checkpoint_paths: all that are there, oldest first; the latest is added if it is not the last.
        latest_filename: the name of the file; "checkpoint" if there is none.
        all_model_checkpoint_timestamps: when each was saved, in seconds since 1970.
        last_preserved_timestamp: when the last one that is never deleted was saved.

    Raises:
        RuntimeError: the checkpoint has the name of this file.
    """
    write_state(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def write_state(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    latest_filename=None,
    save_relative_paths=False,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
) -> None:
    """As `update_checkpoint_state`; with `save_relative_paths`, paths in the file are relative to the folder always."""
    folder, latest = files.path_string(save_dir), files.path_string(model_checkpoint_path)
    paths = [files.path_string(path) for path in all_model_checkpoint_paths or ()]
    if save_relative_paths:
        latest, *paths = [os.path.relpath(path, folder) if os.path.isabs(path) else path for path in (latest, *paths)]
    state = generate_checkpoint_state_proto(
        folder, latest, paths, all_model_checkpoint_timestamps, last_preserved_timestamp
    )
    path = state_path(folder, latest_filename)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  Please use a "
            "different save path."
        )
    text = protobuf_text_format.MessageToString(state).encode("utf-8", "surrogateescape")
    place = durable_files.local_path(path)
    if place is None:
        durable_files.replace(path, text)
        return
    with folder_locks.only_writer(durable_files.folder_of(place)):
        durable_files.replace(path, text)


@api("train.get_checkpoint_state", dispatch=False)
def get_checkpoint_state(checkpoint_dir, latest_filename=None) -> Any:
    """What the file `checkpoint` of a folder says; None where there is none, or it cannot be read.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the name of the file, if it is another one.

    Returns:
        A `CheckpointState` message: `model_checkpoint_path` is the latest checkpoint, `all_model_checkpoint_paths` are
        all that are there. Paths relative to the folder have it in front of them.

    Raises:
        ValueError: the file names no checkpoint.

    >>> tf.train.get_checkpoint_state("no_such_folder") is None
    True
    """
    folder = files.path_string(checkpoint_dir)
    path = state_path(folder, latest_filename)
    try:
        if not files.exists(path):
            return None
        text = files.read(path).decode("utf-8")
        state = protobuf_text_format.Parse(text, CheckpointState())
    except (errors.OpError, UnicodeDecodeError, protobuf_text_format.ParseError) as error:
        _logger.warning("%s: %s", type(error).__name__, error)
        _logger.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(
            f"Invalid checkpoint state loaded from {folder}: {path} names no checkpoint. It was probably not written "
            "to its end; remove it, and name a checkpoint by its own path."
        )
    state.model_checkpoint_path = _below(folder, state.model_checkpoint_path)
    for number, one in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[number] = _below(folder, one)
    return state


def _below(folder, path):
    return path if os.path.isabs(path) or files.scheme_of(path) else files.join(folder, path)


@api("train.latest_checkpoint", dispatch=False)
def latest_checkpoint(checkpoint_dir, latest_filename=None) -> str | None:
    """The path of the latest checkpoint in a folder, for `tf.train.Checkpoint.restore`; None where there is none.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the name of the file that says so, if it is not "checkpoint".

    >>> tf.train.latest_checkpoint("no_such_folder") is None
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path = state.model_checkpoint_path
    if checkpoint_exists(path):
        return path
    _logger.error("Couldn't match files for checkpoint %s", path)
    return None


@api("compat.v1.train.checkpoint_exists", dispatch=False)
def checkpoint_exists(checkpoint_prefix) -> bool:
    """Whether a checkpoint is there. Its prefix may have wildcards.

    >>> tf.compat.v1.train.checkpoint_exists("no_such_checkpoint")
    False
    """
    return _existing_file(files.path_string(checkpoint_prefix)) is not None


def _existing_file(prefix):
    """The file by which a checkpoint is known to be there; None where it is not."""
    index = bundle_files.index_path(prefix)
    # A checkpoint in the old format is a file with the name of the prefix.
    for path in (index, index + bundle_files.PENDING, prefix):
        if files.exists(path):
            return path
        matches = files.matching(path)
        if matches:
            return matches[0]
    return None


@api("compat.v1.train.get_checkpoint_mtimes", dispatch=False)
def get_checkpoint_mtimes(checkpoint_prefixes) -> list[float]:
    """When checkpoints were written, in seconds since 1970; those that are not there are left out."""
    paths = [_existing_file(files.path_string(prefix)) for prefix in checkpoint_prefixes]
    return [files.stat(path).mtime_nsec / 1e9 for path in paths if path is not None]


@api("compat.v1.train.remove_checkpoint", dispatch=False)
def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta") -> None:
    """Removes the files of a checkpoint, and of the graph that was saved with it. What is not there is no error.

    Args:
        checkpoint_prefix: the checkpoint.
        checkpoint_format_version: 2, or 1 for the old format.
        meta_graph_suffix: what the name of the file with the graph ends in.
    """
    prefix = files.path_string(checkpoint_prefix)
    durable_files.remove(graph_path(prefix, meta_graph_suffix))
    if checkpoint_format_version == 2:
        bundle_files.remove_bundles([prefix])
    else:
        for path in files.matching(prefix):
            durable_files.remove(path)


def graph_path(prefix: str, suffix: str) -> str:
    """The file of a saved graph. TF: a pattern of files in the old format is that without the pattern."""
    return f"{prefix.partition('-?????')[0]}.{suffix}"
