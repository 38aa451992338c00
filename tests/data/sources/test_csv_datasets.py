"""`CsvDataset` and `make_csv_dataset`."""

import collections
import gzip
import random
import time

import pytest

import headrace as tf
from headrace._src.formats.csv_records import CsvRecordReader

Csv = tf.data.experimental.CsvDataset
make = tf.data.experimental.make_csv_dataset
i32, i64, f32, f64, text = tf.int32, tf.int64, tf.float32, tf.float64, tf.string


@pytest.fixture
def write(tmp_path):
    def file(content, name="file.csv"):
        (tmp_path / name).write_bytes(content.encode())
        return str(tmp_path / name)

    return file


def values(dataset):
    return list(dataset.as_numpy_iterator())


# (contents, record_defaults, other arguments, what TensorFlow gives)
CASES = [
    (
        'x,y,s\n1,2.5,abc\n3,4.5,"d,e"\n5,,f\n',
        [i32, [9.5], text],
        {"header": True},
        [(1, 2.5, b"abc"), (3, 4.5, b"d,e"), (5, 9.5, b"f")],
    ),
    ("1,2.5,abc\n3,4.5,d\n", [i64, f64, text], {}, [(1, 2.5, b"abc"), (3, 4.5, b"d")]),
    ("1,2.5,abc\n3,4.5,d\n", [i64, text], {"select_cols": [0, 2]}, [(1, b"abc"), (3, b"d")]),
    ("1,2.5,abc\n3,4.5,d\n", [i64, text], {"exclude_cols": [1]}, [(1, b"abc"), (3, b"d")]),
    (
        '"a ""q"" b",1\n"multi\nline",2\nplain,3\n"x,y",4\r\n',
        [text, i32],
        {},
        [(b'a "q" b', 1), (b"multi\nline", 2), (b"plain", 3), (b"x,y", 4)],
    ),
    ('"a,1\nb"c,2\n', [text, i32], {"use_quote_delim": False}, [(b'"a', 1), (b'b"c', 2)]),
    ("a|1\nb|2\n", [text, i32], {"field_delim": "|"}, [(b"a", 1), (b"b", 2)]),
    ("NA,1\nb,NA\n", [["zz"], [7]], {"na_value": "NA"}, [(b"zz", 1), (b"b", 7)]),
    ("1,2,\n", [i32, i32, [3]], {}, [(1, 2, 3)]),
    ("1,a\r\n2,b\r\n", [i32, text], {}, [(1, b"a"), (2, b"b")]),
    ("1,a\r2,b\r", [i32, text], {}, [(1, b"a"), (2, b"b")]),
    (" 1, a \n", [i32, text], {}, [(1, b" a ")]),
    ("", [i32], {}, []),
    ("1e3\ninf\n-.5\n+1\n", [f32], {}, [(1000.0,), (float("inf"),), (-0.5,), (1.0,)]),
    (",1\n", [tf.constant([5], i64), tf.constant([], i64)], {}, [(5, 1)]),
]
BAD = [
    ("1,,a\n", [i32, f32, text], {}, "Field 1 is required but missing"),
    ("x,2.5\n", [i64, f64], {}, "not a valid int64"),
    ("1,2.5\n", [i64, i64], {}, "not a valid int64"),
    ("1,2.5,abc\n", [i64, f32], {}, "Expect 2 fields but have more"),
    ("1,2.5,abc\n", [i64, f32, text, text], {}, "Expect 4 fields but have 3"),
    ("1,2.5,abc\n", [i64, text], {"select_cols": [0, 7]}, "Expect 2 fields but have 1"),
    ('a"b,1\n', [text, i32], {}, "Unquoted fields"),
    ('"ab"c,1\n', [text, i32], {}, "quote"),
    ('"ab,1\n', [text, i32], {}, "quote"),
    ("1\n\n2\n", [i32], {}, "Field 0 is required but missing"),
    ("1,2\n\n2,3\n", [i32, i32], {}, "Field 0 is required but missing"),
    ("3000000000\n", [i32], {}, "not a valid int32"),
    ("0x10\n", [i32], {}, "not a valid int32"),
    ("", [i32], {"header": True}, "read header"),
]


@pytest.mark.parametrize(("content", "defaults", "arguments", "expected"), CASES)
def test_records(write, content, defaults, arguments, expected):
    dataset = Csv(write(content), defaults, **arguments)
    assert values(dataset) == expected
    assert values(Csv(write(content), defaults, buffer_size=2, **arguments)) == expected
    columns = values(dataset.batch(10))
    assert [list(row) for row in zip(*columns[0])] == [list(row) for row in expected] if expected else columns == []


