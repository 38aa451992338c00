"""Functions that arrange tensors, with their 1.x signatures."""

from typing import TYPE_CHECKING, Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.functions.renamed_arguments import renamed, required
from headrace._src.core import dtypes
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import (
    constants,
    filling,
    gathering,
    indexed_slices,
    indexing,
    joining,
    measuring,
    padding,
    rearranging,
    selecting,
    shaping,
    splitting,
)
from headrace._src.ops.arrays.partitioning import LIST_DIFF
from headrace._src.ops.arrays.selecting import SELECT
from headrace._src.ops.linalg import matrices
from headrace._src.ops.nn import quantization
from headrace._src.ops.ragged import tensor as ragged_tensor
from headrace._src.ops.random import seeds as random_seeds
from headrace._src.ops.sparse import arithmetic
from headrace._src.ops.sparse import joining as sparse_joining
from headrace._src.ops.sparse import reductions as sparse_reductions
from headrace._src.ops.sparse import segments as sparse_segments
from headrace._src.ops.sparse import tensor as sparse_tensor
from headrace._src.ops.sparse.dense import SPARSE_TO_DENSE
from headrace._src.ops.strings import editing, hash_buckets, numbers, pieces
from headrace._src.ops.strings.splitting import STRING_SPLIT
from headrace._src.ops.windows import space_batch

if TYPE_CHECKING:
    from headrace._src.attached import ListDiff
    from headrace._src.ops.sparse.tensor import SparseTensor


@api("compat.v1.constant", dispatch=False)
def constant(value, dtype=None, shape=None, name="Const", verify_shape=False) -> Tensor:
    """As `tf.constant`; in a graph, fewer values than the shape has are filled up with the last one.

    Args:
        value: a value, or a nested list of values.
        dtype: the dtype.
        shape: the shape.
        name: a name for the operation.
        verify_shape: whether the value must have that shape.
    """
    if shape is not None:
        with context.changed(graph=None):
            given = to_tensor(value, None if dtype is None else dtypes.as_dtype(dtype))
        wanted = TensorShape(shape)
        if verify_shape and given.shape != wanted:
            raise TypeError(f"Expected Tensor's shape: {tuple(wanted.as_list())}, got {tuple(given.shape.as_list())}.")
        count, size = given.shape.num_elements(), wanted.num_elements()
        if count > size and context.graph is not None:
            raise ValueError(f"constant: {count} values are too many for shape {tuple(wanted.as_list())}.")
        if 1 < count < size and context.graph is not None:  # TF: the last value fills the rest, in graphs only
            with context.changed(graph=None):
                flat = shaping.reshape(given, [-1])
                value = joining.concat([flat, splitting.repeat(flat[-1:], size - count)], 0).numpy()
    return constants.constant(value, dtype, shape, name)


@api("compat.v1.convert_to_tensor", dispatch=False)
def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None) -> Tensor:
    """As `tf.convert_to_tensor`; `preferred_dtype` is the older name of `dtype_hint`."""
    hint = renamed("convert_to_tensor", "dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype)
    return constants.convert_to_tensor(value, dtype, hint, name)


@api("compat.v1.convert_to_tensor_or_indexed_slices", dispatch=False)
def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None) -> Any:
    """`value` as a tensor, unless it is an `IndexedSlices`."""
    if isinstance(value, indexed_slices.IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Incompatible conversion requested to `dtype` {dtype} for `value` of {value.dtype}")
        return value
    return constants.convert_to_tensor(value, dtype, name=name)


@api("compat.v1.convert_to_tensor_or_sparse_tensor", dispatch=False)
def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None) -> Any:
    """`value` as a tensor, unless it is a `SparseTensor` or `SparseTensorValue`."""
    sparse = sparse_tensor.SparseTensor
    if type(value).__name__ == "SparseTensorValue":
        value = sparse(value.indices, value.values, value.dense_shape)
    if isinstance(value, sparse):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(f"Sparse dtype mismatch. Requested: {dtype}, actual: {value.dtype}")
        return value
    return constants.convert_to_tensor(value, dtype, name=name)


