"""Rows of `ops/arrays/casting.py` and `ops/math/complex_numbers.py`."""

from rows import COMPLEXES, FLOATS, INTS, booleans, each, integers, normal, row, uniform, value

ALL = f"{FLOATS} {COMPLEXES} {INTS} bool"
NAMES = ALL.split()
BETTER = "TensorFlow's result is out of range, or it has no kernel; headrace saturates, see docs/decisions/0011-casts.md"
INF, NAN = float("inf"), float("nan")

ROWS = [
    *[row(f"tf.cast(a, tf.{to})", a=integers(0, 100, 3, 4, dtype=None), dtype=dtype, fd=False)
      for dtype in NAMES for to in NAMES if dtype != to],
    *each(f"{FLOATS} {COMPLEXES}", "tf.cast(a, tf.int32), tf.cast(a, tf.int64), tf.cast(a, tf.bool)",
          a=uniform(-50, 50, 11), fd=False),
    *each("int8 int16 int32 int64", "tf.cast(a, tf.uint8), tf.cast(a, tf.uint64), tf.cast(a, tf.int8), tf.cast(a, tf.bool)",
          a=integers(-128, 128, 9, dtype=None)),
    row("tf.cast(a, tf.float64)", a=normal(3)),
    row("tf.dtypes.cast(a, 'float16')", a=normal(3), fd=False),
    row("tf.cast(a, tf.complex128)", a=normal(3)),
    row("tf.cast(a, tf.float64)", a=normal(3), dtype="complex128"),
    row("tf.cast(a, tf.float32), tf.cast([1.7, -1.7], tf.int32), tf.cast(np.int64(5), np.int32)",
        a=normal(3), fd=False),
    # Outside the range TensorFlow's scalar and vectorised code differ: these are its scalar results.
    *[row(f"tf.cast(a, tf.{to})", a=value(x), dtype=dtype, fd=False)
      for dtype in ("float16", "bfloat16", "float32", "float64")
      for to in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
      for x in (INF, NAN, -1.5, 300.0, -200.0)],
    *[row(f"tf.cast(a, tf.{to})", a=value(x), dtype=dtype, fd=False)
      for dtype in ("float32", "float64")
      for to in ("int8", "int32", "int64", "uint16", "uint32", "uint64")
      for x in (1e20, -1e20, 3e9, -3e9, 1.2e19)],
    row("tf.cast(a, tf.int32)", a=value([1e20, -1e20, INF, NAN, 3e9]), fd=False),
    row("tf.cast(a, tf.bool)", a=value([NAN, 0.0, -0.0, 0.5]), fd=False),
    row("tf.cast(a, tf.int32)", a=value(["1"])),
    row("tf.cast(a, tf.string)", a=value([1], "int32")),
    row("tf.cast(None, tf.int32)"),
    row("tf.cast(a, 'x')", a=normal(2)),
    row("tf.cast(a, tf.resource)", a=normal(2)),
    row("tf.cast(tf.cast(a, tf.qint8), tf.int32)", a=value([1, -2], "int32"), lower=False),
    *[row(f"tf.cast(tf.cast(a, tf.{to}), tf.int32)", a=value([1.5, 300.0, 7.0]), grad=False, lower=False)
      for to in ("quint8", "qint32", "qint16", "quint16")],
    *[row(f"tf.cast(tf.cast(a, tf.dtypes.experimental.{to}), tf.{back})", dtype=dtype, grad=False,
          a=value([0.3, 1.0, -3.3, 500.0, 60000.0, INF, NAN]))
      for to in ("float8_e5m2", "float8_e4m3fn")
      for dtype, back in (("float32", "float32"), ("bfloat16", "float32"), ("float16", "bfloat16"), ("float32", "bool"))],
    *[row(f"tf.cast(tf.cast(a, tf.dtypes.experimental.{to}), tf.{back})", a=value([0, 1, -3, 7, 9, 20, -20]), dtype=dtype)
      for to in ("int4", "uint4") for dtype, back in (("int32", "int32"), ("int8", "int32"), ("int64", "int16"))],
    row("tf.cast(tf.cast(a, tf.dtypes.experimental.float8_e5m2), tf.dtypes.experimental.float8_e4m3fn)", a=normal(4),
        grad=False),
    row("tf.cast(tf.IndexedSlices(a, [0, 1], [4, 3]), tf.float64).values", a=normal(2, 3)),
    row("tf.cast(tf.zeros([0, 3]), tf.int32)"),
    *[row(f"tf.raw_ops.Cast(x=a, DstT=tf.{to}, Truncate=True)", dtype=dtype, fd=False, rtol=0, atol=0,
          a=value([1.9999, 1.99999999, 3.14159265358979, -2.71828182845, 1.2345678901, INF, NAN, 1e-3]))
      for dtype, to in (("float64", "float32"), ("float64", "float16"), ("float64", "bfloat16"),
                        ("float32", "float16"), ("float32", "bfloat16"), ("float16", "bfloat16"),
                        ("complex128", "complex64"), ("complex128", "float32"), ("float32", "float64"))],
    row("tf.raw_ops.Cast(x=a, DstT=tf.int32, Truncate=True)", a=value([1.999, -2.5]), fd=False),
    row("tf.raw_ops.Cast(x=a, DstT=tf.string)", a=normal(2)),
    row("tf.saturate_cast(a, tf.uint8)", a=value([-1.0, 300.0, NAN, 12.7]), fd=False),
    row("tf.dtypes.saturate_cast(a, tf.int8)", a=value([-1, 300, -300], "int32")),
    row("tf.saturate_cast(a, tf.int32)", a=value([1e20, -1e20, 5.0]), fd=False),
    row("tf.saturate_cast(a, tf.int64)", a=value([1e20, -1e20, 5.0]), fd=False, ours=BETTER),
    row("tf.saturate_cast(a, tf.uint32)", a=value([-5, 7, 2**40], "int64")),
    row("tf.saturate_cast(a, tf.uint64)", a=value([-5, 7, 2**40], "int64"), ours=BETTER),
    row("tf.saturate_cast(a, tf.int64)", a=value([2**63, 7], "uint64"), ours=BETTER),
    row("tf.saturate_cast(a, tf.float16)", a=value([1e20, -1e20, 1.5]), fd=False),
    row("tf.saturate_cast(a, tf.float32)", a=value([1e300, -1e300, 1.5], "float64"), fd=False),
    row("tf.saturate_cast(a, tf.float32)", a=value([1 + 2j], "complex128"), fd=False),
    row("tf.saturate_cast(a, tf.complex64)", a=value([1e300 + 2j], "complex128"), grad=False, lower=False),
    row("tf.saturate_cast(a, tf.complex128)", a=value([1.5, 2.0]), fd=False),
    row("tf.saturate_cast(a, tf.bool)", a=value([1, 2], "int32")),
    *[row(f"tf.bitcast(a, tf.{to})", a=integers(0, 100, 3, 2, dtype=None), dtype=dtype)
      for dtype in INTS.split() for to in INTS.split() if dtype.replace("u", "") == to.replace("u", "")],
    *each(f"{FLOATS} {COMPLEXES} int32 int64 uint16", "tf.bitcast(a, tf.uint8)", a=normal(2, 3)),
    row("tf.bitcast(a, tf.int32), tf.bitcast(a, tf.int16), tf.bitcast(a, tf.bfloat16)", a=normal(2, 3), grad=False),
    row("tf.bitcast(a, tf.float64)", a=value([[1, 2], [3, 4]], "int32")),
    row("tf.bitcast(a, tf.complex64)", a=value([[1, 2]], "int32")),
    row("tf.bitcast(a, tf.complex64)", a=normal(3, dtype="float64"), grad=False),
    row("tf.bitcast(a, tf.float32), tf.bitcast(a, tf.float64)", a=normal(3, dtype="complex128"), grad=False),
    row("tf.bitcast(a, tf.float32)", a=normal(3, dtype="complex64"), grad=False),
    row("tf.bitcast(a, tf.complex128)", a=normal(3, 2, dtype="complex64"), grad=False, lower=False),
    row("tf.bitcast(a, tf.int64)", a=value([[]], "int32")),
    row("tf.bitcast(a, tf.int64)", a=integers(0, 9, 0, 2)),
    row("tf.bitcast(a, tf.float64)", a=value([1, 2, 3], "int32")),
    row("tf.bitcast(a, tf.float64)", a=value(1, "int32")),
    row("tf.bitcast(a, tf.uint8)", a=booleans(2)),
    row("tf.bitcast(a, tf.bool)", a=value([1], "uint8")),
    row("tf.bitcast(a, tf.string)", a=normal(2)),
    row("tf.bitcast(tf.bitcast(a, tf.qint32), tf.int32)", a=value([1, 2], "int32"), lower=False),
    row("tf.complex(a, b)", a=normal(2, 3), b=normal(3)),
    row("tf.dtypes.complex(a, b)", a=normal(2, 3), b=normal(3), dtype="float64"),
    row("tf.complex(1.0, a)", a=normal(2), fd=False),
    row("tf.complex(1, 2)"),
    row("tf.complex(a, np.float64(2))", a=normal(2)),
    row("tf.complex(a, a)", a=normal(2, dtype="float16")),
    row("tf.raw_ops.Complex(real=a, imag=b, Tout=tf.complex64)", a=normal(2), b=normal(2, 1), fd=False),
    *each(COMPLEXES, "tf.math.real(a)", a=normal(2, 3)),
    *each(COMPLEXES, "tf.math.imag(a)", a=normal(2, 3)),
    *each(COMPLEXES, "tf.math.conj(a)", a=normal(2, 3)),
    *each(COMPLEXES, "tf.math.angle(a)", a=normal(2, 3)),
    *each(COMPLEXES, "tf.math.abs(a)", a=normal(2, 3)),
    row("tf.abs(a), tf.math.sign(a)", a=value([0j, 1 + 1j], "complex64"), fd=False, dtype="complex64"),
    row("tf.math.real(a), tf.math.imag(a), tf.math.conj(a), tf.math.angle(a)", a=normal(2, 3)),
    row("tf.math.angle(a)", a=normal(3, dtype="float16"), fd=False),
    row("tf.math.angle(a)", a=value([1, -1], "int32")),
    row("tf.math.real(a), tf.math.imag(a), tf.math.conj(a)", a=value([1, -1], "int32")),
    row("tf.math.real(a)", a=booleans(2)),
    row("tf.math.imag(a)", a=booleans(2)),
    row("tf.math.conj(a)", a=booleans(2)),
    row("tf.math.conj(a)", a=value(["a"])),
    row("tf.raw_ops.Real(input=a), tf.raw_ops.Imag(input=a), tf.raw_ops.Angle(input=a), tf.raw_ops.ComplexAbs(x=a), "
        "tf.raw_ops.Conj(input=a)", a=normal(2, 3), dtype="complex64", fd=False),
    row("tf.raw_ops.Real(input=a, Tout=tf.float64), tf.raw_ops.ComplexAbs(x=a, Tout=tf.float64)", a=normal(2, 3),
        dtype="complex128"),
]  # fmt: skip
