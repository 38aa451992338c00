"""What Keras 2 and the packages around it ask of TensorFlow's inside."""

import inspect

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat.tensorflow_names import decorators, traced_models

tf.install_as_tensorflow()


def test_a_variable_that_is_made_by_a_getter_is_a_child():
    module = tf.Module()
    getter = lambda name, shape, dtype, initializer, **rest: tf.Variable(initializer(shape, dtype), name=name)
    made = module._add_variable_with_custom_getter("w", [2], tf.float32, tf.zeros_initializer(), getter)
    assert module._lookup_dependency("w") is made
    with pytest.raises(ValueError, match="'w' already"):
        module._add_variable_with_custom_getter("w", [2], tf.float32, tf.zeros_initializer(), getter)
    module._add_variable_with_custom_getter("w", [3], tf.float32, tf.zeros_initializer(), getter, overwrite=True)
    assert module._lookup_dependency("w").shape == [3]


def test_tapes_go_on_when_the_graph_is_entered_again():
    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.compat.v1.get_default_graph().as_default():
                y = x * x
        return tape.gradient(y, x)

    assert gradient(tf.constant(3.0)).numpy() == 6.0


def test_ragged_values():
    inner = tf.compat.v1.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 1, 3]))
    outer = tf.compat.v1.ragged.RaggedTensorValue(inner, np.array([0, 2]))
    assert outer.to_list() == [[[1], [2, 3]]]
    assert outer.ragged_rank == 2
    assert outer.shape == (1, None, None)
    assert outer.flat_values.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="row_splits"):
        tf.compat.v1.ragged.RaggedTensorValue(np.array([1]), [0, 1])


def test_arguments_of_functions(tmp_path):
    module = tf.Module()
    signature = [tf.TensorSpec([2]), tf.TensorSpec([], tf.bool)]
    module.f = tf.function(lambda x, training=False: x, input_signature=signature)
    tf.saved_model.save(module, str(tmp_path))
    for function in (module.f, tf.saved_model.load(str(tmp_path)).f):
        told = decorators.getfullargspec(function)
        assert isinstance(told, inspect.FullArgSpec)
        assert told.args == ["x", "training"]


def test_specs_of_arrays_have_bounds():
    class ArraySpec:
        shape, dtype, name, minimum, maximum = (2,), np.dtype(np.int32), "a", 0, 3

    from tensorflow.python.framework.tensor_spec import BoundedTensorSpec, DenseSpec

    spec = BoundedTensorSpec.from_spec(ArraySpec)
    assert spec.dtype is tf.int32
    assert int(spec.maximum) == 3
    assert "_batch" not in getattr(DenseSpec, "__abstractmethods__", ())


def test_what_strategies_say():
    strategy = tf.distribute.get_strategy()
    assert strategy._should_use_with_coordinator is False
    assert strategy.extended._global_batch_size is True
    assert not isinstance(tf.constant(1), tf.distribute.experimental.coordinator.RemoteValue)
    with pytest.raises(NotImplementedError, match="fetch"):
        tf.distribute.coordinator.RemoteValue().fetch()


def test_tensors_over_a_mesh_are_not_there():
    with pytest.raises(NotImplementedError, match=r"dtensor\.Mesh.*MirroredStrategy"):
        tf.experimental.dtensor.Mesh(["x"])
    with pytest.raises(AttributeError, match="tensors laid out over several devices"):
        tf.experimental.dtensor.create_mesh([("x", 2)])
    assert not isinstance(tf.data.Dataset.range(2), tf.experimental.dtensor.DTensorDataset)


def test_a_decorated_method_is_called_without_self(tmp_path):
    """As Keras 2 wraps the calls of layers: it tells the arguments of a bound method, `self` among them."""

    class Layer:
        def call(self, inputs, training=None):
            return inputs if training else -inputs

    layer = Layer()
    told = decorators.getfullargspec(layer.call)
    assert told.args == ["self", "inputs", "training"]
    wrapper = decorators.make_decorator(layer.call, lambda *args, **kwargs: layer.call(*args, **kwargs), "w", "", told)
    assert decorators.getfullargspec(wrapper) is told
    function = tf.function(wrapper, autograph=False)
    assert function(tf.constant(1.0), training=True).numpy() == 1.0
    assert [found.decorator_name for found in decorators.unwrap(function)[0]] == ["tf.function", "w"]
    module = tf.Module()
    module.f = tf.function(lambda x, training=False: x, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path)).f
    (decorator,), target = decorators.unwrap(loaded)
    assert decorator.decorator_argspec.args == loaded.function_spec.arg_names == ["x", "training"]
    assert not isinstance(target, type(loaded))


def test_the_call_of_a_model_as_a_function():
    class Model:
        name, output_names = "m", ["a", "b"]
        inputs = [tf.TensorSpec([None, 2], tf.float32, name="x")]

        def call(self, x):
            return x

        def __call__(self, x, training):
            return [self.call(x), self.call(x) * 2.0]

    function = traced_models.trace_model_call(Model())
    found = function(tf.ones([1, 2]))
    assert {name: value.numpy().tolist() for name, value in found.items()} == {"a": [[1.0, 1.0]], "b": [[2.0, 2.0]]}
    model = Model()
    model.inputs, model.output_names = None, None
    with pytest.raises(ValueError, match="inputs of the model"):
        traced_models.trace_model_call(model)
    found = traced_models.trace_model_call(model, [tf.TensorSpec([1])])(tf.ones([1]))
    assert list(found) == ["output_1", "output_2"]


def test_versions():
    assert tf.compat.v1.__version__ == tf.__version__ == tf.compat.v2.__version__
    assert tf.compat.v1.__git_version__ == tf.__git_version__
