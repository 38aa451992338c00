"""What TensorFlow saved of each program, recorded by `scripts/interop --record`, loads here and goes on equally."""

import importlib.metadata

import fixtures
import pytest
import running
from programs import PROGRAMS

import headrace as tf

QUICK = list(PROGRAMS)[::6]


def cases():
    for name, program in PROGRAMS.items():
        for form in running.forms_of(program):
            yield pytest.param(name, form, id=f"{name}-{form}", marks=() if name in QUICK else pytest.mark.slow)


@pytest.mark.parametrize(("name", "form"), list(cases()))
def test_recorded(name, form, tmp_path):
    if name == "keras_compiled" and fixtures.version_of(importlib.metadata.version("keras")) < (3, 14):
        pytest.skip("train_on_batch of Keras 3.13 returns float32, and that of the one that was recorded float64")
    saved = fixtures.unpack(name, tmp_path / "tensorflow")
    target = tmp_path / "headrace"
    target.mkdir()
    program = PROGRAMS[name]
    load = running.load_checkpoint if form == "checkpoint" else running.load_model
    actual = running.encoded(load(tf, program, saved, target))
    assert not running.differences(program, fixtures.results(saved), actual, running.FORMS[form])
