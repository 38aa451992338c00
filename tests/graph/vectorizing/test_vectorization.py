"""Tests of `tf.vectorized_map`: functions on the whole batch, against the same on one element after another."""

import logging
import pathlib
import re

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.vectorizing import control
from headrace._src.op.registry import all_ops

A = np.random.RandomState(0).rand(4, 3).astype(np.float32) + 0.5
M = np.random.RandomState(1).rand(4, 3, 3).astype(np.float32) + 2 * np.eye(3, dtype=np.float32)
IMAGES = np.random.RandomState(2).rand(3, 2, 6, 6, 2).astype(np.float32)
N = np.arange(4, dtype=np.int32)
B = np.random.RandomState(3).rand(4, 2, 5).astype(np.float32)
C = tf.constant(np.random.RandomState(4).rand(3, 3).astype(np.float32))
V = tf.constant([1.0, -2.0, 3.0])
FILTERS = tf.constant(np.random.RandomState(5).rand(3, 3, 2, 4).astype(np.float32))


def _loop_until(x):
    return tf.while_loop(lambda i, v: v < 10.0, lambda i, v: (i + 1, v * (1.5 + x)), (0, x))


# Name: (function of one element, elements). Every operation in them has a rule.
CASES = {
    "square": (lambda x: x * x, A),
    "elementwise": (lambda x: tf.exp(x) + tf.sin(x) / tf.sqrt(x) - tf.math.lgamma(x), A),
    "broadcast_vector": (lambda x: x * V + 2.0, A),
    "broadcast_matrix": (lambda x: x + C, A),
    "broadcast_scalar_element": (lambda x: x * C, A[:, 0]),
    "broadcast_ranks": (lambda x: x[0] * x[1], (A, M)),
    "comparison": (lambda x: tf.where(x > 1.0, x, -x), A),
    "select_scalar_condition": (lambda x: tf.where(x[0] > 1.0, x, V), A),
    "clip": (lambda x: tf.clip_by_value(x, 0.7, 1.2), A),
    "pow": (lambda x: x**3 + 2.0**x, A),
    "cast": (lambda x: tf.cast(x * 10, tf.int32) // 3, A),
    "relu_family": (lambda x: tf.nn.relu(x - 1) + tf.nn.elu(x - 1) + tf.nn.softplus(x) + tf.nn.leaky_relu(x - 1), A),
    "sum": (tf.reduce_sum, A),
    "sum_axis": (lambda x: tf.reduce_sum(x, axis=0), M),
    "sum_negative_axis": (lambda x: tf.reduce_sum(x, axis=-1, keepdims=True), M),
    "mean_axes": (lambda x: tf.reduce_mean(x, axis=[0, 1]), M),
    "max_min": (lambda x: tf.reduce_max(x, 1) - tf.reduce_min(x, 0), M),
    "prod_any_all": (lambda x: tf.cast(tf.reduce_any(x > 1, 0), tf.float32) * tf.reduce_prod(x, 0), M),
    "logsumexp": (lambda x: tf.reduce_logsumexp(x, axis=-1), M),
    "argmax": (lambda x: tf.argmax(x, axis=0), M),
    "argmin_last": (lambda x: tf.argmin(x, axis=-1), A),
    "cumsum": (lambda x: tf.cumsum(x, axis=1, reverse=True), M),
    "reverse": (lambda x: tf.reverse(x, [0]), M),
    "roll": (lambda x: tf.roll(x, 1, 0), M),
    "softmax": (lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x), M),
    "l2_loss": (tf.nn.l2_loss, M),
    "matmul": (lambda x: x @ x, M),
    "matmul_constant": (lambda x: x @ C, M),
    "constant_matmul": (lambda x: C @ x, M),
    "matmul_transposed": (lambda x: tf.matmul(x, C, transpose_a=True) + tf.matmul(C, x, transpose_b=True), M),
    "matmul_complex": (lambda x: tf.linalg.matmul(tf.complex(x, x), tf.complex(x, -x), transpose_a=True), M),
    "batch_matmul": (lambda x: tf.matmul(x[None] * C, C), M),
    "matvec": (lambda x: tf.linalg.matvec(C, x), A),
    "tensordot": (lambda x: tf.tensordot(x, x, 1), A),
    "einsum": (lambda x: tf.einsum("ij,kj->ik", x, C), M),
    "einsum_ellipsis": (lambda x: tf.einsum("...i,ij->...j", x, C), M),
    "cholesky": (lambda x: tf.linalg.cholesky(x @ tf.transpose(x) + tf.eye(3)), M),
    "inverse_determinant": (lambda x: tf.linalg.inv(x) * tf.linalg.det(x), M),
    "solve": (lambda x: tf.linalg.solve(x, C), M),
    "solve_stacked_right": (lambda x: tf.linalg.solve(C + 2 * tf.eye(3), x), M),
    "triangular_solve": (lambda x: tf.linalg.triangular_solve(x, C), M),
    "diag": (lambda x: tf.linalg.diag(x), A),
    "diag_part": (lambda x: tf.linalg.diag_part(x), M),
    "set_diag": (lambda x: tf.linalg.set_diag(x, V), M),
    "band_part": (lambda x: tf.linalg.band_part(x, 0, -1), M),
    "reshape": (lambda x: tf.reshape(x, [-1]), M),
    "reshape_scalar": (lambda x: tf.reshape(x, [1, 1]), A[:, 0]),
    "expand_squeeze": (lambda x: tf.squeeze(x[None, :, None], axis=[0]), A),
    "squeeze_all": (lambda x: tf.squeeze(x[None, :, None]), A),
    "transpose": (lambda x: tf.transpose(x), B),
    "concat": (lambda x: tf.concat([x, x * 2, C], axis=0), M),
    "concat_last": (lambda x: tf.concat([x, C], axis=-1), M),
    "stack": (lambda x: tf.stack([x, V], axis=1), A),
    "unstack": (lambda x: tf.unstack(x, axis=0)[1], M),
    "split": (lambda x: tf.split(x, 3, axis=1)[0] + tf.split(x, [1, 2], axis=1)[0], M),
    "slice": (lambda x: tf.slice(x, [1, 0], [1, 2]), M),
    "index": (lambda x: x[1], M),
    "index_ellipsis": (lambda x: x[..., 0:2, tf.newaxis], M),
    "index_strided": (lambda x: x[::-1, ::2], M),
    "index_by_element": (lambda i: C[i % 3], N),
    "index_element_by_element": (lambda x: x[0][tf.cast(x[1], tf.int32) % 3], (M, N)),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [2, 3]), A),
    "fill": (lambda x: tf.fill([2, 2], x), A[:, 0]),
    "tile": (lambda x: tf.tile(x, [2, 1]), M),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2]]) + tf.pad(x, [[1, 0], [0, 2]], constant_values=1.0), M),
    "pad_mirror": (lambda x: tf.pad(x, [[1, 0], [0, 2]], "REFLECT"), M),
    "one_hot": (lambda i: tf.one_hot(i, 5), N),
    "one_hot_axis": (lambda i: tf.one_hot([i, i], 5, axis=0), N),
    "shape": (lambda x: tf.shape(x) + tf.rank(x) + tf.size(x), M),
    "zeros_ones": (lambda x: tf.zeros_like(x) + tf.ones_like(x), M),
    "gather_from_constant": (lambda i: tf.gather(C, [i % 3, 0]), N),
    "gather_axis": (lambda i: tf.gather(C, [i % 3, 0], axis=1), N),
    "gather_from_element": (lambda x: tf.gather(x, [2, 0], axis=0), M),
    "gather_both": (lambda x: tf.gather(x[0], [x[1] % 3, 0], axis=1), (M, N)),
    "gather_batch_dims": (lambda x: tf.gather(x, [[0, 1], [1, 1], [2, 0]], batch_dims=1), M),
    "gather_nd": (lambda x: tf.gather_nd(x, [[0, 1], [2, 2]]), M),
    "gather_nd_by_element": (lambda i: tf.gather_nd(C, [[i % 3, 0]]), N),
    "scatter_nd": (lambda i: tf.scatter_nd([[i]], [1.0], [5]), N),
    "tensor_scatter": (lambda x: tf.tensor_scatter_nd_update(x, [[1]], [9.0]), A),
    "non_aliasing_add": (lambda x: tf.raw_ops.ScatterNdNonAliasingAdd(input=x, indices=[[1]], updates=[9.0]), A),
    "unsorted_segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1], 3), M),
    "segment_sum": (lambda x: tf.math.segment_sum(x, [0, 0, 1]), M),
    "add_n": (lambda x: tf.add_n([x, x, V]), A),
    "sort_top_k": (lambda x: tf.math.top_k(x, 2).values, M),
    "cross_entropy": (lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.eye(3), x), M),
    "sparse_cross_entropy": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 2, 1], x), M),
    "conv2d": (lambda x: tf.nn.conv2d(x, FILTERS, 1, "SAME"), IMAGES),
    "conv2d_filters": (lambda f: tf.nn.conv2d(IMAGES[0], f, 2, "VALID"), np.stack([FILTERS, FILTERS * 2])),
    "depthwise": (lambda x: tf.nn.depthwise_conv2d(x, FILTERS, [1, 1, 1, 1], "VALID"), IMAGES),
    "pools": (lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID") + tf.nn.avg_pool2d(x, 2, 2, "VALID"), IMAGES),
    "batch_norm": (lambda x: tf.raw_ops.FusedBatchNormV3(
        x=x, scale=[1.0, 2.0], offset=[0.5, 0.0], mean=[0.1, 0.2], variance=[1.0, 2.0], is_training=False)[0], IMAGES),
    "search": (lambda x: tf.searchsorted(tf.sort(x), [0.7, 1.2]), A),
    "in_top_k": (lambda x: tf.math.in_top_k([0, 2, 1], x, 1), M),
    "bitcast": (lambda x: tf.bitcast(x, tf.int32), A),
    "svd_qr": (lambda x: tf.linalg.svd(x, compute_uv=False) + tf.abs(tf.linalg.diag_part(tf.linalg.qr(x)[1])), M),
    "eigenvalues": (lambda x: tf.linalg.eigvalsh(x + tf.transpose(x)), M),
    "conv3d": (lambda x: tf.nn.conv3d(x[None], tf.ones([2, 2, 2, 2, 3]), [1] * 5, "VALID"), IMAGES),
    "conv_transpose": (lambda x: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 2]), [2, 12, 12, 4], 2), IMAGES),
    "unsorted_by_element": (lambda x: tf.math.unsorted_segment_sum(x[0], tf.stack([x[1], 0, 1]), 5), (A, N)),
    "case_per_element": (
        lambda x: tf.case([(x[0] > 1.2, lambda: x * 2), (x[0] > 0.9, lambda: x * 3)], default=lambda: x), A,
    ),
    "cond_in_while": (lambda x: tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.cond(tf.reduce_sum(v) > 5.0, lambda: v * 0.5, lambda: v * 2.0)), (0, x))[1], A),
    "while_in_while": (lambda x: tf.while_loop(
        lambda i, v: i < 2,
        lambda i, v: (i + 1, tf.while_loop(lambda w: tf.reduce_sum(w) < 10.0, lambda w: (w * 2,), (v,))[0] * 0.1),
        (0, x))[1], A),
    "bias_add": (lambda x: tf.nn.bias_add(x, V), M),
    "bias_add_stacked": (lambda b: tf.nn.bias_add(C, b), A),
    "stop_gradient": (lambda x: tf.stop_gradient(x) * x, A),
    "identity_n": (lambda x: tf.identity_n([x, V])[0], A),
    "fft": (lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))), A),
    "strings": (lambda x: tf.strings.length(tf.strings.join([tf.strings.upper(x), "!"])), np.array([b"a", b"bcd"])),
    "assert": (lambda x: (tf.debugging.assert_greater(x, 0.0), x * 2)[1], A),
    "cond_same": (lambda x: tf.cond(tf.reduce_sum(C) > 0, lambda: x * 2, lambda: x), A),
    "cond_per_element": (lambda x: tf.cond(x[0] > 1.0, lambda: tf.math.log(x), lambda: x * x), A),
    "switch_per_element": (lambda i: tf.switch_case(i, [lambda: i * 10, lambda: i + 100, lambda: -i]), N),
    "while_same": (lambda x: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (0, x))[1], A),
    "while_from_constant": (lambda x: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + x), (0, V))[1], A),
    "while_per_element": (lambda x: _loop_until(x)[1], A[:, 0]),
    "while_count_per_element": (lambda x: _loop_until(x)[0], A[:, 0]),
    "map_fn_inside": (lambda x: tf.map_fn(lambda y: y * y + x[0], x), A),
    "scan_inside": (lambda x: tf.scan(lambda a, y: a * y, x), A),
    "function_inside": (lambda x: tf.function(lambda y: tf.sin(y) * x)(x), A),
    "vectorized_inside": (lambda x: tf.vectorized_map(lambda y: y * x, x), A),
    "random_stateless": (lambda x: x + tf.random.stateless_uniform([3], [1, 2]), A),
    "structure": (lambda x: {"sum": x["a"] + x["b"], "both": (x["a"], x["b"])}, {"a": A, "b": A * 2}),
    "per_element_gradient": (lambda x: _gradient(lambda y: tf.reduce_sum(tf.tanh(C @ y[:, None]) ** 2), x), A),
    "per_element_hessian": (lambda x: _gradient(lambda z: tf.reduce_sum(_gradient(lambda y: y**4, z)), x), A),
    "gradient_of_conv": (lambda x: _gradient(lambda y: tf.nn.conv2d(y, FILTERS, 1, "SAME") ** 2, x), IMAGES),
    "gradient_of_pool": (lambda x: _gradient(lambda y: tf.nn.max_pool2d(y, 2, 2, "SAME") ** 2, x), IMAGES),
    "gradient_of_loop": (lambda x: _gradient(
        lambda y: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * y), (0, y))[1], x), A),
}  # fmt: skip


