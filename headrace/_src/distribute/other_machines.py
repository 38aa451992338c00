"""Strategies that need other machines or TPUs, which headrace cannot use yet: each says so when it is made."""

from __future__ import annotations

from headrace._src.core import errors
from headrace._src.distribute.strategies import Strategy
from headrace._src.op.api import api


@api("distribute.TPUStrategy", "distribute.experimental.TPUStrategy", dispatch=False)
class TPUStrategy(Strategy):
    """Spreads training over the cores of TPUs, of which this machine has none.

    Raises:
        NotFoundError: always.
    """

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None, **kwargs) -> None:
        raise errors.NotFoundError(
            None, None, "TPUStrategy: no TPU devices were found on this machine. tf.distribute.MirroredStrategy() uses "
            "the devices that there are, and tf.distribute.MultiWorkerMirroredStrategy() those of several machines.",
        )  # fmt: skip


@api("distribute.ParameterServerStrategy", "distribute.experimental.ParameterServerStrategy", dispatch=False)
class ParameterServerStrategy(Strategy):
    """Keeps variables on other machines; headrace does not.

    Raises:
        UnimplementedError: always.
    """

    def __init__(self, cluster_resolver=None, variable_partitioner=None) -> None:
        raise errors.UnimplementedError(
            None, None, "ParameterServerStrategy: parameter servers are not implemented. "
            "tf.distribute.MultiWorkerMirroredStrategy() trains on several machines, with a copy of all variables on "
            "each, and tf.distribute.MirroredStrategy() on all devices of this one.",
        )  # fmt: skip
