"""`tf.io.TFRecordWriter`, its options and the record iterator of 1.x."""

import gc
import os
import pathlib
import threading
import zlib

import pytest

import headrace as tf
from headrace._src.formats.records import RecordReader

Options = tf.io.TFRecordOptions
v1 = tf.compat.v1


def written(path, options, records):
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            assert writer.write(record) is None
    return path


@pytest.mark.parametrize(
    "options", [None, "", "GZIP", "ZLIB", 0, 1, 2, Options("GZIP"), Options(v1.io.TFRecordCompressionType.ZLIB)]
)
def test_forms_of_options(options, tmp_path):
    path = written(tmp_path / "file", options, [b"abc", b"", "ü", bytearray(b"x"), memoryview(b"yz")])
    kind = Options.get_compression_type_string(options)
    assert list(RecordReader(path, kind)) == [b"abc", b"", "ü".encode(), b"x", b"yz"]
    start = path.read_bytes()[:2]
    assert start == {"GZIP": b"\x1f\x8b", "ZLIB": b"x\x9c", "": b"\x03\x00"}[kind]


def test_compression_type_strings():
    for given, name in [("GZIP", "GZIP"), ("ZLIB", "ZLIB"), ("", ""), (None, ""), (0, ""), (1, "ZLIB"), (2, "GZIP")]:
        assert Options.get_compression_type_string(given) == name
        assert Options.get_compression_type_string(Options(given)) == name
        assert Options(given).compression_type == given
    for wrong in ("foo", 5, 3.5):
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            Options.get_compression_type_string(wrong)
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            Options(wrong)
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            tf.io.TFRecordWriter("never made", wrong)
    assert not os.path.exists("never made")


def test_options_keep_what_they_are_given():
    names = ("flush_mode", "input_buffer_size", "output_buffer_size", "window_bits", "compression_level",
             "compression_method", "mem_level", "compression_strategy")  # fmt: skip
    options = Options("GZIP", **{name: i for i, name in enumerate(names)})
    assert [getattr(options, name) for name in names] == list(range(8))
    assert [getattr(Options(), name) for name in names] == [None] * 8


@pytest.mark.parametrize(
    ("settings", "window_bits"),
    [({"compression_level": 0}, 15), ({"compression_level": 9, "compression_strategy": 2}, 15), ({"mem_level": 1}, 15),
     ({"window_bits": -15}, -15), ({"window_bits": 31}, 31), ({"window_bits": 9}, 15), ({"compression_method": 8}, 15)],
)  # fmt: skip
def test_settings_of_zlib(settings, window_bits, tmp_path):
    records = [b"x" * 1000, bytes(range(256))]
    path = written(tmp_path / "file", Options("ZLIB", **settings), records)
    plain = written(tmp_path / "plain", None, records)
    assert zlib.decompress(path.read_bytes(), window_bits) == plain.read_bytes()


@pytest.mark.parametrize("settings", [{"compression_level": 77}, {"mem_level": 100}, {"compression_method": 3},
                                      {"window_bits": 99}])  # fmt: skip
def test_settings_that_zlib_refuses(settings, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="zlib cannot compress with"):
        tf.io.TFRecordWriter(tmp_path / "file", Options("ZLIB", **settings))
    with tf.io.TFRecordWriter(tmp_path / "file", Options("", **settings)) as writer:  # they are not used
        writer.write(b"x")


@pytest.mark.parametrize("options", ["", "GZIP", Options("ZLIB", flush_mode=3)])
def test_flush(options, tmp_path):
    path = tmp_path / "file"
    writer = tf.io.TFRecordWriter(path, options)
    kind = Options.get_compression_type_string(options)
    for count in range(1, 4):
        writer.write(b"record")
        writer.flush()
        writer.flush()
        reader = RecordReader(path, kind)
        assert reader.read_many(count) == [b"record"] * count
    writer.close()
    assert list(RecordReader(path, kind)) == [b"record"] * 3


def test_close(tmp_path):
    writer = tf.io.TFRecordWriter(tmp_path / "file")
    writer.write(b"x")
    assert writer.close() is writer.close() is None
    for use in (writer.flush, lambda: writer.write(b"y")):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
            use()
    with writer:
        pass
    assert list(RecordReader(tmp_path / "file")) == [b"x"]


@pytest.mark.parametrize("options", ["", "GZIP"])
def test_a_writer_that_is_dropped_closes_its_file(options, tmp_path):
    tf.io.TFRecordWriter(tmp_path / "file", options).write(b"x")
    gc.collect()
    assert list(RecordReader(tmp_path / "file", options)) == [b"x"]


def test_errors(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        tf.io.TFRecordWriter(tmp_path / "none" / "file")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.io.TFRecordWriter(tmp_path)
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.TFRecordWriter("")
    with pytest.raises(TypeError, match="path"):
        tf.io.TFRecordWriter(3)
    with tf.io.TFRecordWriter(tmp_path / "file") as writer:
        for record in (3, None, tf.constant("x"), ["x"]):
            with pytest.raises(TypeError, match=r"record must be bytes, got .*SerializeToString"):
                writer.write(record)
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("options", ["", "GZIP"])
def test_full_disk(options):
    writer = tf.io.TFRecordWriter("/dev/full", options)
    writer.write(os.urandom(1000))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="/dev/full; No space left"):
        writer.flush()
    with pytest.raises(tf.errors.ResourceExhaustedError):
        writer.close()
    writer.close()


def test_several_threads(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "file", Options(input_buffer_size=200)) as writer:

        def work(number):
            for i in range(500):
                writer.write(b"%d:%d" % (number, i))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    records = list(RecordReader(tmp_path / "file"))
    assert len(records) == 2000
    for number in range(4):  # each in its own order
        assert [r for r in records if r.startswith(b"%d:" % number)] == [b"%d:%d" % (number, i) for i in range(500)]


def test_buffers_do_not_hold_large_records(tmp_path):
    writer = tf.io.TFRecordWriter(tmp_path / "file")
    writer.write(bytes(1 << 20))
    assert (tmp_path / "file").stat().st_size >= 1 << 20
    writer.close()


def test_other_file_systems():
    assert list(RecordReader(written("ram://writer/records", "GZIP", [b"x", b"y"]), "GZIP")) == [b"x", b"y"]
    reader = RecordReader("ram://writer/records", "GZIP")
    reader.seek((17, 1))
    assert next(reader) == b"y"
    with tf.io.gfile.GFile("ram://writer/huge", "wb") as file:
        file.write(b"\0" * 7)
    with pytest.raises(tf.errors.DataLossError, match="ram://writer/huge; truncated record 0"):
        list(RecordReader("ram://writer/huge"))


def test_iterator_of_1x(tmp_path):
    for module in (v1.io, v1.python_io):
        options = module.TFRecordOptions(module.TFRecordCompressionType.GZIP)
        path = written(str(tmp_path / "file"), options, [b"a", b"b"])
        iterator = module.tf_record_iterator(path, options=module.TFRecordOptions("GZIP"))
        assert next(iterator) == b"a"
        assert list(iterator) == [b"b"]
        assert module.TFRecordWriter is tf.io.TFRecordWriter
    with pytest.raises(tf.errors.NotFoundError):
        v1.python_io.tf_record_iterator(tmp_path / "none")
    with pytest.raises(tf.errors.DataLossError):
        list(v1.python_io.tf_record_iterator(path))
