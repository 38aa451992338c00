"""`RaggedTensor`: a tensor some of whose dimensions have rows of different lengths."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, types
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.attached import attach, open_class
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.math.arithmetic import MAXIMUM, MUL
from headrace._src.ops.math.reductions import MAX, PROD
from headrace._src.ops.ragged.construction import RaggedConstruction
from headrace._src.ops.ragged.dense import RAGGED_TENSOR_TO_SPARSE, RAGGED_TENSOR_TO_TENSOR
from headrace._src.ops.ragged.row_arithmetic import cast_to, dimensions
from headrace._src.ops.ragged.row_partition import INDEX_TYPES
from headrace._src.ops.ragged.spec import RaggedTensorSpec
from headrace._src.ops.ragged.text import nested_list, numpy_rows, ragged_text
from headrace._src.ops.ragged.variant import ragged_from_variant, ragged_to_variant
from headrace._src.ops.sparse.tensor import SparseTensor

if TYPE_CHECKING:
    from headrace._src.attached import RaggedTensorMethods
    from headrace._src.core.dtypes import DType
else:
    RaggedTensorMethods = types.FOR_CHECKERS


@api("RaggedTensor")
@open_class
class RaggedTensor(RaggedTensorMethods, RaggedConstruction, CompositeTensor):
    """Values in rows whose lengths may differ, in one or more ragged dimensions.

    A ragged tensor is a tensor (or another ragged tensor) `values` and a `RowPartition` that divides it into
    rows. With `ragged_rank` r there are r partitions around one dense tensor, `flat_values`. Made by
    `tf.ragged.constant` or one of the `from_...` methods.

    >>> rt = tf.ragged.constant([[9, 8, 7], [], [6, 5]])
    >>> rt.shape, rt.values.numpy().tolist(), rt.row_splits.numpy().tolist()
    (TensorShape([3, None]), [9, 8, 7, 6, 5], [0, 3, 3, 5])
    >>> rt + 1
    <tf.RaggedTensor [[10, 9, 8], [], [7, 6]]>
    >>> rt[:, :2]
    <tf.RaggedTensor [[9, 8], [], [6, 5]]>
    >>> tf.reduce_sum(rt, axis=1).numpy().tolist()
    [24, 0, 11]

    Raises:
        ValueError: when the constructor is called directly.
    """

    __array_priority__ = 100
    is_tensor_like = True

    def __init__(self, values, row_partition, internal=False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        if values.shape.rank is not None:
            values.shape.with_rank_at_least(1)
        self._values = values
        self._row_partition = row_partition

    # Parts.

    @property
    def dtype(self) -> "DType":
        """The dtype of the values."""
        return self._values.dtype

    @property
    def values(self) -> "Tensor | RaggedTensor":
        """The concatenated rows: a tensor, or a ragged tensor when there are further ragged dimensions."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, with all ragged dimensions merged into one.

        >>> tf.ragged.constant([[[1, 2]], [[3], [4]]]).flat_values.numpy().tolist()
        [1, 2, 3, 4]
        """
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def ragged_rank(self) -> int:
        """The number of partitions, and of dimensions that may be ragged."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def row_splits(self) -> Tensor:
        """The positions at which rows begin and end among `values`."""
        return self._row_partition.row_splits()

    @property
    def nested_row_splits(self) -> tuple:
        """The row splits of all ragged dimensions, outermost first."""
        return tuple(partition.row_splits() for partition in self._nested_row_partitions)

    @property
    def _nested_row_partitions(self) -> tuple:
        partitions, part = [], self
        while isinstance(part, RaggedTensor):
            partitions.append(part._row_partition)
            part = part._values
        return tuple(partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows as a scalar tensor when it is known to be one, else None."""
        return self._row_partition.uniform_row_length()

    def value_rowids(self, name=None) -> Tensor:
        """The row of each of `values`."""
        return self._row_partition.value_rowids()

    def nested_value_rowids(self, name=None) -> tuple:
        """The row ids of all ragged dimensions, outermost first."""
        return tuple(partition.value_rowids() for partition in self._nested_row_partitions)

    def nrows(self, out_type=None, name=None) -> Tensor:
        """The number of rows, as a scalar tensor."""
        count = self._row_partition.nrows()
        return count if out_type is None else cast_to(count, dtypes.as_dtype(out_type))

    def row_starts(self, name=None) -> Tensor:
        """The position in `values` at which each row begins."""
        return self._row_partition.row_starts()

    def row_limits(self, name=None) -> Tensor:
        """The position in `values` at which each row ends."""
        return self._row_partition.row_limits()

    def row_lengths(self, axis=1, name=None) -> Tensor:
        """The lengths of the rows in dimension `axis`.

        >>> rt = tf.ragged.constant([[[3, 1], [2]], [], [[7]]])
        >>> rt.row_lengths().numpy().tolist()
        [2, 0, 1]
        >>> rt.row_lengths(axis=2)
        <tf.RaggedTensor [[2, 1], [], [1]]>

        Raises:
            ValueError: when there is no such dimension.
        """
        axis = normalized_axis(axis, self.shape.rank)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = dimensions(self._values, self._row_partition.dtype)
        return self.with_values(FILL(shape[: axis - 1], shape[axis - 1]))

    def nested_row_lengths(self, name=None) -> tuple:
        """The row lengths of all ragged dimensions, outermost first."""
        return tuple(partition.row_lengths() for partition in self._nested_row_partitions)

    # Shape.

    @property
    def shape(self) -> TensorShape:
        """The static shape: None for ragged dimensions and for what is not known.

        >>> tf.ragged.constant([[0], [1, 2]]).shape
        TensorShape([2, None])
        """
        rows = TensorShape([self._row_partition.static_nrows, self._row_partition.static_uniform_row_length])
        return rows.concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    def _set_shape(self, shape):
        """Take over dimensions that a static shape knows: row lengths become uniform.

        Raises:
            ValueError: when the shape does not fit.
        """
        shape = TensorShape(shape)
        if shape.rank is None:
            return
        dims = shape.as_list()
        if len(dims) <= 1:
            raise ValueError(f"Shape {shape} must have rank at least 2")
        self.shape.assert_is_compatible_with(shape)
        partition = self._row_partition
        if dims[1] is not None and partition.uniform_row_length() is None:
            self._row_partition = partition._with(uniform_row_length=to_tensor(dims[1], partition.dtype))
        if isinstance(self._values, RaggedTensor):
            count = None if dims[0] is None or dims[1] is None else dims[0] * dims[1]
            self._values._set_shape([count, *dims[2:]])
        elif type(self._values) is not EagerTensor:
            self._values.set_shape([None, *dims[2:]])

    def bounding_shape(self, axis=None, name=None, out_type=None) -> Tensor:
        """The smallest shape of a dense tensor that holds this one.

        >>> tf.ragged.constant([[1, 2, 3], [4], []]).bounding_shape().numpy().tolist()
        [3, 3]

        Args:
            axis: None for the whole shape, or an integer or integers to choose from it.
            name: a name for the operation.
            out_type: the dtype; that of the row splits if None.
        """
        out_type = self._row_partition.dtype if out_type is None else dtypes.as_dtype(out_type)
        if isinstance(axis, int) and axis == 0:
            return self.nrows(out_type=out_type)
        if isinstance(axis, int) and axis == 1:
            return cast_to(_longest(self._row_partition), out_type)
        outer = [self.nrows()] + [_longest(partition) for partition in self._nested_row_partitions]
        inner = dimensions(self.flat_values, self._row_partition.dtype)[1:]
        bounds = cast_to(CONCAT([PACK(outer), inner], 0), out_type)
        return bounds if axis is None else GATHER_V2(bounds, axis, 0)

    # The same rows with something else inside.

    def with_values(self, new_values) -> "RaggedTensor":
        """The same partition of other values.

        >>> tf.ragged.constant([[1], [2, 3]]).with_values(["a", "b", "c"])
        <tf.RaggedTensor [[b'a'], [b'b', b'c']]>

        Raises:
            ValueError: when the number of values differs.
        """
        new_values = tensor_or_ragged(new_values)
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if isinstance(new_values, RaggedTensor) and new_values._row_partition.dtype is not self._row_partition.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use "
                "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
            )
        return RaggedTensor(new_values, self._row_partition, internal=True)

    def with_flat_values(self, new_values) -> "RaggedTensor":
        """The same ragged dimensions around other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        new_values = tensor_or_ragged(new_values)
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype) -> "RaggedTensor":
        """The same tensor with int32 or int64 row splits.

        Raises:
            ValueError: for any other dtype.
        """
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX_TYPES:
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {dtype!r}.")
        if dtype is self._row_partition.dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, self._row_partition.with_dtype(dtype), internal=True)

    def merge_dims(self, outer_axis, inner_axis) -> "Tensor | RaggedTensor":
        """Dimensions `outer_axis` to `inner_axis` made one.

        >>> rt = tf.ragged.constant([[[1, 2], [3]], [[4]]])
        >>> rt.merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [4]]>
        >>> rt.merge_dims(0, 1)
        <tf.RaggedTensor [[1, 2], [3], [4]]>

        Raises:
            ValueError: when an axis is out of range or they are in the wrong order.
        """
        rank = self.shape.rank
        outer_axis = normalized_axis(outer_axis, rank, "outer_axis")
        inner_axis = normalized_axis(inner_axis, rank, "inner_axis")
        if outer_axis > inner_axis:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
            )
        return merge_dims(self, outer_axis, inner_axis)

    # Other forms.

    def to_tensor(self, default_value=None, name=None, shape=None) -> Tensor:
        """A dense tensor, with short rows filled up.

        >>> tf.ragged.constant([[9, 8, 7], [], [6]]).to_tensor(default_value=0).numpy().tolist()
        [[9, 8, 7], [0, 0, 0], [6, 0, 0]]

        Args:
            default_value: what short rows are filled up with; zero or the empty string if None.
            name: a name for the operation.
            shape: the shape of the result, with None for dimensions that are as large as needed; what is
                beyond it is left out.
        """
        values = self.flat_values
        if default_value is None:
            default_value = b"" if values.dtype is dtypes.string else 0
            default_value = to_tensor(False if values.dtype is dtypes.bool else default_value, values.dtype)
        else:
            default_value = to_tensor(default_value, values.dtype)
        static = self.shape
        if shape is None:
            wanted = to_tensor(-1, self._row_partition.dtype)
        elif isinstance(shape, Tensor):
            wanted = shape
        else:
            static_shape = TensorShape(shape)
            if static_shape.rank is None:
                wanted = to_tensor(-1, self._row_partition.dtype)
            else:
                dims = [-1 if n is None else n for n in static_shape.as_list()]
                wanted = to_tensor(np.array(dims, self._row_partition.dtype._np))
                static = (
                    static_shape
                    if static_shape.rank != static.rank
                    else TensorShape([b if a is None else a for a, b in zip(static_shape, static)])
                )
        result = RAGGED_TENSOR_TO_TENSOR(
            wanted,
            values,
            default_value,
            list(self.nested_row_splits),
            row_partition_types=["ROW_SPLITS"] * self.ragged_rank,
            name=name,
        )
        if type(result) is not EagerTensor:
            result.set_shape(static)
        return result

    def to_sparse(self, name=None) -> SparseTensor:
        """A `tf.SparseTensor` with this tensor's values; the dense shape is the bounding shape."""
        parts = RAGGED_TENSOR_TO_SPARSE(list(self.nested_row_splits), self.flat_values, name=name)
        return SparseTensor(*parts)

    def to_list(self) -> list:
        """Nested Python lists.

        >>> tf.ragged.constant([["a"], []]).to_list()
        [[b'a'], []]

        Raises:
            ValueError: when the tensor is symbolic.
        """
        if not self._is_eager():
            raise ValueError("RaggedTensor.to_list() is only supported in eager mode.")
        return nested_list(self)

    def numpy(self) -> np.ndarray:
        """A NumPy array: of rows (as objects) where their lengths differ, else of the plain dtype.

        Raises:
            ValueError: when the tensor is symbolic.
        """
        if not self._is_eager():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        return numpy_rows(self)

    def _to_variant(self, batched_input=False, name=None):
        """A variant scalar that holds this tensor, or a vector with one variant for each row."""
        return ragged_to_variant(list(self.nested_row_splits), self.flat_values, batched_input)

    @classmethod
    def _from_variant(
        cls, variant, dtype, output_ragged_rank, input_ragged_rank=None, row_splits_dtype=dtypes.int64, name=None
    ):
        """The ragged tensor that variants made by `_to_variant` hold, one for each of their elements."""
        rank = variant.shape.rank
        if input_ragged_rank is not None and rank is not None and output_ragged_rank != input_ragged_rank + rank:
            raise ValueError(
                f"Argument `output_ragged_rank` ({output_ragged_rank}) must be equal to `input_ragged_rank` + "
                f"`variant.shape.ndims` ({input_ragged_rank} + {rank})."
            )
        flat, splits = ragged_from_variant(
            variant, dtypes.as_dtype(dtype), output_ragged_rank, dtypes.as_dtype(row_splits_dtype)
        )
        return cls.from_nested_row_splits(flat, splits, validate=False)

    def _is_eager(self) -> bool:
        return all(type(part) is EagerTensor for part in (self.flat_values, *self.nested_row_splits))

    def __repr__(self):
        if self._is_eager():
            return f"<tf.RaggedTensor {ragged_text(numpy_rows(self))}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"

    __str__ = __repr__

    def __hash__(self):
        raise TypeError("RaggedTensor is unhashable.")

    def __bool__(self) -> Any:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    # What nest, tapes and control flow need.

    @property
    def _type_spec(self):
        return RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape):
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self._row_partition.dtype)

    def _gradient_components(self):
        flat = self.flat_values
        if isinstance(flat, CompositeTensor):
            protocol = getattr(type(flat), "_gradient_components", None)
            return protocol(flat) if protocol is not None else []
        return [flat]

    def _with_gradient_components(self, grads):
        return self.with_flat_values(grads[0])


