"""`tf.data.experimental.assert_cardinality` and `pad_to_cardinality`: how many elements there are."""

import collections.abc
from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor
from headrace._src.data.datasets import DatasetV2, build, constant, dataset_op, integer
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Stage, shapes_of, stage_of
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL


class AssertCardinalityStage(Stage):
    """The elements of the input. It is an error if there are more or fewer than expected."""

    method = "assert_cardinality"
    passes_on = True

    def __init__(self, source, count, shapes):
        super().__init__(shapes, [source])
        self.source = source
        self.count = count

    def cardinality(self):
        return self.count

    @property
    def access(self):
        access = self.source.access
        return access if access is not None and access.size == self.count else None

    def walk(self, run):
        return _AssertCardinalityCursor(self, run)


def _text(count):
    if count == INFINITE:
        return "an infinite number of elements"
    return f"{count} element{'' if count == 1 else 's'}"


class _AssertCardinalityCursor(InnerCursor):
    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._number = 0

    def next(self):
        element, expected = self._inner.next(), self._stage.count
        if element is not None:
            self._number += 1
            if 0 <= expected < self._number:
                self._fail(f"at least {_text(self._number)}")
        elif expected == INFINITE or (expected != UNKNOWN and self._number != expected):
            self._fail(f"only {_text(self._number)}")
        return element

    def _fail(self, found):
        raise errors.FailedPreconditionError(
            None, None, f"Input dataset was expected to contain {_text(self._stage.count)} but contained {found}."
        )

    def state(self):
        return {**super().state(), "number": self._number}

    def restore(self, state):
        super().restore(state)
        self._number = state["number"]


def _make(input_dataset, cardinality, output_types, output_shapes):
    return AssertCardinalityStage(
        stage_of(input_dataset), integer(cardinality, "cardinality"), shapes_of(output_shapes)
    )


ASSERT_CARDINALITY_DATASET = dataset_op(
    "AssertCardinalityDataset",
    "input_dataset: variant, cardinality: int64, *, output_types: list(type), output_shapes: list(shape)",
    _make,
)


@api("data.experimental.assert_cardinality", dispatch=False)
def assert_cardinality(expected_cardinality) -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: the same elements, with a promise of how many there are.

    A walk through the dataset fails if there are more or fewer.

    Args:
        expected_cardinality: the number of elements, or `tf.data.INFINITE_CARDINALITY`.

    >>> dataset = tf.data.Dataset.range(42).filter(lambda x: True)
    >>> len(dataset.apply(tf.data.experimental.assert_cardinality(42)))
    42
    """
    return lambda dataset: build(
        "_AssertCardinalityDataset", ASSERT_CARDINALITY_DATASET, dataset, constant(expected_cardinality, dtypes.int64),
        spec=dataset.element_spec, of=[dataset],
    )  # fmt: skip


def _empty(spec):
    if not isinstance(spec, TensorSpec):
        raise ValueError(f"pad_to_cardinality: elements must consist of tensors, but there is {spec}.")
    shape = to_tensor(np.array([size or 0 for size in spec.shape.as_list()], np.int32))
    value = to_tensor("") if spec.dtype == dtypes.string else CAST(to_tensor(0), DstT=spec.dtype)
    return FILL(shape, value)


@api("data.experimental.pad_to_cardinality", dispatch=False)
def pad_to_cardinality(cardinality, mask_key="valid") -> Callable[..., Any]:
    """A transformation for `Dataset.apply`: more elements at the end, up to a number, with a mark on the true ones.

    Args:
        cardinality: how many elements there shall be.
        mask_key: the key of the mark, True for true elements and False for those added; elements must be dicts.

    >>> dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
    >>> dataset = dataset.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [(int(element["a"]), bool(element["valid"])) for element in dataset]
    [(1, True), (2, True), (0, False)]
    """

    def transform(dataset):
        size = dataset.cardinality()
        if isinstance(size, EagerTensor) and int(size) < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinality, but has cardinality "
                f"{int(size)}."
            )
        if isinstance(size, EagerTensor) and int(size) > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinality less than the target "
                f"cardinality ({cardinality}), but has cardinality {int(size)}."
            )
        spec = dataset.element_spec
        if not isinstance(spec, collections.abc.Mapping):
            raise ValueError(
                f"`pad_to_cardinality` requires its input dataset to be a dictionary, but elements are {spec}."
            )
        marked = dataset.map(lambda element: {**element, mask_key: True})
        filler = nest.map_structure(_empty, spec)
        fillers = DatasetV2.from_tensors({**filler, mask_key: False}).repeat(cardinality - size)
        return marked.concatenate(fillers)

    return transform
