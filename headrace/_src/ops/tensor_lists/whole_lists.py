"""Lists of tensors from and to one tensor: stack, from_tensor, gather, scatter, concat, split."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.handle_data import HandleData
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import NoRule, unstacked
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, shape_from_value
from headrace._src.op.traits import TAKES_KNOWN, UNCHECKED
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_MAX, UNSORTED_SEGMENT_SUM
from headrace._src.ops.tensor_lists import lowering
from headrace._src.ops.tensor_lists.single_elements import (
    TENSOR_LIST_LENGTH,
    TENSOR_LIST_RESIZE,
    blank,
    check_dtype,
    check_fits,
    common_shape,
    declared_shape,
    element_shape,
    element_shape_of,
    list_in,
    merged_shape,
    scalar_in,
    shape_of_stacked,
    taken_data,
)
from headrace._src.ops.tensor_lists.values import TensorList, boxed, fits, is_full, merged, shape_text


def _joined(arrays, shape, element_dtype):
    """Arrays of one shape as one array; None stands for zeros."""
    if None in map(type_or_none, arrays):
        zeros = blank(shape, element_dtype)
        arrays = [zeros if array is None else array for array in arrays]
    if not arrays:
        return np.zeros((0, *shape), element_dtype._np)
    if shape and element_dtype._np != object:
        return np.concatenate(arrays).reshape(len(arrays), *shape)
    result = np.empty((len(arrays), *shape), element_dtype._np)
    for i, array in enumerate(arrays):
        result[i] = array if shape else array[()]
    return result


def type_or_none(array):
    """None for None; `in` would compare arrays element by element."""
    return None if array is None else type(array)


def _rows(op, tensor):
    if not tensor.ndim:
        raise errors.invalid_argument(f"{op}: tensor must be at least a vector, but saw shape [].")
    return [tensor[i, ...] for i in range(tensor.shape[0])]


def _rows_of(shape):
    """A shape without its first dimension, as far as it is known: of a tensor, or of its value in a graph."""
    return shape[1:]


def _check_rows(op, tensor, declared):
    if not fits(tensor.shape[1:], declared):
        raise errors.invalid_argument(
            f"{op}: Specified a list with element_shape {shape_text(declared)} from a tensor with shape "
            f"{shape_text(tensor.shape)}."
        )


def _made_data(element_shape, element_dtype):
    shape = TensorShape(None) if element_shape.shape.rank == 0 else shape_from_value(element_shape)
    return HandleData(element_dtype, shape)


def _from_tensor_data(tensor, element_shape, *lengths, element_dtype, shape_type):
    return _made_data(element_shape, element_dtype)


def _scatter_data(tensor, indices, element_shape, *num_elements, element_dtype, shape_type):
    return _made_data(element_shape, element_dtype)


# All elements.


def _stack_kernel(input_handle, element_shape, element_dtype, num_elements):
    op = "TensorListStack"
    target = list_in(op, input_handle)
    check_dtype(op, element_dtype._np, target.dtype)
    if num_elements not in (-1, target.length):
        raise errors.invalid_argument(
            f"{op}: num_elements: Operation expected a list with {num_elements} elements but got a list with "
            f"{target.length} elements."
        )
    arrays = target.arrays()
    shape = common_shape(op, merged_shape(op, declared_shape(op, element_shape), target.shape), arrays)
    if not is_full(shape):
        what = "list which only contains uninitialized tensors and has" if arrays else "elements of an empty list with"
        raise errors.invalid_argument(
            f"{op}: Tried to stack {what} non-fully-defined element_shape: {shape_text(shape)}."
        )
    return _joined(arrays, shape, element_dtype)


def _stack_infer(input_handle, element_shape, element_dtype, num_elements):
    shape = element_shape_of("TensorListStack", input_handle, element_shape)
    return TensorShape([None if num_elements == -1 else num_elements]).concatenate(shape)


def _exchanged(tensor, rank):
    """The first two axes exchanged: those of the batch and of the list."""
    if rank is None:
        raise NoRule("the rank of a list's elements is unknown")
    return TRANSPOSE(tensor, [1, 0, *range(2, rank)])


def _exchanged_output(node, tensor):
    rank = node.outputs[0].shape.rank
    return _exchanged(tensor, tensor.shape.rank if rank is None else rank + 1)


def _vectorize_stack(batch, node, handle, shape):
    return _exchanged_output(node, *batch.apply(node, [handle, shape_of_stacked(batch, shape)]))


TENSOR_LIST_STACK = Op(
    "TensorListStack",
    "input_handle: variant, element_shape: int32, *, element_dtype: type, num_elements: int = -1 "
    "-> tensor: element_dtype",
    traits=UNCHECKED | TAKES_KNOWN,
    handle_data=taken_data,
    infer=_stack_infer,
    kernel=_stack_kernel,
    lower=lowering.stack,
    saves=("tensor_shape",),
    grad=lambda node, dy: (TENSOR_LIST_FROM_TENSOR(dy, _rows_of(node.tensor_shape)), None),
    vectorize=_vectorize_stack,
)


def _from_tensor_kernel(tensor, element_shape):
    op = "TensorListFromTensor"
    rows = _rows(op, tensor)
    declared = declared_shape(op, element_shape)
    _check_rows(op, tensor, declared)
    return boxed(TensorList(tensor.dtype, declared, dict(enumerate(rows)), len(rows)))


def _from_tensor_grad(node, dlist):
    shape = node.tensor_shape
    # A list may have grown since: what was added is of no concern here.
    dlist = TENSOR_LIST_RESIZE(dlist, shape[0])
    count = shape[0] if isinstance(shape, tuple) else -1
    dtensor = TENSOR_LIST_STACK(dlist, _rows_of(shape), element_dtype=node.tensor_dtype, num_elements=count)
    return dtensor, None


def _scalar_infer(*specs, **attrs):
    return SCALAR


def _vectorize_from_tensor(batch, node, tensor, shape):
    rows = _exchanged(tensor.tensor, tensor.tensor.shape.rank)
    return batch.apply(node, [rows, shape_of_stacked(batch, shape)])


TENSOR_LIST_FROM_TENSOR = Op(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
    traits=TAKES_KNOWN,
    handle_data=_from_tensor_data,
    shape_type=dtypes.INDEX,
    infer=_scalar_infer,
    kernel=_from_tensor_kernel,
    lower=lowering.from_tensor,
    saves=("tensor_shape", "tensor_dtype"),
    grad=_from_tensor_grad,
    vectorize=_vectorize_from_tensor,
)


# Some elements.


def _gather_kernel(input_handle, indices, element_shape, element_dtype):
    op = "TensorListGather"
    target = list_in(op, input_handle)
    check_dtype(op, element_dtype._np, target.dtype)
    shape = merged_shape(op, declared_shape(op, element_shape), target.shape)
    places = indices.ravel().tolist()
    for place in places:
        if not 0 <= place < target.length:
            raise errors.invalid_argument(
                f"{op}: indices: Trying to gather element {place} in a list with {target.length} elements."
            )
    arrays = [target.get(place) for place in places]
    shape = common_shape(op, shape, arrays)
    if not is_full(shape):
        # TF: other elements tell the shape only when there is something to gather.
        shape = common_shape(op, shape, target.arrays()) if arrays else shape
    if not is_full(shape):
        what = "uninitialized tensors" if arrays else "0-elements"
        raise errors.invalid_argument(
            f"{op}: Tried to gather {what} from a list with non-fully-defined element_shape: {shape_text(shape)}."
        )
    return _joined(arrays, shape, element_dtype)


def _gather_infer(input_handle, indices, element_shape, element_dtype):
    shape = element_shape_of("TensorListGather", input_handle, element_shape)
    return TensorShape([indices.shape.num_elements()]).concatenate(shape)


def _gather_grad(node, dy):
    # Elements that were gathered more than once get the sum. TF: they get the last one's gradient only.
    indices = RESHAPE(node.indices, [-1])
    count = TENSOR_LIST_LENGTH(node.input_handle)
    sums = GATHER_V2(UNSORTED_SEGMENT_SUM(dy, indices, count), indices, 0)
    return TENSOR_LIST_SCATTER_V2(sums, indices, element_shape(node.input_handle), count), None, None


def _vectorize_list_gather(batch, node, handle, indices, shape):
    inputs = [handle, unstacked(indices, "indices"), shape_of_stacked(batch, shape)]
    return _exchanged_output(node, *batch.apply(node, inputs))


TENSOR_LIST_GATHER = Op(
    "TensorListGather",
    "input_handle: variant, indices: int32, element_shape: int32, *, element_dtype: type -> values: element_dtype",
    traits=UNCHECKED | TAKES_KNOWN,
    handle_data=taken_data,
    infer=_gather_infer,
    kernel=_gather_kernel,
    lower=lowering.gather,
    saves=("input_handle", "indices"),
    grad=_gather_grad,
    vectorize=_vectorize_list_gather,
)


def _scattered(op, tensor, indices):
    """Index to row; of rows with the same index, the last one."""
    rows = _rows(op, tensor)
    places = indices.ravel().tolist()
    if len(rows) != len(places):
        raise errors.invalid_argument(
            f"{op}: Invalid number of rows in tensor. Expected {len(places)}, one for each of indices, got {len(rows)}."
        )
    for place in places:
        if place < 0:
            raise errors.invalid_argument(f"{op}: indices must all be non-negative, got {place}.")
    return dict(zip(places, rows))


def _scatter_list(op, tensor, indices, element_shape, count):
    items = _scattered(op, tensor, indices)
    declared = declared_shape(op, element_shape)
    _check_rows(op, tensor, declared)
    needed = 1 + max(items, default=-1)
    if count == -1:
        count = needed
    elif needed > count:
        raise errors.invalid_argument(
            f"{op}: indices: Trying to scatter at index {needed - 1} in list with size {count}, which is num_elements."
        )
    return boxed(TensorList(tensor.dtype, declared, items, count))


def _scatter_v2_kernel(tensor, indices, element_shape, num_elements):
    op = "TensorListScatterV2"
    count = scalar_in(op, num_elements, "num_elements")
    if count < -1:
        raise errors.invalid_argument(f"{op}: expects num_elements >= -1, found: {count}.")
    return _scatter_list(op, tensor, indices, element_shape, count)


def _rows_gradient(node, dlist):
    """The gradient of rows that were scattered; zeros for those that others have overwritten."""
    indices = RESHAPE(node.indices, [-1])
    drows = TENSOR_LIST_GATHER(dlist, indices, _rows_of(node.tensor_shape), element_dtype=node.tensor_dtype)
    count = node.tensor_shape[0]
    order = RANGE(0, count, 1)
    last = UNSORTED_SEGMENT_MAX(order, indices, TENSOR_LIST_LENGTH(dlist))
    kept = EQUAL(GATHER_V2(last, indices, 0), order)
    # Rows with a negative number are left out.
    return UNSORTED_SEGMENT_SUM(drows, SELECT_V2(kept, order, -1), count)


TENSOR_LIST_SCATTER = Op(
    "TensorListScatter",
    "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
    traits=TAKES_KNOWN,
    handle_data=_scatter_data,
    shape_type=dtypes.INDEX,
    infer=_scalar_infer,
    kernel=lambda *inputs: _scatter_list("TensorListScatter", *inputs, -1),
    lower=lowering.scatter,
    saves=("indices", "tensor_shape", "tensor_dtype"),
    grad=lambda node, dlist: (_rows_gradient(node, dlist), None, None),
)

TENSOR_LIST_SCATTER_V2 = Op(
    "TensorListScatterV2",
    "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> output_handle: variant",
    traits=TAKES_KNOWN,
    handle_data=_scatter_data,
    shape_type=dtypes.INDEX,
    infer=_scalar_infer,
    kernel=_scatter_v2_kernel,
    lower=lowering.scatter,
    static=("num_elements",),
    saves=("indices", "tensor_shape", "tensor_dtype"),
    grad=lambda node, dlist: (_rows_gradient(node, dlist), None, None, None),
)


def _scatter_into_kernel(input_handle, tensor, indices):
    op = "TensorListScatterIntoExistingList"
    target = list_in(op, input_handle)
    check_dtype(op, tensor.dtype, target.dtype)
    items = _scattered(op, tensor, indices)
    check_fits(op, tensor.shape[1:], target.shape, "a row of tensor")
    if not items:
        return input_handle
    return boxed(target.with_items(items, max(target.length, 1 + max(items))))


def _scatter_into_infer(input_handle, tensor, indices):
    data = input_handle.handle_data
    if data is not None and tensor.shape.rank is not None and not data.shape.is_compatible_with(tensor.shape[1:]):
        raise errors.invalid_argument(
            f"TensorListScatterIntoExistingList: the rows of tensor, {tensor.shape}, are incompatible with the list's "
            f"element shape {data.shape}."
        )
    return SCALAR


def _scatter_into_grad(node, dlist):
    d_rest = drows = None
    if node.wants(1):
        drows = _rows_gradient(node, dlist)
    if node.wants(0):
        blank = FILL(node.tensor_shape, CAST(0, DstT=node.tensor_dtype))
        d_rest = TENSOR_LIST_SCATTER_INTO_EXISTING_LIST(dlist, blank, node.indices)
        d_rest = TENSOR_LIST_RESIZE(d_rest, TENSOR_LIST_LENGTH(node.input_handle))
    return d_rest, drows, None


TENSOR_LIST_SCATTER_INTO_EXISTING_LIST = Op(
    "TensorListScatterIntoExistingList",
    "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant",
    traits=TAKES_KNOWN,
    infer=_scatter_into_infer,
    kernel=_scatter_into_kernel,
    lower=lowering.scatter_into,
    saves=("input_handle", "indices", "tensor_shape", "tensor_dtype"),
    grad=_scatter_into_grad,
)


# Elements of different lengths, one after the other.


def _concat(op, input_handle, asked, leading_dims, element_dtype):
    """The elements along their first dimension, and how long each of them is."""
    target = list_in(op, input_handle)
    check_dtype(op, element_dtype._np, target.dtype)
    arrays = target.arrays()
    declared = merged_shape(op, asked, target.shape)
    for shape in (declared, *(array.shape for array in arrays if array is not None)):
        if shape == ():
            raise errors.invalid_argument(
                f"{op}: input_handle: Concat saw a scalar shape but requires at least vectors."
            )
    rest = None if declared is None else declared[1:]
    for array in arrays:
        if array is not None:
            rest = merged_shape(op, rest, array.shape[1:])
    if not is_full(rest):
        what = "concat list with only uninitialized tensors" if arrays else "concat an empty list"
        raise errors.invalid_argument(
            f"{op}: Trying to {what} but all except the first dimension of element_shape must be fully defined: "
            f"{shape_text(declared)}."
        )
    first = None if declared is None else declared[0]
    lengths = {array.shape[0] for array in arrays if array is not None}
    if first is not None and lengths - {first}:
        raise errors.invalid_argument(
            f"{op}: element_shape is {shape_text(declared)}, but an element has a first dimension of {lengths.pop()}."
        )
    parts = []
    for i, array in enumerate(arrays):
        if array is None:
            if leading_dims.size:
                if i >= leading_dims.size:
                    raise errors.invalid_argument(
                        f"{op}: List contains uninitialized tensor at index {i} but leading_dims has only "
                        f"{leading_dims.size} elements."
                    )
                length = int(leading_dims[i])
            elif first is not None:
                length = first
            elif len(lengths) == 1:
                length = next(iter(lengths))
            else:
                raise errors.invalid_argument(
                    f"{op}: input_handle: The length of the uninitialized tensor at index {i} is not known: the others "
                    f"have the lengths {sorted(lengths)}."
                )
            array = blank((length, *rest), element_dtype)
        parts.append(array)
    lengths = np.array([part.shape[0] for part in parts], np.int64)
    if not parts:
        return np.zeros((0, *rest), element_dtype._np), lengths
    return np.concatenate(parts), lengths


def _concat_infer(op, input_handle, leading_dims, *element_shapes):
    shape = element_shape_of(op, input_handle, *element_shapes)
    if shape.rank == 0:
        raise errors.invalid_argument(f"{op}: Concat requires elements of shape at least a vector.")
    tensor = TensorShape(None) if shape.rank is None else TensorShape([None]).concatenate(shape[1:])
    return tensor, TensorShape([None])


def _concat_v1_infer(input_handle, element_dtype, element_shape):
    shape = _Described(TensorShape(element_shape))
    return _concat_infer("TensorListConcat", input_handle, None, shape)


class _Described:
    """A shape attribute in the place of a shape input."""

    value = None

    def __init__(self, shape):
        self.shape = TensorShape([shape.rank]) if shape.rank is not None else TensorShape([])
        self.partial = None if shape.rank is None else shape.as_list()


def _concat_grad(node, dtensor, dlengths):
    dlist = TENSOR_LIST_SPLIT(dtensor, element_shape(node.input_handle), node.lengths)
    return (dlist, *[None] * (len(node.op.signature.inputs) - 1))


TENSOR_LIST_CONCAT = Op(
    "TensorListConcat",
    "input_handle: variant, *, element_dtype: type, element_shape: shape = None "
    "-> tensor: element_dtype, lengths: int64",
    traits=TAKES_KNOWN,
    handle_data=taken_data,
    infer=_concat_v1_infer,
    kernel=lambda input_handle, element_dtype, element_shape: _concat(
        "TensorListConcat", input_handle, element_shape, np.zeros(0, np.int64), element_dtype
    ),
    lower=lowering.concat,
    saves=("input_handle", "lengths"),
    grad=_concat_grad,
)

TENSOR_LIST_CONCAT_V2 = Op(
    "TensorListConcatV2",
    "input_handle: variant, element_shape: shape_type, leading_dims: int64, *, element_dtype: type "
    "-> tensor: element_dtype, lengths: int64",
    traits=UNCHECKED | TAKES_KNOWN,
    handle_data=taken_data,
    shape_type=dtypes.INDEX,
    infer=lambda input_handle, element_shape, leading_dims, element_dtype: _concat_infer(
        "TensorListConcatV2", input_handle, leading_dims, element_shape
    ),
    kernel=lambda input_handle, element_shape, leading_dims, element_dtype: _concat(
        "TensorListConcatV2",
        input_handle,
        declared_shape("TensorListConcatV2", element_shape),
        leading_dims,
        element_dtype,
    ),
    lower=lowering.concat_v2,
    static=("leading_dims",),
    saves=("input_handle", "lengths"),
    grad=_concat_grad,
)


def _split_kernel(tensor, element_shape, lengths):
    op = "TensorListSplit"
    if not tensor.ndim:
        raise errors.invalid_argument(f"{op}: tensor must be at least a vector, but saw shape [].")
    declared = declared_shape(op, element_shape)
    if declared is not None and merged((None, *tensor.shape[1:]), (None, *declared[1:])) is False:
        raise errors.invalid_argument(
            f"{op}: tensor shape {shape_text(tensor.shape)} is not compatible with element_shape "
            f"{shape_text(declared)}."
        )
    if lengths.ndim != 1:
        raise errors.invalid_argument(f"{op}: Expected lengths to be a vector, received shape {list(lengths.shape)}.")
    items, at = {}, 0
    for i, length in enumerate(lengths.tolist()):
        if length < 0:
            raise errors.invalid_argument(f"{op}: Invalid value in lengths: {length}.")
        if at + length > tensor.shape[0]:
            raise errors.invalid_argument(
                f"{op}: lengths: Attempting to slice [{at}, {at + length}] from tensor with length {tensor.shape[0]}."
            )
        items[i] = tensor[at : at + length]
        check_fits(op, items[i].shape, declared, f"slice {i} of tensor")
        at += length
    if at != tensor.shape[0]:
        raise errors.invalid_argument(
            f"{op}: Unused values in tensor. Length of tensor: {tensor.shape[0]}, values used by lengths: {at}."
        )
    return boxed(TensorList(tensor.dtype, declared, items, len(items)))


def _split_grad(node, dlist):
    shape = node.tensor_shape
    rows = (-1, *shape[1:]) if isinstance(shape, tuple) else CONCAT([[-1], _rows_of(shape)], 0)
    dlist = TENSOR_LIST_RESIZE(dlist, SIZE(node.lengths))
    dtensor, _ = TENSOR_LIST_CONCAT_V2(dlist, rows, node.lengths, element_dtype=node.tensor_dtype)
    return dtensor, None, None


TENSOR_LIST_SPLIT = Op(
    "TensorListSplit",
    "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    traits=TAKES_KNOWN,
    handle_data=_from_tensor_data,
    shape_type=dtypes.INDEX,
    infer=_scalar_infer,
    kernel=_split_kernel,
    lower=lowering.split,
    static=("lengths",),
    saves=("lengths", "tensor_shape", "tensor_dtype"),
    grad=_split_grad,
)
