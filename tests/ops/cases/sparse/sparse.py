"""Rows of sparse tensors and `tf.sparse`."""

import re

from rows import COMPLEXES, FLOATS, INTS, SIGNED, each, integers, normal, row, uniform, value

_SHORT = {
    "S": "tf.SparseTensor",
    "sa": "tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], [2, 3])",
    "sb": "tf.SparseTensor([[0, 0], [1, 0]], [5.0, -2.0], [2, 3])",
}


def _written_out(code):
    """The code of a row with the short names replaced by what they stand for."""
    pattern = "|".join(rf"\b{name}\b" for name in _SHORT)
    return re.sub(pattern, lambda match: _SHORT[match[0]], code)


def _lines(text, **options):
    return [row(_written_out(line), **options) for line in text.strip().splitlines()]


_VALUES = """
tf.raw_ops.SparseToDense(sparse_indices=[[0, 1], [0, 1]], output_shape=[2, 3], sparse_values=[1, 2], \
default_value=0)
tf.raw_ops.SparseToDense(sparse_indices=[[0, 1], [0, 1]], output_shape=[2, 3], sparse_values=[1, 2], \
default_value=0, validate_indices=False)
tf.raw_ops.SparseToDense(sparse_indices=[[1, 1], [0, 1]], output_shape=[2, 3], sparse_values=[1, 2], \
default_value=0)
tf.raw_ops.SparseToDense(sparse_indices=[[1, 1], [0, 1]], output_shape=[2, 3], sparse_values=[1, 2], \
default_value=0, validate_indices=False)
tf.raw_ops.SparseToDense(sparse_indices=[[1, 1], [2, 1]], output_shape=[2, 3], sparse_values=[1, 2], \
default_value=0)
tf.raw_ops.SparseToDense(sparse_indices=[[1, 1], [2, 1]], output_shape=[2, 3], sparse_values=[1, 2], \
default_value=0, validate_indices=False)
tf.raw_ops.SparseToDense(sparse_indices=1, output_shape=[3], sparse_values=5, default_value=0)
tf.raw_ops.SparseToDense(sparse_indices=[0, 2], output_shape=[3], sparse_values=5, default_value=1)
tf.raw_ops.SparseToDense(sparse_indices=[0, 2], output_shape=[3, 2], sparse_values=5, default_value=1)
tf.raw_ops.SparseToDense(sparse_indices=[[0], [2]], output_shape=[3], sparse_values=[5, 6, 7], default_value=1)
tf.raw_ops.SparseToDense(sparse_indices=[[0], [2]], output_shape=[3], sparse_values=[5, 6], default_value=[1])
tf.raw_ops.SparseToDense(sparse_indices=[[[0]]], output_shape=[3], sparse_values=[5], default_value=1)
tf.raw_ops.SparseToDense(sparse_indices=[[0]], output_shape=3, sparse_values=[5], default_value=1)
tf.raw_ops.SparseToDense(sparse_indices=[[0]], output_shape=[-3], sparse_values=[5], default_value=1)
tf.sparse.to_dense(S([[1, 0], [0, 0]], [1, 2], [2, 2]))
tf.sparse.to_dense(S([[1, 0], [0, 0]], ['a', 'b'], [2, 2]), validate_indices=False)
tf.sparse.to_dense(S([[1, 0]], ['a'], [2, 2]), default_value='z')
tf.sparse.to_dense(sa, default_value=7)
tf.sparse.to_dense(sa, default_value=[7])
tf.sparse.to_dense(tf.constant([1]))
tf.sparse.reorder(S([[5, 9], [0, 0]], [1, 2], [2, 2]))
tf.raw_ops.SparseReorder(input_indices=[[1, 0], [0, 1]], input_values=[1], input_shape=[2, 2])
tf.raw_ops.SparseReorder(input_indices=[1, 0], input_values=[1, 2], input_shape=[2])
tf.sparse.reshape(sa, [3, 2])
tf.sparse.reshape(sa, [-1])
tf.sparse.reshape(sa, [4, 2])
tf.sparse.reshape(sa, [-1, -1])
tf.sparse.reshape(sa, [-1, 4])
tf.sparse.reshape(sa, [[3, 2]])
tf.raw_ops.SparseReshape(input_indices=[[0, 5]], input_shape=[2, 3], new_shape=[3, 2])
tf.raw_ops.SparseReshape(input_indices=[[0, -5]], input_shape=[2, 3], new_shape=[3, 2])
tf.raw_ops.SparseReshape(input_indices=[[0, 0]], input_shape=[2, 3], new_shape=[4, 2])
tf.raw_ops.SparseReshape(input_indices=[[0, 0]], input_shape=[2, 3, 1], new_shape=[3, 2])
tf.raw_ops.SparseReshape(input_indices=np.zeros([0, 2], np.int64), input_shape=[0, 3], new_shape=[-1, 2])
tf.raw_ops.SparseReshape(input_indices=np.zeros([0, 2], np.int64), input_shape=[0, 3], new_shape=[-1, 0])
tf.raw_ops.SparseReshape(input_indices=[[0, 0]], input_shape=[2, 3], new_shape=[-2, -3])
tf.sparse.concat(1, [sa, sb])
tf.sparse.concat(0, [sa, sb])
tf.sparse.concat(-1, [sa, sb])
tf.sparse.concat(2, [sa, sb])
tf.sparse.concat(0, [sa])
tf.sparse.concat(0, [])
tf.sparse.concat(0, [sa, S([[0, 0]], [1.], [1, 4])])
tf.sparse.concat(0, [sa, S([[0, 0]], [1.], [1, 4])], expand_nonconcat_dims=True)
tf.sparse.concat(0, [sa, S([[0]], [1.], [4])])
tf.sparse.concat(0, [sa, S([[0, 0]], [1], [1, 3])])
tf.sparse.split(sa, 2, 1)
tf.sparse.split(sa, 3, 1)
tf.sparse.split(sa, 4, 1)
tf.sparse.split(sa, 0, 1)
tf.sparse.split(sa, 2, 5)
tf.sparse.split(sa, 2, -1)
tf.sparse.slice(sa, [0, 1], [2, 2])
tf.sparse.slice(sa, [1, 1], [5, 5])
tf.sparse.slice(sa, [3, 1], [5, 5])
tf.sparse.slice(sa, [-1, 1], [5, 5])
tf.sparse.slice(sa, [0, 1], [-1, 2])
tf.sparse.slice(sa, [0], [1])
tf.sparse.reduce_sum(sa)
tf.sparse.reduce_sum(sa, axis=[])
tf.sparse.reduce_sum(sa, axis=0)
tf.sparse.reduce_sum(sa, axis=[0, 1], keepdims=True)
tf.sparse.reduce_sum(sa, axis=-1, keepdims=True)
tf.sparse.reduce_sum(sa, axis=5)
tf.sparse.reduce_sum(sa, axis=1, output_is_sparse=True)
tf.sparse.reduce_sum(sa, output_is_sparse=True)
tf.sparse.reduce_sum(sa, axis=[0, 0])
tf.sparse.reduce_sum(sa, axis=[0, -2])
tf.sparse.reduce_sum(sa, axis=1, output_is_sparse=True, keepdims=True)
tf.sparse.reduce_sum(S([[1, 1], [0, 1]], [1., 2.], [2, 2]), axis=0)
tf.sparse.reduce_sum(S([[1, 1], [0, 1]], [1., 2.], [2, 2]), axis=1)
tf.sparse.reduce_sum(S([[1, 1], [0, 1]], [1., 2.], [2, 2]), axis=1, output_is_sparse=True)
tf.sparse.reduce_sum(S([[1, 5], [0, 1]], [1., 2.], [2, 2]), axis=1)
tf.sparse.reduce_max(S([[0, 1], [1, 1]], [-1., -2.], [3, 2]), axis=1)
tf.sparse.reduce_max(S([[0, 1], [1, 1]], [-1., -2.], [3, 2]), axis=1, output_is_sparse=True)
tf.sparse.reduce_max(S(np.zeros([0, 2], np.int64), np.zeros(0), [3, 2]), axis=1)
tf.sparse.reduce_sum(S(np.zeros([0, 2], np.int64), np.zeros(0), [3, 2]), axis=1, output_is_sparse=True)
tf.sparse.reduce_sum(S([[0, 1], [0, 1]], [1., 2.], [2, 2]), axis=1)
tf.sparse.add(sa, sb)
tf.sparse.add(sa, sb, threshold=2.5)
tf.sparse.add(sa, tf.ones([2, 3]))
tf.sparse.add(tf.ones([2, 3]), sa)
tf.sparse.add(sa, tf.ones([3]))
tf.sparse.add(sa, S([[0, 1]], [1.], [2, 4]))
tf.sparse.add(sa, S([[0]], [1.], [2]))
tf.sparse.add(sa, sa, threshold='a')
tf.sparse.add(tf.ones([2, 3]), tf.ones([2, 3]))
tf.sparse.add(sa, S([[0, 1]], [1], [2, 3]))
tf.raw_ops.SparseTensorDenseAdd(a_indices=[[5, 1]], a_values=[1.], a_shape=[2, 3], b=tf.ones([2, 3]))
tf.raw_ops.SparseTensorDenseAdd(a_indices=[[0, 1], [0, 1]], a_values=[1., 2.], a_shape=[2, 3], b=tf.ones([2, \
3]))
tf.raw_ops.SparseTensorDenseAdd(a_indices=[[0, 1]], a_values=[1.], a_shape=[2, 3], b=tf.ones([3]))
tf.sparse.maximum(sa, sb)
tf.sparse.minimum(sa, sb)
tf.sparse.maximum(sa, S([[0, 1]], [1.], [2, 4]))
tf.sparse.maximum(sa, S([[0]], [1.], [2]))
tf.sparse.softmax(sa)
tf.sparse.softmax(S([[0]], [1.], [2]))
tf.sparse.softmax(S([[0, 0], [0, 1]], [1, 2], [2, 2]))
tf.sparse.softmax(S([[1, 0], [0, 1]], [1., 2.], [2, 2]))
tf.sparse.fill_empty_rows(S([[0, 1], [2, 0]], [1, 2], [4, 3]), -1)
tf.sparse.fill_empty_rows(S([[2, 1], [0, 0]], [1, 2], [4, 3]), -1)
tf.sparse.fill_empty_rows(S([[0, 1], [5, 0]], [1, 2], [4, 3]), -1)
tf.sparse.fill_empty_rows(S(np.zeros([0, 2], np.int64), np.zeros(0), [0, 3]), -1)
tf.sparse.fill_empty_rows(S(np.zeros([0, 2], np.int64), np.zeros(0), [2, 3]), -1)
tf.sparse.fill_empty_rows(S([[0, 1], [0, 0]], [1, 2], [0, 3]), -1)
tf.sparse.fill_empty_rows(S([[0, 1], [2, 0]], [1, 2], [4, 3]), [1])
tf.sparse.fill_empty_rows(S([[0], [2]], ['a', 'b'], [4]), 'z')
tf.raw_ops.SparseFillEmptyRows(indices=[[0, 1], [0, 0]], values=[1], dense_shape=[2, 2], default_value=0)
tf.raw_ops.SparseFillEmptyRows(indices=[[0, 1], [0, 0]], values=[1, 2], dense_shape=[], default_value=0)
tf.raw_ops.SparseFillEmptyRows(indices=[[2, 1], [0, 0], [2, 0]], values=[1, 2, 3], dense_shape=[4, 3], \
default_value=9)
tf.raw_ops.SparseFillEmptyRowsGrad(reverse_index_map=[0, 2], grad_values=[1., 2., 3.])
tf.raw_ops.SparseFillEmptyRowsGrad(reverse_index_map=[0, 7], grad_values=[1., 2., 3.])
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[0, 2], values=[1, 2], nrows=4, default_value=9)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[2, 0], values=[1, 2], nrows=4, default_value=9)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[2, 7], values=[1, 2], nrows=4, default_value=9)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[2], values=[1, 2], nrows=4, default_value=9)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[-1, 0], values=[1, 2], nrows=4, default_value=9)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=np.zeros(2, np.int64), values=np.zeros(2), nrows=0, default_value=9)
tf.sparse.sparse_dense_matmul(sa, tf.ones([3, 2]))
tf.sparse.sparse_dense_matmul(sa, tf.ones([2, 2]))
tf.sparse.sparse_dense_matmul(sa, tf.ones([2, 2]), adjoint_a=True)
tf.sparse.sparse_dense_matmul(sa, tf.ones([2, 3]), adjoint_b=True)
tf.sparse.sparse_dense_matmul(tf.ones([2, 2]), sa)
tf.sparse.sparse_dense_matmul(tf.ones([2, 3]), sa, adjoint_b=True)
tf.sparse.sparse_dense_matmul(tf.ones([3, 2]), sa, adjoint_a=True, adjoint_b=True)
tf.sparse.sparse_dense_matmul(tf.ones([3, 2]), sa, adjoint_a=True)
tf.sparse.sparse_dense_matmul(S([[0, 7]], [1.], [2, 3]), tf.ones([3, 2]))
tf.sparse.sparse_dense_matmul(S([[9, 1]], [1.], [2, 3]), tf.ones([3, 2]))
tf.sparse.sparse_dense_matmul(S([[0, 0, 1]], [1.], [2, 3, 4]), tf.ones([3, 2]))
tf.sparse.sparse_dense_matmul(sa, tf.ones([3]))
tf.sparse.sparse_dense_matmul(tf.ones([3, 3]), tf.ones([3, 3]))
tf.sparse.transpose(sa)
tf.sparse.transpose(sa, [0, 1])
tf.sparse.transpose(sa, [1])
tf.sparse.transpose(S([[0, 1, 2]], [1], [2, 3, 4]), [2, 0, 1])
tf.sparse.expand_dims(sa, 0)
tf.sparse.expand_dims(sa)
tf.sparse.expand_dims(sa, 1)
tf.sparse.expand_dims(sa, -3)
tf.sparse.expand_dims(sa, 5)
tf.sparse.eye(2)
tf.sparse.eye(2, 3, tf.int32)
tf.sparse.eye(-1)
tf.sparse.from_dense([[1, 0], [0, 2]])
tf.sparse.from_dense(['a', '', 'b'])
tf.sparse.from_dense(5)
tf.sparse.from_dense([True, False])
tf.sparse.retain(sa, [True, False, True])
tf.sparse.retain(sa, [True, False])
tf.sparse.retain(sa, [[True, False, True]])
tf.sparse.reset_shape(sa)
tf.sparse.reset_shape(sa, [4, 5])
tf.sparse.reset_shape(sa, [1, 5])
tf.sparse.reset_shape(sa, [5])
tf.sparse.reset_shape(S(np.zeros([0, 2], np.int64), np.zeros(0), [3, 2]))
tf.sparse.to_indicator(S([[0, 0], [0, 1], [1, 0]], [2, 0, 3], [2, 2]), 5)
tf.sparse.to_indicator(S([[0, 0], [0, 1], [1, 0]], [2, 7, 3], [2, 2]), 5)
tf.sparse.to_indicator(S([[0, 0], [0, 1], [1, 0]], [2, 2, 3], [2, 2]), 5)
tf.sparse.to_indicator(sa, 5)
tf.sparse.map_values(tf.add, sa, 1.)
tf.sparse.map_values(tf.add, sa, sa)
tf.sparse.map_values(tf.add, sa, sb)
tf.sparse.map_values(tf.reduce_sum, sa)
tf.sparse.map_values(tf.add, 1, 2)
tf.sparse.mask(tf.IndexedSlices([[1.], [2.]], [3, 5]), [3])
tf.sparse.bincount([1, 1, 2])
tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], axis=-1)
tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], axis=-1, minlength=5, maxlength=2)
tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], axis=-1, binary_output=True)
tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], weights=[[1., 2., 3.], [1., 1., 1.]], axis=-1)
tf.sparse.bincount(S([[0, 0], [1, 2]], [3, 4], [2, 3]), axis=-1)
tf.sparse.bincount(S([[0, 0], [1, 2]], [3, 4], [2, 3]))
tf.sparse.bincount(tf.ragged.constant([[1, 1], [2]]), axis=-1)
tf.sparse.bincount(tf.ragged.constant([[1, 1], [2]]))
tf.sparse.bincount([-1])
tf.sparse.bincount(tf.constant([[4, 1, 4], [0, 2, 2]], tf.int64), axis=-1)
tf.sparse.bincount(tf.constant([4, 1, 4], tf.int64), binary_output=True)
tf.sparse.bincount(tf.ragged.constant([[3, 3], [5]], dtype=tf.int64), axis=-1)
tf.sparse.bincount(S([[0, 0], [1, 2]], np.array([3, 4]), [2, 3]), axis=-1, minlength=7)
tf.sparse.bincount([[1]], axis=5)
tf.sparse.bincount([1, 2], minlength=7)
tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], weights=[1.])
sa*2.
sa*tf.ones([3])
sa*tf.ones([2, 1])
sa/2.
2.*sa
sa+sa
sa*sa
sa/tf.zeros([2, 3])
-sa
sa*tf.ones([2, 3, 4])
S([[0, 1]], [4], [2, 2])//3
S([[0, 1]], [4], [2, 2])/3
tf.reduce_sum(sa)
tf.convert_to_tensor(sa)
tf.concat([sa, sa], 0)
tf.matmul(sa, tf.ones([3, 2]))
tf.add(sa, sa)
tf.abs(S([[0, 1]], [-4], [2, 2]))
tf.sqrt(sa)
tf.cast(sa, tf.int32)
tf.reshape(sa, [3, 2])
tf.shape(sa)
tf.size(sa)
tf.rank(sa)
tf.zeros_like(sa)
tf.ones_like(sa)
tf.expand_dims(sa, 0)
tf.transpose(sa)
tf.identity(sa)
tf.math.negative(sa)
tf.add_n([sa, sa])
tf.nn.softmax(sa)
tf.math.bincount(S([[0, 0], [1, 2]], [3, 4], [2, 3]))
tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1., 2.], [2, 2], tf.ones([2, 3]), tf.ones([3, 2]))
tf.sparse.sampled_addmm([[[0, 1]], [[1, 0]]], [[1.], [2.]], [2, 2], 2 * tf.eye(2, batch_shape=[2]), tf.ones([2, 2, 2]))
tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1., 2.], [3, 2], tf.ones([2, 3]), tf.ones([3, 2]))
tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1., 2.], [2, 2], tf.ones([2, 3]), tf.ones([3, 2]), beta=0.5, \
alpha=2.)
"""

