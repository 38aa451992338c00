"""The functions of a state and an element that `scan` and `reduce` take."""

from headrace._src.core import errors, nest
from headrace._src.core.specs import TensorSpec
from headrace._src.core.type_specs import TypeSpec
from headrace._src.data.running import functions
from headrace._src.data.running.functions import Traced


def _relaxed(state: TypeSpec, returned: TypeSpec, method: str, what: str) -> TypeSpec:
    """The spec of a state that may be either of both."""
    if type(state) is not type(returned):
        raise TypeError(
            f"{method}: the element classes for the new state must match the initial state. Expected {state}, but "
            f"`{what}` returns {returned}."
        )
    if hasattr(state, "dtype") and state.dtype != returned.dtype:
        raise TypeError(
            f"{method}: the element types for the new state must match the initial state. Expected "
            f"{state.dtype!r}, but `{what}` returns {returned.dtype!r}."
        )
    if isinstance(state, TensorSpec):
        # TF: also where the ranks differ.
        return TensorSpec(state.shape.most_specific_compatible_shape(returned.shape), state.dtype)
    common = state.most_specific_common_supertype([returned])
    if common is None:
        raise TypeError(f"{method}: the state {state} and what `{what}` returns, {returned}, are not compatible.")
    return common


def trace_with_state(function, state_spec, element_spec, state_of, method: str, what: str) -> tuple[Traced, object]:
    """Trace a function of a state and an element, with shapes of the state that hold for all its values.

    Args:
        function: the user's.
        state_spec: the spec of the initial state.
        element_spec: the spec of elements.
        state_of: from the spec of what the function returns to that of the new state in it.
        method: what the user called.
        what: the argument that the function is.

    Returns:
        The traced function, and the spec of the state.
    """
    while True:
        traced = functions.trace(function, state_spec, element_spec, method=method)
        new = state_of(traced.output_spec)
        flat, flat_new = nest.flatten(state_spec), nest.flatten(new)
        if len(flat) != len(flat_new):
            check_state_count(len(flat), len(flat_new), method, what)
        relaxed = [_relaxed(a, b, method, what) for a, b in zip(flat, flat_new)]
        if all(a == b for a, b in zip(relaxed, flat)):
            return traced, state_spec
        state_spec = nest.pack_sequence_as(state_spec, relaxed)


def check_state_count(before: int, after: int, method: str, what: str) -> None:
    """Refuse a new state with another number of components."""
    if before != after:
        raise errors.invalid_argument(
            f"{method}: the number of components of the initial state and of what `{what}` returns do not match: "
            f"{before} and {after}."
        )
