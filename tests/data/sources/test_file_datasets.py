"""`TFRecordDataset`, `TextLineDataset`, `FixedLengthRecordDataset` and `Dataset.list_files`."""

import gzip
import pathlib

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.datasets import dataset_of


def values(dataset):
    return list(dataset.as_numpy_iterator())


def write(path, records, compression=""):
    with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions(compression_type=compression)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


@pytest.fixture
def a(tmp_path):
    return write(tmp_path / "a", [b"a%d" % i for i in range(5)])


@pytest.fixture
def b(tmp_path):
    return write(tmp_path / "b", [b"b%d" % i for i in range(3)])


A, B = [b"a0", b"a1", b"a2", b"a3", b"a4"], [b"b0", b"b1", b"b2"]


def test_ways_to_give_files(a, b):
    records = tf.data.TFRecordDataset
    assert values(records(a)) == A
    assert values(records([a, b])) == A + B
    assert values(records(tf.constant([[a, b]]))) == A + B
    assert values(records(pathlib.Path(a))) == A
    assert values(records([pathlib.Path(a), b])) == A + B
    assert values(records(tf.data.Dataset.from_tensor_slices([b, a]))) == B + A
    assert values(records([])) == []
    assert values(records([a], buffer_size=3)) == A
    assert values(records([a], buffer_size=-1)) == A


def test_what_it_says_of_itself(a):
    dataset = tf.data.TFRecordDataset(a)
    assert isinstance(dataset, tf.data.TFRecordDataset)
    assert isinstance(dataset, tf.data.Dataset)
    assert repr(dataset) == "<TFRecordDatasetV2 element_spec=TensorSpec(shape=(), dtype=tf.string, name=None)>"
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert [type(x).__name__ for x in dataset._inputs()] == ["_TensorSliceDataset"]
    assert repr(tf.data.TextLineDataset(a)).startswith("<TextLineDatasetV2 ")
    assert repr(tf.data.FixedLengthRecordDataset(a, 3)).startswith("<FixedLengthRecordDatasetV2 ")


def test_several_files_in_turns(a, b):
    records = tf.data.TFRecordDataset
    assert values(records([a, b], num_parallel_reads=2)) == [b"a0", b"b0", b"a1", b"b1", b"a2", b"b2", b"a3", b"a4"]
    expected = [b"a0", b"b0", b"a0", b"a1", b"b1", b"a1", b"a2", b"b2", b"a2", b"a3", b"a3", b"a4", b"a4"]
    assert values(records([a, b, a], num_parallel_reads=3)) == expected
    assert values(records([a, b], num_parallel_reads=1)) == A + B
    assert sorted(values(records([a, b], num_parallel_reads=tf.data.AUTOTUNE))) == A + B
    with pytest.raises(tf.errors.InvalidArgumentError, match="cycle_length"):
        values(records([a, b], num_parallel_reads=0))


def test_in_other_datasets(a, b):
    names = tf.data.Dataset.from_tensor_slices([a, b])
    expected = [b"a0", b"a1", b"b0", b"b1", b"a2", b"a3", b"b2", b"a4"]
    assert values(names.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2)) == expected
    assert values(names.flat_map(tf.data.TFRecordDataset)) == A + B

    @tf.function
    def length(name):
        total = tf.constant(0)
        for record in tf.data.TFRecordDataset(name):
            total += tf.strings.length(record)
        return total

    assert int(length(a)) == 10
    assert int(length(b)) == 6


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_compressed(tmp_path, kind):
    path = write(tmp_path / "z", A, kind)
    assert values(tf.data.TFRecordDataset(path, compression_type=kind)) == A
    with pytest.raises(tf.errors.DataLossError, match=rf"z; corrupted record 0 at byte 0.*{kind}"):
        values(tf.data.TFRecordDataset(path))


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (3, "Got `tf.int32` elements"),
        ([3.0], "Got `tf.float32` elements"),
        (lambda: tf.data.Dataset.range(3), "Got a dataset of `tf.int64` elements"),
        (lambda: tf.data.Dataset.from_tensor_slices([["a"]]), "of shape"),
        (lambda: tf.data.Dataset.from_tensors(("a", "b")), "Got a dataset"),
    ],
)
def test_wrong_names(names, match):
    with pytest.raises(TypeError, match=match):
        tf.data.TFRecordDataset(names() if callable(names) else names)


