"""Lists of tensors as variant tensors, one element at a time: reserve, push, pop, set, get, resize.

The values are in `values.py`, how they lower in `lowering.py`, and the ops that take or give
all elements as one tensor in `whole_lists.py`.
"""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.handle_data import HandleData
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import Batched, Rule, unstacked, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN, shape_from_value
from headrace._src.op.registry import lookup
from headrace._src.op.traits import TAKES_KNOWN, UNCHECKED
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.tensor_lists import lowering
from headrace._src.ops.tensor_lists.values import TensorList, boxed, fits, is_full, merged, shape_text

# Reading arguments.


def list_in(op, handle, argument="input_handle") -> TensorList:
    """The list that a variant scalar holds."""
    value = handle[()] if handle.ndim == 0 else handle
    if not isinstance(value, TensorList):
        held = f"shape {list(handle.shape)}" if handle.ndim else repr(value)
        raise errors.invalid_argument(f"{op}: {argument} must be a scalar that holds a list of tensors, got {held}.")
    return value


def declared_shape(op, element_shape, argument="element_shape"):
    """The shape that an argument describes: -1 for an unknown rank, or one dimension each, -1 if unknown."""
    dims = element_shape.ravel().tolist() if isinstance(element_shape, np.ndarray) else list(element_shape)
    if isinstance(element_shape, np.ndarray) and element_shape.ndim == 0:
        if dims != [-1]:
            raise errors.invalid_argument(
                f"{op}: {argument}: The only valid scalar shape tensor is the fully unknown shape specified as -1, "
                f"got {dims[0]}."
            )
        return None
    for n in dims:
        if n < -1:
            raise errors.invalid_argument(f"{op}: {argument}: Dimension {n} must be >= -1.")
    return tuple(None if n == -1 else n for n in dims)


def scalar_in(op, array, argument) -> int:
    """A number given as a tensor."""
    if array.ndim:
        raise errors.invalid_argument(f"{op}: {argument} must be a scalar, got shape {list(array.shape)}.")
    return int(array)


def check_dtype(op, found, wanted):
    if found != wanted:
        raise errors.invalid_argument(
            f"{op}: Invalid data types; op elements {_dtype_text(found)} but list elements {_dtype_text(wanted)}."
        )


def _dtype_text(dtype):
    return "string or variant" if dtype == object else np.dtype(dtype).name


def merged_shape(op, a, b):
    """What two descriptions of the element shape say together."""
    shape = merged(a, b)
    if shape is False:
        raise errors.invalid_argument(
            f"{op}: element_shape {shape_text(a)} is incompatible with the list's element shape {shape_text(b)}."
        )
    return shape


def blank(shape, element_dtype):
    """What an element that is not set reads as."""
    if element_dtype is dtypes.string:
        return np.full(shape, b"", object)
    return np.zeros(shape, element_dtype._np) if element_dtype._np != object else np.full(shape, None, object)


# Shapes while a graph is built.


def element_shape_of(op, handle, *element_shapes) -> TensorShape:
    """The static shape of the elements: what the list declares and what the arguments say."""
    shape = UNKNOWN if handle.handle_data is None else handle.handle_data.shape
    for spec in element_shapes:
        try:
            shape = shape.merge_with(_described(spec))
        except ValueError:
            raise errors.invalid_argument(
                f"{op}: element_shape {_described(spec)} is incompatible with the list's element shape {shape}."
            ) from None
    return shape


def _described(spec):
    """The shape that an element_shape argument describes; a scalar says nothing."""
    return UNKNOWN if spec.shape.rank == 0 else shape_from_value(spec)


def check_item(op, handle, item, element_dtype=None):
    """Refuse statically what does not go into the list."""
    data = handle.handle_data
    if data is None:
        return
    if data.dtype is not item.dtype:
        raise errors.invalid_argument(
            f"{op}: Trying to put an element of wrong dtype into a list. "
            f"The list has {data.dtype.name} but the element is {item.dtype.name}."
        )
    if not data.shape.is_compatible_with(item.shape):
        raise errors.invalid_argument(
            f"{op}: the shape of the element, {item.shape}, is incompatible with the list's element shape {data.shape}."
        )


