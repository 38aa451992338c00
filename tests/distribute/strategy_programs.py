"""Programs with MirroredStrategy, each a function of the package and of a strategy with two replicas.

Results are plain data: numbers, lists, texts; an error is its class and nothing else.
"""

import contextlib
import functools
import os
import tempfile

import numpy as np

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def result_of(tf, name):
    """What a program gives, as data that JSON has."""
    tf.random.set_seed(1)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    return plain(tf, strategy, PROGRAMS[name](tf, strategy))


def plain(tf, strategy, value):
    if isinstance(value, tf.distribute.DistributedValues) and not isinstance(value, tf.Variable):
        kind = type(value).__name__
        return {kind: [plain(tf, strategy, part) for part in strategy.experimental_local_results(value)]}
    if isinstance(value, (list, tuple)):
        return [plain(tf, strategy, part) for part in value]
    if isinstance(value, dict):
        return {key: plain(tf, strategy, part) for key, part in value.items()}
    if isinstance(value, tf.IndexedSlices):
        return {"slices": [value.indices.numpy().tolist(), value.values.numpy().tolist()]}
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return {str(value.dtype): np.asarray(value, np.float64).round(6).tolist()}
    return value


def error_of(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


def variable(tf, strategy, value=1.0, aggregation="NONE", on_read=False, **keywords):
    if on_read:
        keywords["synchronization"] = tf.VariableSynchronization.ON_READ
    with strategy.scope():
        return tf.Variable(value, aggregation=getattr(tf.VariableAggregation, aggregation), **keywords)


def number_here(tf):
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def copies(v):
    return [copy.numpy().tolist() for copy in v.values]


# Variables.


@program
def what_is_shown(tf, s):
    mirrored = variable(tf, s, [1.0, 2.0], name="w")
    on_read = variable(tf, s, 3.0, "SUM", True, name="r")
    pair = s.experimental_distribute_values_from_function(lambda c: tf.constant(c.replica_id_in_sync_group))
    assigned = mirrored.assign([0.0, 1.0])
    texts = [repr(mirrored), str(on_read), repr(pair), str(pair), str(assigned)]
    return [*texts, mirrored.name, [v.name for v in mirrored.values], [v.device for v in mirrored.values],
            mirrored.trainable, on_read.trainable, mirrored.synchronization.name, on_read.synchronization.name,
            isinstance(mirrored, tf.Variable), isinstance(mirrored, tf.distribute.DistributedValues)]  # fmt: skip


def _writing(tf, s, v):
    seen = []
    for method, start in (("assign", 5.0), ("assign_add", 1.0), ("assign_sub", 2.0)):
        value = tf.ones_like(v.values[0]) * start

        def once(method=method, value=value):
            return getattr(v, method)(value)

        seen += [error_of(once), copies(v)]
        with s.scope():
            seen += [error_of(once), copies(v)]

        def on_replica(method=method, start=start):
            getattr(v, method)(tf.ones_like(v.values[0]) * (start + number_here(tf)))
            return v.read_value()

        seen += [error_of(lambda: s.run(on_replica)), copies(v)]
        seen += [error_of(lambda: tf.function(lambda: s.run(on_replica))()), copies(v)]
        seen += [error_of(lambda: v.read_value())]
    return seen


for _on_read in (False, True):
    for _aggregation in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):

        def _program(tf, s, _on_read=_on_read, _aggregation=_aggregation):
            return _writing(tf, s, variable(tf, s, [2.0, 3.0], _aggregation, _on_read))

        PROGRAMS[f"writing_{'on_read' if _on_read else 'mirrored'}_{_aggregation}"] = _program


@program
def scattering(tf, s):
    seen = []
    for aggregation in ("MEAN", "SUM", "ONLY_FIRST_REPLICA"):
        v = variable(tf, s, [1.0, 2.0, 3.0], aggregation)
        for method in ("scatter_add", "scatter_sub", "scatter_update", "scatter_mul", "scatter_max"):

            def on_replica(v=v, method=method):
                return getattr(v, method)(tf.IndexedSlices(tf.constant([4.0]), tf.constant([1])))

            seen += [error_of(lambda: s.run(on_replica)), copies(v)]
    return seen


