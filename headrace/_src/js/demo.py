"""`headrace js-demo`: a page that loads a model of TensorFlow.js and runs it, with the runtime beside it."""

from __future__ import annotations

import importlib.resources
import json
import os
import pathlib
from typing import Any

from headrace._src.formats import files
from headrace._src.js.saving import save

RUNTIME = "@tensorflow/tfjs"
VERSION = "4.22.0"
_DTYPES = {"DT_FLOAT": "float32", "DT_DOUBLE": "float32", "DT_HALF": "float32", "DT_BFLOAT16": "float32",
           "DT_BOOL": "bool", "DT_STRING": "string", "DT_COMPLEX64": "complex64"}  # fmt: skip
_DIGITS = ([-1, 28, 28], [-1, 28, 28, 1], [-1, 784])


def write_demo(folder: str, model: str | None = None, modules: str | None = None, format: str = "graph") -> None:
    """Write a page that runs a model: digits that are drawn for a model of such images, a form for any other.

    Args:
        folder: where to: `index.html`, `demo.js`, `tf.min.js`. A model that `headrace convert js` has written there, or
            in its folder `model`, is the one to run.
        model: a SavedModel, `.keras` or `.h5` file to write into the folder first.
        modules: where npm has put the runtime: a folder `node_modules`, or the one that it is in. By default it is
            looked for in this folder, the current one, those around them, and in `NODE_PATH`.
        format: of the model: "graph" or "layers".

    Raises:
        FileNotFoundError: there is no model, or no runtime; the message says what to run.
        ValueError: `model.json` does not describe a model.
    """
    runtime = _runtime(folder, modules)
    if model is not None:
        save(model, files.join(folder, "model"), format=format)
    places = [files.join(folder, "model", "model.json"), files.join(folder, "model.json")]
    found = next((place for place in places if files.exists(place)), None)
    if found is None:
        raise FileNotFoundError(
            f"There is no model in {folder}. `headrace convert js MODEL {folder}` writes one; or name it with --model."
        )
    # With a dot: TF.js looks for the weights of a path without a slash at the top of the server.
    path = "./" + found[len(folder) :].lstrip("/\\").replace("\\", "/")
    described = {"path": path, **described_model(found)}
    page = importlib.resources.files(__package__).joinpath("page")
    text = page.joinpath("index.html").read_text(encoding="utf-8")
    files.write(
        files.join(folder, "index.html"), text.replace("/*demo*/null", _script_safe(described)).encode()
    )  # fmt: skip
    files.write(files.join(folder, "demo.js"), page.joinpath("demo.js").read_bytes())
    files.write(files.join(folder, "tf.min.js"), runtime.read_bytes())


def _script_safe(value):
    """JSON that can stand in a `script` element, whatever names are in it."""
    return json.dumps(value).replace("<", "\\u003c")


def _runtime(folder, modules) -> pathlib.Path:
    """The file of the runtime."""
    if modules is not None:
        given = pathlib.Path(modules)
        places = [given, given / "node_modules"]
    else:
        starts = [pathlib.Path(folder).absolute(), pathlib.Path.cwd()]
        places = [place / "node_modules" for start in starts for place in (start, *start.parents)]
        places += [pathlib.Path(place) for place in os.environ.get("NODE_PATH", "").split(os.pathsep) if place]
    for place in places:
        file = place / RUNTIME / "dist" / "tf.min.js"
        if file.is_file():
            return file
    raise FileNotFoundError(
        f"TensorFlow.js is not there. `npm install {RUNTIME}@{VERSION}` puts it into node_modules of the current "
        "folder; or name another one with --modules."
    )


def described_model(path: str) -> dict[str, Any]:
    """What the page must know of a model: its format, whether digits are drawn for it, and its inputs.

    Args:
        path: of its `model.json`.

    Raises:
        ValueError: that is something else.
    """
    try:
        model = json.loads(files.read(path))
        if model["format"] == "layers-model":
            kind, inputs = "layers", _layers_inputs(model["modelTopology"]["model_config"])
        else:
            kind, inputs = "graph", _graph_inputs(model["signature"]["inputs"])
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path} does not describe a model of TensorFlow.js: {error!r}.") from None
    is_digits = len(inputs) == 1 and inputs[0]["shape"] in _DIGITS and inputs[0]["dtype"] == "float32"
    return {"format": kind, "kind": "digits" if is_digits else "form", "inputs": inputs}


def _graph_inputs(signature):
    return [
        {"key": str(key), "name": str(one["name"]), "dtype": _DTYPES.get(one["dtype"], "int32"),
         "shape": _sizes(one["tensorShape"])}
        for key, one in signature.items()
    ]  # fmt: skip


def _sizes(shape):
    return None if shape.get("unknownRank") else [int(dim["size"]) for dim in shape.get("dim", [])]


def _layers_inputs(config):
    layers = {layer["config"]["name"]: layer["config"] for layer in config["config"]["layers"]}
    if config["class_name"] == "Sequential":
        names = list(layers)[:1] or [""]
    else:
        names = [name for name, _, _ in config["config"]["input_layers"]]
    return [
        {"key": str(name), "name": str(name), "dtype": str(layers[name]["dtype"]),
         "shape": [-1 if size is None else int(size) for size in layers[name]["batch_input_shape"]]}
        for name in names
    ]  # fmt: skip
