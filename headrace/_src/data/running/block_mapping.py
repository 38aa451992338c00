"""`Dataset.map` over cheap sources, such as files: more elements are read than were asked for, and computed at once.

Parsing a hundred records takes little longer than parsing one, so the elements (or batches) to come are read with those
that are asked for, as long as that is a matter of milliseconds and of a few megabytes.
"""

from __future__ import annotations

import numpy as np

from headrace._src.core import errors
from headrace._src.data.running.functions import ElementFunction
from headrace._src.data.running.reading_ahead import BlockAhead
from headrace._src.formats.records import RecordSpans
from headrace._src.graph.running.plan import Plan
from headrace._src.ops.arrays.filling import CONST
from headrace._src.ops.parsing.examples import PARSE_EXAMPLE
from headrace._src.ops.parsing.parsed_examples import ParsedBlock
from headrace._src.ops.parsing.parsed_sequences import ParsedSequences
from headrace._src.ops.parsing.sequences import PARSE_SEQUENCE_EXAMPLE

_FIRST_BYTES, _MOST_BYTES = 1 << 20, 1 << 22  # that are read at once
# What records that were parsed together are, by the op and the rank of the records that it parses.
_PARSED: dict = {
    (PARSE_EXAMPLE, 0): ParsedBlock,
    (PARSE_EXAMPLE, 1): ParsedBlock,
    (PARSE_SEQUENCE_EXAMPLE, 0): ParsedSequences,
}


class MapAhead(BlockAhead):
    """What maps have in common that are computed for whole blocks.

    Args:
        stage: a `MapStage`.
        inner: what it reads.
        by_blocks: whether that gives blocks faster than elements.
    """

    def __init__(self, stage, inner, by_blocks):
        super().__init__(inner, by_blocks)
        self._stage = stage
        self._results: tuple | None = None  # of the block; None when the function is called for each element

    def _bytes_made(self):
        return sum(part.nbytes for part in self._results or ())

    def _cut(self, at):
        """One of the results."""
        return tuple([part[at, ...] for part in self._results])

    def _one(self):
        at = self._at
        self._at, self._number = at + 1, self._number + 1
        if self._results is not None:
            return self._cut(at)
        element = tuple([part[at, ...] for part in self._block])
        try:
            return self._stage.function(element)
        except Exception as error:
            self._stage.failed(self._number - 1, error, element)

    def next(self):
        return self._one() if self._ready(1) else None

    def _several(self, count):
        """Between one and `count` of the results."""
        taken = self._taken(count)
        return tuple([part[taken] for part in self._results])


class BlockMap(MapAhead):
    """A function of each element, computed for whole blocks.

    Args:
        stage: a `MapStage` with a function of blocks.
        run: of the walk.
    """

    def __init__(self, stage, run):
        super().__init__(stage, stage.source.cursor(run), stage.source.has_blocks)

    def _compute(self):
        self._results = None if self._stage.vectorized is None else self._stage.function_of_block(self._block)

    def block(self, count):
        if not self._ready(count):
            return None
        return tuple([part[None] for part in self._one()]) if self._results is None else self._several(count)


class Hoisted:
    """A function of batches in two parts: what parses their records, and the rest of it."""

    def __init__(self, function: ElementFunction, nodes: list):
        graph = function.graph
        parsed = [output for node in nodes for output in node.outputs]
        self._captured = function.captured
        self._parsers = [_parser(node, node.inputs[0].shape.rank) for node in nodes]
        self._inputs = [Plan(graph.base.nodes, graph.inputs, node.inputs) for node in nodes]
        others = [node for node in graph.base.nodes if node not in nodes]
        self._rest = Plan(others, [*graph.inputs, *parsed], graph.outputs)
        records = {id(node.inputs[0]) for node in nodes}
        used = [*graph.outputs, *(tensor for node in others for tensor in node.inputs)]
        self.only_parses = not any(id(tensor) in records for tensor in used)  # and does nothing else with the records

    def parse(self, block) -> list[ParsedBlock]:
        """The parsed records of the components of several batches."""
        given = [*block, *self._captured]
        return [parser(plan.run(list(given))) for plan, parser in zip(self._inputs, self._parsers)]

    def rest(self, batch, parsed: list[ParsedBlock], start: int, stop: int) -> tuple:
        """The result for a batch, which is what stands in the parsed block from `start` to `stop`."""
        outputs = [array for part in parsed for array in part.outputs(start, stop)]
        return tuple(self._rest.run([*batch, *self._captured, *outputs]))

    def rest_of_one(self, element, parsed: list[ParsedBlock], index: int) -> tuple:
        """The result for one record, for a function of single records."""
        outputs = [array for part in parsed for array in part.single(index)]
        return tuple(self._rest.run([*element, *self._captured, *outputs]))