@program
def wrong_variables(tf, s):
    aggregation, synchronization = tf.VariableAggregation, tf.VariableSynchronization
    with s.scope():
        return [
            error_of(lambda: str(tf.Variable(3, aggregation=aggregation.MEAN))),
            error_of(lambda: str(tf.Variable(1.0, synchronization=synchronization.NONE))),
            error_of(lambda: str(tf.Variable(1.0, synchronization="x"))),
            error_of(lambda: str(tf.Variable(1.0, aggregation="x"))),
            error_of(lambda: str(tf.Variable([1.0, 2.0]).assign([1.0]))),
            error_of(lambda: hash(tf.Variable(1.0))),
        ]


@program
def whole_numbers(tf, s):
    v = variable(tf, s, 7, "SUM", True)
    first = v.assign(5)
    return [first, copies(v), v.read_value(), v.dtype.name]


@program
def made_on_replicas(tf, s):
    made = []

    def step():
        if not made:
            made.append(tf.Variable(4.0))
        return made[0] + number_here(tf)

    return [s.run(step), len(made), type(made[0]).__name__, copies(made[0])]


@program
def saved_and_restored(tf, s):
    a = variable(tf, s, [1.0, 2.0])
    b = variable(tf, s, 1.0, "SUM", True)
    c = variable(tf, s, 1.0, "MEAN", True)
    s.run(lambda: b.assign_add(2.0 + number_here(tf)))
    s.run(lambda: c.assign_add(number_here(tf)))
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(a=a, b=b, c=c).save(os.path.join(folder, "c"))
        names = [list(entry) for entry in tf.train.list_variables(path)]
        a.assign([0.0, 0.0])
        b.assign(0.0)
        c.assign(0.0)
        tf.train.Checkpoint(a=a, b=b, c=c).restore(path)
        one = [tf.Variable([0.0, 0.0]), tf.Variable(0.0), tf.Variable(0.0)]
        tf.train.Checkpoint(a=one[0], b=one[1], c=one[2]).restore(path)
        four = tf.distribute.MirroredStrategy(["CPU:0"])
        other = variable(tf, four, 0.0, "SUM", True)
        tf.train.Checkpoint(b=other).restore(path).expect_partial()
    return [names, copies(a), copies(b), copies(c), one, copies(other)]


@program
def one_saved_model(tf, s):
    class Scaled(tf.Module):
        def __init__(self):
            with s.scope():
                self.v = tf.Variable([2.0, 3.0], name="v")

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def scale(self, x):
            return x * self.v

    model = Scaled()
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder)
        loaded = tf.saved_model.load(folder)
        return [len(model.variables), len(model.trainable_variables), loaded.scale([1.0, 2.0]), loaded.v.name]


@program
def one_saved_model_that_assigns(tf, s):
    class Counting(tf.Module):
        def __init__(self):
            self.v = tf.Variable([2.0, 3.0], name="v")
            self.count = tf.Variable(
                0, name="count", trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
            )
            self.total = tf.Variable(1.0, name="total", trainable=False, aggregation=tf.VariableAggregation.SUM,
                                     synchronization=tf.VariableSynchronization.ON_READ)  # fmt: skip

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def scale(self, x):
            self.count.assign_add(1)
            return x * self.v + self.total

        @tf.function
        def add(self, x, twice=False):
            self.v.assign_add(x + x if twice else x)
            return self.v + 0.0

        @tf.function
        def spread(self, x):
            return s.reduce("SUM", s.run(lambda: self.v * x), axis=None)

    with s.scope():
        model = Counting()
    model.scale([1.0, 1.0])
    model.add(tf.ones([2]))
    model.add(tf.ones([2]), twice=True)
    model.spread(tf.ones([2]))
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder, signatures={"scale": model.scale})
        here = [copies(model.v), copies(model.count), copies(model.total)]
        loaded = tf.saved_model.load(folder)
        seen = [loaded.scale([1.0, 1.0]), loaded.signatures["scale"](tf.ones([2]))["output_0"], loaded.count.numpy()]
        seen += [loaded.add(tf.ones([2])), loaded.add(tf.ones([2]), twice=True), loaded.v.numpy()]
        concrete = model.add.get_concrete_function(tf.TensorSpec([2]))
        return [here, seen, error_of(lambda: tf.saved_model.save(model, folder, signatures=concrete))]


