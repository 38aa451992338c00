"""Running a graph with the ops' kernels: the graph becomes straight-line Python code over NumPy arrays.

A step of the code is a call of a kernel; each value is forgotten after the step that reads it last. Operations
without effects that nothing reads are left out. Steps run in the order in which the operations were made, so effects
happen in source order. When a step fails, its line number tells which operation it was.
"""

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.tracebacks import is_traceback_filtering_enabled
from headrace._src.graph.graph import PLACEHOLDER
from headrace._src.graph.operation import is_stateful
from headrace._src.op.apply import as_array, check_dtype, kernel_error
from headrace._src.ops.filling import CONST

_ndarray = np.ndarray


class Plan:
    """How to compute some outputs of a graph from some inputs."""

    def __init__(self, nodes, inputs, outputs, targets=()):
        """
        Args:
            nodes: all operations that may be needed, in an order in which they can run.
            inputs: the tensors whose values `run` is given.
            outputs: the tensors whose values `run` returns.
            targets: operations that must run whether or not something reads their outputs.
        """
        self.steps = needed(nodes, inputs, outputs, targets)
        self._write(inputs, outputs)

    def _write(self, inputs, outputs):
        steps = self.steps
        last_use: dict[int, int] = {}
        for i, node in enumerate(steps):
            for tensor in node.inputs:
                last_use[id(tensor)] = i
        for tensor in outputs:
            last_use[id(tensor)] = len(steps)
        names: dict[int, str] = {}
        scope = {"nd": _ndarray, "wrap": _wrap, "context": context, "many": _many}
        lines = ["def run(v):"]
        arguments = []
        for i, tensor in enumerate(inputs):
            names[id(tensor)] = f"a{i}"
            arguments.append(f"a{i}")
        lines.append(f"    {', '.join(arguments)}, = v; v.clear()" if arguments else "    pass")
        dead = [names[id(t)] for t in inputs if id(t) not in last_use]
        if dead:
            lines[-1] += f"; del {', '.join(dead)}"
        first_line = len(lines) + 1
        for i, node in enumerate(steps):
            lines.append("    " + self._step(i, node, names, last_use, scope))
        results = ", ".join(names[id(t)] for t in outputs)
        lines.append(f"    return [{results}]")
        exec(compile("\n".join(lines), "<graph>", "exec"), scope)
        self._run = scope["run"]
        self._first_line = first_line

    def _step(self, i, node, names, last_use, scope):
        """One line of code: call the kernel, name the results, forget what is no longer needed."""
        op = node.record
        outputs = node.outputs
        if op is CONST:
            names[id(outputs[0])] = f"c{i}"
            scope[f"c{i}"] = node.attrs["value"]._a
            return "pass"
        arguments = _arguments(node, names)
        scope[f"k{i}"] = bound_kernel(node)
        call = f"k{i}({', '.join(arguments)})"
        parts = []
        draws = op.stateful and "seed2" in op.attribute_names
        if draws:  # each operation has a stream of random numbers of its own
            scope[f"n{i}"] = node
            parts.append(f"context.random_node = n{i}")
        if op.single_output:
            name = names[id(outputs[0])] = f"t{i}"
            scope[f"d{i}"] = (op, outputs[0].dtype)
            scope["dtype" + str(i)] = outputs[0].dtype._np
            parts.append(f"{name} = {call}")
            parts.append(f"{name} = {name} if type({name}) is nd and {name}.dtype is dtype{i} else wrap({name}, d{i})")
        elif not outputs:
            parts.append(call)
        else:
            targets = []
            for j, tensor in enumerate(outputs):
                names[id(tensor)] = f"t{i}_{j}"
                targets.append(f"t{i}_{j}")
            scope[f"d{i}"] = [(op, tensor.dtype) for tensor in outputs]
            spread = any(argument.is_list for argument in op.signature.outputs) and op.number_of_outputs > 1
            parts.append(f"{', '.join(targets)}, = many({call}, d{i}, {spread})")
        if draws:
            parts.append("context.random_node = None")
        gone = []
        for tensor in node.inputs:
            if last_use[id(tensor)] == i and not names[id(tensor)].startswith("c"):
                gone.append(names[id(tensor)])
        gone += [names[id(t)] for t in outputs if id(t) not in last_use]
        if gone:
            parts.append(f"del {', '.join(dict.fromkeys(gone))}")
        return "; ".join(parts)

    def run(self, arrays: list) -> list:
        """Compute the outputs; `arrays` is emptied, so that inputs can be freed early."""
        try:
            return self._run(arrays)
        except Exception as error:
            self._explain(error)
            raise

    def _explain(self, error):
        """Turn what a kernel raised into the op's own error, with the user's line."""
        context.random_node = None
        if getattr(error, "_explained", False):
            return
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not self._run.__code__:
            traceback = traceback.tb_next
        if traceback is None:
            return
        node = self.steps[traceback.tb_lineno - self._first_line]
        described = describe_error(node, error)
        if described is not error:
            raise described from None


