"""TFRecord files: what TensorFlow wrote, what it reads of ours, places to go on from, and every kind of damage."""

import gzip
import json
import os
import pathlib
import random
import struct
import subprocess
import tracemalloc
import zlib

import pytest
import record_files
from record_files import KINDS, RECORDS, records_of

import headrace as tf
from headrace._src.formats import checksums
from headrace._src.formats.records import RecordReader, framed, framed_together

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "records"
FOUR = [b"hello", b"", b"x" * 300, bytes(range(250)) * 4]
STARTS = [0, 21, 37, 353]
PLAIN = framed_together(FOUR)
COMPRESS = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


@pytest.fixture
def file(tmp_path):
    """Writes bytes to a file and returns its path."""

    def write(data, name="file.tfrecord"):
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return write


def header(length):
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", checksums.masked_crc32c(packed))


def flipped(data, position):
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


# Checksums.


def test_check_value_of_crc32c():
    for function in (checksums.checksum_function(), checksums._crc32c_in_python):
        assert function(b"123456789") == 0xE3069283
        assert function(b"") == 0


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 31, 511, 512, 513, 1000, 4096, 65537, 300001])
def test_checksum_without_native_code(length):
    data = random.Random(length).randbytes(length)
    assert checksums._crc32c_in_python(data) == checksums.checksum_function()(data)
    if length >= 4:
        assert checksums._crc32c_by_arrays(data) == checksums.checksum_function()(data)


def test_native_checksums_are_installed():
    assert checksums.checksum_function() is not checksums._crc32c_in_python


@pytest.mark.parametrize("missing", ["package", "native part"])
def test_files_are_the_same_without_native_checksums(missing, monkeypatch, file):
    class Module:
        implementation = "python"

        @staticmethod
        def value(data):
            raise AssertionError("slower than ours")

    class Nothing:
        def __getattr__(self, name):
            raise ModuleNotFoundError("No module named 'google_crc32c'", name="google_crc32c")

    monkeypatch.setattr(checksums.lazy, "google_crc32c", Nothing() if missing == "package" else Module)
    checksums.checksum_function.cache_clear()
    try:
        assert checksums.checksum_function() is checksums._crc32c_in_python
        assert framed_together(FOUR) == PLAIN
        assert list(RecordReader(file(PLAIN))) == FOUR
        with pytest.raises(tf.errors.DataLossError):
            list(RecordReader(file(flipped(PLAIN, 400))))
    finally:
        checksums.checksum_function.cache_clear()


# Reading.


def test_framing():
    assert b"".join(map(framed, FOUR)) == PLAIN
    assert PLAIN[:12] == header(5)
    assert framed_together([]) == b""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("buffer_size", [None, 1, 100, 1 << 20])
def test_reads_what_tensorflow_wrote(kind, buffer_size):
    reader = RecordReader(GOLDEN / f"{kind}.tfrecord", KINDS[kind][0], buffer_size)
    assert list(reader) == records_of(kind)
    assert reader.record_number == len(records_of(kind))
    assert next(reader, "the end") == "the end"


@pytest.mark.skipif("TENSORFLOW_PYTHON" not in os.environ, reason="needs TensorFlow")
@pytest.mark.slow
def test_tensorflow_reads_what_is_written_here(tmp_path):
    record_files.write(tf, tmp_path)
    command = [os.environ["TENSORFLOW_PYTHON"], record_files.__file__, "read", tmp_path]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found == {kind: [record.hex() for record in records_of(kind)] for kind in KINDS}