def _made_data(element_shape, number, element_dtype, shape_type):
    return HandleData(element_dtype, _described(element_shape))


def taken_data(*specs, **attrs):
    """What lists that are elements of a list hold is not declared."""
    return None


# Making lists.


def _empty_kernel(element_shape, max_num_elements, element_dtype):
    op = "EmptyTensorList"
    limit = scalar_in(op, max_num_elements, "max_num_elements")
    return boxed(TensorList(element_dtype._np, declared_shape(op, element_shape), {}, 0, limit))


def shape_of_stacked(batch, shape):
    """For rules of vectorization: a declared shape of the elements of a list, with the batch before it."""
    known = value_of(unstacked(shape, "element shape"))
    if known is None or not known.ndim:
        return to_tensor(-1, shape.tensor.dtype)
    size = batch.size if isinstance(batch.size, int) else -1
    return to_tensor([size, *map(int, known)], shape.tensor.dtype)


# A list of each element is one list, of stacked tensors. What is written into a new one may differ between elements.


def _vectorize_new(batch, node, shape, count):
    return batch.apply(node, [shape_of_stacked(batch, shape), unstacked(count, "size")])


EMPTY_TENSOR_LIST = Op(
    "EmptyTensorList",
    "element_shape: shape_type, max_num_elements: int32, *, element_dtype: type -> handle: variant",
    traits=TAKES_KNOWN,
    handle_data=_made_data,
    shape_type=dtypes.INDEX,
    infer=lambda *specs, **attrs: SCALAR,
    kernel=_empty_kernel,
    lower=lowering.empty,
    static=("element_shape", "max_num_elements"),
    grad=None,
    vectorize=Rule(_vectorize_new, always=True),
)


def _reserve_kernel(element_shape, num_elements, element_dtype):
    op = "TensorListReserve"
    count = scalar_in(op, num_elements, "num_elements")
    if count < 0:
        raise errors.invalid_argument(f"{op}: num_elements to reserve must be a non negative number, but got {count}.")
    return boxed(TensorList(element_dtype._np, declared_shape(op, element_shape), {}, count))


TENSOR_LIST_RESERVE = Op(
    "TensorListReserve",
    "element_shape: shape_type, num_elements: int32, *, element_dtype: type -> handle: variant",
    traits=TAKES_KNOWN,
    handle_data=_made_data,
    shape_type=dtypes.INDEX,
    infer=lambda *specs, **attrs: SCALAR,
    kernel=_reserve_kernel,
    lower=lowering.reserve,
    static=("element_shape", "num_elements"),
    grad=None,
    vectorize=Rule(_vectorize_new, always=True),
)


# What is known about a list.


TENSOR_LIST_LENGTH = Op(
    "TensorListLength",
    "input_handle: variant -> length: int32",
    traits=TAKES_KNOWN,
    infer=lambda input_handle: SCALAR,
    kernel=lambda input_handle: np.array(list_in("TensorListLength", input_handle).length, np.int32),
    lower=lowering.length,
    grad=None,
    vectorize=lambda batch, node, handle: Batched(batch.apply(node, [handle])[0], False),
)


def _element_shape_kernel(input_handle, shape_type):
    shape = list_in("TensorListElementShape", input_handle).shape
    if shape is None:
        return np.array(-1, shape_type._np)
    return np.array([-1 if n is None else n for n in shape], shape_type._np)


def _element_shape_infer(input_handle, shape_type):
    data = input_handle.handle_data
    return UNKNOWN if data is None or data.shape.rank is None else TensorShape([data.shape.rank])


TENSOR_LIST_ELEMENT_SHAPE = Op(
    "TensorListElementShape",
    "input_handle: variant, *, shape_type: type -> element_shape: shape_type",
    traits=TAKES_KNOWN,
    shape_type=dtypes.INDEX,
    infer=_element_shape_infer,
    kernel=_element_shape_kernel,
    lower=lowering.element_shape,
    grad=None,
    vectorize=lambda batch, node, handle: Batched(batch.apply(node, [handle])[0][1:], False),
)


