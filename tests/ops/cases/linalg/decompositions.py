"""Rows of `ops/linalg/decompositions.py` and `ops/linalg/singular_values.py`.

Singular and eigenvectors are unique only up to a factor, and TensorFlow's are others than LAPACK's: rows
compare what does not depend on it.
"""

from rows import COMPLEXES, each, normal, row, value

_DTYPES = f"float32 float64 {COMPLEXES}"
_PD = "tf.matmul(a, a, adjoint_b=True) + tf.eye(3, dtype=a.dtype)"
_NAN = float("nan")

ROWS = [
    # Cholesky
    *each(_DTYPES, f"tf.linalg.cholesky({_PD})", a=normal(2, 3, 3)),
    # Of a matrix that is not symmetric only half is read, but the gradient is symmetric.
    row("tf.linalg.cholesky(a + 4 * tf.eye(3, dtype=a.dtype))", a=normal(3, 3), dtype="float64", fd=False),
    row(f"tf.linalg.cholesky({_PD})", a=normal(3, 3), dtype="float16", ours="TF's CPU has no float16"),
    row("tf.linalg.cholesky(a)", a=normal(0, 0)),
    row("tf.linalg.cholesky(a)", a=normal(2, 0, 0)),
    row("tf.linalg.cholesky(a)", a=normal(0, 2, 2)),
    row(
        "tf.linalg.band_part(tf.linalg.cholesky(a), -1, 0)",
        a=value([[-1.0, 0.0], [0.0, 1.0]], "float32"),
        grad=False,
    ),
    row("tf.linalg.cholesky(a)", a=value([[_NAN, 0.0], [0.0, 1.0]], "float32"), grad=False),
    row(
        "tf.linalg.cholesky(a)[1]",
        a=value([[[-1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 4.0]]], "float32"),
        grad=False,
    ),
    row("tf.linalg.cholesky(a)", a=normal(2, 3)),
    row("tf.linalg.cholesky(a)", a=normal(3)),
    row("tf.linalg.cholesky(a)", a=normal(2, 2), dtype="int32"),
    *each(
        "float32 float64",
        f"tf.raw_ops.CholeskyGrad(l=tf.linalg.cholesky({_PD}), grad=b)",
        a=normal(2, 3, 3),
        b=normal(2, 3, 3),
        grad=False,
    ),
    row("tf.raw_ops.CholeskyGrad(l=a, grad=b)", a=normal(2, 3, 3), b=normal(3, 3), grad=False),
    # QR
    *[
        row(f"tf.linalg.qr(a, full_matrices={full})", a=normal(*shape), dtype=dtype)
        for dtype in _DTYPES.split()
        for shape in ((3, 3), (2, 4, 3), (3, 4))
        for full in (False, True)
        if not (full and shape == (2, 4, 3))
    ],
    row("tf.linalg.qr(a, full_matrices=True)", a=normal(4, 3), grad=False),
    row("tf.linalg.qr(a, full_matrices=True)", a=normal(4, 3)),
    row("tf.matmul(*tf.linalg.qr(a))", a=normal(3, 2), dtype="float16", grad=False),
    row("tf.linalg.qr(a)", a=normal(0, 3)),
    row("tf.linalg.qr(a)", a=normal(3, 0)),
    row("tf.linalg.qr(a)", a=normal(0, 2, 2)),
    row("tf.linalg.qr(a)", a=normal(3)),
    row("tf.linalg.qr(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32"), grad=False),
    row("tf.linalg.qr(a)", a=normal(2, 2), dtype="int32"),
    # LU
    *each("float32 float64", "tf.linalg.lu(a)", a=normal(2, 3, 3), grad=False),
    # LAPACK picks complex pivots by |real| + |imaginary|, TensorFlow by magnitude.
    *each(COMPLEXES, "tf.linalg.lu_reconstruct(*tf.linalg.lu(a))", a=normal(2, 3, 3), grad=False),
    *each(_DTYPES, "tf.linalg.lu(a).lu", a=normal(2, 3, 3), ours="TF has no gradient of Lu"),
    row("tf.linalg.lu(a, output_idx_type=tf.int64)", a=normal(3, 3), grad=False),
    row("tf.linalg.lu(a).lu", a=normal(5, 5), dtype="float64", grad=False),
    row("tf.linalg.lu(a)", a=normal(0, 0), grad=False),
    row("tf.linalg.lu(a)", a=normal(2, 0, 0), grad=False),
    row("tf.linalg.lu(a)", a=normal(2, 3)),
    row("tf.linalg.lu(a)", a=normal(3)),
    row("tf.linalg.lu(a)", a=value([[1.0, 2.0], [2.0, 4.0]], "float32")),
    row("tf.linalg.lu(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32")),
    # Hermitian eigenvalues
    *each(_DTYPES, f"tf.linalg.eigh({_PD})[0]", a=normal(2, 3, 3)),
    *each(_DTYPES, f"tf.linalg.eigvalsh({_PD})", a=normal(2, 3, 3)),
    *each("float32 float64", f"tf.abs(tf.linalg.eigh({_PD})[1])", a=normal(2, 3, 3)),
    *each(
        _DTYPES,
        f"e, v = tf.linalg.eigh({_PD})\nresult = tf.matmul(v * tf.exp(-e)[:, tf.newaxis], v, adjoint_b=True)",
        a=normal(2, 3, 3),
    ),
    row("tf.linalg.eigvalsh(a)", a=normal(4, 4), dtype="float64"),
    row("tf.linalg.eigh(a)", a=normal(0, 0), grad=False),
    row("tf.linalg.eigh(a)", a=normal(2, 0, 0), grad=False),
    row("tf.linalg.eigh(a)", a=normal(2, 3)),
    row("tf.linalg.eigh(a)", a=normal(3)),
    row("tf.linalg.eigh(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32")),
    row("tf.linalg.eigvalsh(a)", a=normal(2, 2), dtype="int32"),
    row(f"tf.linalg.eigvalsh({_PD})", a=normal(3, 3), dtype="float16", ours="TF's CPU has no float16"),
    row("tf.raw_ops.SelfAdjointEigV2(input=a, compute_v=False).e", a=normal(3, 3), dtype="complex128"),
    # Eigenvalues
    *each(_DTYPES, f"tf.sort(tf.math.real(tf.linalg.eig({_PD})[0]))", a=normal(2, 3, 3)),
    *each(_DTYPES, "tf.reduce_sum(tf.linalg.eigvals(a) ** 3, -1)", a=normal(2, 3, 3)),
    *each(
        _DTYPES,
        "e, v = tf.linalg.eig(a); result = tf.matmul(v * tf.exp(e)[:, tf.newaxis, :], tf.linalg.inv(v))",
        a=normal(2, 3, 3),
    ),
    *each(
        _DTYPES,
        "e, v = tf.linalg.eig(a)\n"
        "result = tf.reduce_sum(tf.abs(v) ** 2 * tf.math.real(tf.exp(e))[:, tf.newaxis], -1)",
        a=normal(2, 3, 3),
    ),
    row("tf.linalg.eig(a)", a=normal(0, 0), grad=False),
    row("tf.linalg.eigvals(a)", a=normal(2, 0, 0), grad=False),
    row("tf.linalg.eig(a)", a=normal(2, 3)),
    row("tf.linalg.eig(a)", a=normal(3)),
    row("tf.linalg.eigvals(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32")),
    # Singular values
    *[
        row("tf.linalg.svd(a, compute_uv=False)", a=normal(*shape), dtype=dtype)
        for dtype in _DTYPES.split()
        for shape in ((2, 3, 3), (4, 3), (3, 5))
    ],
    *[
        row(
            f"s, u, v = tf.linalg.svd(a, full_matrices={full})\n"
            "n = s.shape[-1]\n"
            "middle = tf.cast(tf.exp(s)[..., tf.newaxis, :], u.dtype)\n"
            "result = tf.matmul(u[..., :n] * middle, v[..., :n], adjoint_b=True)",
            a=normal(*shape),
            dtype=dtype,
        )
        for dtype in _DTYPES.split()
        for shape in ((2, 3, 3), (4, 3), (3, 4), (3, 5))
        for full in (False, True)
        if not (full and shape == (3, 5))
    ],
    *[
        row(f"[tf.abs(t) for t in tf.linalg.svd(a, full_matrices={full})]", a=normal(*shape), dtype=dtype)
        for dtype in ("float32", "float64", "complex128")
        for shape in ((4, 3), (3, 4))
        for full in (False, True)
    ],
    row("tf.abs(tf.linalg.svd(a, full_matrices=True)[1])[:, :3]", a=normal(5, 3), grad=False),
    row("tf.linalg.svd(a, full_matrices=True)", a=normal(5, 3)),
    row("tf.linalg.svd(a)", a=normal(0, 0), grad=False),
    row("tf.linalg.svd(a)", a=normal(2, 0, 3), grad=False),
    row("tf.linalg.svd(a, full_matrices=True)[0]", a=normal(3, 0), grad=False),
    row("tf.linalg.svd(a)", a=normal(3)),
    row(
        "tf.linalg.svd(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32"), grad=False, lower=False
    ),  # XLA: zeros
    row(
        "tf.linalg.svd(a, compute_uv=False)[1]",
        a=value([[[_NAN, 1.0], [1.0, 2.0]], [[3.0, 0.0], [0.0, 2.0]]], "float32"),
        grad=False,
        lower=False,
    ),
    row("tf.linalg.svd(a)", a=normal(2, 2), dtype="int32"),
    row("tf.math.real(tf.raw_ops.Svd(input=a, compute_uv=False).s)", a=normal(3, 2), dtype="complex64"),
    # Pseudo-inverse and rank
    *[
        row("tf.linalg.pinv(a)", a=normal(*shape), dtype=dtype)
        for dtype in ("float32", "float64")
        for shape in ((2, 3, 3), (4, 3), (3, 4))
    ],
    *each(COMPLEXES, "tf.linalg.pinv(a)", a=normal(4, 3), ours="TF refuses complex matrices"),
    row("tf.linalg.pinv(a, rcond=0.5)", a=normal(3, 3), grad=False),
    row("tf.linalg.pinv(a, rcond=[0.1, 0.9])", a=normal(2, 3, 3), grad=False),
    row("tf.linalg.pinv(a)", a=value([[1.0, 2.0], [2.0, 4.0]], "float32"), grad=False),
    row("tf.linalg.pinv(a, validate_args=True)", a=normal(3, 2)),
    row("tf.linalg.pinv(a)", a=normal(0, 0), grad=False),
    row("tf.linalg.pinv(a)", a=normal(3)),
    row("tf.linalg.pinv(a)", a=normal(2, 2), dtype="int32"),
    *each("float32 float64", "tf.linalg.matrix_rank(a)", a=normal(2, 3, 4)),
    *each(COMPLEXES, "tf.linalg.matrix_rank(a)", a=normal(2, 3, 4), ours="TF refuses complex matrices"),
    row("tf.linalg.matrix_rank(a)", a=value([[1.0, 2.0], [2.0, 4.0]], "float32")),
    row("tf.linalg.matrix_rank(a, tol=1.0)", a=normal(4, 4)),
    row("tf.linalg.matrix_rank(a, tol=tf.constant(1.0))", a=normal(3, 4, 4)),
    row("tf.linalg.matrix_rank(a, validate_args=True)", a=normal(0, 0)),
    row("tf.linalg.matrix_rank(a)", a=normal(2, 0, 3)),
    row("tf.linalg.matrix_rank(a)", a=normal(3)),
    row("tf.linalg.matrix_rank(a)", a=normal(2, 2), dtype="int32"),
]
