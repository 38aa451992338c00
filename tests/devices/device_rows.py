"""Expressions about devices on a machine with processors alone, which TensorFlow and headrace both evaluate.

Settings of devices hold for a process, so each group runs in one of its own, from top to bottom. Rows with `=` set a
name for those below. `python tests/devices/device_rows.py tensorflow` records what TensorFlow answers, values as texts
and names of exceptions, in tests/golden/devices.json; with another module and a group it prints the answers.
"""

import importlib
import json
import pathlib
import subprocess
import sys

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "golden" / "devices.json"

_SETUP = """
c = tf.config
e = tf.config.experimental
cpu = c.list_physical_devices('CPU')[0]
gpu = c.PhysicalDevice('/physical_device:GPU:0', 'GPU')
one = c.LogicalDeviceConfiguration()
""".strip().splitlines()

ASKING = """
c.list_physical_devices()
c.list_physical_devices('CPU')
c.list_physical_devices('GPU')
c.list_physical_devices('TPU')
c.list_physical_devices('gpu')
c.list_physical_devices('')
c.list_physical_devices(device_type=None)
c.list_physical_devices(3)
e.list_physical_devices('XLA_CPU')
c.get_visible_devices()
c.get_visible_devices('CPU')
c.get_visible_devices('GPU')
e.get_visible_devices('nothing')
c.get_logical_device_configuration(cpu)
c.get_logical_device_configuration(gpu)
c.get_logical_device_configuration('CPU:0')
c.get_logical_device_configuration(None)
e.get_virtual_device_configuration(cpu)
e.get_memory_growth(cpu)
e.get_memory_growth(gpu)
e.get_memory_growth('GPU:0')
e.get_device_details(cpu)
e.get_device_details(gpu)
e.get_device_details('CPU:0')
e.get_device_details(None)
e.get_memory_info('CPU:0')
e.get_memory_info('GPU:0')
e.get_memory_info('cpu')
e.get_memory_info('CPU')
e.get_memory_info('/job:localhost/replica:0/task:0/device:CPU:0')
e.get_memory_info('')
e.get_memory_info('nonsense')
e.get_memory_info(cpu)
e.get_memory_info(3)
e.get_memory_usage('CPU:0')
e.get_memory_usage('GPU:0')
e.get_memory_usage(None)
e.reset_memory_stats('CPU:0')
e.reset_memory_stats('GPU:0')
e.reset_memory_stats('')
e.reset_memory_stats(7)
c.get_soft_device_placement()
e.get_device_policy()
e.get_synchronous_execution()
e.tensor_float_32_execution_enabled()
c.optimizer.get_jit()
c.threading.get_inter_op_parallelism_threads()
c.threading.get_intra_op_parallelism_threads()
tf.test.is_gpu_available()
tf.test.is_gpu_available(cuda_only=True, min_cuda_compute_capability=(3, 0))
tf.test.gpu_device_name()
tf.test.is_built_with_xla()
tf.debugging.get_log_device_placement()
tf.constant([1.0]).cpu().device
tf.constant([1.0]).gpu()
tf.constant([1.0]).gpu(2)
tf.constant([1.0]).device
tf.constant([1.0]).backing_device
tf.Variable([1.0]).device
c.list_logical_devices()
c.list_logical_devices('GPU')
c.list_logical_devices('bad')
e.list_logical_devices('CPU')
c.LogicalDevice('/device:CPU:0', 'CPU')
c.PhysicalDevice('a', 'b')
c.PhysicalDevice('a')
c.LogicalDeviceConfiguration()
c.LogicalDeviceConfiguration(memory_limit=5)
c.LogicalDeviceConfiguration(1, 2, 3)
c.LogicalDeviceConfiguration(1, 2, 3, 4)
e.VirtualDeviceConfiguration(memory_limit=1024)
""".strip().splitlines()

