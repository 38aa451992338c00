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


class _Adder:
    def __init__(self):
        self.step = 3

    def __call__(self, x, y=2):
        return x + y + self.step


def test_attributes_of_a_callable_are_those_of_its_function():
    function = tf.function(_Adder())
    assert function.step == 3
    assert int(function(1)) == 6
    assert function.function_spec.arg_names[-2:] == ["x", "y"]
    assert function.function_spec.default_values == (2,)
    signature = [tf.TensorSpec([]), {"a": tf.TensorSpec([2])}]
    assert len(tf.function(lambda x, d: x, signature).function_spec.flat_input_signature) == 2


def test_a_function_is_decorated_before_its_first_trace():
    function = tf.function(_doubled)
    function._decorate(lambda inner: lambda x: inner(x) + 1)
    assert int(function(2)) == 5
    with pytest.raises(ValueError, match="traced already"):
        function._decorate(lambda inner: inner)


def test_arguments_that_cannot_be_bound():
    """TF: whatever it is, the message begins with the same words."""
    function = tf.function(_doubled)
    concrete = function.get_concrete_function(tf.TensorSpec([2]))
    signed = tf.function(_doubled, input_signature=[tf.TensorSpec([2])])
    for call in (function, concrete, lambda: function(1, 2), lambda: function(1, y=2), lambda: signed(tf.ones([3])),
                 lambda: concrete(tf.ones([2]), 3)):  # fmt: skip
        with pytest.raises(TypeError, match=r"^Binding inputs to tf\.function failed"):
            call()


def test_operations_are_made_for_no_other():
    graph = tf.function(_doubled).get_concrete_function(tf.TensorSpec([])).graph
    assert [operation._original_op for operation in graph.get_operations()] == [None] * len(graph.get_operations())
