"""Devices on a machine without accelerators, compared with TensorFlow; and the memory of stand-ins."""

import json
import os

import device_rows
import numpy as np
import pytest
import stand_in

import headrace as tf


@pytest.mark.parametrize("group", device_rows.GROUPS)
def test_as_tensorflow_answers(group):
    recorded = json.loads(device_rows.RECORDED.read_text())[group]
    assert [row for row, _ in recorded] == device_rows.GROUPS[group]
    assert device_rows.answers_of_process("headrace", group) == recorded


def _in_process(code, **variables):
    """Run a program with stand-ins, in a process of its own."""
    here = os.path.dirname(os.path.abspath(__file__))
    setup = (
        f"import sys; sys.path.insert(0, {here!r})\n"
        "import numpy as np, pytest, stand_in\n"
        "import headrace as tf\n"
        "from headrace._src.core import accelerators\n"
        "source = stand_in.StandIns(4, memory=1 << 30)\n"
        "accelerators.offer(source)\n"
        "gpus = tf.config.list_physical_devices('GPU')\n"
        "def refused(kind, function, words):\n"
        "    with pytest.raises(kind, match=words): function()\n"
    )
    return stand_in.run(setup + code, stand_in.environment(**variables))


def test_settings_before_and_after_the_first_use():
    _in_process("""
assert [x.name for x in gpus] == [f"/physical_device:GPU:{i}" for i in range(4)]
assert tf.config.experimental.get_device_details(gpus[1])["device_name"] == "stand-in 1"
assert tf.test.is_gpu_available() and tf.test.gpu_device_name() == "/device:GPU:0"
assert not tf.test.is_gpu_available(min_cuda_compute_capability=(7, 0))
with pytest.raises(KeyError):
    tf.config.experimental.get_memory_growth(gpus[0])
tf.config.set_visible_devices([gpus[2], gpus[1]], "GPU")
assert tf.config.get_visible_devices("GPU") == [gpus[2], gpus[1]]
assert tf.config.get_visible_devices("CPU")
tf.config.set_visible_devices(gpus[:3], "GPU")
for gpu in gpus[:3]:
    tf.config.experimental.set_memory_growth(gpu, True)
assert tf.config.experimental.get_memory_growth(gpus[0]) is True
without_limit = [tf.config.LogicalDeviceConfiguration()]
refused(ValueError, lambda: tf.config.set_logical_device_configuration(gpus[3], without_limit), "memory_limit")
assert source.environment is None  # nothing has been started yet
assert [x.name for x in tf.config.list_logical_devices("GPU")] == ["/device:GPU:0", "/device:GPU:1", "/device:GPU:2"]
assert source.environment == {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
refused(RuntimeError, lambda: tf.config.experimental.set_memory_growth(gpus[0], False), "initialized")
refused(RuntimeError, lambda: tf.config.set_visible_devices([], "GPU"), "initialized")
refused(RuntimeError, lambda: tf.config.set_logical_device_configuration(
    gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=5)]), "initialized")
tf.config.experimental.set_memory_growth(gpus[0], True)  # nothing changes
""")


def test_options_of_a_session_of_1x():
    _in_process("""
config = tf.compat.v1.ConfigProto()
config.gpu_options.per_process_gpu_memory_fraction = 0.4
config.gpu_options.allow_growth = True
config.gpu_options.visible_device_list = "9"
refused(tf.errors.InvalidArgumentError, lambda: tf.compat.v1.Session(config=config, graph=tf.Graph()), "visible_device")
config.gpu_options.visible_device_list = "2,0"
with tf.compat.v1.Session(config=config, graph=tf.Graph()):
    pass
assert len(tf.config.list_logical_devices("GPU")) == 2
assert source.environment == {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.4"}
""")


