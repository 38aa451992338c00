"""Programs with names of 1.x that stand by themselves: accumulators, handles, loss scales, checks of tests, columns.

Each is a function of `tf` and a folder, and gives something that JSON can hold. An error is told by its class.
"""

import os

import numpy as np


def plain(value):
    """A value as lists, numbers and texts."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        kind = value.dtype.kind
        if kind == "S" or value.dtype == object:
            return [plain(item) for item in value.tolist()] if value.ndim else plain(value.item())
        return np.asarray(value, np.float64).round(5).tolist() if kind == "f" else value.tolist()
    return value.decode() if isinstance(value, bytes) else value


def outcome(program, tf, folder):
    """What a program gives, or the class of its error."""
    try:
        return plain(program(tf, folder))
    except Exception as error:
        return f"raises {type(error).__name__}"


def in_session(build):
    """A program that builds a graph and runs it: `build(tf, session)`."""

    def program(tf, folder):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            return build(tf, session)

    return program


def eagerly(program):
    return lambda tf, folder: program(tf)


# Accumulators.


def mean_and_step(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.float32, [2], name="acc")
    add = a.apply_grad([1.0, 2.0], local_step=1)
    for _ in range(3):
        s.run(add)
    s.run(a.apply_grad([3.0, 6.0], local_step=0))
    found = [s.run(a.num_accumulated()), s.run(a.take_grad(2)), s.run(a.num_accumulated())]
    s.run(a.apply_grad([9.0, 9.0], local_step=0))  # out of date
    found.append(s.run(a.num_accumulated()))
    s.run(a.set_global_step(7))
    s.run(add)
    return [*found, s.run(a.num_accumulated()), a.name, a.dtype.name, a.num_accumulated().op.name]


def sums(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.int32, [], reduction_type="SUM")
    for number in (4, 5):
        s.run(a.apply_grad(number))
    return s.run(a.take_grad(1))


def backward_step(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.float32, [])
    s.run(a.set_global_step(5))
    s.run(a.set_global_step(2))
    s.run(a.apply_grad(1.0, local_step=3))
    return s.run(a.num_accumulated())


def integers(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.int64, [2])
    for numbers in ([1, 2], [2, 2], [2, 3]):
        s.run(a.apply_grad(tf.constant(numbers, tf.int64)))
    return s.run(a.take_grad(3))


def any_shape(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.float32)
    x = tf.compat.v1.placeholder(tf.float32)
    add = a.apply_grad(x)
    s.run(add, {x: [[1.0, 2.0]]})
    s.run(add, {x: [[3.0, 2.0]]})
    return s.run(a.take_grad(2))


def other_shape(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.float32, [2])
    x = tf.compat.v1.placeholder(tf.float32)
    s.run(a.apply_grad(x), {x: [1.0, 2.0, 3.0]})


def shared(tf, s):
    a = tf.compat.v1.ConditionalAccumulator(tf.float32, [], shared_name="one")
    b = tf.compat.v1.ConditionalAccumulator(tf.float32, [], shared_name="one")
    s.run(a.apply_grad(2.0))
    return s.run(b.num_accumulated())


def rows(tf, s):
    a = tf.compat.v1.SparseConditionalAccumulator(tf.float32, [None, 2])
    s.run(a.apply_grad([0, 2], [[2.0, 2.0], [1.0, 1.0]]))
    s.run(a.apply_grad([1, 2], [[5.0, 5.0], [4.0, 8.0]], grad_shape=[3, 2]))
    found = [s.run(a.num_accumulated())]
    indices, values, shape = s.run(a.take_grad(2))
    return [*found, indices, values, shape, s.run(a.num_accumulated())]


def summed_rows(tf, s):
    a = tf.compat.v1.SparseConditionalAccumulator(tf.float32, [4], reduction_type="SUM")
    s.run(a.apply_indexed_slices_grad(tf.IndexedSlices([1.0, 2.0], tf.constant([0, 3], tf.int64))))
    s.run(a.apply_indexed_slices_grad(tf.IndexedSlices([4.0], tf.constant([3], tf.int64))))
    found = a.take_indexed_slices_grad(1)
    return s.run([found.indices, found.values])


ACCUMULATORS = {
    "mean": in_session(mean_and_step), "sum": in_session(sums), "a step back": in_session(backward_step),
    "integers": in_session(integers), "any shape": in_session(any_shape), "another shape": in_session(other_shape),
    "shared": in_session(shared), "rows": in_session(rows), "summed rows": in_session(summed_rows),
    "none required": in_session(lambda tf, s: s.run(
        tf.compat.v1.ConditionalAccumulator(tf.float32, []).take_grad(0))),
    "static shape": in_session(lambda tf, s: tf.compat.v1.ConditionalAccumulator(tf.float32, [2]).apply_grad([1.0])),
    "reduction": in_session(lambda tf, s: s.run(
        tf.compat.v1.ConditionalAccumulator(tf.float32, [], reduction_type="MAX").num_accumulated())),
}  # fmt: skip


# Values that stay in sessions.


def handle(tf, s):
    v1 = tf.compat.v1
    kept = s.run(v1.get_session_handle(tf.constant([1.0, 2.0])))
    x = v1.placeholder(tf.float32, [2])
    found = [type(kept).__name__, kept.eval(), s.run(x * 3.0, {x: kept})]
    holder, value = v1.get_session_tensor(kept.handle, tf.float32)
    found.append(s.run(value * 2.0, {holder: kept.handle}))
    return [*found, kept.handle.split(";")[2]]


def deleted_handle(tf, s):
    v1 = tf.compat.v1
    kept = s.run(v1.get_session_handle(tf.constant(1)))
    holder, value = v1.get_session_tensor(kept.handle, tf.int32)
    again, delete = v1.delete_session_tensor(kept.handle)
    s.run(delete, {again: kept.handle})
    return s.run(value, {holder: kept.handle})


HANDLES = {
    "handle": in_session(handle), "deleted": in_session(deleted_handle),
    "no tensor": in_session(lambda tf, s: tf.compat.v1.get_session_handle([1.0])),
}  # fmt: skip


# Loss scales.


def dynamic(tf):
    scale = tf.compat.v1.mixed_precision.DynamicLossScale(8.0, increment_period=2)
    found = [float(scale())]
    for gradient in (1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0):
        _, good = scale.update([tf.constant([1.0, gradient]), None])
        found += [bool(good), float(scale())]
    return [found, scale.get_config(), repr(scale)]


def smallest(tf):
    scale = tf.compat.v1.mixed_precision.DynamicLossScale(1.5, multiplier=4.0)
    scale.update([tf.constant(float("inf"))])
    return float(scale())


def fixed(tf):
    scale = tf.compat.v1.train.experimental.FixedLossScale(4)
    return [float(scale()), scale.get_config(), repr(scale), scale.update([tf.constant(float("inf"))])[1],
            repr(type(scale).from_config(scale.get_config()))]  # fmt: skip


def scaled_training(make, loss_scale):
    def build(tf, s):
        v1 = tf.compat.v1
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        x = v1.placeholder(tf.float32, [])
        count = v1.train.get_or_create_global_step()
        scale = loss_scale(v1) if callable(loss_scale) else loss_scale
        opt = v1.train.experimental.enable_mixed_precision_graph_rewrite(make(v1), scale)
        step = opt.minimize(tf.reduce_sum(v * v) * x, global_step=count)
        s.run(v1.global_variables_initializer())
        found = []
        for factor in (1.0, 1.0, np.inf, 1.0):
            s.run(step, {x: factor})
            found.append(s.run([v, count, opt._loss_scale()]))
        v1.train.experimental.disable_mixed_precision_graph_rewrite()
        return [found, sorted(variable.name for variable in v1.global_variables())]

    return in_session(build)


def twice_scaled(tf):
    v1 = tf.compat.v1
    opt = v1.mixed_precision.MixedPrecisionLossScaleOptimizer(v1.train.GradientDescentOptimizer(0.1), 2)
    v1.mixed_precision.enable_mixed_precision_graph_rewrite(opt)


LOSS_SCALES = {
    "dynamic": eagerly(dynamic), "smallest": eagerly(smallest), "fixed": eagerly(fixed),
    "below one": eagerly(lambda tf: tf.compat.v1.mixed_precision.FixedLossScale(0.5)),
    "no number": eagerly(lambda tf: tf.compat.v1.mixed_precision.FixedLossScale("a")),
    "Adam": scaled_training(lambda v1: v1.train.AdamOptimizer(0.1),
                            lambda v1: v1.mixed_precision.DynamicLossScale(8.0, 2)),
    "momentum": scaled_training(lambda v1: v1.train.MomentumOptimizer(0.1, 0.9),
                                lambda v1: v1.mixed_precision.DynamicLossScale(8.0, 2)),
    "twice": eagerly(twice_scaled),
    "no scale": eagerly(lambda tf: tf.compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer(
        tf.compat.v1.train.GradientDescentOptimizer(0.1), None)),
    "unknown scale": eagerly(lambda tf: tf.compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer(
        tf.compat.v1.train.GradientDescentOptimizer(0.1), "other")),
    "no optimizer": eagerly(lambda tf: tf.compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer(3, 2)),
}  # fmt: skip


# Functions.


def merged(**more):
    def build(tf, s):
        ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([3, 1, 0], tf.int64), [2, 2])
        values = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 0.25, 1.0], [2, 2])
        several = more.pop("several", False)
        found = tf.compat.v1.sparse_merge([ids, ids] if several else ids, values, [5, 4] if several else 5, **more)
        return s.run([found.indices, found.values, found.dense_shape])

    return in_session(build)


def checked(tf, s):
    x = tf.compat.v1.placeholder(tf.float32, [2])
    y = tf.math.log(x, name="y")
    check = tf.compat.v1.add_check_numerics_ops()
    good = s.run([y, check], {x: [1.0, 2.0]})[0]
    try:
        s.run([y, check], {x: [1.0, -2.0]})
    except tf.errors.InvalidArgumentError as error:
        return [good, "y:0" in str(error), check.type]
    return "nothing is said"


def batches_updated(tf, s):
    v = tf.compat.v1.get_variable("v", initializer=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    s.run(v.initializer)
    return s.run(tf.compat.v1.batch_scatter_update(v, [[0, 2], [1, 0]], [[7.0, 8.0], [9.0, 10.0]]))


def derivatives(tf, s):
    given = [np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])]
    x, y, w = tf.constant(given[0]), tf.constant(given[1]), tf.compat.v1.placeholder(tf.float64, [])
    z = tf.reduce_sum(x) * y * y
    test = tf.compat.v1.test
    one = test.compute_gradient(x, [2], z * w, [3], given[0], extra_feed_dict={w: 2.0})
    return [one, test.compute_gradient([x, y], [[2], [3]], z, [3], given),
            test.compute_gradient_error([x, y], [[2], [3]], z, [3], given) < 1e-6]  # fmt: skip


def stubs(tf):
    class Place:
        def method(self):
            return "theirs"

        @staticmethod
        def still():
            return "still"

    class Inner(Place):
        pass

    s = tf.compat.v1.test.StubOutForTesting()
    s.SmartSet(Inner, "method", lambda self: "ours")
    found = [Inner().method(), Place().method()]
    s.SmartUnsetAll()
    s.Set(Place, "still", staticmethod(lambda: "moved"))
    found += [Inner().method(), Place.still()]
    s.UnsetAll()
    found.append(Place.still())
    try:
        s.SmartSet(Place(), "absent", 1)
    except AttributeError:
        found.append("no such attribute")
    s.CleanUp()
    return found


def equal_graphs(tf):
    def graph(value, name="x"):
        with tf.Graph().as_default() as g:
            tf.constant(value, name=name)
        return g.as_graph_def()

    tf.compat.v1.test.assert_equal_graph_def(graph(1.0), graph(1.0))
    found = []
    for other in (graph(2.0), graph(1.0, "y"), "text"):
        try:
            tf.compat.v1.test.assert_equal_graph_def(graph(1.0), other)
        except (AssertionError, TypeError) as error:
            found.append(type(error).__name__)
    return found


def compiled(tf, s):
    compile = tf.compat.v1.xla.experimental.compile
    v = tf.compat.v1.get_variable("v", initializer=3.0)
    s.run(v.initializer)
    several = compile(lambda a, b: (a + b, a * b), [1.0, 2.0])
    one = compile(lambda a: a * 2.0, [tf.constant([1.0, 2.0])])
    nested = compile(lambda a: {"k": a, "l": [a + 1.0]}, [1.0])
    return [type(several).__name__, s.run(several), type(one).__name__, s.run(one), s.run(nested),
            type(compile(lambda: None)).__name__]  # fmt: skip


def servers(tf):
    class Operation:
        def __init__(self, kind, device=""):
            self.type, self.device = kind, device
            self.node_def = type("Def", (), {"op": kind})

    setter = tf.compat.v1.train.replica_device_setter
    kinds = ["VariableV2", "MatMul", "VarHandleOp", "VariableV2"]
    two = setter(ps_tasks=2)
    found = [setter(), [two(Operation(kind)) for kind in kinds]]
    placed = setter(ps_tasks=2, worker_device="/job:worker/task:3/cpu:0")
    found.append([placed(Operation(kind, "/device:GPU:1")) for kind in kinds])
    found.append([setter(ps_tasks=1, merge_devices=False)(Operation(kind, "/device:GPU:1")) for kind in kinds])
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1", "c:1"], "worker": ["d:1"]})
    found.append([setter(cluster=cluster)(Operation("VariableV2")), setter(cluster={"worker": ["d:1"]})])
    return [*found, setter(ps_tasks=2, ps_ops=["MatMul"], ps_strategy=lambda op: 1)(Operation("MatMul"))]


def noise(tf, s):
    v1 = tf.compat.v1
    still = v1.train.noisy_linear_cosine_decay(0.1, tf.constant(5), 10, initial_variance=0.0)
    moved = v1.train.noisy_linear_cosine_decay(0.1, tf.constant(0), 10, initial_variance=4.0)
    values = [float(s.run(moved)) for _ in range(200)]
    return [s.run(still), 0.05 < float(np.std(values)) < 0.4]


def ragged_values(tf):
    make = tf.compat.v1.ragged.constant_value
    found = []
    for arguments in (
        ([[1, 2], [3]],), ([1, 2],), ([[1.5], []],), ([["a"], ["bc", "d"]],), ([[[1, 2]], [[3, 4], [5, 6]]],),
        ([[[1, 2]], [[3, 4], [5, 6]]], None, 1), ([[1], [2, 3]], np.float32), ([], np.int32, 1),
    ):  # fmt: skip
        value = make(*arguments)
        array = getattr(value, "flat_values", value)
        splits = [x.tolist() for x in getattr(value, "nested_row_splits", ())]
        found.append([type(value).__name__, array.dtype.name, array.tolist(), splits])
    return found


def converted(tf):
    def f(x):
        return x * x if x > 0 else -x

    return [tf.compat.v1.autograph.to_graph(f, arg_types=None)(3), "tf__f" in tf.compat.v1.autograph.to_code(f)]


def beside(tf, folder):
    loader = tf.compat.v1.resource_loader
    here = os.path.dirname(os.path.abspath(__file__))
    return [loader.get_data_files_path() == here, loader.get_path_to_datafile("x") == os.path.join(here, "x"),
            loader.readahead_file_path("some/path"), os.path.isdir(loader.get_root_dir_with_all_resources()),
            outcome(lambda tf, folder: loader.load_resource("no/such/file"), tf, folder)]  # fmt: skip


def conditional_operation(tf, s):
    v1 = tf.compat.v1
    v = v1.get_variable("v", initializer=1.0)
    p = v1.placeholder(tf.bool, [])
    step = tf.cond(p, lambda: tf.group(v.assign_add(2.0)), tf.no_op)
    s.run(v.initializer)
    found = []
    for value in (True, False, True):
        s.run(step, {p: value})
        found.append(s.run(v))
    return found


FUNCTIONS = {
    "sparse_merge": merged(), "sparse_merge several": merged(several=True),
    "sparse_merge sorted": merged(already_sorted=True),
    "sparse_merge no size": in_session(lambda tf, s: tf.compat.v1.sparse_merge(
        tf.SparseTensor([[0, 0]], tf.constant([3], tf.int64), [1, 1]), tf.SparseTensor([[0, 0]], [0.5], [1, 1]), None)),
    "check_numerics": in_session(checked), "batch_scatter_update": in_session(batches_updated),
    "check_numerics eagerly": eagerly(lambda tf: tf.compat.v1.add_check_numerics_ops()),
    "derivatives": in_session(derivatives), "stubs": eagerly(stubs), "graphs": eagerly(equal_graphs),
    "compiled": in_session(compiled), "jit_scope": eagerly(lambda tf: tf.compat.v1.xla.experimental.jit_scope()
                                                           .__enter__()),
    "servers": eagerly(servers), "noise": in_session(noise), "ragged": eagerly(ragged_values),
    "autograph": eagerly(converted), "beside": beside,
    "loss reduction": eagerly(lambda tf: str(tf.compat.v1.distribute.get_loss_reduction())),
    "conditional operation": in_session(conditional_operation),
    "intermediates": eagerly(lambda tf: tf.compat.v1.experimental.output_all_intermediates(True)),
}  # fmt: skip

FAMILIES = {"accumulators": ACCUMULATORS, "handles": HANDLES, "loss scales": LOSS_SCALES, "functions": FUNCTIONS}
