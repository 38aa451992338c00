"""1.x losses, learning rates, initializers and optimizers give TensorFlow's values and names."""

import json
import pathlib
import re

import numpy as np
import pytest
import v1_programs as programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1.json").read_text())
v1 = tf.compat.v1


def close(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize(("family", "name"), [(f, n) for f in programs.FAMILIES for n in RECORDED[f]])
def test_values(family, name):
    close(programs.in_session(tf, programs.FAMILIES[family](tf)[name]), RECORDED[family][name])


def test_nothing_is_left_out():
    for family, make in programs.FAMILIES.items():
        assert set(make(tf)) == set(RECORDED[family])


@pytest.mark.parametrize("name", sorted(RECORDED["optimizers"]))
def test_optimizers(name):
    got, wanted = programs.train(tf, programs.optimizers(tf)[name]), RECORDED["optimizers"][name]
    close(got.pop("values"), wanted["values"])
    assert got == {key: value for key, value in wanted.items() if key != "values"}


@pytest.mark.parametrize("name", sorted(RECORDED["optimizers"]))
def test_optimizers_on_variables_without_handles(name):
    got = programs.train(tf, programs.optimizers(tf)[name], use_resource=False)
    close(got["values"], RECORDED["optimizers"][name]["values"])


@pytest.mark.parametrize("name", sorted(RECORDED["functions"]))
def test_functions(name):
    got, wanted = programs.rounded(programs.functions(tf)[name]()), RECORDED["functions"][name]
    close(got, wanted) if isinstance(wanted, list) else np.testing.assert_allclose(got, wanted)


@pytest.mark.parametrize("name", sorted(RECORDED["metrics"]))
def test_metrics(name):
    names, found = programs.measure(tf, name)
    assert names == RECORDED["metrics"][name][0]
    close(found, RECORDED["metrics"][name][1])


def test_metrics_are_for_graphs():
    with pytest.raises(RuntimeError, match="tf.metrics.mean is not supported when eager execution is enabled"):
        v1.metrics.mean([1.0])


def test_eager_optimizer():
    v = tf.Variable([1.0, 2.0])
    optimizer = v1.train.AdamOptimizer(0.1)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
    np.testing.assert_allclose(v, RECORDED["optimizers"]["Adam"]["values"][0], atol=1e-5)
    names = sorted(re.sub(r"Adam(_\d+)?", "Adam", x.name) for x in optimizer.variables())  # numbers go on in a process
    assert names == ["Variable/Adam:0", "Variable/Adam:0", "beta1_power:0", "beta2_power:0"]
    with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
        optimizer.compute_gradients(tf.constant(1.0))
    assert v1.train.exponential_decay(0.1, tf.Variable(10), 10, 0.5)().numpy() == np.float32(0.05)


def test_gradients_can_be_changed_before_they_are_applied():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=[3.0, 4.0], constraint=lambda x: tf.maximum(x, 0.0))
        unused = v1.get_variable("u", initializer=1.0)
        optimizer = v1.train.GradientDescentOptimizer(1.0)
        pairs = optimizer.compute_gradients(tf.reduce_sum(v * v))
        assert [(g is None, x.name) for g, x in pairs] == [(False, "v:0"), (True, "u:0")]
        step = optimizer.apply_gradients([(g * 0.25 * [1.0, 4.0], x) for g, x in pairs if g is not None])
        assert step.type == "NoOp"
        assert step in v1.get_collection(v1.GraphKeys.TRAIN_OP)
        with pytest.raises(ValueError, match="No gradients provided for any variable"):
            optimizer.minimize(tf.reduce_sum(v * v), var_list=[unused])
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            sess.run(step)
            assert sess.run(v).tolist() == [1.5, 0.0]


def test_global_step():
    with tf.Graph().as_default() as graph:
        assert v1.train.get_global_step() is None
        step = v1.train.get_or_create_global_step()
        assert v1.train.get_or_create_global_step(graph) is step
        assert step.dtype is tf.int64
        with pytest.raises(ValueError, match="already exists"):
            v1.train.create_global_step()
        with v1.Session() as sess:
            sess.run(step.initializer)
            assert v1.train.global_step(sess, step) == 0
