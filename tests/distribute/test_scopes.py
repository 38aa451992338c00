"""Scopes of strategies that are entered in unusual ways; test_strategies.py compares others with TensorFlow."""

import gc

import pytest

import headrace as tf


def test_a_scope_that_nobody_holds_stays_entered():
    """As a cell of a notebook leaves it."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    strategy.scope().__enter__()
    gc.collect()
    try:
        assert tf.distribute.get_strategy() is strategy
        assert isinstance(tf.Variable(1.0), tf.distribute.DistributedValues)
    finally:
        strategy._entered[-1].__exit__(None, None, None)
    assert not tf.distribute.has_strategy()


def test_a_scope_is_entered_again():
    """TF: only within itself."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    scope = strategy.scope()
    for _ in range(2):
        with scope, scope:
            assert tf.distribute.get_strategy() is strategy
        assert not tf.distribute.has_strategy()


def test_a_scope_that_failed_is_not_entered():
    one, other = (tf.distribute.MirroredStrategy(["CPU:0"]) for _ in range(2))
    scope = other.scope()
    with one.scope(), pytest.raises(RuntimeError, match="Mixing different"):
        scope.__enter__()
    with pytest.raises(RuntimeError, match="without having been entered"):
        scope.__exit__(None, None, None)
    with scope:
        assert tf.distribute.get_strategy() is other
