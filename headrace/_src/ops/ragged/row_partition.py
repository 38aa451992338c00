"""`RowPartition`: how a sequence of values is divided into rows, the building block of ragged tensors."""

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.math.arithmetic import MAXIMUM, MUL, SUB
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.division import FLOOR_DIV
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged import row_arithmetic as rows
from headrace._src.ops.ragged.row_arithmetic import cast_to, first_dimension, require, static_number
from headrace._src.ops.ragged.row_partition_spec import INDEX_TYPES as INDEX_TYPES
from headrace._src.ops.ragged.row_partition_spec import RowPartitionSpec as RowPartitionSpec
from headrace._src.ops.ragged.row_partition_spec import register_row_partition

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType

_INTERNAL = object()


def is_checked(validate) -> bool:
    """What the argument `validate` says."""
    if not isinstance(validate, (bool, np.bool_)):
        raise TypeError(f"validate must have type bool, got {type(validate).__name__}.")
    return bool(validate)


@api("experimental.RowPartition")
class RowPartition(CompositeTensor):
    """Divides `nvals` values into `nrows` consecutive rows, some of them possibly empty.

    Made by one of the `from_...` methods, by what is at hand:

    | encoding             | row i holds the values                              |
    |----------------------|-----------------------------------------------------|
    | `row_splits`         | from `row_splits[i]` up to `row_splits[i + 1]`      |
    | `row_lengths`        | the next `row_lengths[i]`                           |
    | `value_rowids`       | with `value_rowids[v] == i`                         |
    | `row_starts`         | from `row_starts[i]` to the start of the next row   |
    | `row_limits`         | from the end of the row before to `row_limits[i]`   |
    | `uniform_row_length` | the next `uniform_row_length`                       |

    >>> partition = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    >>> partition
    tf.RowPartition(row_splits=[0 2 2 3])
    >>> partition.value_rowids().numpy().tolist()
    [0, 0, 2]
    """

    def __init__(
        self,
        row_splits,
        row_lengths=None,
        value_rowids=None,
        nrows=None,
        uniform_row_length=None,
        nvals=None,
        internal=None,
    ) -> None:
        if internal is not _INTERNAL:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead "
                "(e.g., RowPartition.from_row_lengths())"
            )
        self._row_splits = row_splits
        # What else is known beforehand; None when it would have to be computed.
        self._row_lengths = row_lengths
        self._value_rowids = value_rowids
        self._nrows = nrows
        self._uniform_row_length = uniform_row_length
        self._nvals = nvals

    # Construction.

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None) -> "RowPartition":
        """From the row of each value, in ascending order.

        Args:
            value_rowids: 1-D integers.
            nrows: the number of rows; one more than the last id if None.
            validate: check the ids.
            dtype: int32 or int64; by default that of the arguments, int64 for Python lists.
            dtype_hint: used when neither `dtype` nor the arguments say.

        Raises:
            ValueError: when `nrows` is negative or too small for the ids.
            InvalidArgumentError: when the ids are negative or not sorted.
        """
        value_rowids, nrows = _convert({"value_rowids": value_rowids, "nrows": nrows}, dtype, dtype_hint)
        value_rowids.shape.assert_has_rank(1)
        if nrows is None:
            nrows = rows.count_from_ids(value_rowids)
        else:
            nrows.shape.assert_has_rank(0)
            _check_row_count(nrows, value_rowids)
        if is_checked(validate):
            what = "Arguments to from_value_rowids do not form a valid RowPartition"
            require(rows.is_ascending(value_rowids), f"{what}: value_rowids must be ascending", value_rowids)
            require(rows.starts_at_least(value_rowids, 0), f"{what}: value_rowids must be >= 0", value_rowids)
            require(rows.ends_below(value_rowids, nrows), f"{what}: value_rowids must be < nrows", value_rowids)
        splits = rows.splits_from_ids(value_rowids, nrows)
        return cls(splits, value_rowids=value_rowids, nrows=nrows, internal=_INTERNAL)

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None) -> "RowPartition":
        """From the positions at which rows begin and end: `0`, then one for each row, in ascending order.

        Raises:
            ValueError: when there is no position at all, or they are not a vector of int32 or int64.
            InvalidArgumentError: when they do not begin with 0 or are not sorted.
        """
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        if isinstance(row_splits, TensorSpec):
            return cls(row_splits, internal=_INTERNAL)
        (row_splits,) = _convert({"row_splits": row_splits}, dtype, dtype_hint)
        row_splits.shape.assert_has_rank(1)
        if is_checked(validate):
            what = "Arguments to from_row_splits do not form a valid RaggedTensor"
            require(rows.is_not_empty(row_splits), f"{what}: row_splits may not be empty", row_splits)
            require(rows.starts_with_zero(row_splits), f"{what}: zero, row_splits[0] must be 0", row_splits)
            require(rows.is_ascending(row_splits), f"{what}: monotonic, row_splits must be ascending", row_splits)
        return cls(row_splits, internal=_INTERNAL)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None) -> "RowPartition":
        """From the length of each row.

        Raises:
            InvalidArgumentError: when a length is negative.
        """
        (row_lengths,) = _convert({"row_lengths": row_lengths}, dtype, dtype_hint)
        row_lengths.shape.assert_has_rank(1)
        if is_checked(validate):
            require(
                rows.all_at_least(row_lengths, 0),
                "Arguments to from_row_lengths do not form a valid RowPartition: row_lengths must be >= 0",
                row_lengths,
            )
        splits = rows.splits_from_lengths(row_lengths)
        return cls(splits, row_lengths=row_lengths, internal=_INTERNAL)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None) -> "RowPartition":
        """From the position at which each row begins, and the number of values.

        Raises:
            InvalidArgumentError: when they do not begin with 0, are not sorted, or exceed `nvals`.
        """
        row_starts, nvals = _convert({"row_starts": row_starts, "nvals": nvals}, dtype, dtype_hint)
        row_starts.shape.assert_has_rank(1)
        if is_checked(validate):
            what = "Arguments to from_row_starts do not form a valid RaggedTensor"
            require(rows.starts_with_zero(row_starts), f"{what}: row_starts[0] must be 0", row_starts)
            require(rows.is_ascending(row_starts), f"{what}: row_starts must be ascending", row_starts)
            require(rows.ends_at_most(row_starts, nvals), f"{what}: row_starts must be <= nvals", row_starts)
        return cls(rows.appended(row_starts, nvals), nvals=nvals, internal=_INTERNAL)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None) -> "RowPartition":
        """From the position at which each row ends.

        Raises:
            InvalidArgumentError: when they are negative or not sorted.
        """
        (row_limits,) = _convert({"row_limits": row_limits}, dtype, dtype_hint)
        row_limits.shape.assert_has_rank(1)
        if is_checked(validate):
            what = "Arguments to from_row_limits do not form a valid RaggedTensor"
            require(rows.starts_at_least(row_limits, 0), f"{what}: row_limits must be >= 0", row_limits)
            require(rows.is_ascending(row_limits), f"{what}: row_limits must be ascending", row_limits)
        return cls(rows.prepended(row_limits, 0), internal=_INTERNAL)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None
    ) -> "RowPartition":
        """Rows of one length.

        Args:
            uniform_row_length: the length of every row.
            nvals: the number of values.
            nrows: the number of rows; needed when the length is 0, since any number of rows fits then.
            validate: check that `nrows * uniform_row_length == nvals`.
            dtype: int32 or int64.
            dtype_hint: used when neither `dtype` nor the arguments say.

        Raises:
            ValueError: when `nvals` and `nrows` are None, the length is negative, or the numbers disagree.
        """
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        uniform_row_length, nvals, nrows = _convert(
            {"uniform_row_length": uniform_row_length, "nvals": nvals, "nrows": nrows}, dtype, dtype_hint
        )
        uniform_row_length.shape.assert_has_rank(0)
        length = static_number(uniform_row_length)
        if length is not None and length < 0:
            raise ValueError("uniform_row_length must be >= 0.")
        given_rows = nrows is not None
        if nvals is None:
            nvals = MUL(nrows, uniform_row_length)
        if nrows is None:
            # TF: no values in rows without any are no rows.
            if length is not None:
                nrows = FLOOR_DIV(nvals, to_tensor(max(length, 1), nvals.dtype))
            else:
                nrows = FLOOR_DIV(nvals, MAXIMUM(uniform_row_length, _one(nvals)))
        static_rows, static_vals = static_number(nrows), static_number(nvals)
        if static_rows is not None and static_rows < 0:
            raise ValueError(f"Expected nrows >= 0; got {static_rows}")
        validate = is_checked(validate)
        if validate or not given_rows:
            if None not in (length, static_rows, static_vals):
                if length * static_rows != static_vals:
                    raise ValueError(
                        f"uniform_row_length={length} times nrows={static_rows} must equal nvals={static_vals}"
                    )
            elif validate:
                product = MUL(nrows, uniform_row_length)
                require(
                    EQUAL(product, nvals),
                    "from_uniform_row_length: uniform_row_length times nrows must equal nvals",
                    product,
                )
        splits = rows.uniform_splits(nrows, uniform_row_length)
        return cls(splits, nrows=nrows, uniform_row_length=uniform_row_length, nvals=nvals, internal=_INTERNAL)

    @classmethod
    def _convert_row_partition(cls, partition, name, dtype=None, dtype_hint=None):
        """A partition as it is, cast if need be; anything else as row splits."""
        if isinstance(partition, RowPartition):
            return partition if dtype is None else partition.with_dtype(dtype)
        return cls.from_row_splits(partition, dtype=dtype, dtype_hint=dtype_hint)

    # What is known without looking at values.

    @property
    def dtype(self) -> "DType":
        """int32 or int64: the dtype of all encodings."""
        return self._row_splits.dtype

    @property
    def static_nrows(self) -> int | None:
        """The number of rows if it is known while tracing, else None."""
        positions = self._row_splits.shape[0] if self._row_splits.shape.rank else None
        if positions is not None:
            return positions - 1
        if self._row_lengths is not None and self._row_lengths.shape[0] is not None:
            return self._row_lengths.shape[0]
        return static_number(self._nrows)

    @property
    def static_nvals(self) -> int | None:
        """The number of values if it is known without computing it, else None."""
        if self._nvals is not None:
            known = static_number(self._nvals)
            if known is not None:
                return known
        if self._value_rowids is not None:
            return self._value_rowids.shape[0]
        return None

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of all rows if it is known to be one and while tracing, else None."""
        return static_number(self._uniform_row_length)

    def is_uniform(self) -> bool:
        """Whether this partition was made with one length for all rows."""
        return self._uniform_row_length is not None

    # Encodings.

    def row_splits(self) -> Tensor:
        """`nrows + 1` positions: row i is from `row_splits[i]` up to `row_splits[i + 1]`."""
        return self._row_splits

    def value_rowids(self) -> Tensor:
        """The row of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        return rows.ids_from_splits(self._row_splits)

    def nvals(self) -> Tensor:
        """The number of values, as a scalar tensor."""
        if self._nvals is not None:
            return self._nvals
        if self._value_rowids is not None:
            return first_dimension(self._value_rowids, self.dtype)
        return self._row_splits[-1]

    def nrows(self) -> Tensor:
        """The number of rows, as a scalar tensor."""
        if self._nrows is not None:
            return self._nrows
        known = self.static_nrows
        if known is not None:
            return to_tensor(known, self.dtype)
        return SUB(first_dimension(self._row_splits, self.dtype), _one(self._row_splits))

    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows as a scalar tensor, or None if it is not known to be one."""
        return self._uniform_row_length

    def row_starts(self) -> Tensor:
        """The position at which each row begins."""
        return self._row_splits[:-1]

    def row_limits(self) -> Tensor:
        """The position at which each row ends."""
        return self._row_splits[1:]

    def row_lengths(self) -> Tensor:
        """The length of each row."""
        if self._row_lengths is not None:
            return self._row_lengths
        return SUB(self._row_splits[1:], self._row_splits[:-1])

    def offsets_in_rows(self) -> Tensor:
        """The place of each value within its row.

        >>> tf.experimental.RowPartition.from_row_lengths([2, 0, 3]).offsets_in_rows().numpy().tolist()
        [0, 1, 0, 1, 2]
        """
        return rows.offsets(self._row_splits)

    def with_dtype(self, dtype) -> "RowPartition":
        """This partition with its encodings cast to int32 or int64.

        Raises:
            ValueError: for any other dtype.
        """
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX_TYPES:
            raise ValueError(f"Argument `dtype` must be int32 or int64. Received {dtype!r}.")
        if dtype is self.dtype:
            return self
        return RowPartition(
            *(
                cast_to(part, dtype)
                for part in (
                    self._row_splits,
                    self._row_lengths,
                    self._value_rowids,
                    self._nrows,
                    self._uniform_row_length,
                    self._nvals,
                )
            ),
            internal=_INTERNAL,
        )

    def __repr__(self):
        if self._uniform_row_length is not None:
            return f"tf.RowPartition(nrows={_text(self.nrows())}, uniform_row_length={_text(self._uniform_row_length)})"
        return f"tf.RowPartition(row_splits={_text(self._row_splits)})"

    # Encodings that are known beforehand.

    def _has_precomputed_value_rowids(self):
        return self._value_rowids is not None

    def _has_precomputed_nvals(self):
        return self._nvals is not None

    def _with(self, **encodings):
        """The same partition, with more encodings known."""
        known = {
            "row_lengths": self._row_lengths,
            "value_rowids": self._value_rowids,
            "nrows": self._nrows,
            "uniform_row_length": self._uniform_row_length,
            "nvals": self._nvals,
        }
        return RowPartition(self._row_splits, **(known | encodings), internal=_INTERNAL)

    def _merge_precomputed_encodings(self, other, validate=True):
        """This partition with what `other`, an equal partition, knows besides.

        Raises:
            ValueError: when the two are seen to differ.
        """
        if self is other or (
            self._row_splits is other._row_splits
            and self._row_lengths is other._row_lengths
            and self._value_rowids is other._value_rowids
            and self._nrows is other._nrows
            and self._uniform_row_length is other._uniform_row_length
        ):
            return self
        for what in ("static_nrows", "static_nvals", "static_uniform_row_length"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if None not in (mine, theirs) and mine != theirs:
                raise ValueError(f"RowPartitions are incompatible: {what[7:]} is {mine} and {theirs}.")
        if validate and self._row_splits is not other._row_splits:
            same = _same_values(self._row_splits, other._row_splits)
            require(same, "RowPartitions are incompatible: row_splits differ", self._row_splits)
        merged = {
            name: getattr(self, f"_{name}") if getattr(self, f"_{name}") is not None else getattr(other, f"_{name}")
            for name in ("row_lengths", "value_rowids", "nrows", "uniform_row_length", "nvals")
        }
        return self._with(**merged)

    def _merge_with_spec(self, spec):
        """This partition, checked against a spec and with the uniform row length that the spec knows.

        Raises:
            ValueError: when they do not fit.
        """
        if self.dtype is not spec.dtype:
            raise ValueError("RowPartition and RowPartitionSpec are not compatible: dtype")
        own = self._type_spec
        merged = own._merge_with(spec)
        if merged.uniform_row_length is None or own.uniform_row_length is not None:
            return self
        if merged.nrows is not None:
            return RowPartition.from_uniform_row_length(
                merged.uniform_row_length,
                nrows=merged.nrows,
                nvals=merged.nvals,
                dtype=self.dtype,
                validate=False,
            )
        return self._with(uniform_row_length=to_tensor(merged.uniform_row_length, self.dtype))

    @property
    def _type_spec(self):
        return RowPartitionSpec(self.static_nrows, self.static_nvals, self.static_uniform_row_length, self.dtype)

    def _gradient_components(self):
        return []

    def _with_gradient_components(self, grads):
        return None


def _convert(values: dict, dtype, hint):
    """The encodings as tensors of one dtype (None stays None).

    The first tensor or array among them decides, unless `dtype` is given.
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    hint = dtypes.int64 if hint is None else dtypes.as_dtype(hint)
    wanted = dtype
    if wanted is None:
        for name, value in values.items():
            own = getattr(value, "dtype", None)
            if own is not None and not isinstance(value, (int, float)):
                wanted = dtypes.as_dtype(own)
                if wanted not in INDEX_TYPES:
                    raise ValueError(f"{name} must have dtype int32 or int64, got {wanted.name}.")
                break
    tensors = []
    for name, value in values.items():
        if value is None:
            tensors.append(None)
            continue
        try:
            tensor = to_tensor(value, wanted, hint=hint)
        except (TypeError, ValueError) as error:
            if _holds_floats(value):
                raise ValueError(f"{name} must have dtype int32 or int64") from None
            raise type(error)(f"{name}: {error}") from None
        if tensor.dtype not in INDEX_TYPES:
            raise ValueError(f"{name} must have dtype int32 or int64")
        if wanted is None and isinstance(value, Tensor):
            wanted = tensor.dtype
        tensors.append(tensor)
    return tensors


def _holds_floats(value):
    return not isinstance(value, Tensor) and np.asarray(value).dtype.kind == "f"


def _check_row_count(nrows, value_rowids):
    count = static_number(nrows)
    if count is None:
        return
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if type(value_rowids) is EagerTensor and value_rowids._a.size:
        last = int(value_rowids._a[-1])
        if count < last + 1:
            raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}")


def _one(like):
    return to_tensor(1, like.dtype)


def _text(tensor):
    if type(tensor) is EagerTensor:
        return str(tensor._a)
    return str(tensor)


def _same_values(x, y):
    if type(x) is EagerTensor and type(y) is EagerTensor:
        return bool(np.array_equal(x._a, y._a))
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"RowPartitions are incompatible: row_splits have shapes {x.shape} and {y.shape}.")
    return ALL(EQUAL(x, y), [0])


register_row_partition(RowPartition)
