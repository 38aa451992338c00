"""From the graph that one replica has to the graph of all of them.

Each operation is there once for each replica, in the order in which replicas that take turns would have made them: all
that the first one does until it needs the others, then the same of the second one, and so on. What replicas do together
becomes one operation: a sum, a join, or a branch or loop that all go through at once. What is the same for all, because
it is computed from what is the same, is there once.
"""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.devices import DeviceSpec
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.func_graph import FuncGraph, copy_handle_data
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.graph.building.operation import Operation, called_graphs, is_stateful
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.control.calls import PARTITIONED_CALL, STATEFUL_PARTITIONED_CALL
from headrace._src.graph.control.conditional import CASE, IF, STATELESS_CASE, STATELESS_IF
from headrace._src.graph.control.loops import STATELESS_WHILE, WHILE
from headrace._src.graph.replicas.collectives import ALL_GATHER, ALL_REDUCE, COLLECTIVES, REPLICA_NUMBER
from headrace._src.ops.arrays.filling import CONST
from headrace._src.ops.arrays.joining import concat
from headrace._src.ops.math.arithmetic import add_n

_LOOPS = (WHILE, STATELESS_WHILE)
_CHOICES = (IF, STATELESS_IF, CASE, STATELESS_CASE)
_GONE_THROUGH_TOGETHER = (*_LOOPS, *_CHOICES, PARTITIONED_CALL, STATEFUL_PARTITIONED_CALL)
# Op seeds that the graph of one replica gives; in the graph of all, each is drawn anew.
FIRST_DRAWN_SEED = 1 << 30


class CannotExpand(Exception):
    """A graph that replicas cannot go through together, and why."""


class ReplicaGraph(FuncGraph):
    """The graph of what one replica does.

    Args:
        name: of the function.
        outer: the graph that replicas run in.
    """

    def next_op_seed(self) -> int:
        return FIRST_DRAWN_SEED + super().next_op_seed()


class Replicated:
    """What the graph of all replicas is made of, for those who compile it as one program of several devices.

    Attributes:
        graph: the graph of one replica.
        names: full names of the devices of the replicas.
        devices: their numbers.
        positions: for each replica, which input of the graph of all is each input of the graph of one.
        nodes: by operation of the graph of one that draws random numbers or calls what does, those of all replicas.
        is_spread: whether random operations are in branches that all replicas go through at once, where no single
            replica has its own.
        lasting: which inputs of the graph of one are the same objects in each call: eager tensors and constants.
    """

    def __init__(self, graph, names, positions, nodes, is_spread, lasting):
        self.graph = graph
        self.names = names
        self.devices = [DeviceSpec.from_string(name).device_index for name in names]
        self.positions = positions
        self.nodes = nodes
        self.is_spread = is_spread
        self.lasting = lasting

    @property
    def count(self) -> int:
        """How many replicas there are."""
        return len(self.devices)


def waits_for_others(graph) -> bool:
    """Whether a graph, or one that it calls, has operations of all replicas."""
    return any(
        node.record in COLLECTIVES or any(map(waits_for_others, called_graphs(node.attrs))) for node in graph.nodes
    )


def draws(graph) -> bool:
    """Whether a graph, or one that it calls, draws random numbers."""
    return any(node.record.draws or any(map(draws, called_graphs(node.attrs))) for node in graph.nodes)


def _is_common(node, common):
    """Whether what an operation computes is the same on all replicas, given which tensors are."""
    if node.record in COLLECTIVES:
        return True
    return not _tells_apart(node) and all(id(tensor) in common for tensor in node.inputs)


def _tells_apart(node):
    """Whether an operation can give each replica something else, though its inputs are the same."""
    if node.record is REPLICA_NUMBER or node.record.draws:
        return True
    return any(_tells_apart(inner) for graph in called_graphs(node.attrs) for inner in graph.nodes)


def _common_of_loop(cond, body, given):
    """Which inputs of the test of a loop are the same on all replicas in each turn, given those of the first turn."""
    while True:
        common = {id(tensor) for tensor, same in zip(body.inputs, given) if same}
        for node in body.nodes:
            if node.record is not PLACEHOLDER and _is_common(node, common):
                common.update(id(tensor) for tensor in node.outputs)
        after = [same and id(tensor) in common for tensor, same in zip(body.outputs, given)]
        if after == given:
            return {id(tensor) for tensor, same in zip(cond.inputs, given) if same}
        given = after


