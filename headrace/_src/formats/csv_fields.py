"""Cutting lines of comma-separated values into fields."""


class MalformedLine(ValueError):
    """A line whose quotes or line breaks stand where they must not."""


def fields_of(line: bytes, delimiter: bytes, quotes: bool, wanted: int | None = None) -> list[bytes]:
    """The fields of one line, without the quotes around them. An empty line has none.

    Args:
        line: without the line break at its end.
        delimiter: one byte.
        quotes: whether a field may stand in double quotes, in which a quote is written twice, and delimiters and line
            breaks are part of the field.
        wanted: how many fields to read; what follows is neither read nor checked. All if None.

    Raises:
        MalformedLine: quotes or line breaks in the wrong place.
    """
    if not line:
        return []
    quotes = quotes and delimiter != b'"'
    if not (quotes and b'"' in line):
        found = line.split(delimiter) if wanted is None else line.split(delimiter, wanted)[:wanted]
        if b"\n" in line or b"\r" in line:
            for field in found:
                _check_plain(field, quotes)
        return found
    found, at = [], 0
    while wanted is None or len(found) < wanted:
        if line[at : at + 1] == b'"':
            field, at = _quoted(line, at + 1, delimiter)
        else:
            stop = line.find(delimiter, at)
            stop = len(line) if stop < 0 else stop
            field, at = line[at:stop], stop
            _check_plain(field, True)
        found.append(field)
        if at == len(line):
            break
        at += 1
    return found


def _check_plain(field, quotes):
    if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
        raise MalformedLine("Unquoted fields cannot have quotes or line breaks inside")


def _quoted(line, at, delimiter):
    """The field whose opening quote stands just before `at`, and where it ends."""
    parts = []
    while True:
        stop = line.find(b'"', at)
        if stop < 0:
            raise MalformedLine("A quoted field has to end with a quote, followed by the delimiter or the end")
        parts.append(line[at:stop])
        after = line[stop + 1 : stop + 2]
        if after == b'"':
            at = stop + 2
        elif after == b"" or after == delimiter:
            return b'"'.join(parts), stop + 1
        else:
            raise MalformedLine("A quote inside of a quoted field has to be written twice")
