"""`tf.compat.v1.train.Saver` does what TensorFlow's does: operations, files, values and errors."""

import json
import pathlib

import pytest
import v1_saving_programs as programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json").read_text())["savers"]
v1 = tf.compat.v1


@pytest.mark.parametrize("name", sorted(programs.SAVERS))
def test_programs(name):
    programs.compare(name, programs.result_of(tf, programs.SAVERS[name]), RECORDED[name])


def test_nothing_is_left_out():
    assert set(programs.SAVERS) == set(RECORDED)
