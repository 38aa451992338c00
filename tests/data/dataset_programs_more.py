"""More programs with datasets: groups, samples, options, functions, and several lines each."""

# ruff: noqa: E501  a program is a line

LINES = r"""
R(7).with_options(tf.data.Options())
R(7).apply(lambda d: d.take(2))
R(7).apply(lambda d: 3)
D.counter().take(4)
D.counter(3, 2).take(3)
D.counter(1.5, 0.5, dtype=tf.float32).take(3)
D.counter(5, -1, dtype=tf.int32).take(3)
D.counter()
E.Counter(2).take(2)
D.random(seed=3).take(3)
D.random(seed=5).take(6).batch(2)
D.random(seed=3, rerandomize_each_iteration=True).take(3)
D.random(seed=3, rerandomize_each_iteration=False).take(3)
D.random().take(3)
D.random(rerandomize_each_iteration=True).take(3)
D.random(seed=4)
E.RandomDataset(seed=5).take(3).map(lambda x: x % 10)
E.from_list([1, 2, 3])
E.from_list([(1, "a"), (2, "b")])
E.from_list([{"a": 1.5}, {"a": 2.5}])
E.from_list([[1, 2], [3]])
E.from_list([])
E.from_list([1, "a"])
E.from_list([1, 2, 3]).shuffle(3, seed=1).batch(2)
R(7).ragged_batch(2)
V(4).ragged_batch(2)
V(5).ragged_batch(2, drop_remainder=True)
V(4).ragged_batch(2, row_splits_dtype=tf.int32)
V(4).map(lambda x: (x, tf.size(x))).ragged_batch(3)
V(4).map(lambda x: {"a": x}).apply(E.dense_to_ragged_batch(3))
V(4).map(lambda x: tf.tile(x[:, None], [1, tf.size(x)])).ragged_batch(2)
V(4).map(lambda x: tf.tile(x[:, None], [1, 2])).ragged_batch(2)
V(4).ragged_batch(2).unbatch()
S(tf.ragged.constant([[[1]], [[2], [3, 4]]])).ragged_batch(2)
V(4).sparse_batch(2, [4])
V(4).sparse_batch(2, [3])
V(4).sparse_batch(2, [2])
V(4).sparse_batch(2, [None])
V(4).sparse_batch(2, [4, 4])
V(4).sparse_batch(0, [4])
V(4).map(tf.strings.as_string).apply(E.dense_to_sparse_batch(3, [5]))
V(4).map(lambda x: tf.tile(x[:, None], [1, 2])).sparse_batch(2, [-1, 2])
D.zip(R(2), R(2)).sparse_batch(2, [1])
R(7).batch(3).rebatch(2)
R(7).batch(3).rebatch([2, 1])
R(7).batch(3).rebatch(2, drop_remainder=True)
R(8).batch(4, drop_remainder=True).rebatch(2)
R(8).batch(4, drop_remainder=True).rebatch([2, 2])
R(8).batch(4, drop_remainder=True).rebatch(3)
R(7).batch(3).rebatch([2, 0])
R(7).batch(3).rebatch(100)
R(7).batch(3).rebatch(0)
R(7).rebatch(2)
D.zip(R(7), S(list("abcdefg"))).batch(3).rebatch(2)
R(7).repeat().batch(3).rebatch(4).take(3)
R(7).ignore_errors()
S([1.0, 2.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "e")).ignore_errors()
R(6).map(lambda x: 6 // (x - 2)).ignore_errors()
R(6).map(lambda x: 6 // (x - 2)).ignore_errors().batch(2)
R(6).map(lambda x: 6 // (x - 2)).batch(2).ignore_errors()
R(6).map(lambda x: 6 // (x - 2)).filter(lambda x: x != 6).ignore_errors(log_warning=True)
R(6).filter(lambda x: 6 // (x - 2) > -10).ignore_errors()
R(6).filter(lambda x: 6 // (x - 2) > -10).batch(2).ignore_errors()
R(6).map(lambda x: 6 // (x - 2)).padded_batch(2).ignore_errors()
D.zip(R(6).map(lambda x: 6 // (x - 2)), R(6)).ignore_errors()
R(5).shuffle(3, seed=4).map(lambda x: x + 1).repeat(2)
R(5).shuffle(3, seed=4).batch(2).repeat(2)
R(5).shuffle(3, seed=4).take(3).repeat(2)
R(5).shuffle(3, seed=4).repeat(2).batch(2)
R(5).shuffle(3, seed=4).repeat(2).map(lambda x: x).prefetch(1)
R(5).shuffle(3, seed=4).repeat(1)
R(5).shuffle(3, seed=4).batch(2).repeat(1)
R(5).shuffle(3, seed=4).prefetch(1).repeat(2)
D.zip(R(5).shuffle(3, seed=4), R(5)).repeat(2)
R(3).flat_map(lambda x: D.range(4).shuffle(4, seed=2).repeat(2))
R(5).shuffle(3, seed=4).filter(lambda x: x > 1).repeat(2)
R(5).shuffle(3, seed=4).concatenate(R(5).shuffle(3, seed=4)).repeat(2)
R(5).shuffle(3, seed=4).cache().repeat(2)
R(5).shuffle(3, seed=4).repeat(2).repeat(2)
D.sample_from_datasets([R(3).shuffle(3, seed=1).repeat(2), R(10, 13).shuffle(3, seed=1).repeat(2)], seed=9)
R(6).map(lambda x: 6 // (x - 2)).repeat(2).ignore_errors()
R(3).flat_map(lambda x: D.range(3).map(lambda y: 6 // (x - y))).ignore_errors()
R(6).map(lambda x: 6 // (x - 2)).apply(E.ignore_errors())
R(3).repeat().ignore_errors().take(4)
R(7).apply(E.assert_cardinality(7))
R(7).apply(E.assert_cardinality(6))
R(7).apply(E.assert_cardinality(8))
R(7).filter(lambda x: x > 2).apply(E.assert_cardinality(4))
R(7).filter(lambda x: x > 2).apply(E.assert_cardinality(1))
R(7).repeat().apply(E.assert_cardinality(tf.data.INFINITE_CARDINALITY)).take(3)
R(7).apply(E.assert_cardinality(tf.data.INFINITE_CARDINALITY))
R(7).map(lambda x: {"a": x}).apply(E.pad_to_cardinality(9))
R(2).map(lambda x: {"a": tf.strings.as_string(x), "b": [x, x]}).apply(E.pad_to_cardinality(4, mask_key="real"))
R(7).map(lambda x: {"a": x}).apply(E.pad_to_cardinality(5))
R(7).apply(E.pad_to_cardinality(9))
R(7).map(lambda x: {"valid": x}).apply(E.pad_to_cardinality(9))
R(7).map(lambda x: {"a": x}).filter(lambda d: True).apply(E.pad_to_cardinality(9))
R(7).apply(E.map_and_batch(lambda x: x * 2, 3))
R(7).apply(E.map_and_batch(lambda x: (x, -x), 3, drop_remainder=True, num_parallel_calls=2))
R(7).apply(E.map_and_batch(lambda x: x, 3, num_parallel_batches=2, num_parallel_calls=2))
R(7).apply(E.shuffle_and_repeat(3, 2, seed=1))
R(4).apply(E.shuffle_and_repeat(10, 3, seed=4))
R(4).apply(E.shuffle_and_repeat(10, seed=4))
R(4).apply(E.shuffle_and_repeat(3, 2))
D.sample_from_datasets([R(3), R(10, 13)], seed=2)
D.sample_from_datasets([R(3), R(10, 13), R(20, 23)], weights=[0.5, 0.3, 0.2], seed=4)
D.sample_from_datasets([R(3), R(10, 13), R(20, 23)], weights=[0.5, 0.3, 0.2], seed=4, stop_on_empty_dataset=True)
D.sample_from_datasets([R(3), R(10, 13), R(20, 23)], weights=[0.5, 0.3, 0.2], seed=4, rerandomize_each_iteration=True)
D.sample_from_datasets([R(3), R(10, 13), R(20, 23)], weights=T([0.5, 0.3, 0.2]).repeat(), seed=4)
D.sample_from_datasets([R(3), R(10, 13), R(20, 23)], weights=S([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), seed=4)
D.sample_from_datasets([R(3), R(10, 13), R(20, 23)], weights=[0.5, 0.0, 0.5], seed=4)
D.sample_from_datasets([R(3), R(10, 13)], weights=[1.0, 0.0], seed=4)
D.sample_from_datasets([R(3), R(10, 13)])
D.sample_from_datasets([R(3)])
D.sample_from_datasets([])
D.sample_from_datasets([R(3), R(4)], weights=[1, 2])
D.sample_from_datasets([R(3), R(4)], weights=[0.5, 0.2, 0.3])
D.sample_from_datasets([R(3), S(["a"])])
D.sample_from_datasets([R(3).repeat(), R(10, 13).repeat()], weights=[0.2, 0.8], seed=9)
D.sample_from_datasets([R(3).repeat(), R(10, 13)], weights=[0.2, 0.8], seed=9, stop_on_empty_dataset=True)
D.sample_from_datasets([R(4).shuffle(4, seed=1), R(10, 14).shuffle(4, seed=2)], seed=3)
E.sample_from_datasets([R(3), R(10, 13)], [0.5, 0.5], seed=2)
D.choose_from_datasets([R(3), R(10, 13)], S(np.array([0, 1, 1, 0])))
D.choose_from_datasets([R(3), R(10, 13)], S(np.array([0, 1, 1, 0, 0, 0, 0, 1])))
D.choose_from_datasets([R(3), R(10, 13)], S(np.array([0, 1, 1, 0, 0, 0, 0, 1])), stop_on_empty_dataset=False)
D.choose_from_datasets([R(3), R(10, 13)], S(np.array([0, 2])))
D.choose_from_datasets([R(3), R(10, 13)], S([0, 1]))
D.choose_from_datasets([], R(2))
D.choose_from_datasets([R(3).repeat(), R(10, 13).repeat()], R(2).repeat())
D.choose_from_datasets([R(3), R(10, 13).map(lambda x: [x])], R(2).repeat(2))
E.choose_from_datasets([R(3), R(10, 13)], R(2).repeat(5))
R(7).group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)
R(10).group_by_window(lambda x: x % 3, lambda k, w: w.batch(10), window_size_func=lambda k: k + 1)
R(10).group_by_window(lambda x: x % 3, lambda k, w: D.zip(D.from_tensors(k).repeat(), w), 2)
R(10).group_by_window(lambda x: x % 3, lambda k, w: w.shuffle(2, seed=3), 4)
R(10).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), 0)
R(10).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2))
R(10).group_by_window(lambda x: x % 3, lambda k, w: k, 2)
R(10).group_by_window(lambda x: tf.cast(x % 3, tf.int32), lambda k, w: w.batch(5), 5)
R(10).group_by_window(lambda x: "a", lambda k, w: w.batch(5), 5)
S((list("abcdef"), [0, 1, 0, 1, 1, 0])).group_by_window(lambda a, b: tf.cast(b, tf.int64), lambda k, w: w.batch(2), 2)
R(12).shuffle(4, seed=2).apply(E.group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3))
V(6).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2])
V(6).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2])
V(6).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], drop_remainder=True)
V(6).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 7], [2, 2, 2], pad_to_bucket_boundary=True)
V(6).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], pad_to_bucket_boundary=True)
V(6).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], padded_shapes=[7], padding_values=I(-1))
V(6).map(lambda x: (x, 1.5)).bucket_by_sequence_length(lambda x, y: tf.shape(x)[0], [2, 4], [2, 2, 2])
R(6).map(lambda x: tf.fill([x % 2 + 1], x)).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2], [2, 2], no_padding=True)
V(9).shuffle(9, seed=3).apply(E.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [3, 2, 1]))
R(8).apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: I(0), lambda s, x: s + x, lambda s: s)))
R(8).apply(E.group_by_reducer(lambda x: -(x % 3), E.Reducer(lambda k: (k, 0), lambda s, x: (s[0], s[1] + 1), lambda *s: {"k": s[0], "n": s[1]})))
R(8).apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: np.zeros([0], np.int64), lambda s, x: tf.concat([s, [x]], 0), lambda s: s)))
R(20).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], seed=1)
R(100).rejection_resample(lambda x: tf.cast(x > 80, tf.int32), [0.5, 0.5], seed=1)
R(20).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.3, 0.7], seed=1)
R(20).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], seed=1)
R(40).rejection_resample(lambda x: tf.cast(x % 4 == 0, tf.int32), [0.0, 1.0], [0.75, 0.25], seed=1)
D.zip(R(20), R(20)).rejection_resample(lambda x, y: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.4, 0.6], seed=1)
R(20).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.6, 0.4], seed=5))
R(1).get_single_element()
R(2).get_single_element()
R(0).get_single_element()
T({"a": [1, 2], "b": tf.ragged.constant([[1], [2, 3]])}).get_single_element()
E.get_single_element(R(5).batch(5))
E.at(R(10), 3)
E.at(R(10), 10)
E.at(R(10).map(lambda x: x * x).batch(3), 1)
E.at(S((["a", "b"], [1, 2])), 1)
E.from_variant(E.to_variant(R(3)), tf.TensorSpec([], tf.int64))
E.get_structure(D.zip(R(2), S(["a"])))
E.get_structure(iter(R(2)))
E.get_structure(3)
E.cardinality(R(7).batch(2))
bool(R(3).fingerprint() == R(3).fingerprint())
bool(R(3).fingerprint() == R(4).fingerprint())
bool(R(3).map(lambda x: x + 1).fingerprint() == R(3).map(lambda x: x + 2).fingerprint())
R(3).fingerprint().dtype
len(R(7).batch(2))
len(R(7).repeat())
len(R(7).filter(lambda x: True))
bool(R(0))
repr(R(7).batch(2))
str(D.zip(R(7), S([[1.0, 2.0]])))
repr(R(3).shuffle(2).map(lambda x: (x, x)).prefetch(1))
R(4).element_spec
V(3).element_spec
D.zip({"a": R(2), "b": V(3)}).element_spec
R(7).window(3).element_spec
list(R(3).as_numpy_iterator())
list(S(([1, 2], ["a", "b"])).as_numpy_iterator())
list(S({"a": [1.5]}).as_numpy_iterator())
list(S(tf.sparse.from_dense([[0, 1], [2, 0]])).as_numpy_iterator())
R(3).window(2).as_numpy_iterator()
[int(x) for x in R(4)]
tf.compat.v1.data.get_output_types(D.zip({"a": R(2), "b": S(["x"])}))
tf.compat.v1.data.get_output_shapes(D.zip({"a": R(2), "b": V(3)}))
tf.compat.v1.data.get_output_types(S(tf.ragged.constant([[1], [2, 3]])))
tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
iter(R(3)).element_spec
iter(R(3)).get_next_as_optional()
E.index_table_from_dataset(S(["a", "b", "c"])).lookup(tf.constant(["c", "x", "a"]))
E.index_table_from_dataset(S(["a", "b", "c"]), num_oov_buckets=3).lookup(tf.constant(["c", "x", "yy"]))
E.index_table_from_dataset(S(["a", "b", "c"]), vocab_size=2, default_value=-5).lookup(tf.constant(["c", "b"]))
E.index_table_from_dataset(R(5, 8), key_dtype=tf.int64).lookup(tf.constant([7, 1], tf.int64))
E.table_from_dataset(D.zip(S(["a", "b"]), S(["x", "y"]))).lookup(tf.constant(["b", "c"]))
E.table_from_dataset(D.zip(S(["a", "b"]), R(2)), default_value=9).lookup(tf.constant(["b", "c"]))
tf.lookup.StaticHashTable(E.DatasetInitializer(D.zip(S(["a", "b"]), R(2))), -1).lookup(tf.constant(["b", "q"]))
tf.lookup.StaticHashTable(E.DatasetInitializer(D.zip(S(["a", "a"]), R(2))), -1).size()
R(3).apply(E.copy_to_device("/cpu:0")).map(lambda x: x + 1).filter(lambda x: True)
R(12).map(lambda x: x + 1).filter(lambda x: x % 2 == 0).batch(2).shuffle(2, seed=3).prefetch(2)
R(6).map(lambda x: tf.random.uniform([], seed=4))
R(6).map(lambda x: tf.random.uniform([], seed=4)).repeat(2)
R(6).map(lambda x: tf.random.uniform([]))
R(6).map(lambda x: tf.random.stateless_uniform([], [x, 1]))
R(6).filter(lambda x: tf.random.uniform([], seed=2) < 0.5)
R(6).flat_map(lambda x: D.range(x).map(lambda y: tf.random.uniform([], seed=3)))
R(6).flat_map(lambda x: D.range(tf.random.uniform([], 0, 4, tf.int64, seed=3)))
R(6).interleave(lambda x: D.range(tf.random.uniform([], 1, 4, tf.int64, seed=3)), cycle_length=2)
R(6).scan(0.0, lambda s, x: (s + tf.random.uniform([], seed=1), s))
R(8).group_by_window(lambda x: tf.random.uniform([], 0, 2, tf.int64, seed=3), lambda k, w: w.batch(3), 3)
R(9).map(lambda x: (x, tf.random.uniform([2], seed=1))).shuffle(3, seed=2).batch(2)
R(5).repeat(3).shuffle(7, seed=5).unique()
R(5).map(lambda x: {"b": x, "a": -x}).shuffle(5, seed=1).batch(2).unbatch()
S(np.arange(12).reshape(6, 2)).shuffle(4, seed=1).map(lambda x: tf.reduce_sum(x)).batch(2).repeat(2)
R(10).window(4, 2, drop_remainder=True).flat_map(lambda w: w.batch(4)).map(lambda x: (x[:-1], x[1:])).batch(2)
R(30).shard(3, 1).shuffle(4, seed=2).repeat(2).batch(4, drop_remainder=True).take(3)
""" + "".join(f"R({n}).shuffle({b}, seed={s}).batch({k})\n" for n, b, s, k in [
    (13, 2, 0, 4), (13, 5, 1, 3), (13, 13, 7, 5), (20, 7, 12345, 6), (9, 3, 2**40, 2),
])  # fmt: skip