def test_files_that_cannot_be_read(tmp_path, a):
    for dataset in (tf.data.TFRecordDataset, tf.data.TextLineDataset):
        with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
            values(dataset(str(tmp_path / "nowhere")))
        with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
            values(dataset(str(tmp_path)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="compression_type 'FOO'"):
            values(dataset(a, compression_type="FOO"))


def test_a_damaged_record(tmp_path, a, b):
    data = bytearray(pathlib.Path(a).read_bytes())
    data[30] ^= 1  # in the data of the second record
    damaged = tmp_path / "damaged"
    damaged.write_bytes(data)
    dataset = tf.data.TFRecordDataset([str(damaged), b])
    iterator = iter(dataset)
    assert next(iterator).numpy() == b"a0"
    message = r"(?s)damaged; corrupted record 1 at byte 18: the checksum of its data.*test_file_datasets.py.*element 1"
    with pytest.raises(tf.errors.DataLossError, match=message):
        next(iterator)
    assert [x.numpy() for x in iterator] == B  # the next file
    with pytest.raises(tf.errors.DataLossError, match="record 1 at byte 18"):
        values(dataset.batch(2))
    whole = pathlib.Path(a).read_bytes()
    damaged.write_bytes(whole[:40])
    with pytest.raises(tf.errors.DataLossError, match="truncated record 2 at byte 36"):
        values(tf.data.TFRecordDataset(str(damaged)))


def test_lines(tmp_path):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    first.write_bytes(b"one\ntwo\r\nthree\n\nfive")
    second.write_bytes(b"x\ny\n")
    lines = tf.data.TextLineDataset
    expected = [b"one", b"two", b"three", b"", b"five"]
    assert values(lines(str(first))) == expected
    assert values(lines([str(first), str(second)])) == [*expected, b"x", b"y"]
    turns = [b"one", b"x", b"two", b"y", b"three", b"", b"five"]
    assert values(lines([str(first), str(second)], num_parallel_reads=2)) == turns
    assert [x.tolist() for x in values(lines(str(first)).batch(3))] == [expected[:3], expected[3:]]
    with gzip.open(tmp_path / "z", "wb") as file:
        file.write(b"a\nb")
    assert values(lines(str(tmp_path / "z"), "GZIP")) == [b"a", b"b"]


def test_pieces(tmp_path):
    path = tmp_path / "pieces"
    path.write_bytes(b"HHabcdefghiF")
    pieces = tf.data.FixedLengthRecordDataset
    assert values(pieces(str(path), 3, 2, 1)) == [b"abc", b"def", b"ghi"]
    number = tf.constant(3, tf.int64)
    assert values(pieces(str(path), number, tf.constant(2, tf.int64), 1)) == [b"abc", b"def", b"ghi"]
    assert values(pieces([str(path)] * 2, 9, 2, 1, num_parallel_reads=2)) == [b"abcdefghi"] * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="record length"):
        values(pieces(str(path), 5))
    with pytest.raises(tf.errors.InvalidArgumentError, match="record_bytes"):
        values(pieces(str(path), 0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="header_bytes"):
        values(pieces(str(path), 3, -1))
    with gzip.open(tmp_path / "z", "wb") as file:
        file.write(b"HHabcdefghiF")
    assert values(pieces(str(tmp_path / "z"), 3, 2, 1, compression_type="GZIP")) == [b"abc", b"def", b"ghi"]
    with pytest.raises(tf.errors.DataLossError, match="record length"):
        values(pieces(str(tmp_path / "z"), 5, 2, 1, compression_type="GZIP"))


def test_byte_offsets(a, b):
    first = tf.raw_ops.TFRecordDatasetV2(filenames=[a, b], compression_type="", buffer_size=100, byte_offsets=[18, 0])
    dataset = dataset_of(first, tf.TensorSpec([], tf.string))
    assert values(dataset) == A[1:] + B
    with pytest.raises(tf.errors.InvalidArgumentError, match="byte_offsets"):
        tf.raw_ops.TFRecordDatasetV2(filenames=[a, b], compression_type="", buffer_size=100, byte_offsets=[18])


@pytest.mark.parametrize("position", [0, 1, 4, 5, 6, 8])
@pytest.mark.parametrize("reads", [None, 2])
def test_resume(a, b, position, reads):
    dataset = tf.data.TFRecordDataset([a, b], num_parallel_reads=reads)
    expected = values(dataset)
    iterator = iter(dataset)
    for _ in range(position):
        next(iterator)
    other = iter(dataset)
    other.load_state_dict(iterator.state_dict())
    assert [x.numpy() for x in other] == expected[position:]


def test_resume_reads_nothing_of_what_came_before(tmp_path):
    path = write(tmp_path / "long", [b"x" * 1000] * 1000)
    dataset = tf.data.TFRecordDataset(path)
    iterator = iter(dataset.skip(900))
    next(iterator)
    state = iterator.state_dict()
    data = bytearray(pathlib.Path(path).read_bytes())
    data[: 1016 * 901] = bytes(1016 * 901)
    pathlib.Path(path).write_bytes(data)
    other = iter(dataset.skip(900))
    other.load_state_dict(state)
    assert len(list(other)) == 99


# Parsing, for which records are read ahead.


def _example(i):
    feature = {
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5])),
        "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