# `a` is [4], `d` is [2, 3], `e` is [3, 2].
_P = "tf.SparseTensor([[0, 1], [1, 0], [1, 2], [1, 3]], a, [2, 4])"
_Q = "tf.SparseTensor([[0, 0], [1, 0], [1, 3]], a[:3] * 2.0, [2, 4])"
_T = "tf.SparseTensor([[0, 1], [1, 0], [1, 2], [0, 0]], a, [2, 3])"

_GRADIENTS = f"""
tf.sparse.to_dense({_P})
tf.sparse.to_dense({_P}, default_value=a[0])
tf.sparse.reorder({_T})
tf.sparse.to_dense(tf.sparse.reorder({_T}))
tf.sparse.to_dense(tf.sparse.reshape({_P}, [4, 2]))
tf.sparse.to_dense(tf.sparse.transpose({_P}))
tf.sparse.to_dense(tf.sparse.expand_dims({_P}, 1))
tf.sparse.slice({_P}, [0, 1], [2, 2])
tf.sparse.reduce_sum({_P})
tf.sparse.reduce_sum({_P}, axis=0)
tf.sparse.reduce_sum({_P}, axis=[-1], keepdims=True)
tf.sparse.reduce_sum({_T}, axis=1)
tf.sparse.add({_P}, {_Q})
tf.sparse.add({_P}, {_Q}, threshold=0.5)
tf.sparse.add({_T}, d)
tf.sparse.softmax({_P})
tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1], [2, 0], [2, 2], [4, 0]], a, [6, 4]), a[1])[0]
tf.sparse.sparse_dense_matmul({_T}, e)
tf.sparse.sparse_dense_matmul({_T}, d, adjoint_a=True)
tf.sparse.sparse_dense_matmul({_T}, d, adjoint_b=True)
tf.sparse.sparse_dense_matmul({_T}, e, adjoint_a=True, adjoint_b=True)
tf.sparse.sparse_dense_matmul(e, {_T})
tf.sparse.retain({_P}, [True, False, True, True])
tf.sparse.map_values(tf.sin, {_P})
tf.sparse.from_dense(d)
tf.sparse.to_dense(tf.sparse.from_dense(d))
{_T} * d
{_T} * d[0]
{_T} * d[:, :1]
{_T} / (d * d + 1.0)
tf.abs({_P})
tf.sqrt(tf.abs({_P}))
tf.sparse.sampled_addmm([[0, 1], [1, 0], [1, 1], [0, 0]], a, [2, 2], d, e, beta=0.5, alpha=2.0, output_type=a.dtype)[1]
tf.raw_ops.SparseTensorDenseAdd(a_indices=[[0, 1], [1, 2]], a_values=a[:2], a_shape=[2, 3], b=d)
tf.raw_ops.SparseDenseCwiseMul(sp_indices=[[0, 1], [1, 2]], sp_values=a[:2], sp_shape=[2, 3], dense=d)
tf.raw_ops.SparseDenseCwiseDiv(sp_indices=[[0, 1], [1, 2]], sp_values=a[:2], sp_shape=[2, 3], dense=d * d + 1.0)
"""

