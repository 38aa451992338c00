"""`tf.tpu.experimental.embedding.TPUEmbedding` and its siblings where there is no TPU: variables, and looking up."""

from __future__ import annotations

import functools
import logging
from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import AutoTrackable
from headrace._src.distribute.embedding_settings import EmbeddingOptimizer
from headrace._src.op.api import api
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import ones_like
from headrace._src.ops.arrays.gathering import gather
from headrace._src.ops.arrays.joining import stack
from headrace._src.ops.arrays.measuring import shape as shape_of
from headrace._src.ops.arrays.scattering import scatter_nd
from headrace._src.ops.arrays.shaping import expand_dims, reshape
from headrace._src.ops.math.division import divide_no_nan
from headrace._src.ops.math.elementwise import sqrt
from headrace._src.ops.math.reductions import reduce_sum
from headrace._src.ops.nn.embedding import embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.joining import slice as sparse_slice
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.state.variables import Variable

_logger = logging.getLogger("tensorflow")


class _EmbeddingTables(AutoTrackable):
    """The tables of some features, as variables that are made when first needed."""

    def __init__(self, feature_config, optimizer=None) -> None:
        self._feature_config = feature_config
        self._tables: list[Any] = []
        for feature in nest.flatten(feature_config):
            if feature.table not in self._tables:
                self._tables.append(feature.table)
        names = []
        for number, table in enumerate(self._tables):
            table.optimizer = optimizer if table.optimizer is None else table.optimizer
            if table.optimizer is not None and not isinstance(table.optimizer, EmbeddingOptimizer):
                raise ValueError(
                    f"The optimizer of a table must be one of tf.tpu.experimental.embedding, such as SGD(0.1); got "
                    f"{type(table.optimizer).__name__}."
                )
            table.name = f"table_{number}" if table.name is None else table.name
            if table.name in names:
                raise ValueError(f"Two tables have the name {table.name!r}; names of tables must differ.")
            names.append(table.name)
        self._built = False
        self._variables: dict[str, dict[str, Variable]] = {}

    def build(self, per_replica_input_shapes=None, per_replica_batch_size=None) -> None:
        """Make the variables, unless that was done."""
        if not self._built:
            self._variables = self._no_dependency({table.name: self._made(table) for table in self._tables})
            self._built = True

    def _made(self, table):
        shape = (table.vocabulary_size, table.dim)

        def make(name, initializer, trainable=True):
            def getter(name, initializer, dtype, **kwargs):
                return Variable(functools.partial(initializer, shape, dtype=dtype), name=name, dtype=dtype,
                                trainable=trainable)  # fmt: skip

            return self._add_variable_with_custom_getter(
                name, shape=shape, dtype=table.dtype, initializer=initializer, getter=getter
            )

        parameters = make(table.name, table.initializer)
        slots = {}
        if table.optimizer is not None:
            slots = table.optimizer._create_slots(
                parameters, lambda name, initializer: make(f"{table.name}/{name}", initializer, False)
            )
        return {**slots, "parameters": parameters}

    @property
    def embedding_tables(self) -> dict[Any, Variable]:
        """The variables of the tables, by `TableConfig`."""
        self.build()
        return {table: self._variables[table.name]["parameters"] for table in self._tables}

    @property
    def variables(self) -> dict[str, dict[str, Variable]]:
        """All variables, by the name of the table and what they are."""
        self.build()
        return self._variables

    def embedding_lookup(self, features, weights=None) -> Any:
        """The rows of features, combined as their tables say: a structure like `features`."""
        return serving_embedding_lookup(features, weights, self.embedding_tables, self._feature_config)

    def __call__(self, features, weights=None) -> Any:
        return self.embedding_lookup(features, weights)


@api("tpu.experimental.embedding.TPUEmbeddingForServing", dispatch=False)
class TPUEmbeddingForServing(_EmbeddingTables):
    """Tables of embeddings, to be looked up in.

    Args:
        feature_config: a structure of `FeatureConfig`.
        optimizer: how tables are trained that do not say it themselves; None leaves out what that needs.
        experimental_sparsecore_restore_info: accepted.

    >>> from headrace.tpu.experimental import embedding
    >>> table = embedding.TableConfig(3, 2, initializer=lambda shape, dtype: tf.ones(shape, dtype))
    >>> tables = embedding.TPUEmbeddingForServing({"word": embedding.FeatureConfig(table)}, embedding.SGD(0.1))
    >>> tables({"word": tf.constant([0, 2])})["word"].shape
    TensorShape([2, 2])
    """

    def __init__(self, feature_config, optimizer, experimental_sparsecore_restore_info=None) -> None:
        super().__init__(feature_config, optimizer)


@api("tpu.experimental.embedding.TPUEmbeddingV0", dispatch=False)
class TPUEmbeddingV0(_EmbeddingTables):
    """The same, for TPUs that have no part for it."""

    def __init__(self, feature_config, optimizer) -> None:
        super().__init__(feature_config, optimizer)


@api("tpu.experimental.embedding.TPUEmbedding", dispatch=False)
class TPUEmbedding(_EmbeddingTables):
    """The same, for TPUs that have a part for it. There is no TPU here: what only that part does is refused.

    Args:
        feature_config: a structure of `FeatureConfig`.
        optimizer: how tables are trained that do not say it themselves.
        pipeline_execution_with_tensor_core: accepted.
    """

    def __init__(self, feature_config, optimizer, pipeline_execution_with_tensor_core=False) -> None:
        super().__init__(feature_config, optimizer)

    def enqueue(self, features, weights=None, training=True, name=None, device=None) -> None:
        """Give features to the TPU.

        Raises:
            RuntimeError: always: there is none.
        """
        raise _needs_tpu("enqueue")

    def dequeue(self, name=None) -> Any:
        """The rows that the TPU has looked up.

        Raises:
            RuntimeError: always: there is none.
        """
        raise _needs_tpu("dequeue")

    def apply_gradients(self, gradients, name=None) -> None:
        """Train the tables on the TPU.

        Raises:
            RuntimeError: always: there is none.
        """
        raise _needs_tpu("apply_gradients")


