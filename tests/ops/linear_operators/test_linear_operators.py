"""Linear operators where TensorFlow cannot be asked: own decisions, classes of users, pickled specs."""

import pickle

import numpy as np
import pytest

import headrace as tf

RNG = np.random.default_rng(0)
FLAT = RNG.standard_normal((1, 2))
SQUARE = RNG.standard_normal((2, 2))


def full(matrix):
    return tf.linalg.LinearOperatorFullMatrix(matrix)


@pytest.mark.parametrize("factors", [(SQUARE, FLAT), (FLAT, FLAT.T), (FLAT.T, SQUARE)])
def test_kronecker_of_factors_that_are_not_square(factors):
    dense = np.kron(*factors)
    operator = tf.linalg.LinearOperatorKronecker([full(factor) for factor in factors])
    np.testing.assert_allclose(operator.to_dense(), dense)
    np.testing.assert_allclose(operator.diag_part(), np.diagonal(dense))
    np.testing.assert_allclose(operator.trace(), np.trace(dense))


def test_determinant_of_a_square_kronecker_product_of_other_factors():
    operator = tf.linalg.LinearOperatorKronecker([full(FLAT), full(FLAT.T)])
    np.testing.assert_allclose(operator.determinant(), np.linalg.det(np.kron(FLAT, FLAT.T)), atol=1e-12)


def test_low_rank_update_of_a_base_that_is_not_square():
    u, v = RNG.standard_normal((1, 3)), RNG.standard_normal((2, 3))
    operator = tf.linalg.LinearOperatorLowRankUpdate(full(FLAT), u, v=v)
    np.testing.assert_allclose(operator.to_dense(), FLAT + u @ v.T)
    np.testing.assert_allclose(operator.matmul(FLAT, adjoint=True), (FLAT + u @ v.T).T @ FLAT)
    np.testing.assert_allclose(operator.diag_part(), np.diagonal(FLAT + u @ v.T))


def test_low_rank_update_knows_whether_it_is_self_adjoint():
    base, u = tf.linalg.LinearOperatorDiag([1.0, 2.0]), [[1.0], [2.0]]
    tf.linalg.LinearOperatorLowRankUpdate(base, u, v=u).assert_self_adjoint()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.linalg.LinearOperatorLowRankUpdate(base, u, v=[[2.0], [1.0]]).assert_self_adjoint()


def test_hermitian_spectra():
    real = tf.signal.fft(tf.constant([1.0, 2.0, 5.0, -1.0], tf.complex64))
    tf.linalg.LinearOperatorCirculant(real).assert_hermitian_spectrum()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.linalg.LinearOperatorCirculant(real + 1j).assert_hermitian_spectrum()


def test_adjoint_of_a_circulant_operator_keeps_its_dtype():
    operator = tf.linalg.LinearOperatorCirculant([1 + 0j, 2j, -2j], input_output_dtype=tf.float64)
    assert operator.adjoint().dtype == tf.float64
    np.testing.assert_allclose(operator.adjoint().to_dense(), tf.transpose(operator.to_dense()), atol=1e-12)


def test_zeros_plus_a_tensor_broadcast():
    operator = tf.linalg.LinearOperatorZeros(2, batch_shape=[3])
    np.testing.assert_array_equal(operator.add_to_tensor(np.eye(2, dtype=np.float32)), [np.eye(2)] * 3)


def test_toeplitz_and_tridiagonal_matrices_broadcast():
    col, row, x = RNG.standard_normal((2, 1, 3)), RNG.standard_normal((4, 3)), RNG.standard_normal((3, 2))
    toeplitz = tf.linalg.LinearOperatorToeplitz(col, row)
    np.testing.assert_allclose(toeplitz.matmul(x), toeplitz.to_dense().numpy() @ x)
    np.testing.assert_allclose(toeplitz.matmul(x, adjoint=True), toeplitz.H.to_dense().numpy() @ x)
    tridiagonal = tf.linalg.LinearOperatorTridiag(RNG.standard_normal((2, 3, 3)))
    np.testing.assert_allclose(tridiagonal.matmul(x), tridiagonal.to_dense().numpy() @ x)
    np.testing.assert_allclose(tridiagonal.solve(tridiagonal.matmul(x)), np.broadcast_to(x, (2, 3, 2)))


class Doubled(tf.linalg.LinearOperator):
    """As a user writes one: without hints, and with what must be there only."""

    def __init__(self, matrix, name="Doubled"):
        self._matrix = tf.convert_to_tensor(matrix)
        super().__init__(dtype=self._matrix.dtype, name=name, parameters={"matrix": matrix, "name": name})

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return tf.shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return 2 * tf.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)


def test_a_class_of_the_user():
    operator = Doubled(SQUARE)
    np.testing.assert_allclose(operator.to_dense(), 2 * SQUARE)
    np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(2 * SQUARE))
    np.testing.assert_allclose((operator @ operator.H).determinant(), np.linalg.det(2 * SQUARE) ** 2)
    again = tf.nest.map_structure(lambda x: 3 * x, operator, expand_composites=True)
    assert type(again) is Doubled
    np.testing.assert_allclose(again.to_dense(), 6 * SQUARE)


def test_a_class_without_a_product_cannot_be_made():
    class Nothing(tf.linalg.LinearOperator):
        pass

    with pytest.raises(TypeError, match="_shape"):
        Nothing(tf.float32)


def test_specs_are_pickled_and_batched():
    operator = tf.linalg.LinearOperatorKronecker(
        [tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorIdentity(2, batch_shape=[3])]
    )
    spec = operator._type_spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec._batch(4)._unbatch() == spec


def test_variables_are_read_when_used_and_saved_by_name():
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    operator = tf.linalg.LinearOperatorFullMatrix(variable)
    variable.assign([[5.0, 0.0], [0.0, 6.0]])
    np.testing.assert_array_equal(operator.matvec([1.0, 1.0]), [5.0, 6.0])
    assert operator._trackable_children() == {"_matrix": variable}

    module = tf.Module()
    module.operator = operator
    assert module.trainable_variables == (variable,)
    assert module.submodules == (operator,)


def test_conjugate_gradients_take_an_operator():
    matrix = SQUARE @ SQUARE.T + np.eye(2)
    operator = tf.linalg.LinearOperatorFullMatrix(matrix, is_self_adjoint=True, is_positive_definite=True)
    found = tf.linalg.experimental.conjugate_gradient(operator, tf.constant([1.0, 2.0], tf.float64), tol=1e-12)
    np.testing.assert_allclose(found.x, np.linalg.solve(matrix, [1.0, 2.0]))
