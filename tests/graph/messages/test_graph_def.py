"""Graphs as GraphDef messages: exchanged with TensorFlow, written and read again, and what is refused."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import random_graph_defs
from google.protobuf import descriptor_pool, message_factory
from graph_def_programs import PROGRAMS
from graph_def_text import FLOAT, INT, PLACEHOLDER, node, nodes_of, parse
from record_graph_defs import traced

import headrace as tf
from headrace._src.core.context import context
from headrace._src.formats.graph_messages import GraphDef, OpList
from headrace._src.graph.building.effects import has_effect
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.messages.graph_def import function_def_of
from headrace._src.op.definition import REGISTRY

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "graph_defs"


def load(folder):
    """What there is to know of the graphs in a folder, and the results of TensorFlow."""
    results = {}
    with np.load(folder / "results.npz") as file:
        for key in file.files:
            name, number = key.split("/")
            results.setdefault(name, {})[int(number)] = file[key]
    about = json.loads((folder / "graphs.json").read_text(encoding="utf-8"))
    return about, {name: [values[i] for i in range(len(values))] for name, values in results.items()}


def graph_def_in(folder, name):
    return GraphDef.FromString((folder / f"{name}.pb").read_bytes())


def imported(graph_def, about):
    """The graph of a message as a function of its inputs (variables last)."""
    graph = FuncGraph("imported")
    with graph.building():
        names = [*about["inputs"], *(name for name, _ in about["variables"]), *about["outputs"]]
        found = tf.import_graph_def(graph_def, return_elements=names, name="")
    count = len(names) - len(about["outputs"])
    graph.inputs, graph.outputs = found[:count], found[count:]
    return graph


def run(graph, inputs, variables=()):
    return context.run_quietly(graph.plan().run, [*map(np.asarray, inputs), *(v.handle._a for v in variables)])


def check(got, want):
    assert len(got) == len(want)
    for value, expected in zip(got, want, strict=True):
        value = np.asarray(value)
        if value.dtype == object:
            assert value.shape == expected.shape
            assert value.astype("S").tolist() == expected.tolist()
        else:
            assert value.dtype == expected.dtype
            np.testing.assert_allclose(value, expected, rtol=2e-4, atol=1e-6)


TENSORFLOWS, THEIR_RESULTS = load(GOLDEN / "tensorflow")
EXPORTED, OUR_RESULTS = load(GOLDEN / "headrace")


@pytest.mark.parametrize("name", TENSORFLOWS)
def test_graphs_that_tensorflow_wrote(name):
    graph_def, about = graph_def_in(GOLDEN / "tensorflow", name), TENSORFLOWS[name]
    _, inputs, variables = PROGRAMS[name](tf)
    before, used = [v.numpy() for v in variables], [variables[i] for _, i in about["variables"]]
    graph = imported(graph_def, about)
    check([*run(graph, inputs, used), *(v.numpy() for v in variables)], THEIR_RESULTS[name])
    # Written and read once more, it is the same graph.
    again = graph.as_graph_def()
    assert [node.name for node in again.node] == [node.name for node in graph.nodes]
    for v, value in zip(variables, before, strict=True):
        v.assign(value)
    check([*run(imported(again, about), inputs, used), *(v.numpy() for v in variables)], THEIR_RESULTS[name])


@pytest.mark.parametrize("name", EXPORTED)
def test_graphs_that_tensorflow_ran(name):
    """What TensorFlow made of the recorded graph, headrace makes of it and of the program as it is traced now."""
    about = EXPORTED[name]
    concrete, inputs, variables = traced(tf, name)
    used = [variables[i] for _, i in about["variables"]]
    before = [v.numpy() for v in variables]
    graph = imported(graph_def_in(GOLDEN / "headrace", name), about)
    check([*run(graph, inputs, used), *(v.numpy() for v in variables)], OUR_RESULTS[name])
    for v, value in zip(variables, before, strict=True):
        v.assign(value)
    if name != "seeded_random":  # the graph that ran already has drawn its numbers
        outputs = tf.nest.flatten(concrete(*map(tf.constant, inputs)))
        check([*(x.numpy() for x in outputs), *(v.numpy() for v in variables)], OUR_RESULTS[name])


@pytest.mark.slow
@pytest.mark.skipif("TENSORFLOW_PYTHON" not in os.environ, reason="needs TensorFlow; its results are recorded")
def test_tensorflow_runs_what_is_exported_now(tmp_path):
    environment = dict(os.environ, PYTHON=sys.executable)
    subprocess.run([ROOT / "scripts" / "golden_graph_defs", tmp_path], check=True, env=environment, cwd=ROOT)
    _, results = load(tmp_path / "headrace")
    assert results.keys() == PROGRAMS.keys()
    for name, values in results.items():
        check([x.astype(object) if x.dtype.kind == "S" else x for x in values], OUR_RESULTS[name])


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_survive(seed):
    one = random_graph_defs.record(tf, seed)
    graph = imported(GraphDef.FromString(one["graph_def"]), one)
    variables = [tf.Variable(value) for value in one["initial"]]
    try:
        found = {"values": run(graph, one["arguments"], [variables[i] for _, i in one["variables"]])}
    except tf.errors.OpError as error:
        found = {"error": str(error)}
    found["final"] = [v.numpy() for v in variables]
    assert random_graph_defs.difference(one, found) == ""


@pytest.mark.slow
@pytest.mark.skipif("TENSORFLOW_PYTHON" not in os.environ, reason="needs TensorFlow")
def test_tensorflow_runs_random_programs(tmp_path):
    script, file = ROOT / "tests" / "graph" / "random_graph_defs.py", tmp_path / "graphs"
    subprocess.run([sys.executable, script, "export", file, "0", "100"], check=True, cwd=ROOT)
    command = [os.environ["TENSORFLOW_PYTHON"], script, "run", file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


# What is written.


def graph_def_of(function, *specs):
    return tf.function(function).get_concrete_function(*specs).graph.as_graph_def()


def test_nodes():
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0], name="x")
        with graph.control_dependencies([x]):
            a, b = tf.split(x, 2, name="halves")
        tf.add_n([b, a, b], name="total")
    proto = graph.as_graph_def(add_shapes=True)
    nodes = nodes_of(proto)
    assert proto.versions.producer == 2474
    assert not proto.HasField("library")
    assert list(nodes["total"].input) == ["halves:1", "halves", "halves:1"]
    assert nodes["total"].attr["N"].i == 3
    assert nodes["total"].attr["T"].type == tf.float32.as_datatype_enum
    assert nodes["halves"].input[-1] == "^x"
    assert nodes["halves"].attr["num_split"].i == 2
    assert [len(shape.dim) for shape in nodes["halves"].attr["_output_shapes"].list.shape] == [1, 1]
    assert nodes["x"].attr["value"].tensor.tensor_content == np.array([1.0, 2.0], "<f4").tobytes()
    assert [node.name for node in graph.as_graph_def(from_version=len(proto.node) - 1).node] == ["total"]
    assert graph.get_operation_by_name("total").node_def.attr["N"].i == 3


def test_attributes():
    with tf.Graph().as_default():
        x = tf.zeros([1, 4, 4, 1])
        pool = tf.nn.max_pool2d(x, 2, 2, "SAME").op
        assert pool.get_attr("padding") == b"SAME"
        assert pool.get_attr("ksize") == [1, 2, 2, 1]
        assert pool.get_attr("explicit_paddings") == []
        assert pool.get_attr("T") is tf.float32
        assert tf.concat([x, x], 0).op.get_attr("N") == 2
        assert tf.strings.format("{} {}", (x, pool.outputs[0])).op.get_attr("T") == [tf.float32, tf.float32]


def test_op_definitions():
    with tf.Graph().as_default():
        definition = tf.add_n([tf.constant(1.0), tf.constant(2.0)]).op.op_def
    assert definition.name == "AddN"
    assert definition.input_arg[0].number_attr == "N"
    assert definition.output_arg[0].type_attr == "T"
    assert {attr.name: attr.type for attr in definition.attr} == {"N": "int", "T": "type"}
    graph = tf.Graph()
    assert graph.op_def_for_type("AddN") == definition
    assert graph.graph_def_versions == graph.as_graph_def().versions
    (attribute,) = [attr for attr in graph.op_def_for_type("Assert").attr if attr.name == "summarize"]
    assert attribute.default_value.i == 3


def test_effects_are_kept_in_order():
    v, w = tf.Variable(1.0), tf.Variable(2.0)

    def f(x):
        v.assign(x)
        first = v + w
        tf.print(x)
        v.assign_add(first)
        return v * w

    nodes = nodes_of(graph_def_of(f, tf.TensorSpec([])))
    before = {name: {x[1:] for x in node.input if x.startswith("^")} for name, node in nodes.items()}
    assert before["AssignVariableOp"] == set()
    assert "AssignVariableOp" in before["ReadVariableOp"]
    assert before["ReadVariableOp_1"] == set()  # nobody writes w
    assert {"AssignVariableOp", "ReadVariableOp"} <= before["PrintV2"]
    assert "PrintV2" in before["AssignAddVariableOp"]
    assert "AssignAddVariableOp" in before["ReadVariableOp_2"]


def test_control_flow_is_marked_for_lowering():
    """TensorFlow's optimizer drops the control edges of what is not, and the effects with them."""
    graph_def = graph_def_of(lambda x: tf.cond(x > 0.0, lambda: x, lambda: -x), tf.TensorSpec([]))
    (conditional,) = [x for x in graph_def.node if x.op == "StatelessIf"]
    assert conditional.attr["_lower_using_switch_merge"].b


