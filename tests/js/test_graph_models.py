"""Models for TensorFlow.js: what is in the files; and, where Node and the runtime are, that they compute the same."""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import headrace as tf
from headrace._src.cli.convert import main
from headrace._src.js.graph_models import supported_ops

RUNNER = pathlib.Path(__file__).with_name("run_model.js")
# `scripts/js_models` installs the runtime there.
MODULES = pathlib.Path(os.environ.get("HEADRACE_JS_MODULES", pathlib.Path(__file__).parents[2] / "build" / "js"))
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (MODULES / "node_modules" / "@tensorflow" / "tfjs").is_dir(),
    reason="Node and TensorFlow.js are not there: scripts/js_models installs it",
)


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


@tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32), tf.TensorSpec([], tf.int32)])
def several(x, count):
    values, indices = tf.math.top_k(x, 2)
    return values, tf.cast(indices, tf.int64) + tf.cast(count, tf.int64), tf.concat([x, x], 1), tf.transpose(x)


AFFINE = Affine()


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


def test_operations_that_the_runtime_lacks_are_all_named(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def lacking(x):
        return tf.roll(tf.math.lgamma(x), 1, 0)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Lgamma \(Lgamma\); Roll \(Roll\)"):
        tf.js.save(lacking.get_concrete_function(), tmp_path)


def test_command(tmp_path, capsys):
    tf.saved_model.save(Affine(), str(tmp_path / "saved"))
    assert main(["js", str(tmp_path / "saved"), str(tmp_path / "out"), "--quantize", "float16"]) == 0
    assert (tmp_path / "out" / "model.json").exists()
    assert main(["js", str(tmp_path / "saved"), str(tmp_path / "out"), "--signature", "other"]) == 1
    assert "has no signature 'other'" in capsys.readouterr().err
    assert main(["js", str(tmp_path / "none"), str(tmp_path / "out")]) == 1


def computed_by_node(folder, inputs):
    """The outputs by key, as TensorFlow.js computes them."""
    given = {key: [np.asarray(value).ravel().tolist(), list(np.shape(value)), np.asarray(value).dtype.name]
             for key, value in inputs.items()}  # fmt: skip
    environment = {**os.environ, "NODE_PATH": str(MODULES / "node_modules")}
    run = subprocess.run(
        ["node", str(RUNNER), str(folder)], input=json.dumps(given), capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    return {key: np.array(value, float).reshape(shape) for key, (value, shape) in found.items()}


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (AFFINE.__call__, {"x": np.float32([[1, 2], [3, -4]])}),
        (halved_often, {"x": np.float32([1, 2, 3])}),
        (several, {"x": np.float32([[1, 5, 3, 2]]), "count": np.int32(3)}),
    ],
)
def test_the_runtime_computes_the_same(tmp_path, function, inputs):
    concrete = function.get_concrete_function()
    tf.js.save(concrete, tmp_path)
    found = computed_by_node(tmp_path, inputs)
    expected = concrete(**inputs) if isinstance(concrete.structured_outputs, dict) else concrete(*inputs.values())
    keyed = expected if isinstance(expected, dict) else dict(
        zip([f"output_{i}" for i in range(9)], tf.nest.flatten(expected))
    )  # fmt: skip
    assert sorted(found) == sorted(keyed)
    for key, value in keyed.items():
        np.testing.assert_allclose(found[key], value.numpy(), rtol=1e-5)


@needs_node
@pytest.mark.slow
def test_keras_models(tmp_path):
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([
        tf.keras.Input((12, 12, 3)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.DepthwiseConv2D(3, padding="same"), layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5),
        layers.Dense(5, activation="softmax"),
    ])  # fmt: skip
    tf.js.save(model, tmp_path)
    x = np.random.default_rng(0).random((2, 12, 12, 3), np.float32)
    (key,) = model_in(tmp_path)["signature"]["inputs"]
    (found,) = computed_by_node(tmp_path, {key: x}).values()
    np.testing.assert_allclose(found, model(x), atol=1e-5)
