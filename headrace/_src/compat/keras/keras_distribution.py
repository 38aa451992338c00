"""What `keras.distribution` offers on this backend: names and meshes, but no spreading, which is `tf.distribute`'s.

And that Keras takes the datasets of `tf.distribute` for what they are.

TF: on TensorFlow's backend it is the same, silently. `replacements.py` says where in Keras these functions go.
"""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

_INSTEAD = (
    "Build the model within the scope of a tf.distribute.MirroredStrategy (devices of this machine) or a "
    "tf.distribute.MultiWorkerMirroredStrategy (several machines, started by `headrace launch`)."
)


def initialize(job_addresses=None, num_processes=None, process_id=None) -> NoReturn:
    """Refuse to connect processes.

    Raises:
        NotImplementedError: always; it says what does.
    """
    raise NotImplementedError(
        f"keras.distribution.initialize connects processes of Keras's JAX backend only. {_INSTEAD}"
    )


def distribute_tensor(tensor, layout) -> NoReturn:
    """Refuse to spread a tensor.

    Raises:
        NotImplementedError: always; it says what does.
    """
    raise NotImplementedError(
        f"keras.distribution.distribute_tensor spreads tensors of Keras's JAX backend only. {_INSTEAD}"
    )


def is_tf_dataset(original, x) -> bool:
    """Whether something is a dataset; distributed ones, which Keras knows by the names of their modules, are some."""
    return original(x) or any(
        parent.__name__ == "DistributedDataset" and parent.__module__.startswith("headrace.")
        for parent in type(x).__mro__
    )


def set_distribution(original, value) -> Any:
    """Set a distribution; one over several devices is told to have no effect."""
    devices = [] if value is None else value.device_mesh.devices.reshape(-1)
    if len(devices) > 1:
        warnings.warn(
            f"keras.distribution spreads a model over {len(devices)} devices on Keras's JAX backend only: here it "
            f"stays on one device, with the same result. {_INSTEAD}",
            stacklevel=3,
        )
    return original(value)
