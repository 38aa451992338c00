"""Which iterators TensorFlow runs for a pipeline: it leaves steps out, does two in one, and adds a prefetch.

What is done depends on the options of the dataset, and on whether a pipeline is made inside of a function of another
one. The names of iterators in checkpoints are those of the pipeline as it was rearranged.
"""

from __future__ import annotations

from typing import Any

from headrace._src.data.running.stages import Stage
from headrace._src.data.saving.position_entries import NotForTensorFlow
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import called_graphs
from headrace._src.op.traits import READS_FILES
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.debugging.assertions import ASSERT

_UNUSUAL = ("filter_fusion", "filter_parallelization", "map_and_filter_fusion", "map_fusion", "seq_interleave_prefetch")
# Iterators that compute ahead: no prefetch is added after these.
_ASYNCHRONOUS = ("Prefetch", "ParallelMapV2", "MapAndBatch", "ParallelBatch", "ParallelInterleaveV4")
_HARMLESS = (ASSERT, PLACEHOLDER)  # ops with state that do not count
_KINDS = {
    "Dataset.concatenate": "Concatenate",
    "Dataset.filter": "Filter",
    "Dataset.flat_map": "FlatMap",
    "Dataset.from_tensor_slices": "TensorSlice",
    "Dataset.from_tensors": "FromTensor",
    "Dataset.padded_batch": "PaddedBatchV2",
    "Dataset.prefetch": "Prefetch",
    "Dataset.range": "Range",
    "Dataset.rebatch": "RebatchV2",
    "Dataset.scan": "Scan",
    "Dataset.shard": "Shard",
    "Dataset.shuffle": "Shuffle",
    "Dataset.take_while": "TakeWhile",
    "Dataset.unbatch": "Unbatch",
    "Dataset.unique": "Unique",
    "Dataset.window": "Window",
    "Dataset.zip": "Zip",
    "FixedLengthRecordDataset": "FixedLengthRecordV2",
    "TFRecordDataset": "TFRecord",
    "TextLineDataset": "TextLine",
    "assert_cardinality": "AssertCardinality",
}


class Rearrangement:
    """What TensorFlow does to a pipeline.

    Args:
        options: the `tf.data.Options` of the pipeline, or None.
        is_inner: whether a function of another pipeline made it.

    Raises:
        NotForTensorFlow: it is asked for in a way whose result is not known here.
    """

    def __init__(self, options: Any, is_inner: bool = False) -> None:
        wishes = getattr(options, "experimental_optimization", None)
        if getattr(options, "experimental_symbolic_checkpoint", None):
            raise NotForTensorFlow("symbolic checkpoints were asked for")
        if any(getattr(wishes, name, None) for name in _UNUSUAL):
            raise NotForTensorFlow("unusual optimizations were asked for")
        by_default = getattr(wishes, "apply_default_optimizations", None) is not False

        def does(name):
            wish = getattr(wishes, name, None)
            return by_default if wish is None else wish

        tunes = getattr(getattr(options, "autotune", None), "enabled", None) is not False
        self._options = options
        self.leaves_out_idle = does("noop_elimination")
        self.joins_shuffle_and_repeat = does("shuffle_and_repeat_fusion")
        self.joins_map_and_batch = does("map_and_batch_fusion")
        self.makes_maps_parallel = does("map_parallelization") and tunes and not is_inner
        self.adds_prefetch = does("inject_prefetch") and tunes and not is_inner

    def inside(self) -> Rearrangement:
        """That of pipelines that functions of this one make."""
        return Rearrangement(self._options, True)

    def is_left_out(self, stage: Stage) -> bool:
        """Whether a step has no iterator."""
        return stage.method == "Dataset.with_options" or (self.leaves_out_idle and is_idle(stage))

    def joined_with(self, stage: Stage, method: str) -> bool:
        """Whether the step before this one, but for those that are left out, is such a one."""
        before = stage.inputs[0]
        while self.leaves_out_idle and is_idle(before):
            before = before.inputs[0]
        return before.method == method

    def ends_asynchronously(self, stage: Stage) -> bool:
        """Whether the last iterator computes ahead anyway."""
        while self.is_left_out(stage):
            stage = stage.inputs[0]
        return self.kind(stage) in _ASYNCHRONOUS

    def kind(self, stage: Stage) -> str:
        """The iterator of a step that is not left out.

        Raises:
            NotForTensorFlow: how this one saves its position is not known here.
        """
        choose = _CHOICES.get(stage.method)
        found = choose(self, stage) if choose else _KINDS.get(stage.method)
        if found is None:
            raise NotForTensorFlow(f"it has {stage.where()}")
        return found


