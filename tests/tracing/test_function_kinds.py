"""The classes that tell functions apart, and the view of what an object holds."""

import pickle

import pytest

import headrace as tf


def test_functions_are_of_their_kinds():
    function = tf.function(lambda x: x)
    concrete = function.get_concrete_function(1)
    kinds = tf.types.experimental
    assert kinds.GenericFunction is kinds.PolymorphicFunction
    assert isinstance(function, kinds.GenericFunction)
    assert isinstance(function, kinds.Callable)
    assert not isinstance(function, kinds.ConcreteFunction)
    assert isinstance(concrete, kinds.ConcreteFunction)
    assert isinstance(concrete, kinds.Callable)
    assert not isinstance(concrete, kinds.GenericFunction)


def test_view_of_a_module():
    module = tf.Module()
    module.a, module.list = tf.Variable(1.0), [tf.Variable(2.0)]
    module.again = module.a
    view = tf.train.TrackableView(module)
    assert view.root is module
    assert list(view.children(module)) == ["a", "list", "again"]
    assert [id(x) for x in view.descendants()] == [id(x) for x in (module, module.a, module.list, module.list[0])]


def _doubled(x):
    return x * 2


def test_a_pickled_function_keeps_what_it_was_made_with():
    function = tf.function(_doubled, input_signature=[tf.TensorSpec([None], tf.float32)], jit_compile=False)
    again = pickle.loads(pickle.dumps(function))
    assert again.input_signature == function.input_signature
    assert again.jit_compile is False
    assert again(tf.constant([1.0])).numpy().tolist() == [2.0]
    with pytest.raises(TypeError, match="input_signature"):
        again(tf.constant(1.0))
