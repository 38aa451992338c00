"""Rows of `ops/strings/unicode.py`."""

from rows import integers, row, value

TEXTS = value(["", "abc", "héllo €", "\U0001f600 ok", "a\tb\n\x7f\x01", "αβγ"])
BROKEN = value([
    b"\xff", b"a\xe2\x82", b"\xe2\x82a", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"\xf0\x9f\x98x", b"\x80b",
])  # fmt: skip
UTF16 = value([b"\x00a\xd8\x00\x00b\xd8\x3d\xde\x00\xdc\x00\x00", b"\xfe\xff\x00a", b"\xd8", b"\xd8\x3d"])
UTF32 = value([b"\x00\x00\x00a\x00\x11\x00\x00\x00\x00\xd8\x00\x00", b"\x00\x01\xf6\x00", b"\x00\x00"])
CODES = "[72, 233, 0x1f600, 0xd800, 0x110000, -1, 0, 9]"


def text(code, **options):
    return row(code, grad=False, **options)


ROWS = [
    *(text(f"tf.raw_ops.UnicodeDecode(input=a, input_encoding='UTF-8', errors='{errors}')", a=texts)
      for errors in ("replace", "ignore", "strict") for texts in (TEXTS, BROKEN)),
    *(text(f"tf.raw_ops.UnicodeDecodeWithOffsets(input=a, input_encoding='{encoding}', "
           f"errors='{errors}')", a=texts)
      for errors in ("replace", "ignore", "strict")
      for encoding, texts in (
          ("UTF-8", TEXTS), ("UTF-8", BROKEN), ("UTF-16-BE", UTF16), ("UTF-32-BE", UTF32))),
    *(text(f"tf.raw_ops.UnicodeDecodeWithOffsets(input=[bytes(range(256))], input_encoding='{encoding}')")
      for encoding in ("US-ASCII", "ISO-8859-1", "latin1", "ISO-8859-2", "ISO-8859-15", "KOI8-R",
                       "windows-1250", "windows-1251", "windows-1252", "windows-1253", "macintosh")),
    *(text(f"tf.raw_ops.UnicodeDecodeWithOffsets(input=['日本語テキスト a'.encode('{encoding}')], "
           f"input_encoding='{encoding}')")
      for encoding in ("Shift_JIS", "EUC-JP", "GB18030", "ISO-2022-JP", "UTF-16", "UTF-16-LE", "UTF-32-LE")),
    text("tf.raw_ops.UnicodeDecode(input=a, input_encoding='UTF-8', replacement_char=63)", a=BROKEN),
    text("tf.raw_ops.UnicodeDecode(input=a, input_encoding='UTF-8', Tsplits=tf.int32)", a=TEXTS),
    text("tf.raw_ops.UnicodeDecode(input=a, input_encoding='UTF-8', replace_control_characters=True)",
        a=TEXTS),
    text("tf.raw_ops.UnicodeDecode(input=a, input_encoding='UTF-8', replace_control_characters=True, "
         "errors='ignore')", a=TEXTS),
    text("tf.raw_ops.UnicodeDecode(input=a, input_encoding='UTF-8', replace_control_characters=True, "
         "errors='strict')", a=TEXTS),
    text("tf.raw_ops.UnicodeDecode(input='scalar', input_encoding='utf8')"),
    text("tf.raw_ops.UnicodeDecode(input=[['a', 'bc'], ['', 'd']], input_encoding='utf_8')"),
    text("tf.raw_ops.UnicodeDecode(input=tf.zeros([0], tf.string), input_encoding='UTF-8')"),
    *(text(f"tf.raw_ops.UnicodeDecode(input=['a'], input_encoding={name!r})")
      for name in ("FOO", "", "idna", "rot13", "unicode_escape")),
    text("tf.raw_ops.UnicodeDecode(input=['a'], input_encoding='UTF-8', errors='x')"),
    text("tf.raw_ops.UnicodeDecode(input=['a'], input_encoding='UTF-8', replacement_char=0x110000)"),
    text("tf.raw_ops.UnicodeDecode(input=['a'], input_encoding='UTF-8', replacement_char=-1)"),
    text("tf.raw_ops.UnicodeDecode(input=['a'], input_encoding='UTF-8', Tsplits=tf.float32)"),
    *(text(f"tf.raw_ops.UnicodeEncode(input_values={CODES}, input_splits=[0, 2, 2, 8], "
           f"output_encoding='{encoding}', "
           f"errors='{errors}')")
      for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE") for errors in ("replace", "ignore", "strict")),
    text("tf.raw_ops.UnicodeEncode(input_values=[72, -5], input_splits=tf.constant([0, 2], tf.int64), "
         "output_encoding='UTF-8', replacement_char=63)"),
    *(text(f"tf.raw_ops.UnicodeEncode(input_values=[72, 73], input_splits=tf.constant({splits}, tf.int32), "
           "output_encoding='UTF-8')")
      for splits in ([0, 2], [0, 1, 2], [1, 2], [0, 2, 1], [0, 1], [0, 3], [])),
    text("tf.raw_ops.UnicodeEncode(input_values=tf.constant([], tf.int32), input_splits=[0], "
         "output_encoding='UTF-8')"),
    text("tf.raw_ops.UnicodeEncode(input_values=[72], input_splits=[0, 1], output_encoding='UTF-16')"),
    text("tf.raw_ops.UnicodeEncode(input_values=[72], input_splits=[0, 1], output_encoding='UTF-8', "
         "replacement_char=0x110000)"),
    *(text(f"tf.strings.unicode_transcode(a, 'UTF-8', '{encoding}', errors='{errors}')", a=texts)
      for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE") for errors in ("replace", "ignore", "strict")
      for texts in (TEXTS, BROKEN)),
    text("tf.strings.unicode_transcode(a, 'UTF-16-BE', 'UTF-8', replacement_char=63)", a=UTF16),
    text("tf.strings.unicode_transcode([bytes(range(128, 256))], 'ISO-8859-1', 'UTF-8')"),
    text("tf.strings.unicode_transcode(a, 'UTF-8', 'UTF-8', replace_control_characters=True)", a=TEXTS),
    text("tf.strings.unicode_transcode(a, 'UTF-8', 'UTF-8', replace_control_characters=True, "
         "replacement_char=32)", a=TEXTS),
    text("tf.strings.unicode_transcode(['a'], 'UTF-8', 'UTF-16')"),
    text("tf.strings.unicode_transcode(['a'], 'FOO', 'UTF-8')"),
    text("tf.strings.unicode_transcode(['a'], 'UTF-8', 'UTF-8', errors='x')"),
    text("tf.strings.unicode_transcode([1], 'UTF-8', 'UTF-8')"),
    text("tf.strings.unicode_transcode('\\ufeffa\\ufffe', 'UTF-8', 'UTF-8')"),
    text("tf.raw_ops.UnicodeTranscode(input='a', input_encoding='UTF-8', output_encoding='UTF-32-BE')"),
    text("tf.strings.unicode_script(tf.range(0, 0x110000, 37))"),
    text("tf.strings.unicode_script(a)", a=integers(0, 0x3000, 3, 50)),
    text("tf.strings.unicode_script([-1, 0x110000, 2**31 - 1, 0xd800])"),
    text("tf.strings.unicode_script(97)"),
    text("tf.strings.unicode_script([97.0])"),
    text("tf.raw_ops.UnicodeScript(input=[1041, 20013])"),
]  # fmt: skip
