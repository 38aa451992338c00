"""Whose frames errors show, and the names of their classes."""

import io
import logging
import pickle
import threading
import traceback

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import errors
from headrace._src.core.tracebacks import IMPLEMENTATION, entrance, outside_frames

BAD = tf.constant([7])


def files_of(error):
    return {frame.filename for frame in traceback.extract_tb(error.__traceback__)}


@tf.function
def gathered(x, i):
    return tf.gather(x, i)  # made here


@tf.function
def called(x, i):
    return gathered(x * 2.0, i) + 1.0  # called here


@tf.function
def looped(x, i):
    while tf.reduce_sum(x) < 100.0:
        x = x + tf.reduce_sum(gathered(x, i))  # in a loop
    return x


def failing_generator():
    yield 1.0
    raise KeyError("label")


def fail_in_python(x):
    return x.numpy()[9]


# Ways into headrace on which an error comes.
WAYS = {
    "a function": lambda: tf.gather(tf.ones(3), BAD),
    "an operator": lambda: tf.ones(2) + tf.ones(3),
    "a reflected operator": lambda: [1.0, 2.0] * tf.ones(3),
    "an operator of a variable": lambda: tf.Variable([1.0, 2.0]) * tf.ones(3),
    "an index": lambda: tf.ones(3)[5],
    "a constant": lambda: tf.constant([[1], [2, 3]]),
    "a raw op": lambda: tf.raw_ops.GatherV2(params=tf.ones(3), indices=BAD, axis=0),
    "a truth value": lambda: bool(tf.ones(2)),
    "an assignment": lambda: tf.Variable(1.0).assign([1.0, 2.0]),
    "a graph that runs": lambda: gathered(tf.ones(3), BAD),
    "a concrete function": lambda: gathered.get_concrete_function(tf.ones(3), BAD)(tf.ones(3), BAD),
    "a graph in a graph": lambda: called(tf.ones(3), BAD),
    "a loop": lambda: looped(tf.ones(3), BAD),
    "a trace": lambda: tf.function(lambda x: tf.matmul(x, x))(tf.ones((2, 3))),
    "a dataset": lambda: list(tf.data.Dataset.range(3).map(lambda i: tf.gather([1], i))),
    "a parallel map": lambda: list(tf.data.Dataset.range(3).map(lambda i: tf.gather([1], i), num_parallel_calls=2)),
    "a method of a dataset": lambda: tf.data.Dataset.range(3).batch(0),
    "Python in a graph": lambda: tf.function(lambda x: tf.py_function(fail_in_python, [x], tf.float32))(tf.ones(3)),
    "a name": lambda: tf.log,
    "an attribute": lambda: tf.ones(3).sum(),
    "a name of TensorFlow 1": lambda: tf.Session(),
    "a checkpoint": lambda: tf.train.Checkpoint().restore("/no/such/checkpoint"),
    "map_fn": lambda: tf.map_fn(lambda i: tf.gather([1], i), tf.range(3)),
    "a class": lambda: tf.data.TFRecordDataset(3.5),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_only_the_users_frames(way):
    with pytest.raises(Exception) as caught:
        WAYS[way]()
    assert files_of(caught.value) == {__file__}
    text = "".join(traceback.format_exception(caught.value))
    assert IMPLEMENTATION not in text
    assert len(text.splitlines()) <= 20


def test_all_frames_on_request():
    tf.debugging.disable_traceback_filtering()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            called(tf.ones(3), BAD)
    finally:
        tf.debugging.enable_traceback_filtering()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.filename.startswith(IMPLEMENTATION) for frame in frames)
    # Each shows the line that called the next one, not one that happened to run while the error passed.
    assert not any(frame.line.startswith("del ") for frame in frames if frame.line)


def test_lines_of_calls_and_of_the_operation():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        called(tf.ones(3), BAD)
    text = str(caught.value)
    assert text.index("called here") < text.index("made here")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        looped(tf.ones(3), BAD)
    text = str(caught.value)
    assert text.index("in a loop") < text.index("made here")


def test_shapes_are_those_of_the_values():
    @tf.function(input_signature=[tf.TensorSpec([None, None])] * 2)
    def product(a, b):
        return tf.matmul(a, b)

    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"a \(2, 3\), b \(2, 3\)"):
            product(tf.ones((2, 3)), tf.ones((2, 3)))


def test_a_generator_that_fails():
    data = tf.data.Dataset.from_generator(failing_generator, output_signature=tf.TensorSpec([]))
    with pytest.raises(tf.errors.UnknownError, match="failing_generator: raise KeyError") as caught:
        list(data)
    assert files_of(caught.value) == files_of(caught.value.__cause__) == {__file__}


def test_what_is_logged():
    stream = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    try:
        called(tf.ones(3), BAD)
    except tf.errors.InvalidArgumentError:
        logger.exception("failed")
        printed = traceback.format_exc()
    assert IMPLEMENTATION not in stream.getvalue() + printed
    assert "called here" in printed


def test_in_another_thread():
    found = []

    def work():
        try:
            called(tf.ones(3), BAD)
        except tf.errors.InvalidArgumentError as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert files_of(found[0]) == {__file__}


def test_errors_that_only_the_inside_saw_are_forgotten():
    code = """
def look_up(get):
    try:
        get()
    except LookupError:
        raise ValueError("what the user is told")
"""
    names: dict = {}
    exec(compile(code, IMPLEMENTATION + "made_up.py", "exec"), names)  # as if it were of the package
    look_up = entrance(names["look_up"])
    with pytest.raises(ValueError, match="told") as caught:
        look_up({}.popitem)
    assert "During handling" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(ValueError, match="told") as caught:
        look_up(lambda: [][0])  # of the user's
    assert "During handling" in "".join(traceback.format_exception(caught.value))


def test_causes_are_kept_without_the_inside():
    def wrapped():
        try:
            tf.gather([1], 5)
        except tf.errors.InvalidArgumentError as error:
            raise RuntimeError("mine") from error

    with pytest.raises(RuntimeError, match="mine") as caught:
        tf.nest.map_structure(lambda x: wrapped(), [1])
    cause = caught.value.__cause__
    assert isinstance(cause, tf.errors.InvalidArgumentError)
    assert files_of(cause) == {__file__}


def test_numpy_is_shown_where_the_user_called_it():
    def load(x):
        return np.load("/no/such/file.npy")

    with pytest.raises(FileNotFoundError) as caught:
        tf.nest.map_structure(load, [1])
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ["load", "load"]  # ours, and NumPy's
    assert outside_frames(caught.value.__traceback__) is not None


CLASSES = [value for name, value in vars(errors).items() if isinstance(value, type) and name.endswith("Error")]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_classes_are_public(cls):
    assert cls.__module__ == "headrace.errors"
    assert getattr(tf.errors, cls.__name__) is cls
    assert cls.__doc__
    made = cls(None, None, "text", 3) if cls is errors.OpError else None
    if made is None:
        made = cls(None, None, "text") if issubclass(cls, errors.OpError) else cls("text")
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is cls
    assert "text" in str(again)


@pytest.mark.parametrize("cls", [errors.GraphBuildError, errors.DTypeMismatchError, errors.NoSavedModelError])
def test_classes_of_two_kinds_are_made_of_a_message_too(cls):
    assert cls("text").message == cls(None, None, "text").message == "text"


def test_no_class_that_is_raised_is_private():
    for make in WAYS.values():
        with pytest.raises(Exception) as caught:
            make()
        assert "_src" not in type(caught.value).__module__
