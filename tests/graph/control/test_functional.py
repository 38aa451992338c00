"""Tests of `tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.foldr`, eagerly and in graphs; values are TensorFlow's."""

import numpy as np
import pytest

import headrace as tf

RAGGED = tf.RaggedTensorSpec([None], tf.int32)


def c(value):
    return tf.constant(value)


# Name: (expression, what TensorFlow 2.21 gives).
CASES = {
    "map": (lambda: tf.map_fn(lambda x: x * x, c([1, 2, 3])), [1, 4, 9]),
    "map_structure": (
        lambda: tf.map_fn(lambda x: {"s": x["a"] + x["b"]}, {"a": c([1, 2]), "b": c([3, 4])},
                          fn_output_signature={"s": tf.int32})["s"],
        [4, 6],
    ),
    "map_same_structure": (lambda: tf.map_fn(lambda x: (x[1], x[0]), (c([1, 2]), c([3, 4])))[0], [3, 4]),
    "map_dtype": (lambda: tf.map_fn(lambda x: tf.cast(x, tf.float32), c([1, 2]), dtype=tf.float32), [1.0, 2.0]),
    "map_spec": (
        lambda: tf.map_fn(lambda x: tf.fill([2], x), c([3, 1]), fn_output_signature=tf.TensorSpec([2], tf.int32)),
        [[3, 3], [1, 1]],
    ),
    "map_strings": (lambda: tf.map_fn(lambda x: x + "!", c(["a", "b"])), [b"a!", b"b!"]),
    "map_string_lengths": (
        lambda: tf.map_fn(tf.strings.length, c(["a", "bb"]), fn_output_signature=tf.int32), [1, 2],
    ),
    "map_of_map": (lambda: tf.map_fn(lambda r: tf.map_fn(lambda x: x + 1, r), c([[1, 2], [3, 4]])), [[2, 3], [4, 5]]),
    "map_python_values": (lambda: tf.map_fn(lambda x: 7, c([1, 2])), [7, 7]),
    "ragged_elements": (
        lambda: tf.map_fn(tf.reduce_sum, tf.ragged.constant([[1, 2], [3]]), fn_output_signature=tf.int32), [3, 3],
    ),
    "sparse_elements": (
        lambda: tf.map_fn(tf.sparse.reduce_sum, tf.sparse.from_dense([[1, 0], [0, 3]]), fn_output_signature=tf.int32),
        [1, 3],
    ),
    "sparse_results": (
        lambda: tf.sparse.to_dense(tf.map_fn(lambda n: tf.sparse.eye(n, 3), c([1, 2]),
                                             fn_output_signature=tf.SparseTensorSpec([None, 3], tf.float32))),
        [[[1.0, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 1, 0]]],
    ),
    "scan": (lambda: tf.scan(lambda a, x: a + x, c([1, 2, 3])), [1, 3, 6]),
    "scan_initializer": (lambda: tf.scan(lambda a, x: a + x, c([1, 2, 3]), initializer=10), [11, 13, 16]),
    "scan_reverse": (lambda: tf.scan(lambda a, x: a + x, c([1, 2, 3]), reverse=True), [6, 5, 3]),
    "scan_reverse_initializer": (
        lambda: tf.scan(lambda a, x: a + x, c([1, 2, 3]), initializer=10, reverse=True), [16, 15, 13],
    ),
    "scan_structure": (
        lambda: tf.stack(tf.scan(lambda a, x: (a[1], a[0] + x[0] + x[1]), (c([1, 2, 3]), c([1, 2, 3])),
                                 initializer=(c(0), c(1)))),
        [[1, 2, 5], [2, 5, 8]],
    ),
    "scan_lists": (
        lambda: tf.stack(tf.scan(lambda a, x: [a[0] + x, a[1] * x], c([1, 2]), initializer=[1, 2])), [[2, 4], [2, 4]],
    ),
    "scan_dtype": (
        lambda: tf.scan(lambda a, x: a + tf.cast(x, tf.float32), c([1, 2]), initializer=1.5), [2.5, 4.5],
    ),
    "scan_nothing": (lambda: tf.scan(lambda a, x: a + x, tf.zeros([0]), initializer=1.0), []),
    "foldl": (lambda: tf.foldl(lambda a, x: a - x, c([1, 2, 3])), -4),
    "foldr": (lambda: tf.foldr(lambda a, x: a - x, c([1, 2, 3])), 0),
    "foldl_initializer": (lambda: tf.foldl(lambda a, x: a - x, c([1, 2, 3]), initializer=10), 4),
    "foldr_initializer": (lambda: tf.foldr(lambda a, x: a - x, c([1, 2, 3]), initializer=10), 4),
    "foldl_structure": (
        lambda: tf.foldl(lambda a, x: a - x[0] * x[1], (c([1, 2, 3]), c([1, 2, 3])), initializer=10), -4,
    ),
    "foldl_structured_value": (
        lambda: tf.stack(tf.foldl(lambda a, x: (a[0] - x[0], a[1] * x[1]), (c([1, 2, 3]), c([1, 2, 3])))), [-4, 6],
    ),
    "foldl_nothing": (lambda: tf.foldl(lambda a, x: a + x, tf.zeros([0]), initializer=3.0), 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_values(name, mode):
    function, expected = CASES[name]
    result = (function if mode == "eager" else tf.function(function, autograph=False))()
    assert result.numpy().tolist() == expected


RAGGED_CASES = {
    "results": (lambda: tf.map_fn(tf.range, c([3, 1, 2]), fn_output_signature=RAGGED), [[0, 1, 2], [0], [0, 1]]),
    "both": (
        lambda: tf.map_fn(lambda x: x + 1, tf.ragged.constant([[1, 2], [3]]), fn_output_signature=RAGGED),
        [[2, 3], [4]],
    ),
    "same_as_elements": (lambda: tf.map_fn(lambda x: x + 1, tf.ragged.constant([[1, 2], [3]])), [[2, 3], [4]]),
    "rank_3": (
        lambda: tf.map_fn(lambda x: x + 1, tf.ragged.constant([[[1, 2], []], [[3]]])), [[[2, 3], []], [[4]]],
    ),
    "reduced": (
        lambda: tf.map_fn(lambda x: tf.reduce_sum(x, axis=-1), tf.ragged.constant([[[1, 2], []], [[3]]]),
                          fn_output_signature=RAGGED),
        [[3, 0], [3]],
    ),
    "nothing": (lambda: tf.map_fn(lambda x: tf.range(3), tf.zeros([0, 3]), fn_output_signature=RAGGED), []),
}  # fmt: skip


@pytest.mark.parametrize("name", RAGGED_CASES)
@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_ragged_values(name, mode):
    function, expected = RAGGED_CASES[name]
    result = (function if mode == "eager" else tf.function(function, autograph=False))()
    assert result.to_list() == expected


def test_shape_of_nothing():
    assert tf.map_fn(lambda x: x * 2, tf.zeros([0, 3])).shape == [0]  # TF: eagerly nothing is known of the results
    assert tf.function(lambda: tf.map_fn(lambda x: x * 2, tf.zeros([0, 3])))().shape == [0, 3]


# Name: (expression, error eagerly, error in a graph).
INVALID = tf.errors.InvalidArgumentError
ERRORS = {
    "no_elements": (lambda: tf.map_fn(lambda x: x, []), ValueError, ValueError),
    "scalar": (lambda: tf.map_fn(lambda x: x, 5), ValueError, ValueError),
    "list_of_scalars": (lambda: tf.map_fn(lambda x: x, [1, 2, 3]), ValueError, ValueError),
    "structure": (lambda: tf.map_fn(lambda x: x[0] + x[1], (c([1, 2]), c([3, 4]))), ValueError, ValueError),
    "signature": (lambda: tf.map_fn(lambda x: (x, x), c([1]), fn_output_signature=tf.int32), ValueError, ValueError),
    "dtype": (lambda: tf.map_fn(lambda x: tf.cast(x, tf.float32), c([1, 2])), INVALID, INVALID),
    "lengths": (
        lambda: tf.map_fn(lambda x: x[0], (c([1, 2]), c([3, 4, 5])), fn_output_signature=tf.int32),
        ValueError, ValueError,
    ),
    "shapes_differ": (lambda: tf.map_fn(tf.range, c([3, 1, 2])), ValueError, INVALID),
    "shapes_differ_unchecked": (lambda: tf.map_fn(tf.range, c([3, 1, 2]), infer_shape=False), INVALID, INVALID),
    "wrong_spec": (
        lambda: tf.map_fn(lambda x: tf.fill([2], x), c([3]), fn_output_signature=tf.TensorSpec([3], tf.int32)),
        ValueError, ValueError,
    ),
    "none": (lambda: tf.map_fn(lambda x: None, c([1, 2])), ValueError, ValueError),
    "scan_structure": (lambda: tf.scan(lambda a, x: (a, a), c([1, 2, 3])), ValueError, ValueError),
    "scan_nothing": (lambda: tf.scan(lambda a, x: a + x, tf.zeros([0])), tf.errors.OutOfRangeError, INVALID),
    "scan_dtype": (lambda: tf.scan(lambda a, x: tf.cast(a, tf.float32), c([1, 2])), INVALID, TypeError),
    "scan_shape": (
        lambda: tf.scan(lambda a, x: tf.concat([a, [x]], 0), c([1, 2]), initializer=c([0])), ValueError, ValueError,
    ),
    "foldl_structure": (lambda: tf.foldl(lambda a, x: (a, x), c([1, 2, 3])), ValueError, ValueError),
    "foldl_nothing": (lambda: tf.foldl(lambda a, x: a + x, tf.zeros([0])), tf.errors.OutOfRangeError, INVALID),
    "not_callable": (lambda: tf.map_fn(3, c([1])), TypeError, TypeError),
    "scan_not_callable": (lambda: tf.scan(3, c([1])), TypeError, TypeError),
    "foldr_not_callable": (lambda: tf.foldr(3, c([1])), TypeError, TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    function, eagerly, in_graph = ERRORS[name]
    with pytest.raises(eagerly):
        function()
    with pytest.raises(in_graph):
        tf.function(function, autograph=False)()


def test_foldl_may_change_shape_only_eagerly():
    def fold():
        return tf.foldl(lambda a, x: tf.concat([a, [x]], 0), c([1, 2]), initializer=c([0]))

    assert fold().numpy().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="shape_invariants"):
        tf.function(fold, autograph=False)()


def test_static_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])], autograph=False)
    def run(x):
        mapped = tf.map_fn(lambda e: e * 2, x)
        assert mapped.shape.as_list() == [None, 3]
        assert mapped.op.type == "TensorListStack"
        assert tf.scan(lambda a, e: a + e, x).shape.as_list() == [None, 3]
        return mapped

    assert run(tf.ones([2, 3])).numpy().tolist() == [[2, 2, 2], [2, 2, 2]]

    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def of_unknown_rank(x):
        mapped = tf.map_fn(lambda e: e * 2, x)
        assert mapped.shape.rank is None
        return mapped

    assert of_unknown_rank(tf.ones([2, 1])).numpy().tolist() == [[2], [2]]


X = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
W = tf.Variable([0.5, 2.0])
DIFFERENTIABLE = {
    "map": lambda x: tf.map_fn(lambda e: tf.reduce_sum(e**3 * W), x),
    "map_structure": lambda x: tf.map_fn(lambda e: (e * e, tf.exp(e / 4)), x, fn_output_signature=(tf.float32,) * 2)[1],
    "map_of_map": lambda x: tf.map_fn(lambda e: tf.map_fn(lambda q: q**3, e * W), x),
    "scan": lambda x: tf.scan(lambda a, e: a * e + W, x),
    "scan_reverse": lambda x: tf.scan(lambda a, e: a * e, x, reverse=True) * W,
    "scan_initializer": lambda x: tf.scan(lambda a, e: tf.sin(a) * e, x, initializer=W * W),
    "foldl": lambda x: tf.foldl(lambda a, e: a * e + tf.sin(e * W), x),
    "foldr": lambda x: tf.foldr(lambda a, e: a * e + tf.sin(e * W), x, initializer=tf.constant([1.0, 2.0])),
}  # fmt: skip


def _derivatives(f):
    sources = [X, W]
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        first = tape.gradient(y, sources)
        total = tf.add_n([tf.reduce_sum(tf.sin(g)) for g in first if g is not None])
    return [y, *first, *outer.gradient(total, sources, unconnected_gradients="zero")]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    f = DIFFERENTIABLE[name]
    expected = _derivatives(f)
    inside = tf.function(lambda: _derivatives(f), autograph=False)
    for run in (lambda: _derivatives(tf.function(f, autograph=False)), inside):
        for got, wanted in zip(run(), expected):
            assert (got is None) == (wanted is None)
            if wanted is not None:
                np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)


