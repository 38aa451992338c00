"""`tf.__internal__.feature_column`: what layers of Keras 2 ask of feature columns, under TensorFlow's names."""

import collections
from typing import Any

from headrace._src.compat.features.columns import Column, DenseColumn, Features
from headrace._src.op.api import api, export

export("__internal__.feature_column.FeatureColumn")(Column)
export("__internal__.feature_column.DenseColumn")(DenseColumn)
export("__internal__.feature_column.FeatureTransformationCache")(Features)


@api("__internal__.feature_column.StateManager", dispatch=False)
class StateManager:
    """Holds the variables and tables of columns, for the layer that uses them.

    Args:
        layer: the layer, whose `add_weight` makes the variables.
        trainable: whether they are trained.
    """

    def __init__(self, layer, trainable):
        self._layer = layer
        self._trainable = trainable
        # TF: Keras 2's own class reads these by their names.
        self._cols_to_vars_map: Any = collections.defaultdict(dict)
        self._cols_to_resources_map: Any = collections.defaultdict(dict)

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ) -> Any:
        """Make a variable for a column.

        Raises:
            ValueError: the column has one of that name.
        """
        found = self._cols_to_vars_map[feature_column]
        if name in found:
            raise ValueError(f"Column {feature_column.name} has a variable {name!r} already.")
        # The layer calls it by both names, so that columns do not share one.
        found[name] = self._layer.add_weight(
            name=f"{feature_column.name}/{name}", shape=shape, dtype=dtype, initializer=initializer,
            trainable=bool(self._trainable and trainable),
        )  # fmt: skip
        return found[name]

    def get_variable(self, feature_column, name) -> Any:
        """The variable of a column.

        Raises:
            ValueError: there is none of that name.
        """
        return self._of(self._cols_to_vars_map, feature_column, name, "variable")

    def add_resource(self, feature_column, name, resource) -> None:
        """Keep a table of a column."""
        self._cols_to_resources_map[feature_column][name] = resource

    def has_resource(self, feature_column, name) -> bool:
        """Whether there is a table of a column."""
        return name in self._cols_to_resources_map.get(feature_column, {})

    def get_resource(self, feature_column, name) -> Any:
        """The table of a column.

        Raises:
            ValueError: there is none of that name.
        """
        return self._of(self._cols_to_resources_map, feature_column, name, "resource")

    def _of(self, kept, column, name, what):
        if name not in kept.get(column, {}):
            raise ValueError(f"Column {column.name} has no {what} {name!r}.")
        return kept[column][name]
