"""Where of a strategy a piece of code runs: once for all replicas, on one of them, or updating one copy of a variable.

The place is a part of `context.mode`, so it holds for a thread and goes wherever graphs, tapes and devices go.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from headrace._src.core.context import context

if TYPE_CHECKING:
    from headrace._src.distribute.contexts import ReplicaContext


@dataclasses.dataclass(frozen=True, eq=False)
class Place:
    """Where code runs.

    Args:
        strategy: whose scope this is.
        replica: the context of the replica that runs it; None for code that runs once for all.
        index: the number of the copy of variables that is meant: the replica's, or that which is being updated.
        is_every: whether the code is traced once and stands for each replica: the first copy of a variable then stands
            for the one that the replica has.
    """

    strategy: Any
    replica: ReplicaContext | None = None
    index: int | None = None
    is_every: bool = False

    @property
    def trace_key(self) -> tuple:
        """What functions are traced anew for, as their graphs refer to other copies of variables."""
        return self.strategy, self.replica is not None, self.index, self.is_every


def place_here() -> Place | None:
    """Where this code runs; None where no strategy is in force."""
    return context.place


def index_here(strategy) -> int | None:
    """The number of the copy that code here means of variables of a strategy; None if it means all of them."""
    place = context.place
    return None if place is None or place.strategy is not strategy else place.index


def stands_for_each() -> bool:
    """Whether this code is traced once for all replicas."""
    place = context.place
    return place is not None and place.is_every


def require_cross_replica(strategy) -> None:
    """Raises RuntimeError where a strategy's methods cannot be called: on a replica, or in another one's scope."""
    place = context.place
    if place is None:
        return
    if place.strategy is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {place.strategy!r} is not {strategy!r}. Leave the "
            "scope of the one before entering that of the other."
        )
    if place.replica is not None:
        raise RuntimeError(
            f"This is for code in a cross-replica context, and it runs on replica {place.index}. Within a replica, "
            "tf.distribute.get_replica_context().merge_call() reaches one."
        )