def test_growth_on_some_devices_only_is_refused():
    _in_process("""
tf.config.experimental.set_memory_growth(gpus[0], True)
refused(ValueError, tf.config.list_logical_devices, "differ")
""")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
        ({"TF_FORCE_GPU_ALLOW_GROWTH": "yes"}, {}),
        ({"TF_GPU_ALLOCATOR": "cuda_malloc_async"}, {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"}),
        ({"TF_FORCE_GPU_ALLOW_GROWTH": "true", "XLA_PYTHON_CLIENT_PREALLOCATE": "true"}, {}),
        ({}, {}),
    ],
)
def test_what_jax_is_told_about_memory(monkeypatch, variables, expected):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    with stand_in.offered() as source:
        tf.function(lambda x: x + 1.0)(tf.constant(1.0))
    assert source.environment == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-1", []), ("", []), ("1", [1]), ("3,0", [3, 0]), ("0,9,1", [0]), ("0,0", []), ("x", []), (" 2 , 1", [2, 1])],
)
def test_cuda_visible_devices(monkeypatch, text, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", text)
    with stand_in.offered(4):
        gpus = tf.config.list_physical_devices("GPU")
        assert [x.name for x in gpus] == [f"/physical_device:GPU:{i}" for i in range(len(expected))]
        devices = [x.physical.device.id for x in stand_in.accelerators.logical()]
        assert devices == expected
        result = tf.function(lambda x: x + 1.0)(tf.constant(1.0))
        assert result.device.endswith("GPU:0" if expected else "CPU:0")


def test_a_limit_on_memory_names_itself_and_what_does_not_fit():
    _in_process("""
limits = [tf.config.LogicalDeviceConfiguration(memory_limit=1), tf.config.LogicalDeviceConfiguration(memory_limit=3)]
tf.config.set_logical_device_configuration(gpus[0], limits)
tf.config.set_visible_devices(gpus[0], "GPU")
refused(ValueError, lambda: tf.config.experimental.set_memory_growth(gpus[0], True), "virtual")
@tf.function
def doubled(x): return tf.concat([x, x], 0)
f = doubled
small, large = tf.zeros([1000]), tf.zeros([200_000])
f(small)
full = r"(?s)(?=.*1,048,576 bytes)(?=.*GPU:0)"
refused(tf.errors.ResourceExhaustedError, lambda: f(large), full + "(?=.*doubled)")  # its result does not fit
refused(tf.errors.ResourceExhaustedError, lambda: f(tf.zeros([300_000])), full + r"(?=.*\\[300000\\])(?=.*float32)")
with tf.device("/GPU:0"):
    refused(tf.errors.ResourceExhaustedError, lambda: tf.zeros([300_000]), full)
with tf.device("/GPU:1"):
    assert f(large).shape == [400_000]
v = tf.Variable(tf.zeros([300_000]), name="heavy")
refused(tf.errors.ResourceExhaustedError, tf.function(lambda: v + 1.0), full + "(?=.*heavy)")
assert float(tf.reduce_sum(v)) == 0.0  # it is where it was
assert source.environment == {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
""")


def test_where_values_are_and_copies():
    with stand_in.offered() as source:
        x = tf.constant([1.0, 2.0])
        there = x.gpu()
        again = there.gpu(1)
        assert [t.device[-5:] for t in (x, there, again, again.cpu())] == ["CPU:0", "GPU:0", "GPU:1", "CPU:0"]
        assert (source.transfers.there, source.transfers.between, source.transfers.back) == ([8], [8], [8])
        with pytest.raises(RuntimeError, match="GPU:2"):
            x.gpu(2)
        with tf.device("/GPU:1"):
            assert tf.identity(x).device.endswith("GPU:1")
            assert tf.identity(again).device.endswith("GPU:1")
        np.testing.assert_array_equal(again + x, [2.0, 4.0])
        assert tf.config.experimental.get_memory_usage("GPU:1") == 8


def test_no_jax_is_imported_where_no_accelerator_can_be():
    stand_in.run(
        "import sys, headrace as tf\n"
        "assert tf.config.list_physical_devices('GPU') == [] == tf.config.list_logical_devices('TPU')\n"
        "with tf.device('/GPU:0'): tf.constant(1.0) + 1.0\n"
        "tf.config.set_visible_devices([], 'GPU')\n"
        "tf.test.is_gpu_available(), tf.test.gpu_device_name()\n"
        "assert 'jax' not in sys.modules and 'headrace._src.core.accelerators' not in sys.modules",
        stand_in.environment(),
    )
