"""Small 1.x programs whose results TensorFlow recorded; the argument is the module `tensorflow` or `headrace`.

    python tests/compat/record_v1.py    # with TensorFlow; writes tests/golden/compat_v1.json
"""

import numpy as np

LABELS = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
LOGITS = [[0.5, 2.0, -1.0], [1.0, 0.2, 0.3]]
STEPS = (0, 3, 5, 13, 27)


def rounded(value):
    """Nested lists of numbers with five digits."""
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return np.round(np.array(value, dtype=np.float64), 5).tolist()


def in_session(tf, build):
    """What `build(graph)` returns, run in a session after all initializers."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        fetches = build(graph)
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return rounded(sess.run(fetches))


def losses(tf):
    v1 = tf.compat.v1
    L = v1.losses
    found = {}
    for name in ("absolute_difference", "mean_squared_error", "hinge_loss", "huber_loss", "sigmoid_cross_entropy",
                 "softmax_cross_entropy", "mean_pairwise_squared_error"):
        function = getattr(L, name)
        weights = [2.0, 0.0] if name == "softmax_cross_entropy" else [[2.0], [0.0]]
        found[name] = lambda g, f=function: [f(LABELS, LOGITS)]
        found[f"{name} weighted"] = lambda g, f=function, w=weights: [f(LABELS, LOGITS, weights=w)]
        if "pairwise" not in name:
            for reduction in ("none", "weighted_sum", "weighted_mean", "weighted_sum_over_batch_size"):
                found[f"{name} {reduction}"] = lambda g, f=function, r=reduction: [f(LABELS, LOGITS, reduction=r)]
    found["log_loss"] = lambda g: [L.log_loss(LABELS, [[0.1, 0.8, 0.1], [0.5, 0.2, 0.3]])]
    found["cosine_distance"] = lambda g: [L.cosine_distance(LABELS, LOGITS, axis=1)]
    found["sparse"] = lambda g: [L.sparse_softmax_cross_entropy([[1], [0]], LOGITS, weights=[1.0, 0.0])]
    found["smoothed"] = lambda g: [
        L.softmax_cross_entropy(LABELS, LOGITS, label_smoothing=0.1),
        L.sigmoid_cross_entropy(LABELS, LOGITS, label_smoothing=0.1),
    ]

    def total(graph):
        L.mean_squared_error([1.0], [3.0])
        L.absolute_difference([1.0], [3.0])
        v1.get_variable("w", initializer=[1.0, 2.0], regularizer=lambda w: tf.reduce_sum(w * w))
        return [L.get_total_loss(), L.get_regularization_loss()]

    found["total"] = total
    return found


def learning_rates(tf):
    T = tf.compat.v1.train
    rates = {
        "exponential": lambda s: T.exponential_decay(0.1, s, 10, 0.5),
        "staircase": lambda s: T.exponential_decay(0.1, s, 10, 0.5, staircase=True),
        "natural": lambda s: T.natural_exp_decay(0.1, s, 10, 0.5),
        "inverse": lambda s: T.inverse_time_decay(0.1, s, 10, 0.5),
        "polynomial": lambda s: T.polynomial_decay(0.1, s, 10, 0.01, 2.0),
        "cycle": lambda s: T.polynomial_decay(0.1, s, 10, 0.01, 0.5, cycle=True),
        "piecewise": lambda s: T.piecewise_constant(s, [5, 10], [1.0, 0.5, 0.1]),
        "cosine": lambda s: T.cosine_decay(0.1, s, 20, 0.1),
        "restarts": lambda s: T.cosine_decay_restarts(0.1, s, 5, 2.0, 0.9, 0.1),
        "equal restarts": lambda s: T.cosine_decay_restarts(0.1, s, 5, 1.0, 0.9, 0.1),
        "linear cosine": lambda s: T.linear_cosine_decay(0.1, s, 20),
    }
    return {name: lambda g, f=f: [f(tf.constant(step)) for step in STEPS] for name, f in rates.items()}


def initializers(tf):
    v1 = tf.compat.v1
    made = {
        "uniform": lambda: v1.random_uniform_initializer(-1, 1, seed=3),
        "normal": lambda: v1.random_normal_initializer(seed=3),
        "truncated": lambda: v1.truncated_normal_initializer(stddev=0.1, seed=3),
        "variance": lambda: v1.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=1),
        "glorot_uniform": lambda: v1.glorot_uniform_initializer(seed=1),
        "glorot_normal": lambda: v1.glorot_normal_initializer(seed=1),
        "he_normal": lambda: v1.initializers.he_normal(seed=1),
        "orthogonal": lambda: v1.orthogonal_initializer(seed=1),
        "identity": lambda: v1.initializers.identity(2.0),
        "constant": lambda: v1.constant_initializer([1, 2, 3, 4, 5, 6]),
        "unit_scaling": lambda: v1.uniform_unit_scaling_initializer(seed=1),
    }
    found = {name: lambda g, f=f: [v1.get_variable("v", [3, 2], initializer=f())] for name, f in made.items()}

    def seeded(graph):
        v1.set_random_seed(7)
        return [v1.get_variable("a", [2]), v1.get_variable("b", [2]), tf.random.uniform([2]),
                tf.random.normal([2], seed=5)]

    found["seeded graph"] = seeded
    return found


def optimizers(tf):
    T = tf.compat.v1.train
    made = {
        "GradientDescent": lambda: T.GradientDescentOptimizer(0.1),
        "Momentum": lambda: T.MomentumOptimizer(0.1, 0.9),
        "Nesterov": lambda: T.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "Adam": lambda: T.AdamOptimizer(0.1),
        "Adagrad": lambda: T.AdagradOptimizer(0.1),
        "RMSProp": lambda: T.RMSPropOptimizer(0.1, momentum=0.9),
        "centered": lambda: T.RMSPropOptimizer(0.1, centered=True),
        "Adadelta": lambda: T.AdadeltaOptimizer(0.1),
        "Ftrl": lambda: T.FtrlOptimizer(
            0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2,
            l2_shrinkage_regularization_strength=0.1, beta=0.1,
        ),
        "ProximalGradientDescent": lambda: T.ProximalGradientDescentOptimizer(0.1, 0.01, 0.1),
        "ProximalAdagrad": lambda: T.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.1),
        "AdagradDA": lambda: T.AdagradDAOptimizer(0.1, T.get_or_create_global_step(), 0.1, 0.01, 0.1),
    }  # fmt: skip
    return made


def train(tf, make, use_resource=True):
    """Three steps of an optimizer: the names it gives, and the values of a dense and a sparse variable."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        start = np.arange(6.0, dtype=np.float32).reshape(3, 2)
        v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
        rows = v1.get_variable("rows", initializer=start, use_resource=use_resource)
        loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.nn.embedding_lookup(rows, [0, 2, 0]) ** 2)
        step = v1.train.get_or_create_global_step()
        optimizer = make()
        operation = optimizer.minimize(loss, global_step=step)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for _ in range(3):
                sess.run(operation)
            return {
                "name": operation.name,
                "slots": optimizer.get_slot_names(),
                "variables": [variable.name for variable in v1.global_variables()],
                "values": rounded(sess.run([v, rows, step])),
            }