@api("compat.v1.where", dispatch=False)
def where(condition, x=None, y=None, name=None) -> Tensor:
    """Where `condition` is true; or elements of `x` where it is true and of `y` elsewhere.

    Args:
        condition: a boolean tensor.
        x, y: tensors of one shape. `condition` has that shape too, or is a vector that chooses rows.
        name: a name for the operation.
    """
    if x is None and y is None:
        return selecting.where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if any(isinstance(value, CompositeTensor) for value in (condition, x, y)):
        return selecting.where(condition, x, y, name=name)
    x = to_tensor(x)
    return SELECT(to_tensor(condition, dtypes.bool), x, to_tensor(y, hint=x.dtype), name=name)


@api("compat.v1.expand_dims", dispatch=False)
def expand_dims(input, axis=None, name=None, dim=None) -> Tensor:
    """As `tf.expand_dims`; `dim` is the older name of `axis`."""
    axis = required("expand_dims", "axis", renamed("expand_dims", "axis", axis, "dim", dim))
    return shaping.expand_dims(input, axis, name)


@api("compat.v1.squeeze", dispatch=False)
def squeeze(input, axis=None, name=None, squeeze_dims=None) -> Tensor:
    """As `tf.squeeze`; `squeeze_dims` is the older name of `axis`."""
    return shaping.squeeze(input, renamed("squeeze", "axis", axis, "squeeze_dims", squeeze_dims), name)


@api("compat.v1.transpose", dispatch=False)
def transpose(a, perm=None, name="transpose", conjugate=False) -> Tensor:
    """As `tf.transpose`, with the arguments in another order."""
    return rearranging.transpose(a, perm, conjugate, name)


@api("compat.v1.linalg.transpose", dispatch=False)
def matrix_transpose(a, name="matrix_transpose", conjugate=False) -> Any:
    """As `tf.linalg.matrix_transpose`."""
    return matrices.matrix_transpose(a, name, conjugate)


@api("compat.v1.pad", dispatch=False)
def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0) -> Tensor:
    """As `tf.pad`, with the arguments in another order."""
    return padding.pad(tensor, paddings, mode, constant_values, name)


@api("compat.v1.shape", dispatch=False)
def shape(input, name=None, out_type=None) -> Tensor:
    """As `tf.shape`, with the arguments in another order."""
    return measuring.shape(input, dtypes.int32 if out_type is None else out_type, name)


@api("compat.v1.size", dispatch=False)
def size(input, name=None, out_type=None) -> Tensor:
    """As `tf.size`, with the arguments in another order."""
    return measuring.size(input, dtypes.int32 if out_type is None else out_type, name)


@api("compat.v1.ones_like", dispatch=False)
def ones_like(tensor, dtype=None, name=None, optimize=True) -> Tensor:
    """As `tf.ones_like`."""
    return filling.ones_like(tensor, dtype, name)


@api("compat.v1.zeros_like", dispatch=False)
def zeros_like(tensor, dtype=None, name=None, optimize=True) -> Tensor:
    """As `tf.zeros_like`."""
    return filling.zeros_like(tensor, dtype, name)


@api("compat.v1.gather", dispatch=False)
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0) -> Tensor:
    """As `tf.gather`, with the arguments in another order."""
    return gathering.gather(params, indices, validate_indices, axis, batch_dims, name)


@api("compat.v1.gather_nd", "compat.v1.manip.gather_nd", dispatch=False)
def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy="") -> Tensor:
    """As `tf.gather_nd`, with the arguments in another order."""
    return gathering.gather_nd(params, indices, batch_dims, name, bad_indices_policy)


