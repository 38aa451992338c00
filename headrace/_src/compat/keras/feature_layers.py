"""`tf.keras.layers.DenseFeatures` and `tf.keras.experimental.SequenceFeatures`: layers over feature columns.

Keras 3 has them no more; `replacements.py` puts them there. The classes are made when first asked for, because they
derive from Keras's.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from headrace._src.core.lazy import LazyModule
from headrace._src.core.tracebacks import entrance

_columns = LazyModule("headrace._src.compat.features.columns")  # few programs have feature columns
_configs = LazyModule("headrace._src.compat.features.configs")
_using = LazyModule("headrace._src.compat.features.using")


def _keras():
    return importlib.import_module("keras")


class _Untracked:
    """Holds a dictionary of the user's, which is no part of a layer."""

    def __init__(self, dictionary):
        self.dictionary = dictionary


def _columns_layer():
    """What both layers share."""
    keras = _keras()

    class ColumnsLayer(keras.layers.Layer):
        """A layer over feature columns, with a variable for each that embeds categories."""

        def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
            kwargs.pop("partitioner", None)
            super().__init__(trainable=trainable, name=name, autocast=False, **kwargs)
            self._feature_columns = self._checked(feature_columns)
            self._tables = {}

        def _checked(self, feature_columns):
            raise NotImplementedError(f"{type(self).__name__} must define _checked.")

        @property
        def _is_feature_layer(self):
            return True

        def build(self, input_shape=None):
            """Make the variables of the columns."""
            for column in self._feature_columns:
                key = self._table_of(column)
                if key is not None and key not in self._tables:
                    self._tables[key] = self.add_weight(
                        shape=(column.categorical_column.num_buckets, column.dimension),
                        initializer=lambda shape, dtype=None, make=column.initializer: make(shape),
                        dtype="float32", trainable=bool(self.trainable and column.trainable),
                        name=f"{key}_embedding_weights",
                    )  # fmt: skip
            self.built = True

        @staticmethod
        def _table_of(column):
            """The name of the table of a column; None where it has none."""
            if isinstance(column, _columns.SharedEmbeddingColumn):
                return column.collection
            return column.name if isinstance(column, _columns.EmbeddingColumn) else None

        def _vectors(self, column):
            key = self._table_of(column)
            return None if key is None else self._tables[key].value

        def _features(self, features):
            if not isinstance(features, dict):
                raise ValueError(f"{type(self).__name__}: features must be a dictionary of tensors by their names, got "
                                 f"{type(features).__name__}.")
            return _columns.Features(features)

        def get_config(self):
            found = [_configs.config_of(column) for column in self._feature_columns]
            return {**super().get_config(), "feature_columns": found}

        @classmethod
        def from_config(cls, config):
            config = dict(config, feature_columns=[_configs.column_of(each) for each in config["feature_columns"]])
            config.pop("autocast", None)
            return cls(**config)

    return keras, ColumnsLayer


@functools.cache
def dense_features():
    """The class `tf.keras.layers.DenseFeatures`."""
    keras, base = _columns_layer()

    @keras.saving.register_keras_serializable(package="headrace")
    class DenseFeatures(base):
        """All dense columns side by side, of shape (batch, numbers), in the order of their names.

        Args:
            feature_columns: dense columns.
            trainable: whether embeddings are trained.
            name: the name of the layer.
        """

        def _checked(self, feature_columns):
            return _using.sorted_columns("DenseFeatures", feature_columns, _columns.DenseColumn)

        def __call__(self, features, cols_to_output_tensors=None, **kwargs):
            # Keras would hand a copy of the dictionary on.
            self._parts_asked_for = _Untracked(cols_to_output_tensors)
            try:
                return super().__call__(features, **kwargs)
            finally:
                self._parts_asked_for = _Untracked(None)

        def call(self, features, training=None):
            batch = self._features(features)
            parts = [_using.dense_of(column, batch, self._vectors(column)) for column in self._feature_columns]
            if self._parts_asked_for.dictionary is not None:
                self._parts_asked_for.dictionary.update(zip(self._feature_columns, parts))
            return keras.ops.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

        def compute_output_shape(self, input_shape):
            shapes = input_shape.values() if isinstance(input_shape, dict) else [input_shape]
            batch = next((shape[0] for shape in shapes), None)
            return (batch, sum(column.variable_shape.num_elements() for column in self._feature_columns))

    return DenseFeatures


@functools.cache
def sequence_features():
    """The class `tf.keras.experimental.SequenceFeatures`."""
    keras, base = _columns_layer()

    @keras.saving.register_keras_serializable(package="headrace")
    class SequenceFeatures(base):
        """All columns of sequences side by side, of shape (batch, steps, numbers), and how many steps examples have.

        Args:
            feature_columns: dense columns of sequences.
            trainable: whether embeddings are trained.
            name: the name of the layer.
        """

        def _checked(self, feature_columns):
            return _using.sorted_columns("SequenceFeatures", feature_columns, _columns.DenseColumn)

        def call(self, features, training=None):
            batch = self._features(features)
            parts, lengths = [], None
            for column in self._feature_columns:
                values, lengths = column.sequence(batch, self._vectors(column))
                shape = keras.ops.shape(values)
                parts.append(keras.ops.reshape(values, (shape[0], shape[1], column.variable_shape.num_elements())))
            return (keras.ops.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]), lengths

    return SequenceFeatures


def add_dense_features(module: ModuleType) -> None:
    """`tf.keras.layers.DenseFeatures`, made when first asked for."""
    after = vars(module).get("__getattr__")

    @entrance
    def found(name):
        if name == "DenseFeatures":
            return dense_features()
        if after is None:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)
        return after(name)

    module.__getattr__ = found  # type: ignore[method-assign]
