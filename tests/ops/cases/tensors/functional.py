"""Rows of functions that call functions: maps, folds, vectorization, Python code, order, each eagerly and in a graph."""

from rows import integers, normal, row, uniform


def _both(code, **inputs):
    """The expression eagerly, and as what a tf.function returns."""
    given = {key: value for key, value in inputs.items() if key not in ("grad", "dtype", "ours", "tol")}
    names = ", ".join(given)
    return [
        row(code, **inputs),
        row(f"tf.function(lambda {names}: {code}, autograph=False)({names})", **inputs),
    ]


def _rows(*groups):
    return [one for group in groups for one in group]


X = dict(x=normal(3, 2))
BATCHED = "tf.nondifferentiable_batch_function(1, 10, 10)"
ROWS = _rows(
    _both("tf.map_fn(lambda e: e * e, x)", **X),
    _both("tf.map_fn(lambda e: tf.reduce_sum(e ** 3), x)", **X),
    _both("tf.map_fn(lambda e: (e + 1.0, tf.sin(e)), x, fn_output_signature=(x.dtype, x.dtype))", **X),
    _both("tf.map_fn(lambda e: e[0] * e[1], (x, y), fn_output_signature=x.dtype)", x=normal(3, 2), y=normal(3, 2)),
    _both("tf.map_fn(lambda e: {'a': e}, x, dtype={'a': x.dtype})", **X),
    _both("tf.map_fn(lambda e: tf.map_fn(lambda f: f * f * f, e), x)", **X),
    _both("tf.map_fn(tf.range, n, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))", n=integers(0, 5, 4)),
    _both("tf.map_fn(lambda e: tf.cast(e, tf.int32), x)", **X),
    _both(f"{BATCHED}(lambda a: a * 2.0)(x)", **X, grad=False),
    _both(f"{BATCHED}(lambda a, b: (a + b, {{'y': a}}))(x, y)", x=normal(3, 2), y=normal(3, 2), grad=False),
    _both(f"{BATCHED}(lambda a, b: (a, b))(x, x[1:])", **X, grad=False),
    _both(f"{BATCHED}(tf.reduce_sum)(x)", **X, grad=False),
    _both(f"{BATCHED}(tf.identity)(x[0, 0])", **X, grad=False),
    _both("tf.map_fn(lambda e: (e, e), x)", **X),
    _both("tf.map_fn(lambda e: e, x)", x=normal()),
    _both("tf.scan(lambda a, e: a * e, x)", **X),
    _both("tf.scan(lambda a, e: a * 0.5 + e, x, reverse=True)", **X),
    _both("tf.scan(lambda a, e: tf.tanh(a + e), x, initializer=y)", x=normal(3, 2), y=normal(2)),
    _both("tf.scan(lambda a, e: tf.tanh(a + e), x, initializer=y, reverse=True)", x=normal(3, 2), y=normal(2)),
    _both("tf.scan(lambda a, e: (a[0] + e, a[1] * e), x, initializer=(y, y))", x=normal(3, 2), y=normal(2)),
    _both("tf.scan(lambda a, e: a + e, x, infer_shape=False)", **X),
    _both("tf.scan(lambda a, e: (a, a), x)", **X),
    _both("tf.foldl(lambda a, e: a * 2.0 - e, x)", **X),
    _both("tf.foldr(lambda a, e: a * 2.0 - e, x)", **X),
    _both("tf.foldl(lambda a, e: a * e, x, initializer=y)", x=normal(3, 2), y=normal(2)),
    _both("tf.foldr(lambda a, e: a * e, x, initializer=y)", x=normal(3, 2), y=normal(2)),
    _both("tf.foldl(lambda a, e: (a, e), x)", **X),
    _both("tf.vectorized_map(lambda e: e * e, x)", **X),
    _both("tf.vectorized_map(lambda e: tf.tensordot(e, e, 1), x)", **X),
    _both("tf.vectorized_map(lambda e: tf.nn.softmax(e), x)", **X),
    _both("tf.vectorized_map(lambda e: tf.reduce_logsumexp(e), x)", **X),
    _both("tf.vectorized_map(lambda e: tf.matmul(e, y), x)", x=normal(3, 2, 2), y=normal(2, 2)),
    _both("tf.vectorized_map(lambda e: tf.linalg.cholesky(e @ tf.transpose(e) + 3.0 * tf.eye(2, dtype=x.dtype)), x)", x=normal(3, 2, 2)),
    _both("tf.vectorized_map(lambda e: tf.cond(e > 0.5, lambda: e * 10.0, lambda: -e), x)", x=uniform(0, 1, 6), grad=False),
    _both("tf.vectorized_map(lambda e: tf.while_loop(lambda v: v < 5.0, lambda v: (v * 1.5,), (e,))[0], x)",
          x=uniform(0.5, 2, 5), grad=False),
    _both("tf.vectorized_map(lambda e: {'s': e[0] + e[1]}, (x, y))", x=normal(3, 2), y=normal(3, 2)),
    _both("tf.vectorized_map(lambda e: tf.gather(e, [1, 0, 1]), x)", **X),
    _both("tf.vectorized_map(lambda e: tf.constant(5.0), x)", **X),
    _both("tf.py_function(lambda a: a * a, [x], x.dtype)", **X),
    _both("tf.py_function(lambda a, b: [a * b, a], [x, x], [x.dtype, x.dtype])", **X),
    _both("tf.py_function(lambda a: 1 / 0, [x], x.dtype)", **X),
    _both("tf.py_function(lambda a: int('a'), [x], x.dtype)", **X),
    _both("tf.numpy_function(lambda a: a * 2, [x], x.dtype)", **X),
    _both("tf.numpy_function(lambda a: a * 2, [x], x.dtype, stateful=False)", **X),
    _both("tf.CriticalSection().execute(lambda: x * 2.0)", **X),
    _both("tf.numpy_function(lambda a: int('a'), [x], x.dtype)", **X),
    _both("tf.tuple([x, x * 2.0])", **X),
    _both("tf.case([(x[0, 0] > 0.0, lambda: x), (x[0, 1] > 0.0, lambda: x * 2.0)], default=lambda: x * 3.0)", **X),
    _both("tf.switch_case(n, [lambda: x, lambda: x * x, lambda: x * x * x])", n=integers(0, 3), x=normal(2)),
    _both("tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.exp(x), lambda: tf.sin(x))", **X),
    _both("tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (0, x))[1]", **X),
    [
        row("v = tf.Variable(1.0)\nf = tf.function(lambda x: tf.cond(x > 0.0, lambda: v.assign_add(x), lambda: v.assign(x)), "
            "autograph=False)\nresult = [f(x), f(-x), v]", x=normal(), grad=False),
        row("v = tf.Variable(1.0)\nf = tf.function(lambda n: tf.switch_case(n, [lambda: v.assign_add(2.0), lambda: "
            "v.assign(7.0)]), autograph=False)\nresult = [f(n), f(1 - n), v]", n=integers(0, 2), grad=False),
        row("v = tf.Variable(1.0)\nf = tf.function(lambda n: tf.while_loop(lambda i: i < n, lambda i: (v.assign_add(2.0), "
            "i + 1)[1:], (0,)), autograph=False)\nresult = [f(n)[0], v]", n=integers(2, 6), grad=False),
        row("v = tf.Variable(1.0)\ng = tf.function(lambda x: v.assign_add(x), autograph=False)\nf = tf.function(lambda x: "
            "g(x) + g(x), autograph=False)\nresult = [f(x), v]", x=normal(), grad=False),
        row("with tf.control_dependencies([x]):\n    result = tf.identity(x)", **X),
        row("result = tf.group(x) is None", **X),
        row("f = tf.function(lambda x: (tf.group(x, x * 2.0), tf.identity(x))[1], autograph=False)\nresult = f(x)", **X),
        row("with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = tf.tanh(x @ w)\nresult = tape.jacobian(y, [x, w])",
            x=normal(3, 4), w=normal(4, 5), grad=False),
        row("with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = tf.tanh(x @ w)\nresult = tape.batch_jacobian(y, x)",
            x=normal(3, 4), w=normal(4, 5), grad=False),
        row("@tf.function(autograph=False)\ndef f(x):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
            "        y = tf.tanh(x) * tf.reduce_sum(x)\n    return tape.jacobian(y, x)\nresult = f(x)", x=normal(3, 4),
            grad=False),
    ],
)  # fmt: skip