def describe_error(node, error):
    """The error to raise for what the kernel of `node` raised."""
    described = kernel_error(node.record, _structured(node), error)
    if hasattr(described, "_op") and described._op is None:
        described._op = node  # whose line is shown below the message
    described._explained = True
    if is_traceback_filtering_enabled() and described is not error:
        described.__traceback__ = None
    return described


def _structured(node):
    """The inputs of an operation with one list for each input that is a list."""
    result, at = [], 0
    for argument, count in zip(node.record.signature.inputs, input_counts(node)):
        items = list(node.inputs[at : at + count])
        result.append(items if argument.is_list else items[0])
        at += count
    return result


def input_counts(node) -> list[int]:
    """How many tensors each input of the op has."""
    counts = []
    for argument in node.record.signature.inputs:
        if argument.type_list:
            counts.append(len(node.types[argument.type_attr]))
        elif argument.is_list:
            counts.append(node.types[argument.number_attr])
        else:
            counts.append(1)
    return counts


def _arguments(node, names):
    arguments, at = [], 0
    for argument, count in zip(node.record.signature.inputs, input_counts(node)):
        items = [names[id(tensor)] for tensor in node.inputs[at : at + count]]
        arguments.append(f"[{', '.join(items)}]" if argument.is_list else items[0])
        at += count
    return arguments


def bound_kernel(node):
    """The kernel with the operation's attributes filled in."""
    kernel, attrs = node.record.kernel, node.attrs
    if not attrs:
        return kernel

    def bound(*arrays):
        return kernel(*arrays, **attrs)

    return bound


def _wrap(value, kind):
    op, dtype = kind
    if type(value) is not _ndarray:
        return as_array(value, dtype)
    check_dtype(op, value, dtype)
    return value


def _many(results, kinds, spread):
    """The outputs of a kernel as a flat list of arrays."""
    if spread:
        flat = []
        for result in results:
            flat.extend(result) if isinstance(result, list) else flat.append(result)
        results = flat
    return [_wrap(value, kind) for value, kind in zip(results, kinds, strict=True)]


def needed(nodes, inputs, outputs, targets=()):
    """The operations that must run, in order: those with effects among the targets, and what all that depends on."""
    read = {id(tensor) for tensor in inputs}  # tensors that need not be computed, or will be
    wanted = {id(node) for node in targets}
    for tensor in outputs:
        if id(tensor) not in read:
            wanted.add(id(tensor.op))
            read.add(id(tensor))
    steps = []
    for node in reversed(nodes):
        if id(node) not in wanted:
            continue
        original = node.__dict__.get("original")
        if original is not None and not any(id(t) in read for t in node.outputs[len(original._outputs) :]):
            node = original  # nobody wants what the gradient would need
        steps.append(node)
        for tensor in node.inputs:
            if id(tensor) not in read:
                wanted.add(id(tensor.op))
                read.add(id(tensor))
        wanted.update(id(before) for before in node.control_inputs)
    steps.reverse()
    return steps


def plan_of(graph) -> Plan:
    """The plan of a function's graph: all effects happen, whatever is returned."""
    effects = [node for node in graph.nodes if node.record is not PLACEHOLDER and is_stateful(node)]
    return Plan(graph.nodes, graph.inputs, graph.outputs, effects)


def run_eagerly(graph, tensors) -> list:
    """Run a graph on eager tensors, in order arguments then captures."""
    arrays = [tensor._a for tensor in tensors]
    results = context.run_quietly(graph.plan().run, arrays)
    return [EagerTensor(array, tensor.dtype) for array, tensor in zip(results, graph.outputs)]
