"""Modules inside of TensorFlow that other packages import: the table, and what stands behind it."""

import functools
import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat.tensorflow_names import decorators, deprecation, exported_names, identity_sets, nested_paths
from headrace._src.compat.tensorflow_names.inner_modules import ANY, modules
from headrace._src.compat.tensorflow_names.op_functions import function_name
from headrace._src.core.bounded_specs import BoundedTensorSpec

tf.install_as_tensorflow()


def test_every_name_of_the_table_is_there():
    absent = []
    for module, names in modules().items():
        for name, (place, _) in names.items():
            if name == ANY or place.startswith("tensorflow."):
                continue  # Keras, which need not be installed
            try:
                getattr(importlib.import_module(f"tensorflow.{module}"), name)
            except (AttributeError, ImportError) as error:
                absent.append((module, name, str(error)[:80]))
    assert not absent


def test_names_are_those_of_the_public_modules():
    from tensorflow.python.framework import constant_op, dtypes, ops, tensor_shape
    from tensorflow.python.ops import array_ops, gen_math_ops, math_ops
    from tensorflow.python.util import nest

    assert math_ops.reduce_sum is tf.reduce_sum
    assert ops.Graph is tf.Graph
    assert dtypes.float32 is tf.float32
    assert constant_op.constant is tf.constant
    assert nest.flatten is tf.nest.flatten
    assert tensor_shape.as_shape([1, None]) == tf.TensorShape([1, None])
    assert array_ops.expand_dims([1], 0).numpy().tolist() == [[1]]
    assert gen_math_ops.mat_mul([[1.0, 2.0]], [[3.0, 4.0]], False, True).numpy() == 11


def test_old_paths_of_keras():
    keras = pytest.importorskip("keras")
    from tensorflow.python.keras import layers
    from tensorflow.python.keras.layers import Dense
    from tensorflow.python.keras.utils.np_utils import to_categorical

    assert Dense is keras.layers.Dense is layers.Dense
    assert to_categorical([1], 2).tolist() == [[0, 1]]


@pytest.mark.parametrize("folder", ["tensorflow.compat.v2", "headrace.compat.v2", "headrace.compat.v2.compat.v2"])
def test_modules_below_compat_v2_are_the_modules_of_tf(folder):
    assert importlib.import_module(f"{folder}.math") is tf.math
    assert importlib.import_module(f"{folder}.experimental.numpy") is tf.experimental.numpy
    assert tf.math.__name__ == "headrace.math"


# TensorFlow answers: all of them are its function names.
@pytest.mark.parametrize(("op", "name"), [
    ("MatMul", "mat_mul"), ("Conv2D", "conv2d"), ("Conv2DBackpropInput", "conv2d_backprop_input"),
    ("L2Loss", "l2_loss"), ("BatchMatMulV2", "batch_mat_mul_v2"), ("FFT2D", "fft2d"), ("IsNan", "is_nan"),
    ("LRNGrad", "lrn_grad"),
])  # fmt: skip
def test_names_of_functions_of_ops(op, name):
    assert function_name(op) == name


def test_methods_of_python_on_the_class():
    x = tf.constant([1, 2])
    assert tf.Tensor.__len__(x) == 2
    assert [int(each) for each in tf.Tensor.__iter__(x)] == [1, 2]
    assert tf.Tensor.__bool__(tf.constant(True)) is True
    np.testing.assert_array_equal(tf.Tensor.__array__(x), [1, 2])

    class Borrowing:
        __bool__ = tf.Tensor.__bool__

    with pytest.raises(TypeError, match="Borrowing"):
        bool(Borrowing())


def test_a_decorator_is_looked_through():
    def target(a, b=2, *args, c=3, **kwargs):
        """Of the target."""

    made = decorators.make_decorator(target, lambda *args, **kwargs: target(*args, **kwargs), "made")
    assert (made.__name__, made.__doc__) == ("target", "Of the target.")
    assert decorators.unwrap(made)[1] is target
    assert [each.decorator_name for each in decorators.unwrap(made)[0]] == ["made"]
    assert decorators.getfullargspec(made) == inspect.getfullargspec(target)
    assert decorators.getcallargs(made, 1) == {"a": 1, "b": 2, "args": (), "c": 3, "kwargs": {}}
    assert decorators.getfullargspec(functools.partial(target, b=5)).defaults == (5,)
    assert decorators.getargspec(tf.matmul).args[:2] == ["a", "b"]


def test_what_is_deprecated_says_so_once(caplog):
    @deprecation.deprecated("2030-01-01", "Use g.")
    def f(x):
        return x

    @deprecation.deprecated_args(None, "Leave it out.", "b", ("c", 0))
    def g(a, b=None, c=None):
        return a

    @deprecation.deprecated_arg_values(None, "Say no.", flag=True)
    def h(flag=False):
        return flag

    with deprecation.silence():
        f(1)
    assert not caplog.records
    assert (f(1), f(2), g(1, 2), g(1, c=0), g(1, c=1), h(True), h(False)) == (1, 2, 1, 1, 1, True, False)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 4
    assert "2030-01-01" in said[0]
    assert "with b is deprecated" in said[1]
    assert "with c is deprecated" in said[2]
    assert "flag=True" in said[3]
    with pytest.raises(ValueError, match="both 'old' and 'new'"):
        deprecation.deprecated_argument_lookup("new", 1, "old", 2)


