"""Layers and recurrent networks of 1.x as small programs; the argument is the module `tensorflow` or `headrace`.

    TF_USE_LEGACY_KERAS=1 python tests/compat/record_v1_layers.py    # with TensorFlow and tf_keras
"""

import numpy as np

NAMED_OTHERWISE = ("cond", "rnn", "cell", "while", "TensorList")  # what TensorFlow makes of several operations


def numbers(*shape, seed=0):
    """The same numbers in both."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def set_variables(v1, sess):
    """Set every variable to numbers that depend on its name only; what is near zero or one by default stays near."""
    for variable in v1.global_variables():
        seed = sum(ord(c) * (i + 1) for i, c in enumerate(variable.name))
        value = numbers(*variable.shape.as_list(), seed=seed) * 0.5
        if "variance" in variable.name:
            value = np.abs(value) + 0.5
        variable.load(value, sess)


def outcome(tf, build):
    """What a program gives: names of outputs, variables and losses, values before and after two updates."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        built = build(tf)
        fetches, feeds = built if isinstance(built, tuple) and isinstance(built[-1], dict) else (built, {})
        flat = [x for x in tf.nest.flatten(fetches) if x is not None]
        losses = v1.losses.get_regularization_losses()
        trained = v1.trainable_variables()
        loss = tf.add_n([tf.reduce_sum(x * x) for x in flat if x.dtype == tf.float32])
        gradients = [g for g in tf.gradients(loss, trained) if g is not None]
        gradients = [tf.reduce_sum(tf.abs(tf.convert_to_tensor(g))) for g in gradients]
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        sess.run(v1.global_variables_initializer())
        set_variables(v1, sess)
        got = {
            "variables": [[v.name, v.shape.as_list()] for v in v1.global_variables()],
            "trained": [v.name for v in trained],
            "losses": [loss.name for loss in losses],
            "shapes": [x.shape.as_list() if x.shape.rank is not None else None for x in flat],
            "names": [x.name for x in flat if not any(part in x.name for part in NAMED_OTHERWISE)],
            "values": _plain(sess.run(flat, feeds)),
            "gradients": _plain(sess.run(gradients, feeds)),
            "loss_values": _plain(sess.run(losses, feeds)),
        }
        if updates:
            sess.run(updates, feeds)
            sess.run(updates, feeds)
            moving = [v for v in v1.global_variables() if "moving" in v.name]
            got["moving"] = _plain(sess.run(moving))
        assert graph is not None
        return got


def _plain(values):
    return [np.round(np.asarray(value, np.float64), 5).tolist() for value in values]


