"""`tf.lite.experimental.Analyzer`, and `headrace show`: what is in a `.tflite` file."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np

from headrace._src.core import errors
from headrace._src.formats import files
from headrace._src.formats.flatbuffer_reading import BrokenFlatbuffer
from headrace._src.lite.reading import FileModel, read_model
from headrace._src.op.api import api

_SHOWN = 8  # numbers of a small constant
_DTYPES = {"FLOAT32": "<f4", "INT32": "<i4", "INT64": "<i8", "INT8": "i1", "UINT8": "u1", "BOOL": "?", "FLOAT16": "<f2"}


class BrokenModelError(errors.DataLossError, ValueError):
    """A file is no model of TensorFlow Lite, or a broken one. (TensorFlow raises `ValueError`.)"""


def checked_model(data: bytes, where: str) -> FileModel:
    """A model, read.

    Raises:
        BrokenModelError: it is none, or broken.
    """
    try:
        return read_model(data)
    except BrokenFlatbuffer as error:
        raise BrokenModelError(
            None, None, f"{where} is no model of TensorFlow Lite, or a broken one: {error}."
        ) from error


@api("lite.experimental.Analyzer", dispatch=False)
class ModelAnalyzer:
    """Shows what is in a model.

    >>> model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
    >>> data = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    >>> tf.lite.experimental.Analyzer.analyze(model_content=data)  # doctest: +ELLIPSIS
    === TensorFlow Lite model ===
    ...
    """

    @staticmethod
    def analyze(model_path=None, model_content=None, gpu_compatibility=False, **kwargs) -> None:
        """Print the graphs, tensors and signatures of a model.

        Args:
            model_path: its file.
            model_content: or its bytes.
            gpu_compatibility: also say which operators a GPU may not run: those on strings, variables and tables, and
                graphs with loops, branches or sizes that are not known.
            kwargs: `experimental_use_mlir` has no effect.

        Raises:
            ValueError: neither or both are given.
            DataLossError: it is no model.
        """
        if (model_path is None) == (model_content is None):
            raise ValueError("lite.experimental.Analyzer: one of model_path and model_content must be given.")
        where = "TensorFlow Lite model" if model_path is None else files.path_string(model_path)
        data = bytes(model_content) if model_path is None else files.read(model_path)
        model = checked_model(data, where)
        sys.stdout.write("\n".join([f"=== {where} ===", "", *described(model)]) + "\n")
        if gpu_compatibility:
            sys.stdout.write("\n".join(_for_gpu(model)) + "\n")


def described(model: FileModel) -> Iterator[str]:
    """The lines that say what is in a model."""
    yield f"{model.description or 'no description'}; runtime {model.minimum_runtime or 'not said'} or newer"
    for number, graph in enumerate(model.graphs):
        yield ""
        yield f"Subgraph#{number} {graph.name}({_numbers(graph.inputs)}) -> [{_numbers(graph.outputs)}]"
        for place, one in enumerate(graph.operators):
            calls = [f"Subgraph#{value}" for name, value in one.options.items() if name.endswith("SubgraphIndex")]
            given = ", ".join([_numbers(one.inputs), *calls] if one.inputs else calls)
            yield f"  Op#{place} {one.code}({given}) -> [{_numbers(one.outputs)}]"
        yield f"Tensors of Subgraph#{number}"
        for place, tensor in enumerate(graph.tensors):
            yield f"  {_tensor_text(place, tensor)}"
    for number, signature in enumerate(model.signatures):
        yield ""
        yield f"Signature#{number} {signature.key!r} is Subgraph#{signature.graph}"
        for title, named in (("inputs", signature.inputs), ("outputs", signature.outputs)):
            yield f"  {title}: " + ", ".join(f"{name!r} is T#{place}" for name, place in named.items())
    yield ""
    yield from _sizes(model)


def _numbers(tensors):
    return ", ".join("-" if number < 0 else f"T#{number}" for number in tensors)


def _tensor_text(place, tensor):
    dims = "shape_signature" if -1 in tensor.shape else "shape"
    parts = [f"T#{place}({tensor.name}) {dims}:{tensor.shape}, type:{tensor.type}"]
    if tensor.data is not None:
        parts.append(f"RO {tensor.data.size} bytes, buffer: {tensor.buffer}")
        if math.prod(tensor.shape) <= _SHOWN and tensor.type in _DTYPES:
            values = np.frombuffer(tensor.data.tobytes(), _DTYPES[tensor.type]).tolist()
            parts.append(f"data:{values}")
    if len(tensor.scales) == 1:
        parts.append(f"scale {tensor.scales[0]:.6g}, zero point {(tensor.zero_points or [0])[0]}")
    elif tensor.scales:
        parts.append(f"{len(tensor.scales)} scales")
    return ", ".join(parts)


def _sizes(model):
    buffers = {(tensor.buffer, tensor.data.size) for graph in model.graphs for tensor in graph.tensors
               if tensor.data is not None}  # fmt: skip
    constants = sum(size for _, size in buffers)
    yield f"Model size: {model.size} bytes; {constants} of constants, {model.size - constants} of all else"


_NOT_ON_GPUS = {
    "IF", "WHILE", "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "HASHTABLE", "HASHTABLE_FIND",
    "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "WHERE", "UNIQUE", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5",
}  # fmt: skip


def _for_gpu(model):
    yield ""
    for number, graph in enumerate(model.graphs):
        odd = sorted({one.code for one in graph.operators if one.code in _NOT_ON_GPUS or one.code.startswith("CUSTOM")})
        if odd:
            yield f"Subgraph#{number}: a GPU may not run {', '.join(odd)}"
        if any(-1 in graph.tensors[place].shape for place in graph.inputs):
            yield f"Subgraph#{number}: sizes of inputs must be set before a GPU runs it"