def test_captured_variables_are_placeholders():
    v = tf.Variable([1.0])
    concrete = tf.function(lambda: v + 1.0).get_concrete_function()
    (placeholder,) = [node for node in concrete.graph.as_graph_def().node if node.op == "Placeholder"]
    assert placeholder.attr["dtype"].type == tf.resource.as_datatype_enum
    assert placeholder.name == concrete.inputs[0].op.name


def test_functions():
    v = tf.Variable(1.0)

    @tf.function
    def inner(x):
        v.assign_add(x)
        return {"same": x, "values": tf.unstack(tf.stack([x, x + 1.0]))}

    proto = graph_def_of(lambda x: (inner(x), inner(x)), tf.TensorSpec([]))
    (function,) = proto.library.function
    names = [node.attr["f"].func.name for node in proto.node if node.op == "StatefulPartitionedCall"]
    assert names == [function.signature.name] * 2
    assert function.signature.is_stateful
    assert len(function.signature.input_arg) == 2
    assert function.signature.input_arg[1].handle_data[0].dtype == tf.float32.as_datatype_enum
    returned = [function.ret[argument.name] for argument in function.signature.output_arg]
    assert returned == ["Identity:output:0", "Identity_1:output:0", "Identity_2:output:0"]
    sources = {node.name: node.input[0] for node in function.node_def if node.op == "Identity"}
    assert sources["Identity"] == function.signature.input_arg[0].name
    assert [sources[f"Identity_{i}"].partition(":")[2] for i in (1, 2)] == ["output:0", "output:1"]
    assert list(function.signature.control_output) == list(function.control_ret)
    assert "AssignAddVariableOp" in function.control_ret
    # Another call of the same trace names the same function; another trace, another one.
    assert graph_def_of(lambda x: inner(x), tf.TensorSpec([])).library.function[0].signature.name == names[0]
    assert graph_def_of(lambda x: inner(x), tf.TensorSpec([1])).library.function[0].signature.name != names[0]


