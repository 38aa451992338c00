"""The other functions on ragged tensors: map_flat_values, size, one_hot, matmul, dropout, joining strings ..."""

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.dispatch import dispatch_for_types
from headrace._src.ops.arrays import broadcasting, filling, measuring
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, SUM
from headrace._src.ops.arrays.filling import FILL, RANGE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.measuring import RANK, SHAPE
from headrace._src.ops.arrays.padding import PAD
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.linalg import matmul
from headrace._src.ops.math import arithmetic
from headrace._src.ops.math.arithmetic import ADD, MAXIMUM, SUB
from headrace._src.ops.math.comparison import EQUAL, GREATER, LOGICAL_AND, LOGICAL_NOT, NOT_EQUAL
from headrace._src.ops.math.reductions import ALL, ANY, MAX
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_MAX
from headrace._src.ops.nn import dropout, embedding
from headrace._src.ops.ragged.broadcasting import broadcast_values, with_partitions
from headrace._src.ops.ragged.elementwise import as_operands
from headrace._src.ops.ragged.joining import with_ragged_rank
from headrace._src.ops.ragged.row_arithmetic import cast_to, require
from headrace._src.ops.ragged.tensor import RaggedTensor, normalized_axis
from headrace._src.ops.strings import editing as strings


@api("ragged.map_flat_values")
def map_flat_values(op, *args, **kwargs) -> RaggedTensor:
    """Apply a function to the innermost values of ragged tensors that have the same rows.

    >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[1, 4], [9]]>

    Args:
        op: the function; its result must have as many values.
        *args: its arguments; ragged tensors, also in lists and dicts, are replaced by their flat values.
        **kwargs: its keyword arguments, likewise.

    Returns:
        A ragged tensor; what `op` returns if no argument is ragged.

    Raises:
        ValueError: when the result has another number of values.
        InvalidArgumentError: when the rows differ.
    """
    found = []

    def inner(value):
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        return value

    own_args, own_kwargs = nest.map_structure(inner, [list(args), kwargs])
    if not found:
        return op(*args, **kwargs)
    partitions = list(found[0]._nested_row_partitions)
    sizes = {value.flat_values.shape[0] for value in found} - {None}
    if len(sizes) > 1:
        raise ValueError(
            f"Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got sizes: {sizes}"
        )
    for value in found[1:]:
        others = value._nested_row_partitions
        if len(others) != len(partitions):
            raise ValueError("map_flat_values: the ragged tensors have different ragged ranks.")
        partitions = [a._merge_precomputed_encodings(b) for a, b in zip(partitions, others)]
    result = op(*own_args, **own_kwargs)
    if isinstance(result, RaggedTensor):
        size = result.shape[0]
    else:
        result = to_tensor(result)
        size = result.shape[0] if result.shape.rank else -1
    if sizes and size is not None and size not in sizes:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: "
            f"{next(iter(sizes))})"
        )
    return with_partitions(result, partitions)


@dispatch_for_types(measuring.size, RaggedTensor)
def size(input, out_type=dtypes.int32, name=None):
    """The number of elements of a ragged tensor."""
    return measuring.size(input.flat_values, out_type=dtypes.int32 if out_type is None else out_type)


@dispatch_for_types(measuring.rank, RaggedTensor)
def rank(input, name=None):
    """The number of dimensions of a ragged tensor, as a scalar tensor."""
    if input.shape.rank is not None:
        return to_tensor(input.shape.rank, dtypes.int32)
    return ADD(to_tensor(input.ragged_rank), RANK(input.flat_values))


@dispatch_for_types(filling.one_hot, RaggedTensor)
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """One-hot vectors of a ragged tensor of indices, in a dense dimension inside the ragged ones."""
    axis = -1 if axis is None else axis
    at = normalized_axis(axis, indices.shape.rank + 1)
    if at <= indices.ragged_rank:
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
    flat = filling.one_hot(indices.flat_values, depth, on_value, off_value, at - indices.ragged_rank, dtype)
    return indices.with_flat_values(flat)


@dispatch_for_types(arithmetic.add_n, RaggedTensor)
def add_n(inputs, name=None):
    """The sum of ragged tensors that have the same rows."""
    return map_flat_values(lambda *values: arithmetic.add_n(list(values)), *inputs)


