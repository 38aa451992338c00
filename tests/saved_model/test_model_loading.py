"""SavedModels that TensorFlow wrote give here what they give there."""

import gc
import json
import os
import pathlib
import shutil
import weakref
import zipfile

import pytest
from model_results import close, result_of

import headrace as tf
from headrace._src.formats.model_messages import SavedModel

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures" / "saved_models"
RESULTS = json.loads((FIXTURES / "results.json").read_text())


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(FIXTURES / "models.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def own(models, tmp_path):
    """A copy of a model, to change."""

    def copy(name):
        shutil.copytree(models / name, tmp_path / name)
        return tmp_path / name

    return copy


def changed(folder, change):
    """Change the message of a SavedModel."""
    path = folder / "saved_model.pb"
    message = SavedModel.FromString(path.read_bytes())
    change(message.meta_graphs[0])
    path.write_bytes(message.SerializeToString())
    return str(folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(RESULTS))
def test_what_tensorflow_saved(models, name):
    loaded = tf.saved_model.load(str(models / name))
    different = []
    for text, expected in RESULTS[name]:
        actual = result_of(tf, loaded, text, models / name)
        if not close(expected, actual):
            different.append((text, expected, actual))
    assert not different


def test_functions_are_compiled_and_saved_graphs_stay_usable(models):
    loaded = tf.saved_model.load(str(models / "flow"))

    @tf.function
    def user(x):
        return loaded.nested(x) + loaded.branch(x)

    assert user(tf.constant(3.0)) == loaded.nested(tf.constant(3.0)) + loaded.branch(tf.constant(3.0))
    loaded.w.assign(5.0)
    assert user(tf.constant(3.0)).numpy() == loaded.nested(3.0).numpy() + 15.0


def test_training_goes_on(models):
    loaded = tf.saved_model.load(str(models / "flow"))
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = tf.square(loaded.nested(1.0) - 9.0)
        (gradient,) = tape.gradient(loss, loaded.trainable_variables)
        loaded.w.assign_sub(0.002 * gradient)
    assert abs(loaded.nested(1.0).numpy() - 9.0) < 1e-3


def test_variables_of_what_was_loaded(models):
    loaded = tf.saved_model.load(str(models / "variables"))
    assert len(loaded.variables) == 24
    assert all(v is not loaded.v for v in loaded.trainable_variables)
    assert [v.name for v in loaded.modules["a"].variables] == ["Variable:0"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'. It has: "):
        loaded.nothing


def test_two_loads_share_nothing(models):
    one, other = (tf.saved_model.load(str(models / "tables")) for _ in range(2))
    one.put(tf.constant("only"), tf.constant(1, tf.int64))
    assert other.mutable(tf.constant(["only"])).numpy().tolist() == [-1]


def test_loading_keeps_nothing_alive(models):
    def load():
        loaded = tf.saved_model.load(str(models / "flow"))
        loaded.nested(1.0)
        return weakref.ref(loaded.w.handle)

    references = [load() for _ in range(3)]
    assert [reference() for reference in references] == [None] * 3

    def load_tables():
        loaded = tf.saved_model.load(str(models / "tables"))
        loaded.words(tf.constant(["a"]))
        return weakref.ref(loaded.table.resource_handle)

    reference = load_tables()
    gc.collect()
    assert reference() is None


# Options.


def test_without_values(models):
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tf.saved_model.load(str(models / "flow"), options=options)
    assert not loaded.w.is_initialized()
    with pytest.raises(tf.errors.FailedPreconditionError):
        loaded.nested(1.0)
    loaded.w.assign(2.0)
    assert loaded.nested(3.0).numpy() == 246.0


def test_a_checkpoint_without_a_value(own):
    def rename(graph):
        graph.object_graph_def.nodes[0].children[0].local_name = "another"

    folder = changed(own("flow"), rename)
    with pytest.raises(tf.errors.NotFoundError, match=r"no values for 1 of its variables.*allow_partial_checkpoint"):
        tf.saved_model.load(folder)
    loaded = tf.saved_model.load(folder, options=tf.saved_model.LoadOptions(allow_partial_checkpoint=True))
    assert not loaded.another.is_initialized()


def test_tags(models):
    assert tf.saved_model.load(str(models / "flow"), tags="serve").w.numpy() == 2.0
    assert tf.saved_model.load(str(models / "flow"), tags=["serve"]).w.numpy() == 2.0
    with pytest.raises(ValueError, match=r"\['other'\].*with tags \['serve'\]"):
        tf.saved_model.load(str(models / "flow"), tags="other")


# Folders that hold something else.


def test_what_is_there_instead(tmp_path):
    def message(path):
        with pytest.raises(OSError, match="SavedModel file does not exist") as information:
            tf.saved_model.load(str(path))
        assert isinstance(information.value, tf.errors.NotFoundError)
        return str(information.value)

    assert "no such folder" in message(tmp_path / "nothing")
    assert "empty" in message(tmp_path)
    (tmp_path / "model.keras").write_bytes(b"PK\x03\x04")
    assert "keras.models.load_model" in message(tmp_path / "model.keras")
    assert "model.keras" in message(tmp_path)
    (tmp_path / "ck-1.index").write_bytes(b"")
    assert "tf.train.Checkpoint(...).restore(" in message(tmp_path)
    (tmp_path / "w.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    assert "HDF5" in message(tmp_path / "w.h5")
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "saved_model.pb").write_bytes(b"")
    assert str(tmp_path / "7") in message(tmp_path)
    (tmp_path / "saved_model.cpb").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match=r"saved_model\.cpb"):
        tf.saved_model.load(str(tmp_path))


def test_contains_saved_model(models, tmp_path):
    assert tf.saved_model.contains_saved_model(str(models / "flow"))
    assert not tf.saved_model.contains_saved_model(tmp_path)


def test_a_message_as_text(own):
    folder = own("flow")
    message = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    (folder / "saved_model.pb").unlink()
    (folder / "saved_model.pbtxt").write_text(str(message))
    assert tf.saved_model.load(folder).nested(3.0).numpy() == 246.0


def test_too_large(own):
    folder = own("flow")
    os.truncate(folder / "saved_model.pb", 1 << 31)
    with pytest.raises(tf.errors.UnimplementedError, match="2 GB"):
        tf.saved_model.load(str(folder))


# Fingerprints.


def test_fingerprint(models, tmp_path):
    fingerprint = tf.saved_model.experimental.read_fingerprint(str(models / "flow"))
    again = tf.saved_model.experimental.read_fingerprint(str(models / "flow"))
    assert fingerprint == again
    assert hash(fingerprint) == hash(again)
    assert fingerprint.singleprint().count("/") == 3
    assert fingerprint.saved_model_checksum > 0
    with pytest.raises(FileNotFoundError, match="Could not find fingerprint"):
        tf.saved_model.experimental.read_fingerprint(str(tmp_path))
    (tmp_path / "fingerprint.pb").write_bytes(b"\xff\xff")
    with pytest.raises(RuntimeError, match="FingerprintDef"):
        tf.saved_model.experimental.read_fingerprint(str(tmp_path))


# Unknown ops.


def test_all_unknown_ops_are_listed(own):
    def rename(graph):
        for function in graph.graph_def.library.function:
            for node in function.node_def:
                if node.op in ("Mul", "Sin"):
                    node.op = f"Unknown{node.op}"

    with pytest.raises(tf.errors.NotFoundError, match=r"'UnknownMul'.*\(\d+ in all\).*'UnknownSin'.*function '"):
        tf.saved_model.load(changed(own("flow"), rename))


def test_results_are_compared():
    one = {"dict": [["a", {"dtype": "float32", "value": [1.5]}]]}
    assert close(one, {"dict": [["a", {"dtype": "float32", "value": [1.5]}]]})
    assert not close(one, {"dict": [["a", {"dtype": "float32", "value": [1.6]}]]})
    assert not close(one, {"dict": [["a", {"dtype": "float64", "value": [1.5]}]]})


def test_a_function_without_traces_says_what_to_do(tmp_path):
    module = tf.Module()
    module.inner = tf.Module()
    module.inner.never_called = tf.function(lambda x: x)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    with pytest.raises(ValueError, match=r"zero restored functions.*'never_called'.*call it once.*input_signature"):
        loaded.inner.never_called(1.0)


def test_errors_of_loaded_functions_show_the_users_line(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.reshape(x, [3]), input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        loaded.f(tf.zeros([4]))
    assert "test_model_loading.py" in str(caught.value)
    assert "functools" not in str(caught.value)
