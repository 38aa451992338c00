"""Values on an accelerator stand where the host's are NumPy arrays."""

import copy
import pathlib
import pickle
import sys

import numpy as np
import pytest

import headrace as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "devices"))

import stand_in


@pytest.fixture
def there():
    """A tensor on an accelerator, and what was moved."""
    with stand_in.offered() as source:
        x = tf.function(lambda x: x + 1.0)(tf.constant([1.0, 2.0]))
        source.transfers.forget()
        yield x, source.transfers


# What a program does with a tensor, and what comes of it.
USES = {
    "repr": (repr, "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 3.], dtype=float32)>"),
    "str": (str, "tf.Tensor([2. 3.], shape=(2,), dtype=float32)"),
    "format": (format, "[2. 3.]"),
    "numpy": (lambda x: x.numpy().tolist(), [2.0, 3.0]),
    "array": (lambda x: np.array(x).tolist(), [2.0, 3.0]),
    "sum": (np.sum, 5.0),
    "operator": (lambda x: (2 * x - x / 2).numpy().tolist(), [3.0, 4.5]),
    "index": (lambda x: float(x[-1]), 3.0),
    "slice": (lambda x: x[::-1].numpy().tolist(), [3.0, 2.0]),
    "iteration": (lambda x: [float(y) for y in x], [2.0, 3.0]),
    "truth": (lambda x: bool(x[0] > 1), True),
    "int": (lambda x: int(x[0]), 2),
    "copy": (lambda x: copy.deepcopy(x).numpy().tolist(), [2.0, 3.0]),
    "pickle": (lambda x: pickle.loads(pickle.dumps(x)).numpy().tolist(), [2.0, 3.0]),
    "dlpack": (lambda x: np.from_dlpack(x).tolist(), [2.0, 3.0]),
    "dataset": (lambda x: [float(y) for y in tf.data.Dataset.from_tensor_slices(x)], [2.0, 3.0]),
    "strings": (lambda x: tf.strings.as_string(x, precision=1).numpy().tolist(), [b"2.0", b"3.0"]),
    "python": (lambda x: tf.py_function(lambda y: y * 2, [x], tf.float32).numpy().tolist(), [4.0, 6.0]),
    "reshape": (lambda x: tf.reshape(x, [1, 2]).shape, [1, 2]),
}


@pytest.mark.parametrize("use", USES)
def test_uses_of_a_tensor(there, use):
    tensor, transfers = there
    function, expected = USES[use]
    assert function(tensor) == expected
    assert function(tensor) == expected
    assert transfers.back == [8]  # once, however often it is used


def test_shape_and_dtype_need_no_copy(there):
    tensor, transfers = there
    assert (tensor.shape, tensor.ndim, len(tensor), tensor.dtype) == ([2], 1, 2, tf.float32)
    assert (tensor._a.size, tensor._a.nbytes) == (2, 8)
    assert transfers.back == []
