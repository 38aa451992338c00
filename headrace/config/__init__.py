"""The public names of `tf.config`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.devices.configuration import LogicalDevice as LogicalDevice
    from headrace._src.devices.configuration import LogicalDeviceConfiguration as LogicalDeviceConfiguration
    from headrace._src.devices.configuration import PhysicalDevice as PhysicalDevice
    from headrace._src.devices.configuration import get_logical_device_configuration as get_logical_device_configuration
    from headrace._src.devices.configuration import get_soft_device_placement as get_soft_device_placement
    from headrace._src.devices.configuration import get_visible_devices as get_visible_devices
    from headrace._src.devices.configuration import list_logical_devices as list_logical_devices
    from headrace._src.devices.configuration import list_physical_devices as list_physical_devices
    from headrace._src.devices.configuration import set_logical_device_configuration as set_logical_device_configuration
    from headrace._src.devices.configuration import set_soft_device_placement as set_soft_device_placement
    from headrace._src.devices.configuration import set_visible_devices as set_visible_devices
    from headrace._src.distribute.other_machines import experimental_connect_to_cluster as experimental_connect_to_cluster
    from headrace._src.distribute.other_machines import experimental_connect_to_host as experimental_connect_to_host
    from headrace._src.tracing.function import functions_run_eagerly as _experimental_functions_run_eagerly
    from headrace._src.tracing.function import functions_run_eagerly as functions_run_eagerly
    from headrace._src.tracing.function import run_functions_eagerly as _experimental_run_functions_eagerly
    from headrace._src.tracing.function import run_functions_eagerly as run_functions_eagerly
    from headrace.config import experimental as experimental
    from headrace.config import optimizer as optimizer
    from headrace.config import threading as threading
    experimental_functions_run_eagerly = _experimental_functions_run_eagerly
    experimental_run_functions_eagerly = _experimental_run_functions_eagerly
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
