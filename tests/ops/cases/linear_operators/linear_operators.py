"""Rows of `ops/linear_operator*.py`: every kind of operator with every method, their algebra, and errors."""

from rows import each, normal, row, uniform

_FLOATS = "float32 float64"

# Operators of size 4 made of the inputs a (4 x 4), d (4), e (2), in a batch where there is one. All are regular.
_NAMES = {
    "FullMatrix": "tf.linalg.LinearOperatorFullMatrix(a + 4 * tf.eye(4, dtype=a.dtype))",
    "Diag": "tf.linalg.LinearOperatorDiag(d)",
    "Identity": "tf.linalg.LinearOperatorIdentity(4, batch_shape=[2], dtype=a.dtype)",
    "ScaledIdentity": "tf.linalg.LinearOperatorScaledIdentity(4, e)",
    "LowerTriangular": "tf.linalg.LinearOperatorLowerTriangular(a + 4 * tf.eye(4, dtype=a.dtype))",
    "BlockDiag": "tf.linalg.LinearOperatorBlockDiag(["
    "tf.linalg.LinearOperatorFullMatrix(a[..., :3, :3] + 4 * tf.eye(3, dtype=a.dtype)), "
    "tf.linalg.LinearOperatorDiag(d[:1])])",
    "BlockLowerTriangular": "tf.linalg.LinearOperatorBlockLowerTriangular(["
    "[tf.linalg.LinearOperatorFullMatrix(a[..., :2, :2] + 4 * tf.eye(2, dtype=a.dtype))], "
    "[tf.linalg.LinearOperatorFullMatrix(a[..., 2:3, :2]), tf.linalg.LinearOperatorDiag(d[:1])], "
    "[tf.linalg.LinearOperatorFullMatrix(a[..., 3:, :2]), tf.linalg.LinearOperatorFullMatrix(a[..., 3:, 2:3]), "
    "tf.linalg.LinearOperatorDiag(d[1:2])]])",
    "Circulant": "tf.linalg.LinearOperatorCirculant("
    "tf.complex(d, 0 * d) + tf.signal.fft(tf.complex(a[..., 0, :], 0 * d)), input_output_dtype=a.dtype)",
    "Circulant2D": "tf.linalg.LinearOperatorCirculant2D(tf.reshape(d, [2, 2]), input_output_dtype=a.dtype)",
    "Circulant3D": "tf.linalg.LinearOperatorCirculant3D(tf.reshape(d, [1, 2, 2]), input_output_dtype=a.dtype)",
    "Composition": "tf.linalg.LinearOperatorComposition(["
    "tf.linalg.LinearOperatorFullMatrix(a + 4 * tf.eye(4, dtype=a.dtype)), tf.linalg.LinearOperatorDiag(d)])",
    "Adjoint": "tf.linalg.LinearOperatorAdjoint("
    "tf.linalg.LinearOperatorFullMatrix(a + 4 * tf.eye(4, dtype=a.dtype)))",
    "Inversion": "tf.linalg.LinearOperatorInversion("
    "tf.linalg.LinearOperatorFullMatrix(a + 4 * tf.eye(4, dtype=a.dtype)))",
    "Householder": "tf.linalg.LinearOperatorHouseholder(a[..., 0, :])",
    "Kronecker": "tf.linalg.LinearOperatorKronecker(["
    "tf.linalg.LinearOperatorFullMatrix(a[..., :2, :2] + 4 * tf.eye(2, dtype=a.dtype)), "
    "tf.linalg.LinearOperatorDiag(d[:2])])",
    "LowRankUpdate": "tf.linalg.LinearOperatorLowRankUpdate("
    "tf.linalg.LinearOperatorDiag(d), a[..., :2], diag_update=e, v=a[..., 1:3])",
    "Permutation": "tf.linalg.LinearOperatorPermutation([[1, 3, 0, 2], [3, 2, 1, 0]], dtype=a.dtype)",
    "Toeplitz": "tf.linalg.LinearOperatorToeplitz(a[..., 1, :] + 9 * tf.one_hot(0, 4, dtype=d.dtype), a[..., 0, :])",
    "Tridiag": "tf.linalg.LinearOperatorTridiag(a[0, :3, :] + 4 * tf.one_hot(1, 3, dtype=a.dtype)[:, None])",
}
_INPUTS = {"a": normal(2, 4, 4), "d": uniform(0.5, 2, 4), "e": uniform(0.5, 2, 2), "x": normal(4, 3)}
_METHODS = [
    "to_dense()",
    "matmul(x)",
    "matmul(tf.transpose(x), adjoint=True, adjoint_arg=True)",
    "matvec(x[:, 0])",
    "matvec(x[:, 0], adjoint=True)",
    "solve(x)",
    "solve(tf.transpose(x), adjoint=True, adjoint_arg=True)",
    "solvevec(x[:, 0])",
    "determinant()",
    "log_abs_determinant()",
    "trace()",
    "diag_part()",
    "add_to_tensor(a)",
    "adjoint().to_dense()",
    "inverse().to_dense()",
    "cond()",
    "shape_tensor()",
    "assert_non_singular()",
]
# Where gradients of second order are not worth the time, or TensorFlow has none.
_QUICK = ("cond()", "determinant()", "inverse().to_dense()", "shape_tensor()")

