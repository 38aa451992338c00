"""Parts of SavedModels, and objects of the program that take the places of saved ones."""

import pytest

import headrace as tf
from headrace._src.compat.tensorflow_names.internal_models import load_partial, save_and_return_nodes


class Layer(tf.Module):
    def __init__(self, value):
        super().__init__()
        self.weight = tf.Variable(value, name="weight")

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def __call__(self, x):
        return x * self.weight


class Model(tf.Module):
    def __init__(self, first=2.0, second=3.0):
        super().__init__()
        self.first, self.second = Layer(first), Layer(second)
        self.words = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)


@pytest.fixture
def saved(tmp_path):
    model = Model()
    model.words.insert(tf.constant(["a"]), tf.constant([7], tf.int64))
    folder = str(tmp_path / "model")
    return model, folder, save_and_return_nodes(model, folder)


def test_objects_and_the_ways_to_them(saved):
    model, _, (nodes, paths) = saved
    assert nodes[0] is model
    assert paths[model] == []
    assert [reference.name for reference in paths[model.second.weight]] == ["second", "weight"]
    assert paths[model.second.weight][-1].ref is model.second.weight
    assert any(node is model.words for node in nodes)


def test_values_can_be_left_out(tmp_path):
    folder = tmp_path / "model"
    save_and_return_nodes(Model(), str(folder), experimental_skip_checkpoint=True)
    assert not (folder / "variables" / "variables.index").exists()


@pytest.mark.parametrize("paths", ["root.second", ["root.second"], {"root.second": None}])
def test_one_part(saved, paths):
    found = load_partial(saved[1], paths)
    assert list(found) == ["root.second"]
    assert float(found["root.second"](2.0)) == 6.0


def test_all_of_it(saved):
    found = load_partial(saved[1], ["root", "root.first.weight"])
    assert found["root"].first.weight is found["root.first.weight"]
    assert float(found["root"].second(2.0)) == 6.0


def test_an_object_of_the_program_takes_the_place_of_a_saved_one(saved):
    mine, table, given = Layer(0.0), tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1), []

    def setter(obj, name, value):
        given.append((obj, name))

    places = {"root.first": (mine, setter), "root.first.weight": (mine.weight, setattr), "root.words": (table, setter)}
    found = load_partial(saved[1], {"root": None, **places})
    assert found["root"].first is mine
    assert mine.weight.numpy() == 2.0
    assert (mine, "weight") in given
    assert (mine, "__call__") in given
    assert table.lookup(tf.constant(["a"])).numpy().tolist() == [7]
    assert float(found["root"].second(2.0)) == 6.0


def test_functions_use_the_variables_that_were_given(saved):
    weight = tf.Variable(0.0)
    found = load_partial(saved[1], {"root.first": None, "root.first.weight": (weight, setattr)})
    weight.assign(10.0)
    assert float(found["root.first"](2.0)) == 20.0


def test_a_class_becomes_callable(saved):
    class Holder(tf.Module):
        pass

    holder = Holder()
    load_partial(saved[1], {"root.second": (holder, setattr)})
    assert float(holder(2.0)) == 6.0


@pytest.mark.parametrize(("paths", "said"), [
    ("first", "begins with 'root'"), ("root.third", "no 'third'"), ({}, "at least one"),
])  # fmt: skip
def test_bad_paths(saved, paths, said):
    with pytest.raises(ValueError, match=said):
        load_partial(saved[1], paths)


def test_a_model_of_1x_has_no_objects(tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [])
        tf.compat.v1.saved_model.simple_save(session, folder, {"x": x}, {"y": x + 1.0})
    with pytest.raises(ValueError, match="TensorFlow 1"):
        load_partial(folder, ["root"])


def test_saveables():
    """What Keras 2 asks of objects whose values it sets itself."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a"]), tf.constant([7], tf.int64))
    (make,) = tf.__internal__.tracking.saveable_objects_from_trackable(table).values()
    saveable = make(name="table")
    assert [spec.name for spec in saveable.specs] == ["tabletable-keys", "tabletable-values"]
    other = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    (make,) = tf.__internal__.tracking.saveable_objects_from_trackable(other).values()
    make().restore([spec.tensor for spec in saveable.specs], None)
    assert other.lookup(tf.constant(["a"])).numpy().tolist() == [7]
    assert tf.__internal__.tracking.saveable_objects_from_trackable(tf.Module()) == {}


def test_functions_that_are_no_attributes_any_more_are_not_saved(tmp_path):
    """Keras 2 so leaves out what trains a model, and what it uses."""
    module, counter = tf.Module(), tf.Variable(0)
    module.train = tf.function(lambda: counter.assign_add(1))
    module.train()
    module.train = None
    tf.saved_model.save(module, str(tmp_path))
    assert not hasattr(tf.saved_model.load(str(tmp_path)), "train")
