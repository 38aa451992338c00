"""`tf.foldl`, `tf.foldr` and `tf.scan`: a function that carries a value along the elements."""

from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.control.map_fn import (
    as_list,
    check_function,
    check_parallel_iterations,
    count_elements,
    counted_loop,
    read,
    reserve,
    stack,
    stack_eager,
    write,
)
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.options import truth
from headrace._src.ops.arrays.joining import UNPACK
from headrace._src.ops.math.comparison import LESS
from headrace._src.ops.tensor_lists.single_elements import TENSOR_LIST_SET_ITEM


class _Elements:
    """The elements of a structure of tensors, read by number."""

    def __init__(self, name, elems):
        flat = [to_tensor(leaf) for leaf in nest.flatten(elems)]
        if not flat:
            raise ValueError(f"{name}: elems must be a tensor or a structure of tensors, got {elems!r}.")
        self._structure = elems
        self.count = count_elements(name, flat)
        if context.graph is None:
            rows = [UNPACK(tensor, num=self.count, axis=0) for tensor in flat]
            self._read = lambda i: [row[i] for row in rows]
        else:
            lists = [as_list(tensor) for tensor in flat]
            self._read = lambda i: [read(made, i) for made in lists]
        self._name = name

    def __getitem__(self, i):
        return nest.pack_sequence_as(self._structure, self._read(i))

    def first(self, i):
        """The element from which folding begins when there is no initializer."""
        if isinstance(self.count, int) and not self.count:
            # TF: eagerly OutOfRangeError, in a graph what the list op says.
            raise (errors.out_of_range if context.graph is None else errors.invalid_argument)(
                f"{self._name}: there must be an initializer when elems has no elements."
            )
        return self[i]


def _start(elements, initializer, last_first):
    """The first value, and the number of the element that is next."""
    count = elements.count
    if initializer is not None:
        value = nest.map_structure(to_tensor, initializer)
        return value, (count - 1 if last_first else 0)
    if last_first:
        return elements.first(count - 1), count - 2
    return elements.first(0), 1


def _fold(name, fn, elems, initializer, parallel_iterations, backwards):
    check_function(name, fn)
    check_parallel_iterations(name, parallel_iterations)
    elements = _Elements(name, elems)
    value, begin = _start(elements, initializer, backwards)
    if context.graph is None:
        structure = value
        for i in range(begin, -1, -1) if backwards else range(begin, elements.count):
            value = fn(value, elements[i])
            nest.assert_same_structure(structure, value)
            value = nest.map_structure(to_tensor, value)
        return value
    step = -1 if backwards else 1
    limit = (lambda i: i >= 0) if backwards else (lambda i: LESS(i, elements.count))

    def body(i, value):
        after = fn(value, elements[i])
        # TF: in a graph, lists and tuples count as the same.
        nest.assert_same_structure(value, after, check_types=False)
        return i + step, nest.pack_sequence_as(value, nest.flatten(after))

    begin = begin if not isinstance(begin, int) else to_tensor(begin, dtypes.int32)
    _, value = counted_loop(lambda i, value: limit(i), body, (begin, value), elements.count, parallel_iterations)
    return value


@api("foldl", dispatch=False, told=True)
def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None) -> Any:
    """Combine the elements along the first axis, from the first to the last.

    Args:
        fn: `fn(value, element)` returns the next value.
        elems: a tensor or a structure of tensors with equal first dimensions.
        initializer: the first value; without it, the first element is that.
        parallel_iterations, back_prop, swap_memory: accepted; the steps follow each other.
        name: a name for the operations.

    >>> tf.foldl(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy().item()
    -4
    """
    truth("back_prop", back_prop)
    with name_scope(name or "foldl"):
        return _fold("foldl", fn, elems, initializer, parallel_iterations, backwards=False)


@api("foldr", dispatch=False, told=True)
def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None) -> Any:
    """Combine the elements along the first axis, from the last to the first; see `foldl`.

    >>> tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy().item()
    0
    """
    truth("back_prop", back_prop)
    with name_scope(name or "foldr"):
        return _fold("foldr", fn, elems, initializer, parallel_iterations, backwards=True)