BLOCKS = [
    """
@tf.function
def total(dataset):
    result = I(0)
    for x in dataset:
        result += x
    return result
total(R(5))
""",
    """
@tf.function
def total():
    result = I(0)
    for x in D.range(5).map(lambda x: x * 2).batch(2):
        result += tf.reduce_sum(x)
    return result
total()
""",
    """
@tf.function
def total(dataset):
    return dataset.reduce(I(0), lambda a, b: a + b), dataset.cardinality()
total(R(5).filter(lambda x: x > 1))
""",
    """
@tf.function
def make(n):
    return D.range(n).map(lambda x: x * n)
make(tf.constant(4, tf.int64))
""",
    """
@tf.function
def first(dataset):
    for i, x in dataset.enumerate():
        if x > 3:
            break
    return i
first(R(2, 9))
""",
    """
@tf.function
def last(iterator):
    return next(iterator), next(iterator)
i = iter(R(5))
last(i), last(i)
""",
    """
@tf.function
def shuffled():
    return D.range(6).shuffle(6, seed=2).batch(6).get_single_element()
shuffled(), shuffled()
""",
    """
@tf.function
def windows(dataset):
    count = 0
    for window in dataset.window(2):
        for x in window:
            count += 1
    return count
windows(R(5))
""",
    """
@tf.function
def single(x):
    return T(x).map(lambda y: y * y).get_single_element()
single(tf.constant(3)), single(tf.constant([1, 2]))
""",
    """
v = tf.Variable(I(3))
dataset = R(3).map(lambda x: x + v)
v.assign(10)
dataset
""",
    """
n = tf.constant(10, tf.int64)
R(3).map(lambda x: x + n).flat_map(lambda x: D.from_tensors(x + n))
""",
    """
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
S(["b", "c", "a"]).map(table.lookup)
""",
    """
dataset = R(4).shuffle(4, seed=1)
[int(x) for x in dataset], [int(x) for x in dataset], [int(x) for x in dataset.batch(1).unbatch()]
""",
    """
dataset = R(4).shuffle(4, seed=1).repeat(2)
i, j = iter(dataset), iter(dataset)
[int(x) for x in i], [int(x) for x in j]
""",
    """
def f(x):
    if x % 2 == 0:
        y = x
    else:
        y = -x
    for _ in range(2):
        y += 1
    return y
R(4).map(f)
""",
    """
import collections
Point = collections.namedtuple("Point", ["x", "y"])
S(Point([1, 2], [3, 4])).map(lambda p: p.x + p.y)
""",
    """
import collections
Point = collections.namedtuple("Point", ["x", "y"])
R(2).map(lambda x: Point(x, Point(x + 1, "a"))).batch(2)
""",
    """
import collections
S(collections.OrderedDict([("b", [1, 2]), ("a", [3, 4])])).map(lambda d: d)
""",
    """
options = tf.data.Options()
options.deterministic = False
options.threading.private_threadpool_size = 3
R(3).with_options(options).map(lambda x: x).options().threading.private_threadpool_size
""",
    """
options = tf.data.Options()
options.unknown = 3
""".strip() + "\n3\n",
    """
options = tf.data.Options()
options.deterministic = 3
3
""",
    """
one, two = tf.data.Options(), tf.data.Options()
one.deterministic = False
two.experimental_slack = True
two.experimental_distribute.auto_shard_policy = E.AutoShardPolicy.DATA
merged = one.merge(two)
merged.deterministic, merged.experimental_slack, merged.experimental_distribute.auto_shard_policy.name
""",
    """
one = tf.data.Options()
one.experimental_distribute.auto_shard_policy = E.AutoShardPolicy.OFF
one.merge(tf.data.Options()).experimental_distribute.auto_shard_policy.name
""",
    """
one, two = tf.data.Options(), tf.data.Options()
one.deterministic = two.deterministic = True
one == two, one != two, tf.data.Options() == one
""",
    """
options = R(3).options()
options.deterministic = True
3
""",
    """
options = tf.data.Options()
options.autotune.enabled = True
options.autotune.cpu_budget = 4
options.experimental_optimization.map_fusion = True
options.experimental_external_state_policy = E.ExternalStatePolicy.FAIL
other = D.zip(R(3).with_options(options), R(3)).options()
other.autotune.cpu_budget, other.experimental_optimization.map_fusion, other.experimental_external_state_policy.name
""",
    """
dataset = R(4).map(lambda x: tf.random.uniform([], seed=3)).cache()
i, j = iter(dataset), iter(dataset)
[float(next(i)), float(next(j)), float(next(i)), float(next(j))]
""",
    """
dataset = R(6).shuffle(6, seed=1).cache()
[int(x) for x in dataset.take(3)], [int(x) for x in dataset], [int(x) for x in dataset]
""",
    """
import tempfile
dataset = R(6).shuffle(6, seed=1).cache(tempfile.mkdtemp() + "/c")
[int(x) for x in dataset], [int(x) for x in dataset], int(dataset.cardinality())
""",
    """
import os, tempfile
path = tempfile.mkdtemp()
list(R(3).cache(path + "/c"))
os.path.exists(path + "/c.index"), sorted(name.partition(".")[0] for name in os.listdir(path))
""",
    """
import tempfile
path = tempfile.mkdtemp() + "/c"
i = iter(R(3).cache(path))
next(i)
next(iter(R(3).cache(path)))
""",
    """
import tempfile
path = tempfile.mkdtemp() + "/c"
dataset = D.zip(S(["a", "bc"]), S(tf.ragged.constant([[1], [2, 3]])), S(tf.sparse.from_dense([[0, 1], [2, 0]])))
dataset = dataset.cache(path)
list(dataset), list(dataset)
""",
    """
optional = iter(R(1))
optional.get_next_as_optional(), optional.get_next_as_optional()
""",
    """
i = iter(R(2))
next(i), next(i)
i.get_next()
""",
    """
i = iter(R(2))
next(i), next(i), next(i, "end")
""",
    """
py = R(3).map(lambda x: tf.py_function(lambda y: y.numpy() * 2, [x], tf.int64))
py
""",
    """
def fails(x):
    raise ValueError("no")
R(3).map(lambda x: tf.py_function(fails, [x], tf.int64))
""",
    """
dataset = S([3, 1, 2]).map(lambda x: tf.debugging.assert_less(x, 3) or x)
dataset
""",
]

MORE = [line for line in LINES.splitlines() if line] + [block.strip() + "\n" for block in BLOCKS]
