"""Rows of ragged tensors: making, indexing, converting and printing them, and `tf.ragged`."""

import re

from rows import COMPLEXES, FLOATS, INTS, each, integers, normal, row, uniform, value

_SHORT = {
    "rt": "tf.ragged.constant([[1, 2], [], [3]])",
    "rt3": "tf.ragged.constant([[[1, 2], [3]], [], [[4]]])",
    "rf": "tf.ragged.constant([[1.0, 2.0], [], [3.0]])",
    "ru": "tf.RaggedTensor.from_row_splits([[1, 2], [3, 4], [5, 6], [7, 8]], [0, 1, 4])",
    "R": "tf.RaggedTensor",
    "RP": "tf.experimental.RowPartition",
}


def _written_out(code):
    """The code of a row with the short names replaced by what they stand for."""
    pattern = "|".join(rf"\b{name}\b" for name in _SHORT)
    return re.sub(pattern, lambda match: _SHORT[match[0]], code)


def _lines(text, **options):
    return [row(_written_out(line), **options) for line in text.strip().splitlines()]


_VALUES = """
list(rt)
bool(rt)
hash(rt)
rt==rt
rt==3
rt!=None
rt==None
rt+1
1+rt
rt+rt
rt+[[1], [2], [3]]
rt<2
rt//2
rt/2
rt%2
rt**2
-rt
abs(rt)
~rt
rt&rt
rt@rt
rt[0]
rt[0, 1]
rt[:, 0]
rt[:, :1]
rt[..., 0]
rt[tf.newaxis]
rt[:, tf.newaxis]
rt[:, :, tf.newaxis]
rt[5]
rt[-1]
rt[::2]
rt[::-1]
rt[:, ::-1]
rt[:, 1:]
rt3[:, :, 0]
rt3[:, :1]
rt3[0]
rt3[0, 0]
rt3[..., :1]
rt3[0, ...]
rt3[:, ..., tf.newaxis]
rt['a']
rt[1.5]
rt[tf.constant(1)]
rt[tf.constant(1):]
rt3[0, 0, 0]
rt3[:, :, ::2]
rt3[:, tf.newaxis]
rt3[:, tf.newaxis, :1]
rt[0, ...]
rt[0, 1, 2]
rt[...]
rt[..., ...]
rt[()]
rt[rt>1]
rt[[0, 1]]
rt[True]
str(rt)
repr(rt3)
rt.shape
rt3.shape
rt.bounding_shape()
rt3.bounding_shape(axis=1)
rt3.bounding_shape(axis=[0, 2], out_type=tf.int32)
rt.to_list()
repr(rt.numpy())
repr(rt3.numpy())
repr(tf.ragged.constant([[1, 2], [3, 4]]).numpy())
rt.nrows()
rt.row_lengths()
rt3.row_lengths(axis=2)
rt3.nested_row_lengths()
rt3.value_rowids()
rt3.nested_value_rowids()
rt.uniform_row_length
rt.consumers()
rt._type_spec
rt3._type_spec
rt.row_starts()
rt.row_limits()
rt.with_values([1., 2., 3.])
rt.with_values([1., 2.])
rt.with_flat_values([[1], [2], [3]])
rt.merge_dims(0, 1)
rt3.merge_dims(0, 1)
rt3.merge_dims(1, 2)
rt3.merge_dims(0, 2)
rt3.merge_dims(-2, -1)
rt3.merge_dims(1, 1)
rt3.merge_dims(2, 1)
rt.merge_dims(0, 5)
rt.with_row_splits_dtype(tf.int32)
rt.with_row_splits_dtype(tf.float32)
rt.row_splits
rt.get_shape()
tf.convert_to_tensor(rt)
tf.constant(rt)
tf.reduce_sum(rt)
tf.shape(rt)
tf.shape(rt3)
tf.size(rt)
tf.rank(rt)
rt._row_partition
rt.to_tensor()
rt.to_tensor(shape=[4, 1])
rt.to_tensor(default_value=[1])
rt.to_sparse()
tf.RaggedTensor(1, 2)
tf.ragged.constant([['a', 'b'], ['c']])
str(tf.ragged.constant([['a', 'b'], ['c']]))
repr(tf.ragged.constant([[1.5, 2], [3]]))
repr(tf.ragged.constant([[True], []]))
repr(tf.ragged.constant([list(range(50))]*30))
rt.row_lengths(axis=0)
rt.row_lengths(axis=3)
rt3.row_lengths(axis=-1)
repr(rt._type_spec)
tf.RaggedTensorSpec([None, None], tf.int32)
tf.RaggedTensorSpec(ragged_rank=2)
tf.RaggedTensorSpec([1, 2], ragged_rank=3)
rt.with_flat_values(5)
RP([0, 1])
RP.from_row_splits([1, 2])
RP.from_row_splits([])
RP.from_row_splits([0, 2, 1])
RP.from_row_splits([[0, 2]])
RP.from_row_splits([0., 2.])
RP.from_row_splits([0, 2, 1], validate=False)
RP.from_row_splits(tf.constant([0, 2, 3]))
RP.from_row_splits(np.array([0, 2, 3], np.int32))
RP.from_row_splits(np.array([0, 2, 3], np.int32)).dtype
RP.from_row_splits([0, 2, 3], dtype=tf.int32).dtype
RP.from_row_splits(tf.constant([0, 2, 3]), dtype=tf.int64).dtype
RP.from_row_splits(tf.constant([0, 2, 3], tf.int8))
RP.from_row_lengths([1, -1])
RP.from_row_lengths([1, 0, 3])
RP.from_row_lengths([])
RP.from_row_lengths([[1]])
RP.from_value_rowids([0, 0, 2])
RP.from_value_rowids([0, 0, 2], nrows=2)
RP.from_value_rowids([0, 0, 2], nrows=-1)
RP.from_value_rowids([0, 0, 2], nrows=5)
RP.from_value_rowids([2, 0])
RP.from_value_rowids([-1, 0])
RP.from_value_rowids([])
RP.from_value_rowids(tf.constant([0, 1]), nrows=tf.constant(3, tf.int64))
RP.from_value_rowids([0, 1], nrows=[3])
RP.from_row_starts([0, 2, 2], nvals=3)
RP.from_row_starts([0, 2, 4], nvals=3)
RP.from_row_starts([1, 2], nvals=3)
RP.from_row_starts([], nvals=0)
RP.from_row_starts([], nvals=3)
RP.from_row_limits([2, 2, 3])
RP.from_row_limits([2, 1, 3])
RP.from_row_limits([])
RP.from_row_limits([-1])
RP.from_uniform_row_length(2, nvals=6)
RP.from_uniform_row_length(2, nrows=3)
RP.from_uniform_row_length(2, nvals=5)
RP.from_uniform_row_length(2)
RP.from_uniform_row_length(0, nvals=0)
RP.from_uniform_row_length(0, nvals=0, nrows=3)
RP.from_uniform_row_length(-1, nrows=3)
RP.from_uniform_row_length(2, nvals=6, nrows=2)
int(RP.from_uniform_row_length(2, nvals=6).static_uniform_row_length)
RP.from_uniform_row_length(2, nvals=6).row_splits()
RP.from_row_lengths([2, 0, 3]).offsets_in_rows()
RP.from_row_lengths([2, 0, 3]).value_rowids()
RP.from_row_lengths([2, 0, 3]).static_nrows
RP.from_row_lengths([2, 0, 3]).static_nvals
RP.from_value_rowids([0, 0, 2], nrows=5).static_nrows
RP.from_value_rowids([0, 0, 2], nrows=5).static_nvals
RP.from_row_lengths([2, 0, 3]).nrows()
RP.from_row_lengths([2, 0, 3]).nvals()
RP.from_row_lengths([2, 0, 3]).is_uniform()
RP.from_row_lengths([2, 0, 3]).uniform_row_length()
RP.from_row_lengths([2, 0, 3])._type_spec
RP.from_uniform_row_length(2, nvals=6)._type_spec
RP.from_row_lengths([2, 0, 3]).with_dtype(tf.int32)
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2], validate=False)
R.from_row_splits([1, 2, 3], [0, 4])
R.from_row_splits([1, 2, 3], [0, 3.0])
R.from_row_splits(5, [0, 3])
R.from_row_splits([1, 2, 3], [[0, 3]])
R.from_row_splits([1, 2, 3], [])
R.from_row_splits([1, 2, 3], tf.constant([], tf.int64))
R.from_row_lengths([1, 2, 3], [2, 2])
R.from_row_lengths([1, 2, 3], [2, 1])
R.from_row_starts([1, 2, 3], [0, 2])
R.from_row_limits([1, 2, 3], [0, 2])
R.from_row_limits([1, 2, 3], [0, 3])
R.from_value_rowids([1, 2, 3], [0, 0])
R.from_value_rowids([1, 2, 3], [0, 0, 3], nrows=7)
R.from_value_rowids([1, 2, 3], [0, 0, 3], nrows=tf.constant(2))
R.from_uniform_row_length([1, 2, 3, 4], 2)
R.from_uniform_row_length([1, 2, 3, 4], 2).shape
R.from_uniform_row_length([1, 2, 3, 4], 3)
R.from_uniform_row_length([], 0, nrows=3)
R.from_uniform_row_length([], 0)
R.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 1, 3]])
R.from_nested_row_splits([1, 2, 3], 5)
R.from_nested_row_splits([1, 2, 3], tf.constant([0, 3]))
R.from_nested_row_lengths([1, 2, 3], [[1, 1], [1, 2]])
R.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 1, 1]], nested_nrows=[3, 2])
R.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 1, 1]], nested_nrows=[3])
R.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
R.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2])
R.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 5])
R.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[-1, 2])
R.from_tensor([[1, 2, 0], [3, 0, 0]])
R.from_tensor([[1, 2, 0], [3, 0, 0]]).shape
R.from_tensor([[[1, 2], [0, 0]], [[3, 0], [4, 5]]], padding=[0, 0])
R.from_tensor([[[1, 2], [0, 0]], [[3, 0], [4, 5]]], padding=0, ragged_rank=2)
R.from_tensor([[[1, 2], [0, 0]], [[3, 0], [4, 5]]], ragged_rank=2)
R.from_tensor([[[1, 2], [0, 0]], [[3, 0], [4, 5]]], lengths=([1, 2], [2, 1, 1]))
R.from_tensor([1, 2])
R.from_tensor([[1, 2]], ragged_rank=2)
R.from_tensor([[1, 2]], ragged_rank=0)
R.from_tensor([[1, 2]], lengths=[1], padding=2)
R.from_tensor(rt)
R.from_tensor(np.zeros((2, 0, 3)))
R.from_tensor([[1, 2, 0], [3, 0, 0]], row_splits_dtype=tf.int32).row_splits
R.from_tensor([[1, 2, 0], [3, 0, 0]], padding=[0])
R.from_sparse(tf.sparse.from_dense([[1, 2, 0], [3, 0, 0]]))
R.from_sparse(tf.sparse.from_dense([[0, 2, 0], [3, 0, 0]]))
R.from_sparse(tf.sparse.from_dense([1, 2]))
R.from_sparse(5)
rt3.to_sparse()
rt3.to_tensor()
rt3.to_tensor(default_value=9, shape=[None, 2, 3])
rt3.to_tensor(shape=[2])
rt3.to_tensor(shape=[2, None, None])
rt3.to_tensor(shape=[None, None])
rt3.to_tensor(shape=[4, 4, 4])
rt3.to_tensor(shape=[4, 4, -1])
tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1).to_tensor(default_value=[7, 8])
tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1).to_tensor(shape=[None, None, 3])
tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1).shape
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
tf.ragged.constant([[0.1, 2], [3e20]])
str(tf.ragged.constant([[0.1, 2], [3e20]], tf.float64))
repr(tf.ragged.constant([[1+2j], []], tf.complex64))
repr(tf.ragged.constant([[1, 2], [3]], tf.float16))
repr(tf.ragged.constant([[], []]))
repr(tf.ragged.constant([[], []]).numpy())
repr(tf.ragged.constant([], ragged_rank=1).numpy())
repr(tf.ragged.constant([[[], []], [[]]]).numpy())
repr(tf.ragged.constant([[['a']], [[]]]).numpy())
repr(tf.ragged.constant([['a'], ['b']]).numpy())
repr(tf.ragged.constant([[[1]], [[2]]]).numpy())
repr(tf.ragged.constant([[[1, 3]], [[2]]]).numpy())
repr(tf.ragged.constant([[[1, 3], [4]], [[2], [3]]]).numpy())
tf.ragged.constant([[[1, 3], [4]], [[2], [3]]])
tf.ragged.constant([[1], [2]]).to_list()
tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2).shape
tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[:, 1]
tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)._type_spec
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[:, :, 0]
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[..., 0]
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[:, 1]
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4]).bounding_shape()
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4]).row_lengths(axis=2)
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4]).merge_dims(1, 2)
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2]), [0, 1, 4]).merge_dims(0, 2)
tf.RaggedTensor.from_row_splits(tf.zeros([4, 2, 3]), [0, 1, 4]).merge_dims(2, 3)
rt.bounding_shape(axis=5)
rt.bounding_shape(axis='a')
rt.with_values(tf.ragged.constant([[1], [2], [3]]))
rt.with_values(rt)
rt.nested_row_splits
R.from_row_splits([1, 2, 3], np.array([0, 1, 3]))
R.from_row_splits(rt, tf.constant([0, 1, 3], tf.int32))
R.from_row_splits(tf.Variable([1, 2, 3]), [0, 1, 3])
R.from_row_splits(tf.sparse.eye(2), [0, 1, 3])
rt3.shape.as_list()
tf.ragged.constant([[1, 2], [3]])==tf.ragged.constant([[1, 2], [3], [4]])
tf.ragged.constant([[1, 2], [3]])==tf.ragged.constant([[1, 2], [3, 4]])
tf.ragged.constant([[1, 2], [3]])==[[1], [2]]
tf.ragged.constant([[1, 2], [3]])=='a'
tf.ragged.constant([[1, 2], [3]])+1.5
tf.ragged.constant([[1, 2], [3]])+tf.constant([1, 2, 3])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[1, 2]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[1, 2], [3, 4]])
tf.constant([[1], [2]])+tf.ragged.constant([[1, 2], [3]])
tf.constant([[1], [2]])==tf.ragged.constant([[1, 2], [3]])
tf.ragged.constant([[1, 2], [3]])+tf.ragged.constant([[[1, 2], [3]]])
tf.ragged.constant([[[1, 2], [3]], [[4]]])+tf.ragged.constant([[[1]], [[2]]])
tf.ragged.constant([[1, 2], [3]])+tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int32)
rt[tf.newaxis, 0:2]
rt[tf.newaxis].shape
rt[:, tf.newaxis].shape
rt[0, tf.newaxis]
rt[:, :, :, tf.newaxis]
rt[:, :, :]
rt[:, :, 0]
rt[:, 1, tf.newaxis]
rt[1:1]
rt[2:1]
rt[-2:]
rt[-5:10]
rt[::0]
rt[:, ::0]
rt[:, -1:]
rt[:, :-1]
rt[:, -5:-1]
rt[:, 5:1:-1]
rt[:, -1:-3:-1]
rt[:, 1::-1]
rt[tf.constant([0, 1])]
rt[np.int64(1)]
rt[np.array(1)]
rt[0.0:]
rt[0:1.5]
rt[:, 1.0:]
rt[-3]
rt[-4]
rt[tf.constant(7)]
rt[tf.constant(-1, tf.int64)]
rt[tf.constant(1.0)]
rt[1, :]
rt[1, 0]
rt[0, -1]
rt[0, 5]
rt[0, ::-1]
rt3[0, :, :1]
rt3[1:, 0:1, ::-1]
rt3[::2, ::-1, ::-1]
rt3[-1, ..., 0]
rt3[:, ..., 0:1]
rt3[..., tf.newaxis, :]
rt3[tf.newaxis, ..., tf.newaxis]
rt3[0, 0, tf.newaxis]
rt3[0, tf.newaxis]
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[:, -1]
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[:, 2]
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[:, -3]
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[1:, 1, :1]
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[1:].shape
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[:, 1:].shape
R.from_uniform_row_length(tf.ragged.constant([[1, 3], [4], [2], [3]]), 2)[0].shape
R.from_uniform_row_length(tf.constant([1, 3, 4, 2]), 2)[:, 1]
R.from_uniform_row_length(tf.constant([1, 3, 4, 2]), 2)[:, tf.constant(1)]
R.from_uniform_row_length(tf.constant([1, 3, 4, 2]), 2)[::-1].shape
R.from_uniform_row_length(tf.constant([[1, 3], [4, 2]]), 1)[:, 0, 1]
R.from_uniform_row_length(tf.constant([[1, 3], [4, 2]]), 1)[:, :, 1]
R.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[0]
R.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[1, :, 0]
R.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[:, :, tf.newaxis]
R.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[:, :, 1:]
R.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[:, :, 5]
R.from_row_splits(tf.zeros([4, 2]), [0, 1, 4])[:, 1:, 0]
tf.ragged.constant([[1], [2]])+tf.ragged.constant([[1, 2], [3]])
tf.ragged.constant([[1, 2]])+tf.ragged.constant([[1, 2], [3]])
tf.ragged.constant([[1, 2]])+tf.ragged.constant([[1, 2], [3, 4]])
tf.ragged.constant([[1, 2], [3]])+tf.ragged.constant([[1, 2], [3], [4]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[1], [2], [3]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([1])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[1]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[[1]]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[[1]], [[2]]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([[[1], [2]]])
tf.ragged.constant([[1, 2], [3]])+tf.constant([1, 2])
R.from_row_splits(tf.ones([4, 2]), [0, 1, 4])+tf.constant([1., 2.])
R.from_row_splits(tf.ones([4, 2]), [0, 1, 4])+tf.constant([[[1.]], [[2.]]])
R.from_row_splits(tf.ones([4, 2]), [0, 1, 4])+tf.ragged.constant([[[1., 2.]], [[1., 2.]]*3])
R.from_row_splits(tf.ones([4, 2]), [0, 1, 4])+tf.ragged.constant([[[1.]], [[2.]]*3], ragged_rank=1)
(R.from_row_splits(tf.ones([4, 2]), [0, 1, 4])+tf.constant([[[1.]], [[2.]]])).shape
tf.ragged.constant([[[1, 2], [3]], [[4]]])+tf.constant([[[1]], [[2]]])
tf.ragged.constant([[[1, 2], [3]], [[4]]])+tf.constant([[[1], [2]]])
tf.ragged.constant([[[1, 2], [3]], [[4]]])+tf.ragged.constant([[[1], [2]], [[3]]], ragged_rank=1)
tf.ragged.constant([[[1, 2], [3]], [[4]]])+R.from_uniform_row_length(tf.ragged.constant([[1, 2], [3]]), 1)
tf.ragged.constant([[[1, 2], [3]], [[4, 5]]])+R.from_uniform_row_length(tf.ragged.constant([[1], [3]]), 1)
tf.ragged.constant([[[1, 2], [3]], [[4]]])+tf.ragged.constant([[1, 2], [3]])
tf.ragged.constant([[1., 2], [3]])*2
2/tf.ragged.constant([[1., 2], [4]])
2-tf.ragged.constant([[1., 2], [4]])
2**tf.ragged.constant([[1., 2], [4]])
7%tf.ragged.constant([[1, 2], [4]])
7//tf.ragged.constant([[1, 2], [4]])
True&tf.ragged.constant([[True], [False, True]])
tf.ragged.constant([[True], [False, True]])^True
~tf.ragged.constant([[True], [False, True]])
5>tf.ragged.constant([[1, 2], [4]])
tf.ragged.constant([[1, 2], [4]])>=2.5
tf.ragged.constant([[1, 2], [4]])==2.5
tf.ragged.constant([[1, 2], [4]])!=tf.ragged.constant([[1, 2]])
tf.ragged.constant([[1, 2], [4]])!=[[1]]
tf.ragged.constant([[1, 2], [4]])==tf.constant([[1], [4]])
tf.ragged.constant([['a', 'b'], ['c']])+'x'
tf.ragged.constant([['a', 'b'], ['c']])+tf.ragged.constant([['a', 'b'], ['c']])
tf.ragged.constant([['a', 'b'], ['c']])=='a'
tf.ragged.range([0, 5], [3, 2])
tf.ragged.range([0, 5], [3, 2], [1, -1])
tf.ragged.range(3)
tf.ragged.range([3, 2])
tf.ragged.range([0, 0], 5, 2)
tf.ragged.range(0, [5, 2], 2)
tf.ragged.range(0, 5, 0)
tf.ragged.range([[1]], 5)
tf.ragged.range([0.5], [3.], 0.5)
tf.ragged.range([0], [3], [1, 2])
tf.ragged.range([0, 1], [3, 4, 5])
tf.ragged.range([3], dtype=tf.int64, row_splits_dtype=tf.int32).row_splits
tf.ragged.range([3], dtype=tf.float32)
tf.ragged.range(['a'])
tf.raw_ops.RaggedRange(starts=[0., 1], limits=[float('nan'), 1.], deltas=1.)
tf.raw_ops.RaggedRange(starts=0, limits=2**40, deltas=1)
tf.raw_ops.RaggedRange(starts=[0.], limits=[1e30], deltas=1.)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3]], params_dense_values=[1, 2, 3], indices=[1, 0, 0], \
OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3]], params_dense_values=[1, 2, 3], indices=[[1], [0]], \
OUTPUT_RAGGED_RANK=2)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3]], params_dense_values=[1, 2, 3], indices=1, \
OUTPUT_RAGGED_RANK=0)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3]], params_dense_values=[1, 2, 3], indices=[5], \
OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3]], params_dense_values=[1, 2, 3], indices=[-1], \
OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3]], params_dense_values=[1, 2], indices=[1], \
OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 3], [0, 1, 1, 2]], params_dense_values=[1, 2], \
indices=[1, 0], OUTPUT_RAGGED_RANK=2)
tf.ragged.stack([[1, 2], [3]])
tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
tf.ragged.stack([rt, [[1]]], axis=1)
tf.ragged.stack([rt, [[1], [2], [3]]], axis=1)
tf.ragged.stack([[1, 2], [3, 4]], axis=1)
tf.ragged.stack([1, 2])
tf.ragged.stack([[1, 2], [3, 4]], axis=0).shape
tf.ragged.stack(rt)
tf.ragged.stack([])
tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
tf.ragged.boolean_mask([[1, 2], [3, 4]], [True, False])
tf.ragged.boolean_mask(rt, tf.ragged.constant([[True, False], [], [True]]))
tf.ragged.boolean_mask(rt, [True, False, True])
tf.ragged.boolean_mask(rt3, tf.ragged.constant([[True, False], [], [True]]))
tf.ragged.boolean_mask(rt, [True, False])
tf.ragged.boolean_mask(rt, True)
tf.ragged.boolean_mask(rt, [[True, False]])
tf.ragged.boolean_mask([1, 2, 3], [True, False, True])
tf.ragged.boolean_mask(np.arange(8).reshape(2, 2, 2), [[True, False], [True, True]])
tf.ragged.boolean_mask(np.arange(8).reshape(2, 2, 2), np.arange(8).reshape(2, 2, 2)%3==0)
tf.ragged.boolean_mask([1, 2, 3], [1, 0, 1])
tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [1, 0, 1], 3)
tf.ragged.stack_dynamic_partitions(rt, [1, 0, 1], 2)
tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [1, 0, 5], 3)
tf.ragged.stack_dynamic_partitions([['a', 'b'], ['c', 'd']], [[1, 0], [0, 0]], 2)
tf.ragged.stack_dynamic_partitions(rt, tf.ragged.constant([[0, 1], [], [0]]), 2)
tf.ragged.map_flat_values(tf.square, rt)
tf.ragged.map_flat_values(tf.add, rt, rt)
tf.ragged.map_flat_values(tf.add, rt, [1, 2, 3])
tf.ragged.map_flat_values(tf.add, rt, tf.ragged.constant([[1], [2], [3]]))
tf.ragged.map_flat_values(tf.reduce_sum, rt)
tf.ragged.map_flat_values(tf.add, 1, 2)
tf.ragged.map_flat_values(tf.concat, [rt, rt], axis=-1)
tf.ragged.map_flat_values(lambda x:x[:2], rt)
"""

