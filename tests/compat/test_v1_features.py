"""Feature columns give what TensorFlow's give: values, names of variables, gradients, specs."""

import json
import pathlib

import numpy as np
import pytest
import v1_feature_programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_features.json").read_text())
F = tf.feature_column


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_program(name, tmp_path):
    got, wanted = v1_feature_programs.programs(tf, str(tmp_path))[name](), RECORDED[name]
    if name == "names":
        assert got == wanted
        return
    assert got["variables"] == wanted["variables"]
    np.testing.assert_allclose(got["value"], wanted["value"], atol=2e-4)
    assert len(got["gradients"]) == len(wanted["gradients"])
    for a, b in zip(got["gradients"], wanted["gradients"]):
        np.testing.assert_allclose(a, b, atol=2e-3)


def test_nothing_is_left_out(tmp_path):
    assert set(v1_feature_programs.programs(tf, str(tmp_path))) == set(RECORDED)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: F.numeric_column(3), "key must be a string"),
    (lambda: F.numeric_column("a", shape=(0,)), "positive"),
    (lambda: F.bucketized_column(F.numeric_column("a"), [2, 1]), "sorted"),
    (lambda: F.categorical_column_with_vocabulary_list("a", ["x", "x"]), r"twice.*\['x'\]"),
    (lambda: F.categorical_column_with_vocabulary_list("a", ["x"], default_value=0, num_oov_buckets=1), "not both"),
    (lambda: F.categorical_column_with_identity("a", 3, 3), "0 to 2"),
    (lambda: F.crossed_column(["a"], 3), "two keys"),
    (lambda: F.crossed_column(["a", F.categorical_column_with_hash_bucket("b", 3)], 3), "hashed twice"),
    (lambda: F.embedding_column(F.numeric_column("a"), 3), "categorical column"),
    (lambda: tf.compat.v1.feature_column.input_layer({}, [F.numeric_column("a")]), "no feature 'a'"),
    (lambda: tf.compat.v1.feature_column.input_layer({}, [F.categorical_column_with_identity("a", 3)]),
     "indicator_column or embedding_column"),
])  # fmt: skip
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()
