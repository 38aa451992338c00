"""A Python source as bytes: its encoding, its syntax tree, and the place of each node in it."""

import ast
import bisect
import codecs
import io
import re
import tokenize
import warnings

_LINE_END = re.compile(rb"\r\n|\r|\n")


class SourceError(Exception):
    """A file that cannot be upgraded: what it is, and where."""


class Source:
    """A source, its tree, and byte places. All places are those of `data`, which is UTF-8 whatever the file was."""

    def __init__(self, original: bytes):
        """
        Raises:
            SourceError: the bytes are not a Python 3 program.
        """
        self.original = original
        self.encoding, self.mark, text = _decoded(original)
        self.data = text.encode("utf-8")
        if self.restored(self.data) != original:
            raise SourceError(f"it cannot be written back in its encoding {self.encoding} without changing other bytes")
        self.tree = parsed(text)
        self.starts = [0, *(end.end() for end in _LINE_END.finditer(self.data))]

    def restored(self, data: bytes) -> bytes:
        """Bytes of the file that holds `data`: in the encoding of the original, with its byte order mark."""
        if self.encoding == "utf-8":
            return self.mark + data
        try:
            return self.mark + data.decode("utf-8").encode(self.encoding)
        except UnicodeEncodeError as error:
            raise SourceError(f"its encoding {self.encoding} lacks a character: {error}") from None

    def start(self, node: ast.AST) -> int:
        """Where a node begins."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        """Where a node ends."""
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        """What a node says."""
        return self.data[self.start(node) : self.end(node)].decode("utf-8")

    def line_of(self, place: int) -> int:
        """The number of the line that a place is in."""
        return bisect.bisect_right(self.starts, place)

    def line(self, number: int) -> str:
        """A line, without its end; numbers begin at 1."""
        end = self.starts[number] if number < len(self.starts) else len(self.data)
        return self.data[self.starts[number - 1] : end].decode("utf-8").rstrip("\r\n")


def _decoded(original):
    """The encoding, the byte order mark and the text of a source."""
    if b"\0" in original:
        raise SourceError("it is a binary file, not Python source")
    mark = codecs.BOM_UTF8 if original.startswith(codecs.BOM_UTF8) else b""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(original).readline)
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        return encoding, mark, original[len(mark) :].decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise SourceError(f"it is not text in the encoding that it names: {error}") from None


def parsed(text: str) -> ast.Module:
    """The syntax tree.

    Raises:
        SourceError: it does not parse; Python 2 is named as such.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a string of the user's is not our business
            return ast.parse(text)
    except SyntaxError as error:
        said = f"line {error.lineno}: {error.msg}"
        if _is_python_2(error):
            said += ". This is Python 2: run it through 2to3 first"
    except (ValueError, RecursionError, MemoryError) as error:
        said = str(error)
    raise SourceError(f"it does not parse: {said}")


_PYTHON_2 = re.compile(r"Missing parentheses|multiple exception types|<>|leading zeros|Did you mean print|exec")


def _is_python_2(error):
    line = (error.text or "").strip()
    return bool(_PYTHON_2.search(error.msg or "")
                or re.match(r"(print|exec)\s+[^(=.\s]|print\s*>>|except\s+\w+\s*,\s*\w+\s*:|raise\s+\w+\s*,", line))