_SPLITS = "[0, 2, 2, 5]"
_NESTED = "[[0, 1, 3], [0, 2, 2, 5]]"

# Gradients flow through the flat values. `a` and `b` are inputs of the row.
_GRADIENTS = f"""
tf.RaggedTensor.from_row_splits(a, {_SPLITS})
tf.RaggedTensor.from_row_splits(a, {_SPLITS}).to_tensor()
tf.RaggedTensor.from_row_splits(a, {_SPLITS}).to_tensor(default_value=b)
tf.RaggedTensor.from_row_splits(a, {_SPLITS}).to_tensor(default_value=b, shape=[4, 2])
tf.RaggedTensor.from_row_splits(a, {_SPLITS}).to_tensor(default_value=b, shape=[2, 4])
tf.RaggedTensor.from_row_splits(a, {_SPLITS}).to_sparse().values
tf.RaggedTensor.from_nested_row_splits(a, {_NESTED}).to_tensor(default_value=b)
tf.RaggedTensor.from_nested_row_splits(a, {_NESTED}).to_sparse().values
tf.RaggedTensor.from_row_splits(a, {_SPLITS})[2]
tf.RaggedTensor.from_row_splits(a, {_SPLITS})[:, 1:]
tf.RaggedTensor.from_row_splits(a, {_SPLITS})[:, ::-1]
tf.RaggedTensor.from_row_splits(a, {_SPLITS})[::-1]
tf.RaggedTensor.from_nested_row_splits(a, {_NESTED})[:, :, :1]
tf.RaggedTensor.from_nested_row_splits(a, {_NESTED}).merge_dims(0, 1)
tf.RaggedTensor.from_nested_row_splits(a, {_NESTED}).merge_dims(1, 2)
tf.RaggedTensor.from_tensor(tf.reshape(a[:4], [2, 2]), lengths=[1, 2])
tf.RaggedTensor.from_tensor(tf.reshape(a[:4], [2, 2]), padding=0.0)
tf.RaggedTensor.from_row_splits(a, {_SPLITS}) * tf.RaggedTensor.from_row_splits(a, {_SPLITS})
tf.RaggedTensor.from_row_splits(a, {_SPLITS}) * [[1.0], [2.0], [3.0]]
tf.RaggedTensor.from_row_splits(a, {_SPLITS}) + b
tf.RaggedTensor.from_row_splits(a, {_SPLITS}) / (b * b + 1.0)
tf.ragged.map_flat_values(tf.square, tf.RaggedTensor.from_row_splits(a, {_SPLITS}))
tf.ragged.boolean_mask(a, [True, False, True, True, False])
tf.ragged.boolean_mask(tf.RaggedTensor.from_row_splits(a, {_SPLITS}), [True, False, True])
tf.ragged.stack([a, a[:2]])
tf.ragged.stack([tf.RaggedTensor.from_row_splits(a, {_SPLITS}), [[1.0], [2.0], [3.0]]], axis=1)
tf.ragged.stack_dynamic_partitions(a, [2, 0, 1, 0, 2], 4)
tf.RaggedTensor.from_row_splits(a, {_SPLITS}).with_values(a * 2.0)
tf.RaggedTensor.from_nested_row_splits(a, {_NESTED}).with_flat_values(tf.sin(a))
"""