FEATURES = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
PIPELINES = {
    "each": lambda records: records.map(lambda r: tf.io.parse_single_example(r, FEATURES)),
    "each, batched": lambda records: records.map(lambda r: tf.io.parse_single_example(r, FEATURES)).batch(7),
    "batches": lambda records: records.batch(7).map(lambda r: tf.io.parse_example(r, FEATURES)),
    "whole batches": lambda records: records.batch(7, True).map(lambda r: tf.io.parse_example(r, FEATURES)),
    "batches, more": lambda records: records.batch(7).map(
        lambda r: (tf.io.parse_example(r, FEATURES)["y"] * 2, tf.strings.length(r))
    ),
    "shuffled": lambda records: (
        records.shuffle(20, 3, False).batch(7).map(lambda r: tf.io.parse_example(r, FEATURES)["y"])
    ),
    "repeated": lambda records: records.repeat(2).batch(50).map(lambda r: tf.io.parse_example(r, FEATURES)["y"]),
}


def plain(element):
    return [np.asarray(part).tolist() for part in tf.nest.flatten(element)]


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    return [write(folder / str(n), [_example(i + 1000 * n) for i in range(200 + n)]) for n in range(2)]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("reads", [None, 2])
def test_parsed_records(examples, name, reads):
    dataset = PIPELINES[name](tf.data.TFRecordDataset(examples, num_parallel_reads=reads))
    records = values(tf.data.TFRecordDataset(examples, num_parallel_reads=reads))
    source = tf.data.Dataset.from_generator(lambda: iter(records), output_signature=tf.TensorSpec([], tf.string))
    expected = [plain(x) for x in PIPELINES[name](source)]  # generators are not read ahead
    assert [plain(x) for x in dataset] == expected
    for position in (0, 1, 5, len(expected) - 1, len(expected)):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator)
        state = iterator.state_dict()
        assert [plain(x) for x in iterator] == expected[position:]
        other = iter(dataset)
        other.load_state_dict(state)
        assert [plain(x) for x in other] == expected[position:]
    if name != "shuffled":
        assert [plain(x) for x in dataset.skip(3)] == expected[3:]