def _layers(tf):
    v1 = tf.compat.v1
    L = v1.layers
    reg = lambda w: tf.reduce_sum(w * w)
    x = lambda *shape: tf.constant(numbers(*shape))

    def unknown(*shape):
        placeholder = v1.placeholder(tf.float32, [None, *shape[1:]])
        return placeholder, {placeholder: numbers(*shape)}

    def fed(function, *shape):
        def build(tf):
            placeholder, feeds = unknown(*shape)
            return function(placeholder), feeds

        return build

    def shared(tf):
        a = L.dense(x(2, 3), 4, name="a")
        return [a, L.dense(x(2, 3), 4, name="a", reuse=True)]

    def scopes(tf):
        outputs = []
        for _ in range(2):
            with v1.variable_scope("s", reuse=v1.AUTO_REUSE, regularizer=reg):
                outputs.append(L.dense(x(2, 3), 4))
        return outputs

    def own(tf):
        class Scaled(L.Layer):
            def build(self, shape):
                self.k = self.add_variable("k", [int(shape[-1])])
                super().build(shape)

            def call(self, inputs):
                return inputs * self.k

        layer = Scaled()
        return [layer(x(2, 3)), layer(x(2, 3)), Scaled(name="other")(x(2, 3))]

    def training(rate):
        def build(tf):
            flag = v1.placeholder(tf.bool, [])
            return L.batch_normalization(x(6, 5, 5, 3), training=flag), {flag: rate}

        return build

    def renormalized(rate):
        def build(tf):
            flag = v1.placeholder(tf.bool, [])
            clipping = {"rmin": 0.5, "rmax": 1.5, "dmax": 0.2}
            y = L.batch_normalization(x(6, 4, 3), axis=1, training=flag, scale=False, renorm=True, renorm_momentum=0.7,
                                      renorm_clipping=clipping, moving_variance_initializer=v1.ones_initializer())
            return y, {flag: rate}

        return build

    def dense_training(tf):
        flag = v1.placeholder(tf.bool, [])
        return L.batch_normalization(x(6, 3), training=flag), {flag: True}

    return {
        "dense": lambda tf: L.dense(
            L.dense(x(2, 3), 4, tf.nn.relu, kernel_regularizer=reg, activity_regularizer=reg), 2
        ),
        "dense of rank 3": fed(lambda p: L.dense(p, 4), 2, 5, 3),
        "dense without bias": lambda tf: L.dense(x(2, 3), 4, use_bias=False, trainable=False),
        "dense shared": shared,
        "dense in scopes": scopes,
        "own layer": own,
        "conv1d": lambda tf: L.conv1d(x(2, 8, 3), 4, 3, strides=2),
        "conv1d causal": lambda tf: L.Conv1D(4, 3, padding="causal", dilation_rate=2)(x(2, 8, 3)),
        "conv2d": lambda tf: L.conv2d(x(2, 8, 8, 3), 4, 3, 2, "same", activation=tf.nn.relu, bias_regularizer=reg),
        "conv2d dilated": lambda tf: L.conv2d(x(2, 8, 8, 3), 4, [3, 2], dilation_rate=2),
        "conv3d": lambda tf: L.conv3d(x(1, 4, 5, 6, 2), 3, 2, padding="same"),
        "conv2d_transpose": fed(lambda p: L.conv2d_transpose(p, 4, 3, strides=2), 2, 4, 5, 3),
        "conv2d_transpose same": lambda tf: L.conv2d_transpose(x(2, 4, 5, 3), 4, 3, strides=2, padding="same"),
        "conv3d_transpose": lambda tf: L.conv3d_transpose(x(1, 3, 4, 3, 2), 3, 2, strides=2),
        "separable_conv2d": lambda tf: L.separable_conv2d(x(2, 7, 7, 3), 4, 3, depth_multiplier=2),
        "separable_conv1d": lambda tf: L.separable_conv1d(x(2, 7, 3), 4, 3, activation=tf.nn.tanh),
        "pools": lambda tf: [
            L.max_pooling1d(x(2, 8, 3), 2, 2), L.max_pooling2d(x(2, 8, 8, 3), 3, 2, "same"),
            L.max_pooling3d(x(1, 4, 4, 4, 2), 2, 2), L.average_pooling1d(x(2, 8, 3), 2, 2),
            L.average_pooling2d(x(2, 8, 8, 3), [2, 3], [1, 2]), L.average_pooling3d(x(1, 4, 4, 4, 2), 2, 2),
        ],
        "flatten": fed(lambda p: L.flatten(p), 2, 3, 4),
        "flatten channels first": lambda tf: L.flatten(x(2, 3, 4, 5), data_format="channels_first"),
        "dropout not in training": lambda tf: L.dropout(x(2, 3), 0.4),
        "batch_normalization": lambda tf: L.batch_normalization(x(6, 5, 5, 3), training=True, momentum=0.9),
        "batch_normalization not in training": lambda tf: L.batch_normalization(x(6, 5, 5, 3)),
        "batch_normalization told by a tensor": training(True),
        "batch_normalization told not to by a tensor": training(False),
        "batch_normalization of vectors": lambda tf: L.batch_normalization(x(6, 3), training=True, scale=False),
        "batch_normalization of vectors told by a tensor": dense_training,
        "batch_normalization by axis": lambda tf: L.batch_normalization(x(6, 3, 4), axis=1, training=True),
        "batch_renormalization": lambda tf: L.batch_normalization(x(6, 5, 5, 3), training=True, renorm=True),
        "batch_renormalization told by a tensor": renormalized(True),
        "batch_renormalization told not to by a tensor": renormalized(False),
        "batch_normalization not fused": lambda tf: L.batch_normalization(x(4, 3, 3, 2), fused=False, training=True,
                                                                          gamma_regularizer=reg),
    }