_RAW = """
tf.raw_ops.RaggedTensorToTensor(shape=[3, 2], values=a, default_value=b, row_partition_tensors=[[0, 2, 2, 5]], \
row_partition_types=["ROW_SPLITS"])
tf.raw_ops.RaggedTensorToTensor(shape=-1, values=a, default_value=b, row_partition_tensors=[3, [0, 0, 2, 2, 2]], \
row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
tf.raw_ops.RaggedTensorToTensor(shape=[-1, 2, -1], values=a, default_value=b, \
row_partition_tensors=[2, [0, 0, 1], [0, 0, 1, 2, 2]], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"])
tf.raw_ops.RaggedTensorToSparse(rt_nested_splits=[[0, 2, 2, 5]], rt_dense_values=a)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 2, 5]], params_dense_values=a, indices=[2, 0, 2], OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 1, 3], [0, 2, 2, 5]], params_dense_values=a, indices=[[1], [0]], \
OUTPUT_RAGGED_RANK=3)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[0, 0, 2, 2, 3], values=a, nrows=5, default_value=b)
tf.ragged_fill_empty_rows([0, 0, 2, 2, 3], a, 5, b)
"""

_VARIANTS = """
tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[[0, 2, 2, 5]], \
rt_dense_values=a, batched_input=True), input_ragged_rank=-1, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int32)
tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[[0, 2, 2, 5]], \
rt_dense_values=a, batched_input=False), input_ragged_rank=-1, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int32)
tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[[0, 1, 3], \
[0, 2, 2, 5]], rt_dense_values=a, batched_input=True), input_ragged_rank=1, output_ragged_rank=2, Tvalues=tf.float32, \
Tsplits=tf.int32)
tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[[0, 1, 3], \
[0, 2, 2, 5]], rt_dense_values=a, batched_input=True)[::-1], input_ragged_rank=1, output_ragged_rank=2, \
Tvalues=tf.float32, Tsplits=tf.int32)
tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[[0, 2, 2, 5]], \
rt_dense_values=a, batched_input=True), input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int32)
tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[[0, 2, 2, 5]], \
rt_dense_values=a, batched_input=True), input_ragged_rank=-1, output_ragged_rank=1, Tvalues=tf.int32, Tsplits=tf.int32)
tf.raw_ops.RaggedTensorToVariantGradient(encoded_ragged_grad=tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=\
[[0, 2, 2, 5]], rt_dense_values=a, batched_input=True), row_splits=[0, 2, 2, 5], dense_values_shape=[5], Tvalues=tf.float32)
R.from_row_splits(a, [0, 2, 2, 5])._type_spec._from_tensor_list(R.from_row_splits(a, [0, 2, 2, 5])._type_spec\
._to_tensor_list(R.from_row_splits(a, [0, 2, 2, 5])))
tf.RaggedTensorSpec([3, None])._from_tensor_list(tf.RaggedTensorSpec([3, None])\
._to_batched_tensor_list(R.from_row_splits(a, [0, 2, 2, 5])))
"""

