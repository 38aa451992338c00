"""Parsing encoded SequenceExamples: `tf.io.parse_sequence_example`, `parse_single_sequence_example` and their ops."""

import functools
import math
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.example_fields import MalformedExample
from headrace._src.formats.example_sequences import SequenceExampleParser
from headrace._src.formats.example_wire import WrongKind
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.parsing.example_layouts import (
    KINDS,
    SPLIT_TYPES,
    VALUE_TYPES,
    Layout,
    called,
    check_padded_size,
    not_parsed,
    row_splits,
    value_type,
    wrong_count,
    wrong_kind,
)
from headrace._src.ops.parsing.examples import check_names, dense_shape, one_string, scalar_key, vector_of_keys
from headrace._src.ops.parsing.requests import CONTEXT_FEATURES, LIST_FEATURES, Request, keys_tensor
from headrace._src.ops.parsing.results import collect
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.ops.strings.kernel_arrays import attribute_bytes


class SequenceLayout:
    """The context features and feature lists that an op is asked for."""

    def __init__(self, op, context, sparse, dense, ragged, may_lack):
        self.op = op
        self.context = Layout(op, *context)
        self.sparse = sparse  # ((key, dtype), ...)
        self.dense = dense  # ((key, dtype, shape), ...)
        self.ragged = ragged  # ((key, dtype, dtype of splits), ...)
        self.may_lack = may_lack
        for key, _, shape in dense:
            if shape is None or None in shape:
                raise errors.invalid_argument(
                    f"{op}: Feature list: {key.decode('utf-8', 'replace')}: the shape {shape} is not known."
                )
        lists = {key: KINDS[dtype] for key, dtype, *_ in (*sparse, *dense, *ragged)}
        self.parser = SequenceExampleParser(self.context.parser.wanted, lists)

    def columns(self, records, names, defaults):
        """What records have of the context features, and of the feature lists."""
        self.context.check_defaults(defaults)
        try:
            return self.parser.parse_batch(records)
        except MalformedExample as error:
            raise not_parsed(self.op, error, records[error.index], names, error.index) from None
        except WrongKind as error:
            raise wrong_kind(self.op, error, names) from None

    def parse(self, serialized, names, defaults):
        """The outputs of ParseSequenceExampleV2."""
        single = serialized.ndim == 0
        records = [serialized[()]] if single else serialized.tolist()
        context, lists = self.columns(records, names, defaults)
        count = len(records)
        outputs = list(self.context.outputs(context, count, names, defaults))
        sparse = [self.sparse_values(lists[key], count) for key, _ in self.sparse]
        dense = [self._dense(key, KINDS[dtype], shape, lists[key], count, names) for key, dtype, shape in self.dense]
        lengths = [lists[key].lengths for key, _, _ in self.dense]
        values = [lists[key].values for key, _, _ in self.ragged]
        outer = [row_splits(lists[key].lengths, kind) for key, _, kind in self.ragged]
        inner = [row_splits(lists[key].counts, kind) for key, _, kind in self.ragged]
        indices, flat, shapes = ([part[i] for part in sparse] for i in range(3))
        if single:
            outputs = _without_batch(outputs)
            indices, shapes = [part[:, 1:] for part in indices], [part[1:] for part in shapes]
            dense, lengths = [part[0] for part in dense], [part[0] for part in lengths]
            outer = [part[:0] for part in outer]
        return *outputs, indices, flat, shapes, dense, lengths, values, outer, inner

    @staticmethod
    def sparse_values(column, count):
        """The indices, values and shape of a sparse feature list."""
        steps = column.lengths
        total = int(column.counts.sum())
        owners = np.repeat(np.arange(count), steps)
        places = np.arange(owners.size) - np.repeat(steps.cumsum() - steps, steps)
        indices = np.empty((total, 3), np.int64)
        indices[:, 0] = np.repeat(owners, column.counts)
        indices[:, 1] = np.repeat(places, column.counts)
        indices[:, 2] = np.arange(total) - np.repeat(column.counts.cumsum() - column.counts, column.counts)
        return indices, column.values, np.array(
            [count, steps.max(initial=0), column.counts.max(initial=0)], np.int64
        )  # fmt: skip

    def check_dense(self, key, kind, shape, column, names):
        """Refuse a dense feature list that some record lacks, or has with other shapes."""
        name = key.decode("utf-8", "replace")
        if column.present is not None and key not in self.may_lack:
            index = int(np.flatnonzero(~column.present)[0])
            raise errors.invalid_argument(
                f"{self.op}: Feature list: {name} is required but could not be found in {called(names, index)}. "
                "Give it allow_missing=True if it may be missing."
            )
        size, steps = math.prod(shape), column.lengths
        wrong = np.flatnonzero(column.counts != size)
        if wrong.size:
            index = int(np.searchsorted(steps.cumsum(), wrong[0], side="right"))
            raise wrong_count(self.op, key, kind, int(column.counts[wrong[0]]), shape, names, index)

    def _dense(self, key, kind, shape, column, count, names):
        self.check_dense(key, kind, shape, column, names)
        size, steps = math.prod(shape), column.lengths
        most = int(steps.max(initial=0))
        check_padded_size(self.op, key, count * most * size, column.values.size)
        inside = np.arange(most) < steps[:, None]
        if inside.all():
            return column.values.reshape(count, most, *shape)
        result = np.zeros((count, most, size), column.values.dtype)
        if result.dtype == object:
            result[...] = b""
        result[inside] = column.values.reshape(-1, size)
        return result.reshape(count, most, *shape)


