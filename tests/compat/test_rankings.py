"""Precision and recall among the highest predictions are TensorFlow's, with its variables."""

import json
import pathlib

import numpy as np
import pytest
import ranking_programs as programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_rankings.json").read_text())


@pytest.mark.parametrize("name", sorted(programs.metrics(tf)))
def test_metrics(name):
    *about, found = programs.measure(tf, name)
    *wanted_about, wanted = RECORDED[name]
    assert about == wanted_about
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_metrics_are_for_graphs():
    with pytest.raises(RuntimeError, match="precision_at_k is not supported when eager"):
        tf.compat.v1.metrics.precision_at_k([[1]], [[0.5, 0.5]], 1)
