"""Spektral: graph convolutions."""

import numpy as np
import tensorflow as tf
from checks import check
from spektral.layers import GATConv, GCNConv, GlobalSumPool
from spektral.utils import gcn_filter

A = gcn_filter(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32))
X = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))

check("filter", lambda: A)
check("GCNConv", lambda: GCNConv(2, kernel_initializer="ones")([X, tf.constant(A, tf.float32)]))
check("sparse", lambda: GCNConv(2, kernel_initializer="ones")([X, tf.sparse.from_dense(tf.constant(A, tf.float32))]))
check(
    "GATConv",
    lambda: GATConv(2, kernel_initializer="ones", attn_kernel_initializer="zeros")([X, tf.constant(A > 0, tf.float32)]),
)
check("GlobalSumPool", lambda: GlobalSumPool()(X))