# TensorFlow has no gradients of these, or only for indices in a matrix.
_ADDED_GRADIENTS = f"""
tf.raw_ops.SparseToDense(sparse_indices=[0, 2], output_shape=[4], sparse_values=a[:2], default_value=a[3])
tf.raw_ops.SparseToDense(sparse_indices=[0, 2], output_shape=[4], sparse_values=a[1], default_value=a[3])
tf.raw_ops.SparseToDense(sparse_indices=2, output_shape=[4], sparse_values=a[1], default_value=a[3])
tf.raw_ops.SparseSliceGrad(backprop_val_grad=a[:2], input_indices=[[0, 1], [1, 0], [1, 2]], input_start=[0, 1], \
output_indices=[[0, 0], [1, 1]])
tf.raw_ops.SparseDenseCwiseAdd(sp_indices=[[0, 1], [1, 2]], sp_values=a[:2], sp_shape=[2, 3], dense=d)
tf.raw_ops.SparseAddGrad(backprop_val_grad=a, a_indices=[[0], [2]], b_indices=[[0], [1]], \
sum_indices=[[0], [1], [2], [3]])
tf.raw_ops.SparseFillEmptyRowsGrad(reverse_index_map=[0, 2], grad_values=a)
tf.sparse.maximum({_P}, {_Q})
tf.sparse.minimum({_P}, {_Q})
tf.sparse.concat(1, [{_P}, {_Q}])
tf.sparse.split({_P}, 2, axis=1)
tf.sparse.reduce_max({_P}, axis=1)
tf.sparse.reduce_sum({_P}, axis=1, output_is_sparse=True)
"""

