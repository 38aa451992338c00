"""Where accelerators come from: CUDA's driver, jax and the environment, each with a stand-in."""

import ctypes
import types

import numpy as np
import pytest

from headrace._src.core import accelerator_sources, cuda_driver, device_use
from headrace._src.core.accelerator_sources import JaxSource, MemorySettings, Physical


class Driver:
    """CUDA's driver with two GPUs; `broken` names a function that fails."""

    def __init__(self, broken=""):
        self._broken = broken

    def __getattr__(self, name):
        return (lambda *arguments: 999) if name == self._broken else getattr(self, f"_{name}")

    def _cuInit(self, flags):
        return 0

    def _cuDeviceGetCount(self, count):
        count._obj.value = 2
        return 0

    def _cuDeviceGet(self, device, number):
        device._obj.value = number + 10
        return 0

    def _cuDeviceGetName(self, buffer, size, device):
        buffer.value = f"card {device.value}".encode()
        return 0

    def _cuDeviceTotalMem_v2(self, size, device):
        assert isinstance(size._obj, ctypes.c_size_t)
        size._obj.value = 1 << 34
        return 0

    def _cuDeviceGetAttribute(self, value, which, device):
        value._obj.value = {75: 8, 76: 6}[which]
        return 0


def test_the_driver_of_cuda():
    assert cuda_driver.devices(Driver()) == [("card 10", (8, 6), 1 << 34), ("card 11", (8, 6), 1 << 34)]
    assert cuda_driver.devices(Driver("cuInit")) == []
    assert cuda_driver.devices(Driver("cuDeviceGetCount")) == []
    assert cuda_driver.devices(Driver("cuDeviceTotalMem_v2")) == []


@pytest.fixture
def jax(monkeypatch):
    """A jax that has not started, with two GPUs, which notes what it is told."""
    found = [
        types.SimpleNamespace(
            platform="gpu", device_kind=f"card {i}", compute_capability="8.6", memory_stats=lambda: {"bytes_limit": 7}
        )
        for i in (10, 11)
    ]
    state = types.SimpleNamespace(told={}, started=False, found=found)

    def local_devices():
        state.started = True
        return state.found

    jax = types.SimpleNamespace(
        config=types.SimpleNamespace(update=state.told.__setitem__), local_devices=local_devices
    )
    monkeypatch.setattr(accelerator_sources, "jax", jax)
    bridge = types.SimpleNamespace(backends_are_initialized=lambda: state.started)
    monkeypatch.setattr(accelerator_sources, "xla_bridge", bridge)
    monkeypatch.setattr(accelerator_sources.cuda_driver, "devices", lambda: cuda_devices)
    cuda_devices = [cuda_driver.CudaDevice(f"card {i}", (8, 6), 1 << 34) for i in (10, 11)]
    for name in ("JAX_PLATFORMS", "JAX_PLATFORM_NAME", "CUDA_VISIBLE_DEVICES", "XLA_PYTHON_CLIENT_PREALLOCATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(accelerator_sources.os, "environ", dict(accelerator_sources.os.environ))
    return state


def test_listing_does_not_start_jax(jax):
    listed = JaxSource().listed()
    assert not jax.started
    assert [(x.kind, x.number, x.details, x.memory) for x in listed] == [
        ("GPU", i, {"compute_capability": (8, 6), "device_name": f"card {10 + i}"}, 1 << 34) for i in range(2)
    ]


def test_opening_starts_it_with_what_was_asked_for(jax):
    source = JaxSource()
    listed = source.listed()
    jax.found = jax.found[1:]
    source.open(listed[1:], {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    assert jax.told == {"jax_cuda_visible_devices": "1"}
    assert accelerator_sources.os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert listed[1].device is jax.found[0]


def test_a_jax_that_was_used_before(jax, caplog):
    source = JaxSource()
    listed = source.listed()
    jax.started = True
    with caplog.at_level("WARNING", logger="headrace"):
        source.open(listed[1:], {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    assert "XLA_PYTHON_CLIENT_PREALLOCATE" in caplog.text
    assert listed[1].device is jax.found[1]


def test_a_jax_without_the_devices_of_the_driver(jax):
    source = JaxSource()
    listed = source.listed()
    jax.found = []
    with pytest.raises(RuntimeError, match=r"GPU:0 \(card 10\)"):
        source.open(listed, {})


def test_without_a_driver_jax_is_asked(jax, monkeypatch):
    monkeypatch.setattr(accelerator_sources.cuda_driver, "devices", list)
    for device in jax.found:
        device.platform, device.compute_capability = "tpu", None
    assert [(x.kind, x.number, x.details) for x in JaxSource().listed()] == [
        ("TPU", i, {"device_name": f"card {10 + i}"}) for i in range(2)
    ]

    def broken():
        raise RuntimeError("no such platform")

    monkeypatch.setattr(accelerator_sources.jax, "local_devices", broken)
    assert JaxSource().listed() == []


@pytest.mark.parametrize(
    ("variables", "packages", "words"),
    [
        ({}, (), "plugin"),
        ({"JAX_PLATFORMS": "cpu"}, ("jax_plugins", "libtpu"), "JAX_PLATFORMS"),
        ({"JAX_PLATFORMS": "cuda,cpu"}, (), ""),
        ({}, ("jax_plugins",), ""),
        ({}, ("libtpu",), ""),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, ("jax_plugins",), "CUDA_VISIBLE_DEVICES"),
        ({"CUDA_VISIBLE_DEVICES": ""}, ("jax_plugins",), "CUDA_VISIBLE_DEVICES"),
        ({"CUDA_VISIBLE_DEVICES": ""}, ("jax_plugins", "libtpu"), ""),
        ({"CUDA_VISIBLE_DEVICES": "0"}, ("jax_plugins",), ""),
    ],
)
def test_why_there_can_be_none(monkeypatch, variables, packages, words):
    for name in ("JAX_PLATFORMS", "JAX_PLATFORM_NAME", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    machinery = types.SimpleNamespace(find_spec=lambda name: name if name in packages else None)
    monkeypatch.setattr(device_use, "_import_machinery", machinery)
    reason = device_use.reason_for_none()
    assert words in reason
    assert bool(words) == bool(reason)


def test_settings_of_memory(monkeypatch):
    for name in ("TF_FORCE_GPU_ALLOW_GROWTH", "XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_PYTHON_CLIENT_MEM_FRACTION"):
        monkeypatch.delenv(name, raising=False)
    gpus = [Physical("GPU", i, {}) for i in range(2)]
    settings = MemorySettings()
    assert settings.environment(gpus, limited=False) == {}
    assert settings.environment(gpus, limited=True) == {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    settings.fraction = 0.25
    assert settings.environment(gpus, limited=False) == {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.25"}
    settings.growth = {0: True}
    with pytest.raises(ValueError, match="differ"):
        settings.environment(gpus, limited=False)
    settings.growth[1] = True
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "false")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.5")  # jax's own variables have the last word
    assert settings.environment(gpus, limited=False) == {}


def test_a_device_puts_gets_and_copies():
    device = Physical("GPU", 0, {"device_name": "card"})
    device.device = accelerator_sources.jax.local_devices(backend="cpu")[0]
    raw = device.put(np.arange(3, dtype=np.int64))
    assert device.get(raw).tolist() == [0, 1, 2]
    assert device.get(device.copied(raw)).dtype == np.int64
    assert device.get(device.moved(raw)).tolist() == [0, 1, 2]
    assert device.description == "card"