def functions(tf):
    """Functions with 1.x signatures, called eagerly."""
    v1 = tf.compat.v1
    nn = v1.nn
    square = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    parts = [tf.constant([[1.0], [3.0]]), tf.constant([[2.0], [4.0]])]
    return {
        "reduce_sum": lambda: v1.reduce_sum([[1.0, 2.0]], reduction_indices=[1], keep_dims=True),
        "reduce_max": lambda: v1.reduce_max([[1.0, 2.0]], 1, True),
        "argmax": lambda: v1.argmax([[1, 3, 2]], dimension=1),
        "arg_min": lambda: v1.arg_min([[1, 3, 2]], 1),
        "count_nonzero": lambda: v1.count_nonzero([[1, 0, 2]], axis=1),
        "norm": lambda: v1.norm([3.0, 4.0], keep_dims=True),
        "div": lambda: [v1.div(7, 2), v1.div(-7.0, 2.0), v1.floor_div(-7, 2)],
        "where": lambda: v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]),
        "where indices": lambda: v1.where([True, False, True]),
        "squeeze": lambda: v1.squeeze([[1, 2]], squeeze_dims=[0]),
        "expand_dims": lambda: v1.expand_dims([1, 2], dim=0),
        "transpose": lambda: v1.transpose([[1, 2], [3, 4]]),
        "confusion_matrix": lambda: v1.confusion_matrix([0, 1, 1], [0, 1, 0], weights=[1, 2, 3]),
        "to_int32": lambda: v1.to_int32([1.7, -1.7]),
        "batch_to_space": lambda: v1.batch_to_space(tf.reshape(tf.range(4.0), [4, 1, 1, 1]), [[0, 0], [0, 0]], 2),
        "space_to_batch": lambda: v1.space_to_batch(square, [[0, 0], [0, 0]], 2),
        "sparse_to_dense": lambda: v1.sparse_to_dense([1, 3], [5], [1, 2], default_value=9),
        "moments": lambda: list(nn.moments(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [0], keep_dims=True)),
        "softmax": lambda: nn.softmax([[1.0, 2.0]], dim=0),
        "lookup mod": lambda: nn.embedding_lookup(parts, [0, 1, 2, 3]),
        "lookup div": lambda: nn.embedding_lookup(parts, [0, 1, 2, 3], partition_strategy="div"),
        "conv2d": lambda: nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "VALID"),
        "conv1d": lambda: nn.conv1d(tf.ones([1, 3, 1]), tf.ones([2, 1, 1]), 1, "VALID"),
        "conv2d_transpose": lambda: nn.conv2d_transpose(
            square, tf.ones([2, 2, 1, 1]), [1, 3, 3, 1], [1, 1, 1, 1], "VALID"
        ),
        "max_pool": lambda: nn.max_pool(square, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
        "avg_pool": lambda: nn.avg_pool(square, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
        "fused_batch_norm": lambda: list(nn.fused_batch_norm(square, [1.0], [0.0])),
        "in_top_k": lambda: tf.cast(nn.in_top_k([[1.0, 2.0, 3.0]], [1], 2), tf.int32),
        "xw_plus_b": lambda: nn.xw_plus_b([[1.0, 2.0]], [[1.0], [2.0]], [0.5]),
        "relu_layer": lambda: nn.relu_layer([[1.0, -2.0]], [[1.0], [2.0]], [0.5]),
        "dropout": lambda: nn.dropout(tf.ones([3]), keep_prob=1.0),
        "cross entropy": lambda: nn.softmax_cross_entropy_with_logits(labels=LABELS, logits=LOGITS),
        "cross entropy v2": lambda: nn.softmax_cross_entropy_with_logits_v2(LABELS, LOGITS, dim=0),
        "boolean_mask": lambda: v1.boolean_mask([1, 2, 3], [True, False, True]),
        "gather": lambda: v1.gather([[1, 2], [3, 4]], [1], axis=1),
        "batch_gather": lambda: v1.batch_gather([[1, 2], [3, 4]], [[1], [0]]),
        "sparse_segment_sum": lambda: v1.sparse_segment_sum([[1.0, 2.0], [3.0, 4.0]], [0, 1], [0, 0]),
        "setdiff1d": lambda: list(v1.setdiff1d([1, 2, 3], [2])),
        "string_split": lambda: v1.string_split(["a b", "c"]).indices,
        "strings.split": lambda: v1.strings.split(["a b", "c"]).indices,
        "string_to_number": lambda: v1.string_to_number(["1", "2"]),
        "bincount": lambda: v1.bincount([1, 1, 2]),
        "sparse reduce": lambda: v1.sparse_reduce_sum(tf.sparse.from_dense([[1, 2], [0, 3]]), reduction_axes=1),
        "pad": lambda: v1.pad([[1]], [[0, 1], [1, 0]], "CONSTANT", None, 7),
        "reverse_sequence": lambda: v1.reverse_sequence([[1, 2, 3]], [2], seq_dim=1, batch_dim=0),
        "ctc": lambda: nn.ctc_loss(
            tf.sparse.from_dense(tf.constant([[1, 2]])), tf.reshape(tf.range(12.0), [4, 1, 3]) * 0.1, [4]
        ),
    }  # fmt: skip


BATCHES = [
    ([0, 1, 1, 0], [0.2, 0.7, 0.4, 0.6], [1.0, 2.0, 1.0, 0.5]),
    ([1, 0, 1, 1], [0.9, 0.1, 0.3, 0.8], [0.0, 1.0, 3.0, 1.0]),
]
CLASSES = [([0, 1, 2, 1], [0, 2, 2, 1], [1.0, 2.0, 1.0, 0.5]), ([2, 0, 1, 1], [1, 0, 1, 1], [0.0, 1.0, 3.0, 1.0])]


def metrics(tf):
    """Functions of labels, predictions and weights."""
    M = tf.compat.v1.metrics

    def number(x):
        return tf.cast(x, tf.float32)

    return {
        "mean": lambda l, p, w: M.mean(p, w),
        "plain mean": lambda l, p, w: M.mean(p),
        "accuracy": lambda l, p, w: M.accuracy(l, tf.cast(p > 0.5, tf.int32), w),
        "absolute": lambda l, p, w: M.mean_absolute_error(number(l), p, w),
        "squared": lambda l, p, w: M.mean_squared_error(number(l), p),
        "root": lambda l, p, w: M.root_mean_squared_error(number(l), p, w),
        "relative": lambda l, p, w: M.mean_relative_error(number(l), p, number(l)),
        "cosine": lambda l, p, w: M.mean_cosine_distance(tf.reshape(number(l), [2, 2]), tf.reshape(p, [2, 2]), 1),
        "below": lambda l, p, w: M.percentage_below(p, 0.5, w),
        "tensor": lambda l, p, w: M.mean_tensor(p, w),
        "true_positives": lambda l, p, w: M.true_positives(l, p > 0.5, w),
        "false_positives": lambda l, p, w: M.false_positives(l, p > 0.5, w),
        "true_negatives": lambda l, p, w: M.true_negatives(l, p > 0.5),
        "false_negatives": lambda l, p, w: M.false_negatives(l, p > 0.5, w),
        "precision": lambda l, p, w: M.precision(l, p > 0.5, w),
        "recall": lambda l, p, w: M.recall(l, p > 0.5),
        "true at thresholds": lambda l, p, w: M.true_positives_at_thresholds(l, p, [0.3, 0.5], w),
        "false at thresholds": lambda l, p, w: M.false_negatives_at_thresholds(l, p, [0.3, 0.5]),
        "precision at thresholds": lambda l, p, w: M.precision_at_thresholds(l, p, [0.3, 0.5], w),
        "recall at thresholds": lambda l, p, w: M.recall_at_thresholds(l, p, [0.3, 0.5]),
        "auc": lambda l, p, w: M.auc(l, p, w),
        "auc PR": lambda l, p, w: M.auc(l, p, curve="PR", num_thresholds=20),
        "auc careful": lambda l, p, w: M.auc(l, p, w, curve="PR", summation_method="careful_interpolation"),
        "auc minoring": lambda l, p, w: M.auc(l, p, summation_method="minoring"),
        "auc majoring": lambda l, p, w: M.auc(l, p, summation_method="majoring", thresholds=[0.2, 0.5, 0.7]),
        "sensitivity": lambda l, p, w: M.sensitivity_at_specificity(l, p, 0.6, w),
        "specificity": lambda l, p, w: M.specificity_at_sensitivity(l, p, 0.6, w),
        "iou": lambda l, p, w: M.mean_iou(l, p, 3, w),
        "class accuracy": lambda l, p, w: M.mean_per_class_accuracy(l, p, 3, w),
    }


def measure(tf, name):
    """The names of a metric's variables, and its value and update before and after each batch."""
    v1 = tf.compat.v1
    of_classes = name in ("iou", "class accuracy")
    with tf.Graph().as_default():
        labels, weights = v1.placeholder(tf.int32, [4]), v1.placeholder(tf.float32, [4])
        predictions = v1.placeholder(tf.int32 if of_classes else tf.float32, [4])
        value, update = metrics(tf)[name](labels, predictions, weights)
        names = sorted(variable.name for variable in v1.local_variables())
        with v1.Session() as sess:
            sess.run(v1.local_variables_initializer())
            found = [rounded(sess.run(value))]
            for batch in CLASSES if of_classes else BATCHES:
                found.append(rounded(sess.run(update, dict(zip((labels, predictions, weights), batch)))))
                found.append(rounded(sess.run(value)))
            return [names, found]


FAMILIES = {"losses": losses, "learning_rates": learning_rates, "initializers": initializers}
