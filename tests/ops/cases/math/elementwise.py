"""Rows of `ops/math/elementwise.py`, `ops/math/trigonometry.py` and `ops/math/clipping.py`."""

from rows import COMPLEXES, FLOATS, INTS, SIGNED, booleans, each, normal, row, uniform, value

INF, NAN = float("inf"), float("nan")
ANY = f"{FLOATS} {COMPLEXES}"
NO_KERNEL = "TensorFlow's CPU has no kernel for this dtype, which its op allows; see docs/decisions/0010-dtypes.md"

# Function, and the interval from which arguments are drawn.
SMOOTH = [
    ("tf.math.square", -2, 2), ("tf.math.sqrt", 0.3, 2), ("tf.math.rsqrt", 0.3, 2),
    ("tf.math.reciprocal", 0.5, 2), ("tf.math.exp", -2, 2), ("tf.math.expm1", -2, 2),
    ("tf.math.log", 0.3, 3), ("tf.math.log1p", -0.5, 3), ("tf.math.sin", -3, 3), ("tf.math.cos", -3, 3),
    ("tf.math.tan", -1, 1), ("tf.math.asin", -0.8, 0.8), ("tf.math.acos", -0.8, 0.8),
    ("tf.math.atan", -3, 3), ("tf.math.sinh", -2, 2), ("tf.math.cosh", -2, 2), ("tf.math.asinh", -3, 3),
    ("tf.math.acosh", 1.3, 4), ("tf.math.atanh", -0.8, 0.8), ("tf.math.sigmoid", -4, 4),
    ("tf.math.tanh", -2, 2),
]  # fmt: skip
TOP_LEVEL = (
    "tf.square tf.sqrt tf.exp tf.sin tf.cos tf.tan tf.asin tf.acos tf.atan "
    "tf.sinh tf.cosh tf.asinh tf.acosh tf.atanh tf.sigmoid tf.tanh"
)

