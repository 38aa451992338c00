"""Rows of `ops/arrays/sets.py` and `ops/sparse/edit_distance.py`."""

from rows import each, integers, row, value

INTEGERS = "int8 int16 int32 int64 uint8 uint16"
SPARSE_A = "tf.SparseTensor([[0, 0], [0, 2], [1, 0], [2, 0], [2, 1]], [3, 1, 3, 4, 4], [3, 3])"
SPARSE_B = "tf.SparseTensor([[0, 1], [0, 3], [2, 0], [2, 1]], [1, 9, 4, 8], [3, 4])"
DENSE = "[[1, 2, 2], [3, 4, 5], [8, 6, 7]]"
EMPTY = "tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0], tf.int32), [3, 2])"
OPERATIONS = (
    "tf.sets.union({}, {})",
    "tf.sets.intersection({}, {})",
    "tf.sets.difference({}, {})",
    "tf.sets.difference({}, {}, aminusb=False)",
)


def text(code, **options):
    return row(code, grad=False, **options)


def sparse_sets(indices1, shape1, indices2, shape2, extra="", **options):
    return text(
        f"tf.raw_ops.SparseToSparseSetOperation(set1_indices={indices1}, set1_values=[1, 2], "
        f"set1_shape={shape1}, "
        f"set2_indices={indices2}, set2_values=[1], set2_shape={shape2}, set_operation='union'{extra})",
        **options,
    )


