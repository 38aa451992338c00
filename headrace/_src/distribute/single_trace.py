"""Tracing what replicas do once for all of them.

Inside of a `tf.function`, all replicas of `strategy.run` do the same operations on values of their own. So the function
is called once, as if on the first replica, and its graph stands for each of them (graph/replicas). What a replica asks
the others for becomes an operation there. Code that looks at the values or copies of single replicas cannot be traced
so; it raises `NeedsReplicas`, and `strategy.run` calls the function once for each replica (replica_threads.py).
"""

from __future__ import annotations

from typing import Any

from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import HOST, context
from headrace._src.core.device_use import available
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.type_specs import type_spec_from_value
from headrace._src.distribute.contexts import ReplicaContext
from headrace._src.distribute.places import Place
from headrace._src.distribute.reductions import gathered, reduce_op
from headrace._src.distribute.values import AllReplicas, DistributedValues, NeedsReplicas, regroup
from headrace._src.distribute.variables import SyncOnReadVariable, copy_of_handle
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.graph.control.calls import call_graph
from headrace._src.graph.control.conditional import note_variables
from headrace._src.graph.replicas.collectives import replica_number
from headrace._src.graph.replicas.expansion import CannotExpand, Expansion, ReplicaGraph, Replicated
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.filling import CONST
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.passing import identity
from headrace._src.state.variables import Variable


def can_be_traced_once() -> bool:
    """Whether a call of `strategy.run` here becomes a part of a function's graph, and no tape around follows it."""
    graph = context.graph
    return graph is not None and graph.building_function and not context.recorders


class EachReplicaContext(ReplicaContext):
    """What a function that is traced once for all replicas can ask."""

    def __init__(self, strategy, graph) -> None:
        super().__init__(strategy, 0)
        self._graph = graph

    @property
    def replica_id_in_sync_group(self) -> Any:
        return replica_number()

    @property
    def devices(self) -> list:
        raise NeedsReplicas("the devices of single replicas")

    def _merged(self, merge_fn, args, kwargs):
        args, kwargs = self._of_all(args), self._of_all(kwargs)
        with context.changed(place=Place(self._strategy, None, None, True)):
            result = merge_fn(self._strategy, *args, **kwargs)
        return nest.map_structure(_own_part, result)

    def _of_all(self, structure):
        return nest.map_structure(self._wrapped, structure)

    def _wrapped(self, value):
        """What a function that runs once for all replicas gets of a value that each has its own of."""
        if isinstance(value, (DistributedValues, Variable)):
            return value if isinstance(value, DistributedValues) else _container(value)
        parts = nest.flatten(value, expand_composites=True) if isinstance(value, CompositeTensor) else [value]
        return AllReplicas(value) if any(self._is_of_replicas(part) for part in parts) else value

    def _is_of_replicas(self, value):
        """Whether a tensor was computed by replicas, and not before by the graph around them."""
        if not isinstance(value, SymbolicTensor):
            return False
        graph = self._graph.outer_graph
        while graph is not None:
            if value.op._graph is graph.reference:
                return False
            graph = graph.outer_graph
        return True

    def all_reduce(self, reduce_op, value, options=None) -> Any:
        flat = [_as_tensor(part) for part in nest.flatten(value)]
        return nest.pack_sequence_as(value, self._all_reduced(_op(reduce_op), flat) if flat else [])

    def _all_reduced(self, op, tensors):
        results = self._strategy.extended._all_reduced(op, [self._wrapped(tensor) for tensor in tensors])
        # What is the same everywhere becomes a tensor of each replica, as all results are.
        return [identity(x) if x is tensor and isinstance(x, Tensor) else x for x, tensor in zip(results, tensors)]

    def all_gather(self, value, axis, options=None) -> Any:
        if context.recorders:
            raise NeedsReplicas("the gradient of all_gather")
        if any(isinstance(part, IndexedSlices) for part in nest.flatten(value)):
            return super().all_gather(value, axis, options)  # which refuses them
        return nest.map_structure(lambda part: gathered(AllReplicas(_as_tensor(part)), axis), value)


