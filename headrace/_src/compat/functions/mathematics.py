"""Mathematical functions with their 1.x signatures."""

from typing import Any

from headrace._src.compat.functions.renamed_arguments import renamed, required
from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, ranking
from headrace._src.ops.debugging import assertions, numerics_checks, static_assertions
from headrace._src.ops.linalg import lengths, matmul
from headrace._src.ops.math import bincounts, division, reductions, statistics
from headrace._src.ops.random import distributions


def _reduction(function):
    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None) -> Tensor:
        axis = renamed(label, "axis", axis, "reduction_indices", reduction_indices)
        keepdims = renamed(label, "keepdims", keepdims, "keep_dims", keep_dims)
        return function(input_tensor, axis, bool(keepdims), name)

    label = function.__name__
    reduce.__name__ = reduce.__qualname__ = label
    reduce.__doc__ = f"As `tf.{label}`; `reduction_indices` and `keep_dims` are older names of `axis` and `keepdims`."
    return api(f"compat.v1.{label}", f"compat.v1.math.{label}", dispatch=False)(reduce)


reduce_all = _reduction(reductions.reduce_all)
reduce_any = _reduction(reductions.reduce_any)
reduce_logsumexp = _reduction(statistics.reduce_logsumexp)
reduce_max = _reduction(reductions.reduce_max)
reduce_mean = _reduction(reductions.reduce_mean)
reduce_min = _reduction(reductions.reduce_min)
reduce_prod = _reduction(reductions.reduce_prod)
reduce_sum = _reduction(reductions.reduce_sum)


@api("compat.v1.argmax", "compat.v1.math.argmax", dispatch=False)
def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64) -> Tensor:
    """As `tf.argmax`; `dimension` is the older name of `axis`."""
    axis = renamed("argmax", "axis", axis, "dimension", dimension)
    return ranking.argmax(input, 0 if axis is None else axis, output_type, name)


@api("compat.v1.argmin", "compat.v1.math.argmin", dispatch=False)
def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64) -> Any:
    """As `tf.argmin`; `dimension` is the older name of `axis`."""
    axis = renamed("argmin", "axis", axis, "dimension", dimension)
    return ranking.argmin(input, 0 if axis is None else axis, output_type, name)


@api("compat.v1.arg_max", dispatch=False)
def arg_max(input, dimension, output_type=dtypes.int64, name=None) -> Any:
    """The older form of `argmax`."""
    return ranking.argmax(input, dimension, output_type, name)


@api("compat.v1.arg_min", dispatch=False)
def arg_min(input, dimension, output_type=dtypes.int64, name=None) -> Tensor:
    """The older form of `argmin`."""
    return ranking.argmin(input, dimension, output_type, name)


@api("compat.v1.count_nonzero", "compat.v1.math.count_nonzero", dispatch=False)
def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=dtypes.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
) -> Tensor:
    """As `tf.math.count_nonzero`, with older names of the arguments."""
    tensor = required("count_nonzero", "input", renamed("count_nonzero", "input", input, "input_tensor", input_tensor))
    axis = renamed("count_nonzero", "axis", axis, "reduction_indices", reduction_indices)
    keepdims = renamed("count_nonzero", "keepdims", keepdims, "keep_dims", keep_dims)
    return statistics.count_nonzero(tensor, axis, keepdims, dtype, name)


@api("compat.v1.norm", "compat.v1.linalg.norm", dispatch=False)
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None) -> Tensor:
    """As `tf.norm`; `keep_dims` is the older name of `keepdims`."""
    keepdims = renamed("norm", "keepdims", keepdims, "keep_dims", keep_dims)
    return lengths.norm(tensor, ord, axis, keepdims, name)


@api("compat.v1.bincount", "compat.v1.math.bincount", dispatch=False)
def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32) -> Tensor:
    """As `tf.math.bincount`, over all elements."""
    return bincounts.bincount(arr, weights, minlength, maxlength, dtype)


@api("compat.v1.confusion_matrix", "compat.v1.math.confusion_matrix", dispatch=False)
def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None) -> Tensor:
    """As `tf.math.confusion_matrix`, with the arguments in another order."""
    return bincounts.confusion_matrix(labels, predictions, num_classes, weights, dtype, name)


@api("compat.v1.div", "compat.v1.floor_div", dispatch=False)
def div(x, y, name=None) -> Tensor:
    """Divide as Python 2 does: integers are rounded down."""
    x = to_tensor(x)
    y = to_tensor(y, hint=x.dtype)
    if x.dtype is not y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    op = division.REAL_DIV if x.dtype.is_floating or x.dtype.is_complex else division.FLOOR_DIV
    return op(x, y, name=name)


@api("compat.v1.multinomial", "compat.v1.random.multinomial", dispatch=False)
def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None) -> Any:
    """As `tf.random.categorical`, with the arguments in another order."""
    return distributions.categorical(logits, num_samples, output_dtype, seed, name)


@api("compat.v1.random_poisson", "compat.v1.random.poisson", dispatch=False)
def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None) -> Any:
    """As `tf.random.poisson`, with the arguments in another order."""
    return distributions.poisson(shape, lam, dtype, seed, name)


@api("compat.v1.random.stateless_multinomial", dispatch=False)
def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None) -> Any:
    """As `tf.random.stateless_categorical`."""
    return distributions.stateless_categorical(logits, num_samples, seed, output_dtype, name)


def _cast(dtype, default):
    def cast(x, name=default) -> Tensor:
        return casting.cast(x, dtype, name=name)

    cast.__name__ = cast.__qualname__ = f"to_{dtype.name}"
    cast.__doc__ = f"Cast to {dtype.name}."
    return cast


