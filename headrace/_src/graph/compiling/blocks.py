"""`Block`: the operations of a graph as plain data, which the compiler reads and which can be sent to its process.

Values are numbered: the inputs first, then what the instructions compute. Graphs among the attributes of an operation
become blocks as well, so a block holds all that a program is made of, and nothing of the graph that it came from.
"""

import numpy as np

from headrace._src.graph.building.operation import input_counts
from headrace._src.graph.passes.steps import draws_numbers, origin, random_call
from headrace._src.op.definition import REGISTRY
from headrace._src.op.traits import LOOPS, WRITES_VARIABLE
from headrace._src.ops.arrays.filling import CONST


class Instruction:
    """One operation: reads values by number, and computes others."""

    # `counts`: how many tensors each input of the op has. `place`: the position among the operations of the graph.
    # `stream`: the number of the stream that a random op draws from.
    __slots__ = ("attrs", "counts", "dtypes", "inputs", "op", "outputs", "place", "stream")

    def __init__(self, op, inputs, counts, attrs, outputs, dtypes, place, stream):
        self.op = op
        self.inputs = inputs
        self.counts = counts
        self.attrs = attrs
        self.outputs = outputs
        self.dtypes = dtypes
        self.place = place
        self.stream = stream

    def __reduce__(self):
        return Instruction, tuple(getattr(self, name) for name in (
            "op", "inputs", "counts", "attrs", "outputs", "dtypes", "place", "stream"
        ))  # fmt: skip


class Block:
    """Instructions that compute outputs from inputs.

    Attributes:
        input_types: the dtype of each input.
        instructions: in the order of their effects.
        outputs: the numbers of the values that are returned.
        size: how many values there are.
        written: positions of the inputs that are variables which the block changes.
        streams: numbers of the random streams that the block draws from.
        loops: whether there is a loop in it.
        after_loops: how many instructions it takes until no loop follows.
        count: how many operations there are, those of inner blocks included.
    """

    def __init__(self, input_types, instructions, outputs, size):
        self.input_types = input_types
        self.instructions = instructions
        self.outputs = outputs
        self.size = size
        written: set[int] = set()
        streams: set[int] = set()
        self.after_loops = 0
        self.count = 0
        for number, instruction in enumerate(instructions, 1):
            self.count += 1
            op = REGISTRY[instruction.op]
            if WRITES_VARIABLE in op.traits:
                written.update(instruction.inputs[: op.writes])
            if instruction.stream is not None:
                streams.add(instruction.stream)
            if op.calls_functions:
                for inner in inner_blocks(instruction):
                    offset = len(instruction.inputs) - len(inner.input_types)  # a condition comes before
                    written.update(instruction.inputs[offset + i] for i in inner.written)
                    streams |= inner.streams
                    self.count += inner.count
                    if inner.loops:
                        self.after_loops = number
                if LOOPS in op.traits:
                    self.after_loops = number
        self.loops = bool(self.after_loops)
        self.written = frozenset(i for i in written if i < len(input_types))
        self.streams = frozenset(streams)


def inner_blocks(instruction) -> list[Block]:
    """The blocks among the attributes of an instruction."""
    blocks = []
    for value in instruction.attrs.values():
        if isinstance(value, Block):
            blocks.append(value)
        elif isinstance(value, (list, tuple)):
            blocks.extend(item for item in value if isinstance(item, Block))
    return blocks


class BlockBuilder:
    """Makes blocks of operations.

    `random_nodes` are the operations behind the numbers of the streams, each with the calls that lead to its graph.
    """

    def __init__(self):
        self.random_nodes = []
        self._calls: tuple = ()  # the calls that lead to the current graph, as far as they matter for random streams
        self._numbers: dict[tuple, int] = {}
        self._graphs: dict[tuple, Block] = {}

    def of_graph(self, graph) -> Block:
        """The block of a function's graph; the same one each time, unless it draws random numbers."""
        key = (graph, self._calls if draws_numbers(graph) else ())
        block = self._graphs.get(key)
        if block is None:
            block = self._graphs[key] = self.of_plan(graph.plan())
        return block

    def of_plan(self, plan) -> Block:
        """The block that computes what a plan computes."""
        steps, inputs, outputs = plan.steps, plan.inputs, plan.outputs
        slots = {id(tensor): i for i, tensor in enumerate(inputs)}
        size = len(inputs)
        instructions = []
        for place, node in enumerate(steps):
            made = node.outputs
            numbers = tuple(range(size, size + len(made)))
            size += len(made)
            instructions.append(
                Instruction(
                    node.record.name,
                    tuple(slots[id(tensor)] for tensor in node.inputs),
                    tuple(input_counts(node)),
                    self._attrs(node),
                    numbers,
                    tuple(tensor.dtype for tensor in made),
                    place,
                    self._stream(node),
                )
            )
            for tensor, number in zip(made, numbers):
                slots[id(tensor)] = number
        return Block(
            tuple(tensor.dtype for tensor in inputs), instructions, tuple(slots[id(t)] for t in outputs), size
        )

    def _attrs(self, node):
        if node.record is CONST:
            return {"value": node.attrs["value"]._a}
        if not node.record.calls_functions:
            return node.attrs
        before, call = self._calls, random_call(node)
        if call is not None:
            self._calls = (*before, call)
        attrs = {name: self._converted(value) for name, value in node.attrs.items()}
        self._calls = before
        return attrs

    def _converted(self, value):
        if hasattr(value, "nodes"):
            return self.of_graph(value)
        if isinstance(value, (list, tuple)):
            return [self._converted(item) for item in value]
        return value

    def _stream(self, node):
        if not node.record.draws:
            return None
        key = (origin(node), self._calls)  # the interpreter draws from the same stream
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.random_nodes)
            self.random_nodes.append(key)
        return number


def is_number(array) -> bool:
    """Whether an array holds numbers, which a program can compute with, rather than strings or objects."""
    return isinstance(array, np.ndarray) and not array.dtype.hasobject