@pytest.mark.parametrize("name", ["each", "batches", "each, batched"])
def test_errors_of_records_that_are_read_ahead(tmp_path, name):
    records = [_example(i) for i in range(30)]
    records[16] = b"no example"
    dataset = PIPELINES[name](tf.data.TFRecordDataset(write(tmp_path / "bad", records)))
    element = 16 if name == "each" else 2
    iterator = iter(dataset)
    for i in range(element):
        assert plain(next(iterator))[-1] == (i if name == "each" else list(range(7 * i, 7 * i + 7)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
        next(iterator)


@pytest.mark.parametrize("name", ["each", "batches", "each, batched"])
def test_damaged_files_that_are_read_ahead(tmp_path, name):
    path = pathlib.Path(write(tmp_path / "damaged", [_example(i) for i in range(30)]))
    size = len(path.read_bytes()) // 30
    data = bytearray(path.read_bytes())
    data[size * 16 + 20] ^= 255
    path.write_bytes(data)
    iterator = iter(PIPELINES[name](tf.data.TFRecordDataset(str(path))))
    for _ in range(16 if name == "each" else 2):
        next(iterator)
    with pytest.raises(tf.errors.DataLossError, match="record 16 "):
        next(iterator)
    assert list(iterator) == []


# list_files.


@pytest.fixture
def folder(tmp_path):
    for i in range(8):
        (tmp_path / f"file{i}.q").write_text("")
    return str(tmp_path)


def names(dataset):
    return [int(path[-3:-2]) for path in dataset.as_numpy_iterator()]


def test_list_files(folder):
    assert names(tf.data.Dataset.list_files(f"{folder}/*.q", shuffle=False)) == list(range(8))
    patterns = [f"{folder}/*6.q", f"{folder}/*5.q", f"{folder}/none*"]
    assert names(tf.data.Dataset.list_files(patterns, shuffle=False)) == [5, 6]
    assert names(tf.data.Dataset.list_files(tf.constant(f"{folder}/*6.q"))) == [6]
    dataset = tf.data.Dataset.list_files(f"{folder}/*.q")
    assert int(dataset.cardinality()) == 8
    assert repr(dataset).startswith("<_ShuffleDataset")


def test_list_files_in_the_order_of_tensorflow(folder):
    tf.random.set_seed(1)
    dataset = tf.data.Dataset.list_files(f"{folder}/*.q", seed=7)
    assert names(dataset) == [3, 7, 5, 6, 1, 0, 2, 4]
    assert names(dataset) == [6, 4, 0, 7, 5, 3, 2, 1]
    dataset = tf.data.Dataset.list_files(f"{folder}/*.q", seed=3)
    assert names(dataset) == [5, 4, 0, 1, 2, 3, 7, 6]


def test_list_files_that_are_not_there(folder):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"No files matched pattern: .*zzz, .*yyy"):
        tf.data.Dataset.list_files([f"{folder}/*.zzz", f"{folder}/*.yyy"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar or vector"):
        tf.data.Dataset.list_files([[f"{folder}/*.q"]])
    with pytest.raises(TypeError, match="string"):
        tf.data.Dataset.list_files(3)

    @tf.function
    def count(pattern):
        total = tf.constant(0)
        for _ in tf.data.Dataset.list_files(pattern, shuffle=False):
            total += 1
        return total

    assert int(count(f"{folder}/*.q")) == 8
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        count(f"{folder}/*.zzz")


def test_parsing_has_rules_of_vectorization():
    records = tf.constant([_example(i) for i in range(4)])
    found = tf.vectorized_map(lambda r: tf.io.parse_single_example(r, FEATURES), records, fallback_to_while_loop=False)
    assert found["y"].numpy().tolist() == [0, 1, 2, 3]
    assert found["x"].shape == [4, 2]
    pairs = tf.reshape(records, [2, 2])
    found = tf.vectorized_map(lambda r: tf.io.parse_example(r, FEATURES), pairs, fallback_to_while_loop=False)
    assert found["y"].numpy().tolist() == [[0, 1], [2, 3]]
    raw = tf.vectorized_map(
        lambda r: tf.raw_ops.ParseSingleExample(
            serialized=r, dense_defaults=[tf.constant([], tf.int64)], num_sparse=0, sparse_keys=[], dense_keys=["y"],
            sparse_types=[], dense_shapes=[[]],
        ).dense_values,
        records,
        fallback_to_while_loop=False,
    )  # fmt: skip
    assert raw[0].numpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="ParseExample"):
        tf.vectorized_map(
            lambda r: tf.io.parse_single_example(r, {"y": tf.io.VarLenFeature(tf.int64)})["y"].values,
            records,
            fallback_to_while_loop=False,
        )


def _mixed(number):
    """An Example whose features have other sizes in each record, and are missing now and then."""
    feature = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))}
    if number % 3:
        feature["w"] = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5 * i for i in range(number % 5)]))
    if number % 4:
        words = tf.train.BytesList(value=[b"w%d" % i for i in range(2 * (number % 3))])
        feature["s"] = tf.train.Feature(bytes_list=words)
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


