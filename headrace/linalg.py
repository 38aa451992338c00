"""Linear algebra.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.ops.einsum import einsum as einsum
from headrace._src.ops.einsum import tensordot as tensordot
from headrace._src.ops.matmul import matmul as matmul
from headrace._src.ops.matmul import matvec as matvec