def _without_batch(outputs):
    """The outputs for a context of one example, without the dimension for the examples."""
    indices, values, shapes, dense, ragged, splits = outputs
    return [
        [part[:, 1:] for part in indices], values, [part[1:] for part in shapes], [part[0] for part in dense], ragged,
        [part[:0] for part in splits],
    ]  # fmt: skip


@functools.lru_cache(maxsize=256)
def _layout(op, context, sparse, dense, ragged, may_lack):
    return SequenceLayout(op, context, sparse, dense, ragged, may_lack)


def _pairs(op, what, *columns):
    if len({len(column) for column in columns}) > 1:
        raise errors.invalid_argument(f"{op}: the numbers of {what} keys, types and shapes do not fit.")
    return tuple(zip(*columns))


def sequence_layout(
    serialized, debug_name, context_sparse_keys, context_dense_keys, context_ragged_keys, feature_list_sparse_keys,
    feature_list_dense_keys, feature_list_ragged_keys, feature_list_dense_missing_assumed_empty,
    context_dense_defaults, Ncontext_sparse, context_sparse_types, context_ragged_value_types,
    context_ragged_split_types, context_dense_shapes, Nfeature_list_sparse, Nfeature_list_dense,
    feature_list_dense_types, feature_list_sparse_types, feature_list_ragged_value_types,
    feature_list_ragged_split_types, feature_list_dense_shapes,
):  # fmt: skip
    """What the inputs and attributes of ParseSequenceExampleV2 ask for."""
    op = "ParseSequenceExampleV2"
    _check_serialized(op, serialized.shape)
    check_names(op, debug_name, serialized, "debug_name")
    keys = [
        vector_of_keys(op, argument, array)
        for argument, array in (
            ("context_sparse_keys", context_sparse_keys),
            ("context_dense_keys", context_dense_keys),
            ("context_ragged_keys", context_ragged_keys),
            ("feature_list_sparse_keys", feature_list_sparse_keys),
            ("feature_list_dense_keys", feature_list_dense_keys),
            ("feature_list_ragged_keys", feature_list_ragged_keys),
        )
    ]
    empty = feature_list_dense_missing_assumed_empty
    if empty.shape != (len(keys[4]),):
        raise errors.invalid_argument(
            f"{op}: feature_list_dense_missing_assumed_empty must have one element for each dense feature list, "
            f"{len(keys[4])}, got shape {empty.shape}."
        )
    types = [value_type(op, default) for default in context_dense_defaults]
    return _layout(
        op,
        (
            _pairs(op, "context_sparse", keys[0], context_sparse_types),
            _pairs(op, "context_dense", keys[1], types, context_dense_shapes),
            _pairs(op, "context_ragged", keys[2], context_ragged_value_types, context_ragged_split_types),
        ),
        _pairs(op, "feature_list_sparse", keys[3], feature_list_sparse_types),
        _pairs(op, "feature_list_dense", keys[4], feature_list_dense_types, feature_list_dense_shapes),
        _pairs(
            op, "feature_list_ragged", keys[5], feature_list_ragged_value_types, feature_list_ragged_split_types
        ),
        frozenset(key for key, may in zip(keys[4], empty.tolist()) if may),
    )


def _sequence_kernel(serialized, debug_name, *inputs, **attrs):
    layout = sequence_layout(serialized, debug_name, *inputs, **attrs)
    return layout.parse(serialized, debug_name, inputs[-1])


