"""Ragged tensors as `tf.print` and `tf.strings.format` write them: `[[1, 2, 3, ..., 8, 9], []]`."""

from headrace._src.core import dtypes
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import gather
from headrace._src.ops.arrays.measuring import SIZE
from headrace._src.ops.arrays.selecting import where
from headrace._src.ops.math.arithmetic import ADD
from headrace._src.ops.math.comparison import equal
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.strings.editing import STRING_JOIN, UNSORTED_SEGMENT_JOIN
from headrace._src.ops.strings.matching import regex_replace
from headrace._src.ops.strings.numbers import as_string


def _element_texts(values):
    if values.dtype != dtypes.string:
        return as_string(values)
    quote = to_tensor("'", dtypes.string)
    return STRING_JOIN([quote, regex_replace(values, r"(['\\])", r"\\\1"), quote])


def _row_texts(texts, row_of, position, length_of, rows, edge_items):
    """One text for each row, with dots in the middle of long rows.

    Args:
        texts: the elements' texts.
        row_of, position, length_of: for each element its row, its position in the row, and the row's length.
        rows: the number of rows.
        edge_items: how many elements to show at both ends of a row; all when negative.
    """
    if edge_items >= 0:
        is_long = length_of > 2 * edge_items
        texts = where(is_long & equal(position, edge_items), "...", texts)
        short_or_left = (length_of <= 2 * edge_items) | (position <= edge_items)
        right = position >= length_of - edge_items
        shown = where(short_or_left | right)[:, 0]
        texts, row_of = gather(texts, shown), gather(row_of, shown)
    joined = UNSORTED_SEGMENT_JOIN(texts, row_of, rows, separator=", ")
    return STRING_JOIN([to_tensor("[", dtypes.string), joined, to_tensor("]", dtypes.string)])


def summarize_ragged(ragged, edge_items: int):
    """The text of a ragged tensor, as a scalar string tensor.

    Args:
        ragged: the ragged tensor.
        edge_items: how many elements to show at both ends of every row; -1 for all.

    Raises:
        ValueError: when it is 0, or negative but not -1.
    """
    if edge_items != -1 and edge_items < 1:
        raise ValueError(f"summarize must be -1 or a positive number for ragged tensors, got {edge_items}.")
    flat = ragged.flat_values
    partitions = list(ragged._nested_row_partitions)
    if flat.shape.rank > 1:
        uniform = RaggedTensor.from_tensor(flat, ragged_rank=flat.shape.rank - 1)
        partitions += uniform._nested_row_partitions
        flat = uniform.flat_values
    texts = _element_texts(flat)
    for partition in reversed(partitions):
        row_of = partition.value_rowids()
        lengths = gather(partition.row_lengths(), row_of)
        offsets = partition.offsets_in_rows()
        texts = _row_texts(texts, row_of, offsets, lengths, partition.nrows(), edge_items)
    count = SIZE(texts, out_type=dtypes.int32)
    position = RANGE(0, count, 1)
    nought = ZEROS_LIKE(position)
    whole = _row_texts(texts, nought, position, ADD(nought, count), 1, edge_items)
    return whole[0]
