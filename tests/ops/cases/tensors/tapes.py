"""Rows of automatic differentiation: tapes, Jacobians, forward mode and custom gradients."""

from rows import normal, row, uniform, value


def _tape(body, result, options="", **inputs):
    lines = "\n    ".join(body.split("; "))
    return row(f"with tf.GradientTape({options}) as tape:\n    tape.watch(x)\n    {lines}\nresult = {result}",
               grad=False, **{"x": normal(3), **inputs})  # fmt: skip


ROWS = [
    _tape("y = x * x", "tape.gradient(y, x)"),
    _tape("y = x * x", "tape.gradient(y, [x, x])"),
    _tape("y = x * x", "tape.gradient(y, {'a': x, 'b': (x,)})"),
    _tape("y = x * x", "[tape.gradient(y, x), tape.gradient(y, x)]"),
    _tape("y = x * x; z = y * x", "[tape.gradient(z, y), tape.gradient(z, x), tape.gradient(y, x)]", "persistent=True"),
    _tape("y = [x * x, x + 1.0]", "tape.gradient(y, x)"),
    _tape("y = x * x", "tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))"),
    _tape("y = x * x", "tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0]))"),
    row("with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = [x * x, x * 3.0]\n"
        "result = tape.gradient(y, x, output_gradients=[tf.ones(3), None])", x=normal(3), grad=False,
        ours="None among output_gradients means ones, as when the argument is left out"),
    _tape("y = tf.constant(1.0)", "[tape.gradient(y, x) is None]"),
    _tape("y = tf.constant(1.0)", "tape.gradient(y, x, unconnected_gradients='zero')"),
    _tape("y = tf.constant(1.0)", "tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)"),
    _tape("y = x", "tape.gradient(y, x, unconnected_gradients='maybe')"),
    _tape("y = x", "tape.gradient(y, x)"),
    _tape("y = tf.cast(x, tf.int32)", "[tape.gradient(y, x) is None]"),
    _tape("y = tf.stop_gradient(x) * x", "tape.gradient(y, x)"),
    _tape("y = x * x", "tape.gradient(None, x)"),
    _tape("y = x * x; tape.reset(); tape.watch(x); z = x * 3.0", "[tape.gradient(z, x)]"),
    _tape("y = x * x; tape.reset()", "[tape.gradient(y, x) is None]"),
    row("with tf.GradientTape() as tape:\n    tape.watch(x)\n    with tape.stop_recording():\n        y = x * x\n"
        "    z = x * 2.0\nresult = [tape.gradient(y, x) is None]", x=normal(2), grad=False),
    row("tape = tf.GradientTape()\ntape.watch(3.0)\nresult = 0"),
    row("with tf.GradientTape() as tape:\n    with tape:\n        pass\nresult = 0"),
    row("v = tf.Variable(1.0)\nw = tf.Variable(2.0, trainable=False)\nwith tf.GradientTape() as tape:\n    y = v * w\n"
        "result = [u.name for u in tape.watched_variables()]"),
    row("v = tf.Variable(1.0)\nwith tf.GradientTape(watch_accessed_variables=False) as tape:\n    y = v * v\n"
        "result = [tape.gradient(y, v) is None]"),
    _tape("y = x * x * x", "tape.jacobian(y, x)"),
    _tape("y = x * x * x", "tape.jacobian(y, [x])"),
    _tape("y = tf.reduce_sum(x * x)", "tape.jacobian(y, x)"),
    _tape("y = tf.matmul(x, tf.ones((2, 4)))", "tape.jacobian(y, x)", x=normal(3, 2)),
    _tape("y = tf.matmul(x * x, a)", "tape.batch_jacobian(y, x)", x=normal(3, 2), a=normal(2, 4)),
    _tape("y = x[:1]", "tape.batch_jacobian(y, x)", x=normal(3, 2)),
    _tape("y = tf.ones((3, 2))", "tape.jacobian(y, x, unconnected_gradients='zero')"),
    row("with tf.GradientTape() as t3:\n    t3.watch(x)\n    with tf.GradientTape() as t2:\n        t2.watch(x)\n"
        "        with tf.GradientTape() as t1:\n            t1.watch(x)\n            y = x ** 4\n"
        "        g1 = t1.gradient(y, x)\n    g2 = t2.gradient(g1, x)\ng3 = t3.gradient(g2, x)\nresult = [g1, g2, g3]",
        x=normal(3), grad=False, rtol=1e-4),
    row("with tf.GradientTape(persistent=True) as tape:\n    tape.watch(x)\n    y = tf.sin(x)\n    g = tape.gradient(y, x)\n"
        "result = tape.gradient(g, x)", x=normal(3), grad=False),
    row("with tf.GradientTape() as outer:\n    outer.watch(x)\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
        "        y = tf.reduce_sum(tf.exp(x) * x)\n    g = tape.gradient(y, x)\nresult = outer.jacobian(g, x)", x=normal(3),
        grad=False),
    row("tf.gradients(x, x)", x=normal(2)),
    row("tf.hessians(x, x)", x=normal(2)),
    # complex numbers
    row("tf.abs(z) ** 2", z=normal(3), dtype="complex64"),
    row("tf.math.real(z * tf.math.conj(z)) + tf.math.imag(z * z)", z=normal(3), dtype="complex128"),
    row("tf.complex(a, b) * (1 + 2j)", a=normal(2), b=normal(2)),
    row("tf.math.angle(z)", z=normal(3), dtype="complex64"),
    # forward mode
    row("with tf.autodiff.ForwardAccumulator(x, t) as acc:\n    y = tf.exp(x) * x\nresult = acc.jvp(y)", x=normal(3),
        t=normal(3), grad=False),
    row("with tf.autodiff.ForwardAccumulator(x, t) as acc:\n    y = tf.matmul(x, x)\n    z = tf.reduce_sum(y, axis=0)\n"
        "result = acc.jvp([y, z])", x=normal(3, 3), t=normal(3, 3), grad=False),
    row("v = tf.Variable([2.0])\nwith tf.autodiff.ForwardAccumulator(v, tf.constant([1.0])) as acc:\n    y = v * v\n"
        "result = acc.jvp(y)"),
    row("with tf.autodiff.ForwardAccumulator(x, t) as acc:\n    y = tf.constant(1.0)\n"
        "result = [acc.jvp(y) is None, acc.jvp(y, unconnected_gradients='zero')]", x=normal(3), t=normal(3), grad=False),
    row("with tf.autodiff.ForwardAccumulator(x, t):\n    pass\nresult = 0", x=normal(3), t=normal(2), grad=False,
        ours="a tangent of another shape than its primal is refused"),
    row("with tf.autodiff.ForwardAccumulator(x, t) as acc:\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
        "        y = tf.reduce_sum(x ** 3)\n    g = tape.gradient(y, x)\nresult = acc.jvp(g)", x=uniform(0.5, 2, 3), t=normal(3),
        grad=False, rtol=1e-4),
    row("with tf.GradientTape() as tape:\n    tape.watch(x)\n    with tf.autodiff.ForwardAccumulator(x, t) as acc:\n"
        "        y = x ** 3\n    p = acc.jvp(y)\nresult = tape.gradient(p, x)", x=uniform(0.5, 2, 3), t=normal(3),
        grad=False, rtol=1e-4),
    row("with tf.autodiff.ForwardAccumulator(x, t) as outer:\n    with tf.autodiff.ForwardAccumulator(x, t) as inner:\n"
        "        y = x ** 3\n    p = inner.jvp(y)\nresult = outer.jvp(p)", x=uniform(0.5, 2, 3), t=normal(3), grad=False, rtol=1e-4),
    row("with tf.autodiff.ForwardAccumulator(x, t) as acc:\n    y = tf.gather(tf.nn.relu(x), [2, 0])\nresult = acc.jvp(y)",
        x=normal(3), t=normal(3), grad=False),
    # custom gradients
    row("@tf.custom_gradient\ndef f(x):\n    e = tf.exp(x)\n    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))\n"
        "result = f(x)", x=normal(3)),
    row("@tf.custom_gradient\ndef f(x, y):\n    def grad(da, db):\n        return da * 2 + db, db * 3\n"
        "    return (x + y, x * y), grad\nresult = f(x, y)", x=normal(3), y=normal(3), fd=False),
    row("v = tf.Variable(2.0)\n@tf.custom_gradient\ndef f(x):\n    def grad(dy, variables=None):\n"
        "        return dy * 3.0, [tf.constant(7.0)]\n    return x * v, grad\n"
        "with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = f(x)\nresult = tape.gradient(y, [x, v])", x=normal(),
        grad=False),
    row("v = tf.Variable(2.0)\n@tf.custom_gradient\ndef f(x):\n    return x * v, lambda dy: dy\nresult = f(x)", x=normal(),
        grad=False),
    row("@tf.custom_gradient\ndef f(x):\n    return x * x, lambda dy: (dy, dy)\nresult = f(x)", x=normal(2)),
    row("result = tf.recompute_grad(lambda x: tf.sin(x) * x)(x)", x=normal(3)),
    row("v = tf.Variable(2.0)\nf = tf.recompute_grad(lambda x: x * v)\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n"
        "    y = f(x)\nresult = tape.gradient(y, [x, v])", x=normal(), grad=False),
    row("result = tf.grad_pass_through(tf.round)(x)", x=normal(3), fd=False),
    # a name can be registered once, and a row may run several times in one process
    row("@tf.RegisterGradient(f'Own{np.random.random()}')\ndef g(op, dy):\n    return dy\nresult = 0"),
    row("tf.RegisterGradient(3)"),
    row("tf.no_gradient(f'Nothing{np.random.random()}'); result = 0"),
    row("tf.RegisterGradient('Mul')(lambda op, dy: dy)"),
    row("tf.no_gradient('Tanh')"),
    row("[tf.AggregationMethod.ADD_N, tf.AggregationMethod.DEFAULT, tf.AggregationMethod.EXPERIMENTAL_TREE]"),
    # sparse gradients
    row("with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = tf.gather(x, [0, 2, 2])\ng = tape.gradient(y, x)\n"
        "result = [type(g).__name__, tf.convert_to_tensor(g)]", x=normal(4, 2), grad=False),
    row("s = tf.IndexedSlices(x, tf.constant([0, 2]), tf.constant([4, 2]))\nresult = [s.values, s.indices, s.dense_shape, tf.convert_to_tensor(s), "
        "s.dtype.name, str(s.shape)]", x=normal(2, 2), grad=False),
    row("tf.convert_to_tensor(tf.IndexedSlices(x, [0, 2]))", x=normal(2, 2), grad=False),
    row("tf.convert_to_tensor(tf.IndexedSlices(x, [0, 2], [4, 2]), tf.int32)", x=normal(2, 2), grad=False),
    row("result = repr(tf.IndexedSlicesSpec([4, 2], tf.float32))"),
    row("tf.clip_by_global_norm([x, tf.IndexedSlices(x, [0, 2], [4, 2])], 1.0)[1]", x=normal(2, 2), grad=False),
    row("tf.stop_gradient(x) + x", x=normal(2), fd=False),
    row("tf.identity_n([x, x * 2])", x=normal(2)),
    row("x[0] * x[1] + tf.reduce_sum(tf.stack([x, x])[1])", x=value([1.5, 2.5])),
    row("sum(y * i for i, y in enumerate(x))", x=normal(3)),
]
