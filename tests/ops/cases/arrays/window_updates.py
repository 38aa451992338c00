"""Rows of `ops/arrays/dynamic_slices.py`; tests/ops/arrays/test_dynamic_slices.py says what they are."""

from rows import integers, normal, row, value

_OURS = "TensorFlow's XLA ops are not in its raw_ops"
_UPDATE = "tf.raw_ops.XlaDynamicUpdateSlice(input=a, update=b, indices=i)"
_SLICE = "tf.raw_ops.XlaDynamicSlice(input=a, start_indices=i, size_indices=[2, 3])"

ROWS = [
    row(_UPDATE, a=normal(4, 5), b=normal(2, 3), i=value([1, 1], "int32"), ours=_OURS),
    row(_UPDATE, a=normal(4, 5), b=normal(2, 3), i=value([9, -4], "int32"), ours=_OURS),
    row(_UPDATE, a=integers(0, 9, 6), b=integers(10, 20, 2), i=value([3], "int64"), ours=_OURS),
    row(_SLICE, a=normal(4, 5), i=value([1, 1], "int32"), ours=_OURS),
    row(_SLICE, a=normal(4, 5), i=value([3, -2], "int32"), ours=_OURS),
]
