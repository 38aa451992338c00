"""The ops that graphs contain for saving: tensors to checkpoint files and back, and the files of shards merged."""

import os

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.formats import bundle_files, durable_files, files
from headrace._src.formats.bundle_merging import merge_bundles
from headrace._src.formats.encoded_variants import EncodedVariant
from headrace._src.formats.slice_files import SliceFiles, write_slice_file
from headrace._src.formats.tensor_bundle import BundleReader, write_bundle
from headrace._src.formats.tensor_slices import parse_shape_and_slice, whole
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN, with_rank
from headrace._src.op.traits import READS_FILES
from headrace._src.ops.strings.kernel_arrays import string_array

# What the ops take.


def _path(argument, array):
    """The path in an input that must hold one string. TF: of any rank."""
    if array.size != 1:
        raise errors.invalid_argument(f"Input {argument} should have a single element, got {array.size} instead.")
    return files.path_string(array.reshape(())[()])


def _texts(array):
    return [item.decode("utf-8", "surrogateescape") for item in array.tolist()]


def _names_and_parts(tensor_names, shape_and_slices, count, tensors="tensors"):
    """The names of tensors, and for each the (shape, slice) that its text says, or None for all of it."""
    if tensor_names.ndim != 1 or shape_and_slices.ndim != 1:
        raise errors.invalid_argument(
            "Input tensor_names and shape_and_slices should be an 1-D tensors, got "
            f"{list(tensor_names.shape)} and {list(shape_and_slices.shape)} instead."
        )
    if len(tensor_names) != len(shape_and_slices):
        raise errors.invalid_argument(
            "tensor_names and shape_and_slices have different number of elements: "
            f"{len(tensor_names)} vs. {len(shape_and_slices)}"
        )
    if not count:
        raise errors.invalid_argument("Length for attr 'dtypes' of 0 must be at least minimum 1.")
    if len(tensor_names) != count:
        raise errors.invalid_argument(f"Got {len(tensor_names)} tensor names, but {count} expected {tensors}.")
    names = _texts(tensor_names)
    if "" in names:
        raise errors.invalid_argument("A name in tensor_names is empty.")
    return names, [parse_shape_and_slice(text) if text else None for text in _texts(shape_and_slices)]


def _dtype_of(array, name):
    # An array of quantized numbers is stored, and written, as one of plain integers.
    if array.dtype != object:
        return dtypes.FROM_NUMPY[array.dtype]
    first = array.ravel()[:1].tolist()
    if first and isinstance(first[0], EncodedVariant):
        return dtypes.variant
    if not all(isinstance(item, bytes) for item in first):
        raise errors.invalid_argument(f"tensors: {name!r} is a resource or variant, which has no value to save.")
    return dtypes.string


def _check_part(text, array, part):
    shape, piece = part
    if piece.resolved(shape).lengths != array.shape:
        raise errors.invalid_argument(
            "Slice in shape_and_slice specification does not match the shape of the tensor to save: "
            f"{text}, tensor: {list(array.shape)}"
        )


def _infer_nothing(*inputs, **attrs):
    return ()


# Saving and restoring.


def _save(prefix, tensor_names, shape_and_slices, tensors):
    path = _path("prefix", prefix)
    names, parts = _names_and_parts(tensor_names, shape_and_slices, len(tensors))
    for array, part, text in zip(tensors, parts, _texts(shape_and_slices)):
        if part is not None:
            _check_part(text, array, part)
    kinds = [_dtype_of(array, name) for array, name in zip(tensors, names)]
    durable_files.make_folders(os.path.dirname(path))
    places = [() if part is None or part[1].is_whole(part[0]) else (part,) for part in parts]
    write_bundle(path, ((*tensor, *place) for *tensor, place in zip(names, kinds, tensors, places)))


SAVE_V2 = Op(
    "SaveV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, tensors: list(dtypes) -> ",
    infer=_infer_nothing,
    kernel=_save,
    lower=None,  # files are the host's
    stateful=True,
    grad=None,
)


def _infer_restore(prefix, tensor_names, shape_and_slices, dtypes):
    with_rank(tensor_names, 1, "RestoreV2", "tensor_names")
    with_rank(shape_and_slices, 1, "RestoreV2", "shape_and_slices")
    texts = _known_texts(shape_and_slices)
    if texts is None or len(texts) != len(dtypes):
        return ([UNKNOWN] * len(dtypes),)
    return ([_shape_of_text(text) for text in texts],)


