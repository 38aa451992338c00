"""The distributions of 1.x give TensorFlow's values, shapes and samples."""

import json
import pathlib

import distribution_programs as programs
import numpy as np
import pytest

import headrace as tf

RECORDED = json.loads(
    (pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_distributions.json").read_text()
)
D = tf.compat.v1.distributions


def close(got, wanted):
    if isinstance(wanted, str) or wanted is None:
        assert got == wanted
    else:
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=3e-5)


@pytest.mark.parametrize("made", programs.KINDS)
def test_kinds(made):
    got, wanted = programs.outcome(tf, made, *programs.KINDS[made]), dict(RECORDED[made])
    assert got.pop("shapes") == wanted.pop("shapes")
    assert got.pop("about")[1:] == wanted.pop("about")[1:]  # TensorFlow has lost the names
    assert set(got) == set(wanted)
    for name, value in wanted.items():
        close(got[name], value)


@pytest.mark.parametrize("pair", programs.PAIRS)
def test_divergences(pair):
    for a, b in zip(programs.divergence(tf, pair), RECORDED[pair]):
        close(a, b)


@pytest.mark.parametrize("made", ["Multinomial([4.0, 3.0], probs=[0.2, 0.8])", "DirichletMultinomial(5.0, [1.0, 3.0])"])
def test_counts_are_drawn_as_often_as_is_said(made):
    one = eval(f"D.{made}")
    tf.random.set_seed(1)
    counts = one.sample(4000, seed=3)
    np.testing.assert_allclose(tf.reduce_sum(counts, -1), np.broadcast_to(one.total_count, counts.shape[:-1]))
    np.testing.assert_allclose(tf.reduce_mean(counts, 0), one.mean(), rtol=0.05)
    np.testing.assert_allclose(np.var(counts, 0), one.variance(), rtol=0.1)


def test_gradients_go_through_samples_and_graphs():
    @tf.function
    def gradient(scale):
        with tf.GradientTape() as tape:
            tape.watch(scale)
            value = tf.reduce_sum(D.Normal(1.0, scale).sample(3, seed=1) - 1.0)
        return value, tape.gradient(value, scale)

    value, found = gradient(tf.constant(2.0))
    np.testing.assert_allclose(found, value / 2.0, rtol=1e-5)


def test_copies_have_other_parameters():
    one = D.Normal(1.0, 2.0, name="a").copy(loc=3.0)
    assert [one.mean().numpy(), one.parameters["scale"], one.name] == [3.0, 2.0, "a"]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: D.Normal(0.0, -1.0, validate_args=True), tf.errors.InvalidArgumentError, "x > y"),
    (lambda: D.Bernoulli(), ValueError, "logits or probs"),
    (lambda: D.Normal(np.int32(0), np.int32(1)), TypeError, "floating"),
    (lambda: D.Gamma(0.5, 1.0, allow_nan_stats=False).mode(), tf.errors.InvalidArgumentError, "not defined"),
    (lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Gamma(1.0, 1.0)), NotImplementedError, "no formula"),
    (lambda: D.RegisterKL(D.Normal, D.Normal)(print), ValueError, "already"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()