def _gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def _one_by_one(f, elems):
    flat = tf.nest.flatten(elems)
    rows = [
        tf.nest.flatten(f(tf.nest.pack_sequence_as(elems, [tf.constant(x[i]) for x in flat])))
        for i in range(len(flat[0]))
    ]
    return [np.stack([row[k].numpy() for row in rows]) for k in range(len(rows[0]))]


def _check(results, expected):
    results = tf.nest.flatten(results)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        assert result.dtype == wanted.dtype if wanted.dtype != object else True
        np.testing.assert_allclose(result.numpy(), wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_whole_batch_as_one_by_one(name):
    f, elems = CASES[name]
    expected = _one_by_one(f, elems)
    tensors = tf.nest.map_structure(tf.constant, elems)
    _check(tf.vectorized_map(f, tensors, fallback_to_while_loop=False), expected)
    in_graph = tf.function(lambda: tf.vectorized_map(f, tensors, fallback_to_while_loop=False), autograph=False)
    _check(in_graph(), expected)


_UNKNOWN_SIZES = [name for name, (_, elems) in CASES.items() if name not in (
    "conv2d_filters", "depthwise", "map_fn_inside", "scan_inside", "gradient_of_loop", "strings",
)]  # fmt: skip


@pytest.mark.parametrize("name", _UNKNOWN_SIZES)
def test_number_of_elements_unknown_while_tracing(name):
    f, elems = CASES[name]
    flat = [tf.constant(x) for x in tf.nest.flatten(elems)]
    signature = [tf.TensorSpec([None, *x.shape[1:]], x.dtype) for x in flat]

    @tf.function(input_signature=signature, autograph=False)
    def run(*args):
        return tf.vectorized_map(f, tf.nest.pack_sequence_as(elems, list(args)), fallback_to_while_loop=False)

    _check(run(*flat), _one_by_one(f, elems))


_DIFFERENTIABLE = [
    "square", "broadcast_ranks", "logsumexp", "matmul_constant", "einsum", "cholesky", "concat", "index_strided",
    "gather_from_element", "cross_entropy", "conv2d", "pools", "cond_per_element", "while_same", "while_per_element",
    "function_inside", "per_element_gradient", "map_fn_inside", "stop_gradient",
]  # fmt: skip


@pytest.mark.parametrize("name", _DIFFERENTIABLE)
def test_gradients(name):
    f, elems = CASES[name]
    tensors = [tf.constant(x) for x in tf.nest.flatten(elems)]

    def loss(run):
        with tf.GradientTape() as outer:
            outer.watch(tensors)
            with tf.GradientTape() as tape:
                tape.watch(tensors)
                y = run(tf.nest.pack_sequence_as(elems, tensors))
                total = tf.reduce_sum(tf.sin(y))
            first = [tf.convert_to_tensor(g) for g in tape.gradient(total, tensors)]
            squares = tf.add_n([tf.reduce_sum(g * g) for g in first])
        second = outer.gradient(squares, tensors, unconnected_gradients="zero")
        return first + [tf.convert_to_tensor(g) for g in second]

    count = tensors[0].shape[0]
    flat_loop = lambda e: tf.stack([f(tf.nest.map_structure(lambda x, i=i: x[i], e)) for i in range(count)])
    expected = [g.numpy() for g in loss(flat_loop)]
    vectorized = lambda e: tf.vectorized_map(f, e, fallback_to_while_loop=False)
    for run in (lambda: loss(vectorized), lambda: loss(tf.function(vectorized, autograph=False))):
        for got, wanted in zip(run(), expected):
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-3, atol=1e-4)


