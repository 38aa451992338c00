"""Variables of 1.x graphs: what they are made of, when they change, with and without handles."""

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def without_handles():
    v1.disable_resource_variables()
    yield
    v1.enable_resource_variables()


def names(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


def test_operations_of_a_variable(graph):
    v = tf.Variable(10.0, name="z")
    assert names(graph) == [
        ("z/Initializer/initial_value", "Const"),
        ("z", "VarHandleOp"),
        ("z/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp"),
        ("z/Assign", "AssignVariableOp"),
        ("z/Read/ReadVariableOp", "ReadVariableOp"),
    ]
    assert repr(v) == "<tf.Variable 'z:0' shape=() dtype=float32>"
    assert v.op.type == "VarHandleOp"
    assert v.graph is graph
    assert v.initializer.name == "z/Assign"
    assert v.initial_value.name == "z/Initializer/initial_value:0"
    assert tf.constant(10, name="z").name == "z_1:0"
    assert tf.Variable(1, name="z").name == "z_2:0"


def test_operations_of_a_variable_without_handle(graph, without_handles):
    v = v1.Variable(10.0, name="z")
    assert names(graph) == [
        ("z/initial_value", "Const"), ("z", "VariableV2"), ("z/Assign", "Assign"), ("z/read", "Identity"),
    ]  # fmt: skip
    assert v.dtype == tf.float32._as_ref
    assert repr(v) == "<tf.Variable 'z:0' shape=() dtype=float32_ref>"
    with v1.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value z"):
            sess.run(graph.get_tensor_by_name("z:0") + 1.0)
        sess.run(v.initializer)
        assert sess.run(graph.get_tensor_by_name("z:0") + 1.0) == 11.0


@pytest.mark.parametrize("handles", [True, False])
def test_assignments_happen_when_they_are_run(graph, handles):
    v = v1.Variable([1.0, 2.0], use_resource=handles)
    assign, add, subtract = v.assign([5.0, 6.0]), v.assign_add([1.0, 1.0]), v1.assign_sub(v, [2.0, 2.0])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(v), [1, 2])
        np.testing.assert_array_equal(sess.run(add), [2, 3])
        np.testing.assert_array_equal(sess.run(assign), [5, 6])
        sess.run(subtract.op)
        np.testing.assert_array_equal(sess.run(v), [3, 4])
        np.testing.assert_array_equal(v.eval(), [3, 4])
        v.load([0.0, 1.0], sess)
        np.testing.assert_array_equal(sess.run(v * 2.0), [0, 2])


@pytest.mark.parametrize("handles", [True, False])
def test_control_dependencies(graph, handles):
    x, y = v1.Variable(1, use_resource=handles), v1.Variable(2, use_resource=handles)
    increase = v1.assign_add(y, 1)
    plain = x * y
    with tf.control_dependencies([increase]):
        after = x * y
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert [int(sess.run(plain)) for _ in range(5)] == [2] * 5
        assert [int(sess.run(after)) for _ in range(5)] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("handles", [True, False])
def test_rows(graph, handles):
    v = v1.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=handles)
    with v1.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(v1.scatter_add(v, [0, 0], [[1.0, 1.0], [1.0, 1.0]])), [[3, 4], [3, 4]])
        np.testing.assert_array_equal(sess.run(v1.scatter_update(v, [1], [[0.0, 9.0]])), [[3, 4], [0, 9]])
        np.testing.assert_array_equal(sess.run(v1.scatter_mul(v, [0], [[2.0, 0.5]])), [[6, 2], [0, 9]])
        np.testing.assert_array_equal(sess.run(v1.scatter_nd_sub(v, [[1, 1]], [4.0])), [[6, 2], [0, 5]])
        np.testing.assert_array_equal(sess.run(v[0, :].assign([7.0, 7.0])), [[7, 7], [0, 5]])
        np.testing.assert_array_equal(sess.run(v.sparse_read([1])), [[0, 5]])


