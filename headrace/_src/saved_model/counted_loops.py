"""Loops as TensorFlow makes them: with a counter and a limit as their first variables, without which it cannot
differentiate a loop that it loads."""

from __future__ import annotations

from typing import Any

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import AttrValue, FunctionDef, NodeDef
from headrace._src.formats.tensor_protos import array_to_proto
from headrace._src.graph.messages.attribute_values import shapes_to_attr_value, to_attr_value
from headrace._src.graph.messages.graph_def import FunctionLibrary
from headrace._src.op.convert import to_tensor

ADDED = 2  # loop variables
_LOOPS = ("While", "StatelessWhile")
_UNLIMITED = -1
_INT32 = dtypes.int32.as_datatype_enum


class CountingLibrary(FunctionLibrary):
    """Functions that a graph needs, in which loops have a counter and a limit."""

    def __init__(self, proto: Any, add_shapes: bool) -> None:
        super().__init__(proto, add_shapes)
        self._counted: set[int] = set()  # ids of loops, and of their graphs
        self._bodies: set[int] = set()
        self._conditions: set[int] = set()

    def begin(self, operation):
        if lacks_counter(operation):
            self._counted.add(id(operation))
            self._bodies.add(id(operation.attrs["body"]))
            self._conditions.add(id(operation.attrs["cond"]))

    def rewritten(self, operation, proto, taken, in_function):
        constants = add_counter(operation, proto, taken, in_function) if id(operation) in self._counted else []
        return [*constants, proto]

    def outputs_before(self, operation):
        return ADDED if id(operation) in self._counted else 0

    def describe(self, graph, proto, reference, nodes):
        if id(graph) in self._bodies:
            count_in_body(proto)
        elif id(graph) in self._conditions:
            count_in_condition(proto)


def lacks_counter(node: Any) -> bool:
    """Whether an operation is a loop whose first two variables are not a counter and a limit."""
    if node.type not in _LOOPS:
        return False
    body = node.attrs["body"]
    if len(body.inputs) < ADDED or len(body.outputs) < ADDED:
        return True
    if any(x.dtype is not dtypes.int32 or x.shape.rank != 0 for x in body.inputs[:ADDED]):
        return True
    step = body.outputs[0].op
    counts = step.type == "AddV2" and step.inputs[0] is body.inputs[0] and step.inputs[1]._known is not None
    return not (counts and step.inputs[1]._known == 1 and body.outputs[1] is body.inputs[1])


def add_counter(node: Any, proto: NodeDef, taken: set[str], in_function: bool) -> list[NodeDef]:
    """Give the message of a loop two more variables; returns the constants that they begin with."""
    constants = []
    for name, value in (("loop_counter", 0), ("maximum_iterations", _UNLIMITED)):
        constants.append(_constant(_free(f"{proto.name}/{name}", taken), value))
    ending = ":output:0" if in_function else ""
    inputs = [f"{constant.name}{ending}" for constant in constants] + list(proto.input)
    del proto.input[:]
    proto.input.extend(inputs)
    kinds = [_INT32] * ADDED + list(proto.attr["T"].list.type)
    del proto.attr["T"].list.type[:]
    proto.attr["T"].list.type.extend(kinds)
    shapes = shapes_to_attr_value([()] * ADDED + [tensor.shape for tensor in node.outputs])
    for name in ("output_shapes", "_output_shapes"):
        if name in proto.attr:
            proto.attr[name].CopyFrom(shapes)
    proto.attr["_num_original_outputs"].i = ADDED + len(node.outputs)
    return constants


def _free(name, taken):
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _constant(name, value):
    tensor = to_tensor(value, dtypes.int32)
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].CopyFrom(to_attr_value("type", dtypes.int32))
    node.attr["value"].CopyFrom(AttrValue(tensor=array_to_proto(tensor._a, dtypes.int32)))
    node.attr["_output_shapes"].CopyFrom(shapes_to_attr_value([()]))
    return node


def count_in_body(function: FunctionDef) -> None:
    """Give the body of a loop the two variables: the counter grows, the limit stays."""
    counter, limit, taken = _add_arguments(function)
    one = _constant(_free("add/y", taken), 1)
    step = NodeDef(name=_free("add", taken), op="AddV2", input=[counter, f"{one.name}:output:0"])
    step.attr["T"].CopyFrom(to_attr_value("type", dtypes.int32))
    step.attr["_output_shapes"].CopyFrom(shapes_to_attr_value([()]))
    function.node_def.extend([one, step])
    outputs = list(function.signature.output_arg)
    del function.signature.output_arg[:]
    for wish, reference in (("counted", f"{step.name}:z:0"), ("limited", limit)):
        argument = function.signature.output_arg.add(name=_free(wish, taken), type=_INT32)
        function.ret[argument.name] = reference
    function.signature.output_arg.extend(outputs)


def count_in_condition(function: FunctionDef) -> None:
    """Give the condition of a loop the two variables, which it does not look at."""
    _add_arguments(function)


def _add_arguments(function):
    signature = function.signature
    inputs = list(signature.input_arg)
    taken = {x.name for x in (*inputs, *signature.output_arg)} | {node.name for node in function.node_def}
    names = [_free("loop_counter", taken), _free("maximum_iterations", taken)]
    del signature.input_arg[:]
    for name in names:
        signature.input_arg.add(name=name, type=_INT32)
    signature.input_arg.extend(inputs)
    attributes = {number: value.SerializeToString() for number, value in function.arg_attr.items()}
    function.arg_attr.clear()
    for number, data in attributes.items():
        function.arg_attr[number + ADDED].MergeFromString(data)
    for number in range(ADDED):
        function.arg_attr[number].attr["_output_shapes"].CopyFrom(shapes_to_attr_value([()]))
    if "_input_shapes" in function.attr:
        shapes = list(function.attr["_input_shapes"].list.shape)
        function.attr["_input_shapes"].CopyFrom(shapes_to_attr_value([()] * ADDED))
        function.attr["_input_shapes"].list.shape.extend(shapes)
    return *names, taken
