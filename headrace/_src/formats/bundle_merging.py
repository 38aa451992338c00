"""Several checkpoints as one: the files of data get new names, and a new index lists them all."""

import contextlib
import os

from headrace._src.core import errors
from headrace._src.formats import bundle_files, durable_files, files, folder_locks
from headrace._src.formats.durable_files import disk, folder_of, local_path, saving_errors
from headrace._src.formats.tensor_bundle import BundleReader, BundleWriter, write_index


def merge_bundles(
    prefixes: list[str], target: str, delete_old_dirs: bool = True, allow_missing_files: bool = False
) -> None:
    """Makes one checkpoint of several; these are gone afterwards.

    When this returns, the checkpoint would survive a power cut. If the program ends meanwhile, the checkpoint that had
    the prefix `target` before is still there.

    Args:
        prefixes: of the checkpoints; the parts of a tensor may be in several of them.
        target: the prefix of the new one.
        delete_old_dirs: whether to remove the folders that the parts were in, if they are empty then.
        allow_missing_files: leave out the parts that are not there.

    Raises:
        InvalidArgumentError: a part is missing, or two parts have the same tensor.
    """
    sources = _present(prefixes, allow_missing_files)
    durable_files.make_folders(os.path.dirname(target))
    place = local_path(target)
    if place is not None and all(local_path(source) is not None for source in sources):
        with folder_locks.only_writer(folder_of(place)):
            durable_files.remove_leftovers(folder_of(place))
            bundle_files.finish_pending(target)
            _merge(sources, target)
    else:
        _copy(sources, target)
    _remove_sources(sources, target, delete_old_dirs)


def _present(prefixes, allow_missing):
    sources = [prefix for prefix in dict.fromkeys(prefixes) if files.exists(bundle_files.index_path(prefix))]
    missing = [prefix for prefix in prefixes if prefix not in sources]
    if missing and not allow_missing:
        raise errors.invalid_argument(
            f"allow_missing_files was set to false and {missing[0]} did not exist: there is no "
            f"{bundle_files.index_path(missing[0])}."
        )
    if not sources:
        raise errors.invalid_argument(f"At least one prefix checkpoint file must exist, but none existed: {prefixes}.")
    return sources


def _merge(sources, target):
    entries: dict = {}
    parts: dict = {}
    data = []
    for source in sources:
        with contextlib.closing(BundleReader(source)) as reader:
            shift = len(data)
            _add_entries(entries, reader, source, shift)
            for key, entry in reader.slice_entries().items():
                if key in parts:
                    raise errors.invalid_argument(f"Two of the checkpoints to merge have the same slice: {source}.")
                parts[key] = entry._replace(shard=entry.shard + shift)
            data += [bundle_files.data_path(source, shard, reader.shards) for shard in range(reader.shards)]
    index = durable_files.NewFile(bundle_files.index_path(target))
    try:
        write_index(index, len(data), entries, parts)
        index.finish()
        renamed = [
            _RenamedFile(path, bundle_files.data_path(target, shard, len(data))) for shard, path in enumerate(data)
        ]
        bundle_files.publish(target, renamed, index)
    except BaseException:
        index.discard()
        raise


def _add_entries(entries, reader, source, shift):
    for key, entry in reader.entries.items():
        before = entries.get(key)
        if before is not None:
            if not entry.slices or not before.slices:
                raise errors.invalid_argument(f"Two of the checkpoints to merge have the key {key!r}: {source}.")
            if (before.dtype, before.shape) != (entry.dtype, entry.shape):
                raise errors.invalid_argument(
                    f"Key {key!r}: the checkpoints to merge have slices of {before.dtype.name} {list(before.shape)} "
                    f"and, in {source}, of {entry.dtype.name} {list(entry.shape)}."
                )
            entry = entry._replace(slices=before.slices + entry.slices)
        entries[key] = entry if entry.slices else entry._replace(shard=entry.shard + shift)


def _copy(sources, target):
    """The same where files cannot be renamed: all tensors are read and written."""
    with BundleWriter(target) as writer:
        for source in sources:
            with BundleReader(source) as reader:
                for key, entry in reader.entries.items():
                    for part in entry.slices:
                        writer.add_slice(key, entry.dtype, reader.read(key, part), entry.shape, part)
                    if not entry.slices:
                        writer.add(key, entry.dtype, reader.read(key))


class _RenamedFile:
    """A finished file of a part, which appears under the name that it has in the whole."""

    def __init__(self, source, path):
        self._source = local_path(source)
        self._path = path

    def appear(self, ending=""):
        with saving_errors(self._path):
            disk().rename(self._source, local_path(self._path) + ending)


def _remove_sources(sources, target, delete_folders):
    sources = [source for source in sources if source != target]
    bundle_files.remove_bundles(sources)
    folders = {os.path.dirname(source) for source in sources} - {os.path.dirname(target), ""}
    for folder in sorted(folders) if delete_folders else ():
        place = local_path(folder)
        if place is None:
            _remove_if_empty(folder)
        else:
            with contextlib.suppress(OSError):  # what else is in there stays, and so does the folder
                disk().remove_folder(place)


def _remove_if_empty(folder):
    with contextlib.suppress(errors.OpError):
        if not files.names_in(folder):
            files.remove_tree(folder)
