"""Ops that are called while the kernel of another op runs."""

import signal
import threading
import warnings

import numpy as np
import pytest

import headrace as tf
from headrace._src.op.registry import lookup


@pytest.fixture
def negation():
    """Lets a test put something into the kernel of `Neg`."""
    op = lookup("Neg")
    kernel = op.kernel
    yield op, kernel
    op.replace_kernel(kernel)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_kernel_may_call_ops(negation):
    op, kernel = negation
    seen = []

    def nested(x):
        seen.append((tf.constant([1.0, -1.0]) / tf.zeros([2])).numpy().tolist())  # unary, binary and other ops
        seen.append(tf.reduce_sum(tf.sqrt([4.0, 9.0]), axis=[0]).numpy().tolist())
        return kernel(x)

    op.replace_kernel(nested)
    assert (-tf.constant([1.0])).numpy().tolist() == [-1.0]
    assert seen == [[np.inf, -np.inf], 5.0]


def test_an_error_in_a_nested_op_leaves_the_way_free(negation):
    op, kernel = negation

    def nested(x):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.ones([2]) + tf.ones([3])
        return kernel(x)

    op.replace_kernel(nested)
    for _ in range(3):
        assert (-tf.constant(2.0)).numpy() == -2.0


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="Windows has no such signal")
def test_a_signal_handler_may_call_ops(negation):
    op, kernel = negation
    seen = []

    def nested(x):
        signal.raise_signal(signal.SIGALRM)
        return kernel(x)

    before = signal.signal(signal.SIGALRM, lambda *_: seen.append((tf.constant(2.0) / tf.constant(0.0)).numpy()))
    try:
        op.replace_kernel(nested)
        assert (-tf.constant(1.0)).numpy() == -1.0
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [np.inf]


def test_conversion_may_call_ops():
    class Box:
        def __array__(self, dtype=None, copy=None):
            return (tf.constant([6.0]) / tf.constant([0.0])).numpy().astype(dtype)

    assert tf.constant(Box()).numpy().tolist() == [np.inf]
    assert (tf.constant([1.0]) + Box()).numpy().tolist() == [np.inf]


def test_threads_that_meet_in_kernels(negation):
    op, kernel = negation
    together = threading.Barrier(4, timeout=300)
    results = []

    def nested(x):
        together.wait()  # all four are inside now
        return kernel(tf.math.divide(x, 0.0).numpy())

    def work():
        results.append((-tf.constant([1.0])).numpy().tolist())

    op.replace_kernel(nested)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[-np.inf]] * 4
