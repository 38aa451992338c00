"""Objects, names and numbers as TensorFlow gives them in checkpoints."""

import headrace as tf
from headrace._src.checkpoint.object_walk import ObjectWalk, Slot, escaped, slot_path, value_key


def test_names_in_keys():
    assert escaped("plain") == "plain"
    assert escaped("a/b.c") == "a.Sb..c"
    assert value_key("model/w", "VARIABLE_VALUE") == "model/w/.ATTRIBUTES/VARIABLE_VALUE"
    assert value_key("", "VARIABLE_VALUE") == "/.ATTRIBUTES/VARIABLE_VALUE"
    assert slot_path("model/w", "opt", "m") == "model/w/.OPTIMIZER_SLOT/opt/m"


def test_breadth_first():
    root = tf.Module()
    root.deep = [tf.Variable(1.0), {"a/b": tf.Variable(2.0)}]
    root.near = root.deep[0]
    root.function = tf.function(lambda x: x)
    walk = ObjectWalk(root)
    assert walk.paths == ["", "deep", "near", "function", "deep/1", "deep/1/a.Sb"]
    assert walk.children == [
        [("deep", 1), ("near", 2), ("function", 3)],
        [("0", 2), ("1", 4)],
        [],
        [],
        [("a/b", 5)],
        [],
    ]
    assert walk.described(5) == "root.deep.1.a/b"
    assert walk.number(root.near) == 2
    assert walk.number(tf.Variable(0.0)) is None


def test_a_cycle():
    root, inner = tf.Module(), tf.Module()
    root.inner = inner
    inner.outer = root
    assert ObjectWalk(root).children == [[("inner", 1)], [("outer", 0)]]


def test_attached_children():
    root = tf.Module()
    root.a = tf.Variable(1.0)
    step = tf.Variable(1)
    walk = ObjectWalk(root, attached={"step": step, "root": root})
    assert walk.children[0] == [("a", 1), ("step", 2), ("root", 0)]


def test_slots_of_optimizers():
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0])
    root.w = tf.Variable(1.0)
    root.optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    root.optimizer.apply_gradients([(tf.constant([1.0, 1.0]), root.v)])
    walk = ObjectWalk(root)
    assert walk.slots == {3: [Slot(1, "momentum", 4)]}
    assert walk.paths[4] == "v/.OPTIMIZER_SLOT/optimizer/momentum"
    assert walk.slots_begin == 4
    assert len(ObjectWalk(root, slots=False)) == 4


def test_message():
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0])
    root.optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    root.optimizer.apply_gradients([(tf.constant([1.0, 1.0]), root.v)])
    graph = ObjectWalk(root).message()
    assert [(child.local_name, child.node_id) for child in graph.nodes[0].children] == [("v", 1), ("optimizer", 2)]
    (slot,) = graph.nodes[2].slot_variables
    assert (slot.original_variable_node_id, slot.slot_name, slot.slot_variable_node_id) == (1, "momentum", 3)