def test_ragged_results_of_maps_have_first_derivatives_only_in_functions():
    def f(x):
        spec = tf.RaggedTensorSpec([None, None], tf.float32, ragged_rank=1)
        rows = tf.map_fn(lambda e: tf.RaggedTensor.from_row_lengths(e * e * W, [1, 1]), x, fn_output_signature=spec)
        return rows.flat_values

    def first(f):
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        return tape.gradient(y, [X, W])

    wanted = first(f)
    np.testing.assert_allclose(wanted[0], 2 * X * W)
    for run in (lambda: first(tf.function(f, autograph=False)), tf.function(lambda: first(f), autograph=False)):
        for got, each in zip(run(), wanted):
            np.testing.assert_allclose(got.numpy(), each.numpy(), rtol=1e-5)
    with pytest.raises(LookupError, match="RaggedTensorToVariantGradient"):  # TF: none is registered
        _derivatives(tf.function(f, autograph=False))


def test_third_order_through_loops_and_branches():
    x, w = tf.constant([0.3, 0.6, 0.9], tf.float64), tf.Variable([0.1, 0.2, 0.3], dtype=tf.float64)

    def f():
        return tf.cond(
            tf.reduce_sum(x) > 0,
            lambda: tf.foldl(lambda a, e: a * e + w**3, x, initializer=x * x),
            lambda: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x + tf.sin(w)), (0, x * w))[1],
        )

    def derivatives(order):
        if order == 0:
            return tf.reduce_sum(tf.sin(f()))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivatives(order - 1)
        return tf.add_n([tf.reduce_sum(tf.cos(g)) for g in tape.gradient(y, [x, w])])

    for order in (1, 2, 3):
        run = tf.function(lambda order=order: derivatives(order), autograph=False)
        np.testing.assert_allclose(run().numpy(), derivatives(order).numpy(), rtol=1e-10)


