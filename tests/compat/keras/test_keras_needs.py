"""What Keras's backend needs of TensorFlow beyond its functions: graphs made by hand, names of specs, batch sizes."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.running.batch_sizes import compute_batch_size
from headrace._src.saved_model import type_spec_names


def test_graph_made_by_hand_sees_the_one_around_it():
    shapes = []

    @tf.function
    def f(x):
        with tf.__internal__.FuncGraph("scratch").as_default():
            shapes.append((x @ tf.ones([3, 5])).shape.as_list())
        return x

    f(tf.ones([2, 3]))
    assert shapes == [[2, 5]]


def test_names_of_specs():
    for name in ("tf.TensorSpec", "tf.RaggedTensorSpec", "tf.SparseTensorSpec", "tf.TensorArraySpec"):
        assert type_spec_names.get_name(type_spec_names.lookup_spec(name)) == name

    class Named(tf.experimental.ExtensionType):
        __name__ = "tests.Named"
        x: tf.Tensor

    assert type_spec_names.get_name(Named.Spec) == "tests.Named.Spec"
    assert type_spec_names.lookup_spec("tests.Named.Spec") is Named.Spec
    with pytest.raises(ValueError, match="has not been registered"):
        type_spec_names.get_name(tf.IndexedSlicesSpec)
    with pytest.raises(ValueError, match="No TypeSpec"):
        type_spec_names.lookup_spec("tests.None")
    with pytest.raises(TypeError, match="TypeSpec"):
        type_spec_names.get_name(int)


def test_batch_sizes():
    numbers = tf.data.Dataset.range(20)
    batched = numbers.batch(7)
    for dataset, size in [
        (batched, 7), (batched.filter(lambda x: True).shuffle(3), 7), (batched.map(lambda x: x + 1), -1),
        (numbers.batch(4, drop_remainder=True).map(lambda x: x), 4), (numbers.padded_batch(2), 2),
        (tf.data.Dataset.zip((batched, numbers.batch(3))), -1),
    ]:  # fmt: skip
        assert compute_batch_size(dataset).numpy() == size


def test_eager_loop_leaves_numbers_alone():
    steps, total = tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, x + i), (0, np.array(0)))
    assert (steps.numpy(), total.numpy(), total.dtype) == (10, 45, tf.int64)


def test_stitched_shape_compiles():
    @tf.function(jit_compile=True)
    def f(x):
        return tf.dynamic_stitch([[3, 1], [0, 3]], [x, x * 10])

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [10.0, 2.0, 0.0, 20.0]


def test_sizes_of_other_kinds():
    x = tf.range(6)
    assert tf.reshape(x, (tf.constant(3.0), tf.constant(2.9))).shape == [3, 2]
    assert tf.reshape(tf.reshape(x, [2, 3]), -1).shape == [6]
    assert tf.reshape(x, np.array([3.0, 2.0])).shape == [3, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.reshape(x, tf.constant([3.0, 2.0]))


def test_shapes_of_sparse_placeholders():
    with tf.Graph().as_default():
        x = tf.compat.v1.sparse_placeholder(tf.float32, [None, 3, 3])
        assert x.shape.as_list() == [None, 3, 3]
        assert tf.sparse.concat(2, [x, x]).shape.as_list() == [None, 3, 6]


def test_convolution_of_arrays():
    assert tf.nn.convolution(np.ones([1, 5, 1]), np.ones([3, 1, 1])).dtype == tf.float64


def test_questions_about_devices():
    assert tf.test.is_built_with_xla()
    assert not tf.test.is_built_with_cuda()
    assert not tf.test.is_built_with_rocm()
    assert not tf.test.is_built_with_gpu_support()
    assert tf.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
    assert bool(tf.test.gpu_device_name()) == tf.test.is_gpu_available()


def test_errors_can_be_made_anew_with_another_message():
    traced = tf.function(lambda: tf.ones([2]) + tf.ones([3]))
    for wrong in (lambda: tf.constant(1) + tf.constant(1.0), traced):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            wrong()
        error = raised.value
        again = type(error)(error.node_def, error.op, "in the layer: " + error.message, error.error_code)
        assert again.message.startswith("in the layer: ")
        assert again.error_code == tf.errors.INVALID_ARGUMENT