@pytest.mark.parametrize("handles", [True, False])
def test_initialized_value_and_reports(graph, handles):
    a = v1.Variable(3.0, name="a", use_resource=handles)
    b = v1.Variable(a.initialized_value() * 2.0, name="b", use_resource=handles)
    with v1.Session() as sess:
        report = v1.report_uninitialized_variables()
        assert sess.run(report).tolist() == [b"a", b"b"]
        sess.run(b.initializer)
        assert sess.run(b) == 6.0
        assert sess.run(report).tolist() == [b"a"]
        assert not sess.run(v1.is_variable_initialized(a))


def test_variable_that_depends_on_another(graph):
    a = tf.Variable(3.0)
    b = tf.Variable(a * 2.0)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert sess.run([a, b]) == [3.0, 6.0]


@pytest.mark.parametrize("handles", [True, False])
def test_the_order_of_initialization_does_not_matter(graph, handles):
    a = v1.Variable(3.0, use_resource=handles)
    b = v1.Variable(tf.square(a * 2.0) + a, use_resource=handles)
    with v1.Session() as sess:
        sess.run(b.initializer)
        assert sess.run(b) == 39.0
        sess.run(a.assign(1.0))
        sess.run(b.initializer)
        assert sess.run(b) == 5.0


def test_moving_averages(graph):
    v = v1.get_variable("v", initializer=[1.0, 2.0])
    x = v1.placeholder(tf.float32, [2], name="x")
    ema = tf.train.ExponentialMovingAverage(0.9)
    debiased = tf.train.ExponentialMovingAverage(0.9, zero_debias=True, name="D")
    update = ema.apply([v, x])
    unbiased = debiased.apply([x])
    assert ema.average(v).name == "v/ExponentialMovingAverage:0"
    assert ema.average_name(v) == "v/ExponentialMovingAverage"
    assert v1.moving_average_variables() == [v]
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(v.assign([3.0, 3.0]))
        sess.run([update, unbiased], {x: [10.0, 20.0]})
        np.testing.assert_allclose(sess.run(ema.average(v)), [1.2, 2.1], rtol=1e-6)
        np.testing.assert_allclose(sess.run(ema.average(x)), [1, 2], rtol=1e-6)
        np.testing.assert_allclose(sess.run(debiased.average(x)), [10, 20], rtol=1e-5)


def test_made_inside_of_a_branch(graph):
    made = []

    def branch():
        made.append(tf.Variable(lambda: 3.0))
        return made[0] * 2.0

    y = tf.cond(v1.placeholder_with_default(True, []), branch, lambda: tf.constant(0.0))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert sess.run(y) == 6.0
        assert made[0].graph is graph


@pytest.mark.parametrize("handles", [True, False])
def test_as_messages(graph, handles):
    v = v1.Variable([1.0, 2.0], name="z", use_resource=handles)
    v.assign_add([1.0, 1.0], name="up")
    v.is_initialized()
    tf.multiply(v, 2.0, name="y")
    v1.global_variables_initializer()
    message = graph.as_graph_def()
    if not handles:  # as TensorFlow has it: the variable is the first input, and nothing names it
        inputs = {node.name: list(node.input) for node in message.node}
        assert inputs["z/Assign"] == ["z", "z/initial_value"]
        assert inputs["IsVariableInitialized"] == ["z"]
        assert inputs["up"][0] == "z"
        (up,) = (node for node in message.node if node.name == "up")
        assert set(up.attr) == {"T", "use_locking"}
        (z,) = (node for node in message.node if node.name == "z")
        z.attr["shared_name"].s = b""
        for node in message.node:  # what reads the variable refers to it by name only in headrace's graphs
            if node.op == "VariableV2" and node.name != "z":
                node.op, node.input[:] = "Identity", ["z"]
                node.ClearField("attr")
                node.attr["T"].type = 1
    with tf.Graph().as_default() as other, v1.Session() as sess:
        tf.import_graph_def(message, name="m")
        sess.run("m/init")
        sess.run("m/up")
        assert sess.run("m/y:0").tolist() == [4.0, 6.0]
        assert other.get_operation_by_name("m/z").type == ("VarHandleOp" if handles else "VariableV2")


