"""Looking into checkpoints: by folder or prefix, of both versions, what is listed and what is read."""

import json
import os
import pathlib

import numpy as np
import pytest

import headrace as tf
from headrace._src.checkpoint import reading

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "bundles"


def test_what_is_listed():
    reader = tf.train.load_checkpoint(GOLDEN / "dtypes")
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert shapes["numbers/float32"] == [2, 3]
    assert dtypes["small/float8_e5m2"] is tf.dtypes.experimental.float8_e5m2
    assert tf.train.list_variables(str(GOLDEN / "dtypes")) == sorted(shapes.items())
    lines = reader.debug_string().decode().splitlines()
    assert lines[0] == "a scalar (DT_FLOAT) []"
    assert "numbers/float16 (DT_HALF) [2,3]" in lines
    assert "quantized/qint16 (DT_QINT16) [3]" in lines


def test_what_is_read():
    reader = tf.compat.v1.train.NewCheckpointReader(str(GOLDEN / "dtypes"))
    assert reader.has_tensor("a scalar")
    assert not reader.has_tensor(b"none")
    assert isinstance(reader.get_tensor("a scalar"), np.float32)
    assert reader.get_tensor("strings/one") == b"x"
    assert tf.train.load_variable(str(GOLDEN / "dtypes"), "numbers/int8:0").tolist() == [[3, 0, 7], [1, 2, 4]]
    with pytest.raises(tf.errors.NotFoundError, match="Key none not found in checkpoint"):
        reader.get_tensor("none")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        reader.get_tensor(3)
    with pytest.raises(tf.errors.InternalError, match="type 21 not convertible"):
        tf.train.load_checkpoint(GOLDEN / "variants").get_tensor("list")


def test_partitioned_variables():
    reader = tf.train.load_checkpoint(GOLDEN / "merged")
    assert reader.get_variable_to_shape_map() == {"p": [4, 3], "whole": []}
    assert reader.debug_string() == b"p (DT_FLOAT) [4,3], 2 slices\nwhole (DT_FLOAT) []\n"
    np.testing.assert_array_equal(reader.get_tensor("p"), np.arange(12.0).reshape(4, 3))


def test_the_first_version():
    values = json.loads((GOLDEN / "first_version.json").read_text())
    reader = tf.train.load_checkpoint(str(GOLDEN / "first_version"))
    assert reader.get_variable_to_shape_map() == {"numbers": [2, 2], "p/part": [5, 2], "strings": [2]}
    assert reader.get_tensor("numbers").tolist() == values["numbers"]
    assert reader.get_tensor("p/part").tolist() == values["p/part"]
    assert reader.get_tensor("strings").tolist() == [b"a", b"bcd"]
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        reader.get_tensor("none")


def test_folders_and_what_is_not_there(tmp_path):
    tf.raw_ops.SaveV2(prefix=str(tmp_path / "m-1"), tensor_names=["x"], shape_and_slices=[""], tensors=[tf.ones([2])])
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory"):
        tf.train.load_checkpoint(tmp_path)
    tf.compat.v1.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "m-1"))
    assert tf.train.load_variable(tmp_path, "x").tolist() == [1, 1]
    assert tf.train.list_variables(tmp_path / "m-1.index") == [("x", [2])]
    assert "m-1" in repr(tf.train.load_checkpoint(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for"):
        tf.train.load_checkpoint(str(tmp_path / "m-2"))
    (tmp_path / "text").write_text("no checkpoint, but long enough to have an end that could be one: it is not")
    with pytest.raises(tf.errors.DataLossError, match=r"text: not an sstable \(bad magic number\)"):
        tf.train.load_checkpoint(str(tmp_path / "text"))


def test_waiting_for_checkpoints(tmp_path, monkeypatch):
    def sleep(seconds):
        clock[0] += seconds
        if clock[0] >= 5 and len(names) < 2:
            names.append("m-2")
            save()

    def save():
        prefix = str(tmp_path / names[-1])
        tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["x"], shape_and_slices=[""], tensors=[tf.ones([2])])
        tf.compat.v1.train.update_checkpoint_state(str(tmp_path), prefix)

    clock, names, asked = [0.0], ["m-1"], []
    monkeypatch.setattr(reading.time, "time", lambda: clock[0])
    monkeypatch.setattr(reading.time, "sleep", sleep)
    assert list(tf.train.checkpoints_iterator(str(tmp_path / "none"), timeout=3)) == []
    clock[0] = 0.0
    save()
    paths = tf.train.checkpoints_iterator(
        str(tmp_path), timeout=2, min_interval_secs=1, timeout_fn=lambda: asked.append(clock[0]) or len(asked) > 3
    )
    assert [os.path.basename(path) for path in paths] == ["m-1", "m-2"]
    assert len(asked) == 4
