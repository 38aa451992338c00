"""`tf.io.TFRecordWriter` and its options, and the record iterator of 1.x."""

import threading

from headrace._src.core import errors
from headrace._src.formats import files as filesystem
from headrace._src.formats import streams
from headrace._src.formats.records import OVERHEAD, RecordReader, framed_together
from headrace._src.op.api import api


@api("compat.v1.io.TFRecordCompressionType", "compat.v1.python_io.TFRecordCompressionType")
class TFRecordCompressionType:
    """How a file of records is compressed, by number."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    TFRecordCompressionType.NONE: "",
    TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP",
}


@api("io.TFRecordOptions", "compat.v1.io.TFRecordOptions", "compat.v1.python_io.TFRecordOptions")
class TFRecordOptions:
    """How a `TFRecordWriter` compresses.

    Args:
        compression_type: "GZIP", "ZLIB", or "" (or None) for none; or a number of `TFRecordCompressionType`.
        flush_mode: zlib's number of what `flush` does: Z_SYNC_FLUSH or Z_FULL_FLUSH; others are taken as the default.
        input_buffer_size: the bytes that are gathered before they are compressed; None or 0 for 256 KiB.
        output_buffer_size: accepted; the compressed bytes are buffered by the file.
        window_bits, compression_level, compression_method, mem_level, compression_strategy: as zlib numbers them;
            None for the defaults.

    Raises:
        ValueError: for another compression_type.

    >>> tf.io.TFRecordOptions.get_compression_type_string(tf.io.TFRecordOptions("GZIP"))
    'GZIP'
    """

    compression_type_map = dict(_NAMES)

    def __init__(
        self,
        compression_type=None,
        flush_mode=None,
        input_buffer_size=None,
        output_buffer_size=None,
        window_bits=None,
        compression_level=None,
        compression_method=None,
        mem_level=None,
        compression_strategy=None,
    ) -> None:
        self.get_compression_type_string(compression_type)  # refuses what is none
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options) -> str:
        """The name of a compression.

        Args:
            options: a `TFRecordOptions`, a name, a number of `TFRecordCompressionType`, or None.

        Returns:
            "", "GZIP" or "ZLIB".

        Raises:
            ValueError: for anything else.
        """
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if not options:
            return ""
        if isinstance(options, str) and options in _NAMES.values():
            return options
        if options in _NAMES:
            return _NAMES[options]
        raise ValueError(f'Not a valid compression_type: "{options}". Expected "GZIP", "ZLIB" or "".')


@api("io.TFRecordWriter", "compat.v1.io.TFRecordWriter", "compat.v1.python_io.TFRecordWriter")
class TFRecordWriter:
    """Writes records, which are byte strings, to a TFRecord file. May be used by several threads.

    Args:
        path: the file: str, bytes or PathLike. A file in its place is replaced.
        options: a `TFRecordOptions`, or "GZIP", "ZLIB" or "" (or None).

    Raises:
        ValueError: for another compression.
        NotFoundError, FailedPreconditionError, PermissionDeniedError: the file cannot be made.

    >>> with tf.io.TFRecordWriter("/tmp/headrace_doc.tfrecord", "GZIP") as writer:
    ...     writer.write(b"a record")
    ...     writer.write(tf.constant("another").numpy())
    """

    def __init__(self, path, options=None) -> None:
        kind = TFRecordOptions.get_compression_type_string(options)
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(kind)
        self._path = filesystem.path_string(path)
        output = (
            streams.CompressedOutput(
                self._path,
                kind,
                level=options.compression_level,
                method=options.compression_method,
                window_bits=options.window_bits,
                memory_level=options.mem_level,
                strategy=options.compression_strategy,
                flush_mode=options.flush_mode,
            )
            if kind
            else streams.PlainOutput(self._path)
        )
        self._output: streams.PlainOutput | None = output
        self._lock = threading.Lock()  # for the file; a record is added without it
        self._records: list[bytes] = []  # not yet in the file
        self._room = self._buffer_size = options.input_buffer_size or streams.DEFAULT_BUFFER

    def write(self, record) -> None:
        """Adds a record: bytes, or a str, of which its UTF-8 bytes are taken.

        Raises:
            TypeError: for anything else.
            FailedPreconditionError: the writer was closed.
        """
        # Records are gathered, and framed many at a time: that leaves little Python per record.
        if type(record) is not bytes:
            record = _as_bytes(record)
        self._records.append(record)
        room = self._room = self._room - len(record) - OVERHEAD
        if room <= 0:
            with self._lock:
                if self._output is not None:
                    self._write_out()

    def _write_out(self):
        # Other threads may add to the end of the list meanwhile.
        self._room = self._buffer_size
        records = self._records[:]
        del self._records[: len(records)]
        if records:
            self._output.write(framed_together(records))

    def flush(self) -> None:
        """Makes what was written so far visible to readers of the file."""
        with self._lock:
            if self._output is None:
                self._records.append(b"")  # raises
            self._write_out()
            self._output.flush()

    def close(self) -> None:
        """Writes what is waiting and closes the file; a second time nothing happens."""
        with self._lock:
            if self._output is None:
                return
            output, self._output = self._output, None
            records, self._records = self._records, _Closed(self._path)
            try:
                if records:
                    output.write(framed_together(records))
            finally:
                output.close()

    def __enter__(self) -> "TFRecordWriter":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __del__(self):
        # TF: what was written is in the file also when close is forgotten. The attribute is missing where __init__
        # failed.
        if getattr(self, "_output", None) is not None:
            self.close()


class _Closed:
    """In place of the list of records of a writer that was closed."""

    def __init__(self, path: str):
        self._path = path

    def append(self, record):
        raise errors.failed_precondition(f"TFRecordWriter: Writer is closed. ({self._path})")


def _as_bytes(record) -> bytes:
    if isinstance(record, str):
        return record.encode()
    if isinstance(record, (bytes, bytearray, memoryview)):
        return bytes(record)
    raise TypeError(
        f"TFRecordWriter.write: record must be bytes, got {type(record).__name__}. "
        "Of a message write message.SerializeToString(), of a string tensor tensor.numpy()."
    )


@api("compat.v1.io.tf_record_iterator", "compat.v1.python_io.tf_record_iterator")
def tf_record_iterator(path, options=None) -> RecordReader:
    """An iterator of the records of a file, as bytes.

    Args:
        path: the file: str, bytes or PathLike.
        options: a `TFRecordOptions`, or the name or number of a compression.

    Raises:
        NotFoundError, DataLossError: see `tf.data.TFRecordDataset`, which programs for TensorFlow 2 use instead.
    """
    return RecordReader(path, TFRecordOptions.get_compression_type_string(options))
