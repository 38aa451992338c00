"""Rows of `ops/strings/pieces.py`, of string functions on ragged tensors, and of their text."""

from rows import row, value

RAGGED = "tf.ragged.constant([['A b', 'x'], [], [' c', 'Ünï', '7']])"
DEEP = "tf.ragged.constant([[['a', 'b'], ['c']], [], [['d']]])"
CODES = "tf.ragged.constant([[97, 233], [], [0x20ac]])"
INNER = "tf.RaggedTensor.from_row_splits([['a', 'b', 'c'], ['d', 'e', 'f']], [0, 1, 2])"
TEXTS = value(["a b  c", "", "d,e,,f", " x "])
MATRIX = value([["a b", "c"], ["", "d e f"]])
UNICODE = value(["aé€", "", "\U0001f600x"])


def text(code, **options):
    return row(code, grad=False, **options)


SPLIT = [
    text("tf.strings.split('a b  c')"),
    text("tf.strings.split(a)", a=TEXTS),
    text("tf.strings.split(a, sep=',')", a=TEXTS),
    text("tf.strings.split(a, sep=' ', maxsplit=1)", a=TEXTS),
    text("tf.strings.split(a, '', 1)", a=TEXTS),
    text("tf.strings.split(a)", a=MATRIX),
    text("tf.strings.split([[['a b']]])"),
    text(f"tf.strings.split({RAGGED})"),
    text(f"tf.strings.split({DEEP}, sep='a')"),
    text("tf.strings.split(a, sep=tf.constant(','))", a=TEXTS),
    text("tf.strings.split(a, sep=[','])", a=TEXTS),
    text("tf.strings.split(tf.zeros([0], tf.string))"),
    text("tf.strings.split(tf.zeros([2, 0], tf.string))"),
    text("tf.strings.split(1)"),
    text("tf.strings.split(a).row_splits", a=TEXTS),
    text("tf.strings.bytes_split('abc')"),
    text("tf.strings.bytes_split(a)", a=UNICODE),
    text("tf.strings.bytes_split(a)", a=MATRIX),
    text(f"tf.strings.bytes_split({RAGGED})"),
    text("tf.strings.bytes_split(tf.zeros([0], tf.string))"),
    text("tf.strings.bytes_split(3)"),
]

UNICODE_ROWS = [
    *(
        text(f"tf.strings.{name}({source}, 'UTF-8')", a=inputs)
        for name in (
            "unicode_decode", "unicode_decode_with_offsets", "unicode_split", "unicode_split_with_offsets",
        )
        for source, inputs in (("a", UNICODE), ("a", MATRIX), (RAGGED, UNICODE), ("'aéb'", UNICODE),
                               ("[b'\\xff', b'a\\xe2\\x82']", UNICODE), ("tf.zeros([0], tf.string)", UNICODE))
    ),
    *(
        text(f"tf.strings.{name}([b'\\xffa', 'é'], 'UTF-8', {options})")
        for name in ("unicode_decode", "unicode_decode_with_offsets", "unicode_split",
                     "unicode_split_with_offsets")
        for options in ("errors='ignore'", "errors='strict'", "replacement_char=63", "errors='x'")
    ),
    text("tf.strings.unicode_decode(['a\\n'], 'UTF-8', replace_control_characters=True)"),
    text("tf.strings.unicode_decode_with_offsets(['a\\n'], 'UTF-8', replace_control_characters=True)"),
    text("tf.strings.unicode_decode(1, 'UTF-8')"),
    text("tf.strings.unicode_decode('a', 'FOO')"),
    text("tf.strings.unicode_split([b'\\x00a\\x00b'], 'UTF-16-BE')"),
    text("tf.strings.unicode_split(['ab'], 'ISO-8859-1')"),
    text("tf.strings.unicode_split_with_offsets([['ab', 'é'], ['', 'x']], 'UTF-8', replacement_char=32)"),
    text("tf.strings.unicode_encode([97, 233], 'UTF-8')"),
    text("tf.strings.unicode_encode([[97, 233], [98, 0x20ac]], 'UTF-16-BE')"),
    text("tf.strings.unicode_encode([[[97], [98]], [[99], [100]]], 'UTF-32-BE')"),
    text(f"tf.strings.unicode_encode({CODES}, 'UTF-8')"),
    text("tf.strings.unicode_encode(tf.ragged.constant([[[97, 233], [98]], [[99]]]), 'UTF-8')"),
    text("tf.strings.unicode_encode(tf.RaggedTensor.from_row_splits([[97, 98], [99, 1]], [0, 1, 2]), "
         "'UTF-8')"),
    text("tf.strings.unicode_encode(97, 'UTF-8')"),
    text("tf.strings.unicode_encode([97, -1], 'UTF-8', errors='strict')"),
    text("tf.strings.unicode_encode([97, -1], 'UTF-8', errors='ignore')"),
    text("tf.strings.unicode_encode([97, -1], 'UTF-8', replacement_char=63)"),
    text("tf.strings.unicode_encode([97], 'UTF-9')"),
    text("tf.strings.unicode_encode(tf.zeros([2, 0], tf.int32), 'UTF-8')"),
    text("tf.strings.unicode_encode(tf.constant([97], tf.int64), 'UTF-8')"),
]  # fmt: skip

