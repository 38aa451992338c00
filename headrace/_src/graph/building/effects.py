"""The order of effects, made explicit: which operations must have run before another one may.

headrace runs the operations of a function in the order in which they were made. TensorFlow runs them in any order that
the edges allow, so a graph that is handed to it needs control inputs wherever the order matters.
"""

from headrace._src.core import dtypes
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import is_stateful
from headrace._src.op.traits import READS_RESOURCE
from headrace._src.ops.arrays.passing import IDENTITY


def has_effect(node) -> bool:
    """Whether an operation must run even if nothing reads its outputs."""
    return node.record is not PLACEHOLDER and is_stateful(node)


def _is_ordered(node):
    """Whether it matters when an operation runs: not when it draws from a stream of its own, or makes a resource."""
    if node.record.draws:
        return False
    makes = any(tensor.dtype is dtypes.resource for tensor in node.outputs)
    return not makes or any(tensor.dtype is dtypes.resource for tensor in node.inputs)


def control_inputs_of_effects(nodes) -> dict:
    """For each operation with effects (by its id), those that must have run before it.

    Effects happen one after another. A read comes after the last effect on its resource and before the next effect.
    """
    found: dict[int, list] = {}
    last = None  # the last effect
    reads: list = []  # since then
    touched: dict[int, object] = {}  # by resource, the last effect on it
    for node in nodes:
        if not has_effect(node) or not _is_ordered(node):
            continue
        resources = [_origin(tensor) for tensor in node.inputs if tensor.dtype is dtypes.resource]
        if READS_RESOURCE in node.record.traits:
            # A handle whose origin is not known may be any resource.
            before = last if any(not _is_certain(x) for x in resources) else touched.get(id(resources[0]))
            found[id(node)] = [] if before is None else [before]
            reads.append(node)
            continue
        found[id(node)] = ([] if last is None else [last]) + reads
        last, reads = node, []
        if all(_is_certain(x) for x in resources):
            touched.update((id(x), node) for x in resources)
        else:
            touched = _AlwaysLast(node)
    return found


class _AlwaysLast(dict):
    """After an effect on a resource that is not known, which counts as an effect on every resource."""

    def __init__(self, node):
        super().__init__()
        self._node = node

    def get(self, key, default=None):
        return super().get(key, self._node)


def _origin(tensor):
    while tensor.op.record is IDENTITY:
        (tensor,) = tensor.op.inputs
    return tensor


def _is_certain(tensor):
    return not tensor.op.inputs
