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

# Where headrace decides otherwise: what it gives, and why.
OTHERWISE = {
    # Elements without tensors are allowed.
    "R(3).map(lambda x: None)": {
        "dataset": "_MapDataset", "spec": "NoneTensorSpec()", "size": 3, "elements": [None] * 3, "again": [None] * 3,
    },
    # TensorFlow fails while it makes its message, or with another class than it means.
    "R(3).map(5)": {"raises": "TypeError"},
    "R(6).filter(lambda x: [True, False])": {"raises": "ValueError"},
    'E.from_list([1, "a"])': {"raises": "ValueError"},
    'R(10).group_by_window(lambda x: "a", lambda k, w: w.batch(5), 5)': {"raises": "ValueError"},
    # Ragged states may grow.
    "V(4).reduce(tf.ragged.constant([[1]], dtype=tf.int64), lambda s, x: tf.concat([s, [x]], 0))": {
        "ragged": {"list": [{"list": part} for part in ([1], [], [1], [2, 2], [3, 3, 3])]}, "type": "int64", "rank": 1,
    },
    # TensorFlow gives empty batches without end.
    "R(7).batch(3).rebatch(0)": {"raises": "InvalidArgumentError"},
    # Any dataset can be asked for an element by number.
    "E.at(R(10).map(lambda x: x * x).batch(3), 1)": {"type": "int64", "shape": [3], "values": [9, 16, 25]},
}  # fmt: skip


def _is_otherwise(code, found):
    """Differences that do not fit a table."""
    if "pad_to_bucket_boundary=True" in code and "[2, 4]" in code:  # TensorFlow says InternalError
        return found["elements"][-1] == {"raises": "InvalidArgumentError"}
    # AutoGraph lets a variable of the loop be used after it.
    return "for i, x in dataset.enumerate()" in code and found["values"] == [2]


def _where_they_differ(found, recorded):
    if isinstance(found, dict) and isinstance(recorded, dict):
        for key in sorted({*found, *recorded}, key=str):
            if not same(found.get(key), recorded.get(key)):
                return f"{key}: {found.get(key)}\nrecorded {key}: {recorded.get(key)}"
    return f"{found}\nrecorded: {recorded}"


@pytest.mark.parametrize("code", PROGRAMS)
def test_program(code):
    recorded = OTHERWISE[code] if code in OTHERWISE else RECORDED[code]
    found = json.loads(json.dumps(result_of(tf, code)))
    assert same(found, recorded) or _is_otherwise(code, found), _where_they_differ(found, recorded)


def _is_resumable(code):
    elements = RECORDED[code].get("elements") if isinstance(RECORDED[code], dict) else None
    return code not in OTHERWISE and bool(elements) and not any("raises" in e for e in elements if isinstance(e, dict))


RESUMABLE = [code for code in PROGRAMS if _is_resumable(code)]


@pytest.mark.parametrize("code", RESUMABLE)
def test_resume(code):
    _resume(code, random.Random(code).randint(0, len(RECORDED[code]["elements"])))


@pytest.mark.slow
@pytest.mark.parametrize("code", RESUMABLE)
def test_resume_anywhere(code):
    for place in range(len(RECORDED[code]["elements"]) + 1):
        _resume(code, place)


def _resume(code, place):
    elements = RECORDED[code]["elements"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iterator = iter(value_of(tf, code))
        first = elements_of(tf, iterator, place)
        state = iterator.state_dict()
        other = iter(value_of(tf, code))
        other.load_state_dict(state)
        rest = elements_of(tf, other, LONGEST - place)
        own_rest = elements_of(tf, iterator, LONGEST - place)
    assert same(json.loads(json.dumps(first + rest)), elements)
    assert same(json.loads(json.dumps(first + own_rest)), elements)  # it was not disturbed
