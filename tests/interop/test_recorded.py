"""What TensorFlow saved of each program, recorded by `scripts/interop --record`, loads here and goes on equally."""

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
    saved = fixtures.unpack(name, tmp_path / "tensorflow")
    target = tmp_path / "headrace"
    target.mkdir()
    program = PROGRAMS[name]
    load = running.load_checkpoint if form == "checkpoint" else running.load_model
    actual = running.encoded(load(tf, program, saved, target))
    assert not running.differences(program, fixtures.results(saved), actual, running.FORMS[form])
