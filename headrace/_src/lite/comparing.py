"""How much the results of two files of a model differ, as of one with floating-point numbers and a quantized one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from headrace._src.core import errors
from headrace._src.lite.interpreter import Interpreter
from headrace._src.op.api import api


class OutputDifference(NamedTuple):
    """How much an output differs.

    Attributes:
        name: of the output.
        largest_error: the largest difference of two numbers.
        mean_error: the mean of all differences, without their signs.
        largest_value: the largest number of the first model, without its sign, which tells how much an error is.
        samples: how many examples were computed.
    """

    name: str
    largest_error: float
    mean_error: float
    largest_value: float
    samples: int


@api("lite.compare", dispatch=False)
def compare(model, other, samples, signature_key=None) -> list[OutputDifference]:
    """What two models make of the same inputs; where one takes or gives integers, their scales are applied.

    Args:
        model: the contents of a `.tflite` file, such as one with floating-point numbers.
        other: those of the file to compare with it, such as a quantized one.
        samples: examples of inputs, as a `representative_dataset` gives them: an iterable (or a function that returns
            one) of lists of arrays, or of dictionaries by the names of inputs.
        signature_key: which signature; by default the first.

    >>> model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
    >>> data = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    >>> [row] = tf.lite.compare(data, data, [[np.ones((1, 4), np.float32)]])  # doctest: +SKIP
    >>> row.largest_error  # doctest: +SKIP
    0.0

    Raises:
        InvalidArgumentError: the models have no signature, or the examples do not fit.
    """
    first, second = (Interpreter(model_content=content) for content in (model, other))
    key = signature_key or next(iter(first.get_signature_list()), None)
    if key is None:
        raise errors.invalid_argument("lite.compare: the models have no signature.")
    found: dict[str, _Sum] = {}
    given = samples() if callable(samples) else samples
    for sample in named_samples(given, first.get_signature_list()[key]["inputs"], key):
        one, another = (_outputs(runner, key, sample) for runner in (first, second))
        for name, value in one.items():
            found.setdefault(name, _Sum()).add(value, another[name])
    return [total.difference(name) for name, total in found.items()]


def named_samples(samples: Iterable[Any], names: list[str], key: str) -> Iterable[dict[str, np.ndarray]]:
    """Examples of inputs by their names; those that are for other signatures are left out.

    Raises:
        InvalidArgumentError: there are too many arrays, or too few.
    """
    for sample in samples:
        if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
            if sample[0] != key:
                continue
            sample = sample[1]
        if not isinstance(sample, Mapping):
            parts = sample if isinstance(sample, (list, tuple)) else [sample]
            if len(parts) != len(names):
                raise errors.invalid_argument(
                    f"representative_dataset gave {len(parts)} arrays for the inputs {', '.join(names)}."
                )
            sample = dict(zip(names, parts))
        yield {name: np.asarray(getattr(value, "numpy", lambda value=value: value)()) for name, value in sample.items()}


class _Sum:
    """Differences of one output so far."""

    def __init__(self):
        self._largest = self._total = self._value = 0.0
        self._count = self._samples = 0

    def add(self, one, other):
        error = np.abs(one.astype(np.float64) - other)
        self._samples += len(one) if one.ndim else 1
        if error.size:
            self._largest = max(self._largest, float(error.max()))
            self._value = max(self._value, float(np.abs(one).max()))
            self._total += float(error.sum())
            self._count += error.size

    def difference(self, name):
        mean = self._total / self._count if self._count else 0.0
        return OutputDifference(name, self._largest, mean, self._value, self._samples)


def _outputs(interpreter, key, sample):
    """The results of a model for an example, as floating-point numbers."""
    runner = interpreter.get_signature_runner(key)
    inputs, outputs = runner.get_input_details(), runner.get_output_details()
    for name in sample:
        if name not in inputs:
            raise errors.invalid_argument(f"The model has no input {name!r}; its inputs are {', '.join(inputs)}.")
    results = runner(**{name: quantized_input(value, inputs[name]) for name, value in sample.items()})
    return {name: _dequantized(value, outputs[name]) for name, value in results.items()}


def quantized_input(value: np.ndarray, details: dict) -> np.ndarray:
    """An input as a model takes it: integers, where it has a scale for them."""
    scale, zero = details["quantization"]
    if not scale or value.dtype == details["dtype"]:
        return value
    limits = np.iinfo(details["dtype"])
    return np.clip(np.round(value / scale) + zero, limits.min, limits.max).astype(details["dtype"])


def _dequantized(value, details):
    scale, zero = details["quantization"]
    return (value.astype(np.float64) - zero) * scale if scale else value


def report_text(rows: list[OutputDifference], sizes: tuple[int, int]) -> str:
    """A table of differences, for people."""
    lines = [f"{'output':24s} {'largest error':>14s} {'mean error':>12s} {'largest value':>14s}"]
    for row in rows:
        lines.append(f"{row.name:24.24s} {row.largest_error:14.6g} {row.mean_error:12.6g} {row.largest_value:14.6g}")
    before, after = sizes
    count = rows[0].samples if rows else 0
    lines.append(f"{count} examples; {before} bytes with floating-point numbers, {after} bytes now")
    return "\n".join(lines)
