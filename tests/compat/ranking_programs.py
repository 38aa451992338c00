"""Metrics of rankings, of two batches.

    python tests/compat/record_rankings.py    # with TensorFlow; writes tests/golden/compat_rankings.json
"""

import numpy as np

PREDICTIONS = [
    [[0.1, 0.6, 0.2, 0.9], [0.5, 0.4, 0.3, 0.2], [0.9, 0.1, 0.8, 0.7]],
    [[0.3, 0.2, 0.7, 0.1], [0.1, 0.2, 0.3, 0.4], [0.6, 0.5, 0.9, 0.2]],
]
LABELS = [[[3, 0], [1, 1], [2, 3]], [[2, 1], [0, 3], [1, 0]]]


def metrics(tf):
    """Functions of labels, predictions and weights."""
    M, v1 = tf.compat.v1.metrics, tf.compat.v1

    def sparse(labels):
        return tf.SparseTensor([[0, 0], [1, 0], [1, 1], [2, 0]], tf.reshape(labels, [-1])[:4], [3, 2])

    def top(predictions, k):
        return v1.nn.top_k(predictions, k)[1]

    return {
        "precision": lambda l, p, w: M.precision_at_k(l, p, 2),
        "precision of a class": lambda l, p, w: M.precision_at_k(l, p, 2, class_id=3, weights=w),
        "precision of sparse": lambda l, p, w: M.sparse_precision_at_k(sparse(l), p, 3, name="here"),
        "precision of top": lambda l, p, w: M.precision_at_top_k(l, top(p, 2), weights=w),
        "precision of one": lambda l, p, w: M.precision_at_k(l[:, 0], p, 1),
        "recall": lambda l, p, w: M.recall_at_k(l, p, 2),
        "recall of a class": lambda l, p, w: M.recall_at_k(l, p, 2, class_id=1, weights=w),
        "recall of sparse": lambda l, p, w: M.recall_at_k(sparse(l), p, 1, weights=w),
        "recall of top": lambda l, p, w: M.recall_at_top_k(l, top(p, 3), k=3),
        "recall of one": lambda l, p, w: M.recall_at_k(l[:, 0], p, 3),
        "average": lambda l, p, w: M.average_precision_at_k(l, p, 3),
        "average with weights": lambda l, p, w: M.sparse_average_precision_at_k(l, p, 2, weights=w),
        "average of sparse": lambda l, p, w: M.average_precision_at_k(sparse(l), p, 4),
    }


def measure(tf, name):
    """The names of a metric's variables, and its value and update before and after each batch."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        labels, predictions = v1.placeholder(tf.int64, [3, 2]), v1.placeholder(tf.float32, [3, 4])
        weights = v1.placeholder(tf.float32, [3])
        value, update = metrics(tf)[name](labels, predictions, weights)
        names = sorted([variable.name, variable.dtype.base_dtype.name] for variable in v1.local_variables())
        with v1.Session() as sess:
            sess.run(v1.local_variables_initializer())
            found = [sess.run(value)]
            for batch in zip(LABELS, PREDICTIONS):
                feeds = dict(zip((labels, predictions, weights), (*batch, [1.0, 0.5, 2.0])))
                found += [sess.run(update, feeds), sess.run(value)]
    return [names, value.dtype.name, np.round(np.asarray(found, np.float64), 6).tolist()]
