"""Tests of `tf.group`, `tf.tuple`, `tf.control_dependencies`, and assertions in graphs; errors are TensorFlow's."""

import pytest

import headrace as tf


def c(value):
    return tf.constant(value)


def _in_graph(function):
    return tf.function(function, autograph=False)()


def test_group():
    assert tf.group(c(1), 3, foo=1) is None  # TF: eagerly nothing is looked at

    def build():
        grouped = tf.group(c(1), [c(2), (tf.no_op(),)], name="all")
        assert grouped.type == "NoOp"
        assert grouped.name == "all"
        assert len(grouped.control_inputs) == 3
        assert tf.group().type == "NoOp"
        return c(1)

    _in_graph(build)


_REFUSED = [([3], {}, TypeError), ([None], {}, TypeError), ([], {"a": 1}, ValueError)]


@pytest.mark.parametrize(("inputs", "kwargs", "error"), _REFUSED)
def test_group_refuses(inputs, kwargs, error):
    with pytest.raises(error):
        _in_graph(lambda: tf.group(*inputs, **kwargs))


def test_tuple():
    tensors = [c(1), None, c(2.0)]
    assert tf.tuple(tensors) is tensors

    def build():
        a, nothing, b = tf.tuple(tensors, control_inputs=[c(5)])
        assert nothing is None
        assert a.op.control_inputs == b.op.control_inputs
        slices = tf.tuple([tf.IndexedSlices(c([1.0]), c([0]))])[0]
        assert isinstance(slices, tf.IndexedSlices)
        return a, b

    a, b = _in_graph(build)
    assert (a.numpy(), b.numpy()) == (1, 2.0)


@pytest.mark.parametrize(("tensors", "control", "error"), [([None], None, ValueError), ([1.0], [3], TypeError)])
def test_tuple_refuses(tensors, control, error):
    with pytest.raises(error):
        _in_graph(lambda: tf.tuple([None if x is None else c(x) for x in tensors], control_inputs=control))


def _depending(control_inputs):
    def build():
        with tf.control_dependencies(control_inputs()):
            return tf.identity(c(1))

    return build


V = tf.Variable(1.0)
CONTROL_INPUTS = [
    lambda: [c(1)], lambda: None, lambda: [V], lambda: [tf.no_op() or c(1)],
    lambda: [tf.IndexedSlices(c([1.0]), c([0]))], list,
]  # fmt: skip


@pytest.mark.parametrize("control_inputs", CONTROL_INPUTS)
def test_control_dependencies(control_inputs):
    assert _depending(control_inputs)().numpy() == 1
    assert _in_graph(_depending(control_inputs)).numpy() == 1


@pytest.mark.parametrize("control_inputs", [3, lambda: 1])
def test_control_dependencies_are_lists(control_inputs):
    for run in (_depending(lambda: control_inputs), lambda: _in_graph(_depending(lambda: control_inputs))):
        with pytest.raises(TypeError):
            run()
    with pytest.raises(TypeError):
        _in_graph(_depending(lambda: [None]))


def test_control_inputs_of_operations():
    def build():
        with tf.control_dependencies([tf.print("a", output_stream="file:///dev/null")]) as _:
            inner = tf.identity(c(1))
            with tf.control_dependencies(None):
                free = tf.identity(c(2))
        assert [node.type for node in inner.op.control_inputs] == ["PrintV2"]
        assert free.op.control_inputs == ()
        return inner + free

    assert _in_graph(build).numpy() == 3


def test_effects_in_source_order():
    v = tf.Variable([1.0])

    @tf.function(autograph=False)
    def run():
        before = v.read_value()
        with tf.control_dependencies([v.assign([5.0])]):
            after = v.read_value()
        v.assign_add([1.0])
        return before, after, v.read_value()

    assert [x.numpy().tolist() for x in run()] == [[1.0], [5.0], [6.0]]


D = tf.debugging
INVALID = tf.errors.InvalidArgumentError
# Expressions that fail on what is known while the graph is built.
STATIC = {
    "equal": (lambda: D.assert_equal(c(1), c(2)), INVALID),
    "less": (lambda: D.assert_less(c(2), c(1)), INVALID),
    "greater": (lambda: D.assert_greater(c(1), c(2)), INVALID),
    "positive": (lambda: D.assert_positive(c(-1)), INVALID),
    "non_negative": (lambda: D.assert_non_negative(c([1, -1])), INVALID),
    "none_equal": (lambda: D.assert_none_equal(c(1), c(1)), INVALID),
    "rank": (lambda: D.assert_rank(c(1), 1), ValueError),
    "rank_at_least": (lambda: D.assert_rank_at_least(c(1), 1), ValueError),
    "rank_in": (lambda: D.assert_rank_in(c(1), (1, 2)), ValueError),
    "scalar": (lambda: D.assert_scalar(c([1])), ValueError),
    "shapes": (lambda: D.assert_shapes([(c([1, 2]), (3,))]), ValueError),
    "type": (lambda: D.assert_type(c(1), tf.float32), TypeError),
    "integer": (lambda: D.assert_integer(c(1.0)), TypeError),
}


@pytest.mark.parametrize("name", STATIC)
def test_static_failures_while_tracing(name):
    function, error = STATIC[name]
    with pytest.raises(error):
        function()
    with pytest.raises(error):
        tf.function(lambda: (function(), c(1))[1], autograph=False).get_concrete_function()


DYNAMIC = {
    "equal": (lambda x: D.assert_equal(x, 1), 1, 2),
    "less": (lambda x: D.assert_less(x, 2), 1, 2),
    "positive": (D.assert_positive, 1, -1),
    "near": (lambda x: D.assert_near(x, 1.0), 1.0, 2.0),
    "all_finite": (lambda x: D.assert_all_finite(x, "message"), 1.0, float("nan")),
    "check_numerics": (lambda x: D.check_numerics(x, "message"), 1.0, float("inf")),
    "Assert": (lambda x: tf.Assert(x > 0, [x]), 1, -1),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_failures_when_run(name):
    function, good, bad = DYNAMIC[name]
    run = tf.function(lambda x: (function(x), x)[1], autograph=False)
    assert run(c(good)).numpy() == good
    with pytest.raises(INVALID):
        run(c(bad))


def test_assertions_return_operations_in_graphs():
    assert D.assert_equal(c(1), c(1)) is None

    def build(x):
        checks = [D.assert_equal(c(1), c(1)), D.assert_rank(x, 0), D.assert_type(x, tf.int32), D.assert_less(x, 5)]
        assert all(isinstance(check, tf.Operation) for check in checks)
        with tf.control_dependencies(checks):
            return tf.identity(x)

    assert tf.function(build, autograph=False)(c(1)).numpy() == 1


def test_nothing_runs_after_a_failed_assertion():
    log = []

    @tf.function(autograph=False)
    def run(x):
        tf.py_function(lambda: log.append("before"), [], [])
        D.assert_less(x, 5)
        tf.py_function(lambda: log.append("after"), [], [])
        return x

    run(c(1))
    assert log == ["before", "after"]
    log.clear()
    with pytest.raises(INVALID):
        run(c(9))
    assert log == ["before"]


def test_ranks_and_shapes_known_only_when_run():
    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def check_rank(x):
        D.assert_rank(x, 1)
        return x

    check_rank(c([1.0]))
    with pytest.raises(INVALID):
        check_rank(c(1.0))

    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def check_shape(x):
        D.assert_shapes([(x, ("N", 3))])
        return x

    check_shape(tf.ones([2, 3]))
    with pytest.raises(INVALID):
        check_shape(tf.ones([2, 2]))
