"""TensorFlow Model Optimization: pruning, clustering and quantization-aware training of Keras 2 models."""

import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot
import tf_keras
from checks import check

tf.random.set_seed(0)
X = np.random.default_rng(0).random((32, 4), np.float32)
Y = X.sum(1, keepdims=True)


def network():
    return tf_keras.Sequential([tf_keras.Input((4,)), tf_keras.layers.Dense(8, "relu"), tf_keras.layers.Dense(1)])


def fitted(model, callbacks=()):
    model.compile("adam", "mse")
    model.fit(X, Y, batch_size=8, epochs=4, verbose=0, callbacks=list(callbacks))
    return model


def pruned():
    schedule = tfmot.sparsity.keras.ConstantSparsity(0.5, begin_step=0, frequency=1)
    model = tfmot.sparsity.keras.prune_low_magnitude(network(), pruning_schedule=schedule)
    fitted(model, [tfmot.sparsity.keras.UpdatePruningStep()])
    kernel = tfmot.sparsity.keras.strip_pruning(model).layers[0].kernel.numpy()
    return float((kernel == 0).mean())


def clustered():
    model = tfmot.clustering.keras.cluster_weights(
        network(), number_of_clusters=3,
        cluster_centroids_init=tfmot.clustering.keras.CentroidInitialization.LINEAR,
    )  # fmt: skip
    fitted(model)
    return len(np.unique(tfmot.clustering.keras.strip_clustering(model).layers[0].kernel.numpy())) <= 3


def quantized():
    model = fitted(tfmot.quantization.keras.quantize_model(network()))
    return model.predict(X, verbose=0).shape


check("pruning", pruned)
check("clustering", clustered)
check("quantization", quantized)