def test_collections(graph):
    a = v1.Variable(1.0, name="a")
    b = v1.Variable(1.0, name="b", trainable=False)
    c = v1.Variable(1.0, name="c", collections=[v1.GraphKeys.LOCAL_VARIABLES], trainable=False)
    assert v1.global_variables() == [a, b]
    assert v1.trainable_variables() == [a]
    assert v1.local_variables() == [c]
    v1.add_to_collection("mine", a)
    assert v1.get_collection("mine") == [a]
    assert graph.get_collection("mine", "x") == []
    assert set(graph.get_all_collection_keys()) == {"variables", "trainable_variables", "local_variables", "mine"}
    assert isinstance(a, v1.Variable)
    assert isinstance(a, tf.Variable)


@pytest.mark.parametrize("handles", [True, False])
def test_count_up_to(graph, handles):
    v = v1.Variable(0, name="v", use_resource=handles)
    up = v.count_up_to(2)
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(up), sess.run(up)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
            sess.run(up)
    (node,) = [node for node in graph.as_graph_def().node if node.op.endswith("CountUpTo")]
    assert list(node.input) == ["v"]


def test_a_function_of_keras_takes_a_variable_without_handle(graph, without_handles):
    weights = v1.get_variable("w", initializer=[1.0, 2.0], regularizer=tf.keras.regularizers.L2(0.5))
    with v1.Session() as sess:
        sess.run(weights.initializer)
        assert sess.run(v1.losses.get_regularization_loss()) == 2.5


def test_uses_that_are_refused(graph):
    v = tf.Variable(1.0)
    with pytest.raises(NotImplementedError, match="numpy"):
        v.numpy()
    with pytest.raises(TypeError, match="not iterable"):
        iter(v)
    with pytest.raises(ValueError, match="incompatible"):
        v.assign([1.0, 2.0])
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable(None)
    assert {v: 1}[v] == 1


def test_eager_variables_of_one():
    v = v1.Variable([1.0], name="v")
    assert type(v) is tf.Variable
    assert v.numpy().tolist() == [1.0]
    v1.assign(v, [4.0])
    assert v.numpy().tolist() == [4.0]
    assert v1.global_variables_initializer() is None


def test_references_of_tensorflow_show_the_latest_value(graph):
    def node(name, op, *inputs, **types):
        message = v1.NodeDef(name=name, op=op, input=inputs)
        for key in types:
            message.attr[key].type = tf.float32.as_datatype_enum
        return message

    definition = v1.GraphDef()
    variable = node("z", "VariableV2", dtype=1)
    variable.attr["shape"].shape.SetInParent()
    one = node("one", "Const", dtype=1)
    one.attr["value"].tensor.dtype = tf.float32.as_datatype_enum
    one.attr["value"].tensor.tensor_shape.SetInParent()
    one.attr["value"].tensor.float_val.append(1.0)
    definition.node.extend([
        one, variable, node("z/Assign", "Assign", "z", "one", T=1), node("z/read", "Identity", "z", T=1),
        node("up", "AssignAdd", "z", "one", T=1), node("after", "AddV2", "z/read", "one", "^up", T=1),
    ])  # fmt: skip
    tf.import_graph_def(definition, name="")
    with v1.Session() as sess:
        sess.run("z/Assign")
        assert [float(sess.run("after:0")) for _ in range(3)] == [3.0, 4.0, 5.0]


def test_what_changed_a_variable_is_its_operation():
    """TF: eagerly None, since it has run; a plain variable has none at all."""
    v = tf.Variable([1.0, 2.0])
    changed = v1.scatter_update(v, [0], [5.0])
    assert isinstance(changed, tf.Variable)
    assert changed.op is None
    assert v.numpy().tolist() == [5.0, 2.0]
    assert v1.assign_add(v, [1.0, 1.0]).numpy().tolist() == [6.0, 3.0]
    changed.assign([0.0, 0.0])
    assert v.numpy().tolist() == [0.0, 0.0]
    seen = []

    @tf.function
    def f():
        seen.extend([v1.assign(v, [1.0, 1.0]).op.type, v1.scatter_nd_add(v, [[1]], [2.0]).op.type])
        with tf.control_dependencies([tf.group(v1.assign_sub(v, [1.0, 1.0]).op)]):
            return v.read_value()

    assert f().numpy().tolist() == [0.0, 2.0]
    assert seen == ["AssignVariableOp", "ResourceScatterNdAdd"]
    with pytest.raises(AttributeError):
        v.op
