"""`tf.data.Iterator`: walks through a dataset, in Python and inside of functions."""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import functools
import threading
from typing import Any

import numpy as np

from headrace._src.autograph.loop_steps import Steps, register_loop
from headrace._src.core import dtypes, errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import entrance, hide_frames
from headrace._src.core.trackable import RestoredSpec, Trackable
from headrace._src.data.datasets import DatasetV2, method
from headrace._src.data.running import state_checks, structures
from headrace._src.data.running.optionals import Optional, optional_value
from headrace._src.data.running.stages import Cursor, Run, Stage, flat_attrs, stage_of
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.tracing.arguments import SINGLE_TENSORS

_states = LazyModule("headrace._src.data.saving.iterator_states")
_OUTPUTS = "output_types: list(type), output_shapes: list(shape)"
_END = "End of sequence"


class IteratorResource:
    """Where a walk through a dataset has got to. Several threads may ask it for elements."""

    def __init__(self):
        self.stage: Stage | None = None
        self._cursor: Any = None
        self._run: Run | None = None
        self._lock = threading.RLock()

    def start(self, stage: Stage):
        """Walk through a dataset from its beginning."""
        with self._lock:
            self.stop()
            self.stage = stage
            self._run = Run(stage.options)
            self._cursor = self._run.call(stage.cursor, self._run)

    def next(self) -> tuple | None:
        """The next element; None at the end."""
        with self._lock:
            cursor = self._cursor
            if cursor is None:
                if self.stage is not None:
                    return None
                raise errors.FailedPreconditionError(
                    None, None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                    "initializer operation for this iterator before getting the next element.",
                )  # fmt: skip
            element = self._run.call(cursor.next)
            if element is None:
                self.stop()
            return element

    def stop(self):
        """Give the walk up."""
        run, cursor, self._run, self._cursor = self._run, self._cursor, None, None
        self._give_up(run, cursor)

    @staticmethod
    def _give_up(run, cursor):
        if run is not None:
            run.stopped.set()
        if cursor is not None:
            cursor.close()

    def state(self) -> dict:
        """What `restore` needs to go on from here."""
        with self._lock:
            position = self._position()
            return position if self.stage is None else state_checks.sealed(position, self.stage)

    def _position(self):
        if self._cursor is None:
            return {"ended": True}
        position = {"ended": False, "cursor": self._run.call(self._cursor.state)}
        if isinstance(self._cursor, _Preceded):
            position["first"] = [list(element) for element in self._cursor.first]
        return position

    def restore(self, state: dict):
        """Go on from where `state` was taken, in a pipeline made of the same steps.

        Raises:
            InvalidArgumentError, DataLossError: it belongs to another pipeline, or was changed; the walk is where it
                was.
        """
        state_checks.check(state, self.stage)
        with self._lock:
            if state["ended"]:
                self.stop()
                return
            with self._kept_on_failure():
                try:
                    self._go_on(state)
                except state_checks.UNFIT as error:
                    raise state_checks.unfit(self.stage, error) from error

    @contextlib.contextmanager
    def _kept_on_failure(self):
        """The block makes another walk; if it fails, the one that was is there again."""
        shared, kept, position = state_checks.shared(self.stage), (None, None), None
        if not state_checks.writes_files(self.stage):
            kept, self._run, self._cursor = (self._run, self._cursor), None, None
        elif self._cursor is not None:  # the new walk will not find the files free unless this one ends
            with contextlib.suppress(errors.UnimplementedError):
                position = self._position()
        try:
            yield
        except BaseException:
            self.stop()
            self._run, self._cursor = kept
            if position is not None:
                self._go_on(position)
            state_checks.share(shared)
            raise
        self._give_up(*kept)

    def _go_on(self, state):
        self.start(self.stage)
        self._run.call(self._cursor.restore, state["cursor"])
        self._precede([tuple(element) for element in state.get("first", ())])

    def go_to(self, passed: int, first: list[tuple]):
        """Go on with some elements, and then after the first `passed` elements of a new walk."""
        with self._lock, self._kept_on_failure():
            self.start(self.stage)
            self._run.call(self._cursor.skip, passed)
            self._precede(first)

    def _precede(self, first):
        if first:
            self._cursor = _Preceded(first, self._cursor)

    def __del__(self):
        run = getattr(self, "_run", None)
        if run is not None:
            self.stop()


class _Preceded(Cursor):
    """Some elements that were made before, then those of a walk."""

    def __init__(self, first: list[tuple], inner: Cursor):
        self.first = list(first)
        self._inner = inner

    def next(self):
        return self.first.pop(0) if self.first else self._inner.next()

    def state(self):
        return self._inner.state()

    def restore(self, state):
        self._inner.restore(state)

    def close(self):
        self._inner.close()