def test_plain_files_are_tensorflows_byte_for_byte(tmp_path):
    record_files.write(tf, tmp_path)
    assert (tmp_path / "plain.tfrecord").read_bytes() == (GOLDEN / "plain.tfrecord").read_bytes()
    for kind, (compression, _) in KINDS.items():
        assert list(RecordReader(tmp_path / f"{kind}.tfrecord", compression)) == records_of(kind)


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("buffer_size", [None, 1, 5, 64, 400])
def test_read_many_and_seek(compression, buffer_size, file):
    path = file(COMPRESS[compression](PLAIN))
    reader = RecordReader(path, compression, buffer_size)
    assert reader.read_many(0) == reader.read_many(-1) == []
    assert reader.state == (0, 0)
    assert reader.read_many(2) == FOUR[:2]
    assert (reader.offset, reader.record_number) == reader.state == (37, 2)
    assert reader.read_many(99) == FOUR[2:]
    assert reader.state == (len(PLAIN), 4)
    assert reader.read_many(1) == []
    for number in (3, 1, 0, 2):
        reader.seek((STARTS[number], number))
        assert reader.state == (STARTS[number], number)
        assert next(reader) == FOUR[number]
        assert reader.record_number == number + 1
    reader.seek([len(PLAIN), 4])
    assert list(reader) == []
    with pytest.raises(tf.errors.InvalidArgumentError):
        reader.seek((-1, 0))


@pytest.mark.parametrize("buffer_size", [None, 1000, 30_000])
def test_runs_of_records_of_one_length(buffer_size, file):
    """Many alike records are split in one go; damage among them is found where it is."""
    rng = random.Random(0)
    records = []
    for _ in range(12):
        length, count = rng.choice([0, 1, 7, 100]), rng.choice([1, 63, 64, 65, 400])
        records += [rng.randbytes(length) for _ in range(count)]
    data = framed_together(records)
    reader = RecordReader(file(data, "whole"), "", buffer_size)
    starts = []
    for record in records:
        starts.append(reader.offset)
        assert next(reader) == record
    assert list(reader) == []
    assert reader.state == (len(data), len(records))
    for number in rng.sample(range(len(records)), 20):
        start = starts[number]
        taken, message = error_of(file(flipped(data, start + rng.randrange(12))), "", buffer_size)
        assert taken == records[:number]
        assert f"corrupted record {number} at byte {start}: the checksum of its length" in message
        end = start + 12 + len(records[number])
        taken, message = error_of(file(flipped(data, end)), "", buffer_size)
        assert taken == records[:number]
        assert f"corrupted record {number} at byte {start}: the checksum of its data" in message
        taken, message = error_of(file(data[: end + 3]), "", buffer_size)
        assert taken == records[:number]
        assert f"truncated record {number} at byte {start}" in message
        reader.seek((start, number))
        assert next(reader) == records[number]


@pytest.mark.usefixtures("nothing_in_the_background")
def test_random_access_takes_no_time_in_plain_files(tmp_path):
    path = tmp_path / "large.tfrecord"
    record = bytes(10_000)
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(2000):
            writer.write(record)
    reader = RecordReader(path, buffer_size=1 << 16)
    reader.seek((1990 * 10_016, 1990))
    tracemalloc.start()
    try:
        assert len(list(reader)) == 10
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.parametrize("compression", COMPRESS)
def test_memory_is_bounded_by_the_buffer(compression, tmp_path):
    path = tmp_path / "large.tfrecord"
    with tf.io.TFRecordWriter(path, compression) as writer:
        for i in range(3000):
            writer.write(bytes([i % 256]) * 10_000)
    tracemalloc.start()
    try:
        count = sum(len(record) for record in RecordReader(path, compression, 1 << 16))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 30_000_000
    assert peak < 1 << 20


def test_several_gzip_members_are_one_file(file):
    data = gzip.compress(PLAIN[:21]) + gzip.compress(PLAIN[21:100]) + gzip.compress(PLAIN[100:])
    assert list(RecordReader(file(data), "GZIP")) == FOUR


def test_bytes_after_a_zlib_stream_are_not_looked_at(file):
    assert list(RecordReader(file(zlib.compress(PLAIN) + b"trailing"), "ZLIB")) == FOUR


