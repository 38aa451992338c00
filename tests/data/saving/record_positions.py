"""Save positions of iterators with TensorFlow, into tests/fixtures: `python record_positions.py`."""

import json
import pathlib
import tempfile
import zipfile

import position_programs
import tensorflow as tf

TARGET = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "iterator_positions.zip"

tf.random.set_seed(11)
results = {}
with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(TARGET, "w", zipfile.ZIP_LZMA) as archive:
    for name, (dataset, count) in position_programs.pipelines(tf).items():
        if name == "window":  # its elements are datasets
            dataset = dataset.flat_map(lambda part: part.batch(4))
        iterator = iter(dataset)
        for _ in range(count):
            next(iterator)
        tf.train.Checkpoint(iterator=iterator).write(f"{folder}/{name}")
        results[name] = position_programs.following(tf, iterator)
        for path in pathlib.Path(folder).glob(f"{name}.*"):
            archive.writestr(zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_LZMA)
    archive.writestr(zipfile.ZipInfo("results.json", (1980, 1, 1, 0, 0, 0)), json.dumps(results), zipfile.ZIP_LZMA)