def _op_of(stage):
    return stage.recipe[0] if stage.recipe else ""


def _map(does, stage):
    if _op_of(stage) != "MapDataset" and stage.recipe:
        return "ParallelMapV2"
    return "ParallelMapV2" if does.makes_maps_parallel and not _has_state(stage.function) else "Map"


def _batch(does, stage):
    if _op_of(stage) == "ParallelBatchDataset":
        return "ParallelBatch"
    if _op_of(stage) == "MapAndBatchDataset":
        return "MapAndBatch"
    is_joined = does.joins_map_and_batch and does.joined_with(stage, "Dataset.map")
    return "MapAndBatch" if is_joined else "BatchV2"


def _repeat(does, stage):
    if _op_of(stage) == "ShuffleAndRepeatDataset":
        return "ShuffleAndRepeat"
    if stage.count == 0:
        return "EmptyRepeat"
    if does.joins_shuffle_and_repeat and does.joined_with(stage, "Dataset.shuffle"):
        return "ShuffleAndRepeat"
    return "ForeverRepeat" if stage.count < 0 else "FiniteRepeat"


def _interleave(does, stage):
    return {"InterleaveDataset": "Interleave", "ParallelInterleaveDatasetV4": "ParallelInterleaveV4"}.get(_op_of(stage))


def _cache(does, stage):
    return None if hasattr(stage, "path") else "MemoryCache"  # files are not TensorFlow's


_CHOICES = {
    "Dataset.batch": _batch,
    "Dataset.cache": _cache,
    "Dataset.interleave": _interleave,
    "Dataset.map": _map,
    "Dataset.repeat": _repeat,
    "Dataset.skip": lambda does, stage: "EmptySkip" if stage.count < 0 else "FiniteSkip",
    "Dataset.take": lambda does, stage: "EmptyTake" if stage.count == 0 else "FiniteTake",
}


def is_idle(stage: Stage) -> bool:
    """Whether a step changes nothing."""
    count = getattr(stage, "count", None)
    return (
        (stage.method, count) in (("Dataset.repeat", 1), ("Dataset.take", -1), ("Dataset.skip", 0))
        or (stage.method == "Dataset.shard" and stage.shards == 1)
        or (stage.method == "Dataset.map" and _returns_arguments(stage.function))
    )


def _returns_arguments(function) -> bool:
    if function.captured or len(function.graph.outputs) != len(function.graph.inputs):
        return False
    if any(node.record not in (IDENTITY, PLACEHOLDER) for node in function.graph.base.nodes):
        return False
    for output, argument in zip(function.graph.outputs, function.graph.inputs):
        while output.op.record is IDENTITY:
            output = output.op.inputs[0]
        if output is not argument:
            return False
    return True


def _has_state(function) -> bool:
    """Whether TensorFlow keeps a function from being called in parallel: what is stateful, and what has a resource."""
    is_resource = [value.dtype == object and not value.ndim and not _is_text(value) for value in function.captured]
    return any(is_resource) or _has_stateful_nodes(function.graph.base)


def _is_text(value):
    return isinstance(value[()], bytes)


def _has_stateful_nodes(graph) -> bool:
    for node in graph.nodes:
        called = called_graphs(node.attrs)
        if called:
            if any(map(_has_stateful_nodes, called)):
                return True
        elif node.record.stateful and node.record not in _HARMLESS and READS_FILES not in node.record.traits:
            return True
    return False
