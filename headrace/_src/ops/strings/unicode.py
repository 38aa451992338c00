"""Strings as Unicode: decoding to code points, encoding, changing the encoding, scripts."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.dtypes import INDEX
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.strings.kernel_arrays import map_strings, one_of, string_array
from headrace._src.ops.strings.splitting import single_strings
from headrace._src.ops.strings.unicode_codecs import (
    BAD,
    OUTPUT_ENCODINGS,
    check_replacement,
    decode_together,
    decode_utf8,
    decoder,
    encode,
    encode_together,
    settle,
)
from headrace._src.ops.strings.unicode_scripts import scripts_of

POLICIES = ("strict", "replace", "ignore")


def _decode(op, input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits):
    one_of(op, "errors", errors, POLICIES)
    check_replacement(op, replacement_char)
    decode = decoder(op, input_encoding)
    items = input.ravel().tolist()
    if decode is decode_utf8 and (together := decode_together(items)) is not None:
        bounds, codes, starts = together
        codes, kept = settle(op, codes, errors, replacement_char, replace_control_characters)
        if isinstance(kept, slice):
            return bounds.astype(Tsplits._np), codes.astype(np.int32), starts
    splits, values, starts = [0], [], []
    for item in items:
        codes, offsets = decode(item)
        codes, kept = settle(op, codes, errors, replacement_char, replace_control_characters)
        values.append(codes)
        starts.append(offsets[kept])
        splits.append(splits[-1] + len(codes))
    empty = [np.empty(0, np.int64)]
    return (
        np.array(splits, Tsplits._np),
        np.concatenate(values or empty).astype(np.int32),
        np.concatenate(starts or empty),
    )


def _infer_decode(input, **attrs):
    size = input.shape.num_elements()
    return TensorShape([None if size is None else size + 1]), TensorShape([None])


_DECODE_ATTRIBUTES = (
    "input: string, *, input_encoding: string, errors: string = 'replace', replacement_char: int = 65533, "
    "replace_control_characters: bool = False, Tsplits: type = int64 "
    "-> row_splits: Tsplits, char_values: int32"
)


def _vectorize_ragged_decode(batch, node, x):
    splits, characters = batch.apply(node, [single_strings(x)])
    characters = Ragged(characters, CAST(splits, DstT=dtypes.int64))
    lengths = CAST(batch.lengths(characters.splits), DstT=splits.dtype)
    return [PACK([ZEROS_LIKE(lengths), lengths], axis=1), characters]


UNICODE_DECODE = Op(
    "UnicodeDecode",
    _DECODE_ATTRIBUTES,
    infer=_infer_decode,
    kernel=lambda input, **attrs: _decode("UnicodeDecode", input, **attrs)[:2],
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=Rule(ragged=_vectorize_ragged_decode, makes_ragged=True),
    Tsplits=dtypes.INDEX,
)

UNICODE_DECODE_WITH_OFFSETS = Op(
    "UnicodeDecodeWithOffsets",
    f"{_DECODE_ATTRIBUTES}, char_to_byte_starts: int64",
    infer=lambda input, **attrs: (*_infer_decode(input), TensorShape([None])),
    kernel=lambda input, **attrs: _decode("UnicodeDecodeWithOffsets", input, **attrs),
    lower=None,  # strings exist on the host only
    grad=None,
    Tsplits=dtypes.INDEX,
)


def check_splits(op, splits, size):
    """Refuse row splits that do not rise from 0 to `size`."""
    if splits.size == 0:
        raise errors.invalid_argument(f"{op}: the splits must have at least one element, got none.")
    if splits[0] != 0:
        raise errors.invalid_argument(f"{op}: the splits must begin with 0, got {splits[0]}.")
    if splits[-1] != size:
        raise errors.invalid_argument(f"{op}: the splits must end with {size}, got {splits[-1]}.")
    if (np.diff(splits) < 0).any():
        raise errors.invalid_argument(f"{op}: the splits must not decrease, got {splits.tolist()}.")


def _encode(input_values, input_splits, output_encoding, errors, replacement_char):
    one_of("UnicodeEncode", "errors", errors, POLICIES)
    one_of("UnicodeEncode", "output_encoding", output_encoding, OUTPUT_ENCODINGS)
    check_replacement("UnicodeEncode", replacement_char)
    values, splits = input_values.ravel(), input_splits.ravel()
    check_splits("UnicodeEncode", splits, values.size)
    wrong = (values < 0) | (values > 0x10FFFF) | ((values >= 0xD800) & (values <= 0xDFFF))
    ends = splits.tolist()
    if not wrong.any():
        rows = encode_together(values, ends, output_encoding)
    else:
        codes = np.where(wrong, BAD, values)
        rows = [
            encode(settle("UnicodeEncode", codes[a:b], errors, replacement_char)[0], output_encoding)
            for a, b in zip(ends, ends[1:])
        ]
    return string_array(rows, (len(rows),))


def _infer_encode(input_values, input_splits, **attrs):
    count = input_splits.shape.num_elements()
    return TensorShape([None if count is None else max(count - 1, 0)])


def _vectorize_ragged_encode(batch, node, values, splits):
    if not isinstance(values, Ragged) or not isinstance(splits, Ragged):
        raise NoRule("it makes strings of values that do not differ in number")
    whole, rows = batch.inner_splits(splits, values)
    return Ragged(batch.apply(node, [values, whole])[0], rows)


UNICODE_ENCODE = Op(
    "UnicodeEncode",
    "input_values: int32, input_splits: Tsplits, *, output_encoding: string, errors: string = 'replace', "
    "replacement_char: int = 65533 -> output: string",
    Tsplits=INDEX,
    infer=_infer_encode,
    kernel=_encode,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=Rule(ragged=_vectorize_ragged_encode),
)


def _transcode(input, input_encoding, output_encoding, errors, replacement_char, replace_control_characters):
    op = "UnicodeTranscode"
    one_of(op, "errors", errors, POLICIES)
    one_of(op, "output_encoding", output_encoding, OUTPUT_ENCODINGS)
    check_replacement(op, replacement_char)
    decode = decoder(op, input_encoding)

    def change(item):
        codes, _ = settle(op, decode(item)[0], errors, replacement_char, replace_control_characters)
        return encode(codes, output_encoding)

    return map_strings(change, input)


UNICODE_TRANSCODE = Op(
    "UnicodeTranscode",
    "input: string, *, input_encoding: string, output_encoding: string, errors: string = 'replace', "
    "replacement_char: int = 65533, replace_control_characters: bool = False -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=_transcode,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.unicode_transcode", of=UNICODE_TRANSCODE)
def unicode_transcode(
    input,
    input_encoding,
    output_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
) -> Tensor:
    """Change the encoding of strings.

    >>> tf.strings.unicode_transcode(["Hi"], "UTF-8", "UTF-16-BE").numpy().tolist()
    [b'\\x00H\\x00i']

    Args:
        input: strings.
        input_encoding: the encoding they have: "UTF-8", "UTF-16-BE", "ISO-8859-1", any that Python knows.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace" puts `replacement_char` for invalid bytes, "ignore" drops them, "strict" raises.
        replacement_char: a code point.
        replace_control_characters: treat the characters U+0000 to U+001F as invalid, too.
        name: a name for the operation.
    """
    return UNICODE_TRANSCODE(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


UNICODE_SCRIPT = Op(
    "UnicodeScript",
    "input: int32 -> output: int32",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=scripts_of,
    lower=None,  # a look-up in a table of the host
    grad=None,
)


@api("strings.unicode_script", of=UNICODE_SCRIPT)
def unicode_script(input, name=None) -> Tensor:
    """The script of each code point, as ICU's number (25 is Latin, 14 Greek), -1 for what is no code point.

    >>> tf.strings.unicode_script([ord("a"), ord("α")]).numpy().tolist()
    [25, 14]
    """
    return UNICODE_SCRIPT(input, name=name)
