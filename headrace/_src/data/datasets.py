"""`tf.data.Dataset`: the class. Its methods are in files of their own, loaded when first used."""

from __future__ import annotations

import abc
import collections.abc
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, errors, nest, types
from headrace._src.core.batchable_specs import BatchableTypeSpec
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import bordered
from headrace._src.core.trackable import Trackable
from headrace._src.data.running import structures
from headrace._src.data.running.stages import INFINITE, UNKNOWN, Stage, flat_attrs, stage_of, variant_of
from headrace._src.graph.building.source_lines import users_line
from headrace._src.op.api import api, export
from headrace._src.op.attached import attach, open_class
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import with_rank
from headrace._src.op.traits import NONE, Trait

if TYPE_CHECKING:
    from headrace._src.attached import DatasetV2Methods
else:
    DatasetV2Methods = types.FOR_CHECKERS

INFINITE_CARDINALITY = export("data.INFINITE_CARDINALITY", "data.experimental.INFINITE_CARDINALITY")(INFINITE)
UNKNOWN_CARDINALITY = export("data.UNKNOWN_CARDINALITY", "data.experimental.UNKNOWN_CARDINALITY")(UNKNOWN)
AUTOTUNE = export("data.AUTOTUNE", "data.experimental.AUTOTUNE")(-1)

OUTPUTS = "output_types: list(type), output_shapes: list(shape), metadata: string = ''"


def dataset_op(
    name: str, text: str, make: Callable[..., Stage], *, vectors: tuple[str, ...] = (), stateful: bool = False,
    traits: Trait = NONE, **types,
) -> Op:  # fmt: skip
    """Define an op that makes a dataset.

    Args:
        name: TensorFlow's op name.
        text: the signature up to the arrow; the output is always `handle: variant`.
        make: from the values of inputs and attributes, the stage.
        vectors: the inputs of integers or bools that are no scalars, as the others are.
        stateful, traits: as for other ops.
        types: for each type attribute, the dtypes that it may be.
    """

    def kernel(*inputs, **attrs):
        stage = make(*inputs, **attrs)
        stage.recipe = (name, inputs, attrs)
        return variant_of(stage)

    def infer(*inputs, **attrs):
        for spec, described in zip(inputs, op.signature.inputs):
            number = described.dtype in (dtypes.int64, dtypes.bool) and not described.is_list
            if number and described.name not in vectors:
                with_rank(spec, 0, name, described.name)
        return TensorShape([])

    op = Op(
        name,
        f"{text} -> handle: variant",
        traits=traits,
        infer=infer,
        kernel=kernel,
        lower=None,  # the host walks through datasets
        grad=unregistered,
        stateful=stateful,
        **types,
    )
    return op


@api("data.Dataset", dispatch=False)
@open_class
class DatasetV2(DatasetV2Methods, collections.abc.Iterable, Trackable, CompositeTensor):
    """A sequence of elements, too long for memory perhaps, and the steps that make it.

    Datasets are made by `from_tensor_slices`, `range`, `from_generator` and others, changed by `map`, `batch`,
    `shuffle` and others, and walked through by `for`, also inside of `tf.function`.

    >>> dataset = tf.data.Dataset.range(6).map(lambda x: x * x).batch(4)
    >>> for batch in dataset:
    ...     print(batch.numpy())
    [0 1 4 9]
    [16 25]
    """

    def __init__(self, variant_tensor) -> None:
        self._variant = variant_tensor

    @property
    def _variant_tensor(self) -> Tensor:
        return self._variant

    @property
    @abc.abstractmethod
    def element_spec(self) -> Any:
        """The spec of one element, in the structure of elements."""

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def _inputs(self) -> list:
        return []

    @property
    def _functions(self) -> list:
        return []

    @property
    def stage(self) -> Stage:
        """The last step of the pipeline.

        Raises:
            RuntimeError: the dataset belongs to a graph that has not run.
        """
        if not isinstance(self._variant_tensor, EagerTensor):
            raise RuntimeError("This dataset is part of a function that is being traced: it has no elements yet.")
        return stage_of(self._variant_tensor._a)

    @functools.cached_property
    def _packed(self) -> Callable:
        """From an element to the value that a user sees."""
        return structures.packer(self.element_spec)

    def __len__(self) -> int:
        """The number of elements.

        Raises:
            TypeError: the dataset is infinite, or the number is not known without walking through it.
        """
        if context.graph is not None and not isinstance(self._variant_tensor, EagerTensor):
            raise TypeError(
                "`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead."
            )
        length = self.stage.cardinality()
        if length == INFINITE:
            raise TypeError("The dataset is infinite.")
        if length == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return length

    def __bool__(self) -> bool:
        return True  # or Python would ask for the length

    def __repr__(self):
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def __debug_string__(self) -> str:
        """The steps of the pipeline, the first one first."""
        names: list = []

        def visit(dataset):
            for before in dataset._inputs():
                visit(before)
            names.append(type(dataset).__name__)

        visit(self)
        return " -> ".join(names)