def _check_serialized(op, shape):
    if len(shape) > 1:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar or a vector, got shape {tuple(shape)}.")


def _sequence_infer(serialized, *inputs, **attrs):
    rank = serialized.shape.rank
    batch = None if rank is None else serialized.shape.as_list()
    if rank is not None:
        _check_serialized("ParseSequenceExampleV2", batch)
    splits = TensorShape(None if batch is None else [0] if not batch else [None if batch[0] is None else batch[0] + 1])
    context = _context_shapes(rank, batch, attrs)
    ragged = len(attrs["context_ragged_value_types"])
    lists = len(attrs["feature_list_ragged_value_types"])
    return (
        *context,
        [TensorShape([None])] * ragged,
        [splits] * ragged,
        *_list_shapes(rank, batch, attrs),
        [TensorShape(batch)] * len(attrs["feature_list_dense_types"]),
        [TensorShape([None])] * lists,
        [splits] * lists,
        [TensorShape([None])] * lists,
    )


def _context_shapes(rank, batch, attrs):
    wide = None if rank is None else rank + 1
    count = len(attrs["context_sparse_types"])
    return (
        [TensorShape([None, wide])] * count,
        [TensorShape([None])] * count,
        [TensorShape([wide])] * count,
        [dense_shape(batch, shape) for shape in attrs["context_dense_shapes"]],
    )


def _list_shapes(rank, batch, attrs):
    wide = None if rank is None else rank + 2
    count = len(attrs["feature_list_sparse_types"])
    return (
        [TensorShape([None, wide])] * count,
        [TensorShape([None])] * count,
        [TensorShape([wide])] * count,
        [
            dense_shape(None if batch is None or shape is None else [*batch, None], shape)
            for shape in attrs["feature_list_dense_shapes"]
        ],
    )


_CONTEXT_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: list(context_sparse_types), "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: list(Tcontext_dense), "
)
_LIST_OUTPUTS = (
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: list(feature_list_sparse_types), "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: list(feature_list_dense_types)"
)
_TYPES = {
    "Tcontext_dense": VALUE_TYPES,
    "context_sparse_types": VALUE_TYPES,
    "feature_list_dense_types": VALUE_TYPES,
    "feature_list_sparse_types": VALUE_TYPES,
}

PARSE_SEQUENCE_EXAMPLE = Op(
    "ParseSequenceExampleV2",
    "serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, "
    "context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, "
    "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, "
    "context_dense_defaults: list(Tcontext_dense), *, Ncontext_sparse: int = 0, context_sparse_types: list(type) = [], "
    "context_ragged_value_types: list(type) = [], context_ragged_split_types: list(type) = [], "
    "context_dense_shapes: list(shape) = [], Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, "
    "feature_list_dense_types: list(type) = [], feature_list_sparse_types: list(type) = [], "
    "feature_list_ragged_value_types: list(type) = [], feature_list_ragged_split_types: list(type) = [], "
    "feature_list_dense_shapes: list(shape) = [] -> "
    + _CONTEXT_OUTPUTS
    + "context_ragged_values: list(context_ragged_value_types), "
    "context_ragged_row_splits: list(context_ragged_split_types), "
    + _LIST_OUTPUTS
    + ", feature_list_dense_lengths: Nfeature_list_dense*int64, "
    "feature_list_ragged_values: list(feature_list_ragged_value_types), "
    "feature_list_ragged_outer_splits: list(feature_list_ragged_split_types), "
    "feature_list_ragged_inner_splits: list(feature_list_ragged_split_types)",
    **_TYPES,
    context_ragged_value_types=VALUE_TYPES,
    context_ragged_split_types=SPLIT_TYPES,
    feature_list_ragged_value_types=VALUE_TYPES,
    feature_list_ragged_split_types=SPLIT_TYPES,
    infer=_sequence_infer,
    kernel=_sequence_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
)


def _plain_layout(op, attrs, sparse, dense, list_sparse, list_dense, defaults, may_lack):
    """The layout of the ops that know no ragged features."""
    types = [value_type(op, default) for default in defaults]
    return _layout(
        op,
        (
            _pairs(op, "context_sparse", sparse, attrs["context_sparse_types"]),
            _pairs(op, "context_dense", dense, types, attrs["context_dense_shapes"]),
            (),
        ),
        _pairs(op, "feature_list_sparse", list_sparse, attrs["feature_list_sparse_types"]),
        _pairs(
            op, "feature_list_dense", list_dense, attrs["feature_list_dense_types"], attrs["feature_list_dense_shapes"]
        ),
        (),
        frozenset(may_lack),
    )


