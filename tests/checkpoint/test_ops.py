"""The ops of saving do what TensorFlow's do: values, files and errors, eagerly, in functions and in sessions."""

import json
import pathlib

import numpy as np
import pytest
import saving_programs

import headrace as tf
from headrace._src.formats.slice_files import SliceFiles
from headrace._src.formats.tensor_slices import TensorSlice

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
RECORDED = json.loads((GOLDEN / "saving.json").read_text())
R = tf.raw_ops

# Where headrace says or does something else on purpose.
OTHERWISE = {
    # All folders of a path are made, not only the last one.
    "save makes folders": {"value": ["a/b/p.data-00000-of-00001", "a/b/p.index"]},
    "another dtype": {
        "error": "InvalidArgumentError",
        "text": "expected dtype int32 does not equal original dtype float32",
    },
    "first version, another dtype": {
        "error": "InvalidArgumentError",
        "text": "Expected to restore a tensor of type int32, got a tensor of type float32 instead",
    },
    "a slice of another shape": {
        "error": "InvalidArgumentError",
        "text": "does not match the shape of the tensor to save: 4 1,3, tensor: [2]",
    },
    "merge what is missing": {
        "error": "InvalidArgumentError",
        "text": "allow_missing_files was set to false and p_temp/2 did not exist",
    },
    "merge nothing": {
        "error": "InvalidArgumentError",
        "text": "At least one prefix checkpoint file must exist, but none existed",
    },
    "no names": {"error": "InvalidArgumentError", "text": "Length for attr 'dtypes' of 0 must be at least minimum 1"},
}


@pytest.mark.parametrize("name", sorted(saving_programs.OPS))
def test_programs(name):
    wanted = OTHERWISE.get(name, RECORDED[name])
    got = saving_programs.result_of(tf, saving_programs.OPS[name])
    assert got.get("error") == wanted.get("error"), got
    assert got.get("value") == wanted.get("value")
    if "text" in wanted:
        assert wanted["text"] in got["text"]


def test_nothing_is_left_out():
    assert set(saving_programs.PROGRAMS) == set(RECORDED)


def test_missing_keys_are_counted(tmp_path):
    R.SaveV2(prefix=f"{tmp_path}/p", tensor_names=["x"], shape_and_slices=[""], tensors=[1.0])
    names, dtypes = ["a", "x", "b"], ["float32"] * 3
    with pytest.raises(tf.errors.NotFoundError, match=r"Key a not found in checkpoint .*/p \(2 keys are .* a, b"):
        R.RestoreV2(prefix=f"{tmp_path}/p", tensor_names=names, shape_and_slices=[""] * 3, dtypes=dtypes)


def test_resources_cannot_be_saved(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x' is a resource or variant"):
        R.SaveV2(prefix=f"{tmp_path}/p", tensor_names=["x"], shape_and_slices=[""], tensors=[tf.Variable(1.0).handle])
    assert not list(tmp_path.iterdir())


def test_saving_again_replaces(tmp_path):
    for value in (1.0, 2.0):
        R.SaveV2(prefix=f"{tmp_path}/p", tensor_names=["x"], shape_and_slices=[""], tensors=[value])
    (x,) = R.RestoreV2(prefix=f"{tmp_path}/p.index", tensor_names=["x"], shape_and_slices=[""], dtypes=["float32"])
    assert x.numpy() == 2.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.data-00000-of-00001", "p.index"]


def test_merging_over_a_checkpoint_of_another_number_of_shards(tmp_path):
    target = f"{tmp_path}/p"
    for count in (3, 1, 2):
        parts = [f"{tmp_path}/t/{i}" for i in range(count)]
        for i, part in enumerate(parts):
            R.SaveV2(prefix=part, tensor_names=[f"x{i}"], shape_and_slices=[""], tensors=[i + count])
        R.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=target)
        names = [f"x{i}" for i in range(count)]
        values = R.RestoreV2(prefix=target, tensor_names=names, shape_and_slices=[""] * count, dtypes=["int32"] * count)
        assert [int(value) for value in values] == [i + count for i in range(count)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "p.data-00000-of-00002", "p.data-00001-of-00002", "p.index",
    ]  # fmt: skip