@api("compat.v1.batch_gather", dispatch=False)
def batch_gather(params, indices, name=None) -> Tensor:
    """Gather from the last axis of `indices`, batch by batch."""
    indices = to_tensor(indices)
    if indices.shape.rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return gathering.gather(params, indices, batch_dims=indices.shape.rank - 1, name=name)


@api("compat.v1.boolean_mask")
def boolean_mask(tensor, mask, name="boolean_mask", axis=None) -> Tensor:
    """As `tf.boolean_mask`, with the arguments in another order."""
    return indexing.boolean_mask(tensor, mask, axis, name)


@api("compat.v1.reverse_sequence", dispatch=False)
def reverse_sequence(
    input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None
) -> Tensor:
    """As `tf.reverse_sequence`; `seq_dim` and `batch_dim` are older names."""
    seq_axis = renamed("reverse_sequence", "seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = renamed("reverse_sequence", "batch_axis", batch_axis, "batch_dim", batch_dim)
    return rearranging.reverse_sequence(input, seq_lengths, seq_axis, batch_axis or 0, name)


@api("compat.v1.space_to_batch", "compat.v1.nn.space_to_batch", dispatch=False)
def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None) -> Tensor:
    """As `tf.space_to_batch`; a `block_size` stands for two equal ones."""
    block = renamed("space_to_batch", "block_shape", block_shape, "block_size", block_size)
    block = [block, block] if isinstance(block, int) else block
    return space_batch.space_to_batch(input, required("space_to_batch", "block_shape", block), paddings, name)


@api("compat.v1.batch_to_space", dispatch=False)
def batch_to_space(input, crops, block_size, name=None, block_shape=None) -> Tensor:
    """As `tf.batch_to_space`; a `block_size` stands for two equal ones."""
    block = block_size if block_shape is None else block_shape
    block = [block, block] if isinstance(block, int) else block
    return space_batch.batch_to_space(input, block, crops, name)


@api("compat.v1.batch_to_space_nd", "compat.v1.manip.batch_to_space_nd", dispatch=False)
def batch_to_space_nd(input, block_shape, crops, name=None) -> Any:
    """As `tf.batch_to_space`."""
    return space_batch.batch_to_space(input, block_shape, crops, name)


@api("compat.v1.manip.reshape", dispatch=False)
def manip_reshape(tensor, shape, name=None) -> Any:
    """As `tf.reshape`."""
    return shaping.reshape(tensor, shape, name)


@api("compat.v1.space_to_depth", "compat.v1.nn.space_to_depth", dispatch=False)
def space_to_depth(input, block_size, name=None, data_format="NHWC") -> Any:
    """As `tf.nn.space_to_depth`, with the arguments in another order."""
    return space_batch.space_to_depth(input, block_size, data_format, name)


@api("compat.v1.depth_to_space", "compat.v1.nn.depth_to_space", dispatch=False)
def depth_to_space(input, block_size, name=None, data_format="NHWC") -> Any:
    """As `tf.nn.depth_to_space`, with the arguments in another order."""
    return space_batch.depth_to_space(input, block_size, data_format, name)


@api("compat.v1.setdiff1d", dispatch=False)
def setdiff1d(x, y, index_dtype=dtypes.int32, name=None) -> "ListDiff":
    """The values of a vector that another one does not have, and where they are."""
    return LIST_DIFF(x, y, out_idx=dtypes.as_dtype(index_dtype), name=name)


@api("compat.v1.quantize_v2", dispatch=False)
def quantize_v2(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    name=None,
    round_mode="HALF_AWAY_FROM_ZERO",
    narrow_range=False,
    axis=None,
    ensure_minimum_range=0.01,
) -> Any:
    """As `tf.quantization.quantize`, with the arguments in another order."""
    return quantization.quantize(
        input, min_range, max_range, T, mode, round_mode, name, narrow_range, axis, ensure_minimum_range
    )


# Random seeds.


