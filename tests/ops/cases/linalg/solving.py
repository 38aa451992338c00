"""Rows of `ops/linalg/solving.py`, `ops/linalg/banded.py`, `ops/linalg/matrix_functions.py`, `ops/linalg/lengths.py` and their neighbours."""

from rows import COMPLEXES, each, normal, row, uniform, value

_DTYPES = f"float32 float64 {COMPLEXES}"
_NAN = float("nan")
_SINGULAR = value([[1.0, 2.0], [2.0, 4.0]], "float32")
_CONJUGATE = "TF's gradient lacks a complex conjugate"
_TRI = "tf.linalg.diag_part(a + 4 * tf.eye(4, dtype=a.dtype), k=(-1, 1), align='LEFT_RIGHT')"
_WELL = "(a + 4 * tf.eye(3, dtype=a.dtype))"

ROWS = [
    # Inverse and determinants
    *each(_DTYPES, "tf.linalg.inv(a)", a=normal(2, 3, 3)),
    *each(_DTYPES, "tf.linalg.inv(a, adjoint=True)", a=normal(3, 3)),
    row("tf.linalg.inv(a)", a=normal(3, 3), dtype="float16", atol=0.02),
    *[row("tf.linalg.inv(a)", a=normal(*shape)) for shape in ((0, 0), (2, 0, 0), (0, 2, 2), (2, 3), (3,))],
    row("tf.linalg.inv(a)", a=_SINGULAR),
    row("tf.linalg.inv(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32")),
    row("tf.linalg.inv(a)", a=normal(2, 2), dtype="int32"),
    *each("float32 float64", "tf.linalg.det(a)", a=normal(2, 3, 3)),
    *each(COMPLEXES, "tf.linalg.det(a)", a=normal(2, 3, 3), grad=False),
    *each(COMPLEXES, "tf.linalg.det(a)", a=normal(2, 3, 3), ours=_CONJUGATE),
    *[row("tf.linalg.det(a)", a=normal(*shape)) for shape in ((0, 0), (2, 0, 0), (0, 2, 2), (2, 3), (3,))],
    row("tf.linalg.det(a)", a=_SINGULAR, grad=False),
    row("tf.linalg.det(a)", a=_SINGULAR),
    *each("float32 float64", "tf.linalg.slogdet(a)", a=normal(2, 3, 3)),
    *each(COMPLEXES, "tf.linalg.slogdet(a)", a=normal(2, 3, 3), grad=False),
    *each(COMPLEXES, "tf.math.real(tf.linalg.slogdet(a).log_abs_determinant)", a=normal(2, 3, 3)),
    *each(
        COMPLEXES,
        "tf.linalg.slogdet(a).sign",
        a=normal(2, 3, 3),
        ours="TF leaves out the gradient of the sign",
    ),
    *[row("tf.linalg.slogdet(a)", a=normal(*shape)) for shape in ((0, 0), (0, 2, 2), (2, 3), (3,))],
    row("tf.linalg.slogdet(a)", a=value([[0.0, 0.0], [0.0, 0.0]], "float32"), grad=False),
    *each(_DTYPES, "tf.linalg.logdet(tf.matmul(a, a, adjoint_b=True))", a=normal(2, 3, 3)),
    row("tf.linalg.logdet(a)", a=value([[-1.0, 0.0], [0.0, 1.0]], "float32"), grad=False),
    row("tf.linalg.logdet(a)", a=normal(0, 0), grad=False),
    # solve
    *each(_DTYPES, "tf.linalg.solve(a, b)", a=normal(2, 3, 3), b=normal(2, 3, 2)),
    *each(_DTYPES, "tf.linalg.solve(a, b, adjoint=True)", a=normal(3, 3), b=normal(3, 2)),
    row(
        "tf.linalg.solve(a, b)",
        a=normal(3, 3),
        b=normal(3, 2),
        dtype="float16",
        ours="TF's CPU has no float16",
    ),
    *[
        row("tf.linalg.solve(a, b)", a=normal(*a), b=normal(*b))
        for a, b in (
            ((4, 3, 3), (3, 2)),
            ((3, 3), (4, 2)),
            ((3, 3), (3,)),
            ((2, 3), (2, 3)),
            ((0, 0), (0, 2)),
            ((2, 2), (2, 0)),
            ((0, 2, 2), (0, 2, 1)),
        )
    ],
    row("tf.linalg.solve(a, b)", a=_SINGULAR, b=normal(2, 1)),
    # triangular_solve
    *[
        row(
            f"tf.linalg.triangular_solve({_WELL}, b, lower={lower}, adjoint={adjoint})",
            a=normal(2, 3, 3),
            b=normal(2, 3, 2),
            dtype=dtype,
        )
        for dtype in _DTYPES.split()
        for lower in (True, False)
        for adjoint in (True, False)
    ],
    *[
        row("tf.linalg.triangular_solve(a, b)", a=normal(*a), b=normal(*b))
        for a, b in (
            ((4, 3, 3), (3, 2)),
            ((3, 3), (4, 3, 2)),
            ((2, 1, 3, 3), (4, 3, 2)),
            ((3, 3), (4, 2)),
            ((2, 3), (2, 3)),
            ((0, 0), (0, 2)),
            ((2, 2), (2, 0)),
            ((3,), (3, 1)),
            ((2, 3, 3), (4, 3, 2)),
        )
    ],
    row(
        "tf.linalg.triangular_solve(a, b)",
        a=value([[1.0, 2.0], [1.0, 0.0]], "float32"),
        b=value([[1.0], [2.0]], "float32"),
        grad=False,
    ),
    *each(
        "float16 bfloat16",
        f"tf.linalg.triangular_solve({_WELL}, b)",
        a=normal(3, 3),
        b=normal(3, 2),
        ours="TF's CPU has no kernel",
    ),
    # cholesky_solve
    *each(_DTYPES, f"tf.linalg.cholesky_solve({_WELL}, b)", a=normal(2, 3, 3), b=normal(2, 3, 2)),
    row("tf.linalg.cholesky_solve(a, b)", a=normal(4, 3, 3), b=normal(3, 2), dtype="float64"),
    # Least squares
    *[
        row(f"tf.linalg.lstsq(a, b, {options})", a=normal(*a), b=normal(*b), dtype=dtype)
        for dtype in ("float64", "complex128")
        for a, b in (((4, 3), (4, 2)), ((2, 3, 4), (2, 3, 1)))
        for options in ("l2_regularizer=0.0", "l2_regularizer=0.5")
        if not (dtype == "complex128" and "5" in options)
    ],
    row(
        "tf.linalg.lstsq(a, b, l2_regularizer=0.5)",
        a=normal(4, 3),
        b=normal(4, 2),
        dtype="complex128",
        ours="TF has disabled it",
    ),
    *each("float32 float64", "tf.linalg.lstsq(a, b, fast=False)", a=normal(4, 3), b=normal(4, 2), grad=False),
    *each(
        "float32 float64",
        "tf.linalg.lstsq(a, b, fast=False)",
        a=normal(2, 3, 4),
        b=normal(2, 3, 2),
        grad=False,
    ),
    row("tf.linalg.lstsq(a, b, fast=False)", a=normal(4, 3), b=normal(4, 2)),
    row("tf.linalg.lstsq(a, b, fast=False)", a=_SINGULAR, b=normal(2, 1), grad=False),
    row("tf.linalg.lstsq(a, b)", a=normal(3, 2), b=normal(4, 1)),
    row("tf.linalg.lstsq(a, b)", a=value([[0.0, 0.0], [0.0, 0.0]], "float32"), b=normal(2, 1), grad=False),
    *[
        row(
            f"tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer={l2}, fast=True)",
            a=normal(*a),
            b=normal(*b),
            dtype=dtype,
        )
        for dtype in ("float32", "float64")
        for a, b in (((4, 3), (4, 2)), ((2, 3, 4), (2, 3, 1)), ((3, 3), (3, 1)))
        for l2 in (0.0, 0.3)
    ],
    row(
        "tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=0.1, fast=True)",
        a=normal(4, 3),
        b=normal(4, 2),
        dtype="complex128",
        ours=_CONJUGATE,
    ),
    row(
        "tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=-1.0, fast=True)",
        a=normal(4, 3),
        b=normal(4, 2),
    ),
    row(
        "tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=0.0, fast=True)",
        a=value([[0.0, 0.0], [0.0, 0.0]], "float32"),
        b=normal(2, 1),
    ),
    row(
        "tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=0.0, fast=False)",
        a=normal(0, 2),
        b=normal(0, 1),
        ours="TF returns what was in memory",
    ),
    row(
        "tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=0.0, fast=True)",
        a=normal(2, 0),
        b=normal(2, 1),
        grad=False,
    ),
    row(
        "tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=0.0, fast=True)",
        a=normal(3, 2),
        b=normal(4, 1),
    ),
    # LU
    *each(_DTYPES, "tf.linalg.lu_reconstruct(*tf.linalg.lu(a))", a=normal(2, 3, 3), grad=False),
    *each(_DTYPES, "tf.linalg.lu_matrix_inverse(*tf.linalg.lu(a))", a=normal(2, 3, 3), grad=False),
    *each(_DTYPES, "tf.linalg.lu_solve(*tf.linalg.lu(a), b)", a=normal(2, 3, 3), b=normal(2, 3, 2), grad=False),
    row("tf.linalg.lu_solve(*tf.linalg.lu(a), b)", a=normal(3, 3), b=normal(3, 2), grad=False),
    row(
        "tf.linalg.lu_solve(*tf.linalg.lu(a), b, validate_args=True)",
        a=normal(2, 3, 3),
        b=normal(3, 2),
        grad=False,
    ),
    row("tf.linalg.lu_solve(a, [2, 0, 1], b)", a=normal(3, 3), b=normal(3, 2), dtype="float64"),
    row("tf.linalg.lu_reconstruct(a, [2, 0, 1])", a=normal(3, 3), dtype="float64"),
    row("tf.linalg.lu_matrix_inverse(a, [2, 0, 1], validate_args=True)", a=normal(3, 3), dtype="float64"),
    row("tf.linalg.lu_reconstruct(a, [[2, 0, 1], [0, 1, 2]], validate_args=True)", a=normal(2, 3, 3)),
    row("tf.linalg.lu_reconstruct(a, [0])", a=normal(3)),
    row("tf.linalg.lu_reconstruct(a, [0, 1])", a=normal(2, 2, 2)),
    row("tf.linalg.lu_reconstruct(a, [0, 1])", a=normal(2, 3)),
    row("tf.linalg.lu_solve(a, [0, 1], b)", a=normal(2, 2), b=normal(2)),
    row("tf.linalg.lu_solve(a, [0, 1], b)", a=normal(2, 2), b=normal(3, 2)),
    # Banded triangular equations
    *[
        row(
            f"tf.linalg.banded_triangular_solve(a, b, lower={lower}, adjoint={adjoint})",
            a=uniform(1, 2, 2, 3, 4),
            b=normal(2, 4, 2),
            dtype=dtype,
        )
        for dtype in _DTYPES.split()
        for lower in (True, False)
        for adjoint in (True, False)
    ],
    *[
        row("tf.linalg.banded_triangular_solve(a, b)", a=uniform(1, 2, *a), b=normal(*b))
        for a, b in (
            ((4, 2, 3), (3, 1)),
            ((2, 3), (5, 3, 1)),
            ((2, 3), (4, 1)),
            ((0, 3), (3, 1)),
            ((3,), (3, 1)),
        )
    ],
    *[
        row(
            f"tf.linalg.banded_triangular_solve(a, b, lower={lower})",
            a=uniform(1, 2, 5, 3),
            b=normal(3, 1),
            grad=False,
        )
        for lower in (True, False)
    ],
    row(
        "tf.linalg.banded_triangular_solve(a, b)",
        a=uniform(1, 2, 1, 3),
        b=normal(3, 1),
        ours="TF drops an axis of the gradient",
    ),
    row(
        "tf.linalg.banded_triangular_solve(a, b)",
        a=value([[2.0, 0.0, 4.0], [9.0, 1.0, 1.0]], "float32"),
        b=normal(3, 1),
    ),
    # Tridiagonal equations
    *each("float32 float64", f"tf.linalg.tridiagonal_solve({_TRI}, b)", a=normal(2, 4, 4), b=normal(2, 4, 3)),
    *each(
        "float32 float64",
        f"tf.linalg.tridiagonal_solve({_TRI}, b, partial_pivoting=False)",
        a=normal(2, 4, 4),
        b=normal(2, 4, 3),
    ),
    *each(COMPLEXES, f"tf.linalg.tridiagonal_solve({_TRI}, b)", a=normal(2, 4, 4), b=normal(2, 4, 3), grad=False),
    *each(
        COMPLEXES,
        f"tf.linalg.tridiagonal_solve({_TRI}, b)",
        a=normal(2, 4, 4),
        b=normal(2, 4, 3),
        ours=_CONJUGATE,
    ),
    row("tf.linalg.tridiagonal_solve(a, b)", a=normal(3, 6), b=normal(6), dtype="float64"),
    row("tf.linalg.tridiagonal_solve(a, b)", a=normal(2, 3, 5), b=normal(2, 5), dtype="float64"),
    row(
        "tf.linalg.tridiagonal_solve(a, b, transpose_rhs=True)",
        a=normal(3, 5),
        b=normal(2, 5),
        dtype="float64",
    ),
    row(
        "tf.linalg.tridiagonal_solve(a, b, conjugate_rhs=True)",
        a=normal(3, 5),
        b=normal(5, 2),
        dtype="complex128",
        grad=False,
    ),
    row(
        "tf.linalg.tridiagonal_solve((a, 4 + b, c), d, diagonals_format='sequence')",
        a=normal(3),
        b=normal(4),
        c=normal(3),
        d=normal(4),
    ),
    row(
        "tf.linalg.tridiagonal_solve((a, 4 + b, c), d, diagonals_format='sequence')",
        a=normal(4),
        b=normal(4),
        c=normal(4),
        d=normal(4),
    ),
    row(
        "tf.linalg.tridiagonal_solve(a + 4 * tf.eye(4, dtype=a.dtype), b, diagonals_format='matrix')",
        a=normal(4, 4),
        b=normal(4, 2),
    ),
    row("tf.linalg.tridiagonal_solve(a, b)", a=normal(3, 0), b=normal(0), grad=False),
    row("tf.linalg.tridiagonal_solve(a, b, diagonals_format='other')", a=normal(3, 4), b=normal(4)),
    *[
        row("tf.linalg.tridiagonal_solve(a, b)", a=normal(*a), b=normal(*b))
        for a, b in (((3, 3), (4,)), ((2, 3), (3,)), ((5, 3, 3), (3,)), ((3, 1), (1,)))
    ],
    *[
        row(
            f"tf.linalg.tridiagonal_solve(a, b{options})",
            a=value([[0.0] * 3] * 3, "float32"),
            b=value([1.0, 1.0, 1.0], "float32"),
            grad=False,
        )
        for options in (
            "",
            ", partial_pivoting=False",
            ", perturb_singular=True",
            ", perturb_singular=True, partial_pivoting=False",
        )
    ],
    *[
        row(
            f"tf.linalg.tridiagonal_solve(a, b{options})",
            a=value([[1.0, 1.0, 9.0], [0.0, 4.0, 4.0], [9.0, 1.0, 1.0]], "float32"),
            b=value([1.0, 2.0, 1.0], "float32"),
            grad=False,
        )
        for options in ("", ", partial_pivoting=False", ", perturb_singular=True")
    ],
    row(
        "tf.linalg.tridiagonal_solve(a, b, perturb_singular=True)",
        a=value([[0.0, 0.0, 0.0], [2.0, 0.0, 3.0], [0.0, 0.0, 0.0]], "float64"),
        b=value([1.0, 1.0, 1.0], "float64"),
        grad=False,
    ),
    row(
        f"tf.linalg.tridiagonal_solve({_TRI}, b, perturb_singular=True)",
        a=normal(4, 4),
        b=normal(4, 3),
        dtype="float64",
    ),
    # Tridiagonal products
    *each("float32 float64", "tf.linalg.tridiagonal_matmul(a, b)", a=normal(2, 3, 4), b=normal(2, 4, 3)),
    *each(COMPLEXES, "tf.linalg.tridiagonal_matmul(a, b)", a=normal(3, 4), b=normal(4, 3), grad=False),
    *each(
        COMPLEXES,
        "tf.linalg.tridiagonal_matmul(a, b)",
        a=normal(3, 4),
        b=normal(4, 3),
        ours=_CONJUGATE,
    ),
    row(
        "tf.linalg.tridiagonal_matmul((a, b, c), d, diagonals_format='sequence')",
        a=normal(4),
        b=normal(4),
        c=normal(4),
        d=normal(4, 2),
    ),
    row(
        "tf.linalg.tridiagonal_matmul((a, b, c), d, diagonals_format='sequence')",
        a=normal(3),
        b=normal(4),
        c=normal(3),
        d=normal(4, 2),
    ),
    row("tf.linalg.tridiagonal_matmul(a, b, diagonals_format='matrix')", a=normal(4, 4), b=normal(4, 2)),
    row("tf.linalg.tridiagonal_matmul(a, b, diagonals_format='other')", a=normal(4, 4), b=normal(4, 2)),
    *[
        row("tf.linalg.tridiagonal_matmul(a, b)", a=normal(*a), b=normal(*b))
        for a, b in (((3, 3), (3,)), ((3, 3), (4, 1)), ((2, 3, 3), (3, 1)), ((3, 1), (1, 2)))
    ],
    row(
        "tf.raw_ops.TridiagonalMatMul(superdiag=a, maindiag=b, subdiag=c, rhs=d)",
        a=normal(1, 3),
        b=normal(1, 3),
        c=normal(1, 3),
        d=normal(3, 2),
    ),
    row("tf.raw_ops.TridiagonalMatMul(superdiag=a, maindiag=a, subdiag=a, rhs=b)", a=normal(3), b=normal(3, 2)),
    # Tridiagonal eigenvalues: TensorFlow's gradient goes through a bisection, which has none.
    *each(
        _DTYPES,
        "tf.linalg.eigh_tridiagonal(a, b)",
        a=normal(5),
        b=normal(4),
        grad=False,
        rtol=1e-4,
        atol=1e-4,
    ),
    *each(
        "float32 float64",
        "tf.abs(tf.linalg.eigh_tridiagonal(a, b, eigvals_only=False)[1])",
        a=normal(4),
        b=normal(3),
        grad=False,
        rtol=1e-3,
        atol=1e-3,
    ),
    row(
        "tf.linalg.eigh_tridiagonal(a, b)",
        a=normal(5),
        b=normal(4),
        dtype="float64",
        ours="TF has no true gradient",
    ),
    row(
        "tf.linalg.eigh_tridiagonal(a, b, select='i', select_range=(1, 2))",
        a=normal(5),
        b=normal(4),
        grad=False,
    ),
    row(
        "tf.linalg.eigh_tridiagonal(a, b, select='v', select_range=(0.0, 2.0))",
        a=normal(5),
        b=normal(4),
        grad=False,
    ),
    row(
        "tf.linalg.eigh_tridiagonal(a, b, eigvals_only=False, select='i', select_range=(0, 1))[0]",
        a=normal(3),
        b=normal(2),
        grad=False,
    ),
    row("tf.linalg.eigh_tridiagonal(a, b, tol=1e-6)", a=normal(3), b=normal(2), grad=False),
    row("tf.linalg.eigh_tridiagonal(a, b)", a=normal(1), b=normal(0), grad=False),
    row("tf.linalg.eigh_tridiagonal(a, b, select='x', select_range=(0, 1))", a=normal(3), b=normal(2)),
    row("tf.linalg.eigh_tridiagonal(a, b, select='i')", a=normal(3), b=normal(2)),
    row("tf.linalg.eigh_tridiagonal(a, b, select='i', select_range=(2, 1))", a=normal(3), b=normal(2)),
    row("tf.linalg.eigh_tridiagonal(a, b, select='v', select_range=(2.0, 1.0))", a=normal(3), b=normal(2)),
    row("tf.linalg.eigh_tridiagonal(a, b)", a=normal(3), b=normal(3)),
    row("tf.linalg.eigh_tridiagonal(a, b)", a=normal(3), b=normal(2, dtype="float64")),
    row("tf.linalg.eigh_tridiagonal(a, b)", a=normal(2, 3), b=normal(2, 2)),
    # Functions of matrices
    *each(_DTYPES, "tf.linalg.expm(a)", a=normal(2, 3, 3)),
    *each(_DTYPES, "tf.linalg.expm(10 * a)", a=normal(3, 3), rtol=1e-3, grad=False),
    *[row("tf.linalg.expm(a)", a=normal(*shape), grad=False) for shape in ((0, 0), (2, 0, 0), (0, 2, 2), (1, 1))],
    row("tf.linalg.expm(a)", a=normal(2, 3)),
    row("tf.linalg.expm(a)", a=normal(3)),
    row("tf.linalg.expm(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32"), grad=False),
    row("tf.raw_ops.MatrixExponential(input=a)", a=normal(3, 3), dtype="float64", ours="TF has retired the op"),
    *each(COMPLEXES, "tf.linalg.logm(a)", a=normal(2, 3, 3), grad=False),
    *each(COMPLEXES, "tf.linalg.logm(a)", a=normal(2, 3, 3), ours="TF has no gradient of MatrixLogarithm"),
    *[
        row("tf.linalg.logm(a)", a=normal(*shape), grad=False, dtype="complex64")
        for shape in ((0, 0), (0, 2, 2), (2, 3), (3,))
    ],
    row("tf.linalg.logm(a)", a=normal(2, 2)),
    row("tf.linalg.logm(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "complex64"), grad=False),
    row("tf.linalg.logm(a)", a=value([[0.0, 0.0], [0.0, 0.0]], "complex64"), grad=False),
    *each("float32 float64", f"tf.linalg.sqrtm({_WELL})", a=normal(2, 3, 3), rtol=1e-4),
    *each(COMPLEXES, "tf.linalg.sqrtm(a)", a=normal(2, 3, 3), grad=False),
    *each(COMPLEXES, "tf.linalg.sqrtm(a)", a=normal(2, 3, 3), ours=_CONJUGATE),
    *[
        row("tf.linalg.sqrtm(a)", a=normal(*shape), grad=False)
        for shape in ((0, 0), (2, 0, 0), (0, 2, 2), (2, 3), (3,))
    ],
    row("tf.linalg.sqrtm(a)", a=value([[-1.0, 0.0], [0.0, 1.0]], "float32"), grad=False),
    row("tf.linalg.sqrtm(a)", a=value([[_NAN, 1.0], [1.0, 2.0]], "float32"), grad=False, lower=False),  # jax may hang
    # Conjugate gradients
    *[
        row(
            "m = tf.matmul(a, a, transpose_b=True) + 2 * tf.eye(4, dtype=a.dtype)\n"
            "op = tf.linalg.LinearOperatorFullMatrix(m, is_self_adjoint=True, is_positive_definite=True)\n"
            f"result = tf.linalg.experimental.conjugate_gradient(op, b{options}).x",
            a=normal(*shape),
            b=normal(*rhs),
            dtype="float64",
            grad=False,
            atol=1e-6,
        )
        for shape, rhs in (((4, 4), (4,)), ((2, 4, 4), (2, 4)), ((2, 4, 4), (4,)), ((4, 4), (3, 4)))
        for options in ("", ", max_iter=2", ", tol=1e-9", ", x=tf.ones_like(b)")
    ],
    row(
        "op = tf.linalg.LinearOperatorFullMatrix(a)\nresult = tf.linalg.experimental.conjugate_gradient(op, b).x",
        a=normal(3, 3),
        b=normal(3),
    ),
    # Norms
    *[
        row(f"tf.norm(a, ord={ord})", a=normal(2, 3, 4))
        for ord in ("'euclidean'", "1", "2", "3", "2.5", "np.inf", "0.5")
    ],
    *[
        row(f"tf.linalg.norm(a, ord={ord}, axis=-1, keepdims=True)", a=normal(2, 3, 4))
        for ord in ("'euclidean'", "1", "2", "3", "np.inf")
    ],
    *[
        row(f"tf.norm(a, ord={ord}, axis={axis})", a=normal(2, 3, 4))
        for ord in ("'euclidean'", "'fro'", "1", "2", "np.inf")
        for axis in ("[0, 1]", "(-1, 1)")
    ],
    *each("float16 bfloat16 float64 complex64 complex128", "tf.norm(a, axis=1)", a=normal(2, 3)),
    *each("float64 complex64 complex128", "tf.norm(a, ord=1, axis=1)", a=normal(2, 3)),
    *each("float64 complex64 complex128", "tf.norm(a, ord=2, axis=[0, 1])", a=normal(2, 3)),
    row("tf.norm([3.0, 4.0])"),
    row("tf.norm(a)", a=normal()),
    row("tf.norm(a)", a=normal(0)),
    row("tf.norm(a, axis=0)", a=normal(0, 3), grad=False),
    row("tf.norm(a, keepdims=True)", a=normal(2, 3)),
    *[
        row(f"tf.norm(a, {options})", a=normal(2, 3))
        for options in (
            "ord='fro'",
            "ord=-1",
            "ord=0",
            "ord='nuc'",
            "ord=3, axis=[0, 1]",
            "axis=[0, 0]",
            "axis=[0, 1, 1]",
            "axis='a'",
            "axis=[0.0, 1.0]",
            "axis=5",
        )
    ],
    row("tf.norm(a)", a=normal(2, 3), dtype="int32"),
    *[
        row(f"tf.linalg.normalize(a, {options})", a=normal(2, 3))
        for options in (
            "axis=None",
            "axis=1",
            "axis=[0, 1]",
            "ord=1, axis=0",
            "ord=np.inf, axis=1",
            "ord=3, axis=1",
        )
    ],
    *each("float16 float64 complex64 complex128", "tf.linalg.normalize(a)", a=normal(2, 3)),
    row("tf.linalg.normalize([3.0, 4.0])"),
]
