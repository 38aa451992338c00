"""`tf.compat.v1.sparse_merge`: features and their values, as parsed from examples, become one sparse tensor."""

import numbers

from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import joining, shaping
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.sparse.arranging import reorder
from headrace._src.ops.sparse.tensor import SparseTensor


def _sizes(sp_ids, vocab_size):
    """The ids and the number of words of each, as lists."""
    if isinstance(sp_ids, SparseTensor):
        if vocab_size is None or not isinstance(vocab_size, (Tensor, numbers.Integral)):
            raise TypeError(f"sparse_merge: vocab_size must be an integer, got {vocab_size!r}.")
        return [sp_ids], [vocab_size]
    if not isinstance(sp_ids, (list, tuple)):
        raise TypeError(f"sparse_merge: sp_ids must be a SparseTensor or a list of such, got {sp_ids!r}.")
    if not isinstance(vocab_size, (list, tuple)):
        raise TypeError(f"sparse_merge: with a list of sp_ids, vocab_size must be one too, got {vocab_size!r}.")
    for size in vocab_size:
        if not isinstance(size, (Tensor, numbers.Integral)):
            raise TypeError(f"sparse_merge: vocab_size must be a list of integers, got {size!r} in it.")
    if len(sp_ids) != len(vocab_size):
        raise ValueError(f"sparse_merge: there are {len(sp_ids)} sp_ids, but {len(vocab_size)} in vocab_size.")
    return list(sp_ids), list(vocab_size)


@api("compat.v1.sparse_merge", "compat.v1.sparse.merge", dispatch=False)
def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False) -> SparseTensor:
    """A sparse tensor that has the values of `sp_values` at the columns that `sp_ids` names.

    Args:
        sp_ids: a sparse tensor of integers, or a list of such: then there is a dimension for each.
        sp_values: a sparse tensor with values at the same places.
        vocab_size: how many columns there are; of a list of ids, a list.
        name: a name for the operations.
        already_sorted: whether ids ascend in each row, so that nothing is sorted.

    Raises:
        TypeError, ValueError: an argument is wrong.

    >>> ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [3, 1, 0], [2, 2])
    >>> values = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 0.25, 1.0], [2, 2])
    >>> tf.sparse.to_dense(tf.compat.v1.sparse_merge(ids, values, 4)).numpy().tolist()
    [[0.0, 0.0, 0.0, 0.5], [1.0, 0.25, 0.0, 0.0]]
    """
    ids, sizes = _sizes(sp_ids, vocab_size)
    if not isinstance(sp_values, SparseTensor):
        raise TypeError(f"sparse_merge: sp_values must be a SparseTensor, got {sp_values!r}.")
    with name_scope(name or "SparseMerge"):
        first = ids[0]
        columns = [shaping.reshape(cast(each.values, dtypes.int64), [-1, 1]) for each in ids]
        places = joining.concat([first.indices[:, :-1], *columns], axis=1)
        counts = [shaping.reshape(cast(to_tensor(size), dtypes.int64), [1]) for size in sizes]
        shape = joining.concat([first.dense_shape[:-1], *counts], axis=0)
        merged = SparseTensor(places, sp_values.values, shape)
        return merged if already_sorted else reorder(merged)
