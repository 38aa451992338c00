"""Everything that can be part of a checkpoint, there and back."""

import collections

import numpy as np
import pytest

import headrace as tf

Pair = collections.namedtuple("Pair", "x y")


def there_and_back(tmp_path, saved, fresh):
    path = tf.train.Checkpoint(x=saved).write(tmp_path / "x")
    tf.train.Checkpoint(x=fresh).read(path).assert_consumed()
    return [name for name, _ in tf.train.list_variables(path)][1:]


def test_containers(tmp_path):
    def make(number):
        module = tf.Module()
        module.list = [tf.Variable(number), {"k": tf.Variable(number), "a/b.c": tf.Variable(number)}, "text", None]
        module.tuple = (tf.Variable(number), 5, [tf.Variable(number)])
        module.named = Pair(tf.Variable(number), 2)
        module.ordered = collections.OrderedDict(q=tf.Variable(number), b=tf.Variable(number))
        module.empty = [[], {}, ()]
        return module

    fresh = make(0.0)
    names = there_and_back(tmp_path, make(3.0), fresh)
    assert names == [
        f"x/{name}/.ATTRIBUTES/VARIABLE_VALUE"
        for name in (
            "list/0", "list/1/a.Sb..c", "list/1/k", "named/x", "ordered/b", "ordered/q", "tuple/0", "tuple/2/0",
        )
    ]  # fmt: skip
    assert {float(v) for v in fresh.variables} == {3.0}
    assert isinstance(fresh.named, Pair)
    assert fresh.named.y == 2


def test_keys_that_are_no_strings():
    module = tf.Module()
    module.plain = {1: "not trackable"}
    tf.train.Checkpoint(m=module)._saver.walk()
    module.d = {1: tf.Variable(1.0)}
    with pytest.raises(ValueError, match=r"Unable to save the object \{1: .*non-string key"):
        tf.train.Checkpoint(m=module).write("unused")


@pytest.mark.parametrize("kind", ["mutable", "dense", "vectors"])
def test_tables(tmp_path, kind):
    def make():
        if kind == "mutable":
            return tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        if kind == "vectors":
            return tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
        return tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$", initial_num_buckets=16)

    table, fresh = make(), make()
    values = [[1.0, 2.0], [3.0, 4.0]] if kind == "vectors" else [1, 2]
    table.insert(["a", "b"], values)
    fresh.insert(["c"], values[:1])
    names = there_and_back(tmp_path, table, fresh)
    assert names == ["x/.ATTRIBUTES/table-keys", "x/.ATTRIBUTES/table-values"]
    np.testing.assert_array_equal(fresh.lookup(["a", "b"]), values)
    assert int(fresh.size()) == 2


def test_static_tables_have_nothing_to_save(tmp_path):
    initializer = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    table = tf.lookup.StaticHashTable(initializer, 0)
    assert there_and_back(tmp_path, table, tf.lookup.StaticHashTable(initializer, 0)) == []


def test_random_generators(tmp_path):
    generator, fresh = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(9)
    generator.normal([3])
    assert there_and_back(tmp_path, generator, fresh) == ["x/_state_var/.ATTRIBUTES/VARIABLE_VALUE"]
    np.testing.assert_array_equal(generator.normal([3]), fresh.normal([3]))


def pipeline():
    dataset = tf.data.Dataset.range(40).shuffle(8, seed=3)
    drawn = dataset.map(lambda x: x + tf.random.uniform([], maxval=5, dtype=tf.int64))
    return drawn.repeat(3).batch(2).prefetch(2)


def test_iterators_go_on_where_they_were(tmp_path):
    iterator, fresh = iter(pipeline()), iter(pipeline())
    for _ in range(5):
        next(iterator)
    assert there_and_back(tmp_path, iterator, fresh) == ["x/.ATTRIBUTES/ITERATOR_STATE"]
    for _ in range(20):
        np.testing.assert_array_equal(next(iterator), next(fresh))


def test_an_iterator_over_another_dataset(tmp_path):
    path = tf.train.Checkpoint(i=iter(pipeline()), v=tf.Variable(1.0)).write(tmp_path / "x")
    v = tf.Variable(0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Dataset\.prefetch\(.*into one over Dataset\.range"):
        tf.train.Checkpoint(i=iter(tf.data.Dataset.range(3)), v=v).read(path)
    assert float(v) == 0.0


def test_functions_and_datasets_are_passed_over(tmp_path):
    module = tf.Module()
    module.function = tf.function(lambda x: x)
    module.dataset = tf.data.Dataset.range(3)
    module.asset = tf.saved_model.Asset(__file__)
    assert there_and_back(tmp_path, module, module) == []


def test_python_state(tmp_path):
    class State(tf.train.experimental.PythonState):
        def __init__(self, value):
            self.value = value

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value

    saved, fresh = State(b"\x00\xff"), State(b"")
    assert there_and_back(tmp_path, saved, fresh) == ["x/.ATTRIBUTES/py_state"]
    assert fresh.value == b"\x00\xff"


def test_optimizers_of_1x(tmp_path):
    def make(number):
        checkpoint = tf.train.Checkpoint(v=tf.Variable([number, number]), o=tf.compat.v1.train.AdamOptimizer(0.1))
        return checkpoint, lambda: checkpoint.o.apply_gradients([(tf.constant([1.0, 2.0]), checkpoint.v)])

    saved, step = make(1.0)
    step()
    path = saved.write(tmp_path / "x")
    step()
    fresh, other_step = make(0.0)
    status = fresh.read(path)
    np.testing.assert_allclose(fresh.o.get_slot(fresh.v, "m"), [0.1, 0.2], rtol=1e-6)
    other_step()
    status.assert_consumed()
    np.testing.assert_array_equal(saved.v, fresh.v)


def test_an_optimizer_that_comes_before_its_variable(tmp_path):
    v, o = tf.Variable([1.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    o.apply_gradients([(tf.constant([1.0]), v)])
    path = tf.train.Checkpoint(v=v, o=o).write(tmp_path / "x")
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.read(path)
    checkpoint.o = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    checkpoint.v = tf.Variable([0.0])
    status.assert_consumed()
    np.testing.assert_array_equal(checkpoint.o.get_slot(checkpoint.v, "momentum"), [1.0])


def test_slots_can_be_left_out(tmp_path):
    v, o = tf.Variable([1.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    o.apply_gradients([(tf.constant([1.0]), v)])
    path = tf.train.Checkpoint(v=v, o=o).write(tmp_path / "x")
    fresh, other = tf.Variable([0.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    options = tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    tf.train.Checkpoint(v=fresh, o=other).read(path, options).assert_consumed()
    assert other.get_slot(fresh, "momentum") is None
