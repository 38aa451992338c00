"""Bytes of some encoding to code points with their offsets, and back to UTF-8, UTF-16 or UTF-32."""

import codecs
import functools
import re

import numpy as np

from headrace._src.core import errors

BAD = -1  # stands for what an encoding does not allow
_OUTPUT_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
OUTPUT_ENCODINGS = tuple(_OUTPUT_CODECS)
# Codecs of Python that are no character encodings.
_REFUSED = frozenset("idna mbcs oem punycode raw_unicode_escape undefined unicode_escape utf_8_sig".split())
# Other libraries' names of encodings that Python has under names of its own.
_ALIASES = {
    "windows31j": "cp932",
    "windows874": "cp874",
    "windows949": "cp949",
    "xmaccyrillic": "mac_cyrillic",
    "ibm37": "cp037",
    "utf16be": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32be": "utf-32-be",
    "utf32le": "utf-32-le",
}
_MARK = 0xDC00  # a lone surrogate comes out of no strict decoder, so it marks errors: this + bytes skipped


def _mark(error):
    return chr(_MARK + error.end - error.start), error.end


codecs.register_error("headrace.mark", _mark)


@functools.lru_cache(maxsize=64)
def decoder(op: str, encoding: str):
    """A function from bytes to (code points, offsets), int64 arrays; `BAD` stands for invalid bytes.

    Raises:
        InvalidArgumentError: when there is no such encoding.
    """
    plain = re.sub(r"[-_ ]", "", encoding).lower()
    if plain == "utf8":
        return decode_utf8
    if plain in ("utf16", "utf32"):
        return functools.partial(_decode_with_mark_of_order, plain)
    try:
        info = codecs.lookup(_ALIASES.get(plain, encoding))
    except (LookupError, ValueError):
        info = None
    if info is None or not info._is_text_encoding or info.name.replace("-", "_") in _REFUSED:
        raise errors.invalid_argument(f"{op}: input_encoding must be a known encoding, got {encoding!r}.")
    if info.name in ("utf-16-be", "utf-16-le", "utf-32-be", "utf-32-le"):
        return functools.partial(_decode_wide, info.name)
    if (table := _byte_table(info.name)) is not None:
        return functools.partial(_decode_by_table, table)
    return functools.partial(_decode_stepwise, info)


@functools.cache
def _byte_table(codec):
    """The code point of every byte in an encoding of single bytes; None when it is not one."""
    windows = re.fullmatch(r"cp125\d", codec) is not None
    table = []
    for byte in range(256):
        try:
            character = bytes([byte]).decode(codec)
        except UnicodeDecodeError as error:
            if "incomplete" in error.reason or "unexpected end" in error.reason:
                return None
            # ICU: the control characters that a Windows code page leaves open are themselves.
            table.append(byte if windows and (byte < 0xA0 or (codec, byte) == ("cp1253", 0xAA)) else BAD)
            continue
        if len(character) != 1:
            return None
        table.append(ord(character))
    codes = np.array(table, np.int64)
    return None if codecs.lookup(codec).name in ("utf-7", "hz") or codec.startswith("iso2022") else codes


def _decode_by_table(table, item):
    return table[np.frombuffer(item, np.uint8)], np.arange(len(item), dtype=np.int64)


def _code_points(text):
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)


def _offsets(codes, sizes):
    """Where each character begins, given the sizes of good ones; replaces marks by `BAD`."""
    marks = (codes >= _MARK) & (codes < _MARK + 0x400)
    if marks.any():
        sizes[marks] = codes[marks] - _MARK
        codes[marks] = BAD
    return np.cumsum(sizes) - sizes


def decode_utf8(item: bytes):
    """The code points of UTF-8 and where they begin; `BAD` stands for invalid bytes."""
    codes = _code_points(item.decode("utf-8", "headrace.mark"))
    sizes = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)
    return codes, _offsets(codes, sizes.astype(np.int64))


