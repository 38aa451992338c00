"""What headrace saves gives, when it is loaded, what TensorFlow's own SavedModels of the same objects give."""

import gc
import json
import pathlib

import pytest
from model_results import close, result_of
from saved_programs import PROGRAMS

import headrace as tf
from headrace._src.formats.graph_messages import GraphDebugInfo
from headrace._src.formats.model_messages import SavedModel
from headrace._src.saved_model import model_writing

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures" / "saved_models"
RESULTS = json.loads((FIXTURES / "results.json").read_text())


def message_of(folder):
    return SavedModel.FromString((pathlib.Path(folder) / "saved_model.pb").read_bytes()).meta_graphs[0]


def differences(name, folder):
    loaded = tf.saved_model.load(str(folder))
    different = []
    for text, expected in RESULTS[name]:
        actual = result_of(tf, loaded, text, folder)
        if not close(expected, actual):
            different.append((text, expected, actual))
    return different


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs(tmp_path, name):
    obj, keywords = PROGRAMS[name](tf, tmp_path)
    tf.saved_model.save(obj, tmp_path / "model", **keywords)
    assert not differences(name, tmp_path / "model")
    tf.saved_model.save(tf.saved_model.load(tmp_path / "model"), tmp_path / "model")
    assert not differences(name, tmp_path / "model")


def times():
    module = tf.Module()
    module.rate = tf.Variable([1.0, 2.0], name="rate")
    module.times = tf.function(lambda x: {"y": x * module.rate}, input_signature=[tf.TensorSpec([None], name="x")])
    return module


def test_the_graph_that_servers_run(tmp_path):
    tf.saved_model.save(times(), tmp_path)
    meta_graph = message_of(tmp_path)
    assert list(meta_graph.meta_info_def.tags) == ["serve"]
    assert meta_graph.meta_info_def.tensorflow_version == tf.__version__
    assert {"MatMul", "VarHandleOp"} - {op.name for op in meta_graph.meta_info_def.stripped_op_list.op} == {"MatMul"}
    signature = meta_graph.signature_def["serving_default"]
    assert signature.inputs["x"].name == "serving_default_x:0"
    assert signature.method_name == "tensorflow/serving/predict"
    assert meta_graph.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name == "NoOp"
    assert list(meta_graph.collection_def["saved_model_main_op"].node_list.value) == ["NoOp"]
    names = {node.name: node.op for node in meta_graph.graph_def.node}
    assert (names["rate"], names["rate/Read/ReadVariableOp"]) == ("VarHandleOp", "ReadVariableOp")
    saver = meta_graph.saver_def
    assert (saver.filename_tensor_name, saver.version) == ("saver_filename:0", 2)
    assert names[saver.restore_op_name] == names[saver.save_tensor_name.partition(":")[0]] == "StatefulPartitionedCall"
    assert tf.saved_model.experimental.read_fingerprint(str(tmp_path)).checkpoint_hash


def test_an_untracked_variable_is_named(tmp_path):
    outside = tf.Variable(1.0, name="outside")
    module = tf.Module()
    module.f = tf.function(lambda x: x + outside, input_signature=[tf.TensorSpec([])])
    with pytest.raises(AssertionError, match=r"'untracked' resource(.|\n)*outside:0"):
        tf.saved_model.save(module, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("save", "error", "text"),
    [
        (lambda m, path: tf.saved_model.save(3, path), ValueError, "Expected an object of type `Trackable`"),
        (lambda m, path: tf.saved_model.save(m, path, options=3), TypeError, "SaveOptions"),
        (lambda m, path: tf.saved_model.save(m, path, signatures={1: m.times}), ValueError, "strings"),
        (lambda m, path: tf.saved_model.save(m, path, signatures=len), ValueError, "Expected a TensorFlow function"),
        (
            lambda m, path: tf.function(lambda: tf.saved_model.save(m, path))(),
            AssertionError,
            "not supported inside a traced @tf.function",
        ),
    ],
)
def test_refusals(tmp_path, save, error, text):
    with pytest.raises(error, match=text):
        save(times(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_attribute_called_signatures(tmp_path):
    module = times()
    module.signatures = tf.Module()
    with pytest.raises(ValueError, match="reserved attribute"):
        tf.saved_model.save(module, tmp_path)


def test_a_variable_without_a_value(tmp_path):
    tf.saved_model.save(times(), tmp_path)
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tf.saved_model.load(tmp_path, options=options)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"root\.rate.*has no value"):
        tf.saved_model.save(loaded, tmp_path / "other")
    assert tf.saved_model.load(tmp_path).rate[1] == 2.0


def test_a_model_in_the_place_of_another(tmp_path):
    module = times()
    tf.saved_model.save(module, tmp_path / "model")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    (tmp_path / "model" / "assets.extra").mkdir()
    (tmp_path / "model" / "assets.extra" / "requests").write_text("warm")
    module.rate.assign([5.0, 6.0])
    tf.saved_model.save(module, tmp_path / "model")
    assert tf.saved_model.load(tmp_path / "model").rate[0] == 5.0
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "model" / "assets.extra" / "requests").read_text() == "warm"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_failure_leaves_the_old_model(tmp_path):
    tf.saved_model.save(times(), tmp_path / "model")
    module = times()
    module.words = tf.saved_model.Asset(str(tmp_path / "gone.txt"))
    with pytest.raises(tf.errors.NotFoundError):
        tf.saved_model.save(module, tmp_path / "model")
    assert tf.saved_model.load(tmp_path / "model").rate[0] == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_the_log_line(tmp_path, caplog):
    with caplog.at_level("INFO", "tensorflow"):
        tf.saved_model.save(times(), tmp_path / "model")
    assert f"Assets written to: {tmp_path}/model/assets" in caplog.text


