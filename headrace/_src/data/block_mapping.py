"""`Dataset.map` over cheap sources, such as files: more elements are read than were asked for, and computed at once.

Parsing a hundred records takes little longer than parsing one, so the elements (or batches) to come are read with those
that are asked for, as long as that is a matter of milliseconds and of a few megabytes.
"""

from __future__ import annotations

from headrace._src.data.functions import ElementFunction
from headrace._src.data.reading_ahead import Ahead
from headrace._src.graph.plan import Plan
from headrace._src.ops.parsing import ParsedBlock


class BlockMap(Ahead):
    """A function of each element, computed for whole blocks.

    Args:
        stage: a `MapStage` with a function of blocks.
        run: of the walk.
    """

    def __init__(self, stage, run):
        super().__init__(stage.source.cursor(run), stage.source.has_blocks)
        self._stage = stage
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


class BatchedParse(Ahead):
    """A function of batches whose records are parsed, those of several batches at once.

    Args:
        stage: a `MapStage` whose input is a `BatchStage`.
        parts: of the function.
        run: of the walk.
    """

    def __init__(self, stage, parts: Hoisted, run):
        source = stage.source.source
        super().__init__(source.cursor(run), source.has_blocks)
        self._stage = stage
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
