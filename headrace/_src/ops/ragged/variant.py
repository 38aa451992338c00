"""Ragged tensors encoded as variant tensors, so that they can be stacked, sliced and kept in one dtype."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import NoRule, Ragged, Rule
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.ragged.dense import checked_splits


class RaggedVariant:
    """What one element of a variant tensor holds: row splits, outermost first, and dense values."""

    __slots__ = ("splits", "values")

    def __init__(self, splits, values):
        self.splits = splits
        self.values = values

    def __add__(self, other):
        if not isinstance(other, RaggedVariant):
            return NotImplemented
        return RaggedVariant(self.splits, self.values + other.values)

    def zeros_like(self):
        """The same splits with zeros."""
        return RaggedVariant(self.splits, np.zeros_like(self.values))

    def __repr__(self):
        return f"RaggedVariant(splits={self.splits}, values={self.values!r})"


def _boxed(items, shape):
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(shape)


def _to_variant_kernel(rt_nested_splits, rt_dense_values, batched_input):
    op = "RaggedTensorToVariant"
    if not batched_input:
        return _boxed([RaggedVariant(list(rt_nested_splits), rt_dense_values)], ())
    if not rt_nested_splits:
        if not rt_dense_values.ndim:
            raise errors.invalid_argument(f"{op}: a scalar has no rows to encode.")
        return _boxed([RaggedVariant([], row) for row in rt_dense_values], (rt_dense_values.shape[0],))
    levels = []
    for i, splits in enumerate(rt_nested_splits):
        last = i == len(rt_nested_splits) - 1
        count = rt_dense_values.shape[0] if last else rt_nested_splits[i + 1].size - 1
        checked_splits(op, splits, count)
        levels.append(splits)
    rows = []
    for start, end in zip(levels[0][:-1].tolist(), levels[0][1:].tolist()):
        parts = []
        for splits in levels[1:]:
            own = splits[start : end + 1]
            parts.append(own - own[0])
            start, end = int(own[0]), int(own[-1])
        rows.append(RaggedVariant(parts, rt_dense_values[start:end]))
    return _boxed(rows, (len(rows),))


def _to_variant_infer(rt_nested_splits, rt_dense_values, batched_input):
    if not batched_input:
        return TensorShape([])
    if not rt_nested_splits:
        return rt_dense_values.shape[:1]
    outer = rt_nested_splits[0].shape
    return TensorShape([None if outer.rank is None or outer[0] is None else outer[0] - 1])


def _to_variant_grad(node, dy):
    splits = node.rt_nested_splits
    first = splits[0] if splits else np.zeros(0, np.int64)
    d_values = RAGGED_TENSOR_TO_VARIANT_GRADIENT(
        dy,
        first,
        CAST(node.rt_dense_values_shape, DstT=dtypes.int32),
        Tvalues=node.rt_dense_values_dtype,
    )
    return [None] * len(splits), d_values


def _vectorize_ragged_to_variant(batch, node, splits, values):
    if node.attrs["batched_input"] or not isinstance(values, Ragged) or len(splits) > 1:
        raise NoRule("it has several levels")
    nested = [values.splits]
    if splits:
        if not isinstance(splits[0], Ragged):
            raise NoRule("it has as many rows for each element")
        whole, rows = batch.inner_splits(splits[0], values)
        nested = [rows, whole]
    return RAGGED_TENSOR_TO_VARIANT(nested, values.tensor, batched_input=True)


# Variant tensors hold Python objects: host only, here and below.
RAGGED_TENSOR_TO_VARIANT = Op(
    "RaggedTensorToVariant",
    "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues, *, batched_input: bool "
    "-> encoded_ragged: variant",
    Tsplits=dtypes.INDEX,
    infer=_to_variant_infer,
    kernel=_to_variant_kernel,
    lower=None,
    saves=("rt_nested_splits", "rt_dense_values_shape", "rt_dense_values_dtype"),
    grad=_to_variant_grad,
    vectorize=Rule(ragged=_vectorize_ragged_to_variant),
)


def _elements(op, encoded):
    elements = encoded.ravel().tolist()
    for element in elements:
        if not isinstance(element, RaggedVariant):
            raise errors.invalid_argument(f"{op}: a variant element holds no ragged tensor, but {element!r}.")
    return elements


def _concatenated_splits(parts, dtype):
    """The splits of rows put one after the other."""
    result, base = [np.zeros(1, dtype)], 0
    for splits in parts:
        result.append(splits[1:].astype(dtype) + base)
        base += int(splits[-1])
    return np.concatenate(result).astype(dtype)


def _from_variant_kernel(encoded_ragged, input_ragged_rank, output_ragged_rank, Tvalues, Tsplits):
    op = "RaggedTensorFromVariant"
    outer = encoded_ragged.ndim
    if input_ragged_rank == -1:
        input_ragged_rank = output_ragged_rank - outer
        if input_ragged_rank < -1:
            raise errors.invalid_argument(
                f"{op}: output_ragged_rank {output_ragged_rank} is too small for variants of rank {outer}."
            )
    elif output_ragged_rank != input_ragged_rank + outer:
        raise errors.invalid_argument(
            f"{op}: output_ragged_rank must be input_ragged_rank + the rank of encoded_ragged, got "
            f"{output_ragged_rank}, {input_ragged_rank} and {outer}."
        )
    elements = _elements(op, encoded_ragged)
    for element in elements:
        if len(element.splits) != max(input_ragged_rank, 0):
            raise errors.invalid_argument(
                f"{op}: encoded ragged rank {len(element.splits)}, expected {max(input_ragged_rank, 0)}."
            )
        if element.values.dtype != Tvalues._np:
            raise errors.invalid_argument(f"{op}: expected values of {Tvalues.name}, got {element.values.dtype}.")
        if any(splits.dtype != Tsplits._np for splits in element.splits):
            raise errors.invalid_argument(f"{op}: expected row splits of {Tsplits.name}.")
    if outer == 0:
        return list(elements[0].splits), elements[0].values
    if input_ragged_rank < 0:
        if not elements:
            return [], np.zeros(encoded_ragged.shape, Tvalues._np)
        stacked = np.stack([element.values for element in elements])
        return [], stacked.reshape(*encoded_ragged.shape, *stacked.shape[1:])
    splits = []
    for axis in range(1, outer):
        count = int(np.prod(encoded_ragged.shape[:axis], dtype=np.int64))
        splits.append(np.arange(count + 1, dtype=Tsplits._np) * Tsplits._np.type(encoded_ragged.shape[axis]))
    lengths = [element.splits[0].size - 1 if element.splits else element.values.shape[0] for element in elements]
    splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(Tsplits._np))
    for level in range(max(input_ragged_rank, 0)):
        splits.append(_concatenated_splits([element.splits[level] for element in elements], Tsplits._np))
    if not elements:
        return splits, np.zeros(0, Tvalues._np)
    return splits, np.concatenate([element.values for element in elements])


def _from_variant_infer(encoded_ragged, input_ragged_rank, output_ragged_rank, Tvalues, Tsplits):
    splits = [TensorShape([None]) for _ in range(output_ragged_rank)]
    return splits, TensorShape(None)


def _from_variant_grad(node, *dys):
    shape = node.encoded_ragged_shape
    rank = len(shape) if isinstance(shape, tuple) else shape.shape[0]
    if rank not in (0, 1):
        raise ValueError("Unable to compute gradient: RaggedTensorFromVariant of variants of rank 2 or more.")
    splits = node.output_nested_splits
    return (RAGGED_TENSOR_TO_VARIANT(list(splits), dys[-1], batched_input=rank == 1),)


RAGGED_TENSOR_FROM_VARIANT = Op(
    "RaggedTensorFromVariant",
    "encoded_ragged: variant, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: type, "
    "Tsplits: type = int64 -> output_nested_splits: output_ragged_rank*Tsplits, output_dense_values: Tvalues",
    infer=_from_variant_infer,
    kernel=_from_variant_kernel,
    lower=None,
    saves=("encoded_ragged_shape", "output_nested_splits"),
    grad=_from_variant_grad,
    Tsplits=dtypes.INDEX,
)


def _gradient_kernel(encoded_ragged_grad, row_splits, dense_values_shape, Tvalues):
    op = "RaggedTensorToVariantGradient"
    shape = tuple(dense_values_shape.tolist())
    if encoded_ragged_grad.ndim == 0:
        (element,) = _elements(op, encoded_ragged_grad)
        return element.values.reshape(shape)
    parts = [element.values for element in _elements(op, encoded_ragged_grad)]
    if not parts:
        return np.zeros(shape, Tvalues._np)
    result = np.concatenate(parts) if row_splits.size else np.stack(parts)
    return result.reshape(shape).astype(Tvalues._np, copy=False)


def _gradient_infer(encoded_ragged_grad, row_splits, dense_values_shape, Tvalues):
    if dense_values_shape.value is not None:
        return TensorShape(np.asarray(dense_values_shape.value).tolist())
    rank = dense_values_shape.shape
    return TensorShape(None if rank.rank is None or rank[0] is None else [None] * rank[0])


RAGGED_TENSOR_TO_VARIANT_GRADIENT = Op(
    "RaggedTensorToVariantGradient",
    "encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32, *, Tvalues: type "
    "-> dense_values_grad: Tvalues",
    Tsplits=dtypes.INDEX,
    infer=_gradient_infer,
    kernel=_gradient_kernel,
    lower=None,
    grad=unregistered,
)


def ragged_to_variant(nested_row_splits, flat_values, batched_input):
    """A variant scalar that holds the ragged tensor, or a vector with one variant for each row."""
    return RAGGED_TENSOR_TO_VARIANT(nested_row_splits, flat_values, batched_input=batched_input)


def ragged_from_variant(variant, dtype, ragged_rank, row_splits_dtype):
    """Flat values and nested row splits of what `ragged_to_variant` encoded (or of a stack of such)."""
    splits, values = RAGGED_TENSOR_FROM_VARIANT(
        variant,
        input_ragged_rank=-1,
        output_ragged_rank=ragged_rank,
        Tvalues=dtype,
        Tsplits=row_splits_dtype,
    )
    return values, splits
