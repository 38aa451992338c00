"""Which runtime of TensorFlow Lite an operator needs, by its version; `runtimes.txt` has the numbers."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Iterable

_OLDEST = "1.5.0"
# The versions that operators have in models of integers, by the bits of their activations.
_QUANTIZED = {
    8: {
        "ADD": 2, "AVERAGE_POOL_2D": 2, "BATCH_MATMUL": 2, "CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 3,
        "FULLY_CONNECTED": 4, "GATHER": 2, "LEAKY_RELU": 2, "LOGISTIC": 2, "LOG_SOFTMAX": 2, "MAXIMUM": 2,
        "MAX_POOL_2D": 2, "MEAN": 2, "MINIMUM": 2, "MUL": 2, "PACK": 2, "PAD": 2, "PADV2": 2, "QUANTIZE": 1,
        "RELU": 2, "RELU6": 2, "RESIZE_BILINEAR": 2, "RESIZE_NEAREST_NEIGHBOR": 2, "RSQRT": 2, "SLICE": 2,
        "SOFTMAX": 2, "SPLIT": 2, "STRIDED_SLICE": 2, "SUB": 2, "SUM": 2, "TANH": 2, "TRANSPOSE": 2,
        "TRANSPOSE_CONV": 2, "UNPACK": 2, "DEQUANTIZE": 2, "ARG_MAX": 2, "ARG_MIN": 2, "REDUCE_MAX": 2,
        "REDUCE_MIN": 2, "SPACE_TO_DEPTH": 2, "DEPTH_TO_SPACE": 2, "SQUARED_DIFFERENCE": 2, "TILE": 2,
        "MIRROR_PAD": 2, "GELU": 2, "EQUAL": 2, "NOT_EQUAL": 2,
    },
    16: {
        "ADD": 3, "AVERAGE_POOL_2D": 3, "BATCH_MATMUL": 3, "CONCATENATION": 3, "CONV_2D": 4, "DEPTHWISE_CONV_2D": 5,
        "FULLY_CONNECTED": 7, "GATHER": 4, "LEAKY_RELU": 2, "LOGISTIC": 3, "MAXIMUM": 4, "MAX_POOL_2D": 3, "MEAN": 3,
        "MINIMUM": 4, "MUL": 4, "PACK": 3, "PAD": 3, "PADV2": 3, "QUANTIZE": 2, "RELU": 3, "RELU6": 3,
        "RESIZE_BILINEAR": 3, "RESIZE_NEAREST_NEIGHBOR": 3, "SLICE": 4, "SOFTMAX": 3, "SPLIT": 4, "STRIDED_SLICE": 4,
        "SUB": 5, "TANH": 3, "TRANSPOSE": 4, "TRANSPOSE_CONV": 3, "UNPACK": 4, "DEQUANTIZE": 4, "REDUCE_MAX": 3,
        "REDUCE_MIN": 3,
    },
}  # fmt: skip


@functools.cache
def _table() -> dict[str, dict[int, str]]:
    text = importlib.resources.files(__package__).joinpath("runtimes.txt").read_text()
    found: dict[str, dict[int, str]] = {}
    for line in text.splitlines():
        name, *pairs = line.split()
        found[name] = {int(version): runtime for version, runtime in (pair.split("=") for pair in pairs)}
    return found


def runtime_of(code: str, version: int) -> str:
    """The oldest runtime that has an operator in a version."""
    return _table()[code][version]


def oldest_runtime(operators: Iterable[tuple[str, int]]) -> str:
    """The oldest runtime that has all of some operators, given as (code, version)."""
    needed = [_OLDEST, *[runtime_of(code, version) for code, version in operators]]
    return max(needed, key=lambda runtime: tuple(map(int, runtime.split("."))))


def quantized_version(code: str, version: int, bits: int) -> int:
    """The version of an operator whose activations are integers of so many bits."""
    return max(version, _QUANTIZED[bits].get(code, version))