def hoisted(function: ElementFunction, rank: int) -> Hoisted | None:
    """The parts of a function that parses records; None if it does not, or does more than compute.

    Args:
        function: of batches, or of single records.
        rank: of the records that it parses: 1 or 0.
    """
    graph = function.graph
    if function.is_stateful or function.calls_python:
        return None
    count = len(graph.inputs) - len(graph.base.external_captures)
    elements = {id(tensor) for tensor in graph.inputs[:count]}
    constant = {id(tensor) for tensor in graph.inputs[count:]}
    nodes = []
    for node in graph.base.nodes:
        of_constants = node.inputs and all(id(tensor) in constant for tensor in node.inputs)
        if node.record is CONST or of_constants:
            constant.update(id(tensor) for tensor in node.outputs)
        elif (node.record, rank) in _PARSED and _has_no_names(node, rank):
            serialized, *others = node.inputs
            if id(serialized) in elements and all(id(tensor) in constant for tensor in others):
                nodes.append(node)
    return Hoisted(function, nodes) if nodes else None


def _parser(node, rank):
    parsed, attrs = _PARSED[node.record, rank].parsed, node.attrs
    return lambda inputs: parsed(inputs, attrs)


def _has_no_names(node, rank) -> bool:
    # Names of records would have to be cut as well.
    return node.inputs[0].shape.rank == rank and node.inputs[1].shape.num_elements() == 0


class ParsedElement(tuple):
    """An element whose records were parsed with those of a block: `parsed` is what was found, `place` where it is."""

    parsed: list[ParsedBlock]
    place: int


class ParseAhead(BlockMap):
    """The elements of the input of a map, whose records are parsed already, those of a block at once.

    Args:
        stage: a `MapStage`.
        parts: of the function.
        run: of the walk.
    """

    def __init__(self, stage, parts: Hoisted, run):
        super().__init__(stage, run)
        self._parts = parts
        self._parsed: list[ParsedBlock] | None = None

    def _compute(self):
        try:
            self._parsed = self._parts.parse(self._block)
        except Exception:
            self._parsed = None  # called for each record, the function says which one fails

    def _one(self):
        at = self._at
        self._at, self._number = at + 1, self._number + 1
        element = [part[at, ...] for part in self._block]
        if self._parsed is None:
            return tuple(element)
        found = ParsedElement(element)
        found.parsed, found.place = self._parsed, at
        return found

    def state(self):
        return {**super().state(), "is_parsed": True}


class FunctionOfParsed:
    """The function of a map as it is called with what `ParseAhead` gives.

    Args:
        function: the whole function.
        parts: of it.
    """

    draws = calls_python = False

    def __init__(self, function: ElementFunction, parts: Hoisted):
        self._function = function
        self._parts = parts

    def __call__(self, element) -> tuple:
        if type(element) is not ParsedElement:
            return self._function(element)
        return self._parts.rest_of_one(element, element.parsed, element.place)

    def state(self):
        return None

    def restore(self, state):
        """There are no random numbers."""


def _array(records: list) -> np.ndarray:
    array = np.empty(len(records), object)
    array[:] = records
    return array


class BatchedParse(BlockAhead):
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
        self._bytes = _FIRST_BYTES
        # Records are then parsed where they stand in the file, and need no objects.
        self._by_spans = source.has_spans and parts.only_parses

    def _fill(self, least):
        size = self._batches.size
        if self._by_spans:
            return self._fill_with_spans(size)
        self._next_count = -(-self._next_count // size) * size  # whole batches
        return super()._fill(least)

    def _fill_with_spans(self, size):
        before = self._inner.state()
        spans = self._inner.spans(size, self._bytes)
        if spans is None:
            self._drop()
            return None
        self._bytes = min(2 * self._bytes, _MOST_BYTES)
        self._block, self._before, self._at, self._count = (spans,), before, 0, len(spans)
        if self._count % size:  # the end of a file: the last batch goes on in the next one
            self._block = self._with_more(spans, size)
            self._count = len(self._block[0])
        self._compute()
        return self._block

    def _with_more(self, spans, size):
        records = spans.records(0, len(spans))
        try:
            while len(records) % size and (block := self._inner.block(size - len(records) % size)) is not None:
                records += block[0].tolist()
        except errors.OpError as error:
            self._failure = error
        return (_array(records),)

    def _batch(self, start, stop):
        """The records of a batch as the function takes them."""
        if isinstance(self._block[0], RecordSpans):
            return (_array(self._block[0].records(start, stop)),)
        return tuple([part[start:stop] for part in self._block])

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
        try:
            if self._parsed is None:
                return self._stage.function(self._batch(at, self._at))
            batch = self._block if self._parts.only_parses else self._batch(at, self._at)
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

    def state(self):
        return {**super().state(), "is_batched": True}
