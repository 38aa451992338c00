"""`tf.distribute.coordinator.RemoteValue`: what a coordinator gives for a computation elsewhere."""

from typing import Any

from headrace._src.op.api import api


@api("distribute.coordinator.RemoteValue", "distribute.experimental.coordinator.RemoteValue", dispatch=False)
class RemoteValue:
    """The result of a computation that a worker may still be doing.

    Keras 2 asks whether something is one. Coordinators are not there yet, so that nothing is.
    """

    def fetch(self) -> Any:
        """Wait for the result, as arrays."""
        raise NotImplementedError(f"{type(self).__name__}.fetch")

    def get(self) -> Any:
        """Wait for the result, as tensors."""
        raise NotImplementedError(f"{type(self).__name__}.get")
