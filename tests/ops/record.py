"""Record golden results. Run it with an interpreter that has TensorFlow: see `scripts/golden`.

    python tests/ops/record.py [--all] [FAMILY ...]

Without --all, only rows that have no recorded result are run.
"""

import importlib
import os
import pathlib
import pkgutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import golden  # noqa: E402  the path must be set first
from evaluation import evaluate  # noqa: E402


def main(args):
    import tensorflow as tf

    everything = "--all" in args
    wanted = [arg for arg in args if not arg.startswith("-")]
    for module in pkgutil.iter_modules([str(HERE / "cases")]):
        if wanted and module.name not in wanted:
            continue
        rows = importlib.import_module(f"cases.{module.name}").ROWS
        known = {} if everything else golden.load(module.name)
        results, recorded = {}, 0
        for row in rows:
            if row.ours is not None:
                continue
            if row.key in known:
                results[row.key] = known[row.key]
                continue
            results[row.key] = evaluate(tf, row)
            recorded += 1
            if "error" in results[row.key]:
                print(f"  {module.name}: {row.code[:90]!r} [{row.dtype}] raises", results[row.key]["error"][0],
                      results[row.key]["message"][:100].replace("\n", " "))
        golden.save(module.name, results)
        print(f"{module.name}: {len(results)} rows, {recorded} recorded now", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