@program
def loaded_in_scope(tf, s):
    class Scaled(tf.Module):
        def __init__(self):
            self.v = tf.Variable([2.0, 3.0], name="v")

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def scale(self, x):
            return x * self.v

    with tempfile.TemporaryDirectory() as folder:
        with s.scope():
            tf.saved_model.save(Scaled(), folder)
            loaded = tf.saved_model.load(folder)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loaded.scale([1.0, 2.0])) * (1.0 + number_here(tf))
        loaded.v.assign_sub(tape.gradient(loss, loaded.v))
        return loaded.scale([1.0, 2.0])

    seen = [type(loaded.v).__name__, [copy.name for copy in loaded.v.values], s.run(step), copies(loaded.v)]
    return [*seen, tf.function(lambda: s.run(step))(), copies(loaded.v), loaded.scale([1.0, 1.0])]


# Values and replicas.


@program
def contexts(tf, s):
    def here():
        replica = tf.distribute.get_replica_context()
        return [tf.distribute.has_strategy(), replica is None, tf.distribute.in_cross_replica_context()]

    seen = [here()]
    with s.scope() as entered:
        seen += [here(), entered is s, tf.distribute.get_strategy() is s]
        with s.scope():
            seen.append(here())
    seen += [s.run(here), here(), s.num_replicas_in_sync, list(s.extended.worker_devices)]
    return [*seen, list(s.extended.parameter_devices), s.run(lambda: tf.ones([2]).device)]


@program
def scopes_within_themselves(tf, s):
    scope = s.scope()
    seen = []
    with scope:
        with scope:
            seen.append(tf.distribute.get_strategy() is s)
        seen.append(tf.distribute.get_strategy() is s)
    return [*seen, tf.distribute.has_strategy(), error_of(lambda: s.scope().__exit__(None, None, None))]


@program
def of_another_strategy(tf, s):
    three = tf.distribute.MirroredStrategy(["CPU:0"])
    v = variable(tf, s)
    return [error_of(lambda: three.run(lambda: v.assign_add(1.0))), copies(v)]


@program
def replica_numbers(tf, s):
    def number():
        return tf.distribute.get_replica_context().replica_id_in_sync_group

    return [s.run(number), tf.function(lambda: s.run(number))()]