@api("compat.v1.set_random_seed", "compat.v1.random.set_random_seed", dispatch=False)
def set_random_seed(seed) -> None:
    """Set the seed of the default graph; eagerly, the global seed."""
    random_seeds.set_seed(seed) if context.graph is None else setattr(get_default_graph(), "seed", seed)


@api("compat.v1.get_seed", "compat.v1.random.get_seed", dispatch=False)
def get_seed(op_seed) -> Any:
    """The two seeds that a random op with that seed of its own would get; (None, None) if nobody set one."""
    seeds = draw_seeds(op_seed)
    return (None, None) if seeds == (0, 0) else seeds


# Strings and sparse tensors.


@api("compat.v1.string_to_number", "compat.v1.strings.to_number", dispatch=False)
def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None) -> Tensor:
    """As `tf.strings.to_number`; `string_tensor` is the older name of `input`."""
    tensor = renamed("to_number", "input", input, "string_tensor", string_tensor)
    return numbers.to_number(required("to_number", "input", tensor), out_type, name)


@api("compat.v1.string_to_hash_bucket", "compat.v1.strings.to_hash_bucket", dispatch=False)
def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None) -> Any:
    """As `tf.strings.to_hash_bucket`; `string_tensor` is the older name of `input`."""
    tensor = renamed("to_hash_bucket", "input", input, "string_tensor", string_tensor)
    return hash_buckets.to_hash_bucket(required("to_hash_bucket", "input", tensor), num_buckets, name)


@api("compat.v1.substr", "compat.v1.strings.substr", dispatch=False)
def substr(input, pos, len, name=None, unit="BYTE") -> Any:
    """As `tf.strings.substr`, with the arguments in another order."""
    return editing.substr(input, pos, len, unit, name)


@api("compat.v1.strings.length", dispatch=False)
def string_length(input, name=None, unit="BYTE") -> Tensor:
    """As `tf.strings.length`, with the arguments in another order."""
    return editing.length(input, unit, name)


@api("compat.v1.reduce_join", "compat.v1.strings.reduce_join", dispatch=False)
def reduce_join(
    inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None
) -> Any:
    """As `tf.strings.reduce_join`, with older names of the arguments."""
    axis = renamed("reduce_join", "axis", axis, "reduction_indices", reduction_indices)
    keepdims = renamed("reduce_join", "keepdims", keepdims, "keep_dims", keep_dims)
    return editing.reduce_join(inputs, axis, bool(keepdims), separator, name)


@api("compat.v1.string_split", dispatch=False)
def string_split(
    source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None
) -> "SparseTensor":
    """Split a vector of strings at any of the characters of `sep`.

    Args:
        source: a vector of strings.
        sep: a string of characters; a space by default, and "" splits into bytes.
        skip_empty: whether empty parts are left out.
        delimiter: the older name of `sep`.
        result_type: "SparseTensor" or "RaggedTensor".
        name: a name for the operation.
    """
    sep = renamed("string_split", "sep", sep, "delimiter", delimiter)
    source = to_tensor(source, dtypes.string)
    sep = " " if sep is None else sep
    indices, values, size = STRING_SPLIT(source, sep, skip_empty=skip_empty, name=name)
    return _split_result(sparse_tensor.SparseTensor(indices, values, size), result_type)


@api("compat.v1.strings.split", dispatch=False)
def strings_split(
    input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None
) -> "SparseTensor":
    """As `tf.strings.split`, with a sparse result by default."""
    tensor = required("strings.split", "input", renamed("strings.split", "input", input, "source", source))
    ragged = pieces.split(shaping.reshape(tensor, [-1]) if to_tensor(tensor).shape.rank == 0 else tensor,
                                     sep, maxsplit, name)
    if result_type.lower() == "raggedtensor":
        return ragged
    return _split_result(ragged.to_sparse(), "SparseTensor")


def _split_result(sparse, result_type):
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor', got {result_type!r}.")
    return sparse if result_type == "SparseTensor" else ragged_tensor.RaggedTensor.from_sparse(sparse)


