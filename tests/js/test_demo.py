"""The page that runs a model: what is written, and what is said when something is not there."""

import json
import re

import pytest

import headrace as tf
from headrace._src.cli.js_demo import main
from headrace._src.js.demo import described_model

layers, keras = tf.keras.layers, tf.keras


@pytest.fixture
def modules(tmp_path):
    """A stand-in for what npm installs."""
    place = tmp_path / "modules" / "node_modules"
    (place / "@tensorflow" / "tfjs" / "dist").mkdir(parents=True)
    (place / "@tensorflow" / "tfjs" / "dist" / "tf.min.js").write_text("// the runtime")
    return place


def digits(*shape):
    return keras.Sequential([keras.Input(shape), layers.Flatten(), layers.Dense(10)])


def described(folder):
    text = (folder / "index.html").read_text()
    return json.loads(re.search(r"const DEMO = (.*);</script>", text).group(1))


@pytest.mark.parametrize("form", ["graph", "layers"])
@pytest.mark.parametrize(
    ("shape", "kind"), [((28, 28, 1), "digits"), ((28, 28), "digits"), ((784,), "digits"), ((28, 28, 3), "form")]
)
def test_the_page_for_a_model(tmp_path, modules, capsys, form, shape, kind):
    out = tmp_path / "out"
    tf.js.save(digits(*shape), out, format=form)
    assert main([str(out), "--modules", str(modules)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "demo.js", "group1-shard1of1.bin", "index.html", "model.json", "tf.min.js"
    ]  # fmt: skip
    found = described(out)
    assert (found["path"], found["format"], found["kind"]) == ("./model.json", form, kind)
    (given,) = found["inputs"]
    assert (given["shape"], given["dtype"]) == ([-1, *shape], "float32")
    assert "http.server" in capsys.readouterr().out
    assert "://" not in (out / "index.html").read_text()  # nothing comes from elsewhere


@pytest.mark.filterwarnings("ignore:__array__ implementation")  # Keras writes variables
def test_the_model_is_written_first(tmp_path, modules, monkeypatch):
    digits(28, 28).save(tmp_path / "model.keras")
    monkeypatch.chdir(modules.parent)
    assert main([str(tmp_path / "out"), "--model", str(tmp_path / "model.keras"), "--format", "layers"]) == 0
    assert described(tmp_path / "out")["path"] == "./model/model.json"
    assert (tmp_path / "out" / "tf.min.js").read_text() == "// the runtime"


def test_several_inputs_of_other_kinds(tmp_path):
    @tf.function(input_signature=[
        tf.TensorSpec([None, 3], tf.int64, name="numbers"), tf.TensorSpec([], tf.string, name="</script>"),
        tf.TensorSpec(None, tf.float64, name="any"),
    ])  # fmt: skip
    def three(numbers, text, anything):
        return tf.reduce_sum(numbers), tf.identity(text), anything * 2.0

    tf.js.save(three.get_concrete_function(), tmp_path)
    found = described_model(str(tmp_path / "model.json"))
    assert [(one["shape"], one["dtype"]) for one in found["inputs"]] == [
        ([-1, 3], "int32"), ([], "string"), (None, "float32")
    ]  # fmt: skip


def test_names_cannot_leave_the_script(tmp_path, modules):
    tf.js.save(digits(28, 28), tmp_path / "out", format="layers")
    path = tmp_path / "out" / "model.json"
    path.write_text(path.read_text().replace('"keras_tensor', '"</script>').replace('"input_layer', '"</script>'))
    assert main([str(tmp_path / "out"), "--modules", str(modules)]) == 0
    text = (tmp_path / "out" / "index.html").read_text()
    assert text.count("</script>") == 3
    assert described(tmp_path / "out")["inputs"][0]["name"].startswith("</script>")


def test_what_is_not_there(tmp_path, modules, capsys, monkeypatch):
    monkeypatch.delenv("NODE_PATH", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main([str(tmp_path / "out")]) == 1
    assert "npm install @tensorflow/tfjs@4.22.0" in capsys.readouterr().err
    monkeypatch.setenv("NODE_PATH", str(modules))
    assert main([str(tmp_path / "out")]) == 1
    assert f"headrace convert js MODEL {tmp_path / 'out'}" in capsys.readouterr().err
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.json").write_text("[]")
    assert main([str(tmp_path / "out")]) == 1
    assert "does not describe a model of TensorFlow.js" in capsys.readouterr().err
    assert not (tmp_path / "out" / "index.html").exists()
