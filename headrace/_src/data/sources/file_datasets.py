"""`tf.data.TFRecordDataset`, `TextLineDataset` and `FixedLengthRecordDataset`: what is in files."""

import os

from headrace._src.core import dtypes
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2, build, constant
from headrace._src.data.sources.file_records import FIXED_LENGTH_RECORD_DATASET, TEXT_LINE_DATASET, TF_RECORD_DATASET
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import RESHAPE

_RECORD = TensorSpec([], dtypes.string)
_DEFAULT_BUFFER = 256 << 10


def filename_tensor(filenames) -> Tensor:
    """Paths (a string, a path object, a tensor or a list of these) as a string vector.

    Raises:
        TypeError: they are not strings.
    """
    if isinstance(filenames, (list, tuple)):
        filenames = [os.fspath(path) if isinstance(path, os.PathLike) else path for path in filenames]
        tensor = to_tensor(filenames, dtypes.string) if not filenames else to_tensor(filenames)
    else:
        tensor = to_tensor(os.fspath(filenames) if isinstance(filenames, os.PathLike) else filenames)
    if tensor.dtype != dtypes.string:
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got `{tensor.dtype!r}` elements."
        )
    return RESHAPE(tensor, to_tensor([-1]))


def _check_names(dataset):
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string:
        found = spec.dtype if isinstance(spec, TensorSpec) else spec
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got a dataset of `{found!r}` elements."
        )
    if not spec.shape.is_compatible_with([]):
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a dataset of "
            f"element shape {spec.shape!r}."
        )


class _FileDataset(DatasetV2):
    """The records of files.

    Args:
        filenames: paths, or a dataset of paths.
        read: from a tensor of paths, a dataset.
        parallel: how many files are read in turns; None for one after the other.
    """

    def __init__(self, filenames, read, parallel) -> None:
        if isinstance(filenames, DatasetV2):
            _check_names(filenames)
        else:
            filenames = filename_tensor(filenames)
        self._filenames = filenames
        if parallel is not None:
            (names,) = self._inputs()
            made = names.interleave(read, cycle_length=parallel, block_length=1, num_parallel_calls=parallel)
        elif isinstance(filenames, DatasetV2):
            made = filenames.flat_map(read)
        else:
            made = read(filenames)
        super().__init__(made._variant_tensor)

    @property
    def element_spec(self) -> TensorSpec:
        return _RECORD

    def _inputs(self):
        names = self._filenames
        return [names if isinstance(names, DatasetV2) else DatasetV2.from_tensor_slices(names)]


def _text(value):
    return to_tensor("" if value is None else value, dtypes.string)


def _size(value):
    return constant(_DEFAULT_BUFFER if value is None else value, dtypes.int64)


@api("data.TFRecordDataset", dispatch=False)
class TFRecordDatasetV2(_FileDataset):
    """The records of TFRecord files: scalar strings.

    Args:
        filenames: a path, a list or tensor of paths, or a dataset of paths.
        compression_type: "" or None, "ZLIB" or "GZIP".
        buffer_size: how many bytes are read at once; None for 256 KiB.
        num_parallel_reads: None to read one file after the other; else how many files to read in turns, a record each.
        name: a name for the operation.

    >>> with tf.io.TFRecordWriter("/tmp/headrace_dataset.tfrecord") as writer:
    ...     writer.write(b"one")
    ...     writer.write(b"two")
    >>> list(tf.data.TFRecordDataset("/tmp/headrace_dataset.tfrecord").as_numpy_iterator())
    [b'one', b'two']

    Raises:
        NotFoundError: (while iterating) there is no such file.
        DataLossError: (while iterating) a record is damaged; the message names the file, the number and offset of the
            record, and what is wrong.
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None) -> None:
        compression, size = _text(compression_type), _size(buffer_size)

        def read(names):
            return build("TFRecordDatasetV2", TF_RECORD_DATASET, names, compression, size, spec=_RECORD, name=name)

        super().__init__(filenames, read, num_parallel_reads)


@api("data.TextLineDataset", dispatch=False)
class TextLineDatasetV2(_FileDataset):
    r"""The lines of text files, without their ends: scalar strings.

    Args:
        filenames: a path, a list or tensor of paths, or a dataset of paths.
        compression_type: "" or None, "ZLIB" or "GZIP".
        buffer_size: how many bytes are read at once; None for 256 KiB.
        num_parallel_reads: None to read one file after the other; else how many files to read in turns, a line each.
        name: a name for the operation.

    >>> tf.io.write_file("/tmp/headrace_dataset.txt", "one\ntwo\n")
    >>> list(tf.data.TextLineDataset("/tmp/headrace_dataset.txt").as_numpy_iterator())
    [b'one', b'two']
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None) -> None:
        compression, size = _text(compression_type), _size(buffer_size)

        def read(names):
            return build("TextLineDatasetV2", TEXT_LINE_DATASET, names, compression, size, spec=_RECORD, name=name)

        super().__init__(filenames, read, num_parallel_reads)


@api("data.FixedLengthRecordDataset", dispatch=False)
class FixedLengthRecordDatasetV2(_FileDataset):
    """The pieces of binary files whose records all have the same length: scalar strings.

    Args:
        filenames: a path, a list or tensor of paths, or a dataset of paths.
        record_bytes: the length of a record.
        header_bytes: how many bytes at the beginning of each file to leave out.
        footer_bytes: how many bytes at the end of each file to leave out.
        buffer_size: how many bytes are read at once; None for 256 KiB.
        compression_type: "" or None, "ZLIB" or "GZIP".
        num_parallel_reads: None to read one file after the other; else how many files to read in turns, a record each.
        name: a name for the operation.

    >>> tf.io.write_file("/tmp/headrace_dataset.bin", "Habcdef")
    >>> list(tf.data.FixedLengthRecordDataset("/tmp/headrace_dataset.bin", 3, 1).as_numpy_iterator())
    [b'abc', b'def']
    """

    def __init__(
        self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
        num_parallel_reads=None, name=None,
    ) -> None:  # fmt: skip
        compression, size = _text(compression_type), _size(buffer_size)
        lengths = (header_bytes, record_bytes, footer_bytes)
        header, length, footer = (constant(0 if value is None else value, dtypes.int64) for value in lengths)

        def read(names):
            return build(
                "FixedLengthRecordDatasetV2", FIXED_LENGTH_RECORD_DATASET, names, header, length, footer, size,
                compression, spec=_RECORD, name=name,
            )  # fmt: skip

        super().__init__(filenames, read, num_parallel_reads)