def _sequence_first_kernel(serialized, debug_name, context_dense_defaults, **attrs):
    op = "ParseSequenceExample"
    if serialized.ndim != 1:
        raise errors.invalid_argument(f"{op}: serialized must be a vector, got shape {serialized.shape}.")
    check_names(op, debug_name, serialized, "debug_name")
    keys = [
        [attribute_bytes(key) for key in attrs[name]]
        for name in (
            "context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys", "feature_list_dense_keys",
            "feature_list_dense_missing_assumed_empty",
        )
    ]  # fmt: skip
    layout = _plain_layout(op, attrs, *keys[:4], context_dense_defaults, keys[4])
    outputs = layout.parse(serialized, debug_name, context_dense_defaults)
    return *outputs[:4], *outputs[6:11]


def _sequence_first_infer(serialized, debug_name, context_dense_defaults, **attrs):
    batch = [serialized.shape[0] if serialized.shape.rank else None]
    lengths = [TensorShape(batch)] * len(attrs["feature_list_dense_types"])
    return *_context_shapes(1, batch, attrs), *_list_shapes(1, batch, attrs), lengths


_PLAIN_ATTRIBUTES = (
    "context_sparse_types: list(type) = [], feature_list_dense_types: list(type) = [], "
    "context_dense_shapes: list(shape) = [], feature_list_sparse_types: list(type) = [], "
    "feature_list_dense_shapes: list(shape) = [] -> "
)

PARSE_SEQUENCE_EXAMPLE_FIRST = Op(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: list(Tcontext_dense), *, "
    "feature_list_dense_missing_assumed_empty: list(string), context_sparse_keys: list(string), "
    "context_dense_keys: list(string), feature_list_sparse_keys: list(string), feature_list_dense_keys: list(string), "
    "Ncontext_sparse: int = 0, Ncontext_dense: int = 0, Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, "
    + _PLAIN_ATTRIBUTES
    + _CONTEXT_OUTPUTS
    + _LIST_OUTPUTS
    + ", feature_list_dense_lengths: Nfeature_list_dense*int64",
    **_TYPES,
    infer=_sequence_first_infer,
    kernel=_sequence_first_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
)


def _single_sequence_kernel(
    serialized, feature_list_dense_missing_assumed_empty, context_sparse_keys, context_dense_keys,
    feature_list_sparse_keys, feature_list_dense_keys, context_dense_defaults, debug_name, **attrs,
):  # fmt: skip
    op = "ParseSingleSequenceExample"
    if serialized.ndim:
        raise errors.invalid_argument(f"{op}: serialized must be a scalar, got shape {serialized.shape}.")
    keys = [
        [scalar_key(op, key) for key in group]
        for group in (context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys)
    ]
    may_lack = vector_of_keys(
        op, "feature_list_dense_missing_assumed_empty", feature_list_dense_missing_assumed_empty
    )
    layout = _plain_layout(op, attrs, *keys, context_dense_defaults, may_lack)
    outputs = layout.parse(serialized, debug_name, context_dense_defaults)
    return *outputs[:4], *outputs[6:10]


def _single_sequence_infer(*inputs, **attrs):
    return *_context_shapes(0, [], attrs), *_list_shapes(0, [], attrs)


PARSE_SINGLE_SEQUENCE_EXAMPLE = Op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, "
    "feature_list_sparse_keys: Nfeature_list_sparse*string, "
    "feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: list(Tcontext_dense), "
    "debug_name: string, *, " + _PLAIN_ATTRIBUTES + _CONTEXT_OUTPUTS + _LIST_OUTPUTS,
    **_TYPES,
    infer=_single_sequence_infer,
    kernel=_single_sequence_kernel,
    lower=None,  # strings exist on the host only
    grad=unregistered,
)