def element_shape(handle):
    """What the list declares about its elements' shape, as an int32 tensor."""
    return TENSOR_LIST_ELEMENT_SHAPE(handle, shape_type=dtypes.int32)


def reserved_like(handle, element_dtype):
    """A list of as many elements of that shape, none of them set: the zero gradient."""
    return TENSOR_LIST_RESERVE(element_shape(handle), TENSOR_LIST_LENGTH(handle), element_dtype=element_dtype)


# The last element.


def check_fits(op, shape, declared, argument):
    if not fits(shape, declared):
        raise errors.invalid_argument(
            f"{op}: Tried to put a tensor with incompatible shape into a list. {argument} has shape "
            f"{shape_text(shape)}, the list's element shape is {shape_text(declared)}."
        )


def _pushed(op, target, array, argument="tensor"):
    check_dtype(op, array.dtype, target.dtype)
    check_fits(op, array.shape, target.shape, argument)
    if 0 <= target.limit <= target.length:
        raise errors.invalid_argument(
            f"{op}: Tried to push item into a full list. List size: {target.length}, "
            f"max_num_elements: {target.limit}."
        )
    return target.with_item(target.length, array, target.length + 1)


def _push_infer(input_handle, tensor):
    check_item("TensorListPushBack", input_handle, tensor)
    return SCALAR


def _push_grad(node, dlist):
    popped, dtensor = TENSOR_LIST_POP_BACK(dlist, node.tensor_shape, element_dtype=node.tensor_dtype)
    return popped, dtensor if node.tensor_dtype in dtypes.DIFFERENTIABLE else None


TENSOR_LIST_PUSH_BACK = Op(
    "TensorListPushBack",
    "input_handle: variant, tensor: element_dtype -> output_handle: variant",
    traits=TAKES_KNOWN,
    infer=_push_infer,
    kernel=lambda input_handle, tensor: boxed(
        _pushed("TensorListPushBack", list_in("TensorListPushBack", input_handle), tensor)
    ),
    lower=lowering.push_back,
    saves=("tensor_shape", "tensor_dtype"),
    grad=_push_grad,
    vectorize=lambda batch, node, *inputs: batch.apply(node, [*map(batch.stack, inputs)]),
)


def read(op, target, index, element_shape, element_dtype):
    """The element at an index; zeros when it is not set and the shape is known from somewhere."""
    check_dtype(op, element_dtype._np, target.dtype)
    asked = declared_shape(op, element_shape)
    array = target.get(index)
    if array is not None:
        if not fits(array.shape, asked):
            raise errors.invalid_argument(
                f"{op}: element_shape is {shape_text(asked)}, but the element at {index} has shape "
                f"{shape_text(array.shape)}."
            )
        return array
    shape = merged_shape(op, asked, target.shape)
    if not is_full(shape):
        shape = common_shape(op, shape, target.arrays())
    if not is_full(shape):
        raise errors.invalid_argument(
            f"{op}: Trying to read an uninitialized tensor but element_shape is not fully defined: "
            f"{shape_text(shape)} and no list element is set."
        )
    return blank(shape, element_dtype)


def common_shape(op, shape, arrays):
    """A shape, and what the arrays that are set tell about it."""
    for array in arrays:
        if array is not None:
            shape = merged_shape(op, shape, array.shape)
    return shape


def _pop_kernel(input_handle, element_shape, element_dtype):
    op = "TensorListPopBack"
    target = list_in(op, input_handle)
    if not target.length:
        raise errors.invalid_argument(f"{op}: Trying to pop from an empty list: input_handle has no elements.")
    last = read(op, target, target.length - 1, element_shape, element_dtype)
    return boxed(target.resized(target.length - 1)), last


def _pop_grad(node, dlist, dtensor):
    if dlist is None:
        dlist = reserved_like(node.output_handle, node.attrs["element_dtype"])
    if dtensor is None:
        dtensor = ZEROS_LIKE(node.tensor)
    return TENSOR_LIST_PUSH_BACK(dlist, dtensor), None