_op = reduce_op


def _as_tensor(part):
    # A number becomes a tensor of each replica's own.
    return part if isinstance(part, (Tensor, IndexedSlices)) else context.graph.inside(to_tensor(part))


def _own_part(value):
    return value._of(0) if isinstance(value, DistributedValues) and not isinstance(value, Variable) else value


def _container(copy):
    reference = getattr(copy, "_distributed_container", None)
    return copy if reference is None else reference()


def run_traced_once(strategy, devices, fn, args, kwargs) -> Any:
    """Call a function once for all replicas while a graph is built; returns what the replicas return, regrouped.

    Args:
        strategy: whose replicas they are.
        devices: their names.
        fn, args, kwargs: the call.

    Raises:
        NeedsReplicas: the function does something that only single replicas can.
    """
    outer: Any = context.graph
    one = ReplicaGraph("replica", outer)
    given: list = []  # for each input, what each replica has
    with one.building():
        own_args, own_kwargs = (_placeholders(one, structure, given, len(devices)) for structure in (args, kwargs))
        place = Place(strategy, EachReplicaContext(strategy, one), 0, True)
        with context.changed(place=place):
            result = fn(*own_args, **own_kwargs)
        results = _Results(one, result)
    one.outputs = results.tensors
    whole = _graph_of_all(one, strategy, devices, given)
    note_variables([whole])
    tensors = [values[i] for i in range(len(devices)) for values in given]
    made = call_graph(whole, [*tensors, *whole.external_captures])
    count = len(results.tensors)
    return regroup([results.packed(made[i * count : (i + 1) * count]) for i in range(len(devices))])


def _placeholders(one, structure, given, count):
    """The arguments of one replica: inputs of its graph in the place of what each has its own of."""

    def placeholder(value):
        if isinstance(value, Variable) or not isinstance(value, DistributedValues):
            return value
        if len(value._values) != count:
            raise NeedsReplicas("a value for another number of replicas")
        return _of_one(one, value._values, given)

    return nest.map_structure(placeholder, structure)


def _of_one(one, values, given):
    if all(isinstance(value, Tensor) for value in values):
        if len({value.dtype for value in values}) > 1:
            raise NeedsReplicas("values of different dtypes")
        shape = values[0].shape.most_specific_common_supertype([value.shape for value in values[1:]])
        given.append(list(values))
        return one.add_input(shape, values[0].dtype)
    if not all(isinstance(value, CompositeTensor) for value in values):
        raise NeedsReplicas("values that are no tensors")
    if any(type_spec_from_value(value) != type_spec_from_value(values[0]) for value in values[1:]):
        raise NeedsReplicas("values of different types")
    columns = zip(*(nest.flatten(value, expand_composites=True) for value in values))
    parts = [_of_one(one, column, given) for column in columns]
    return nest.pack_sequence_as(values[0], parts, expand_composites=True)


class _Results:
    """What a function returned on one replica: tensors of its graph, and the rest.

    Args:
        one: the graph.
        structure: what it returned.
    """

    def __init__(self, one, structure):
        self._structure = nest.map_structure(_returned, structure)
        self._leaves = nest.flatten(self._structure, expand_composites=True)
        self.tensors = []
        self._numbers: list = []
        for leaf in self._leaves:
            if isinstance(leaf, SymbolicTensor) and leaf.op._graph is one.reference:
                self._numbers.append(len(self.tensors))
                self.tensors.append(leaf)
            elif isinstance(leaf, SymbolicTensor) and _is_around(leaf, one):
                self._numbers.append(None)
            elif isinstance(leaf, SymbolicTensor):
                raise leaf._out_of_scope()
            else:
                self._numbers.append(None)

    def packed(self, tensors):
        """The same structure with other tensors."""
        leaves = [leaf if at is None else tensors[at] for leaf, at in zip(self._leaves, self._numbers)]
        return nest.pack_sequence_as(self._structure, leaves, expand_composites=True)