def _recurrent(tf):
    v1 = tf.compat.v1
    C, nn = v1.nn.rnn_cell, v1.nn
    x = lambda *shape: tf.constant(numbers(*shape))
    lengths = [2, 4, 0]

    def dynamic(cell, **keywords):
        return lambda tf: nn.dynamic_rnn(cell(), x(3, 5, 2), dtype=tf.float32, **keywords)

    def with_state(tf):
        cell = C.BasicLSTMCell(4)
        state = cell.zero_state(3, tf.float32)
        first = nn.dynamic_rnn(cell, x(3, 5, 2), initial_state=state)
        return [first, nn.dynamic_rnn(cell, x(3, 5, 2), initial_state=first[1])]

    def unknown(tf):
        inputs = v1.placeholder(tf.float32, [None, None, 2])
        sizes = v1.placeholder(tf.int32, [None])
        outputs = nn.dynamic_rnn(C.GRUCell(4), inputs, sizes, dtype=tf.float32)
        return outputs, {inputs: numbers(3, 5, 2), sizes: lengths}

    def own_cell(tf):
        class Own(C.RNNCell):
            state_size = output_size = 4

            def call(self, inputs, state):
                w = v1.get_variable("w", [2, 4])
                new = tf.tanh(tf.matmul(inputs, w) + state)
                return new * 2.0, new

        return nn.dynamic_rnn(Own(), x(3, 5, 2), lengths, dtype=tf.float32)

    def raw(tf):
        cell = C.BasicLSTMCell(4)
        inputs = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x(3, 5, 2), [1, 0, 2]))

        def loop_fn(time, output, state, loop_state):
            new = cell.zero_state(3, tf.float32) if output is None else state
            finished = time >= tf.constant([3, 5, 4])
            following = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([3, 2]), lambda: inputs.read(time))
            following.set_shape([3, 2])
            return finished, following, new, output, None

        array, state, _ = nn.raw_rnn(cell, loop_fn)
        return [array.stack(), state]

    multi = lambda: C.MultiRNNCell([C.BasicLSTMCell(4), C.GRUCell(3)])
    steps = lambda: tf.unstack(x(3, 5, 2), axis=1)
    return {
        "basic": dynamic(lambda: C.BasicRNNCell(4)),
        "gru": dynamic(lambda: C.GRUCell(4, activation=tf.nn.relu), sequence_length=lengths),
        "basic lstm": dynamic(lambda: C.BasicLSTMCell(4, forget_bias=0.5), sequence_length=lengths),
        "lstm": dynamic(lambda: C.LSTMCell(4, True, 0.3, num_proj=3, proj_clip=0.2)),
        "lstm in one tensor": dynamic(lambda: C.LSTMCell(4, num_proj=3, state_is_tuple=False)),
        "several": dynamic(multi, sequence_length=lengths),
        "scope": dynamic(lambda: C.GRUCell(4, name="mine"), scope="outer"),
        "residual": dynamic(lambda: C.ResidualWrapper(C.GRUCell(2))),
        "dropout that keeps": dynamic(lambda: C.DropoutWrapper(C.GRUCell(2), 1.0, 1.0)),
        "time first": lambda tf: nn.dynamic_rnn(C.GRUCell(4), x(5, 3, 2), lengths, dtype=tf.float32, time_major=True),
        "state of another": with_state,
        "unknown sizes": unknown,
        "own cell": own_cell,
        "raw": raw,
        "both ways": lambda tf: nn.bidirectional_dynamic_rnn(C.GRUCell(4), C.BasicLSTMCell(3), x(3, 5, 2), lengths,
                                                             dtype=tf.float32),
        "both ways, all steps": lambda tf: nn.bidirectional_dynamic_rnn(C.GRUCell(4), C.GRUCell(4), x(3, 5, 2),
                                                                        dtype=tf.float32),
        "static": lambda tf: nn.static_rnn(C.BasicLSTMCell(4), steps(), dtype=tf.float32),
        "static with lengths": lambda tf: nn.static_rnn(C.GRUCell(4), steps(), dtype=tf.float32,
                                                        sequence_length=lengths),
        "static own cell": lambda tf: nn.static_rnn(multi(), steps(), dtype=tf.float32),
        "static both ways": lambda tf: nn.static_bidirectional_rnn(C.GRUCell(4), C.GRUCell(4), steps(),
                                                                   dtype=tf.float32, sequence_length=lengths),
        "one step": lambda tf: C.BasicLSTMCell(4)(x(3, 2), (x(3, 4), x(3, 4))),
    }


FAMILIES = {"layers": _layers, "recurrent": _recurrent}
