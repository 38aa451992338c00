"""What the first use of each part of headrace costs: files of headrace loaded, and milliseconds, the import included.

    python benchmarks/first_use.py [--against CHECKOUT] [--rounds N]

Each program runs in a fresh interpreter that has imported NumPy, with byte code at hand; times are medians. With
--against, another checkout of headrace (an older one) takes turns with this one, and growth is shown.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BYTE_CODE = tempfile.TemporaryDirectory()
PROGRAMS = {
    "import": "",
    "add": "a = tf.constant([1.0, 2.0])\na + a",
    "tape": "x = tf.Variable(3.0)\nwith tf.GradientTape() as t:\n    y = x * x + tf.sin(x)\nt.gradient(y, x)",
    "function": "f = tf.function(lambda x: x * 2 + 1)\nf(tf.constant(1.0))",
    "tf.data": "tf.data.Dataset",
    "slices": "list(tf.data.Dataset.from_tensor_slices([1, 2, 3]))",
    "dataset": "list(tf.data.Dataset.range(10).map(lambda x: x * 2).batch(2))",
    "ragged": "tf.ragged.constant([[1], [2, 3]]) + 1",
    "sparse": "tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 1]], [1.0], [2, 2]))",
    "string": "tf.strings.upper(['a'])",
    "split": "tf.strings.split(['a b'])",
    "convolution": "tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, 'SAME')",
    "tf.keras": "tf.keras.layers.Dense",
}
FRAME = """
import sys, time
import numpy
start = time.perf_counter()
import headrace as tf
{program}
elapsed = time.perf_counter() - start
files = {{m.__file__ for name, m in list(sys.modules.items()) if name.startswith("headrace")}}
print(sum(not f.endswith("__init__.py") for f in files), 1000 * elapsed)
"""


def run(root, program):
    """(files of headrace loaded, milliseconds) of a program in a fresh interpreter."""
    env = dict(os.environ, PYTHONPATH=root, PYTHONPYCACHEPREFIX=BYTE_CODE.name)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-P", "-W", "ignore", "-c", FRAME.format(program=program)],
                          capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"this failed in {root}:\n{program}\n{done.stderr}")
    files, milliseconds = done.stdout.split()[-2:]
    return int(files), float(milliseconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--against", metavar="CHECKOUT")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    roots = [ROOT] if options.against is None else [os.path.abspath(options.against), ROOT]
    for name, program in PROGRAMS.items():
        results = [[run(root, program)[0]] for root in roots]  # writes the byte code
        for _ in range(options.rounds):
            for root, result in zip(roots, results):
                result.append(run(root, program)[1])
        figures = [(result[0], statistics.median(result[1:])) for result in results]
        line = "  ->  ".join(f"{files:4d} files {milliseconds:7.1f} ms" for files, milliseconds in figures)
        if len(figures) == 2:
            (files, milliseconds), (files_now, milliseconds_now) = figures
            growth = [100 * (files_now / files - 1), 100 * (milliseconds_now / milliseconds - 1)]
            line += "   {:+4.0f} % files {:+4.0f} % time".format(*growth)
        print(f"{name:12} {line}", flush=True)


if __name__ == "__main__":
    main()
