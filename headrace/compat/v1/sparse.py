"""The public names of `tf.compat.v1.sparse`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
    from headrace._src.compat.functions.arrays import sparse_add as _add
    from headrace._src.compat.functions.arrays import sparse_concat as _concat
    from headrace._src.compat.functions.arrays import sparse_reduce_max as _reduce_max
    from headrace._src.compat.functions.arrays import sparse_reduce_max_sparse as _reduce_max_sparse
    from headrace._src.compat.functions.arrays import sparse_reduce_sum as _reduce_sum
    from headrace._src.compat.functions.arrays import sparse_reduce_sum_sparse as _reduce_sum_sparse
    from headrace._src.compat.functions.arrays import sparse_segment_mean as _segment_mean
    from headrace._src.compat.functions.arrays import sparse_segment_sqrt_n as _segment_sqrt_n
    from headrace._src.compat.functions.arrays import sparse_segment_sum as _segment_sum
    from headrace._src.compat.functions.arrays import sparse_split as _split
    from headrace._src.compat.functions.sparse_values import sparse_merge as _merge
    from headrace._src.compat.sessions.session import sparse_placeholder as _placeholder
    from headrace._src.ops.sparse.arithmetic import mask as mask
    from headrace._src.ops.sparse.arithmetic import maximum as maximum
    from headrace._src.ops.sparse.arithmetic import minimum as minimum
    from headrace._src.ops.sparse.arranging import expand_dims as expand_dims
    from headrace._src.ops.sparse.arranging import reorder as reorder
    from headrace._src.ops.sparse.arranging import reset_shape as reset_shape
    from headrace._src.ops.sparse.arranging import reshape as reshape
    from headrace._src.ops.sparse.arranging import retain as retain
    from headrace._src.ops.sparse.arranging import transpose as transpose
    from headrace._src.ops.sparse.counting import bincount as bincount
    from headrace._src.ops.sparse.crossing import cross as cross
    from headrace._src.ops.sparse.crossing import cross_hashed as cross_hashed
    from headrace._src.ops.sparse.dense import eye as eye
    from headrace._src.ops.sparse.dense import from_dense as from_dense
    from headrace._src.ops.sparse.dense import to_dense as to_dense
    from headrace._src.ops.sparse.dense import to_indicator as to_indicator
    from headrace._src.ops.sparse.joining import slice as slice
    from headrace._src.ops.sparse.matmul import sparse_dense_matmul as _matmul
    from headrace._src.ops.sparse.matmul import sparse_dense_matmul as sparse_dense_matmul
    from headrace._src.ops.sparse.reductions import softmax as softmax
    from headrace._src.ops.sparse.rows import fill_empty_rows as fill_empty_rows
    from headrace._src.ops.sparse.tensor import SparseTensor as SparseTensor
    add = _add
    concat = _concat
    matmul = _matmul
    merge = _merge
    placeholder = _placeholder
    reduce_max = _reduce_max
    reduce_max_sparse = _reduce_max_sparse
    reduce_sum = _reduce_sum
    reduce_sum_sparse = _reduce_sum_sparse
    segment_mean = _segment_mean
    segment_sqrt_n = _segment_sqrt_n
    segment_sum = _segment_sum
    split = _split
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
