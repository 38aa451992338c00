"""`tf.compat.v1.TFRecordReader` and its like: records of the files that a queue names."""

from typing import Any

from headrace._src.compat.input import reader_ops as ops
from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.state.queues import QueueBase
from headrace._src.state.record_writer import TFRecordOptions
from headrace._src.state.resources import name_in_session


@api("compat.v1.ReaderBase")
class ReaderBase:
    """What readers share.

    Args:
        reader_ref: the resource tensor by which ops know the reader.
        supports_serialize: whether its state can be saved.

    Raises:
        RuntimeError: operations run at once: `tf.data` reads files there.
    """

    def __init__(self, reader_ref, supports_serialize=False) -> None:
        if context.graph is None:
            raise RuntimeError("Readers need a graph and a session. Where operations run at once, read files with "
                               "tf.data, for example tf.data.TFRecordDataset or tf.data.TextLineDataset.")
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    reader_ref = property(lambda self: self._reader_ref, doc="The resource tensor by which ops know the reader.")
    supports_serialize = property(lambda self: self._supports_serialize, doc="Whether its state can be saved.")

    def read(self, queue, name=None) -> tuple[Tensor, Tensor]:
        """The next record: a key that says where it was, and its bytes.

        Args:
            queue: a queue of names, or its handle.
            name: a name for the operation.
        """
        key, value = ops.READER_READ(self._reader_ref, _handle(queue), name=name)
        return key, value

    def read_up_to(self, queue, num_records, name=None) -> tuple[Tensor, Tensor]:
        """Keys and bytes of the next records, as many or fewer.

        Args:
            queue: a queue of names, or its handle.
            num_records: how many.
            name: a name for the operation.
        """
        count = to_tensor(num_records, dtypes.int64)
        keys, values = ops.READER_READ_UP_TO(self._reader_ref, _handle(queue), count, name=name)
        return keys, values

    def num_records_produced(self, name=None) -> Tensor:
        """How many records it has given.

        Args:
            name: a name for the operation.
        """
        return ops.READER_NUM_RECORDS(self._reader_ref, name=name)

    def num_work_units_completed(self, name=None) -> Tensor:
        """How many names it is done with.

        Args:
            name: a name for the operation.
        """
        return ops.READER_NUM_WORK(self._reader_ref, name=name)

    def serialize_state(self, name=None) -> Tensor:
        """Its state, as bytes; for readers that give one record for each name.

        Args:
            name: a name for the operation.
        """
        return ops.READER_STATE(self._reader_ref, name=name)

    def restore_state(self, state, name=None) -> Any:
        """An operation that sets its state.

        Args:
            state: bytes of `serialize_state`.
            name: a name for the operation.
        """
        return ops.READER_RESTORE(self._reader_ref, state, name=name)

    def reset(self, name=None) -> Any:
        """An operation that lets it begin anew.

        Args:
            name: a name for the operation.
        """
        return ops.READER_RESET(self._reader_ref, name=name)


def _named(name):
    """The name of the op, and one under which a session finds the reader again in its next run."""
    return {"name": name, "shared_name": name_in_session(name or "reader") or ""}


def _handle(queue):
    return queue.queue_ref if isinstance(queue, QueueBase) else queue


@api("compat.v1.TextLineReader")
class TextLineReader(ReaderBase):
    """The lines of text files; the key is the file's name and the number of the line.

    Args:
        skip_header_lines: how many lines of each file are left out.
        name: a name for the operation.
    """

    def __init__(self, skip_header_lines=None, name=None) -> None:
        super().__init__(ops.TEXT_LINE_READER(skip_header_lines=skip_header_lines or 0, **_named(name)))


@api("compat.v1.TFRecordReader")
class TFRecordReader(ReaderBase):
    """The records of TFRecord files; the key is the file's name and where the record begins.

    Args:
        name: a name for the operation.
        options: a `TFRecordOptions` that says how files are compressed.
    """

    def __init__(self, name=None, options=None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(ops.TF_RECORD_READER(compression_type=compression, **_named(name)))


@api("compat.v1.WholeFileReader")
class WholeFileReader(ReaderBase):
    """Whole files; the key is the file's name.

    Args:
        name: a name for the operation.
    """

    def __init__(self, name=None) -> None:
        super().__init__(ops.WHOLE_FILE_READER(**_named(name)), True)


@api("compat.v1.IdentityReader")
class IdentityReader(ReaderBase):
    """The names themselves.

    Args:
        name: a name for the operation.
    """

    def __init__(self, name=None) -> None:
        super().__init__(ops.IDENTITY_READER(**_named(name)), True)


@api("compat.v1.FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Records of a fixed length; the key is the file's name and the number of the record.

    Args:
        record_bytes: the length.
        header_bytes, footer_bytes: how many bytes at the start and the end of each file are left out.
        hop_bytes: from the start of a record to that of the next; by default the length.
        name: a name for the operation.
        encoding: "" or "ZLIB".
    """

    def __init__(
        self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None
    ) -> None:
        super().__init__(ops.FIXED_LENGTH_READER(
            record_bytes=record_bytes, header_bytes=header_bytes or 0, footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0, encoding=encoding or "", **_named(name),
        ))  # fmt: skip


@api("compat.v1.LMDBReader")
class LMDBReader(ReaderBase):
    """Refused: files of LMDB are not read.

    Raises:
        UnimplementedError: always.
    """

    def __init__(self, name=None, options=None) -> None:
        raise errors.UnimplementedError(None, None, "LMDBReader: headrace does not read LMDB files. Read them with the "
                                        "package lmdb in a generator: tf.data.Dataset.from_generator.")
