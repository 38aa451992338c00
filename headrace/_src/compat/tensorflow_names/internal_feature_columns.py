"""`tf.__internal__.feature_column`: what layers of Keras 2 ask of feature columns, under TensorFlow's names."""

from typing import Any

from headrace._src.compat.features.columns import Column, DenseColumn, Features
from headrace._src.op.api import api, export

export("__internal__.feature_column.FeatureColumn")(Column)
export("__internal__.feature_column.DenseColumn")(DenseColumn)
export("__internal__.feature_column.FeatureTransformationCache")(Features)


@api("__internal__.feature_column.StateManager", dispatch=False)
class StateManager:
    """Holds the variables and tables of columns, for the layer that uses them: the layer's class says how."""

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ) -> Any:
        """Make a variable for a column."""
        raise self._undefined("create_variable")

    def get_variable(self, feature_column, name) -> Any:
        """The variable of a column."""
        raise self._undefined("get_variable")

    def add_resource(self, feature_column, name, resource) -> None:
        """Keep a table of a column."""
        raise self._undefined("add_resource")

    def has_resource(self, feature_column, name) -> bool:
        """Whether there is a table of a column."""
        raise self._undefined("has_resource")

    def get_resource(self, feature_column, name) -> Any:
        """The table of a column."""
        raise self._undefined("get_resource")

    def _undefined(self, method):
        return NotImplementedError(f"{type(self).__name__} must define {method}, as every StateManager.")
