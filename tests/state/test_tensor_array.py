"""`tf.TensorArray`: eager and in graphs, the same meaning; errors as TensorFlow raises them; gradients."""

import numpy as np
import pytest

import headrace as tf

X = np.array([1.0, 2.0, 3.0], np.float32)


def graphed(function):
    return tf.function(function, autograph=False)


def eagerly(function):
    return function


BOTH = pytest.mark.parametrize("run", [eagerly, graphed], ids=["eager", "graph"])


def array(*args, **kwargs):
    return tf.TensorArray(tf.float32, *args, **kwargs)


# Each: a function of x, and what it gives for X.
MEANINGS = {
    "write": (lambda x: array(2).write(0, x[0]).write(1, x[1]).stack(), [1, 2]),
    "read": (lambda x: array(2).write(1, x).read(1), [1, 2, 3]),
    "unstack": (lambda x: array(3).unstack(x).read(2), 3),
    "gather": (lambda x: array(3).unstack(x).gather([2, 0, 2]), [3, 1, 3]),
    "scatter": (lambda x: array(4).scatter([3, 0, 1], x).gather([0, 1, 3]), [2, 3, 1]),
    "scatter tensor": (lambda x: array(3).scatter(tf.constant([2, 0, 1]), x).stack(), [2, 3, 1]),
    "concat": (lambda x: array(2).write(0, x).write(1, x * 2).concat(), [1, 2, 3, 2, 4, 6]),
    "concat of unequal": (
        lambda x: array(2, infer_shape=False).write(0, x[:1]).write(1, x * 2).concat(),
        [1, 2, 4, 6],
    ),
    "split": (lambda x: array(2, infer_shape=False).split(x, [1, 2]).read(1), [2, 3]),
    "split and concat": (lambda x: array(2, infer_shape=False).split(x, tf.constant([1, 2])).concat(), [1, 2, 3]),
    "unset": (lambda x: array(3, element_shape=[]).write(1, x[1]).stack(), [0, 2, 0]),
    "unset, shape inferred": (lambda x: array(2).write(1, x).stack(), [[0, 0, 0], [1, 2, 3]]),
    "unset read": (lambda x: array(3, element_shape=[2]).read(1) + x[0], [1, 1]),
    "dynamic": (lambda x: array(0, dynamic_size=True).write(0, x[0]).write(2, x[2]).stack(), [1, 0, 3]),
    "dynamic unstack": (lambda x: array(0, dynamic_size=True).unstack(x).stack(), [1, 2, 3]),
    "overwrite": (lambda x: array(1).write(0, x[0]).write(0, x[1]).read(0), 2),
    "identity": (lambda x: array(3).unstack(x).identity().stack(), [1, 2, 3]),
    "size": (lambda x: array(3).unstack(x).size(), 3),
    "size grown": (lambda x: array(0, dynamic_size=True).write(4, x[0]).size(), 5),
    "tensor size": (lambda x: array(tf.constant(3)).size(), 3),
    "int64 index": (lambda x: array(3).write(tf.constant(1, tf.int64), x[0]).read(tf.constant(1, tf.int64)), 1),
    "python value": (lambda x: array(1).write(0, 7).read(0), 7),
    "no elements": (lambda x: array(0, element_shape=[2]).stack(), np.zeros((0, 2))),
    "no elements, concat": (lambda x: array(0, element_shape=[2, 3]).concat(), np.zeros((0, 3))),
    "no elements, gather": (lambda x: array(2, element_shape=[2]).gather(tf.zeros([0], tf.int32)), np.zeros((0, 2))),
}


@BOTH
@pytest.mark.parametrize("name", MEANINGS)
def test_means_the_same(run, name):
    function, expected = MEANINGS[name]
    result = run(function)(tf.constant(X)).numpy()
    assert result.shape == np.shape(expected)
    assert result.tolist() == np.asarray(expected).tolist()


