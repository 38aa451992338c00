"""Compiled functions mean what interpreted ones mean: values, variables, errors, random numbers."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import compilation
from headrace._src.graph.compiling.programs import Donations


def compiled(function):
    return tf.function(function, jit_compile=True)


def agree(function, *args, rtol=1e-5):
    """Run a function both ways; returns what it gives."""
    want = tf.nest.flatten(tf.function(function)(*args))
    got = tf.nest.flatten(compiled(function)(*args))
    for w, g in zip(want, got, strict=True):
        assert w.dtype == g.dtype
        assert w.shape == g.shape
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=rtol, atol=1e-6)
    return got


def test_operations_and_shapes():
    x = tf.constant(np.arange(12.0).reshape(3, 4))

    def f(x):
        y = tf.reshape(x, [tf.shape(x)[1], -1])
        return tf.nn.softmax(y), tf.shape(x), tf.cast(tf.size(x), tf.int64) * 2**40

    agree(f, x)


def test_what_is_not_computed_is_handed_on():
    x = tf.constant([1.0, 2.0])
    a, b, c = compiled(lambda x: (x, tf.shape(x), "text"))(x)
    assert a.numpy().tolist() == [1.0, 2.0]
    assert b.numpy().tolist() == [2]
    assert c.numpy() == b"text"


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_branches(value):
    x = tf.constant([value, 2.0])

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x[0] > 0.0, lambda: tf.exp(x) * x, lambda: x - tf.sin(x))
        z = tf.switch_case(tf.cast(x[0] > 0, tf.int32), [lambda: x, lambda: x * 2, lambda: x * 3])
        return y, z, tape.gradient(y, x)

    agree(f, x)


def test_loops_and_their_gradients():
    x = tf.constant([0.5, 1.5])

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, tf.sin(y) * x), [0, x], maximum_iterations=9)
        array = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            array = array.write(i, x * tf.cast(i, tf.float32))
        return y, tape.gradient(y, x), array.stack()

    agree(f, x)


def test_gradients_of_loops_over_batches_of_any_size():
    """Shapes that only the forward loop knows are the same in all iterations: the backward one is compiled too."""
    bias = tf.constant([0.1, 0.2, 0.3])

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch([x, bias])
            outputs, state = tf.TensorArray(tf.float32, 4), tf.zeros_like(x)
            for i in tf.range(4):
                state = tf.tanh(state * bias + x)  # which sums the bias's gradient over the batch
                outputs = outputs.write(i, state * 2.0)
            y = tf.reduce_sum(outputs.stack() ** 2.0, axis=[1, 2])
        return (y, *tape.gradient(y, [x, bias]))

    function = tf.function(f, jit_compile=True, input_signature=[tf.TensorSpec([None, 3])])
    for rows in (2, 5):
        x = tf.constant(np.linspace(-1, 1, rows * 3, dtype=np.float32).reshape(rows, 3))
        for got, want in zip(function(x), f(x)):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert function.get_concrete_function().graph.executable().segmented is None


def test_elements_of_a_list_that_are_overwritten():
    """Only what was written last has a gradient."""
    rows = tf.constant(np.linspace(0.5, 1.5, 12, dtype=np.float32).reshape(6, 2))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            kept, i = tf.TensorArray(tf.float32, 3, element_shape=[2], clear_after_read=False), tf.constant(0)
            while i < 6:
                kept, i = kept.write(i // 2, x[i] * x[i]), i + 1
            y = tf.reduce_sum(kept.stack() * [[1.0], [2.0], [3.0]])
        return y, tape.gradient(y, x)

    _, slopes = agree(f, rows)
    np.testing.assert_array_equal(slopes.numpy()[::2], np.zeros((3, 2)))


def test_loops_without_a_bound_have_one_when_it_can_be_counted():
    x = tf.constant(np.linspace(0.1, 1.0, 12, dtype=np.float32).reshape(4, 3))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            i, y = tf.constant(0), tf.zeros([3])
            while i < 5:
                i += 1
                y = tf.sin(y) + x[0]
            for row in x:
                y = tf.cos(y) * row
        return y, tape.gradient(y, x)

    agree(f, x)


def test_lists_go_in_and_out_of_programs(monkeypatch):
    # Compiled before the first call, and so are the functions that the tape makes of it.
    monkeypatch.setattr(compilation.random_state, "deterministic", True)
    x = tf.constant(np.linspace(0.1, 1.0, 6, dtype=np.float32).reshape(3, 2))

    def f(x):
        y = x[0]
        for i in tf.range(3):
            y = tf.sin(y) * x[i] + y
        return y

    function = tf.function(f)
    for _ in range(2):
        found = []
        for g in (f, function):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(x)
            found.append(tape.gradient(y, x).numpy())
        np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    (derivative,) = function.get_concrete_function(x).graph._derivatives.values()
    assert all("compiled for 1" in graph.executable().state for graph in (derivative.forward, derivative.backward))


def test_variables_are_read_and_written_in_order():
    v = tf.Variable([1.0, 2.0])
    n = tf.Variable(0)

    @compiled
    def f(x):
        before = v + 0.0
        v.assign_add(x)
        middle = v * 1.0
        for _ in tf.range(3):
            v.assign(v * 2.0)
            n.assign_add(1)
        if x[0] > 0.0:
            v.assign_sub([1.0, 1.0])
        return before, middle, v.read_value()

    for _ in range(2):
        v.assign([1.0, 2.0])
        before, middle, after = f(tf.constant([1.0, 1.0]))
        assert before.numpy().tolist() == [1.0, 2.0]
        assert middle.numpy().tolist() == [2.0, 3.0]
        assert after.numpy().tolist() == v.numpy().tolist() == [15.0, 23.0]
    assert n.numpy() == 6


def test_values_that_were_read_stay():
    v = tf.Variable(np.zeros(1000, np.float32))

    @compiled
    def step():
        v.assign_add(tf.ones([1000]))

    step()
    kept = v.value()
    step()
    assert kept.numpy()[0] == 1.0
    assert v.numpy()[0] == 2.0
    v.assign_add(np.ones(1000, np.float32))
    step()
    assert v.numpy()[-1] == 4.0


def test_the_memory_of_variables_is_used_again(monkeypatch):
    monkeypatch.setattr(Donations, "watched", True)
    monkeypatch.setattr(Donations, "made", 0)
    monkeypatch.setattr(Donations, "failed", 0)
    variables = [tf.Variable(np.zeros((20, 20), np.float32)) for _ in range(3)]

    @compiled
    def step():
        for i, v in enumerate(variables):
            v.assign_add(tf.fill([20, 20], 1.0 + i))
        return variables[0] * 2.0

    for _ in range(4):
        step()
        assert variables[1].numpy()[0, 0] > 0.0  # a view that is dropped again
    assert (Donations.made, Donations.failed) == (9, 0)
    kept = variables[1].value()
    step()
    assert Donations.failed == 1
    assert kept.numpy()[0, 0] == 8.0


@pytest.mark.parametrize("method", ["scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_min",
                                    "scatter_max", "scatter_update"])  # fmt: skip
def test_rows_of_variables(method):
    start = np.arange(6.0, dtype=np.float32).reshape(3, 2) + 1
    rows = tf.IndexedSlices(tf.constant([[2.0, 3.0], [4.0, 0.5], [7.0, 1.0]]), tf.constant([2, 0, 2]))
    results = []
    for jit_compile in (None, True):
        v = tf.Variable(start)
        tf.function(lambda v=v: getattr(v, method)(rows).read_value(), jit_compile=jit_compile)()
        results.append(v.numpy())
    np.testing.assert_allclose(results[1], results[0])


def test_places_in_variables():
    results = []
    for jit_compile in (None, True):
        v = tf.Variable(np.zeros((4, 3), np.float32))

        @tf.function(jit_compile=jit_compile)
        def f(i, v=v):
            v[i].assign([1.0, 2.0, 3.0])
            v[1:3, 0].assign([5.0, 6.0])
            v.scatter_nd_update([[0, 0], [0, 0]], [8.0, 9.0])
            v.scatter_nd_add([[3, 1]], [1.0])
            return v.sparse_read([1, i]), v.gather_nd([[0, 0]])

        results.append([*(x.numpy() for x in f(tf.constant(3))), v.numpy()])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def failing(kind):
    v = tf.Variable(1.0)

    def f(x, i):
        v.assign(2.0)
        y = tf.gather(x, i) if kind == "gather" else 6 // i if kind == "division" else x[0]
        if kind == "assert":
            tf.debugging.assert_less(i, 3, message="too large")
        if kind == "loop":
            for k in tf.range(10):
                v.assign_add(1.0)
                y = tf.gather(x, k)
        v.assign(100.0)
        return y

    return f, v


@pytest.mark.parametrize(("kind", "i"), [("gather", 7), ("division", 0), ("assert", 5), ("loop", 0)])
def test_errors_and_the_state_after_them(kind, i):
    x, i = tf.constant([1.0, 2.0, 3.0]), tf.constant(i)
    found = []
    for jit_compile in (None, True):
        f, v = failing(kind)
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            tf.function(f, jit_compile=jit_compile)(x, i)
        found.append((str(error.value), v.numpy()))
    assert found[0] == found[1]
    assert found[1][1] < 100.0


def test_random_numbers_are_those_of_the_interpreter():
    def draw():
        total = tf.zeros([2])
        for _ in tf.range(3):
            total += tf.random.normal([2])
        return tf.random.uniform([3]), total

    results = []
    for jit_compile in (None, True):
        tf.random.set_seed(7)
        f = tf.function(draw, jit_compile=jit_compile)
        results.append([x.numpy() for _ in range(2) for x in f()])
    tf.random.set_seed(None)
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_what_must_be_compiled_is_refused():
    @compiled
    def f(x):
        y = x * 2.0
        return tf.strings.as_string(y)  # this line

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"AsString.*test_compiled.py:\d+ in f"):
        f(tf.constant(1.0))

    @compiled
    def g(x):
        for _ in tf.range(3):
            x = tf.py_function(lambda x: x, [x], tf.float32)
            x.set_shape([])
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"EagerPyFunc .only the host.* in g"):
        g(tf.constant(1.0))

    @compiled
    def h(x, n):
        return tf.strings.length(tf.strings.as_string(tf.zeros([n]) + x))

    with pytest.raises(tf.errors.InvalidArgumentError, match="AsString"):
        h(tf.constant(3.0), tf.constant(3))


def test_sizes_may_depend_on_values():
    x = tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    agree(lambda n: tf.zeros([n]) + 1.0, tf.constant(3))
    agree(lambda x, sizes: tf.split(x * 2.0, sizes, axis=1, num=2), x, tf.constant([1, 2]))
    agree(lambda x, n: x[:n] * 2.0, x, tf.constant(1))
    agree(lambda x, n: tf.slice(x, [0, n], [-1, -1]) * 2.0, x, tf.constant(1))
    agree(lambda x: tf.reduce_sum(tf.boolean_mask(x * 2.0, x > 1.5)), x)
    agree(lambda x: tf.unique(tf.cast(tf.reshape(x, [-1]), tf.int32)).y * 2, x)
    agree(lambda x, p: tf.dynamic_partition(x, p, 2), x, tf.constant([1, 0]))

    @tf.function
    def inner(x):
        return tf.where(x > 1.5)

    agree(lambda x: inner(x + 1.0) * 2, x)


def test_inner_functions_and_shapes():
    inner = tf.function(lambda x: tf.sin(x) * 2.0)

    @compiled
    def f(x):
        return inner(inner(x))

    for n in (1, 2, 3):
        x = tf.constant(np.linspace(0.0, 1.0, n))
        np.testing.assert_allclose(f(x).numpy(), np.sin(np.sin(x.numpy()) * 2) * 2)


def test_the_users_jax_stays_as_it_is():
    jax = pytest.importorskip("jax")
    compiled(lambda x: x + tf.constant(1.0, tf.float64))(tf.constant(1.0, tf.float64))
    assert jax.numpy.asarray(np.float64(1.0)).dtype == np.float32


@pytest.mark.parametrize(("size", "is_left"), [(512, True), (8, False)])
def test_matrix_products_are_left_to_the_interpreter(size, is_left):
    @tf.function
    def f(x):
        for _ in range(30):
            x = tf.tanh(tf.matmul(x, x))
        return x

    graph = f.get_concrete_function(tf.TensorSpec([size, size])).graph
    assert compilation.is_mostly_products(graph.plan().steps) == is_left
    assert compilation.is_worthwhile(graph.plan().steps) != is_left


@pytest.mark.parametrize("with_loops", [False, True])
@pytest.mark.parametrize("label", [1, 7])
def test_variables_stay_as_they_are_when_a_check_fails_between_assignments(label, with_loops):
    momentum, weights, late = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0]), tf.Variable(0.0)
    bell = tf.Variable(0.0)

    @tf.function
    def ring():
        bell.assign(1.0)
        while bell < 1.0:  # which waits for ever where a failed check has kept the bell from ringing
            pass
        bell.assign(0.0)

    @compiled
    def step(label):
        momentum.assign_add([1.0, 1.0])  # before the first check
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=[[1.0, 2.0]], labels=[label])
        if with_loops:
            ring()
        momentum.assign(momentum * 0.5)
        weights.assign_sub(momentum * loss[0])
        tf.debugging.assert_less(tf.reduce_sum(weights), 100.0)
        late.assign_add(1.0)
        return loss

    if label == 1:
        step(tf.constant(label))
        loss = np.log(1 + np.exp(-1.0))
        expected = [[1.0, 1.5], [3.0 - loss, 4.0 - 1.5 * loss], 1.0]
    else:
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(tf.constant(label))
        # The interpreter has run what comes before the failing operation, from the values before the call.
        expected = [[2.0, 3.0], [3.0, 4.0], 0.0]
    for variable, value in zip([momentum, weights, late], expected, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=1e-6)


def _is_compiled(f, *specs):
    return compilation.is_worthwhile(tf.function(f).get_concrete_function(*specs).graph.plan().steps)


def test_an_update_of_large_variables_beside_products_is_compiled():
    weights = tf.Variable(tf.zeros([1024, 1024]))

    def step(x, updates=30):
        change = tf.matmul(x, x, transpose_a=True)
        for _ in range(updates):
            weights.assign_sub(change * 0.5)
        return change

    assert _is_compiled(step, tf.TensorSpec([64, 1024]))
    assert not _is_compiled(lambda x: step(x, 1), tf.TensorSpec([4096, 1024]))


@pytest.mark.parametrize(("rows", "is_compiled"), [(64, True), (None, True), (2, False)])
def test_one_large_convolution_is_compiled(rows, is_compiled):
    filters = tf.ones([3, 3, 4, 4])
    images = tf.TensorSpec([rows, 8, 8, 4])
    assert _is_compiled(lambda x: tf.nn.conv2d(x, filters, 1, "SAME"), images) == is_compiled


def _gradient_with_unknown_rows(x, w):
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        # Both gradients need axes that only shapes tell: of broadcasting, and of the mean over one dimension.
        total = tf.reduce_sum(tf.square(tf.reduce_mean(tf.square(x * w + tf.ones_like(x)[:1]), axis=-1)))
    return tape.gradient(total, [x, w])


@pytest.mark.parametrize("nested", [False, True])
def test_gradients_are_compiled_where_only_shapes_tell_their_axes(nested):
    x, w = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([0.5, -1.0])
    signature = [tf.TensorSpec([None, 2]), tf.TensorSpec([None])]
    inner = tf.function(_gradient_with_unknown_rows) if nested else _gradient_with_unknown_rows
    function = tf.function(lambda x, w: inner(x, w), input_signature=signature, jit_compile=True)
    for got, wanted in zip(function(x, w), _gradient_with_unknown_rows(x, w)):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5)


def test_what_shapes_tell_does_not_split_a_graph():
    function = tf.function(
        _gradient_with_unknown_rows, input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None])]
    )
    executable = function.get_concrete_function().graph.executable()
    names = {step.record.name for step in executable.plan.steps}
    assert {"BroadcastGradientArgs", "DynamicStitch"} <= names
    assert executable.segmented is None