def test_empty_compressed_file(file):
    assert list(RecordReader(file(b""), "GZIP")) == list(RecordReader(file(b""), "ZLIB")) == []


def test_paths(tmp_path):
    path = tmp_path / "päth.tfrecord"
    path.write_bytes(PLAIN)
    for form in (path, str(path), os.fsencode(path), f"file://{path}"):
        with RecordReader(form) as reader:
            assert list(reader) == FOUR


def test_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    child = subprocess.Popen(["sh", "-c", f"cat '{GOLDEN / 'plain.tfrecord'}' > '{path}'"])
    with RecordReader(path) as reader:
        assert list(reader) == RECORDS
    child.wait()


# Damage.


def error_of(path, compression="", buffer_size=None):
    """The records before the damage, and the error, which is raised by each further read."""
    reader = RecordReader(path, compression, buffer_size)
    taken = []
    with pytest.raises(tf.errors.DataLossError) as raised:
        for record in reader:
            taken.append(record)
    with pytest.raises(tf.errors.DataLossError) as again:
        reader.read_many(3)
    assert again.value is raised.value
    if taken:
        assert RecordReader(path, compression, buffer_size).read_many(1 << 20) == taken
    assert path in raised.value.message
    return taken, raised.value.message


@pytest.mark.parametrize("buffer_size", [None, 1, 50])
@pytest.mark.parametrize("number", range(4))
def test_damaged_length(number, buffer_size, file):
    for byte in (0, 7, 8, 11):
        taken, message = error_of(file(flipped(PLAIN, STARTS[number] + byte)), "", buffer_size)
        assert taken == FOUR[:number]
        assert f"corrupted record {number} at byte {STARTS[number]}: the checksum of its length" in message


@pytest.mark.parametrize("buffer_size", [None, 1, 50])
@pytest.mark.parametrize("number", range(4))
def test_damaged_data(number, buffer_size, file):
    end = STARTS[number] + 12 + len(FOUR[number])
    for place in {STARTS[number] + 12, end, end + 3}:
        taken, message = error_of(file(flipped(PLAIN, place)), "", buffer_size)
        assert taken == FOUR[:number]
        assert f"corrupted record {number} at byte {STARTS[number]}: the checksum of its data" in message


