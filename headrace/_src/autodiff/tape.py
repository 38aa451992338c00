"""Recording what is computed, and walking it backwards."""

import itertools

import numpy as np

from headrace._src.autodiff.accumulate import add_gradients
from headrace._src.core import dtypes
from headrace._src.core.context import Recorder, context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.definition import NOT_NEEDED
from headrace._src.ops.arrays.constants import zeros
from headrace._src.ops.arrays.filling import ZEROS_LIKE

next_id = itertools.count(1).__next__


class Tape(Recorder):
    """A Wengert list: what was applied, in order, to tensors known by number.

    It holds no tensors but those that gradients will read, so nothing refers back to it and dropping it frees all.
    """

    __slots__ = ("__weakref__", "entries", "ids", "reads", "roots")

    def __init__(self):
        self.entries = []  # (node, numbers of inputs, numbers of outputs)
        self.ids = set()  # the numbers of all that is followed
        self.roots = set()  # of these, those that were not computed or read
        self.reads = {}  # number of a variable's handle to the numbers of the values read from it

    def watch(self, tensor):
        """Follow what is computed from this tensor."""
        number = tensor._id
        if number is None:
            number = tensor._id = next_id()
        self.ids.add(number)
        self.roots.add(number)

    def read(self, handle, tensor):
        """Note that `tensor` is the value of the variable with that handle, which is watched."""
        if tensor._id is None:
            tensor._id = next_id()
        self.ids.add(tensor._id)
        self.reads.setdefault(handle._id, []).append(tensor._id)

    def variable_read(self, variable, tensor):
        if variable.handle._id in self.ids:
            self.read(variable.handle, tensor)

    def record_one(self, node, ids, output):
        """Note that `node` computed one tensor from those that are known as `ids`."""
        if output.dtype._kind in "fcrv":
            number = output._id
            if number is None:
                number = output._id = next_id()
            self.ids.add(number)
            self.entries.append((node, ids, (number,)))

    def record(self, node, inputs, ids, outputs):
        """Note that `node` computed `outputs` from `inputs`, which are known as `ids`."""
        numbers = []
        for tensor in outputs:
            if tensor.dtype._kind in "fcrv":
                if tensor._id is None:
                    tensor._id = next_id()
                self.ids.add(tensor._id)
            numbers.append(tensor._id)
        if numbers != [None]:
            self.entries.append((node, ids, numbers))

    def backward(self, target_grads: dict, source_ids, is_named=False) -> dict:
        """Gradients by tensor number, from those of the targets back to the sources.

        Args:
            target_grads: number to gradient.
            source_ids: numbers of the tensors whose gradients are wanted.
            is_named: whether operations of a graph that is built are named after those that they differentiate.
        """
        # Only what lies between sources and targets is differentiated.
        reached = self.ids.intersection(source_ids)
        for number in tuple(reached):
            if number in self.reads:
                reached.update(self.reads[number])
        keep = reached.copy()
        if self.roots <= reached:
            path, reached = self.entries, self.ids
        else:
            path = self._path(reached)
        # A number has a gradient, or a list of them that are to be added up when they are first read.
        grads = dict(target_grads)
        is_named = is_named and context.graph is not None
        for node, inputs, outputs in reversed(path):
            op = node.op
            if node.output_specs is None and not op.has_lists:
                number = outputs[0]
                dy = grads.pop(number, None)
                if dy is None:
                    continue
                if type(dy) is list:
                    dy = add_gradients(dy)
                if number in keep:
                    grads[number] = dy
                if len(inputs) == 2:
                    node.wanted = (inputs[0] in reached, inputs[1] in reached)
                elif len(inputs) > 2:
                    node.wanted = [number in reached for number in inputs]
                input_grads = _named(node, op.grad, dy) if is_named else op.grad(node, dy)
            else:
                dys = [_take(grads, number, keep) for number in outputs]
                if all(dy is None for dy in dys):
                    continue
                node.wanted = None if op.has_lists else [number in reached for number in inputs]
                input_grads = _named(node, node_gradients, dys) if is_named else node_gradients(node, dys)
            for number, grad in zip(inputs, input_grads):
                if grad is not None and number in reached:
                    if number not in grads:
                        grads[number] = grad
                    elif type(before := grads[number]) is list:
                        before.append(grad)
                    else:
                        grads[number] = [before, grad]
        return {number: self._total(grads, number) for number in source_ids}

    def _path(self, reached):
        """What is computed from the tensors with these numbers, to which those of its results are added."""
        path = []
        for entry in self.entries:
            if not reached.isdisjoint(entry[1]):
                path.append(entry)
                reached.update(entry[2])
                reached.discard(None)  # integer outputs have no number
        return path

    def _total(self, grads, number):
        """The gradient of a source; of a variable, the sum over all that was read from it."""
        values = self.reads.get(number, ())
        if len(values) == 1 and number not in grads and type(part := grads.get(values[0])) is not list:
            return part
        parts = []
        for value in (number, *values) if number in grads else values:
            part = grads.get(value)
            if part is not None:
                parts.extend(part) if type(part) is list else parts.append(part)
        if len(parts) > 1:
            return add_gradients(parts)
        return parts[0] if parts else None


