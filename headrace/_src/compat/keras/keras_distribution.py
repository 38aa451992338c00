"""What `keras.distribution` offers on this backend: names and meshes, but no spreading, which is `tf.distribute`'s.

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
