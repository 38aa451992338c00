"""The public names of `tf.compat.v1.linalg`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.arrays import matrix_transpose as _transpose
    from headrace._src.compat.functions.mathematics import norm as norm
    from headrace._src.ops.linalg.banded import tridiagonal_matmul as tridiagonal_matmul
    from headrace._src.ops.linalg.banded import tridiagonal_solve as tridiagonal_solve
    from headrace._src.ops.linalg.decompositions import cholesky as cholesky
    from headrace._src.ops.linalg.decompositions import eigh as eigh
    from headrace._src.ops.linalg.decompositions import eigvalsh as eigvalsh
    from headrace._src.ops.linalg.decompositions import lu as lu
    from headrace._src.ops.linalg.decompositions import qr as qr
    from headrace._src.ops.linalg.diagonals import diag as diag
    from headrace._src.ops.linalg.diagonals import diag_part as diag_part
    from headrace._src.ops.linalg.diagonals import set_diag as set_diag
    from headrace._src.ops.linalg.diagonals import tensor_diag as tensor_diag
    from headrace._src.ops.linalg.diagonals import tensor_diag_part as tensor_diag_part
    from headrace._src.ops.linalg.einsum import einsum as einsum
    from headrace._src.ops.linalg.einsum import tensordot as tensordot
    from headrace._src.ops.linalg.lengths import normalize as normalize
    from headrace._src.ops.linalg.lu_functions import lu_matrix_inverse as lu_matrix_inverse
    from headrace._src.ops.linalg.lu_functions import lu_reconstruct as lu_reconstruct
    from headrace._src.ops.linalg.lu_functions import lu_solve as lu_solve
    from headrace._src.ops.linalg.matmul import matmul as matmul
    from headrace._src.ops.linalg.matmul import matvec as matvec
    from headrace._src.ops.linalg.matrices import adjoint as adjoint
    from headrace._src.ops.linalg.matrices import band_part as band_part
    from headrace._src.ops.linalg.matrices import cross as cross
    from headrace._src.ops.linalg.matrices import eye as eye
    from headrace._src.ops.linalg.matrices import matrix_transpose as matrix_transpose
    from headrace._src.ops.linalg.matrices import trace as trace
    from headrace._src.ops.linalg.matrix_functions import expm as expm
    from headrace._src.ops.linalg.matrix_functions import logm as logm
    from headrace._src.ops.linalg.matrix_functions import sqrtm as sqrtm
    from headrace._src.ops.linalg.singular_values import matrix_rank as matrix_rank
    from headrace._src.ops.linalg.singular_values import pinv as pinv
    from headrace._src.ops.linalg.singular_values import svd as svd
    from headrace._src.ops.linalg.solving import cholesky_solve as cholesky_solve
    from headrace._src.ops.linalg.solving import det as det
    from headrace._src.ops.linalg.solving import inv as inv
    from headrace._src.ops.linalg.solving import logdet as logdet
    from headrace._src.ops.linalg.solving import lstsq as lstsq
    from headrace._src.ops.linalg.solving import slogdet as slogdet
    from headrace._src.ops.linalg.solving import solve as solve
    from headrace._src.ops.linalg.solving import triangular_solve as triangular_solve
    from headrace._src.ops.linalg.tridiagonal_eigenvalues import eigh_tridiagonal as eigh_tridiagonal
    from headrace._src.ops.linear_operators.base import LinearOperator as LinearOperator
    from headrace._src.ops.linear_operators.block import LinearOperatorBlockDiag as LinearOperatorBlockDiag
    from headrace._src.ops.linear_operators.block import LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular
    from headrace._src.ops.linear_operators.circulant import LinearOperatorCirculant as LinearOperatorCirculant
    from headrace._src.ops.linear_operators.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
    from headrace._src.ops.linear_operators.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
    from headrace._src.ops.linear_operators.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
    from headrace._src.ops.linear_operators.dense import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
    from headrace._src.ops.linear_operators.derived import LinearOperatorAdjoint as LinearOperatorAdjoint
    from headrace._src.ops.linear_operators.derived import LinearOperatorComposition as LinearOperatorComposition
    from headrace._src.ops.linear_operators.derived import LinearOperatorInversion as LinearOperatorInversion
    from headrace._src.ops.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
    from headrace._src.ops.linear_operators.identity import LinearOperatorIdentity as LinearOperatorIdentity
    from headrace._src.ops.linear_operators.identity import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
    from headrace._src.ops.linear_operators.identity import LinearOperatorZeros as LinearOperatorZeros
    from headrace._src.ops.linear_operators.kronecker import LinearOperatorKronecker as LinearOperatorKronecker
    from headrace._src.ops.linear_operators.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
    from headrace._src.ops.linear_operators.structured import LinearOperatorHouseholder as LinearOperatorHouseholder
    from headrace._src.ops.linear_operators.structured import LinearOperatorPermutation as LinearOperatorPermutation
    from headrace._src.ops.linear_operators.structured import LinearOperatorToeplitz as LinearOperatorToeplitz
    from headrace._src.ops.linear_operators.structured import LinearOperatorTridiag as LinearOperatorTridiag
    from headrace._src.ops.math.clipping import global_norm as global_norm
    from headrace._src.ops.nn.normalization import l2_normalize as l2_normalize
    from headrace.compat.v1.linalg import experimental as experimental
    transpose = _transpose
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
