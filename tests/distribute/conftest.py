"""Devices for tests of strategies: those of a process cannot be taken back, so they are lent for one test."""

import pytest

from headrace._src.core import device_use


@pytest.fixture
def two_devices():
    """Makes `CPU:1` a device, as two logical CPUs do."""
    second = "/job:localhost/replica:0/task:0/device:CPU:1"
    device_use.available.add(second)
    yield
    device_use.available.discard(second)