def test_names_that_tensorflow_refuses_are_changed():
    graph = FuncGraph("odd names")
    with graph.building():
        x = graph.add_input([], tf.float32, "X/Ü")
        graph.outputs = [REGISTRY["Neg"](x, name="neg!")]
        REGISTRY["Neg"](x, name="neg_")
    assert [node.name for node in graph.as_graph_def().node] == ["X/_", "neg__1", "neg_"]
    function = function_def_of(graph)
    assert function.signature.name.startswith("odd_names_")
    assert function.signature.input_arg[0].name == "x__"
    assert function.ret[function.signature.output_arg[0].name] == "neg_:y:0"


@pytest.mark.parametrize("name", ["MatrixExponential", "TopK", "QuantizeAndDequantize"])
def test_ops_that_tensorflow_refuses_become_functions(name):
    arrays = {"x": np.array([[0.1, 3.0], [-2.0, 0.7]], np.float32)}
    attrs = {"k": 1} if name == "TopK" else {}
    graph = FuncGraph("f")
    with graph.building():
        x = graph.add_input([2, None], tf.float32, "x")
        outputs = REGISTRY[name](x, name="y", **attrs)
    proto = graph.as_graph_def()
    assert nodes_of(proto)["y"].op == "PartitionedCall"
    assert graph.nodes[-1].node_def.op == name
    results = REGISTRY[name](tf.constant(arrays["x"]), **attrs)
    count = len(outputs) if isinstance(outputs, tuple) else 1
    found = evaluate(proto, [f"y:{i}" for i in range(count)], **arrays)
    check(found, [x.numpy() for x in (results if count > 1 else [results])])
    # The same function when it is written again.
    assert graph.as_graph_def() == proto