SETTING = """
c.set_visible_devices([], 'GPU')
c.set_visible_devices(cpu)
c.set_visible_devices([cpu], 'CPU')
c.set_visible_devices((cpu,), 'CPU')
c.set_visible_devices([cpu], 'GPU')
c.set_visible_devices([gpu])
c.set_visible_devices([gpu], 'GPU')
c.set_visible_devices(['CPU:0'])
c.set_visible_devices('CPU:0')
c.set_visible_devices(None)
c.set_visible_devices([cpu, cpu])
c.get_visible_devices()
c.set_visible_devices([cpu])
c.set_visible_devices([], 'nothing')
c.set_visible_devices([], 5)
c.set_visible_devices([])
c.get_visible_devices()
c.set_visible_devices(cpu, 'CPU')
c.set_logical_device_configuration(cpu, [one._replace(memory_limit=10)])
c.set_logical_device_configuration(cpu, [one._replace(experimental_priority=1)])
c.set_logical_device_configuration(cpu, [one._replace(experimental_device_ordinal=1)])
c.set_logical_device_configuration(gpu, [one])
c.set_logical_device_configuration('CPU:0', [one])
c.set_logical_device_configuration(cpu, None)
c.set_logical_device_configuration(cpu, one)
c.set_logical_device_configuration(cpu, [1])
c.get_logical_device_configuration(cpu)
e.set_memory_growth(cpu, True)
e.set_memory_growth(cpu, False)
e.set_memory_growth(gpu, True)
e.set_memory_growth('GPU:0', True)
e.set_memory_growth(None, True)
c.set_logical_device_configuration(cpu, [one, one, one])
c.get_logical_device_configuration(cpu)
e.set_memory_growth(cpu, True)
e.get_memory_growth(cpu)
c.set_soft_device_placement(False)
c.get_soft_device_placement()
c.set_soft_device_placement(True)
e.set_device_policy('warn')
e.get_device_policy()
e.set_device_policy('explicit')
e.get_device_policy()
e.set_device_policy('silent_for_int32')
e.get_device_policy()
e.set_device_policy(None)
e.get_device_policy()
e.set_device_policy('loud')
e.set_device_policy(3)
e.set_synchronous_execution(False)
e.get_synchronous_execution()
e.set_synchronous_execution(True)
e.enable_tensor_float_32_execution(False)
e.tensor_float_32_execution_enabled()
c.threading.set_intra_op_parallelism_threads(2)
c.threading.get_intra_op_parallelism_threads()
c.optimizer.set_jit(True)
c.optimizer.get_jit()
c.optimizer.set_jit(False)
c.list_logical_devices()
c.list_logical_devices('CPU')
c.set_logical_device_configuration(cpu, [one, one])
c.set_logical_device_configuration(cpu, [one, one, one])
c.set_visible_devices([], 'CPU')
c.set_visible_devices(cpu, 'CPU')
c.set_visible_devices([cpu, cpu], 'CPU')
e.set_memory_growth(cpu, True)
c.threading.set_intra_op_parallelism_threads(3)
c.threading.set_inter_op_parallelism_threads(3)
c.threading.set_intra_op_parallelism_threads(2)
""".strip().splitlines()

PLACING = """
x = tf.constant([1.0, 2.0])
v = tf.Variable([1.0, 2.0])
under('/GPU:0', lambda: (x + 1).device)
under('/GPU:0', lambda: tf.constant(1.0).device)
under('/GPU:0', lambda: tf.identity(x).device)
under('/GPU:0', lambda: tf.Variable(x).device)
under('/GPU:0', lambda: v.assign_add(x).device)
under('/TPU:0', lambda: (x + 1).device)
under('/CPU:7', lambda: (x + 1).device)
under('/device:FOO:0', lambda: (x + 1).device)
under('CPU', lambda: (x + 1).device)
under(None, lambda: (x + 1).device)
under('', lambda: (x + 1).device)
under('/job:worker/task:1', lambda: (x + 1).device)
under('nonsense', lambda: (x + 1).device)
under(3, lambda: (x + 1).device)
under(tf.DeviceSpec(device_type='GPU', device_index=0), lambda: (x + 1).device)
f = tf.function(lambda x: x * 2 + 1)
under('/GPU:0', lambda: f(x).device)
g = tf.function(lambda x: under('/GPU:0', lambda: x * 3))
g(x).device
c.set_soft_device_placement(False)
under('/GPU:0', lambda: (x + 1).device)
under('/GPU:0', lambda: (x @ x).device)
under('/GPU:0', lambda: tf.constant(1.0).device)
under('/GPU:0', lambda: tf.identity(x).device)
under('/GPU:0', lambda: tf.Variable(x).device)
under('/GPU:0', lambda: tf.strings.join(['a', 'b']).device)
under('/CPU:0', lambda: (x + 1).device)
under('/CPU:7', lambda: (x + 1).device)
under('/GPU:0', lambda: under('/CPU:0', lambda: (x + 1).device))
under('/GPU:0', lambda: f(x).device)
h = tf.function(lambda x: under('/GPU:0', lambda: x * 3))
h(x).device
(x + 1).device
c.set_soft_device_placement(True)
under('/GPU:0', lambda: (x + 1).device)
tf.debugging.set_log_device_placement(True)
tf.debugging.get_log_device_placement()
tf.debugging.set_log_device_placement(False)
""".strip().splitlines()

GROUPS = {"asking": ASKING, "setting": SETTING, "placing": PLACING}


def answers(module: str, group: str) -> list:
    """For each row of a group: the row, and its value as text or the name of what it raises."""
    tf = importlib.import_module(module)

    def under(device, function):
        with tf.device(device):
            return function()

    names = {"tf": tf, "under": under}
    found = []
    for row in [*_SETUP, *GROUPS[group]]:
        name, is_set, expression = row.partition(" = ")
        is_set = bool(is_set) and name.isidentifier()
        try:
            value = eval(expression if is_set else row, names)  # our own rows
            if is_set:
                names[name] = value
            found.append([row, "set" if is_set else repr(value)])
        except Exception as error:
            found.append([row, type(error).__name__])
    return found[len(_SETUP) :]


def answers_of_process(module: str, group: str) -> list:
    """The same, asked of a process of its own."""
    command = [sys.executable, __file__, module, group]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _record(module):
    texts = []
    for group in GROUPS:
        rows = ",\n".join("  " + json.dumps(row) for row in answers_of_process(module, group))
        texts.append(f' "{group}": [\n{rows}\n ]')
    RECORDED.write_text("{\n" + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.stdout.write(json.dumps(answers(sys.argv[1], sys.argv[2])) + "\n")
    else:
        _record(sys.argv[1])
