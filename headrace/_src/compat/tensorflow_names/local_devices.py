"""`tensorflow.python.client.device_lib`: the devices of this machine, as old programs list them."""

from typing import Any, NamedTuple

from headrace._src.devices.configuration import list_logical_devices


class _Locality(NamedTuple):
    bus_id: int = 0
    numa_node: int = 0


class LocalDevice(NamedTuple):
    """One device; the fields are those of TensorFlow's message `DeviceAttributes`."""

    name: str
    device_type: str
    memory_limit: int
    locality: _Locality
    incarnation: int
    physical_device_desc: str
    xla_global_id: int

    def __str__(self):
        described = f'physical_device_desc: "{self.physical_device_desc}"\n' if self.physical_device_desc else ""
        return (
            f'name: "{self.name}"\ndevice_type: "{self.device_type}"\nmemory_limit: {self.memory_limit}\n'
            f"locality {{\n}}\nincarnation: {self.incarnation}\n{described}xla_global_id: {self.xla_global_id}\n"
        )

    __repr__ = __str__


def list_local_devices(session_config: Any = None) -> list[LocalDevice]:
    """The devices of this process.

    >>> from headrace._src.compat.tensorflow_names.local_devices import list_local_devices
    >>> [(device.name, device.device_type) for device in list_local_devices()][0]
    ('/device:CPU:0', 'CPU')
    """
    return [
        LocalDevice(device.name, device.device_type, 256 << 20, _Locality(), abs(hash(device.name)), "", -1)
        for device in list_logical_devices()
    ]
