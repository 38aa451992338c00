"""Calls that headrace computes although TensorFlow refuses them: which row of decision 0019 allows each.

The numbers are those of the table "Computed here, refused by TensorFlow" there. A call that no row allows is a mistake.
"""

import re
from collections.abc import Callable

# Arguments that say how TensorFlow should compute: without a meaning here, whatever they are.
_WITHOUT_MEANING = {
    "back_prop", "parallel_iterations", "swap_memory", "allow_fast_lookup", "a_is_sparse", "b_is_sparse", "grad_a",
    "grad_b", "fallback_to_while_loop", "warn", "tile_size", "num_parallel_calls",
    "experimental_attributes", "canonicalized_coordinates",
}  # fmt: skip
_NUMBERS = {"float", "negative", "very negative", "large", "huge", "bool", "list", "floats", "nan", "infinite"}
_INTEGER_TENSORS = {"uint8 tensor", "int64 tensor", "integers out of range"}
# How TensorFlow says that a tensor is of another integer dtype, or that it wants the number itself.
_OTHER_INTEGERS = (
    r"requested dtype (u?int\d+|float\d+) for Tensor with dtype u?int\d+|Value for attr '\w+' of u?int\d+ is not in"
    r"|expected to be a (uint8|int32|int64) tensor but is a (uint8|int32|int64) tensor"
    r"|with dtype tf.int64, but got "
    r"|Expected (int|float) for argument|Python integer -\d+ out of bounds for uint8|to EagerTensor of dtype uint8"
)


def _of_kind(kinds, pattern="", classes=()):
    """A rule: one of these bad values, and TensorFlow's message (and class) is such."""

    def holds(call, error, message):
        return call["kind"] in kinds and re.search(pattern, message) is not None and (not classes or error in classes)

    return holds


RULES: dict[int, Callable] = {
    1: lambda call, error, message: call["argument"] in _WITHOUT_MEANING,
    2: lambda call, error, message: re.search("has no attribute '|has no len\\(\\)", message) is not None,
    3: lambda call, error, message: error == "NotFoundError" or "not yet support dilation" in message
    or (call["function"].endswith("tensor_diag_part") and "Value for attr 'T'" in message),
    4: _of_kind(
        _NUMBERS,
        "was expected to be a (float|double|half) tensor|of op 'NotEqual'|Expected float"
        "|dtype float32 for Tensor with dtype int",
    ),
    5: _of_kind(
        {"huge", "beyond int64"}, "out of (range for an|bounds for) int32|Attr dilations|int too big to convert"
    ),
    6: _of_kind(_INTEGER_TENSORS, _OTHER_INTEGERS),
    7: lambda call, error, message: "np.bool" in call["text"] and "Expected bool" in message,
    8: _of_kind({"bool"}, r"Cannot convert True to EagerTensor|but is a bool tensor|for Tensor with dtype bool"),
    9: _of_kind({"empty list"}, "but is a float tensor|of float is not in|dtype string for Tensor with dtype float32"),
    10: lambda call, error, message: "WhereOp : Unhandled" in message,
    11: _of_kind({"float", "large", "infinite", "nan"}, "Expected list for"),
    12: _of_kind({"ragged tensor"}, "Shapes of all inputs must match"),
    13: lambda call, error, message: "signal." in call["function"]
    and "must have length of at least" in message,
}  # fmt: skip


def permission(call, theirs) -> int | None:
    """The number of the row that allows a call to be computed; None if none does."""
    error, message = theirs["error"][0], theirs["message"]
    return next((number for number, holds in RULES.items() if holds(call, error, message)), None)
