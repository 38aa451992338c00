"""The ways to make a `RaggedTensor`: values and how they are divided into rows, dense or sparse tensors."""

from typing import TYPE_CHECKING

from headrace._src.core import dtypes, errors
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import RANK
from headrace._src.ops.arrays.selecting import WHERE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM, MUL
from headrace._src.ops.math.comparison import EQUAL, LESS, NOT_EQUAL
from headrace._src.ops.math.reductions import ALL, ANY, MAX, PROD
from headrace._src.ops.ragged import row_arithmetic as rows
from headrace._src.ops.ragged.row_arithmetic import cast_to, dimensions, first_dimension, require
from headrace._src.ops.ragged.row_partition import RowPartition
from headrace._src.ops.sparse.tensor import SparseTensor

if TYPE_CHECKING:
    from headrace._src.ops.ragged.tensor import RaggedTensor


class RaggedConstruction:
    """The factory methods of `RaggedTensor`."""

    @classmethod
    def _from_row_partition(cls, values, row_partition, validate=True):
        """Values divided by a `RowPartition`."""
        if not isinstance(row_partition, RowPartition):
            raise TypeError(f"Argument `row_partition` must be a RowPartition. Received {row_partition!r}.")
        values, row_partition = cls._convert_values_and_partition(values, row_partition)
        if row_partition._has_precomputed_value_rowids():
            ids = row_partition.value_rowids()
            values.shape[:1].assert_is_compatible_with(ids.shape)
        if validate:
            what = "Arguments to _from_row_partition do not form a valid RaggedTensor"
            if values.shape.rank == 0:
                raise errors.invalid_argument(f"{what}: values must have at least one dimension, got a scalar.")
            nvals = values.nrows() if isinstance(values, cls) else first_dimension(values, row_partition.dtype)
            ends = row_partition.nvals()
            if type(nvals) is EagerTensor and type(ends) is EagerTensor:
                if nvals._a != ends._a:
                    raise errors.invalid_argument(f"{what}: the rows end at {ends._a} of {nvals._a} values.")
            else:
                require(EQUAL(cast_to(nvals, ends.dtype), ends), what)
        return cls(values=values, internal=True, row_partition=row_partition)

    @classmethod
    def _convert_values_and_partition(cls, values, row_partition):
        """Both as tensors whose positions have one dtype."""
        if not isinstance(values, (cls, Tensor)):
            if isinstance(values, CompositeTensor) and not hasattr(values, "dense_shape"):
                # Extension types that have rows, such as tf.experimental.StructuredTensor.
                return values, row_partition
            values = to_tensor(values)
        if isinstance(values, cls) and values._row_partition.dtype is not row_partition.dtype:
            raise ValueError(
                "Argument `row_partition` of RaggedTensor with name: partition must have same dtype as "
                f"Argument `values`. ({row_partition.dtype!r} vs. {values._row_partition.dtype!r})."
            )
        return values, row_partition

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True) -> "RaggedTensor":
        """Row i holds `values[row_splits[i]:row_splits[i + 1]]`.

        >>> tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 3, 3, 5])
        <tf.RaggedTensor [[3, 1, 4], [], [1, 5]]>

        Args:
            values: a tensor or ragged tensor.
            row_splits: int32 or int64 positions, ascending from 0 to the number of values.
            name: a name for the operation.
            validate: check the positions.
        """
        values = cls._values(values)
        partition = RowPartition.from_row_splits(row_splits, validate=validate, dtype_hint=_hint(values))
        return cls._from_row_partition(values, partition, validate=validate)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True) -> "RaggedTensor":
        """Row i holds the next `row_lengths[i]` values.

        >>> tf.RaggedTensor.from_row_lengths([3, 1, 4, 1, 5], [3, 0, 2])
        <tf.RaggedTensor [[3, 1, 4], [], [1, 5]]>
        """
        values = cls._values(values)
        partition = RowPartition.from_row_lengths(row_lengths, validate=validate, dtype_hint=_hint(values))
        return cls._from_row_partition(values, partition, validate=validate)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True) -> "RaggedTensor":
        """Row i begins at `values[row_starts[i]]` and ends where the next begins.

        >>> tf.RaggedTensor.from_row_starts([3, 1, 4, 1, 5], [0, 3, 3])
        <tf.RaggedTensor [[3, 1, 4], [], [1, 5]]>
        """
        values = cls._values(values)
        hint = _hint(values)
        own = getattr(row_starts, "dtype", None)
        nvals = _count(values, hint if own is None else dtypes.as_dtype(own))
        partition = RowPartition.from_row_starts(row_starts, nvals, validate=validate, dtype_hint=hint)
        return cls._from_row_partition(values, partition, validate=validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True) -> "RaggedTensor":
        """Row i begins where the one before ends, and ends before `values[row_limits[i]]`.

        >>> tf.RaggedTensor.from_row_limits([3, 1, 4, 1, 5], [3, 3, 5])
        <tf.RaggedTensor [[3, 1, 4], [], [1, 5]]>
        """
        values = cls._values(values)
        partition = RowPartition.from_row_limits(row_limits, validate=validate, dtype_hint=_hint(values))
        return cls._from_row_partition(values, partition, validate=validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True) -> "RaggedTensor":
        """Row i holds the values whose `value_rowids` are i.

        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4, 1, 5], [0, 0, 0, 2, 2])
        <tf.RaggedTensor [[3, 1, 4], [], [1, 5]]>

        Args:
            values: a tensor or ragged tensor.
            value_rowids: for each value its row, ascending.
            nrows: the number of rows; up to the last id if None.
            name: a name for the operation.
            validate: check the ids.
        """
        values = cls._values(values)
        partition = RowPartition.from_value_rowids(
            value_rowids, nrows=nrows, validate=validate, dtype_hint=_hint(values)
        )
        return cls._from_row_partition(values, partition, validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, values, uniform_row_length, nrows=None, validate=True, name=None
    ) -> "RaggedTensor":
        """Rows of one length.

        >>> tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape
        TensorShape([2, 2])

        Args:
            values: a tensor or ragged tensor.
            uniform_row_length: the length.
            nrows: the number of rows, needed when the length is 0.
            validate: check that the numbers fit.
            name: a name for the operation.
        """
        values = cls._values(values)
        own = next((x.dtype for x in (uniform_row_length, nrows) if isinstance(x, Tensor)), None)
        hint = _hint(values)
        partition = RowPartition.from_uniform_row_length(
            uniform_row_length,
            nvals=_count(values, own or hint),
            nrows=nrows,
            validate=validate,
            dtype_hint=hint,
        )
        return cls._from_row_partition(values, partition, validate=validate)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True
    ) -> "RaggedTensor":
        """`from_value_rowids` for several ragged dimensions, outermost first."""
        nested_value_rowids = _list_of(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        else:
            nested_nrows = _list_of(nested_nrows, "nested_nrows")
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError(
                    "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                    f"len(nested_nrows) = {len(nested_nrows)} vs. len(nested_values_rowids) = "
                    f"{len(nested_value_rowids)}."
                )
        result = flat_values
        for ids, nrows in reversed(list(zip(nested_value_rowids, nested_nrows))):
            result = cls.from_value_rowids(result, ids, nrows, validate=validate)
        return result

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True) -> "RaggedTensor":
        """`from_row_splits` for several ragged dimensions, outermost first.

        >>> tf.RaggedTensor.from_nested_row_splits([3, 1, 4], [[0, 1, 2], [0, 1, 3]]).to_list()
        [[[3]], [[1, 4]]]
        """
        result = flat_values
        for splits in reversed(_list_of(nested_row_splits, "nested_row_splits")):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True) -> "RaggedTensor":
        """`from_row_lengths` for several ragged dimensions, outermost first."""
        result = flat_values
        for lengths in reversed(_list_of(nested_row_lengths, "nested_row_lengths")):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result

    @classmethod
    def _from_nested_row_partitions(cls, flat_values, nested_row_partitions, name=None, validate=True):
        """Values divided by several partitions, outermost first."""
        result = flat_values
        for partition in reversed(_list_of(nested_row_partitions, "nested_row_partitions")):
            result = cls._from_row_partition(result, partition, validate=validate)
        return result

    @classmethod
    def _values(cls, values):
        if isinstance(values, (cls, Tensor)):
            return values
        if isinstance(values, CompositeTensor) and not hasattr(values, "dense_shape"):
            return values
        return to_tensor(values)

    # From other kinds of tensors.

    @classmethod
    def from_tensor(
        cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64
    ) -> "RaggedTensor":
        """A dense tensor as a ragged one, without what is beyond the lengths or equals the padding.

        >>> tf.RaggedTensor.from_tensor([[5, 7, 0], [0, 3, 0]], padding=0)
        <tf.RaggedTensor [[5, 7], [0, 3]]>
        >>> tf.RaggedTensor.from_tensor([[5, 7, 0], [0, 3, 0]], lengths=[1, 2])
        <tf.RaggedTensor [[5], [0, 3]]>

        Args:
            tensor: a tensor of rank `ragged_rank + 1` or more.
            lengths: row lengths, or a tuple of them for several ragged dimensions.
            padding: a value; rows end before the trailing elements that equal it.
            ragged_rank: the number of ragged dimensions of the result.
            name: a name for the operation.
            row_splits_dtype: int32 or int64.

        Raises:
            ValueError: when both lengths and padding are given, or ranks do not fit.
        """
        row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank!r}.")
        if ragged_rank <= 0:
            raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
        if isinstance(tensor, CompositeTensor):
            raise ValueError(f"from_tensor: tensor must be a dense tensor, got {type(tensor).__name__}.")
        tensor = to_tensor(tensor)
        if tensor.shape.rank is not None and tensor.shape.rank < 2:
            raise ValueError(
                "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have "
                f"ragged dimensions. Received argument `tensor` with rank {tensor.shape.rank}."
            )
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        if lengths is not None and _is_nested_lengths(lengths):
            return cls._from_nested_lengths(tensor, lengths, ragged_rank, row_splits_dtype)
        if ragged_rank > 1:
            return cls._from_tensor_nested(tensor, lengths, padding, ragged_rank, row_splits_dtype)
        shape = dimensions(tensor, row_splits_dtype)
        columns = shape[1]
        if lengths is None and padding is None:
            flat = _merged(tensor, shape, 2)
            partition = RowPartition.from_uniform_row_length(columns, nrows=shape[0], validate=False)
            return cls._from_row_partition(flat, partition, validate=False)
        if padding is not None:
            lengths = _lengths_without_padding(tensor, padding, row_splits_dtype)
        else:
            lengths = cast_to(to_tensor(lengths, hint=row_splits_dtype), row_splits_dtype)
            lengths.shape.assert_has_rank(1)
        zero = to_tensor(0, row_splits_dtype)
        lengths = MAXIMUM(MINIMUM(lengths, columns), zero)
        mask = LESS(
            RANGE(zero, columns, to_tensor(1, row_splits_dtype)), EXPAND_DIMS(lengths, -1)
        )
        kept = WHERE(RESHAPE(mask, [-1]))
        values = GATHER_V2(_merged(tensor, shape, 2), SQUEEZE(kept, squeeze_dims=[1]), 0)
        return cls.from_row_lengths(values, lengths, validate=False)

    @classmethod
    def _from_tensor_nested(cls, tensor, lengths, padding, ragged_rank, row_splits_dtype):
        """Several ragged dimensions: uniform outer ones around one that lengths or padding decide."""
        shape = dimensions(tensor, row_splits_dtype)
        inner = cls.from_tensor(
            _merged(tensor, shape, ragged_rank), lengths, padding, 1, row_splits_dtype=row_splits_dtype
        )
        for axis in reversed(range(1, ragged_rank)):
            inner = cls.from_uniform_row_length(inner, shape[axis], nrows=_product(shape, axis), validate=False)
        return inner

    @classmethod
    def _from_nested_lengths(cls, tensor, lengths, ragged_rank, row_splits_dtype):
        if ragged_rank not in (1, len(lengths)):
            raise ValueError(
                f"If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be "
                f"len(lengths): {len(lengths)}. Received ragged_rank: {ragged_rank}."
            )
        tensor.shape.with_rank_at_least(len(lengths) + 1)
        result = cls.from_tensor(tensor, lengths[0], row_splits_dtype=row_splits_dtype)
        if len(lengths) == 1:
            return result
        inner = cls._from_nested_lengths(result.values, lengths[1:], len(lengths) - 1, row_splits_dtype)
        return result.with_values(inner)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64) -> "RaggedTensor":
        """A sparse matrix as a ragged one; the values of each row must be in its first columns.

        >>> s = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [5, 6, 7], [3, 4])
        >>> tf.RaggedTensor.from_sparse(s)
        <tf.RaggedTensor [[5], [], [6, 7]]>

        Raises:
            ValueError: when the rank is not 2.
            InvalidArgumentError: when there are gaps in a row.
        """
        row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if not isinstance(st_input, SparseTensor):
            raise TypeError(
                f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}."
            )
        rank = st_input.shape.rank
        if rank is None and st_input.indices.shape.rank is not None:
            rank = st_input.indices.shape[1]
        if rank is None:
            raise ValueError("rank(st_input) must be known.")
        if rank != 2:
            raise ValueError("rank(st_input) must be 2.")
        ids, columns = st_input.indices[:, 0], st_input.indices[:, 1]
        nrows = st_input.dense_shape[0]
        message = "SparseTensor is not right-ragged"
        require(rows.is_ascending(ids), message, st_input.indices)
        require(rows.all_at_least(ids, 0), message, st_input.indices)
        require(rows.ends_below(ids, nrows), message, st_input.indices)
        splits = rows.splits_from_ids(ids, nrows)
        expected = rows.offsets(splits)
        require(ALL(EQUAL(columns, expected), [0]), message, st_input.indices)
        return cls.from_value_rowids(
            st_input.values,
            cast_to(ids, row_splits_dtype),
            nrows=cast_to(nrows, row_splits_dtype),
            validate=False,
        )


