"""What rules of vectorization are written with: values of a whole batch, what a batch offers, rules that ops share.

A rule says what an operation of one element becomes for all elements at once. It stands with its op (`Op(...,
vectorize=rule)`) and is called by the walk over the graph of one element, `graph/vectorizing/walk.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.traits import ELEMENTWISE, EQUAL_SHAPES, Trait

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # takes less time to make, and `import headrace` loads this file


class Batched(NamedTuple):
    """A value of the element's graph: one for all elements, or stacked along a new first axis."""

    tensor: Tensor
    stacked: bool


class Ragged:
    """A value whose first dimension differs from element to element.

    Args:
        values: the rows of all elements, one after another.
        splits: where those of each element begin, and at last where they end, as int64.
        counts: whether the rows of each element are 0, 1, 2 ..., as the indices of sparse vectors without gaps are.
    """

    stacked = True

    def __init__(self, values: Tensor, splits: Tensor, counts: bool = False):
        self.tensor = values
        self.splits = splits
        self.counts = counts

    def like(self, values: Tensor) -> Ragged:
        """Other rows, as many for each element."""
        return Ragged(values, self.splits)

    def row_dims(self) -> list:
        """The shape of a row."""
        dims = self.tensor.shape[1:]
        if dims.rank is None or not dims.is_fully_defined():
            raise NoRule("more than one size may differ")
        return dims.as_list()


class NoRule(Exception):
    """A rule cannot do what is asked; the message says why. The operation then runs element by element."""


class Rule(NamedTuple):
    """How an op is vectorized.

    Attributes:
        stacked: `(batch, node, *inputs)`, called when an input is stacked. Each input is `Batched`, or a list of such.
            It returns a stacked tensor or a list of them, with `Batched` values where an output is the same for all
            elements; or it raises `NoRule`.
        ragged: the same, called when an input is `Ragged`; it may return `Ragged` values, and its batch is a
            `RaggedBatch`. None: blocks of a dataset in which sizes differ go through the op one by one.
        makes_ragged: `ragged` is called for stacked inputs too, where results may be ragged.
        always: `stacked` is called even when no input is stacked: results may be another for each element.
        quiet: running element by element is nothing to warn of.
    """

    stacked: Callable | None = None
    ragged: Callable | None = None
    makes_ragged: bool = False
    always: bool = False
    quiet: bool = False


class Batch(Protocol):
    """The elements that are computed at once, as rules see them."""

    size: Any  # how many elements there are: an int, or a scalar tensor
    on_host: bool  # whether the result need not be compiled, so that functions of arrays may be part of it

    def apply(self, node, inputs, attrs=None, op=None) -> list:
        """Apply the op of a node (or another) to `Batched` values or tensors; returns its outputs as a flat list."""

    def stack(self, value: Batched) -> Tensor:
        """The value stacked, repeated if it is one for all."""

    def rank(self, value: Batched) -> int:
        """The rank of the value of one element."""

    def shape_of_element(self, value: Batched, dtype=...) -> Any:
        """The shape of one element: a list of ints, or a tensor (of int32 unless another dtype is asked for)."""

    def axes(self, value: Batched) -> Tensor:
        """Axes of one element as those of the batch. Negative ones count from the end, and stay."""

    def aligned(self, values) -> list:
        """The tensors of values that broadcast against each other, so that they do with the batch as first axis."""

    def with_rank(self, value: Batched, rank: int) -> Tensor:
        """A stacked value whose elements have that rank, by axes of length one behind the batch."""

    def size_vector(self) -> Any:
        """The number of elements as a vector of length one: a list, or a tensor."""

    def with_size(self, vector) -> Any:
        """A vector of sizes of one element with the number of elements before them."""

    def join(self, *vectors) -> Any:
        """Vectors of integers, lists or tensors, as one; a list where all of it is known."""

    def numbers(self) -> Tensor:
        """0, 1, 2 ... for the elements, as int32."""

    def merged(self, value: Batched) -> tuple:
        """A value with the first axis of its elements joined to the batch, and the length of that axis.

        That is how ops on a batch of images take those of all elements.
        """

    def parted(self, tensor: Tensor, length) -> Tensor:
        """The opposite of `merged`, with the length that it returned."""

    def larger(self, sizes: Tensor, at: int = 0) -> Tensor:
        """Sizes with the number of elements multiplied in at one place."""

    def call_on_arrays(self, function, inputs, dtype) -> Any:
        """What a function of arrays gives, as a tensor or a list of tensors; only where `on_host` holds."""

    # For ops that call functions, which are graphs.

    def call(self, node, graph, inputs) -> list:
        """The outputs of a graph that a node calls."""

    def conditional(self, condition: Batched, graphs, inputs) -> list:
        """The outputs of the first of two graphs where the condition holds, of the other one where it does not."""

    def switch(self, number: Batched, graphs, inputs) -> list:
        """The outputs of the graph of that number, and of the last one where there is none of that number."""

    def loop(self, condition, body, inputs) -> list:
        """The values with which a loop ends, whose condition and body are graphs."""


