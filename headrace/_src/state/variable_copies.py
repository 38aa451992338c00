"""The copies of a distributed variable: when they are brought together, and how their updates are combined."""

import enum

from headrace._src.op.api import api


@api("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@api("VariableAggregation")
class VariableAggregation(enum.Enum):
    """How updates from several replicas are combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self is other or getattr(other, "value", other) == self.value
