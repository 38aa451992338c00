"""Rows of `ops/arithmetic.py`."""

from rows import COMPLEXES, FLOATS, INTS, each, normal, row, value

ROWS = [
    *each(f"{FLOATS} {COMPLEXES} {INTS}", "tf.math.subtract(a, b)", a=normal(2, 3), b=normal(3)),
    *each(f"{FLOATS} {COMPLEXES}", "tf.math.negative(a)", a=normal(2, 3)),
    row("tf.math.subtract(a, b)", a=normal(2, 3), b=normal(2)),
    row("tf.math.subtract(a, b)", a=normal(2), b=value([1, 2], "int32")),
]
