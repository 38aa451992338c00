"""Functions of a vector at points where their slope is infinite or undefined, and what TensorFlow makes of them.

    $TENSORFLOW_PYTHON tests/programs/singular_points.py
"""

import json
import os
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).resolve().parent.parent / "golden" / "singular_points.json"
POINTS = {
    "zeros": [0.0, 0.0, 0.0],
    "equal": [2.0, 2.0, 2.0],
    "borders": [1.0, -1.0, 0.0],
    "signed zeros": [-0.0, 0.0, 1.0],
    "NaN": [np.nan, 1.0, 2.0],
}
EXPRESSIONS = """
    tf.sqrt(x)
    tf.math.rsqrt(x)
    tf.math.log(x)
    tf.math.log1p(x)
    tf.acos(x)
    tf.asin(x)
    tf.math.atanh(x)
    tf.math.acosh(x)
    tf.math.reciprocal(x)
    tf.abs(x)
    tf.pow(x, 0.5)
    tf.pow(x, 0.0)
    tf.pow(x, -1.0)
    tf.pow(x, x)
    tf.pow(0.0, x)
    tf.atan2(x, x)
    x / x
    tf.math.divide_no_nan(x, x)
    tf.math.xlogy(x, x)
    tf.math.xdivy(x, x)
    tf.math.floormod(x, 2.0)
    tf.math.reduce_std(x)
    tf.math.reduce_variance(x)
    tf.math.reduce_euclidean_norm(x)
    tf.norm(x)
    tf.norm(x, ord=3)
    tf.norm(tf.stack([x, 0.0 * x]), axis=0)
    tf.reduce_prod(x)
    tf.reduce_prod(x[0], axis=[])
    tf.reduce_max(x)
    tf.reduce_min(x)
    tf.reduce_logsumexp(x)
    tf.math.cumprod(x)
    tf.math.l2_normalize(x)
    tf.clip_by_norm(x, 1.0)
    tf.maximum(x, 0.0)
    tf.where(x > 0.0, tf.sqrt(x), 0.0)
    tf.where(x > 0.0, tf.math.rsqrt(x), 0.0)
    tf.where(x > 0.0, tf.math.log(x), 0.0)
    tf.nn.batch_normalization(x, *tf.nn.moments(x, [0]), 0.0, 1.0, 0.0)
    tf.nn.relu(x)
    tf.math.squared_difference(x, x)
""".strip().split("\n")
EXPRESSIONS = [text.strip() for text in EXPRESSIONS]


def of_all(tf, x) -> list:
    """For each expression, its value and the gradient of its sum."""
    results = []
    for text in EXPRESSIONS:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = eval(text, {"tf": tf, "x": x})  # our own expressions
        results += [y, tape.gradient(y, x, unconnected_gradients="zero")]
    return results


def main():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    lines = []
    for name, values in POINTS.items():
        results = [result.numpy().tolist() for result in of_all(tf, tf.constant(values))]
        lines.append(f"{json.dumps(name)}: {json.dumps(results)}")
    FILE.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
