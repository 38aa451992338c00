"""Single ops on an accelerator, outside of functions: each is a program of one operation, made when first needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.accelerators import DeviceArray
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.compiling.accelerated import AcceleratedExecutable
from headrace._src.op.apply import run_kernel
from headrace._src.op.attached import method_of
from headrace._src.op.placement import OpRunner, placed
from headrace._src.ops.arrays.passing import IDENTITY

# How many programs are remembered.
_MOST = 4096


class _OneOp:
    """An op with certain attributes, types, shapes and constants, on an accelerator."""

    def __init__(self, accelerator, op, tensors, attrs, types):
        graph = FuncGraph(op.name, None)
        with graph.building():
            given = [self._input(graph, op, i, x) for i, x in enumerate(tensors)]
            outputs = graph.add_node(op, given, attrs, types, None)
        # A list for each output that is one: how many tensors are in it.
        self._counts = [len(x) if isinstance(x, list) else None for x in outputs]
        flat = [y for x in outputs for y in (x if isinstance(x, list) else [x])]
        self._dtypes = [x.dtype for x in flat]
        graph.outputs = flat
        self._graph = graph
        self._executable = AcceleratedExecutable(graph.plan(), accelerator, name=op.name)

    @staticmethod
    def _input(graph, op, i, x):
        if op.signature.inputs[i].name in op.static:
            return graph.constant(x)
        if isinstance(x, list):
            return [graph.add_input(y.shape, y.dtype) for y in x]
        return graph.add_input(x.shape, x.dtype)

    def run(self, op, tensors):
        arrays = []
        for argument, x in zip(op.signature.inputs, tensors):
            if argument.name not in op.static:
                arrays.extend([y._a for y in x] if isinstance(x, list) else [x._a])
        results = context.run_quietly(self._executable.run, arrays)
        flat = iter([EagerTensor(array, dtype) for array, dtype in zip(results, self._dtypes)])
        return tuple(next(flat) if n is None else [next(flat) for _ in range(n)] for n in self._counts)


_programs: dict = {}


@method_of(OpRunner)
def run_op(self, accelerator, op, tensors, attrs, types) -> tuple | None:
    """Apply an op on an accelerator: see `OpRunner`."""
    flat = [y for x in tensors for y in (x if isinstance(x, list) else [x])]
    if op.lower is None or op.calls_functions or any(x.dtype._np.hasobject for x in flat):
        return None
    if op is IDENTITY:
        return (EagerTensor(accelerator.take(tensors[0]._a), tensors[0].dtype),)
    if op.stateful:  # random numbers: where their streams are, and then they go there
        outputs = run_kernel(op, tensors, attrs, types)
        return tuple(
            [placed(y, accelerator.name) for y in x] if isinstance(x, list) else placed(x, accelerator.name)
            for x in outputs
        )
    key = (accelerator.name, op, _key(attrs), tuple(_input_key(op, i, x) for i, x in enumerate(tensors)))
    found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MOST:
            _programs.clear()
        try:
            found = _programs[key] = _OneOp(accelerator, op, tensors, attrs, types)
        except errors.GraphBuildError:
            return None  # the kernel says what is wrong
    return found.run(op, tensors)


def _input_key(op, i, x):
    if isinstance(x, list):
        return tuple(_input_key(op, i, y) for y in x)
    array = x._a
    if op.signature.inputs[i].name in op.static:
        return x.dtype, array.shape, np.asarray(array).tobytes()
    return x.dtype, array.shape


def _key(value: Any) -> Any:
    """An attribute as something that can be looked up."""
    if isinstance(value, dict):
        return tuple((name, _key(value[name])) for name in sorted(value))
    if isinstance(value, (list, tuple)):
        return tuple(map(_key, value))
    if isinstance(value, (np.ndarray, DeviceArray)):
        return value.shape, value.dtype.str, np.asarray(value).tobytes()
    return type(value), value
