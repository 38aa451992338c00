"""`tf.config`: devices and other settings of the process."""

import subprocess
import sys
import textwrap

import pytest

import headrace as tf

CPU = tf.config.PhysicalDevice("/physical_device:CPU:0", "CPU")


def _run(program):
    """Settings hold for a process, so those that cannot be taken back are made in one of its own."""
    program = "import headrace as tf\n" + textwrap.dedent(program)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_physical_and_visible_devices():
    assert tf.config.list_physical_devices() == [CPU]
    assert tf.config.experimental.list_physical_devices("GPU") == []
    assert tf.config.get_visible_devices("CPU") == [CPU]
    assert tf.config.experimental.get_visible_devices("GPU") == []
    tf.config.set_visible_devices([], "GPU")
    tf.config.experimental.set_visible_devices(CPU, "CPU")
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices(["x"])
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices([CPU], "GPU")


def test_logical_devices():
    _run("""
        cpu = tf.config.list_physical_devices("CPU")[0]
        assert tf.config.get_logical_device_configuration(cpu) is None
        two = [tf.config.LogicalDeviceConfiguration(), tf.config.experimental.VirtualDeviceConfiguration()]
        tf.config.set_logical_device_configuration(cpu, two)
        assert tf.config.experimental.get_virtual_device_configuration(cpu) == two
        names = [device.name for device in tf.config.list_logical_devices("CPU")]
        assert names == ["/device:CPU:0", "/device:CPU:1"], names
        assert isinstance(tf.config.experimental.list_logical_devices()[0], tf.config.LogicalDevice)
        with tf.device("CPU:1"):
            assert tf.constant(1).device.endswith("CPU:1")
        try:
            tf.config.experimental.set_virtual_device_configuration(cpu, two[:1])
        except RuntimeError as error:
            assert "cannot be modified" in str(error)
        else:
            raise AssertionError
    """)


@pytest.mark.parametrize("use", ["tf.constant(1)", "tf.Variable(1.0)", "tf.zeros(3)", "tf.add(1, 2)"])
def test_devices_stay_once_something_has_run(use):
    _run(f"""
        cpu = tf.config.list_physical_devices("CPU")
        tf.config.set_visible_devices(cpu, "CPU")
        {use}
        tf.config.set_visible_devices(cpu, "CPU")  # nothing changes
        for change in (
            lambda: tf.config.set_visible_devices([], "CPU"),
            lambda: tf.config.set_logical_device_configuration(cpu[0], [tf.config.LogicalDeviceConfiguration()] * 2),
            lambda: tf.config.threading.set_intra_op_parallelism_threads(1),
        ):
            try:
                change()
            except RuntimeError as error:
                assert "cannot be modified" in str(error)
            else:
                raise AssertionError
    """)


def test_threads():
    _run("""
        tf.config.threading.set_intra_op_parallelism_threads(2)
        tf.config.threading.set_inter_op_parallelism_threads(3)
        assert tf.config.threading.get_intra_op_parallelism_threads() == 2
        assert tf.config.threading.get_inter_op_parallelism_threads() == 3
        tf.config.list_logical_devices()
        try:
            tf.config.threading.set_intra_op_parallelism_threads(4)
        except RuntimeError as error:
            assert "cannot be modified" in str(error)
        else:
            raise AssertionError
    """)


def test_settings_that_are_kept():
    _run("""
        tf.config.set_soft_device_placement(False)
        assert tf.config.get_soft_device_placement() is False
        tf.config.optimizer.set_jit(True)
        assert tf.config.optimizer.get_jit() == "autoclustering"
        tf.config.optimizer.set_experimental_options({"constant_folding": False})
        assert tf.config.optimizer.get_experimental_options()["constant_folding"] is False
        tf.config.experimental.enable_tensor_float_32_execution(False)
        assert not tf.config.experimental.tensor_float_32_execution_enabled()
        tf.config.experimental.set_device_policy("warn")
        assert tf.config.experimental.get_device_policy() == "warn"
        tf.config.experimental.set_synchronous_execution(False)
        assert tf.config.experimental.get_synchronous_execution() is False
        tf.config.experimental.enable_mlir_bridge()
        tf.config.experimental.disable_mlir_bridge()
        assert tf.sysconfig.get_build_info()["is_cuda_build"] is False
        tf.config.experimental.enable_op_determinism()
        try:
            tf.random.uniform([])
        except RuntimeError as error:
            assert "seed" in str(error)
        else:
            raise AssertionError
    """)
    with pytest.raises(ValueError, match="policy"):
        tf.config.experimental.set_device_policy("loud")