def _known_texts(spec):
    return None if spec.value is None else _texts(np.asarray(spec.value, object).reshape(-1))


def _shape_of_text(text):
    if not text:
        return UNKNOWN
    shape, part = parse_shape_and_slice(text)
    return TensorShape(part.resolved(shape).lengths)


def _restore(prefix, tensor_names, shape_and_slices, dtypes):
    path = _path("prefix", prefix)
    names, parts = _names_and_parts(tensor_names, shape_and_slices, len(dtypes), "dtypes")
    if not _is_bundle(path):
        return _restore_first_version(path, names, parts, dtypes)
    with BundleReader(path) as reader:
        _check_entries(reader, names, parts, dtypes)
        return [reader.read(name, None if part is None else part[1]) for name, part in zip(names, parts)]


def _is_bundle(path):
    prefix = bundle_files.plain_prefix(path)
    return files.exists(bundle_files.index_path(prefix)) or bundle_files.current_ending(prefix) != ""


def _check_entries(reader, names, parts, wanted):
    """Refuse, before anything is read, what the checkpoint does not have or has otherwise."""
    missing = [name for name in names if name not in reader]
    if missing:
        also = f" ({len(missing)} keys are missing, among them {', '.join(missing[:5])})" if len(missing) > 1 else ""
        raise errors.not_found(f"Key {missing[0]} not found in checkpoint {reader.prefix}{also}")
    for name, part, dtype in zip(names, parts, wanted):
        entry = reader.entries[name]
        if entry.dtype is not dtype and entry.dtype is not _plain(dtype):
            raise errors.invalid_argument(
                f"tensor_name = {name}; expected dtype {dtype.name} does not equal original dtype {entry.dtype.name} "
                f"in checkpoint {reader.prefix}"
            )
        if part is not None and part[0] != tuple(entry.shape):
            raise errors.invalid_argument(
                f"tensor_name = {name}; shape in shape_and_slice spec {list(part[0])} does not match the shape stored "
                f"in checkpoint: {list(entry.shape)} ({reader.prefix})"
            )


def _plain(dtype):
    """The dtype as which arrays of a quantized one are stored."""
    return dtypes.FROM_NUMPY[dtype._np] if dtype._kind == "q" else dtype


def _restore_first_version(pattern, names, parts, wanted):
    # TF: RestoreV2 also reads files of the first version.
    reader = SliceFiles(pattern)
    return [_read_slices(reader, name, part, dtype) for name, part, dtype in zip(names, parts, wanted)]


RESTORE_V2 = Op(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, *, dtypes: list(type) -> tensors: list(dtypes)",
    traits=READS_FILES,
    infer=_infer_restore,
    kernel=_restore,
    lower=None,  # files are the host's
    stateful=True,  # what it gives is not a function of its inputs
    grad=None,
)


# Shards.


def _merge(checkpoint_prefixes, destination_prefix, delete_old_dirs, allow_missing_files):
    if checkpoint_prefixes.ndim != 1:
        raise errors.invalid_argument(
            f"Input checkpoint_prefixes should be an 1-D tensor, got {list(checkpoint_prefixes.shape)} instead."
        )
    prefixes = [files.path_string(item) for item in checkpoint_prefixes.tolist()]
    merge_bundles(prefixes, _path("destination_prefix", destination_prefix), delete_old_dirs, allow_missing_files)


MERGE_V2_CHECKPOINTS = Op(
    "MergeV2Checkpoints",
    "checkpoint_prefixes: string, destination_prefix: string, *, delete_old_dirs: bool = True, "
    "allow_missing_files: bool = False -> ",
    infer=_infer_nothing,
    kernel=_merge,
    lower=None,  # files are the host's
    stateful=True,
    grad=None,
)


def _infer_scalars(**names):
    def infer(*specs):
        for (name, op), spec in zip(names.items(), specs):
            with_rank(spec, 0, op, name)
        return TensorShape([])

    return infer


def _scalar(argument, array):
    if array.ndim:
        raise errors.invalid_argument(f"{argument} must be a scalar, got shape {list(array.shape)}")
    return array[()]


def _sharded_filename(basename, shard, num_shards):
    number, count = int(_scalar("shard", shard)), int(_scalar("num_shards", num_shards))
    return string_array([_scalar("basename", basename) + b"-%05d-of-%05d" % (number, count)], ())


