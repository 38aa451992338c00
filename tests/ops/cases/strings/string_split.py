"""Rows of `ops/strings/splitting.py`."""

from rows import row, value

LINES = value([" a  b  c d ", "", "c", "a,,b,c", ",", "x\x0by\x1cz\u0085w", "a<>b<><>c"])


def text(code, **options):
    return row(code, grad=False, **options)


def grams(splits, widths, pad_width, preserve=False, dtype="int64", **options):
    return text(
        "tf.raw_ops.StringNGrams(data=['aa', 'b', 'c', 'dd'], "
        f"data_splits=tf.constant({splits}, tf.{dtype}), separator='|', ngram_widths={widths}, left_pad='L', "
        f"right_pad='RR', pad_width={pad_width}, preserve_short_sequences={preserve})", **options
    )  # fmt: skip


ROWS = [
    *(text(f"tf.raw_ops.StringSplit(input=a, delimiter={sep!r}, skip_empty={skip})", a=LINES)
      for sep in (" ", " ,", "", "<>", "b") for skip in (True, False)),
    text("tf.raw_ops.StringSplit(input=['ab', ''], delimiter='')"),
    text("tf.raw_ops.StringSplit(input='ab', delimiter=' ')"),
    text("tf.raw_ops.StringSplit(input=['ab'], delimiter=['a'])"),
    text("tf.raw_ops.StringSplit(input=tf.zeros([0], tf.string), delimiter=' ')"),
    *(text(f"tf.raw_ops.StringSplitV2(input=a, sep={sep!r}, maxsplit={most})", a=LINES)
      for sep in ("", " ", ",", "<>") for most in (-1, 0, 1, 2, -7)),
    text("tf.raw_ops.StringSplitV2(input='ab', sep=' ')"),
    text("tf.raw_ops.StringSplitV2(input=[['ab']], sep=' ')"),
    text("tf.raw_ops.StringSplitV2(input=['ab'], sep=['a'])"),
    text("tf.raw_ops.StringSplitV2(input=tf.zeros([0], tf.string), sep='')"),
    text("tf.raw_ops.StringSplitV2(input=[1], sep='')"),
    grams([0, 3, 4], [2], 0),
    grams([0, 3, 4], [2], 0, dtype="int32"),
    grams([0, 3, 3, 4], [2, 1], -1),
    grams([0, 3, 4], [3, 2], 1),
    grams([0, 4], [3], 5),
    grams([0, 3, 4], [9], 1, True),
    grams([0, 3, 3, 4], [3], 0, True),
    grams([0, 3, 4], [9], -1, True),
    grams([0, 3, 4], [], 0),
    grams([1, 3, 4], [2], 0),
    grams([0, 3, 2], [2], 0),
    grams([0, 3], [2], 0),
    grams([0, 3, 5], [2], 0),
    grams([0, 4], [0], 0),
    grams([0, 4], [-1], 0),
    grams([], [2], 0, ours="TensorFlow returns empty strings for splits that do not cover the data"),
    text("tf.raw_ops.StringNGrams(data=tf.zeros([0], tf.string), data_splits=[0], separator=' ', "
         "ngram_widths=[2], "
         "left_pad='', right_pad='', pad_width=0, preserve_short_sequences=False)"),
]  # fmt: skip
