"""`keras.distribution` says what it does not do here, and what to use instead."""

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
distribution = pytest.importorskip("keras").distribution


def test_what_only_another_backend_has():
    mesh = distribution.DeviceMesh((1,), ["batch"], devices=["cpu:0"])
    with pytest.raises(NotImplementedError, match="MultiWorkerMirroredStrategy"):
        distribution.initialize("127.0.0.1:1", 2, 0)
    with pytest.raises(NotImplementedError, match=r"distribute_tensor spreads .*\.MirroredStrategy"):
        distribution.distribute_tensor(np.ones([2]), distribution.TensorLayout(["batch"], mesh))


def test_several_devices_have_no_effect_and_that_is_said():
    alone = distribution.DataParallel(devices=["cpu:0"], auto_shard_dataset=False)
    several = distribution.DataParallel(devices=["cpu:0", "cpu:1"], auto_shard_dataset=False)
    try:
        distribution.set_distribution(alone)
        with pytest.warns(UserWarning, match="over 2 devices on Keras's JAX backend only"):
            distribution.set_distribution(several)
        assert distribution.distribution() is several
    finally:
        distribution.set_distribution(None)


def test_fit_takes_distributed_datasets():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    rows = tf.data.Dataset.from_tensor_slices((np.ones([4, 1]), np.ones([4, 2])))
    dataset = strategy.distribute_datasets_from_function(lambda c: rows.batch(c.get_per_replica_batch_size(2)))
    model = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    assert len(model.fit(dataset, epochs=2, shuffle=False, verbose=0).history["loss"]) == 2
