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
# Operators on variables and tables: how many inputs and outputs they have. The first input is a handle.
_OF_RESOURCES = {
    "READ_VARIABLE": (1, 1), "ASSIGN_VARIABLE": (2, 0), "HASHTABLE_FIND": (3, 1), "HASHTABLE_IMPORT": (3, 0),
    "HASHTABLE_SIZE": (1, 1),
}  # fmt: skip
_MAKING_HANDLES = ("VAR_HANDLE", "HASHTABLE")
_WITHOUT_INPUTS = (*_MAKING_HANDLES, "CALL_ONCE")
_WITHOUT_OUTPUTS = ("CALL_ONCE", "ASSIGN_VARIABLE", "HASHTABLE_IMPORT", "IF", "WHILE")
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


def check_operator(
    code: str, inputs: list[int], outputs: list[int], kind: str | None, options: dict, types: list[str]
) -> None:
    """Refuse an operator that lacks an input, has options of another one, or numbers in them that cannot be.

    Args:
        code: of the operator.
        inputs, outputs: numbers of tensors.
        kind: the name of its options.
        options: their values.
        types: of all tensors of the graph.

    Raises:
        BrokenFlatbuffer: it is so.
    """
    _check_tensors(code, inputs, outputs, types)
    if not code.startswith("CUSTOM") and -1 in inputs[: _OPTIONAL_FROM.get(code, len(inputs))]:
        raise BrokenFlatbuffer(f"an input of {code} is left out")
    wanted = _options_of(code)
    if wanted is not None and kind != wanted and not (kind in (None, "NONE") and code in _WITHOUT_OPTIONS):
        raise BrokenFlatbuffer(f"{code} has {kind or 'no options'} instead of {wanted}")
    for name in _AT_LEAST_ONE:
        if options.get(name, 1) < 1 and not (code == "DEPTHWISE_CONV_2D" and name == "depthMultiplier"):
            raise BrokenFlatbuffer(f"{code} has {name} {options[name]}")


def _check_tensors(code, inputs, outputs, types):
    """Whether there are as many inputs and outputs, and handles where they must be."""
    if code.startswith(("CUSTOM", "STABLEHLO")):
        return
    if (not inputs and code not in _WITHOUT_INPUTS) or (not outputs and code not in _WITHOUT_OUTPUTS):
        raise BrokenFlatbuffer(f"{code} has {len(inputs)} inputs and {len(outputs)} outputs")
    if code in _OF_RESOURCES:
        if (len(inputs), len(outputs)) != _OF_RESOURCES[code] or types[inputs[0]] != "RESOURCE":
            raise BrokenFlatbuffer(f"the inputs of {code} are not a handle and what belongs to it")
    if code in _MAKING_HANDLES and (len(outputs) != 1 or types[outputs[0]] != "RESOURCE"):
        raise BrokenFlatbuffer(f"the output of {code} is no handle")
