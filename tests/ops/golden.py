"""Golden results on disk: one .npz file a family, without pickles."""

import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden"


def _pack(array: np.ndarray, prefix: str, store: dict) -> dict:
    if array.dtype == object:
        items = [bytes(item) for item in array.ravel().tolist()]
        store[prefix] = np.frombuffer(b"".join(items), np.uint8)
        return {"kind": "bytes", "shape": array.shape, "lengths": [len(item) for item in items]}
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        store[prefix] = array.view(f"u{array.dtype.itemsize}") if array.ndim else array.reshape(1).view(
            f"u{array.dtype.itemsize}"
        )
        return {"kind": "bits", "shape": array.shape, "dtype": array.dtype.name}
    store[prefix] = array
    return {"kind": "array"}


def _unpack(how: dict, stored: np.ndarray) -> np.ndarray:
    if how["kind"] == "array":
        return stored
    if how["kind"] == "bits":
        import ml_dtypes

        return stored.view(np.dtype(getattr(ml_dtypes, how["dtype"]))).reshape(how["shape"])
    data, items, at = stored.tobytes(), [], 0
    for length in how["lengths"]:
        items.append(data[at : at + length])
        at += length
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(how["shape"])


def save(family: str, results: dict):
    """Write {row key: what `evaluate` returned}."""
    store, index = {}, {}
    for number, (key, result) in enumerate(sorted(results.items())):
        if "error" in result:
            index[key] = {"error": result["error"]}
            continue
        values = [
            [dtype, _pack(array, f"{number}.v{i}", store), f"{number}.v{i}"]
            for i, (dtype, array) in enumerate(result["values"])
        ]
        grads = result["grads"]
        if grads is not None:
            grads = [
                None if g is None else [_pack(g, f"{number}.g{i}", store), f"{number}.g{i}"]
                for i, g in enumerate(grads)
            ]
        index[key] = {"values": values, "grads": grads}
    text = json.dumps(index, separators=(",", ":")).encode()
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / f"{family}.npz", index=np.frombuffer(text, np.uint8), **store)


def load(family: str) -> dict:
    """Read what `save` wrote; empty when there is no file."""
    path = FOLDER / f"{family}.npz"
    if not path.exists():
        return {}
    with np.load(path) as archive:
        index = json.loads(archive["index"].tobytes())
        results = {}
        for key, entry in index.items():
            if "error" in entry:
                results[key] = entry
                continue
            values = [(dtype, _unpack(how, archive[at])) for dtype, how, at in entry["values"]]
            grads = entry["grads"]
            if grads is not None:
                grads = [None if g is None else _unpack(g[0], archive[g[1]]) for g in grads]
            results[key] = {"values": values, "grads": grads}
    return results
