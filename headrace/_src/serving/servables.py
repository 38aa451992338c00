"""A version of a model that is loaded: its signatures, called with arrays by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.saved_model.load_options import LoadOptions
from headrace._src.saved_model.loading import load
from headrace._src.saved_model.model_files import meta_graph_of, read_saved_model

DEFAULT_SIGNATURE = "serving_default"
PREDICT = "tensorflow/serving/predict"
CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"
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
        self._function = function

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
            missing = sorted(self.inputs.keys() - arrays.keys())
            unknown = sorted(arrays.keys() - self.inputs.keys())
            raise errors.invalid_argument(
                f"The inputs of the signature {self.name!r} are {', '.join(self.inputs) or 'none'}: missing: "
                f"{', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}."
            )
        return {name: self.inputs[name].checked(array) for name, array in arrays.items()}

    def call(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Run it. The arrays must be checked."""
        tensors = {name: EagerTensor(array, self.inputs[name].dtype) for name, array in arrays.items()}
        with context.changed(graph=None, recorders=(), device=None):
            results = self._function(**tensors)
        return {name: np.asarray(results[name]._a) for name in self.outputs}


class Servable:
    """A version of a model.

    Args:
        name: of the model.
        version: its number.
        path: its folder.
        tags: of the graph that is served.
        allow_file_access: whether its graph may read and write any file.

    Raises:
        OpError, OSError, ValueError: it cannot be loaded.
    """

    def __init__(self, name: str, version: int, path: str, tags=("serve",), allow_file_access: bool = False):
        self.name = name
        self.version = version
        self.path = path
        meta_graph = meta_graph_of(read_saved_model(path), list(tags), path)
        loaded = load(path, list(tags), LoadOptions(experimental_allow_file_access=allow_file_access))
        self.signatures = {
            key: ServedSignature(key, meta_graph.signature_def[key], loaded.signatures[key])
            for key in sorted(meta_graph.signature_def) if key not in _INITIALIZERS and key in loaded.signatures
        }  # fmt: skip
        self._loaded = loaded  # its variables live as long as this

    def signature(self, name: str) -> ServedSignature:
        """A signature; by default the usual one.

        Raises:
            InvalidArgumentError: there is none of that name.
        """
        found = self.signatures.get(name or DEFAULT_SIGNATURE)
        if found is None:
            raise errors.invalid_argument(
                f'Serving signature name: "{name or DEFAULT_SIGNATURE}" not found in signature def. There are: '
                f"{', '.join(self.signatures) or 'none'}."
            )
        return found
