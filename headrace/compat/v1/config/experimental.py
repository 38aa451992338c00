"""The public names of `tf.compat.v1.config.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.devices.configuration import LogicalDeviceConfiguration as _VirtualDeviceConfiguration
    from headrace._src.devices.configuration import disable_mlir_bridge as disable_mlir_bridge
    from headrace._src.devices.configuration import enable_mlir_bridge as enable_mlir_bridge
    from headrace._src.devices.configuration import enable_tensor_float_32_execution as enable_tensor_float_32_execution
    from headrace._src.devices.configuration import get_device_policy as get_device_policy
    from headrace._src.devices.configuration import get_logical_device_configuration as _get_virtual_device_configuration
    from headrace._src.devices.configuration import get_synchronous_execution as get_synchronous_execution
    from headrace._src.devices.configuration import get_visible_devices as get_visible_devices
    from headrace._src.devices.configuration import list_logical_devices as list_logical_devices
    from headrace._src.devices.configuration import list_physical_devices as list_physical_devices
    from headrace._src.devices.configuration import set_device_policy as set_device_policy
    from headrace._src.devices.configuration import set_logical_device_configuration as _set_virtual_device_configuration
    from headrace._src.devices.configuration import set_synchronous_execution as set_synchronous_execution
    from headrace._src.devices.configuration import set_visible_devices as set_visible_devices
    from headrace._src.devices.configuration import tensor_float_32_execution_enabled as tensor_float_32_execution_enabled
    from headrace._src.devices.memory import get_device_details as get_device_details
    from headrace._src.devices.memory import get_memory_growth as get_memory_growth
    from headrace._src.devices.memory import get_memory_info as get_memory_info
    from headrace._src.devices.memory import get_memory_usage as get_memory_usage
    from headrace._src.devices.memory import reset_memory_stats as reset_memory_stats
    from headrace._src.devices.memory import set_memory_growth as set_memory_growth
    VirtualDeviceConfiguration = _VirtualDeviceConfiguration
    get_virtual_device_configuration = _get_virtual_device_configuration
    set_virtual_device_configuration = _set_virtual_device_configuration
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
