"""`tf.device`: asking for a device, by name, for what is computed in a block."""

import contextlib
from collections.abc import Iterator

from headrace._src.core import device_use, errors
from headrace._src.core.context import HOST, context
from headrace._src.core.devices import canonical_name, merged_name
from headrace._src.core.lazy import LazyModule
from headrace._src.op.api import api

_accelerators = LazyModule("headrace._src.core.accelerators")  # where there may be any


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
    if wanted is not None and wanted not in device_use.available:
        if not device_use.has_looked and "/device:CPU:" not in wanted and device_use.may_have_accelerators():
            _accelerators.logical()
    if wanted is not None and wanted not in device_use.available:
        if not wanted.startswith("/job:localhost/"):
            names = sorted(device_use.available)
            raise errors.invalid_argument(f"tf.device: {wanted} is not one of the devices {names}.")
        # TF: soft placement is the default; what a device cannot do, the host does. Else each op says so.
        if device_use.soft_placement:
            wanted = HOST
        else:
            device_use.accelerated.setdefault(wanted, None)
    # The host needs no mark, so that plain execution stays on its fast path; but for functions where accelerators are.
    with context.changed(device=None if wanted == HOST and device_use.default is None else wanted):
        yield
