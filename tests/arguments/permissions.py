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
_INTEGER_TENSORS = {"uint8 tensor", "int64 tensor", "bool tensor", "integers out of range"}


def _of_kind(kinds, pattern="", classes=()):
    """A rule: one of these bad values, and TensorFlow's message (and class) is such."""

    def holds(call, error, message):
        return call["kind"] in kinds and re.search(pattern, message) is not None and (not classes or error in classes)

    return holds


RULES: dict[int, Callable] = {
    1: lambda call, error, message: call["argument"] in _WITHOUT_MEANING,
    2: lambda call, error, message: error == "AttributeError" and "has no attribute" in message,
    3: lambda call, error, message: error == "NotFoundError" or "do not yet support dilation" in message
    or (call["function"].endswith("tensor_diag_part") and "Value for attr 'T'" in message),
    4: _of_kind(_NUMBERS, "was expected to be a (float|double|half) tensor|of op 'NotEqual'|Expected float"),
    5: _of_kind({"huge", "beyond int64"}, "out of range for an int32|Attr dilations|int too big to convert"),
    6: _of_kind(_INTEGER_TENSORS),
    7: lambda call, error, message: "np.bool" in call["text"] and "Expected bool" in message,
    8: _of_kind({"bool"}),
    9: _of_kind({"empty list"}, "but is a float tensor|of float is not in|dtype string for Tensor with dtype float32"),
    10: lambda call, error, message: "WhereOp : Unhandled" in message,
    11: _of_kind({"float", "large", "infinite", "nan"}, "Expected list for"),
    12: _of_kind({"ragged tensor"}, "Shapes of all inputs must match"),
}  # fmt: skip


def permission(call, theirs) -> int | None:
    """The number of the row that allows a call to be computed; None if none does."""
    error, message = theirs["error"][0], theirs["message"]
    return next((number for number, holds in RULES.items() if holds(call, error, message)), None)
