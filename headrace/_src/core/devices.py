"""Device names: `DeviceSpec`, its text form, and the full names that tensors report."""

from __future__ import annotations

from typing import Any

# Device types that may stand for themselves, as in "/gpu:0"; others need the form "/device:TYPE:0".
_SHORT_TYPES = ("CPU", "GPU", "TPU", "CUSTOM")


def _as_int(value: Any) -> int | None:
    return None if value is None else int(value)


def _as_type(value: Any) -> Any:
    # TF: "cpu" and "gpu" are upper-cased, other types are taken as they are.
    return value.upper() if value in ("cpu", "gpu") else value


class DeviceSpec:
    """A device, or a partial description of one: any part may be None.

    Args:
        job: The name of the job.
        replica: The index of the replica.
        task: The index of the task.
        device_type: The type, such as "CPU" or "GPU".
        device_index: The index among the devices of that type.

    >>> spec = tf.DeviceSpec(job="worker", device_type="GPU", device_index=1)
    >>> spec.to_string()
    '/job:worker/device:GPU:1'
    >>> tf.DeviceSpec.from_string("/cpu:0").make_merged_spec(spec).to_string()
    '/job:worker/device:GPU:1'
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None) -> None:
        self._job = None if job is None else str(job)
        self._replica = _as_int(replica)
        self._task = _as_int(task)
        self._device_type = None if device_type is None else _as_type(str(device_type))
        self._device_index = _as_int(device_index)

    @property
    def job(self) -> str | None:
        """The name of the job, or None."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The index of the replica, or None."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The index of the task, or None."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """The type of device, or None."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The index among the devices of the type, or None for any."""
        return self._device_index

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """The spec that a text such as "/job:worker/task:1/device:GPU:0" or "/cpu:0" describes.

        Raises:
            ValueError: A part is not understood, or there are two devices.
        """
        return cls(**_parse(spec))

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """The same as `from_string`; nothing of this spec is kept."""
        return type(self)(**_parse(spec))

    def to_string(self) -> str:
        """The text form '/job:<name>/replica:<i>/task:<i>/device:<type>:<i>', without parts that are None.

        >>> tf.DeviceSpec(device_type="CPU").to_string()
        '/device:CPU:*'
        """
        text = ""
        if self._job is not None:
            text += f"/job:{self._job}"
        if self._replica is not None:
            text += f"/replica:{self._replica}"
        if self._task is not None:
            text += f"/task:{self._task}"
        if self._device_type is not None:
            text += f"/device:{self._device_type}:{'*' if self._device_index is None else self._device_index}"
        return text

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A spec with the parts of `dev`, and this one's parts where `dev` has none."""
        return type(self)(**_merged(self._parts(), dev))

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A copy with the given parts replaced.

        >>> tf.DeviceSpec(job="a", task=1).replace(task=2).to_string()
        '/job:a/task:2'
        """
        return type(self)(**{**self._parts(), **kwargs})

    def _parts(self) -> dict[str, Any]:
        return {
            "job": self._job,
            "replica": self._replica,
            "task": self._task,
            "device_type": self._device_type,
            "device_index": self._device_index,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value}" for name, value in self._parts().items())
        return f"<DeviceSpec({parts})>"

    def __reduce__(self):
        return (type(self), tuple(self._parts().values()))


class MutableDeviceSpec(DeviceSpec):
    """`tf.compat.v1.DeviceSpec`: the same, with parts that can be set and merged in place."""

    __slots__ = ()
    __hash__ = DeviceSpec.__hash__

    job = DeviceSpec.job.setter(
        lambda self, value: setattr(self, "_job", None if value is None else str(value))
    )
    replica = DeviceSpec.replica.setter(lambda self, value: setattr(self, "_replica", _as_int(value)))
    task = DeviceSpec.task.setter(lambda self, value: setattr(self, "_task", _as_int(value)))
    device_type = DeviceSpec.device_type.setter(
        lambda self, value: setattr(self, "_device_type", None if value is None else _as_type(str(value)))
    )
    device_index = DeviceSpec.device_index.setter(
        lambda self, value: setattr(self, "_device_index", _as_int(value))
    )

    def parse_from_string(self, spec: str | None) -> MutableDeviceSpec:
        """Sets all parts from a text; returns this spec."""
        self.__init__(**_parse(spec))  # type: ignore[misc]
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over the parts that `dev` has."""
        self.__init__(**_merged(self._parts(), dev))  # type: ignore[misc]


def _merged(parts: dict[str, Any], dev: DeviceSpec) -> dict[str, Any]:
    return {name: value if value is not None else parts[name] for name, value in dev._parts().items()}


def _parse(spec: str | None) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if spec is not None and not isinstance(spec, str):
        raise TypeError(f"DeviceSpec.from_string: spec must be a string, got {type(spec).__name__}.")
    for part in (spec or "").split("/"):
        words = part.split(":")
        key = words[0]
        if key in ("job", "replica", "task") and len(words) == 2:
            parts[key] = words[1]
        elif key == "device" and len(words) == 3:
            _add_device(parts, words[1], words[2], spec)
        elif key.upper() in _SHORT_TYPES and len(words) <= 2:
            _add_device(parts, key.upper(), words[1] if len(words) == 2 else "*", spec)
        elif part:
            raise ValueError(
                f"DeviceSpec.from_string: Unknown attribute {key!r} is encountered while parsing the device spec: "
                f"{spec!r}. "
                "Expected parts are /job:NAME, /replica:N, /task:N and /device:TYPE:N (or /cpu:N, /gpu:N)."
            )
    return parts


def _add_device(parts: dict[str, Any], device_type: str, index: str, spec: str | None) -> None:
    if "device_type" in parts:
        raise ValueError(
            f"DeviceSpec.from_string: Multiple device types are not allowed while parsing the device spec: {spec}."
        )
    parts["device_type"] = device_type
    parts["device_index"] = None if index == "*" else index


def canonical_name(device: str | DeviceSpec | None) -> str:
    """The full name of a device given in part, filled up with the local task and the first CPU.

    Raises:
        ValueError: The text is not understood.

    >>> from headrace._src.core.devices import canonical_name
    >>> canonical_name("gpu:1")
    '/job:localhost/replica:0/task:0/device:GPU:1'
    """
    spec = device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device)
    return DeviceSpec(
        job="localhost" if spec.job is None else spec.job,
        replica=spec.replica or 0,
        task=spec.task or 0,
        device_type=spec.device_type or "CPU",
        device_index=spec.device_index or 0,
    ).to_string()


def merged_name(outer: str | None, inner: str | DeviceSpec | None) -> str:
    """The full name that `tf.device(inner)` means inside `tf.device(outer)`; None or "" asks for nothing.

    Raises:
        ValueError: `inner` is no device name.
    """
    if inner is not None and not isinstance(inner, (str, DeviceSpec)):
        raise ValueError(f"Expecting a string device name. Got {type(inner)}({inner})")
    spec = inner if isinstance(inner, DeviceSpec) else DeviceSpec.from_string(inner)
    return canonical_name(DeviceSpec.from_string(outer).make_merged_spec(spec))


PUBLIC = {
    "DeviceSpec": DeviceSpec,
    "compat.v1.DeviceSpec": MutableDeviceSpec,
}
