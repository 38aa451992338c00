"""Rules of vectorization for lists of tensors: a stacked list is one list of stacked tensors."""

from headrace._src.graph.vectorizing.rules import ALWAYS, Batched, NoRule, rule, tail, unstacked, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.tensor_lists.whole_lists import TENSOR_LIST_STACK

# What is written into a new list may differ between elements.
ALWAYS.update({"TensorListReserve", "EmptyTensorList"})


def _element_shape(batch, shape):
    """A declared shape of the elements, with the batch before it."""
    known = value_of(unstacked(shape, "element shape"))
    if known is None or not known.ndim:
        return to_tensor(-1, shape.tensor.dtype)
    size = batch.size if isinstance(batch.size, int) else -1
    return to_tensor([size, *map(int, known)], shape.tensor.dtype)


def _swapped(tensor, rank=None):
    """The first two axes exchanged."""
    rank = tensor.shape.rank if rank is None else rank
    if rank is None:
        raise NoRule("the rank of a list's elements is unknown")
    return TRANSPOSE(tensor, [1, 0, *range(2, rank)])


@rule("TensorListReserve", "EmptyTensorList")
def _new(batch, node, shape, count):
    return batch.apply(node, [_element_shape(batch, shape), unstacked(count, "size")])


@rule("TensorListFromTensor")
def _from_tensor(batch, node, tensor, shape):
    return batch.apply(node, [_swapped(tensor.tensor), _element_shape(batch, shape)])


@rule("TensorListStack")
def _stack(batch, node, handle, shape):
    (stacked,) = batch.apply(node, [handle, _element_shape(batch, shape)])
    rank = node.outputs[0].shape.rank
    return _swapped(stacked, None if rank is None else rank + 1)


@rule("TensorListGather")
def _gather(batch, node, handle, indices, shape):
    (found,) = batch.apply(node, [handle, unstacked(indices, "indices"), _element_shape(batch, shape)])
    rank = node.outputs[0].shape.rank
    return _swapped(found, None if rank is None else rank + 1)


@rule("TensorListGetItem")
def _get(batch, node, handle, index, shape):
    if handle.stacked:
        return batch.apply(node, [handle, unstacked(index, "index"), _element_shape(batch, shape)])
    whole = TENSOR_LIST_STACK(handle.tensor, shape.tensor, element_dtype=node.attrs["element_dtype"])
    return GATHER_V2(whole, index.tensor, 0)


@rule("TensorListSetItem")
def _set(batch, node, handle, index, item):
    return batch.apply(node, [batch.stack(handle), unstacked(index, "index"), batch.stack(item)])


@rule("TensorListPushBack")
def _push(batch, node, handle, item):
    return batch.apply(node, [batch.stack(handle), batch.stack(item)])


@rule("TensorListPopBack")
def _pop(batch, node, handle, shape):
    return batch.apply(node, [handle, _element_shape(batch, shape)])


@rule("TensorListLength")
def _length(batch, node, handle):
    return [Batched(x, False) for x in batch.apply(node, [handle])]


@rule("TensorListResize")
def _resize(batch, node, handle, size):
    return batch.apply(node, [handle, unstacked(size, "size")])


@rule("TensorListElementShape")
def _shape(batch, node, handle):
    return Batched(tail(batch.apply(node, [handle])[0], 1), False)
