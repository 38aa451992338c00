"""`tf.map_fn`: a function applied to each element along the first axis."""

import logging
from typing import Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.batchable_specs import BatchableTypeSpec
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.core.type_specs import TypeSpec, type_spec_from_value
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.control.loops import while_loop
from headrace._src.op.api import api
from headrace._src.op.attached import method_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.options import truth
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import EMPTY, FILL
from headrace._src.ops.arrays.joining import PACK, UNPACK
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.math.comparison import LESS
from headrace._src.ops.tensor_lists.single_elements import (
    TENSOR_LIST_GET_ITEM,
    TENSOR_LIST_RESERVE,
    TENSOR_LIST_SET_ITEM,
)
from headrace._src.ops.tensor_lists.whole_lists import TENSOR_LIST_FROM_TENSOR, TENSOR_LIST_STACK

logger = logging.getLogger("headrace")


def check_function(name, fn):
    """Refuse what cannot be called. TF: an AttributeError by accident."""
    if not callable(fn):
        raise TypeError(f"{name}: fn must be callable, got {fn!r}.")


def check_parallel_iterations(name, parallel_iterations):
    """Eagerly one iteration follows the other."""
    if context.graph is None and parallel_iterations and parallel_iterations > 1:
        logger.debug("%s: parallel_iterations > 1 has no effect when executing eagerly.", name)


def count_elements(name, tensors):
    """How many elements the tensors have along the first axis: an int where that is known, otherwise a tensor.

    Raises:
        ValueError: a tensor is a scalar, or the numbers differ.
    """
    size = TensorShape([None])
    for tensor in tensors:
        if tensor.shape.rank == 0:
            raise ValueError(f"{name}: Elements in elems must be 1+ dimensional Tensors, not scalars")
        if tensor.shape.rank is not None:
            try:
                size = size.merge_with(tensor.shape[:1])
            except ValueError:
                raise ValueError(
                    f"{name}: all elems must have the same first dimension. Dimensions {size[0]} and "
                    f"{tensor.shape[0]} are not compatible"
                ) from None
    if size[0] is not None:
        return size[0]
    return STRIDED_SLICE(
        SHAPE(tensors[0], out_type=dtypes.int32), [0], [1], [1], begin_mask=0, end_mask=0,
        ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=1,
    )  # fmt: skip


def shape_input(shape):
    """A shape as list ops take it: a vector with -1 for what is unknown, or the scalar -1."""
    if shape.rank is None:
        return to_tensor(-1, dtypes.int32)
    return to_tensor([-1 if n is None else n for n in shape.as_list()], dtypes.int32)


def as_list(tensor):
    """A list of the elements of a tensor along the first axis."""
    shape = TensorShape(None) if tensor.shape.rank is None else tensor.shape[1:]
    return TENSOR_LIST_FROM_TENSOR(tensor, shape_input(shape)), shape, tensor.dtype


def read(made, index):
    """The element number `index` of what `as_list` returned."""
    handle, shape, dtype = made
    item = TENSOR_LIST_GET_ITEM(handle, index, shape_input(shape), element_dtype=dtype)
    item.set_shape(shape)
    return item


def write(handle, index, value, dtype):
    """A list with one element replaced."""
    value = to_tensor(value)
    if value.dtype is not dtype:
        raise errors.GraphBuildError(
            None,
            None,
            f"TensorListSetItem: the elements of the list are {dtype.name}, got {value.dtype.name}. "
            "Say what fn returns with fn_output_signature.",
        )
    return TENSOR_LIST_SET_ITEM(handle, index, value)


def reserve(count, shape, dtype):
    """A list of `count` elements that are not set yet."""
    return TENSOR_LIST_RESERVE(shape_input(shape), to_tensor(count, dtypes.int32), element_dtype=dtype)


def stack(handle, count, shape, dtype):
    """The elements of a list as one tensor."""
    known = count if isinstance(count, int) else -1
    result = TENSOR_LIST_STACK(handle, shape_input(shape), element_dtype=dtype, num_elements=known)
    result.set_shape(TensorShape([count if isinstance(count, int) else None]).concatenate(shape))
    return result