def test_what_tensorflow_has_only_for_one_type_is_refused():
    labels, lengths = np.array([[0, 0]]), np.array([2], np.int32)
    graph = FuncGraph("f")
    with graph.building():
        REGISTRY["CTCLossV2"](np.zeros([3, 1, 4]), labels, np.array([1], np.int32), lengths)
    with pytest.raises(NotImplementedError, match="CTCLossV2 must be of float32 in TensorFlow"):
        graph.as_graph_def()


# What is read.


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (node("a", "NoSuchOp"), tf.errors.NotFoundError, "not registered 'NoSuchOp'.*node 'a'"),
        (node("a", "Identity", "b", T=FLOAT), ValueError, "Node 'a': Unknown input node 'b'"),
        (node("a", "Identity"), ValueError, "missing attr 'T'.*'a'"),
        (PLACEHOLDER + node("b", "Identity", "a", T=INT), ValueError, "float32 from .*a:0 incompatible .* int32"),
        (PLACEHOLDER + node("b", "Identity", "a:1", T=FLOAT), ValueError, "'b': Connecting to invalid output 1 .* a "),
        (PLACEHOLDER + node("b", "Identity", "a", "a", T=FLOAT), ValueError, "Identity takes 1 inputs, 2 are"),
        (PLACEHOLDER + node("b", "Identity", "a:x", T=FLOAT), ValueError, "'a:x' is not the name of a tensor"),
        (PLACEHOLDER + node("b", "Invert", "a", T=FLOAT), ValueError, "float32 is not a type that Invert takes"),
        (PLACEHOLDER + node("b", "AddN", "a", T=FLOAT, N="i: 99"), ValueError, "there are 1 inputs, not 99"),
        (PLACEHOLDER + node("b", "AddN", "a", T=FLOAT, N="i: -1"), ValueError, "there are 1 inputs, not -1"),
        (PLACEHOLDER + node("b", "AddN", "a", T=FLOAT, N="s: 'x'"), ValueError, "'N': expected int, got s"),
        (PLACEHOLDER + node("b", "Identity", "a", T="type: 99"), ValueError, "unknown type 99"),
        (node("a", "Placeholder"), ValueError, "missing attr 'dtype'"),
        (node("a", "Const", dtype=FLOAT, value="tensor { dtype: DT_FLOAT float_val: [1, 2] }"), ValueError, "value"),
        (node("a", "NoOp") + node("a", "NoOp"), ValueError, "'a' is not unique"),
        (node("a b", "NoOp"), ValueError, "'a b': Node name contains invalid"),
        (node("a", "Identity", "b", T=FLOAT) + node("b", "Identity", "a", T=FLOAT), ValueError, "2 nodes in a cycle"),
        (node("a", "NoOp", "^a"), ValueError, "1 nodes in a cycle"),
        (
            node("a", "PartitionedCall", Tin="list {}", Tout="list {}", f="func { name: 'g' }"),
            tf.errors.NotFoundError,
            "'a' .*Function 'g' is not defined",
        ),
    ],
)
def test_unsound_graphs_are_refused(text, error, message):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0)
        with pytest.raises(error, match=message):
            tf.import_graph_def(parse(text))
    assert [x.name for x in graph.get_operations()] == ["Const"]


CALL = node("call", "PartitionedCall", "a", Tin="list { type: DT_FLOAT }", Tout="list { type: DT_FLOAT }",
            f="func { name: 'g' }")  # fmt: skip


def function(*nodes, ret="x", args='input_arg { name: "x" type: DT_FLOAT }', name="g"):
    body = " ".join(nodes).replace("node {", "node_def {")
    return (
        f'function {{ signature {{ name: "{name}" {args} output_arg {{ name: "y" type: DT_FLOAT }} }} {body} '
        f'ret {{ key: "y" value: "{ret}" }} }} '
    )


