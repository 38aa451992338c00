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
