"""Programs with datasets give what TensorFlow recorded, also when an iterator is stopped and another goes on."""

import json
import pathlib
import random
import warnings

import pytest
from dataset_programs import PROGRAMS
from program_results import LONGEST, elements_of, result_of, same, value_of

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "golden" / "datasets.json").read_text())

# Where headrace decides otherwise, and why.
OTHERWISE: dict = {}


def _where_they_differ(found, recorded):
    if isinstance(found, dict) and isinstance(recorded, dict):
        for key in sorted({*found, *recorded}, key=str):
            if not same(found.get(key), recorded.get(key)):
                return f"{key}: {found.get(key)}\nrecorded {key}: {recorded.get(key)}"
    return f"{found}\nrecorded: {recorded}"


@pytest.mark.parametrize("code", PROGRAMS)
def test_program(code):
    recorded = OTHERWISE.get(code, RECORDED[code])
    found = json.loads(json.dumps(result_of(tf, code)))
    assert same(found, recorded), _where_they_differ(found, recorded)


def _is_resumable(code):
    elements = RECORDED[code].get("elements") if isinstance(RECORDED[code], dict) else None
    return code not in OTHERWISE and bool(elements) and not any("raises" in e for e in elements if isinstance(e, dict))


@pytest.mark.parametrize("code", [code for code in PROGRAMS if _is_resumable(code)])
def test_resume(code):
    elements = RECORDED[code]["elements"]
    place = random.Random(code).randint(0, len(elements))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iterator = iter(value_of(tf, code))
        first = elements_of(tf, iterator, place)
        state = iterator.state_dict()
        other = iter(value_of(tf, code))
        other.load_state_dict(state)
        rest = elements_of(tf, other, LONGEST - place)
    assert same(json.loads(json.dumps(first + rest)), elements)
