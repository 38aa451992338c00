"""Checks that `import headrace` is light: at most 0.3 s over NumPy, silent, and without heavy libraries.

    python benchmarks/import_time.py [--rounds N]

Each import is timed in a fresh interpreter, headrace and NumPy in turns, both with byte code at hand, as
an installed package has it; the figures are medians.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

GOAL = 0.3
HEAVY = ["jax", "jaxlib", "keras", "google.protobuf", "scipy", "tensorflow", "tensorboard"]
BYTE_CODE = tempfile.TemporaryDirectory()
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMED = "import time; t = time.perf_counter(); import {0}; t = time.perf_counter() - t; print('seconds', t)"


def child(code):
    """What a fresh interpreter printed on standard output and standard error together."""
    path = os.pathsep.join([ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = dict(os.environ, PYTHONPATH=path, PYTHONPYCACHEPREFIX=BYTE_CODE.name)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=env)
    if done.returncode:
        sys.exit(f"the import failed:\n{done.stdout}")
    return done.stdout


def seconds(module):
    out = child(TIMED.format(module))
    word, _, figure = out.partition(" ")
    if word != "seconds" or out.count("\n") != 1:
        sys.exit(f"import {module} printed something:\n{out}")
    return float(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds

    seconds("numpy"), seconds("headrace")  # writes the byte code
    ours, bare = [], []
    for _ in range(rounds):
        bare.append(seconds("numpy"))
        ours.append(seconds("headrace"))
    ours, bare = statistics.median(ours), statistics.median(bare)
    heavy = child(f"import headrace, sys; print(*[m for m in {HEAVY} if m in sys.modules])").split()
    count = child("import numpy, sys; n = len(sys.modules); import headrace; print(len(sys.modules) - n)")

    over = ours - bare
    print(f"import numpy {bare:.3f} s, import headrace {ours:.3f} s: "
          f"{over:.3f} s and {int(count)} modules more (goal: {GOAL} s) {'pass' if over <= GOAL else 'FAIL'}")
    print(f"heavy libraries imported: {' '.join(heavy) or 'none'} {'FAIL' if heavy else 'pass'}")
    return 1 if heavy or over > GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
