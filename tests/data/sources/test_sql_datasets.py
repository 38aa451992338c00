"""`SqlDataset`."""

import sqlite3

import pytest

import headrace as tf

Sql = tf.data.experimental.SqlDataset


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "people #1.sqlite")
    connection = sqlite3.connect(path)
    connection.executescript(
        "create table p(name text, age integer, h real, b blob, n integer);"
        "insert into p values('ann', 30, 1.5, x'6162', null);"
        "insert into p values('bob', 40, 2.5, null, 1);"
    )
    connection.close()
    return path


# What TensorFlow gives.
@pytest.mark.parametrize(
    ("query", "types", "expected"),
    [
        ("select name, age, h from p order by age", (tf.string, tf.int32, tf.float64),
         [(b"ann", 30, 1.5), (b"bob", 40, 2.5)]),
        ("select n, b, name from p", (tf.int32, tf.string, tf.string), [(0, b"ab", b"ann"), (1, b"", b"bob")]),
        ("select name, h, age from p", (tf.int32, tf.int64, tf.string), [(0, 1, b"30"), (0, 2, b"40")]),
        ("select 300, -1, 3000000000", (tf.int8, tf.uint8, tf.int32), [(44, 255, -1294967296)]),
        ("select 0, 2", (tf.bool, tf.bool), [(False, True)]),
        ("select h, age from p", (tf.string, tf.float64), [(b"1.5", 30.0), (b"2.5", 40.0)]),
        ("select '12 apples', '1.5e1x', null", (tf.int16, tf.float64, tf.float64), [(12, 15.0, 0.0)]),
        ("select age from p where age > 100", (tf.int64,), []),
    ],
)  # fmt: skip
def test_rows(database, query, types, expected):
    dataset = Sql("sqlite", database, query, types)
    assert list(dataset.as_numpy_iterator()) == expected
    assert [spec.dtype for spec in dataset.element_spec] == list(types)


def test_what_it_says_of_itself(database):
    dataset = Sql("sqlite", database, "select 1", (tf.int32,))
    assert repr(dataset) == "<SqlDatasetV2 element_spec=(TensorSpec(shape=(), dtype=tf.int32, name=None),)>"
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert [x.tolist() for x in next(iter(dataset.repeat(3).batch(3)))[0].numpy()[None]] == [[1, 1, 1]]


@pytest.mark.parametrize(
    ("query", "types", "error", "match"),
    [
        ("selec 0", (tf.int32,), tf.errors.UnknownError, "syntax error"),
        ("select x from zz", (tf.int32,), tf.errors.UnknownError, "no such table"),
        ("select 1, 2", (tf.int32,), tf.errors.InvalidArgumentError, "number of columns"),
    ],
)
def test_bad_queries(database, query, types, error, match):
    with pytest.raises(error, match=match):
        list(Sql("sqlite", database, query, types))


def test_bad_arguments(database, tmp_path):
    with pytest.raises(tf.errors.UnknownError, match="unable to open"):
        list(Sql("sqlite", str(tmp_path / "nowhere"), "select 1", (tf.int32,)))
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(tf.errors.InvalidArgumentError, match="driver"):
        Sql("mysql", database, "select 1", (tf.int32,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        Sql("sqlite", database, "select 1", (tf.float32,))


def test_resume(database):
    dataset = Sql(
        "sqlite", database,
        "with recursive c(x) as (select 0 union all select x + 1 from c where x < 9) select x from c", (tf.int32,),
    )  # fmt: skip
    for position in (0, 3, 10):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert [int(x) for (x,) in other] == list(range(position, 10))