@pytest.mark.parametrize("buffer_size", [None, 1, 50])
@pytest.mark.parametrize("compression", COMPRESS)
def test_every_truncation(compression, buffer_size, file):
    for size in [*range(1, 60), 352, 354, 365, 1000, len(PLAIN) - 1]:
        path = file(COMPRESS[compression](PLAIN[:size]))
        if size in STARTS:
            assert list(RecordReader(path, compression, buffer_size)) == FOUR[: STARTS.index(size)]
            continue
        number = sum(start < size for start in STARTS) - 1
        taken, message = error_of(path, compression, buffer_size)
        assert taken == FOUR[:number]
        assert f"truncated record {number} at byte {STARTS[number]}" in message
        assert f"{size - STARTS[number]} bytes are left" in message or compression


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_truncated_streams(compression, file):
    data = COMPRESS[compression](PLAIN)
    for size in range(1, len(data)):
        taken, message = error_of(file(data[:size]), compression)
        assert taken == FOUR[: len(taken)]
        assert "truncated" in message


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_broken_streams(compression, file):
    data = COMPRESS[compression](PLAIN)
    for place in [0, 1, len(data) // 2, len(data) - 1]:
        _, message = error_of(file(flipped(data, place)), compression)
        assert f"the {compression} stream is broken near byte" in message
    assert "Is the file GZIP compressed?" in error_of(file(PLAIN), "GZIP")[1]
    taken, _ = error_of(file(gzip.compress(PLAIN) + b"garbage"), "GZIP")
    assert taken == FOUR


def test_compressed_files_are_recognised(file):
    assert "pass compression_type='GZIP'" in error_of(file(gzip.compress(PLAIN)))[1]
    assert "pass compression_type='ZLIB'" in error_of(file(zlib.compress(PLAIN)))[1]
    assert "Is this a TFRecord file?" in error_of(file(b"some text, which is no record"))[1]


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("length", [1 << 33, 1 << 60, (1 << 63) - 1, 1 << 63, (1 << 64) - 16, (1 << 64) - 1])
def test_an_enormous_length_allocates_nothing(length, compression, file):
    path = file(COMPRESS[compression](framed(b"first") + header(length) + b"abc"))
    tracemalloc.start()
    try:
        taken, message = error_of(path, compression)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken == [b"first"]
    assert f"truncated record 1 at byte 21: with {length} bytes of data" in message
    assert peak < 4 << 20


def test_an_enormous_length_in_a_pipe(tmp_path):
    (tmp_path / "data").write_bytes(header(1 << 60) + b"abc")
    os.mkfifo(tmp_path / "pipe")
    child = subprocess.Popen(["sh", "-c", f"cat '{tmp_path / 'data'}' > '{tmp_path / 'pipe'}'"])
    with RecordReader(tmp_path / "pipe") as reader, pytest.raises(tf.errors.DataLossError, match="truncated record 0"):
        next(reader)
    child.wait()


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nothing.tfrecord; No such file"):
        RecordReader(tmp_path / "nothing.tfrecord")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        RecordReader(tmp_path)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        (tmp_path / "file").write_bytes(b"")
        RecordReader(tmp_path / "file" / "below", "GZIP")
    with pytest.raises(TypeError, match="path"):
        RecordReader(3)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_file_that_may_not_be_read(file):
    path = file(PLAIN)
    os.chmod(path, 0)
    with pytest.raises(tf.errors.PermissionDeniedError, match="Permission denied"):
        RecordReader(path)


def test_wrong_arguments(file):
    with pytest.raises(tf.errors.InvalidArgumentError, match="'FOO'"):
        RecordReader(file(PLAIN), "FOO")
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size"):
        RecordReader(file(PLAIN), "", -1)


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("multiple", [1, 7, 1000])
def test_records_where_they_stand(file, compression, multiple):
    rng = random.Random(multiple)
    records = [rng.randbytes(rng.choice([0, 5, 40, 40, 40, 700])) for _ in range(500)]
    records += [rng.randbytes(90) for _ in range(300)]
    path = file(COMPRESS[compression](framed_together(records)))
    found, reader = [], RecordReader(path, compression)
    while (spans := reader.read_spans(multiple, 5000)) is not None:
        part = spans.records(0, len(spans))
        found += part
        assert len(part) % multiple == 0 or len(found) == len(records)
        assert reader.record_number == len(found)
        again = RecordReader(path, compression)
        again.seek(reader.state)
        assert list(again) == records[len(found) :]
    assert found == records
    # The ways of reading can be mixed.
    reader, found = RecordReader(path, compression), []
    for turn in range(1000):
        if turn % 3 == 0:
            spans = reader.read_spans(multiple, 3000)
            part = [] if spans is None else spans.records(0, len(spans))
        elif turn % 3 == 1:
            part = reader.read_many(5)
        else:
            part = [record] if (record := next(reader, None)) is not None else []
        found += part
        assert found == records[: len(found)]
    assert found == records


def test_damaged_records_where_they_stand(file):
    data = framed_together([b"record %d" % i for i in range(100, 200)])
    reader = RecordReader(file(flipped(data, 26 * 43 + 14)))
    assert len(reader.read_spans(10, 10_000)) == 43
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError, match="record 43 at byte 1118.*data"):
            reader.read_spans(10, 10_000)
    reader = RecordReader(file(data[:1000]))
    assert len(reader.read_spans(10, 10_000)) == 30
    assert len(reader.read_spans(10, 10_000)) == 8
    with pytest.raises(tf.errors.DataLossError, match="truncated record 38"):
        reader.read_spans(10, 10_000)