def decode_together(items: list[bytes]):
    """(bounds, code points, offsets) of strings in UTF-8, or None when one of them is not valid.

    `bounds` are the positions in the code points where strings begin, and their end.
    """
    text = b"".join(items)
    try:
        codes = _code_points(text.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    edges = np.concatenate([[0], np.cumsum(lengths)])
    if codes.size == len(text):
        starts, bounds = np.arange(codes.size), edges
    else:
        begins = np.frombuffer(text, np.uint8) & 0xC0 != 0x80
        if not begins[edges[edges < len(text)]].all():
            return None  # a character lies in two strings
        starts = np.flatnonzero(begins)
        bounds = np.searchsorted(starts, edges)
    return bounds, codes, starts - np.repeat(edges[:-1], np.diff(bounds))


def _decode_wide(codec, item):
    codes = _code_points(item.decode(codec, "headrace.mark"))
    sizes = np.full(codes.shape, 4, np.int64)
    if codec.startswith("utf-16"):
        sizes[codes <= 0xFFFF] = 2
    return codes, _offsets(codes, sizes)


def _decode_with_mark_of_order(kind, item):
    """UTF-16 or UTF-32 that says its byte order in front; big-endian when it does not."""
    big, little = ("utf-16-be", "utf-16-le") if kind == "utf16" else ("utf-32-be", "utf-32-le")
    for codec in (big, little):
        mark = "\ufeff".encode(codec)
        if item.startswith(mark):
            codes, offsets = _decode_wide(codec, item[len(mark) :])
            offsets = offsets + len(mark)
            offsets[:1] = 0  # the mark belongs to the first character
            return codes, offsets
    return _decode_wide(big, item)


def _decode_stepwise(info, item):
    """Any other encoding, byte by byte, to know where characters begin."""
    codes, offsets, begin = [], [], 0
    state = info.incrementaldecoder("strict")
    for at in range(len(item)):
        try:
            text = state.decode(item[at : at + 1], at + 1 == len(item))
        except UnicodeDecodeError:
            codes.append(BAD)
            offsets.append(begin)
            begin = at + 1
            state.reset()
            continue
        for character in text:
            codes.append(ord(character))
            offsets.append(begin)
        if text:
            begin = at + 1
    return np.array(codes, np.int64), np.array(offsets, np.int64)


def check_replacement(op: str, replacement_char: int):
    """Refuse a replacement that is no code point."""
    if not 0 <= replacement_char <= 0x10FFFF:
        raise errors.invalid_argument(
            f"{op}: replacement_char must be a Unicode code point, got {replacement_char}."
        )


def settle(op, codes, policy, replacement_char, replace_control_characters=False):
    """Apply the error policy: (code points, which of the given ones they are).

    Args:
        op: for messages.
        codes: code points, `BAD` for errors.
        policy: "strict", "replace" or "ignore".
        replacement_char: what "replace" puts in.
        replace_control_characters: treat U+0000 to U+001F as errors, too.
    """
    wrong = codes == BAD
    invalid = wrong.any()
    if replace_control_characters:
        wrong = wrong | ((codes >= 0) & (codes <= 0x1F))
    everything = slice(None)
    if not wrong.any():
        return codes, everything
    # TF: UnicodeDecode replaces control characters also when it is strict; UnicodeTranscode refuses them.
    if policy == "strict" and (invalid or op == "UnicodeTranscode"):
        raise errors.invalid_argument(f"{op}: the input holds what its encoding or the options do not allow.")
    if policy == "ignore":
        return codes[~wrong], ~wrong
    return np.where(wrong, replacement_char, codes), everything


def encode_together(codes: np.ndarray, splits: list[int], encoding: str) -> list[bytes]:
    """The code points from each of the splits up to the next, all of them valid, in an output encoding."""
    text, codec = codes.astype("<u4").tobytes().decode("utf-32-le"), _OUTPUT_CODECS[encoding]
    if splits[-1] == len(splits) - 1 and splits == list(range(len(splits))):  # single characters
        return [character.encode(codec) for character in text]
    return [text[a:b].encode(codec) for a, b in zip(splits, splits[1:])]


def encode(codes: np.ndarray, encoding: str) -> bytes:
    """Code points in an output encoding; those that are none become U+FFFD."""
    valid = (codes >= 0) & (codes <= 0x10FFFF) & ((codes < 0xD800) | (codes > 0xDFFF))
    if not valid.all():
        codes = np.where(valid, codes, 0xFFFD)
    return codes.astype("<u4").tobytes().decode("utf-32-le").encode(_OUTPUT_CODECS[encoding])
