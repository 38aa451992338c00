"""Linear operators made of others: LinearOperatorAdjoint, LinearOperatorInversion and LinearOperatorComposition."""

import functools
from typing import Any

from headrace._src.core.shapes import TensorShape, broadcast_static_shape
from headrace._src.op.api import api
from headrace._src.op.attached import method_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import expand_dims
from headrace._src.ops.linalg import matrices
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.dense import LinearOperatorLowerTriangular
from headrace._src.ops.linear_operators.shapes import (
    common_batch,
    joined,
    product_non_singular,
    product_square,
    total,
)
from headrace._src.ops.math.complex_numbers import conj
from headrace._src.ops.math.elementwise import sign

HINTS = {
    "is_square": "square",
    "is_non_singular": "non-singular",
    "is_self_adjoint": "self-adjoint",
    "is_positive_definite": "positive-definite",
}


def _shared_hints(operator, given, kind):
    """The hints of an operator that has the same ones as `operator`.

    Raises:
        ValueError: when a given hint is another.
    """
    hints = {}
    for hint, text in HINTS.items():
        mine, other = given[hint], getattr(operator, hint)
        if mine is not None and other is not None and mine != other:
            raise ValueError(f"An operator is {text} just when its {kind} is, and {operator.name}.{hint} is {other}.")
        hints[hint] = other if mine is None else mine
    return hints


class _Derived(LinearOperator):
    """An operator that is made of one other."""

    @property
    def operator(self) -> Any:
        """The operator that this one was made of."""
        return self._operator

    @property
    def _composite_tensor_fields(self):
        return ("operator",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operator": 0}

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()


@api("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_Derived):
    """The operator of the conjugate transpose of another operator's matrix.

    Args:
        operator: the other operator.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; by default those of `operator`.
        name: by default that of `operator` with "_adjoint".

    Raises:
        ValueError: when a hint contradicts one of `operator`.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy().tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ) -> None:
        parameters = arguments(locals())
        self._operator = operator
        super().__init__(
            dtype=operator.dtype,
            name=name or f"{operator.name}_adjoint",
            parameters=parameters,
            **_shared_hints(operator, parameters, "adjoint"),
        )

    def _shape(self):
        known = self._operator.shape
        if known.rank is None:
            return known
        return known[:-2].concatenate([known[-1], known[-2]])

    def _shape_tensor(self):
        inner = self._operator
        return to_tensor(joined(inner._batch(), inner._columns(), inner._rows()))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x, adjoint=False):
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs, adjoint=False):
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self):
        return _conjugate(self, self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        return _conjugate(self, self._operator.trace())

    def _diag_part(self):
        return _conjugate(self, self._operator.diag_part())

    def _to_dense(self):
        if self.is_self_adjoint:
            return self._operator.to_dense()
        return matrices.adjoint(self._operator.to_dense())

    def _eigvals(self):
        return _conjugate(self, self._operator.eigvals())

    def _cond(self):
        return self._operator.cond()

    def _linop_adjoint(self):
        return self._operator


def _conjugate(operator, x):
    return x if operator.is_self_adjoint else conj(x)


@api("linalg.LinearOperatorInversion")
class LinearOperatorInversion(_Derived):
    """The operator of the inverse of another operator's matrix: its products solve, and the other way round.

    Args:
        operator: the other operator.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; by default those of `operator`.
        name: by default that of `operator` with "_inv".

    Raises:
        ValueError: when `operator` is singular by its hint, or a hint contradicts one of `operator`.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([2.0, 2.0]).numpy().tolist()
    [1.0, 0.5]
    """

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ) -> None:
        parameters = arguments(locals())
        self._operator = operator
        for hint in ("is_non_singular", "is_square"):
            if parameters[hint] is False or getattr(operator, hint) is False:
                raise ValueError(f"{operator.name}: an operator whose {hint} is False has no inverse.")
        super().__init__(
            dtype=operator.dtype,
            name=name or f"{operator.name}_inv",
            parameters=parameters,
            **_shared_hints(operator, parameters, "inverse"),
        )

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -1.0 * self._operator.log_abs_determinant()

    def _eigvals(self):
        return 1.0 / self._operator.eigvals()

    def _cond(self):
        return self._operator.cond()

    def _linop_inverse(self):
        return self._operator

    def _linop_solve(self, left_operator, right_operator):
        if isinstance(left_operator, LinearOperatorInversion):
            return left_operator.operator.matmul(right_operator)
        return super()._linop_solve(left_operator, right_operator)


@api("linalg.LinearOperatorComposition")
class LinearOperatorComposition(LinearOperator):
    """The operator of the product of other operators' matrices.

    Args:
        operators: a list of operators of one dtype, each with as many columns as the next has rows.
        is_non_singular: by default True if all operators are.
        is_self_adjoint, is_positive_definite: by default True where the list says so: A followed by its adjoint.
        is_square: a hint; see `tf.linalg.LinearOperator`.
        name: by default the names of the operators with "_o_" between them.

    Raises:
        ValueError: when the operators do not fit, or none is given.
        TypeError: when their dtypes differ.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> b = tf.linalg.LinearOperatorDiag([1.0, 10.0])
    >>> tf.linalg.LinearOperatorComposition([a, b]).to_dense().numpy().tolist()
    [[1.0, 20.0], [3.0, 40.0]]
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ) -> None:
        parameters = arguments(locals())
        self._operators = checked_operators("LinearOperatorComposition", operators)
        if all(operator.is_non_singular for operator in operators):
            if is_non_singular is False:
                raise ValueError("The composition of non-singular operators is always non-singular.")
            is_non_singular = True
        half = len(operators) // 2
        # A A^H, or A B B^H A^H and so on.
        mirrored = len(operators) % 2 == 0 and all(map(_are_adjoint, operators[:half], operators[::-1]))
        if mirrored or (len(operators) == 1 and operators[0].is_self_adjoint):
            if is_self_adjoint is False:
                raise ValueError("The composition is self-adjoint, got is_self_adjoint=False.")
            is_self_adjoint = True
        if mirrored and is_non_singular:
            if is_positive_definite is False:
                raise ValueError("The composition is A A^H with a non-singular A, so it is positive definite.")
            is_positive_definite = True
        for left, right in zip(operators, operators[1:]):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        known = shared(
            parameters,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            name=name or "_o_".join(operator.name for operator in operators),
        )
        super().__init__(dtype=operators[0].dtype, **known)

    @property
    def operators(self) -> list:
        """The operators, from left to right."""
        return self._operators

    def _shape(self):
        batch = common_static_batch(self._operators)
        return batch.concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])

    def _shape_tensor(self):
        batch = common_batch(*[operator._batch() for operator in self._operators])
        return to_tensor(joined(batch, self._operators[0]._rows(), self._operators[-1]._columns()))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        # (AB)^H = B^H A^H: the first factor to be applied is the last one, or the first one.
        order = self._operators if adjoint else self._operators[::-1]
        result = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        order = self._operators[::-1] if adjoint else self._operators
        result = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _determinant(self):
        return functools.reduce(lambda a, b: a * b, [operator.determinant() for operator in self._operators])

    def _log_abs_determinant(self):
        return total([operator.log_abs_determinant() for operator in self._operators], self.dtype)

    def _linop_cholesky(self):
        if len(self._operators) == 2 and _are_adjoint(*self._operators):
            factor = self._operators[0]
            if isinstance(factor, LinearOperatorLowerTriangular):
                return _positive_factor(factor)
        return super()._linop_cholesky()

    def _assert_non_singular(self):
        if all(operator.is_square for operator in self._operators):
            for operator in self._operators:
                operator.assert_non_singular()
            return None
        return super()._assert_non_singular()

    @property
    def _composite_tensor_fields(self):
        return ("operators",)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operators": [0] * len(self._operators)}