class RaggedBatch(Batch, Protocol):
    """Elements whose sizes may differ."""

    def count(self) -> Tensor:
        """The number of elements as int64."""

    def starts(self, splits) -> Tensor:
        """Where the rows of each element begin."""

    def lengths(self, splits) -> Tensor:
        """How many rows each element has."""

    def owners(self, splits) -> Tensor:
        """The number of the element of each row."""

    def splits_of(self, lengths) -> Tensor:
        """The splits of rows that are so many for each element."""

    def shapes(self, x: Ragged, dtype) -> Tensor:
        """The shape of each element, stacked."""

    def spread(self, value: Batched, splits) -> Tensor:
        """A stacked value, repeated for each row of its element."""

    def ranges(self, starts, limits, deltas=...) -> Ragged:
        """For each element the numbers from a start up to a limit."""

    def places(self, value: Batched, lengths) -> Tensor:
        """For each element a place, counted from its first row.

        Args:
            value: vectors of one number, which counts from the end where it is negative.
            lengths: how many rows each element has.
        """

    def picked(self, x: Ragged, starts, stops) -> Ragged:
        """Of each element the rows from one place up to another. None: from the first row, up to the last one.

        Places before the first row or after the last one mean these.
        """

    def row(self, x: Ragged, places) -> Tensor:
        """Of each element the row at a place, which must be there."""

    def inner_splits(self, splits: Ragged, values: Ragged) -> tuple:
        """Row splits that each element has for its own values, as those of all, and the splits of these rows."""

    def rows_of(self, value, row_dims) -> tuple:
        """A value as rows of that shape, and how many of them each element has."""

    def joined(self, parts) -> Ragged:
        """Values, as `rows_of` gives them, one after another."""

    def aligned_rows(self, inputs) -> tuple:
        """The first ragged input, and the inputs as tensors of rows that broadcast against each other."""

    def require(self, condition) -> None:
        """Fail unless this holds for all elements: one by one, they then say what is wrong."""

    def require_lengths(self, x: Ragged, lengths) -> None:
        """Fail unless elements have so many rows: a number, or one for each element."""


# What a value is.


def tensor_of(value):
    return value.tensor if isinstance(value, Batched) else value


def flatten(inputs) -> list:
    """`Batched` values and lists of them as one list."""
    flat: list = []
    for value in inputs:
        flat.extend(value) if isinstance(value, list) else flat.append(value)
    return flat


def refill(inputs, flat) -> list:
    """The opposite of `flatten`."""
    rest = iter(flat)
    return [[next(rest) for _ in value] if isinstance(value, list) else next(rest) for value in inputs]


def value_of(tensor):
    """The value of a tensor as a NumPy array when it is known now, otherwise None."""
    return tensor._a if isinstance(tensor, EagerTensor) else getattr(tensor, "_known", None)


def unstacked(value: Batched, what: str = "parameter") -> Tensor:
    """The tensor of a value that must be the same for all elements."""
    if value.stacked:
        raise NoRule(f"its {what} differs between elements")
    return value.tensor


def known_array(value: Batched, what: str):
    """The array of a value that must be known, and the same for all elements."""
    known = value_of(unstacked(value, what))
    if known is None:
        raise NoRule(f"its {what} is not known")
    return known


def known_shape(node):
    """The shape of a node's output as a list, which says what a -1 stands for; None where it is not known."""
    static = node.outputs[0].shape
    return static.as_list() if static.is_fully_defined() else None


def batch_shape(size, shape) -> TensorShape:
    """The static shape of a batch of elements of that shape."""
    return TensorShape([size if isinstance(size, int) else None]).concatenate(shape)


def shifted(axis: int) -> int:
    """An axis of one element as that of the batch."""
    return axis if axis < 0 else axis + 1


# Rules that many ops share. Those of element-wise ops are implied by their traits.


def _elementwise(batch: Batch, node, *inputs):
    return batch.apply(node, batch.aligned(inputs) if len(inputs) > 1 else inputs)


def _elementwise_rows(batch: RaggedBatch, node, *inputs):
    first, tensors = batch.aligned_rows(inputs) if len(inputs) > 1 else (inputs[0], inputs)
    return first.like(batch.apply(node, tensors)[0])


def _alike(batch: Batch, node, *inputs):
    if isinstance(inputs[0], list):
        return batch.apply(node, [[batch.stack(x) for x in inputs[0]]])
    return batch.apply(node, [batch.stack(x) for x in inputs])


def _along_axes(batch: Batch, node, x, axes):
    if not x.stacked:
        raise NoRule("its axes differ between elements")
    return batch.apply(node, [x, batch.axes(axes)])


def on_last_axes(count: int = 1) -> Rule:
    """For ops on the last axes of so many first inputs, which have any number of axes before; others are parameters."""

    def rule(batch: Batch, node, *inputs):
        return batch.apply(node, [*map(batch.stack, inputs[:count]), *map(unstacked, inputs[count:])])

    return Rule(rule)


def merging(count: int = 1) -> Rule:
    """For ops on the first axis of so many first inputs (batches of images, rows): those of all elements become one.

    Others are parameters. What comes out has as many images or rows as the last of these inputs.
    """

    def rule(batch: Batch, node, *inputs):
        merged = [batch.merged(x) for x in inputs[:count]]
        results = batch.apply(node, [*(tensor for tensor, _ in merged), *map(unstacked, inputs[count:])])
        return [batch.parted(result, merged[-1][1]) for result in results]

    return Rule(rule)


_ELEMENTWISE = Rule(_elementwise, _elementwise_rows)
_ALIKE = Rule(_alike)
_NONE = Rule()
along_axes = Rule(_along_axes)  # along the axes that the second input names
broadcasting = Rule(_elementwise)  # on the last axes of all inputs; those before broadcast
one_by_one = Rule(quiet=True)  # runs element by element as a matter of course


def rule_of(vectorize: Callable | Rule | None, traits: Trait) -> Rule:
    """The rule of an op, from what its record says."""
    if vectorize is not None:
        return vectorize if isinstance(vectorize, Rule) else Rule(vectorize)
    if ELEMENTWISE not in traits:
        return _NONE
    return _ALIKE if EQUAL_SHAPES in traits else _ELEMENTWISE