@program
def wrong_places(tf, s):
    other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def enter(*strategies):
        with contextlib.ExitStack() as stack:
            for strategy in strategies:
                stack.enter_context(strategy.scope())
        return "entered"

    def uneven():
        if int(tf.convert_to_tensor(tf.distribute.get_replica_context().replica_id_in_sync_group)):
            return 1
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

    def failing():
        if int(tf.convert_to_tensor(tf.distribute.get_replica_context().replica_id_in_sync_group)):
            raise KeyError("on the second replica")
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

    def in_function():
        return tf.function(lambda: tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0)))()

    return [
        error_of(lambda: s.run(lambda: s.run(lambda: 1))),
        error_of(lambda: s.run(lambda: enter(s))),
        error_of(lambda: enter(s, other)),
        error_of(lambda: enter(s, s)),
        error_of(lambda: s.run(uneven)),
        error_of(lambda: s.run(failing)),
        error_of(lambda: s.run(in_function)),
        error_of(lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"])),
    ]


@program
def what_runs_return(tf, s):
    def mixed():
        return [1, "a", None, (tf.constant(1), {"k": number_here(tf)}), [tf.ones([2])]]

    one = tf.distribute.MirroredStrategy(["CPU:0"])
    return [s.run(mixed), tf.function(lambda: s.run(lambda: mixed()[3]))(), one.run(lambda: tf.constant(2.0))]


@program
def reducing(tf, s):
    seen = []
    for values in ([[0, 2], [2, 2]], [[0.5, 2.0], [2.0, 3.0]]):
        pair = s.experimental_distribute_values_from_function(
            lambda c, values=values: tf.constant(values[c.replica_id_in_sync_group])
        )
        for op in ("SUM", "mean", tf.distribute.ReduceOp.MEAN):
            for axis in (None, 0, -1, 3):
                seen.append(error_of(lambda op=op, pair=pair, axis=axis: s.reduce(op, pair, axis=axis)))
        seen.append(s.gather(pair, axis=0))
        seen.append(s.experimental_local_results([pair, 3]))
    uneven = s.experimental_distribute_values_from_function(lambda c: tf.range(1.0 + c.replica_id_in_sync_group))
    seen += [s.reduce("MEAN", uneven, axis=0), s.reduce("SUM", uneven, axis=0), s.gather(uneven, axis=0)]
    seen += [error_of(lambda: s.reduce("MAX", 1.0, axis=None)), error_of(lambda: s.reduce("SUM", 1.0, axis=None))]
    return [*seen, s.reduce("MEAN", tf.constant(2.0), axis=None), s.experimental_local_results(3)]


@program
def reducing_what_is_not_distributed(tf, s):
    default = tf.distribute.OneDeviceStrategy("/CPU:0")
    values = [tf.constant([1.0, 2.0]), tf.constant([[1, 2], [3, 4]])]
    return [
        error_of(functools.partial(strategy.reduce, op, value, axis=axis))
        for strategy in (s, default) for op in ("SUM", "MEAN") for value in values for axis in (0, "a")
    ]  # fmt: skip


@program
def all_reduces(tf, s):
    def step(op):
        replica = tf.distribute.get_replica_context()
        x = number_here(tf) + 2.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = replica.all_reduce(op, [x * x, x])
            loss = y[0] * y[0] + y[1]
        return y, tape.gradient(loss, x)

    def slices():
        replica = tf.distribute.get_replica_context()
        return replica.all_reduce("MEAN", tf.IndexedSlices(tf.ones([1, 2]) * number_here(tf), tf.constant([0])))

    def gathered():
        replica = tf.distribute.get_replica_context()
        return replica.all_gather(tf.ones([1, 2]) * number_here(tf), axis=0)

    eager = [s.run(step, args=(op,)) for op in ("SUM", "MEAN")]
    traced = [tf.function(lambda op=op: s.run(step, args=(op,)))() for op in ("SUM", "MEAN")]
    return [eager, traced, s.run(slices), s.run(gathered), tf.function(lambda: s.run(gathered))()]


@program
def merge_calls(tf, s):
    v = variable(tf, s, 2.0)

    def merged(strategy, x, y, k):
        total = strategy.reduce("SUM", x, axis=None)
        return [strategy is s, tf.distribute.in_cross_replica_context(), total, type(y).__name__, k]

    def step():
        replica = tf.distribute.get_replica_context()
        return replica.merge_call(merged, args=(number_here(tf) + 1.0, v), kwargs={"k": 3})

    def updated(strategy, x):
        return strategy.extended.update(v, lambda copy, part: copy.assign_add(part), args=(x,), group=False)

    def update():
        tf.distribute.get_replica_context().merge_call(updated, args=(number_here(tf) + 1.0,))

    seen = [s.run(step)]
    s.run(update)
    return [*seen, copies(v)]


@program
def gradients(tf, s):
    v = variable(tf, s, [1.0, 2.0])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v) * (1.0 + number_here(tf))
        return tape.gradient(loss, v), [variable is v for variable in tape.watched_variables()]

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    return [s.run(step), tf.function(lambda: s.run(lambda: step()[0]))(), tape.gradient(loss, v)]


@program
def random_numbers(tf, s):
    return [
        s.run(lambda: tf.random.uniform([2])),
        tf.function(lambda: s.run(lambda: tf.random.uniform([2])))(),
        tf.function(lambda: s.run(lambda: tf.random.normal([2], seed=3)))(),
    ]


@program
def generators(tf, s):
    before = tf.random.Generator.from_seed(2)
    with s.scope():
        g = tf.random.Generator.from_seed(1)

    def draw():
        return g.normal([2]), g.uniform([1], 0, 1000, tf.int32), g.make_seeds(1), g.uniform_full_int([1])

    seen = [s.run(draw), tf.function(lambda: s.run(draw))(), copies(g.state)]
    seen += [s.run(lambda: tf.random.Generator.from_seed(2).uniform([1])), s.run(lambda: before.uniform([2]))]
    return [*seen, s.run(lambda: g.split(1)[0].uniform([1]))]