@api("compat.v1.sparse_add", "compat.v1.sparse.add", dispatch=False)
def sparse_add(a, b, threshold=None, thresh=None) -> Any:
    """As `tf.sparse.add`; `thresh` is the older name of `threshold`."""
    threshold = renamed("sparse.add", "threshold", threshold, "thresh", thresh)
    return arithmetic.add(a, b, 0 if threshold is None else threshold)


@api("compat.v1.sparse_concat", "compat.v1.sparse.concat", dispatch=False)
def sparse_concat(
    axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None
) -> Any:
    """As `tf.sparse.concat`, with older names of the arguments."""
    if expand_nonconcat_dims is None:
        expand_nonconcat_dims = expand_nonconcat_dim
    axis = renamed("sparse.concat", "axis", axis, "concat_dim", concat_dim)
    return sparse_joining.concat(axis, sp_inputs, expand_nonconcat_dims, name)


def _sparse_reduction(function, sparse_result):
    def reduce(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) -> Tensor:
        axis = renamed(name, "axis", axis, "reduction_axes", reduction_axes)
        keepdims = renamed(name, "keepdims", keepdims, "keep_dims", keep_dims)
        return function(sp_input, axis, bool(keepdims), sparse_result)

    name = function.__name__
    suffix = "_sparse" if sparse_result else ""
    reduce.__name__ = reduce.__qualname__ = f"sparse_{name}{suffix}"
    reduce.__doc__ = f"As `tf.sparse.{name}`, with a {'sparse' if sparse_result else 'dense'} result."
    return api(f"compat.v1.sparse_{name}{suffix}", f"compat.v1.sparse.{name}{suffix}", dispatch=False)(reduce)


sparse_reduce_sum = _sparse_reduction(sparse_reductions.reduce_sum, False)
sparse_reduce_sum_sparse = _sparse_reduction(sparse_reductions.reduce_sum, True)
sparse_reduce_max = _sparse_reduction(sparse_reductions.reduce_max, False)
sparse_reduce_max_sparse = _sparse_reduction(sparse_reductions.reduce_max, True)


def _sparse_segments(function):
    def reduce(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) -> Tensor:
        return function(data, indices, segment_ids, num_segments, name, sparse_gradient)

    label = function.__name__.removeprefix("sparse_")
    reduce.__name__ = reduce.__qualname__ = f"sparse_{label}"
    reduce.__doc__ = f"As `tf.sparse.{label}`, with the arguments in another order."
    return api(f"compat.v1.sparse_{label}", f"compat.v1.sparse.{label}", dispatch=False)(reduce)


sparse_segment_sum = _sparse_segments(sparse_segments.sparse_segment_sum)
sparse_segment_mean = _sparse_segments(sparse_segments.sparse_segment_mean)
sparse_segment_sqrt_n = _sparse_segments(sparse_segments.sparse_segment_sqrt_n)


@api("compat.v1.sparse_split", "compat.v1.sparse.split", dispatch=False)
def sparse_split(keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None) -> Any:
    """As `tf.sparse.split`, by keyword only; `split_dim` is the older name of `axis`."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    axis = renamed("sparse.split", "axis", axis, "split_dim", split_dim)
    return sparse_joining.split(
        required("sparse.split", "sp_input", sp_input), required("sparse.split", "num_split", num_split),
        required("sparse.split", "axis", axis), name,
    )  # fmt: skip


@api("compat.v1.sparse_to_dense", dispatch=False)
def sparse_to_dense(
    sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None
) -> Tensor:
    """A dense tensor with given values at given places, and a default elsewhere."""
    values = to_tensor(sparse_values)
    default = to_tensor(default_value, values.dtype)
    return SPARSE_TO_DENSE(
        sparse_indices, output_shape, values, default, validate_indices=validate_indices, name=name
    )