@pytest.mark.parametrize("choose", [
    lambda p, a, b: tf.cond(p, a, b),
    lambda p, a, b: tf.switch_case(tf.cast(p, tf.int32), [b, a]),
    lambda p, a, b: tf.case([(p, a)], default=b),
], ids=["cond", "switch_case", "case"])  # fmt: skip
def test_branches_with_slices_agree_on_the_type_of_indices(choose):
    def slices(dtype, value):
        return lambda: [tf.IndexedSlices(tf.fill([2, 3], value), tf.constant([4, 0], dtype), tf.constant([5, 3])), 7]

    @tf.function
    def chosen(p):
        return choose(p, slices(tf.int32, 1.0), slices(tf.int64, 2.0))

    for p in (True, False):
        found, seven = chosen(tf.constant(p))
        assert found.indices.dtype == tf.int64
        assert int(seven) == 7
        np.testing.assert_array_equal(found.indices, [4, 0])
        np.testing.assert_array_equal(found.values, np.full((2, 3), 1.0 if p else 2.0))

    same = tf.function(lambda p: choose(p, slices(tf.int32, 1.0), slices(tf.int32, 2.0)))(tf.constant(True))
    assert same[0].indices.dtype == tf.int32


def test_an_eager_loop_returns_a_list_or_tuple_as_its_body_does():
    assert isinstance(tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), [0, 1]), tuple)
    assert isinstance(tf.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x], (0, 1)), list)
    assert isinstance(tf.while_loop(lambda i, x: i < 0, lambda i, x: [i + 1, x], (0, 1)), tuple)