def _parsed(function, serialized, context_features, sequence_features, example_names, name):
    if not context_features and not sequence_features:
        raise ValueError(f"{function}: give context_features or sequence_features; there are none of both.")
    context_features, sequence_features = context_features or {}, sequence_features or {}
    serialized = to_tensor(serialized, dtypes.string)
    context = Request(function, context_features, CONTEXT_FEATURES)
    lists = Request(function, sequence_features, LIST_FEATURES, lists=True)
    outputs = PARSE_SEQUENCE_EXAMPLE(
        serialized,
        to_tensor([] if example_names is None else example_names, dtypes.string),
        keys_tensor(context.sparse),
        keys_tensor(context.dense),
        keys_tensor(context.ragged),
        keys_tensor(lists.sparse),
        keys_tensor(lists.dense),
        keys_tensor(lists.ragged),
        to_tensor([key in lists.may_lack for key in lists.dense], dtypes.bool),
        context.dense_defaults,
        Ncontext_sparse=len(context.sparse),
        context_sparse_types=context.sparse_types,
        context_ragged_value_types=context.ragged_types,
        context_ragged_split_types=context.split_types,
        context_dense_shapes=context.dense_shapes,
        Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense),
        feature_list_dense_types=lists.dense_types,
        feature_list_sparse_types=lists.sparse_types,
        feature_list_ragged_value_types=lists.ragged_types,
        feature_list_ragged_split_types=lists.split_types,
        feature_list_dense_shapes=lists.dense_shapes,
        name=name or "ParseSequenceExample/ParseSequenceExampleV2",
    )
    batched = serialized.shape.rank != 0
    return _assembled(context_features, sequence_features, context, lists, outputs, batched)


def _assembled(context_features, sequence_features, context, lists, outputs, batched):
    sparse = zip(outputs.context_sparse_indices, outputs.context_sparse_values, outputs.context_sparse_shapes)
    found = collect(
        context_features,
        {key: SparseTensor(*parts) for key, parts in zip(context.sparse, sparse)},
        dict(zip(context.dense, outputs.context_dense_values)),
        dict(zip(context.ragged, zip(outputs.context_ragged_values, outputs.context_ragged_row_splits))),
        batched,
    )
    sparse = zip(
        outputs.feature_list_sparse_indices, outputs.feature_list_sparse_values, outputs.feature_list_sparse_shapes
    )
    # The features of all lists, one behind the other, are a batch; the outer splits cut it into examples.
    ragged = dict(zip(lists.ragged, zip(outputs.feature_list_ragged_values, outputs.feature_list_ragged_inner_splits)))
    sequences = collect(
        sequence_features,
        {key: SparseTensor(*parts) for key, parts in zip(lists.sparse, sparse)},
        dict(zip(lists.dense, outputs.feature_list_dense_values)),
        ragged,
        True,
    )
    if batched:
        outer = dict(zip(lists.ragged, outputs.feature_list_ragged_outer_splits))
        for key, feature in sequence_features.items():
            if hasattr(feature, "partitions"):
                splits = outer[key if feature.value_key is None else feature.value_key]
                sequences[key] = RaggedTensor.from_row_splits(sequences[key], splits, validate=False)
    return found, sequences, dict(zip(lists.dense, outputs.feature_list_dense_lengths))


@api("io.parse_sequence_example")
def parse_sequence_example(
    serialized, context_features=None, sequence_features=None, example_names=None, name=None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parses encoded `SequenceExample` messages: features of the whole, and lists of features.

    Args:
        serialized: a vector of strings, each an encoded SequenceExample.
        context_features: a dictionary from keys to `FixedLenFeature`, `VarLenFeature` or `RaggedFeature`.
        sequence_features: a dictionary from keys to `FixedLenSequenceFeature`, `VarLenFeature` or `RaggedFeature`.
        example_names: names of the examples, for messages.
        name: a name for the operation.

    Returns:
        Three dictionaries: the context; the lists, with a dimension for the steps behind that for the examples; and the
        lengths of those lists that are dense and therefore filled up.

    Raises:
        ValueError: a feature is not described well.
        InvalidArgumentError: a string is no SequenceExample, or its features are not as described.
    """
    function = "io.parse_sequence_example"
    return _parsed(function, serialized, context_features, sequence_features, example_names, name)


@api("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses one encoded `SequenceExample`.

    Args:
        serialized: one string.
        context_features: a dictionary from keys to `FixedLenFeature`, `VarLenFeature` or `RaggedFeature`.
        sequence_features: a dictionary from keys to `FixedLenSequenceFeature`, `VarLenFeature` or `RaggedFeature`.
        example_name: the name of the example, for messages.
        name: a name for the operation.

    Returns:
        Two dictionaries: the context, and the lists, whose first dimension is that of the steps.
    """
    function = "io.parse_single_sequence_example"
    serialized = one_string(function, serialized)
    return _parsed(function, serialized, context_features, sequence_features, example_name, name)[:2]
