"""Record what TensorFlow gives for the cases of control flow. Run it with an interpreter that has TensorFlow.

    python tests/autograph/record_autograph.py

Writes `tests/golden/autograph.json`: by case, for each of its calls, the results with dtypes, or the error's class.
"""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def main():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    sys.modules["headrace"] = tf  # what the cases import
    from autograph_cases import branches, for_loops, functions, loops, methods, while_loops  # noqa: F401  they fill the table
    from autograph_cases.table import CASES

    tf.get_logger().setLevel("ERROR")
    results = {}
    for name, case in CASES.items():
        if case.graph:
            results[name] = [call(tf, case.function, arguments) for arguments in case.arguments]
    text = json.dumps(results, indent=1, sort_keys=True)
    # One line per call is easier to review than one per bracket.
    (HERE.parent / "golden" / "autograph.json").write_text(shorter(text) + "\n")
    failed = sorted(name for name, calls in results.items() if any("error" in c for c in calls))
    print(f"{len(results)} cases, TensorFlow refuses {len(failed)}: {', '.join(failed)}")


def call(tf, function, arguments):
    try:
        result = tf.function(function)(*(tf.constant(a) for a in arguments))
    except Exception as error:
        return {"error": type(error).__name__}
    leaves = [] if result is None else tf.nest.flatten(result)
    return {"leaves": [[leaf.dtype.name, plain(leaf.numpy())] for leaf in leaves]}


def plain(value):
    value = value.tolist() if hasattr(value, "tolist") else value
    return value.decode() if isinstance(value, bytes) else value


def shorter(text):
    lines, out = text.split("\n"), []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if depth > 2 or (depth == 2 and line.strip()[0] in "]}"):
            out[-1] += ("" if out[-1].endswith(("[", "{")) or line.strip()[0] in "]}" else " ") + line.strip()
        else:
            out.append(line)
    return "\n".join(out)


if __name__ == "__main__":
    main()
