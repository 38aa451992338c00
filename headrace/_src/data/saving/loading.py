"""`Dataset.load`: the elements that `Dataset.save` wrote, here or in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, nest, operating_system
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import AUTOTUNE, DatasetSpec, DatasetV2, build, constructor, dataset_op
from headrace._src.data.running import functions
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Stage, shapes_of, stage_of, variant_of
from headrace._src.data.running.structures import normalized_spec
from headrace._src.data.saving import distributed_snapshots
from headrace._src.data.saving.saved_contents import ElementCount, saved_shards, shard_count
from headrace._src.data.saving.shard_reading import CountedStage, NestedStage, SavedShardStage
from headrace._src.data.saving.snapshot_files import (
    METADATA,
    SPEC,
    VERSION,
    Metadata,
    checked_compression,
    read_metadata,
)
from headrace._src.data.saving.spec_messages import Unknown, decoded
from headrace._src.data.saving.writing import text_of
from headrace._src.formats import files as filesystem
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value


def shards_of(folder: str, metadata: Metadata, compression: str, specs: list, where: str) -> list[Stage]:
    """The stages of the shards of a snapshot that was finished.

    Raises:
        UnimplementedError: it was written in an old format.
        InvalidArgumentError: it holds other dtypes.
        NotFoundError: a file is missing.
    """
    if metadata.version != VERSION:
        raise errors.unimplemented(
            f"{where}: {folder} has the format version {metadata.version}; only version {VERSION} can be read."
        )
    wanted = [spec.dtype.as_datatype_enum for spec in specs]
    if metadata.types and metadata.types != wanted:
        raise errors.invalid_argument(
            f"{where}: {folder} holds elements of {_names(metadata.types)}, but {_names(wanted)} are expected."
        )
    shards = saved_shards(folder, metadata, len(specs))
    count = None
    if metadata.chunks is None and metadata.count:
        place = filesystem.join(folder, metadata.run)
        count = ElementCount(filesystem.join(folder, METADATA), place, metadata.count, len(shards))
    return [SavedShardStage(where, files, compression, specs, i, count) for i, files in enumerate(shards)]


def _names(numbers):
    names = []
    for number in numbers:
        try:
            names.append(dtypes.as_dtype(number).name)
        except (TypeError, ValueError):
            names.append(f"dtype {number}")
    return names


def read_by(stages: list[Stage], function: ElementFunction, types: list, where: str) -> Stage:
    """The dataset that a user's function makes of the dataset of shards.

    Raises:
        InvalidArgumentError: it makes something else.
    """
    (result,) = function((variant_of(NestedStage(stages)),))
    stage = stage_of(result)
    if len(stage.shapes) != len(types):
        raise errors.invalid_argument(
            f"{where}: `reader_func` must return a dataset of {len(types)} components, not of {len(stage.shapes)}."
        )
    return stage


def _make(path, reader_func_other_args, output_types, output_shapes, compression, reader_func):
    where, folder = "Dataset.load", text_of(path, "path")
    specs = [TensorSpec(shape, dtype) for shape, dtype in zip(shapes_of(output_shapes), output_types)]
    if distributed_snapshots.is_distributed(folder):
        return _load_distributed(folder, specs, ElementFunction(reader_func, reader_func_other_args), output_types)
    try:
        metadata = read_metadata(folder)
    except errors.NotFoundError as error:
        raise errors.not_found(f"Could not find metadata file [{folder}].") from error
    shards = shards_of(folder, metadata, compression, specs, where)
    stage = read_by(shards, ElementFunction(reader_func, reader_func_other_args), output_types, where)
    # TF: what a reader_func does with the elements does not change their number.
    return CountedStage(stage, metadata.count, where) if metadata.count else stage


def _load_distributed(folder, specs, function, types):
    """What the workers of a data service have written."""
    where = "Dataset.load"
    distributed_snapshots.wait_for(folder, False, where)
    compression = distributed_snapshots.compression_of(folder)
    chunks = distributed_snapshots.chunks_of(folder, len(specs))
    stages = [SavedShardStage(where, files, compression, specs, i) for i, files in enumerate(chunks)]
    return read_by(stages, function, types, where)


LOAD_DATASET = dataset_op(
    "LoadDataset",
    "path: string, reader_func_other_args: list(Treader_func_args), *, output_types: list(type), "
    "output_shapes: list(shape), compression: string = '', reader_func: func",
    _make,
    stateful=True,
)


def in_turns(datasets):
    """The function that reads shards when there is no other: several of them in turns."""
    cycle = operating_system.processor_count()
    return datasets.interleave(lambda dataset: dataset, cycle_length=cycle, num_parallel_calls=AUTOTUNE)


def one_after_the_other(datasets):
    """The same for one shard: then there are no turns."""
    return datasets.flat_map(lambda dataset: dataset)


def trace_reader(reader_func: Any, element_spec: Any, where: str):
    """Trace a function from a dataset of datasets to a dataset."""
    traced = functions.trace(reader_func, DatasetSpec(DatasetSpec(element_spec)), method=where)
    if not isinstance(traced.output_spec, DatasetSpec):
        raise errors.invalid_argument(
            f"{where}: `reader_func` must return a tf.data.Dataset, but it returns {traced.output_spec}."
        )
    found = traced.output_spec.element_spec
    if [spec.dtype for spec in functions.structures.flat_specs(found)] != [
        spec.dtype for spec in functions.structures.flat_specs(element_spec)
    ]:
        raise errors.invalid_argument(
            f"{where}: `reader_func` must return a dataset of {element_spec}, but it returns one of {found}."
        )
    return traced


def saved_spec(folder: str) -> Any:
    """The spec of the elements that were saved in a folder.

    Raises:
        NotFoundError: it is not there.
        DataLossError: it is damaged.
    """
    path = filesystem.join(folder, SPEC)
    try:
        data = filesystem.read(path)
    except errors.NotFoundError as error:
        raise errors.not_found(f"tf.data snapshot element_spec file not found: {path}.") from error
    try:
        spec = normalized_spec(decoded(data))
        for leaf in nest.flatten(spec):
            if not hasattr(leaf, "_flat_tensor_specs"):
                raise Unknown(f"it holds {leaf!r}")
    except Unknown as error:
        raise errors.data_loss(f"{path}; not the spec of elements: {error}.") from error
    return spec


@constructor
def load(path, element_spec=None, compression=None, reader_func=None, wait=False) -> DatasetV2:
    """The elements that `Dataset.save` wrote.

    Args:
        path: the folder.
        element_spec: the spec of the elements; None for the one that was saved with them.
        compression: what they were saved with: None, "GZIP" or "SNAPPY".
        reader_func: a function from a dataset of the shards, which are datasets, to the dataset of elements. Without
            it, as many shards as there are processors are read in turns.
        wait: for what `tf.data.experimental.distributed_save` writes: whether to wait until it is complete.

    >>> tf.data.Dataset.range(3).save("/tmp/headrace_saved", compression="GZIP")
    >>> dataset = tf.data.Dataset.load("/tmp/headrace_saved", compression="GZIP")
    >>> len(dataset), dataset.element_spec
    (3, TensorSpec(shape=(), dtype=tf.int64, name=None))

    Raises:
        NotFoundError: nothing was saved there, or a file of what was saved is missing. Where TensorFlow saved it, that
            is noticed at the end of a walk through all shards.
        DataLossError: what was saved is damaged.
        FailedPreconditionError: workers are still writing it, and `wait` is False.
        AbortedError: they could not write it.
    """
    where = "Dataset.load"
    kind = checked_compression(compression, where)
    tensor = to_tensor(filesystem.path_string(path) if not hasattr(path, "dtype") else path, dtypes.string)
    known = get_static_value(tensor)
    folder = None if known is None else text_of(np.array(known, object), "path")
    if wait and folder is not None and not _is_there(folder):
        distributed_snapshots.wait_for(folder, True, where)
    if element_spec is None:
        if folder is None:
            raise ValueError(f"{where}: element_spec must be given where the path is not known yet.")
        element_spec = saved_spec(folder)
    if reader_func is None:
        reader_func = in_turns
        if folder is not None and _has_one_shard(folder):
            reader_func = one_after_the_other
    traced = trace_reader(reader_func, element_spec, where)
    return build(
        "_LoadDataset", LOAD_DATASET, tensor, traced.captures, compression=kind, reader_func=traced.graph,
        spec=element_spec,
    )  # fmt: skip


def _is_there(folder) -> bool:
    """Whether one program has saved something there."""
    path = filesystem.join(folder, METADATA)
    return filesystem.exists(path) and not distributed_snapshots.is_distributed(folder)


def _has_one_shard(folder) -> bool:
    try:
        return shard_count(folder, read_metadata(folder)) == 1
    except errors.OpError:
        return False  # the op says what is wrong


@api("data.experimental.load", dispatch=False)
def _experimental_load(path, element_spec=None, compression=None, reader_func=None) -> DatasetV2:
    """The elements that were saved in a folder: see `tf.data.Dataset.load`."""
    return load(path, element_spec, compression, reader_func)