def test_gradients_of_what_all_elements_share():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.vectorized_map(lambda x: tf.reduce_sum(x * v), tf.constant(A))
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), A.sum(0), rtol=1e-6)


@tf.custom_gradient
def _clipped_gradient(x):
    return x * 1.0, lambda dy: tf.clip_by_value(dy, -0.5, 0.5) * x


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tf.function(f, autograph=False)])
def test_custom_gradients(wrap):
    x = tf.constant([1.0, 2.0, 3.0])

    @wrap
    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda e: _clipped_gradient(e) * 2.0, x)
        return tape.gradient(y, x)

    assert run().numpy().tolist() == [0.5, 1.0, 1.5]


def test_unstacked_results_are_repeated():
    assert tf.vectorized_map(lambda x: tf.constant(5), tf.constant(A)).numpy().tolist() == [5] * 4
    assert tf.vectorized_map(lambda x: (x, None), tf.constant([1]))[1] is None


def test_elements_of_length_one_are_repeated():
    result = tf.vectorized_map(lambda x: x[0] + x[1], (tf.constant([1, 2]), tf.constant([3])))
    assert result.numpy().tolist() == [4, 5]


def test_no_elements():
    assert tf.vectorized_map(lambda x: x + 1, tf.zeros([0, 2])).shape == [0, 2]


