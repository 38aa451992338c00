"""Rows of `ops/linalg/matmul.py`."""

from rows import COMPLEXES, FLOATS, each, integers, normal, row

_TURNS = [
    row(
        f"tf.matmul(a, b, {a}, {b})",
        a=normal(3, 2) if "True" in a else normal(2, 3),
        dtype=dtype,
        b=normal(4, 3) if "True" in b else normal(3, 4),
    )
    for a in ("transpose_a=False", "transpose_a=True", "adjoint_a=True")
    for b in ("transpose_b=False", "transpose_b=True", "adjoint_b=True")
    for dtype in ("float32", "complex128")
]
_BATCH_TURNS = [
    row(
        f"tf.matmul(a, b, {a}, {b})",
        a=normal(2, 3, 2) if "True" in a else normal(2, 2, 3),
        dtype=dtype,
        b=normal(5, 1, 4, 3) if "True" in b else normal(5, 1, 3, 4),
    )
    for a in ("transpose_a=False", "transpose_a=True", "adjoint_a=True")
    for b in ("transpose_b=False", "transpose_b=True", "adjoint_b=True")
    for dtype in ("float64", "complex64")
]

ROWS = [
    *each(f"{FLOATS} {COMPLEXES} int32 int64", "tf.matmul(a, b)", a=normal(3, 4), b=normal(4, 2)),
    *each(
        f"{FLOATS} {COMPLEXES} int16 int32 int64",
        "tf.linalg.matmul(a, b)",
        a=normal(2, 3, 4),
        b=normal(2, 4, 2),
    ),
    *each(
        "int8 int16 uint8 uint16 uint32 uint64",
        "tf.matmul(a, b)",
        a=normal(3, 4),
        b=normal(4, 2),
        ours="TF's CPU has no kernel",
    ),
    *_TURNS,
    *_BATCH_TURNS,
    row("tf.matmul(a, b)", a=normal(70, 60), b=normal(60, 50), fd=False),
    *each("float16 bfloat16", "tf.matmul(a, b)", a=normal(70, 60), b=normal(60, 50)),
    *each(
        "float16 bfloat16",
        "tf.matmul(a, b, transpose_a=True, transpose_b=True)",
        a=normal(60, 70),
        b=normal(50, 60),
    ),
    row("tf.matmul(a, b)", a=integers(-100, 100, 40, 50), b=integers(-100, 100, 50, 60), dtype="int32"),
    row(
        "tf.matmul(a, b)",
        a=integers(-100000, 100000, 40, 50),
        b=integers(-100000, 100000, 50, 60),
        dtype="int32",
    ),
    row(
        "tf.matmul(a, b)",
        a=integers(-(2**31), 2**31, 40, 50),
        b=integers(-(2**31), 2**31, 50, 60),
        dtype="int32",
    ),
    row(
        "tf.matmul(a, b)",
        a=integers(-(2**62), 2**62, 40, 50, dtype="int64"),
        b=integers(-(2**62), 2**62, 50, 60, dtype="int64"),
    ),
    row("tf.matmul(a, a)", a=integers(-(2**62), 2**62, 40, 40, dtype="int64")),
    row(
        "tf.matmul(a, b, transpose_a=True)",
        a=integers(-(2**31), 2**31, 2, 50, 40),
        b=integers(-(2**31), 2**31, 50, 60),
        dtype="int32",
    ),
    row("tf.matmul(a, b)", a=normal(0, 3), b=normal(3, 2)),
    row("tf.matmul(a, b)", a=normal(2, 0), b=normal(0, 3)),
    row("tf.matmul(a, b)", a=normal(2, 3), b=normal(3, 0)),
    row("tf.matmul(a, b)", a=normal(0, 2, 3), b=normal(0, 3, 4)),
    row("tf.matmul(a, b)", a=normal(2, 3), b=normal(5, 3, 4)),
    row("tf.matmul(a, b)", a=normal(5, 2, 3), b=normal(3, 4)),
    row("tf.matmul(a, b)", a=normal(1, 5, 2, 3), b=normal(6, 1, 3, 4)),
    row("tf.matmul(a, [[1.0], [2.0], [3.0]])", a=normal(2, 3)),
    row("tf.matmul(a, np.ones((3, 2)))", a=normal(2, 3)),
    row("tf.matmul([[1, 2]], [[3], [4]])"),
    row("tf.matmul(a, b)", a=normal(2, 3), b=normal(2, 3)),
    row("tf.matmul(a, b, transpose_b=True)", a=normal(2, 3), b=normal(3, 2)),
    row("tf.matmul(a, b)", a=normal(3), b=normal(3, 2)),
    row("tf.matmul(a, b)", a=normal(), b=normal(3, 2)),
    row("tf.matmul(a, b)", a=normal(2, 2, 3), b=normal(3, 3, 4)),
    row("tf.matmul(a, b)", a=normal(2, 2, 3), b=normal(2, 4, 4)),
    row("tf.matmul(a, b, transpose_a=True, adjoint_a=True)", a=normal(2, 2), b=normal(2, 2)),
    row("tf.matmul(a, b, transpose_b=True, adjoint_b=True)", a=normal(2, 2), b=normal(2, 2)),
    row("tf.matmul(a, b)", a=normal(2, 3), b=normal(3, 2, dtype="float64")),
    row("tf.matmul([[1, 2]], [[1.0], [2.0]])"),
    row("tf.matmul(tf.constant([[True]]), tf.constant([[True]]))"),
    # Sparse hints, mixed factors, and results of another dtype.
    row("tf.matmul(a, b, a_is_sparse=True)", a=normal(2, 3), b=normal(3, 4)),
    row("tf.matmul(a, b, b_is_sparse=True, transpose_a=True)", a=normal(3, 2), b=normal(3, 4)),
    row(
        "tf.matmul(a, b, a_is_sparse=True, transpose_a=True, transpose_b=True)",
        a=normal(3, 2),
        b=normal(4, 3),
    ),
    row("tf.matmul(a, b, a_is_sparse=True, adjoint_b=True)", a=normal(2, 3), b=normal(4, 3)),
    row("tf.matmul(a, b, a_is_sparse=True)", a=normal(2, 3), b=normal(3, 4), dtype="float64"),
    row("tf.matmul(a, b, a_is_sparse=True)", a=normal(2, 3), b=normal(3, 4), dtype="bfloat16"),
    row("tf.matmul(a, b)", a=normal(2, 3), b=normal(3, 4, dtype="bfloat16"), fd=False),  # bfloat16 is coarse
    row("tf.matmul(a, b, b_is_sparse=True)", a=normal(2, 3, dtype="bfloat16"), b=normal(3, 4), fd=False),
    row("tf.matmul(a, b, a_is_sparse=True)", a=normal(2, 2, 3), b=normal(2, 3, 4)),
    row("tf.matmul(a, b, output_type=tf.int32)", a=normal(2, 3), b=normal(3, 4), dtype="int8"),
    row(
        "tf.matmul(a, b, output_type=tf.int32)",
        a=integers(0, 255, 2, 3, dtype="uint8"),
        b=normal(3, 4),
        dtype="int8",
    ),
    row(
        "tf.matmul(a, b, output_type=tf.int32, transpose_a=True)",
        a=normal(5, 3, 2),
        b=normal(3, 4),
        dtype="int8",
    ),
    row(
        "tf.matmul(a, b, output_type=tf.float32)", a=normal(2, 3), b=normal(3, 4), fd=False
    ),  # float32 result
    row(
        "tf.matmul(a, b, output_type=tf.float64)",
        a=normal(2, 3),
        b=normal(3, 4),
        ours="TF's CPU has no kernel",
    ),
    row(
        "tf.matmul(a, b, output_type=tf.float32)",
        a=normal(2, 3),
        b=normal(3, 4),
        dtype="bfloat16",
        ours="TF's CPU has no kernel",
    ),
    *each(
        "float64 complex128",
        "tf.raw_ops.BatchMatMulV3(x=a, y=b, Tout=tf.{T}, adj_x=True)",
        a=normal(2, 3, 2),
        b=normal(5, 2, 3, 4),
    ),
    *each(
        "bfloat16 float32 complex64",
        "tf.raw_ops.BatchMatMulV3(x=a, y=b, Tout=tf.{T}, adj_y=True)",
        a=normal(2, 2, 3),
        b=normal(5, 2, 4, 3),
        fd=False,
    ),  # the result is single precision
    *each(
        f"{FLOATS} {COMPLEXES} int32 int64",
        "tf.raw_ops.BatchMatMul(x=a, y=b, adj_y=True)",
        a=normal(5, 2, 3),
        b=normal(5, 4, 3),
    ),
    row("tf.raw_ops.BatchMatMul(x=a, y=b)", a=normal(5, 2, 3), b=normal(1, 3, 4)),
    row("tf.raw_ops.BatchMatMul(x=a, y=b)", a=normal(2, 3), b=normal(3, 4)),
    row("tf.raw_ops.BatchMatMul(x=a, y=b)", a=normal(3), b=normal(3)),
    row("tf.raw_ops.BatchMatMulV2(x=a, y=b)", a=normal(3), b=normal(3, 2)),
    row("tf.raw_ops.MatMul(a=a, b=b, transpose_b=True, grad_a=True)", a=normal(2, 3), b=normal(4, 3)),
    row("tf.raw_ops.MatMul(a=a, b=b)", a=normal(1, 2, 3), b=normal(3, 4)),
    row(
        "tf.raw_ops.SparseMatMul(a=a, b=b, b_is_sparse=True, transpose_b=True)",
        a=normal(2, 3),
        b=normal(4, 3),
        fd=False,
    ),  # has no float64
    row("tf.raw_ops.SparseMatMul(a=a, b=b)", a=normal(2, 3), b=normal(4, 3)),
    # Matrix times vector.
    *each(f"{FLOATS} {COMPLEXES} int32", "tf.linalg.matvec(a, b)", a=normal(2, 3), b=normal(3)),
    *each(COMPLEXES, "tf.linalg.matvec(a, b, adjoint_a=True)", a=normal(3, 2), b=normal(3)),
    row("tf.linalg.matvec(a, b, transpose_a=True)", a=normal(5, 3, 2), b=normal(5, 3)),
    row("tf.linalg.matvec(a, b)", a=normal(2, 3), b=normal(4, 3)),
    row("tf.linalg.matvec(a, b)", a=normal(5, 1, 2, 3), b=normal(4, 3)),
    row("tf.linalg.matvec(a, [1.0, 2.0, 3.0])", a=normal(2, 3)),
    row("tf.linalg.matvec(a, b)", a=normal(2, 3), b=normal(4)),
    row("tf.linalg.matvec(a, b)", a=normal(2, 3), b=normal()),
    row("tf.linalg.matvec(a, b, a_is_sparse=True)", a=normal(2, 3), b=normal(3)),
]
