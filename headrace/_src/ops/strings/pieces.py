"""Functions that make several strings or characters of one, so that their results are ragged."""

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.joining import CONCAT, UNPACK
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, reshape
from headrace._src.ops.math.arithmetic import MUL
from headrace._src.ops.math.bincounts import BINCOUNT
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.strings.kernel_arrays import attribute_text
from headrace._src.ops.strings.splitting import STRING_NGRAMS, STRING_SPLIT, STRING_SPLIT_V2
from headrace._src.ops.strings.unicode import UNICODE_DECODE, UNICODE_DECODE_WITH_OFFSETS, UNICODE_ENCODE


def _each_string(name, input, split_vector, count=1):
    """Apply `split_vector`, from a vector of strings to ragged rows, to strings of any rank.

    Args:
        name: for messages.
        input: a tensor or ragged tensor.
        split_vector: returns (values, row splits), with `count` tensors as values in a list.
        count: how many ragged tensors come out.

    Returns:
        A list of tensors (for a scalar) or ragged tensors, with one dimension more than the input.
    """
    if isinstance(input, RaggedTensor):
        inner = _each_string(name, input.flat_values, split_vector, count)
        return [input.with_flat_values(rows) for rows in inner]
    rank = input.shape.rank
    if rank is None:
        raise ValueError(f"{name}: input must have a statically-known rank.")
    if rank == 0:
        return split_vector(reshape(input, [1]))[0]
    if rank > 1:
        return _each_string(name, RaggedTensor.from_tensor(input, ragged_rank=rank - 1), split_vector, count)
    values, splits = split_vector(input)
    return [RaggedTensor.from_row_splits(part, splits, validate=False) for part in values]


def _splits_of(parts, count):
    """Row splits of what StringSplit returns, whose indices are (row, position)."""
    rows = parts.indices[:, 0]
    narrow = [CAST(tensor, DstT=dtypes.int32) for tensor in (rows, count)]
    lengths = BINCOUNT(*narrow, to_tensor([], dtypes.int64))
    return CONCAT([to_tensor([0], dtypes.int64), CUMSUM(lengths, 0)], 0)


@api("strings.split")
def split(input, sep=None, maxsplit=-1, name=None) -> RaggedTensor:
    """Split each string at a separator, or at runs of whitespace.

    >>> tf.strings.split(["hello world", "a b c"])
    <tf.RaggedTensor [[b'hello', b'world'], [b'a', b'b', b'c']]>

    Args:
        input: a string tensor of any rank, or a ragged one.
        sep: the separator; None or "" for whitespace.
        maxsplit: split at most so often; no limit when negative.
        name: a name for the operation.

    Returns:
        A `RaggedTensor` with one dimension more; a vector when `input` is a scalar.
    """
    if not isinstance(input, RaggedTensor):
        input = to_tensor(input, dtypes.string)
    separator = to_tensor("" if sep is None else sep, dtypes.string)

    def split_vector(strings):
        parts = STRING_SPLIT_V2(strings, separator, maxsplit=maxsplit)
        return [parts.values], _splits_of(parts, parts.shape[0])

    return _each_string("strings.split", input, split_vector)[0]


@api("strings.bytes_split")
def bytes_split(input, name=None) -> RaggedTensor:
    """Split each string into its bytes.

    >>> tf.strings.bytes_split(["hi", "é"])
    <tf.RaggedTensor [[b'h', b'i'], [b'\\xc3', b'\\xa9']]>

    Args:
        input: a string tensor of known rank, or a ragged one.
        name: a name for the operation.

    Returns:
        A `RaggedTensor` with one dimension more; a vector when `input` is a scalar.
    """
    if not isinstance(input, RaggedTensor):
        input = to_tensor(to_tensor(input), dtypes.string)

    def split_vector(strings):
        parts = STRING_SPLIT(strings, to_tensor("", dtypes.string), skip_empty=True)
        return [parts.values], _splits_of(parts, parts.shape[0])

    return _each_string("strings.bytes_split", input, split_vector)[0]


def _decode(name, input, offsets, **options):
    if not isinstance(input, RaggedTensor):
        input = to_tensor(input)

    def split_vector(strings):
        decoded = (UNICODE_DECODE_WITH_OFFSETS if offsets else UNICODE_DECODE)(strings, **options)
        return list(decoded[1:]), decoded.row_splits

    return _each_string(name, input, split_vector, 1 + offsets)