_RAW_ERRORS = """
tf.raw_ops.RaggedTensorToTensor(shape=[3, 2], values=[1.0], default_value=0.0, row_partition_tensors=[[0, 1]], \
row_partition_types=["ROW_LENGTHS"])
tf.raw_ops.RaggedTensorToTensor(shape=[3, 2], values=[1.0], default_value=0.0, row_partition_tensors=[[0, 1]], \
row_partition_types=[])
tf.raw_ops.RaggedTensorToTensor(shape=5, values=[1.0], default_value=0.0, row_partition_tensors=[[0, 1]], \
row_partition_types=["ROW_SPLITS"])
tf.raw_ops.RaggedTensorToTensor(shape=[-2, 1], values=[1.0], default_value=0.0, row_partition_tensors=[[0, 1]], \
row_partition_types=["ROW_SPLITS"])
tf.raw_ops.RaggedTensorToSparse(rt_nested_splits=[[0, 2]], rt_dense_values=[1.0])
tf.raw_ops.RaggedTensorToSparse(rt_nested_splits=[[1, 2]], rt_dense_values=[1.0, 2.0])
tf.raw_ops.RaggedTensorToSparse(rt_nested_splits=[[0, 2, 1]], rt_dense_values=[1.0])
tf.raw_ops.RaggedTensorToSparse(rt_nested_splits=[[0, 1]], rt_dense_values=1.0)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 2, 1]], params_dense_values=[1], indices=[0], OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedGather(params_nested_splits=[[0, 1]], params_dense_values=1, indices=[0], OUTPUT_RAGGED_RANK=1)
tf.raw_ops.RaggedFillEmptyRowsGrad(reverse_index_map=[0, 9], grad_values=[1.0])
tf.raw_ops.RaggedFillEmptyRowsGrad(reverse_index_map=[0, 2], grad_values=[1.0, 2.0, 5.0])
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[[0]], values=[1.0], nrows=1, default_value=0.0)
tf.raw_ops.RaggedFillEmptyRows(value_rowids=[0], values=[1.0], nrows=1, default_value=[0.0])
tf.ragged_fill_empty_rows_grad([0, 2], [1.0, 2.0, 3.0])
tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5, 6, 9])
tf.ragged.row_splits_to_segment_ids(tf.constant([0, 3, 3, 5]), out_type=tf.int64)
tf.ragged.row_splits_to_segment_ids([])
tf.ragged.row_splits_to_segment_ids([[0]])
tf.ragged.row_splits_to_segment_ids([0.0, 1.0])
tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2, 3, 4, 4, 4])
tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5)
tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5, out_type=tf.int32)
tf.ragged.segment_ids_to_row_splits([[0]])
tf.ragged.segment_ids_to_row_splits([0.0])
tf.ragged.constant([[1, 2], [3]], dtype=tf.float64, row_splits_dtype=tf.int32)
tf.ragged.constant([])
tf.ragged.constant([], ragged_rank=2)
tf.ragged.constant([], ragged_rank=0)
tf.ragged.constant(5)
tf.ragged.constant(5, ragged_rank=1)
tf.ragged.constant([1, 2])
tf.ragged.constant([1, 2], ragged_rank=0)
tf.ragged.constant([1, 2], ragged_rank=1)
tf.ragged.constant([[1, 2], 3])
tf.ragged.constant([[1, 2], [[3]]])
tf.ragged.constant([[[]], [1]])
tf.ragged.constant([[1, 2], [3]], ragged_rank=-1)
tf.ragged.constant([[1, 2], [3]], ragged_rank=2)
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,))
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1, inner_shape=(2,))
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=2, inner_shape=(2,))
tf.ragged.constant([[[1, 2], [3]], [[5, 6]]], ragged_rank=1)
tf.ragged.constant([[], [[]]], ragged_rank=1, inner_shape=(0,))
tf.ragged.constant([[], []], dtype=tf.string)
tf.ragged.constant([["a", 1]])
tf.ragged.constant([[1, 2.5], [3]])
tf.ragged.constant([[2**40], []])
tf.ragged.constant([[True], []])
tf.ragged.constant([[1.5]], dtype=tf.int32)
tf.ragged.constant(tf.ragged.constant([[1]]))
tf.ragged.constant(((1, 2), (3,)))
tf.ragged.constant(np.array([[1, 2], [3, 4]]))
tf.ragged.constant([np.array([1, 2]), np.array([3])])
tf.ragged.constant([np.array([1.5]), np.array([], np.float64)])
tf.RaggedTensorSpec([None, None], tf.int32, row_splits_dtype=tf.int32)
tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(tf.ragged.constant([[1]]))
tf.RaggedTensorSpec([None, None], tf.int64).is_compatible_with(tf.ragged.constant([[1]]))
tf.RaggedTensorSpec([None, 3], ragged_rank=1).shape
tf.RaggedTensorSpec([None, 3], ragged_rank=1).dtype
tf.RaggedTensorSpec([None, 3], ragged_rank=1).ragged_rank
tf.RaggedTensorSpec([None, 3], ragged_rank=1).row_splits_dtype
tf.RaggedTensorSpec([None, 3], ragged_rank=1).flat_values_spec is None
tf.RaggedTensorSpec([None, 3], ragged_rank=1).value_type.__name__
tf.RaggedTensorSpec([None], ragged_rank=0).value_type.__name__
tf.RaggedTensorSpec(None)
tf.RaggedTensorSpec([2, None], ragged_rank="a")
tf.RaggedTensorSpec([2, None]) == tf.RaggedTensorSpec([2, None])
tf.RaggedTensorSpec([2, None]).most_specific_compatible_type(tf.RaggedTensorSpec([3, None]))
tf.RaggedTensorSpec.from_value(tf.ragged.constant([[1], []]))
tf.RaggedTensorSpec([2, None])._batch(4)
tf.RaggedTensorSpec([2, None])._unbatch()
tf.nest.flatten(tf.RaggedTensorSpec([2, None, 5], ragged_rank=1), expand_composites=True)
tf.type_spec_from_value(tf.ragged.constant([[1], []]))
tf.is_tensor(tf.ragged.constant([[1]]))
tf.identity(tf.ragged.constant([[1]]))
rt.consumers()
rt.dtype
rt.ragged_rank
rt3.ragged_rank
rt.flat_values
rt3.values
rt3.flat_values
"""

