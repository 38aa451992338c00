"""Feature crosses: all combinations of the values in a row of several sparse, ragged or dense tensors."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.ragged.dense import checked_splits
from headrace._src.ops.ragged.row_arithmetic import cast_to
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.ops.strings.hashing import fingerprint64, hash_strings, siphash

_DEFAULT_HASH_KEY = 0xDECAFCAFFE
_MULTIPLIER = 0xC6A4A7935BD1E995
_SEPARATOR = b"_X_"


class _Column:
    """The values of one input, row after row: row b has `counts[b]` of them from `starts[b]` on."""

    def __init__(self, values, counts, dense=False):
        self.values = values
        self.dense = dense
        self.counts = counts
        self.starts = np.cumsum(counts) - counts


def _sparse_column(op, number, indices, values, shape):
    if indices.ndim != 2 or indices.shape[1] != 2:
        raise errors.invalid_argument(
            f"{op}: Expected D2 of index to be 2 at position {number}, got shape {indices.shape}."
        )
    if values.shape != (indices.shape[0],):
        raise errors.invalid_argument(
            f"{op}: Expected {indices.shape[0]} values at position {number}, got shape {values.shape}."
        )
    if shape.shape != (2,):
        raise errors.invalid_argument(f"{op}: shapes[{number}] must have two elements, got {shape.tolist()}.")
    batch = int(shape[0])
    rows = indices[:, 0]
    if batch < 0 or ((rows < 0) | (rows >= batch)).any():
        raise errors.invalid_argument(f"{op}: indices[{number}] are out of bounds for {batch} rows.")
    order = np.argsort(rows, kind="stable")
    return _Column(values[order], np.bincount(rows, minlength=batch))


def _dense_column(op, number, values):
    if values.ndim != 2:
        raise errors.invalid_argument(
            f"{op}: Dense inputs should be a matrix but received shape {values.shape} at position {number}."
        )
    return _Column(values.reshape(-1), np.full(values.shape[0], values.shape[1], np.int64), dense=True)


def _ragged_column(op, number, values, splits):
    splits = checked_splits(op, splits, values.shape[0] if values.ndim else None)
    if values.ndim != 1:
        raise errors.invalid_argument(
            f"{op}: ragged_values[{number}] must be a vector, got shape {values.shape}."
        )
    return _Column(values, np.diff(splits))


def _check_batches(op, columns):
    sizes = {len(column.counts) for column in columns}
    if len(sizes) > 1:
        raise errors.invalid_argument(
            f"{op}: inputs must all have the same batch dimension size, got {[len(c.counts) for c in columns]}."
        )


class _Combinations:
    """For each combination, in order: its row, its number in the row, and the value of each column."""

    def __init__(self, op, columns):
        _check_batches(op, columns)
        batch = len(columns[0].counts) if columns else 0
        counts = np.ones(batch, np.int64)
        for column in columns:
            counts = counts * column.counts
        self.counts = counts if columns else np.zeros(0, np.int64)
        self.rows = np.repeat(np.arange(batch), self.counts)
        first = np.cumsum(self.counts) - self.counts
        self.numbers = np.arange(len(self.rows)) - first[self.rows]
        self.values = []
        rest = self.numbers
        # The last column varies fastest.
        for column in reversed(columns):
            size = column.counts[self.rows]
            self.values.insert(0, column.values[column.starts[self.rows] + rest % size])
            rest = rest // size

    def indices_and_shape(self):
        """The parts of a sparse tensor that holds the combinations."""
        widest = int(self.counts.max()) if len(self.counts) else 0
        indices = np.stack([self.rows, self.numbers], axis=1).astype(np.int64).reshape(-1, 2)
        return indices, np.array([len(self.counts), widest], np.int64)

    def joined(self, separator):
        """The values of each combination as one string."""
        texts = [_texts(values) for values in self.values]
        result = np.empty(len(self.rows), object)
        result[:] = [separator.join(parts) for parts in zip(*texts)] if texts else []
        return result


def _texts(values):
    if values.dtype == object:
        return values.tolist()
    return [str(value).encode() for value in values.tolist()]


def _shift_mix(x):
    return x ^ (x >> np.uint64(47))


def _concatenated(first, second):
    """Two 64-bit fingerprints as one."""
    k = np.uint64(_MULTIPLIER)
    result = first ^ k
    result = (result ^ (_shift_mix(second * k) * k)) * k
    return _shift_mix(_shift_mix(result) * k)


def _fingerprints(values):
    """64 bits for each value: the hash of a string, an integer itself."""
    if values.dtype == object:
        return hash_strings(fingerprint64, values.tolist())
    return values.astype(np.int64).view(np.uint64)


def _bucketed(hashes, num_buckets):
    if num_buckets < 0:
        raise errors.invalid_argument(f"num_buckets must not be negative, got {num_buckets}.")
    size = num_buckets or 2**63 - 1
    return (hashes % np.uint64(size)).astype(np.int64)


def _hashed(combinations, hash_key, num_buckets):
    total = np.full(len(combinations.rows), hash_key & (2**64 - 1), np.uint64)
    for values in combinations.values:
        total = _concatenated(total, _fingerprints(values))
    return _bucketed(total, num_buckets)


def _columns(op, indices, values, shapes, dense_inputs):
    if not len(indices) == len(values) == len(shapes):
        raise errors.invalid_argument(
            f"{op}: {len(indices)} indices, {len(values)} values and {len(shapes)} shapes."
        )
    sparse = [_sparse_column(op, i, *parts) for i, parts in enumerate(zip(indices, values, shapes))]
    return sparse + [_dense_column(op, i, dense) for i, dense in enumerate(dense_inputs)]


def _cross_kernel(
    indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, out_type, internal_type
):
    op = "SparseCross"
    # With int64 as internal type strings are hashed as well, with string integers are refused.
    if internal_type is dtypes.string and any(array.dtype != object for array in (*values, *dense_inputs)):
        raise errors.invalid_argument(
            f"{op}: values and dense_inputs must be strings, as internal_type says."
        )
    combinations = _Combinations(op, _columns(op, indices, values, shapes, dense_inputs))
    places, shape = combinations.indices_and_shape()
    if hashed_output != (out_type is dtypes.int64):
        raise errors.invalid_argument(
            f"{op}: out_type {out_type.name} does not fit hashed_output={hashed_output}."
        )
    result = (
        _hashed(combinations, hash_key, num_buckets) if hashed_output else combinations.joined(_SEPARATOR)
    )
    return places, result, shape


def _sparse_shapes(*inputs, **attrs):
    return TensorShape([None, 2]), TensorShape([None]), TensorShape([2])


# How many combinations there are depends on the data: host only, here and below.
SPARSE_CROSS = Op(
    "SparseCross",
    "indices: N*int64, values: list(sparse_types), shapes: N*int64, dense_inputs: list(dense_types), *, "
    "hashed_output: bool, num_buckets: int, hash_key: int, out_type: type, internal_type: type "
    "-> output_indices: int64, output_values: out_type, output_shape: int64",
    infer=_sparse_shapes,
    kernel=_cross_kernel,
    lower=None,
    grad=unregistered,
    internal_type=frozenset({dtypes.int64, dtypes.string}),
    out_type=frozenset({dtypes.int64, dtypes.string}),
)


def _cross_v2_kernel(indices, values, shapes, dense_inputs, sep):
    op = "SparseCrossV2"
    if sep.ndim:
        raise errors.invalid_argument(f"{op}: sep must be a scalar, got shape {sep.shape}.")
    combinations = _Combinations(op, _columns(op, indices, values, shapes, dense_inputs))
    places, shape = combinations.indices_and_shape()
    return places, combinations.joined(sep[()]), shape


SPARSE_CROSS_V2 = Op(
    "SparseCrossV2",
    "indices: N*int64, values: list(sparse_types), shapes: N*int64, dense_inputs: list(dense_types), "
    "sep: string -> output_indices: int64, output_values: string, output_shape: int64",
    infer=_sparse_shapes,
    kernel=_cross_v2_kernel,
    lower=None,
    grad=None,
)


def _cross_hashed_kernel(indices, values, shapes, dense_inputs, num_buckets, strong_hash, salt):
    op = "SparseCrossHashed"
    if num_buckets.ndim or strong_hash.ndim or salt.shape != (2,):
        raise errors.invalid_argument(
            f"{op}: num_buckets and strong_hash must be scalars and salt have two elements, got shapes "
            f"{num_buckets.shape}, {strong_hash.shape} and {salt.shape}."
        )
    columns = _columns(op, indices, values, shapes, dense_inputs)
    combinations = _Combinations(op, columns)
    places, shape = combinations.indices_and_shape()
    total = np.zeros(len(combinations.rows), np.uint64)
    key = tuple(int(word) for word in salt)
    for i, (column, chosen) in enumerate(zip(columns, combinations.values)):
        # TF: integers of dense inputs stand for themselves.
        itself = column.dense and chosen.dtype != object
        hashes = _fingerprints(chosen) if itself else _keyed(chosen, bool(strong_hash), key)
        total = hashes if i == 0 else _concatenated(total, hashes)
    return places, _bucketed(total, int(num_buckets)), shape


def _keyed(values, strong, key):
    if values.dtype == object:
        items = values.tolist()
    elif strong:
        items = [value.tobytes() for value in values.astype("<i8")]
    else:
        # TF: of an integer only the low four bytes are hashed.
        items = [value.tobytes() for value in values.astype("<i8").astype("<i4")]
    return hash_strings((lambda rows: siphash(rows, key)) if strong else fingerprint64, items)


SPARSE_CROSS_HASHED = Op(
    "SparseCrossHashed",
    "indices: N*int64, values: list(sparse_types), shapes: N*int64, dense_inputs: list(dense_types), "
    "num_buckets: int64, strong_hash: bool, salt: int64 "
    "-> output_indices: int64, output_values: int64, output_shape: int64",
    infer=_sparse_shapes,
    kernel=_cross_hashed_kernel,
    lower=None,
    grad=None,
)


def _ragged_kernel(
    ragged_values,
    ragged_row_splits,
    sparse_indices,
    sparse_values,
    sparse_shape,
    dense_inputs,
    input_order,
    hashed_output,
    num_buckets,
    hash_key,
    out_values_type,
    out_row_splits_type,
):
    op = "RaggedCross"
    counts = {"R": len(ragged_values), "S": len(sparse_indices), "D": len(dense_inputs)}
    if {kind: input_order.count(kind) for kind in "RSD"} != counts or set(input_order) - set("RSD"):
        raise errors.invalid_argument(
            f"{op}: input_order {input_order!r} does not describe the inputs {counts}."
        )
    for name, parts, kind in (
        ("ragged_row_splits", ragged_row_splits, "R"),
        ("sparse_values", sparse_values, "S"),
        ("sparse_shape", sparse_shape, "S"),
    ):
        if len(parts) != counts[kind]:
            raise errors.invalid_argument(f"{op}: {name} must have {counts[kind]} tensors, got {len(parts)}.")
    if out_values_type is not (dtypes.int64 if hashed_output else dtypes.string):
        raise errors.invalid_argument(
            f"{op}: out_values_type must be int64 if hashed_output and string if not, got {out_values_type.name}."
        )
    ragged = iter(_ragged_column(op, i, *p) for i, p in enumerate(zip(ragged_values, ragged_row_splits)))
    sparse = iter(
        _sparse_column(op, i, *p) for i, p in enumerate(zip(sparse_indices, sparse_values, sparse_shape))
    )
    dense = iter(_dense_column(op, i, array) for i, array in enumerate(dense_inputs))
    source = {"R": ragged, "S": sparse, "D": dense}
    combinations = _Combinations(op, [next(source[kind]) for kind in input_order])
    splits = np.concatenate([[0], np.cumsum(combinations.counts)]).astype(out_row_splits_type._np)
    if hashed_output:
        return _hashed(combinations, hash_key, num_buckets), splits
    return combinations.joined(_SEPARATOR), splits


def _ragged_infer(ragged_values, ragged_row_splits, *others, **attrs):
    rows = ragged_row_splits[0].shape if ragged_row_splits else None
    count = rows[0] if rows is not None and rows.rank else None
    return TensorShape([None]), TensorShape([count])


RAGGED_CROSS = Op(
    "RaggedCross",
    "ragged_values: list(ragged_values_types), ragged_row_splits: list(ragged_splits_types), "
    "sparse_indices: Nsparse*int64, sparse_values: list(sparse_values_types), sparse_shape: Nsparse*int64, "
    "dense_inputs: list(dense_types), *, input_order: string, hashed_output: bool, num_buckets: int, "
    "hash_key: int, out_values_type: type, out_row_splits_type: type "
    "-> output_values: out_values_type, output_row_splits: out_row_splits_type",
    infer=_ragged_infer,
    kernel=_ragged_kernel,
    lower=None,
    grad=unregistered,
    out_row_splits_type=dtypes.INDEX,
    out_values_type=frozenset({dtypes.int64, dtypes.string}),
)


def _inputs(inputs):
    """The parts of sparse inputs, and the dense inputs; numbers as int64."""
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(one, (SparseTensor, Tensor)) for one in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    sparse = [one for one in inputs if isinstance(one, SparseTensor)]
    dense = [_integers_or_strings(one) for one in inputs if not isinstance(one, SparseTensor)]
    indices = [one.indices for one in sparse]
    values = [_integers_or_strings(one.values) for one in sparse]
    return indices, values, [one.dense_shape for one in sparse], dense


def _integers_or_strings(tensor):
    return tensor if tensor.dtype is dtypes.string else cast_to(tensor, dtypes.int64)


@api("sparse.cross")
def cross(inputs, name=None, separator=None) -> SparseTensor:
    """All combinations of the values in each row of several matrices, joined to strings.

    >>> a = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    >>> tf.sparse.cross([a, tf.constant([["x"], ["y"]])]).values.numpy().tolist()
    [b'a_X_x', b'b_X_y', b'c_X_y']

    Args:
        inputs: sparse tensors and tensors of rank 2, of strings or integers.
        name: a name for the operation.
        separator: what stands between values; "_X_" if None.

    Returns:
        A sparse tensor of strings. The combinations of sparse tensors come before the dense ones' values.
    """
    indices, values, shapes, dense = _inputs(inputs)
    separator = to_tensor(_SEPARATOR if separator is None else separator, dtypes.string)
    return SparseTensor(*SPARSE_CROSS_V2(indices, values, shapes, dense, separator, name=name))


@api("sparse.cross_hashed")
def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None) -> SparseTensor:
    """All combinations of the values in each row of several matrices, hashed.

    Args:
        inputs: sparse tensors and tensors of rank 2, of strings or integers.
        num_buckets: hashes are taken modulo this; as they are if 0.
        hash_key: where hashing starts.
        name: a name for the operation.

    Returns:
        A sparse tensor of int64.
    """
    indices, values, shapes, dense = _inputs(inputs)
    strings = all(tensor.dtype is dtypes.string for tensor in (*values, *dense))
    parts = SPARSE_CROSS(
        indices,
        values,
        shapes,
        dense,
        hashed_output=True,
        num_buckets=num_buckets,
        hash_key=_DEFAULT_HASH_KEY if hash_key is None else hash_key,
        out_type=dtypes.int64,
        internal_type=dtypes.string if strings else dtypes.int64,
        name=name,
    )
    return SparseTensor(*parts)


@api("ragged.cross")
def ragged_cross(inputs, name=None) -> RaggedTensor:
    """All combinations of the values in each row of several ragged, sparse or dense matrices, as strings.

    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
    <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>

    Args:
        inputs: a list of tensors of rank 2 that have as many rows.
        name: a name for the operation.
    """
    return _ragged_cross(inputs, False, 0, None, name)


@api("ragged.cross_hashed")
def ragged_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None) -> RaggedTensor:
    """All combinations of the values in each row of several ragged, sparse or dense matrices, hashed.

    Args:
        inputs: a list of tensors of rank 2 that have as many rows.
        num_buckets: hashes are taken modulo this; as they are if 0.
        hash_key: where hashing starts.
        name: a name for the operation.

    Returns:
        A ragged tensor of int64.
    """
    return _ragged_cross(inputs, True, num_buckets, hash_key, name)


def _ragged_cross(inputs, hashed_output, num_buckets, hash_key, name):
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    order, ragged, sparse, dense = "", [], [], []
    splits_type = dtypes.int64 if not any(isinstance(one, RaggedTensor) for one in inputs) else dtypes.int32
    for i, one in enumerate(inputs):
        if not isinstance(one, (RaggedTensor, SparseTensor)):
            one = to_tensor(one)
        if one.dtype._kind not in "sib" and one.dtype._kind != "u":
            raise ValueError(f"Unexpected dtype for inputs[{i}]: {one.dtype!r}")
        if isinstance(one, RaggedTensor):
            if one.ragged_rank != 1 or one.flat_values.shape.rank not in (1, None):
                raise ValueError("tf.ragged.cross only supports inputs with rank=2")
            if one.row_splits.dtype is dtypes.int64:
                splits_type = dtypes.int64
            ragged.append(one)
            order += "R"
        elif isinstance(one, SparseTensor):
            if one.shape.rank not in (2, None):
                raise ValueError("tf.ragged.cross only supports inputs with rank=2")
            sparse.append(one)
            order += "S"
        else:
            if one.shape.rank not in (2, None):
                raise ValueError("tf.ragged.cross only supports inputs with rank=2")
            dense.append(_integers_or_strings(one))
            order += "D"
    values, splits = RAGGED_CROSS(
        [_integers_or_strings(one.values) for one in ragged],
        [one.row_splits for one in ragged],
        [one.indices for one in sparse],
        [_integers_or_strings(one.values) for one in sparse],
        [one.dense_shape for one in sparse],
        dense,
        input_order=order,
        hashed_output=hashed_output,
        num_buckets=num_buckets,
        hash_key=_DEFAULT_HASH_KEY if hash_key is None else hash_key,
        out_values_type=dtypes.int64 if hashed_output else dtypes.string,
        out_row_splits_type=splits_type,
        name=name,
    )
    return RaggedTensor.from_row_splits(values, splits, validate=False)
