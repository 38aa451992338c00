"""Damaged files of records, lines and fixed lengths give what they hold or a typed error, in bounded memory."""

import contextlib
import gzip
import random
import struct
import sys
import tracemalloc
import zlib

import pytest

import headrace as tf
from headrace._src.formats import checksums
from headrace._src.formats import files as filesystem
from headrace._src.formats.line_files import FixedLengthReader, TextLineReader
from headrace._src.formats.local_files import typed_errors
from headrace._src.formats.records import RecordReader, framed, framed_together

COMPRESS = {
    "": lambda data, level: data,
    "GZIP": lambda data, level: gzip.compress(data, level, mtime=0),
    "ZLIB": zlib.compress,
}
LENGTHS = [0, 1, 2, 15, 16, 255, 1 << 16, 1 << 31, 1 << 32, 1 << 33, 1 << 60, (1 << 63) - 1, 1 << 63, (1 << 64) - 17,
           (1 << 64) - 1]  # fmt: skip


def header(length):
    packed = struct.pack("<Q", length % (1 << 64))
    return packed + struct.pack("<I", checksums.masked_crc32c(packed))


def original(rng):
    """Records, and the file that they make."""
    records = [rng.randbytes(rng.choice([0, 1, 5, 20, 300])) for _ in range(rng.randrange(6))]
    if rng.random() < 0.02:
        records.append(bytes(200_000))
    return records, framed_together(records)


def mutated(rng, data):
    """The bytes of a file, damaged in one of many ways."""
    kind = rng.randrange(9)
    place = rng.randrange(len(data) + 1)
    if kind == 0 and data:  # bits
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if kind == 1:  # cut off
        return data[:place]
    if kind == 2:  # a piece missing
        return data[:place] + data[place + rng.randrange(1, 20) :]
    if kind == 3:  # a piece too many
        return data[:place] + rng.randbytes(rng.randrange(1, 20)) + data[place:]
    if kind == 4:  # a wrong length with the right checksum
        return data[:place] + header(rng.choice(LENGTHS) + rng.randrange(-1, 2)) + data[place:]
    if kind == 5:  # the first length replaced
        return header(rng.choice(LENGTHS)) + data[12:]
    if kind == 6:  # a piece twice
        end = rng.randrange(place, len(data) + 1)
        return data[:end] + data[place:end] + data[end:]
    if kind == 7:  # zeros
        return data[:place] + bytes(rng.randrange(1, 40)) + data[place:]
    return rng.randbytes(rng.randrange(60))


def damaged(rng):
    """A file: before or after its compression, or both, something was done to it."""
    records, data = original(rng)
    compression = rng.choice(["", "", "GZIP", "ZLIB"])
    if not compression or rng.random() < 0.4:
        data = mutated(rng, data)
    data = COMPRESS[compression](data, rng.choice([0, 1, 9]))
    if compression and rng.random() < 0.7:
        data = mutated(rng, data)
    return records, compression, data


def read_all(reader, rng):
    """Everything that a reader gives, and the error that it ended with, if any."""
    taken = []
    try:
        while True:
            more = reader.read_many(rng.choice([1, 3, 100]))
            if not more:
                return taken, None
            taken += more
    except tf.errors.OpError as error:
        return taken, error


def check(path, rng):
    """One damaged file: with two sizes of blocks the same records come out, and a state in between leads on."""
    _, compression, data = damaged(rng)
    filesystem.write(path, data)
    results = []
    for buffer_size in (None, rng.choice([1, 7, 64, 1000])):
        with RecordReader(path, compression, buffer_size) as reader:
            taken, error = read_all(reader, rng)
        if error is not None:
            assert type(error) is tf.errors.DataLossError, error
            assert path in error.message
            assert any(word in error.message for word in ("corrupted", "truncated", "broken")), error.message
        results.append((taken, error))
    (taken, error), (other_taken, other_error) = results
    assert (error is None) == (other_error is None)
    if not compression:
        assert taken == other_taken
        if error is not None:
            assert error.message == other_error.message
            # What was given out is what the file starts with, and the error is about the next record.
            offset = sum(len(record) + 16 for record in taken)
            assert f"record {len(taken)} at byte {offset}:" in error.message
        assert data.startswith(framed_together(taken))
    else:
        # A stream's own checksum may fail while more or less of it was given out.
        shorter = min(len(taken), len(other_taken))
        assert taken[:shorter] == other_taken[:shorter]
    if taken:
        count = rng.randrange(len(taken))
        with RecordReader(path, compression, rng.choice([None, 5])) as reader:
            assert reader.read_many(count) == taken[:count]
            state = reader.state
        with RecordReader(path, compression) as reader:
            reader.seek(state)
            assert reader.record_number == count
            try:
                assert reader.read_many(1) == taken[count : count + 1]
            except tf.errors.DataLossError:
                assert compression
    return error is not None


def check_lines(path, rng):
    """The other readers on the same damage."""
    _, compression, data = damaged(rng)
    filesystem.write(path, data)
    for make in (
        lambda: TextLineReader(path, compression, rng.choice([None, 3])),
        lambda: FixedLengthReader(path, rng.randrange(1, 30), rng.randrange(9), rng.randrange(9), compression),
    ):
        with contextlib.suppress(tf.errors.InvalidArgumentError), make() as reader:  # no multiple of the length
            _, error = read_all(reader, rng)
            assert error is None or type(error) is tf.errors.DataLossError


def run(path, seed, count, lines):
    rng = random.Random(seed)
    failures = sum(check(path, rng) for _ in range(count))
    for _ in range(lines):
        check_lines(path, rng)
    assert failures > count // 3


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.parametrize("seed", range(2))
def test_a_few_damaged_files_in_little_memory(seed):
    check("ram://fuzzing/few", random.Random(seed))  # imports and caches are not counted
    tracemalloc.start()
    try:
        run("ram://fuzzing/few", seed, 150, 30)
        # The longest files have 200 KB; most of this is the table of known headers.
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("nothing_in_the_background")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_damaged_files(seed):
    resource = pytest.importorskip("resource")
    run(f"ram://fuzzing/{seed}", seed, 100, 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(f"ram://fuzzing/{seed}", -seed, 1500, 400)
    unit = 1 if sys.platform == "darwin" else 1024
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit < 64 << 20


@pytest.mark.usefixtures("nothing_in_the_background")
def test_streams_that_expand_without_end_take_no_memory(tmp_path):
    """A length that a stream of a thousandth of it might hold, but does not: read on in blocks, nothing at once."""
    path = str(tmp_path / "bomb")
    data = header(1 << 40) + bytes(50 << 20)
    (tmp_path / "bomb").write_bytes(zlib.compress(data, 9))
    tracemalloc.start()
    try:
        with pytest.raises(tf.errors.DataLossError, match="truncated record 0"), typed_errors(path):
            next(RecordReader(path, "ZLIB"))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_right_checksums_of_wrong_places(tmp_path):
    """A record whose data are records: starting there is possible, and nothing else is."""
    inner = framed(b"inner")
    (tmp_path / "file").write_bytes(framed(inner))
    with RecordReader(tmp_path / "file") as reader:
        reader.seek((12, 0))
        assert next(reader) == b"inner"
        with pytest.raises(tf.errors.DataLossError, match="truncated record 1 at byte 33"):
            next(reader)
        reader.seek((5, 0))
        with pytest.raises(tf.errors.DataLossError, match="corrupted record 0 at byte 5"):
            next(reader)
