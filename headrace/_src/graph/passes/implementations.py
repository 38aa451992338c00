"""Calls of a function of which there are several implementations: the one that is best on this device is called.

TF: by its attributes, `tf.function(..., experimental_attributes={"api_implements": "name", "api_preferred_device":
"CPU"})`, a function says what it is an implementation of, and where it is best. `ConcreteFunction.add_to_graph` puts it
beside a call of another one in a graph. TensorFlow Probability chooses its samplers so.
"""

import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

from headrace._src.graph.passes.steps import Step
from headrace._src.op.traits import PLAIN_CALL

_DEVICE = "CPU"  # the kind of all devices


class Implementation(NamedTuple):
    """What a function is an implementation of, and the kind of device for which it is made; "" for any."""

    of: str
    device: str


def implementation(attributes: Mapping[str, Any] | None) -> Implementation | None:
    """What the attributes of a function say; None for almost all functions."""
    name = (attributes or {}).get("api_implements")
    return None if name is None else Implementation(_text(name), _text(attributes.get("api_preferred_device", "")))


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


_everywhere: dict[str, weakref.WeakSet] = {}  # what was added outside of all graphs


def add_implementation(graph, place) -> None:
    """Let calls in the graph `place`, or with None in any, find the function of `graph`."""
    if graph.implements is None:
        return
    if place is None:
        _everywhere.setdefault(graph.implements.of, weakref.WeakSet()).add(graph)
        return
    if place.implementations is None:
        place.implementations = {}
    place.implementations.setdefault(graph.implements.of, []).append(graph)


def selected(step) -> Any:
    """The step, with the function that is best here if it calls another implementation of the same."""
    if PLAIN_CALL not in step.record.traits:
        return step
    called = step.attrs["f"]
    wanted = called.base.implements
    if wanted is None or called is not called.base:  # TF: one that returns residuals too stays
        return step
    for other in _candidates(wanted.of, step.graph):
        # TF: another one for this device is taken even if the called one is for it, too.
        if other is not called and other.implements.device == _DEVICE and _can_replace(other, called, step.record):
            return Step(step, attrs={**step.attrs, "f": other})
    return step


def _candidates(name, graph):
    found, place = [], graph
    while place is not None:
        if getattr(place, "jit_compile", None):
            return []  # TF: what XLA compiles stays as it is
        found += (place.implementations or {}).get(name, ())
        place = getattr(place, "outer_graph", None)
    return [*found, *_everywhere.get(name, ())]


def _can_replace(other, called, record):
    """Whether a call takes and gives the same; and one that was taken for free of effects stays so."""
    same = [[x.dtype for x in (*graph.inputs, *graph.outputs)] for graph in (other, called)]
    captured = [[id(x) for x in graph.external_captures] for graph in (other, called)]
    sizes = len(other.inputs) == len(called.inputs)
    return sizes and same[0] == same[1] and captured[0] == captured[1] and (record.stateful or not other.is_stateful)
