"""Files of which any part can be read: local ones without moving in them, others by moving."""

import os

import numpy as np

from headrace._src.core import errors, operating_system
from headrace._src.formats import files
from headrace._src.formats.local_files import LocalFiles, typed_errors

_READING = operating_system.reading_flags()


class RandomAccessFile:
    """A file that is open for reading. For one thread at a time.

    Attributes:
        path: as text.
        size: in bytes, when it was opened.
    """

    _number = -1

    def __init__(self, path: str):
        self.path = path
        with typed_errors(path):
            system, place = files.system_of(path)
            self.size = system.stat(place).length
            if isinstance(system, LocalFiles) and operating_system.reads_at_places():
                self._number = os.open(place, _READING)
                self.size = os.fstat(self._number).st_size
            else:
                self._file = system.open(place, "r")

    def read_into(self, offset: int, target: np.ndarray) -> None:
        """Fills an array of uint8 with the bytes at an offset.

        Raises:
            DataLossError: the file ends before.
        """
        with typed_errors(self.path):
            done, size = 0, len(target)
            if self._number < 0:
                self._file.seek(offset)
            while done < size:
                if self._number >= 0:
                    count = operating_system.read_into(self._number, target[done:], offset + done)
                else:
                    piece = self._file.read(size - done)
                    count = len(piece)
                    target[done : done + count] = np.frombuffer(piece, np.uint8)
                if not count:
                    raise errors.data_loss(f"{self.path}: it ends at {offset + done}, and should have more bytes.")
                done += count

    def read_at(self, offset: int, size: int) -> bytes:
        """The bytes at an offset; fewer only at the end."""
        with typed_errors(self.path):
            if self._number < 0:
                self._file.seek(offset)
                return self._file.read(size)
            return operating_system.bytes_at(self._number, size, offset)

    def close(self) -> None:
        """Closes the file; more than once is no error."""
        if self._number >= 0:
            number, self._number = self._number, -1
            os.close(number)
            self._file = None
        elif self._file is not None:
            self._file.close()

    _file = None

    def __del__(self):
        if self._number >= 0:
            self.close()
