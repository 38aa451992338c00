"""Single elements: `Dataset.get_single_element` and `tf.data.experimental.at`."""

from typing import Any

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import constant, integer, method
from headrace._src.data.running import structures
from headrace._src.data.running.stages import Run, flat_attrs, stage_of
from headrace._src.op.api import api
from headrace._src.op.definition import Op, unregistered

_OUTPUTS = "output_types: list(type), output_shapes: list(shape)"


def _infer(*inputs, output_shapes, **attrs):
    return ([TensorShape(shape) for shape in output_shapes],)


def _walked(stage, skipped, count):
    """Up to `count` elements after the first ones."""
    run = Run(stage.options)
    cursor = run.call(stage.cursor, run)
    try:
        if run.call(cursor.skip, skipped) < skipped:
            return []
        found = []
        while len(found) < count and (element := run.call(cursor.next)) is not None:
            found.append(element)
        return found
    finally:
        run.stopped.set()
        cursor.close()


def _single_kernel(dataset, **unused):
    elements = _walked(stage_of(dataset), 0, 2)
    if not elements:
        raise errors.invalid_argument("Dataset was empty.")
    if len(elements) > 1:
        raise errors.invalid_argument("Dataset had more than one element.")
    return list(elements[0])


DATASET_TO_SINGLE_ELEMENT = Op(
    "DatasetToSingleElement",
    f"dataset: variant, *, {_OUTPUTS}, metadata: string = '' -> components: list(output_types)",
    infer=_infer,
    kernel=_single_kernel,
    lower=None,
    grad=unregistered,
    stateful=True,
    quiet=False,
)


def _at_kernel(dataset, index, **unused):
    stage, number = stage_of(dataset).picked(), integer(index, "index")
    access = stage.access
    size = stage.cardinality() if access is None else access.size
    if number < 0 or 0 <= size <= number:
        raise errors.OutOfRangeError(None, None, f"Index out of range [0, {size}):{number}")
    if access is not None:
        run = Run(stage.options)
        return list(run.call(access.get, number))
    elements = _walked(stage, number, 1)
    if not elements:
        raise errors.OutOfRangeError(None, None, f"Index out of range: there is no element {number}.")
    return list(elements[0])


GET_ELEMENT_AT_INDEX = Op(
    "GetElementAtIndex",
    f"dataset: variant, index: int64, *, {_OUTPUTS} -> components: list(output_types)",
    infer=_infer,
    kernel=_at_kernel,
    lower=None,
    grad=unregistered,
    quiet=False,
)


@method
def get_single_element(self, name=None) -> Any:
    """The element of a dataset that has only one.

    Raises:
        InvalidArgumentError: it has none, or more.

    >>> int(tf.data.Dataset.range(41, 42).map(lambda x: x + 1).get_single_element())
    42
    """
    attrs = flat_attrs(structures.flat_specs(self.element_spec))
    components = DATASET_TO_SINGLE_ELEMENT(self._variant_tensor, name=name, **attrs)
    return structures.from_components(self.element_spec, components)


@api("data.experimental.get_single_element", dispatch=False)
def _get_single_element(dataset) -> Any:
    """The element of a dataset that has only one: see `tf.data.Dataset.get_single_element`."""
    return dataset.get_single_element()


@api("data.experimental.at", dispatch=False)
def at(dataset, index) -> Any:
    """The element with a number.

    Args:
        dataset: whose element.
        index: the number, from 0.

    Raises:
        OutOfRangeError: there is none.

    >>> int(tf.data.experimental.at(tf.data.Dataset.range(10, 20), 3))
    13
    """
    attrs = flat_attrs(structures.flat_specs(dataset.element_spec))
    components = GET_ELEMENT_AT_INDEX(dataset._variant_tensor, constant(index, dtypes.int64), **attrs)
    return structures.from_components(dataset.element_spec, components)
