"""The part of a pipeline that one worker of the data service makes: pipelines rebuilt with other sources.

With `DYNAMIC`, sources ask the dispatcher which of their elements (or files) come next, so that each is read once by
some worker. With the static policies, files or elements are divided by the number of the worker.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import numpy as np

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.data.running.stages import Cursor, Stage, stage_of, variant_of
from headrace._src.data.sources.file_records import FileStage
from headrace._src.data.transformations.flat_mapping import FlatMapStage
from headrace._src.data.transformations.interleaving import InterleaveStage
from headrace._src.data.transformations.sharding import SHARD_HINT, ShardStage
from headrace._src.op.api import api
from headrace._src.op.definition import REGISTRY

WHERE = "data.experimental.service"


@api("data.experimental.service.ShardingPolicy", dispatch=False)
class ShardingPolicy(enum.IntEnum):
    """How the elements of a dataset are divided between the workers of the data service.

    `OFF`: each worker makes all of them. `DYNAMIC`: each element of the sources goes to the worker that asks first.
    `FILE`, `DATA`, `FILE_OR_DATA`: files or elements are divided by the number of the worker. `HINT`: where the dataset
    says so, by `shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)`.
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


STATIC = frozenset(
    [ShardingPolicy.FILE, ShardingPolicy.DATA, ShardingPolicy.FILE_OR_DATA, ShardingPolicy.HINT]
)


class _Rebuilder:
    """Makes a pipeline once more, with some stages in place of others.

    Args:
        replace: from a stage, the one in its place, or None to make it of its rebuilt inputs.
    """

    def __init__(self, replace: Callable[[Stage], Stage | None]):
        self._replace = replace
        self._done: dict[int, Stage] = {}

    def stage(self, stage: Stage) -> Stage:
        """The stage in place of another one."""
        if id(stage) not in self._done:
            self._done[id(stage)] = self._replace(stage) or self.made_of_rebuilt(stage)
        return self._done[id(stage)]

    def made_of_rebuilt(self, stage: Stage) -> Stage:
        """The same stage of inputs that were rebuilt."""
        if not stage.inputs:
            return stage
        if not stage.recipe:
            raise errors.UnimplementedError(None, None, f"{WHERE}: {stage.where()} cannot be divided between workers.")
        name, inputs, attrs = stage.recipe
        made = stage_of(context.run_quietly(REGISTRY[name].kernel, *[self._input(x) for x in inputs], **attrs))
        made.location = stage.location
        return made

    def _input(self, value):
        if isinstance(value, (list, tuple)):
            return [self._input(part) for part in value]
        if value.dtype == object and value.ndim == 0 and isinstance(value[()], Stage):
            return variant_of(self.stage(value[()]))
        return value


# Dynamic.


class SplitStage(Stage):
    """A source whose elements are divided between workers as these ask for them.

    Args:
        source: all of them.
        number: of the source in the pipeline.
        ask: from the number of the source, that of the walk, and the size, a range of indices or None at the end.
    """

    def __init__(self, source: Stage, number: int, ask):
        super().__init__(source.shapes)
        self.source = source
        self.method = source.method
        self.location = source.location
        self.number = number
        self.ask = ask
        self.walks = 0

    def walk(self, run):
        self.walks += 1
        return _SplitCursor(self, run, self.walks - 1)


class _SplitCursor(Cursor):
    def __init__(self, stage, run, walk_number):
        self._stage = stage
        self._run = run
        self._walk = walk_number
        self._pieces = _pieces(stage.source)
        self._indices = iter(())
        self._open: Cursor | None = None

    def next(self):
        while True:
            if self._open is not None:
                element = self._open.next()
                if element is not None:
                    return element
                self._open.close()
                self._open = None
            index = next(self._indices, None)
            if index is None:
                found = self._stage.ask(self._stage.number, self._walk, self._pieces.size)
                if found is None:
                    return None
                self._indices = iter(range(*found))
                continue
            element = self._pieces.element(index)
            if element is not None:
                return element
            self._open = self._pieces.stage(index).cursor(self._run)

    def close(self):
        if self._open is not None:
            self._open.close()


