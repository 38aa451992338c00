"""`tf.train.CheckpointOptions`: its fields, what it refuses, how it is copied, and the callbacks that it has."""

import copy

import pytest

import headrace as tf
from headrace._src.checkpoint.options import call_write_callbacks


def test_fields_as_tensorflow_has_them():
    options = tf.train.CheckpointOptions(None, True)
    assert (options.enable_async, options.experimental_enable_async_checkpoint) == (True, True)
    options.experimental_enable_async_checkpoint = False
    assert options.enable_async is False
    options = tf.train.CheckpointOptions("/job:localhost", experimental_skip_slot_variables=True)
    assert options.experimental_io_device == "/job:localhost"
    assert options.experimental_skip_slot_variables
    assert options.experimental_sharding_callback is None
    with pytest.raises(AttributeError):
        options.no_such_option = 1


def test_what_is_refused():
    with pytest.raises(ValueError, match="must be of type ShardingCallback.*<class 'int'>"):
        tf.train.CheckpointOptions(experimental_sharding_callback=3)
    with pytest.raises(ValueError, match="must be a function of the path of the checkpoint, or of nothing, but <func"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[lambda path, other: None])
    with pytest.raises(ValueError, match="or of nothing, but 3 is not"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[3])


def test_a_copy_has_a_list_of_callbacks_of_its_own():
    policy = tf.train.experimental.ShardByTaskPolicy()
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[print], enable_async=True, experimental_sharding_callback=policy
    )
    other = copy.copy(options)
    other.experimental_write_callbacks.append(repr)
    assert options.experimental_write_callbacks == [print]
    assert (other.enable_async, other.experimental_sharding_callback) == (True, policy)


def test_callbacks_take_the_path_or_nothing():
    seen = []
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[seen.append, lambda: seen.append(None), lambda path: seen.append(path.upper())]
    )
    call_write_callbacks(options, "p")
    call_write_callbacks(None, "p")
    assert seen == ["p", None, "P"]