_MORE = """
tf.raw_ops.SparseAdd(a_indices=[[0]], a_values=[1.0], a_shape=[2], b_indices=[[0]], b_values=[2.0], b_shape=[2], thresh=9.0)
tf.raw_ops.SparseAdd(a_indices=[[0]], a_values=[1.0], a_shape=[2], b_indices=[[0]], b_values=[2.0], b_shape=[2], thresh=[9.0])
tf.raw_ops.SparseAdd(a_indices=[0], a_values=[1.0], a_shape=[2], b_indices=[[0]], b_values=[2.0], b_shape=[2], thresh=9.0)
tf.raw_ops.SparseAddGrad(backprop_val_grad=[1.0], a_indices=[[0]], b_indices=[[0, 1]], sum_indices=[[0]])
tf.raw_ops.SparseAddGrad(backprop_val_grad=[1.0, 2.0], a_indices=[[0]], b_indices=[[0]], sum_indices=[[0]])
tf.raw_ops.SparseReduceSum(input_indices=[[0, 1]], input_values=[1.0], input_shape=[2, 2], reduction_axes=[0])
tf.raw_ops.SparseReduceMax(input_indices=[[0, 1]], input_values=[1.0], input_shape=[2, 2], reduction_axes=0)
tf.raw_ops.SparseReduceSumSparse(input_indices=[[0, 1], [1, 1]], input_values=[1.0, 2.0], input_shape=[2, 2], reduction_axes=[0])
tf.raw_ops.SparseReduceMaxSparse(input_indices=[[0, 1], [1, 1]], input_values=[1.0, 2.0], input_shape=[2, 2], reduction_axes=[0])
tf.raw_ops.SparseReduceSum(input_indices=[[0, 1]], input_values=[1.0, 2.0], input_shape=[2, 2], reduction_axes=[0])
tf.raw_ops.SparseSplit(split_dim=0, indices=[[0], [1]], values=["a", "b"], shape=[3], num_split=2)
tf.raw_ops.SparseConcat(indices=[[[0]], [[0]]], values=[["a"], ["b"]], shapes=[[1], [2]], concat_dim=0)
tf.raw_ops.SparseConcat(indices=[[[0]]], values=[["a"]], shapes=[[1]], concat_dim=0)
tf.raw_ops.SparseSlice(indices=[[0], [2]], values=["a", "b"], shape=[3], start=[1], size=[5])
tf.raw_ops.SparseSoftmax(sp_indices=[[0, 0], [0, 1]], sp_values=[1.0], sp_shape=[1, 2])
tf.raw_ops.SparseSparseMaximum(a_indices=[[0]], a_values=[1], a_shape=[2], b_indices=[[1]], b_values=[-2], b_shape=[2])
tf.raw_ops.SparseSparseMinimum(a_indices=[[0]], a_values=[1], a_shape=[2], b_indices=[[1]], b_values=[-2], b_shape=[2])
tf.raw_ops.SparseTensorDenseMatMul(a_indices=[[0, 1]], a_values=[2.0], a_shape=[2, 3], b=[[1.0], [2.0], [3.0]])
tf.raw_ops.SparseTensorDenseMatMul(a_indices=[[0, -1]], a_values=[2.0], a_shape=[2, 3], b=[[1.0], [2.0], [3.0]])
tf.raw_ops.SparseTensorDenseMatMul(a_indices=tf.constant([[0, 1]]), a_values=[2], a_shape=[2, 3], b=[[1], [2], [3]])
tf.raw_ops.SparseDenseCwiseMul(sp_indices=[[0, 9]], sp_values=[1.0], sp_shape=[2, 3], dense=2.0)
tf.raw_ops.SparseDenseCwiseMul(sp_indices=[[0, 1]], sp_values=[1.0, 2.0], sp_shape=[2, 3], dense=2.0)
tf.raw_ops.SparseDenseCwiseDiv(sp_indices=[[0, 1], [1, 1]], sp_values=[-7, 7], sp_shape=[2, 3], dense=2)
tf.raw_ops.SparseDenseCwiseDiv(sp_indices=[[0, 1]], sp_values=[7], sp_shape=[2, 3], dense=0)
tf.raw_ops.SparseDenseCwiseDiv(sp_indices=[[0, 1]], sp_values=[7.0], sp_shape=[2, 2], dense=[[0.0, 2.0], [1.0, 1.0]])
tf.raw_ops.SparseFillEmptyRowsGrad(reverse_index_map=[[0]], grad_values=[1.0])
tf.raw_ops.SparseBincount(indices=[[0, 0], [1, 2], [1, 1]], values=[3, 4, 4], dense_shape=[2, 3], size=6, weights=tf.zeros([0]))
tf.raw_ops.SparseBincount(indices=[[0], [2]], values=[3, 4], dense_shape=[3], size=4, weights=[0.5, 0.25])
tf.raw_ops.SparseBincount(indices=[[0, 0], [1, 2], [1, 1]], values=[3, 4, 4], dense_shape=[2, 3], size=6, \
weights=tf.zeros([0], tf.int32), binary_output=True)
tf.raw_ops.SparseBincount(indices=[[5, 0]], values=[3], dense_shape=[2, 3], size=6, weights=tf.zeros([0]))
tf.raw_ops.SparseBincount(indices=[[0, 0]], values=[3], dense_shape=[2, 3], size=-6, weights=tf.zeros([0]))
tf.raw_ops.RaggedBincount(splits=[0, 2, 2, 3], values=[1, 1, 4], size=5, weights=tf.zeros([0]))
tf.raw_ops.RaggedBincount(splits=[0, 2, 2, 3], values=[1, 1, 4], size=3, weights=[1, 2, 3])
tf.raw_ops.RaggedBincount(splits=[0, 2, 2, 3], values=[1, 1, 4], size=5, weights=tf.zeros([0], tf.int64), binary_output=True)
tf.raw_ops.RaggedBincount(splits=[1, 3], values=[1, 1, 4], size=5, weights=tf.zeros([0]))
tf.raw_ops.RaggedBincount(splits=[0, 2], values=[1, 1, 4], size=5, weights=tf.zeros([0]))
tf.raw_ops.RaggedBincount(splits=[0, 1], values=[-1], size=5, weights=tf.zeros([0]))
tf.raw_ops.DenseCountSparseOutput(values=[[1, 1, 2], [0, 0, 5]], weights=tf.zeros([0]), binary_output=False, maxlength=3)
tf.raw_ops.DenseCountSparseOutput(values=[1, 1, 2], weights=[0.5, 1.0, 2.0], binary_output=False, minlength=9)
tf.raw_ops.DenseCountSparseOutput(values=5, weights=tf.zeros([0]), binary_output=False)
tf.raw_ops.DenseCountSparseOutput(values=[[[5]]], weights=tf.zeros([0]), binary_output=False)
tf.raw_ops.DenseCountSparseOutput(values=tf.zeros([0], tf.int32), weights=tf.zeros([0]), binary_output=False)
tf.raw_ops.SparseCountSparseOutput(indices=[[0, 0], [1, 2]], values=[3, 4], dense_shape=[2, 3], weights=[2, 5], binary_output=False)
tf.raw_ops.SparseCountSparseOutput(indices=[[0], [1]], values=[3, 3], dense_shape=[2], weights=[2, 5], binary_output=True)
tf.raw_ops.SparseCountSparseOutput(indices=[[9, 0]], values=[3], dense_shape=[2, 3], weights=[2], binary_output=False)
tf.raw_ops.RaggedCountSparseOutput(splits=[0, 2, 2, 3], values=[1, 1, 4], weights=tf.zeros([0]), binary_output=False)
tf.raw_ops.RaggedCountSparseOutput(splits=[0, 2, 2, 3], values=[1, 1, 4], weights=[1.0, 2.0, 3.0], binary_output=False, maxlength=4)
tf.raw_ops.RaggedCountSparseOutput(splits=[0, 2], values=[1, 1, 4], weights=tf.zeros([0]), binary_output=False)
tf.raw_ops.RaggedCountSparseOutput(splits=[0, 1], values=[-1], weights=tf.zeros([0]), binary_output=False)
tf.sparse.cross([S([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]), S([[0, 0], [1, 0], [1, 1]], ["d", "e", "f"], [2, 2])])
tf.sparse.cross([S([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]), tf.constant([[5], [6]])], separator="-")
tf.sparse.cross([S([[0, 0], [1, 0]], [1, 2], [2, 2]), S([[0, 0]], [5], [2, 1])])
tf.sparse.cross([tf.constant([[5.0], [6.0]])])
tf.sparse.cross([])
tf.sparse.cross([tf.constant([5, 6])])
tf.sparse.cross([[[1]], [[2]]])
tf.sparse.cross("abc")
tf.sparse.cross([S([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2]), tf.constant([[5]])])
tf.sparse.cross_hashed([S([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]), S([[0, 0], [1, 0]], ["d", "e"], [2, 2])])
tf.sparse.cross_hashed([S([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]), S([[0, 0], [1, 0]], [4, 5], [2, 2])], num_buckets=100)
tf.sparse.cross_hashed([S([[0, 0], [1, 0], [1, 1]], [1, -2, 3], [2, 2]), tf.constant([[5], [6]])], hash_key=7)
tf.sparse.cross_hashed([tf.constant([[5], [6]])])
tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]])
tf.ragged.cross([tf.ragged.constant([[1], [2, 3]]), S([[0, 0], [1, 0]], ["s", "t"], [2, 1])])
tf.ragged.cross([tf.ragged.constant([[], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
tf.ragged.cross([tf.ragged.constant([["a"]]), tf.ragged.constant([["d"], ["e"]])])
tf.ragged.cross([tf.ragged.constant([[["a"]]])])
tf.ragged.cross([tf.ragged.constant([[1.0]])])
tf.ragged.cross([])
tf.ragged.cross_hashed([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])], num_buckets=100)
tf.ragged.cross_hashed([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([[1], [2]])], hash_key=7)
tf.raw_ops.RaggedCross(ragged_values=[["a", "b"]], ragged_row_splits=[tf.constant([0, 1, 2], tf.int64)], sparse_indices=[], sparse_values=[], \
sparse_shape=[], dense_inputs=[[["x"], ["y"]]], input_order="DR", hashed_output=False, num_buckets=0, hash_key=1, \
out_values_type=tf.string, out_row_splits_type=tf.int64)
tf.raw_ops.SparseCross(indices=[[[0, 0], [1, 0]]], values=[["a", "b"]], shapes=[[2, 2]], dense_inputs=[], hashed_output=False, \
num_buckets=0, hash_key=1, out_type=tf.string, internal_type=tf.string)
tf.raw_ops.SparseCross(indices=[[[0, 0], [1, 0]]], values=[["a", "b"]], shapes=[[2, 2]], dense_inputs=[[["x"], ["y"]]], \
hashed_output=True, num_buckets=50, hash_key=1, out_type=tf.int64, internal_type=tf.string)
tf.raw_ops.SparseCrossV2(indices=[[[0, 0], [1, 0]]], values=[["a", "b"]], shapes=[[2, 2]], dense_inputs=[[["x"], ["y"]]], sep="|")
tf.raw_ops.SparseCrossHashed(indices=[[[0, 0], [1, 0]]], values=[["a", "b"]], shapes=[[2, 2]], dense_inputs=[[["x"], ["y"]]], \
num_buckets=0, strong_hash=False, salt=[137, 173])
tf.raw_ops.SparseCrossHashed(indices=[[[0, 0], [1, 0]]], values=[["a", "b"]], shapes=[[2, 2]], dense_inputs=[[["x"], ["y"]]], \
num_buckets=1000, strong_hash=True, salt=[137, 173])
tf.raw_ops.SparseCrossHashed(indices=[], values=[], shapes=[], dense_inputs=[tf.constant([[5], [2**40]], tf.int64)], \
num_buckets=0, strong_hash=False, salt=[1, 2])
tf.SparseTensorSpec([2, None], tf.int32)
tf.SparseTensorSpec([2, None], tf.int32).is_compatible_with(S([[0, 0]], [1], [2, 3]))
tf.nest.flatten(tf.SparseTensorSpec([2, None], tf.int32), expand_composites=True)
tf.type_spec_from_value(S([[0, 0]], [1], [2, 3]))
S([[0, 0]], [1], [2, 3]).shape
S([[0, 0]], [1], [2, 3]).get_shape()
S([[0, 0]], [1], [2, 3]).dtype
S([[0, 0]], [1], [2, 3]).with_values([5.0])
S([[0, 0]], [1], [2, 3]).with_values([5.0, 6.0])
repr(S([[0, 0]], [1], [2, 3]))
S([[0, 0]], [1, 2], [2, 3])
S([[0, 0]], [1], [2, 3, 4])
S([0, 0], [1], [2, 3])
S([[0, 0]], 1, [2, 3])
S([[0.5, 0]], [1], [2, 3])
tf.SparseTensor.from_value(S([[0, 0]], [1], [2, 3]))
tf.SparseTensor.from_value(5)
tf.sparse.SparseTensor([[0, 0]], [1], [2, 3])
tf.is_tensor(S([[0, 0]], [1], [2, 3]))
S([[0, 0]], [1], [2, 3]).consumers()
tf.sparse.segment_sum(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [0, 1, 1], [0, 0, 1])
tf.sparse.segment_mean(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [0, 1, 1], [0, 0, 1])
tf.sparse.segment_sqrt_n(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [0, 1, 1], [0, 0, 1])
"""

