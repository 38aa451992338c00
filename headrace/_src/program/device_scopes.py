"""`tf.device`: asking for a device, by name, for what is computed in a block."""

import contextlib
from collections.abc import Iterator

from headrace._src.core import errors
from headrace._src.core.context import HOST, context
from headrace._src.core.device_use import available
from headrace._src.core.devices import canonical_name, merged_name
from headrace._src.op.api import api


@api("device", dispatch=False)
def device(device_name) -> contextlib.AbstractContextManager[None]:
    """Within this block, ops are placed on that device; on the host when there is none of that name.

    Args:
        device_name: such as "/CPU:0", "CPU:0", a full name, a `tf.DeviceSpec`, or None for no wish.

    >>> with tf.device("/CPU:0"):
    ...     print(tf.constant(1).device)
    /job:localhost/replica:0/task:0/device:CPU:0

    Raises:
        ValueError: for a name that cannot be read.
        RuntimeError: when a function is given while executing eagerly.
    """
    if callable(device_name) and not hasattr(device_name, "to_string") and context.graph is None:
        raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
    return _placed(device_name)


@contextlib.contextmanager
def _placed(device_name) -> Iterator[None]:
    if device_name is None:
        wanted = None
    else:
        try:
            wanted = canonical_name(merged_name(context.device, device_name))
        except ValueError as error:
            raise ValueError(f"tf.device: cannot read the device name {device_name!r}: {error}") from None
    if wanted is not None and wanted not in available:
        if not wanted.startswith("/job:localhost/"):
            raise errors.invalid_argument(f"tf.device: {wanted} is not one of the devices {sorted(available)}.")
        # TF: soft placement is the default; what a device cannot do, the host does.
        wanted = HOST
    # The host needs no mark, so that plain execution stays on its fast path.
    with context.changed(device=None if wanted == HOST else wanted):
        yield
