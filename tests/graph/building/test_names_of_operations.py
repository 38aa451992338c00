"""The names that operations get by themselves: programs of 1.x ask for tensors by them."""

import headrace as tf

v1 = tf.compat.v1


def names(function, skip=()):
    with tf.Graph().as_default() as graph:
        function()
    return [operation.name for operation in graph.get_operations() if not operation.name.startswith(tuple(skip))]


def test_constants_are_named_after_the_operation_that_reads_them():
    def program():
        a = tf.constant(2.0, name="a")
        b = tf.reshape(a * 3 + 1, [1, 1])
        tf.reduce_sum(tf.concat([b, [[5.0]]], 0), axis=1)[0]
        tf.constant(7)
        with tf.name_scope("inner"):
            a / 4

    assert names(program) == [
        "a", "mul/y", "mul", "add/y", "add", "Reshape/shape", "Reshape", "concat/values_1", "concat/axis", "concat",
        "Sum/reduction_indices", "Sum", "strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2",
        "strided_slice", "Const", "inner/truediv/y", "inner/truediv",
    ]  # fmt: skip


def test_a_tensor_that_the_user_has_keeps_its_name():
    def program():
        x = tf.convert_to_tensor([1.0, 2.0])
        assert x.name == "Const:0"
        assert (x + 1.0).op.inputs[0].name == x.name == "Const:0"

    program_names = names(program)
    assert program_names == ["Const", "add/y", "add"]
    assert len(set(program_names)) == len(program_names)


def test_names_stay_unique():
    def program():
        for _ in range(3):
            x = tf.constant(1.0)
            x = x * 2.0 + tf.constant(3.0) * 4.0
            tf.clip_by_value(x, 0.0, 1.0)
            tf.where(x > 0.0, x, 0.0)

    found = names(program)
    assert len({name.lower() for name in found}) == len(found)
    assert {"clip_by_value", "clip_by_value_1", "clip_by_value_2"} <= set(found)


def test_what_functions_are_made_of_stays_in_their_scopes():
    def program():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        tf.linspace(0.0, 1.0, 3), tf.norm(x), tf.math.reduce_std(x), tf.nn.dropout(x, 0.5), tf.random.normal([2])
        assert tf.clip_by_value(x, 0.0, 1.0).name == "clip_by_value:0"
        assert tf.clip_by_value(x, 0.0, 1.0, name="mine").name == "mine:0"
        assert (x + 1.0).name == "add:0"
        assert (x * 2.0).name == "mul:0"
        assert tf.ones([2]).name == "ones:0"
        assert tf.fill([2], 1.0).name == "Fill:0"
        assert tf.one_hot([1], 2).name == "one_hot:0"

    assert "dropout/SelectV2" in names(program)


def test_inputs_that_stand_for_captured_tensors_are_named_after_their_readers():
    v = tf.Variable(3.0)
    function = tf.function(lambda x: x * 2.0 + v).get_concrete_function(tf.constant(1.0))
    found = [operation.name for operation in function.graph.get_operations()]
    assert found == ["x", "mul/y", "mul", "ReadVariableOp/resource", "ReadVariableOp", "add", "Identity"]
