"""What can be computed from an LU decomposition: the matrix, solutions of equations, the inverse."""

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.options import truth
from headrace._src.ops.arrays.broadcasting import BROADCAST_ARGS, BROADCAST_TO
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.linalg.decompositions import gather_rows, inverse_permutation
from headrace._src.ops.linalg.diagonals import diag_part, set_diag
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.matrices import band_part, eye
from headrace._src.ops.linalg.solving import triangular_solve


def _checked(name, lower_upper, perm):
    lower_upper = to_tensor(lower_upper)
    perm = to_tensor(perm, None if hasattr(perm, "dtype") else dtypes.int32)
    if perm.dtype not in dtypes.INDEX:
        raise errors.DTypeMismatchError(f"{name}: perm must be int32 or int64, got {perm.dtype.name}.")
    shape, order = lower_upper.shape, perm.shape
    if shape.rank is None or order.rank is None:
        raise ValueError(f"{name}: the ranks of lower_upper and perm must be known.")
    if shape.rank < 2:
        raise ValueError(f"{name}: lower_upper must have rank 2 or more, got shape {shape}.")
    if order.rank + 1 != shape.rank:
        raise ValueError(f"{name}: perm must have one axis less than lower_upper, got {order} and {shape}.")
    if not shape[-1:].is_compatible_with(shape[-2:-1]):
        raise ValueError(f"{name}: lower_upper must be square matrices, got shape {shape}.")
    return lower_upper, perm


def _unit_lower(lower_upper):
    """The lower factor, with ones on its diagonal."""
    ones = ONES_LIKE(diag_part(lower_upper))
    return set_diag(band_part(lower_upper, -1, 0), ones)


@api("linalg.lu_reconstruct")
def lu_reconstruct(lower_upper, perm, validate_args=False, name=None) -> Tensor:
    """The matrices whose decomposition `tf.linalg.lu` gave.

    Args:
        lower_upper: the first result of `tf.linalg.lu`.
        perm: the second one.
        validate_args: accepted for compatibility; shapes are always checked.
        name: accepted for compatibility.

    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])).numpy().tolist()
    [[1.0, 2.0], [4.0, 4.0]]
    """
    truth("validate_args", validate_args)
    lower_upper, perm = _checked("lu_reconstruct", lower_upper, perm)
    product = matmul(_unit_lower(lower_upper), band_part(lower_upper, 0, -1))
    return gather_rows(product, inverse_permutation(perm))


@api("linalg.lu_solve")
def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None) -> Tensor:
    """The x with `A @ x == rhs`, given the decomposition of A by `tf.linalg.lu`.

    Args:
        lower_upper: the first result of `tf.linalg.lu`.
        perm: the second one.
        rhs: right-hand sides, the columns of matrices; batch dimensions broadcast.
        validate_args: accepted for compatibility; shapes are always checked.
        name: accepted for compatibility.

    >>> tf.linalg.lu_solve(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]]), rhs=[[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    truth("validate_args", validate_args)
    lower_upper, perm = _checked("lu_solve", lower_upper, perm)
    rhs = to_tensor(rhs, hint=lower_upper.dtype)
    if rhs.shape.rank is None or rhs.shape.rank < 2:
        raise ValueError(f"lu_solve: rhs must have rank 2 or more, got shape {rhs.shape}.")
    if not rhs.shape[-2:-1].is_compatible_with(lower_upper.shape[-1:]):
        raise ValueError(
            f"lu_solve: lower_upper and rhs must have equally many rows, got shapes {lower_upper.shape} and "
            f"{rhs.shape}."
        )
    ordered = _ordered(rhs, perm)
    y = triangular_solve(_unit_lower(lower_upper), ordered)
    return triangular_solve(lower_upper, y, lower=False, name=name)


def _ordered(rhs, perm):
    """The rows of `rhs` in the order of `perm`; both are repeated to a common batch."""
    if perm.shape.rank == 1:
        return GATHER_V2(rhs, perm, rhs.shape.rank - 2)
    if not (rhs.shape[:-2].is_fully_defined() and rhs.shape[:-2] == perm.shape[:-1]):
        of_rhs, of_perm = SHAPE(rhs, out_type=dtypes.int32), SHAPE(perm, out_type=dtypes.int32)
        batch = BROADCAST_ARGS(of_rhs[:-2], of_perm[:-1])
        rhs = BROADCAST_TO(rhs, CONCAT([batch, of_rhs[-2:]], 0))
        perm = BROADCAST_TO(perm, CONCAT([batch, of_perm[-1:]], 0))
    return gather_rows(rhs, perm)


@api("linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None) -> Tensor:
    """The inverse of the matrices whose decomposition `tf.linalg.lu` gave.

    Args:
        lower_upper: the first result of `tf.linalg.lu`.
        perm: the second one.
        validate_args: accepted for compatibility; shapes are always checked.
        name: accepted for compatibility.

    >>> tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    truth("validate_args", validate_args)
    lower_upper, perm = _checked("lu_matrix_inverse", lower_upper, perm)
    size = lower_upper.shape[-1]
    if size is None:
        size = SHAPE(lower_upper, out_type=dtypes.int32)[-1]
    return lu_solve(lower_upper, perm, eye(size, dtype=lower_upper.dtype), validate_args, name=name)
