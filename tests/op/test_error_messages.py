"""What errors say and what they leave behind: names of ops and arguments, shapes as tuples, intact state."""

import collections
import re
import threading
import time

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.context import context
from headrace._src.op.registry import lookup

resource = pytest.importorskip("resource")  # not on Windows

MESSAGES = [
    (lambda: tf.add(tf.ones([2]), tf.ones([3])), tf.errors.InvalidArgumentError, ["AddV2", "x (2,)", "y (3,)"]),
    (lambda: tf.ones([2]) * tf.ones([3]), tf.errors.InvalidArgumentError, ["Mul", "x (2,)", "y (3,)"]),
    (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([4, 5])), tf.errors.InvalidArgumentError, ["(2, 3)", "(4, 5)"]),
    (lambda: tf.gather([1, 2], [5]), tf.errors.InvalidArgumentError, ["GatherV2", "indices[0] = 5", "[0, 2)"]),
    (lambda: tf.reshape([1.0, 2.0], [3]), tf.errors.InvalidArgumentError, ["Reshape", "with 2 values", "has 3"]),
    (lambda: tf.reduce_sum([1.0], axis=3), tf.errors.InvalidArgumentError, ["Sum", "3"]),
    (lambda: tf.sqrt([1, 2]), tf.errors.InvalidArgumentError, ["Sqrt", "x must be one of", "got int32", "tf.cast"]),
    (lambda: tf.constant([1]) + tf.constant([1.0]), TypeError, ["AddV2", "y", "int32", "float32"]),
    (lambda: tf.abs(None), ValueError, ["abs", "x=None"]),
    (lambda: tf.sin({"a": 1}), ValueError, ["math.sin", "x", "dict"]),
    (lambda: tf.raw_ops.Neg(x=[[1], [2, 3]]), ValueError, ["Neg", "x", "non-rectangular"]),
    (lambda: tf.concat([tf.ones([2]), None], 0), ValueError, ["concat", "values"]),
    (lambda: tf.zeros([-1]), tf.errors.InvalidArgumentError, ["zeros", "shape", "(-1,)"]),
    (lambda: tf.zeros([2.5]), TypeError, ["zeros", "shape", "float32"]),
    (lambda: tf.raw_ops.Sum(input=[1.0], axis=0, keep_dims=3), TypeError, ["Sum", "keep_dims", "bool", "3"]),
    (lambda: tf.raw_ops.Cast(x=[1.0], DstT=None), TypeError, ["Cast", "DstT", "None"]),
    (lambda: tf.raw_ops.MaxPool(input=tf.ones([1, 2, 2, 1]), ksize=2, strides=[1] * 4, padding="SAME"), TypeError,
     ["MaxPool", "ksize", "list of ints"]),
    (lambda: tf.raw_ops.Angle(input=[1j], Tout=tf.int32), tf.errors.InvalidArgumentError, ["Angle", "Tout", "int32"]),
    (lambda: lookup("Neg")(1.0, bogus=1), TypeError, ["Neg", "bogus"]),
    (lambda: lookup("Neg")(1.0, 2.0), TypeError, ["Neg", "takes 1 inputs (x)", "got 2"]),
    (lambda: tf.stack(x for x in (1, 2)), ValueError, ["stack", "generator"]),
    (lambda: tf.ones([2, 3])[5], tf.errors.InvalidArgumentError, ["StridedSlice", "5", "dimension 0", "size is 2"]),
    (lambda: tf.math.segment_sum([1.0, 2.0], [1, 0]), tf.errors.InvalidArgumentError, ["SegmentSum", "segment_ids[1]"]),
    (lambda: tf.raw_ops.ReluGrad(gradients=tf.ones([2]), features=tf.ones([3])), tf.errors.InvalidArgumentError,
     ["ReluGrad", "gradients", "features", "(2,)", "(3,)"]),
    (lambda: tf.broadcast_to([1.0, 2.0], [3]), tf.errors.InvalidArgumentError, ["BroadcastTo", "(2,)", "(3,)"]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "parts"), MESSAGES)
