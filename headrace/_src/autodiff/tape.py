"""Recording what is computed, and walking it backwards."""

import itertools

import numpy as np

from headrace._src.autodiff.accumulate import add_gradients
from headrace._src.core import dtypes
from headrace._src.core.tensor import EagerTensor
from headrace._src.ops.constants import zeros

next_id = itertools.count(1).__next__


class Tape:
    """A Wengert list: what was applied, in order, to tensors known by number.

    It holds no tensors but those that gradients will read, so nothing refers back to it and dropping it frees all.
    """

    __slots__ = ("entries", "ids", "__weakref__")

    def __init__(self):
        self.entries = []  # (node, numbers of inputs, numbers of outputs)
        self.ids = set()

    def watch(self, tensor):
        """Follow what is computed from this tensor."""
        if tensor._id is None:
            tensor._id = next_id()
        self.ids.add(tensor._id)

    def follows(self, ids) -> bool:
        """Whether any of these tensors is watched or computed from one that is."""
        return not self.ids.isdisjoint(ids)

    def record(self, node, inputs, ids, outputs):
        """Note that `node` computed `outputs` from `inputs`, which are known as `ids`."""
        numbers = []
        for tensor in outputs:
            if tensor.dtype._kind in "fcrv":
                if tensor._id is None:
                    tensor._id = next_id()
                self.ids.add(tensor._id)
            numbers.append(tensor._id)
        self.entries.append((node, ids, numbers))

    def backward(self, target_grads: dict, source_ids) -> dict:
        """Gradients by tensor number, from those of the targets back to the sources.

        Args:
            target_grads: number to gradient.
            source_ids: numbers of the tensors whose gradients are wanted.
        """
        # Only what lies between sources and targets is differentiated.
        reached = set(source_ids)
        path = []
        for entry in self.entries:
            if not reached.isdisjoint(entry[1]):
                reached.update(number for number in entry[2] if number is not None)
                path.append(entry)
        grads = {number: [grad] for number, grad in target_grads.items()}
        keep = set(source_ids)
        for node, inputs, outputs in reversed(path):
            if not any(number in grads for number in outputs):
                continue
            dys = [None if number is None else self._take(grads, number, keep) for number in outputs]
            node.wanted = _wanted(node, inputs, reached)
            for number, grad in zip(inputs, node_gradients(node, dys)):
                if grad is not None and number in reached:
                    grads.setdefault(number, []).append(grad)
        return {number: add_gradients(grads[number]) for number in source_ids if number in grads}

    @staticmethod
    def _take(grads, number, keep):
        parts = grads.get(number)
        if parts is None:
            return None
        total = add_gradients(parts)
        if number in keep:
            grads[number] = [total]
        else:
            del grads[number]
        return total


def _wanted(node, numbers, reached):
    """Per argument of the signature (a list input counts as one): whether its gradient is needed."""
    if not getattr(node.op, "has_lists", False):
        return [number in reached for number in numbers]
    return None


def node_gradients(node, dys):
    """The gradients of the inputs of one application, as a flat list."""
    if node.output_specs is not None:
        dys = [
            zeros_of(spec) if dy is None and spec[1] in dtypes.DIFFERENTIABLE else dy
            for dy, spec in zip(dys, node.output_specs)
        ]
        dys = _structured(node, dys)
    grads = node.op.grad(node, *dys)
    if not getattr(node.op, "has_lists", False):
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
    if dtype._kind in "rv":
        return None
    return zeros(shape, dtype)


def ones_of(tensor):
    """The gradient of a target with respect to itself."""
    array = getattr(tensor, "_a", None)
    if array is not None:
        return EagerTensor(np.ones(array.shape, array.dtype), tensor.dtype)
    return tensor._ones_like()
