"""tf.function: when it traces, what it accepts and returns, and what it does with variables."""

import gc
import logging
import threading
import weakref

import numpy as np
import pytest

import headrace as tf


def counted(**options):
    """A traced function that returns a constant, and how often it was traced."""
    count = []

    @tf.function(autograph=False, **options)
    def f(*args, **kwargs):
        count.append(1)
        return tf.constant(1)

    return f, count


class Thing:
    pass


THING, OTHER = Thing(), Thing()
V1, V2 = tf.Variable(1.0), tf.Variable(2.0)

# Calls one after another, and how many traces TensorFlow 2.21 makes of them.
TRACES = [
    ([(1,), (1,), (2,)], 2),
    ([(None,), ("a",), ("a",), (b"a",)], 3),
    ([(V1,), (V2,)], 1),
    ([(V1, V1), (V1, V2)], 2),
    ([(V1, V2), (V2, V1)], 1),
    ([(np.float32(1),), (np.float32(2),)], 1),
    ([(np.ones(3),), (np.ones(4),)], 2),
    ([([1, 2],), ((1, 2),)], 2),
    ([([tf.constant(1)],), ([tf.constant(2)],)], 1),
    ([({"a": tf.constant(1)},), ({"a": tf.constant(2)},), ({"b": tf.constant(2)},)], 2),
    ([(THING,), (OTHER,), (THING,)], 2),
    ([(tf.zeros([i, 2]),) for i in range(1, 6)], 5),
    ([(tf.zeros([2]),), (tf.zeros([2], tf.int32),), (tf.ones([2]),)], 2),
]


@pytest.mark.parametrize(("calls", "traces"), TRACES)
def test_traces_once_per_type(calls, traces):
    f, count = counted()
    for args in calls:
        f(*args)
    assert len(count) == traces
    assert f.experimental_get_tracing_count() == traces


def test_numbers_of_different_types_are_different():
    # TF: 1, 1.0 and True share a trace there, which makes f(1.0) compute with an integer.
    f, count = counted()
    for value in (1, 1.0, True):
        f(value)
    assert len(count) == 3


def test_reduce_retracing_generalises_shapes():
    f, count = counted(reduce_retracing=True)
    for i in range(1, 6):
        f(tf.zeros([i]))
    assert len(count) == 2


def test_a_more_general_trace_is_used():
    f = tf.function(lambda x: x + 1)
    f.get_concrete_function(tf.TensorSpec([None]))
    f(tf.zeros([3]))
    assert f.experimental_get_tracing_count() == 1


def test_returns_the_structure():
    @tf.function
    def f(x):
        return {"a": x, "b": [None, 3, V1, (x,)]}

    result = f(tf.constant(1.5))
    assert list(result) == ["a", "b"]
    assert result["b"][0] is None
    assert result["b"][1].dtype == tf.int32
    assert isinstance(result["b"][2], tf.Tensor)
    assert result["b"][3][0].numpy() == 1.5
    assert tf.function(lambda: None)() is None


def test_refuses_to_return_objects():
    with pytest.raises(TypeError, match="must return zero or more Tensors"):
        tf.function(lambda: object())()


def test_composites_in_and_out():
    @tf.function
    def f(ragged, sparse):
        return ragged * 2.0, tf.sparse.add(sparse, sparse)

    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sparse = tf.sparse.from_dense([[0.0, 4.0]])
    doubled, added = f(ragged, sparse)
    assert doubled.to_list() == [[2.0, 4.0], [6.0]]
    assert tf.sparse.to_dense(added).numpy().tolist() == [[0.0, 8.0]]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda h: h(tf.constant([1])), TypeError),
        (lambda h: h([[1.0]]), TypeError),
        (lambda h: h(), TypeError),
        (lambda h: h(1, 2), TypeError),
    ],
)
def test_input_signature_refuses(call, error):
    h = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    with pytest.raises(error):
        call(h)