def library(*functions):
    return f"library {{ {''.join(functions)} }}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (function(ret="z:y:0"), "'z:y:0' is no tensor"),
        (function(ret="x:3"), "'x:3' is no tensor"),
        (function(node("n", "Neg", "q:y:0", T=FLOAT)), "'n' of function 'g': Unknown input 'q:y:0'"),
        (function(node("n", "Neg", "x", T=FLOAT), ret="n:z:0"), "'n' .Neg. has no output 'z'"),
        (function(node("n", "Neg", "x", T=FLOAT), ret="n:y:1"), "'n:y:1' is no tensor"),
        (function(args='input_arg { name: "x" type: DT_INT32 }'), "argument 'x' is int32, got float32"),
        (function(args='input_arg { name: "x" type_attr: "T" }'), "argument 'x' is not given"),
        (function(args=""), "'g' has 0 arguments, 1 are given"),
        (function(CALL.replace('"a"', '"x"'), ret="call:output:0"), "'g' calls itself"),
        (function(node("n", "Neg", "x", T="placeholder: 'T'"), ret="n:y:0"), "'T' of the function is not given"),
    ],
)
def test_unsound_functions_are_refused(body, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.import_graph_def(parse(PLACEHOLDER + CALL + library(body)))


def test_functions_that_call_one_another_without_end_are_refused():
    chain = [
        function(CALL.replace('"a"', '"x"').replace("'g'", f"'{after}'"), ret="call:output:0", name=name)
        for name, after in [("g", "f0"), *((f"f{i}", f"f{i + 1}") for i in range(500))]
    ]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="more than 64 deep"):
        tf.import_graph_def(parse(PLACEHOLDER + CALL + library(*chain)))


def evaluate(graph_def, outputs, **inputs):
    about = {"inputs": [f"{name}:0" for name in inputs], "variables": [], "outputs": outputs}
    return run(imported(graph_def, about), [np.float32(x) for x in inputs.values()])


def test_a_function_with_attributes_of_the_call():
    body = function(
        node("n", "Neg", "x", T="placeholder: 'T'"), ret="n:y:0", args='input_arg { name: "x" type_attr: "T" }'
    )
    call = CALL.replace("name: 'g'", "name: 'g' attr { key: 'T' value { type: DT_FLOAT } }")
    assert evaluate(parse(PLACEHOLDER + call + library(body)), ["call:0"], a=2) == [-2]
    # TF 1: the name of a function is an op.
    text = PLACEHOLDER + node("call", "g", "a", T=FLOAT) + library(body)
    assert evaluate(parse(text), ["call:0"], a=3) == [-3]


def test_nodes_may_come_in_any_order():
    text = node("c", "Neg", "b", T=FLOAT) + node("b", "Square", "a", "^d", T=FLOAT) + PLACEHOLDER + node("d", "NoOp")
    assert evaluate(parse(text), ["c:0"], a=3) == [-9]


def test_arguments_that_pass_through_a_loop_do_not_change():
    """TensorFlow hands them on through Identity; that they stay the same matters for gradients."""
    graph = imported(graph_def_in(GOLDEN / "tensorflow", "loop"), TENSORFLOWS["loop"])
    (loop,) = [x for x in graph.nodes if x.type == "StatelessWhile"]
    body = loop.attrs["body"]
    assert sum(x is y for x, y in zip(body.inputs, body.outputs, strict=True)) == 2  # the limit, and n


def test_an_imported_loop_has_a_gradient():
    graph_def = graph_def_of(
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1], tf.TensorSpec([], name="x")
    )

    @tf.function
    def f(x):
        return tf.import_graph_def(graph_def, input_map={"x": x}, return_elements=["while:1"])[0]

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 16
    assert tape.gradient(y, x).numpy() == 32


def test_shapes_are_known_inside_and_after_a_call():
    graph_def = graph_def_of(lambda x: tf.function(lambda y: y * 2.0)(x), tf.TensorSpec([2, None], name="x"))
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def)
    assert graph.get_tensor_by_name("import/PartitionedCall:0").shape.as_list() == [2, None]


def test_names_and_elements():
    graph_def = parse(PLACEHOLDER + node("b", "Identity", "a", T=FLOAT))
    with tf.Graph().as_default() as graph:
        assert tf.import_graph_def(graph_def) is None
        operation, tensor = tf.import_graph_def(graph_def, return_elements=["b", b"a:0"])
        assert (operation.name, tensor.name) == ("import_1/b", "import_1/a:0")
        tf.import_graph_def(graph_def, name="")
        tf.import_graph_def(graph_def, name="x/")
        assert {"import/a", "a", "x/b"} <= {x.name for x in graph.get_operations()}
        with pytest.raises(ValueError, match="'a' already exists"):
            tf.import_graph_def(graph_def, name="")
    (tensor,) = tf.import_graph_def(graph_def, return_elements=["a:0"])
    assert isinstance(tensor.graph, tf.Graph)


