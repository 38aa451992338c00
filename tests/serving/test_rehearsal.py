"""A new version is called as the one before it was, unless that would change something."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.serving.rehearsal import changes_nothing, rehearse
from headrace._src.serving.servables import Servable


@pytest.fixture
def versions(tmp_path):
    """Two versions of a model with a signature that computes, one that counts, and one that fails."""
    for version in (1, 2):
        module = tf.Module()
        module.weights = tf.Variable(tf.ones([2, 3]) * float(version))
        module.count = tf.Variable(0)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def compute(x, module=module):
            return {"y": tf.tanh(tf.matmul(x, module.weights))}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
        def count(x, module=module):
            return {"n": module.count.assign_add(1) + tf.size(x)}

        tf.saved_model.save(
            module, str(tmp_path / str(version)), signatures={"serving_default": compute, "count": count}
        )
    return [Servable("m", version, str(tmp_path / str(version))) for version in (1, 2)]


def called(servable, name, **arrays):
    signature = servable.signature(name)
    return signature.call(signature.checked(arrays))


def test_shapes_of_the_old_version_are_called(versions):
    old, new = versions
    for rows in (1, 4, 1):
        called(old, "", x=np.ones([rows, 2], np.float32))
    assert set(old.signature("").recent) == {((1, 2),), ((4, 2),)}
    assert rehearse(new, old) == 2 * 12
    assert set(new.signature("").recent) == {((1, 2),), ((4, 2),)}


def test_what_changes_something_is_left_out(versions):
    old, new = versions
    called(old, "count", x=np.ones([1], np.float32))
    assert changes_nothing(new.signature(""))
    assert not changes_nothing(new.signature("count"))
    assert rehearse(new, old) == 0
    assert called(new, "count", x=np.ones([1], np.float32))["n"] == 2


def test_what_the_new_version_refuses_is_no_problem(versions):
    old, new = versions
    old.signature("").recent["odd",] = {"x": np.ones([1, 7], np.float32)}
    assert rehearse(new, old) == 0


def test_only_a_few_shapes_are_kept(versions):
    old, _ = versions
    for rows in range(1, 9):
        called(old, "", x=np.ones([rows, 2], np.float32))
    assert len(old.signature("").recent) == 5
