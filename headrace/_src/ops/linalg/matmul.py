"""Products of matrices: `tf.matmul`, `tf.linalg.matvec` and the ops beneath them."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape, broadcast_shapes
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import broadcasting
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.registry import lookup
from headrace._src.op.traits import FAILS_BY_SHAPE, MATRIX_PRODUCT
from headrace._src.ops.arrays.broadcasting import BROADCAST_GRADIENT_ARGS, SUM, sum_to
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE, SQUEEZE
from headrace._src.ops.linalg.lowered_products import lowered_product
from headrace._src.ops.linalg.product_kernels import ALONE, blas_product, check_product, matrix_product
from headrace._src.ops.math.complex_numbers import CONJ


def _conj(x):
    """The complex conjugate; real tensors as they are."""
    return CONJ(x) if x.dtype.is_complex else x


def _infer_product(op, a, b, transpose_a, transpose_b):
    """The shape of the product of two specs, leading axes broadcast."""
    left, right = a.shape, b.shape
    if left.rank is None or right.rank is None:
        return UNKNOWN
    if left.rank < 2 or right.rank < 2:
        raise errors.invalid_argument(f"{op}: inputs must be matrices, got shapes {left} and {right}.")
    (rows, inner) = (left[-1], left[-2]) if transpose_a else (left[-2], left[-1])
    (other, columns) = (right[-1], right[-2]) if transpose_b else (right[-2], right[-1])
    if inner is not None and other is not None and inner != other:
        raise errors.invalid_argument(
            f"{op}: Matrix size-incompatible: shapes {left} and {right}, "
            f"transposed: {transpose_a}, {transpose_b}."
        )
    try:
        batch = broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        raise errors.invalid_argument(
            f"{op}: shapes {left} and {right} must have compatible batch dimensions."
        ) from None
    return batch.concatenate([rows, columns])


def _matmul(a, b, transpose_a, transpose_b, grad_a=False, grad_b=False):
    left = a.T if transpose_a else a
    right = b.T if transpose_b else b
    try:
        (rows, inner), (other, columns) = left.shape, right.shape
    except ValueError:
        inner, other = -1, -2
    if inner != other:
        _refuse_matmul("MatMul", a.shape, b.shape, transpose_a, transpose_b)
    if a.dtype.num == 11:  # float32, the case that must be quick
        if rows * inner * columns <= ALONE and rows > 1 and columns > 1:
            return left.dot(right)
        return blas_product(left, right)
    return matrix_product(left, right)


def _refuse_matmul(op, left, right, transpose_a, transpose_b):
    if len(left) != 2 or len(right) != 2:
        raise errors.invalid_argument(f"{op}: inputs must be matrices, got shapes {left} and {right}.")
    check_product(op, left, right, transpose_a, transpose_b)


def _lower_matmul(ctx, a, b, transpose_a, transpose_b, grad_a=False, grad_b=False):
    return lowered_product(a, b, transpose_a, transpose_b)


def _infer_matmul(a, b, transpose_a, transpose_b, grad_a=False, grad_b=False):
    for spec in (a, b):
        if spec.shape.rank not in (None, 2):
            raise errors.invalid_argument(
                f"MatMul: inputs must be matrices, got shapes {a.shape} and {b.shape}."
            )
    if a.shape.rank is None or b.shape.rank is None:
        rows = None if a.shape.rank is None else a.shape[1 if transpose_a else 0]
        columns = None if b.shape.rank is None else b.shape[0 if transpose_b else 1]
        return TensorShape([rows, columns])
    return _infer_product("MatMul", a, b, transpose_a, transpose_b)


def _grad_matmul(node, dy):
    a, b = node.a, node.b
    if a.dtype.is_complex:
        a, b = _conj(a), _conj(b)
    turned_a, turned_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    da = db = None
    if node.wants(0):
        da = _multiply(b, dy, turned_b, True) if turned_a else _multiply(dy, b, False, not turned_b)
    if node.wants(1):
        db = _multiply(dy, a, True, turned_a) if turned_b else _multiply(a, dy, not turned_a, False)
    return da, db


def _transposed_matrices(x):
    rank = x.shape.rank
    return lookup("Transpose")(x, [*range(rank - 2), rank - 1, rank - 2])


def _vectorize_matmul(batch, node, a, b):
    left, right = a.tensor, b.tensor
    transpose_a, transpose_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if not left.dtype.is_complex:
        return BATCH_MATMUL(left, right, adj_x=transpose_a, adj_y=transpose_b)
    # Only transposed, not conjugated.
    left = _transposed_matrices(left) if transpose_a else left
    right = _transposed_matrices(right) if transpose_b else right
    return BATCH_MATMUL(left, right)


MATMUL = Op(
    "MatMul",
    "a: T, b: T, *, transpose_a: bool = False, transpose_b: bool = False, grad_a: bool = False, "
    "grad_b: bool = False -> product: T",
    traits=FAILS_BY_SHAPE | MATRIX_PRODUCT,
    T=dtypes.NUMBER,
    infer=_infer_matmul,
    kernel=_matmul,
    lower=_lower_matmul,
    saves=("a", "b"),
    grad=_grad_matmul,
    vectorize=_vectorize_matmul,
)


def _multiply(a, b, transpose_a, transpose_b):
    return MATMUL(a, b, transpose_a=transpose_a, transpose_b=transpose_b, grad_a=False, grad_b=False)


def _turned(x, adjoint):
    if not adjoint:
        return x
    x = x.swapaxes(-1, -2)
    return x.conj() if x.dtype.kind == "c" else x


def _check_batches(op, x, y):
    if x.shape[:-2] != y.shape[:-2]:
        try:
            np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        except ValueError:
            raise errors.invalid_argument(
                f"{op}: In[0] and In[1] must have compatible batch dimensions: {x.shape} and {y.shape}."
            ) from None


def _batch_product(op, x, y, adj_x, adj_y):
    check_product(op, x.shape, y.shape, adj_x, adj_y)
    _check_batches(op, x, y)
    return matrix_product(_turned(x, adj_x), _turned(y, adj_y))


def _batch_matmul(x, y, adj_x, adj_y, grad_x=False, grad_y=False):
    if x.shape[:-2] != y.shape[:-2]:
        raise errors.invalid_argument(
            f"BatchMatMul: In[0] and In[1] must have the same batch dimensions: {x.shape} and {y.shape}."
        )
    return _batch_product("BatchMatMul", x, y, adj_x, adj_y)


def _batch_matmul_broadcasting(x, y, adj_x, adj_y, grad_x=False, grad_y=False):
    return _batch_product("BatchMatMulV2", x, y, adj_x, adj_y)


def _lower_batch_matmul(ctx, x, y, adj_x, adj_y, grad_x=False, grad_y=False):
    return lowered_product(_conjugate_of(x, adj_x), _conjugate_of(y, adj_y), adj_x, adj_y)


def _conjugate_of(x, adjoint):
    return jnp.conj(x) if adjoint else x


def _infer_batch_matmul(x, y, adj_x, adj_y, grad_x=False, grad_y=False, Tout=None):
    return _infer_product("BatchMatMul", x, y, adj_x, adj_y)


def _batch_gradients(node, dy, product, wants_second=True):
    """Gradients by both factors before broadcasting is undone; `product(x, y, adj_x, adj_y)` multiplies."""
    x, y = node.x, node.y
    adj_x, adj_y = node.attrs["adj_x"], node.attrs["adj_y"]
    dx = dz = None
    if node.wants(0):
        dx = product(y, dy, adj_y, True) if adj_x else product(dy, y, False, not adj_y)
    if wants_second and node.wants(1):
        dz = product(dy, x, True, adj_x) if adj_y else product(x, dy, not adj_x, False)
    return dx, dz


def _is_one_matrix_for_all(node, dy):
    """Whether a batch is multiplied by one matrix from the right, as in a dense layer on sequences."""
    x, y = node.x.shape, node.y.shape
    if y.rank != 2 or x.rank is None or x.rank < 3 or node.attrs["adj_x"] or dy.shape.rank is None:
        return False
    return bool(x[-1]) and bool(dy.shape[-1])


def _rows(x):
    return RESHAPE(x, [-1, x.shape[-1]])


def _grad_of_one_matrix(node, dy):
    """The gradient by that matrix: one product of all rows, instead of one for each of the batch and their sum."""
    first, second = (dy, node.x) if node.attrs["adj_y"] else (node.x, dy)
    return _batch_multiply(_rows(first), _rows(second), True, False)


def _grad_batch_matmul(node, dy):
    if _is_one_matrix_for_all(node, dy):
        dx, _ = _batch_gradients(node, dy, _batch_multiply, wants_second=False)
        return dx, _grad_of_one_matrix(node, dy) if node.wants(1) else None
    dx, dy = _batch_gradients(node, dy, _batch_multiply)
    if dx is not None:
        dx = _sum_batches(dx, node.x_shape, node.y_shape)
    if dy is not None:
        dy = _sum_batches(dy, node.y_shape, node.x_shape)
    return dx, dy


def _sum_batches(gradient, shape, other):
    """The gradient summed over the batch axes along which `shape` was repeated to match `other`."""
    if isinstance(shape, tuple) and isinstance(other, tuple):
        # The matrix axes are never repeated: make them equal for the comparison of shapes.
        return sum_to(gradient, shape, other[:-2] + shape[-2:])
    # With shapes that are known only later, slice off the batch axes and compare those.
    shape, other = to_tensor(shape), to_tensor(other)
    axes = BROADCAST_GRADIENT_ARGS(shape[:-2], other[:-2]).r0
    return RESHAPE(SUM(gradient, axes), shape)


def _vectorize_batch_matmul(batch, node, x, y):
    # The first version of the op does not broadcast.
    return BATCH_MATMUL(*batch.aligned([x, y]), adj_x=node.attrs["adj_x"], adj_y=node.attrs["adj_y"])


BATCH_MATMUL_SAME = Op(
    "BatchMatMul",
    "x: T, y: T, *, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False "
    "-> output: T",
    traits=FAILS_BY_SHAPE | MATRIX_PRODUCT,
    T=dtypes.NUMBER,
    infer=_infer_batch_matmul,
    kernel=_batch_matmul,
    lower=_lower_batch_matmul,
    saves=("x", "y"),
    grad=lambda node, dy: _batch_gradients(node, dy, _batch_multiply),
    vectorize=_vectorize_batch_matmul,
)

BATCH_MATMUL = Op(
    "BatchMatMulV2",
    "x: T, y: T, *, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False "
    "-> output: T",
    traits=FAILS_BY_SHAPE | MATRIX_PRODUCT,
    T=dtypes.NUMBER,
    infer=_infer_batch_matmul,
    kernel=_batch_matmul_broadcasting,
    lower=_lower_batch_matmul,
    saves=("x", "y", "x_shape", "y_shape"),
    grad=_grad_batch_matmul,
    vectorize=broadcasting,
)


def _batch_multiply(x, y, adj_x, adj_y):
    return BATCH_MATMUL(x, y, adj_x=adj_x, adj_y=adj_y, grad_x=False, grad_y=False)


def _mixed_matmul(x, y, Tout, adj_x, adj_y, grad_x=False, grad_y=False):
    check_product("BatchMatMulV3", x.shape, y.shape, adj_x, adj_y)
    _check_batches("BatchMatMulV3", x, y)
    wanted = Tout._np
    if wanted.kind in "iu":
        wide = np.dtype(np.int64) if wanted.itemsize == 8 else np.dtype(np.int32)
    else:
        wide = np.result_type(np.float32, wanted) if wanted.kind != "c" else wanted
    x, y = (_turned(array, turn).astype(wide, copy=False) for array, turn in ((x, adj_x), (y, adj_y)))
    return matrix_product(x, y).astype(wanted, copy=False)


def _lower_mixed_matmul(ctx, x, y, Tout, adj_x, adj_y, grad_x=False, grad_y=False):
    wanted = Tout._np
    wide = jnp.float32 if wanted.itemsize == 2 and wanted.kind in "fV" else wanted
    x, y = _conjugate_of(x, adj_x).astype(wide), _conjugate_of(y, adj_y).astype(wide)
    return lowered_product(x, y, adj_x, adj_y).astype(wanted)


def _grad_mixed_matmul(node, dy):
    into = node.x_dtype, node.y_dtype
    common = node.attrs["Tout"]

    def product(x, y, adj_x, adj_y):
        x, y = (z if z.dtype is common else CAST(z, DstT=common) for z in (x, y))
        return _batch_multiply(x, y, adj_x, adj_y)

    grads = _batch_gradients(node, dy, product)
    shapes = (node.x_shape, node.y_shape), (node.y_shape, node.x_shape)
    return tuple(
        None if grad is None else CAST(_sum_batches(grad, *pair), DstT=dtype)
        for grad, pair, dtype in zip(grads, shapes, into)
    )


_MIXED = dtypes.FLOATING | dtypes.COMPLEX | dtypes.SIGNED | {dtypes.uint8}

MIXED_MATMUL = Op(
    "BatchMatMulV3",
    "x: Ta, y: Tb, *, Tout: type, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, "
    "grad_y: bool = False -> output: Tout",
    traits=MATRIX_PRODUCT,
    Ta=_MIXED,
    Tb=_MIXED,
    Tout=_MIXED - {dtypes.int8, dtypes.uint8},
    infer=_infer_batch_matmul,
    kernel=_mixed_matmul,
    lower=_lower_mixed_matmul,
    saves=("x", "y", "x_shape", "y_shape", "x_dtype", "y_dtype"),
    grad=_grad_mixed_matmul,
    vectorize=broadcasting,
)


def _sparse_matmul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse):
    _refuse_matmul("SparseMatMul", a.shape, b.shape, transpose_a, transpose_b)
    left, right = a.astype(np.float32, copy=False), b.astype(np.float32, copy=False)
    return matrix_product(left.T if transpose_a else left, right.T if transpose_b else right)


def _lower_sparse_matmul(ctx, a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse):
    return lowered_product(a.astype(jnp.float32), b.astype(jnp.float32), transpose_a, transpose_b)


def _infer_sparse_matmul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse):
    return _infer_matmul(a, b, transpose_a, transpose_b)


def _grad_sparse_matmul(node, dy):
    turned_a, turned_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    # TF: a gradient that came out of a Relu is taken to be sparse; here that would change nothing.
    left = {"a_is_sparse": node.attrs["a_is_sparse"]}
    right = {"b_is_sparse": node.attrs["b_is_sparse"]}
    da = db = None

    def product(x, y, into, turn_x, turn_y, **sparse):
        # TF: gradients of a bfloat16 input are computed from dy in bfloat16.
        result = SPARSE_MATMUL(x, y, transpose_a=turn_x, transpose_b=turn_y, **sparse)
        return result if into is dtypes.float32 else CAST(result, DstT=into)

    a, b = node.a, node.b
    if node.wants(0):
        dy_a = dy
        if turned_a:
            da = product(b, dy_a, a.dtype, turned_b, True, a_is_sparse=right["b_is_sparse"])
        else:
            da = product(dy_a, b, a.dtype, False, not turned_b, **right)
    if node.wants(1):
        if turned_b:
            db = product(dy, a, b.dtype, True, turned_a, b_is_sparse=left["a_is_sparse"])
        else:
            db = product(a, dy, b.dtype, not turned_a, False, **left)
    return da, db


SPARSE_MATMUL = Op(
    "SparseMatMul",
    "a: Ta, b: Tb, *, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False, "
    "b_is_sparse: bool = False -> product: float32",
    Ta=frozenset({dtypes.float32, dtypes.bfloat16}),
    Tb=frozenset({dtypes.float32, dtypes.bfloat16}),
    infer=_infer_sparse_matmul,
    kernel=_sparse_matmul,
    lower=_lower_sparse_matmul,
    saves=("a", "b"),
    grad=_grad_sparse_matmul,
)
_SPARSE_TYPES = SPARSE_MATMUL.types["Ta"]


@api("linalg.matmul", "matmul")
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
) -> Tensor:
    """The product of matrices; leading axes are batches and broadcast.

    Args:
        a: a tensor of rank 2 or more.
        b: a tensor of the same dtype and rank 2 or more.
        transpose_a: multiply the transpose of `a`.
        transpose_b: multiply the transpose of `b`.
        adjoint_a: multiply the conjugate transpose of `a`.
        adjoint_b: multiply the conjugate transpose of `b`.
        a_is_sparse: a hint that `a` holds many zeros; allows mixing float32 and bfloat16.
        b_is_sparse: the same for `b`.
        output_type: the dtype of the result, e.g. int32 for int8 factors.
        grad_a: marks a product within a gradient; has no effect here.
        grad_b: the same for `b`.
        name: accepted for compatibility.

    Raises:
        ValueError: when a factor is to be transposed and adjoined at once.
        InvalidArgumentError: when shapes or dtypes do not fit.

    >>> tf.matmul([[1, 2], [3, 4]], [[1], [10]]).numpy().tolist()
    [[21], [43]]
    """
    if (
        type(a) is EagerTensor
        and type(b) is EagerTensor
        and a._a.ndim == 2
        and b._a.ndim == 2
        and a.dtype is b.dtype
        and output_type is None
        and not (adjoint_a or adjoint_b or a_is_sparse or b_is_sparse)
        and not (transpose_a and adjoint_a)
    ):
        return MATMUL(
            a, b, name=name, transpose_a=transpose_a, transpose_b=transpose_b, grad_a=grad_a, grad_b=grad_b
        )
    if transpose_a and adjoint_a:
        raise ValueError("matmul: only one of transpose_a and adjoint_a can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("matmul: only one of transpose_b and adjoint_b can be True.")
    a = to_tensor(a)
    b = to_tensor(b, hint=a.dtype)
    if output_type is not None:
        output_type = dtypes.as_dtype(output_type)
        if output_type is a.dtype is b.dtype:
            output_type = None
    sparse = a_is_sparse or b_is_sparse
    mixed = a.dtype is not b.dtype and dtypes.bfloat16 in (a.dtype, b.dtype)
    ranks = a.shape.rank, b.shape.rank
    batched = not mixed if None in ranks else max(ranks) > 2
    if output_type is not None or (batched and not sparse):
        a, adjoint_a = _as_adjoint(a, transpose_a, adjoint_a)
        b, adjoint_b = _as_adjoint(b, transpose_b, adjoint_b)
        if output_type is not None:
            return MIXED_MATMUL(a, b, Tout=output_type, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
        return BATCH_MATMUL(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
    if adjoint_a:
        a, transpose_a = _conj(a), True
    if adjoint_b:
        b, transpose_b = _conj(b), True
    if (sparse or mixed) and a.dtype in _SPARSE_TYPES and b.dtype in _SPARSE_TYPES:
        product = SPARSE_MATMUL(
            a,
            b,
            transpose_a=transpose_a,
            transpose_b=transpose_b,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
            name=name,
        )
        # TF: the sparse product is always float32; a product of two bfloat16 factors is given back as such.
        both = a.dtype is dtypes.bfloat16 and b.dtype is dtypes.bfloat16
        return CAST(product, DstT=dtypes.bfloat16) if both else product
    return MATMUL(
        a, b, name=name, transpose_a=transpose_a, transpose_b=transpose_b, grad_a=grad_a, grad_b=grad_b
    )


def _as_adjoint(x, transpose, adjoint):
    """(tensor, whether to adjoin it) for ops that cannot merely transpose."""
    return (_conj(x), True) if transpose else (x, adjoint)


@api("linalg.matvec")
def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None) -> Tensor:
    """The product of a matrix and a vector; leading axes are batches and broadcast.

    Args:
        a: a tensor of rank 2 or more.
        b: a tensor of the same dtype and rank 1 or more.
        transpose_a: multiply the transpose of `a`.
        adjoint_a: multiply the conjugate transpose of `a`.
        a_is_sparse: a hint that `a` holds many zeros.
        b_is_sparse: the same for `b`.
        name: accepted for compatibility.

    >>> tf.linalg.matvec([[1, 2], [3, 4]], [1, 10]).numpy().tolist()
    [21, 43]
    """
    if not isinstance(b, Tensor):
        b = to_tensor(b, hint=a.dtype if isinstance(a, Tensor) else None)
    column = EXPAND_DIMS(b, -1)
    product = matmul(
        a,
        column,
        transpose_a=transpose_a,
        adjoint_a=adjoint_a,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )
    return SQUEEZE(product, squeeze_dims=[-1])
