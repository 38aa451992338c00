"""`input_layer` and `linear_model`: columns and features become one tensor, with variables of `get_variable`."""

from typing import Any

from headrace._src.compat.features.columns import (
    CategoricalColumn,
    Column,
    DenseColumn,
    EmbeddingColumn,
    Features,
    SharedEmbeddingColumn,
)
from headrace._src.compat.features.sequences import SequenceCategoricalColumn
from headrace._src.compat.graph_keys import GraphKeys, add_to_collections
from headrace._src.compat.saving.initial_checkpoints import init_from_checkpoint
from headrace._src.compat.variables.initializers import Zeros
from headrace._src.compat.variables.scopes import AUTO_REUSE, get_variable, variable_scope
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import joining, measuring, shaping
from headrace._src.ops.linalg import matmul
from headrace._src.ops.math import arithmetic
from headrace._src.ops.nn import bias as nn_bias
from headrace._src.ops.nn import embedding as nn_embedding


def sorted_columns(label: str, feature_columns, kind: type = Column) -> list:
    """The columns in the order of their names.

    Raises:
        ValueError: there are none, one is of another kind, or two have the same name.
    """
    if isinstance(feature_columns, dict):
        raise ValueError(f"{label}: feature_columns must be a list of columns, got a dictionary.")
    listed = [feature_columns] if isinstance(feature_columns, Column) else list(feature_columns)
    if not listed:
        raise ValueError(f"{label}: feature_columns must not be empty.")
    names: set = set()
    for column in listed:
        if not isinstance(column, kind):
            advice = (" Wrap it with tf.feature_column.indicator_column or embedding_column."
                      if isinstance(column, CategoricalColumn) else "")
            raise ValueError(f"{label}: items of feature_columns must be dense columns, got {column!r}.{advice}")
        if column.name in names:
            raise ValueError(f"{label}: two columns are called {column.name!r}.")
        names.add(column.name)
    return sorted(listed, key=lambda column: column.name)


def dense_of(column, features: Features, table) -> Tensor:
    """What a dense column gives, with one row for each example.

    Args:
        column: the column.
        features: the features of the batch.
        table: for an embedding the variable with its vectors.
    """
    if isinstance(getattr(column, "categorical_column", None), SequenceCategoricalColumn):
        raise ValueError(f"Column {column.name} is of sequences, and needs a layer for them: "
                         "tf.keras.experimental.SequenceFeatures.")
    value = column.dense(features) if table is None else column.looked_up(features, table)
    return shaping.reshape(value, [measuring.shape(value)[0], column.variable_shape.num_elements()])


def _added(variable, column, collections, cols_to_vars):
    if collections:
        add_to_collections([name for name in collections if name != GraphKeys.GLOBAL_VARIABLES], variable)
    if cols_to_vars is not None:
        cols_to_vars.setdefault(column, []).append(variable)
    return variable


def _embedding_table(column, trainable):
    shape = [column.categorical_column.num_buckets, column.dimension]
    table = get_variable("embedding_weights", shape, dtypes.float32, column.initializer,
                         trainable=bool(trainable and column.trainable))
    if column.ckpt_to_load_from is not None:
        init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: table})
    return table


@api("compat.v1.feature_column.input_layer", dispatch=False)
def input_layer(
    features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None, cols_to_output_tensors=None
) -> Tensor:
    """All dense columns side by side, of shape (batch, numbers), in the order of their names.

    Args:
        features: tensors by the names of features.
        feature_columns: dense columns.
        weight_collections: collections that variables are added to.
        trainable: whether variables are trained.
        cols_to_vars, cols_to_output_tensors: dictionaries that get the variables and the tensor of each column.

    Raises:
        ValueError: a column is not dense, a name is there twice, or a feature is missing.

    >>> age = tf.feature_column.numeric_column("age")
    >>> tf.compat.v1.feature_column.input_layer({"age": [[1.0], [2.0]]}, [age]).numpy().tolist()
    [[1.0], [2.0]]
    """
    listed = sorted_columns("input_layer", feature_columns, DenseColumn)
    batch, parts = Features(features), []
    with variable_scope(None, default_name="input_layer"):
        for column in listed:
            table: Any = None
            if cols_to_vars is not None:
                cols_to_vars.setdefault(column, [])
            if isinstance(column, SharedEmbeddingColumn):
                reuse = None if context.graph is None else AUTO_REUSE
                with variable_scope(column.collection, reuse=reuse, auxiliary_name_scope=False):
                    table = _added(_embedding_table(column, trainable), column, weight_collections, cols_to_vars)
            elif isinstance(column, EmbeddingColumn):
                with variable_scope(None, default_name=column.name):
                    table = _added(_embedding_table(column, trainable), column, weight_collections, cols_to_vars)
            value = dense_of(column, batch, table)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = value
            parts.append(value)
        return joining.concat(parts, 1) if len(parts) > 1 else parts[0]


@api("compat.v1.feature_column.linear_model", dispatch=False)
def linear_model(
    features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
    cols_to_vars=None,
) -> Tensor:  # fmt: skip
    """The sum of all columns, each with weights, and a bias; of shape (batch, units).

    Args:
        features: tensors by the names of features.
        feature_columns: columns; categorical ones may be given as they are.
        units: how many sums.
        sparse_combiner: how the weights of an example's categories become one: "sum", "mean" or "sqrtn".
        weight_collections: collections that variables are added to.
        trainable: whether variables are trained.
        cols_to_vars: a dictionary that gets the variables of each column, and under "bias" the bias.

    Raises:
        ValueError: a name is there twice, or a feature is missing.
    """
    listed = sorted_columns("linear_model", feature_columns)
    batch, parts = Features(features), []
    with variable_scope(None, default_name="linear_model"):
        for column in listed:
            with variable_scope(None, default_name=column.name):
                if isinstance(column, CategoricalColumn):
                    weights = get_variable("weights", [column.num_buckets, units], dtypes.float32, Zeros(),
                                           trainable=trainable)
                    ids, values = column.ids(batch)
                    parts.append(nn_embedding.safe_embedding_lookup_sparse(weights, ids, values, sparse_combiner))
                else:
                    weights = get_variable("weights", [column.variable_shape.num_elements(), units], dtypes.float32,
                                           Zeros(), trainable=trainable)
                    embeds = isinstance(column, (EmbeddingColumn, SharedEmbeddingColumn))
                    table = _embedding_table(column, trainable) if embeds else None
                    parts.append(matmul.matmul(dense_of(column, batch, table), weights))
                    if table is not None:
                        _added(table, column, weight_collections, cols_to_vars)
                _added(weights, column, weight_collections, cols_to_vars)
        total = arithmetic.add_n(parts) if len(parts) > 1 else parts[0]
        bias = get_variable("bias_weights", [units], dtypes.float32, Zeros(), trainable=trainable)
        _added(bias, "bias", weight_collections, cols_to_vars)
        return nn_bias.bias_add(total, bias)
