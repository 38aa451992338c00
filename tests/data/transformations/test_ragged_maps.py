"""Maps whose results differ in size: computed for whole blocks, they are what they are one by one."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.running.ragged_columns import (
    RaggedColumn,
    as_column,
    elements_of,
    joined_columns,
    stacked_columns,
)
from headrace._src.data.running.stages import Run

Dataset = tf.data.Dataset
LINES = [" ".join(["Ab", "c3,d", "éè", "the", "x1.5"][i % 3 : i % 5 + 1] * (i % 4)) for i in range(150)]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "lines.txt"
    path.write_text("\n".join(LINES), "utf-8")
    return tf.data.TextLineDataset(str(path))


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("records") / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(150):
            feature = {
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=range(i % 7))),
                "text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%d" % j for j in range(i % 3)])),
            }
            if i % 4:
                floats = tf.train.FloatList(value=[0.5 * j for j in range(i % 5)])
                feature["floats"] = tf.train.Feature(float_list=floats)
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return tf.data.TFRecordDataset(path)


def table():
    keys, values = tf.constant(["Ab", "the", "c3,d"]), tf.constant([4, 5, 6], tf.int64)
    return tf.lookup.KeyValueTensorInitializer(keys, values)


def lookup():
    found = tf.lookup.StaticHashTable(table(), -1)
    return lambda line: found.lookup(tf.strings.split(tf.strings.lower(line)))


def vocabulary():
    found = tf.lookup.StaticVocabularyTable(table(), 3)
    return lambda line: found.lookup(tf.strings.split(tf.strings.regex_replace(line, "[0-9]", ""), sep=" ")[:4])


def called():
    @tf.function
    def inner(line):
        return tf.strings.split(line)

    return lambda line: (inner(line), tf.size(inner(line)))


def words(function):
    """A function of the words of a line."""
    return lambda: lambda line: function(tf.strings.split(line))


def sizes(function):
    """A function of the lengths of the words of a line."""
    return words(lambda parts: function(tf.strings.length(parts)))


OF_LINES = {
    "split": words(lambda w: w),
    "split at commas": lambda: lambda line: tf.strings.split(line, ",", maxsplit=1),
    "lookup": lookup,
    "vocabulary": vocabulary,
    "called": called,
    "marks": lambda: lambda line: tf.concat([["[S]"], tf.strings.split(line), ["[E]"], [line]], 0),
    "two": lambda: lambda line: (tf.concat([tf.strings.split(line), tf.strings.split(line, "3")], 0), line),
    "slices": words(lambda w: (w[1:], w[:-2], w[-3:2])),
    "sliced by number": lambda: lambda line: tf.strings.split(line)[: tf.strings.length(line) // 9],
    "hashes": words(lambda w: tf.strings.to_hash_bucket_fast(w, 10) * 3 + 1),
    "with lengths": lambda: lambda line: tf.strings.length(tf.strings.split(line)) + tf.strings.length(line),
    "one hot": sizes(lambda n: tf.one_hot(n, 4)),
    "embedded": sizes(lambda n: tf.gather(tf.reshape(tf.range(40.0), [20, 2]), n)),
    "chosen": sizes(lambda n: tf.where(n > 2, n, -n)),
    "shapes": words(lambda w: (w, tf.shape(w), tf.size(w), tf.rank(w))),
    "characters": lambda: lambda line: tf.strings.unicode_decode(line, "UTF-8"),
    "split characters": lambda: lambda line: tf.strings.unicode_split(line, "UTF-8"),
    "cut off": words(lambda w: w[..., :3]),
    "sums so far": sizes(lambda n: tf.cumsum(n)),
    "filled up to": words(lambda w: (w, tf.pad(w[..., :7], [[0, 7 - tf.minimum(tf.size(w), 7)]]))),
    "joined": words(lambda w: (w, tf.strings.reduce_join(w, separator="-"))),
    "prefixed": words(lambda w: tf.strings.join(["<", w, ">"])),
    "sums": sizes(lambda n: (n, tf.reduce_sum(n), tf.reduce_max(n), tf.reduce_min(n))),
    "columns": sizes(lambda n: tf.concat([n[:, None], n[:, None] * 2], 1)),
    "filled up": words(lambda w: (w, tf.pad(w, [[1, 30 - tf.size(w)]], constant_values="-"))),
    "filled up with zeros": sizes(lambda n: tf.pad(n, [[0, 2]])),
    "axes at the end": sizes(lambda n: (n[..., None], n[:, None, None][..., 0], tf.squeeze(n[:, None], 1))),
    "reshaped": words(lambda w: tf.reshape(w, [-1, 1])),
    "flat again": words(lambda w: tf.reshape(w, [-1])),
    "of any shape": words(lambda w: tf.ensure_shape(w, [None])),
}

FEATURES = {
    "ids": tf.io.VarLenFeature(tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "text": tf.io.RaggedFeature(tf.string),
    "floats": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
}


def parsed(*keys):
    return lambda record: tf.io.parse_single_example(record, {key: FEATURES[key] for key in keys})


OF_RECORDS = {
    "dense": lambda: lambda r: tf.sparse.to_dense(parsed("ids")(r)["ids"]),
    "values": lambda: lambda r: (lambda x: (x["ids"].values, x["ids"].indices, x["ids"].dense_shape))(parsed("ids")(r)),
    "ragged": lambda: lambda r: parsed("text", "label")(r)["text"],
    "sequences": lambda: parsed("floats", "label"),
    "all": lambda: lambda r: (lambda x: {**x, "ids": tf.sparse.to_dense(x["ids"], -1)})(
        parsed("ids", "label", "floats")(r)
    ),
}

OF_NUMBERS = {
    "filled": lambda: lambda x: tf.fill([tf.cast(x % 5, tf.int32)], x),
    "filled alike": lambda: lambda x: (tf.fill([2], x), tf.zeros([x % 3])),
    "numbers": lambda: lambda x: tf.range(x % 7),
    "numbers between": lambda: lambda x: tf.range(x, -x - 1, -3),
    "slices of numbers": lambda: lambda x: tf.range(x)[x // 2 :],
    "ones": lambda: lambda x: tf.ones([x % 4], tf.float32) * tf.cast(x, tf.float32),
}


def walked(stage):
    cursor, found = stage.cursor(Run()), []
    while (element := cursor.next()) is not None:
        found.append(element)
    return found


def one_by_one(dataset):
    """The results of calls of the function for each element."""
    stage = dataset.stage
    return [stage.function(element) for element in walked(stage.source)]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert len(one) == len(other)
        for part, wanted in zip(one, other):
            part, wanted = np.asarray(part), np.asarray(wanted)
            assert part.dtype == wanted.dtype
            assert part.shape == wanted.shape
            assert part.tolist() == wanted.tolist()


def padded(elements):
    """A batch of elements with padding, made here."""
    batch = []
    for parts in zip(*elements):
        sizes = np.array([part.shape for part in parts], int)
        fill = b"" if parts[0].dtype == object else 0
        whole = np.full((len(parts), *sizes.max(axis=0)), fill, parts[0].dtype)
        for i, part in enumerate(parts):
            whole[(i, *[slice(n) for n in part.shape])] = part if part.ndim else part[()]
        batch.append(whole)
    return tuple(batch)


def check(dataset):
    stage = dataset.stage
    assert stage.columns_are_ragged is not None
    expected = one_by_one(dataset)
    assert_same(walked(stage), expected)
    batches = [padded(expected[i : i + 16]) for i in range(0, len(expected), 16)]
    assert_same(walked(dataset.padded_batch(16).stage), batches)
    assert not stage._ragged_failures


@pytest.mark.parametrize("calls", [None, tf.data.AUTOTUNE, 3])
@pytest.mark.parametrize("name", OF_LINES)
def test_lines(lines, name, calls):
    check(lines.map(OF_LINES[name](), num_parallel_calls=calls))


@pytest.mark.parametrize("name", OF_RECORDS)
def test_records(records, name):
    check(records.map(OF_RECORDS[name](), num_parallel_calls=tf.data.AUTOTUNE))


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers(name):
    check(Dataset.range(60).map(OF_NUMBERS[name](), num_parallel_calls=tf.data.AUTOTUNE))


def components(dataset):
    return [[part.numpy() for part in tf.nest.flatten(x, expand_composites=True)] for x in dataset]


def test_ragged_elements(lines):
    """They are encoded, one object for each."""
    for function in (
        lambda line: tf.strings.split([line]),
        lambda line: (tf.strings.split([line]), tf.strings.length(line)),
    ):
        dataset = lines.map(function, num_parallel_calls=tf.data.AUTOTUNE)
        assert dataset.stage.vectorized is not None
        apart = lines.map(function)
        apart.stage.vectorized = None
        assert_same(components(dataset), components(apart))
        assert_same(components(dataset.batch(7)), components(apart.batch(7)))


def test_ragged_batches(lines):
    batches = list(lines.map(tf.strings.split).ragged_batch(40))
    assert [int(batch.nrows()) for batch in batches] == [40, 40, 40, 30]
    found = [row for batch in batches for row in batch.to_list()]
    assert found == [line.encode().split() for line in LINES]
    numbers = Dataset.range(20).map(lambda x: (tf.range(x % 4), x)).ragged_batch(6)
    assert [x.to_list()[-1] for x, _ in numbers] == [[0], [0, 1, 2], [0], [0, 1, 2]]


def test_one_map_after_another(lines):
    split = lines.map(tf.strings.split)
    check(split.map(lambda w: (w[1:], tf.strings.length(w), tf.size(w))))
    check(split.map(tf.strings.length).map(lambda n: n * 2))
    check(lines.shuffle(40, seed=3, reshuffle_each_iteration=False).map(tf.strings.split))


BETWEEN = {
    "taken": lambda d: d.skip(5).take(90).map(tf.strings.split),
    "zipped": lambda d: Dataset.zip((d, Dataset.range(200))).map(lambda line, i: (tf.strings.split(line), i)),
    "numbered": lambda d: d.enumerate().map(lambda i, line: (i, tf.strings.split(line))),
    "chosen": lambda d: d.filter(lambda line: tf.size(tf.strings.split(line)) > 1).map(tf.strings.split),
    "shuffled in between": lambda d: d.map(tf.strings.split).shuffle(9, seed=2).map(lambda w: (w[1:], tf.size(w))),
    "shuffled slices": lambda d: Dataset.from_tensor_slices(LINES).shuffle(9, seed=2).map(tf.strings.split),
    "slices": lambda d: Dataset.from_tensor_slices(LINES).map(tf.strings.split).map(lambda w: w[:2]),
    "repeated": lambda d: Dataset.from_tensor_slices(LINES).repeat(2).map(tf.strings.split),
    "repeated without end": lambda d: Dataset.from_tensor_slices(LINES).repeat().map(tf.strings.split).take(333),
    "with options": lambda d: d.with_options(tf.data.Options()).map(tf.strings.split).with_options(tf.data.Options()),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_other_steps_in_between(lines, name):
    def make():
        return BETWEEN[name](lines)

    def without_columns():
        dataset = make()
        stage = dataset.stage
        while stage.inputs:
            if hasattr(stage, "columns_are_ragged"):
                assert stage.has_columns
                stage._ragged = None
            stage = stage.inputs[-1 if name == "numbered" else 0]
        return dataset

    everything = walked(without_columns().stage)
    assert_same(walked(make().stage), everything)
    batches = [padded(everything[i : i + 8]) for i in range(0, len(everything), 8)]
    assert_same(walked(make().padded_batch(8).stage), batches)
    iterator = iter(make().padded_batch(8))
    for _ in range(3):
        next(iterator)
    other = iter(make().padded_batch(8))
    other.load_state_dict(iterator.state_dict())
    rest = [tuple(np.asarray(part) for part in tf.nest.flatten(x)) for x in other]
    assert_same(rest, batches[3:])


def test_results_of_one_size_are_blocks(lines):
    """Only what is in between differs in size."""
    dataset = lines.map(lambda line: (line, tf.size(tf.strings.split(line))))
    assert dataset.stage.vectorized is not None
    assert_same(walked(dataset.stage), one_by_one(dataset))
    five = lines.map(lambda line: tf.ensure_shape(tf.concat([tf.strings.split(line), ["-"] * 9], 0)[:5], [5]))
    assert five.stage.vectorized is not None
    assert_same(walked(five.stage), one_by_one(five))
    first = lines.map(lambda line: tf.reshape(tf.concat([tf.strings.split(line), ["-"] * 9], 0)[:4], [2, 2])[1])
    assert first.stage.vectorized is not None
    assert_same(walked(first.stage), one_by_one(first))


@pytest.mark.parametrize(
    "make", [lambda d: d, lambda d: d.padded_batch(7), lambda d: d.map(lambda w: w[:3]).padded_batch(4)]
)
def test_walks_go_on_where_they_stood(lines, make):
    def dataset():
        return make(lines.map(tf.strings.split, num_parallel_calls=tf.data.AUTOTUNE))

    whole = [x.numpy().tolist() for x in dataset()]
    for count in (0, 1, 11, len(whole) - 1):
        iterator = iter(dataset())
        for _ in range(count):
            next(iterator)
        other = iter(dataset())
        other.load_state_dict(iterator.state_dict())
        assert [x.numpy().tolist() for x in other] == whole[count:]
        assert [x.numpy().tolist() for x in iterator] == whole[count:]
        assert [x.numpy().tolist() for x in dataset().skip(count)] == whole[count:]


def number_lines(tmp_path, wrong):
    path = tmp_path / "numbers.txt"
    path.write_text("\n".join(" ".join("x" if i == wrong else str(j) for j in range(i % 4 + 1)) for i in range(200)))
    return tf.data.TextLineDataset(str(path)).map(lambda line: tf.strings.to_number(tf.strings.split(line), tf.int64))


def test_errors_name_their_element(tmp_path):
    dataset = number_lines(tmp_path, 90)
    iterator, found = iter(dataset), []
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 90, 'x x x']"):
        for x in iterator:
            found.append(x)
    assert len(found) == 90
    assert next(iterator).numpy().tolist() == [0, 1, 2, 3]
    assert len(list(iterator)) == 108
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 90, 'x x x']"):
        list(dataset.padded_batch(8))
    assert len(list(dataset.ignore_errors())) == 199
    assert len(list(dataset.padded_batch(8).ignore_errors())) in (24, 25)


def test_elements_that_cannot_be_computed_together():
    """What each of them says is said, with its number."""
    empty = Dataset.range(5).map(lambda x: tf.range(3 - x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 4]"):
        list(empty.padded_batch(2))
    first = Dataset.range(5).map(lambda x: (tf.range(4 - x)[1], tf.range(4 - x)))
    assert first.stage.columns_are_ragged == [False, True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 3]"):
        list(first)
    negative = Dataset.range(5).map(lambda x: tf.fill([2 - x], 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 3]"):
        list(negative.padded_batch(5))


def test_batches_of_elements_that_differ(lines):
    same = lines.map(lambda line: tf.concat([tf.strings.split(line), [line] * 9], 0)[:6])
    assert [x.shape[0] for x in same.batch(40)] == [40, 40, 40, 30]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(lines.map(tf.strings.split).batch(40))
    numbers = Dataset.range(9).map(lambda x: tf.range(x // 4))
    assert next(iter(numbers.batch(4))).shape == (4, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(numbers.batch(5))


def test_padding_to_given_sizes(lines):
    split = lines.map(tf.strings.split)
    most = max(len(x) for x in split)
    batch = next(iter(split.padded_batch(9, padded_shapes=[most + 2], padding_values="?")))
    assert batch.shape == (9, most + 2)
    assert batch.numpy()[0].tolist() == [b"?"] * (most + 2)
    with pytest.raises(tf.errors.DataLossError, match="Attempted to pad to a smaller size"):
        list(split.padded_batch(9, padded_shapes=[most - 1]))
    assert len(list(split.padded_batch(40, drop_remainder=True))) == 3


def test_what_has_no_rule_is_called_for_each(lines):
    for function in (
        lambda line: tf.strings.split([line, line]).to_tensor(),
        lambda line: tf.sort(tf.strings.length(tf.strings.split(line))),
        lambda line: tf.cast(tf.range(tf.strings.length(line)), tf.float32) * tf.random.uniform([]),
        lambda line: tf.reduce_sum(tf.range(tf.cast(tf.strings.length(line), tf.float32))),
        lambda line: tf.strings.split(line) + tf.strings.split(line, ","),
    ):
        assert lines.map(function).stage.columns_are_ragged is None


def test_columns():
    column = RaggedColumn(np.arange(9), [0, 2, 2, 6, 9])
    assert [part[0].tolist() for part in elements_of((column[1:3], np.zeros(2)))] == [[], [2, 3, 4, 5]]
    values, splits = column[2:].arrays()
    assert (values.tolist(), splits.tolist()) == ([2, 3, 4, 5, 6, 7, 8], [0, 4, 7])
    (whole,) = joined_columns([(column[:1],), (as_column(np.array([[7, 7], [8, 8]])),), (column[3:],)])
    assert (whole.values.tolist(), whole.splits) == ([0, 1, 7, 7, 8, 8, 6, 7, 8], [0, 2, 4, 6, 9])
    assert as_column(np.zeros((3, 0))).splits == [0, 0, 0, 0]
    (stacked,) = stacked_columns((whole[:3],))
    assert stacked.tolist() == [[0, 1], [7, 7], [8, 8]]


def test_what_changes_is_read_in_time(lines):
    """Unless calls were asked to run ahead."""
    found = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    full = lines.filter(lambda line: tf.strings.length(line) > 1)
    dataset = full.map(lambda line: found.lookup(tf.strings.split(line)))
    iterator = iter(dataset)
    assert set(next(iterator).numpy()) == {-1}
    words = sorted({word for line in LINES for word in line.split()})
    found.insert(words, tf.range(len(words), dtype=tf.int64))
    assert -1 not in next(iterator).numpy()
    assert -1 not in next(iter(dataset.padded_batch(1, padded_shapes=[None]))).numpy()


def test_large_results_are_made_few_at_a_time(lines):
    dataset = lines.map(lambda line: tf.one_hot(tf.strings.length(tf.strings.split(line)), 5000))
    cursor = dataset.stage.cursor(Run())
    cursor.next()
    assert cursor._next_count < 100
    plain = lines.map(lambda line: tf.one_hot(tf.strings.length(line), 50000))
    cursor = plain.stage.cursor(Run())
    cursor.next()
    assert cursor._next_count < 100