def test_input_signature_converts():
    h = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    assert h([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
    assert h(np.ones(3)).dtype == tf.float32
    assert h.experimental_get_tracing_count() == 1


def test_the_signature_of_a_trace_whose_argument_is_gone():
    concrete = tf.function(lambda x, of: x).get_concrete_function(tf.constant(1.0), tf.Module())
    gc.collect()
    (spec, of), _ = concrete.structured_input_signature
    assert spec == tf.TensorSpec([], tf.float32, "x")
    assert repr(of).startswith("<Module object at 0x")


def test_concrete_function():
    @tf.function
    def g(x, y=2, *, z=3):
        return x * y + z

    concrete = g.get_concrete_function(tf.constant(1.0), 5)
    assert concrete.structured_input_signature == ((tf.TensorSpec([], tf.float32, "x"), 5), {"z": 3})
    assert concrete(tf.constant(2.0)).numpy() == 13
    assert concrete(x=tf.constant(2.0)).numpy() == 13
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.constant(2))
    with pytest.raises(TypeError):
        concrete()
    with pytest.raises(TypeError):
        concrete(tf.constant(1.0), w=1)
    assert concrete.outputs[0].dtype == tf.float32
    assert "x: TensorSpec(shape=(), dtype=tf.float32, name=None)" in repr(concrete)
    assert "Input Parameters:" in concrete.pretty_printed_signature()


def test_variables_are_created_once():
    class Model(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(x * 0 + 2.0)
            return self.v * x

    model = Model()
    assert model(tf.constant(3.0)).numpy() == 6
    assert model(tf.constant(4.0)).numpy() == 8
    assert model.v.numpy() == 2


def test_variable_created_each_time_is_refused():
    @tf.function
    def f():
        return tf.Variable(1.0)

    with pytest.raises(ValueError, match="tf.function-decorated function tried to create variables on non-first call"):
        f()


def test_effects_happen_in_source_order():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a = v.read_value()
        v.assign_add(1.0)
        b = v.read_value()
        v.assign(v * 10.0)
        return a, b

    a, b = f()
    assert (a.numpy(), b.numpy(), v.numpy()) == (1, 2, 20)


def test_methods_belong_to_their_instances():
    class Counter:
        def __init__(self, start):
            self.v = tf.Variable(start)

        @tf.function
        def add(self, x):
            return self.v.assign_add(x)

    first, second = Counter(1.0), Counter(10.0)
    assert first.add(tf.constant(1.0)).numpy() == 2
    assert second.add(tf.constant(1.0)).numpy() == 11
    assert first.add is first.add


def test_recursion_is_an_error():
    @tf.function
    def f(x):
        return f(x)

    with pytest.raises(RecursionError, match="calls itself"):
        f(tf.constant(1))


def test_a_leaked_tensor_says_so():
    leaked = []
    tf.function(lambda x: leaked.append(x + 1))(tf.constant(1.0))
    with pytest.raises(TypeError, match="out of scope"):
        leaked[0] + 1
    with pytest.raises(TypeError, match="out of scope"):
        tf.function(lambda: leaked[0] + 1)()


def test_symbolic_tensors_have_no_value():
    seen = {}

    def body(x):
        for name, use in (("bool", bool), ("iter", list), ("len", len), ("int", int), ("numpy", np.asarray)):
            with pytest.raises((TypeError, NotImplementedError)) as caught:
                use(x)
            seen[name] = str(caught.value)
        assert not hasattr(x, "numpy")
        return x

    tf.function(body, autograph=False)(tf.constant([1.0, 2.0]))
    assert "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed" in seen["bool"]
    assert "Cannot convert a symbolic tf.Tensor (x:0) to a numpy array" in seen["numpy"]


def test_retracing_is_explained(caplog):
    f, _ = counted()
    with caplog.at_level(logging.WARNING, logger="headrace"):
        for i in range(8):
            f(i)
    text = caplog.text
    assert "retracing" in text
    assert "'args' was Tuple[Literal[6]] and is now Tuple[Literal[7]]" in text
    assert "test_function.py" in text


def test_run_functions_eagerly():
    kinds = []
    f = tf.function(lambda x: kinds.append(type(x).__name__))
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    f(tf.constant(1))
    assert kinds == ["EagerTensor", "SymbolicTensor"]


def test_init_scope_leaves_the_graph():
    states = []

    @tf.function
    def f():
        states.append(tf.executing_eagerly())
        with tf.init_scope():
            states.append(tf.executing_eagerly())
        return tf.constant(1)

    f()
    assert states == [False, True]


def test_concurrent_first_calls_trace_once():
    f, count = counted()
    start = threading.Barrier(4)

    def call():
        start.wait()
        f(tf.constant(1))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(count) == 1


def test_functions_are_freed_without_the_cycle_collector():
    gc.collect()
    gc.disable()
    try:
        v = tf.Variable(2.0)
        f = tf.function(lambda x: tf.cond(x > 0, lambda: x * v, lambda: x))
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, [x, v])
        graph = weakref.ref(f.get_concrete_function(x).graph)
        assert graph() is not None
        del f, tape, y
        assert graph() is None
    finally:
        gc.enable()


def gradients(f, x, order):
    """The derivatives of `f` at `x` up to an order."""
    if order == 0:
        return [f(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = gradients(f, x, order - 1)
    return [*values, tape.gradient(values[-1], x)]


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x**4 + tf.sin(x),
        lambda x: tf.cond(x > 0, lambda: x**3, lambda: tf.exp(x)),
        lambda x: tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x + tf.sin(x)), (0, x))[1],
        lambda x: tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(a > 1, lambda: a * x, lambda: a + x**4)), (0, x)
        )[1],
        lambda x: tf.function(lambda y: y * y * x)(x),
        lambda x: tf.switch_case(tf.cast(x, tf.int32), [lambda: x**4, lambda: x**3, lambda: x**5]),
    ],
)
def test_derivatives_agree_with_eager_ones(body):
    traced = tf.function(body)
    for number in (1.5, -0.5, 0.7):
        x = tf.constant(number)
        expected = [y.numpy() for y in gradients(body, x, 3)]
        np.testing.assert_allclose([y.numpy() for y in gradients(traced, x, 3)], expected, rtol=2e-5)
        # A tape inside of the function, and one around it.
        inside = tf.function(lambda x: gradients(body, x, 2)[-1])
        with tf.GradientTape() as tape:
            tape.watch(x)
            second = inside(x)
        np.testing.assert_allclose([second.numpy(), tape.gradient(second, x).numpy()], expected[2:], rtol=2e-5)