NGRAMS = [
    *(
        text(f"tf.strings.ngrams({source}, {options})")
        for source in ("['a', 'b', 'c']", "[['a', 'b', 'c'], ['d', 'e', 'f']]", RAGGED, DEEP)
        for options in ("2", "[1, 2]", "(2, 3), separator='-'", "2, pad_values='P'",
                        "3, pad_values=('L', 'R'), padding_width=1", "5, preserve_short_sequences=True",
                        "5, pad_values='x', padding_width=1, preserve_short_sequences=True")
    ),
    text(f"tf.strings.ngrams({INNER}, 2)",
         ours="TensorFlow refuses ragged rows of whole vectors; headrace takes the last dimension"),
    text("tf.strings.ngrams([[['a', 'b', 'c'], ['d', 'e', 'f']]], 2)"),
    text("tf.strings.ngrams(tf.zeros([2, 0], tf.string), 2)"),
    text("tf.strings.ngrams(tf.zeros([0, 3], tf.string), 2)",
         ours="TensorFlow gives the shape (0, 1), though a row of 3 has 2 n-grams"),
    text("tf.strings.ngrams(tf.zeros([2, 0], tf.string), 2, pad_values='x')",
         ours="TensorFlow pads empty ragged rows, but not empty dense ones; headrace both"),
    *(
        text(f"tf.strings.ngrams({arguments})")
        for arguments in ("['a'], 0", "['a'], 3, padding_width=1",
          "['a'], 3, pad_values='P', padding_width=0",
                          "['a'], 2, pad_values=1", "['a'], 2, pad_values=('a', 1)", "'a', 2", "[1, 2], 2")
    ),
]  # fmt: skip

ON_RAGGED = [
    *(
        text(f"tf.strings.{call.format(RAGGED)}")
        for call in ("lower({})", "upper({}, encoding='utf-8')", "length({}, unit='UTF8_CHAR')", "strip({})",
                     "substr({}, 0, 1)", "regex_replace({}, '[a-z]', '-')", "regex_full_match({}, '.')",
                     "to_hash_bucket({}, 9)", "to_hash_bucket_fast({}, 9)",
                     "to_hash_bucket_strong({}, 9, [1, 2])", "unicode_transcode({}, 'UTF-8', 'UTF-16-BE')")
    ),
    text("tf.strings.as_string(tf.ragged.constant([[1.5], [2, 3]]))"),
    text("tf.strings.to_number(tf.ragged.constant([['1'], ['2', '3']]), tf.int32)"),
    text(f"tf.strings.unicode_script({CODES})"),
    text(f"tf.io.decode_base64(tf.io.encode_base64({RAGGED}))"),
    text(f"tf.strings.join([{RAGGED}, '-', {RAGGED}], separator='/')"),
    text(f"tf.strings.join([{RAGGED}, ['x', 'y']])"),
    text("tf.strings.join([tf.ragged.constant([['a'], ['b', 'c']]), tf.ragged.constant([['a', 'b'], "
         "['c']])])"),
    *(
        text(f"tf.strings.reduce_join({source}, {options})")
        for source in (RAGGED, DEEP)
        for options in ("axis=0", "axis=1", "axis=-1, separator=','", "", "keepdims=True", "axis=[0, 1]",
                        "axis=[1, 0], separator='|'", "axis=-1, keepdims=True", "axis=0, keepdims=True",
                            "axis=[]",
                        "axis=7", "axis=tf.constant(1)")
    ),
    *(
        text(f"tf.strings.format('{{}}', {source}, summarize={count})")
        for source in (RAGGED, DEEP, INNER, "tf.ragged.constant([[1.5, 1e20], []])",
                       "tf.ragged.constant([[True], [False]])",
                       "tf.ragged.constant([[i * j for i in range(j)] for j in range(9)])",
                       "tf.ragged.constant([], dtype=tf.int32, ragged_rank=1)")
        for count in (1, 3, -1)
    ),
    text("tf.strings.format('{} and {}', (tf.ragged.constant([[\"a'b\", 'c\\\\d', 'é\\n']]), tf.range(3)))"),
    text("tf.strings.format('{}', tf.ragged.constant([[1]]), summarize=0)"),
]  # fmt: skip

ROWS = [*SPLIT, *UNICODE_ROWS, *NGRAMS, *ON_RAGGED]
