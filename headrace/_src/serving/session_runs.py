"""Requests that name tensors of a model's graph: what is fed, what is fetched, and which operations run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor
from headrace._src.saved_model.loaded_graphs import LoadedGraph

if TYPE_CHECKING:
    from headrace._src.serving.servables import ServedSignature

_MOST_FUNCTIONS = 32  # of a model, that are cut out of its graph and remembered


class SessionRuns:
    """Runs of the graph of a version of a model.

    A SavedModel of 1.x is one graph, of which any part can run. One of 2.x has functions instead, and of its graph the
    tensors that its signatures name can be fed and fetched.

    Args:
        signatures: those of the model.
        graph: the graph, of a model of 1.x.
    """

    def __init__(self, signatures: dict[str, ServedSignature], graph: LoadedGraph | None):
        self._signatures = signatures
        self._graph = graph
        self._functions: dict[tuple, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def run(
        self, feeds: dict[str, np.ndarray], fetches: Sequence[str], targets: Sequence[str]
    ) -> dict[str, np.ndarray]:
        """The fetched values.

        Args:
            feeds: arrays by the names of tensors.
            fetches: names of tensors.
            targets: names of operations that are to run.

        Raises:
            NotFoundError: the graph has no such tensor or operation.
            InvalidArgumentError: what is fed does not fit, or something is missing.
        """
        fed = {_tensor_name(name): array for name, array in feeds.items()}
        if len(fed) < len(feeds):
            raise errors.invalid_argument(f"A tensor is fed twice: {', '.join(feeds)}.")
        if not fetches and not targets:
            raise errors.invalid_argument("Must specify at least one target to fetch or execute.")
        names = [_tensor_name(name) for name in fetches]
        wanted = [name for name in dict.fromkeys(names) if name not in fed]
        run = self._in_signatures if self._graph is None else self._in_graph
        with context.changed(graph=None, recorders=(), device=None):
            found = fed | dict(zip(wanted, run(fed, wanted, list(targets)), strict=True))
        return {given: found[name] for given, name in zip(fetches, names, strict=True)}

    # A graph of 1.x.

    def _in_graph(self, fed, wanted, targets):
        key = (tuple(sorted(fed)), tuple(wanted), tuple(targets))
        with self._lock:
            function = self._functions.get(key)
            if function is None:
                function = self._cut(*key)
                if len(self._functions) >= _MOST_FUNCTIONS:
                    del self._functions[next(iter(self._functions))]
                self._functions[key] = function
        specs = function.structured_input_signature[0]
        arguments = []
        for name, spec in zip(key[0], specs, strict=True):
            _check(name, fed[name], spec.dtype, spec.shape)
            arguments.append(EagerTensor(fed[name], spec.dtype))
        results = function(*arguments)
        return [np.asarray(value._a) for value in results[: len(wanted)]]

    def _cut(self, feeds, wanted, targets):
        try:
            return self._graph.prune(list(feeds), [*wanted, *targets], "session_run")
        except errors.UnknownOperationError as error:
            raise errors.not_found(error.args[0]) from None
        except ValueError as error:  # an output that an operation does not have
            raise errors.not_found(str(error)) from None

    # Functions of 2.x.

    def _in_signatures(self, fed, wanted, targets):
        inputs, outputs, calls = self._named()
        for name in fed:
            if name not in inputs:
                raise errors.not_found(f"FeedInputs: unable to find feed output {name}")
        chosen: dict[str, ServedSignature] = {}
        for name in wanted:
            if name in outputs:
                chosen.setdefault(outputs[name][0].name, outputs[name][0])
            elif name in inputs:
                raise _not_fed(name, inputs[name])
            else:
                raise errors.not_found(
                    f"FetchOutputs node {name}: not found. Of this model, the tensors of its signatures can be "
                    f"fetched: {', '.join(sorted(outputs))}"
                )
        for name in targets:
            if name not in calls:
                raise errors.not_found(f"PruneForTargets: Some target nodes not found: {name}")
            chosen.setdefault(calls[name].name, calls[name])
        results = {key: self._called(signature, fed) for key, signature in chosen.items()}
        return [results[outputs[name][0].name][outputs[name][1]] for name in wanted]

    def _named(self):
        """By the names of the graph: inputs, the outputs with their signatures, and the operations that call these."""
        inputs: dict[str, Any] = {}
        outputs: dict[str, tuple[ServedSignature, str]] = {}
        calls: dict[str, ServedSignature] = {}
        for signature in self._signatures.values():
            definition = signature.definition
            for key, parameter in signature.inputs.items():
                inputs[definition.inputs[key].name] = parameter
            for key in signature.outputs:
                name = definition.outputs[key].name
                outputs[name] = (signature, key)
                calls[name.partition(":")[0]] = signature
        return inputs, outputs, calls

    def _called(self, signature, fed):
        arrays = {}
        for key, parameter in signature.inputs.items():
            name = signature.definition.inputs[key].name
            if name not in fed:
                raise _not_fed(name, parameter)
            _check(name, fed[name], parameter.dtype, parameter.shape)
            arrays[key] = fed[name]
        return signature.call(arrays)


def _tensor_name(name):
    return name if ":" in name else f"{name}:0"


def _not_fed(name, parameter):
    return errors.invalid_argument(
        f"You must feed a value for placeholder tensor '{name.partition(':')[0]}' with dtype {parameter.dtype.name} "
        f"and shape {parameter.shape}"
    )


def _check(name, array, dtype, shape):
    if array.dtype != dtype.as_numpy_dtype:
        raise errors.invalid_argument(
            f"Tensor {name} is fed with {dtypes.as_dtype(array.dtype).name}, and has {dtype.name}."
        )
    if not shape.is_compatible_with(array.shape):
        raise errors.invalid_argument(
            f"Tensor {name} is fed with the shape {list(array.shape)}, and has {shape}."
        )
