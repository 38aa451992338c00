"""A version of a model that is loaded: its signatures, called with arrays by name."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.saved_model.load_options import LoadOptions
from headrace._src.saved_model.loaded_graphs import LoadedGraph
from headrace._src.saved_model.loading import load
from headrace._src.saved_model.model_files import meta_graph_of, read_saved_model
from headrace._src.serving.session_runs import SessionRuns
from headrace._src.serving.shared_weights import SharedWeights, WeightsCopy, opened

DEFAULT_SIGNATURE = "serving_default"
PREDICT = "tensorflow/serving/predict"
CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"
_MOST_BYTES = 1 << 24  # of the inputs of a call that is remembered
_MOST_SHAPES = 5  # of a signature: as many are compiled
_INITIALIZERS = ("__saved_model_init_op", "__saved_model_train_op")


class Parameter:
    """An input or output of a signature.

    Args:
        name: by which clients know it.
        info: the `TensorInfo`.
    """

    def __init__(self, name: str, info: Any):
        self.name = name
        self.dtype = dtypes.as_dtype(info.dtype)
        self.shape = TensorShape(info.tensor_shape)

    def checked(self, array: np.ndarray) -> np.ndarray:
        """The array, if it fits.

        Raises:
            InvalidArgumentError: it has another dtype or shape.
        """
        if array.dtype != self.dtype.as_numpy_dtype:
            raise errors.invalid_argument(
                f"Tensor name: {self.name} has inconsistent type: {dtypes.as_dtype(array.dtype).name}, expected "
                f"{self.dtype.name}."
            )
        if not self.shape.is_compatible_with(array.shape):
            raise errors.invalid_argument(
                f"Tensor name: {self.name} has incompatible shape: {list(array.shape)}, expected {self.shape}."
            )
        return array


class ServedSignature:
    """A function of a model that clients can call.

    Args:
        name: of the signature.
        definition: the `SignatureDef`.
        function: takes tensors by name, and returns them by name.
    """

    def __init__(self, name: str, definition: Any, function: Any):
        self.name = name
        self.method = definition.method_name
        self.definition = definition
        self.inputs = {key: Parameter(key, definition.inputs[key]) for key in sorted(definition.inputs)}
        self.outputs = {key: Parameter(key, definition.outputs[key]) for key in sorted(definition.outputs)}
        self.recent: dict[tuple, dict[str, np.ndarray]] = {}  # a call with each of the first few shapes
        self._function = function

    @property
    def graph(self) -> Any:
        """What is run; None where that is not one graph."""
        return getattr(self._function, "graph", None)

    @property
    def is_being_compiled(self) -> bool:
        """Whether a program for it is on its way."""
        return self.graph is not None and getattr(self.graph.executable(), "is_being_compiled", False)

    @property
    def can_be_batched(self) -> bool:
        """Whether calls can be joined along the first axis."""
        shapes = [parameter.shape for parameter in (*self.inputs.values(), *self.outputs.values())]
        return bool(self.inputs) and all(
            shape.rank is not None and shape.rank > 0 and shape[0] is None for shape in shapes
        )

    def checked(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays, if they are what the signature takes.

        Raises:
            InvalidArgumentError: one is missing, unknown, or of another dtype or shape.
        """
        if arrays.keys() != self.inputs.keys():
            missing = ",".join(sorted(self.inputs.keys() - arrays.keys()))
            extra = ",".join(sorted(arrays.keys() - self.inputs.keys()))
            raise errors.invalid_argument(
                f"input size does not match signature: {len(arrays)}!={len(self.inputs)}. Sent extra: {{{extra}}}. "
                f"Missing but required: {{{missing}}}."
            )
        return {name: self.inputs[name].checked(array) for name, array in arrays.items()}

    def call(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Run it. The arrays must be checked."""
        shapes = tuple(array.shape for array in arrays.values())
        if shapes not in self.recent and len(self.recent) < _MOST_SHAPES:
            if sum(array.nbytes for array in arrays.values()) <= _MOST_BYTES:
                self.recent[shapes] = arrays
        tensors = {name: EagerTensor(array, self.inputs[name].dtype) for name, array in arrays.items()}
        with context.changed(graph=None, recorders=(), device=None):
            results = self._function(**tensors)
        return {name: np.asarray(results[name]._a) for name in self.outputs}


def missing_signature(name: str) -> Exception:
    """The error of the REST interface for an unknown signature."""
    return errors.invalid_argument(f'Serving signature name: "{name}" not found in signature def')


class Servable:
    """A version of a model.

    Args:
        name: of the model.
        version: its number.
        path: its folder.
        tags: of the graph that is served.
        allow_file_access: whether its graph may read and write any file.
        weights: the copies of values that processes share; None for its own.

    Raises:
        OpError, OSError, ValueError: it cannot be loaded.
    """

    def __init__(
        self, name: str, version: int, path: str, tags=("serve",), allow_file_access: bool = False,
        weights: SharedWeights | None = None,
    ):  # fmt: skip
        self.name = name
        self.version = version
        self.path = path
        meta_graph = meta_graph_of(read_saved_model(path), list(tags), path)
        options = LoadOptions(experimental_allow_file_access=allow_file_access)
        copies: list[WeightsCopy] = []
        if weights is not None:
            options.open_checkpoint = opened(weights, copies)
        try:
            loaded = load(path, list(tags), options)
        finally:
            for copy in copies:
                weakref.finalize(self, copy.release)
        self.signatures = {
            key: ServedSignature(key, meta_graph.signature_def[key], loaded.signatures[key])
            for key in sorted(meta_graph.signature_def) if key not in _INITIALIZERS and key in loaded.signatures
        }  # fmt: skip
        self.batching: Any = None  # how its requests are joined, where that is not as all others are
        self._loaded = loaded  # its variables live as long as this

    @functools.cached_property
    def session_runs(self) -> SessionRuns:
        """Runs that name tensors of the graph."""
        return SessionRuns(self.signatures, self._loaded if isinstance(self._loaded, LoadedGraph) else None)

    def signature(self, name: str, missing: Callable[[str], Exception] = missing_signature) -> ServedSignature:
        """A signature; by default the usual one.

        Args:
            name: its name.
            missing: the error for a name that there is not.

        Raises:
            InvalidArgumentError: there is none of that name, unless `missing` gives another error.
        """
        found = self.signatures.get(name or DEFAULT_SIGNATURE)
        if found is None:
            raise missing(name or DEFAULT_SIGNATURE)
        return found
