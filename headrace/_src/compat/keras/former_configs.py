"""Models that Keras 2 described, in `.h5`, `.keras` and JSON files, in the words of Keras 3.

Keras 3 refuses arguments that it no longer has, even where they say what is so anyway. `replacements.py` says
where in Keras these functions go; which output goes into which layer is in `former_graphs.py`.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import importlib
import json
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from headrace._src.ops.math.clipping import clip_by_value


class _Gone(NamedTuple):
    """An argument that Keras 3 does not have."""

    classes: str  # how the names of the classes begin
    argument: str
    harmless: tuple | None = None  # the values that say what Keras 3 does in any case; None: all


_CONVOLUTIONS = ("DepthwiseConv", "SeparableConv", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
_GONE = (
    _Gone("", "time_major", (False,)),
    _Gone("", "rng_type"),
    _Gone("", "force_generator"),
    _Gone("", "is_legacy_optimizer"),
    _Gone("BatchNormalization", "fused"),
    _Gone("BatchNormalization", "virtual_batch_size", (None,)),
    _Gone("BatchNormalization", "adjustment", (None,)),
    _Gone("Embedding", "input_length"),
    _Gone("InputLayer", "ragged", (False,)),
    _Gone("MultiHeadAttention", "query_shape"),
    _Gone("MultiHeadAttention", "key_shape"),
    _Gone("MultiHeadAttention", "value_shape"),
    _Gone("MultiHeadAttention", "softmax_robust_masking", (False,)),
    *(_Gone(layer, "groups", (1,)) for layer in _CONVOLUTIONS),
    *(_Gone(layer, f"kernel_{part}") for layer in _CONVOLUTIONS[:2]
      for part in ("initializer", "regularizer", "constraint")),
)  # fmt: skip
_MODULES = {"engine.functional": "keras.src.models.functional", "engine.sequential": "keras"}
_MODELS = {"Functional": "keras.src.models.functional", "Model": "keras", "Sequential": "keras"}
_AXES = "former_axes"  # where several axes wait while Keras looks for a single one


_of_keras_2 = contextvars.ContextVar("of_keras_2", default=False)  # whether a file of Keras 2 is being read


@contextlib.contextmanager
def reading(version: str | None) -> Iterator[None]:
    """Lets descriptions that are read in the block mean what they mean in this version of Keras."""
    token = _of_keras_2.set(str(version or "").startswith(("1.", "2.")))
    try:
        yield
    finally:
        _of_keras_2.reset(token)


def load_model_from_hdf5(original, filepath, *args, **kwargs):
    """Load a model from an HDF5 file, which says which Keras wrote it."""
    h5py = importlib.import_module("h5py")
    if isinstance(filepath, h5py.File):
        version = filepath.attrs.get("keras_version")
    else:
        with h5py.File(filepath, "r") as file:
            version = file.attrs.get("keras_version")
    with reading(version.decode() if isinstance(version, bytes) else version):
        return original(filepath, *args, **kwargs)


def load_model_from_archive(original, fileobj, *args, **kwargs):
    """Load a model from a `.keras` file, which says which Keras wrote it."""
    with zipfile.ZipFile(fileobj) as archive:
        known = "metadata.json" in archive.namelist()
        version = json.loads(archive.read("metadata.json")).get("keras_version") if known else None
    fileobj.seek(0)
    with reading(version):
        return original(fileobj, *args, **kwargs)


def deserialize(original, config, *args, **kwargs):
    """Make an object from its description, which may be one of Keras 2."""
    if isinstance(config, dict) and "keras_version" in config:  # a model in JSON
        with reading(config["keras_version"]):
            return original(modern(config), *args, **kwargs)
    return original(modern(config), *args, **kwargs)


def model_from_config(original, config, *args, **kwargs):
    """Make a layer or model from its description in an HDF5 file. Keras would drop `axis` if it is several."""
    settings = config.get("config") if isinstance(config, dict) else None
    if isinstance(settings, dict) and isinstance(settings.get("axis"), list) and len(settings["axis"]) > 1:
        others = {name: value for name, value in settings.items() if name != "axis"}
        config = {**config, "config": {**others, _AXES: settings["axis"]}}
    return original(config, *args, **kwargs)


def init_attention(original, self, use_scale=False, score_mode="dot", **kwargs):
    """Keras takes `score_mode="dot"` in an HDF5 file for the name of its function `dot`."""
    original(self, use_scale, getattr(score_mode, "__name__", score_mode), **kwargs)


def modern(config: Any) -> Any:
    """The description of an object in the words of Keras 3; those of its parts stay as they are.

    Raises:
        ValueError: it says what Keras 3 cannot do.
    """
    if not _is_of_keras(config):
        return config
    name, settings = config["class_name"], dict(config["config"])
    for gone in _GONE:
        if gone.argument in settings and name.startswith(gone.classes):
            value = settings.pop(gone.argument)
            if gone.harmless is not None and value not in gone.harmless:
                raise ValueError(
                    f"{name} {settings.get('name', '')!r} was saved by Keras 2 with {gone.argument}={value!r}, which "
                    "Keras 3 does not have. Save the model without it, or load it with Keras 2 (tf_keras)."
                )
    _rename(name, settings)
    result = {**config, **_place(config), "config": settings}
    if name == "MultiHeadAttention" and _of_keras_2.get():
        result.pop("build_config", None)  # it has one shape where Keras 3 wants three; the first call builds the layer
    return result


def _is_of_keras(config) -> bool:
    """Whether this describes an object of Keras's own, and not one of the user's."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict) or "class_name" not in config:
        return False
    module = config.get("module")
    return module is None or module.partition(".")[0] in ("keras", "tf_keras")


