"""`tf.compat.v1.data`: datasets with the iterators of 1.x, which sessions initialise and run."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.data.datasets import DatasetV2, MadeDataset
from headrace._src.data.running import structures
from headrace._src.data.running.iterators import (
    ITERATOR_GET_NEXT,
    ITERATOR_GET_NEXT_AS_OPTIONAL,
    MAKE_ITERATOR,
    IteratorResource,
    OwnedIterator,
)
from headrace._src.data.running.optionals import Optional
from headrace._src.data.running.stages import flat_attrs, stage_of
from headrace._src.data.sources.file_datasets import (
    FixedLengthRecordDatasetV2,
    TextLineDatasetV2,
    TFRecordDatasetV2,
)
from headrace._src.data.sources.slices import from_tensor_slices
from headrace._src.op.api import PUBLIC, api
from headrace._src.op.attached import load_methods
from headrace._src.op.definition import Op

if TYPE_CHECKING:
    from headrace._src.graph.building.operation import Operation

_OUTPUTS = "output_types: list(type), output_shapes: list(shape)"
_numbers = itertools.count()
_resources: dict = {}  # of iterators that are used without a session


def _boxed(resource):
    box = np.empty((), object)
    box[()] = resource
    return box


def _resource_named(name) -> IteratorResource:
    """TF: each session has its own state of an iterator."""
    store = _resources if context.resources is None else context.resources
    return store.setdefault(("iterator", name), IteratorResource())


ITERATOR = Op(
    "IteratorV2",
    f"*, shared_name: string, container: string, {_OUTPUTS} -> handle: resource",
    infer=lambda **attrs: TensorShape([]),
    kernel=lambda shared_name, container, output_types, output_shapes: _boxed(_resource_named(shared_name)),
    lower=None,
    grad=None,
    stateful=True,
)


def _one_shot(dataset, shared_name, output_types, output_shapes):
    resource = _resource_named(shared_name)
    if resource.stage is None:
        resource.start(stage_of(dataset))
    return _boxed(resource)


# TensorFlow's OneShotIterator makes the dataset in a function; here it is an input, which is read the first time.
ONE_SHOT_ITERATOR = Op(
    "HeadraceOneShotIterator",
    f"dataset: variant, *, shared_name: string, {_OUTPUTS} -> handle: resource",
    infer=lambda dataset, **attrs: TensorShape([]),
    kernel=_one_shot,
    lower=None,
    grad=None,
    stateful=True,
    quiet=False,
)

_handles: dict = {}  # string handles to resources


def _string_handle(resource_handle):
    resource = resource_handle[()]
    text = f"iterator-{id(resource)}".encode()
    _handles[text] = resource
    return np.array(text, object)


ITERATOR_TO_STRING = Op(
    "IteratorToStringHandle",
    "resource_handle: resource -> string_handle: string",
    infer=lambda resource_handle: TensorShape([]),
    kernel=_string_handle,
    lower=None,
    grad=None,
    stateful=True,
)


def _from_string(string_handle, output_types, output_shapes):
    resource = _handles.get(string_handle[()])
    if resource is None:
        raise errors.invalid_argument(f"There is no iterator with the handle {string_handle[()]!r}.")
    return _boxed(resource)


ITERATOR_FROM_STRING = Op(
    "IteratorFromStringHandleV2",
    f"string_handle: string, *, {_OUTPUTS} -> resource_handle: resource",
    infer=lambda string_handle, **attrs: TensorShape([]),
    kernel=_from_string,
    lower=None,
    grad=None,
    stateful=True,
)


@api("compat.v1.data.Iterator", dispatch=False)
class Iterator:
    """An iterator of 1.x: an operation initialises it, `get_next()` is a tensor that is the next element in each run.

    Args:
        iterator_resource: the tensor of the iterator.
        initializer: the operation that initialises it, or None.
        element_spec: the spec of its elements.
    """

    def __init__(self, iterator_resource, initializer, element_spec) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._element_spec = element_spec

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None) -> Iterator:
        """An iterator without a dataset: `make_initializer` gives it one.

        Args:
            output_types: the dtype of each component, in the structure of elements.
            output_shapes: their shapes, by default unknown.
            shared_name, output_classes: as in TensorFlow; iterators of one name share their state.
        """
        types = nest.map_structure(dtypes.as_dtype, output_types)
        if output_shapes is None:
            output_shapes = nest.map_structure(lambda _: TensorShape(None), types)
        flat = nest.flatten_up_to(types, output_shapes, check_types=False)
        specs = [structures.TensorSpec(TensorShape(s), t) for s, t in zip(flat, nest.flatten(types))]
        spec = structures.normalized_spec(nest.pack_sequence_as(types, specs))
        return Iterator(_new_handle(spec, shared_name), None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None) -> Iterator:
        """The iterator that a string tensor, made by `string_handle()`, stands for."""
        spec = Iterator.from_structure(output_types, output_shapes)._element_spec
        handle = ITERATOR_FROM_STRING(string_handle, **_attrs(spec))
        return Iterator(handle, None, spec)

    @property
    def initializer(self) -> Operation:
        """The operation that lets the iterator begin.

        Raises:
            ValueError: the iterator has no dataset of its own.
        """
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. Use make_initializer(dataset).")
        return self._initializer

    def make_initializer(self, dataset, name=None) -> Operation:
        """The operation that lets the iterator begin with a dataset."""
        return MAKE_ITERATOR(dataset._variant_tensor, self._iterator_resource, name=name)

    def get_next(self, name=None) -> Any:
        """The next element, in each run of the session."""
        components = ITERATOR_GET_NEXT(self._iterator_resource, name=name, **_attrs(self._element_spec))
        return structures.from_components(self._element_spec, components)

    def get_next_as_optional(self) -> Optional:
        """The next element, or an `Optional` without a value."""
        variant = ITERATOR_GET_NEXT_AS_OPTIONAL(self._iterator_resource, **_attrs(self._element_spec))
        return Optional(variant, self._element_spec)

    def string_handle(self, name=None) -> Tensor:
        """A string tensor by which `from_string_handle` finds the iterator."""
        return ITERATOR_TO_STRING(self._iterator_resource, name=name)

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    @property
    def output_types(self) -> Any:
        return structures.legacy_types(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        return structures.legacy_shapes(self.element_spec)

    @property
    def output_classes(self) -> Any:
        return structures.legacy_classes(self.element_spec)


def _attrs(spec):
    return flat_attrs(structures.flat_specs(spec))


def _new_handle(spec, shared_name=None):
    return ITERATOR(shared_name=shared_name or f"iterator_{next(_numbers)}", container="", **_attrs(spec))


@api("compat.v1.data.make_one_shot_iterator", dispatch=False)
def make_one_shot_iterator(dataset) -> Any:
    """An iterator that begins by itself, and cannot begin anew."""
    if context.graph is None and isinstance(dataset._variant_tensor, EagerTensor):
        return OwnedIterator(dataset)
    spec = dataset.element_spec
    handle = ONE_SHOT_ITERATOR(dataset._variant_tensor, shared_name=f"iterator_{next(_numbers)}", **_attrs(spec))
    return Iterator(handle, None, spec)


@api("compat.v1.data.make_initializable_iterator", dispatch=False)
def make_initializable_iterator(dataset, shared_name=None) -> Iterator:
    """An iterator that begins when its `initializer` is run.

    Raises:
        RuntimeError: eagerly; use `for element in dataset` there.
    """
    if context.graph is None:
        raise RuntimeError(
            "make_initializable_iterator: only in graphs of 1.x. Eagerly, use `for ... in dataset:` or `iter(dataset)`."
        )
    spec = dataset.element_spec
    handle = _new_handle(spec, shared_name)
    return Iterator(handle, MAKE_ITERATOR(dataset._variant_tensor, handle), spec)


@api("compat.v1.data.Dataset", dispatch=False)
class DatasetV1(MadeDataset):
    """A dataset with the methods of 1.x besides those of `tf.data.Dataset`."""

    def make_one_shot_iterator(self) -> Any:
        """See `tf.compat.v1.data.make_one_shot_iterator`."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name=None) -> Iterator:
        """See `tf.compat.v1.data.make_initializable_iterator`."""
        return make_initializable_iterator(self, shared_name)

    @property
    def output_types(self) -> Any:
        return structures.legacy_types(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        return structures.legacy_shapes(self.element_spec)

    @property
    def output_classes(self) -> Any:
        return structures.legacy_classes(self.element_spec)

    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None) -> DatasetV1:
        """The same as `map`."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate) -> DatasetV1:
        """The same as `filter`."""
        return self.filter(predicate)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor) -> DatasetV1:
        """The slices of a sparse tensor along the first axis."""
        return _as_v1(from_tensor_slices(sparse_tensor))


def _as_v1(value):
    if isinstance(value, DatasetV2) and not isinstance(value, DatasetV1):
        return DatasetV1(value._variant_tensor, value.element_spec, value._inputs())
    return value


def _returning_v1(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return _as_v1(function(*args, **kwargs))

    return call


load_methods(DatasetV2)  # all of them get a wrapper here
for _name, _value in list(vars(DatasetV2).items()):
    if _name.startswith("_") or _name in vars(DatasetV1):
        continue
    if isinstance(_value, staticmethod):
        setattr(DatasetV1, _name, staticmethod(_returning_v1(_value.__func__)))
    elif callable(_value):
        setattr(DatasetV1, _name, _returning_v1(_value))


TFRecordDataset, TextLineDataset, FixedLengthRecordDataset = (
    api(f"compat.v1.data.{_class.__name__.removesuffix('V2')}", dispatch=False)(_returning_v1(_class))
    for _class in (TFRecordDatasetV2, TextLineDatasetV2, FixedLengthRecordDatasetV2)
)

(
    Counter, CsvDataset, RandomDataset, SqlDataset, choose_from_datasets, make_batched_features_dataset,
    make_csv_dataset, sample_from_datasets,
) = (
    api(f"compat.v1.data.experimental.{_name}", dispatch=False)(_returning_v1(PUBLIC[f"data.experimental.{_name}"]))
    for _name in (
        "Counter", "CsvDataset", "RandomDataset", "SqlDataset", "choose_from_datasets",
        "make_batched_features_dataset", "make_csv_dataset", "sample_from_datasets",
    )
)  # fmt: skip
