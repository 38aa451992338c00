"""Parsing encoded Examples: `tf.io.parse_example`, `parse_single_example`, and the ops behind them."""

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.batching import Rule, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.shaping import ENSURE_SHAPE
from headrace._src.ops.parsing.example_batches import check_dense, vectorize_parse, vectorize_ragged_parse
from headrace._src.ops.parsing.example_layouts import SPLIT_TYPES, VALUE_TYPES, example_layout
from headrace._src.ops.parsing.requests import EXAMPLE_FEATURES, Request, keys_tensor
from headrace._src.ops.parsing.results import assemble
from headrace._src.ops.strings.kernel_arrays import attribute_bytes


def check_names(op, names, serialized, argument="names"):
    """Names are one for each example, or none."""
    if names.size and names.shape != serialized.shape:
        raise errors.invalid_argument(
            f"{op}: {argument} must be empty or have the shape of serialized, {serialized.shape}, got {names.shape}."
        )


def vector_of_keys(op, argument, array):
    """The keys of an input that must be a vector."""
    if array.ndim != 1:
        raise errors.invalid_argument(f"{op}: {argument} must be a vector, got shape {array.shape}.")
    return array.tolist()


def _parse(layout, serialized, names, defaults):
    layout.check_defaults(defaults)
    if serialized.ndim == 0:
        return layout.parse_single(serialized[()], names, defaults)
    check_names(layout.op, names, serialized)
    return layout.parse_batch(serialized.tolist(), names, defaults)


def _parse_example_kernel(
    serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
    num_sparse, sparse_types, ragged_value_types, ragged_split_types, dense_shapes,
):  # fmt: skip
    op = "ParseExampleV2"
    if serialized.ndim > 1:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar or a vector, got shape {serialized.shape}.")
    layout = example_layout(
        op, vector_of_keys(op, "sparse_keys", sparse_keys), vector_of_keys(op, "dense_keys", dense_keys),
        vector_of_keys(op, "ragged_keys", ragged_keys), dense_defaults, sparse_types, ragged_value_types,
        ragged_split_types, dense_shapes,
    )  # fmt: skip
    return _parse(layout, serialized, names, dense_defaults)


def _batch_dims(op, serialized):
    """The dimension of the batch, none for one record; None when the rank is unknown."""
    rank = serialized.shape.rank
    if rank is not None and rank > 1:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar or a vector, got shape {serialized.shape}.")
    return None if rank is None else serialized.shape.as_list()


def dense_shape(batch, shape):
    """The shape of a parsed dense feature, as far as it is known."""
    if batch is None or shape is None:
        return TensorShape(None)
    return TensorShape([*batch, *shape])


def _parse_example_infer(
    serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
    num_sparse, sparse_types, ragged_value_types, ragged_split_types, dense_shapes,
):  # fmt: skip
    batch = _batch_dims("ParseExampleV2", serialized)
    sparse, dense = _shapes(batch, len(sparse_types), dense_shapes)
    count = None if batch is None else [0] if not batch else [None if batch[0] is None else batch[0] + 1]
    splits = [TensorShape(None if count is None else count)] * len(ragged_split_types)
    return *sparse, dense, [TensorShape([None])] * len(ragged_value_types), splits


def _shapes(batch, sparse, dense_shapes):
    rank = None if batch is None else len(batch) + 1
    return (
        [TensorShape([None, rank])] * sparse,
        [TensorShape([None])] * sparse,
        [TensorShape([rank])] * sparse,
    ), [dense_shape(batch, shape) for shape in dense_shapes]


PARSE_EXAMPLE = Op(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: list(Tdense), *, num_sparse: int, sparse_types: list(type), ragged_value_types: list(type), "
    "ragged_split_types: list(type), dense_shapes: list(shape) -> sparse_indices: num_sparse*int64, "
    "sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, dense_values: list(Tdense), "
    "ragged_values: list(ragged_value_types), ragged_row_splits: list(ragged_split_types)",
    Tdense=VALUE_TYPES,
    sparse_types=VALUE_TYPES,
    ragged_value_types=VALUE_TYPES,
    ragged_split_types=SPLIT_TYPES,
    infer=_parse_example_infer,
    kernel=_parse_example_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
    vectorize=Rule(vectorize_parse, vectorize_ragged_parse, makes_ragged=True),
)


def _parse_example_first_kernel(serialized, names, sparse_keys, dense_keys, dense_defaults, sparse_types, dense_shapes):
    op = "ParseExample"
    if serialized.ndim != 1:
        raise errors.invalid_argument(f"{op}: serialized must be a vector, got shape {serialized.shape}.")
    keys = [[scalar_key(op, key) for key in group] for group in (sparse_keys, dense_keys)]
    layout = example_layout(op, *keys, [], dense_defaults, sparse_types, [], [], dense_shapes)
    return _parse(layout, serialized, names, dense_defaults)[:4]


def scalar_key(op, key):
    """The key of an input that must be a scalar."""
    if key.ndim:
        raise errors.invalid_argument(f"{op}: keys must be scalars, got shape {key.shape}.")
    return key[()]


def _parse_example_first_infer(serialized, names, sparse_keys, dense_keys, dense_defaults, sparse_types, dense_shapes):
    batch = [serialized.shape[0] if serialized.shape.rank else None]
    sparse, dense = _shapes(batch, len(sparse_types), dense_shapes)
    return *sparse, dense


