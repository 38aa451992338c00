"""What rows cannot show about tensors: sharing of memory, immutability, protocols of Python and NumPy."""

import copy
import pickle
import weakref

import numpy as np
import pytest

import headrace as tf


def test_a_tensor_does_not_change_with_the_array_it_came_from():
    array = np.array([1.0, 2.0], np.float32)
    tensor = tf.constant(array)
    array[0] = 9
    assert tensor.numpy().tolist() == [1, 2]


def test_numpy_gives_an_array_of_its_own():
    tensor = tf.constant([1.0, 2.0])
    tensor.numpy()[0] = 9
    assert tensor.numpy().tolist() == [1, 2]


def test_asarray_shares_memory_and_cannot_be_written():
    tensor = tf.constant([1.0, 2.0])
    view = np.asarray(tensor)
    assert np.shares_memory(view, np.asarray(tensor))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 9
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True


@pytest.mark.parametrize(
    "make", [lambda t: t[1:], lambda t: tf.reshape(t, [2, 2]), lambda t: tf.transpose(t), tf.identity]
)
def test_views_of_tensors_cannot_be_written(make):
    tensor = tf.constant([1.0, 2.0, 3.0, 4.0])
    view = np.asarray(make(tensor))
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    assert tensor.numpy().tolist() == [1, 2, 3, 4]


def test_dlpack_for_old_consumers_is_a_copy():
    tensor = tf.constant([1.0, 2.0])

    class Old:
        def __dlpack__(self, **options):
            return tensor.__dlpack__()

        def __dlpack_device__(self):
            return tensor.__dlpack_device__()

    array = np.from_dlpack(Old())
    if array.flags.writeable:
        array[0] = 9
    assert tensor.numpy().tolist() == [1, 2]
    assert not np.from_dlpack(tensor).flags.writeable


def test_weak_references_and_foreign_attributes():
    tensor = tf.constant(1.0)
    tensor._keras_logits = "x"
    reference = weakref.ref(tensor)
    assert reference() is tensor
    del tensor
    assert reference() is None


@pytest.mark.parametrize("value", [[1.0, 2.0], ["a", "b"], [True], 3, [1 + 2j]])
def test_pickle_and_copies(value):
    tensor = tf.constant(value)
    for other in (pickle.loads(pickle.dumps(tensor)), copy.copy(tensor), copy.deepcopy(tensor)):
        assert other.dtype is tensor.dtype
        assert np.array_equal(other.numpy(), tensor.numpy())


def test_numpy_functions_take_tensors():
    tensor = tf.constant([4.0, 9.0])
    assert isinstance(np.sqrt(tensor), np.ndarray)
    assert isinstance(np.array([1.0, 1.0], np.float32) + tensor, tf.Tensor)
    assert np.array(tensor, dtype=np.float64).dtype == np.float64


def test_tensors_are_not_hashable_but_their_references_are():
    tensor = tf.constant(1.0)
    with pytest.raises(TypeError, match="ref"):
        hash(tensor)
    assert {tensor.ref(): "x"}[tensor.ref()] == "x"


def test_format_of_scalars_and_arrays():
    assert f"{tf.constant(1.234):.2f}" == "1.23"
    assert f"{tf.constant([1.0, 2.0])}" == "[1. 2.]"


def test_a_scalar_has_no_length_and_says_so():
    with pytest.raises(TypeError, match="no `len"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="shape \\(1,\\)"):
        float(tf.constant([1.0]))
