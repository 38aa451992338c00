"""1.x graphs that are trained, saved by one framework and taken over by the other.

    python tests/compat/v1_exchange.py save MODULE FOLDER [NAME ...]
    python tests/compat/v1_exchange.py load MODULE FOLDER [NAME ...]

`save` trains each program for a few steps, writes a checkpoint with its meta graph and a SavedModel, trains on, and
notes what it computed. `load` does the same from the files, and says what differs. MODULE is tensorflow or headrace.
"""

import importlib
import json
import pathlib
import shutil
import sys

import numpy as np

STEPS = 3
X = np.linspace(-1.0, 1.0, 24).reshape(6, 4).astype(np.float32)
Y = np.sin(X.sum(axis=1, keepdims=True)).astype(np.float32)
IMAGES = np.linspace(0.0, 1.0, 2 * 6 * 6 * 2).reshape(2, 6, 6, 2).astype(np.float32)


def weights(*shape):
    """The same numbers in each framework."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count)) / 2.0).reshape(shape).astype(np.float32)


def dense(tf, x, use_resource=True):
    v1 = tf.compat.v1
    with v1.variable_scope("dense", use_resource=use_resource):
        w = v1.get_variable("w", initializer=weights(4, 3))
        b = v1.get_variable("b", initializer=np.zeros(3, np.float32))
        u = v1.get_variable("u", initializer=weights(3, 1))
    return tf.matmul(tf.tanh(tf.matmul(x, w) + b), u, name="prediction")


def trained(tf, prediction, y, optimizer, step=None):
    loss = tf.reduce_mean(tf.square(prediction - y), name="loss")
    tf.group(optimizer.minimize(loss, global_step=step), name="train")


def inputs(tf, x=X, y=Y):
    v1 = tf.compat.v1
    dtype = tf.string if x.dtype == object else None
    return (
        v1.placeholder(dtype or x.dtype, [None, *x.shape[1:]], name="x"),
        v1.placeholder(y.dtype, [None, *y.shape[1:]], name="y"),
    )


OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(0.1),
    "momentum": lambda t: t.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda t: t.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda t: t.AdamOptimizer(0.05),
    "adagrad": lambda t: t.AdagradOptimizer(0.1),
    "rmsprop": lambda t: t.RMSPropOptimizer(0.05),
    "centered": lambda t: t.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
    "adadelta": lambda t: t.AdadeltaOptimizer(1.0),
    "ftrl": lambda t: t.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "proximal_sgd": lambda t: t.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.01),
    "proximal_adagrad": lambda t: t.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.01),
}


def with_optimizer(name, use_resource):
    def build(tf):
        x, y = inputs(tf)
        trained(tf, dense(tf, x, use_resource), y, OPTIMIZERS[name](tf.compat.v1.train))

    return build


def embedded(name, use_resource):
    """Rows of a table, some of them twice: gradients are sparse."""

    def build(tf):
        v1 = tf.compat.v1
        x, y = inputs(tf, WORDS)
        table = v1.get_variable("table", initializer=weights(5, 2), use_resource=use_resource)
        prediction = tf.reduce_sum(tf.nn.embedding_lookup(table, x), axis=[1, 2], keepdims=False, name="summed")
        trained(tf, tf.expand_dims(prediction, 1, name="prediction"), y, OPTIMIZERS[name](v1.train))

    return build


WORDS = np.array([[0, 1], [2, 2], [3, 0], [1, 1], [0, 4], [2, 1]], np.int32)


def convolutional(tf):
    v1 = tf.compat.v1
    x, y = inputs(tf, IMAGES, Y[:2])
    kernel = v1.get_variable("kernel", initializer=weights(3, 3, 2, 4))
    h = tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), v1.get_variable("b", initializer=np.zeros(4, np.float32)))
    scale = v1.get_variable("scale", initializer=np.ones(4, np.float32))
    offset = v1.get_variable("offset", initializer=np.zeros(4, np.float32))
    h, mean, _ = v1.nn.fused_batch_norm(h, scale, offset, is_training=True)
    average = v1.train.ExponentialMovingAverage(0.9)
    moving = v1.get_variable("mean", initializer=np.zeros(4, np.float32), trainable=False)
    update = v1.assign(moving, 0.9 * moving + 0.1 * mean)
    h = tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "VALID")
    h = tf.reshape(h, [-1, 36])
    out = v1.get_variable("out", initializer=weights(36, 1))
    with tf.control_dependencies([average.apply([out])]):
        prediction = tf.matmul(h, out, name="prediction")
    with tf.control_dependencies([update]):
        trained(tf, prediction, y, v1.train.GradientDescentOptimizer(0.01))


def counted(tf):
    """A learning rate that depends on the step, clipped gradients, and a regularizer."""
    v1 = tf.compat.v1
    x, y = inputs(tf)
    step = v1.train.create_global_step()
    rate = v1.train.exponential_decay(0.2, step, 2, 0.5, staircase=True)
    prediction = dense(tf, x)
    loss = tf.reduce_mean(tf.square(prediction - y)) + 0.01 * tf.add_n(
        [tf.nn.l2_loss(v) for v in v1.trainable_variables()]
    )
    optimizer = v1.train.AdamOptimizer(rate)
    pairs = optimizer.compute_gradients(loss)
    clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 0.5)
    tf.group(optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]), global_step=step), name="train")


def looping(tf):
    """A branch and a loop, with gradients through both."""
    v1 = tf.compat.v1
    x, y = inputs(tf)
    w = v1.get_variable("w", initializer=weights(4, 4))

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w))

    _, h = tf.while_loop(lambda i, h: i < 3, body, (tf.constant(0), x))
    h = tf.cond(tf.reduce_max(x) > 0.5, lambda: h, lambda: h * 2.0)
    prediction = tf.reduce_sum(h, axis=1, keepdims=True, name="prediction")
    trained(tf, prediction, y, v1.train.GradientDescentOptimizer(0.1))


def scanned(tf):
    v1 = tf.compat.v1
    x, y = inputs(tf)
    w = v1.get_variable("w", initializer=weights(4, 4))
    states = tf.scan(lambda state, row: tf.tanh(tf.linalg.matvec(w, state) + row), x, tf.zeros([4]))
    prediction = tf.reduce_sum(states, axis=1, keepdims=True, name="prediction")
    trained(tf, prediction, y, v1.train.MomentumOptimizer(0.1, 0.5))


def as_dataflow(build):
    """With control flow of 1.x, where the framework still has it: Switch, Merge, Enter and so on."""

    def built(tf):
        tf.compat.v1.disable_control_flow_v2()
        build(tf)
        tf.compat.v1.enable_control_flow_v2()

    return built


def looked_up(tf):
    """A table of strings, which is filled when the model is loaded."""
    v1 = tf.compat.v1
    x, y = inputs(tf, STRINGS)
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], [0, 1, 2])
    table = tf.lookup.StaticHashTable(initializer, 3)
    rows = v1.get_variable("rows", initializer=weights(4, 1))
    trained(tf, tf.gather(rows, table.lookup(x), name="prediction"), y, v1.train.GradientDescentOptimizer(0.5))


STRINGS = np.array(["a", "b", "z", "c", "a", "b"], object)


def measured(tf):
    """Summaries, a metric with local variables, and numbers of other dtypes."""
    v1 = tf.compat.v1
    x, y = inputs(tf)
    prediction = dense(tf, x)
    v1.summary.scalar("mean", tf.reduce_mean(prediction))
    v1.summary.histogram("weights", v1.trainable_variables()[0])
    v1.add_to_collection("merged", v1.summary.merge_all())
    count = v1.get_variable("count", initializer=np.int64(0), trainable=False)
    half = v1.get_variable("half", initializer=np.float16(1.5), trainable=False)
    _, update = v1.metrics.mean(prediction, name="average")
    with tf.control_dependencies([v1.assign_add(count, 1), v1.assign(half, half * 2), update]):
        trained(tf, prediction, y, v1.train.GradientDescentOptimizer(0.1))


def scattered(use_resource):
    """Updates of rows, slices and counters."""

    def build(tf):
        v1 = tf.compat.v1
        x, y = inputs(tf)
        w = v1.get_variable("w", initializer=weights(4, 3), use_resource=use_resource)
        counter = v1.get_variable("counter", initializer=np.int32(0), trainable=False, use_resource=use_resource)
        tf.reduce_sum(tf.matmul(x, w), axis=1, keepdims=True, name="prediction")
        half = np.full([1, 3], 0.5, np.float32)
        updates = [
            lambda: v1.scatter_add(w, [0, 2, 0], weights(3, 3)),
            lambda: v1.scatter_update(w, [1], weights(1, 3)),
            lambda: v1.scatter_nd_update(w, [[3, 1]], tf.reduce_mean(y, axis=0)),
            lambda: v1.scatter_mul(w, [2], half),
            lambda: v1.assign_sub(w, 0.01 * w),
            lambda: v1.count_up_to(counter, 100),
        ]
        done = []
        for update in updates:  # one after the other
            with tf.control_dependencies(done):
                done = [update()]
        tf.group(done, name="train")

    return build


FEEDS = {"convolutional": IMAGES, "looked_up": STRINGS}
PROGRAMS = {
    **{name: with_optimizer(name, True) for name in OPTIMIZERS},
    **{f"{name}_references": with_optimizer(name, False) for name in OPTIMIZERS},
    **{f"embedded_{name}": embedded(name, True) for name in ("sgd", "adam", "adagrad", "momentum", "ftrl", "rmsprop")},
    **{f"embedded_{name}_references": embedded(name, False) for name in ("sgd", "adam", "adagrad", "momentum", "ftrl")},
    "convolutional": convolutional,
    "counted": counted,
    "looping": looping,
    "scanned": scanned,
    "looping_as_dataflow": as_dataflow(looping),
    "scanned_as_dataflow": as_dataflow(scanned),
    "looked_up": looked_up,
    "measured": measured,
    "scattered": scattered(True),
    "scattered_references": scattered(False),
}

# Those of which TensorFlow's files are kept in tests/golden/v1_exchange.
RECORDED = [
    "adam", "adam_references", "momentum_references", "ftrl_references", "centered", "embedded_adagrad",
    "embedded_momentum_references", "convolutional", "counted", "looping", "scanned", "looping_as_dataflow",
    "scanned_as_dataflow", "looked_up", "measured", "scattered_references",
]  # fmt: skip


def feeds_of(name):
    x = FEEDS.get(name, WORDS if name.startswith("embedded") else X)
    return {"x:0": x, "y:0": Y[: len(x)]}


def go_on(tf, sess, feeds):
    """What is predicted, a few steps, and what is predicted then; values of all variables."""
    v1 = tf.compat.v1
    found = {"before": sess.run("prediction:0", feeds)}
    for step in range(STEPS):
        sess.run("train", feeds)
        found[f"step{step}"] = sess.run("prediction:0", feeds)
    for variable in v1.global_variables() + v1.local_variables():
        found[f"value/{variable.op.name}"] = sess.run(variable)
    merged = v1.get_collection("merged")
    if merged:
        summary = v1.Summary.FromString(sess.run(merged[0], feeds))
        found["summary"] = np.array([value.tag for value in summary.value])
    return found


def save(tf, name, folder):
    """Train and save; the results go into `results.npz`."""
    v1 = tf.compat.v1
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    feeds = feeds_of(name)
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        PROGRAMS[name](tf)
        saver = v1.train.Saver(v1.global_variables() + v1.local_variables())
        init = tf.group(v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer())
        sess.run(init)
        for _ in range(STEPS):
            sess.run("train", feeds)
        saver.save(sess, str(folder / "ck"))
        x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("prediction:0")
        v1.saved_model.simple_save(sess, str(folder / "model"), {"x": x}, {"y": y}, v1.tables_initializer())
        np.savez(folder / "results.npz", **go_on(tf, sess, feeds))


def load(tf, name, folder):
    """What differs from `results.npz`: nothing, or lines of text."""
    v1 = tf.compat.v1
    expected = dict(np.load(folder / "results.npz"))
    feeds, lines = feeds_of(name), []
    with tf.Graph().as_default(), v1.Session() as sess:
        saver = v1.train.import_meta_graph(str(folder / "ck.meta"))
        sess.run(v1.tables_initializer())
        saver.restore(sess, str(folder / "ck"))
        lines += differences(name, "meta graph", expected, go_on(tf, sess, feeds))
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.saved_model.load(sess, ["serve"], str(folder / "model"))
        found = {"before": sess.run("prediction:0", feeds)}
        lines += differences(name, "model in a session", {"before": expected["before"]}, found)
    model = tf.saved_model.load(str(folder / "model"))
    found = {"before": model.signatures["serving_default"](x=tf.constant(feeds["x:0"]))["y"].numpy()}
    return lines + differences(name, "model", {"before": expected["before"]}, found)


def differences(name, form, expected, found):
    lines = [f"{name}, {form}: {key} is there only once" for key in expected.keys() ^ found.keys()]
    for key in expected.keys() & found.keys():
        a, b = np.asarray(expected[key]), np.asarray(found[key])
        if a.dtype.kind in "fc" and a.shape == b.shape and a.dtype == b.dtype:
            if not np.allclose(a, b, rtol=1e-5, atol=1e-6):
                lines.append(f"{name}, {form}: {key} differs by {np.abs(a - b).max()}")
        elif a.shape != b.shape or a.dtype != b.dtype or not (a == b).all():
            lines.append(f"{name}, {form}: {key} is {b!r}, expected {a!r}")
    return lines


def main(what, module, folder, *names):
    tf = importlib.import_module(module)
    failures = {}
    for name in names or PROGRAMS:
        place = pathlib.Path(folder, name)
        try:
            lines = (save if what == "save" else load)(tf, name, place) or []
        except Exception as error:
            lines = [f"{name}: {what} with {module}: {type(error).__name__}: {str(error)[:600]}"]
        if lines:
            failures[name] = lines
    print(json.dumps(failures))


if __name__ == "__main__":
    main(*sys.argv[1:])
