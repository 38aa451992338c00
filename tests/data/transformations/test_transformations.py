"""Details of the transformations that recorded programs do not show."""

import collections
import logging

import attr
import numpy as np
import pytest

import headrace as tf
from headrace._src.data.running import debug_mode

Dataset = tf.data.Dataset


def values(dataset):
    return [int(x) for x in dataset]


def test_errors_name_the_method_the_line_and_the_element():
    cases = [
        Dataset.range(5).map(lambda x: 1 // (x - 3)),
        Dataset.range(5).filter(lambda x: 1 // (x - 3) > -9),
        Dataset.range(5).scan(np.int64(0), lambda s, x: (s, 1 // (x - 3))),
        Dataset.range(5).take_while(lambda x: 1 // (x - 3) < 9),
        Dataset.range(5).flat_map(lambda x: Dataset.range(1 // (x - 3))),
        Dataset.range(5).interleave(lambda x: Dataset.range(1 // (x - 3)), cycle_length=1),
        Dataset.range(5).group_by_window(lambda x: 1 // (x - 3), lambda key, window: window, 9),
    ]
    names = ["map", "filter", "scan", "take_while", "flat_map", "interleave", "group_by_window"]
    for name, dataset in zip(names, cases):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            list(dataset)
        assert f"Dataset.{name} (" in str(caught.value)
        assert "test_transformations.py" in str(caught.value)
        assert "element 3]" in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.zip(d, d.map(lambda x: -x)),
        lambda d: d.enumerate(),
        lambda d: d.concatenate(d),
        lambda d: d.repeat(3),
        lambda d: d.shard(3, 1),
        lambda d: d.window(4, 3),
        lambda d: d.map(lambda x: x * 2).cache(),
        lambda d: d.with_options(tf.data.Options()),
        lambda d: d.apply(tf.data.experimental.assert_cardinality(1000)),
        lambda d: d.map(lambda x: tf.fill([3], x)).padded_batch(7),
    ],
)
def test_elements_have_numbers(make):
    """Shuffles hold indices, and positions are restored at once."""
    access = make(Dataset.range(1000)).stage.access
    assert access is not None
    assert access.size == len(make(Dataset.range(1000)))
    iterator = iter(make(Dataset.range(1000)))
    next(iterator)
    assert set(iterator.state_dict()["cursor"]) == {"at"}


@pytest.mark.parametrize(
    "make",
    [
        lambda d: Dataset.zip(d.filter(lambda x: x % 3 > 0), d.filter(lambda x: x % 5 > 0)),
        lambda d: d.filter(lambda x: x % 3 > 0).concatenate(d.filter(lambda x: x % 5 > 0)),
        lambda d: d.batch(7).unbatch(),
        lambda d: d.filter(lambda x: x % 3 > 0).batch(7).unbatch(),
        lambda d: d.batch(7).flat_map(Dataset.from_tensor_slices),
        lambda d: d.shuffle(20, seed=3).repeat(2).take(130),
        lambda d: d.take(7).repeat(5),
        lambda d: d.take(7).repeat().skip(3).take(30),
        lambda d: d.take(7).repeat(4).shuffle(9, seed=3),
    ],
)
def test_blocks_hold_the_same_as_elements(make):
    dataset = make(Dataset.range(100))
    one_by_one = [np.stack(tf.nest.flatten(x)) for x in dataset]
    together = [np.stack(tf.nest.flatten(x)) for x in make(Dataset.range(100)).batch(11)]
    joined = np.concatenate([np.atleast_2d(part).T if part.ndim > 1 else part[:, None] for part in together])
    np.testing.assert_array_equal(np.stack(one_by_one).reshape(len(one_by_one), -1), joined.reshape(len(joined), -1))


def test_gather_over_a_boundary():
    access = Dataset.range(3).concatenate(Dataset.range(10, 14)).stage.access
    (block,) = access.gather(np.array([4, 0, 6, 2, 3]))
    assert block.tolist() == [11, 0, 13, 2, 10]


def test_skipping():
    datasets = [
        lambda: Dataset.range(20).filter(lambda x: x >= 0).shard(3, 2),
        lambda: Dataset.range(6).flat_map(Dataset.range),
        lambda: Dataset.range(20).filter(lambda x: x >= 0).batch(3).unbatch(),
        lambda: Dataset.range(4).filter(lambda x: x >= 0).concatenate(Dataset.range(9)),
        lambda: Dataset.range(4).shuffle(3, seed=2).repeat(4),
        lambda: Dataset.random(seed=4).take(15),
    ]
    for make in datasets:
        whole = values(make())
        for count in (0, 1, 3, 7, 40):
            assert values(make().skip(count)) == whole[count:], (make, count)


def test_zip_goes_on_side_by_side_after_an_error():
    iterator = iter(Dataset.zip(Dataset.range(3).map(lambda x: 6 // (x - 1)), Dataset.range(3)))
    assert [int(x) for x in next(iterator)] == [-6, 0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert [int(x) for x in next(iterator)] == [6, 2]


def test_ignored_errors_are_logged(caplog):
    dataset = Dataset.range(4).map(lambda x: 6 // (x - 1)).ignore_errors(log_warning=True)
    with caplog.at_level(logging.WARNING):
        assert values(dataset) == [-6, 6, 3]
    assert "Dataset.map" in caplog.text
    assert "element 1" in caplog.text


def test_ignore_errors_lets_python_errors_through():
    def interrupt(x):
        raise KeyboardInterrupt

    dataset = Dataset.range(4).map(lambda x: tf.py_function(interrupt, [x], tf.int64)).ignore_errors()
    with pytest.raises(KeyboardInterrupt):
        list(dataset)


def test_negative_batch_sizes_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be negative"):
        Dataset.range(7).batch(3).rebatch(-1)  # TensorFlow aborts


def test_named_tuples_and_ordered_dicts_keep_their_types():
    Pair = collections.namedtuple("Pair", ["a", "b"])
    element = next(iter(Dataset.zip(Pair(Dataset.range(2), Dataset.range(2)))))
    assert type(element) is Pair
    ordered = collections.OrderedDict([("b", Dataset.range(2)), ("a", Dataset.range(5, 7))])
    element = next(iter(Dataset.zip(ordered)))
    assert [(key, int(value)) for key, value in element.items()] == [("b", 0), ("a", 5)]


def test_windows_outlive_their_dataset():
    windows = list(Dataset.range(5).shuffle(5, seed=1).window(2))
    assert sorted(x for window in windows for x in values(window)) == list(range(5))
    assert values(windows[0]) == values(windows[0])


def test_fingerprints():
    def make(n=5, factor=2, size=3):
        return Dataset.range(n).map(lambda x: x * factor).shuffle(size, seed=1).batch(2)

    assert int(make().fingerprint()) == int(make().fingerprint())
    others = [make(6), make(factor=3), make(size=4), make().prefetch(1), make().take(1), make().repeat()]
    numbers = {int(dataset.fingerprint()) for dataset in [make(), *others]}
    assert len(numbers) == 7
    assert make().fingerprint().dtype == tf.uint64

    words = Dataset.from_tensor_slices((["a", "b"], tf.ragged.constant([[1], [2]])))
    assert int(words.fingerprint()) != int(words.take(1).fingerprint())
    assert int(tf.function(lambda: words.fingerprint())()) == int(words.fingerprint())


def test_debug_mode():
    seen = []

    def note(x):
        if isinstance(x, tf.Tensor) and hasattr(x, "numpy"):
            seen.append(int(x))
        return x * 2, "a"

    tf.data.experimental.enable_debug_mode()
    try:
        dataset = Dataset.range(3).map(note)
        nested = Dataset.range(5).window(2).flat_map(lambda window: window.batch(2))
        total = Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)
    finally:
        debug_mode.set_enabled(False)
    assert [(int(x), y.numpy()) for x, y in dataset] == [(0, b"a"), (2, b"a"), (4, b"a")]
    assert seen == [0, 1, 2]
    assert dataset.element_spec == (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string))
    assert [x.numpy().tolist() for x in nested] == [[0, 1], [2, 3], [4]]
    assert int(total) == 10
    with pytest.raises(ValueError, match="eager"):
        tf.function(tf.data.experimental.enable_debug_mode)()


def test_names_of_the_first_version():
    experimental = tf.compat.v1.data.experimental
    assert experimental.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
    assert experimental.SparseTensorStructure(tf.int32, [2]) == tf.SparseTensorSpec([2], tf.int32)
    assert experimental.RaggedTensorStructure(tf.int32, [2, None], 1) == tf.RaggedTensorSpec([2, None], tf.int32, 1)
    assert isinstance(experimental.TensorArrayStructure(tf.int32, [2], False, True), tf.TensorArraySpec)
    assert experimental.DatasetStructure is tf.data.DatasetSpec
    assert issubclass(tf.TensorSpec, experimental.Structure)
    assert tf.compat.v1.data.get_output_classes(Dataset.range(2)) is tf.Tensor


def test_tables_from_datasets():
    pairs = Dataset.zip(Dataset.from_tensor_slices(["a", "b"]), Dataset.range(2))
    initializer = tf.data.experimental.DatasetInitializer(pairs)
    table = tf.lookup.StaticHashTable(initializer, -1)
    assert (int(table.size()), initializer.key_dtype, initializer.value_dtype) == (2, tf.string, tf.int64)
    with pytest.raises(ValueError, match="pairs of scalar"):
        tf.data.experimental.DatasetInitializer(Dataset.range(2))
    with pytest.raises(ValueError, match="default_value"):
        tf.data.experimental.table_from_dataset(pairs)
    with pytest.raises(ValueError, match="num_oov_buckets"):
        tf.data.experimental.table_from_dataset(pairs, num_oov_buckets=-1)
    with pytest.raises(TypeError, match="keys"):
        tf.data.experimental.table_from_dataset(pairs, default_value=0, key_dtype=tf.float32)
    with pytest.raises(ValueError, match="must be a tf.data.Dataset"):
        tf.data.experimental.index_table_from_dataset([1, 2])


def test_prefetch_to_device():
    dataset = Dataset.range(3).apply(tf.data.experimental.prefetch_to_device("/cpu:0", buffer_size=2))
    assert values(dataset) == [0, 1, 2]


def test_random_access_walks_where_it_must():
    dataset = Dataset.range(10).filter(lambda x: x % 2 == 0)
    assert int(tf.data.experimental.at(dataset, 3)) == 6
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(dataset, 5)
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(dataset, -1)


def test_shapes_of_sparse_and_ragged_elements_are_known_in_functions():
    seen = []

    def note(ragged, sparse):
        seen.append((ragged.shape.as_list(), tf.reduce_sum(ragged, 1).shape.as_list()))
        seen.append((tf.sparse.to_dense(sparse).shape.as_list(), sparse.indices.shape.as_list()))
        return 0

    elements = tf.ragged.constant([[1, 2], [3], []]), tf.sparse.from_dense([[1, 0], [0, 2], [0, 0]])
    dataset = tf.data.Dataset.from_tensor_slices(elements)
    dataset.batch(2, drop_remainder=True).map(note)
    assert seen == [([2, None], [2]), ([2, 2], [None, 2])]
    seen.clear()
    dataset.batch(2).map(note)
    assert seen == [([None, None], [None]), ([None, 2], [None, 2])]


def test_ragged_elements_can_be_taken_apart_to_scalars():
    dataset = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1], [2]], [[3]]])).unbatch().unbatch()
    assert [int(x) for x in dataset] == [1, 2, 3]


def test_scalar_strings_are_padded_to_batches():
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(3), ["a", "b", "c"])).padded_batch(2)
    assert [x.numpy().tolist() for _, x in dataset] == [[b"a", b"b"], [b"c"]]
    assert [x.numpy().tolist() for x in dataset.map(lambda n, s: s + "!")] == [[b"a!", b"b!"], [b"c!"]]


def test_cardinalities_of_what_is_without_end_or_not_known():
    endless = tf.data.Dataset.range(3).repeat()
    unknown = tf.data.Dataset.range(3).filter(lambda x: x > 0)
    sizes = [endless.enumerate(), endless.skip(-1), unknown.take(0), unknown.skip(-1), endless.take(0)]
    assert [int(dataset.cardinality()) for dataset in sizes] == [-1, -1, -2, -2, 0]
    windows = endless.group_by_window(lambda x: x, lambda key, window: window, 2)
    assert int(windows.cardinality()) == tf.data.INFINITE_CARDINALITY
    for number in (0, -2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
            unknown.map(lambda x: x, num_parallel_calls=number)


@pytest.mark.parametrize("flag", [[], [True]])
@pytest.mark.parametrize("name", ["batch", "padded_batch", "window", "rebatch", "bucket_by_sequence_length"])
def test_numbers_of_datasets_are_scalars_also_in_graphs(name, flag):
    dataset = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
    sizes = (lambda x: tf.shape(x)[0], [3], [2, 2]) if name == "bucket_by_sequence_length" else (2,)

    def make():
        return getattr(dataset, name)(*sizes, drop_remainder=flag).cardinality()

    for call in (make, tf.function(make)):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="drop_remainder must"):
            call()


def test_interleave_opens_as_many_datasets_as_calls_run_at_a_time():
    twice = lambda x: tf.data.Dataset.from_tensors(x).repeat(2)
    numbers = tf.data.Dataset.range(3).interleave(twice, cycle_length=None, num_parallel_calls=1)
    assert [int(x) for x in numbers] == [0, 0, 1, 1, 2, 2]


def test_zip_of_a_class_of_attrs():
    @attr.s
    class Pair:
        x = attr.ib()
        y = attr.ib()

    pairs = list(tf.data.Dataset.zip(Pair(tf.data.Dataset.range(2), tf.data.Dataset.range(5, 7))))
    assert [(type(p), int(p.x), int(p.y)) for p in pairs] == [(Pair, 0, 5), (Pair, 1, 6)]
    with pytest.raises(TypeError, match="contains int"):
        tf.data.Dataset.zip(Pair(tf.data.Dataset.range(2), 1))


def test_sparse_values_of_1x_are_elements():
    value = tf.compat.v1.SparseTensorValue(np.array([[0, 0], [1, 1]]), np.array([1, 2]), np.array([2, 2]))
    dataset = tf.data.Dataset.from_tensors(value)
    assert dataset.element_spec == tf.SparseTensorSpec([2, 2], tf.int64)
    assert tf.sparse.to_dense(next(iter(dataset))).numpy().tolist() == [[1, 0], [0, 2]]
    rows = tf.data.Dataset.from_tensor_slices(value)
    assert [tf.sparse.to_dense(row).numpy().tolist() for row in rows] == [[1, 0], [0, 2]]


@pytest.mark.parametrize(
    ("count", "seed", "size", "reshuffles", "expected"),
    [
        (5, 3, 5, True, [2, 4, 3, 0, 1]), (7, 1, 2, True, [2, 6, 5, 0, 3, 4, 1]),
        (10, 42, 10, True, [2, 0, 7, 8, 9, 3, 6, 4, 1, 5]), (5, 3, 5, False, [0, 1, 4, 3, 2]),
        (6, 3, 5, False, [5, 4, 1, 2, 3, 0]),
    ],
)  # fmt: skip
def test_elements_of_a_shuffle_by_number(count, seed, size, reshuffles, expected):
    """What TensorFlow gives: one order of all elements, whatever the buffer, and the same when asked again."""
    dataset = Dataset.range(count).shuffle(size, seed=seed, reshuffle_each_iteration=reshuffles)
    for _ in range(2):
        assert [int(tf.data.experimental.at(dataset, i)) for i in range(count)] == expected
    doubled = dataset.map(lambda x: x * 2).batch(2)
    assert tf.data.experimental.at(doubled, 1).numpy().tolist() == [2 * expected[2], 2 * expected[3]]


@pytest.mark.parametrize(
    ("apply", "kind"),
    [
        (lambda d, f: d.map(f), "MapDataset"), (lambda d, f: d.map(f, 2), "ParallelMapDatasetV2"),
        (lambda d, f: d.filter(lambda x: f(x) > 0), "FilterDataset"),
        (lambda d, f: d.flat_map(lambda x: Dataset.from_tensors(f(x))), "FlatMapDataset"),
        (lambda d, f: d.interleave(lambda x: Dataset.from_tensors(f(x))), "InterleaveDataset"),
    ],
)  # fmt: skip
def test_errors_of_functions_begin_as_in_tensorflow(apply, kind):
    def fails(x):
        return tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "no number")

    with pytest.raises(tf.errors.InvalidArgumentError, match=f"^Error in user-defined function passed to {kind} trans"):
        list(apply(Dataset.range(2), fails))
