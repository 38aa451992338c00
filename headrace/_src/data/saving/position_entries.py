"""What TensorFlow's iterators remember, as checkpoints hold it: named values of iterators, which have names as well."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.lazy import LazyModule
from headrace._src.data.running.stages import Stage, split
from headrace._src.formats.encoded_variants import EncodedVariant, encode_variant
from headrace._src.formats.wire import tensor_proto

_messages = LazyModule("headrace._src.formats.graph_messages")

TYPE = "tensorflow::Iterator"
DIVIDER = "@@"  # between the name of an iterator and its keys
FULL = "60d899aa0d8ce4351e7c3b419e92d25b"  # TF: what keys begin with that name their iterator once more


class NotForTensorFlow(Exception):
    """A position that TensorFlow has no way to go on from; the text says why."""


class Entries:
    """Values by the names of iterators and keys.

    `put` takes integers, bytes and arrays. An array may also hold a dataset, if that has its elements in memory.
    """

    def __init__(self) -> None:
        self._tensors: dict[str, list[tuple[str, bytes]]] = {}

    def put(self, owner: str, key: str, value: int | bytes | np.ndarray) -> None:
        """A value of an iterator."""
        if isinstance(value, np.ndarray) and value.dtype == object and not value.ndim and isinstance(value[()], Stage):
            self._put_dataset(owner, key, value[()])
            return
        self._tensors.setdefault(owner, []).append((key, _tensor(value)))

    def put_full(self, owner: str, key: str, value: int | bytes | np.ndarray) -> None:
        """A value whose key names the iterator: some of TensorFlow's iterators ask for it so."""
        self.put(owner, full_name(owner, key), value)

    def put_elements(self, owner: str, elements: list) -> None:
        """Elements as caches and shuffles keep them; None for a place that is free."""
        for number, element in enumerate(elements):
            place = f"{owner}::{number}"
            self.put(place, "num_components", 0 if element is None else len(element))
            for i, part in enumerate(element or ()):
                self.put(place, f"component[{i}]", part)

    def _put_dataset(self, owner, key, stage):
        self.put(owner, f"{key}.is_dataset", b"")
        graph, output = _window_graph(stage)
        self.put(owner, f"{key}.output_node", output)
        self.put(owner, key, graph)

    def variants(self) -> list[EncodedVariant]:
        """All of it as a checkpoint has it: one value for each iterator."""
        return [
            encode_variant(TYPE, DIVIDER.join([owner, *[key for key, _ in pairs]]).encode(), [x for _, x in pairs])
            for owner, pairs in self._tensors.items()
        ]


def full_name(owner: str, key: str) -> str:
    """A key that names its iterator."""
    return f"{FULL}|{owner}:{key}"


def _tensor(value) -> bytes:
    if isinstance(value, bytes):
        array = np.empty((), object)
        array[()] = value
        return tensor_proto(array, dtypes.string)
    if isinstance(value, (int, np.integer)):
        return tensor_proto(np.asarray(value, np.int64), dtypes.int64)
    array = np.asarray(value)
    if array.dtype != object:
        return tensor_proto(array, dtypes.as_dtype(array.dtype))
    if all(isinstance(item, bytes) for item in array.ravel().tolist()):
        return tensor_proto(array, dtypes.string)
    raise NotForTensorFlow("ragged or sparse tensors, or other values that are no arrays, wait in a buffer")


def _window_graph(stage) -> tuple[bytes, bytes]:
    """A dataset of a few elements as a graph, in the form in which TensorFlow saves windows, and its last node."""
    access = stage.access
    if stage.inputs or not stage.is_in_memory or access is None:
        raise NotForTensorFlow(f"a dataset ({stage.where()}) waits in a buffer")
    elements = split(access.slice(0, access.size)) if access.size else []
    graph = _messages.GraphDef()
    inputs, types = [], []
    for number, part in enumerate([part for element in elements for part in element]):
        node = graph.node.add(name=f"Const/_{number}", op="Const")
        encoded = _tensor(part)
        node.attr["value"].tensor.ParseFromString(encoded)
        node.attr["dtype"].type = node.attr["value"].tensor.dtype
        inputs.append(node.name)
        types.append(node.attr["dtype"].type)
    if not elements:
        raise NotForTensorFlow("an empty window waits in a buffer")
    window = graph.node.add(name=f"WindowOp/_{len(inputs)}", op="WindowOp", input=inputs)
    window.attr["Tinputs"].list.type.extend(types)
    window.attr["output_types"].list.type.extend(types[: len(stage.shapes)])
    for shape in stage.shapes:
        proto = window.attr["output_shapes"].list.shape.add()
        if shape.rank is None:
            proto.unknown_rank = True
        else:
            for size in shape.as_list():
                proto.dim.add(size=-1 if size is None else size)
    result = graph.node.add(name="dataset", op="_Retval", input=[window.name])
    result.attr["index"].i = 0
    result.attr["T"].type = dtypes.variant.as_datatype_enum
    graph.versions.producer = 2474
    return graph.SerializeToString(), window.name.encode()
