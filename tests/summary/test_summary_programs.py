"""Programs that write summaries write the bytes that TensorFlow recorded."""

import json
import pathlib

import pytest
from summary_programs import PROGRAMS, result_of

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "golden" / "summaries.json").read_text())

# Where headrace decides otherwise: what it gives, and why.
OTHERWISE: dict[str, dict] = {}


@pytest.mark.parametrize("code", PROGRAMS)
def test_program(code):
    assert result_of(tf, code) == OTHERWISE.get(code, RECORDED[code])