ROWS = [
    *_lines(_VALUES, grad=False),
    *_lines(_RAW_ERRORS, grad=False),
    *_lines(_VARIANTS, a=normal(5), grad=False),
    *[row(line, a=normal(5), b=normal()) for line in _GRADIENTS.strip().splitlines()],
    *[row(line, a=normal(5), b=normal()) for line in _RAW.strip().splitlines()],
    *each(
        f"{FLOATS} {COMPLEXES} {INTS}",
        "tf.RaggedTensor.from_row_lengths(a, [1, 0, 3, 1]).to_tensor()",
        a=normal(5),
        fd=False,
    ),
    *each("string bool", "tf.RaggedTensor.from_row_lengths(a, [1, 2]).to_tensor()", a=value(["x", "y", "z"])),
    *each(f"{FLOATS} {INTS}", "tf.RaggedTensor.from_row_lengths(a, [1, 0, 3, 1])[:, ::-1]", a=normal(5), fd=False),
    *each("int32 int64 float32 float64", "tf.ragged.range(a, 3 * a + 1, a)", a=value([1, 2, 4]), grad=False),
    *each(
        "int32 int64 float32 float64",
        "tf.raw_ops.RaggedRange(starts=a, limits=3 * a + 1, deltas=a)",
        a=value([1, 2, 4]),
        grad=False,
    ),
    row(
        "tf.raw_ops.RaggedTensorToTensor(shape=[3, 2], values=[1.0], default_value=0.0, row_partition_tensors=[[0, 2]], "
        'row_partition_types=["ROW_SPLITS"])',
        ours="row splits that end beyond the values are refused; TensorFlow leaves the missing values out",
    ),
    *each("int32 int64 float32 float64", "tf.ragged.range(a, -3 * a, -a)", a=value([1, 2, 4]), grad=False),
    row("tf.ragged.range(0.0, 1.0, 0.1)"),
    row("tf.RaggedTensor.from_row_splits(a, [0, 1, 4]).to_tensor(default_value=[1.0, 2.0])", a=normal(4, 2)),
    row("tf.RaggedTensor.from_row_splits(a, [0, 1, 4]).to_tensor(default_value=b)", a=normal(4, 2), b=normal(1)),
    row("tf.RaggedTensor.from_row_splits(a, [0, 1, 4]).to_sparse().values", a=normal(4, 2)),
    row("tf.RaggedTensor.from_row_splits(a, [0, 1, 4]).to_sparse()", a=normal(4, 2, 3), grad=False),
    row("tf.RaggedTensor.from_row_splits(a, [0, 1, 4])[:, :, 0]", a=normal(4, 2)),
    row("tf.RaggedTensor.from_row_splits(a, [0, 0]).to_tensor()", a=normal(0)),
    row("tf.RaggedTensor.from_row_splits(a, [0]).to_tensor()", a=normal(0)),
    row("tf.RaggedTensor.from_row_splits(a, [0]).to_sparse()", a=normal(0), grad=False),
    row("tf.RaggedTensor.from_value_rowids(a, i, nrows=9).to_tensor()", a=normal(6), i=value([0, 0, 3, 3, 3, 8], "int64")),
    row(
        "tf.RaggedTensor.from_row_lengths(a, tf.constant([2, 0, 3], tf.int32)).row_splits",
        a=uniform(0, 1, 5),
        grad=False,
    ),
    row("tf.RaggedTensor.from_row_starts(a, i)", a=integers(0, 9, 7), i=value([0, 3, 3], "int32")),
    row("tf.RaggedTensor.from_row_limits(a, i)", a=integers(0, 9, 7), i=value([3, 3, 7], "int64")),
]
