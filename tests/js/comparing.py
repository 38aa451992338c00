"""Models as TensorFlow.js computes them, beside headrace: what `scripts/js_models` and the tests do."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import model_cases
import numpy as np

import headrace as tf

HERE = pathlib.Path(__file__).parent
# `scripts/js_models` installs the runtime there.
MODULES = pathlib.Path(os.environ.get("HEADRACE_JS_MODULES", HERE.parents[1] / "build" / "js")) / "node_modules"
LARGEST_ERROR = 1e-4  # of the largest number of an output
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def has_node() -> bool:
    """Whether Node and the runtime are there."""
    return shutil.which("node") is not None and (MODULES / "@tensorflow" / "tfjs").is_dir()


def browser() -> str | None:
    """The path of a Chromium that puppeteer-core can drive, if both are there."""
    found = os.environ.get("HEADRACE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    return found if found and (MODULES / "puppeteer-core").is_dir() else None


def value_for_node(array: Any) -> list:
    """An array as computing.js takes it."""
    array = np.asarray(array)
    name = "string" if array.dtype == object else {"f": "float32", "b": "bool"}.get(array.dtype.kind, "int32")
    return [array.ravel().tolist(), list(array.shape), name]


def job(folder: Any, model: Any, inputs: list, fit: dict | None = None, backend: str = "") -> dict:
    """The work for a model that was written: its inputs in the order of the model's own."""
    written = json.loads((pathlib.Path(folder) / "model.json").read_text())
    is_graph = written["format"] == "graph-model"
    keys = list(written["signature"]["inputs"]) if is_graph else [f"input_{i}" for i in range(len(inputs))]
    if is_graph and isinstance(model, tf.keras.Model) and len(inputs) > 1:
        keys = [tensor.name for tensor in model.inputs]
    given = {key: value_for_node(value) for key, value in zip(keys, inputs)}
    return {
        "folder": str(folder),
        "format": "graph" if is_graph else "layers",
        "inputs": given,
        "fit": fit,
        "backend": backend,
    }


def computed_in_node(jobs: list[dict]) -> list[dict]:
    """The outputs of models by key, as arrays; {"error": message} where there is one."""
    return _arrays(json.loads(_node("run_in_node.js", [], jobs)))


def computed_in_browser(jobs: list[dict], chromium: str, address: str, backend: str = "") -> tuple[list[dict], str]:
    """The same, and which browser it was. The folders of the jobs are below `address`."""
    found = json.loads(_node("run_in_browser.js", [chromium, address, backend], jobs))
    return _arrays(found["results"]), f"{found['version']}, {found['backend']}"


def _node(script, arguments, jobs):
    environment = {**os.environ, "NODE_PATH": str(MODULES)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(jobs, file)
        file.flush()
        command = ["node", str(HERE / script), file.name, *arguments]
        run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode:
        raise RuntimeError(f"{script}: {run.stderr}")
    return run.stdout.splitlines()[-1]


def _arrays(results):
    return [
        found if "error" in found else {key: np.array(values).reshape(shape) for key, (values, shape) in found.items()}
        for found in results
    ]


def expected_of(model: Any, inputs: list) -> dict[str, np.ndarray]:
    """What headrace computes."""
    if isinstance(model, tf.keras.Model):
        found = model(inputs[0] if len(inputs) == 1 else inputs, training=False)
    else:
        found = model(*map(tf.constant, inputs))
    if not isinstance(found, dict):
        found = {f"output_{i}": value for i, value in enumerate(tf.nest.flatten(found))}
    return {key: value.numpy() for key, value in found.items()}


def difference(found: dict, expected: dict) -> str | None:
    """What is wrong with outputs; None if nothing is."""
    if "error" in found:
        return f"error: {found['error']}"
    # Keras models name outputs by their layers: then the order counts.
    if sorted(found) != sorted(expected):
        found = dict(zip(expected, found.values())) if len(found) == len(expected) else found
    if sorted(found) != sorted(expected):
        return f"outputs {sorted(found)} instead of {sorted(expected)}"
    for key, value in expected.items():
        if found[key].shape != value.shape:
            return f"{key}: shape {found[key].shape} instead of {value.shape}"
        if value.dtype.kind in "fc":
            scale = max(float(np.abs(value).max(initial=0.0)), 1e-30)
            error = float(np.abs(found[key].astype(np.float64) - value).max(initial=0.0)) / scale
            if not error <= LARGEST_ERROR:
                return f"{key}: largest error {error:.2e} of the largest number"
        elif value.dtype == object:
            if found[key].ravel().tolist() != [item.decode() for item in value.ravel().tolist()]:
                return f"{key}: {found[key].tolist()} instead of {value.tolist()}"
        elif not np.array_equal(found[key], value):
            return f"{key}: {found[key].tolist()} instead of {value.tolist()}"
    return None


class Compared(NamedTuple):
    """A model in one format: the work, what headrace computes, and what is wrong with what the runtime does."""

    job: dict
    expected: dict[str, np.ndarray]
    difference: str | None


def compared(cases: dict, folder: Any, seed: int, compute: Callable[[list[dict]], list[dict]]) -> dict[str, Compared]:
    """Write models and compute them there and here, by "name format".

    Args:
        cases: from model_cases.py.
        folder: where models are written.
        seed: of weights and inputs.
        compute: carries out jobs.
    """
    jobs, expected = {}, {}
    for name, case in cases.items():
        tf.keras.utils.set_random_seed(seed)
        model, inputs = case.make(), model_cases.inputs_of(case, seed)
        right = expected_of(model, inputs)
        for form in case.formats:
            path = pathlib.Path(folder) / f"{name}_{form}"
            tf.js.save(model, path, format=form)
            jobs[f"{name} {form}"], expected[f"{name} {form}"] = job(path, model, inputs, backend=case.backend), right
    results = compute(list(jobs.values()))
    return {
        key: Compared(jobs[key], expected[key], difference(found, expected[key])) for key, found in zip(jobs, results)
    }


def mutate(source: Any, target: Any) -> bool:
    """Copy a written model, with another value of its largest weight of numbers; False if none has several."""
    source, target = pathlib.Path(source), pathlib.Path(target)
    (group,) = json.loads((source / "model.json").read_text())["weightsManifest"]
    data = b"".join((source / path).read_bytes() for path in group["paths"])
    place, found = 0, None
    for one in group["weights"]:
        count = int(np.prod(one["shape"], dtype=int))
        if one["dtype"] == "float32" and count > (1 if found is None else found[1]):
            found = place, count
        if one["dtype"] == "string":
            for _ in range(count):
                place += 4 + int.from_bytes(data[place : place + 4], "little")
        else:
            place += count * (1 if one["dtype"] == "bool" else 4)
    if found is None:
        return False
    shutil.copytree(source, target)
    numbers = np.frombuffer(data, np.float32, found[1], found[0])
    # Not by the same everywhere, which a softmax would not notice.
    step = max(0.5, float(np.abs(numbers).max()))
    changed = (numbers + step * (np.arange(found[1]) % 3)).astype(np.float32).tobytes()
    data = data[: found[0]] + changed + data[found[0] + len(changed) :]
    for path in group["paths"]:
        length = (source / path).stat().st_size
        (target / path).write_bytes(data[:length])
        data = data[length:]
    return True