def test_merging_the_same_key(tmp_path):
    for i in range(2):
        R.SaveV2(prefix=f"{tmp_path}/{i}", tensor_names=["x"], shape_and_slices=[""], tensors=[i])
    with pytest.raises(tf.errors.InvalidArgumentError, match="have the key 'x'"):
        R.MergeV2Checkpoints(checkpoint_prefixes=[f"{tmp_path}/0", f"{tmp_path}/1"], destination_prefix=f"{tmp_path}/p")
    (x,) = R.RestoreV2(prefix=f"{tmp_path}/1", tensor_names=["x"], shape_and_slices=[""], dtypes=["int32"])
    assert int(x) == 1


def test_merging_in_memory(tmp_path):
    """Where files cannot be renamed, the tensors are written again."""
    for i in range(2):
        R.SaveV2(
            prefix=f"ram://merging/t/{i}", tensor_names=["x", f"y{i}"], shape_and_slices=[f"4 {2 * i},2", ""],
            tensors=[[2 * i, 2 * i + 1], i],
        )  # fmt: skip
    parts = ["ram://merging/t/0", "ram://merging/t/1"]
    R.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix="ram://merging/p")
    x, y = R.RestoreV2(
        prefix="ram://merging/p", tensor_names=["x", "y1"], shape_and_slices=["", ""], dtypes=["int32", "int32"]
    )
    assert x.numpy().tolist() == [0, 1, 2, 3]
    assert int(y) == 1
    assert not tf.io.gfile.exists("ram://merging/t")


def test_files_of_the_first_version_by_tensorflow():
    files = SliceFiles(str(GOLDEN / "saving" / "first_version"))
    assert {name: (stored.dtype.name, stored.shape) for name, stored in files.tensors.items()} == {
        "b": ("bool", (1, 2)), "e": ("int64", (0, 3)), "s": ("string", ()), "x": ("float32", (4,)),
        "h": ("float16", (2,)), "c": ("complex64", (2,)), "u": ("uint8", (2,)),
    }  # fmt: skip
    assert files.read("x").tolist() == [1, 2, 3, 4]
    assert files.read("x", TensorSlice((1,), (2,))).tolist() == [2, 3]
    assert files.read("b").tolist() == [[True, False]]
    assert files.read("s")[()] == b"hello"
    assert files.read("e").shape == (0, 3)
    assert files.read("h").tolist() == [0.5, -2.0]
    assert files.read("c").tolist() == [1 + 2j, 3j]
    assert files.read("u").tolist() == [200, 7]


def test_the_same_bytes_as_tensorflow(tmp_path):
    R.SaveSlices(
        filename=f"{tmp_path}/f",
        tensor_names=["x", "x", "b", "s", "e", "h", "c", "u"],
        shapes_and_slices=["4 0,2", "4 2,2", "", "", "", "", "", ""],
        data=[
            tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant([[True, False]]), tf.constant("hello"),
            tf.zeros([0, 3], tf.int64), tf.constant([0.5, -2.0], tf.float16), tf.constant([1 + 2j, 3j], tf.complex64),
            tf.constant([200, 7], tf.uint8),
        ],
    )  # fmt: skip
    assert (tmp_path / "f").read_bytes() == (GOLDEN / "saving" / "first_version").read_bytes()


def test_damaged_files_of_the_first_version(tmp_path):
    data = bytearray((GOLDEN / "saving" / "first_version").read_bytes())
    path = tmp_path / "f"
    rng, messages = np.random.default_rng(0), []
    for _ in range(200):
        damaged = bytearray(data)
        if rng.random() < 0.3:
            damaged = damaged[: rng.integers(len(data))]
        else:
            damaged[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            files = SliceFiles(str(path))
            for name in files.tensors:
                files.read(name)
        except tf.errors.OpError as error:
            messages.append(str(error))
    assert len(messages) > 150
    assert all(str(path) in message for message in messages)