_OURS = {
    ("Circulant", "adjoint().to_dense()"): "TensorFlow's adjoint is of dtype complex64 always",
    ("LowRankUpdate", "log_abs_determinant()"): "TensorFlow's gradient differs from finite differences for complex",
    ("Tridiag", "solve(x, adjoint=True)"): "TensorFlow's gradient of tridiagonal_solve lacks conjugates",
}

_BY_METHOD = [
    row(
        f"{operator}.{method}",
        dtype="float64" if name != "Circulant" else "float32",
        fd=method not in _QUICK and name not in ("Inversion", "Circulant"),
        second=method in ("matmul(x)", "solve(x)") and name in ("Diag", "Toeplitz", "Kronecker", "LowRankUpdate"),
        lower=False,
        ours=_OURS.get((name, method)) if name == "Circulant" else None,
        **_INPUTS,
    )
    for name, operator in _NAMES.items()
    for method in _METHODS
]

# Complex operators.
_COMPLEX = {
    "FullMatrix": "tf.linalg.LinearOperatorFullMatrix(a)",
    "Diag": "tf.linalg.LinearOperatorDiag(d)",
    "ScaledIdentity": "tf.linalg.LinearOperatorScaledIdentity(3, d[0])",
    "LowerTriangular": "tf.linalg.LinearOperatorLowerTriangular(a)",
    "Circulant": "tf.linalg.LinearOperatorCirculant(d, input_output_dtype=d.dtype)",
    "Householder": "tf.linalg.LinearOperatorHouseholder(d)",
    "LowRankUpdate": "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(d), a[..., :1])",
    "Toeplitz": "tf.linalg.LinearOperatorToeplitz(d, a[0])",
    "Tridiag": "tf.linalg.LinearOperatorTridiag(a)",
    "Kronecker": "tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorDiag(d), "
    "tf.linalg.LinearOperatorIdentity(1, dtype=d.dtype)])",
}
_BY_COMPLEX = [
    row(f"{operator}.{method}", dtype="complex128", fd=False, lower=False, ours=_OURS.get((name, method)),
        a=normal(3, 3), d=normal(3), x=normal(3, 2))
    for name, operator in _COMPLEX.items()
    for method in (
        "to_dense()",
        "matmul(x, adjoint=True)",
        "solve(x, adjoint=True)",
        "log_abs_determinant()",
        "cond()",
        "adjoint().to_dense()",
        "trace()",
    )
]  # fmt: skip

# Hints: a is made positive definite.
_POSITIVE = "tf.matmul(a, a, adjoint_b=True) + tf.eye(3, dtype=a.dtype)"
_SURE = "is_self_adjoint=True, is_positive_definite=True"
_BY_HINT = [
    row(f"{operator}.{method}", dtype="float64", fd=False, lower=False, a=normal(2, 3, 3), d=uniform(0.5, 2, 3))
    for operator in (
        f"tf.linalg.LinearOperatorFullMatrix({_POSITIVE}, {_SURE})",
        f"tf.linalg.LinearOperatorDiag(d, {_SURE})",
        f"tf.linalg.LinearOperatorScaledIdentity(3, d, {_SURE})",
        f"tf.linalg.LinearOperatorCirculant(d + d[::-1], input_output_dtype=tf.float64, {_SURE})",
        f"tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(d, {_SURE}), a[..., :1])",
        f"tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix({_POSITIVE}, {_SURE}), "
        f"tf.linalg.LinearOperatorDiag(d[:1], {_SURE})])",
        f"tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorFullMatrix({_POSITIVE}, {_SURE}), "
        f"tf.linalg.LinearOperatorDiag(d, {_SURE})])",
        f"tf.linalg.LinearOperatorToeplitz(d + [4.0, 0.0, 0.0], d, {_SURE})",
        "tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64)",
    )
    for method in (
        "cholesky().to_dense()",
        "log_abs_determinant()",
        "determinant()",
        "eigvals()",
        "cond()",
        "solve(tf.ones([1, 1], tf.float64) * tf.eye(3, dtype=tf.float64))",
        "assert_positive_definite()",
        "assert_non_singular()",
        "assert_self_adjoint()",
        "is_non_singular",
    )
]

