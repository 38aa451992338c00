"""Small programs do what TensorFlow was recorded to do with them, or what they say that headrace does instead."""

import json

import pytest
import written_programs

import headrace as tf

RECORDED = json.loads(written_programs.FILE.read_text())
PROGRAMS = written_programs.programs()


def test_all_are_recorded():
    assert list(RECORDED) == list(PROGRAMS)


def same(result, recorded):
    """The same values, and an error of the same class, or of one below it."""
    if result["shown"] != recorded["shown"]:
        return False
    if not recorded["error"]:
        return not result["error"]
    # An AttributeError there is an argument of a wrong type that nobody checked.
    allowed = {*recorded["error"], "TypeError"} if recorded["error"] == ["AttributeError"] else set(recorded["error"])
    return not allowed.isdisjoint(result["error"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    source = PROGRAMS[name]
    result = written_programs.outcome(tf, name, source)
    expected = written_programs.ours(source)
    if expected is None:
        assert same(result, RECORDED[name]), (result, RECORDED[name])
    else:
        assert not same(result, RECORDED[name]), "it no longer differs: remove the line `# ours:`"
        assert (result["error"][:1] or ["; ".join(result["shown"])])[0] == expected
