"""The methods of variables that change some of their rows."""

from typing import Any, Self

from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.gathering import in_batches
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.state import scatter


class ScatterMethods:
    """Changes rows, or slices, of the variable whose class has these methods."""

    _handle: Any

    def _convert(self, value):
        """The value as a tensor of the variable's dtype."""
        raise NotImplementedError

    def _scatter(self, op, sparse_delta, name):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta!r}")
        op(self._handle, sparse_delta.indices, self._convert(sparse_delta.values), name=name)
        return self

    def scatter_update(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Replace the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_UPDATE, sparse_delta, name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Add to the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_ADD, sparse_delta, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Subtract from the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_SUB, sparse_delta, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Multiply the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_MUL, sparse_delta, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Divide the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_DIV, sparse_delta, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Take the minimum with the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_MIN, sparse_delta, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Take the maximum with the rows that an `IndexedSlices` names."""
        return self._scatter(scatter.SCATTER_MAX, sparse_delta, name)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None) -> Self:
        """Replace rows batch by batch: `self[i, ..., indices[i, ..., j]] = values[i, ..., j]`."""
        full = in_batches(to_tensor(sparse_delta.indices))
        scatter.SCATTER_ND_UPDATE(self._handle, full, self._convert(sparse_delta.values), name=name)
        return self

    def _scatter_nd(self, op, indices, updates, name):
        op(self._handle, indices, self._convert(updates), name=name)
        return self

    def scatter_nd_update(self, indices, updates, name=None) -> Self:
        """Replace the slices at the index tuples `indices`."""
        return self._scatter_nd(scatter.SCATTER_ND_UPDATE, indices, updates, name)

    def scatter_nd_add(self, indices, updates, name=None) -> Self:
        """Add to the slices at the index tuples `indices`."""
        return self._scatter_nd(scatter.SCATTER_ND_ADD, indices, updates, name)

    def scatter_nd_sub(self, indices, updates, name=None) -> Self:
        """Subtract from the slices at the index tuples `indices`."""
        return self._scatter_nd(scatter.SCATTER_ND_SUB, indices, updates, name)

    def scatter_nd_min(self, indices, updates, name=None) -> Self:
        """Take the minimum with the slices at the index tuples `indices`."""
        return self._scatter_nd(scatter.SCATTER_ND_MIN, indices, updates, name)

    def scatter_nd_max(self, indices, updates, name=None) -> Self:
        """Take the maximum with the slices at the index tuples `indices`."""
        return self._scatter_nd(scatter.SCATTER_ND_MAX, indices, updates, name)