_STORED = """
tf.io.serialize_sparse(sa)
tf.io.serialize_sparse(S([[0, 1]], ["abc"], [1, 2]))
tf.io.serialize_many_sparse(sa)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(sa), tf.float32)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(S([[0, 1]], ["abc"], [1, 2])), tf.string, rank=1)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(S([[0, 1]], ["abc"], [1, 2])), tf.string, rank=2)
tf.io.serialize_sparse(S([[0, 1], [0, 2]], ["abc", ""], [1, 3]))
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(sa), tf.int32)
tf.io.deserialize_many_sparse([["a", "b", "c"]], tf.int32)
tf.io.deserialize_many_sparse(["a", "b", "c"], tf.int32)
tf.raw_ops.DeserializeManySparse(serialized_sparse=tf.io.serialize_many_sparse(sa), dtype=tf.float32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(sa), dtype=tf.float32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(sa, out_type=tf.variant), dtype=tf.float32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(sa, out_type=tf.variant), dtype=tf.int32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_many_sparse(sa, out_type=tf.variant), dtype=tf.float32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(sa)[:2], dtype=tf.float32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.io.serialize_many_sparse(sa)[:0], dtype=tf.float32)
tf.raw_ops.DeserializeSparse(serialized_sparse=tf.stack([tf.io.serialize_sparse(S([[0, 1]], [1], [2, 3])), \
tf.io.serialize_sparse(S([[1, 1]], [5], [4, 2]))]), dtype=tf.int32)
tf.raw_ops.SerializeSparse(sparse_indices=[[0, 1]], sparse_values=[1], sparse_shape=[2, 2])
tf.raw_ops.SerializeManySparse(sparse_indices=[[1], [0]], sparse_values=[1, 2], sparse_shape=[2])
tf.raw_ops.SerializeManySparse(sparse_indices=[[1, 0], [0, 0]], sparse_values=[1, 2], sparse_shape=[2, 2])
tf.raw_ops.SerializeManySparse(sparse_indices=[[5, 0]], sparse_values=[1], sparse_shape=[2, 2])
sa._type_spec._from_tensor_list(sa._type_spec._to_tensor_list(sa))
sa._type_spec._from_tensor_list(sa._type_spec._to_batched_tensor_list(sa))
sa._type_spec._flat_tensor_specs
sa._type_spec._batch(3)
sa._type_spec._unbatch()
tf.SparseTensorSpec([])._unbatch()
"""

