"""`tensorflow.python.framework.test_util`: small functions that tests of packages use."""

import itertools
import socket
from typing import Any

from headrace._src.core.tensor import Tensor
from headrace._src.ops.arrays.rearranging import transpose

_TO_FIRST = {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}
_TO_LAST = {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}


def channels_first(input_tensor: Any) -> Any:
    """A batch of images or volumes, or the sizes of one, with the channels right after the batch."""
    return _arranged(input_tensor, _TO_FIRST)


def channels_last(input_tensor: Any) -> Any:
    """A batch of images or volumes, or the sizes of one, with the channels as the last dimension."""
    return _arranged(input_tensor, _TO_LAST)


def _arranged(value, orders):
    if isinstance(value, Tensor):
        return transpose(value, orders[value.shape.ndims])
    return [value[place] for place in orders[len(value)]]


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """The operations of some names in a graph, as messages.

    Raises:
        ValueError: one is not there, or of another op.
    """
    found = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if node.op != expected_ops[node.name]:
                raise ValueError(f"The node {node.name!r} is of {node.op!r}, not of {expected_ops[node.name]!r}.")
            found[node.name] = node
    missing = set(expected_ops) - set(found)
    if missing:
        raise ValueError(f"The graph has no nodes {sorted(missing)}.")
    return found


def node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """The message of the operation of a name; None if there is none."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def pick_unused_port() -> int:
    """The number of a port that no process listens on now."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def combinations_with_names(**kwargs: Any) -> list[dict[str, Any]]:
    """All combinations of values, each with a name for the test: what `parameterized.named_parameters` takes."""
    named = []
    for chosen in itertools.product(*kwargs.values()):
        combination = dict(zip(kwargs, chosen))
        text = "".join(f"_{key}_{''.join(filter(str.isalnum, str(value)))}" for key, value in combination.items())
        named.append({**combination, "testcase_name": f"_test{text}"})
    return named
