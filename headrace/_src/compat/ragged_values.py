"""`tf.compat.v1.ragged.RaggedTensorValue`: the value of a ragged tensor as arrays, and how to make one of lists."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.op.api import api
from headrace._src.ops.ragged.constant import constant
from headrace._src.ops.ragged.tensor import RaggedTensor


@api("compat.v1.ragged.RaggedTensorValue", dispatch=False)
class RaggedTensorValue:
    """The values of all rows after another, and where rows begin and end.

    Args:
        values: an array, or another `RaggedTensorValue`.
        row_splits: a vector of integers, one more than there are rows.

    >>> tf.compat.v1.ragged.RaggedTensorValue(np.array([3, 1, 4]), np.array([0, 2, 2, 3])).to_list()
    [[3, 1], [], [4]]
    """

    def __init__(self, values, row_splits) -> None:
        kinds = (np.int64, np.int32)
        if not (isinstance(row_splits, np.ndarray) and row_splits.dtype in kinds and row_splits.ndim == 1):
            raise TypeError(f"row_splits must be a vector of int32 or int64 in an array, got {row_splits!r}.")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError(f"values must be an array or a RaggedTensorValue, got {values!r}.")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype.")
        self._values, self._row_splits = values, row_splits

    @property
    def values(self) -> Any:
        """The values of all rows."""
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        """Where rows begin and end."""
        return self._row_splits

    @property
    def flat_values(self) -> np.ndarray:
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """The row splits of all ragged dimensions, from the outside."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, with None for ragged dimensions."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self) -> list:
        """The rows as nested lists."""
        values = self._values
        rows = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        return [rows[start:end] for start, end in zip(self._row_splits[:-1], self._row_splits[1:])]

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"


@api("compat.v1.ragged.constant_value", dispatch=False)
def constant_value(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"
) -> "RaggedTensorValue | np.ndarray":
    """The value of a ragged tensor from a nested list; an array if nothing is ragged.

    Args:
        pylist: nested lists, tuples or arrays; all scalars must be at the same depth.
        dtype: NumPy's type of the values; chosen from the scalars if None.
        ragged_rank: the number of ragged dimensions; as many as there can be if None.
        inner_shape: the shape of the dense dimensions inside the ragged ones.
        row_splits_dtype: int32 or int64.

    Raises:
        ValueError: the scalars are at different depths, or depth, rank and shape do not fit together.

    >>> tf.compat.v1.ragged.constant_value([[3, 1], [], [4]]).row_splits.tolist()
    [0, 2, 2, 3]
    """
    if dtype is None:
        # TF: NumPy chooses, so that numbers of Python have 64 bits here.
        dtype = np.asarray(_scalars(pylist)).dtype
    kind = np.dtype(dtype)
    with context.changed(graph=None):
        found = constant(pylist, dtypes.as_dtype(kind if kind.kind not in "USO" else "string"), ragged_rank,
                         inner_shape, row_splits_dtype=row_splits_dtype)
    return _as_value(found, kind)


def _scalars(values):
    """What nested lists hold, in a row."""
    if isinstance(values, np.ndarray):
        return values.ravel().tolist() if values.dtype == object else list(values.ravel())
    if isinstance(values, (list, tuple)):
        return [scalar for item in values for scalar in _scalars(item)]
    return [values]


def _as_value(found, kind):
    if isinstance(found, RaggedTensor):
        return RaggedTensorValue(_as_value(found.values, kind), found.row_splits.numpy())
    array = found.numpy()
    if kind.kind == "U":
        return np.array([text.decode() for text in array.ravel()], kind).reshape(array.shape)
    return np.asarray(array, kind)
