"""`tf.make_tensor_proto` and `tf.make_ndarray`."""

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16", "bool", "complex64", "bfloat16"])
@pytest.mark.parametrize("shape", [[], [3], [2, 0]])
def test_numbers_come_back(dtype, shape):
    value = tf.cast(tf.reshape(tf.range(int(np.prod(shape))), shape), dtype)
    proto = tf.make_tensor_proto(value.numpy())
    assert proto.dtype == tf.as_dtype(dtype).as_datatype_enum
    np.testing.assert_array_equal(tf.make_ndarray(proto), value.numpy())


def test_strings_come_back():
    assert tf.make_ndarray(tf.make_tensor_proto(["a", b"b"])).tolist() == [b"a", b"b"]


def test_shapes():
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2, 3, 4], shape=[2, 2])).shape == (2, 2)
    assert tf.make_ndarray(tf.make_tensor_proto(7, shape=[3], allow_broadcast=True)).tolist() == [7, 7, 7]
    with pytest.raises(TypeError, match="expected shape"):
        tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True)
    with pytest.raises(ValueError, match="fill"):
        tf.make_tensor_proto([1, 2], shape=[3])