# Options.


def checked():
    module = tf.Module()
    module.rate = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([])])
    def times(x):
        tf.debugging.assert_greater(x, 0.0)
        tf.print("x is", x, output_stream="file:///dev/null")
        return tf.debugging.check_numerics(x, "x") * module.rate

    module.times = times
    return module


def test_without_checks(tmp_path):
    tf.saved_model.save(checked(), tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.saved_model.load(tmp_path).times(-1.0)
    tf.saved_model.save(checked(), tmp_path, options=tf.saved_model.SaveOptions(experimental_debug_stripper=True))
    assert tf.saved_model.load(tmp_path).times(-1.0) == -2.0
    assert not {"Assert", "CheckNumerics", "PrintV2"} & {
        op.name for op in message_of(tmp_path).meta_info_def.stripped_op_list.op
    }


def test_lines_of_operations(tmp_path):
    tf.saved_model.save(checked(), tmp_path, options=tf.saved_model.SaveOptions(save_debug_info=True))
    data = (tmp_path / "debug" / "saved_model_debug_info.pb").read_bytes()
    information = GraphDebugInfo.FromString(data)
    (name,) = [key for key in information.name_to_trace_id if key.startswith("CheckNumerics@__inference_times")]
    (frame,) = information.traces_by_id[information.name_to_trace_id[name]].frame_id
    place = information.frames_by_id[frame]
    assert information.files[place.file_index] == __file__
    assert "check_numerics" in pathlib.Path(__file__).read_text().splitlines()[place.line - 1]


def test_aliases(tmp_path):
    module = times()
    options = tf.saved_model.SaveOptions(function_aliases={"other": module.times})
    tf.saved_model.save(module, tmp_path, options=options)
    options = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = tf.saved_model.load(tmp_path, options=options)
    assert loaded.function_aliases["other"](tf.constant([3.0, 4.0]))["y"].numpy().tolist() == [3.0, 8.0]
    foreign = tf.function(lambda x: x, input_signature=[tf.TensorSpec([])])
    with pytest.raises(ValueError, match="does not hold"):
        tf.saved_model.save(module, tmp_path, options=tf.saved_model.SaveOptions(function_aliases={"f": foreign}))


def test_further_options(tmp_path):
    options = tf.saved_model.SaveOptions(
        extra_tags=["mine"], experimental_variable_policy="save_variable_devices", experimental_skip_saver=True,
        namespace_whitelist=["Addons"],
    )  # fmt: skip
    tf.saved_model.save(times(), tmp_path, options=options)
    meta_graph = message_of(tmp_path)
    assert list(meta_graph.meta_info_def.tags) == ["mine", "serve"]
    assert "CPU:0" in next(node.variable.device for node in meta_graph.object_graph_def.nodes if node.variable.name)
    assert not meta_graph.HasField("saver_def")
    assert not (tmp_path / "variables").exists()


# Signatures.


@pytest.mark.parametrize(
    ("function", "inputs", "outputs", "call", "result"),
    [
        (
            lambda zz, aa: {"q": zz, "b": aa},
            [tf.TensorSpec([]), tf.TensorSpec([2])],
            {"b": "PartitionedCall:0", "q": "PartitionedCall:1"},
            {"zz": 1.0, "aa": [2.0, 3.0]},
            {"q": 1.0, "b": [2.0, 3.0]},
        ),
        (
            lambda x: x,
            [tf.TensorSpec([], name="a-b")],
            {"output_0": "PartitionedCall:0"},
            {"a-b": 1.0},
            {"output_0": 1.0},
        ),
        (
            lambda x: x["a"] + x["b"][0],
            [{"a": tf.TensorSpec([]), "b": [tf.TensorSpec([])]}],
            {"output_0": "PartitionedCall:0"},
            {"x": 1.0, "x_1": 2.0},
            {"output_0": 3.0},
        ),
        (
            lambda x: {"sum": tf.reduce_sum(x, 1)},
            [tf.RaggedTensorSpec([None, None], tf.float32)],
            {"sum": "PartitionedCall:0"},
            {"x": [1.0, 2.0, 3.0], "x_1": tf.constant([0, 1, 3], tf.int64)},
            {"sum": [1.0, 5.0]},
        ),
    ],
)
def test_signatures(tmp_path, function, inputs, outputs, call, result):
    tf.saved_model.save(tf.Module(), tmp_path, signatures=tf.function(function, input_signature=inputs))
    signature = message_of(tmp_path).signature_def["serving_default"]
    assert {name: info.name for name, info in signature.inputs.items()} == {
        name: f"serving_default_{name}:0" for name in call
    }
    assert {name: info.name for name, info in signature.outputs.items()} == outputs
    found = tf.saved_model.load(tmp_path).signatures["serving_default"](**call)
    assert {name: value.numpy().tolist() for name, value in found.items()} == result


def test_composite_outputs(tmp_path):
    def parts(x):
        return {"ragged": tf.RaggedTensor.from_row_lengths(x, [1, 2]), "sparse": tf.sparse.from_dense(x)}

    function = tf.function(parts, input_signature=[tf.TensorSpec([3])])
    tf.saved_model.save(tf.Module(), tmp_path, signatures=function)
    outputs = message_of(tmp_path).signature_def["serving_default"].outputs
    assert outputs["ragged"].WhichOneof("encoding") == "composite_tensor"
    assert outputs["sparse"].WhichOneof("encoding") == "coo_sparse"
    found = tf.saved_model.load(tmp_path).signatures["serving_default"](x=tf.constant([1.0, 0.0, 3.0]))
    assert found["ragged"].to_list() == [[1.0], [0.0, 3.0]]
    assert tf.sparse.to_dense(found["sparse"]).numpy().tolist() == [1.0, 0.0, 3.0]


def test_fingerprints_tell_models_apart(tmp_path):
    def fingerprint(module):
        tf.saved_model.save(module, tmp_path / "model")
        return tf.saved_model.experimental.read_fingerprint(tmp_path / "model")

    first, same = fingerprint(times()), fingerprint(times())
    assert first.singleprint() == same.singleprint()
    other = times()
    other.rate.assign([3.0, 3.0])
    assert fingerprint(other).graph_def_program_hash == first.graph_def_program_hash
    assert fingerprint(other).checkpoint_hash != first.checkpoint_hash
    more = times()
    more.twice = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])
    assert fingerprint(more).graph_def_program_hash != first.graph_def_program_hash
    assert fingerprint(more).saved_object_graph_hash != first.saved_object_graph_hash


