"""The files of a model of TensorFlow.js: `model.json`, and the values of weights one after another in binary files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from headrace._src.formats import files
from headrace._src.version import HEADRACE_VERSION

SHARD_BYTES = 4 << 20
# TensorFlow.js has no other numbers; strings are written apart.
_NARROWED = {
    **dict.fromkeys(map(np.dtype, ("int64", "int16", "int8", "uint16", "uint8")), np.int32),
    **dict.fromkeys(map(np.dtype, ("float64", "float16")), np.float32),
    np.dtype("complex128"): np.complex64,
}
_NAMES = {"f": "float32", "i": "int32", "b": "bool", "c": "complex64"}
QUANTIZATIONS = ("float16", "uint8", "uint16")


def check_quantization(kind: str | None) -> None:
    """Refuse what weights cannot be kept as.

    Raises:
        ValueError: it is something else than None or one of `QUANTIZATIONS`.
    """
    if kind not in (None, *QUANTIZATIONS):
        raise ValueError(f"quantization must be None or one of {', '.join(QUANTIZATIONS)}, got {kind!r}.")


def write_model(
    folder: str, description: dict[str, Any], weights: Iterable[tuple[str, np.ndarray]], quantization: str | None,
    shard_bytes: int = SHARD_BYTES,
) -> None:  # fmt: skip
    """Write a model.

    Args:
        folder: where to; `model.json` and `group1-shard*.bin` are written there.
        description: what `model.json` says, without the weights.
        weights: names and values.
        quantization: how numbers of weights are kept: None, "float16", "uint8" or "uint16".
        shard_bytes: how large the binary files are at most.
    """
    manifest, data = _manifest(weights, quantization)
    count = max(1, -(-len(data) // shard_bytes))
    paths = [f"group1-shard{number + 1}of{count}.bin" for number in range(count)]
    made_by = f"headrace {HEADRACE_VERSION}"
    model = {"generatedBy": made_by, "convertedBy": made_by, **description,
             "weightsManifest": [{"paths": paths, "weights": manifest}]}  # fmt: skip
    files.make_directories(folder)
    for number, path in enumerate(paths):
        files.write(files.join(folder, path), data[number * shard_bytes : (number + 1) * shard_bytes])
    files.write(files.join(folder, "model.json"), json.dumps(model).encode())


def _manifest(weights, quantization):
    """What `model.json` says of the weights, and their bytes one after another."""
    described, parts = [], []
    for name, array in weights:
        entry = {"name": name, "shape": list(array.shape)}
        if array.dtype == object:
            entry["dtype"] = "string"
            data = b"".join(len(item).to_bytes(4, "little") + item for item in array.ravel().tolist())
        else:
            array = np.ascontiguousarray(array, _NARROWED.get(array.dtype, array.dtype)).reshape(array.shape)
            if array.dtype.kind not in _NAMES:
                array = array.astype(np.float32)  # bfloat16 and its relatives
            entry["dtype"] = _NAMES[array.dtype.kind]
            if quantization is not None and entry["dtype"] == "float32" and array.size > 1:
                array, entry["quantization"] = _quantized(array, quantization)
            data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        described.append(entry)
        parts.append(data)
    return described, b"".join(parts)


def _quantized(array, kind):
    if kind == "float16":
        return array.astype(np.float16), {"dtype": "float16", "original_dtype": "float32"}
    steps = np.iinfo(kind).max
    low, high = float(array.min()), float(array.max())
    # TF.js: value = number * scale + min; zero should stay zero where it is within the range.
    scale = (high - low) / steps if high > low else 1.0
    if low < 0 < high:
        low = -round(-low / scale) * scale
    numbers = np.clip(np.round((array - low) / scale), 0, steps).astype(kind)
    return numbers, {"dtype": kind, "scale": scale, "min": low, "original_dtype": "float32"}
