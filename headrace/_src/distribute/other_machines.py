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
        raise errors.NotFoundError(None, None, "TPUStrategy: no TPU devices were found on this machine.")


@api("distribute.MultiWorkerMirroredStrategy", "distribute.experimental.MultiWorkerMirroredStrategy", dispatch=False)
class MultiWorkerMirroredStrategy(Strategy):
    """Spreads training over machines; headrace cannot yet.

    Raises:
        UnimplementedError: always.
    """

    def __init__(self, cluster_resolver=None, communication_options=None, **kwargs) -> None:
        raise errors.UnimplementedError(
            None, None, "MultiWorkerMirroredStrategy: training on several machines is not implemented yet. "
            "tf.distribute.MirroredStrategy() uses all devices of this machine, with the same results.",
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
            "tf.distribute.MirroredStrategy() trains on all devices of this machine.",
        )  # fmt: skip