def test_random_numbers_are_those_of_tensorflow():
    tf.random.set_seed(1)
    drawn = tf.vectorized_map(lambda x: tf.random.uniform([]), tf.constant([1, 3, 0]))
    np.testing.assert_array_equal(drawn.numpy(), np.float32([0.81269646, 0.07857466, 0.8916855]))
    tf.random.set_seed(1)
    run = tf.function(lambda: tf.vectorized_map(lambda x: tf.random.uniform([2]), tf.constant([1, 3, 0])))
    expected = [[0.81269646, 0.07857466], [0.8916855, 0.16925514], [0.06311357, 0.54531074]]
    np.testing.assert_array_equal(run().numpy(), np.float32(expected))


@pytest.mark.parametrize("path", sorted(pathlib.Path(control.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_the_walk_names_no_ops(path):
    """What an op becomes is said at its record, nowhere else."""
    words = set(re.findall(r"""["'](\w+)["']""", path.read_text(encoding="utf-8")))
    assert not words & {op.name for op in all_ops()}


def test_fallback_names_the_op(caplog):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with caplog.at_level(logging.WARNING, "headrace"):
        result = tf.vectorized_map(lambda e: tf.where(e > 0), x)
    assert "Using a while_loop for converting Where" in caplog.text
    assert result.numpy().tolist() == [[[0], [1]], [[0], [1]]]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "headrace"):
        tf.vectorized_map(lambda e: tf.where(e > 0), x, warn=False)
    assert "Where" not in caplog.text
    with pytest.raises(ValueError, match="No pfor vectorization defined for Where"):
        tf.vectorized_map(lambda e: tf.where(e > 0), x, fallback_to_while_loop=False)


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tf.function(f, autograph=False)])
def test_fallback_differentiates(wrap):
    x = tf.constant([[3.0, 1.0], [2.0, 4.0]])

    @wrap
    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda e: tf.py_function(lambda a: a**2, [e], tf.float32), x, warn=False)
        return tape.gradient(y, x)

    np.testing.assert_allclose(run().numpy(), 2 * x.numpy())