@dispatch_for_types(dropout.dropout, RaggedTensor)
def ragged_dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Dropout of the innermost values."""
    if noise_shape is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return x.with_flat_values(dropout.dropout(x.flat_values, rate, seed=seed))


@dispatch_for_types(dropout.stateless_dropout, RaggedTensor)
def ragged_stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """Dropout of the innermost values that depends on the seed alone."""
    if noise_shape is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return x.with_flat_values(dropout.stateless_dropout(x.flat_values, rate, seed, rng_alg))


@dispatch_for_types(embedding.embedding_lookup, RaggedTensor)
def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of a table at ragged ids."""
    if params is None:
        raise ValueError("params must be specified.")
    return ids.with_flat_values(embedding.embedding_lookup(params, ids.flat_values, max_norm))


@dispatch_for_types(strings.join, RaggedTensor)
def string_join(inputs, separator="", name=None):
    """Strings of several tensors joined element by element, after broadcasting."""
    flats, partitions = broadcast_values(as_operands(*inputs))
    return with_partitions(strings.join(_broadcast(flats), separator=separator), partitions)


def _broadcast(flats):
    """Flat values of one shape; scalars may stay."""
    rank = max(flat.shape.rank for flat in flats)
    shape = None
    for flat in flats:
        if flat.shape.rank:
            own = measuring.shape(flat)
            shape = own if shape is None else broadcasting.broadcast_dynamic_shape(shape, own)
    if rank == 0 or shape is None:
        return flats
    return [flat if flat.shape.rank == 0 else BROADCAST_TO(flat, shape) for flat in flats]


# Products of matrices that differ in size.


@dispatch_for_types(matmul.matmul, RaggedTensor)
def ragged_matmul(
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
):
    """Products of matrices in batches, whose sizes may differ from batch to batch.

    The matrices themselves must not be ragged: all rows of one have one length.
    """
    if transpose_a and adjoint_a:
        raise ValueError("Only one of transpose_a and adjoint_a can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of transpose_b and adjoint_b can be True.")
    a, b = as_operands(a, b)
    options = dict(
        transpose_a=transpose_a, transpose_b=transpose_b, adjoint_a=adjoint_a, adjoint_b=adjoint_b,
        output_type=output_type,
    )  # fmt: skip
    ranks = a.shape.rank, b.shape.rank
    if None in ranks:
        raise ValueError("`a` and `b` must have known ranks.")
    if ranks[0] != ranks[1]:
        raise ValueError("`a` and `b` must have the same rank.")
    if ranks[0] < 2:
        raise ValueError("`a` and `b` must have rank of at least 2.")
    if ranks[0] == 2:
        return matmul.matmul(_rectangular(a), _rectangular(b), **options)
    if ranks[0] > 3:
        return _nested_matmul(a, b, options)
    return _batch_matmul(a, b, options)


_UNEVEN = "The matrices in `a` and `b` may not be ragged in their innermost dimension."


def _rectangular(value):
    """A ragged matrix whose rows have one length as a dense one."""
    if not isinstance(value, RaggedTensor):
        return value
    lengths = value.row_lengths()
    require(ALL(EQUAL(lengths, MAX(lengths, [0])), [0]), _UNEVEN)
    return value.to_tensor()


def _nested_matmul(a, b, options):
    """More than one batch dimension: they must have the same rows."""
    a, b = with_ragged_rank(a, 1), with_ragged_rank(b, 1)
    require(
        ALL(EQUAL(a.row_splits, b.row_splits), [0]),
        "matmul: the batch dimensions of `a` and `b` differ",
    )
    inner = matmul.matmul(a.values, b.values, **options)
    return a.with_values(inner)


