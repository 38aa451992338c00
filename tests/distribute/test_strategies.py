"""MirroredStrategy with two replicas does what TensorFlow's does on two logical CPUs (recorded)."""

import json
import pathlib

import pytest
import strategy_programs

import headrace as tf
from headrace._src.core import device_use

RECORDED = json.loads((pathlib.Path(__file__).parent.parent / "golden" / "strategies.json").read_text())


@pytest.fixture
def two_devices():
    """Makes `CPU:1` a device, as two logical CPUs do: those of a process cannot be taken back."""
    second = "/job:localhost/replica:0/task:0/device:CPU:1"
    device_use.available.add(second)
    yield
    device_use.available.discard(second)


@pytest.mark.usefixtures("two_devices")
@pytest.mark.parametrize("name", strategy_programs.PROGRAMS)
def test_as_recorded(name):
    found = strategy_programs.result_of(tf, name)
    assert json.loads(json.dumps(found)) == RECORDED[name]


def test_all_is_recorded():
    assert set(RECORDED) == set(strategy_programs.PROGRAMS)
