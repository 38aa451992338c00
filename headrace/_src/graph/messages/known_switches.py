"""Switches of 1.x graphs whose way is known: those that only run where their condition has been decided already.

TensorFlow's gradient of a loop in a branch asks inside of the loop once more which branch it is.
"""

from headrace._src.graph.messages.dataflow_nodes import Nodes, Reference, copied, kind
from headrace._src.graph.messages.function_import import in_order


def skip_known_switches(nodes: Nodes) -> None:
    """Let what reads such switches read what they hand on."""
    known = _known(nodes)
    if not known:
        return

    def instead(given):
        while given.node in known:
            data = nodes.data(given.node)[0]
            if given.is_control:
                given = Reference(data.node, "^")
            elif given.port == str(int(known[given.node])):
                given = data
            else:
                break
        return given

    for name in nodes:
        if name not in known:
            nodes[name] = copied(nodes[name], [instead(given) for given in nodes.inputs(name)])


def _known(nodes):
    """By name of a switch, which way it always goes."""
    guards: dict[str, frozenset] = {}
    known = {}

    def of(given):
        found = guards.get(given.node, frozenset())
        if nodes.kind(given) == "Switch" and not given.is_control and (test := _test(nodes, given.node)) is not None:
            return found | {(test, given.port == "1")}
        return found

    for node in in_order(nodes, lambda node: _before(nodes, node)):
        inputs = [x for x in nodes.inputs(node.name) if x.node in guards]
        if kind(node) == "Merge":
            guards[node.name] = frozenset.intersection(*map(of, inputs)) if inputs else frozenset()
            continue
        guards[node.name] = frozenset().union(*map(of, inputs)) if kind(node) != "ControlTrigger" else frozenset()
        if kind(node) == "Switch":
            sides = [side for side in (True, False) if (_test(nodes, node.name), side) in guards[node.name]]
            if sides:
                known[node.name] = sides[0]
    return known


def _before(nodes, node):
    return [x.node for x in nodes.inputs(node.name) if nodes.kind(x) not in ("NextIteration", "")]


def _test(nodes, name):
    """The condition of a switch, where it was computed; None for that of a loop."""
    given = nodes.data(name)[1]
    while nodes.kind(given) in ("Identity", "Enter"):
        given = nodes.data(given.node)[0]
    return None if nodes.kind(given) == "LoopCond" else given