# What is an operator after an operation with operators: its components and its hints.
_PAIRS = [
    "tf.linalg.LinearOperatorFullMatrix(a)",
    "tf.linalg.LinearOperatorDiag(d, is_non_singular=True)",
    "tf.linalg.LinearOperatorIdentity(3)",
    "tf.linalg.LinearOperatorScaledIdentity(3, d[0], is_positive_definite=True)",
    "tf.linalg.LinearOperatorLowerTriangular(a)",
    "tf.linalg.LinearOperatorZeros(3)",
    "tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorFullMatrix(a))",
    "tf.linalg.LinearOperatorCirculant(d, input_output_dtype=tf.float32)",
    "tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorDiag(d[:2]), tf.linalg.LinearOperatorIdentity(1)])",
]
_FACTS = "type(r).__name__, r.name, r.is_non_singular, r.is_self_adjoint, r.is_positive_definite, r.is_square"
_BY_PAIR = [
    row(f"l = {left}\nr = l{operation}{right}{end}\nresult = r, [str(v) for v in ({_FACTS})]",
        fd=False, lower=False, a=normal(3, 3), d=uniform(1, 2, 3))
    for left in _PAIRS
    for right in _PAIRS
    for operation, end in ((" @ ", ""), (".solve(", ")"))
]  # fmt: skip

_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
_CONTRADICTIONS = [
    row(f"tf.linalg.LinearOperator{arguments}, {hint}={answer}).{hint}", grad=False, lower=False)
    for arguments in (
        "FullMatrix([[1.0, 2.0], [3.0, 4.0]]",
        "FullMatrix([[1.0, 2.0]]",
        "Diag([1.0, 2.0]",
        "Identity(2",
        "ScaledIdentity(2, 3.0",
        "LowerTriangular([[1.0, 2.0], [3.0, 4.0]]",
        "Zeros(2",
        "Circulant([1.0, 2.0]",
        "Householder([1.0, 2.0]",
        "Permutation([1, 0]",
        "Toeplitz([1.0, 2.0], [1.0, 3.0]",
        "Tridiag([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
        "Adjoint(tf.linalg.LinearOperatorIdentity(2)",
        "Inversion(tf.linalg.LinearOperatorIdentity(2)",
        "Composition([tf.linalg.LinearOperatorIdentity(2)]",
        "BlockDiag([tf.linalg.LinearOperatorIdentity(2)]",
        "BlockLowerTriangular([[tf.linalg.LinearOperatorIdentity(2)]]",
        "Kronecker([tf.linalg.LinearOperatorIdentity(2)]",
        "LowRankUpdate(tf.linalg.LinearOperatorIdentity(2), [[1.0], [2.0]]",
    )
    for hint in _HINTS
    for answer in (True, False)
]

