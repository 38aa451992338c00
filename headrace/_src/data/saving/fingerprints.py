"""`Dataset.fingerprint`: a number that is equal for equal pipelines, also in another run of the program."""

import hashlib

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.data.datasets import method
from headrace._src.data.running.stages import Stage, stage_of
from headrace._src.data.saving.element_bytes import packed
from headrace._src.graph.building.func_graph import FuncGraph, FuncGraphView
from headrace._src.op.definition import Op


class _Digest:
    """Collects what makes a pipeline what it is."""

    def __init__(self):
        self._hash = hashlib.blake2b(digest_size=8)

    def number(self) -> int:
        return int.from_bytes(self._hash.digest(), "little")

    def add(self, value):
        """Add a value: its kind first, so that values of different kinds differ."""
        if isinstance(value, Stage):
            self._stage(value)
        elif isinstance(value, (FuncGraph, FuncGraphView)):
            self._graph(value)
        elif isinstance(value, EagerTensor):
            self._text(value.dtype.name)
            self._array(value._a)
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, (list, tuple)):
            self._text(f"{len(value)} values")
            for part in value:
                self.add(part)
        elif isinstance(value, dict):
            for key in sorted(value):
                self._text(str(key))
                self.add(value[key])
        elif isinstance(value, dtypes.DType):
            self._text(value.name)
        elif isinstance(value, bytes):
            self._bytes(value)
        else:
            self._text(f"{type(value).__name__} {value!r}" if _is_plain(value) else type(value).__name__)

    def _text(self, text):
        self._bytes(text.encode("utf-8", "surrogateescape"))

    def _bytes(self, data):
        self._hash.update(len(data).to_bytes(8, "little"))
        self._hash.update(data)

    def _stage(self, stage):
        if stage.recipe:
            name, inputs, attrs = stage.recipe
            self._text(name)
            self.add(list(inputs))
            self.add({key: value for key, value in attrs.items() if key != "metadata"})
            return
        self._text(type(stage).__name__)  # part of a pipeline that runs
        access = stage.access
        if access is not None:
            self.add([access.get(i) for i in range(access.size)])

    def _array(self, array):
        if array.dtype != object:
            self._bytes(packed((np.ascontiguousarray(array),)))
            return
        self._text(str(array.shape))
        for item in array.ravel().tolist():
            if isinstance(item, (Stage, bytes)):
                self.add(item)
            elif hasattr(item, "__slots__"):  # ragged and sparse tensors
                self.add([getattr(item, slot) for slot in type(item).__slots__ if slot != "__weakref__"])
            else:
                self._text(type(item).__name__)

    def _graph(self, graph):
        places: dict = {}
        for i, tensor in enumerate(graph.inputs):
            places[id(tensor)] = f"input {i} {tensor.dtype.name} {tensor.shape}"
        for number, node in enumerate(graph.base.nodes):
            self._text(node.record.name)
            for tensor in node.inputs:
                self._text(places.get(id(tensor), "?"))
            self.add({key: value for key, value in node.attrs.items() if not key.startswith("_")})
            for i, tensor in enumerate(node.outputs):
                places.setdefault(id(tensor), f"{number}:{i}")
        for tensor in graph.outputs:
            self._text(places.get(id(tensor), "?"))


def _is_plain(value):
    return value is None or isinstance(value, (bool, int, float, str, TensorShape, np.generic))


def _kernel(input_dataset):
    digest = _Digest()
    digest.add(stage_of(input_dataset))
    return np.array(digest.number(), np.uint64)


DATASET_FINGERPRINT = Op(
    "DatasetFingerprint",
    "input_dataset: variant -> fingerprint: uint64",
    infer=lambda input_dataset: TensorShape([]),
    kernel=_kernel,
    lower=None,
    grad=None,
)


@method
def fingerprint(self) -> Tensor:
    """A scalar uint64 tensor that is equal for datasets made in the same way, also in another run of the program.

    >>> one, two = tf.data.Dataset.range(5), tf.data.Dataset.range(5)
    >>> bool(one.fingerprint() == two.fingerprint()), bool(one.fingerprint() == one.take(4).fingerprint())
    (True, False)
    """
    return DATASET_FINGERPRINT(self._variant_tensor)