@api("strings.unicode_decode")
def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
) -> RaggedTensor:
    """The code points of each string.

    >>> tf.strings.unicode_decode(["hé", "a"], "UTF-8")
    <tf.RaggedTensor [[104, 233], [97]]>

    Args:
        input: a string tensor of known rank, or a ragged one.
        input_encoding: "UTF-8", "UTF-16-BE", "ISO-8859-1", any encoding that Python knows.
        errors: "replace" puts `replacement_char` for invalid bytes, "ignore" drops them, "strict" raises.
        replacement_char: a code point.
        replace_control_characters: treat the characters U+0000 to U+001F as invalid, too.
        name: a name for the operation.

    Returns:
        int32 code points in a `RaggedTensor` with one dimension more; a vector when `input` is a scalar.
    """
    return _decode(
        "strings.unicode_decode",
        input,
        False,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )[0]


@api("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
) -> tuple[RaggedTensor, RaggedTensor]:
    """The code points of each string, and at which byte each of them begins; see `unicode_decode`.

    >>> tf.strings.unicode_decode_with_offsets("héy", "UTF-8")[1].numpy().tolist()
    [0, 1, 3]
    """
    codes, offsets = _decode(
        "strings.unicode_decode_with_offsets",
        input,
        True,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )
    return codes, offsets


def _characters(codes, encoding, errors, replacement_char):
    """Each code point as a string of its own."""
    if isinstance(codes, RaggedTensor):
        return codes.with_flat_values(_characters(codes.flat_values, encoding, errors, replacement_char))
    return unicode_encode(EXPAND_DIMS(codes, -1), encoding, errors, replacement_char)


@api("strings.unicode_split")
def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None) -> RaggedTensor:
    """Split each string into its Unicode characters, in the same encoding.

    >>> tf.strings.unicode_split(["hé", "a"], "UTF-8")
    <tf.RaggedTensor [[b'h', b'\\xc3\\xa9'], [b'a']]>

    Args:
        input: a string tensor of known rank, or a ragged one.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" puts `replacement_char` for invalid bytes, "ignore" drops them, "strict" raises.
        replacement_char: a code point.
        name: a name for the operation.
    """
    codes = unicode_decode(input, input_encoding, errors, replacement_char)
    return _characters(codes, input_encoding, errors, replacement_char)


@api("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533, name=None
) -> tuple[RaggedTensor, RaggedTensor]:
    """The characters of each string, and at which byte each of them begins; see `unicode_split`."""
    codes, offsets = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)
    return _characters(codes, input_encoding, errors, replacement_char), offsets


def _static_or_dynamic(tensor):
    """The shape as a list of ints; where it is not known, as a list of int32 tensors."""
    if tensor.shape.is_fully_defined():
        return tensor.shape.as_list()
    return UNPACK(SHAPE(tensor, out_type=dtypes.int32), num=tensor.shape.rank, axis=0)


def _even_splits(rows, width):
    """Row splits of `rows` rows of one width."""
    if isinstance(rows, int) and isinstance(width, int):
        return to_tensor([width * i for i in range(rows + 1)], dtypes.int64)
    numbers = RANGE(0, rows + 1, 1)
    return CAST(MUL(numbers, width), DstT=dtypes.int64)


def _product(sizes):
    result = 1
    for size in sizes:
        result = result * size
    return result


@api("strings.unicode_encode")
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None) -> Tensor:
    """The strings that sequences of code points make, the sequences being the last dimension.

    >>> tf.strings.unicode_encode([[72, 105], [233, 33]], "UTF-8").numpy().tolist()
    [b'Hi', b'\\xc3\\xa9!']

    Args:
        input: int32, of rank 1 or more, or ragged.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" puts `replacement_char` for what is no code point, "ignore" drops it, "strict"
            raises.
        replacement_char: a code point.
        name: a name for the operation.
    """
    options = {"output_encoding": output_encoding, "errors": errors, "replacement_char": replacement_char}
    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor) or input.values.shape.rank > 1:
            inner = unicode_encode(input.values, output_encoding, errors, replacement_char)
            return input.with_values(inner)
        return UNICODE_ENCODE(input.values, input.row_splits, **options)
    input = to_tensor(input)
    rank = input.shape.rank
    if not rank:
        raise ValueError(f"strings.unicode_encode: input must have rank 1 or more, got {input.shape}.")
    shape = _static_or_dynamic(input)
    splits = _even_splits(_product(shape[:-1]), shape[-1])
    return reshape(UNICODE_ENCODE(reshape(input, [-1]), splits, **options), shape[:-1])