def stack_eager(name, values, shape, dtype, infer_shape):
    """Tensors as one tensor, with the checks of a TensorArray."""
    tensors = [to_tensor(value) for value in values]
    for tensor in tensors:
        if tensor.dtype is not dtype:
            raise errors.invalid_argument(
                f"{name}: fn must return {dtype.name} here, got {tensor.dtype.name}. Say what fn returns with "
                "fn_output_signature."
            )
        if not shape.is_compatible_with(tensor.shape):
            raise ValueError(f"{name}: Incompatible shape for value ({tensor.shape}), expected ({shape})")
        if infer_shape:
            shape = tensor.shape
    if not tensors:
        # TF: eagerly nothing is known of the elements when there are none, unless they were declared.
        dims = shape.as_list() if shape.is_fully_defined() else []
        return FILL([0, *dims], CAST(to_tensor(0), DstT=dtype)) if dtype._kind in "iufcb" else (
            EMPTY([0, *dims], dtype=dtype, init=True)
        )
    return PACK(tensors, axis=0)


def counted_loop(cond, body, first, count, parallel_iterations):
    """A `while_loop` that ends after at most `count` iterations, which it need not count itself."""
    last = while_loop(cond, body, first, parallel_iterations=parallel_iterations or 10)
    if isinstance(count, int):
        nest.flatten(last)[0].op.maximum_iterations = count
    return last


# tf.map_fn.


def _output_specs(signature):
    """The specs of what one call of the function returns, in the structure of the signature."""

    def spec(leaf):
        if isinstance(leaf, TypeSpec):
            return leaf
        return TensorSpec(None, dtypes.as_dtype(leaf))

    return nest.map_structure(spec, signature)


def _parts(spec):
    """The specs of the tensors that values of a spec are encoded as."""
    if isinstance(spec, TensorSpec):
        return [spec]
    if not isinstance(spec, BatchableTypeSpec):
        raise TypeError(f"map_fn: {spec!r} is the spec of values that cannot be batched.")
    return spec._flat_tensor_specs


def _encoded_elements(value):
    """A batch of values as tensors with one element each along the first axis, and the spec of one value."""
    if not isinstance(value, CompositeTensor):
        shape = value.shape
        return [value], TensorSpec(None if shape.rank is None else shape[1:], value.dtype)
    spec = type_spec_from_value(value)
    if not isinstance(spec, BatchableTypeSpec):
        raise TypeError(f"map_fn: elems of type {type(value).__name__} cannot be split into elements.")
    return spec._to_batched_tensor_list(value), spec._unbatch()


def _decoded(spec, tensors):
    if isinstance(spec, TensorSpec):
        return tensors[0]
    return spec._from_compatible_tensor_list(tensors)


def _encoded(spec, value):
    """What one call returned for a leaf of the signature, as tensors."""
    if isinstance(spec, TensorSpec):
        return [to_tensor(value)]
    return spec._to_tensor_list(value if isinstance(value, CompositeTensor) else to_tensor(value))


def _converted_elements(name, elems):
    flat = [
        leaf if isinstance(leaf, (Tensor, CompositeTensor)) else to_tensor(leaf) for leaf in nest.flatten(elems)
    ]
    if not flat:
        raise ValueError(
            f"{name}: elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems!r}, which does not "
            "contain any Tensors."
        )
    return flat