def _rename(name, settings):
    """Change values and names of arguments to today's."""
    if _AXES in settings:
        settings["axis"] = settings.pop(_AXES)
    if name == "InputLayer" and "batch_input_shape" in settings:
        settings["batch_shape"] = settings.pop("batch_input_shape")
    if name == "BatchNormalization" and isinstance(settings.get("axis"), list) and len(settings["axis"]) == 1:
        settings["axis"] = settings["axis"][0]
    if "learning_rate" in settings:  # an optimizer
        settings.pop("jit_compile", None)
        if name.lower() == "nadam":
            settings.pop("decay", None)  # there, it was not of the learning rate
    if _of_keras_2.get():
        for argument in ("activation", "recurrent_activation"):
            if settings.get(argument) == "hard_sigmoid":
                settings[argument] = _hard_sigmoid()
    dtype = settings.get("dtype")
    if isinstance(dtype, dict) and dtype.get("class_name") in ("Policy", "PolicyV1"):
        settings["dtype"] = dtype["config"]["name"]


def _place(config) -> dict[str, Any]:
    """Where the class of an object is today, if it has moved."""
    module = config.get("module") or ""
    if not module and _of_keras_2.get() and config["class_name"] in vars(importlib.import_module("keras").layers):
        return {"module": "keras.layers", "registered_name": None}
    if not module and "keras_version" in config and config["class_name"] in _MODELS:
        return {"module": _MODELS[config["class_name"]], "registered_name": config["class_name"]}
    if module.startswith("keras.optimizers.legacy"):
        return {"module": "keras.optimizers"}
    for former, today in _MODULES.items():
        if module.endswith(former):
            return {"module": today, "registered_name": config["class_name"]}
    return {}


@functools.cache
def _hard_sigmoid():
    """`hard_sigmoid` of Keras 2, whose slope is another than that of Keras 3."""
    keras = importlib.import_module("keras")

    @keras.saving.register_keras_serializable(package="headrace")
    def former_hard_sigmoid(x):
        return clip_by_value(0.2 * x + 0.5, 0.0, 1.0)

    return former_hard_sigmoid