TENSOR_LIST_POP_BACK = Op(
    "TensorListPopBack",
    "input_handle: variant, element_shape: int32, *, element_dtype: type "
    "-> output_handle: variant, tensor: element_dtype",
    traits=UNCHECKED | TAKES_KNOWN,
    infer=lambda input_handle, element_shape, element_dtype: (
        SCALAR,
        element_shape_of("TensorListPopBack", input_handle, element_shape),
    ),
    kernel=_pop_kernel,
    lower=lowering.pop_back,
    saves=("output_handle", "tensor"),
    grad=_pop_grad,
    vectorize=lambda batch, node, handle, shape: batch.apply(node, [handle, shape_of_stacked(batch, shape)]),
)


def _push_batch_kernel(input_handles, tensor):
    op = "TensorListPushBackBatch"
    if not tensor.ndim:
        raise errors.invalid_argument(f"{op}: Expected tensor to be at least a vector, but saw shape [].")
    if tensor.shape[0] != input_handles.size:
        raise errors.invalid_argument(
            f"{op}: Expected tensor.shape[0] == input_handles.size, but saw {tensor.shape[0]} vs. {input_handles.size}."
        )
    result = np.empty(input_handles.size, object)
    for i, handle in enumerate(input_handles.ravel()):
        result[i] = _pushed(op, list_in(op, boxed(handle), "input_handles"), tensor[i, ...])
    return result.reshape(input_handles.shape)


TENSOR_LIST_PUSH_BACK_BATCH = Op(
    "TensorListPushBackBatch",
    "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    traits=TAKES_KNOWN,
    infer=lambda input_handles, tensor: input_handles.shape,
    kernel=_push_batch_kernel,
    lower=None,  # a compiled program has single lists only
    grad=None,  # TF: has none
)


# An element anywhere.


def _set_kernel(input_handle, index, item, resize_if_index_out_of_bounds):
    op = "TensorListSetItem"
    target = list_in(op, input_handle)
    check_dtype(op, item.dtype, target.dtype)
    place = scalar_in(op, index, "index")
    length = target.length
    if not 0 <= place < length:
        if place < 0 or not resize_if_index_out_of_bounds:
            raise errors.invalid_argument(
                f"{op}: index: Trying to modify element {place} in a list with {length} elements."
            )
        length = place + 1
    check_fits(op, item.shape, target.shape, "item")
    return boxed(target.with_item(place, item, length))


def _set_infer(input_handle, index, item, resize_if_index_out_of_bounds):
    check_item("TensorListSetItem", input_handle, item)
    return SCALAR


def _set_grad(node, dlist):
    ditem = d_rest = None
    if node.wants(0):
        # Asking for the shape only spares a loop from keeping each element.
        is_variant = node.item_dtype is dtypes.variant
        blank = ZEROS_LIKE(node.item) if is_variant else zeros(node.item_shape, node.item_dtype)
        d_rest = TENSOR_LIST_SET_ITEM(dlist, node.index, blank)
        if node.attrs["resize_if_index_out_of_bounds"]:  # the list was perhaps shorter before
            d_rest = TENSOR_LIST_RESIZE(d_rest, TENSOR_LIST_LENGTH(node.input_handle))
    if node.wants(2):
        ditem = TENSOR_LIST_GET_ITEM(dlist, node.index, node.item_shape, element_dtype=node.item_dtype)
    return d_rest, None, ditem


def _vectorize_set(batch, node, handle, index, item):
    return batch.apply(node, [batch.stack(handle), unstacked(index, "index"), batch.stack(item)])


TENSOR_LIST_SET_ITEM = Op(
    "TensorListSetItem",
    "input_handle: variant, index: int32, item: element_dtype, *, resize_if_index_out_of_bounds: bool = False "
    "-> output_handle: variant",
    traits=TAKES_KNOWN,
    infer=_set_infer,
    kernel=_set_kernel,
    lower=lowering.set_item,
    saves=("input_handle", "index", "item", "item_shape", "item_dtype"),
    grad=_set_grad,
    vectorize=_vectorize_set,
)