@program
def functions(tf, s):
    traces = []
    v = variable(tf, s, [1.0, 2.0], "SUM")

    @tf.function
    def on_replica(x):
        traces.append(1)
        return tf.distribute.get_replica_context().all_reduce("SUM", x * v)

    @tf.function
    def nested(x):
        return x * v

    pair = s.experimental_distribute_values_from_function(
        lambda c: tf.constant([1.0 + c.replica_id_in_sync_group, 2.0])
    )
    v.values[1].assign([10.0, 20.0])  # so that it shows which copy is used
    seen = [s.run(on_replica, args=(pair,)), s.run(on_replica, args=(pair,))]
    seen += [s.run(lambda x: nested(x), args=(pair,)), nested(tf.ones([2]))]
    whole = tf.function(lambda p: s.run(lambda x: nested(x) + 1.0, args=(p,)))
    return [*seen, whole(pair), repr(pair._type_spec)]


# Datasets.


def _elements(s, dataset):
    return [list(s.experimental_local_results(x)) for x in dataset]


@program
def spread_datasets(tf, s):
    batches = tf.data.Dataset.range
    shapes = [(7, 4, False), (7, 4, True), (5, 4, False), (6, 4, False), (10, 5, False), (3, 1, False), (8, 7, False)]
    seen = [
        _elements(s, s.experimental_distribute_dataset(batches(n).batch(b, drop_remainder=d))) for n, b, d in shapes
    ]
    seen.append(_elements(s, s.experimental_distribute_dataset(batches(6).batch(4).map(lambda x: x + 1).repeat(2))))
    parts = {"a": tf.range(3), "b": tf.ones([3, 2])}
    seen.append(list(s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(parts).batch(2))))
    pairs = tf.data.Dataset.zip((batches(3), batches(3))).batch(2)
    seen.append(list(s.experimental_distribute_dataset(pairs)))
    for dropping in (False, True):
        dataset = s.experimental_distribute_dataset(batches(8).batch(4, drop_remainder=dropping))
        seen.append(repr(dataset.element_spec))
    return [*seen, int(dataset.cardinality)]


@program
def datasets_of_functions(tf, s):
    batches = tf.data.Dataset.range
    asked = []

    def make(context):
        asked.append([context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync])
        asked.append([context.get_per_replica_batch_size(4), str(context)])
        asked.append(error_of(lambda: context.get_per_replica_batch_size(5)))
        return batches(5).batch(2)

    made = s.distribute_datasets_from_function(make)
    seen = [_elements(s, made), repr(made.element_spec)]
    seen.append(_elements(s, s.distribute_datasets_from_function(lambda c: batches(7).batch(2, drop_remainder=True))))
    seen.append(_elements(s, s.distribute_datasets_from_function(lambda c: batches(3))))
    pairs = tf.data.Dataset.zip((batches(5), batches(5)))
    return [*seen, asked, list(s.distribute_datasets_from_function(lambda c: pairs.batch(2)))]


@program
def iterators(tf, s):
    dataset = s.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4))
    iterator = iter(dataset)
    seen = [next(iterator), iterator.get_next(), error_of(lambda: next(iterator)), error_of(iterator.get_next)]
    iterator = iter(dataset)
    for _ in range(3):
        optional = iterator.get_next_as_optional()
        seen.append([bool(optional.has_value()), optional.get_value() if optional.has_value() else None])

    @tf.function
    def whole(dataset):
        total = tf.constant(0, tf.int64)
        for batch in dataset:
            total += s.reduce("SUM", batch, axis=0)
        return total

    @tf.function
    def step(iterator):
        return s.run(lambda x: x * 2, args=(next(iterator),))

    @tf.function
    def two_steps(iterator):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(2):
            total += s.reduce("SUM", s.run(lambda x: tf.reduce_sum(x), args=(next(iterator),)), axis=None)
        return total

    iterator = iter(dataset)
    seen += [whole(dataset), step(iterator), step(iterator), error_of(lambda: step(iterator)), two_steps(iter(dataset))]
    signed = tf.function(lambda x: s.run(lambda x: x + 1, args=(x,)), input_signature=[dataset.element_spec])
    return [*seen, [signed(batch) for batch in dataset]]