to_float = api("compat.v1.to_float", dispatch=False)(_cast(dtypes.float32, "ToFloat"))
to_double = api("compat.v1.to_double", dispatch=False)(_cast(dtypes.float64, "ToDouble"))
to_int32 = api("compat.v1.to_int32", dispatch=False)(_cast(dtypes.int32, "ToInt32"))
to_int64 = api("compat.v1.to_int64", dispatch=False)(_cast(dtypes.int64, "ToInt64"))
to_bfloat16 = api("compat.v1.to_bfloat16", dispatch=False)(_cast(dtypes.bfloat16, "ToBFloat16"))
to_complex64 = api("compat.v1.to_complex64", dispatch=False)(_cast(dtypes.complex64, "ToComplex64"))
to_complex128 = api("compat.v1.to_complex128", dispatch=False)(_cast(dtypes.complex128, "ToComplex128"))


@api("compat.v1.verify_tensor_all_finite", "compat.v1.debugging.assert_all_finite", dispatch=False)
def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None) -> Any:
    """As `tf.debugging.assert_all_finite`; `t` and `msg` are older names of `x` and `message`."""
    tensor = required("verify_tensor_all_finite", "x", renamed("verify_tensor_all_finite", "x", x, "t", t))
    text = renamed("verify_tensor_all_finite", "message", message, "msg", msg)
    return numerics_checks.assert_all_finite(tensor, text, name)


@api("compat.v1.sparse_matmul", dispatch=False)
def sparse_matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False, name=None) -> Any:
    """The product of matrices of float32 or bfloat16 that may have many zeros, as float32."""
    with name_scope(name or "SparseMatMul"):
        a, b = (casting.cast(to_tensor(x), dtypes.float32) for x in (a, b))
        return matmul.matmul(a, b, transpose_a, transpose_b)


# Checks: the tensors to print come before the message.


def _pair_check(function):
    def check(x, y, data=None, summarize=None, message=None, name=None) -> Any:
        return function(x, y, message=_with_data(message, data), summarize=summarize, name=name)

    label = function.__name__
    check.__name__ = check.__qualname__ = label
    check.__doc__ = f"As `tf.debugging.{label}`; `data` are tensors to show."
    return api(f"compat.v1.{label}", f"compat.v1.debugging.{label}", dispatch=False)(check)


def _sign_check(function):
    def check(x, data=None, summarize=None, message=None, name=None) -> Any:
        return function(x, _with_data(message, data), summarize, name)

    label = function.__name__
    check.__name__ = check.__qualname__ = label
    check.__doc__ = f"As `tf.debugging.{label}`; `data` are tensors to show."
    return api(f"compat.v1.{label}", f"compat.v1.debugging.{label}", dispatch=False)(check)


def _with_data(message, data):
    """The message with what is known of the tensors to show."""
    if not data:
        return message
    shown = " ".join(str(item) for item in data)
    return shown if message is None else f"{message} {shown}"


assert_equal = _pair_check(assertions.assert_equal)
assert_greater = _pair_check(assertions.assert_greater)
assert_greater_equal = _pair_check(assertions.assert_greater_equal)
assert_less = _pair_check(assertions.assert_less)
assert_less_equal = _pair_check(assertions.assert_less_equal)
assert_none_equal = _pair_check(assertions.assert_none_equal)
assert_negative = _sign_check(assertions.assert_negative)
assert_non_negative = _sign_check(assertions.assert_non_negative)
assert_non_positive = _sign_check(assertions.assert_non_positive)
assert_positive = _sign_check(assertions.assert_positive)


@api("compat.v1.assert_near", "compat.v1.debugging.assert_near", dispatch=False)
def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None) -> Any:
    """As `tf.debugging.assert_near`; `data` are tensors to show."""
    return assertions.assert_near(x, y, rtol, atol, _with_data(message, data), summarize, name)


@api("compat.v1.assert_rank", "compat.v1.debugging.assert_rank", dispatch=False)
def assert_rank(x, rank, data=None, summarize=None, message=None, name=None) -> Any:
    """As `tf.debugging.assert_rank`; `data` are tensors to show."""
    return static_assertions.assert_rank(x, rank, _with_data(message, data), name)


@api("compat.v1.assert_rank_at_least", "compat.v1.debugging.assert_rank_at_least", dispatch=False)
def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None) -> Any:
    """As `tf.debugging.assert_rank_at_least`; `data` are tensors to show."""
    return static_assertions.assert_rank_at_least(x, rank, _with_data(message, data), name)


@api("compat.v1.assert_rank_in", "compat.v1.debugging.assert_rank_in", dispatch=False)
def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None) -> Any:
    """As `tf.debugging.assert_rank_in`; `data` are tensors to show."""
    return static_assertions.assert_rank_in(x, ranks, _with_data(message, data), name)


@api("compat.v1.assert_integer", dispatch=False)
def assert_integer(x, message=None, name=None) -> Any:
    """As `tf.debugging.assert_integer`."""
    return static_assertions.assert_integer(x, message, name)


@api("compat.v1.assert_type", dispatch=False)
def assert_type(tensor, tf_type, message=None, name=None) -> Any:
    """As `tf.debugging.assert_type`."""
    return static_assertions.assert_type(tensor, tf_type, message, name)


@api("compat.v1.assert_scalar", "compat.v1.debugging.assert_scalar", dispatch=False)
def assert_scalar(tensor, name=None, message=None) -> Any:
    """As `tf.debugging.assert_scalar`, with the arguments in another order."""
    return static_assertions.assert_scalar(tensor, message, name)
