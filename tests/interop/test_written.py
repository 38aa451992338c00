"""What headrace writes of each program still has the form that TensorFlow was seen to load."""

import importlib.metadata
import json

import fixtures
import pytest
import running
import written_forms
from programs import PROGRAMS

import headrace as tf

QUICK = list(PROGRAMS)[::6]
RECORDED = json.loads(written_forms.RECORD.read_text())
LOADED_THERE = [name for name, program in PROGRAMS.items() if program.loads_there]
# Their training takes seconds, and what is written has the form of what the other recurrent layers write.
LEFT_OUT = {"lstm_dropout", "lstm", "gru", "conv_lstm", "stateful_recurrent"}
NAMES = [name for name in LOADED_THERE if name not in LEFT_OUT]
# What an older Keras writes of its layers is of another form: of fewer attributes.
OF_KERAS = {"programs_layers", "programs_optimizers", "programs_preprocessing"}
KERAS_IS_OLDER = fixtures.version_of(importlib.metadata.version("keras")) < fixtures.version_of(RECORDED["keras"])


def test_every_program_is_recorded():
    assert sorted(RECORDED["programs"]) == sorted(LOADED_THERE)


@pytest.mark.parametrize("name", [pytest.param(x, marks=() if x in QUICK else pytest.mark.slow) for x in NAMES])
def test_written(name, tmp_path):
    if KERAS_IS_OLDER and type(PROGRAMS[name]).__module__ in OF_KERAS:
        pytest.skip(f"the recorded form is that of Keras {RECORDED['keras']}")
    running.write(tf, PROGRAMS[name], tmp_path)
    parts, operations = written_forms.form_of(tmp_path)
    recorded = RECORDED["programs"][name]
    changed = sorted(key for key in parts.keys() | recorded.keys() if parts.get(key) != recorded.get(key))
    changed += sorted(operations.difference(RECORDED["operations"]))
    assert not changed, (
        f"{name}: headrace writes this in a form that TensorFlow has not been seen to load. Where it is meant, "
        f"show that it does: TENSORFLOW_PYTHON=... scripts/interop --record-ours {name}"
    )


def adding(variable):
    return tf.function(lambda x: x + variable, input_signature=[tf.TensorSpec([])])


def test_a_change_is_seen(tmp_path):
    """A tensor, an object, an attribute more: each is another form."""
    forms = []
    for i, (value, more) in enumerate([(1.0, False), (2.0, False), ([1.0], False), (1.0, True)]):
        module = tf.Module()
        module.v = tf.Variable(value)
        module.f = adding(module.v)
        if more:
            module.again = module.v
        tf.train.Checkpoint(module=module).save(str(tmp_path / str(i) / "checkpoint" / "ck"))
        tf.saved_model.save(module, str(tmp_path / str(i) / "model"))
        forms.append(written_forms.form_of(tmp_path / str(i)))
    same, other_value, other_shape, other_child = forms
    assert same == other_value
    assert same[0]["checkpoint"] != other_shape[0]["checkpoint"] != other_child[0]["checkpoint"]
    assert same[0]["model objects"] != other_child[0]["model objects"]
    assert any(x.startswith("AddV2 T=type") for x in same[1])