_TYPES = """
tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]))
tf.sparse.reorder(tf.SparseTensor([[1, 1], [1, 0], [0, 2]], a, [2, 3]))
tf.sparse.add(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), tf.ones([2, 3], a.dtype))
tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), axis=1)
tf.sparse.concat(1, [tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3])] * 2)
"""

_ORDERED_TYPES = """
tf.sparse.reduce_max(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), axis=1)
tf.sparse.maximum(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), tf.SparseTensor([[0, 1], [1, 1], [1, 2]], -a, [2, 3]))
tf.sparse.minimum(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), tf.SparseTensor([[0, 1], [1, 1], [1, 2]], -a, [2, 3]))
"""

_ADD = (
    "tf.sparse.add(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), "
    "tf.SparseTensor([[0, 1], [1, 1], [1, 2]], a, [2, 3]))"
)
_MULTIPLY = "tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]) * tf.constant([2, 3, 1], a.dtype)"
_NO_KERNEL = "TensorFlow's CPU has no kernel for it"
_MATMUL = "tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), b)"
_UNSORTED = "TensorFlow merges without sorting, so that equal positions of unsorted operands are not added up"
_OUTSIDE = "headrace raises InvalidArgumentError, as other sparse ops do, where TensorFlow reports an internal error"
_OF_SCALAR = "TensorFlow cannot differentiate the product with a scalar"
_ABORTS = "TensorFlow aborts the process"
_BOTH = "TensorFlow recurses without end"
_EMPTY = "TensorFlow gives value_rowids of no rows the shape (0, 1)"

