"""`headrace collectives` counts what devices and processes exchange."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os
import tensorflow as tf

if "TF_CONFIG" in os.environ:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
else:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    v = tf.Variable(tf.ones([300, 10]))

def step():
    total = tf.distribute.get_replica_context().all_reduce("SUM", v * 2.0)
    v.assign_sub(total * 0.01)

train = tf.function(lambda: strategy.run(step))
for _ in range(3):
    train()
print("trained")
"""


def found(tmp_path, *command):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name not in ("TF_CONFIG", "HEADRACE_SECRET")}
    done = subprocess.run([sys.executable, "-m", "headrace", *command, str(path)], capture_output=True, text=True,
                          env=environment, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
def test_devices(tmp_path):
    said, report = found(tmp_path, "collectives")
    assert said == "trained\n"
    assert "step at train.py:15, a program over 2 devices, 3 calls. In a call, each device exchanges 12,000" in report
    assert "all-reduce               1           12,000 bytes" in report


@pytest.mark.slow
def test_processes(tmp_path):
    said, _ = found(tmp_path, "launch", "-n", "2", "-m", "headrace", "collectives")
    for rank in (0, 1):
        assert f"[{rank}] Between 2 processes, this one has exchanged:" in said
        assert f"[{rank}]   all_reduce               3           36,000 bytes, 12,000 each" in said