def _is_around(tensor, graph):
    outer = graph.outer_graph
    while outer is not None:
        if tensor.op._graph is outer.reference:
            return True
        outer = outer.outer_graph
    return False


def _returned(value):
    value = _own_part(value)
    if isinstance(value, Operation):
        raise NeedsReplicas("an operation that is returned")
    if isinstance(value, Variable):
        return _container(value)
    plain = value is None or isinstance(value, (Tensor, CompositeTensor, str, bytes, bool, int, float))
    if not plain and not isinstance(value, DistributedValues):
        raise NeedsReplicas("an object that is returned")
    return value


def _graph_of_all(one, strategy, devices, given):
    """The graph of all replicas."""
    whole = FuncGraph("replicas", one.outer_graph)
    whole.seed = one.seed
    count, outer = len(devices), one.outer_graph
    arguments = len(one.inputs) - len(one.captures)
    names = [name if name != HOST and name in available else "" for name in devices]
    expansion = Expansion(one, whole, count, outer.next_op_seed, names, _common_inputs(one, strategy, arguments))
    for i, known in enumerate(expansion.maps):
        for tensor, values in zip(one.inputs[:arguments], given):
            known[id(tensor)] = whole.add_input(values[i].shape, tensor.dtype)
    variables = {id(tensor): copy_of_handle(tensor) for tensor in one.external_captures}
    for i, known in enumerate(expansion.maps):
        for tensor, inner in one.captures:
            known[id(inner)] = _captured(whole, _handle_of(variables[id(tensor)], strategy, tensor, i, whole))
    try:
        expansion.expand()
    except CannotExpand as error:
        raise NeedsReplicas(str(error)) from None
    whole.outputs = [known[id(tensor)] for known in expansion.maps for tensor in one.outputs]
    _note_plain_variables(one, whole, variables)
    at = {id(tensor): k for k, tensor in enumerate(whole.inputs)}
    positions = [[at[id(known[id(tensor)])] for tensor in one.inputs] for known in expansion.maps]
    lasting = frozenset(arguments + k for k, (tensor, _) in enumerate(one.captures) if _is_lasting(tensor))
    whole.replicated = Replicated(one, tuple(devices), positions, expansion.nodes, expansion.is_spread, lasting)
    return whole


def _common_inputs(one, strategy, arguments):
    """Inputs of the graph of one replica that are the same on all: not arguments, nor what is combined when read."""
    common = set()
    for tensor, inner in one.captures:
        copy = copy_of_handle(tensor)
        if copy is None or not isinstance(copy[0], SyncOnReadVariable):
            common.add(id(inner))
    return common


def _is_lasting(tensor):
    """Whether a tensor that is captured is the same object in each call: an eager one, or a constant around."""
    while isinstance(tensor, SymbolicTensor):
        if tensor.op.record is CONST:
            return True
        found = (outer for outer, inner in getattr(tensor.graph, "captures", ()) if inner is tensor)
        tensor = next(found, None)
    return isinstance(tensor, EagerTensor)


def _handle_of(copy, strategy, tensor, index, whole):
    """What a replica captures where the first one has captured `tensor`."""
    if copy is None or copy[0].distribute_strategy is not strategy:
        return tensor
    container, number = copy
    if number:
        raise NeedsReplicas("the copy of a variable that belongs to another replica")
    own = container._values[index]
    whole.used_variables[id(own._handle)] = own
    return own._handle


def _captured(graph, tensor):
    entry = graph._captures.get(id(tensor))
    return graph.add_capture(tensor) if entry is None else entry[1]


def _note_plain_variables(one, whole, variables):
    for key, variable in one.used_variables.items():
        if variables.get(key) is None:
            whole.used_variables[key] = variable