def _ngram_options(ngram_width, separator, pad_values, padding_width, preserve_short_sequences):
    if pad_values is None:
        left = right = ""
    elif isinstance(pad_values, (list, tuple)):
        left, right = pad_values[0], pad_values[1]
    else:
        left = right = pad_values
    if not isinstance(left, (str, bytes)) or not isinstance(right, (str, bytes)):
        raise TypeError(
            f"strings.ngrams: pad_values must be a string, a pair of strings or None, got {pad_values!r}."
        )
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"strings.ngrams: padding_width must be greater than 0, got {padding_width}.")
    if padding_width is not None and pad_values is None:
        raise ValueError("strings.ngrams: pad_values must be given when padding_width is.")
    if isinstance(ngram_width, (set, frozenset, dict)):
        raise TypeError(f"strings.ngrams: ngram_width must be an integer or a list of integers, got {ngram_width!r}.")
    widths = [ngram_width] if isinstance(ngram_width, int) else [whole(n, "ngram_width") for n in ngram_width]
    if any(width < 1 for width in widths):
        raise ValueError(f"strings.ngrams: ngram_width must be greater than 0, got {ngram_width}.")
    if pad_values is None:
        pad_width = 0
    else:
        pad_width = -1 if padding_width is None else padding_width
    return {
        "separator": attribute_text(separator),
        "ngram_widths": widths,
        "left_pad": attribute_text(left),
        "right_pad": attribute_text(right),
        "pad_width": pad_width,
        "preserve_short_sequences": preserve_short_sequences,
    }


def _count_ngrams(length, options):
    """How many n-grams a sequence of that length has."""
    pad = options["pad_width"]
    count = 0
    for width in options["ngram_widths"]:
        count += max(0, length + 2 * (width - 1 if pad < 0 else min(pad, width - 1)) - width + 1)
    return 1 if not count and length and options["preserve_short_sequences"] else count


def _ngrams(data, options):
    if isinstance(data, RaggedTensor):
        if isinstance(data.values, RaggedTensor) or data.values.shape.rank > 1:
            return data.with_values(_ngrams(data.values, options))
        result = STRING_NGRAMS(data.values, data.row_splits, **options)
        return RaggedTensor.from_row_splits(result.ngrams, result.ngrams_splits, validate=False)
    shape = _static_or_dynamic(data)
    splits = _even_splits(_product(shape[:-1]), shape[-1])
    grams = STRING_NGRAMS(reshape(data, [-1]), splits, **options).ngrams
    last = _count_ngrams(shape[-1], options) if isinstance(shape[-1], int) else -1
    return reshape(grams, [*shape[:-1], last])


@api("strings.ngrams")
def ngrams(
    data,
    ngram_width,
    separator=" ",
    pad_values=None,
    padding_width=None,
    preserve_short_sequences=False,
    name=None,
) -> Tensor:
    """All runs of `ngram_width` neighbouring strings along the last dimension, joined.

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']

    Args:
        data: strings, of rank 1 or more, or ragged.
        ngram_width: how many strings make an n-gram; with several widths, all n-grams of each.
        separator: stands between the strings.
        pad_values: put at both ends of each sequence: a string, or a pair for the two ends.
        padding_width: how often to put them; the width less 1 (also the most) when None.
        preserve_short_sequences: a sequence too short for any n-gram gives one of what it has.
        name: a name for the operation.

    Returns:
        A tensor, or a `RaggedTensor` when `data` is one.

    Raises:
        ValueError, TypeError: for widths or paddings that make no sense.
    """
    options = _ngram_options(ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    if not isinstance(data, RaggedTensor):
        data = to_tensor(data, dtypes.string)
        if data.shape.rank is None:
            raise ValueError("strings.ngrams: the rank of data must be known.")
        if data.shape.rank == 0:
            raise ValueError("strings.ngrams: data must have a rank greater than 0, got a scalar.")
    return _ngrams(data, options)