def _named(node, differentiate, dys):
    """What `differentiate(node, dys)` gives. TF: its operations are in a scope that names what they differentiate."""
    scope = getattr(node, "scope", None)
    if scope is None:  # a custom gradient, or what ran before the graph was built
        return differentiate(node, dys)
    with name_scope(f"gradient_tape/{scope}/" if scope else "gradient_tape/"):
        return differentiate(node, dys)


def _take(grads, number, keep):
    """The gradient of a tensor; forgotten afterwards, unless it is asked for."""
    grad = grads.pop(number, None)
    if type(grad) is list:
        grad = add_gradients(grad)
    if grad is not None and number in keep:
        grads[number] = grad
    return grad


def node_gradients(node, dys):
    """The gradients of the inputs of one application, as a flat list."""
    specs = node.output_specs
    if specs is not None:
        if specs is not NOT_NEEDED:
            dys = [zeros_of(spec) if dy is None and spec[1]._kind in "fcv" else dy for dy, spec in zip(dys, specs)]
        dys = _structured(node, dys)
    grads = node.op.grad(node, *dys)
    if not node.op.has_lists:
        return grads
    flat = []
    for grad in grads:
        flat.extend(grad) if isinstance(grad, (list, tuple)) else flat.append(grad)
    return flat


def _structured(node, dys):
    """The output gradients with one list for each output that is a list."""
    arguments = getattr(node.op, "signature", None)
    if arguments is None:  # a custom gradient: every output is one tensor
        return dys
    arguments = arguments.outputs
    lists = [argument for argument in arguments if argument.is_list]
    if not lists:
        return dys
    if len(arguments) == 1:
        return [list(dys)]
    # At most one output of an op is a list, so its length is what the others leave.
    length = len(dys) - (len(arguments) - 1)
    structured, at = [], 0
    for argument in arguments:
        if argument.is_list:
            structured.append(list(dys[at : at + length]))
            at += length
        else:
            structured.append(dys[at])
            at += 1
    return structured


def zeros_of(spec):
    """A zero gradient for an output that nothing depends on."""
    shape, dtype = spec
    if dtype._kind == "v" and isinstance(shape, Tensor):  # a list of tensors
        return ZEROS_LIKE(shape)
    if dtype._kind in "rv":
        return None
    if isinstance(shape, Tensor):  # a symbolic tensor, of whatever shape it will have
        return shape._zeros_like()
    return zeros(shape, dtype)


_scalar_ones = {dtype: np.ones((), dtype._np) for dtype in dtypes.FLOATING | dtypes.COMPLEX}


def ones_of(tensor):
    """The gradient of a target with respect to itself."""
    array = getattr(tensor, "_a", None)
    if array is None:
        return tensor._ones_like()
    if not array.ndim and tensor.dtype in _scalar_ones:
        return EagerTensor(_scalar_ones[tensor.dtype], tensor.dtype)
    ones = np.empty(array.shape, array.dtype)
    ones.fill(1)
    return EagerTensor(ones, tensor.dtype)