@pytest.mark.parametrize(("content", "defaults", "arguments", "match"), BAD)
def test_bad_records(write, content, defaults, arguments, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"(?s)file.csv.*{match}"):
        values(Csv(write(content), defaults, **arguments))
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        values(Csv(write(content), defaults, **arguments).batch(10))


@pytest.mark.parametrize(
    ("defaults", "arguments", "match"),
    [
        ([i32, i32], {"select_cols": [2, 0]}, "increasing"),
        ([i32, i32], {"select_cols": [0]}, "match output size"),
        ([i32], {"select_cols": [0], "exclude_cols": [1]}, "either"),
        ([i32], {"field_delim": "||"}, "1 char"),
        ([[1, 2]], {}, "1 default per field"),
    ],
)
def test_bad_arguments(write, defaults, arguments, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        Csv(write("1,2\n"), defaults, **arguments)


def test_after_a_bad_record(write):
    path = write("1\nx\n3\n")
    iterator = iter(Csv(path, [i32]))
    assert int(next(iterator)[0]) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)file.csv; record 2: .*\[CsvDataset \("):
        next(iterator)
    assert [int(x) for (x,) in iterator] == [3]
    assert values(Csv(path, [i32]).ignore_errors()) == [(1,), (3,)]


def test_files(write, tmp_path):
    path = write("x\n1\n2\n")
    assert values(Csv([path, path], [i32], header=True)) == [(1,), (2,), (1,), (2,)]
    assert repr(Csv(path, [i32])) == "<CsvDatasetV2 element_spec=(TensorSpec(shape=(), dtype=tf.int32, name=None),)>"
    with gzip.open(tmp_path / "z", "wb") as file:
        file.write(b"1,2\n3,4\n")
    assert values(Csv(str(tmp_path / "z"), [i32, i64], "GZIP")) == [(1, 2), (3, 4)]
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        values(Csv(str(tmp_path / "nowhere"), [i32]))
    with pytest.raises(ValueError, match="dataset"):
        Csv(tf.data.Dataset.from_tensor_slices([path]), [i32])
    with pytest.raises(ValueError, match="bool"):
        Csv(path, [tf.bool])
    names = tf.data.Dataset.from_tensor_slices([path, path])
    assert values(names.flat_map(lambda name: Csv(name, [i32], header=True))) == [(1,), (2,), (1,), (2,)]


def test_resume(write):
    path = write("".join(f'{i},"a\n{i}"\n' for i in range(100)))
    dataset = Csv([path, path], [i32, text], buffer_size=50)
    expected = values(dataset)
    for position in (0, 1, 99, 100, 150, 200):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert [(int(x), y.numpy()) for x, y in other] == [(int(x), y) for x, y in expected[position:]]


def test_records_do_not_depend_on_the_buffer(tmp_path):
    rng = random.Random(0)
    for _ in range(200):
        data = bytes(rng.choice(b'ab,"\n\r') for _ in range(rng.randrange(60)))
        path = tmp_path / "file"
        path.write_bytes(data)
        whole = list(CsvRecordReader(path))
        for size in (1, 3, 7):
            assert list(CsvRecordReader(path, buffer_size=size)) == whole
        assert list(CsvRecordReader(path, quotes=False)) == data.splitlines()


def test_quotes_that_stay_open_take_no_longer(tmp_path):
    """A field of many lines, each with quotes: each line is looked at once."""
    path = tmp_path / "data.csv"
    path.write_bytes(b'"a\n' + b'x""y\n' * 40_000 + b'"\n1\n')
    start = time.thread_time()
    first, second = CsvRecordReader(str(path))
    assert (len(first), second) == (200_004, b"1")
    assert time.thread_time() - start < 5  # it would take minutes


# make_csv_dataset.

TABLE = "a,b,c,d\n1,1.5,x,10000000000\n2,2.5,y,5\n3,,z,6\n"


def shown(dataset, count=9):
    def plain(element):
        return {key: column.tolist() for key, column in element.items()}

    return [
        plain(element) if isinstance(element, dict) else (plain(element[0]), element[1].tolist())
        for element in dataset.take(count).as_numpy_iterator()
    ]


def test_inferred_columns(write):
    dataset = make(write(TABLE), 2, shuffle=False, num_epochs=1)
    types = {"a": i32, "b": f32, "c": text, "d": i64}
    assert dataset.element_spec == collections.OrderedDict(
        (name, tf.TensorSpec([None], dtype)) for name, dtype in types.items()
    )
    assert repr(dataset).startswith("<_PrefetchDataset element_spec=OrderedDict(")
    assert shown(dataset) == [
        {"a": [1, 2], "b": [1.5, 2.5], "c": [b"x", b"y"], "d": [10**10, 5]},
        {"a": [3], "b": [0.0], "c": [b"z"], "d": [6]},
    ]


def test_labels_columns_and_epochs(write):
    path = write(TABLE)
    labelled = make(path, 2, shuffle=False, num_epochs=1, label_name="b", select_columns=["b", "a"])
    assert shown(labelled) == [({"a": [1, 2]}, [1.5, 2.5]), ({"a": [3]}, [0.0])]
    endless = make(path, 2, shuffle=False, select_columns=[0])
    assert endless.element_spec["a"].shape == [2]
    assert shown(endless, 3) == [{"a": [1, 2]}, {"a": [3, 1]}, {"a": [2, 3]}]
    renamed = make(path, 3, shuffle=False, num_epochs=1, column_names=["p", "q", "r", "s"], column_defaults=[
        f32, [7.5], text, i64,
    ])  # fmt: skip
    assert shown(renamed)[0]["q"] == [1.5, 2.5, 7.5]
    assert shown(make(write("1,2\n3,4\n"), 2, ["p", "q"], header=False, shuffle=False, num_epochs=1)) == [
        {"p": [1, 3], "q": [2, 4]}
    ]


def test_shuffled_as_in_tensorflow(write):
    path = write("i\n" + "\n".join(map(str, range(20))) + "\n")
    tf.random.set_seed(4)
    dataset = make(path, 4, shuffle_seed=3, num_epochs=1, shuffle_buffer_size=5)
    expected = [[4, 1, 6, 0], [7, 8, 10, 5], [3, 11, 9, 13], [15, 12, 14, 18], [17, 16, 19, 2]]
    assert [batch["i"] for batch in shown(dataset)] == expected


def test_several_files(write):
    first, second = write(TABLE), write("a,b,c,d\n7,1.5,x,1\n8,2.5,y,5\n", "other.csv")
    dataset = make([first, second], 2, shuffle=False, num_epochs=1, select_columns=["a"])
    assert shown(dataset) == [{"a": [1, 2]}, {"a": [3, 7]}, {"a": [8]}]
    with pytest.raises(ValueError, match="same column names"):
        make([first, write("a,b\n1,2\n", "third.csv")], 2)


def test_inference(write):
    content = "a,b,c,d,e,f\n1,2.5,3000000000,x,,1e400\n2,3,4,5,,\n"
    types = [spec.dtype for spec in make(write(content), 1, num_epochs=1).element_spec.values()]
    assert types == [i32, f32, i64, text, text, text]
    path = write("a\n1\n1.5\nx\n")
    assert make(path, 1, num_epochs=1, num_rows_for_inference=2).element_spec["a"].dtype == f32
    assert make(path, 1, num_epochs=1).element_spec["a"].dtype == text
    assert shown(make(write("a,b\nNA,1\n2,NA\n"), 2, na_value="NA", shuffle=False, num_epochs=1)) == [
        {"a": [0, 2], "b": [1, 0]}
    ]


def test_errors_in_records(write):
    path = write("a,b\n1,2\nx,3\n4,5\n")
    arguments = dict(shuffle=False, num_epochs=1, column_defaults=[i32, i32])
    assert shown(make(path, 1, ignore_errors=True, **arguments)) == [{"a": [1], "b": [2]}, {"a": [4], "b": [5]}]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a valid int32"):
        shown(make(path, 1, **arguments))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"select_columns": ["zz"]}, "Column zz"),
        ({"select_columns": [9]}, "select_columns"),
        ({"select_columns": ["a", "a"]}, "duplicates"),
        ({"label_name": "zz"}, "label_name"),
        ({"column_names": ["a", "a", "b", "c"]}, "duplicate"),
        ({"header": False}, "column_names"),
    ],
)
def test_bad_arguments_of_tables(write, arguments, match):
    with pytest.raises(ValueError, match=match):
        make(write(TABLE), 2, **arguments)
    with pytest.raises(ValueError, match="No files match"):
        make(write(TABLE) + "zzz*", 2)


@pytest.mark.slow
def test_mutated_files(write, tmp_path):
    rng = random.Random(3)
    original = b'1,2.5,"a"\n2,3.5,"b ""q"" c"\n3,,"multi\nline"\n'
    path = tmp_path / "mutated"
    for _ in range(3000):
        data = bytearray(original)
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(len(data))] = rng.choice(b'0123,."\n\rxe-+\x00\xff')
        path.write_bytes(data)
        dataset = Csv(str(path), [i32, [0.0], text])
        for pipeline in (dataset, dataset.batch(2)):
            try:
                values(pipeline)
            except tf.errors.InvalidArgumentError:
                continue