@api("map_fn", dispatch=False, told=True)
def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
) -> Any:
    """Apply a function to each element along the first axis, and stack what it returns.

    Args:
        fn: a function of one element, in the structure of `elems`.
        elems: a tensor, ragged or sparse tensor, or a structure of them with equal first dimensions.
        dtype: the old name of `fn_output_signature`.
        parallel_iterations, back_prop, swap_memory: accepted; elements are mapped one after another.
        infer_shape: whether all results must have one shape.
        name: a name for the operations.
        fn_output_signature: the dtypes or specs of what `fn` returns, in its structure; needed when they differ from
            those of `elems`.

    Returns:
        The results, stacked.

    Raises:
        ValueError: `elems` has no elements to map over, or `fn` returns another structure than was said.

    >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    >>> tf.map_fn(tf.range, tf.constant([2, 1]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)).to_list()
    [[0, 1], [0]]
    """
    check_function("map_fn", fn)
    check_parallel_iterations("map_fn", parallel_iterations)
    truth("back_prop", back_prop)
    signature = dtype if fn_output_signature is None else fn_output_signature
    flat = _converted_elements("map_fn", elems)
    with name_scope(name or "map"):
        encoded, elem_specs = zip(*(_encoded_elements(value) for value in flat))
        tensors = [tensor for parts in encoded for tensor in parts]
        count = count_elements("map_fn", tensors)
        if signature is None:
            expected = elems
            specs = [spec if not isinstance(spec, TensorSpec) else TensorSpec(None, spec.dtype) for spec in elem_specs]
        else:
            expected = signature
            specs = nest.flatten(_output_specs(signature))
            if not specs:
                raise ValueError(f"map_fn: fn_output_signature must contain a dtype or spec, got {signature!r}.")
        lengths = [len(parts) for parts in encoded]
        def call(parts):
            """The results of one call as encoded tensors, one list for each leaf of the signature."""
            values, at = [], 0
            for spec, length in zip(elem_specs, lengths):
                values.append(_decoded(spec, parts[at : at + length]))
                at += length
            result = fn(nest.pack_sequence_as(elems, values))
            nest.assert_same_structure(expected, result)
            return [_encoded(spec, value) for spec, value in zip(specs, nest.flatten(result))]

        run = _map_eagerly if context.graph is None else _map_in_graph
        columns = run(call, tensors, count, specs, infer_shape, parallel_iterations)
        results, at = [], 0
        for spec in specs:
            length = len(_parts(spec))
            results.append(_batch_of(spec, columns[at : at + length], count))
            at += length
        return nest.pack_sequence_as(expected, results)


@method_of(BaseGraph, "map_fn")
def _map_fn_in_graph(self, function, elements, signature) -> Any:
    return map_fn(function, elements, fn_output_signature=signature)


def _batch_of(spec, tensors, count):
    if isinstance(spec, TensorSpec):
        return tensors[0]
    return spec._batch(count if isinstance(count, int) else None)._from_compatible_tensor_list(tensors)


def _map_eagerly(call, tensors, count, specs, infer_shape, parallel_iterations):
    rows = [UNPACK(tensor, num=count, axis=0) for tensor in tensors]
    parts = [part for spec in specs for part in _parts(spec)]
    columns: list = [[] for _ in parts]
    for i in range(count):
        found = call([row[i] for row in rows])
        for column, value in zip(columns, (tensor for leaf in found for tensor in leaf)):
            column.append(value)
    return [
        stack_eager("map_fn", column, part.shape, part.dtype, infer_shape) for column, part in zip(columns, parts)
    ]


def _map_in_graph(call, tensors, count, specs, infer_shape, parallel_iterations):
    lists = [as_list(tensor) for tensor in tensors]
    parts = [part for spec in specs for part in _parts(spec)]
    shapes = [part.shape for part in parts]
    found_shapes = list(shapes)

    def body(i, *handles):
        flat = [tensor for leaf in call([read(made, i) for made in lists]) for tensor in leaf]
        after = []
        for k, (handle, value, part) in enumerate(zip(handles, flat, parts)):
            if not shapes[k].is_compatible_with(value.shape):
                raise ValueError(f"map_fn: Inconsistent shapes: saw {value.shape} but expected {shapes[k]}")
            if infer_shape:
                found_shapes[k] = shapes[k].merge_with(value.shape)
            after.append(write(handle, i, value, part.dtype))
        return (i + 1, *after)

    handles = [reserve(count, shape, part.dtype) for shape, part in zip(shapes, parts)]
    first = (to_tensor(0, dtypes.int32), *handles)
    last = counted_loop(lambda i, *handles: LESS(i, count), body, first, count, parallel_iterations)
    return [
        stack(handle, count, shape, part.dtype) for handle, shape, part in zip(last[1:], found_shapes, parts)
    ]
