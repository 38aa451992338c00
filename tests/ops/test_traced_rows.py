"""Every row again inside a tf.function: with known shapes, with unknown lengths, and with unknown ranks."""

import re

import numpy as np
import pytest
from comparison import assert_close
from evaluation import as_numpy, dtype_name, evaluate, flat_tensors, is_differentiable, run_code, weights_for
from test_rows import ROWS

import headrace as tf

# What can only be asked of eager tensors, makes variables on each call, or works only once.
EAGER_ONLY = re.compile(
    r"\.numpy\(|to_list\(|to_pyval\(|get_static_value\(a|tempfile|dlpack|tf\.Variable\(|Generator|RegisterGradient"
)
# Random numbers: operations of a graph have other seeds than eager ones, so that only dtypes and shapes are compared.
DRAWN = re.compile(r"set_seed|random\.(?!stateless)|dropout|sampler|nce_loss|fractional")

# What eager execution refuses and a graph does not, in TensorFlow as well.
NOT_REFUSED_IN_GRAPHS = {
    "tf.shape(a, out_type=tf.int16)",  # a constant of any dtype, if the shape is known
    "tf.parallel_stack([a, a])",
    "tf.gradients(x, x)",
    "tf.hessians(x, x)",  # TensorFlow refuses it in its own way: there is no second derivative
    "tf.constant(1.0).name",
}
# The same if lengths are unknown: these functions compare only static shapes.
NOT_REFUSED_WHEN_ERASED = {
    "tf.math.accumulate_n([a, a], shape=[3])",
    "tf.boolean_mask(a, [True])",
    "tf.repeat(a, [1, 2], axis=0)",
    "tf.nn.separable_conv2d(a, w, p, [1, 1, 1, 1], 'SAME')",
    "tf.signal.dct(a, type=1)",
    "tf.signal.mfccs_from_log_mel_spectrograms(a)",  # TensorFlow ends the process
    "tf.linalg.lu_solve(a, [0, 1], b)",
    "with tf.autodiff.ForwardAccumulator(x, t):\n    pass\nresult = 0",
}
# And if ranks are unknown.
NOT_REFUSED_WHEN_UNRANKED = {
    "tf.clip_by_value(a, [[[1.0, 2.0]]], 3.0)",
}
REFUSED_WHEN_UNRANKED = re.compile(
    r"nn\.conv1d\(a, w, 1, 'SAME'\)|nn\.conv2d\(a, w, 1, 'SAME'\)|nn\.conv3d\(a, w, \[1, 1, 1, 1, 1\], 'VALID'\)|"
    r"LinearOperatorKronecker\(.*assert_non_singular"
)
# What eager execution allows and a graph refuses, in TensorFlow as well.
REFUSED_IN_GRAPHS = re.compile(
    # Python's own operations on values: truth, numbers, length, NumPy functions, formatting, iterating.
    r"= b and True|bool\(tf\.constant|a\[0\] in \[|int\(tf\.constant|float\(i\[0\]|= len\(f\)|= np\.\w+\(f|%d\"%|"
    r":\.2f}|for x in a\b|in enumerate\(x\)|list\(f\)|list\(tf\.ragged|add_n\(a\)|"
    r"raw_ops\.Const\(value=a|set_seed\(tf\.constant|"
    r"name_scope\('a b'\)|"  # not the name of an operation
    # TF: comparing ragged tensors of different row lengths gives False or True eagerly.
    r"\[\[1, 2\], \[3\]\]\)==tf\.ragged\.constant\(\[\[1, 2\], \[3, 4\]\]\)|\[\[1, 2\], \[4\]\]\)!=tf\.ragged"
)
REFUSALS = (
    tf.errors.OpError, ValueError, TypeError, LookupError, AttributeError, NotImplementedError, AssertionError,
    RuntimeError,
)  # fmt: skip


def _spec(tensor, shapes):
    if shapes == "unranked":
        return tf.TensorSpec(None, tensor.dtype)
    return tf.TensorSpec([None] * tensor.shape.rank if shapes == "erased" else tensor.shape, tensor.dtype)


