"""`Dataset.save`: all elements in files, for `Dataset.load` here or in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.data.datasets import check_dataset, dataset_op, method
from headrace._src.data.running import functions
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.stages import INFINITE, Run, Stage, shapes_of, stage_of
from headrace._src.data.saving.element_records import record_of, records_of
from headrace._src.data.saving.snapshot_files import (
    SPEC,
    Chunk,
    Metadata,
    ShardWriter,
    checked_compression,
    new_run,
    now,
    write_metadata,
)
from headrace._src.data.saving.spec_messages import encoded
from headrace._src.formats import files as filesystem
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op

_AT_ONCE = 256


class SaveStage(Stage):
    """The elements of the input, each written to a file as it passes.

    Args:
        source: the input.
        path: the folder.
        compression: "", "GZIP" or "SNAPPY".
        shard_of: an `ElementFunction` that gives the number of the shard of an element; None for one shard.
        types: the dtypes of the components.
        shapes: of the components.
    """

    method = "Dataset.save"
    writes_files = True

    def __init__(self, source, path, compression, shard_of, types, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.path = path
        self.compression = compression
        self.shard_of = shard_of
        self.types = types

    def cardinality(self):
        return self.source.cardinality()

    def walk(self, run):
        return SaveCursor(self, run)


class SaveCursor(InnerCursor):
    """Writes what it gives out; the metadata, which make it valid, at the end.

    Args:
        stage: has the attributes of a `SaveStage`.
        run: of the walk.
        graph_hash: for snapshots, the name of the pipeline; then others see from the beginning that it is written.
    """

    def __init__(self, stage, run, graph_hash=""):
        super().__init__(stage, run)
        self._graph_hash = graph_hash
        self._run_name = new_run()
        self._chunk = 0
        self._chunks = []  # the files that are closed
        self._writer = None
        self._count = 0

    def _open(self):
        if self._writer is None:
            stage = self._stage
            self._writer = ShardWriter(stage.path, self._run_name, stage.compression, self._chunk)
            if self._graph_hash and not self._count:
                self._write_metadata(False)
        return self._writer

    def _shard(self, element):
        shard_of = self._stage.shard_of
        if shard_of is None:
            return 0
        try:
            (shard,) = shard_of(element)
        except Exception as error:
            self._stage.failed(self._count, error)
        if shard.ndim or shard.dtype != np.int64:
            raise errors.invalid_argument("`shard_func` must return a scalar int64.")
        if shard < 0:
            raise errors.invalid_argument(f"`shard_func` must return a number >= 0, got {int(shard)}.")
        return int(shard)

    def next(self):
        element = self._inner.next()
        if element is None:
            self._finish()
            return None
        records = [record_of(part, dtype) for part, dtype in zip(element, self._stage.types)]
        self._open().add(self._shard(element), records)
        self._count += 1
        return element

    def block(self, count):
        if self._stage.shard_of is not None:
            return super().block(count)
        block = self._inner.block(count)
        if block is None:
            self._finish()
            return None
        self._open().add(0, records_of(block, self._stage.types))
        self._count += block[0].shape[0]
        return block

    def _close_writer(self):
        if self._writer is not None:
            self._writer.close()
            self._chunks += self._writer.chunks
            self._writer = None

    def _finish(self):
        self._close_writer()
        filesystem.make_directories(filesystem.join(self._stage.path, self._run_name))  # also for no elements
        self._write_metadata(True)

    def _write_metadata(self, is_finished):
        types = [dtype.as_datatype_enum for dtype in self._stage.types]
        # TF: snapshots say nothing of their number of elements.
        count = 0 if self._graph_hash else self._count
        metadata = Metadata(
            self._run_name, self._graph_hash, now(), types=types, count=count, is_finished=is_finished,
            chunks=self._chunks if is_finished else None,
        )  # fmt: skip
        write_metadata(self._stage.path, metadata)

    def state(self):
        """Close what was written so far. A walk that goes on from this state writes further files."""
        if self._writer is not None:
            self._close_writer()
            self._chunk += 1
        return {
            **super().state(), "run": self._run_name, "chunk": self._chunk, "count": self._count,
            "chunks": [[chunk.name, chunk.records, chunk.checksum] for chunk in self._chunks],
        }  # fmt: skip

    def restore(self, state):
        super().restore(state)
        self._close_writer()
        self._run_name, self._chunk, self._count = state["run"], state["chunk"], state["count"]
        self._chunks = [Chunk(*chunk) for chunk in state["chunks"]]

    def close(self):
        self._close_writer()
        super().close()


def text_of(value: np.ndarray, what: str) -> str:
    """A scalar string input of an op."""
    if value.ndim:
        raise errors.invalid_argument(f"{what} must be a scalar, got shape {list(value.shape)}.")
    return filesystem.path_string(value[()])


def _make(input_dataset, path, shard_func_other_args, compression, shard_func, use_shard_func, output_types,
          output_shapes):  # fmt: skip
    shard_of = ElementFunction(shard_func, shard_func_other_args) if use_shard_func else None
    return SaveStage(
        stage_of(input_dataset), text_of(path, "path"), compression, shard_of, output_types, shapes_of(output_shapes)
    )


_ATTRS = "compression: string = '', shard_func: func, use_shard_func: bool = True"
_INPUTS = "input_dataset: variant, path: string, shard_func_other_args: list(Tshard_func_args)"

SAVE_DATASET_AS_IT_PASSES = dataset_op(
    "SaveDatasetV2",
    f"{_INPUTS}, *, {_ATTRS}, output_types: list(type), output_shapes: list(shape)",
    _make,
    stateful=True,
)


def _save(input_dataset, path, shard_func_other_args, compression, shard_func, use_shard_func):
    source = stage_of(input_dataset)
    shard_of = ElementFunction(shard_func, shard_func_other_args) if use_shard_func else None
    count = len(shard_func.inputs) - len(shard_func.base.external_captures)
    types = [tensor.dtype for tensor in shard_func.inputs[:count]]
    stage = SaveStage(source, text_of(path, "path"), compression, shard_of, types, source.shapes)
    run = Run(source.options)
    cursor = stage.cursor(run)
    try:
        walk_through(cursor, shard_of is None and source.has_blocks)
    finally:
        run.stopped.set()
        cursor.close()
    return ()


SAVE_DATASET = Op(
    "SaveDataset",
    f"{_INPUTS}, *, {_ATTRS} -> ",
    infer=lambda *inputs, **attrs: (),
    kernel=_save,
    lower=None,  # files are the host's
    grad=None,
    stateful=True,
    quiet=False,
)


def walk_through(cursor, by_blocks: bool) -> None:
    """Go to the end."""
    if by_blocks:
        while cursor.block(_AT_ONCE) is not None:
            pass
        return
    while cursor.next() is not None:
        pass


def first_shard(*_):
    """The function of datasets that are not sharded."""
    return to_tensor(0, dtypes.int64)


def _refuse_endless(dataset, where):
    if isinstance(dataset._variant_tensor, EagerTensor) and dataset.stage.cardinality() == INFINITE:
        raise errors.invalid_argument(f"{where}: the dataset has no end, so it cannot be saved.")


@method
def save(self, path, compression=None, shard_func=None, checkpoint_args=None) -> None:
    """Write all elements to files, from which `tf.data.Dataset.load` reads them, here and in TensorFlow.

    Args:
        path: the folder. Elements that were saved there before are replaced.
        compression: None, "GZIP" or "SNAPPY".
        shard_func: a function of an element that returns the number (a scalar int64) of the shard to which it is
            written; all are written to one shard without it. Shards are read at the same time.
        checkpoint_args: must be None: there is no `tf.train.CheckpointManager` here yet that could save the position.

    >>> tf.data.Dataset.range(3).save("/tmp/headrace_saved")
    >>> list(tf.data.Dataset.load("/tmp/headrace_saved").as_numpy_iterator())
    [np.int64(0), np.int64(1), np.int64(2)]
    """
    where = "Dataset.save"
    kind = checked_compression(compression, where)
    if checkpoint_args is not None:
        raise errors.unimplemented(
            f"{where}: checkpoint_args needs tf.train.CheckpointManager, which does not exist here yet: leave it out."
        )
    _refuse_endless(self, where)
    message = encoded(self.element_spec)
    path = filesystem.path_string(path) if not hasattr(path, "dtype") else path
    traced = functions.trace(shard_func or first_shard, self.element_spec, method=where)
    spec = traced.output_spec
    if getattr(spec, "dtype", None) != dtypes.int64 or not spec.shape.is_compatible_with([]):
        raise errors.invalid_argument(f"{where}: `shard_func` must return a scalar int64, but it returns {spec}.")
    attrs = dict(compression=kind, shard_func=traced.graph, use_shard_func=shard_func is not None)
    tensor = to_tensor(path, dtypes.string)
    folder = text_of(tensor._a, "path") if isinstance(tensor, EagerTensor) else filesystem.path_string(path)
    filesystem.make_directories(folder)
    filesystem.write(filesystem.join(folder, SPEC), message)
    SAVE_DATASET(self._variant_tensor, tensor, traced.captures, **attrs)


@api("data.experimental.save", dispatch=False)
def _experimental_save(dataset, path, compression=None, shard_func=None, checkpoint_args=None) -> Any:
    """Write all elements of a dataset to files: see `tf.data.Dataset.save`."""
    check_dataset(dataset, "data.experimental.save")
    return dataset.save(path, compression, shard_func, checkpoint_args)