class Expansion:
    """Makes the graph of all replicas.

    Args:
        one: the graph of one replica.
        target: the graph that gets the operations of all.
        count: how many replicas there are.
        seeds: a function that gives op seeds.
        devices: names of the devices of the replicas, "" for the host.
        common: numbers (`id`) of the inputs of `one` that are the same on all replicas.
    """

    def __init__(self, one, target, count, seeds, devices, common):
        self.one, self.target, self.count = one, target, count
        self.maps: list[dict] = [{} for _ in range(count)]  # for each replica: id of a tensor to that of the target
        self.nodes: dict[int, list] = {}  # id of an operation to those of all replicas
        self.is_spread = False
        self._seeds, self._devices = seeds, devices
        self._common = set(common)

    def expand(self):
        """Add the operations."""
        part: list = []
        for node in self.one.nodes:
            if node.record is PLACEHOLDER:
                continue
            if node.record in COLLECTIVES or any(map(waits_for_others, called_graphs(node.attrs))):
                self._add_part(part)
                part = []
                self._add_together(node)
            else:
                part.append(node)
        self._add_part(part)

    def of(self, tensor, replica):
        """The tensor that one replica has in the place of a tensor of the graph of one."""
        return self.maps[replica][id(tensor)]

    def _add_part(self, nodes):
        for replica in range(self.count):
            for node in nodes:
                self._add(node, replica)

    def _add(self, node, replica):
        known = self.maps[replica]
        inputs = tuple(known[id(tensor)] for tensor in node.inputs)
        if not replica:
            self._note_common(node)
        elif self._is_shared(node, inputs):
            for tensor in node.outputs:
                known[id(tensor)] = self.maps[0][id(tensor)]
            self.nodes.setdefault(id(node), []).append(self.nodes[id(node)][0])
            return
        if node.record is REPLICA_NUMBER:
            array = np.array(replica, np.int32)
            known[id(node.outputs[0])] = self.target.constant(EagerTensor(array, dtypes.int32), "replica_id")
            return
        copy = self._copied(node, inputs, self._attrs(node), node.types, replica)
        for tensor, made in zip(node.outputs, copy.outputs):
            known[id(tensor)] = made

    def _is_shared(self, node, inputs):
        """Whether what the first replica computes is the same here."""
        if node.record is CONST:
            return True
        first = self.maps[0]
        same = all(x is first[id(tensor)] for x, tensor in zip(inputs, node.inputs))
        return bool(inputs) and same and not is_stateful(node) and not node.control_inputs

    def _note_common(self, node):
        if _is_common(node, self._common):
            self._common.update(id(tensor) for tensor in node.outputs)

    def _attrs(self, node):
        seed = node.attrs.get("seed2") if node.record.draws else None
        return {**node.attrs, "seed2": self._seeds()} if seed is not None and seed >= FIRST_DRAWN_SEED else node.attrs

    def _copied(self, node, inputs, attrs, types, replica, outputs=None):
        name = f"replica_{replica}/{node.name}" if replica else node.name
        name = self.target.names.unique_full_name(name)
        copy = Operation(
            self.target, node.record, inputs, attrs, types, name, node.location, node.device or self._devices[replica]
        )
        copy.index = len(self.target.nodes)
        found = (self.nodes.get(id(before)) for before in node.control_inputs)
        copy.control_inputs = tuple(nodes[min(replica, len(nodes) - 1)] for nodes in found if nodes)
        vars(copy).update({key: value for key, value in vars(node).items() if key in ("calls", "maximum_iterations",
                           "custom_gradient", "gradient_override", "gradient_function", "file_policy")})  # fmt: skip
        self.target.nodes.append(copy)
        copy.set_outputs([_like(copy, i, tensor) for i, tensor in enumerate(outputs or node.outputs)])
        self.nodes.setdefault(id(node), []).append(copy)
        return copy

    # What replicas do together.

    def _add_together(self, node):
        if node.record in COLLECTIVES:
            parts = [known[id(node.inputs[0])] for known in self.maps]
            with self.target.building():
                total = _together(node, parts)
            self._common.add(id(node.outputs[0]))
            for known in self.maps:
                known[id(node.outputs[0])] = total
            return
        if node.record not in _GONE_THROUGH_TOGETHER:
            raise CannotExpand(f"replicas cannot do something together within {node.record.name}")
        graphs = called_graphs(node.attrs)
        first = len(node.inputs) - len(graphs[0].inputs)
        self._check_way(node, graphs, first)
        inputs = [self.maps[0][id(tensor)] for tensor in node.inputs[:first]]
        inputs += [known[id(tensor)] for known in self.maps for tensor in node.inputs[first:]]
        common: set = set()
        if node.record not in _LOOPS:  # what comes before a loop says little about its later turns
            common = {id(own) for graph in graphs for own, given in zip(graph.inputs, node.inputs[first:])
                      if id(given) in self._common}  # fmt: skip
        attrs = {name: self._attr_of_all(node, name, value, common) for name, value in node.attrs.items()}
        types = {name: value * self.count if isinstance(value, list) else value for name, value in node.types.items()}
        outputs = node.outputs
        copy = self._copied(node, tuple(inputs), attrs, types, 0, outputs * self.count)
        made = copy.outputs
        for replica, known in enumerate(self.maps):
            for tensor, own in zip(outputs, made[replica * len(outputs) :]):
                known[id(tensor)] = own
        self._note_common(node)

    def _check_way(self, node, graphs, first):
        """Refuse branches and loops of which replicas could go different ways: they would wait for each other."""
        if node.record in _CHOICES:
            same = all(id(tensor) in self._common for tensor in node.inputs[:first])
        elif node.record in _LOOPS:
            cond, body = node.attrs["cond"], node.attrs["body"]
            common = _common_of_loop(cond, body, [id(tensor) in self._common for tensor in node.inputs])
            for inner in cond.nodes:
                if inner.record is not PLACEHOLDER and _is_common(inner, common):
                    common.update(id(tensor) for tensor in inner.outputs)
            same = id(cond.outputs[0]) in common
        else:
            same = True
        if not same:
            file, line, function = node.location
            kind = "loop" if node.record in _LOOPS else "branch"
            raise CannotExpand(
                f"the way through the {kind} at {file}:{line} in {function} may differ between replicas"
            )

    def _attr_of_all(self, node, name, value, common):
        if hasattr(value, "nodes"):
            only_first = node.record in _LOOPS and name == "cond"
            return self._graph_of_all(value, common, only_first)
        if isinstance(value, (list, tuple)) and any(hasattr(item, "nodes") for item in value):
            return [self._graph_of_all(item, common, False) for item in value]
        return list(value) * self.count if isinstance(value, (list, tuple)) and name in _ONE_FOR_EACH else value

    def _graph_of_all(self, graph, common, only_first):
        whole = FuncGraph(graph.name, self.target)
        whole.body_scope = graph.base.body_scope
        inner = Expansion(graph, whole, self.count, self._seeds, self._devices, common)
        for known in inner.maps:
            for tensor in graph.inputs:
                made = whole.add_input(tensor.shape, tensor.dtype)
                copy_handle_data(tensor, made)
                known[id(tensor)] = made
        inner.expand()
        maps = inner.maps[:1] if only_first else inner.maps
        whole.outputs = [known[id(tensor)] for known in maps for tensor in graph.outputs]
        whole.used_variables.update(graph.used_variables)
        self.is_spread = self.is_spread or draws(whole)
        return whole


def _together(node, parts):
    if node.record is ALL_REDUCE:
        return add_n(parts)
    return concat(parts, node.attrs["axis"]) if node.record is ALL_GATHER else parts[0]


_ONE_FOR_EACH = ("Tin", "Tout", "T", "output_shapes")


def _like(operation, index, tensor):
    made = SymbolicTensor(operation, index, tensor.shape, tensor.dtype)
    made._known, made._partial = tensor._known, tensor._partial
    copy_handle_data(tensor, made)
    return made
