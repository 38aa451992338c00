"""Record with the format's own library (`pip install safetensors torch`) the files that tests compare with ours."""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "golden" / "safetensors"
DTYPES = {
    "bool": "bool", "uint8": "uint8", "int8": "int8", "float8_e5m2": "float8_e5m2", "float8_e4m3fn": "float8_e4m3fn",
    "float8_e4m3fnuz": "float8_e4m3fnuz", "float8_e5m2fnuz": "float8_e5m2fnuz", "int16": "int16", "uint16": "uint16",
    "float16": "float16", "bfloat16": "bfloat16", "int32": "int32", "uint32": "uint32", "float32": "float32",
    "complex64": "complex64", "float64": "float64", "int64": "int64", "uint64": "uint64",
}  # fmt: skip
VALUES = [[0.0, 1.0, 2.0], [3.0, 4.0, 1.5]]
METADATA = {"format": 'tf ü " \\ \n'}


def _record():
    import safetensors.torch
    import torch

    FOLDER.mkdir(exist_ok=True)
    numbers = torch.tensor(VALUES)
    tensors = {f"numbers/{name}": numbers.to(getattr(torch, kind)) for name, kind in DTYPES.items()}
    tensors |= {
        'ünicode "quoted"\n': torch.tensor(7.0),
        "empty": torch.zeros(0, 3),
        "b": torch.ones(1),
        "a": torch.ones(2),
    }
    safetensors.torch.save_file(tensors, FOLDER / "dtypes.safetensors", METADATA)
    safetensors.torch.save_file({}, FOLDER / "nothing.safetensors")
    shards = {"model-00001-of-00002.safetensors": ["x", "y"], "model-00002-of-00002.safetensors": ["z"]}
    for number, (file, names) in enumerate(shards.items()):
        safetensors.torch.save_file({name: torch.full([3], float(number)) for name in names}, FOLDER / file)
    index = {
        "metadata": {"total_size": 36},
        "weight_map": {name: file for file, names in shards.items() for name in names},
    }
    (FOLDER / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


if __name__ == "__main__":
    _record()
