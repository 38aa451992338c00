"""Files of comma-separated values cut into records: lines, but for line breaks within quotes."""

from headrace._src.formats.block_reader import BlockReader


class CsvRecordReader(BlockReader):
    r"""The records of a file of comma-separated values, as bytes without their ends. See `BlockReader`.

    Args:
        path: str, bytes or PathLike.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: the size of blocks in bytes; None or 0 for 256 KiB.
        delimiter: between fields, one byte.
        quotes: whether a field may stand in double quotes, in which line breaks do not end the record.

    >>> tf.io.write_file("/tmp/headrace_doc.csv", 'a,1\r\n"two\nlines",2')
    >>> list(CsvRecordReader("/tmp/headrace_doc.csv"))
    [b'a,1', b'"two\nlines",2']
    """

    def __init__(self, path, compression_type="", buffer_size=None, delimiter: bytes = b",", quotes: bool = True):
        self._delimiter = delimiter
        self._quotes = quotes and delimiter != b'"'
        super().__init__(path, compression_type, buffer_size)

    def _forget(self, offset, number):
        super()._forget(offset, number)
        self._stored: list[bytes] = []  # the records as they are in the file

    def _length_of(self, count):
        return sum(map(len, self._stored[:count]))

    def _read_pieces(self):
        waiting = [self._rest]
        while True:
            block = self._input.read()
            waiting.append(block)
            self._input.check_size(sum(map(len, waiting)))
            # Most blocks end records; only a quoted field that is longer than a block does not.
            if block and b"\n" not in block and b"\r" not in block:
                continue
            data = b"".join(waiting)
            if not data:
                self._rest = b""
                return False
            lines, rest = self._lines(data, not block)
            if lines:
                self._stored, self._rest = lines, rest
                if self._quotes and b'"' in data:
                    self._pieces = [_without_end(line) for line in lines]
                else:
                    self._pieces = data[: len(data) - len(rest)].splitlines()
                return True
            waiting = [rest]

    def _lines(self, data, is_last):
        """The whole records in some bytes, with their ends, and what is left."""
        lines, is_open = data.splitlines(keepends=True), False
        if self._quotes and b'"' in data:
            lines, is_open = self._joined(lines)
        rest = b""
        # A carriage return at the end of the block may be half of a line break.
        if not is_last and (is_open or not lines[-1].endswith(b"\n")):
            rest = lines.pop()
        return lines, rest

    def _joined(self, lines):
        """Lines joined where a line break stands within quotes, and whether the last of them ends there."""
        records: list = []
        gathered: list = []
        is_open = False
        for line in lines:
            if not is_open and b'"' not in line:
                records.append(line)
                continue
            gathered.append(line)
            is_open = self._ends_open(line, is_open)
            if not is_open:
                records.append(b"".join(gathered))
                gathered = []
        if gathered:
            records.append(b"".join(gathered))
        return records, is_open

    def _ends_open(self, line, is_open):
        """Whether a line, which begins within quotes if `is_open`, ends within quotes."""
        at, size = 0, len(line)
        while at < size:
            if is_open or line[at : at + 1] == b'"':
                at += not is_open
                while True:
                    at = line.find(b'"', at)
                    if at < 0:
                        return True
                    if line[at + 1 : at + 2] != b'"':
                        break
                    at += 2
                at, is_open = at + 1, False
            stop = line.find(self._delimiter, at)
            if stop < 0:
                return False
            at = stop + 1
        return is_open


def _without_end(line):
    if line.endswith(b"\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith((b"\n", b"\r")) else line