DIFFERENTIABLE = [
    "write", "read", "unstack", "gather", "scatter", "concat", "concat of unequal", "split", "split and concat",
    "unset", "unset, shape inferred", "dynamic", "dynamic unstack", "overwrite", "identity",
]  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_of_any_order(run, name):
    function, expected = MEANINGS[name]
    x = tf.constant(X)
    weights = np.arange(1, np.size(expected) + 1, dtype=np.float32).reshape(np.shape(expected))
    traced = run(lambda x: function(x * x))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(traced(x) * weights)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    # The arrays only move elements, so y = sum over c[i] * x[i]**2.
    eye = np.eye(3, dtype=np.float32)
    moved = [np.sum(np.asarray(function(tf.constant(row))) * weights) for row in eye]
    np.testing.assert_allclose(first, 2 * X * moved)
    np.testing.assert_allclose(second, 2 * np.array(moved))


def written(arr):
    return arr.write(0, 1.0)


ERRORS = [
    (lambda: array(3).write(5, 1.0).stack(), tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError, "5"),
    (lambda: array(3).write(-1, 1.0).stack(), tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError, "-1"),
    (lambda: written(array(3)).read(3), tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError, "3"),
    (lambda: written(array(3)).read(-2), tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError, "-2"),
    (lambda: written(array(3)).gather([7]), IndexError, tf.errors.InvalidArgumentError, "7"),
    (lambda: array(3).read(0), ValueError, tf.errors.InvalidArgumentError, "unknown"),
    (lambda: array(3).stack(), ValueError, tf.errors.InvalidArgumentError, "unknown"),
    (lambda: written(array(3)).write(1, [1.0, 2.0]), ValueError, ValueError, r"\(2,\)"),
    (lambda: array(3, element_shape=[2]).write(0, 1.0), ValueError, ValueError, r"\(2,\)"),
    (
        lambda: array(3).write(0, tf.constant(1)),
        tf.errors.InvalidArgumentError,
        tf.errors.InvalidArgumentError,
        "TensorArray dtype is float32 but Op is trying to write dtype int32",
    ),
    (lambda: array(3).unstack(1.0), ValueError, ValueError, "vector"),
    (lambda: array(2).unstack([1.0, 2.0]).concat(), tf.errors.InvalidArgumentError, ValueError, "[Cc]oncat"),
    (lambda: array(2).scatter([0], [1.0, 2.0]).stack(), tf.errors.InvalidArgumentError,
     tf.errors.InvalidArgumentError, "rows"),
    (lambda: array(2, infer_shape=False).split([1.0, 2.0], [1, 2]).concat(), tf.errors.InvalidArgumentError,
     tf.errors.InvalidArgumentError, "lengths"),
    (lambda: tf.TensorArray(tf.float32), ValueError, ValueError, "[Ss]ize"),
    (lambda: array(3).grad("x"), NotImplementedError, NotImplementedError, "grad"),
    (lambda: array(3, handle=tf.constant(1)), ValueError, ValueError, "handle"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "eager", "graph", "text"), ERRORS)
def test_errors(program, eager, graph, text):
    with pytest.raises(eager, match=text):
        program()
    with pytest.raises(graph, match=text):
        graphed(program)()