def _batch_matmul(a, b, options):
    a_rows, a_columns, a_dense = _padded(a)
    b_rows, b_columns, b_dense = _padded(b)
    a_uniform, b_uniform = _uniform(a), _uniform(b)
    if options["transpose_a"] or options["adjoint_a"]:
        a_rows, a_columns, a_uniform = a_columns, a_rows, a_uniform[::-1]
    if options["transpose_b"] or options["adjoint_b"]:
        b_rows, b_columns, b_uniform = b_columns, b_rows, b_uniform[::-1]
    if a_columns.shape != b_rows.shape and a_columns.shape.is_fully_defined() and b_rows.shape.is_fully_defined():
        raise errors.invalid_argument(f"matmul: `a` has {a_columns.shape[0]} matrices and `b` {b_rows.shape[0]}.")
    # An empty matrix has no rows to tell the length of.
    unequal = LOGICAL_AND(
        NOT_EQUAL(a_columns, b_rows),
        LOGICAL_AND(GREATER(a_rows, _zero(a_rows)), GREATER(b_columns, _zero(b_columns))),
    )
    require(
        LOGICAL_NOT(ANY(unequal, [0])),
        "matmul: the inner dimensions of `a` and `b` differ",
    )
    # Rows and columns beyond a matrix are zero, so that they add nothing to the products.
    product = matmul.matmul(*_aligned(a_dense, b_dense, options), **options)
    if a_uniform[0] is not None and b_uniform[1] is not None:
        return RaggedTensor.from_tensor(product, row_splits_dtype=a_rows.dtype)
    if b_uniform[1] is not None:
        return RaggedTensor.from_tensor(product, lengths=a_rows, row_splits_dtype=a_rows.dtype)
    columns = GATHER_V2(b_columns, _row_batches(a_rows), 0)
    return _clipped(product, a_rows, columns)


def _zero(like):
    return to_tensor(0, like.dtype)


def _row_batches(lengths):
    """For each row the batch that it is in."""
    return RaggedTensor.from_row_lengths(
        RANGE(_zero(lengths), SUM(lengths, [0]), to_tensor(1, lengths.dtype)), lengths
    ).value_rowids()


def _clipped(product, lengths, columns):
    rows = RaggedTensor.from_tensor(product, lengths=lengths, row_splits_dtype=lengths.dtype)
    inner = RaggedTensor.from_tensor(rows.values, lengths=columns, row_splits_dtype=lengths.dtype)
    return rows.with_values(inner)


def _uniform(value):
    """Sizes of the matrices' dimensions as far as they are the same in all batches by construction."""
    return value.shape[1], value.shape[2]


def _padded(value):
    """For each matrix in a batch its numbers of rows and columns, and all as one dense tensor."""
    if not isinstance(value, RaggedTensor):
        shape = SHAPE(value, out_type=dtypes.int64)
        count = EXPAND_DIMS(shape[0], 0)
        return FILL(count, shape[1]), FILL(count, shape[2]), value
    heights = cast_to(value.row_lengths(), dtypes.int64)
    if value.ragged_rank == 1:
        width = _inner_width(value)
        columns = FILL(SHAPE(heights), width)
    else:
        widths = cast_to(value.values.row_lengths(), dtypes.int64)
        ids = value.value_rowids()
        longest = UNSORTED_SEGMENT_MAX(widths, ids, value.nrows())
        columns = MAXIMUM(longest, to_tensor(0, dtypes.int64))
        require(ALL(EQUAL(widths, GATHER_V2(columns, ids, 0)), [0]), _UNEVEN)
    return heights, columns, value.to_tensor()


def _inner_width(value):
    """The size of the first dense dimension inside ragged ones, as int64."""
    return SHAPE(value.flat_values, out_type=dtypes.int64)[1]


def _aligned(a, b, options):
    """Two padded batches with inner dimensions of one size."""
    a_axis = 1 if options["transpose_a"] or options["adjoint_a"] else 2
    b_axis = 2 if options["transpose_b"] or options["adjoint_b"] else 1
    a_size = SHAPE(a)[a_axis]
    b_size = SHAPE(b)[b_axis]
    if type(a_size) is EagerTensor and type(b_size) is EagerTensor and a_size._a == b_size._a:
        return a, b
    largest = MAXIMUM(a_size, b_size)
    return _widened(a, a_axis, SUB(largest, a_size)), _widened(b, b_axis, SUB(largest, b_size))


def _widened(tensor, axis, by):
    zero = to_tensor(0)
    paddings = [[zero, by if i == axis else zero] for i in range(3)]
    return PAD(tensor, PACK([PACK(pair) for pair in paddings]))