def test_mapped_inputs():
    graph_def = parse(PLACEHOLDER + node("b", "Neg", "a", T=FLOAT) + node("c", "Neg", "b", "^a", T=FLOAT))
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        before = tf.no_op() if hasattr(tf, "no_op") else tf.constant(0).op
        b, c, a = tf.import_graph_def(graph_def, {"a": x, "^a": before}, ["b", "c", "a:0"])
        assert b.inputs[0] is x
        assert a is x
        assert c.control_inputs == (before,)
        (c,) = tf.import_graph_def(graph_def, {"b:0": 5.0}, ["c"], name="more")
        assert c.inputs[0].name == "more/_inputs/Const:0"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"input_map": {"b:0": 1.0}}, ValueError, "not found in graph_def: .b:0."),
        ({"input_map": {"a:7": 1.0}}, ValueError, "not found in graph_def: .a:7."),
        ({"input_map": 3}, TypeError, "input_map must be a dictionary"),
        ({"input_map": {3: 1.0}}, TypeError, "keys of input_map"),
        ({"input_map": {"a": 1.0}, "name": ""}, ValueError, "name must not be empty"),
        ({"input_map": {"a": object()}}, ValueError, "cannot convert input_map"),
        ({"return_elements": ["q"]}, ValueError, "return node 'q' not found"),
        ({"return_elements": ["q:0"]}, ValueError, "return tensor 'q:0' not found"),
        ({"return_elements": ["a:1"]}, ValueError, "Invalid return output 1 of node 'a', which has 1"),
        ({"return_elements": [3]}, TypeError, "must be a list of strings"),
        ({"producer_op_list": 3}, TypeError, "must be an OpList"),
        ({"graph_def": 3}, TypeError, "must be a GraphDef message, got int"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    arguments = {"graph_def": parse(PLACEHOLDER), **arguments}
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        tf.import_graph_def(**arguments)


def test_attributes_that_headrace_does_not_know_are_kept_or_dropped():
    graph_def = parse(node("a", "NoOp", _class="list { s: 'loc:@b' }", future="i: 3"))
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    assert graph.as_graph_def().node[0].attr["future"].i == 3
    operation = graph.get_operation_by_name("a")
    assert operation.get_attr("future") == 3
    assert operation.get_attr("_class") == [b"loc:@b"]
    with pytest.raises(ValueError, match="'a' has no attr named 'past'"):
        operation.get_attr("past")
    producer = OpList()
    producer.op.add(name="NoOp").attr.add(name="future", type="int").default_value.i = 3
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="", producer_op_list=producer)
    assert list(graph.as_graph_def().node[0].attr) == ["_class"]


def same_class_of_another_pool(cls):
    """The class that another program in this process, such as TensorBoard, would have for these messages."""
    pool = descriptor_pool.DescriptorPool()

    def add(file):
        for dependency in file.dependencies:
            add(dependency)
        pool.AddSerializedFile(file.serialized_pb)

    add(cls.DESCRIPTOR.file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(cls.DESCRIPTOR.full_name))


def test_a_message_of_another_class_will_do():
    other = same_class_of_another_pool(GraphDef).FromString(parse(PLACEHOLDER).SerializeToString())
    assert not isinstance(other, GraphDef)
    with tf.Graph().as_default():
        assert tf.import_graph_def(other, return_elements=["a"])[0].type == "Placeholder"


def test_a_training_graph_of_sessions():
    v1 = tf.compat.v1
    given = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

    def losses(graph, initialize, train, loss, x):
        with v1.Session(graph=graph) as session:
            session.run(initialize)
            return [session.run([train, loss], {x: given})[1] for _ in range(3)]

    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", shape=[2, 3], initializer=tf.constant_initializer(0.5))
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
        train = v1.train.AdamOptimizer(0.1).minimize(loss, name="train")
        initialize = v1.global_variables_initializer()
    before = losses(graph, initialize, train, loss, x)
    assert before[0] > before[2]
    with tf.Graph().as_default() as other:
        names = [initialize.name, train.name, "loss:0", "x:0"]
        found = tf.import_graph_def(graph.as_graph_def(), return_elements=names, name="")
    assert losses(other, *found) == before


def test_effects_run_once_in_an_imported_graph():
    concrete, inputs, (v,) = traced(tf, "effects_in_order")
    assert sum(has_effect(x) for x in concrete.graph.nodes) >= 4
    graph = imported(
        concrete.graph.as_graph_def(),
        {"inputs": [concrete.inputs[0].name], "variables": [[concrete.inputs[1].name, 0]],
         "outputs": [x.name for x in concrete.outputs]},
    )  # fmt: skip
    assert [x.tolist() for x in run(graph, inputs, [v])] == [[1.0], [12.0], [113.0]]
    assert v.numpy().tolist() == [113.0]