@api("scan", dispatch=False, told=True)
def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
) -> Any:
    """Combine the elements along the first axis, and return all values on the way.

    Args:
        fn: `fn(value, element)` returns the next value.
        elems: a tensor or a structure of tensors with equal first dimensions.
        initializer: the first value, in the structure that `fn` returns; without it, the first element is that, and the
            first result.
        parallel_iterations, back_prop, swap_memory: accepted; the steps follow each other.
        infer_shape: whether all values must have one shape.
        reverse: begin with the last element.
        name: a name for the operations.

    Returns:
        The values, stacked; the one that belongs to an element stands where the element does.

    >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 3, 6]
    """
    check_function("scan", fn)
    check_parallel_iterations("scan", parallel_iterations)
    truth("back_prop", back_prop)
    with name_scope(name or "scan"):
        elements = _Elements("scan", elems)
        value, begin = _start(elements, initializer, reverse)
        run = _scan_eagerly if context.graph is None else _scan_in_graph
        return run(fn, elements, value, begin, initializer is None, infer_shape, reverse, parallel_iterations)


def _scan_eagerly(fn, elements, value, begin, keep_first, infer_shape, reverse, parallel_iterations):
    structure, flat = value, nest.flatten(value)
    rows = [flat] if keep_first else []
    for i in range(begin, -1, -1) if reverse else range(begin, elements.count):
        value = fn(value, elements[i])
        nest.assert_same_structure(structure, value)
        value = nest.map_structure(to_tensor, value)
        rows.append(nest.flatten(value))
    if reverse:
        rows.reverse()
    columns = []
    for k, first in enumerate(flat):
        shape = first.shape if infer_shape else TensorShape(None)
        columns.append(stack_eager("scan", [row[k] for row in rows], shape, first.dtype, infer_shape))
    return nest.pack_sequence_as(structure, columns)


def _scan_in_graph(fn, elements, value, begin, keep_first, infer_shape, reverse, parallel_iterations):
    count, structure = elements.count, value
    flat = nest.flatten(value)
    shapes = [leaf.shape if infer_shape else TensorShape(None) for leaf in flat]
    handles = [reserve(count, shape, leaf.dtype) for shape, leaf in zip(shapes, flat)]
    if keep_first:
        at = count - 1 if reverse else 0
        handles = [TENSOR_LIST_SET_ITEM(handle, at, leaf) for handle, leaf in zip(handles, flat)]
    step = -1 if reverse else 1
    limit = (lambda i: i >= 0) if reverse else (lambda i: LESS(i, count))

    def body(i, value, *handles):
        after = fn(value, elements[i])
        nest.assert_same_structure(structure, after)
        leaves = [to_tensor(leaf) for leaf in nest.flatten(after)]
        for leaf, shape in zip(leaves, shapes):
            if not shape.is_compatible_with(leaf.shape):
                raise ValueError(f"scan: Inconsistent shapes: saw {leaf.shape} but expected {shape}")
        for leaf, first in zip(leaves, flat):
            if leaf.dtype is not first.dtype:
                raise TypeError(
                    f"scan: a value enters the loop with type {first.dtype.name} but has type {leaf.dtype.name} after "
                    "1 iteration. Cast it with tf.cast."
                )
        written = [write(handle, i, leaf, leaf.dtype) for handle, leaf in zip(handles, leaves)]
        return (i + step, nest.pack_sequence_as(structure, leaves), *written)

    begin = begin if not isinstance(begin, int) else to_tensor(begin, dtypes.int32)
    last = counted_loop(lambda i, *rest: limit(i), body, (begin, value, *handles), count, parallel_iterations)
    stacked = [
        stack(handle, count, leaf.shape if infer_shape else TensorShape(None), leaf.dtype)
        for handle, leaf in zip(last[2:], flat)
    ]
    return nest.pack_sequence_as(structure, stacked)
