"""Rows of `ops/math/cumulative.py`."""

from rows import COMPLEXES, FLOATS, INTS, booleans, each, integers, normal, row, uniform, value

INF = float("inf")
NUMBERS = f"{FLOATS} {COMPLEXES} {INTS}"
WAYS = [(exclusive, reverse) for exclusive in (False, True) for reverse in (False, True)]

ROWS = [
    *each(NUMBERS, "tf.math.cumsum(a), tf.math.cumsum(a, axis=-1, exclusive=True)", a=integers(0, 5, 3, 4, dtype=None),
          fd=False),
    *each(NUMBERS, "tf.math.cumprod(a), tf.math.cumprod(a, axis=-1, reverse=True)", a=integers(1, 3, 3, 3, dtype=None),
          fd=False),
    *each(FLOATS, "tf.math.cumulative_logsumexp(a, axis=1)", a=normal(3, 4)),
    *[row(f"tf.cumsum(a, axis=1, exclusive={e}, reverse={r})", a=normal(3, 4)) for e, r in WAYS],
    *[row(f"tf.math.cumprod(a, axis=0, exclusive={e}, reverse={r})", a=uniform(0.5, 2, 3, 2)) for e, r in WAYS],
    *[row(f"tf.math.cumprod(a, 1, {e}, {r})", a=uniform(0.5, 2, 2, 3), dtype="complex128", fd=False) for e, r in WAYS[:2]],
    *[row(f"tf.math.cumulative_logsumexp(a, axis=-1, exclusive={e}, reverse={r})", a=normal(2, 4), dtype=dtype, fd=not e)
      for e, r in WAYS for dtype in ("float32", "float64")],
    row("tf.math.cumprod(a)", a=value([1.0, 0.0, 2.0, 3.0]), fd=False),
    row("tf.math.cumulative_logsumexp(a)", a=value([-INF, -INF, 3.0, 1000.0]), fd=False, grad=False, lower=False),
    row("tf.cumsum([1, 2, 3]), tf.cumsum(a, axis=tf.constant(0, tf.int64)), tf.cumsum(a, np.int32(1))", a=normal(2, 2)),
    row("tf.cumsum(a), tf.math.cumprod(a), tf.cumsum(a, 1, exclusive=True)", a=normal(0, 2), fd=False),
    row("tf.cumsum(a, 1, exclusive=True), tf.math.cumulative_logsumexp(a, 1)", a=normal(2, 0), fd=False),
    row("tf.cumsum(a, axis=1)", a=normal(2, 3, 2)),
    row("tf.raw_ops.Cumsum(x=a, axis=1, exclusive=True, reverse=True)", a=normal(2, 3)),
    row("tf.raw_ops.Cumprod(x=a, axis=0)", a=uniform(0.5, 2, 2, 3)),
    row("tf.raw_ops.CumulativeLogsumexp(x=a, axis=0)", a=normal(2, 3)),
    *[row(f"tf.cumsum(a, axis={axis})", a=normal(2, 3)) for axis in (2, -3, [0], [0, 1])],
    row("tf.cumsum(3.0)"),
    row("tf.cumsum(a)", a=booleans(3)),
    row("tf.cumsum(a)", a=value(["a"])),
    row("tf.math.cumprod(a, axis=3)", a=normal(2)),
    row("tf.math.cumulative_logsumexp(a)", a=value([1, 2], "int32")),
    row("tf.math.cumulative_logsumexp(a, axis=-2)", a=normal(2)),
    row("tf.cumsum(a)", a=value([100, 100, 100], "int8")),
]  # fmt: skip