ROWS = [
    # Second derivatives of complex inverse functions divide small differences.
    *[r for name, low, high in SMOOTH for r in each(FLOATS, f"{name}(a)", a=uniform(low, high, 2, 3))],
    *[r for name, low, high in SMOOTH for r in each(COMPLEXES, f"{name}(a)", a=uniform(low, high, 2, 3))],
    *[row(f"{name}(a)", a=uniform(1.1, 1.5, 3) if name == "tf.acosh" else uniform(0.2, 0.7, 3))
      for name in TOP_LEVEL.split()],
    *[row(f"{name}(a)", a=value([0.0, -0.0, 1.0, -1.0, 2.0, INF, -INF, NAN, 100.0, -100.0]), fd=False)
      for name, _, _ in SMOOTH if name not in ("tf.math.sin", "tf.math.cos", "tf.math.tan")],
    *[row(f"{name}(a)", a=value([1, 2], "int32")) for name, _, _ in SMOOTH if name not in ("tf.math.square", "tf.math.reciprocal")],
    row("tf.math.reciprocal(a)", a=value([-2, -1, 1, 2, 3], "int32"), ours=NO_KERNEL),
    *each(INTS, "tf.square(a)", a=normal(4)),
    row("tf.math.exp(a)", a=normal(0, 3)),
    row("tf.math.log(a)", a=uniform(1, 2)),
    row("tf.math.sqrt(a)", a=value(["a"])),
    row("tf.sqrt([4, 9.0]), tf.exp(1.0), tf.math.log(np.array([1.0, 2.0]))"),
    row("tf.math.sigmoid(a)", a=value([-1000.0, -80.0, -20.0, 0.0, 20.0, 1000.0]), rtol=1e-5, atol=1e-30, fd=False),
    row("tf.nn.sigmoid(a) + tf.nn.tanh(a)", a=normal(4)),
    row("tf.math.tanh(a)", a=value([1e-5, -1e-5, 20.0, -20.0]), rtol=1e-6, atol=0, fd=False),
    row("tf.math.expm1(a), tf.math.log1p(a)", a=value([1e-7, -1e-7, 1e-10]), rtol=1e-6, atol=0, fd=False),
    *each(f"{FLOATS} {SIGNED}", "tf.math.abs(a)", a=value([-2, 3, 0, 1]), fd=False),
    row("tf.abs(a)", a=normal(5)),
    row("tf.abs(a)", a=value([1], "uint8")),
    row("tf.abs(a)", a=booleans(2)),
    *each(f"{FLOATS} {SIGNED}", "tf.math.sign(a)", a=value([-2, 3, 0, 1]), fd=False),
    *each(COMPLEXES, "tf.sign(a)", a=normal(3)),
    row("tf.sign(a)", a=value([NAN, INF, -INF, -0.0]), fd=False),
    row("tf.sign(a)", a=value([1], "uint8")),
    *each(FLOATS, "tf.math.ceil(a), tf.math.floor(a), tf.math.round(a)",
          a=value([0.5, 1.5, -0.5, -2.5, 1.2, -1.2, 3.0]), fd=False),
    *each("float32 float64", "tf.math.rint(a)", a=value([0.5, 1.5, -0.5, -2.5, 1.2, -1.2, 3.0]), fd=False),
    *each("float16 bfloat16", "tf.math.rint(a)", a=value([0.5, 1.5, -0.5, -2.5]), ours=NO_KERNEL),
    row("tf.floor(a), tf.round(a)", a=value([INF, -INF, NAN, 1e10, 0.49999997]), fd=False),
    *each(INTS, "tf.round(a)", a=value([1, 2, 3])),
    *each(SIGNED, "tf.raw_ops.Round(x=a)", a=value([1, -2, 3]), ours="TensorFlow's raw op gives zeros for integers"),
    row("tf.round(a)", a=normal(2, dtype="complex64"), ours=NO_KERNEL),
    row("tf.round(a)", a=value(["a"])),
    row("tf.math.ceil(a)", a=value([1], "int32")),
    row("tf.math.floor(a)", a=value([1], "int32")),
    *each(FLOATS, "tf.math.is_nan(a), tf.math.is_inf(a), tf.math.is_finite(a)", a=value([1.0, INF, -INF, NAN])),
    row("tf.math.is_nan(a)", a=value([1], "int32")),
    row("tf.math.is_nan(a)", a=normal(2, dtype="complex64")),
    *each(ANY, "tf.raw_ops.SqrtGrad(y=a, dy=b)", a=uniform(0.5, 2, 3), b=normal(3)),
    *each(ANY, "tf.raw_ops.RsqrtGrad(y=a, dy=b)", a=uniform(0.5, 2, 3), b=normal(3)),
    *each(ANY, "tf.raw_ops.SigmoidGrad(y=a, dy=b)", a=uniform(0.2, 0.8, 3), b=normal(3)),
    *each(ANY, "tf.raw_ops.TanhGrad(y=a, dy=b)", a=uniform(-0.8, 0.8, 3), b=normal(3)),
    *each(ANY, "tf.raw_ops.ReciprocalGrad(y=a, dy=b)", a=uniform(0.5, 2, 3), b=normal(3)),
    *each(ANY, "tf.raw_ops.InvGrad(y=a, dy=b)", a=uniform(0.5, 2, 3), b=normal(3)),
    *each(ANY, "tf.raw_ops.Inv(x=a)", a=uniform(0.5, 2, 3)),
    row("tf.raw_ops.TanhGrad(y=a, dy=b)", a=normal(2), b=normal(3)),
    # Clipping.
    *each(f"{FLOATS} {INTS}", "tf.clip_by_value(a, 1, 3)", a=value([0, 1, 2, 3, 4]), fd=False),
    row("tf.clip_by_value(a, b, c)", a=normal(4, 3), b=uniform(-1, -0.2, 3), c=uniform(0.2, 1)),
    row("tf.clip_by_value(a, 3.0, 1.0)", a=normal(3), fd=False),
    row("tf.clip_by_value(a, 0.0, 1.0)", a=value([0.5, NAN, INF, -INF]), fd=False),
    row("tf.clip_by_value(a, 1.5, 2)", a=value([1, 2], "int32")),
    row("tf.clip_by_value(a, [[[1.0, 2.0]]], 3.0)", a=normal(2, 2)),
    row("tf.clip_by_value(a, 1, 2)", a=normal(2, dtype="complex64")),
    row("tf.clip_by_value(tf.IndexedSlices(a, [0, 1], [4, 3]), -0.5, 0.5).values", a=normal(2, 3)),
    *each("float32 float64 float16 int32 int64 uint8", "tf.raw_ops.ClipByValue(t=a, clip_value_min=b, clip_value_max=c)",
          a=value([0, 1, 2, 3, 4]), b=value(1), c=value(3), fd=False),
    row("tf.raw_ops.ClipByValue(t=a, clip_value_min=b, clip_value_max=c)", a=normal(4, 3), b=uniform(-1, -0.2, 4, 3),
        c=uniform(0.2, 1)),
    row("tf.raw_ops.ClipByValue(t=a, clip_value_min=[1.5, 2.0], clip_value_max=3.0)", a=normal(2, 2)),
    row("tf.raw_ops.ClipByValue(t=a, clip_value_min=1.0, clip_value_max=2.0)", a=value([NAN, 0.0, 5.0]), fd=False),
    row("tf.clip_by_norm(a, 1.5)", a=normal(2, 3)),
    row("tf.clip_by_norm(a, 100)", a=normal(2, 3), dtype="float64"),
    row("tf.clip_by_norm(a, 0.5, axes=[0])", a=normal(2, 3)),
    row("tf.clip_by_norm(a, [0.1, 0.2, 5.0], axes=1)", a=normal(2, 3)),
    row("tf.clip_by_norm(a, 2.0)", a=value([0.0, 0.0]), fd=False),
    row("tf.clip_by_norm(a, 0.0)", a=normal(3), fd=False),
    row("tf.clip_by_norm(a, -1.0)", a=normal(3), fd=False),
    row("tf.clip_by_norm(a, 1)", a=value([3.0, 4.0])),
    row("tf.clip_by_norm(a, 2)", a=value([1, 2], "int32")),
    row("tf.clip_by_norm(a, [1.0, 1.0, 1.0])", a=normal(2, 2)),
    row("tf.clip_by_norm(a, 2.0, axes=5)", a=normal(2, 2)),
    row("tf.clip_by_norm(tf.IndexedSlices(a, [0, 1], [4, 3]), 0.5).values", a=normal(2, 3)),
    *each(FLOATS, "tf.clip_by_norm(a, 1.0)", a=normal(2, 3)),
    row("tf.clip_by_global_norm([a, b], 1.5)", a=normal(2, 3), b=normal(4)),
    row("tf.clip_by_global_norm([a, None], 100.0)[0][0]", a=normal(2, 3)),
    row("tf.clip_by_global_norm((a, a), 0.5, use_norm=tf.constant(3.0))", a=normal(2, 3)),
    row("tf.clip_by_global_norm([], 2.0)[1]"),
    row("tf.clip_by_global_norm([a * np.inf], 2.0)", a=uniform(1, 2, 2), fd=False, grad=False),
    row("tf.clip_by_global_norm(a, 2.0)", a=normal(2)),
    row("tf.clip_by_global_norm([a, b], 1.0)", a=normal(2), b=normal(2, dtype="float64")),
    row("tf.clip_by_global_norm([tf.IndexedSlices(a, [0, 1], [4, 3])], 0.5)[0][0].values", a=normal(2, 3)),
    row("tf.linalg.global_norm([a, None, b])", a=normal(2, 3), b=normal(3)),
    row("tf.linalg.global_norm([None]), tf.linalg.global_norm([])"),
    row("tf.linalg.global_norm(a)", a=normal(2)),
    row("tf.compat.v1.clip_by_average_norm(a, 0.1)", a=normal(2, 3)),
    row("tf.compat.v1.clip_by_average_norm(a, 10.0)", a=normal(2, 3)),
]  # fmt: skip
