"""`tf.__internal__.feature_column`: the classes that feature columns and the layers that use them are made of."""

import abc
from typing import Any

from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor


@api("__internal__.feature_column.StateManager", dispatch=False)
class StateManager:
    """Holds the variables of feature columns, for the layer that uses them."""

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ) -> Any:
        """Make a variable for a column."""
        raise NotImplementedError("StateManager.create_variable")

    def get_variable(self, feature_column, name) -> Any:
        """The variable of a column."""
        raise NotImplementedError("StateManager.get_variable")

    def add_resource(self, feature_column, name, resource) -> None:
        """Keep a table of a column."""
        raise NotImplementedError("StateManager.add_resource")

    def has_resource(self, feature_column, name) -> bool:
        """Whether there is a table of a column."""
        raise NotImplementedError("StateManager.has_resource")

    def get_resource(self, feature_column, name) -> Any:
        """The table of a column."""
        raise NotImplementedError("StateManager.get_resource")


@api("__internal__.feature_column.FeatureTransformationCache", dispatch=False)
class FeatureTransformationCache:
    """Features, and what columns have made of them so far.

    Args:
        features: values by name.
    """

    def __init__(self, features):
        self._features = features.copy()
        self._made: dict[Any, Any] = {}

    def get(self, key, state_manager, training=None) -> Any:
        """A feature by its name, with at least one more dimension than the batch; or what a column makes of them.

        Raises:
            ValueError: there is no such feature.
            TypeError: the key is neither a name nor a column.
        """
        if key in self._made:
            return self._made[key]
        if isinstance(key, str):
            if key not in self._features:
                raise ValueError(f"There is no feature {key!r}: there are {sorted(self._features)}.")
            value = self._features[key]
            value = value if hasattr(value, "_type_spec") else to_tensor(value)
            made = value[..., None] if value.shape.rank == 1 and not hasattr(value, "values") else value
        elif isinstance(key, FeatureColumn):
            made = key.transform_feature(self, state_manager)
        else:
            raise TypeError(f"key must be the name of a feature or a column, got {key!r}.")
        self._made[key] = made
        return made


@api("__internal__.feature_column.FeatureColumn", dispatch=False)
class FeatureColumn(abc.ABC):
    """What turns features as they are read into tensors for a model."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Its name."""

    @abc.abstractmethod
    def transform_feature(self, transformation_cache, state_manager) -> Any:
        """What it makes of the features."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` is to read for it."""

    def create_state(self, state_manager) -> None:  # noqa: B027, most columns need none
        """Make the variables that it needs."""

    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)


@api("__internal__.feature_column.DenseColumn", dispatch=False)
class DenseColumn(FeatureColumn):
    """A column that gives numbers."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> Any:
        """The shape of what it gives, without the batch."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache, state_manager) -> Any:
        """What it gives."""


@api("__internal__.feature_column.SequenceDenseColumn", dispatch=False)
class SequenceDenseColumn(FeatureColumn):
    """A column that gives numbers for each step of a sequence."""

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache, state_manager) -> Any:
        """What it gives, and the lengths of the sequences."""