def test_messages_name_op_argument_and_shapes(call, kind, parts):
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
    assert not re.search(r"\[\d+(, ?\d+)*\] vs", str(caught.value)), "shapes are written as tuples"


def test_a_message_of_a_kernel_that_names_no_argument_is_completed():
    op = lookup("Neg")

    def fails(x):
        raise tf.errors.InvalidArgumentError(None, None, "nothing good")

    before = op.replace_kernel(fails)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Neg: nothing good\. Got x \(2, 3\)\. \[Op:Neg\]$"):
            tf.negative(tf.ones([2, 3]))
    finally:
        op.replace_kernel(before)


@pytest.mark.parametrize("error", [IndexError("i"), ZeroDivisionError("z"), KeyError("k"), OverflowError("o")])
def test_errors_of_numpy_become_invalid_argument(error):
    op = lookup("Neg")

    def fails(x):
        raise error

    before = op.replace_kernel(fails)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Neg"):
            tf.negative(tf.ones([2, 3]))
    finally:
        op.replace_kernel(before)


def test_values_in_messages_are_short():
    long = ["a" * 1000] * 1000
    for call in (lambda: tf.add(tf.constant(1.0), long), lambda: tf.abs(list(range(10**5)) + [None]),
                 lambda: tf.zeros(long), lambda: tf.constant(long, tf.int32), lambda: tf.abs(long),
                 lambda: tf.constant([1, 2]) + object()):  # fmt: skip
        with pytest.raises((TypeError, ValueError, tf.errors.OpError)) as caught:
            call()
        assert len(str(caught.value)) < 1000


def test_errors_of_user_code_keep_their_text():
    class Bad:
        def __array__(self, dtype=None, copy=None):
            raise ValueError("my own words")

    with pytest.raises(ValueError, match="my own words"):
        tf.sin(Bad())

    @tf.custom_gradient
    def f(x):
        raise ValueError("also mine")

    with pytest.raises(ValueError, match="^also mine$"):
        f(1.0)


# Limits: nothing is allocated, and nothing takes long, before a size is refused.