def _needs_tpu(method):
    return RuntimeError(
        f"TPUEmbedding.{method} needs a TPU, and none is here. Look up with embedding_lookup, and train the variables "
        "of embedding_tables as others."
    )


@api("tpu.experimental.embedding.serving_embedding_lookup", dispatch=False)
def serving_embedding_lookup(inputs, weights, tables, feature_config) -> Any:
    """The rows of features in tables, combined as the tables say.

    Args:
        inputs: a structure of dense, sparse and ragged tensors of ids.
        weights: None, or a structure like `inputs` of weights and None.
        tables: variables by `TableConfig`.
        feature_config: a structure of `FeatureConfig`, with all that is in `inputs`.

    Returns:
        A structure of tensors like `inputs`.

    Raises:
        ValueError: an input is not in `feature_config`, or does not go with its weights or its configuration.
    """
    flat = nest.flatten_with_tuple_paths(inputs)
    flat_weights = [None] * len(flat)
    if weights is not None:
        nest.assert_same_structure(inputs, weights)
        flat_weights = nest.flatten(weights)
    features = dict(nest.flatten_with_tuple_paths(feature_config))
    unknown = [path for path, _ in flat if path not in features]
    if unknown:
        raise ValueError(f"Inputs that are not in feature_config: {['/'.join(map(str, path)) for path in unknown]}.")
    found = []
    for (path, ids), weight in zip(flat, flat_weights):
        feature = features[path]
        _check("/".join(map(str, path)), ids, weight, feature)
        table = tables[feature.table]
        if isinstance(ids, SparseTensor):
            found.append(_of_sparse(ids, weight, table, feature))
        elif isinstance(ids, RaggedTensor):
            found.append(_of_ragged(ids, weight, table, feature))
        else:
            found.append(embedding_lookup(table, ids))
    return nest.pack_sequence_as(inputs, found)


def _check(name, ids, weight, feature):
    if not isinstance(ids, (Tensor, SparseTensor, RaggedTensor)):
        raise ValueError(f"The input {name!r} must be a dense, sparse or ragged tensor, got {type(ids).__name__}.")
    dense = isinstance(ids, Tensor)
    if dense and feature.max_sequence_length > 0:
        raise ValueError(f"The feature {name!r} is a sequence, but its input is dense.")
    if weight is None:
        return
    if dense:
        raise ValueError(f"The input {name!r} is dense, but it has weights.")
    if type(weight) is not type(ids):
        raise ValueError(f"The input {name!r} is a {type(ids).__name__}, but its weights are {type(weight).__name__}.")
    if feature.max_sequence_length > 0:
        raise ValueError(f"The feature {name!r} is a sequence, but it has weights.")


def _has_shape(feature):
    return bool(feature.output_shape)


def _of_sparse(ids, weight, table, feature):
    rank, length = ids.shape.rank, feature.max_sequence_length
    if not _has_shape(feature) and length > 0 and rank in (None, 2):
        size = cast(shape_of(ids)[0] if rank is None else ids.dense_shape[0], dtypes.int64)
        kept = sparse_slice(ids, [0, 0], stack([size, length]))  # longer sequences end there
        rows = gather(table.read_value(), kept.values)
        return scatter_nd(kept.indices, rows, stack([size, length, feature.table.dim]))
    if length > 0:
        _logger.warning("max_sequence_length is not used: the rank of the input is %s, not 2.", rank)
    if not feature.validate_weights_and_indices and rank is not None and rank <= 2:
        return embedding_lookup_sparse(table, ids, weight, combiner=feature.table.combiner)
    return safe_embedding_lookup_sparse(table, ids, weight, combiner=feature.table.combiner)


def _of_ragged(ids, weight, table, feature):
    if ids.shape.rank != 2:
        raise ValueError(f"Ragged inputs must have rank 2, got {ids.shape.rank}.")
    size, dim, length = ids.shape[0], feature.table.dim, feature.max_sequence_length
    if not _has_shape(feature):
        if length > 0:
            return embedding_lookup(table, ids).to_tensor(shape=[size, length, dim])
        return _combined(table, ids, weight, feature.table.combiner)
    shape = feature.output_shape
    count = shape.num_elements()
    if count == size:
        return reshape(_combined(table, ids, weight, feature.table.combiner), [*shape, dim])
    if size is None or count < size or count % size:
        raise ValueError(f"output_shape {shape} has {count} elements, which is no multiple of the batch size {size}.")
    return reshape(embedding_lookup(table, ids).to_tensor(shape=[size, count // size, dim]), [*shape, dim])


def _combined(table, ids, weight, combiner):
    weight = ones_like(ids, dtype=table.dtype) if weight is None else weight
    weight = expand_dims(weight, 2)
    rows = reduce_sum(embedding_lookup(table, ids) * weight, 1)
    if combiner == "mean":
        return divide_no_nan(rows, reduce_sum(weight, 1))
    return rows if combiner == "sum" else divide_no_nan(rows, sqrt(reduce_sum(weight * weight, 1)))
