"""Rows of variables and modules: what assignments and scatters leave behind, and what they refuse."""

from rows import FLOATS, each, integers, normal, row, value

_V = "v = tf.Variable(a)\n"


def _after(change, **inputs):
    """The value of a variable after a change."""
    inputs.setdefault("a", normal(3, 2))
    return row(f"{_V}{change}\nresult = v.numpy()", grad=False, **inputs)


def _gradient(code, **inputs):
    """A gradient with respect to a variable, as a value."""
    inputs.setdefault("a", normal(3, 2))
    return row(
        f"{_V}with tf.GradientTape() as tape:\n    y = {code}\nresult = tf.convert_to_tensor(tape.gradient(y, v))",
        grad=False, **inputs,
    )


ROWS = [
    _after("v.assign(a * 2)"),
    _after("v.assign(np.ones((3, 2)))"),
    _after("v.assign([[1, 2], [3, 4], [5, 6]])"),
    _after("v.assign([1.0])"),
    _after("v.assign(tf.constant([[1, 2], [3, 4], [5, 6]]))"),
    _after("v.assign('x')"),
    _after("v.assign_add(a)"),
    _after("v.assign_add(a); v.assign_add(a)"),
    _after("v.assign_sub(a)"),
    _after("v.assign_add([1.0])"),
    _after("v.assign_add(tf.ones((3, 2), tf.float64))"),
    _after("w = v.assign(a * 3); w.assign_add(a)"),
    _after("x = v.read_value(); v.assign_add(a); v.assign(x)"),
    _after("x = v + 0.0; v.assign_add(a); v.assign_sub(x)"),
    _after("v.load(a * 2)"),
    _after("v[0].assign([7.0, 8.0])"),
    _after("v[0, 1].assign(7.0)"),
    _after("v[:, 0].assign([1.0, 2.0, 3.0])"),
    _after("v[1:].assign(tf.zeros((2, 2)))"),
    _after("v[::2, ::-1].assign(tf.reshape(tf.range(4.0), (2, 2)))"),
    _after("v[..., tf.newaxis, 0].assign([[1.0], [2.0], [3.0]])"),
    _after("v[tf.constant(1)].assign([1.0, 2.0])"),
    _after("v[5].assign([1.0, 2.0])"),
    _after("v[0].assign([1.0, 2.0, 3.0])"),
    _after("v[0].assign([1, 2])"),
    *[
        _after(f"v.scatter_{name}(tf.IndexedSlices([[1.5, 2.5], [3.0, -4.0]], [2, 0]))")
        for name in ("update", "add", "sub", "mul", "div", "min", "max")
    ],
    _after("v.scatter_add(tf.IndexedSlices([[1.5, 2.5], [3.0, -4.0]], [1, 1]))"),
    _after("v.scatter_add(tf.IndexedSlices([[1.5, 2.5]], [3]))"),
    _after("v.scatter_update(tf.IndexedSlices([[1.5, 2.5]], [-1]))"),
    row(f"{_V}v.scatter_update(tf.IndexedSlices([[1.5]], [0]))\nresult = v.numpy()", a=normal(3, 2), grad=False,
        ours="TensorFlow accepts updates of the wrong row length and reads beyond them"),
    _after("v.scatter_add([1.0])"),
    *[
        _after(f"v.scatter_nd_{name}([[0, 1], [2, 0]], [5.0, -6.0])")
        for name in ("update", "add", "sub", "min", "max")
    ],
    _after("v.scatter_nd_update([[1]], [[5.0, 6.0]])"),
    _after("v.scatter_nd_add([[0, 1], [0, 1]], [5.0, 6.0])"),
    _after("v.scatter_nd_update([[3]], [[5.0, 6.0]])"),
    _after("v.scatter_nd_update([[0, 1, 2]], [5.0])"),
    _after("v.scatter_nd_update([[0]], [5.0])"),
    _after("v.batch_scatter_update(tf.IndexedSlices([[2.0], [3.0], [4.0]], [[0], [1], [0]]))"),
    row("v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))\nv.assign([[1.0]])\nresult = v.value()", grad=False),
    row("v = tf.Variable([1.0, 2.0], shape=[None])\nv.assign([1.0, 2.0, 3.0])\nresult = v.value()", grad=False),
    row("v = tf.Variable([1.0, 2.0], shape=[None])\nv.assign([[1.0]])\nresult = v.value()", grad=False),
    row("tf.Variable([1.0, 2.0], shape=[3])"),
    row("tf.Variable(None)"),
    row("tf.Variable(lambda: tf.ones(2)).value()"),
    row("tf.Variable([1, 2], dtype=tf.float32).value()"),
    row("tf.Variable('abc').value()"),
    row("tf.Variable([1.0], constraint=3)"),
    row("v = tf.Variable(3, dtype=tf.int64)\nresult = [v.count_up_to(5), v.count_up_to(5), v.value()]"),
    row("v = tf.Variable(5)\nresult = v.count_up_to(5)"),
    row("v = tf.Variable([5.0])\nresult = v.count_up_to(5)"),
    row("v = tf.Variable([1, 2])\nresult = v.count_up_to(5)"),
    *each(FLOATS, "v = tf.Variable(a)\nresult = v * v + 2 - v / 3", a=normal(3), grad=False),
    row("v = tf.Variable(a)\nresult = [1 - v, 2 * v, 1 / v, v @ tf.transpose(v), -v, abs(v), v ** 2, v < 0, v[1:, 0]]",
        a=normal(2, 2), grad=False),
    row("v = tf.Variable([1, 2])\nresult = [v // 2, v % 2, v & 1, v | 1, v ^ 1, ~v, v == 1, v != 1, v >= 2]"),
    row("v = tf.Variable(3.0)\nresult = [float(v), int(v), bool(v)]"),
    row("v = tf.Variable([1.0, 2.0])\nresult = list(v)"),
    row("hash(tf.Variable(1.0))"),
    row("len(tf.Variable([1.0]))"),
    row("repr(tf.Variable([1.0, 2.0], name='w'))"),
    row("str(tf.Variable(3))"),
    row("repr(tf.Variable([[1.0, 2.0], [3.0, 4.0]]))"),
    row("repr(tf.Variable([1.0], shape=tf.TensorShape(None)))"),
    row("repr(tf.Variable('a'))"),
    row("tf.Variable([1.0, 2.0]).sparse_read([1, 0, 1])"),
    row("tf.Variable([1.0, 2.0]).sparse_read([2])"),
    row("tf.Variable([[1.0, 2.0]]).gather_nd([[0, 1]])"),
    row("tf.Variable([1.0, 2.0]).is_initialized()"),
    row("tf.Variable([1.0]).set_shape([2])"),
    row("[tf.convert_to_tensor(tf.Variable(1.0)), tf.identity(tf.Variable(2.0)), tf.stack([tf.Variable(1.0), 2.0])]"),
    row("tf.convert_to_tensor(tf.Variable(1.0), tf.float64)"),
    row("tf.Variable(tf.Variable(2.0)).value()"),
    row("import copy\nv = tf.Variable([1.0])\nw = copy.deepcopy(v)\nv.assign([5.0])\nresult = [v.value(), w.value()]"),
    row("import pickle\nv = tf.Variable([1.0], name='w', trainable=False)\nw = pickle.loads(pickle.dumps(v))\n"
        "result = [w.value(), w.name, w.trainable]"),
    row("with tf.name_scope('a'):\n    with tf.name_scope('b'):\n        v = tf.Variable(1.0, name='c')\nresult = v.name"),
    row("tf.Variable(4.0, use_resource=True, collections=['kept'], aggregation=None).aggregation.name"),
    row("[tf.Variable(1.0).name, tf.Variable(1.0, name='x').name, tf.Variable(1.0, trainable=False).trainable]"),
    row("class M(tf.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = tf.Variable(1.0, name='w')\n"
        "        self.l = [tf.Variable(2.0, name='q'), {'k': tf.Variable(3.0, trainable=False, name='n')}]\n"
        "        self.child = tf.Module(name='child')\nm = M()\n"
        "result = [m.name, [v.name for v in m.variables], [v.name for v in m.trainable_variables], "
        "[v.name for v in m.non_trainable_variables], [s.name for s in m.submodules]]"),
    row("class MyDense2D(tf.Module):\n    @tf.Module.with_name_scope\n    def __call__(self, x):\n"
        "        if not hasattr(self, 'w'):\n            self.w = tf.Variable(x, name='w')\n        return self.w.name\n"
        "result = [MyDense2D()(1.0), MyDense2D(name='hey')(1.0)]"),
    row("tf.Module(name='1 a')"),
    row("made = []\ndef creator(next_creator, **kwargs):\n    made.append(kwargs['name'])\n    return next_creator(**kwargs)\n"
        "with tf.variable_creator_scope(creator):\n    v = tf.Variable(1.0, name='x')\nresult = [made, v.name]"),
    row("[tf.VariableSynchronization.ON_READ.value, tf.VariableAggregation.MEAN.value]"),
    row("v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)\n"
        "result = [v.trainable, v.aggregation.value]"),
    _gradient("tf.reduce_sum(v * v * v)"),
    _gradient("tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2)"),
    _gradient("tf.reduce_sum(v.sparse_read([0, 2, 0]) ** 2)"),
    _gradient("tf.reduce_sum(v.sparse_read([0, 2, 0]) ** 2) + tf.reduce_sum(v)"),
    _gradient("tf.reduce_sum(tf.nn.embedding_lookup(v, i))", i=integers(0, 3, 4)),
    _gradient("tf.reduce_sum(v.gather_nd([[0, 1], [2, 0]]) ** 2)"),
    _gradient("tf.reduce_sum(v[1:] ** 2)"),
    row("v = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = v * v\n    v.assign(5.0)\n    z = y * v\n"
        "result = tape.gradient(z, v)"),
    row("v = tf.Variable(2.0)\nx = v.read_value()\nwith tf.GradientTape() as tape:\n    y = x * v\n"
        "result = tape.gradient(y, v)"),
    row("v = tf.Variable(2.0, trainable=False)\nwith tf.GradientTape() as tape:\n    y = v * v\n"
        "result = [tape.gradient(y, v) is None]"),
    row("v = tf.Variable(2.0, trainable=False)\nwith tf.GradientTape() as tape:\n    tape.watch(v)\n    y = v * v\n"
        "result = tape.gradient(y, v)"),
    row("tf.raw_ops.VariableShape(input=tf.Variable([[1.0, 2.0]]).handle, out_type=tf.int64)"),
    row("h = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='q1')\n"
        "tf.raw_ops.AssignVariableOp(resource=h, value=[1.0, 2.0])\n"
        "tf.raw_ops.AssignAddVariableOp(resource=h, value=[1.0, 2.0])\n"
        "tf.raw_ops.AssignSubVariableOp(resource=h, value=[3.0, 2.0])\n"
        "result = [tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32), tf.raw_ops.VarIsInitializedOp(resource=h)]\n"
        "tf.raw_ops.DestroyResourceOp(resource=h)"),
    row("h = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name='q2')\n"
        "result = tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32)"),
    row("h = tf.Variable([1.0]).handle\nresult = tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.int32)"),
    row("tf.raw_ops.ResourceGather(resource=tf.Variable(a).handle, indices=[[1], [0]], batch_dims=1, dtype=tf.float32)",
        a=normal(2, 3), grad=False),
    row("tf.raw_ops.ResourceScatterUpdate(resource=tf.Variable(a).handle, indices=i, updates=7.0)", a=normal(2, 3),
        i=value([0], "int32"), grad=False),
]
