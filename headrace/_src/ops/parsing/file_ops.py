"""Ops on whole files: reading, writing, finding them, and undoing compression."""

import posixpath
import zlib
from typing import Any

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.formats import files as filesystem
from headrace._src.formats import streams
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input, with_rank
from headrace._src.op.traits import READS_FILES
from headrace._src.ops.strings.kernel_arrays import map_strings, one_of, scalar_string, string_array


def _infer_read(filename):
    with_rank(filename, 0, "ReadFile", "filename")
    return TensorShape([])


def _infer_write(filename, contents):
    with_rank(filename, 0, "WriteFile", "filename")
    with_rank(contents, 0, "WriteFile", "contents")
    return ()


def _read(filename):
    return string_array([filesystem.read(scalar_string("ReadFile", "filename", filename))], ())


READ_FILE = Op(
    "ReadFile",
    "filename: string -> contents: string",
    traits=READS_FILES,
    infer=_infer_read,
    kernel=_read,
    lower=None,  # files are the host's
    stateful=True,  # what it gives is not a function of its inputs
    grad=None,
)


@api("io.read_file", "compat.v1.io.read_file", "compat.v1.read_file")
def read_file(filename, name=None) -> Tensor:
    """The contents of a file, as a string tensor.

    Args:
        filename: a scalar string.
        name: optional name of the operation.

    Raises:
        NotFoundError, FailedPreconditionError, PermissionDeniedError: no file there, a directory, not readable.

    >>> tf.io.write_file("/tmp/headrace_doc.txt", "some text")
    >>> tf.io.read_file("/tmp/headrace_doc.txt").numpy()
    b'some text'
    """
    return READ_FILE(filename, name=name)


def _write(filename, contents):
    path = filesystem.path_string(scalar_string("WriteFile", "filename", filename))
    data = scalar_string("WriteFile", "contents", contents)
    folder = posixpath.dirname(path)
    if folder and not folder.endswith(":/") and not filesystem.is_directory(folder):
        filesystem.make_directories(folder)
    filesystem.write(path, data)


WRITE_FILE = Op(
    "WriteFile",
    "filename: string, contents: string -> ",
    infer=_infer_write,
    kernel=_write,
    lower=None,  # files are the host's
    stateful=True,
    grad=None,
)


@api("io.write_file", "compat.v1.io.write_file", "compat.v1.write_file")
def write_file(filename, contents, name=None) -> Any:
    """Writes a file, and makes the directories above it that are not there.

    A local file is replaced in one step: who reads it meanwhile gets the old contents or the new ones.

    Args:
        filename: a scalar string.
        contents: a scalar string.
        name: optional name of the operation.
    """
    return WRITE_FILE(filename, contents, name=name)


def _check_patterns(rank, shape):
    if rank is not None and rank > 1:
        raise errors.invalid_argument(f"MatchingFiles: pattern must be a scalar or vector, got shape {shape}.")


def _infer_matching(pattern):
    _check_patterns(pattern.shape.rank, pattern.shape)
    return TensorShape([None])


def _matching(pattern):
    _check_patterns(pattern.ndim, pattern.shape)
    found = [path for item in pattern.ravel().tolist() for path in filesystem.matching(item)]
    return string_array(sorted(map(filesystem.path_bytes, found)), (len(found),))


MATCHING_FILES = Op(
    "MatchingFiles",
    "pattern: string -> filenames: string",
    traits=READS_FILES,
    infer=_infer_matching,
    kernel=_matching,
    lower=None,  # files are the host's
    stateful=True,  # what it gives is not a function of its inputs
    grad=None,
)


@api("io.matching_files", "compat.v1.io.matching_files", "compat.v1.matching_files")
def matching_files(pattern, name=None) -> Tensor:
    """The paths of the files that match shell patterns, sorted; wildcards stay within one component of a path.

    Args:
        pattern: a string, scalar or vector.
        name: optional name of the operation.
    """
    return MATCHING_FILES(pattern, name=name)


def _decode_compressed(bytes, compression_type):
    if not compression_type:
        return bytes
    one_of("DecodeCompressed", "compression_type", compression_type, ("ZLIB", "GZIP", ""))
    try:
        return map_strings(lambda item: streams.decompressed(item, compression_type), bytes)
    except zlib.error as error:
        reason = str(error).rpartition(": ")[2]
        raise errors.data_loss(f"DecodeCompressed: bytes are no {compression_type} stream: {reason}.") from None


DECODE_COMPRESSED = Op(
    "DecodeCompressed",
    "bytes: string, *, compression_type: string = '' -> output: string",
    infer=same_as_input,
    kernel=_decode_compressed,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.decode_compressed", "compat.v1.io.decode_compressed", "compat.v1.decode_compressed", ragged=1)
def decode_compressed(bytes, compression_type="", name=None) -> Tensor:
    """Every string of a tensor decompressed.

    Args:
        bytes: a string tensor.
        compression_type: "ZLIB", "GZIP", or "" for strings that are not compressed.
        name: optional name of the operation.

    Raises:
        DataLossError: a string is no such stream.

    >>> import zlib
    >>> tf.io.decode_compressed([zlib.compress(b"text")], "ZLIB").numpy()
    array([b'text'], dtype=object)
    """
    return DECODE_COMPRESSED(bytes, compression_type=compression_type, name=name)
