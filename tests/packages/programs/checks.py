"""What the programs of this folder share: results with names, as lines of JSON that `scripts/packages` reads."""

import json

import numpy as np


def plain(value):
    """A result as numbers, texts, lists and dicts."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    array = np.asarray(value)
    return array.astype(np.float64).tolist() if array.dtype.kind in "fiub" else array.astype(str).tolist()


def check(name, function):
    """Print what a function returns, or how it fails."""
    try:
        line = {"name": name, "value": plain(function())}
    except Exception as error:
        line = {"name": name, "error": f"{type(error).__name__}: {str(error)[:300]}"}
    print(json.dumps(line), flush=True)
