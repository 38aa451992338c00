"""Datasets of 1.x: iterators that sessions initialise and run."""

import subprocess
import sys

import pytest

import headrace as tf

v1 = tf.compat.v1


def test_one_shot_iterator():
    with tf.Graph().as_default():
        element = v1.data.Dataset.range(3).map(lambda x: x * 2).make_one_shot_iterator().get_next()
        with v1.Session() as session:
            assert [session.run(element) for _ in range(3)] == [0, 2, 4]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
        with v1.Session() as session:
            assert session.run(element) == 0  # a session of its own


def test_initializable_iterator_with_a_placeholder():
    with tf.Graph().as_default():
        limit = v1.placeholder(tf.int64, [])
        iterator = v1.data.make_initializable_iterator(v1.data.Dataset.range(limit))
        element = iterator.get_next()
        with v1.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(element)
            session.run(iterator.initializer, {limit: 2})
            assert [session.run(element), session.run(element)] == [0, 1]
            session.run(iterator.initializer, {limit: 1})
            assert session.run(element) == 0
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)


def test_reinitializable_iterator():
    with tf.Graph().as_default():
        training = v1.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"]))
        validation = v1.data.Dataset.from_tensor_slices(([3], ["c"]))
        iterator = v1.data.Iterator.from_structure(training.output_types, training.output_shapes)
        number, text = iterator.get_next()
        begin, check = iterator.make_initializer(training), iterator.make_initializer(validation)
        with v1.Session() as session:
            session.run(begin)
            assert session.run([number, text]) == [1, b"a"]
            session.run(check)
            assert session.run([number, text]) == [3, b"c"]


def test_feedable_iterator():
    with tf.Graph().as_default():
        handle = v1.placeholder(tf.string, [])
        one = v1.data.make_one_shot_iterator(v1.data.Dataset.range(5))
        two = v1.data.make_one_shot_iterator(v1.data.Dataset.range(10, 15))
        iterator = v1.data.Iterator.from_string_handle(handle, tf.int64, [])
        element = iterator.get_next()
        with v1.Session() as session:
            first, second = session.run([one.string_handle(), two.string_handle()])
            assert [session.run(element, {handle: h}) for h in (first, second, first)] == [0, 10, 1]


def test_eager():
    iterator = v1.data.Dataset.range(2).make_one_shot_iterator()
    assert [int(iterator.get_next()), int(next(iterator))] == [0, 1]
    dataset = v1.data.Dataset.range(4).batch(2)
    assert isinstance(dataset, v1.data.Dataset)
    assert dataset.output_types == tf.int64
    with pytest.raises(RuntimeError, match="for"):
        dataset.make_initializable_iterator()


def test_with_the_alias_installed_first():
    program = (
        "import headrace\nheadrace.install_as_tensorflow()\nimport tensorflow.compat.v1 as tf\n"
        "print(hasattr(tf.data.Dataset.range(3).map(lambda x: x * 2), 'make_one_shot_iterator'))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


MADE = {
    "map": lambda data: data.map(lambda x: x + 1),
    "map_with_legacy_function": lambda data: data.map_with_legacy_function(lambda x: x + 1),
    "filter_with_legacy_function": lambda data: data.filter_with_legacy_function(lambda x: x > 1),
    "batch": lambda data: data.batch(2).unbatch(),
    "flat_map": lambda data: data.flat_map(v1.data.Dataset.from_tensors),
    "interleave": lambda data: data.interleave(v1.data.Dataset.from_tensors, cycle_length=2),
    "take_while": lambda data: data.take_while(lambda x: x < 3),
    "group_by_window": lambda data: data.group_by_window(lambda x: x % 2, lambda _, part: part.take(1), window_size=5),
    "apply": lambda data: data.apply(lambda dataset: tf.data.Dataset.range(2)),
    "options": lambda data: data.with_options(tf.data.Options()),
    "zip": lambda data: v1.data.Dataset.zip((data, data)).map(lambda x, y: x + y),
    "generator": lambda data: v1.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int64, []),
    "choose": lambda data: v1.data.experimental.choose_from_datasets([data], v1.data.Dataset.range(1)),
    "sample": lambda data: v1.data.experimental.sample_from_datasets([data], [1.0], seed=1),
    "random": lambda data: v1.data.experimental.RandomDataset(seed=1).take(2),
    "counter": lambda data: v1.data.experimental.Counter().take(2),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_every_dataset_has_the_methods_of_1_x(name):
    dataset = MADE[name](v1.data.Dataset.range(5))
    assert isinstance(dataset, v1.data.Dataset)
    assert (dataset.output_types, dataset.output_shapes, dataset.output_classes) == (tf.int64, [], tf.Tensor)
    first = int(next(iter(dataset)).numpy())
    assert int(dataset.make_one_shot_iterator().get_next()) == first
    with tf.Graph().as_default(), v1.Session() as session:
        iterator = MADE[name](v1.data.Dataset.range(5)).make_initializable_iterator()
        session.run(iterator.initializer)
        assert session.run(iterator.get_next()) == first
        assert (iterator.output_types, iterator.output_shapes, iterator.output_classes) == (tf.int64, [], tf.Tensor)


def test_iterators_of_eager_programs():
    iterator = iter(tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]}))
    assert iterator.output_types == {"a": tf.int32, "b": tf.float32}
    assert iterator.output_shapes == {"a": [], "b": [1]}
    assert iterator.output_classes == {"a": tf.Tensor, "b": tf.Tensor}
    assert int(iterator.next()["a"]) == 1
    assert int(iterator.get_next()["a"]) == 2
    with pytest.raises(StopIteration):
        iterator.next()
    assert v1.data.get_output_types(iterator) == iterator.output_types
    with pytest.raises(TypeError, match="must be a `tf.data.Dataset`"):
        v1.data.get_output_types([1])
