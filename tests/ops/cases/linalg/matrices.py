"""Rows of `ops/linalg/diagonals.py` and `ops/linalg/matrices.py`."""

from rows import COMPLEXES, FLOATS, INTS, booleans, each, normal, row, value

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
_ANY = f"{FLOATS} {COMPLEXES} {INTS}"

ROWS = [
    *each(_ANY, "tf.linalg.diag(a)", a=normal(2, 3)),
    *each(_ANY, "tf.linalg.diag_part(a)", a=normal(2, 3, 4)),
    *each(_ANY, "tf.linalg.set_diag(a, b)", a=normal(2, 3, 4), b=normal(2, 3)),
    *each(_ANY, "tf.linalg.band_part(a, 1, 0)", a=normal(2, 3, 4)),
    row("tf.linalg.diag(a)", a=booleans(3)),
    row("tf.linalg.diag_part(a, k=(-1, 1))", a=booleans(3, 4)),
    row("tf.linalg.set_diag(a, b)", a=booleans(3, 4), b=booleans(3)),
    row("tf.linalg.band_part(a, 1, 1)", a=booleans(3, 4)),
    # diag
    *[row(f"tf.linalg.diag(a, k={k})", a=normal(2, 3)) for k in (1, -1, 3, -2)],
    *[
        row(f"tf.linalg.diag(a, k=(-1, 2), align={align!r}, num_rows=4, num_cols=4)", a=normal(2, 4, 4))
        for align in _ALIGNMENTS
    ],
    *[row(f"tf.linalg.diag(a, k=(1, 2), align={align!r})", a=normal(2, 4)) for align in _ALIGNMENTS],
    row("tf.linalg.diag(a, k=(-2, -1), num_rows=6)", a=normal(2, 4)),
    row("tf.linalg.diag(a, k=(-2, -1), num_cols=5)", a=normal(2, 4)),
    row("tf.linalg.diag(a, num_cols=5, padding_value=7.0)", a=normal(2, 4)),
    row("tf.linalg.diag(a, k=[1], num_rows=4, num_cols=5)", a=normal(4)),
    row("tf.linalg.diag(a, k=-2, num_rows=6, num_cols=4)", a=normal(4)),
    row("tf.linalg.diag([1, 2], padding_value=7)"),
    row("tf.linalg.diag(a)", a=normal(0)),
    row("tf.linalg.diag(a, k=1)", a=normal(2, 0)),
    row("tf.linalg.diag(a, k=(0, 1))", a=normal(3)),
    row("tf.linalg.diag(a, k=(1, 0))", a=normal(2, 3)),
    row("tf.linalg.diag(a, k=(0, 1, 2))", a=normal(2, 3)),
    row("tf.linalg.diag(a, k=[[0, 1]])", a=normal(2, 3)),
    row("tf.linalg.diag(a, k=(0, 1), num_rows=2)", a=normal(2, 3)),
    row("tf.linalg.diag(a, num_rows=5, num_cols=5)", a=normal(2, 3)),
    row("tf.linalg.diag(a, k=-2, num_rows=6, num_cols=7)", a=normal(2, 3)),
    row("tf.linalg.diag(a)", a=normal()),
    row("tf.linalg.diag(a, align='MIDDLE')", a=normal(3)),
    row("tf.linalg.diag([1, 2], padding_value=7.0)"),
    row("tf.linalg.diag([True, False])"),
    # diag_part
    *[
        row(f"tf.linalg.diag_part(a, k={k})", a=normal(2, 3, 4))
        for k in (1, -1, 3, -2, 4, -3, "[1]", "(1, 1)")
    ],
    *[row(f"tf.linalg.diag_part(a, k={k})", a=normal(4, 3)) for k in (1, -1, 2, -3)],
    *[
        row(f"tf.linalg.diag_part(a, k={k}, align={align!r}, padding_value=9.0)", a=normal(*shape))
        for align in _ALIGNMENTS
        for k, shape in (((-2, 2), (3, 4)), ((-1, 0), (2, 4, 3)), ((1, 2), (3, 3)), ((-2, -1), (3, 5)))
    ],
    row("tf.linalg.diag_part(a, k=(-3, 1))", a=normal(3, 4)),
    row("tf.linalg.diag_part(a, k=(2, 1))", a=normal(3, 4)),
    row("tf.linalg.diag_part(a)", a=normal(3)),
    row("tf.linalg.diag_part(a)", a=normal(0, 4)),
    row("tf.linalg.diag_part(a)", a=normal(2, 0, 0)),
    row("tf.linalg.diag_part(a, k=(0, 1))", a=normal(0, 3, 4)),
    row("tf.linalg.diag_part([[1, 2], [3, 4]])"),
    # set_diag
    *[
        row(f"tf.linalg.set_diag(a, b, k={k})", a=normal(2, 3, 4), b=normal(2, n))
        for k, n in ((1, 3), (-1, 2), (3, 1), (-2, 1), (7, 1))
    ],
    *[
        row(f"tf.linalg.set_diag(a, b, k=(-2, 1), align={align!r})", a=normal(2, 3, 4), b=normal(2, 4, 3))
        for align in _ALIGNMENTS
    ],
    row("tf.linalg.set_diag(a, b)", a=normal(3, 4), b=normal(4)),
    row("tf.linalg.set_diag(a, b)", a=normal(3, 4), b=normal(2, 3)),
    row("tf.linalg.set_diag(a, b)", a=normal(2, 3, 4), b=normal(3)),
    row("tf.linalg.set_diag(a, b, k=(0, 1))", a=normal(3, 4), b=normal(2, 2)),
    row("tf.linalg.set_diag(a, b, k=(0, 2))", a=normal(3, 4), b=normal(2, 3)),
    row("tf.linalg.set_diag(a, b)", a=normal(3), b=normal(3)),
    row("tf.linalg.set_diag(a, b)", a=normal(3, 3), b=normal()),
    row("tf.linalg.set_diag(a, b)", a=normal(0, 0), b=normal(0)),
    # The older ops.
    row("tf.raw_ops.MatrixDiag(diagonal=a)", a=normal(2, 3)),
    row("tf.raw_ops.MatrixDiag(diagonal=a)", a=normal()),
    row("tf.raw_ops.MatrixDiagPart(input=a)", a=normal(2, 3, 2)),
    row("tf.raw_ops.MatrixDiagPart(input=a)", a=normal(3)),
    row("tf.raw_ops.MatrixSetDiag(input=a, diagonal=b)", a=normal(3, 2), b=normal(2)),
    row("tf.raw_ops.MatrixSetDiag(input=a, diagonal=b)", a=normal(3, 2), b=normal(3)),
    row(
        "tf.raw_ops.MatrixDiagV2(diagonal=a, k=[-1, 0], num_rows=-1, num_cols=-1, padding_value=2.0)",
        a=normal(2, 3),
        fd=False,
    ),  # 2.0 is no float64
    row(
        "tf.raw_ops.MatrixDiagV2(diagonal=a, k=1, num_rows=-1, num_cols=-1, padding_value=0)",
        a=normal(2, 3),
        dtype="float64",
    ),
    row(
        "tf.raw_ops.MatrixDiagPartV2(input=a, k=[-1, 1], padding_value=0)",
        a=normal(3, 3),
        dtype="float64",
        ours="TF's gradients of V2 align the diagonals as V3 does",
    ),
    row(
        "tf.raw_ops.MatrixSetDiagV2(input=a, diagonal=b, k=[0, 1])",
        a=normal(3, 3),
        b=normal(2, 3),
        ours="TF's gradients of V2 align the diagonals as V3 does",
    ),
    # band_part
    *[
        row(f"tf.linalg.band_part(a, {lower}, {upper})", a=normal(2, 3, 4))
        for lower, upper in ((0, 0), (-1, 0), (0, -1), (-1, -1), (2, 1), (3, 4), (4, 0), (0, 5), (1, 2))
    ],
    row("tf.linalg.band_part(a, tf.constant(1, tf.int64), 0)", a=normal(3, 3)),
    row("tf.linalg.band_part(a, tf.constant(1, tf.int64), tf.constant(1))", a=normal(3, 3)),
    row("tf.linalg.band_part(a, [0], 0)", a=normal(3, 3)),
    row("tf.linalg.band_part(a, 1.0, 0)", a=normal(3, 3)),
    row("tf.linalg.band_part(a, 0, 0)", a=normal(3)),
    row("tf.linalg.band_part(a, 0, 0)", a=normal(0, 3)),
    row(
        "tf.linalg.band_part(a, 0, 0)",
        a=value([[float("inf"), float("nan")], [1.0, 2.0]], "float32"),
        grad=False,
    ),
    # Diagonals of tensors.
    *each("bfloat16", "tf.linalg.tensor_diag(a)", a=normal(2, 3), ours="TF's CPU has no kernel"),
    *each(f"float16 float32 float64 {COMPLEXES} int32 int64", "tf.linalg.tensor_diag(a)", a=normal(2, 3)),
    *each("bfloat16", "tf.linalg.tensor_diag_part(a)", a=normal(2, 3, 2, 3), ours="TF's CPU has no kernel"),
    *each(
        f"float16 float32 float64 {COMPLEXES} int32 int64",
        "tf.linalg.tensor_diag_part(a)",
        a=normal(2, 3, 2, 3),
    ),
    row("tf.linalg.tensor_diag(a)", a=normal(3)),
    row("tf.linalg.tensor_diag(a)", a=normal()),
    row("tf.linalg.tensor_diag(a)", a=normal(2), dtype="int8"),
    row("tf.linalg.tensor_diag(a)", a=normal(0)),
    row("tf.linalg.tensor_diag_part(a)", a=normal(2, 3, 2)),
    row("tf.linalg.tensor_diag_part(a)", a=normal(2, 3)),
    row("tf.linalg.tensor_diag_part(a)", a=normal()),
    row("tf.linalg.tensor_diag_part(a)", a=normal(0, 0)),
    # cross
    *each(
        "float16 bfloat16 float32 float64 int32 int64 int8 int16 uint8 uint16 uint32 uint64",
        "tf.linalg.cross(a, b)",
        a=normal(2, 3),
        b=normal(2, 3),
    ),
    row("tf.linalg.cross(a, b)", a=normal(3), b=normal(3)),
    row("tf.linalg.cross(a, b)", a=normal(0, 3), b=normal(0, 3)),
    row("tf.linalg.cross(a, b)", a=normal(2, 3), b=normal(3)),
    row("tf.linalg.cross(a, b)", a=normal(2, 4), b=normal(2, 4)),
    row("tf.linalg.cross(a, b)", a=normal(), b=normal()),
    row("tf.linalg.cross(a, b)", a=normal(3), b=normal(3), dtype="complex64"),
    # trace, transposes, identity
    *each(f"{FLOATS} {COMPLEXES} int32", "tf.linalg.trace(a)", a=normal(2, 3, 4)),
    row("tf.linalg.trace(a)", a=normal(3)),
    row("tf.linalg.trace(a)", a=normal(0, 0)),
    row("tf.linalg.trace([[1, 2], [3, 4]])"),
    *each(f"{FLOATS} {COMPLEXES} int32", "tf.linalg.matrix_transpose(a)", a=normal(2, 3, 4)),
    *each(COMPLEXES, "tf.linalg.matrix_transpose(a, conjugate=True)", a=normal(2, 3, 4)),
    *each(f"float32 int32 {COMPLEXES}", "tf.linalg.adjoint(a)", a=normal(3, 4)),
    row("tf.linalg.adjoint([[1, 2]])"),
    row("tf.linalg.adjoint(a)", a=normal(3)),
    row("tf.linalg.matrix_transpose(a)", a=normal(3)),
    *each(f"{_ANY} bool", "tf.eye(3, 2, dtype=tf.{T})"),
    row("tf.eye(3)"),
    row("tf.linalg.eye(2, 3, batch_shape=[2, 1], dtype=tf.int32)"),
    row("tf.eye(tf.constant(3))"),
    row("tf.eye(tf.constant(3), tf.constant(2), [tf.constant(2)])"),
    row("tf.eye(3, batch_shape=tf.constant([2]))"),
    row("tf.eye(3, batch_shape=tf.TensorShape([2, 2]))"),
    row("tf.eye(0)"),
    row("tf.eye(-1)"),
    row("tf.eye(2.5)"),
    row("tf.eye([3])"),
    row("tf.eye(3, dtype=tf.string)"),
]
