"""Splitting strings, and n-grams."""

import itertools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.dtypes import INDEX
from headrace._src.core.shapes import TensorShape
from headrace._src.op.batching import NoRule, Ragged, Rule, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ONES_LIKE, RANGE
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.searching import LOWER_BOUND
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.strings.kernel_arrays import attribute_bytes, scalar_string, string_array


def _sparse(rows):
    """Lists of strings as the parts of a sparse matrix."""
    if len(rows) == 1:
        return _sparse_row(rows[0])
    values = list(itertools.chain.from_iterable(rows))
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    return _sparse_parts(string_array(values, (len(values),)), counts)


def _sparse_parts(values, counts):
    """The parts of a sparse matrix that has so many of the values in each row."""
    indices = np.empty((values.size, 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(counts.size), counts)
    indices[:, 1] = np.arange(values.size)
    indices[:, 1] -= np.repeat(np.cumsum(counts) - counts, counts)
    return indices, values, np.array([counts.size, counts.max(initial=0)], np.int64)


def _sparse_row(row):
    count = len(row)
    indices = np.zeros((count, 2), np.int64)
    indices[:, 1] = np.arange(count)
    return indices, string_array(row, (count,)), np.array([1, count], np.int64)


def _infer_split(*inputs, **attrs):
    return TensorShape([None, 2]), TensorShape([None]), TensorShape([2])


def _vector(op, input):
    if input.ndim != 1:
        raise errors.invalid_argument(f"{op}: input must be a vector, got shape {input.shape}.")
    return input.tolist()


def _split_at_any(item, delimiters, skip_empty):
    """Split at every byte that is one of the delimiters."""
    if len(delimiters) > 1:
        item = item.translate(bytes(delimiters[0] if b in delimiters else b for b in range(256)))
    parts = item.split(delimiters[:1]) if item else []
    return [part for part in parts if part] if skip_empty else parts


_SINGLE_BYTES = string_array([bytes([byte]) for byte in range(256)], (256,))


def _string_split(input, delimiter, skip_empty):
    items = _vector("StringSplit", input)
    delimiters = scalar_string("StringSplit", "delimiter", delimiter)
    if not delimiters:
        counts = np.fromiter(map(len, items), np.int64, len(items))
        return _sparse_parts(_SINGLE_BYTES[np.frombuffer(b"".join(items), np.uint8)], counts)
    return _sparse([_split_at_any(item, delimiters, skip_empty) for item in items])


STRING_SPLIT = Op(
    "StringSplit",
    "input: string, delimiter: string, *, skip_empty: bool = True "
    "-> indices: int64, values: string, shape: int64",
    infer=_infer_split,
    kernel=_string_split,
    lower=None,  # strings exist on the host only
    grad=None,
)


def split_string(item: bytes, separator: bytes, maxsplit: int) -> list[bytes]:
    """One string split at a separator, or at whitespace when that is empty."""
    if maxsplit == 0:
        return [item]  # TF: whitespace around it stays
    parts = item.split(separator or None, max(maxsplit, -1))
    if not separator and len(parts) == maxsplit:
        parts.append(b"")  # TF: what follows the last word, even when it is nothing
    return parts


_MANY = 32
_IS_SPACE = np.array([bytes([byte]).isspace() for byte in range(256)])


def _split_together(items, separator):
    """All strings split at one byte or at whitespace: joined by such, they are split as one."""
    text = (separator or b" ").join(items)
    values = text.split(separator or None)
    characters = np.frombuffer(text + (separator or b" "), np.uint8)
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    ends = np.cumsum(lengths + 1) - 1  # where the joining separators are
    if separator:
        closes = characters == separator[0]
    else:
        # A word closes where whitespace follows something else.
        space = _IS_SPACE[characters]
        closes = space.copy()
        closes[0] = False
        closes[1:] &= ~space[:-1]
    closed = np.cumsum(closes)[ends]
    return _sparse_parts(string_array(values, (len(values),)), np.diff(closed, prepend=0))


def _string_split_v2(input, sep, maxsplit):
    items = _vector("StringSplitV2", input)
    separator = scalar_string("StringSplitV2", "sep", sep)
    if maxsplit < 0 and len(separator) <= 1 and len(items) >= _MANY:
        return _split_together(items, separator)
    return _sparse([split_string(item, separator, maxsplit) for item in items])


def single_strings(x):
    """The strings of elements that are vectors of one string, for a rule of vectorization."""
    if isinstance(x, Ragged) or x.tensor.shape.as_list()[1:] != [1]:
        raise NoRule("it takes several strings for each element")
    return RESHAPE(x.tensor, [-1])


def _vectorize_ragged_split(batch, node, x, separator):
    indices, values, _ = batch.apply(node, [single_strings(x), unstacked(separator, "separator")])
    ends = RANGE(to_tensor(0, dtypes.int64), batch.count() + 1, to_tensor(1, dtypes.int64))
    rows, ends = EXPAND_DIMS(indices[:, 0], 0), EXPAND_DIMS(ends, 0)
    splits = LOWER_BOUND(rows, ends, out_type=dtypes.int64)[0]
    lengths = batch.lengths(splits)
    shapes = PACK([ONES_LIKE(lengths), lengths], axis=1)
    return [Ragged(indices * to_tensor([[0, 1]], dtypes.int64), splits), Ragged(values, splits), shapes]


STRING_SPLIT_V2 = Op(
    "StringSplitV2",
    "input: string, sep: string, *, maxsplit: int = -1 -> indices: int64, values: string, shape: int64",
    infer=_infer_split,
    kernel=_string_split_v2,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=Rule(ragged=_vectorize_ragged_split, makes_ragged=True),
)


def _row_ngrams(row, widths, separator, left_pad, right_pad, pad_width, preserve_short):
    """The n-grams of one sequence."""
    found = []
    for width in widths:
        padding = width - 1 if pad_width < 0 else min(pad_width, width - 1)
        padded = [left_pad] * padding + row + [right_pad] * padding
        found += [separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
    if preserve_short and not found and row:
        # Shorter than every width: one n-gram of all there is. (With full padding there is always one.)
        found.append(separator.join([left_pad] * pad_width + row + [right_pad] * pad_width))
    return found


def _ngrams(
    data, data_splits, separator, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences
):
    if any(width < 1 for width in ngram_widths):
        raise errors.invalid_argument(f"StringNGrams: ngram_widths must be positive, got {ngram_widths}.")
    items, splits = data.ravel().tolist(), data_splits.ravel()
    if splits.size == 0:
        if items:
            raise errors.invalid_argument("StringNGrams: data_splits is empty, but data is not.")
        return string_array([], (0,)), splits
    ends = splits.tolist()
    if ends[0] != 0:
        raise errors.invalid_argument(f"StringNGrams: data_splits must begin with 0, got {ends[0]}.")
    for before, after in zip(ends, ends[1:]):
        if not before <= after <= len(items):
            raise errors.invalid_argument(
                f"StringNGrams: data_splits has {after}, which is not in [{before}, {len(items)}]."
            )
    if ends[-1] != len(items):
        raise errors.invalid_argument(
            f"StringNGrams: data_splits must end with the size of data, {len(items)}, got {ends[-1]}."
        )
    texts = [attribute_bytes(text) for text in (separator, left_pad, right_pad)]
    grams, new_splits = [], [0]
    for begin, end in zip(ends, ends[1:]):
        grams += _row_ngrams(items[begin:end], ngram_widths, *texts, pad_width, preserve_short_sequences)
        new_splits.append(len(grams))
    return string_array(grams, (len(grams),)), np.array(new_splits, data_splits.dtype)


STRING_NGRAMS = Op(
    "StringNGrams",
    "data: string, data_splits: Tsplits, *, separator: string, ngram_widths: list(int), left_pad: string, "
    "right_pad: string, pad_width: int, preserve_short_sequences: bool "
    "-> ngrams: string, ngrams_splits: Tsplits",
    Tsplits=INDEX,
    infer=lambda data, data_splits, **attrs: (
        TensorShape([None]),
        data_splits.shape if data_splits.shape.rank else TensorShape([None]),
    ),
    kernel=_ngrams,
    lower=None,  # strings exist on the host only
    grad=None,
)