PARSE_EXAMPLE_FIRST = Op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, "
    "dense_defaults: list(Tdense), *, sparse_types: list(type), dense_shapes: list(shape) -> "
    "sparse_indices: Nsparse*int64, sparse_values: list(sparse_types), sparse_shapes: Nsparse*int64, "
    "dense_values: list(Tdense)",
    Tdense=VALUE_TYPES,
    sparse_types=VALUE_TYPES,
    infer=_parse_example_first_infer,
    kernel=_parse_example_first_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
)


def _parse_single_kernel(serialized, dense_defaults, num_sparse, sparse_keys, dense_keys, sparse_types, dense_shapes):
    op = "ParseSingleExample"
    if serialized.ndim:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar, got shape {serialized.shape}.")
    keys = [[attribute_bytes(key) for key in group] for group in (sparse_keys, dense_keys)]
    layout = example_layout(op, *keys, [], dense_defaults, sparse_types, [], [], dense_shapes)
    return _parse(layout, serialized, np.empty(0, object), dense_defaults)[:4]


def _parse_single_infer(serialized, dense_defaults, num_sparse, sparse_keys, dense_keys, sparse_types, dense_shapes):
    sparse, dense = _shapes([], len(sparse_types), dense_shapes)
    return *sparse, dense


def _vectorize_parse_single(batch, node, serialized, defaults):
    attrs = node.attrs
    check_dense(serialized, attrs["dense_shapes"], attrs["num_sparse"])
    none, keys = to_tensor([], dtypes.string), to_tensor(list(attrs["dense_keys"]), dtypes.string)
    features = dict(num_sparse=0, sparse_types=[], ragged_value_types=[], ragged_split_types=[])
    return batch.apply(
        node,
        [serialized, none, none, keys, none, [unstacked(value, "defaults") for value in defaults]],
        {**features, "dense_shapes": attrs["dense_shapes"]},
        PARSE_EXAMPLE,
    )


PARSE_SINGLE_EXAMPLE = Op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: list(Tdense), *, num_sparse: int, sparse_keys: list(string), "
    "dense_keys: list(string), sparse_types: list(type), dense_shapes: list(shape) -> "
    "sparse_indices: num_sparse*int64, sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, "
    "dense_values: list(Tdense)",
    Tdense=VALUE_TYPES,
    sparse_types=VALUE_TYPES,
    infer=_parse_single_infer,
    kernel=_parse_single_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
    vectorize=_vectorize_parse_single,
)


def _parsed(function, serialized, features, example_names, name):
    if not features:
        raise ValueError(f"{function}: features must describe at least one feature, got {features!r}.")
    serialized = to_tensor(serialized, dtypes.string)
    request = Request(function, features, EXAMPLE_FEATURES)
    outputs = PARSE_EXAMPLE(
        serialized,
        to_tensor([] if example_names is None else example_names, dtypes.string),
        keys_tensor(request.sparse),
        keys_tensor(request.dense),
        keys_tensor(request.ragged),
        request.dense_defaults,
        num_sparse=len(request.sparse),
        sparse_types=request.sparse_types,
        ragged_value_types=request.ragged_types,
        ragged_split_types=request.split_types,
        dense_shapes=request.dense_shapes,
        name=name or "ParseExample/ParseExampleV2",
    )
    return assemble(features, request, outputs, batched=serialized.shape.rank != 0)


@api("io.parse_example")
def parse_example(serialized, features, example_names=None, name=None) -> dict[str, Any]:
    """Parses encoded `Example` messages into a dictionary of tensors.

    Args:
        serialized: a vector of strings, each an encoded Example (or one string, as in `parse_single_example`).
        features: a dictionary from keys to `FixedLenFeature` (a dense tensor), `VarLenFeature` (sparse),
            `FixedLenSequenceFeature` (dense, filled up), `RaggedFeature` (ragged) or `SparseFeature` (sparse, from
            several features).
        example_names: names of the examples, for messages.
        name: a name for the operation.

    Returns:
        A dictionary from the same keys to tensors.

    Raises:
        ValueError: a feature is not described well.
        InvalidArgumentError: a string is no Example, or its features are not as described.

    >>> Feature, Int64List = tf.train.Feature, tf.train.Int64List
    >>> def example(*values):
    ...     feature = Feature(int64_list=Int64List(value=values))
    ...     return tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString()
    >>> tf.io.parse_example([example(1), example(2, 3)], {"a": tf.io.RaggedFeature(tf.int64)})
    {'a': <tf.RaggedTensor [[1], [2, 3]]>}
    """
    return _parsed("io.parse_example", serialized, features, example_names, name)


@api("io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None) -> dict[str, Any]:
    """Parses one encoded `Example`. The same as `parse_example`, without a dimension for the batch.

    Args:
        serialized: one string.
        features: a dictionary from keys to descriptions, see `parse_example`.
        example_names: the name of the example, for messages.
        name: a name for the operation.

    Returns:
        A dictionary from the same keys to tensors.
    """
    return _parsed(
        "io.parse_single_example", one_string("io.parse_single_example", serialized), features, example_names, name
    )


def one_string(function, serialized):
    """A string tensor that must be a scalar; in a graph of unknown rank it is taken for one."""
    serialized = to_tensor(serialized, dtypes.string)
    if serialized.shape.rank is None:
        serialized = _ensured_scalar(serialized)
    if serialized.shape.rank:
        raise ValueError(f"{function}: serialized must be a scalar, got shape {serialized.shape}.")
    return serialized


def _ensured_scalar(tensor):
    """The tensor, checked to be a scalar when the graph runs."""
    return ENSURE_SHAPE(tensor, shape=())
