"""Save positions of iterators with TensorFlow, into tests/fixtures: `python record_positions.py`."""

import importlib
import json
import pathlib
import tempfile
import zipfile

import position_programs

TARGET = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "iterator_positions.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive each time


def record(tf, folder, archive):
    """Put each position into the archive, and what follows it."""
    results = {}
    for name, (dataset, count) in position_programs.pipelines(tf).items():
        iterator = iter(dataset)
        for _ in range(count):
            next(iterator)
        tf.train.Checkpoint(iterator=iterator).write(f"{folder}/{name}")
        results[name] = position_programs.following(tf, iterator)
        for path in pathlib.Path(folder).glob(f"{name}.*"):
            archive.writestr(zipfile.ZipInfo(path.name, EPOCH), path.read_bytes(), zipfile.ZIP_LZMA)
    archive.writestr(zipfile.ZipInfo("results.json", EPOCH), json.dumps(results), zipfile.ZIP_LZMA)


if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")  # only here: this file is also looked through for doctests
    tf.random.set_seed(11)
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(TARGET, "w", zipfile.ZIP_LZMA) as target:
        record(tf, temporary, target)
