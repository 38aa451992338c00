"""Record golden results. Run it with an interpreter that has TensorFlow: see `scripts/golden`.

    python tests/ops/record.py [--all] [FAMILY ...]

Without --all, only rows that have no recorded result are run.
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import families  # noqa: E402  the path must be set first
import golden  # noqa: E402  the path must be set first
from evaluation import evaluate  # noqa: E402


def main(args):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    everything = "--all" in args
    wanted = [arg for arg in args if not arg.startswith("-")]
    unknown = sorted(set(wanted) - set(families.NAMES))
    if unknown:
        sys.exit(f"There is no family {', '.join(unknown)}. There are: {', '.join(families.NAMES)}.")
    for family in families.NAMES:
        if wanted and family not in wanted:
            continue
        rows = families.rows_of(family)
        known = {} if everything else golden.load(family)
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
                print(f"  {family}: {row.code[:90]!r} [{row.dtype}] raises", results[row.key]["error"][0],
                      results[row.key]["message"][:100].replace("\n", " "))
        golden.save(family, results)
        print(f"{family}: {len(results)} rows, {recorded} recorded now", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
