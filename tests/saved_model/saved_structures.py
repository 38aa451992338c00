"""Structures as expressions over `tf`, `np` and `BoundedTensorSpec`: what `StructuredValue` messages hold."""

STRUCTURES = """
None
1
-5
2.5
float('inf')
'text'
True
tf.TensorShape([1, None])
tf.TensorShape(None)
tf.float32
tf.bfloat16
tf.string
tf.TensorSpec([2], tf.int32, 'x')
tf.TensorSpec(None, tf.resource)
BoundedTensorSpec([2], tf.float32, 0, 1, 'b')
[]
()
{}
[1, (2, {'a': [None], 'b': 'c'})]
Point(1, [tf.TensorSpec([])])
((tf.TensorSpec([None, 2], tf.float32, 'x'), False), {'training': None})
tf.constant([1, 2])
tf.constant('bytes')
np.array([1.5, 2.5], np.float32)
np.array([b'a', b'bc'], object)
tf.SparseTensorSpec([None, 2], tf.int64)
tf.RaggedTensorSpec([None, None], tf.string)
tf.RaggedTensorSpec([None, None, 3], tf.float32, ragged_rank=1, row_splits_dtype=tf.int32)
tf.IndexedSlicesSpec([4, 2], tf.float32, tf.int32)
tf.TensorArraySpec([2], tf.float32, dynamic_size=True)
tf.data.DatasetSpec((tf.TensorSpec([2]), {'a': tf.RaggedTensorSpec([None, None])}))
tf.data.IteratorSpec((tf.TensorSpec([]),))
tf.OptionalSpec(tf.TensorSpec([]))
tf.RaggedTensor.from_row_lengths([1, 2], [2])._type_spec
tf.constant([[1.0]])[0]
""".strip().splitlines()