MIXED = {
    "sparse": {"n": tf.io.FixedLenFeature([], tf.int64), "w": tf.io.VarLenFeature(tf.float32)},
    "strings": {"n": tf.io.FixedLenFeature([], tf.int64), "s": tf.io.VarLenFeature(tf.string)},
    "ragged": {"w": tf.io.RaggedFeature(tf.float32), "n": tf.io.FixedLenFeature([], tf.int64)},
    "sequence": {
        "s": tf.io.FixedLenSequenceFeature([2], tf.string, allow_missing=True), "w": tf.io.VarLenFeature(tf.float32),
    },
}  # fmt: skip


def parsed_values(dataset):
    return [
        {key: tf.sparse.to_dense(x).numpy().tolist() if isinstance(x, tf.SparseTensor) else x.numpy().tolist()
         for key, x in element.items()}
        for element in dataset
    ]  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_features_of_any_size_are_parsed_together(tmp_path, name):
    records = [_mixed(i) for i in range(150)]
    path = write(tmp_path / "mixed", records)

    def parse(record):
        return tf.io.parse_single_example(record, MIXED[name])

    dataset = tf.data.TFRecordDataset(path).map(parse)
    # What is in memory is not read ahead, so each record is parsed on its own.
    expected = parsed_values(tf.data.Dataset.from_tensor_slices(records).map(parse))
    assert parsed_values(dataset) == expected
    assert dataset.element_spec == tf.data.Dataset.from_tensor_slices(records).map(parse).element_spec
    for position in (1, 63, 100):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert parsed_values(other) == expected[position:]
    if name in ("sparse", "strings"):
        batches = [tf.sparse.to_dense(x[key]).numpy().tolist() for x in dataset.batch(40) for key in x if key != "n"]
        plain = tf.data.Dataset.from_tensor_slices(records).map(parse).batch(40)
        assert batches == [tf.sparse.to_dense(x[key]).numpy().tolist() for x in plain for key in x if key != "n"]


def test_errors_of_features_of_any_size(tmp_path):
    records = [_mixed(i) for i in range(40)]
    records[9] = b"no example"
    path = write(tmp_path / "bad", records)
    iterator = iter(tf.data.TFRecordDataset(path).map(lambda r: tf.io.parse_single_example(r, MIXED["sparse"])))
    assert [int(next(iterator)["n"]) for _ in range(9)] == list(range(9))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Could not parse.*Dataset\.map.*element 9"):
        next(iterator)
    odd = {"s": tf.io.FixedLenSequenceFeature([3], tf.string, allow_missing=True)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Key: s.*element 1"):
        list(tf.data.TFRecordDataset(path).map(lambda r: tf.io.parse_single_example(r, odd)))
