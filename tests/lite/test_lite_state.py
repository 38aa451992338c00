"""Variables, tables and strings in models of TensorFlow Lite."""

import importlib.util

import numpy as np
import pytest
from lite_checks import converted
from lite_programs import signed, spec

import headrace as tf

needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="LiteRT is not there: pip install 'headrace[lite]'"
)


class Counter(tf.Module):
    """Functions that share variables."""

    def __init__(self):
        self.total = tf.Variable([1.0, 2.0], name="total")
        self.calls = tf.Variable(0, name="calls")
        self.factor = tf.Variable(3.0, name="factor")  # nobody changes it

    @tf.function(input_signature=[spec(2, name="x")])
    def add(self, x):
        before = self.total.read_value()
        self.total.assign_add(x * self.factor)
        self.calls.assign_add(1)
        return {"before": before, "total": self.total.read_value(), "calls": self.calls.read_value()}

    @tf.function(input_signature=[])
    def get(self):
        return {"total": self.total * 1.0}

    @tf.function(input_signature=[spec(dtype=tf.int32, name="count")])
    def repeat(self, count):
        for i in tf.range(count):
            self.calls.assign_sub(10)
            if i > 1:
                self.total.assign(self.total * 2.0)
        return {"calls": self.calls.read_value(), "total": self.total.read_value()}


@needs_litert
def test_variables_are_shared_and_stay(tmp_path):
    counter = Counter()
    keys = ("add", "get", "repeat")
    tf.saved_model.save(counter, str(tmp_path), signatures={key: getattr(counter, key) for key in keys})
    data = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), keys).convert()
    interpreter = tf.lite.Interpreter(model_content=data)
    runners = {key: interpreter.get_signature_runner(key) for key in keys}
    for key, given in (
        ("add", {"x": np.float32([1, 2])}), ("get", {}), ("add", {"x": np.float32([-1, 5])}),
        ("repeat", {"count": np.int32(4)}), ("repeat", {"count": np.int32(0)}), ("get", {}),
    ):  # fmt: skip
        found = runners[key](**given)
        expected = getattr(counter, key)(**{name: tf.constant(value) for name, value in given.items()})
        assert set(found) == set(expected)
        for name, value in found.items():
            np.testing.assert_array_equal(value, expected[name])
    # What nobody changes is a constant.
    names = [one["name"] for one in interpreter.get_tensor_details()]
    assert any(name.startswith("total/handle") for name in names)
    assert not any(name.startswith("factor/handle") for name in names)


@needs_litert
def test_variables_of_one_model_begin_anew():
    variable = tf.Variable(5.0)

    @tf.function(input_signature=[])
    def increased():
        return variable.assign_add(1.0)

    data = converted(increased)
    for _ in range(2):
        interpreter = tf.lite.Interpreter(model_content=data)
        interpreter.allocate_tensors()
        for expected in (6.0, 7.0):
            interpreter.invoke()
            assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]) == expected


def test_what_is_said_of_what_cannot_be():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @signed(spec(None, dtype=tf.string, name="x"))
    def changing(x):
        return table.lookup(x)

    with pytest.raises(tf.errors.InvalidArgumentError, match="table"):
        converted(changing)


def test_all_operations_without_counterpart_are_named_with_lines():
    @signed(spec(None, 4))
    def lacking(x):
        total = tf.zeros([4])
        for row in x:
            total += tf.math.lgamma(row)  # the line that is said
        return total + tf.math.erfinv(x[0])

    line = lacking.python_function.__code__.co_firstlineno + 4
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        converted(lacking)
    text = str(caught.value)
    assert f"test_lite_state.py:{line}): no counterpart" in text
    assert "Lgamma: " in text
    assert "Erfinv: " in text
    assert f"test_lite_state.py:{line + 1}" in text
    assert "outside of the model" in text


def test_authoring(capsys):
    @tf.lite.experimental.authoring.compatible
    @tf.function(input_signature=[spec(None)])
    def lacking(x):
        return tf.math.lgamma(x)

    assert lacking(tf.constant([1.0])).numpy().tolist() == [0.0]
    (text,) = lacking.get_compatibility_log()
    assert "Lgamma" in text
    assert text in capsys.readouterr().err
    lacking(tf.constant([2.0]))  # it is said once
    assert len(lacking.get_compatibility_log()) == 1

    @tf.lite.experimental.authoring.compatible(raise_exception=True)
    @tf.function(input_signature=[spec(None)])
    def refused(x):
        return tf.math.lgamma(x)

    with pytest.raises(tf.errors.InvalidArgumentError, match="Lgamma"):
        refused(tf.constant([1.0]))
