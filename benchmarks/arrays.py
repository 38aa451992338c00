"""Times eager operations on large arrays on headrace and TensorFlow in turns, and prints the ratios.

    python benchmarks/arrays.py [--tensorflow-python PATH] [--rounds N] [--seconds S] [CASE ...]

headrace and TensorFlow each run in one process of their own that stays up; rounds alternate between them, so that a
busy machine slows both. PATH is the interpreter that has TensorFlow (default: this one). CASE is part of the names of
the cases to time, such as `cast` or `1e6`. The ratio is the median over rounds of TensorFlow's time / headrace's.
Leaves with an error if a goal is missed.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from peers import Worker, compare, measure, run_script

CALLS_PER_ROUND = 1000
SIZES = {"1e5": 10**5, "1e6": 10**6, "1e7": 10**7}


@dataclass
class Case:
    """`build(tf)` returns what is timed."""

    build: Callable
    goal: float = 1.0


def _numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def _of(function, *shape, dtype="float32"):
    """A function of the module and of an array of that shape."""

    def build(tf):
        x = tf.cast(tf.constant(_numbers(*shape) * 4), dtype)
        return lambda: function(tf, x)

    return build


def _of_arrays(function, *arrays):
    """A function of the module and of these arrays."""

    def build(tf):
        tensors = [tf.constant(array) for array in arrays]
        return lambda: function(tf, *tensors)

    return build


def _drawing(function):
    return lambda tf: lambda: function(tf)


def _casts():
    pairs = [("float32", "float16"), ("float32", "bfloat16"), ("float16", "float32"), ("bfloat16", "float32"),
             ("float32", "int32"), ("float32", "float64"), ("float16", "bfloat16")]  # fmt: skip
    for source, target in pairs:
        for name, size in SIZES.items():
            yield f"cast {source} to {target} {name}", _of(
                lambda tf, x, target=target: tf.cast(x, target), size, dtype=source
            )


def _rows():
    functions = {
        "softmax": lambda tf, x: tf.nn.softmax(x),
        "log_softmax": lambda tf, x: tf.nn.log_softmax(x),
        "logsumexp": lambda tf, x: tf.reduce_logsumexp(x, -1),
        "sum": lambda tf, x: tf.reduce_sum(x, -1),
        "max": lambda tf, x: tf.reduce_max(x, -1),
        "argmax": lambda tf, x: tf.argmax(x, -1),
        "cumsum": lambda tf, x: tf.cumsum(x, -1),
    }
    shapes = {"1e2 x 1e3": (100, 1000), "1e3 x 1e3": (1000, 1000), "1e5 x 10": (10**5, 10), "1e4 x 1e3": (10**4, 1000),
              "1e6": (10**6,), "1e7": (10**7,)}  # fmt: skip
    for name, function in functions.items():
        for shape_name, shape in shapes.items():
            yield f"{name} {shape_name}", _of(function, *shape)
    yield "softmax 1e3 x 1e3 bfloat16", _of(functions["softmax"], 1000, 1000, dtype="bfloat16")


def _orders():
    for name, size in SIZES.items():
        yield f"random.shuffle {name}", _of(lambda tf, x: tf.random.shuffle(x), size)
        yield f"sort {name}", _of(lambda tf, x: tf.sort(x), size)
    yield "random.shuffle 1e5 x 10", _of(lambda tf, x: tf.random.shuffle(x), 10**5, 10)
    yield "random.shuffle 1e6 int64", _of(lambda tf, x: tf.random.shuffle(x), 10**6, dtype="int64")
    yield "argsort 1e6", _of(lambda tf, x: tf.argsort(x), 10**6)
    yield "sort 1e3 x 1e3", _of(lambda tf, x: tf.sort(x), 1000, 1000)
    yield "top_k 10 of 1e6", _of(lambda tf, x: tf.math.top_k(x, 10), 10**6)
    yield "unique 1e6", _of(lambda tf, x: tf.unique(x), 10**6, dtype="int32")
    yield "where 1e6", _of(lambda tf, x: tf.where(x > 0), 10**6)
    yield "boolean_mask 1e6", _of(lambda tf, x: tf.boolean_mask(x, x > 0), 10**6)


def _draws():
    draws = {
        "uniform": lambda tf, size: tf.random.uniform([size]),
        "uniform int": lambda tf, size: tf.random.uniform([size], 0, 100, tf.int32),
        "normal": lambda tf, size: tf.random.normal([size]),
        "truncated_normal": lambda tf, size: tf.random.truncated_normal([size]),
        "poisson 3": lambda tf, size: tf.random.poisson([size], 3.0),
        "poisson 30": lambda tf, size: tf.random.poisson([size], 30.0),
        "gamma 2": lambda tf, size: tf.random.gamma([size], 2.0),
        "stateless binomial": lambda tf, size: tf.random.stateless_binomial([size], [1, 2], 40.0, 0.4),
    }
    for name, function in draws.items():
        for size_name in ("1e5", "1e6"):
            size = SIZES[size_name]
            yield f"random.{name} {size_name}", _drawing(lambda tf, f=function, size=size: f(tf, size))
    yield "dropout 1e6", _of(lambda tf, x: tf.nn.dropout(x, 0.5), 10**6)


def _halves():
    for dtype in ("bfloat16", "float16"):
        for size in (256, 1024):
            yield f"matmul {size} {dtype}", _of(lambda tf, x: tf.matmul(x, x), size, size, dtype=dtype)
        yield f"add 1e6 {dtype}", _of(lambda tf, x: x + x, 10**6, dtype=dtype)
        yield f"sum 1e6 {dtype}", _of(lambda tf, x: tf.reduce_sum(x), 10**6, dtype=dtype)


def _moves():
    """What copies elements to other places."""
    x = _numbers(1000, 1000)
    images = x.reshape(100, 100, 10, 10)
    functions = {
        "transpose 1e3 x 1e3": (lambda tf, x: tf.transpose(x), x),
        "transpose 100 x 100 x 10 x 10 to 0 3 1 2": (lambda tf, x: tf.transpose(x, [0, 3, 1, 2]), images),
        "transpose 100 x 100 x 10 x 10 to 0 2 1 3": (lambda tf, x: tf.transpose(x, [0, 2, 1, 3]), images),
        "concat 1e3 x 1e3 by 0": (lambda tf, x: tf.concat([x, x], 0), x),
        "concat 1e3 x 1e3 by 1": (lambda tf, x: tf.concat([x, x], 1), x),
        "stack 1e3 x 1e3": (lambda tf, x: tf.stack([x, x]), x),
        "stack 1e3 x 1e3 by -1": (lambda tf, x: tf.stack([x, x], -1), x),
        "split 1e3 x 1e3": (lambda tf, x: tf.split(x, 4, 1), x),
        "tile 1e3 x 1e3": (lambda tf, x: tf.tile(x, [2, 2]), x),
        "repeat 1e3 x 1e3": (lambda tf, x: tf.repeat(x, 2, 1), x),
        "pad 1e3 x 1e3": (lambda tf, x: tf.pad(x, [[1, 1], [1, 1]]), x),
        "pad 1e3 x 1e3 reflect": (lambda tf, x: tf.pad(x, [[8, 8], [8, 8]], "REFLECT"), x),
        "reverse 1e3 x 1e3": (lambda tf, x: tf.reverse(x, [1]), x),
        "roll 1e3 x 1e3": (lambda tf, x: tf.roll(x, 7, 1), x),
        "broadcast_to 1e3 x 1e3": (lambda tf, x: tf.broadcast_to(x[:1], [1000, 1000]), x),
        "slice 1e3 x 1e3": (lambda tf, x: x[:, 1:-1], x),
        "slice 1e3 x 1e3 step 2": (lambda tf, x: x[::2, ::2], x),
        "band_part 1e3 x 1e3": (lambda tf, x: tf.linalg.band_part(x, -1, 0), x),
        "space_to_depth 1e6": (lambda tf, x: tf.nn.space_to_depth(x, 2), images),
        "extract_patches 1e6": (
            lambda tf, x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"), images[:50]),
    }  # fmt: skip
    for name, (function, array) in functions.items():
        yield name, _of_arrays(function, array)


def _places():
    """What looks places up, and what sums by them."""
    x = _numbers(10**6)
    rows = x[: 64 * 10**4].reshape(10**4, 64)
    random = np.random.default_rng(1)
    order, words = random.integers(0, 10**6, 10**6), random.integers(0, 10**4, (64, 128))
    labels, few = random.integers(0, 1000, 10**4), random.integers(0, 100, 10**6)
    rising, groups = np.sort(few), random.integers(0, 100, 10**4)
    functions = {
        "gather 1e6": (lambda tf, x, i: tf.gather(x, i), x, order),
        "gather 64 x 128 of 1e4 x 64": (lambda tf, x, i: tf.gather(x, i), rows, words),
        "gather by 1": (lambda tf, x, i: tf.gather(x, i, axis=1), rows, words[0] % 64),
        "gather batch_dims 1": (lambda tf, x, i: tf.gather(x, i, batch_dims=1), rows, groups[:, None] % 64),
        "gather_nd 1e6": (lambda tf, x, i: tf.gather_nd(x, i[:, None]), x, order),
        "scatter_nd 1e6": (lambda tf, x, i: tf.scatter_nd(i[:, None], x, [10**6]), x, order),
        "tensor_scatter_nd_update 1e5": (
            lambda tf, x, i: tf.tensor_scatter_nd_update(x, i[:, None], x[: 10**5]), x, order[: 10**5]),
        "segment_sum 1e6": (lambda tf, x, i: tf.math.segment_sum(x, i), x, rising),
        "segment_sum 1e4 x 64": (lambda tf, x, i: tf.math.segment_sum(x, i), rows, np.sort(groups)),
        "segment_mean 1e4 x 64": (lambda tf, x, i: tf.math.segment_mean(x, i), rows, np.sort(groups)),
        "unsorted_segment_sum 1e6": (lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 100), x, few),
        "unsorted_segment_sum 1e4 x 64": (lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 100), rows, groups),
        "unsorted_segment_max 1e6": (lambda tf, x, i: tf.math.unsorted_segment_max(x, i, 100), x, few),
        "one_hot 1e4 x 1e3": (lambda tf, i: tf.one_hot(i, 1000), labels),
        "one_hot 1e6 x 10": (lambda tf, i: tf.one_hot(i, 10), few % 10),
        "bincount 1e6": (lambda tf, i: tf.math.bincount(tf.cast(i, tf.int32), minlength=100), few),
        "searchsorted 1e6": (lambda tf, x, e: tf.searchsorted(e, x), x, np.sort(x[:1000])),
        "unique_with_counts 1e6": (lambda tf, i: tf.unique_with_counts(i)[2], few),
        "unique 1e6 of 1e6": (lambda tf, i: tf.unique(i)[1], order),
        "in_top_k 1e4 x 64": (lambda tf, x, i: tf.math.in_top_k(i % 64, x, 5), rows, groups.astype(np.int32)),
        "dynamic_partition 1e6": (lambda tf, x, i: tf.dynamic_partition(x, i, 4), x, (few % 4).astype(np.int32)),
        "sequence_mask 1e4 x 1e3": (lambda tf, i: tf.sequence_mask(i, 1000), labels),
        "histogram 1e6": (lambda tf, x: tf.histogram_fixed_width(x, [-2.0, 2.0], 50), x),
    }  # fmt: skip
    for name, (function, *arrays) in functions.items():
        yield name, _of_arrays(function, *arrays)


def _elements():
    """Functions of elements, and small chains of them."""
    functions = {
        "where 3": lambda tf, x: tf.where(x > 0, x, -x),
        "where 3 with a number": lambda tf, x: tf.where(x > 0, x, 0.0),
        "clip": lambda tf, x: tf.clip_by_value(x, -1.0, 1.0),
        "relu": lambda tf, x: tf.nn.relu(x),
        "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
        "sigmoid": lambda tf, x: tf.sigmoid(x),
        "gelu": lambda tf, x: tf.nn.gelu(x),
        "silu": lambda tf, x: tf.nn.silu(x),
        "softplus": lambda tf, x: tf.nn.softplus(x),
        "elu": lambda tf, x: tf.nn.elu(x),
        "tanh": lambda tf, x: tf.tanh(x),
        "erf": lambda tf, x: tf.math.erf(x),
        "exp": lambda tf, x: tf.exp(x),
        "log1p": lambda tf, x: tf.math.log1p(tf.abs(x)),
        "rsqrt": lambda tf, x: tf.math.rsqrt(tf.abs(x)),
        "pow 2.5": lambda tf, x: tf.abs(x) ** 2.5,
        "pow 3": lambda tf, x: x**3,
        "sin": lambda tf, x: tf.sin(x),
        "atan2": lambda tf, x: tf.atan2(x, 0.5),
        "lgamma": lambda tf, x: tf.math.lgamma(x),
        "digamma": lambda tf, x: tf.math.digamma(x),
        "floormod": lambda tf, x: x % 3.0,
        "floordiv": lambda tf, x: x // 3.0,
        "round": lambda tf, x: tf.round(x),
        "divide_no_nan": lambda tf, x: tf.math.divide_no_nan(x, x),
        "greater": lambda tf, x: x > 0,
        "any greater": lambda tf, x: tf.reduce_any(x > 100),
        "all of isfinite": lambda tf, x: tf.reduce_all(tf.math.is_finite(x)),
        "mean": lambda tf, x: tf.reduce_mean(x),
        "variance": lambda tf, x: tf.math.reduce_variance(x),
        "prod": lambda tf, x: tf.reduce_prod(x),
        "max": lambda tf, x: tf.reduce_max(x),
        "norm": lambda tf, x: tf.norm(x),
        "l2_loss": lambda tf, x: tf.nn.l2_loss(x),
        "count_nonzero": lambda tf, x: tf.math.count_nonzero(x),
        "squared_difference": lambda tf, x: tf.math.squared_difference(x, 1.0),
        "bias_add": lambda tf, x: tf.nn.bias_add(tf.reshape(x, [-1, 100]), x[:100]),
    }  # fmt: skip
    for name, function in functions.items():
        yield f"{name} 1e6 elements", _of(function, 10**6)
    for name in ("clip", "relu", "sigmoid", "tanh", "exp", "rsqrt", "greater", "mean", "max", "where 3"):
        yield f"{name} 1e6 elements bfloat16", _of(functions[name], 10**6, dtype="bfloat16")
    of_integers = {name: functions[name] for name in ("relu", "greater", "max", "where 3")} | {
        "clip": lambda tf, x: tf.clip_by_value(x, -1, 1),
        "floormod": lambda tf, x: x % 3,
        "floordiv": lambda tf, x: x // 3,
    }
    for name, function in of_integers.items():
        yield f"{name} 1e6 elements int32", _of(function, 10**6, dtype="int32")


def _axes():
    """Reductions and products along one axis of several."""
    x, y = _numbers(1000, 1000), _numbers(64, 128, 128)
    functions = {
        "sum by 0": (lambda tf, x: tf.reduce_sum(x, 0), x),
        "mean by 0": (lambda tf, x: tf.reduce_mean(x, 0), x),
        "max by 0": (lambda tf, x: tf.reduce_max(x, 0), x),
        "argmax by 0": (lambda tf, x: tf.argmax(x, 0), x),
        "cumsum by 0": (lambda tf, x: tf.cumsum(x, 0), x),
        "cumprod by 1": (lambda tf, x: tf.math.cumprod(x, 1), x),
        "sum by 0 and 1 of 3": (lambda tf, x: tf.reduce_sum(x, [0, 1]), y),
        "sum by 1 of 3": (lambda tf, x: tf.reduce_sum(x, 1), y),
        "max by 1 of 3": (lambda tf, x: tf.reduce_max(x, 1), y),
        "prod by 1": (lambda tf, x: tf.reduce_prod(x, 1), x),
        "any by 1": (lambda tf, x: tf.reduce_any(x > 3, 1), x),
        "moments by 0": (lambda tf, x: tf.nn.moments(x, [0]), x),
        "moments by 1": (lambda tf, x: tf.nn.moments(x, [1]), x),
        "l2_normalize by 1": (lambda tf, x: tf.math.l2_normalize(x, 1), x),
        "softmax by 0": (lambda tf, x: tf.nn.softmax(x, 0), x),
        "cross entropy": (lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(
            tf.zeros([1000], tf.int32), x), x),
        "matmul 1e3 x 1e3": (lambda tf, x: tf.matmul(x, x), x),
        "matmul 64 x 128 x 128": (lambda tf, x: tf.matmul(x, x), y),
        "matmul 64 x 128 x 128 transposed": (lambda tf, x: tf.matmul(x, x, transpose_b=True), y),
        "matmul 1e4 x 10 x 64": (lambda tf, x: tf.matmul(x[:, :10], x[:10]), x.reshape(-1, 64)[:10**4]),
        "matmul 1e3 x 1e3 x 1": (lambda tf, x: tf.matmul(x, x[:, :1]), x),
        "einsum bij,bjk->bik": (lambda tf, x: tf.einsum("bij,bjk->bik", x, x), y),
        "einsum bij,kj->bik": (lambda tf, x: tf.einsum("bij,kj->bik", x, x[0]), y),
        "einsum bihd,bjhd->bhij": (lambda tf, x: tf.einsum("bihd,bjhd->bhij", x, x), y.reshape(16, 128, 8, 64)),
        "tensordot": (lambda tf, x: tf.tensordot(x, x[0], 1), y),
    }  # fmt: skip
    for name, (function, array) in functions.items():
        yield name, _of_arrays(function, array)


def _layers():
    """What layers call: normalisation, convolutions, pools, images."""
    x, weights = _numbers(32, 32, 32, 32), _numbers(3, 3, 32, 32)
    rows, photo = _numbers(1000, 1000), abs(_numbers(8, 256, 256, 3))
    functions = {
        "batch norm training": (lambda tf, x, w: tf.compat.v1.nn.fused_batch_norm(x, w[0, 0, 0], w[0, 0, 1])[0], x,
                                weights),
        "batch norm inference": (lambda tf, x, w: tf.compat.v1.nn.fused_batch_norm(
            x, w[0, 0, 0], w[0, 0, 1], w[0, 0, 2], w[0, 0, 3] ** 2, is_training=False)[0], x, weights),
        "batch_normalization": (lambda tf, x, w: tf.nn.batch_normalization(
            x, w[0, 0, 0], w[0, 0, 1] ** 2, w[0, 0, 2], w[0, 0, 3], 1e-3), x, weights),
        "layer norm": (_layer_norm, rows),
        "lrn": (lambda tf, x: tf.nn.local_response_normalization(x), x),
        "conv2d 3 x 3": (lambda tf, x, w: tf.nn.conv2d(x, w, 1, "SAME"), x, weights),
        "conv2d 1 x 1": (lambda tf, x, w: tf.nn.conv2d(x, w[:1, :1], 1, "SAME"), x, weights),
        "depthwise conv": (lambda tf, x, w: tf.nn.depthwise_conv2d(x, w[..., :1], [1] * 4, "SAME"), x, weights),
        "max_pool": (lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "SAME"), x),
        "avg_pool 3 x 3": (lambda tf, x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), x),
        "resize bilinear": (lambda tf, x: tf.image.resize(x, [224, 224]), photo),
        "resize nearest": (lambda tf, x: tf.image.resize(x, [224, 224], "nearest"), photo),
        "resize bicubic": (lambda tf, x: tf.image.resize(x, [224, 224], "bicubic"), photo),
        "flip_left_right": (lambda tf, x: tf.image.flip_left_right(x), photo),
        "rgb_to_grayscale": (lambda tf, x: tf.image.rgb_to_grayscale(x), photo),
        "adjust_brightness": (lambda tf, x: tf.image.adjust_brightness(x, 0.1), photo),
        "adjust_contrast": (lambda tf, x: tf.image.adjust_contrast(x, 2.0), photo),
        "adjust_hue": (lambda tf, x: tf.image.adjust_hue(x, 0.1), photo),
        "per_image_standardization": (lambda tf, x: tf.image.per_image_standardization(x), photo),
        "rfft 1e3 x 1e3": (lambda tf, x: tf.signal.rfft(x), rows),
    }  # fmt: skip
    for name, (function, *arrays) in functions.items():
        yield name, _of_arrays(function, *arrays)


def _layer_norm(tf, x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


_FAMILIES = (
    *(_casts(), _orders(), _draws(), _rows(), _halves()),
    *(_moves(), _places(), _elements(), _axes(), _layers()),
)
CASES = {
    name: Case(build) for cases in _FAMILIES for name, build in cases
}


def serve(module):
    """The loop of a worker: reads `seconds case` per line, answers with seconds per call."""
    tf = importlib.import_module(module)
    built = {}
    print(json.dumps(tf.__version__), flush=True)
    for line in sys.stdin:
        seconds, name = line.rstrip("\n").split(" ", 1)
        if name not in built:
            built.clear()  # arrays of one case at a time
            built[name] = CASES[name].build(tf)
            built[name]()
        print(json.dumps(measure(built[name], float(seconds), CALLS_PER_ROUND)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each round")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names of cases")
    options = parser.parse_args()
    chosen = {name: CASES[name] for name in CASES if not options.cases or any(p in name for p in options.cases)}
    with Worker(sys.executable, "headrace") as ours, Worker(options.tensorflow_python, "tensorflow") as theirs:
        return compare(ours, theirs, chosen, options.rounds, options.seconds, 36)


if __name__ == "__main__":
    run_script(main, serve)
