"""`Dataset.snapshot`: elements that are written to files the first time, and read from them from then on."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from headrace._src.core import dtypes, errors, operating_system
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import OUTPUTS, DatasetV2, build, dataset_op, method
from headrace._src.data.running import functions
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import Cursor, Stage, shapes_of, stage_of
from headrace._src.data.saving.fingerprints import DATASET_FINGERPRINT
from headrace._src.data.saving.loading import in_turns, read_by, shards_of, trace_reader
from headrace._src.data.saving.snapshot_files import METADATA, checked_compression, read_metadata
from headrace._src.data.saving.writing import SaveCursor, text_of
from headrace._src.formats import files as filesystem
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor


class SnapshotStage(Stage):
    """The elements of the input, or those that were written when it was last walked through to its end.

    Args:
        source: the input.
        path: the folder.
        compression: "", "GZIP" or "SNAPPY".
        shard_of: an `ElementFunction` that gives the number of the shard of an element.
        reader: an `ElementFunction` from the dataset of shards to the dataset of elements.
        types: the dtypes of the components.
        shapes: of the components.
    """

    method = "Dataset.snapshot"
    passes_on = True
    writes_files = True

    def __init__(self, source, path, graph_hash, compression, shard_of, reader, types, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.graph_hash = graph_hash
        self.path = filesystem.join(path, graph_hash)
        self.compression = compression
        self.shard_of = shard_of
        self.reader = reader
        self.types = types

    def cardinality(self):
        return self.source.cardinality()

    def stage_of_files(self) -> Stage:
        """The stage that reads what was written."""
        specs = [TensorSpec(shape, dtype) for shape, dtype in zip(self.shapes, self.types)]
        metadata = read_metadata(self.path)
        if metadata.graph_hash != self.graph_hash:
            raise errors.failed_precondition(
                f"{filesystem.join(self.path, METADATA)}; this is the snapshot of another pipeline: its fingerprint is "
                f"{metadata.graph_hash or 'missing'}, not {self.graph_hash}. Give `snapshot` another folder, or delete "
                "this one."
            )
        shards = shards_of(self.path, metadata, self.compression, specs, self.method)
        return read_by(shards, self.reader, self.types, self.method)

    def walk(self, run):
        return _SnapshotCursor(self, run)


_READ, _WRITE, _PASS = "read", "write", "pass"


class _SnapshotCursor(Cursor):
    def __init__(self, stage, run):
        self._stage = stage
        self._run = run
        self._open(self._mode())

    def _mode(self):
        try:
            return _READ if read_metadata(self._stage.path).is_finished else _PASS  # another walk is writing it
        except errors.NotFoundError:
            return _WRITE

    def _open(self, mode):
        self._kind = mode
        if mode == _READ:
            self._inner = self._stage.stage_of_files().cursor(self._run)
        elif mode == _WRITE:
            self._inner = SaveCursor(self._stage, self._run, self._stage.graph_hash)
        else:
            self._inner = self._stage.source.cursor(self._run)

    def next(self):
        return self._inner.next()

    def skip(self, count):
        return self._inner.skip(count)

    def state(self):
        return {"mode": self._kind, "inner": self._inner.state()}

    def restore(self, state):
        self._inner.close()
        self._open(state["mode"])
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


def _make(
    input_dataset, path, reader_func_other_args, shard_func_other_args, output_types, output_shapes, compression,
    reader_prefix, writer_prefix, hash_valid, hash, reader_func, shard_func, metadata,
):  # fmt: skip
    number = hash % 2**64 if hash_valid else int(DATASET_FINGERPRINT.kernel(input_dataset))
    number ^= zlib.crc32(compression.encode()) << 16  # the same elements, but in other files
    return SnapshotStage(
        stage_of(input_dataset),
        text_of(path, "path"),
        str(number),
        compression,
        ElementFunction(shard_func, shard_func_other_args),
        ElementFunction(reader_func, reader_func_other_args),
        output_types,
        shapes_of(output_shapes),
    )


_OUTPUTS, _, _METADATA = OUTPUTS.rpartition(", ")

SNAPSHOT_DATASET = dataset_op(
    "SnapshotDatasetV2",
    "input_dataset: variant, path: string, reader_func_other_args: list(Treader_func_args), "
    f"shard_func_other_args: list(Tshard_func_args), *, {_OUTPUTS}, compression: string = '', "
    "reader_prefix: string = '', writer_prefix: string = '', hash_valid: bool = False, hash: int = 0, "
    f"reader_func: func, shard_func: func, {_METADATA}",
    _make,
)


@method
def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None) -> DatasetV2:
    """Elements that are written to files when they are first walked through, and read from them from then on.

    What is written is valid once a walk has come to the end. Each pipeline has a folder of its own in `path`: one
    with other steps before it finds nothing there.

    Args:
        path: the folder.
        compression: "AUTO" (which is "SNAPPY"), "GZIP", "SNAPPY" or None.
        reader_func: a function from a dataset of the shards, which are datasets, to the dataset of elements. Without
            it, as many shards as there are processors are read in turns.
        shard_func: a function of an element that returns the number (a scalar int64) of the shard to which it is
            written. Without it, elements go to as many shards as there are processors, one after another.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(4).map(lambda x: x * x).snapshot("/tmp/headrace_snapshot")
    >>> [int(x) for x in dataset], [int(x) for x in dataset]
    ([0, 1, 4, 9], [0, 1, 4, 9])
    """
    where = "Dataset.snapshot"
    kind = checked_compression(compression, where)
    source = self
    if shard_func is None:
        count = operating_system.processor_count()
        source = self.enumerate()
        traced_shard = functions.trace(lambda index, _: index % count, source.element_spec, method=where)
    else:
        traced_shard = functions.trace(shard_func, source.element_spec, method=where)
    spec = traced_shard.output_spec
    if getattr(spec, "dtype", None) != dtypes.int64 or not spec.shape.is_compatible_with([]):
        raise errors.invalid_argument(f"{where}: `shard_func` must return a scalar int64, but it returns {spec}.")
    traced_reader = trace_reader(reader_func or in_turns, source.element_spec, where)
    folder = to_tensor(filesystem.path_string(path) if not hasattr(path, "dtype") else path, dtypes.string)
    dataset = build(
        "_SnapshotDataset", SNAPSHOT_DATASET, source, folder, traced_reader.captures, traced_shard.captures,
        compression=kind, reader_func=traced_reader.graph, shard_func=traced_shard.graph, spec=source.element_spec,
        of=[self], name=name,
    )  # fmt: skip
    return dataset if shard_func is not None else dataset.map(lambda _, element: element)


@api("data.experimental.snapshot", dispatch=False)
def _experimental_snapshot(path, compression="AUTO", reader_func=None, shard_func=None) -> Callable[..., Any]:
    """What makes a dataset a snapshot, for `apply`: see `tf.data.Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)