SHARDED_FILENAME = Op(
    "ShardedFilename",
    "basename: string, shard: int32, num_shards: int32 -> filename: string",
    infer=_infer_scalars(basename="ShardedFilename", shard="ShardedFilename", num_shards="ShardedFilename"),
    kernel=_sharded_filename,
    lower=None,  # strings exist on the host only
    grad=None,
)


def _sharded_filespec(basename, num_shards):
    count = int(_scalar("num_shards", num_shards))
    return string_array([_scalar("basename", basename) + b"-?????-of-%05d" % count], ())


SHARDED_FILESPEC = Op(
    "ShardedFilespec",
    "basename: string, num_shards: int32 -> filename: string",
    infer=_infer_scalars(basename="ShardedFilespec", num_shards="ShardedFilespec"),
    kernel=_sharded_filespec,
    lower=None,  # strings exist on the host only
    grad=None,
)


# Files of the first version.


def _save_first_version(filename, tensor_names, data):
    _save_slices(filename, tensor_names, string_array([b""] * len(data), (len(data),)), data)


def _save_slices(filename, tensor_names, shapes_and_slices, data):
    path = _path("filename", filename)
    names, parts = _names_and_parts(tensor_names, shapes_and_slices, len(data))
    entries = []
    for name, array, part, text in zip(names, data, parts, _texts(shapes_and_slices)):
        if part is not None:
            _check_part(text, array, part)
        entries.append((name, _dtype_of(array, name), array, *(part or (array.shape, whole(array.ndim)))))
    write_slice_file(path, entries)


SAVE = Op(
    "Save",
    "filename: string, tensor_names: string, data: list(T) -> ",
    infer=_infer_nothing,
    kernel=_save_first_version,
    lower=None,  # files are the host's
    stateful=True,
    grad=None,
)
SAVE_SLICES = Op(
    "SaveSlices",
    "filename: string, tensor_names: string, shapes_and_slices: string, data: list(T) -> ",
    infer=_infer_nothing,
    kernel=_save_slices,
    lower=None,  # files are the host's
    stateful=True,
    grad=None,
)


def _read_slices(reader, name, part, dtype):
    stored = reader.stored(name)
    if stored.dtype is not dtype and stored.dtype is not _plain(dtype):
        raise errors.invalid_argument(
            f"Expected to restore a tensor of type {dtype.name}, got a tensor of type {stored.dtype.name} instead: "
            f"tensor_name = {name} in {reader.pattern}"
        )
    if part is not None and part[0] != stored.shape:
        raise errors.invalid_argument(
            f"Shape in shape_and_slice spec does not match the shape in the save file: {list(part[0])}, save file "
            f"shape: {list(stored.shape)}, tensor_name = {name} in {reader.pattern}"
        )
    return reader.read(name, None if part is None else part[1])


def _restore_slice(file_pattern, tensor_name, shape_and_slice, dt, preferred_shard):
    text = _path("shape_and_slice", shape_and_slice)
    part = parse_shape_and_slice(text) if text else None
    reader = SliceFiles(_path("file_pattern", file_pattern))
    return _read_slices(reader, _path("tensor_name", tensor_name), part, dt)


def _infer_restore_slice(file_pattern, tensor_name, shape_and_slice, dt, preferred_shard):
    texts = _known_texts(shape_and_slice)
    return _shape_of_text(texts[0]) if texts is not None and len(texts) == 1 else UNKNOWN


RESTORE_SLICE = Op(
    "RestoreSlice",
    "file_pattern: string, tensor_name: string, shape_and_slice: string, *, dt: type, preferred_shard: int = -1 "
    "-> tensor: dt",
    traits=READS_FILES,
    infer=_infer_restore_slice,
    kernel=_restore_slice,
    lower=None,  # files are the host's
    stateful=True,  # what it gives is not a function of its inputs
    grad=None,
)


def _restore_one(file_pattern, tensor_name, dt, preferred_shard):
    return _restore_slice(file_pattern, tensor_name, string_array([b""], ()), dt, preferred_shard)


RESTORE = Op(
    "Restore",
    "file_pattern: string, tensor_name: string, *, dt: type, preferred_shard: int = -1 -> tensor: dt",
    traits=READS_FILES,
    infer=lambda *inputs, **attrs: UNKNOWN,
    kernel=_restore_one,
    lower=None,  # files are the host's
    stateful=True,  # what it gives is not a function of its inputs
    grad=None,
)