def _resource_of(handle: np.ndarray) -> IteratorResource:
    resource = handle[()]
    if not isinstance(resource, IteratorResource):
        raise errors.invalid_argument(f"The resource is no iterator, but {type(resource).__name__}.")
    return resource


def _handle_of(resource: IteratorResource) -> EagerTensor:
    box = np.empty((), object)
    box[()] = resource
    return EagerTensor(box, dtypes.resource)


# Ops.


def _new_iterator(output_types, output_shapes):
    return _handle_of(IteratorResource())._a


ANONYMOUS_ITERATOR = Op(
    "AnonymousIteratorV3",
    f"*, {_OUTPUTS} -> handle: resource",
    infer=lambda output_types, output_shapes: TensorShape([]),
    kernel=_new_iterator,
    lower=None,
    grad=None,
    stateful=True,
)


def _make(dataset, iterator):
    _resource_of(iterator).start(stage_of(dataset))
    return ()


MAKE_ITERATOR = Op(
    "MakeIterator",
    "dataset: variant, iterator: resource -> ",
    infer=lambda dataset, iterator: (),
    kernel=_make,
    lower=None,
    grad=None,
    stateful=True,
    quiet=False,
)


def _get_next(iterator, output_types, output_shapes):
    element = _resource_of(iterator).next()
    if element is None:
        raise errors.OutOfRangeError(None, None, _END)
    return list(element)


def _infer_next(iterator, output_types, output_shapes):
    return ([TensorShape(shape) for shape in output_shapes],)


ITERATOR_GET_NEXT, ITERATOR_GET_NEXT_SYNC = (
    Op(
        name,
        f"iterator: resource, *, {_OUTPUTS} -> components: list(output_types)",
        infer=_infer_next,
        kernel=_get_next,
        lower=None,
        grad=None,
        stateful=True,
        quiet=False,
    )
    for name in ("IteratorGetNext", "IteratorGetNextSync")
)


def _get_next_as_optional(iterator, output_types, output_shapes):
    return optional_value(_resource_of(iterator).next())


ITERATOR_GET_NEXT_AS_OPTIONAL = Op(
    "IteratorGetNextAsOptional",
    f"iterator: resource, *, {_OUTPUTS} -> optional: variant",
    infer=lambda iterator, output_types, output_shapes: TensorShape([]),
    kernel=_get_next_as_optional,
    lower=None,
    grad=None,
    stateful=True,
    quiet=False,
)


# The public class.


@api("data.Iterator", dispatch=False)
class IteratorBase(collections.abc.Iterator, Trackable, CompositeTensor):
    """Walks through a dataset: `next(iterator)` and `iterator.get_next()` give the next element.

    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> next(iterator).numpy(), next(iterator).numpy()
    (np.int64(0), np.int64(1))
    >>> next(iterator, "the end")
    'the end'
    """


