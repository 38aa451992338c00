"""LinearOperatorLowRankUpdate: the linear operator of a matrix plus one of small rank."""

from typing import Any

from headrace._src.core.shapes import broadcast_static_shape
from headrace._src.core.types import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.linalg.decompositions import cholesky
from headrace._src.ops.linalg.diagonals import diag_part
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.solving import cholesky_solve, det, slogdet
from headrace._src.ops.linear_operators.base import LinearOperator, arguments, shared
from headrace._src.ops.linear_operators.dense import non_variable
from headrace._src.ops.linear_operators.diagonal import LinearOperatorDiag
from headrace._src.ops.linear_operators.identity import LinearOperatorIdentity
from headrace._src.ops.linear_operators.shapes import (
    adjoint_if,
    batch_of,
    common_batch,
    dimension_of,
    joined,
    solve_dense,
    total,
)
from headrace._src.ops.math.complex_numbers import conj
from headrace._src.ops.math.elementwise import log
from headrace._src.ops.math.reductions import reduce_sum


@api("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """The operator `L + U D V^H`, with an operator L, narrow matrices U and V and a diagonal D.

    Solving and the determinant need those of L and of a matrix as small as D.

    Args:
        base_operator: L, of shape `[..., M, N]`.
        u: U, of shape `[..., M, K]`.
        diag_update: the diagonal of D, of shape `[..., K]`; ones by default.
        v: V, of shape `[..., N, K]`; U by default.
        is_diag_update_positive: whether the diagonal of D is positive.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints. The operator is self-adjoint if L
            is, V is U and D is real; and positive definite if moreover L and D are.
        name: of the operator.

    Raises:
        ValueError: when shapes do not fit, or hints contradict what the arguments imply.

    >>> base = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]]).to_dense().numpy().tolist()
    [[2.0, 1.0], [1.0, 3.0]]
    """

    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = arguments(locals())
        dtype = base_operator.dtype
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(f"{name}: without diag_update D is the identity, which is positive.")
            is_diag_update_positive = True
        real = diag_update is None or not dtype.is_complex
        if base_operator.is_self_adjoint and v is None and real:
            if is_self_adjoint is False:
                raise ValueError(f"{name}: L + U D U^H is self-adjoint for a self-adjoint L and a real D.")
            is_self_adjoint = True
            if base_operator.is_positive_definite and is_diag_update_positive:
                if is_positive_definite is False or is_non_singular is False:
                    raise ValueError(f"{name}: the arguments make the operator positive definite, and so non-singular.")
                is_positive_definite = is_non_singular = True
        known = shared(
            parameters,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
        )
        super().__init__(dtype=dtype, **known)
        self._base_operator = base_operator
        self._u = _of_dtype(u, dtype, "u")
        self._v = self._u if v is None else _of_dtype(v, dtype, "v")
        self._diag_update = None if diag_update is None else _of_dtype(diag_update, dtype, "diag_update")
        self._is_diag_update_positive = is_diag_update_positive
        self._check_shapes()
        if self._diag_update is None:
            self._diag_operator = LinearOperatorIdentity(dimension_of(to_tensor(self._u), -1), dtype=dtype)
        else:
            self._diag_operator = LinearOperatorDiag(
                self._diag_update, is_positive_definite=is_diag_update_positive or None
            )

    def _check_shapes(self):
        base, u, v = self._base_operator, self._u.shape, self._v.shape
        for factor in (u, v):
            if factor.rank is not None and factor.rank < 2:
                raise IndexError(f"{self.name}: u and v must be matrices, got shapes {u} and {v}.")
        if u.rank is not None:
            base.range_dimension.assert_is_compatible_with(u[-2])
        if v.rank is not None:
            base.domain_dimension.assert_is_compatible_with(v[-2])
        if u.rank is not None and self._diag_update is not None:
            u.dims[-1].assert_is_compatible_with(self._diag_update.shape.dims[-1])

    @property
    def base_operator(self) -> LinearOperator:
        """L"""
        return self._base_operator

    @property
    def u(self) -> Tensor:
        """U, as it was given."""
        return self._u

    @property
    def v(self) -> Tensor:
        """V, as it was given."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of D, as it was given, or None."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """D, as an operator."""
        return self._diag_operator

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the diagonal of D is positive: True, False or None."""
        return self._is_diag_update_positive

    def _shape(self):
        batch = self._base_operator.batch_shape
        for part, depth in ((self._u, 2), (self._v, 2), (self._diag_update, 1)):
            if part is not None:
                batch = broadcast_static_shape(batch, part.shape[:-depth])
        return batch.concatenate(self._base_operator.shape[-2:])

    def _shape_tensor(self):
        base, u, v = self._base_operator, to_tensor(self._u), to_tensor(self._v)
        batch = common_batch(base._batch(), batch_of(u), batch_of(v), self._diag_operator._batch())
        return to_tensor(joined(batch, base._rows(), base._columns()))

    def _factors(self, adjoint=False):
        """U and V, or V and U: the adjoint is L^H + V D^H U^H."""
        u, v = to_tensor(self._u), to_tensor(self._v)
        return (v, u) if adjoint else (u, v)

    def _assert_self_adjoint(self):
        if self._u is self._v and not self.dtype.is_complex:
            return self._base_operator.assert_self_adjoint()
        return super()._assert_self_adjoint()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        u, v = self._factors(adjoint)
        inner = matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg)
        update = matmul(u, self._diag_operator.matmul(inner, adjoint=adjoint))
        return self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + update

    def _diag_part(self):
        if not self.is_square:
            return super()._diag_part()
        u, v = self._factors()
        product = u * conj(v)
        if self._diag_update is not None:
            product = product * to_tensor(self._diag_update)[..., None, :]
        return reduce_sum(product, axis=-1) + self._base_operator.diag_part()

    # By Woodbury's formula and the matrix determinant lemma, with C = D^-1 + V^H L^-1 U.

    def _capacitance(self, adjoint=False):
        u, v = self._factors(adjoint)
        inner = matmul(v, self._base_operator.solve(u, adjoint=adjoint), adjoint_a=True)
        inverse = self._diag_operator.inverse()
        return (inverse.adjoint() if adjoint else inverse).add_to_tensor(inner)

    def _capacitance_is_positive(self):
        # C is self-adjoint and positive definite when L and D are, and V is U.
        return bool(
            self._u is self._v
            and self._base_operator.is_self_adjoint
            and self._base_operator.is_positive_definite
            and self._is_diag_update_positive
            and not self.dtype.is_complex
        )

    def _determinant(self):
        capacitance = self._capacitance()
        return det(capacitance) * self._diag_operator.determinant() * self._base_operator.determinant()

    def _log_abs_determinant(self):
        capacitance = self._capacitance()
        if self._capacitance_is_positive():
            inner = 2 * reduce_sum(log(diag_part(cholesky(capacitance))), axis=-1)
        else:
            inner = slogdet(capacitance)[1]
        others = [self._diag_operator.log_abs_determinant(), self._base_operator.log_abs_determinant()]
        return total([inner, *others], self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if not self._base_operator.is_square:
            return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        base = self._base_operator
        u, v = self._factors(adjoint)
        first = base.solve(adjoint_if(adjoint_arg, rhs), adjoint=adjoint)
        inner = matmul(v, first, adjoint_a=True)
        capacitance = self._capacitance(adjoint)
        if self._capacitance_is_positive():
            inner = cholesky_solve(cholesky(capacitance), inner)
        else:
            inner = solve_dense(capacitance, inner)
        return first - base.solve(matmul(u, inner), adjoint=adjoint)

    @property
    def _composite_tensor_fields(self):
        return ("base_operator", "u", "diag_update", "v", "is_diag_update_positive")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}


def _of_dtype(value, dtype, name):
    """A variable or tensor as it is, anything else as a tensor of that dtype."""
    return non_variable(value, name) if isinstance(value, Tensor) else to_tensor(value, dtype)