def test_an_eager_array_changes_in_place_and_forgets_what_was_read():
    arr = array(2)
    arr.write(0, 1.0)
    assert float(arr.read(0)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        arr.read(0)
    kept = array(2, clear_after_read=False).write(0, 1.0)
    assert float(kept.read(0)) == float(kept.read(0)) == 1.0
    arr.close()
    assert int(arr.size()) == 0


def test_a_failing_write_changes_nothing():
    arr = array(1, dynamic_size=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        arr.write(5, tf.constant(1))
    assert int(arr.size()) == 1


def test_a_write_that_is_not_assigned_is_lost_in_a_graph():
    @graphed
    def lost():
        arr = array(2, element_shape=[]).write(0, 1.0)
        arr.write(1, 5.0)
        return arr.stack()

    assert lost().numpy().tolist() == [1, 0]


def test_properties():
    arr = array(2, dynamic_size=True, element_shape=[None])
    assert (arr.dtype, arr.dynamic_size, arr.handle) == (tf.float32, True, None)
    arr.write(0, [1.0, 2.0])
    assert arr.element_shape == [2]

    @graphed
    def inside():
        arr = array(2)
        assert arr.flow.dtype is tf.variant
        assert tf.TensorArray(tf.float32, flow=arr.flow).dtype is tf.float32
        arr = arr.write(0, [1.0, 2.0])
        assert arr.element_shape == [2]
        assert arr.stack().shape == [2, 2]
        assert arr.read(0).shape == [2]
        arr.close()
        return arr.stack()

    assert inside().shape == (2, 2)


# In control flow.


def powers(x, n):
    def body(i, arr, power):
        return i + 1, arr.write(i, power), power * x

    start = (tf.constant(0), array(n), tf.ones_like(x))
    return tf.while_loop(lambda i, arr, power: i < n, body, start)[1].stack()


@BOTH
def test_loops(run):
    x = tf.constant([2.0, 3.0])
    traced = run(lambda x: powers(x, 4))
    assert traced(x).numpy().tolist() == [[1, 1], [2, 3], [4, 9], [8, 27]]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = traced(x)
        first = inner.gradient(y, x)
    np.testing.assert_allclose(first, [1 + 4 + 12, 1 + 6 + 27])
    np.testing.assert_allclose(outer.gradient(first, x), [2 + 12, 2 + 18])


@BOTH
def test_a_loop_that_reads_what_it_wrote(run):
    def program(x):
        arr = array(4, clear_after_read=False).write(0, x)

        def body(i, arr):
            return i + 1, arr.write(i, arr.read(i - 1) * x)

        return tf.while_loop(lambda i, arr: i < 4, body, (tf.constant(1), arr))[1].stack()

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = run(program)(x)
        first = inner.gradient(y, x)
    assert y.numpy().tolist() == [2, 4, 8, 16]
    assert float(first) == 1 + 4 + 12 + 32
    assert float(outer.gradient(first, x)) == 2 + 12 + 48


@BOTH
def test_a_growing_array_in_a_loop(run):
    def program(x, n):
        def body(i, arr):
            return i + 1, arr.write(i, x * tf.cast(i, tf.float32))

        start = (tf.constant(0), array(0, dynamic_size=True))
        return tf.while_loop(lambda i, arr: i < n, body, start)[1].stack()

    x, traced = tf.constant(3.0), run(program)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = traced(x, tf.constant(4))
    assert y.numpy().tolist() == [0, 3, 6, 9]
    assert float(tape.gradient(y, x)) == 6


def test_a_loop_over_an_input_array():
    @graphed
    def squares(x):
        n = tf.shape(x)[0]
        given, arr = array(n).unstack(x), array(n)

        def body(i, arr):
            return i + 1, arr.write(i, given.read(i) ** 2)

        return tf.while_loop(lambda i, arr: i < n, body, (tf.constant(0), arr))[1].stack()

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = squares(x)
    assert y.numpy().tolist() == [1, 4, 9]
    assert tape.gradient(y, x).numpy().tolist() == [2, 4, 6]


def test_static_shapes_survive_a_loop():
    @graphed
    def program(x):
        arr = array(3)
        _, arr = tf.while_loop(lambda i, arr: i < 3, lambda i, arr: (i + 1, arr.write(i, x)), (tf.constant(0), arr))
        assert arr.element_shape == [3]
        assert arr.stack().shape == [3, 3]
        assert arr.size().shape == []
        return arr.stack()

    assert program(tf.constant(X)).shape == (3, 3)


@BOTH
def test_conditionals(run):
    def program(p, x):
        arr = array(3, clear_after_read=False).unstack(x)
        return tf.cond(p, lambda: arr.write(0, x[2] * 2), lambda: arr).stack()

    traced = run(program)
    assert traced(tf.constant(True), X).numpy().tolist() == [6, 2, 3]
    assert traced(tf.constant(False), X).numpy().tolist() == [1, 2, 3]


# As values of functions.


def test_arguments_and_results_of_functions():
    @graphed
    def first_to_five(arr):
        return arr.write(0, 5.0), arr.stack()

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        changed, before = first_to_five(array(2).unstack(x))
        y = changed.stack() * before
    assert isinstance(changed, tf.TensorArray)
    assert changed.stack().numpy().tolist() == [5, 2]
    assert before.numpy().tolist() == [1, 2]
    assert tape.gradient(y, x).numpy().tolist() == [5, 4]
    first_to_five(array(2).unstack(x))
    assert first_to_five.experimental_get_tracing_count() == 1
    # What a function returned can be used further, and results do not know of each other.
    assert changed.write(1, 7.0).stack().numpy().tolist() == [5, 7]
    assert changed.stack().numpy().tolist() == [5, 2]


def test_an_array_from_outside_is_read_in_a_function():
    arr = array(2, clear_after_read=False).unstack([1.0, 2.0])
    assert float(graphed(lambda: arr.read(1) + arr.read(0))()) == 3
    assert graphed(lambda: arr.write(0, 9.0).stack())().numpy().tolist() == [9, 2]
    assert arr.stack().numpy().tolist() == [1, 2]


def test_autograph():
    @tf.function
    def program(n):
        arr = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            arr = arr.write(i, i * i)
        return arr.stack()

    assert program(tf.constant(5)).numpy().tolist() == [0, 1, 4, 9, 16]


# The spec.


def test_spec():
    spec = tf.TensorArraySpec([2], tf.float32, True, False)
    assert repr(spec) == "TensorArraySpec(TensorShape([2]), tf.float32, True, False)"
    assert spec.value_type is tf.TensorArray
    assert spec == tf.TensorArraySpec([2], tf.float32, True, False)
    assert hash(spec) == hash(tf.TensorArraySpec([2], tf.float32, True, False))
    assert spec.is_compatible_with(tf.TensorArraySpec([None], tf.float32, True))
    assert not spec.is_compatible_with(tf.TensorArraySpec([2]))
    assert not spec.is_compatible_with(tf.constant(1.0))
    assert tf.TensorArraySpec([2]).is_subtype_of(tf.TensorArraySpec([None]))
    assert not tf.TensorArraySpec([None]).is_subtype_of(tf.TensorArraySpec([2]))
    general = tf.TensorArraySpec([2]).most_specific_common_supertype([tf.TensorArraySpec([3])])
    assert general == tf.TensorArraySpec([None])
    assert tf.TensorArraySpec([2]).most_specific_common_supertype([tf.TensorArraySpec([2], tf.int32)]) is None
    assert tf.type_spec_from_value(array(2, element_shape=[3])) == tf.TensorArraySpec([3])
    assert tf.TensorArraySpec.from_value(array(2)) == tf.TensorArraySpec(None)
    with pytest.raises(TypeError, match="TensorArray"):
        tf.TensorArraySpec.from_value(1)


def test_nest_takes_it_apart_and_puts_it_together():
    arr = array(2).unstack([1.0, 2.0])
    assert tf.nest.flatten([arr, 3]) == [arr, 3]
    (flow,) = tf.nest.flatten(arr, expand_composites=True)
    assert flow.dtype is tf.variant
    again = tf.nest.pack_sequence_as(arr, [flow], expand_composites=True)
    assert again.stack().numpy().tolist() == [1, 2]
    spec = arr._type_spec
    assert spec._from_components(spec._to_components(arr)).stack().numpy().tolist() == [1, 2]


def test_input_signature():
    @tf.function(input_signature=[tf.TensorArraySpec([None], tf.float32)], autograph=False)
    def total(arr):
        return tf.reduce_sum(arr.stack())

    assert float(total(array(2).unstack([[1.0, 2.0], [3.0, 4.0]]))) == 10