def _get_kernel(input_handle, index, element_shape, element_dtype):
    op = "TensorListGetItem"
    target = list_in(op, input_handle)
    place = scalar_in(op, index, "index")
    if not 0 <= place < target.length:
        raise errors.invalid_argument(
            f"{op}: index: Trying to access element {place} in a list with {target.length} elements."
        )
    return read(op, target, place, element_shape, element_dtype)


def _get_grad(node, ditem):
    empty = reserved_like(node.input_handle, node.attrs["element_dtype"])
    return TENSOR_LIST_SET_ITEM(empty, node.index, ditem), None, None


def _vectorize_get(batch, node, handle, index, shape):
    if handle.stacked:
        return batch.apply(node, [handle, unstacked(index, "index"), shape_of_stacked(batch, shape)])
    items = lookup("TensorListStack")(handle.tensor, shape.tensor, element_dtype=node.attrs["element_dtype"])
    return GATHER_V2(items, index.tensor, 0)


TENSOR_LIST_GET_ITEM = Op(
    "TensorListGetItem",
    "input_handle: variant, index: int32, element_shape: Tshape, *, element_dtype: type -> item: element_dtype",
    traits=UNCHECKED | TAKES_KNOWN,
    handle_data=taken_data,
    Tshape=dtypes.INDEX,
    infer=lambda input_handle, index, element_shape, element_dtype: element_shape_of(
        "TensorListGetItem", input_handle, element_shape
    ),
    kernel=_get_kernel,
    lower=lowering.get_item,
    saves=("input_handle", "index"),
    grad=_get_grad,
    vectorize=_vectorize_get,
)


# The length.


def _resize_kernel(input_handle, size):
    op = "TensorListResize"
    count = scalar_in(op, size, "size")
    if count < 0:
        raise errors.invalid_argument(f"{op}: expects size to be non-negative, got {count}.")
    return boxed(list_in(op, input_handle).resized(count))


TENSOR_LIST_RESIZE = Op(
    "TensorListResize",
    "input_handle: variant, size: int32 -> output_handle: variant",
    traits=TAKES_KNOWN,
    infer=lambda input_handle, size: SCALAR,
    kernel=_resize_kernel,
    lower=lowering.resize,
    static=("size",),
    saves=("input_handle",),
    grad=lambda node, dlist: (TENSOR_LIST_RESIZE(dlist, TENSOR_LIST_LENGTH(node.input_handle)), None),
    vectorize=lambda batch, node, handle, size: batch.apply(node, [handle, unstacked(size, "size")]),
)


def _concat_lists_kernel(input_a, input_b, element_dtype):
    op = "TensorListConcatLists"
    if input_a.shape != input_b.shape:
        raise errors.invalid_argument(
            f"{op}: input_a and input_b must have the same shape, got {input_a.shape} and {input_b.shape}."
        )
    result = np.empty(input_a.size, object)
    for i, (one, other) in enumerate(zip(input_a.ravel(), input_b.ravel())):
        a, b = list_in(op, boxed(one), "input_a"), list_in(op, boxed(other), "input_b")
        check_dtype(op, element_dtype._np, a.dtype)
        check_dtype(op, element_dtype._np, b.dtype)
        if a.shape != b.shape:
            raise errors.invalid_argument(
                f"{op}: input_a and input_b TensorList element shapes are not identical at index {i}. "
                f"Saw {shape_text(a.shape)} vs. {shape_text(b.shape)}."
            )
        changes = {a.length + index: array for index, array in b.as_dict().items()}
        result[i] = a.with_items(changes, a.length + b.length)
    return result.reshape(input_a.shape)


TENSOR_LIST_CONCAT_LISTS = Op(
    "TensorListConcatLists",
    "input_a: variant, input_b: variant, *, element_dtype: type -> output: variant",
    traits=TAKES_KNOWN,
    infer=lambda input_a, input_b, element_dtype: input_a.shape.merge_with(input_b.shape),
    kernel=_concat_lists_kernel,
    lower=lowering.concat_lists,
    grad=None,  # TF: has none
)