@pytest.mark.parametrize(("function", "elems", "error"), [
    (lambda x: x, 3, ValueError),
    (lambda x: x, [], ValueError),
    (3, [[1.0]], TypeError),
    (lambda x: x[0], ([1, 2], [1, 2, 3]), tf.errors.InvalidArgumentError),
    (lambda x: tf.unique(x)[0], [[1.0, 2.0], [1.0, 1.0]], tf.errors.InvalidArgumentError),
])  # fmt: skip
def test_errors(function, elems, error):
    elems = tuple(map(tf.constant, elems)) if isinstance(elems, tuple) else tf.constant(elems) if elems != [] else elems
    with pytest.raises(error):
        tf.vectorized_map(function, elems)


def test_variables_are_not_written():
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="AssignAddVariableOp"):
        tf.vectorized_map(lambda x: v.assign_add(x), tf.constant([1.0, 2.0]))
    assert v.numpy() == 1.0


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tf.function(f, autograph=False)], ids=["eager", "traced"])
def test_variables_are_made_at_the_first_element(wrap):
    made = []

    def scaled(x):
        if not made:
            made.append(tf.Variable(tf.ones([3]) * 2.0))
        return x * made[0]

    run = wrap(lambda: tf.vectorized_map(scaled, tf.ones([4, 3])))
    assert run().numpy().tolist() == [[2.0] * 3] * 4
    made[0].assign([1.0, 2.0, 3.0])
    assert run().numpy().tolist() == [[1.0, 2.0, 3.0]] * 4
    assert len(made) == 1


def test_variables_do_not_begin_with_an_element():
    with pytest.raises(ValueError, match="must not depend on the element"):
        tf.vectorized_map(lambda x: x + tf.Variable(x), tf.ones([2, 3]))