def test_shapes_and_dtypes_of_outputs_with_parts():
    function = tf.function(lambda x: {"a": tf.ragged.constant([[1, 2], [3]]), "b": (x, None, tf.sparse.from_dense(x))})
    concrete = function.get_concrete_function(tf.TensorSpec([None, 2]))
    assert concrete.output_shapes == {
        "a": [tf.TensorShape([3]), tf.TensorShape([3])],
        "b": (
            tf.TensorShape([None, 2]),
            tf.TensorShape(None),
            [tf.TensorShape([None, 2]), tf.TensorShape([None]), tf.TensorShape([2])],
        ),
    }
    assert concrete.output_dtypes == {
        "a": [tf.int32, tf.int64],
        "b": (tf.float32, None, [tf.int64, tf.float32, tf.int64]),
    }


def test_a_variable_prints_without_its_value_while_a_function_is_traced():
    v = tf.Variable(3.0, name="weight")
    texts = []
    tf.function(lambda: texts.append(repr(v)))()
    assert texts == ["<tf.Variable 'weight:0' shape=() dtype=float32>"]
    assert repr(v) == "<tf.Variable 'weight:0' shape=() dtype=float32, numpy=3.0>"


def test_a_variable_that_is_an_argument_is_itself_while_it_is_traced():
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([3.0, 4.0], name="b")
    seen = []

    @tf.function
    def step(x):
        seen.append(x)
        if x[0] > 0.0:
            x.assign_add([1.0, 1.0])
        for _ in tf.range(2):
            x.assign_add([0.5, 0.5])
        return x * 2.0

    np.testing.assert_array_equal(step(a), [6.0, 8.0])
    np.testing.assert_array_equal(step(b), [10.0, 12.0])  # the same trace
    assert len(seen) == 1
    assert seen[0] is a
    np.testing.assert_array_equal(a, [3.0, 4.0])
    np.testing.assert_array_equal(b, [5.0, 6.0])
    concrete = step.get_concrete_function(a)
    assert concrete.variables == ()
    assert concrete.captured_inputs == []


def test_gradients_of_variables_that_are_arguments():
    a, b = tf.Variable(2.0, name="a"), tf.Variable(5.0, name="b")

    @tf.function
    def cube(x):
        return tf.cond(x > 0.0, lambda: x * x, lambda: -x) * x

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            y = cube(x)
        return tape.gradient(y, x)

    assert [float(slope(x)) for x in (a, b, a)] == [12.0, 75.0, 12.0]
    cube(a)
    with tf.GradientTape() as tape:
        y = cube(b)
    assert [v is b for v in tape.watched_variables()] == [True]
    assert tape.gradient(y, a) is None


@pytest.mark.parametrize("within", [
    lambda make: tf.cond(tf.constant(True), make, lambda: tf.zeros([2, 2])),
    lambda make: tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, make()), (0, tf.zeros([2, 2])))[1],
    lambda make: tf.switch_case(tf.constant(0), [make, lambda: tf.zeros([2, 2])]),
    lambda make: tf.cond(tf.constant(True), lambda: tf.cond(tf.constant(True), make, make), make),
], ids=["cond", "while_loop", "switch_case", "nested"])  # fmt: skip
@pytest.mark.parametrize("value", [
    lambda one: tf.ones([2, 2]) * 3.0,
    lambda one: lambda: tf.ones([2, 2]) * 3.0,
    lambda one: lambda: tf.ones([2, 2]) * (one + 2.0),  # made of what the graph around has computed
], ids=["tensor", "function", "function of outer tensors"])  # fmt: skip
def test_variables_are_made_within_branches_and_loops(within, value):
    made = []

    @tf.function
    def body():
        one = tf.exp(tf.zeros([]))

        def make():
            if not made:
                made.append(tf.Variable(value(one)))
            return made[0].assign_add(tf.ones([2, 2]))

        return within(make)

    for count in (4.0, 5.0):
        np.testing.assert_array_equal(body(), np.full((2, 2), count))
    np.testing.assert_array_equal(made[0], np.full((2, 2), 5.0))


def test_a_graph_may_be_given_a_function():
    """TensorFlow Probability gives its graphs functions that nothing calls."""

    @tf.function
    def outer(x):
        other = tf.function(lambda y: y * 2.0).get_concrete_function(x)
        other.add_to_graph()
        other.add_gradient_functions_to_graph()
        return x + 1.0

    assert float(outer(tf.constant(1.0))) == 2.0