_MATRIX = "tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])"
_FLAT = "tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0]])"
_BLOCKS = "tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorDiag([3.0])])"
_TRIANGLE = (
    "tf.linalg.LinearOperatorBlockLowerTriangular([[tf.linalg.LinearOperatorDiag([1.0, 2.0])], "
    "[tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0]]), tf.linalg.LinearOperatorIdentity(1)]])"
)
_ERRORS = [
    row(code, grad=False, lower=False)
    for code in (
        "tf.linalg.LinearOperator(tf.float32)",
        f"{_MATRIX}.matmul([[1.0, 2.0]])",
        f"{_MATRIX}.matmul([1.0, 2.0])",
        f"{_MATRIX}.matmul(np.ones([2, 1]))",
        f"{_MATRIX}.matvec([[1.0], [2.0]])",
        f"{_MATRIX}.matvec(1.0)",
        f"{_MATRIX}.solve([1.0, 2.0])",
        f"{_MATRIX}.solve(np.ones([2, 1]))",
        f"{_MATRIX}.solve([[1.0, 2.0]])",
        f"{_MATRIX}.add_to_tensor(np.ones([2, 2]))",
        f"{_MATRIX}.eigvals()",
        f"{_MATRIX}.cholesky()",
        f"{_MATRIX}.assert_self_adjoint()",
        f"{_MATRIX}.assert_positive_definite()",
        f"{_MATRIX} @ tf.linalg.LinearOperatorIdentity(3)",
        f"{_FLAT}.solve([[1.0]])",
        f"{_FLAT}.determinant()",
        f"{_FLAT}.log_abs_determinant()",
        f"{_FLAT}.inverse()",
        f"{_FLAT} @ tf.linalg.LinearOperatorZeros(2)",
        f"{_FLAT}.adjoint().to_dense()",
        f"{_FLAT}.trace()",
        f"{_FLAT}.diag_part()",
        "tf.linalg.LinearOperatorFullMatrix(tf.ones([3, 3])).assert_non_singular()",
        f"tf.linalg.LinearOperatorFullMatrix(-tf.ones([3, 3]), {_SURE}).assert_positive_definite()",
        "tf.linalg.LinearOperatorFullMatrix(tf.zeros([2, 2])).solve([[1.0], [2.0]])",
        "tf.linalg.LinearOperatorFullMatrix([[1, 2], [3, 4]])",
        "tf.linalg.LinearOperatorFullMatrix([1.0, 2.0])",
        "tf.linalg.LinearOperatorFullMatrix(None)",
        "tf.linalg.LinearOperatorDiag(1.0)",
        "tf.linalg.LinearOperatorDiag([1.0, 0.0]).assert_non_singular()",
        "tf.linalg.LinearOperatorDiag([1.0, -1.0]).assert_positive_definite()",
        "tf.linalg.LinearOperatorDiag(tf.complex([1.0], [1.0])).assert_self_adjoint()",
        "tf.linalg.LinearOperatorDiag(tf.complex([1.0], [1.0])).assert_positive_definite()",
        "tf.linalg.LinearOperatorLowerTriangular([1.0])",
        "tf.linalg.LinearOperatorLowerTriangular([[0.0, 1.0], [1.0, 1.0]]).assert_non_singular()",
        "tf.linalg.LinearOperatorIdentity(3.0)",
        "tf.linalg.LinearOperatorIdentity(-1)",
        "tf.linalg.LinearOperatorIdentity([3])",
        "tf.linalg.LinearOperatorIdentity(None)",
        "tf.linalg.LinearOperatorIdentity(tf.Variable(3))",
        "tf.linalg.LinearOperatorIdentity(3, batch_shape=2)",
        "tf.linalg.LinearOperatorIdentity(3, batch_shape=[-2])",
        "tf.linalg.LinearOperatorIdentity(3, batch_shape=[2.0])",
        "tf.linalg.LinearOperatorIdentity(tf.constant(-3), assert_proper_shapes=True)",
        "tf.linalg.LinearOperatorScaledIdentity(3, [1.0, 0.0]).assert_non_singular()",
        "tf.linalg.LinearOperatorScaledIdentity(3, [1.0, -1.0]).assert_positive_definite()",
        "tf.linalg.LinearOperatorScaledIdentity(-3, 1.0)",
        "tf.linalg.LinearOperatorZeros(2, 3)",
        "tf.linalg.LinearOperatorZeros(3).solve([[1.0]])",
        "tf.linalg.LinearOperatorZeros(3).inverse()",
        "tf.linalg.LinearOperatorZeros(3).assert_non_singular()",
        "tf.linalg.LinearOperatorZeros(3).assert_positive_definite()",
        "tf.linalg.LinearOperatorZeros(3).log_abs_determinant()",
        "tf.linalg.LinearOperatorComposition([])",
        "tf.linalg.LinearOperatorComposition(tf.linalg.LinearOperatorIdentity(2))",
        "tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorIdentity(3)])",
        "tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorIdentity(2), "
        "tf.linalg.LinearOperatorIdentity(2, dtype=tf.float64)])",
        "tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorZeros(2))",
        f"tf.linalg.LinearOperatorInversion({_FLAT})",
        "tf.linalg.LinearOperatorBlockDiag([])",
        f"{_BLOCKS}.matmul([tf.ones([2, 1]), tf.ones([2, 1])])",
        f"{_BLOCKS}.matmul([tf.ones([2, 1])])",
        f"{_BLOCKS}.matmul([[1.0], [2.0]])",
        f"{_BLOCKS}.matmul([np.ones([2, 1]), np.ones([1, 1])])",
        "tf.linalg.LinearOperatorBlockLowerTriangular([])",
        "tf.linalg.LinearOperatorBlockLowerTriangular([[tf.linalg.LinearOperatorIdentity(2)], "
        "[tf.linalg.LinearOperatorIdentity(2)]])",
        "tf.linalg.LinearOperatorBlockLowerTriangular([[tf.linalg.LinearOperatorIdentity(2)], "
        "[tf.linalg.LinearOperatorZeros(2), tf.linalg.LinearOperatorIdentity(3)]])",
        f"tf.linalg.LinearOperatorBlockLowerTriangular([[{_FLAT}]])",
        "tf.linalg.LinearOperatorCirculant(2.0)",
        "tf.linalg.LinearOperatorCirculant2D([1.0, 2.0])",
        "tf.linalg.LinearOperatorCirculant3D([[1.0, 2.0]])",
        "tf.linalg.LinearOperatorCirculant([1.0, 2.0]).matvec([1.0, 2.0])",
        "tf.linalg.LinearOperatorCirculant([1.0, 0.0]).assert_non_singular()",
        "tf.linalg.LinearOperatorCirculant([1.0, -1.0]).assert_positive_definite()",
        "tf.linalg.LinearOperatorCirculant([1.0 + 0j, 1j]).assert_self_adjoint()",
        "tf.linalg.LinearOperatorCirculant([1.0 + 0j, 1j]).assert_hermitian_spectrum()",
        "tf.linalg.LinearOperatorHouseholder(3.0)",
        "tf.linalg.LinearOperatorHouseholder([3.0, 4.0]).assert_positive_definite()",
        "tf.linalg.LinearOperatorKronecker([])",
        f"tf.linalg.LinearOperatorKronecker([{_FLAT}, {_MATRIX}]).assert_non_singular()",
        f"tf.linalg.LinearOperatorKronecker([{_MATRIX}, {_MATRIX}]).assert_self_adjoint()",
        "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorIdentity(2), [[1.0], [2.0], [3.0]])",
        "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorIdentity(2), [[1.0], [2.0]], diag_update=[1.0, 2.0])",
        "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorIdentity(2), [1.0, 2.0])",
        "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorIdentity(2), [[1.0], [2.0]], "
        "is_diag_update_positive=False)",
        "tf.linalg.LinearOperatorPermutation([0, 0, 1])",
        "tf.linalg.LinearOperatorPermutation([0, 5, 1])",
        "tf.linalg.LinearOperatorPermutation([0.0, 1.0])",
        "tf.linalg.LinearOperatorPermutation(0)",
        "tf.linalg.LinearOperatorPermutation([2, 0, 1]).assert_self_adjoint()",
        "tf.linalg.LinearOperatorToeplitz(1.0, 1.0)",
        "tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, 4.0])",
        "tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 4.0]).assert_self_adjoint()",
        "tf.linalg.LinearOperatorTridiag([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], diagonals_format='dense')",
        "tf.linalg.LinearOperatorTridiag([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).assert_self_adjoint()",
        "tf.linalg.LinearOperatorIdentity(3)[0]",
        f"{_MATRIX}[0]",
        "tf.linalg.LinearOperatorIdentity(3)[0, 0]",
    )
]

