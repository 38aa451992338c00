"""What `scripts/accelerator` does: rows of ops and small trainings on an accelerator, compared with the host."""

import dataclasses
import pathlib
import sys

import numpy as np

import headrace as tf
from headrace._src.core import accelerators
from headrace._src.core.devices import canonical_name

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ops"))

import evaluation
import families
import small_trainings

# How far results may be from the host's, in units of the dtype's own precision: sums go in another order there, and
# functions such as tanh are others.
_UNITS, _UNITS_OF_TRAINING = 512, 20_000
# Rows whose results are not to be the same twice.
_OTHERWISE = ("random", "rng", "shuffle", "time", "uuid", "Unique", "id(")


@dataclasses.dataclass
class Outcome:
    """What came of many comparisons."""

    same: int = 0
    on_host: int = 0  # rows of which nothing ran on the accelerator
    different: list = dataclasses.field(default_factory=list)


def _tolerance(dtype, units):
    if dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float8")):
        precision = {"bfloat16": 2.0**-8, "float16": 2.0**-10, "float64": 2.0**-50, "complex128": 2.0**-50}
        return units * precision.get(dtype.name, 2.0**-23)
    return 0.0


def difference(got: np.ndarray, wanted: np.ndarray, units: int) -> str:
    """How an array differs from the host's; empty where it does not."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    tolerance = _tolerance(wanted.dtype, units)
    if not tolerance:
        return "" if np.array_equal(got, wanted) else "other values"
    kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
    got, wanted = got.astype(kind), wanted.astype(kind)
    finite = np.isfinite(wanted)
    scale = np.max(np.abs(wanted[finite]), initial=0.0)
    if np.allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return ""
    return f"off by {np.max(np.abs(got - wanted)[finite], initial=0.0):.3g} where values are up to {scale:.3g}"


def _differ_by_rounding(dtype, got, wanted):
    """Whether quantized values differ by no more than one: what is halfway between two may become either."""
    if not dtype.startswith("q") or got.shape != wanted.shape:
        return False
    return np.max(np.abs(got.astype(np.int64) - wanted.astype(np.int64)), initial=0) <= 1


def _different(there, here):
    if "error" in here or "error" in there:
        same = here.get("error", [None])[0] == there.get("error", [None])[0]
        return "" if same else f"raises {there.get('error')} instead of {here.get('error')}"
    pairs = [(a[1], b[1]) for a, b in zip(there["values"], here["values"]) if not _differ_by_rounding(*a, b[1])]
    pairs += [(a, b) for a, b in zip(there["grads"] or (), here["grads"] or ()) if a is not None and b is not None]
    if len(there["values"]) != len(here["values"]):
        return "another number of results"
    return next((text for a, b in pairs if (text := difference(a, b, _UNITS))), "")


def run_rows(device: str, every: int, say) -> Outcome:
    """Compare one of so many rows of each family of ops.

    Args:
        device: the name of the accelerator.
        every: 1 for all rows.
        say: called with a line of text for each difference.
    """
    outcome, number = Outcome(), 0
    accelerator = accelerators.named(canonical_name(device))
    for family in families.NAMES:
        for row in families.rows_of(family):
            number += 1
            if number % every or any(word in row.code for word in _OTHERWISE):
                continue
            here = evaluation.evaluate(tf, row)
            accelerator.forget_peak()
            with tf.device(device):
                there = evaluation.evaluate(tf, row)
            outcome.on_host += accelerator.peak == 0
            text = _different(there, here)
            if text:
                outcome.different.append((family, row.name, text))
                say(f"{family}: {row.name}: {text}")
            else:
                outcome.same += 1
    return outcome


def run_trainings(device: str, steps: int, say, trainings=None) -> Outcome:
    """Compare trainings, by default all ten."""
    return _compared(small_trainings.trained, device, "/CPU:0", steps, say, trainings)


def run_replicas(devices: list, steps: int, say, trainings=None) -> Outcome:
    """Compare trainings by replicas on several accelerators with as many on the host."""
    host = [f"CPU:{i}" for i in range(len(devices))]
    return _compared(small_trainings.trained_by_replicas, devices, host, steps, say, trainings)


def _compared(trained, there, here, steps, say, trainings):
    outcome = Outcome()
    for make in trainings or small_trainings.TRAININGS:
        expected, found = (trained(make, where, steps) for where in (here, there))
        text = next((t for a, b in zip(found, expected) if (t := difference(a, b, _UNITS_OF_TRAINING))), "")
        if text:
            outcome.different.append(("training", make.__name__, text))
            say(f"training {make.__name__}: {text}")
        else:
            outcome.same += 1
    return outcome