def test_names_of_symbols():
    @exported_names.keras_export("keras.layers.Mine", v1=["keras.Mine"])
    class Mine:
        pass

    assert exported_names.get_canonical_name_for_symbol(Mine, api_name="keras") == "keras.layers.Mine"
    assert exported_names.get_symbol_from_name("keras.layers.Mine") is Mine
    assert exported_names.get_canonical_name_for_symbol(tf.reduce_sum) == "math.reduce_sum"
    assert exported_names.get_symbol_from_name("math.reduce_sum") is tf.reduce_sum
    assert exported_names.get_canonical_name_for_symbol(object()) is None


def test_paths_in_structures():
    value = {"b": [1, 2], "a": 3}
    paths = nested_paths.map_structure_with_tuple_paths(lambda path, leaf: (path, leaf), value)
    assert paths == {"b": [(("b", 0), 1), (("b", 1), 2)], "a": (("a",), 3)}
    assert nested_paths.flatten_with_joined_string_paths(value) == [("a", 3), ("b/0", 1), ("b/1", 2)]
    assert nested_paths.flatten_dict_items({("x", "y"): (1, 2), "z": 3}) == {"x": 1, "y": 2, "z": 3}
    assert nested_paths.data_flatten(([1, 2], {"a": 3})) == [[1, 2], 3]
    assert nested_paths.data_pack_sequence_as(([1, 2], {"a": 3}), [4, 5]) == (4, {"a": 5})


def test_sets_by_identity():
    variables = [tf.Variable(1.0), tf.Variable(1.0)]
    found = identity_sets.ObjectIdentitySet(variables)
    assert len(found) == 2
    assert variables[0] in found
    assert tf.Variable(1.0) not in found
    weak = identity_sets.ObjectIdentityWeakKeyDictionary()
    weak[variables[0]] = 5
    assert weak[variables[0]] == 5
    by = identity_sets.ObjectIdentityDictionary()
    by[variables[1]] = "second"
    assert list(by.values()) == ["second"]


def test_specs_with_bounds():
    spec = BoundedTensorSpec([3], tf.float32, 0, [1, 2, 3], "x")
    assert repr(spec) == (
        "BoundedTensorSpec(shape=(3,), dtype=tf.float32, name='x', minimum=array(0., dtype=float32), "
        "maximum=array([1., 2., 3.], dtype=float32))"
    )
    assert spec == BoundedTensorSpec([3], tf.float32, 0, [1, 2, 3], "x")
    assert spec != BoundedTensorSpec([3], tf.float32, 0, [1, 2, 4], "x")
    assert BoundedTensorSpec.from_spec(tf.TensorSpec([2])).maximum == np.float32(3.4028235e38)
    with pytest.raises(ValueError, match="`minimum` .* is not compatible with shape"):
        BoundedTensorSpec([3], tf.float32, [0, 1], 1)


def test_types_of_other_packages_in_functions_of_tf():
    dispatch = tf.__internal__.dispatch

    class Length:
        def __init__(self, value):
            self.value = value

    class OfLengths(dispatch.OpDispatcher):
        def handle(self, args, kwargs):
            return "handled" if any(isinstance(each, Length) for each in args) else self.NOT_SUPPORTED

    @dispatch.add_dispatch_support
    def double(x):
        return tf.constant(x) * 2

    OfLengths().register(double)
    assert double(Length(1)) == "handled"
    assert double(2).numpy() == 4
    OfLengths().register(tf.RaggedTensor.from_row_splits)
    assert tf.RaggedTensor.from_row_splits(Length(1), [0]) == "handled"
    assert tf.RaggedTensor.from_row_splits([1, 2], [0, 2]).to_list() == [[1, 2]]
    with pytest.raises(AssertionError, match="not enabled"):
        OfLengths().register(len)


_SERVING = """
import sys
import headrace
if "late" in sys.argv:
    headrace.train.Example()
headrace.install_as_tensorflow()
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import tensor_pb2
import tensorflow as tf
file = descriptor_pb2.FileDescriptorProto(name="other/predict.proto", package="other", syntax="proto3")
file.dependency.append("tensorflow/core/framework/tensor.proto")
message = file.message_type.add(name="Request")
message.field.add(name="x", number=1, type=11, label=1, type_name=".tensorflow.TensorProto")
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
Request = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName("other.Request"))
content = tf.make_tensor_proto([1.0, 2.0]).SerializeToString()
assert tf.make_ndarray(Request(x={"dtype": 1}).x.FromString(content)).tolist() == [1, 2]
if "late" not in sys.argv:
    request = Request()
    request.x.CopyFrom(tf.make_tensor_proto([1.0, 2.0]))
    assert tensor_pb2.TensorProto is type(request.x)
"""


@pytest.mark.parametrize("when", ["first", "late"])
def test_files_of_other_packages_refer_to_messages_of_tensorflow(when):
    subprocess.run([sys.executable, "-c", _SERVING, when], check=True)
