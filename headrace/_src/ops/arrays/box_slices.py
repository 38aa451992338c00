"""`tf.slice`: the box of a tensor that begins at an index and has a size along each axis."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched, NoRule, unstacked
from headrace._src.op.bound_kernels import binder, remembering
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.lowering import NeedsValue
from headrace._src.op.registry import lookup
from headrace._src.op.traits import UNCHECKED
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import checked_vector, known_value


def _slice_bounds(dims, begin, size):
    """NumPy's slices for `tf.slice`, after the checks."""
    begin = checked_vector("Slice", "begin", begin)
    size = checked_vector("Slice", "size", size)
    if not len(begin) == len(size) == len(dims):
        raise errors.invalid_argument(
            f"Slice: begin and size must have one element per dimension of input, {len(dims)}, got "
            f"{len(begin)} and {len(size)}."
        )
    found = []
    for i, (n, b, s) in enumerate(zip(dims, begin, size)):
        if n is None:
            found.append((b, s if s >= 0 else None))
            continue
        if not 0 <= b <= n:
            raise errors.invalid_argument(f"Slice: begin[{i}] must be in [0, {n}], got {b}.")
        if s != -1 and not 0 <= s <= n - b:
            raise errors.invalid_argument(f"Slice: size[{i}] must be in [0, {n - b}], or -1, got {s}.")
        found.append((b, n - b if s == -1 else s))
    return found


def _slice(input, begin, size):
    return input[tuple(slice(b, b + s) for b, s in _slice_bounds(input.shape, begin, size))]


@binder("Slice", "begin", "size")
def _bind_slice(begin, size):
    index_in = remembering(lambda shape: tuple(slice(b, b + s) for b, s in _slice_bounds(shape, begin, size)))
    return lambda input, *bounds: input[index_in(input.shape)]


def _lower_slice(ctx, input, begin, size):
    if isinstance(begin, np.ndarray):
        return _slice(input, begin, size)
    if (size < 0).any():
        raise NeedsValue("size -1 with a begin that is known only at run time")
    room = np.array(input.shape, begin.dtype) - size
    ctx.check(
        jnp.all((begin >= 0) & (begin <= room)),
        errors.InvalidArgumentError,
        f"Slice: begin is out of range for size {size.tolist()} and input of shape {input.shape}.",
    )
    return lax.dynamic_slice(input, list(begin), size.tolist())


def _elements(spec, rank):
    """The elements of a vector as far as they are certain, None for the others."""
    elements = spec.partial if spec.value is None else spec.value.tolist()
    return elements if isinstance(elements, list) and len(elements) == rank else [None] * rank


def _infer_slice(input, begin, size):
    rank = input.shape.rank
    if rank is None:
        for spec in (begin, size):
            if rank is None and spec.shape.rank is not None:
                rank = spec.shape[0]
        if rank is None:
            return UNKNOWN
    dims = tuple(input.shape) if input.shape.rank is not None else (None,) * rank
    if size.value is None or begin.value is None:
        triples = zip(dims, _elements(begin, rank), _elements(size, rank))
        return TensorShape([
            s if s is None or s >= 0 else (None if n is None or b is None else n - b) for n, b, s in triples
        ])  # fmt: skip
    return TensorShape([s for _, s in _slice_bounds(dims, begin.value, size.value)])


def _grad_slice(node, dy):
    shape, begin = node.input_shape, known_value(node.begin)
    if isinstance(shape, tuple) and isinstance(node.output_shape, tuple) and begin is not None:
        after = np.array(shape, begin.dtype) - begin - np.array(node.output_shape, begin.dtype)
        paddings = np.stack([begin, after], 1)
        return lookup("Pad")(dy, paddings), None, None
    kind = node.begin.dtype
    shape, taken = (CAST(to_tensor(s), DstT=kind) for s in (shape, node.output_shape))
    after = shape - taken - node.begin
    return lookup("Pad")(dy, lookup("Pack")([node.begin, after], axis=1)), None, None


def _vectorize_slice(batch, node, x, begin, size):
    if not begin.stacked:
        bounds = [batch.join([0], begin.tensor), batch.join([-1], unstacked(size, "size"))]
        return batch.apply(node, [batch.stack(x), *bounds])
    shape = node.outputs[0].shape
    if not shape.is_fully_defined():
        raise NoRule("its begin differs between elements, and its size is not known")
    result = batch.stack(x)
    whole = batch.shape_of_element(Batched(result, True))
    for axis, count in enumerate(shape.as_list()):
        if isinstance(whole, list) and whole[axis] == count:
            continue
        indices = begin.tensor[:, axis : axis + 1] + to_tensor(np.arange(count), begin.tensor.dtype)
        result = lookup("GatherV2")(result, indices, axis + 1, batch_dims=1)
    return result


SLICE = Op(
    "Slice",
    "input: T, begin: Index, size: Index -> output: T",
    traits=UNCHECKED,
    flexible=("begin",),
    Index=dtypes.INDEX,
    infer=_infer_slice,
    kernel=_slice,
    lower=_lower_slice,
    static=("begin", "size"),
    saves=("input_shape", "output_shape", "begin"),
    grad=_grad_slice,
    vectorize=_vectorize_slice,
)


@api("slice")
def slice_(input_, begin, size, name=None) -> Tensor:
    """The box of `size` that starts at `begin`; -1 in `size` means all that is left.

    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]).numpy().tolist()
    [[2, 3], [5, 6]]

    Raises:
        InvalidArgumentError: when the box does not lie inside the tensor.
    """
    return SLICE(input_, begin, size, name=name)
