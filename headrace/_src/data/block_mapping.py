"""`Dataset.map` over cheap sources, such as files: more elements are read than were asked for, and computed at once.

Parsing a hundred records takes little longer than parsing one, so the elements (or batches) to come are read with those
that are asked for, as long as that is a matter of milliseconds and of a few megabytes.
"""

from __future__ import annotations

import numpy as np

from headrace._src.core import errors
from headrace._src.data.functions import ElementFunction
from headrace._src.data.stages import Cursor, Stage, joined, stacked
from headrace._src.graph.plan import Plan
from headrace._src.ops.parsing import ParsedBlock

_MOST_ELEMENTS = 4096
_MOST_BYTES = 4 << 20
_FIRST = 64


class _Ahead(Cursor):
    """What both have in common: a block of the source, of which some elements were given out."""

    def __init__(self, stage: Stage, source: Stage, run):
        self._stage = stage
        self._inner = source.cursor(run)
        self._by_blocks = source.has_blocks
        # The state of the source at the beginning of the block; None when the block itself is less to keep than that.
        self._before: dict | None = None
        self._block: tuple | None = None
        self._at = self._count = 0  # elements of the block: given out, and all
        self._next_count = _FIRST
        self._number = 0  # of elements that were given out

    def _fill(self, least: int):
        """Read the next block, at least so many elements if there are."""
        before = self._inner.state() if self._by_blocks else None
        block = self._read(max(least, self._next_count))
        self._block, self._before, self._at = block, before, 0
        self._count = 0 if block is None else block[0].shape[0]
        if block is not None:
            size = max(1, sum(_bytes(part) for part in block) // self._count)
            self._next_count = max(1, min(2 * self._next_count, _MOST_ELEMENTS, _MOST_BYTES // size))
            self._compute()
        return block

    def _read(self, count):
        parts: list = []
        try:
            if not self._by_blocks:
                while len(parts) < count and (element := self._inner.next()) is not None:
                    parts.append(element)
                return stacked(parts) if parts else None
            missing = count
            while missing and (block := self._inner.block(missing)) is not None:
                parts.append(block)
                missing -= block[0].shape[0]
        except errors.OpError as error:
            if not parts:
                raise
            self._failure = error
        return (joined(parts) if self._by_blocks else stacked(parts)) if parts else None

    _failure: errors.OpError | None = None  # of the source, after the block

    def _check(self):
        if self._failure is not None and self._at == self._count:
            failure, self._failure = self._failure, None
            self._drop()
            raise failure

    def _drop(self):
        self._block = self._before = None
        self._at = self._count = 0

    def state(self):
        state = {"number": self._number, "given": 0}
        if self._block is None:
            return {**state, "inner": self._inner.state()}
        if self._before is not None:
            return {**state, "given": self._at, "inner": self._before}
        if self._failure is not None:
            raise self._failure
        rest = [part[self._at :].copy() for part in self._block]
        return {**state, "inner": self._inner.state(), "rest": rest}

    def restore(self, state):
        self._drop()
        self._failure = None
        self._number = state["number"]
        self._inner.restore(state["inner"])
        if state["given"]:
            self._inner.skip(state["given"])
        if "rest" in state:
            self._block = tuple(state["rest"])
            self._count = self._block[0].shape[0]
            self._compute()

    def _compute(self):
        """What is computed of a new block."""

    def close(self):
        self._inner.close()


def _bytes(part: np.ndarray) -> int:
    if part.dtype != object:
        return part.nbytes
    flat = part.ravel()
    return sum(map(len, flat.tolist())) if flat.size and isinstance(flat[0], bytes) else 64 * flat.size


class BlockMap(_Ahead):
    """A function of each element, computed for whole blocks.

    Args:
        stage: a `MapStage` with a function of blocks.
        run: of the walk.
    """

    def __init__(self, stage, run):
        super().__init__(stage, stage.source, run)
        self._results: tuple | None = None  # of the block; None when the function is called for each element

    def _ready(self, count):
        """Whether there are elements to give out."""
        while self._at == self._count:
            self._check()
            if self._fill(count) is None:
                return False
        return True

    def _compute(self):
        self._results = None if self._stage.vectorized is None else self._stage.function_of_block(self._block)

    def _one(self):
        at = self._at
        self._at, self._number = at + 1, self._number + 1
        if self._results is not None:
            return tuple([part[at, ...] for part in self._results])
        try:
            return self._stage.function(tuple([part[at, ...] for part in self._block]))
        except Exception as error:
            self._stage.failed(self._number - 1, error)

    def next(self):
        return self._one() if self._ready(1) else None

    def block(self, count):
        if not self._ready(count):
            return None
        if self._results is None:
            return tuple([part[None] for part in self._one()])
        at = self._at
        self._at = min(at + count, self._count)
        self._number += self._at - at
        return tuple([part[at : self._at] for part in self._results])

    def skip(self, count):
        self._check()
        here = min(count, self._count - self._at)
        self._at += here
        more = self._inner.skip(count - here) if here < count else 0
        if here < count:
            self._drop()
        self._number += here + more
        return here + more


class Hoisted:
    """A function of batches in two parts: what parses their records, and the rest of it."""

    def __init__(self, function: ElementFunction, nodes: list):
        graph = function.graph
        parsed = [output for node in nodes for output in node.outputs]
        self._captured = function.captured
        self._attrs = [node.attrs for node in nodes]
        self._inputs = [Plan(graph.base.nodes, graph.inputs, node.inputs) for node in nodes]
        others = [node for node in graph.base.nodes if node not in nodes]
        self._rest = Plan(others, [*graph.inputs, *parsed], graph.outputs)

    def parse(self, block) -> list[ParsedBlock]:
        """The parsed records of the components of several batches."""
        given = [*block, *self._captured]
        return [ParsedBlock(plan.run(given), attrs) for plan, attrs in zip(self._inputs, self._attrs)]

    def rest(self, batch, parsed: list[ParsedBlock], start: int, stop: int) -> tuple:
        """The result for a batch, which is what stands in the parsed block from `start` to `stop`."""
        outputs = [array for part in parsed for array in part.outputs(start, stop)]
        return tuple(self._rest.run([*batch, *self._captured, *outputs]))


def hoisted(function: ElementFunction) -> Hoisted | None:
    """The parts of a function of batches that parses records; None if it does not, or does more than compute."""
    graph = function.graph
    if function.is_stateful:
        return None
    count = len(graph.inputs) - len(graph.base.external_captures)
    elements = {id(tensor) for tensor in graph.inputs[:count]}
    constant = {id(tensor) for tensor in graph.inputs[count:]}
    nodes = []
    for node in graph.base.nodes:
        if node.record.name == "Const":
            constant.update(id(tensor) for tensor in node.outputs)
        elif node.record.name == "ParseExampleV2" and _has_no_names(node):
            serialized, *others = node.inputs
            if id(serialized) in elements and all(id(tensor) in constant for tensor in others):
                nodes.append(node)
    return Hoisted(function, nodes) if nodes else None


def _has_no_names(node) -> bool:
    # Names of records would have to be cut as well.
    return node.inputs[0].shape.rank == 1 and node.inputs[1].shape.num_elements() == 0


class BatchedParse(_Ahead):
    """A function of batches whose records are parsed, those of several batches at once.

    Args:
        stage: a `MapStage` whose input is a `BatchStage`.
        parts: of the function.
        run: of the walk.
    """

    def __init__(self, stage, parts: Hoisted, run):
        super().__init__(stage, stage.source.source, run)
        self._batches = stage.source
        self._parts = parts
        self._parsed: list[ParsedBlock] | None = None

    def _fill(self, least):
        size = self._batches.size
        self._next_count = -(-self._next_count // size) * size  # whole batches
        return super()._fill(least)

    def _compute(self):
        try:
            self._parsed = self._parts.parse(self._block)
        except Exception:
            self._parsed = None  # called for each batch, the function says which one fails

    def next(self):
        size = self._batches.size
        if self._at == self._count:
            self._check()
            if self._fill(size) is None:
                return None
        at = self._at
        self._at = min(at + size, self._count)
        if self._at - at < size:
            self._check()  # a batch that an error of the source cuts off
            if self._batches.drops:
                return None
        self._number += 1
        batch = tuple([part[at : self._at] for part in self._block])
        try:
            if self._parsed is None:
                return self._stage.function(batch)
            return self._parts.rest(batch, self._parsed, at, self._at)
        except Exception as error:
            self._stage.failed(self._number - 1, error)

    def skip(self, count):
        size = self._batches.size
        here = min(count * size, self._count - self._at)
        self._at += here
        more = 0
        if here < count * size:
            self._check()
            more = self._inner.skip(count * size - here)
            self._drop()
        done = here + more
        done = done // size if self._batches.drops else -(-done // size)
        self._number += done
        return done