def _traced(row, shapes):
    tensors = {name: tf.constant(array) for name, array in row.arrays().items()}
    sources = [t for t in tensors.values() if is_differentiable(t.dtype)] if row.grad else []
    plain = []  # for each leaf: None for a tensor, or the value that is none

    def body(*given):
        plain.clear()
        returned = []
        for leaf in flat_tensors(tf, run_code(tf, row, dict(zip(tensors, given)))):
            if isinstance(leaf, tf.Operation):
                continue  # of an assertion, which gives None eagerly
            plain.append(None if isinstance(leaf, tf.Tensor) else leaf)
            if isinstance(leaf, tf.Tensor):
                returned.append(leaf)
        return returned

    signature = [_spec(tensor, shapes) for tensor in tensors.values()]
    function = tf.function(body, input_signature=signature, autograph=False)
    with tf.GradientTape() as tape:
        for source in sources:
            tape.watch(source)
        results = iter(function(*tensors.values()))
    leaves = [next(results) if leaf is None else leaf for leaf in plain]
    targets = [x for x in leaves if isinstance(x, tf.Tensor) and is_differentiable(x.dtype)]
    grads = None
    if sources and targets:
        weights = [
            tf.constant(weights_for(i, t.shape, np.dtype(t.dtype.as_numpy_dtype))) for i, t in enumerate(targets)
        ]
        found = tape.gradient(targets, sources, output_gradients=weights)
        grads = [None if g is None else as_numpy(tf.convert_to_tensor(g)) for g in found]
    return leaves, grads


def _is_accepted(row, shapes):
    """Whether a graph does not refuse what eager execution refuses."""
    return (
        row.code in NOT_REFUSED_IN_GRAPHS
        or (shapes != "known" and row.code in NOT_REFUSED_WHEN_ERASED)
        or (shapes == "unranked" and row.code in NOT_REFUSED_WHEN_UNRANKED)
    )


def _may_refuse(row, shapes, error):
    """Whether a graph may refuse, with this error, what eager execution does not."""
    if shapes == "unranked" and REFUSED_WHEN_UNRANKED.search(row.code):
        return True
    # TF: some gradients and functions need shapes that are known when the graph is built.
    needs_shape = isinstance(error, (NotImplementedError, ValueError))
    return shapes != "known" and needs_shape and re.search("known|unknown|static|square|rank", str(error))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "row", "shapes"),
    [
        pytest.param(*p.values, shapes, id=f"{p.id}-{shapes}")
        for p in ROWS
        if not EAGER_ONLY.search(p.values[1].code)
        for shapes in ("known", "erased", "unranked")
        if p.values[1].inputs or shapes == "known"
    ],
)
def test_traced(family, row, shapes):
    wanted = evaluate(tf, row)
    if "error" in wanted:
        if _is_accepted(row, shapes):
            return
        # Which class it is, and whether it comes while tracing or while running, may differ; that it is refused not.
        with pytest.raises(REFUSALS):
            _traced(row, shapes)
        return
    if REFUSED_IN_GRAPHS.search(row.code):
        with pytest.raises(REFUSALS):
            _traced(row, shapes)
        return
    try:
        leaves, grads = _traced(row, shapes)
    except (NotImplementedError, ValueError, tf.errors.InvalidArgumentError) as error:
        if _may_refuse(row, shapes, error):
            return
        raise
    assert [dtype_name(x) for x in leaves] == [name for name, _ in wanted["values"]]
    if DRAWN.search(row.code):
        shapes = [x.shape for x in leaves if isinstance(x, tf.Tensor)]
        assert shapes == [want.shape for x, (_, want) in zip(leaves, wanted["values"]) if isinstance(x, tf.Tensor)]
        return
    for leaf, (_, want) in zip(leaves, wanted["values"], strict=True):
        if isinstance(leaf, tf.Tensor):
            assert_close(as_numpy(leaf), want, row.rtol, row.atol, what="value")
    for grad, want in zip(grads or (), wanted["grads"] or (), strict=True):
        if want is None:
            assert grad is None or not np.any(grad)  # what does not matter may be zero
        else:
            assert grad is not None
            assert_close(grad, want, row.rtol, row.atol, slack=10, what="gradient")


def test_batch_scatter_update():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None], tf.int64)])
    def update(values, indices):
        v.batch_scatter_update(tf.IndexedSlices(values, indices))

    update(tf.constant([[7.0], [8.0], [9.0]]), tf.constant([[0], [1], [0]], tf.int64))
    np.testing.assert_array_equal(v, [[7.0, 2.0], [3.0, 8.0], [9.0, 6.0]])