# Properties, other shapes, variables, composite tensors.
_BATCH = "tf.linalg.LinearOperatorDiag(tf.reshape(tf.range(12.0), [2, 2, 3]))"
_STATIC = [
    row(code, grad=False, lower=False)
    for code in (
        f"[str(x) for x in ({_BATCH}.shape, {_BATCH}.batch_shape, {_BATCH}.tensor_rank, {_BATCH}.dtype.name)]",
        f"int({_BATCH}.domain_dimension), int({_BATCH}.range_dimension), {_BATCH}.name",
        f"{_BATCH}.shape_tensor(), {_BATCH}.batch_shape_tensor(), {_BATCH}.tensor_rank_tensor()",
        f"{_BATCH}.domain_dimension_tensor(), {_BATCH}.range_dimension_tensor()",
        "sorted(tf.linalg.LinearOperatorIdentity(3).parameters)",
        "tf.linalg.LinearOperatorDiag([1.0], name='mine').name",
        *(f"{_BATCH}[{index}].to_dense()" for index in ("0", "0, 1", ":1", "..., 0", "tf.newaxis", "0, tf.newaxis", "..., ::2")),
        "tf.linalg.LinearOperatorIdentity(3, batch_shape=[2, 3])[0].shape_tensor()",
        "tf.linalg.LinearOperatorZeros(3, batch_shape=[2, 3])[:, 1].shape_tensor()",
        "tf.linalg.LinearOperatorScaledIdentity(3, [1.0, 2.0])[1].to_dense()",
        f"tf.linalg.LinearOperatorBlockDiag([{_BATCH}, tf.linalg.LinearOperatorFullMatrix(tf.ones([2, 3, 3]))])[1].to_dense()",
        f"tf.linalg.LinearOperatorBlockDiag([{_BATCH}, tf.linalg.LinearOperatorFullMatrix(tf.ones([2, 3, 3]))])[:, 0]",
        f"tf.linalg.LinearOperatorComposition([{_BATCH}, {_BATCH}])[0].to_dense()",
        "tf.linalg.LinearOperatorIdentity(3, batch_shape=[2]).add_to_tensor(tf.ones([3, 3]))",
        "[o.add_to_tensor(mat=tf.ones([3, 3])) for o in (tf.linalg.LinearOperatorScaledIdentity(3, 4.0), "
        "tf.linalg.LinearOperatorZeros(3))]",
        "tf.linalg.LinearOperatorIdentity(0).to_dense()",
        "tf.linalg.LinearOperatorIdentity(3, dtype=tf.int32).to_dense()",
        "tf.linalg.LinearOperatorIdentity(tf.constant(3), tf.constant([2])).trace()",
        "tf.linalg.LinearOperatorIdentity(3).eigvals(), tf.linalg.LinearOperatorIdentity(3).cond()",
        "tf.linalg.LinearOperatorScaledIdentity(3, [1.0, 2.0]).eigvals()",
        "tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False).to_dense()",
        "tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False).diag_part()",
        "tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False).H.to_dense()",
        "tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False).matmul(tf.ones([2, 1]), adjoint=True)",
        "tf.linalg.LinearOperatorZeros(3, batch_shape=[2]).matmul(tf.ones([3, 1]))",
        "z = tf.linalg.LinearOperatorZeros(3)\n"
        "result = z.determinant(), z.trace(), z.eigvals(), z.cond(), z.add_to_tensor(tf.eye(3)), z.assert_self_adjoint()",
        "tf.linalg.LinearOperatorPermutation([2, 0, 1]).determinant()",
        "tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([10.0, 20.0, 30.0])",
        "tf.linalg.LinearOperatorPermutation([1, 0], dtype=tf.int32).to_dense()",
        "tf.linalg.LinearOperatorPermutation([1, 0]).perm",
        "tf.linalg.LinearOperatorHouseholder([3.0, 4.0, 0.0]).eigvals()",
        "tf.linalg.LinearOperatorHouseholder([3.0, 4.0]).assert_self_adjoint()",
        "tf.linalg.LinearOperatorLowerTriangular([[1.0, 5.0], [2.0, 3.0]], is_self_adjoint=True).eigvals()",
        "tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [7.0, 4.0, 5.0]).to_dense()",
        "t = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 2.0])\nresult = t.assert_self_adjoint(), t.row, t.col",
        "tf.linalg.LinearOperatorTridiag([[1.0, 2.0], [4.0, 5.0]], diagonals_format='matrix').to_dense()",
        "tf.linalg.LinearOperatorTridiag([[1.0, 2.0], [4.0, 5.0]], diagonals_format='matrix').matvec([1.0, 2.0], adjoint=True)",
        "t = tf.linalg.LinearOperatorTridiag([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 7.0, 8.0]], diagonals_format='sequence')\n"
        "result = t.to_dense(), t.matmul(tf.eye(3), adjoint=True), t.solvevec([1.0, 2.0, 3.0]), t.diagonals_format",
        "tf.linalg.LinearOperatorTridiag([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 1.0, 2.0]]).assert_self_adjoint()",
        "c = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 3, 4]))\n"
        "result = [str(c.shape), str(c.block_shape), c.block_depth], c.block_shape_tensor(), c.spectrum",
        "tf.linalg.LinearOperatorCirculant([1.0, 2.0, 2.0]).convolution_kernel()",
        "tf.linalg.LinearOperatorCirculant2D([[1.0, 2.0], [3.0, 4.0]], input_output_dtype=tf.float32).convolution_kernel()",
        "tf.linalg.LinearOperatorCirculant2D([[1.0, 2.0], [3.0, 4.0]]).eigvals()",
        "tf.linalg.LinearOperatorCirculant([1.0, 2.0, 2.0]).trace()",
        f"{_BLOCKS}.matmul([tf.ones([2, 1]), tf.ones([1, 1])])",
        f"{_BLOCKS}.matmul([[1.0], [2.0], [3.0]])",
        f"{_BLOCKS}.matvec([tf.ones([2]), tf.ones([1])], adjoint=True)",
        f"{_BLOCKS}.matvec([1.0, 2.0, 3.0])",
        f"{_BLOCKS}.solve([tf.ones([2, 1]), tf.ones([1, 1])])",
        f"{_BLOCKS}.solvevec([tf.ones([2]), tf.ones([1])])",
        f"{_BLOCKS}.eigvals()",
        f"{_BLOCKS}.assert_self_adjoint()",
        f"{_BLOCKS}.assert_positive_definite()",
        f"{_TRIANGLE}.solve([[[1.0], [2.0]], [[3.0]]], adjoint=True)",
        f"{_TRIANGLE}.solvevec([[1.0, 2.0], [3.0]])",
        f"{_TRIANGLE}.matvec([[1.0, 2.0], [3.0]], adjoint=True)",
        f"{_TRIANGLE}.inverse().to_dense()",
        f"tf.linalg.LinearOperatorBlockDiag([{_FLAT}, tf.linalg.LinearOperatorIdentity(1)], is_square=False).to_dense()",
        f"tf.linalg.LinearOperatorBlockDiag([{_FLAT}, tf.linalg.LinearOperatorIdentity(1)], is_square=False)"
        ".matmul(tf.ones([2, 1]), adjoint=True)",
        f"tf.linalg.LinearOperatorKronecker([{_FLAT}, {_MATRIX}]).to_dense()",
        f"tf.linalg.LinearOperatorKronecker([{_FLAT}, {_MATRIX}]).matmul(tf.ones([2, 2]), adjoint=True)",
        "u = tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag([1.0, 2.0]), [[1.0], [2.0]])\n"
        "result = u.u, u.v, u.diag_update, u.is_diag_update_positive, u.diag_operator.shape_tensor(), u.base_operator.diag",
        "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag([1.0, 2.0]), [[1.0], [2.0]]).assert_self_adjoint()",
        "t = tf.linalg.LinearOperatorLowerTriangular([[-2.0, 0.0], [1.0, 3.0]], is_non_singular=True)\n"
        f"r = t @ t.H\nresult = r.cholesky(), [str(v) for v in ({_FACTS})]",
        f"r = {_MATRIX}\nr = r.matmul(r, adjoint=True)\nresult = r.to_dense(), [str(v) for v in ({_FACTS})]",
        "i, f = tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]], "
        "is_non_singular=True)\n"
        "made = [tf.linalg.LinearOperatorComposition(o) for o in ([i], [i, i], [f, f.H], [f.H, f], [f, i, f.H], [f, i, i, f.H])]\n"
        "result = [str((o.is_non_singular, o.is_self_adjoint, o.is_positive_definite)) for o in made]",
        "v = tf.Variable([1.0, 2.0])\no = tf.linalg.LinearOperatorDiag(v)\nv.assign([3.0, 4.0])\n"
        "result = o.to_dense(), o.diag is v, len(o.variables), o._convert_variables_to_tensors().diag",
        "o = tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0])), "
        "tf.linalg.LinearOperatorFullMatrix(tf.Variable([[1.0, 2.0], [3.0, 4.0]]))])\n"
        "result = len(o.trainable_variables), len(o.submodules), isinstance(o, tf.Module)",
        f"o = {_TRIANGLE}\n"
        "result = tf.nest.pack_sequence_as(o, tf.nest.flatten(o, expand_composites=True), expand_composites=True).to_dense()",
        "str(tf.linalg.LinearOperatorScaledIdentity(3, 2.0)._type_spec._component_specs)",
        "tf.linalg.LinearOperatorDiag([1.0])._type_spec.is_compatible_with(tf.linalg.LinearOperatorDiag([2.0]))",
        "tf.linalg.LinearOperatorDiag([1.0])._type_spec.is_compatible_with(tf.linalg.LinearOperatorDiag([2.0, 1.0]))",
    )
]