def _are_adjoint(a, b) -> bool:
    """Whether one of two operators is, by the way they are made, the adjoint of the other."""
    if isinstance(b, LinearOperatorAdjoint) and b.operator is a:
        return True
    return (isinstance(a, LinearOperatorAdjoint) and a.operator is b) or (a is b and bool(a.is_self_adjoint))


def _positive_factor(factor):
    """The triangular operator with a positive diagonal that has the same product with its adjoint."""
    if factor.is_positive_definite:
        return factor
    return LinearOperatorLowerTriangular(
        factor.tril / expand_dims(sign(factor.diag_part()), -2),
        is_non_singular=factor.is_non_singular,
        is_self_adjoint=factor.is_self_adjoint,
        is_square=True,
    )


def checked_operators(kind, operators) -> list:
    """The operators as a list, if there is one and they have one dtype."""
    if not isinstance(operators, (list, tuple)):
        raise TypeError(f"{kind}: operators must be a list, got {type(operators).__name__}.")
    if not operators:
        raise ValueError(f"{kind}: expected at least one operator.")
    for operator in operators:
        if operator.dtype != operators[0].dtype:
            found = [f"{operator.name}: {operator.dtype.name}" for operator in operators]
            raise TypeError(f"{kind}: the operators must have one dtype, got {', '.join(found)}.")
    return list(operators)


def common_static_batch(operators) -> TensorShape:
    """The static shape to which the batch shapes of operators broadcast."""
    return functools.reduce(broadcast_static_shape, [operator.batch_shape for operator in operators])


# What the base class makes of operators that do not know better.


def _same_hints(operator):
    return {hint: getattr(operator, hint) for hint in HINTS}


@method_of(LinearOperator)
def _linop_adjoint(self):
    return LinearOperatorAdjoint(self, **_same_hints(self))


@method_of(LinearOperator)
def _linop_inverse(self):
    return LinearOperatorInversion(self, **_same_hints(self))


@method_of(LinearOperator)
def _composed(self, right_operator):
    """The product of two operators."""
    return _composition([self, right_operator], self, right_operator)


@method_of(LinearOperator)
def _solved_composed(self, right_operator):
    """The inverse of this operator times another."""
    return _composition([LinearOperatorInversion(self), right_operator], self, right_operator)


def _composition(operators, left, right):
    return LinearOperatorComposition(
        operators=operators, is_non_singular=product_non_singular(left, right), is_square=product_square(left, right)
    )
