"""`tf.compat.v1.ragged.RaggedTensorValue`: the value of a ragged tensor as arrays."""

from typing import Any

import numpy as np

from headrace._src.op.api import api


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