class _Elements:
    """The pieces of a source are its elements."""

    def __init__(self, access):
        self._access = access
        self.size = access.size

    def element(self, index):
        return self._access.get(index)


class _Files:
    """They are its files."""

    def __init__(self, stage):
        self._stage = stage
        self.size = len(stage.paths)

    def element(self, index):
        return None

    def stage(self, index):
        return _part_of(self._stage, slice(index, index + 1))


class _Whole:
    """There is only one."""

    size = 1

    def __init__(self, stage):
        self._stage = stage

    def element(self, index):
        return None

    def stage(self, index):
        return self._stage


def _pieces(source):
    if source.access is not None:
        return _Elements(source.access)
    return _Files(source) if isinstance(source, FileStage) else _Whole(source)


def _part_of(stage: FileStage, places: slice) -> FileStage:
    starts = None if stage.starts is None else stage.starts[places]
    part = FileStage(stage.method, stage.paths[places], stage.open_reader, starts)
    part.location = stage.location
    return part


def with_splits(stage: Stage, ask) -> Stage:
    """A pipeline whose sources ask which of their elements come next."""
    sources: list = []

    def replace(one):
        if one.inputs:
            return None
        sources.append(one)
        return SplitStage(one, len(sources) - 1, ask)

    return _Rebuilder(replace).stage(stage)


# Static.


def _shard(source: Stage, count: int, index: int) -> Stage:
    return ShardStage(source, count, index, False, source.shapes)


def by_files(stage: Stage, count: int, index: int) -> Stage | None:
    """The pipeline with every n-th file only; None where no files are read."""
    found = False

    def replace(one):
        nonlocal found
        if isinstance(one, FileStage):
            found = True
            return _part_of(one, slice(index, None, count))
        if isinstance(one, (FlatMapStage, InterleaveStage)) and one.function.only_reads_files:
            found = True
            name, inputs, attrs = one.recipe
            divided = variant_of(_shard(one.source, count, index))
            made = stage_of(context.run_quietly(REGISTRY[name].kernel, divided, *inputs[1:], **attrs))
            made.location = one.location
            return made
        return None

    rebuilt = _Rebuilder(replace).stage(stage)
    return rebuilt if found else None


def _by_hint(stage, count, index):
    found = False

    def replace(one):
        nonlocal found
        if isinstance(one, ShardStage) and one.shards == SHARD_HINT:
            found = True
            return _shard(rebuilder.stage(one.source), count, index)
        return None

    rebuilder = _Rebuilder(replace)
    rebuilt = rebuilder.stage(stage)
    if not found:
        raise errors.invalid_argument(
            f"{WHERE}: with ShardingPolicy.HINT, the dataset must say where it is divided, by "
            "`shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)`."
        )
    return rebuilt


def divided(stage: Stage, policy: ShardingPolicy, count: int, index: int) -> Stage:
    """The part of a pipeline that the worker `index` of `count` makes, with a static policy.

    Raises:
        InvalidArgumentError: it cannot be divided in this way.
    """
    if policy == ShardingPolicy.HINT:
        return _by_hint(stage, count, index)
    if policy in (ShardingPolicy.FILE, ShardingPolicy.FILE_OR_DATA):
        rebuilt = by_files(stage, count, index)
        if rebuilt is not None:
            return rebuilt
        if policy == ShardingPolicy.FILE:
            raise errors.invalid_argument(
                f"{WHERE}: with ShardingPolicy.FILE, the dataset must read files, but it does not. Use "
                "ShardingPolicy.DATA."
            )
    return _shard(stage, count, index)


def chunk(size: int, at: int) -> tuple[int, int] | None:
    """The next indices of a source of `size` elements, `at` of which were given out; None at the end.

    Of many elements, some are given out at a time.
    """
    return None if at >= size else (at, min(size, at + int(np.clip(size // 1000, 1, 64))))
