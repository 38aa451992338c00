"""Records what TensorFlow's MirroredStrategy does on two logical CPUs: scripts/golden_strategies.

Each program runs in a process of its own: an error in one leaves TensorFlow's collectives unusable for the others.
"""

import json
import pathlib
import subprocess
import sys

import strategy_programs


def record(name):
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    print("RESULT" + json.dumps(strategy_programs.result_of(tf, name)))


def record_all():
    results = {}
    for name in strategy_programs.PROGRAMS:
        run = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
        found = [line[6:] for line in run.stdout.splitlines() if line.startswith("RESULT")]
        if not found:
            print(name, run.stderr[-500:])
            continue
        results[name] = json.loads(found[0])
    path = pathlib.Path(__file__).parent.parent / "golden" / "strategies.json"
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(f"{len(results)} of {len(strategy_programs.PROGRAMS)} programs recorded in {path}")


if __name__ == "__main__":
    record(sys.argv[1]) if len(sys.argv) > 1 else record_all()
