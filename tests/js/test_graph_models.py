"""Graph models for TensorFlow.js: what is in the files."""

import json
import pathlib
import re

import numpy as np
import pytest

import headrace as tf
from headrace._src.cli.convert import main
from headrace._src.js.supported_operations import supported_ops


class Affine(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1.0, -2.0], [0.5, 3.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        tf.debugging.assert_all_finite(x, "finite")
        return {"y": self._inner(x), "n": tf.shape(x)[0]}

    @tf.function
    def _inner(self, x):
        return tf.nn.relu(x @ self.w) + 2.0


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
def halved_often(x):
    for i in tf.range(4):
        x = x * 0.5 if tf.reduce_sum(x) > 3.0 else x + tf.cast(i, tf.float32)
    return x


def model_in(folder):
    return json.loads((pathlib.Path(folder) / "model.json").read_text())


def test_files(tmp_path):
    tf.js.save(Affine(), tmp_path / "model")
    model = model_in(tmp_path / "model")
    assert model["format"] == "graph-model"
    assert model["signature"]["inputs"]["x"]["dtype"] == "DT_FLOAT"
    assert model["signature"]["inputs"]["x"]["tensorShape"] == {"dim": [{"size": "-1"}, {"size": "2"}]}
    assert sorted(model["signature"]["outputs"]) == ["n", "y"]
    ops = {node["op"] for node in model["modelTopology"]["node"]}
    assert ops <= supported_ops()
    assert not ops & {"PartitionedCall", "StatefulPartitionedCall", "ReadVariableOp", "Assert", "CheckNumerics"}
    (group,) = model["weightsManifest"]
    sizes = {"float32": 4, "int32": 4, "bool": 1}
    expected = sum(sizes[one["dtype"]] * int(np.prod(one["shape"])) for one in group["weights"])
    assert sum((tmp_path / "model" / path).stat().st_size for path in group["paths"]) == expected
    names = [node["name"] for node in model["modelTopology"]["node"]]
    assert len(names) == len(set(names))
    for node in model["modelTopology"]["node"]:
        if node["op"] == "Const":
            assert "tensorContent" not in node["attr"]["value"]["tensor"]


def test_constants_of_functions_have_names_of_their_own(tmp_path):
    tf.js.save(halved_often.get_concrete_function(), tmp_path)
    model = model_in(tmp_path)
    weights = [one["name"] for one in model["weightsManifest"][0]["weights"]]
    assert len(weights) == len(set(weights))
    functions = model["modelTopology"]["library"]["function"]
    assert len(functions) >= 4
    for function in functions:
        for node in function["nodeDef"]:
            assert node["op"] in supported_ops()
            assert node["op"] != "Const" or node["name"].startswith(function["signature"]["name"])


def test_shards_and_quantization(tmp_path):
    class Large(tf.Module):
        def __init__(self):
            self.w = tf.Variable(np.linspace(-1, 1, 1_500_000, dtype=np.float32))

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
        def __call__(self, x):
            return x * self.w

    tf.js.save(Large(), tmp_path / "plain")
    assert [len(path.read_bytes()) for path in sorted((tmp_path / "plain").glob("*.bin"))] == [
        4 << 20,
        6_000_000 - (4 << 20),
    ]
    for kind, size in (("float16", 2), ("uint16", 2), ("uint8", 1)):
        tf.js.save(Large(), tmp_path / kind, quantization=kind)
        (entry,) = [
            one for one in model_in(tmp_path / kind)["weightsManifest"][0]["weights"] if one["shape"] == [1_500_000]
        ]
        assert entry["quantization"]["dtype"] == kind
        data = np.frombuffer(b"".join(p.read_bytes() for p in sorted((tmp_path / kind).glob("*.bin"))), kind)
        assert data.nbytes == size * 1_500_000
        values = data * entry["quantization"].get("scale", 1.0) + entry["quantization"].get("min", 0.0)
        np.testing.assert_allclose(values, np.linspace(-1, 1, 1_500_000), atol=0.005)
    with pytest.raises(ValueError, match="quantization"):
        tf.js.save(Large(), tmp_path / "bad", quantization="int4")


class Lacking(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return tf.roll(self._inner(x), 1, 0)

    @tf.function
    def _inner(self, x):
        for _ in tf.range(3):
            x = tf.math.lgamma(x)
        return x


@pytest.mark.parametrize("is_saved", [False, True])
def test_operations_that_the_runtime_lacks_are_all_named_with_lines(tmp_path, is_saved):
    module = Lacking()
    lines = pathlib.Path(__file__).read_text().splitlines()
    places = [
        rf"{op} \({op} at {re.escape(__file__)}:{next(i for i, line in enumerate(lines, 1) if text in line)}\)"
        for op, text in (("Lgamma", "x = tf.math.lgamma"), ("Roll", "return tf.roll"))
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="; ".join(places)):
        tf.js.save(module if is_saved else module.__call__.get_concrete_function(), tmp_path)
    tf.saved_model.save(module, str(tmp_path / "saved"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Lgamma \(Lgamma of .*\); Roll \([\w/]*Roll\)"):
        tf.js.save(tmp_path / "saved", tmp_path)


class Words(tf.Module):
    def __init__(self):
        initializer = tf.lookup.KeyValueTensorInitializer(["cat", "mat"], tf.constant([3, 5], tf.int64))
        self.table = tf.lookup.StaticHashTable(initializer, -1)

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.string, name="words")])
    def __call__(self, words):
        return self.table.lookup(words)


def test_tables_are_filled_by_a_graph_of_their_own(tmp_path):
    tf.js.save(Words(), tmp_path)
    model = model_in(tmp_path)
    (table,) = [node["name"] for node in model["modelTopology"]["node"] if node["op"] == "HashTableV2"]
    filling = {node["op"]: node for node in model["modelInitializer"]["node"] if node["op"] != "Const"}
    assert filling["HashTableV2"]["name"] == table
    assert filling["LookupTableImportV2"]["input"] == [table, f"{table}/keys", f"{table}/values"]
    weights = {one["name"]: one for one in model["weightsManifest"][0]["weights"]}
    assert weights[f"{table}/keys"]["dtype"] == "string"
    assert weights[f"{table}/values"] == {"name": f"{table}/values", "shape": [2], "dtype": "int32"}
    data = (tmp_path / "group1-shard1of1.bin").read_bytes()
    assert b"\3\0\0\0cat\3\0\0\0mat" + np.int32([3, 5]).tobytes() in data


def test_a_table_of_vectors_is_refused(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def find(keys):
        return table.lookup(keys)

    with pytest.raises(tf.errors.InvalidArgumentError, match="has keys or values that are tensors"):
        tf.js.save(find.get_concrete_function(), tmp_path)


def test_words_of_a_table_in_a_loop_are_refused(tmp_path):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], ["b", "c"]), "")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def walk(words):
        for _ in tf.range(2):
            words = table.lookup(words)
        return words

    with pytest.raises(tf.errors.InvalidArgumentError, match="is used in a loop or a branch"):
        tf.js.save(walk.get_concrete_function(), tmp_path)


def test_command(tmp_path, capsys):
    tf.saved_model.save(Affine(), str(tmp_path / "saved"))
    assert main(["js", str(tmp_path / "saved"), str(tmp_path / "out"), "--quantize", "float16"]) == 0
    assert (tmp_path / "out" / "model.json").exists()
    assert main(["js", str(tmp_path / "saved"), str(tmp_path / "out"), "--signature", "other"]) == 1
    assert "has no signature 'other'" in capsys.readouterr().err
    assert main(["js", str(tmp_path / "none"), str(tmp_path / "out")]) == 1
