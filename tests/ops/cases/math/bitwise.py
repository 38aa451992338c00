"""Rows of `ops/math/bitwise.py`."""

from rows import INTS, SIGNED, each, integers, normal, row, value

ROWS = [
    *each(INTS, "tf.bitwise.bitwise_and(a, b), tf.bitwise.bitwise_or(a, b), tf.bitwise.bitwise_xor(a, b)",
          a=integers(0, 128, 4, 5, dtype=None), b=integers(0, 128, 5, dtype=None)),
    *each(SIGNED, "tf.bitwise.bitwise_and(a, b), tf.bitwise.bitwise_or(a, b), tf.bitwise.bitwise_xor(a, b)",
          a=integers(-128, 128, 6, dtype=None), b=integers(-128, 128, 6, dtype=None)),
    *each(INTS, "tf.bitwise.invert(a)", a=integers(0, 128, 2, 3, dtype=None)),
    *each(SIGNED, "tf.bitwise.invert(a)", a=integers(-128, 128, 6, dtype=None)),
    *each(INTS, "tf.bitwise.left_shift(a, b), tf.bitwise.right_shift(a, b)", a=integers(0, 128, 9, dtype=None),
          b=integers(0, 8, 9, dtype=None)),
    *each(SIGNED, "tf.bitwise.left_shift(a, b), tf.bitwise.right_shift(a, b)", a=integers(-128, 128, 9, dtype=None),
          b=integers(0, 7, 9, dtype=None)),
    row("tf.bitwise.left_shift(a, b), tf.bitwise.right_shift(a, b)", a=value([1, -8, 8, 8], "int32"),
        b=value([100, 40, -1, 32], "int32")),
    row("tf.bitwise.left_shift(a, b), tf.bitwise.right_shift(a, b)", a=value([200, 3], "uint8"),
        b=value([9, 255], "uint8")),
    *each(INTS, "tf.raw_ops.PopulationCount(x=a)", a=integers(0, 128, 2, 3, dtype=None)),
    *each(SIGNED, "tf.raw_ops.PopulationCount(x=a)", a=integers(-128, 128, 6, dtype=None)),
    row("tf.raw_ops.PopulationCount(x=a)", a=value(-1, "int64")),
    row("tf.bitwise.bitwise_and(a, a)", a=normal(2)),
    row("tf.bitwise.invert(a)", a=normal(2)),
    row("tf.bitwise.bitwise_or(a, b)", a=value([1], "int32"), b=value([1], "int64")),
    row("tf.bitwise.bitwise_xor(a, b)", a=integers(0, 9, 2), b=integers(0, 9, 3)),
    row("tf.bitwise.bitwise_and(a, 6), tf.bitwise.bitwise_or(1, a), tf.bitwise.left_shift(a, 1)", a=integers(0, 9, 0)),
    row("tf.bitwise.right_shift(a, 1.5)", a=integers(0, 9, 2)),
]  # fmt: skip