class MadeDataset(DatasetV2):
    """A dataset that an op made."""

    _own_options: Any = None  # what `with_options` was given

    def __init__(self, variant_tensor, element_spec, inputs=()) -> None:
        super().__init__(variant_tensor)
        self._element_spec = element_spec
        self._made_of = tuple(inputs)

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    def _inputs(self):
        return list(self._made_of)


@functools.cache
def class_named(name: str) -> type:
    """The class of datasets that users see under a name."""
    return type(name, (MadeDataset,), {"__module__": __name__, "__doc__": f"What makes a `{name}` a kind of its own."})


def dataset_of(variant: Tensor, element_spec: Any, name: str = "_VariantDataset", inputs=()) -> DatasetV2:
    """A dataset from its tensor.

    Args:
        variant: a scalar variant tensor that holds a stage.
        element_spec: the spec of its elements.
        name: of the class that users see when they print it, such as `_MapDataset`.
        inputs: the datasets that it was made of.
    """
    return class_named(name)(variant, element_spec, inputs)


def build(kind: str, op: Op, /, *inputs: Any, spec: Any, of=(), **attrs) -> DatasetV2:
    """Apply a dataset op.

    Args:
        kind: the name of the class that users see.
        op: made by `dataset_op`, with attributes `output_types` and `output_shapes` unless it has neither.
        inputs: of the op; datasets stand for their tensors.
        spec: the spec of the new dataset's elements.
        of: the datasets that it is made of.
        attrs: of the op, and its `name`.
    """
    tensors = [value._variant_tensor if isinstance(value, DatasetV2) else value for value in inputs]
    wanted = flat_attrs(structures.flat_specs(spec))
    attrs.update({key: value for key, value in wanted.items() if key in op.attribute_names and key not in attrs})
    variant = op(*tensors, **attrs)
    if isinstance(variant, EagerTensor):
        stage_of(variant._a).location = users_line()
    return dataset_of(variant, spec, kind, of)


def method(function):
    """Decorator: make a function of a dataset a method of `tf.data.Dataset`."""
    attach(DatasetV2, function.__name__, bordered(f"Dataset.{function.__name__}")(function))
    return function


def constructor(function):
    """Decorator: make a function a static method of `tf.data.Dataset`."""
    attach(DatasetV2, function.__name__, staticmethod(bordered(f"Dataset.{function.__name__}")(function)))
    return function


@api("data.DatasetSpec", dispatch=False)
class DatasetSpec(structures.OwnLegacySpec, BatchableTypeSpec):
    """The spec of datasets.

    Args:
        element_spec: the spec of their elements.
        dataset_shape: the shape of the tensor that holds them: of a batch of datasets it is not scalar.
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec, dataset_shape=()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def value_type(self) -> type:
        return DatasetV2

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    def _serialize(self):
        return (self._element_spec, self._dataset_shape)

    @property
    def _component_specs(self):
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        if self._dataset_shape.ndims == 0:
            return dataset_of(components, self._element_spec)
        return NestedVariant(components, self._element_spec, self._dataset_shape)

    @staticmethod
    def from_value(value) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def _batch(self, batch_size):
        return DatasetSpec(self._element_spec, TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self):
        if self._dataset_shape.ndims == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(self._dataset_shape, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [value._variant_tensor]

    def _to_batched_tensor_list(self, value):
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1.")
        return [value._variant_tensor]

    def _from_compatible_tensor_list(self, tensor_list):
        return self._from_components(tensor_list[0])


class NestedVariant(CompositeTensor):
    """A tensor of datasets that are elements of a batch."""

    def __init__(self, variant_tensor, element_spec, dataset_shape):
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._dataset_shape = dataset_shape

    @property
    def _type_spec(self):
        return DatasetSpec(self._element_spec, self._dataset_shape)


def constant(value: Any, dtype: dtypes.DType) -> Tensor:
    """A scalar argument of a dataset op."""
    return to_tensor(value, dtype)


def integer(value: np.ndarray, what: str) -> int:
    """A scalar input of a dataset op.

    Raises:
        InvalidArgumentError: it is not a scalar.
    """
    if value.ndim != 0:
        raise errors.invalid_argument(f"{what} must be a scalar, got shape {list(value.shape)}.")
    return int(value[()])


def check_dataset(value: Any, where: str) -> None:
    """Refuse values that are not datasets."""
    if not isinstance(value, DatasetV2):
        raise TypeError(f"{where}: expected a tf.data.Dataset, got {type(value).__name__}.")


def compatible_spec(first: Any, second: Any, where: str) -> Any:
    """The most specific spec of the elements of both."""
    nest.assert_same_structure(first, second)

    def merge(a, b):
        merged = a.most_specific_common_supertype([b])
        if merged is None:
            raise TypeError(f"{where}: elements {a!r} and {b!r} are not compatible.")
        return merged

    return nest.map_structure(merge, first, second)
