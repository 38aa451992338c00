"""The switches between 1.x and 2.x, each in a process of its own."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1


def run(program):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_without_eager_execution_every_thread_adds_to_the_default_graph():
    assert run("""
        import threading
        import headrace as tf
        v1 = tf.compat.v1
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        v1.disable_eager_execution()
        graphs = [tf.constant(1).graph]
        thread = threading.Thread(target=lambda: graphs.append(tf.constant(2).graph))
        thread.start(); thread.join()
        print(tf.executing_eagerly(), v1.executing_eagerly_outside_functions())
        print(all(graph is v1.get_default_graph() for graph in graphs), len(graphs[0].get_operations()))
        with tf.Graph().as_default() as other:
            print(v1.get_default_graph() is other)
            try:
                v1.reset_default_graph()
            except AssertionError:
                print("nested")
        try:
            v1.enable_eager_execution()
        except ValueError as error:
            print(error)
        v1.reset_default_graph()
        print(len(v1.get_default_graph().get_operations()))
        v1.enable_eager_execution()
        print(int(tf.constant(2) + 1))
    """) == [
        "False False", "True 2", "True", "nested", "tf.enable_eager_execution must be called at program startup.", "0",
        "3",
    ]  # fmt: skip


def test_a_program_of_1x():
    assert run("""
        import headrace.compat.v1 as tf
        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        print(w.op.type, x.shape[1].value, x.shape[0].value, x.get_shape().as_list(), x == x, {x: 1}[x])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train, feed_dict={x: [[1, 2]]})
            print(sess.run(loss, {x: [[1, 2]]}))
    """) == ["VariableV2 2 None [None, 2] True 1", "0.0"]


def test_tensors_as_keys():
    assert run("""
        import headrace as tf
        tf.compat.v1.disable_tensor_equality()
        x = tf.constant([1.0])
        v = tf.Variable(1.0)
        print({x: "x", v: "v"}[v], x == tf.constant([1.0]))
        tf.compat.v1.enable_tensor_equality()
        print((x == [1.0]).numpy())
        try:
            hash(x)
        except TypeError:
            print("unhashable")
    """) == ["v False", "[ True]", "unhashable"]


def test_switches_say_what_they_are():
    assert v1.resource_variables_enabled()
    assert v1.control_flow_v2_enabled()
    assert v1.executing_eagerly_outside_functions()
    v1.disable_control_flow_v2()
    assert not v1.control_flow_v2_enabled()
    v1.enable_control_flow_v2()


def test_tensors_of_graphs_are_compared_by_identity():
    with tf.Graph().as_default():
        x, y = tf.constant(1), tf.constant(1)
        assert x == x
        assert not x == y
        assert x != y
        assert {x: 2}[x] == 2

    @tf.function
    def f(x):
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
        return x == 1

    assert f(tf.constant(1)).numpy()


def test_names_of_1x_are_only_in_compat():
    for name in ("Session", "placeholder", "get_variable", "variable_scope", "global_variables_initializer"):
        assert not hasattr(tf, name)
        assert hasattr(v1, name)
    assert v1.math.sqrt is tf.math.sqrt
    assert v1.random_normal is tf.random.normal
    assert v1.Graph is tf.Graph
    assert v1.raw_ops.Add(x=1, y=2).numpy() == 3


def test_scopes_of_1x():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with v1.name_scope("a") as a, v1.name_scope(None, "b", [x]) as b:
            assert (a, b, tf.constant(1).name) == ("a/", "a/b/", "a/b/Const:0")
        with v1.name_scope("a") as again, v1.op_scope([x], None, "c") as c:
            assert (again, c) == ("a_1/", "a_1/c/")
        with v1.name_scope("a/") as exact:
            assert exact == "a/"
            assert tf.identity(x, name="z").name == "a/z:0"
        with pytest.raises(TypeError, match="default_name"):
            v1.name_scope(None, [x])


def test_tables_are_kept_by_sessions():
    with tf.Graph().as_default():
        init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        table = tf.lookup.StaticHashTable(init, -1)
        found = table.lookup(tf.constant(["b", "z"]))
        mutable = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        insert = mutable.insert(["k"], [5])
        value = mutable.lookup(tf.constant("k"))
        with v1.Session() as sess:
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(found)
            sess.run(v1.tables_initializer())
            assert sess.run(found).tolist() == [2, -1]
            assert sess.run(value) == -1
            sess.run(insert)
            assert sess.run(value) == 5
        with v1.Session() as sess:
            assert sess.run(value) == -1


def test_wrapped_functions():
    double = v1.wrap_function(lambda x: x * v1.get_variable("k", initializer=2.0), [tf.TensorSpec([], tf.float32)])
    assert double(tf.constant(3.0)).numpy() == 6.0
    (k,) = double.variables
    k.assign(5.0)
    assert double(tf.constant(3.0)).numpy() == 15.0
    graph = double.graph
    part = double.prune(graph.inputs[0].name, double.outputs[0].name)
    assert part(tf.constant(1.0)).numpy() == 5.0


def test_wrapped_functions_keep_values_of_the_signature():
    def scaled(pair, factor, upwards):
        return pair["a"] * factor + (1.0 if upwards else -1.0)

    spec = {"a": tf.TensorSpec([2])}
    up, down = [v1.wrap_function(scaled, [spec, tf.TensorSpec([]), upwards]) for upwards in (True, False)]
    assert up({"a": np.array([1.0, 2.0], np.float32)}, 3.0).numpy().tolist() == [4.0, 7.0]
    assert down({"a": tf.constant([1.0, 2.0])}, 3.0).numpy().tolist() == [2.0, 5.0]
    assert v1.wrap_function(lambda x, n: x**n, [tf.TensorSpec([]), 3])(2.0).numpy() == 8.0


def test_constant_initializers_fill_up_in_graphs():
    made = v1.constant_initializer([4, 5, 6])
    with tf.Graph().as_default(), v1.Session() as sess:
        assert sess.run(made([2, 3])).tolist() == [[4.0, 5.0, 6.0], [6.0, 6.0, 6.0]]
        with pytest.raises(ValueError, match="too many"):
            made([2])
        with pytest.raises(ValueError, match="too many"):
            v1.constant([4, 5, 6], shape=[2])
    with pytest.raises(TypeError):
        made([5])


def test_names_in_variable_scopes_when_eager():
    with v1.variable_scope("outer"), v1.variable_scope("inner"), tf.name_scope("names"):
        assert v1.get_variable("w", [1]).name == "outer/inner/w:0"
        assert tf.Variable(1.0, name="u").name == "outer/inner/names/u:0"


def test_printing(capfd):
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.Print(tf.constant([1.0, 2.0]), [tf.constant([1, 2, 3, 4]), "done"], message="values: ", first_n=1)
        assert sess.run(x).tolist() == [1.0, 2.0]
        sess.run(x)
    assert capfd.readouterr().err == "values: [1 2 3...][done]\n"


@pytest.mark.parametrize(("function", "given", "wanted"), [
    ("as_bytes", "é", b"\xc3\xa9"), ("as_bytes", bytearray(b"a"), b"a"), ("as_text", b"\xc3\xa9", "é"),
    ("as_str", "a", "a"), ("as_str_any", 3, "3"), ("as_str_any", b"b", "b"), ("path_to_str", 3, 3),
])  # fmt: skip
def test_text(function, given, wanted):
    assert getattr(tf.compat, function)(given) == wanted


def test_text_that_is_none():
    for function in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            function(3)
    assert isinstance(3, tf.compat.integral_types)
    assert not isinstance(3.0, tf.compat.integral_types)
    with tf.compat.forward_compatibility_horizon(2000, 1, 2):
        assert tf.compat.forward_compatible(2000, 1, 1)
        assert not tf.compat.forward_compatible(2001, 1, 1)


def test_shapes_of_1x_print_as_dimensions():
    assert run("""
        import headrace.compat.v1 as tf
        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        print(repr(x.shape), x.shape, x, repr(x), tf.TensorShape(None))
        tf.enable_v2_tensorshape()
        print(repr(x.shape), x.shape)
    """) == [
        "TensorShape([Dimension(None), Dimension(2)]) (?, 2) Tensor(\"x:0\", shape=(?, 2), dtype=float32) "
        "<tf.Tensor 'x:0' shape=(?, 2) dtype=float32> <unknown>",
        "TensorShape([None, 2]) (None, 2)",
    ]


def test_who_fetches_a_variable_without_a_handle_sees_it_after_the_run():
    assert run("""
        import headrace.compat.v1 as tf
        tf.disable_v2_behavior()
        step, w = tf.train.get_or_create_global_step(), tf.Variable(2.0)
        train = tf.train.GradientDescentOptimizer(0.25).minimize(w * w, global_step=step)
        assigned = w.assign(8.0)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run([step, w, train]), sess.run([w, step, train, w + 0.0])[:2], sess.run([w.value(), assigned]))
            print(sess.run(w, {w: 5.0}))
    """) == ["[np.int64(1), np.float32(1.0), None] [np.float32(0.5), np.int64(2)] [np.float32(8.0), np.float32(8.0)]",
             "5.0"]


def test_flags_are_read_from_the_command_line_when_first_asked_for():
    assert run("""
        import sys
        import headrace.compat.v1 as tf
        flags = tf.app.flags
        flags.DEFINE_integer(flag_name="steps", default_value=5, docstring="how many")
        flags.DEFINE_boolean("verbose", True, "talk")
        flags.DEFINE_enum("mode", "train", ["train", "test"], "what to do")
        sys.argv = ["program", "--steps=3", "--noverbose", "--unknown=1", "rest"]
        print(flags.FLAGS.steps, flags.FLAGS.verbose, tf.flags.FLAGS.mode, "steps" in flags.FLAGS)
        flags.FLAGS.steps = 7
        print(flags.FLAGS.steps, tf.flags.FLAGS["steps"].value)
        def main(arguments):
            print(arguments, flags.FLAGS.mode)
            return 0
        tf.app.run(main, ["program", "--mode=test", "more"])
    """) == ["3 False train True", "7 7", "['program', 'more'] test"]


def test_the_versions_that_programs_ask_for():
    assert tf.version.VERSION == tf.__version__ == v1.VERSION == v1.version.VERSION
    assert tf.__git_version__ == tf.version.GIT_VERSION
    assert tf.version.GRAPH_DEF_VERSION == tf.Graph().as_graph_def().versions.producer


def test_modules_that_are_others_under_another_name():
    assert tf.compat.v2.constant is tf.constant
    assert v1.compat.as_text(b"text") == "text"
    assert run("""
        import headrace
        headrace.install_as_tensorflow()
        import tensorflow.compat.v2 as tf
        from tensorflow.compat.v1 import app, flags
        print(tf is headrace, app.flags is flags)
    """) == ["True True"]


def test_variables_without_handles_become_constants():
    assert run("""
        import headrace.compat.v1 as tf
        tf.disable_v2_behavior()
        w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        kept = tf.get_variable("kept", [2], initializer=tf.zeros_initializer())
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(tf.matmul(x, w) + w[0], w, name="y")
        z = tf.add(y, kept, name="z")
        convert = tf.graph_util.convert_variables_to_constants
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            frozen = convert(sess, sess.graph_def, ["y"])
            part = convert(sess, sess.graph_def, ["z"], variable_names_blacklist=["kept"])
        print([node.name for node in frozen.node if node.op == "Const" and node.name == "w"],
              sum(node.op == "VariableV2" for node in frozen.node))
        print({node.attr["shared_name"].s for node in part.node if node.op == "VariableV2"})
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.import_graph_def(frozen, name="")
            print(sess.run("y:0", {"x:0": [[1, 2]]}))
    """) == ["['w'] 0", "{b'kept'}", "[[8. 8.]]"]
