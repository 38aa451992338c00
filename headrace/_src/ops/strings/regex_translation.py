"""Trees of regular expressions as patterns of Python's `re`, which match the same texts in the same way."""

_POINT_TEXT = {
    "begin": r"\A",
    "end": r"\Z",
    "line_begin": "(?m:^)",
    "line_end": "(?m:$)",
    "word": r"\b",
    "no_word": r"(?:\B|\A\Z)",  # before Python 3.14, \B does not match in an empty text
}


def translated(node: tuple) -> str:
    """A tree as a pattern, for `re.compile` with `re.ASCII`. It must not be nested deeply."""
    kind = node[0]
    if kind == "class":
        return class_text(node[1])
    if kind in _POINT_TEXT:
        return _POINT_TEXT[kind]
    if kind == "group":
        return f"({translated(node[2])})"
    if kind == "sequence":
        return "".join(_piece(item) for item in node[1])
    if kind == "either":
        return "|".join(translated(item) for item in node[1])
    _, inner, low, high, greedy, _ = node
    count = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    count = count or f"{{{low},{'' if high is None else high}}}"
    # Around a single class, `re` needs no group, and repeats it in a loop of its own.
    text = translated(inner) if inner[0] == "class" and inner[1] else f"(?:{translated(inner)})"
    return f"{text}{count}{'' if greedy else '?'}"


def _piece(node):
    text = translated(node)
    return f"(?:{text})" if node[0] == "either" else text


def class_text(ranges) -> str:
    """A class of characters as `re` writes it."""
    if not ranges:
        return "(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _character_text(ranges[0][0])
    texts = [_character_text(a) if a == b else f"{_character_text(a)}-{_character_text(b)}" for a, b in ranges]
    return f"[{''.join(texts)}]"


def _character_text(code):
    if code < 128 and chr(code).isalnum():
        return chr(code)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