@pytest.mark.parametrize("name", ["gradients", "tables"])
@pytest.mark.filterwarnings("ignore")
def test_saving_and_loading_leave_nothing_behind(tmp_path, name):
    module, keywords = PROGRAMS[name](tf, tmp_path)

    def count():
        for _ in range(5):
            tf.saved_model.save(module, tmp_path / "model", **keywords)
            tf.saved_model.load(tmp_path / "model")
        gc.collect()
        return sum(str(type(x).__module__).startswith(("headrace", "_thread")) for x in gc.get_objects())

    count()
    before = count()
    assert count() <= before  # what an earlier test has left to a thread may go meanwhile


def test_a_message_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(model_writing, "LARGEST", 1000)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 GB.*tf\.Variables"):
        tf.saved_model.save(times(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


# What functions use besides variables and tables.


def with_dataset(folder):
    module = tf.Module()
    module.base = tf.Variable(10, dtype=tf.int64)
    module.numbers = tf.data.Dataset.range(3).map(lambda x: x + module.base)
    zero = tf.constant(0, tf.int64)
    module.run = tf.function(lambda: module.numbers.reduce(zero, lambda a, b: a + b), input_signature=[])
    return module, lambda loaded: (loaded.run().numpy(), loaded.base.assign(20), loaded.run().numpy())[::2], (33, 63)


def with_generator(folder):
    module = tf.Module()
    module.generator = tf.random.Generator.from_seed(1)
    module.run = tf.function(lambda: module.generator.uniform([]), input_signature=[])
    expected = tf.random.Generator.from_seed(1).uniform([2]).numpy()[0]
    return module, lambda loaded: loaded.run().numpy(), expected


def with_constants(folder):
    module = tf.Module()
    large = tf.range(1000.0)
    module.run = tf.function(lambda: tf.reduce_sum(large), input_signature=[])
    module.again = tf.function(lambda: tf.reduce_max(large), input_signature=[])
    return module, lambda loaded: (loaded.run().numpy(), loaded.again().numpy()), (499500.0, 999.0)


def with_writer(folder):
    module = tf.Module()
    module.writer = tf.summary.create_file_writer(str(folder / "model" / "logs"), experimental_trackable=True)

    @tf.function(input_signature=[tf.TensorSpec([])])
    def run(x):
        with module.writer.as_default():
            return tf.summary.scalar("x", x, step=1)

    module.run = run
    return module, lambda loaded: bool(loaded.run(1.0)), True


def with_itself(folder):
    module = tf.Module()
    module.inner = tf.Module()
    module.inner.outer, module.other = module, module.inner
    module.inner.v = tf.Variable(3.0)
    return module, lambda loaded: (loaded.inner.outer is loaded, loaded.other is loaded.inner), (True, True)


@pytest.mark.parametrize("build", [with_dataset, with_generator, with_constants, with_writer, with_itself])
def test_what_functions_use(tmp_path, build):
    module, result, expected = build(tmp_path)
    tf.saved_model.save(module, tmp_path / "model")
    assert result(tf.saved_model.load(tmp_path / "model")) == expected
    tf.saved_model.save(tf.saved_model.load(tmp_path / "model"), tmp_path / "model")
    assert result(tf.saved_model.load(tmp_path / "model")) == expected


def test_traces_that_are_of_no_use_elsewhere(tmp_path):
    module = tf.Module()
    module.run = tf.function(lambda x, of=None: x)
    module.run(tf.constant(1.0))
    module.run(tf.constant(1.0), object())
    module.run(tf.constant(1.0), tf.Module())  # which is gone when the model is saved
    gc.collect()
    tf.saved_model.save(module, tmp_path)
    assert len(tf.saved_model.load(tmp_path).run.concrete_functions) == 1


def test_a_third_derivative_of_a_custom_gradient_is_refused(tmp_path):
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 3.0 * square(x)

    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 2.0 * same(x)

    @tf.custom_gradient
    def same(x):
        return x + 0.0, lambda dy: dy

    module = tf.Module()
    module.cube = tf.function(cube, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)

    def derivative(f):
        def derived(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return derived

    first = derivative(loaded.cube)
    second = derivative(first)
    assert (first(tf.constant(2.0)).numpy(), second(tf.constant(2.0)).numpy()) == (12.0, 12.0)
    with pytest.raises(LookupError, match="No gradient defined"):
        derivative(second)(tf.constant(2.0))


def test_python_functions_are_named_when_they_are_saved(tmp_path, caplog):
    module = tf.Module()
    module.double = tf.function(
        lambda x: tf.numpy_function(lambda y: y * 2, [x], tf.float32), input_signature=[tf.TensorSpec([2])]
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    assert "calls Python functions (PyFunc), which are not saved with it" in caplog.text


def test_a_model_without_its_variables_says_which_file_is_missing(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path / "model"))
    (tmp_path / "model" / "variables" / "variables.index").unlink()
    with pytest.raises(tf.errors.NotFoundError, match=r"variables.index: there is no such file.*Copy the whole folder"):
        tf.saved_model.load(str(tmp_path / "model"))
