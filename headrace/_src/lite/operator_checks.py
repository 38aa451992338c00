"""What LiteRT takes for granted of operators in a file, and crashes on when it is not so."""

from __future__ import annotations

import functools

from headrace._src.formats.flatbuffer_reading import BrokenFlatbuffer
from headrace._src.lite import schema

# Which input may be left out: from this one on. Others must be there.
_OPTIONAL_FROM = {
    "CONV_2D": 2, "DEPTHWISE_CONV_2D": 2, "FULLY_CONNECTED": 2, "CONV_3D": 2, "TRANSPOSE_CONV": 3,
    "CONV_3D_TRANSPOSE": 3, "SVDF": 1, "LSTM": 1, "UNIDIRECTIONAL_SEQUENCE_LSTM": 1, "BIDIRECTIONAL_SEQUENCE_LSTM": 1,
    "BIDIRECTIONAL_SEQUENCE_RNN": 1, "UNIDIRECTIONAL_SEQUENCE_RNN": 1, "RNN": 1, "EMBEDDING_LOOKUP_SPARSE": 1,
}  # fmt: skip
# Operators whose options have another name than they have.
_OTHER_NAMES = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), "Pool2DOptions"),
    **dict.fromkeys(
        ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL"), "ReducerOptions"
    ),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimumOptions"),
    **dict.fromkeys(("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"), "RandomOptions"),
    "CONV_3D_TRANSPOSE": "Conv3DOptions", "L2_NORMALIZATION": "L2NormOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}  # fmt: skip
_WITHOUT_OPTIONS = ("RESHAPE", "CAST", "L2_NORMALIZATION")  # may have none: inputs and types say the same
_AT_LEAST_ONE = (
    "strideW", "strideH", "strideD", "dilationWFactor", "dilationHFactor", "dilationDFactor", "filterWidth",
    "filterHeight", "depthMultiplier", "blockSize", "numSplits", "valuesCount",
)  # fmt: skip


@functools.cache
def _options_of(code):
    """The name of an operator's options, where they have fields."""
    if code in _OTHER_NAMES:
        return _OTHER_NAMES[code]
    plain = code.replace("_", "").lower() + "options"
    name = next((one for one in schema.enum("BuiltinOptions") if one.lower() == plain), None)
    return name if name is not None and schema.has_fields(name) else None


def check_operator(code: str, inputs: list[int], kind: str | None, options: dict) -> None:
    """Refuse an operator that lacks an input, has options of another one, or numbers in them that cannot be.

    Raises:
        BrokenFlatbuffer: it is so.
    """
    if not code.startswith("CUSTOM") and -1 in inputs[: _OPTIONAL_FROM.get(code, len(inputs))]:
        raise BrokenFlatbuffer(f"an input of {code} is left out")
    wanted = _options_of(code)
    if wanted is not None and kind != wanted and not (kind in (None, "NONE") and code in _WITHOUT_OPTIONS):
        raise BrokenFlatbuffer(f"{code} has {kind or 'no options'} instead of {wanted}")
    for name in _AT_LEAST_ONE:
        if options.get(name, 1) < 1 and not (code == "DEPTHWISE_CONV_2D" and name == "depthMultiplier"):
            raise BrokenFlatbuffer(f"{code} has {name} {options[name]}")
