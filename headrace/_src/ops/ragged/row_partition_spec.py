"""`RowPartitionSpec`: the type of a `RowPartition`."""

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec
from headrace._src.op.convert import to_tensor

INDEX_TYPES = (dtypes.int32, dtypes.int64)
_row_partition: type = object


def register_row_partition(cls):
    """Tells this file the class whose values these specs describe."""
    global _row_partition
    _row_partition = cls


class RowPartitionSpec(TypeSpec):
    """The type of a `RowPartition`: numbers of rows and values as far as they are known.

    Args:
        nrows: the number of rows, or None.
        nvals: the number of values, or None.
        uniform_row_length: the length of all rows, or None.
        dtype: int32 or int64.

    Raises:
        ValueError: when the numbers contradict each other.
    """

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform_row_length")

    def __init__(self, nrows=None, nvals=None, uniform_row_length=None, dtype=dtypes.int64):
        nrows = TensorShape([nrows])[0]
        nvals = TensorShape([nvals])[0]
        uniform_row_length = TensorShape([uniform_row_length])[0]
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX_TYPES:
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {dtype!r}")
        if uniform_row_length is not None:
            nrows, nvals = _deduce(nrows, nvals, uniform_row_length)
        elif nrows == 0:
            if nvals not in (None, 0):
                raise ValueError(f"nvals={nvals} is not compatible with nrows=0")
            nvals = 0
        self._nrows = nrows
        self._nvals = nvals
        self._uniform_row_length = uniform_row_length
        self._dtype = dtype

    @property
    def value_type(self):
        return _row_partition

    @property
    def nrows(self):
        """The number of rows, or None."""
        return self._nrows

    @property
    def nvals(self):
        """The number of values, or None."""
        return self._nvals

    @property
    def uniform_row_length(self):
        """The length of all rows, or None."""
        return self._uniform_row_length

    @property
    def dtype(self):
        """int32 or int64."""
        return self._dtype

    def _serialize(self):
        # As shapes, so that the comparison of specs treats None as unknown.
        return (
            TensorShape([self._nrows]),
            TensorShape([self._nvals]),
            TensorShape([self._uniform_row_length]),
            self._dtype,
        )

    @classmethod
    def _deserialize(cls, serialization):
        nrows, nvals, uniform_row_length, dtype = serialization
        return cls(nrows[0], nvals[0], uniform_row_length[0], dtype)

    @property
    def _component_specs(self):
        return TensorSpec([None if self._nrows is None else self._nrows + 1], self._dtype)

    def _to_components(self, value):
        return value.row_splits()

    def _from_components(self, tensor):
        partition = _row_partition.from_row_splits(tensor, validate=False)
        if self._uniform_row_length is None:
            return partition
        return partition._with(uniform_row_length=to_tensor(self._uniform_row_length, self._dtype))

    @classmethod
    def from_value(cls, value):
        """The spec of a partition.

        Raises:
            ValueError: for anything else.
        """
        if not isinstance(value, _row_partition):
            raise ValueError("Expected `value` to be a `RowPartition`")
        return value._type_spec

    def _merge_with(self, other):
        """What both specs know.

        Raises:
            ValueError: when they contradict each other.
        """
        if self._dtype is not other._dtype:
            raise ValueError(f"RowPartitionSpecs have dtypes {self._dtype!r} and {other._dtype!r}")
        mine, theirs = self._serialize(), other._serialize()
        merged = [a.merge_with(b)[0] for a, b in zip(mine[:3], theirs[:3])]
        return RowPartitionSpec(*merged, self._dtype)

    def with_dtype(self, dtype):
        """This spec with another dtype."""
        return RowPartitionSpec(self._nrows, self._nvals, self._uniform_row_length, dtype)

    def __repr__(self):
        return (
            f"RowPartitionSpec(nrows={self._nrows}, nvals={self._nvals}, "
            f"uniform_row_length={self._uniform_row_length}, dtype={self._dtype!r})"
        )


def _deduce(nrows, nvals, length):
    """Numbers of rows and values of rows of one length, each from the other."""
    if nvals is None and nrows is not None:
        nvals = nrows * length
    elif nrows is None and nvals is not None and length:
        if nvals % length:
            raise ValueError(f"nvals={nvals} is not a multiple of uniform_row_length={length}")
        nrows = nvals // length
    elif length == 0 and nvals is None:
        nvals = 0
    if None not in (nrows, nvals) and nvals != nrows * length:
        raise ValueError(f"nvals={nvals} does not equal nrows={nrows} times uniform_row_length={length}")
    return nrows, nvals