def _hint(values):
    """The dtype for positions when nothing else says: that of the values' own row splits."""
    partition = getattr(values, "_row_partition", None)
    return dtypes.int64 if partition is None else partition.dtype


def _count(values, dtype):
    if hasattr(values, "nrows"):
        return cast_to(values.nrows(), dtype)
    if values.shape.rank == 0:
        raise errors.invalid_argument("RaggedTensor: values must have at least one dimension, got a scalar.")
    return first_dimension(values, dtype)


def _list_of(value, name):
    if isinstance(value, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")
    return list(value)


def _is_nested_lengths(lengths):
    if not isinstance(lengths, (list, tuple)) or not lengths:
        return False
    return any(isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) for x in lengths)


def _product(shape, count):
    """The number of elements in the first dimensions, as a scalar tensor of the shape's dtype."""
    return PROD(shape[:count], [0])


def _merged(tensor, shape, count):
    """The tensor with its first `count` dimensions made one."""
    if tensor.shape.rank is None:
        merged = CONCAT([EXPAND_DIMS(_product(shape, count), 0), shape[count:]], 0)
        return RESHAPE(tensor, merged)
    dims = tensor.shape.as_list()
    outer = 1
    for n in dims[:count]:
        outer = None if outer is None or n is None else outer * n
    if outer is not None and None not in dims[count:]:
        return RESHAPE(tensor, [outer, *dims[count:]])
    parts = [EXPAND_DIMS(_product(shape, count), 0), shape[count:]]
    return RESHAPE(tensor, CONCAT(parts, 0))


def _lengths_without_padding(tensor, padding, dtype):
    """For each row: one more than the position of its last element that is not padding."""
    padding = to_tensor(padding, tensor.dtype)
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    real = NOT_EQUAL(tensor, padding)
    if tensor.shape.rank is None:
        inner = RANGE(2, RANK(tensor), 1)
    else:
        inner = list(range(2, tensor.shape.rank))
    real = ANY(real, inner) if inner is not None else real
    columns = dimensions(tensor, dtype)[1]
    numbers = RANGE(to_tensor(1, dtype), columns + to_tensor(1, dtype), to_tensor(1, dtype))
    # A padding of rank 0 stands for itself; where none is real, 0 is the largest.
    last = MUL(cast_to(real, dtype), numbers)
    return MAXIMUM(MAX(last, [1]), to_tensor(0, dtype))