class OwnedIterator(IteratorBase):
    """An iterator that lives as long as something refers to it.

    Args:
        dataset: what to walk through; None with the two other arguments.
        handle: the tensor of an iterator that exists.
        element_spec: the spec of its elements.
    """

    def __init__(self, dataset=None, handle=None, element_spec=None) -> None:
        if (dataset is None) == (handle is None):
            raise ValueError("Iterator: give either a dataset, or a handle and an element_spec.")
        self._dataset = dataset
        self._element_spec = dataset.element_spec if dataset is not None else element_spec
        if dataset is None:
            self._handle = handle
        elif isinstance(dataset._variant_tensor, EagerTensor) and context.graph is None:
            resource = IteratorResource()
            resource.start(dataset.stage)
            self._handle = _handle_of(resource)
        else:
            self._handle = ANONYMOUS_ITERATOR(**self._attrs)
            MAKE_ITERATOR(dataset._variant_tensor, self._handle)

    @functools.cached_property
    def _attrs(self) -> dict:
        return flat_attrs(structures.flat_specs(self._element_spec))

    @functools.cached_property
    def _packed(self):
        return structures.packer(self._element_spec)

    @property
    def element_spec(self) -> TensorSpec:
        """The spec of one element, in the structure of elements."""
        return self._element_spec

    @property
    def _iterator_resource(self) -> Tensor:
        return self._handle

    _only_tensor = _iterator_resource

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._element_spec)

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        if context.graph is not None:
            return self._next_in_graph()
        try:
            element = _resource_of(self._handle._a).next()
        except BaseException as error:
            hide_frames(error)
            raise
        if element is None:
            raise StopIteration
        return self._packed(element)

    def next(self) -> Any:
        """The next element, as `next(iterator)` gives it."""
        return self.__next__()

    @property
    def output_types(self) -> Any:
        """The dtypes of the parts of elements, in their structure."""
        return structures.legacy_types(self._element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the parts of elements, in their structure."""
        return structures.legacy_shapes(self._element_spec)

    @property
    def output_classes(self) -> Any:
        """The classes of the parts of elements, in their structure."""
        return structures.legacy_classes(self._element_spec)

    def _next_in_graph(self):
        components = ITERATOR_GET_NEXT(self._handle, **self._attrs)
        return structures.from_components(self._element_spec, components)

    @entrance
    def get_next(self) -> Tensor:
        """The next element.

        Raises:
            OutOfRangeError: there is none left.
        """
        if context.graph is not None:
            return self._next_in_graph()
        element = _resource_of(self._handle._a).next()
        if element is None:
            raise errors.OutOfRangeError(None, None, _END)
        return self._packed(element)

    @entrance
    def get_next_as_optional(self) -> Optional:
        """The next element, or an `Optional` without a value when there is none left."""
        variant = ITERATOR_GET_NEXT_AS_OPTIONAL(self._handle, **self._attrs)
        return Optional(variant, self._element_spec)

    # Saving.

    _saveable_name = "ITERATOR"

    def _serialize_to_tensors(self):
        return {"_STATE": _states.SERIALIZE_ITERATOR(self._handle)}

    def _restored_specs(self):
        return {"_STATE": RestoredSpec(dtypes.variant)}

    def _restore_from_tensors(self, restored_tensors):
        return _states.DESERIALIZE_ITERATOR(self._handle, restored_tensors["_STATE"])

    def state_dict(self) -> dict:
        """Where the iterator has got to, to be given to `load_state_dict` of an iterator over an equal dataset.

        It consists of dicts, lists, numbers, strings, bytes and NumPy arrays. It says which steps the dataset is made
        of, and has a checksum: it cannot be changed by hand.

        >>> iterator = iter(tf.data.Dataset.range(5))
        >>> state = [next(iterator), iterator.state_dict()][1]
        >>> [int(x) for x in iterator]
        [1, 2, 3, 4]
        >>> iterator.load_state_dict(state)
        >>> [int(x) for x in iterator]
        [1, 2, 3, 4]
        """
        return _resource_of(self._handle._a).state()

    @entrance
    def load_state_dict(self, state: dict) -> None:
        """Go on from where `state_dict` was taken.

        Raises:
            InvalidArgumentError: it belongs to a dataset of other steps or other elements, or is no such state.
            DataLossError: it was changed since it was taken. In either case the iterator stays where it is.
        """
        _resource_of(self._handle._a).restore(state)


SINGLE_TENSORS.add(OwnedIterator)


@api("data.IteratorSpec", dispatch=False)
class IteratorSpec(structures.ElementSpecified):
    """The spec of iterators.

    Args:
        element_spec: the spec of the elements.
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return OwnedIterator

    @property
    def _component_specs(self):
        return TensorSpec([], dtypes.resource)

    def _to_components(self, value):
        return value._iterator_resource

    def _from_components(self, components):
        return OwnedIterator(handle=components, element_spec=self._element_spec)


@method
def __iter__(self) -> OwnedIterator:
    return OwnedIterator(self)


@api("data.NumpyIterator", dispatch=False)
class NumpyIterator(collections.abc.Iterator):
    """Walks through a dataset and gives NumPy arrays instead of tensors."""

    def __init__(self, dataset) -> None:
        self._iterator = iter(dataset)

    def __repr__(self):
        return f"NumpyIterator(iterator={self._iterator!r})"

    @entrance
    def __next__(self) -> Any:
        return structures.as_numpy(next(self._iterator))

    def next(self) -> Any:
        """The same as `next(iterator)`."""
        return self.__next__()


@method
def as_numpy_iterator(self) -> NumpyIterator:
    """An iterator whose elements are NumPy arrays in place of tensors.

    >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
    [np.int64(0), np.int64(1), np.int64(2)]
    """
    if context.graph is not None:
        raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
    for spec in nest.flatten(self.element_spec):
        if issubclass(spec.value_type, (DatasetV2, Optional)):
            raise TypeError(
                "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
                f"{spec.value_type}."
            )
    return NumpyIterator(self)


# Loops in functions.


def _iterator_steps(iterator):
    if context.graph is None:
        return None
    return Steps(
        (iterator.get_next_as_optional(),),
        lambda optional: optional.has_value(),
        lambda optional: optional.get_value(),
        lambda optional: (iterator.get_next_as_optional(),),
    )


@method
def _loop_steps(self) -> Steps | None:
    """How AutoGraph loops over a dataset."""
    if context.graph is None:
        return None
    # TF: the body of such a loop is a function by itself, whose scopes begin anew.
    return dataclasses.replace(_iterator_steps(OwnedIterator(self)), has_scope=False)


register_loop(OwnedIterator, _iterator_steps)