ROWS = [
    *_lines(_VALUES, grad=False),
    *_lines(_MORE, grad=False),
    *_lines(_STORED, grad=False),
    *[row(line, a=normal(4), d=normal(2, 3), e=normal(3, 2)) for line in _GRADIENTS.strip().splitlines()],
    *[
        row(line, a=normal(4), d=normal(2, 3), e=normal(3, 2), grad=False)
        for line in _ADDED_GRADIENTS.strip().splitlines()
    ],
    *[r for line in _TYPES.strip().splitlines() for r in each(f"{FLOATS} {COMPLEXES} {INTS}", line, a=normal(3), grad=False)],
    *[
        r
        for line in _ORDERED_TYPES.strip().splitlines()
        for r in each("float32 float64 int8 int16 int32 int64", line, a=normal(3), grad=False)
    ],
    *each("float32 float64 bfloat16 complex64 complex128", _MATMUL, a=normal(3), b=normal(3, 2)),
    *each("int32", _MATMUL, a=normal(3), b=normal(3, 2)),
    *each("complex64 complex128", _MATMUL[:-1] + ", adjoint_b=True)", a=normal(3), b=normal(2, 3)),
    *each(
        "complex64 complex128",
        "tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], a, [2, 3]), b, adjoint_a=True)",
        a=normal(3),
        b=normal(2, 2),
    ),
    *each(f"float32 float64 {COMPLEXES} {SIGNED}", _ADD, a=normal(3), grad=False),
    *each("float16 bfloat16 uint8 uint16 uint32 uint64", _ADD, a=normal(3), ours=_NO_KERNEL),
    *each(f"{FLOATS} {INTS}", _MULTIPLY, a=normal(3), fd=False),
    *each(COMPLEXES, _MULTIPLY, a=normal(3), ours=_NO_KERNEL),
    row(
        "tf.raw_ops.SparseBincount(indices=[[0, 0]], values=[-3], dense_shape=[2, 3], size=6, weights=tf.zeros([0]))",
        ours="a negative value is refused, as other counts do; TensorFlow leaves it out here",
    ),
    row(
        "tf.raw_ops.SparseBincount(indices=[[0, 0]], values=[3], dense_shape=[2, 3], size=6, weights=[1.0, 2.0])",
        ours="weights of another shape are refused, as other counts do; TensorFlow ignores what is left over",
    ),
    row("tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 1]], a, [1, 2]))", a=normal(2), dtype="float16"),
    row("tf.sparse.softmax(tf.SparseTensor(i, a, [1, 2]))", a=normal(0), i=integers(0, 1, 0, 2, dtype="int64")),
    row("tf.sparse.to_dense(tf.SparseTensor(i, a, [3, 2]))", a=normal(0), i=integers(0, 1, 0, 2, dtype="int64")),
    row("tf.sparse.add(tf.SparseTensor([[1], [0]], [1, 2], [3]), tf.SparseTensor([[0]], [5], [3]))", ours=_UNSORTED),
    row("tf.sparse.reduce_sum(tf.SparseTensor([[5, 1]], [1.0], [2, 2]), axis=1)", ours=_OUTSIDE),
    row('tf.ragged.cross([tf.ragged.constant([["a"]], row_splits_dtype=tf.int32)])', ours=_ABORTS),
    *(row(f"{_T} {sign} b", a=normal(4), b=normal(), ours=_OF_SCALAR) for sign in "*/"),
    row("tf.sparse.sparse_dense_matmul(tf.sparse.eye(2), tf.sparse.eye(2))", ours=_BOTH),
    row(
        "tf.raw_ops.RaggedFillEmptyRows(value_rowids=a, values=[], nrows=0, default_value=1.0)",
        a=value([], "int64"),
        ours=_EMPTY,
    ),
    row(
        "tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [1, 2]], a, [2, 3]), axis=0)",
        a=uniform(0, 1, 2),
    ),
]