LIMITS = [
    (lambda: tf.zeros([2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.ones([2**31, 2**31, 4]), tf.errors.InvalidArgumentError),
    (lambda: tf.fill([2**62, 2**62], 1), tf.errors.InvalidArgumentError),
    (lambda: tf.constant(1.0, shape=[2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.broadcast_to(1.0, [2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.tile([1.0], [2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.range(2**60), tf.errors.ResourceExhaustedError),
    (lambda: tf.linspace(0.0, 1.0, 2**60), tf.errors.InvalidArgumentError),
    (lambda: tf.eye(2**40), tf.errors.ResourceExhaustedError),
    (lambda: tf.pad([1.0], [[2**60, 0]]), tf.errors.ResourceExhaustedError),
    (lambda: tf.repeat([1.0], [2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.random.uniform([2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.random.truncated_normal([2**60]), tf.errors.ResourceExhaustedError),
    (lambda: tf.random.gamma([2**60], 1.0), tf.errors.ResourceExhaustedError),
    (lambda: tf.math.unsorted_segment_sum([1.0], [0], 2**60), tf.errors.ResourceExhaustedError),
    (lambda: tf.meshgrid(tf.range(10**6), tf.range(10**6)), tf.errors.ResourceExhaustedError),
    (lambda: tf.strings.as_string([1, 2], width=2**31 - 1), tf.errors.ResourceExhaustedError),
    (lambda: tf.sparse.to_dense(tf.SparseTensor([[0]], [1.0], [2**60])), tf.errors.ResourceExhaustedError),
    (lambda: tf.zeros([2**60], tf.string), tf.errors.ResourceExhaustedError),
]


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.parametrize(("call", "kind"), LIMITS)
def test_sizes_are_refused_at_once(call, kind):
    tf.ones([1]) + 1.0  # whatever loads late has loaded
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.thread_time()  # of this thread: others may take any of the machine's
    with pytest.raises(kind):
        call()
    assert time.thread_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 2**30 // 8


def test_infinities_do_not_hang():
    for matrix in ([[np.inf, 1.0], [2.0, 3.0]], [[1.0, np.nan], [2.0, 3.0]]):
        assert np.isnan(tf.linalg.svd(matrix, compute_uv=False).numpy()).all()
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.linalg.lstsq(matrix, [[1.0], [2.0]], fast=False)


# Strange objects.


class _LenLies:
    def __len__(self):
        return 5

    def __getitem__(self, i):
        if i > 1:
            raise IndexError(i)
        return i


class _ArrayRaises:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


class _ReprRaises:
    def __repr__(self):
        raise RuntimeError("no repr")


class _ShapeRaises:
    @property
    def shape(self):
        raise RuntimeError("no shape")


class _NoTensor:
    def __tf_tensor__(self, dtype=None, name=None):
        return 3


class _MyDict(dict):
    pass


def _nest(levels):
    value = [1]
    for _ in range(levels):
        value = [value]
    return value


def _self():
    value = []
    value.append(value)
    return value


STRANGE = [
    (_LenLies(), ValueError),
    (_ArrayRaises(), RuntimeError),
    (_ReprRaises(), ValueError),
    (_ShapeRaises(), ValueError),
    (_NoTensor(), ValueError),
    (_MyDict(a=1), ValueError),
    (collections.OrderedDict(), ValueError),
    ((i for i in range(3)), ValueError),
    ({1, 2}, ValueError),
    (..., ValueError),
    (slice(1), ValueError),
    (len, ValueError),
    (_nest(100), ValueError),
    (_nest(10**5), ValueError),
    (_self(), ValueError),
    ([[1], None], ValueError),
    ([1, "a"], ValueError),
    (np.array([1, None], object), ValueError),
    (np.array([[1], [2, 3]], dtype=object), ValueError),
    (np.zeros(2, [("a", "i4")]), ValueError),
    ([10**30], ValueError),
    ("\ud800", ValueError),
]


@pytest.mark.parametrize(("value", "kind"), STRANGE, ids=lambda x: type(x).__name__)
def test_strange_values_are_refused(value, kind):
    for convert in (tf.constant, tf.convert_to_tensor, tf.abs, tf.sin, lambda x: tf.constant(1.0) + x):
        with pytest.raises((kind, TypeError)):
            convert(value)
    with pytest.raises((kind, TypeError)):
        tf.Variable(value)


def test_objects_of_numbers_become_tensors():
    assert tf.constant(1.0, tf.float64) + np.array([1, 2], object).astype(float)[0] == 2.0
    with pytest.raises((TypeError, ValueError)):
        tf.add(tf.constant([1.0, 2.0]), np.array([1.0, None], object))


# State after errors.


def _interrupting(op):
    def kernel(*arrays, **attrs):
        raise KeyboardInterrupt

    return op.replace_kernel(kernel)


def test_an_interrupted_kernel_leaves_the_context_usable():
    op = lookup("Neg")
    x = tf.Variable([1.0, 2.0])
    before = _interrupting(op)
    try:
        with pytest.raises(KeyboardInterrupt):
            with tf.GradientTape() as tape:
                tf.negative(x)
        with pytest.raises(KeyboardInterrupt):
            tf.negative(tf.ones([2]))
    finally:
        op.replace_kernel(before)
    assert context.mode is None
    with tf.GradientTape() as tape:
        y = tf.negative(x)
    assert tape.gradient(y, x).numpy().tolist() == [-1.0, -1.0]


def test_an_exception_ends_tapes_devices_and_scopes():
    for enter in (tf.GradientTape, lambda: tf.device("CPU:0"), lambda: tf.name_scope("a"),
                  lambda: tf.GradientTape(persistent=True)):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError):
            with enter():
                tf.reshape([1.0], [2])
        assert context.mode is None
    with pytest.raises(tf.errors.InvalidArgumentError):
        with tf.name_scope("outer"):
            with tf.name_scope("inner"):
                tf.reshape([1.0], [2])
    with tf.name_scope("outer") as scope:
        assert scope == "outer/"


def test_a_tape_goes_on_after_an_error_inside_it():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.reshape(x, [2])
        with pytest.raises(ValueError):
            tf.add(x, None)
        y = y * x
    assert tape.gradient(y, x).numpy() == 27.0


def test_threads_have_their_own_tapes():
    x = tf.constant(2.0)
    problems = []
    inside, done = threading.Event(), threading.Event()

    def other():
        try:
            inside.wait(300)
            assert context.mode is None
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x
            assert tape.gradient(y, x).numpy() == 12.0
            with pytest.raises(tf.errors.InvalidArgumentError):
                tf.reshape(x, [5])
        except BaseException as error:
            problems.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with tf.GradientTape() as tape:
        tape.watch(x)
        inside.set()
        assert done.wait(300)
        y = x * x
    thread.join()
    assert not problems
    assert tape.gradient(y, x).numpy() == 4.0


def test_deep_structures_fail_as_python_does():
    assert len(tf.nest.flatten(_nest(300))) == 1
    with pytest.raises(RecursionError):
        tf.nest.flatten(_nest(10**5))
    assert tf.nest.flatten([1, 2]) == [1, 2]


def test_a_long_chain_of_ops_is_differentiated_without_recursion():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(5000):
            y = y + 1.0
    assert tape.gradient(y, x).numpy() == 1.0


def test_windows_far_larger_than_the_data_take_no_time():
    x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    assert tf.nn.max_pool2d(x, 2**31 - 1, 1, "SAME").numpy().ravel().tolist() == [3.0] * 4
    assert tf.nn.avg_pool2d(x, 2**31 - 1, 1, "SAME").numpy().ravel().tolist() == [1.5] * 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="ksize"):
        tf.nn.max_pool2d(x, 2**31, 1, "SAME")


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.one_hot([0], 2**32),
        lambda: tf.random.categorical([[1.0]], 2**32),
        lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0], 2**32),
        lambda: tf.linalg.diag([1.0], num_rows=2**32),
        lambda: tf.signal.hann_window(2**32),
        lambda: tf.math.bincount([1], minlength=2**32),
    ],
)
def test_sizes_do_not_lose_their_high_bits(call):
    """TensorFlow takes 2**32 for 0 here."""
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()


@pytest.mark.parametrize(("call", "text"), [
    (lambda: tf.reduce_sum([1.0], axs=0), "'axs'. Did you mean 'axis'?"),
    (lambda: tf.reduce_sum([1.0], keep_dims=True), "'keep_dims'. Did you mean 'keepdims'?"),
    (lambda: tf.map_fn(abs, [1.0], xyz=1), "'xyz'. Its other arguments are fn, elems, dtype"),
    (lambda: tf.data.Dataset.range(3).batch(2, drop_remaindr=True), "'drop_remaindr'. Did you mean 'drop_remainder'?"),
])  # fmt: skip
def test_a_misspelt_argument_is_told_which_it_may_be(call, text):
    with pytest.raises(TypeError) as caught:
        call()
    assert text in str(caught.value)


def test_a_misspelt_argument_of_the_users_own_function_is_left_to_python():
    with pytest.raises(TypeError) as caught:
        tf.map_fn(lambda x: (lambda axis: axis)(axs=x), tf.constant([1.0]))
    assert "Did you mean" not in str(caught.value)


def test_an_axis_is_a_whole_number():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis must be a whole number, got 1\.5"):
        tf.nn.isotonic_regression([[3.0, 1.0, 2.0]], axis=1.5)


@pytest.mark.parametrize("name", ["iou_threshold", "score_threshold", "max_total_size", "max_output_size_per_class"])
def test_numbers_of_combined_suppression_are_scalars(name):
    numbers = {"max_output_size_per_class": 1, "max_total_size": 1, name: [1]}
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} must be a scalar"):
        tf.image.combined_non_max_suppression([[[[0.0, 0.0, 1.0, 1.0]]]], [[[0.9]]], **numbers)


def test_no_conditions_do_not_hold():
    with pytest.raises(tf.errors.InvalidArgumentError, match="the condition is false"):
        tf.debugging.Assert([], [1])


def test_an_average_loss_has_examples_whatever_the_weights():
    with pytest.raises(ValueError, match="an axis for the examples"):
        tf.nn.compute_average_loss(1.0, sample_weight=[1.0, 2.0])