ROWS = [
    *(text(operation.format(a, b)) for operation in OPERATIONS
      for a, b in ((SPARSE_A, SPARSE_B), (DENSE, SPARSE_B), (SPARSE_A, DENSE), (DENSE, DENSE), (EMPTY,
        SPARSE_A))),
    *(row for operation in OPERATIONS
      for row in each(INTEGERS, operation.format("a", "b"), a=integers(0, 6, 2, 3, 5, dtype=None),
                      b=integers(0, 6, 2, 3, 4, dtype=None), grad=False)),
    *(text(operation.format("a", "b"), a=value([["b", "a", "é"], ["", "x", ""]]), b=value([["a", ""], ["x",
        "x"]]))
      for operation in OPERATIONS),
    text("tf.sets.union([1, 2], [2])"),
    text("tf.sets.union([[1, 2]], [2])"),
    text("tf.sets.union([[1, 2]], [[2], [1]])"),
    text("tf.sets.union(1, 2)"),
    text("tf.sets.union([[1.0, 2.0]], [[2.0]])"),
    text("tf.sets.union([[1, 2]], tf.constant([[1]], tf.int64))"),
    text("tf.sets.intersection([[1]], [[2]])"),
    text("tf.sets.union(tf.zeros([2, 0], tf.int32), tf.zeros([2, 0], tf.int32))"),
    text("tf.sets.union(tf.zeros([0, 2], tf.int32), tf.zeros([0, 2], tf.int32))"),
    *(text(f"tf.raw_ops.DenseToDenseSetOperation(set1=[[1, 2]], set2=[[2]], set_operation={name!r})")
      for name in ("A-B", "union", "xor")),
    text("tf.raw_ops.DenseToSparseSetOperation(set1=[[1, 2], [3, 4]], set2_indices=[[0, 0], [1, 0]], "
         "set2_values=[1, 3], set2_shape=[2, 1], set_operation='a-b')"),
    text("tf.raw_ops.DenseToSparseSetOperation(set1=[[1, 2], [3, 4]], set2_indices=[[0, 0], [1, 0]], "
         "set2_values=[1, 3], set2_shape=[3, 1], set_operation='a-b')"),
    text("tf.raw_ops.DenseToSparseSetOperation(set1=[[1, 2], [3, 4]], set2_indices=[[0, 0], [2, 0]], "
         "set2_values=[1, 3], set2_shape=[2, 1], set_operation='a-b')"),
    sparse_sets([[0, 0], [1, 0]], [2, 2], [[0, 0]], [2, 1]),
    sparse_sets([[1, 0], [0, 0]], [2, 2], [[0, 0]], [2, 1]),
    sparse_sets([[0, 0], [0, 0]], [2, 2], [[0, 0]], [2, 1]),
    sparse_sets([[0, 0], [0, 5]], [2, 2], [[0, 0]], [2, 1]),
    sparse_sets([[0, 0], [0, 5]], [2, 2], [[0, 0]], [2, 1], ", validate_indices=False",
                ours="TensorFlow fails with InternalError; headrace checks only what it needs"),
    sparse_sets([[0, 0]], [2, 2], [[0, 0]], [2, 1]),
    sparse_sets([[0, 0], [1, 1]], [3, 2], [[0, 0]], [2, 1]),
    sparse_sets([[0, 0], [1, 1]], [2, 2], [[0, 0, 0]], [2, 1, 1]),
    sparse_sets([[0], [1]], [2], [[0]], [2]),
    sparse_sets([0, 1], [2], [[0]], [2]),
    text(f"tf.sets.size({SPARSE_A})"),
    text(f"tf.sets.size({SPARSE_B}, validate_indices=False)"),
    text(f"tf.sets.size({EMPTY})"),
    text("tf.sets.size(tf.SparseTensor([[0, 0, 0], [0, 0, 1], [1, 1, 0]], ['a', 'a', 'b'], [2, 2, 2]))"),
    text("tf.sets.size([[1, 2]])"),
    text("tf.sets.size(tf.SparseTensor([[0, 0]], [1.5], [1, 1]))"),
    text("tf.raw_ops.SetSize(set_indices=[[0, 0], [0, 1], [1, 0]], set_values=[1, 1, 2], set_shape=[3, 2])"),
    text("tf.raw_ops.SetSize(set_indices=[[0, 0], [5, 1]], set_values=[1, 1], set_shape=[3, 2])"),
    text("tf.raw_ops.SetSize(set_indices=[[1, 0], [0, 1]], set_values=[1, 1], set_shape=[3, 2])"),
    text("tf.raw_ops.SetSize(set_indices=[[1]], set_values=[1], set_shape=[3])"),
    *(text(f"tf.edit_distance({SPARSE_A}, {SPARSE_B}, normalize={normalize})") for normalize in (True,
        False)),
    *(text(f"tf.edit_distance({EMPTY}, {SPARSE_A}, normalize={normalize})") for normalize in (True, False)),
    text(f"tf.edit_distance({SPARSE_A}, {EMPTY})"),
    text(f"tf.edit_distance({EMPTY}, {EMPTY})"),
    *(row for normalize in (True, False)
      for row in each("int32 int64 uint8 float32 float64 bool",
                      "i = tf.constant([[0, 0, k] for k in range(9)] + [[1, 1, k] for k in range(7)])\n"
                      "a = tf.SparseTensor(tf.cast(i, tf.int64), a, [2, 2, 9])\n"
                      "b = tf.SparseTensor(tf.cast(i, tf.int64), b, [2, 2, 9])\n"
                      f"result = tf.edit_distance(a, b, normalize={normalize})",
                      a=integers(0, 3, 16, dtype=None), b=integers(0, 3, 16, dtype=None), grad=False)),
    text("tf.edit_distance(tf.SparseTensor([[0, 0], [0, 1]], ['a', 'b'], [1, 2]), "
         "tf.SparseTensor([[0, 0], [0, 1], [0, 2]], ['c', 'a', 'b'], [1, 3]))"),
    text("tf.edit_distance(tf.SparseTensor([[0, 0]], [1], [1, 2]), tf.SparseTensor([[1, 0]], [1], [2, 2]))"),
    text("tf.edit_distance(tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[0]], [1], [2]))"),
    text("tf.edit_distance([[1, 2]], tf.SparseTensor([[0, 0]], [1], [1, 1]))"),
    text("tf.edit_distance(tf.SparseTensor([[0, 0]], [1.0], [1, 1]), tf.SparseTensor([[0, 0]], [1], [1, "
         "1]))"),
    *(text(f"tf.raw_ops.EditDistance(hypothesis_indices={indices}, hypothesis_values={values}, "
           f"hypothesis_shape={shape}, truth_indices=[[0, 0]], truth_values=[1], truth_shape={truth}, "
           f"normalize=True)",
           ours=ours)
      for indices, values, shape, truth, ours in (
          ([[0, 0], [0, 1]], [1, 2], [1, 2], [1, 1], None),
          ([[0, 0], [0, 1]], [1], [1, 2], [1, 1], None),
          ([[0, 0], [0, 1]], [1, 2], [1, 2], [1, 1, 1], None),
          ([[0, 0], [3, 1]], [1, 2], [1, 2], [1, 1],
           "an index out of bounds is InvalidArgumentError in headrace, InternalError in TensorFlow"),
      )),
]  # fmt: skip
