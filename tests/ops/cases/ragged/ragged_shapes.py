"""Rows of `tf.experimental.DynamicRaggedShape` and the functions that take one."""

import re

from rows import row

_SHORT = {
    "rt": "tf.ragged.constant([[1, 2], [], [3]])",
    "rt3": "tf.ragged.constant([[[1, 2], [3]], [], [[4]]])",
    "rf": "tf.ragged.constant([[1.0, 2.0], [], [3.0]])",
    "ru": "tf.RaggedTensor.from_row_splits([[1, 2], [3, 4], [5, 6], [7, 8]], [0, 1, 4])",
    "R": "tf.RaggedTensor",
    "RP": "tf.experimental.RowPartition",
    "D": "tf.experimental.DynamicRaggedShape",
    "s": "tf.experimental.DynamicRaggedShape.from_tensor(tf.ragged.constant([[1, 2], [], [3]]))",
    "s3": "tf.experimental.DynamicRaggedShape.from_tensor(tf.ragged.constant([[[1, 2], [3]], [], [[4]]]))",
    "su": "tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 3), 2])",
    "sd": "tf.experimental.DynamicRaggedShape.from_tensor(tf.zeros([2, 3]))",
}


def _written_out(code):
    """The code of a row with the short names replaced by what they stand for."""
    pattern = "|".join(rf"\b{name}\b" for name in _SHORT)
    return re.sub(pattern, lambda match: _SHORT[match[0]], code)


def _lines(text, **options):
    return [row(_written_out(line), **options) for line in text.strip().splitlines()]


_VALUES = """
s
s3
su
sd
D.from_tensor(5)
D.from_lengths([2, 3])
D.from_lengths([2, (3, 1), 4])
D.from_lengths([2, (3, 1), 4], num_row_partitions=2)
D.from_lengths([2, (3, 1), (1, 2, 3, 4)])
D.from_lengths([2, (3, 1, 1)])
D.from_lengths([])
D.from_lengths([2, 2], num_row_partitions=1)
D.from_lengths([2, 2], num_row_partitions=2)
D.from_lengths([(1, 2), 3])
D.from_lengths([2, 2.5])
D.from_lengths([2, (1, )])
D.from_row_partitions([RP.from_row_splits([0, 2, 2, 3])])
D.from_row_partitions([])
D([RP.from_row_splits([0, 2, 2, 3])], [3])
D([RP.from_row_splits([0, 2, 2, 3])], [4])
D([RP.from_row_splits([0, 2, 2, 3])], [4], validate=True)
D([], [2, 3])
D([RP.from_row_splits([0, 2, 2, 3])], [3], dtype=tf.int32)
D([RP.from_row_splits([0, 2, 2, 3])], [[3]])
s.rank
s3.rank
su.inner_rank
su.inner_shape
s.inner_shape
s.num_row_partitions
s.row_partitions
s.dtype
s.is_uniform(0)
s.is_uniform(1)
su.is_uniform(2)
s.is_uniform(5)
s.static_lengths()
s3.static_lengths()
s3.static_lengths(ragged_lengths=False)
su.static_lengths()
sd.static_lengths()
s[0]
s[1]
su[2]
s[-1]
s[:1]
s[0:2]
s3[:2]
su[1:]
su[2:]
su[:0]
s[5]
sd[0]
sd[1:]
s.with_dtype(tf.int32)
s.with_dtype(tf.int32).dtype
s._to_tensor_shape()
su._to_tensor_shape()
s._num_elements()
su._with_num_row_partitions(2)
su._with_num_row_partitions(0)
sd._with_num_row_partitions(1)
su._with_inner_rank(1)
s._type_spec
su._type_spec
sd._type_spec
s==s
s==D.from_tensor(tf.ragged.constant([[1, 2], [], [3]]))
tf.broadcast_dynamic_shape(s, D.from_lengths([3, 1]))
tf.broadcast_dynamic_shape(D.from_lengths([2, (1, 3)]), D.from_lengths([1]))
tf.broadcast_dynamic_shape(D.from_lengths([2, (1, 3)]), D.from_lengths([4, 1, 1]))
tf.broadcast_dynamic_shape(D.from_lengths([2, (1, 3)]), D.from_lengths([2, (2, 3)]))
tf.broadcast_dynamic_shape(D.from_lengths([2, 3]), D.from_lengths([2, 1]))
tf.broadcast_to(5, s)
tf.broadcast_to([[1], [2], [3]], s)
tf.broadcast_to(tf.ragged.constant([[1, 2], [], [3]]), s)
tf.broadcast_to([1, 2], s)
tf.broadcast_to([1, 2], su)
tf.broadcast_to([1, 2], D.from_lengths([3, 2]))
tf.broadcast_to(rt, D.from_lengths([2, 3, (2, 0, 1, 2, 0, 1)]))
tf.broadcast_to(rt, D.from_lengths([2, 3]))
tf.reshape([1, 2, 3], s)
tf.reshape([1, 2, 3, 4], s)
tf.reshape(rt, D.from_lengths([3, 1]))
tf.reshape(rt, D.from_lengths([1, 3]))
tf.reshape(rt3, D.from_lengths([2, (3, 1)]))
tf.reshape(rt3, D.from_lengths([2, 2]))
tf.reshape([[1, 2], [3, 4]], D.from_lengths([2, (1, 3)]))
tf.zeros(s)
tf.ones(s)
tf.ones(su, tf.int32)
tf.fill(s, 7)
tf.ones(D.from_lengths([2, 3]))
tf.zeros(shape=s)
tf.random.uniform(s)
tf.size(s)
tf.rank(s)
tf.shape(s)
tf.shape(rt, out_type=tf.int32).dtype
tf.shape(rt).dtype
tf.nest.flatten(s, expand_composites=True)
tf.nest.flatten(su, expand_composites=True)
tf.nest.flatten(sd, expand_composites=True)
isinstance(s, tf.experimental.ExtensionType)
D.Spec._from_tensor_shape([2, None], num_row_partitions=1, dtype=tf.int64)
D.Spec(row_partitions=(), static_inner_shape=[2, 3], dtype=tf.int64)
su._type_spec.rank
su._type_spec.inner_rank
su._type_spec.num_row_partitions
su._type_spec.dtype
su._type_spec._to_tensor_shape()
su._type_spec.with_dtype(tf.int32)
su._type_spec._dimension(1)
su._type_spec._num_slices_in_dimension(2)
su._type_spec._truncate(2)
su._type_spec._set_rank_if_unknown(3)
str(s)
s._merge_dims(0, 1)
su._merge_dims(1, 2)
su._merge_dims(0, 1)
"""

ROWS = [
    *_lines(_VALUES, grad=False),
]