attach(RaggedTensorSpec, "_ragged_class", RaggedTensor)


def normalized_axis(axis, rank, name="axis"):
    """An axis as one in [0, rank), or ValueError.

    Raises:
        TypeError: when it is no integer.
    """
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(f"{name} must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError(f"{name}={axis} may only be negative if ndims is statically known.")
        return int(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return int(axis) % rank


def tensor_or_ragged(value, dtype=None, hint=None):
    """A ragged tensor as it is, anything else as a tensor.

    Raises:
        ValueError: when a ragged tensor has another dtype than the one asked for.
    """
    if isinstance(value, RaggedTensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for RaggedTensor with dtype "
                f"{value.dtype.name}: {value!r}."
            )
        return value
    if isinstance(value, CompositeTensor) and not hasattr(value, "dense_shape"):
        return value
    return to_tensor(value, dtype, hint=hint)


def match_row_splits_dtypes(*tensors, return_dtype=False):
    """Check that all ragged tensors among the arguments have row splits of one dtype; others are as they are.

    Raises:
        ValueError: when they differ.
    """
    found = {tensor._row_partition.dtype for tensor in tensors if isinstance(tensor, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() "
            "to convert them to compatible dtypes."
        )
    dtype = found.pop() if found else None
    return (dtype, list(tensors)) if return_dtype else list(tensors)


def merge_dims(value, outer_axis, inner_axis):
    """Dimensions made one, of a tensor or ragged tensor; both axes are in range and in order."""
    if outer_axis == inner_axis:
        return value
    if not isinstance(value, RaggedTensor):
        shape = dimensions(value, dtypes.int32)
        parts = [shape[:outer_axis], [-1], shape[inner_axis + 1 :]]
        result = RESHAPE(value, CONCAT(parts, 0))
        if type(result) is not EagerTensor and value.shape.rank is not None:
            kept = value.shape[:outer_axis].concatenate([None]).concatenate(value.shape[inner_axis + 1 :])
            result.set_shape(kept)
        return result
    if outer_axis > 1:
        return value.with_values(merge_dims(value.values, outer_axis - 1, inner_axis - 1))
    if outer_axis == 0:
        return merge_dims(value.values, 0, inner_axis - 1)
    # Dimensions 1 to inner_axis: the rows' ends are looked up further and further inside.
    splits, inner = value.row_splits, value.values
    depth = inner_axis - 1
    while depth and isinstance(inner, RaggedTensor):
        splits = GATHER_V2(inner.row_splits, splits, 0)
        inner = inner.values
        depth -= 1
    if depth:
        factor = PROD(dimensions(inner, splits.dtype)[1 : depth + 1], [0])
        splits = MUL(splits, factor)
        inner = merge_dims(inner, 0, depth)
    return RaggedTensor.from_row_splits(inner, splits, validate=False)


def _longest(partition):
    """The length of the longest row, 0 without rows."""
    length = partition.uniform_row_length()
    if length is not None:
        return length
    lengths = partition.row_lengths()
    return MAXIMUM(MAX(lengths, [0]), to_tensor(0, partition.dtype))
