"""What objects save and take back, and how TensorFlow's message describes it."""

import numpy as np

import headrace as tf
from headrace._src.checkpoint.object_values import gather_values, restorer_of
from headrace._src.checkpoint.object_walk import ObjectWalk


def gathered(root):
    return gather_values(ObjectWalk(root))


def attributes(node):
    return [(a.name, a.full_name, a.checkpoint_key) for a in node.attributes]


def test_variables():
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0], name="weights")
    root.empty = tf.Module()
    found = gathered(root)
    (value,) = found.values
    assert (value.number, value.key) == (1, "v/.ATTRIBUTES/VARIABLE_VALUE")
    np.testing.assert_array_equal(value.tensor, [1.0, 2.0])
    assert attributes(found.message.nodes[1]) == [("VARIABLE_VALUE", "weights", "v/.ATTRIBUTES/VARIABLE_VALUE")]
    assert [node.has_checkpoint_values.value for node in found.message.nodes] == [True, True, False]


def test_a_table_is_one_attribute_of_two_tensors():
    root = tf.Module()
    root.t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    root.t.insert(["a"], [1])
    found = gathered(root)
    assert [value.key for value in found.values] == ["t/.ATTRIBUTES/table-keys", "t/.ATTRIBUTES/table-values"]
    assert attributes(found.message.nodes[1]) == [("table", "", "t/.ATTRIBUTES/table")]
    restorer = restorer_of(root.t, [("table", "t/.ATTRIBUTES/table")])
    assert [value.key for value in restorer.wanted] == ["t/.ATTRIBUTES/table-keys", "t/.ATTRIBUTES/table-values"]
    restorer.take([tf.constant(["x"]), tf.constant([7], tf.int64)])
    np.testing.assert_array_equal(root.t.lookup(["a", "x"]), [-1, 7])


class Saveable:
    """An object in the form of older versions."""

    class Spec:
        def __init__(self, tensor, name):
            self.tensor, self.name, self.slice_spec, self.dtype = tensor, name, "", tensor.dtype

    def __init__(self, owner, name):
        self.owner = owner
        self.specs = [self.Spec(tf.constant(owner.number), name + "-number")]

    def restore(self, restored_tensors, restored_shapes):
        self.owner.number = int(restored_tensors[0])


class WithSaveables(tf.__internal__.tracking.Trackable):
    def __init__(self, number):
        self.number = number
        self.variable = tf.Variable(0.5)

    def _gather_saveables_for_checkpoint(self):
        return {"state": lambda name="global": Saveable(self, name), "variable": self.variable}


def test_the_form_of_older_versions():
    root = tf.Module()
    root.old = WithSaveables(3)
    found = gathered(root)
    assert [value.key for value in found.values] == ["old/.ATTRIBUTES/state-number", "old/.ATTRIBUTES/variable"]
    assert [name for name, _, _ in attributes(found.message.nodes[1])] == ["state", "variable"]
    restorer = restorer_of(root.old, [("state", "k/state"), ("variable", "k/variable"), ("other", "k/other")])
    assert [value.key for value in restorer.wanted] == ["k/state-number", "k/variable"]
    assert restorer.unused == ["other"]
    restorer.take([tf.constant(8), tf.constant(1.5)])
    assert (root.old.number, float(root.old.variable)) == (8, 1.5)


def test_symbolic_values_while_a_function_is_traced():
    root = tf.Module()
    root.v = tf.Variable(1.0)

    @tf.function
    def saved():
        root.v.assign_add(1.0)
        (value,) = gathered(root).values
        return value.tensor

    assert float(saved()) == 2.0
    assert float(saved()) == 3.0


def test_reading_for_a_checkpoint_is_not_on_tapes():
    root = tf.Module()
    root.v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        gathered(root)
    assert tape.watched_variables() == ()
