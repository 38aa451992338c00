"""Layers and recurrent networks of 1.x: names, shapes, values, gradients, losses and updates as TensorFlow's."""

import json
import pathlib

import numpy as np
import pytest
import v1_layer_programs as programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_layers.json").read_text())
v1 = tf.compat.v1


@pytest.mark.parametrize(("family", "name"), [(f, n) for f in programs.FAMILIES for n in RECORDED[f]])
def test_program(family, name):
    got, wanted = programs.outcome(tf, programs.FAMILIES[family](tf)[name]), RECORDED[family][name]
    for key in ("variables", "trained", "losses", "names", "shapes"):
        assert got[key] == wanted[key], key
    assert got.keys() == wanted.keys()
    for key in got.keys() & {"values", "gradients", "loss_values", "moving"}:
        assert len(got[key]) == len(wanted[key])
        for a, b in zip(got[key], wanted[key]):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4, err_msg=key)


def test_nothing_is_left_out():
    for family, make in programs.FAMILIES.items():
        assert set(make(tf)) == set(RECORDED[family])
