"""Bytes of files in large blocks, with TensorFlow's whole-file compression undone or done on the way."""

import os
import stat
import zlib

from headrace._src.core import errors, limits
from headrace._src.formats import files as filesystem
from headrace._src.formats.local_files import typed_errors

# What zlib calls window bits: 15 for its own header and trailer, 16 more for those of gzip.
_WINDOW_BITS = {"ZLIB": 15, "GZIP": 31}
DEFAULT_BUFFER = 256 << 10
_BEST_RATIO = 1032  # no DEFLATE stream expands further than this
_AT_ONCE = 1 << 16  # bytes that are decompressed, or taken out, in one step


def checked_compression(compression_type: str | bytes | None) -> str:
    """"", "ZLIB" or "GZIP".

    Raises:
        InvalidArgumentError: for another one.
    """
    if isinstance(compression_type, bytes):
        compression_type = compression_type.decode(errors="replace")
    if not compression_type:
        return ""
    if compression_type not in _WINDOW_BITS:
        raise errors.invalid_argument(
            f"Unsupported compression_type {compression_type!r}: expected '', 'GZIP' or 'ZLIB'."
        )
    return compression_type


def decompressed(data: bytes, compression_type: str) -> bytes:
    """What a GZIP or ZLIB stream holds; as much as there is of it, if it is truncated.

    Raises:
        zlib.error: it is no such stream.
        ResourceExhaustedError: it holds more than the limit allows.
    """
    parts, size, at = [], 0, 0
    inflater = zlib.decompressobj(_WINDOW_BITS[compression_type])
    while at < len(data):
        given = data[at : at + _AT_ONCE]
        at += len(given)
        while True:
            parts.append(inflater.decompress(given, _AT_ONCE))
            size += len(parts[-1])
            limits.check("decompressed_bytes", size, f"{len(data)} bytes of {compression_type}")
            given = inflater.unconsumed_tail
            if inflater.eof or (not given and len(parts[-1]) < _AT_ONCE):
                break
        if inflater.eof:
            # TF: several members of gzip are one stream; what follows a zlib stream is not looked at.
            if compression_type != "GZIP":
                break
            at -= len(inflater.unused_data)
            inflater = zlib.decompressobj(_WINDOW_BITS[compression_type])
    return b"".join(parts)


class PlainInput:
    """The bytes of a file, from any position.

    Attributes:
        path: the file.
        position: of the next byte.
    """

    def __init__(self, path, buffer_size: int = DEFAULT_BUFFER):
        self.path = filesystem.path_string(path)
        self.buffer_size = buffer_size
        self.position = 0
        self._file = filesystem.open_file(self.path)
        self._size: int | None = None  # None: nobody knows
        self._grows = False  # whether it is to be asked again
        with typed_errors(self.path):
            self._measure()

    def read(self) -> bytes:
        """The next block: about `buffer_size` bytes, none at the end."""
        with typed_errors(self.path):
            block = self._file.read(self.buffer_size)
        self.position += len(block)
        return block

    def read_exactly(self, size: int) -> bytes:
        """`size` bytes, or fewer at the end; takes memory only for what is there."""
        if size <= self.buffer_size:
            parts, step = [], size
        else:
            bound = self.bound()
            parts, step = [], max(self.buffer_size, size if bound is not None and size <= bound else 0)
        with typed_errors(self.path):
            while size:
                part = self._file.read(min(size, step))
                if not part:
                    break
                parts.append(part)
                self.position += len(part)
                size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def check_size(self, size: int) -> None:
        """Nothing is too large of what is as long as it seems."""

    def bound(self) -> int | None:
        """At most this many bytes are still to come; None if nobody knows."""
        if self._grows:
            with typed_errors(self.path):
                self._size = os.fstat(self._file.fileno()).st_size
        return None if self._size is None else max(0, self._size - self.position)

    def _measure(self) -> None:
        """Finds out how long the file is, if it is no pipe or device."""
        try:
            about = os.fstat(self._file.fileno())
        except (AttributeError, OSError):  # in memory or elsewhere: no descriptor
            if self._file.seekable():
                self._size = self._file.seek(0, os.SEEK_END)
                self._file.seek(0)
            return
        self._grows = stat.S_ISREG(about.st_mode)

    def seek(self, position: int) -> None:
        """Goes on from there."""
        with typed_errors(self.path):
            self._file.seek(position)
        self.position = position

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __del__(self):
        # Iterators are dropped rather than closed; that is no mistake to warn of.
        if hasattr(self, "_file"):
            self._file.close()


