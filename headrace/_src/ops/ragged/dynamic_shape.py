"""`DynamicRaggedShape`: the shape of a tensor that may be ragged, as a value."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.extension_types.extension_type import BatchableExtensionType
from headrace._src.ops.math.arithmetic import MUL
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.reductions import ALL, PROD
from headrace._src.ops.ragged.row_arithmetic import cast_to, dimensions, require
from headrace._src.ops.ragged.row_partition import INDEX_TYPES, RowPartition
from headrace._src.ops.ragged.shape_spec import DynamicRaggedShapeSpec
from headrace._src.ops.ragged.tensor import RaggedTensor, normalized_axis

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


@api("experimental.DynamicRaggedShape")
class DynamicRaggedShape(BatchableExtensionType):
    """The shape of a tensor or ragged tensor: row partitions, and the shape of the dense tensor inside them.

    >>> shape = tf.shape(tf.ragged.constant([[1, 2], [], [3]]))
    >>> shape
    <DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>
    >>> tf.ones(shape, tf.int32)
    <tf.RaggedTensor [[1, 1], [], [1]]>

    Args:
        row_partitions: a sequence of `RowPartition`s, outermost first.
        inner_shape: the shape of the flat values, a vector of integers.
        dtype: int32 or int64; that of the arguments if None.
        validate: check that the partitions and the inner shape fit together.
        static_inner_shape: what is known of the inner shape beforehand.

    Raises:
        ValueError: when dtypes or known sizes contradict each other.
        InvalidArgumentError: when validated values do.
    """

    _inner_shape: Tensor
    _row_partitions: tuple[RowPartition, ...]
    _static_inner_shape: TensorShape

    Spec = DynamicRaggedShapeSpec

    def __init__(self, row_partitions, inner_shape, dtype=None, validate=False, static_inner_shape=None):
        if not isinstance(row_partitions, Sequence):
            raise TypeError("row_partitions should be a list or tuple of row partitions.")
        for partition in row_partitions:
            if not isinstance(partition, RowPartition):
                raise TypeError(f"row_partitions contains {partition!r}, which is no RowPartition.")
        kinds = {partition.dtype for partition in row_partitions}
        if isinstance(inner_shape, Tensor) and inner_shape.dtype in INDEX_TYPES:
            kinds.add(inner_shape.dtype)
        if dtype is None:
            if len(kinds) > 1:
                raise ValueError(f"row_partitions and inner_shape have different dtypes: {kinds}.")
            dtype = kinds.pop() if kinds else dtypes.int64
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX_TYPES:
            raise ValueError(f"dtype must be int32 or int64, got {dtype!r}.")
        inner_shape = cast_to(to_tensor(inner_shape, hint=dtype), dtype)
        inner_shape.shape.with_rank(1)
        known = _static_dims(inner_shape)
        if static_inner_shape is not None:
            known = known.merge_with(static_inner_shape)
        partitions = [partition.with_dtype(dtype) for partition in row_partitions]
        if partitions:
            if known.rank == 0:
                raise ValueError("inner_shape must have at least one dimension inside row partitions.")
            if validate:
                _check_chain(partitions, inner_shape)
            partitions[-1] = _with_nvals(partitions[-1], known, inner_shape)
        self._inner_shape = inner_shape
        self._row_partitions = tuple(partitions)
        self._static_inner_shape = known

    # Construction.

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=dtypes.int64) -> "DynamicRaggedShape":
        """From the length of each dimension: an int, or for a ragged one a tuple with the length of each row.

        >>> tf.experimental.DynamicRaggedShape.from_lengths([2, (3, 1), 4])
        <DynamicRaggedShape lengths=[2, (3, 1), 4] num_row_partitions=1>

        Args:
            lengths: the lengths, outermost first.
            num_row_partitions: how many dimensions are kept as partitions; as few as possible if None.
            dtype: int32 or int64.

        Raises:
            ValueError: when the lengths do not fit together.
        """
        dtype = dtypes.as_dtype(dtype)
        if not isinstance(lengths, Sequence) or isinstance(lengths, (str, bytes)):
            raise ValueError("lengths should be a list")
        for part in lengths:
            if not _is_length(part):
                raise ValueError(f"element of lengths should be int or tuple of ints: instead {part!r}")
        ragged = [i for i, part in enumerate(lengths) if isinstance(part, Sequence)]
        if ragged and ragged[0] == 0:
            raise ValueError("from_lengths: the first dimension cannot be ragged.")
        least = ragged[-1] if ragged else 0
        if num_row_partitions is None:
            num_row_partitions = least
        elif not isinstance(num_row_partitions, int):
            raise ValueError("num_row_partitions should be an int or None")
        elif not lengths:
            if num_row_partitions:
                raise ValueError("num_row_partitions==0 for a scalar shape")
        elif num_row_partitions >= len(lengths):
            raise ValueError("num_row_partitions should be less than `len(lengths)` if shape is not scalar.")
        if num_row_partitions < least:
            raise ValueError(f"num_row_partitions must be at least {least} for {lengths}.")
        if not num_row_partitions:
            return cls([], to_tensor(np.array(lengths, dtype._np).reshape(-1)), dtype)
        partitions, count = [], lengths[0]
        for part in lengths[1 : num_row_partitions + 1]:
            if isinstance(part, Sequence):
                if len(part) != count:
                    raise ValueError("Shape not consistent.")
                partitions.append(RowPartition.from_row_lengths(list(part), dtype=dtype))
                count = sum(part)
            else:
                partitions.append(RowPartition.from_uniform_row_length(part, nrows=count, dtype=dtype))
                count *= part
        inner = [count, *lengths[num_row_partitions + 1 :]]
        return cls(partitions, to_tensor(np.array(inner, dtype._np)), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None) -> "DynamicRaggedShape":
        """The shape of a vector inside partitions.

        Raises:
            ValueError: without any partition.
        """
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        nvals = row_partitions[-1].nvals()
        return cls(row_partitions, EXPAND_DIMS(nvals, 0), dtype)

    @classmethod
    def _from_inner_shape(cls, inner_shape, dtype=None):
        """A shape without row partitions."""
        return cls([], inner_shape, dtype)

    @classmethod
    def from_tensor(cls, t, dtype=None) -> "DynamicRaggedShape":
        """The shape of a tensor or ragged tensor (or of what has a `_ragged_shape`)."""
        if isinstance(t, RaggedTensor):
            own = t._row_partition.dtype
            dtype = own if dtype is None else dtypes.as_dtype(dtype)
            flat = t.flat_values
            partitions = t._nested_row_partitions
            if not isinstance(flat, Tensor):
                inner = cls.from_tensor(flat, own)
                return inner._under(partitions).with_dtype(dtype)
            shape = cls(partitions, dimensions(flat, own), own, static_inner_shape=flat.shape)
            return shape.with_dtype(dtype)
        own = getattr(t, "_ragged_shape", None)
        if isinstance(own, DynamicRaggedShape):
            return own if dtype is None else own.with_dtype(dtype)
        t = to_tensor(t)
        dtype = dtypes.int32 if dtype is None else dtypes.as_dtype(dtype)
        return cls([], dimensions(t, dtype), dtype, static_inner_shape=t.shape)

    # What it says.

    @property
    def dtype(self) -> "DType":
        """int32 or int64."""
        return self._inner_shape.dtype

    @property
    def row_partitions(self) -> tuple:
        """The partitions, outermost first."""
        return self._row_partitions

    @property
    def num_row_partitions(self) -> int:
        """The number of partitions."""
        return len(self._row_partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values, as a vector tensor."""
        return self._inner_shape

    @property
    def inner_rank(self) -> int:
        """The rank of the flat values, or None."""
        return self._static_inner_shape.rank

    @property
    def rank(self) -> int:
        """The number of dimensions, or None."""
        inner = self.inner_rank
        return None if inner is None else inner + self.num_row_partitions

    def is_uniform(self, axis: int) -> bool:
        """Whether all rows in that dimension have one length.

        Raises:
            TypeError: when the axis is no int.
            ValueError: when it is negative.
            IndexError: when there is no such dimension.
        """
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        rank = self.rank
        if rank is not None and axis >= rank:
            raise IndexError(f"Expected axis={axis} < rank={rank}")
        if axis == 0 or axis > self.num_row_partitions:
            return True
        return self._row_partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths=True) -> Any:
        """The length of each dimension: an int, None if it is not known, a tuple for a ragged dimension.

        Args:
            ragged_lengths: False to have None for ragged dimensions.

        Returns:
            A list; it ends with `...` when the rank is unknown.
        """
        if not self.num_row_partitions:
            return self._inner_as_list(self._static_inner_shape)
        first = self._row_partitions[0].static_nrows
        lengths = [first]
        for partition in self._row_partitions:
            uniform = partition.static_uniform_row_length
            if partition.is_uniform():
                lengths.append(uniform)
                continue
            own = get_static_value(partition.row_lengths()) if ragged_lengths else None
            lengths.append(None if own is None else tuple(own.tolist()))
        inner = self._static_inner_shape
        return lengths + self._inner_as_list(inner[1:] if inner.rank is not None else inner)

    @staticmethod
    def _inner_as_list(shape):
        return [Ellipsis] if shape.rank is None else shape.as_list()

    def __repr__(self):
        lengths = ", ".join("..." if n is Ellipsis else str(n) for n in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"

    __str__ = __repr__

    def _to_tensor_shape(self) -> TensorShape:
        """The static shape, None in ragged dimensions."""
        lengths = self.static_lengths(ragged_lengths=False)
        if lengths and lengths[-1] is Ellipsis:
            return TensorShape(None)
        return TensorShape(lengths)

    def _dimension(self, index):
        """The size of a uniform dimension, as a scalar tensor.

        Raises:
            ValueError: when the dimension is ragged.
            IndexError: when there is no such dimension.
        """
        rank = self.rank
        if rank is not None:
            if index < -rank or index >= rank:
                raise IndexError(f"Index is too big: {index}>={rank}" if index > 0 else f"Index is too small: {index}")
            index %= rank
        if not self.is_uniform(index):
            raise ValueError(f"Index {index} is not uniform")
        if index == 0 and self.num_row_partitions:
            return self._row_partitions[0].nrows()
        if 0 < index <= self.num_row_partitions:
            return self._row_partitions[index - 1].uniform_row_length()
        return self._inner_shape[index - self.num_row_partitions]

    def __getitem__(self, index) -> Any:
        """The size of a uniform dimension, or the shape of some dimensions.

        Raises:
            ValueError: when a size is asked for that is not uniform.
            IndexError: when there is no such dimension.
        """
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise IndexError("Cannot stride through a shape")
            return self._slice_shape(index.start, index.stop)
        if isinstance(index, (int, np.integer)):
            return self._dimension(int(index))
        raise TypeError("Argument is not an int or a slice")

    def _slice_shape(self, start, stop):
        rank = self.rank
        if rank is None:
            raise ValueError("Rank must be known to slice a shape")
        start, stop, _ = slice(start, stop).indices(rank)
        if start == 0 and stop >= rank:
            return self
        if start:
            if not all(self.is_uniform(axis) for axis in range(stop)):
                raise ValueError("All relevant dimensions must be uniform")
            sizes = [self._dimension(axis) for axis in range(start, stop)]
            return self._from_inner_shape(_vector(sizes, self.dtype))
        if stop <= 0:
            return self._from_inner_shape(_vector([], self.dtype))
        if stop <= self.num_row_partitions:
            partitions = self._row_partitions[: stop - 1]
            nvals = self._row_partitions[stop - 1].nrows()
            return DynamicRaggedShape(partitions, EXPAND_DIMS(nvals, 0), self.dtype)
        kept = stop - self.num_row_partitions
        return DynamicRaggedShape(self._row_partitions, self._inner_shape[:kept], self.dtype)

    def _num_elements(self):
        """The number of elements, as a scalar tensor."""
        return PROD(self._inner_shape, [0])

    def _num_slices_in_dimension(self, axis):
        """How many rows (or elements) there are altogether in dimension `axis`, as a scalar tensor."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            if self.rank is None:
                raise ValueError("You can't use negative values if the rank is undefined")
            axis += self.rank
        if axis == 0:
            return self._dimension(0)
        if axis <= self.num_row_partitions:
            return self._row_partitions[axis - 1].nvals()
        return PROD(self._inner_shape[: axis - self.num_row_partitions + 1], [0])

    # The same shape in another form.

    def with_dtype(self, dtype) -> "DynamicRaggedShape":
        """This shape with int32 or int64 numbers."""
        dtype = dtypes.as_dtype(dtype)
        if dtype is self.dtype:
            return self
        return DynamicRaggedShape(self._row_partitions, self._inner_shape, dtype)

    def _with_num_row_partitions(self, num_row_partitions):
        """This shape with another number of partitions; uniform dimensions may be either.

        Raises:
            ValueError: when a ragged dimension would have to be dense.
        """
        rank = self.rank
        if rank is None:
            raise ValueError("Rank must be known to adjust num_row_partitions")
        if not isinstance(num_row_partitions, int):
            raise ValueError("num_row_partitions must be an int")
        if num_row_partitions < 0:
            raise ValueError("num_row_partitions must be nonnegative")
        have = self.num_row_partitions
        if num_row_partitions == have:
            return self
        if num_row_partitions > have:
            if num_row_partitions >= rank:
                raise ValueError("num_row_partitions must be less than rank if rank > 0")
            partitions, inner = list(self._row_partitions), self._inner_shape
            for _ in range(num_row_partitions - have):
                partitions.append(RowPartition.from_uniform_row_length(inner[1], nrows=inner[0], validate=False))
                inner = CONCAT([PROD(inner[:2], [0], keep_dims=True), inner[2:]], 0)
            return DynamicRaggedShape(partitions, inner, self.dtype)
        outer = []
        for axis in range(num_row_partitions, have):
            if not self._row_partitions[axis].is_uniform():
                raise ValueError("Cannot get an inner shape over a ragged dimension")
            outer.append(self._row_partitions[axis].uniform_row_length())
        first = self._row_partitions[num_row_partitions].nrows()
        inner = CONCAT([_vector([first, *outer], self.dtype), self._inner_shape[1:]], 0)
        return DynamicRaggedShape(self._row_partitions[:num_row_partitions], inner, self.dtype)

    def _with_inner_rank(self, inner_rank):
        """This shape with so many dense dimensions."""
        rank = self.rank
        if rank is None:
            raise ValueError("Rank must be known to adjust inner_rank")
        return self._with_num_row_partitions(rank - inner_rank)

    def _as_row_partitions(self):
        """Partitions for all dimensions but the first."""
        rank = self.rank
        if rank is None:
            raise ValueError("rank must be known for _as_row_partitions")
        if rank < 1:
            raise ValueError("rank must be >= 1 for _as_row_partitions")
        return self._with_num_row_partitions(rank - 1).row_partitions

    def _under(self, partitions):
        """This shape inside further partitions."""
        return DynamicRaggedShape([*partitions, *self._row_partitions], self._inner_shape, self.dtype)

    def _add_row_partitions(self, flat_values, validate=False):
        """A tensor or ragged tensor of this shape with the given flat values."""
        if validate and isinstance(flat_values, Tensor):
            require(
                ALL(EQUAL(dimensions(flat_values, self.dtype), self._inner_shape), [0]),
                "flat_values must have the inner shape",
            )
        if not self._row_partitions:
            return flat_values
        return RaggedTensor._from_nested_row_partitions(flat_values, self._row_partitions, validate=validate)

    def _filled(self):
        """A tensor or ragged tensor of this shape; what it holds does not matter."""
        return self._add_row_partitions(self._filled_values())

    def _filled_values(self):
        return FILL(self._inner_shape, to_tensor(False))

    def _merge_dims(self, outer_axis, inner_axis):
        """This shape with dimensions made one."""
        rank = self.rank
        outer_axis = normalized_axis(outer_axis, rank, "outer_axis")
        inner_axis = normalized_axis(inner_axis, rank, "inner_axis")
        if outer_axis > inner_axis:
            raise ValueError(f"outer_axis={outer_axis} must not exceed inner_axis={inner_axis}.")
        if outer_axis == inner_axis:
            return self
        have = self.num_row_partitions
        dense = max(0, inner_axis - max(outer_axis, have))
        inner = self._inner_shape
        if dense:
            at = max(0, outer_axis - have)
            product = PROD(inner[at : at + dense + 1], [0], keep_dims=True)
            factor = PROD(inner[1 : dense + 1], [0])
            inner = CONCAT([inner[:at], product, inner[at + dense + 1 :]], 0)
        if outer_axis == 0:
            return DynamicRaggedShape(self._row_partitions[min(inner_axis, have) :], inner, self.dtype)
        if outer_axis > have:
            return DynamicRaggedShape(self._row_partitions, inner, self.dtype)
        splits = self._row_partitions[outer_axis - 1].row_splits()
        for partition in self._row_partitions[outer_axis:inner_axis]:
            splits = GATHER_V2(partition.row_splits(), splits, 0)
        if dense:
            splits = MUL(splits, factor)
        merged = RowPartition.from_row_splits(splits, validate=False)
        partitions = [*self._row_partitions[: outer_axis - 1], merged, *self._row_partitions[inner_axis:]]
        return DynamicRaggedShape(partitions, inner, self.dtype)

    def _merge_with_spec(self, spec):
        """This shape, checked against a spec and with the uniform dimensions that the spec knows.

        Raises:
            ValueError: when they do not fit.
        """
        if self.num_row_partitions != spec.num_row_partitions or self.dtype is not spec.dtype:
            raise ValueError(f"{self} does not fit {spec}.")
        partitions = [own._merge_with_spec(other) for own, other in zip(self._row_partitions, spec._row_partitions)]
        return DynamicRaggedShape(
            partitions, self._inner_shape, self.dtype, static_inner_shape=spec._static_inner_shape
        )

    def _merge_with(self, other):
        """This shape with what `other`, an equal shape, knows besides.

        Raises:
            ValueError: when the two are seen to differ.
        """
        count = max(self.num_row_partitions, other.num_row_partitions)
        first, second = self._with_num_row_partitions(count), other._with_num_row_partitions(count)
        partitions = [a._merge_precomputed_encodings(b) for a, b in zip(first._row_partitions, second._row_partitions)]
        return DynamicRaggedShape(
            partitions, first._inner_shape, first.dtype, static_inner_shape=second._static_inner_shape
        )


def _is_length(part):
    if isinstance(part, (bool, np.bool_)):
        return False
    if isinstance(part, (int, np.integer)):
        return True
    return isinstance(part, (tuple, list)) and all(isinstance(n, (int, np.integer)) for n in part)


def _vector(numbers, dtype):
    """A vector of ints and scalar tensors."""
    if not numbers:
        return to_tensor(np.zeros(0, dtype._np))
    return PACK([to_tensor(n, dtype) if isinstance(n, int) else cast_to(n, dtype) for n in numbers])


def _static_dims(inner_shape):
    value = get_static_value(inner_shape)
    if value is not None:
        dims = np.asarray(value).tolist()
        if any(n < 0 for n in dims):
            raise errors.invalid_argument(f"DynamicRaggedShape: inner_shape must not be negative, got {dims}.")
        return TensorShape(dims)
    count = inner_shape.shape[0]
    return TensorShape(None if count is None else [None] * count)


def _with_nvals(partition, known, inner_shape):
    """The innermost partition, told the number of values by the inner shape."""
    if partition._has_precomputed_nvals():
        return partition
    if known.rank and known[0] is not None:
        nvals = partition.static_nvals
        return partition if nvals is not None else partition._with(nvals=to_tensor(known[0], partition.dtype))
    return partition


def _check_chain(partitions, inner_shape):
    """That each partition has as many rows as the one around it has values."""
    for outer, inner in zip(partitions, partitions[1:]):
        _require_equal(outer.nvals(), inner.nrows(), "RowPartitions do not align: nvals and nrows differ")
    _require_equal(partitions[-1].nvals(), inner_shape[0], "Last row partition does not match inner_shape")


def _require_equal(x, y, message):
    if type(x) is EagerTensor and type(y) is EagerTensor:
        require(bool(x._a == y._a), f"{message}: {x._a} and {y._a}")
    else:
        require(EQUAL(x, y), message)
