"""The classes of `tf.experimental.dtensor` that Keras 2 compares with: headrace makes no tensors of that kind."""

from typing import Any


class _NotThere:
    """Tensors spread over a mesh of devices are not there; strategies of `tf.distribute` spread batches."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            f"tf.experimental.dtensor.{type(self).__name__} is not in headrace. tf.distribute.MirroredStrategy spreads "
            "batches over devices."
        )


class DTensorDataset(_NotThere):
    """A dataset whose elements are spread over a mesh."""


class DVariable(_NotThere):
    """A variable that is spread over a mesh."""


class Layout(_NotThere):
    """How a tensor is spread over a mesh."""


class Mesh(_NotThere):
    """Devices in a grid."""