class CompressedInput:
    """The bytes that a GZIP or ZLIB file was made of; positions are among these.

    Attributes:
        path: the file.
        position: of the next byte.
    """

    def __init__(self, path, compression_type: str, buffer_size: int = DEFAULT_BUFFER):
        self._source = PlainInput(path, max(buffer_size, 4096))
        self.path = self._source.path
        self.buffer_size = buffer_size
        self._type = compression_type
        self._restart()

    def _restart(self) -> None:
        self._inflater = zlib.decompressobj(_WINDOW_BITS[self._type])
        self._waiting = b""  # read from the file, not yet decompressed
        self._started = False  # whether the present member of the file has begun
        self._ended = False
        self.position = 0

    def read(self) -> bytes:
        """The next block: at most `buffer_size` bytes, none at the end."""
        return self._inflate(self.buffer_size)

    def _inflate(self, size: int) -> bytes:
        while not self._ended:
            if not self._waiting:
                self._waiting = self._source.read()
                if not self._waiting:
                    self._ended = True
                    if not self._started:
                        break
                    # What zlib still holds, then the news that the rest is missing.
                    data = self._decompressed(b"", size)
                    if data:
                        self._ended = False
                        return data
                    raise errors.data_loss(
                        f"{self.path}; the {self._type} stream is truncated: the file ends at byte "
                        f"{self._source.position}, after {self.position} decompressed bytes, without the stream's end."
                    )
            self._started = True
            data = self._decompressed(self._waiting, size)
            self._waiting = self._inflater.unconsumed_tail
            if self._inflater.eof:
                self._waiting = self._inflater.unused_data
                self._started = False
                # TF: one gzip file may hold several members; bytes after a zlib stream are not looked at.
                if self._type == "GZIP":
                    self._inflater = zlib.decompressobj(_WINDOW_BITS[self._type])
                else:
                    self._ended = True
            if data:
                return data
        return b""

    def _decompressed(self, data: bytes, size: int) -> bytes:
        try:
            result = self._inflater.decompress(data, size)
        except zlib.error as error:
            near = self._source.position - len(self._waiting)
            raise errors.data_loss(
                f"{self.path}; the {self._type} stream is broken near byte {near} of the file, after "
                f"{self.position} decompressed bytes ({str(error).rpartition(': ')[2]}). Is the file "
                f"{self._type} compressed?"
            ) from error
        self.position += len(result)
        return result

    def read_exactly(self, size: int) -> bytes:
        """`size` bytes, or fewer at the end; takes memory only for what is there."""
        parts = []
        self.check_size(size)
        while size:
            part = self._inflate(min(size, max(self.buffer_size, 1 << 20)))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def check_size(self, size: int) -> None:
        """Refuse a piece of so many bytes if that is more than the limit for what is decompressed as one.

        Raises:
            ResourceExhaustedError: it is.
        """
        if size > limits.current.decompressed_bytes:
            limits.check("decompressed_bytes", size, f"{self.path}; a piece of the {self._type} stream")

    def bound(self) -> int | None:
        """At most this many bytes are still to come; None if nobody knows."""
        compressed = self._source.bound()
        # The inflater keeps at most a window and a block of output back.
        return None if compressed is None else (compressed + len(self._waiting) + 1) * _BEST_RATIO + (1 << 17)

    def seek(self, position: int) -> None:
        """Goes on from there; backwards this decompresses the file from its beginning."""
        if position < self.position:
            self._source.seek(0)
            self._restart()
        while self.position < position:
            if not self._inflate(min(position - self.position, 1 << 20)):
                break

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


def open_input(path, compression_type: str | None = "", buffer_size: int | None = None) -> PlainInput | CompressedInput:
    """The bytes of a file, decompressed.

    Args:
        path: str, bytes or PathLike.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: the size of blocks in bytes; None or 0 for 256 KiB.
    """
    kind = checked_compression(compression_type)
    if buffer_size is not None and buffer_size < 0:
        raise errors.invalid_argument(f"buffer_size must be >= 0 (0: the default), got {buffer_size}.")
    size = buffer_size or DEFAULT_BUFFER
    return CompressedInput(path, kind, size) if kind else PlainInput(path, size)


class PlainOutput:
    """Bytes into a file."""

    def __init__(self, path, mode: str = "w"):
        self.path = filesystem.path_string(path)
        self._file = filesystem.open_file(self.path, mode)

    def write(self, data: bytes) -> None:
        """Adds bytes."""
        with typed_errors(self.path):
            self._file.write(data)

    def flush(self) -> None:
        """Makes what was written visible to readers of the file."""
        with typed_errors(self.path):
            self._file.flush()

    def close(self) -> None:
        """Writes what is waiting and closes the file."""
        with typed_errors(self.path):
            self._file.close()


class CompressedOutput(PlainOutput):
    """Bytes into a GZIP or ZLIB file.

    Args:
        path: str, bytes or PathLike.
        compression_type: "GZIP" or "ZLIB".
        level, method, window_bits, memory_level, strategy, flush_mode: as zlib numbers them; None for its defaults.
    """

    def __init__(
        self,
        path,
        compression_type: str,
        level: int | None = None,
        method: int | None = None,
        window_bits: int | None = None,
        memory_level: int | None = None,
        strategy: int | None = None,
        flush_mode: int | None = None,
    ):
        settings = dict(
            level=zlib.Z_DEFAULT_COMPRESSION if level is None else level,
            method=zlib.DEFLATED if method is None else method,
            wbits=_WINDOW_BITS[compression_type] if window_bits is None else window_bits,
            memLevel=9 if memory_level is None else memory_level,  # TF: more memory than zlib's own default
            strategy=zlib.Z_DEFAULT_STRATEGY if strategy is None else strategy,
        )
        try:
            self._deflater = zlib.compressobj(**settings)
        except (ValueError, zlib.error, OverflowError) as error:
            raise errors.invalid_argument(f"zlib cannot compress with {settings}: {error}") from None
        self._flush_mode = flush_mode if flush_mode in (zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH) else zlib.Z_PARTIAL_FLUSH
        self._waiting = False  # whether bytes were written since the last flush
        super().__init__(path)

    def write(self, data):
        self._waiting = True
        super().write(self._deflater.compress(data))

    def flush(self):
        if self._waiting:
            super().write(self._deflater.flush(self._flush_mode))
            self._waiting = False
        super().flush()

    def close(self):
        try:
            super().write(self._deflater.flush(zlib.Z_FINISH))
        finally:
            super().close()