_OWN = [
    row("tf.linalg.LinearOperatorCirculant([1.0 + 0j, -1j, 1j]).assert_hermitian_spectrum()", grad=False, lower=False,
        ours="TensorFlow's check compares floats with integers, and always raises"),
    row(f"tf.linalg.LinearOperatorKronecker([{_MATRIX}, {_FLAT}]).trace()", grad=False, lower=False,
        ours="TensorFlow multiplies the traces of factors that are not square"),
    row("tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag([1.0, 2.0]), [[1.0], [2.0]], v=[[1.0], [2.0]])"
        ".assert_self_adjoint()", grad=False, lower=False, ours="TensorFlow recurses for ever"),
    row(f"tf.linalg.LinearOperatorLowRankUpdate({_FLAT}, [[1.0]], v=[[1.0], [2.0]]).to_dense()", grad=False, lower=False,
        ours="TensorFlow broadcasts the rows of u against those of v"),
    row("tf.linalg.LinearOperatorZeros(3, batch_shape=[2]).add_to_tensor(np.ones([3, 3], np.float32))", grad=False,
        lower=False, ours="TensorFlow raises AttributeError"),
]  # fmt: skip

_GRADIENTS = [
    row("o = tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorDiag(d), tf.linalg.LinearOperatorFullMatrix(a)])\n"
        "with tf.GradientTape() as tape:\n  tape.watch(o)\n  y = tf.reduce_sum(o.to_dense() ** 2)\n"
        "result = tape.gradient(y, o)", grad=False, lower=False, a=normal(2, 2), d=normal(2)),
    row("v = tf.Variable(d)\no = tf.linalg.LinearOperatorToeplitz(v, d)\n"
        "with tf.GradientTape() as tape:\n  y = o.matvec(d)\nresult = tape.gradient(y, v)", grad=False, lower=False,
        d=normal(3)),
    *each(_FLOATS, "tf.linalg.LinearOperatorDiag(d)[1].matvec(x)", d=normal(2, 3), x=normal(3), lower=False),
    *each(f"float16 {_FLOATS}", "tf.linalg.LinearOperatorFullMatrix(a).matmul(x)", a=normal(3, 3), x=normal(3, 2),
          lower=False),
    *each("float16 bfloat16", "tf.linalg.LinearOperatorDiag(d).matmul(x)", d=normal(3), x=normal(3, 2), lower=False),
    row("tf.linalg.LinearOperatorFullMatrix(a).matmul(x)", a=normal(3, 3), x=normal(3, 2), dtype="bfloat16", lower=False),
    row("tf.linalg.LinearOperatorFullMatrix(a + 3 * tf.eye(3, dtype=a.dtype)).solve(x)", a=normal(3, 3), x=normal(2, 4, 3, 2), lower=False),
    row("tf.linalg.LinearOperatorFullMatrix(a + 3 * tf.eye(3, dtype=a.dtype)).solve(x)", a=normal(2, 1, 3, 3), x=normal(4, 3, 2),
        lower=False),
    row("tf.linalg.LinearOperatorTridiag(a + 3 * tf.one_hot(1, 3, dtype=a.dtype)[:, None]).solve(x)", a=normal(3, 3), x=normal(2, 3, 2),
        lower=False),
    row("tf.linalg.LinearOperatorToeplitz(a, b).matmul(x)", a=normal(2, 1, 3), b=normal(4, 3), x=normal(3, 2), lower=False,
        ours="TensorFlow does not broadcast row and col"),
    row("tf.linalg.LinearOperatorTridiag(a).matmul(x)", a=normal(2, 3, 3), x=normal(3, 2), lower=False,
        ours="TensorFlow does not broadcast here"),
    row("tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(a), tf.linalg.LinearOperatorFullMatrix(b), "
        "tf.linalg.LinearOperatorDiag(d)]).matmul(x)", a=normal(2, 2, 3), b=normal(3, 1, 1, 2), d=normal(2),
        x=normal(12, 2), lower=False),
]  # fmt: skip

ROWS = [
    *_BY_METHOD,
    *_BY_COMPLEX,
    *_BY_HINT,
    *_BY_PAIR,
    *_CONTRADICTIONS,
    *_ERRORS,
    *_STATIC,
    *_OWN,
    *_GRADIENTS,
]
