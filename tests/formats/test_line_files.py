"""Files of lines and of records of one length."""

import gzip
import random
import zlib

import pytest

import headrace as tf
from headrace._src.formats.line_files import FixedLengthReader, TextLineReader

COMPRESS = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}

# Contents and the lines that TensorFlow finds in them.
LINES = [
    (b"", []), (b"\n", [b""]), (b"\n\n", [b"", b""]), (b"a\nb", [b"a", b"b"]), (b"a\nb\n", [b"a", b"b"]),
    (b"a\rb\r\nc\n", [b"ab", b"c"]), (b"a\r\n\r\n", [b"a", b""]), (b"\r", []), (b"x\r", [b"x"]), (b"a\n\r", [b"a"]),
    (b"a\n\rb\n", [b"a", b"b"]), (b"a\r\r\nb", [b"a", b"b"]), (b"a\x00b\n", [b"a\x00b"]),
    (b"\xff\n\xfe", [b"\xff", b"\xfe"]),
]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize(("contents", "lines"), LINES)
def test_lines(contents, lines, compression, path):
    path.write_bytes(COMPRESS[compression](contents))
    for buffer_size in (None, 1, 2, 3):
        reader = TextLineReader(path, compression, buffer_size)
        assert list(reader) == lines
        assert reader.record_number == len(lines)
        assert reader.offset <= len(contents)


@pytest.mark.parametrize("compression", COMPRESS)
def test_lines_go_on_anywhere(compression, path):
    rng = random.Random(1)
    for _ in range(60):
        contents = bytes(rng.choice(b"ab\r\n\n") for _ in range(rng.randrange(40)))
        path.write_bytes(COMPRESS[compression](contents))
        lines = list(TextLineReader(path, compression))
        first = TextLineReader(path, compression, rng.choice([None, 1, 4]))
        taken = first.read_many(rng.randrange(8))
        second = TextLineReader(path, compression, rng.choice([None, 1, 4]))
        second.seek(first.state)
        assert second.state == first.state
        assert taken + second.read_many(99) == lines
        second.seek((0, 0))
        assert second.read_many(99) == lines


def test_fixed_lengths_go_on_anywhere(path):
    rng = random.Random(2)
    for _ in range(300):
        compression = rng.choice(list(COMPRESS))
        record, header, footer = rng.randrange(1, 5), rng.randrange(4), rng.randrange(4)
        contents = rng.randbytes(rng.randrange(25))
        path.write_bytes(COMPRESS[compression](contents))
        body = len(contents) - header - footer
        arguments = (path, record, header, footer, compression, rng.choice([None, 1, 3]))
        if body < 0 or body % record:
            kind = tf.errors.DataLossError if compression else tf.errors.InvalidArgumentError
            with pytest.raises(kind, match="no multiple of the record length"):
                list(FixedLengthReader(*arguments))
            continue
        expected = [contents[i : i + record] for i in range(header, header + body, record)]
        reader = FixedLengthReader(*arguments)
        taken = reader.read_many(rng.randrange(6))
        assert reader.state == (header + len(taken) * record, len(taken))
        other = FixedLengthReader(*arguments)
        other.seek(reader.state)
        assert taken + list(other) == expected
        other.seek((0, 0))
        assert list(other) == expected


def test_records_before_the_odd_end_are_given_out(path):
    path.write_bytes(gzip.compress(b"abcde"))
    reader = FixedLengthReader(path, 2, compression_type="GZIP")
    assert reader.read_many(9) == [b"ab", b"cd"]
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError):
            reader.read_many(1)


def test_long_records_and_lines_with_small_buffers(path):
    path.write_bytes(b"x" * 100_000 + b"\n" + b"y" * 100_000)
    assert list(map(len, TextLineReader(path, buffer_size=1000))) == [100_000, 100_000]
    assert list(map(len, FixedLengthReader(path, 66_667, buffer_size=1000))) == [66_667] * 3


@pytest.mark.parametrize("make", [TextLineReader, lambda path, *more: FixedLengthReader(path, 2, 0, 0, *more)])
def test_what_cannot_be_read(make, tmp_path, path):
    with pytest.raises(tf.errors.NotFoundError, match="file; No such file"):
        make(path)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        make(tmp_path)
    path.write_bytes(b"plain text")
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression_type"):
        make(path, "FOO")
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size"):
        make(path, "", -1)
    with pytest.raises(tf.errors.DataLossError, match="is broken"):
        list(make(path, "GZIP"))
    path.write_bytes(gzip.compress(random.Random(3).randbytes(1000))[:500])
    with pytest.raises(tf.errors.DataLossError, match="is truncated"):
        list(make(path, "GZIP"))


@pytest.mark.parametrize("arguments", [(0,), (-1,), (1, -1), (1, 0, -1)])
def test_lengths_that_make_no_sense(arguments, path):
    path.write_bytes(b"ab")
    with pytest.raises(tf.errors.InvalidArgumentError, match="_bytes must be >="):
        FixedLengthReader(path, *arguments)
