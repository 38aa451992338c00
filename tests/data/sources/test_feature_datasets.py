"""`make_batched_features_dataset`, `parse_example_dataset` and `experimental.TFRecordWriter`."""

import pytest

import headrace as tf

FEATURES = {"x": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.VarLenFeature(tf.int64)}
make = tf.data.experimental.make_batched_features_dataset


def example(i):
    def feature(*values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    features = {"x": feature(i), "v": feature(*range(i % 3))}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


@pytest.fixture
def files(tmp_path):
    for number in range(2):
        with tf.io.TFRecordWriter(str(tmp_path / f"{number}.records")) as writer:
            for i in range(5):
                writer.write(example(10 * number + i))
    return str(tmp_path / "*.records")


def test_batches(files):
    dataset = make(files, 4, FEATURES, num_epochs=1, shuffle=False)
    batches = list(dataset)
    assert [batch["x"].numpy().tolist() for batch in batches] == [[0, 1, 2, 3], [4, 10, 11, 12], [13, 14]]
    assert tf.sparse.to_dense(batches[0]["v"]).numpy().tolist() == [[0, 0], [0, 0], [0, 1], [0, 0]]
    assert type(dataset).__name__ == "_PrefetchDataset"


def test_labels_and_epochs(files):
    dataset = make(files, 4, {"x": FEATURES["x"]}, label_key="x", shuffle=False)
    assert [y.numpy().tolist() for _, y in dataset.take(3)] == [[0, 1, 2, 3], [4, 10, 11, 12], [13, 14, 0, 1]]
    assert dataset.element_spec == ({}, tf.TensorSpec([4], tf.int64))
    whole = make(files, 4, {"x": FEATURES["x"]}, num_epochs=1, shuffle=False, drop_final_batch=True)
    assert len(list(whole)) == 2
    shuffled = make(files, 10, {"x": FEATURES["x"]}, num_epochs=1, shuffle_seed=1, reader_num_threads=2)
    (batch,) = shuffled.as_numpy_iterator()
    assert sorted(batch["x"].tolist()) == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    given = make(files, 4, FEATURES, tf.data.TFRecordDataset, reader_args=[""], num_epochs=1, shuffle=False)
    assert len(list(given)) == 3


def test_bad_arguments(files):
    with pytest.raises(ValueError, match="label_key"):
        make(files, 4, FEATURES, label_key="zz")
    with pytest.raises(ValueError, match="No files match"):
        make(files + "zz", 4, FEATURES)
    parse = tf.data.experimental.parse_example_dataset
    with pytest.raises(ValueError, match="features"):
        parse(None)
    with pytest.raises(TypeError, match="vectors of strings"):
        tf.data.Dataset.range(3).apply(parse(FEATURES))
    with pytest.raises(TypeError, match="vectors of strings"):
        tf.data.Dataset.from_tensor_slices(["a"]).apply(parse(FEATURES))


def test_parse_example_dataset():
    records = tf.data.Dataset.from_tensor_slices([example(i) for i in range(6)]).batch(4)
    dataset = records.apply(tf.data.experimental.parse_example_dataset(FEATURES, num_parallel_calls=2))
    assert type(dataset).__name__ == "_ParseExampleDataset"
    assert [batch["x"].numpy().tolist() for batch in dataset] == [[0, 1, 2, 3], [4, 5]]


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_record_writer(tmp_path, compression):
    path = str(tmp_path / "written")
    dataset = tf.data.Dataset.range(600).map(tf.strings.as_string)
    assert tf.data.experimental.TFRecordWriter(path, compression).write(dataset) is None
    assert list(tf.data.TFRecordDataset(path, compression).as_numpy_iterator()) == [b"%d" % i for i in range(600)]


def test_what_is_not_written(tmp_path):
    writer = tf.data.experimental.TFRecordWriter(str(tmp_path / "written"))
    with pytest.raises(TypeError, match="scalar `tf.string`"):
        writer.write(tf.data.Dataset.range(3))
    with pytest.raises(TypeError, match="scalar `tf.string`"):
        writer.write(tf.data.Dataset.from_tensor_slices([["a"]]))
    with pytest.raises(TypeError, match=r"`tf.data.Dataset` object"):
        writer.write(["a"])
