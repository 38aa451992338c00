"""`TrackableResource`: an object around a resource, such as a table, that a SavedModel knows how to make anew."""

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any

from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.core.thread_state import carried
from headrace._src.core.trackable import Trackable
from headrace._src.op.api import api

_numbers = itertools.count(1)


class _Naming(threading.local):
    name: str | None = None


_naming = carried(_Naming())


@contextlib.contextmanager
def creating_as(name: str) -> Iterator[None]:
    """Within this block, resources that are made have this name, under which a session or a server shares them."""
    before, _naming.name = _naming.name, name
    try:
        yield
    finally:
        _naming.name = before


def name_in_session(name):
    """In a 1.x graph, a name under which sessions keep a resource; None elsewhere: it is anonymous."""
    if _naming.name is not None:
        return _naming.name
    graph = context.graph
    return None if graph is None or graph.building_function else f"{name or 'table'}_{next(_numbers)}"


@api("saved_model.experimental.TrackableResource", dispatch=False)
class TrackableResource(Trackable):
    """Base of objects that hold a resource; a SavedModel contains the functions that make, fill and destroy it.

    A subclass defines `_create_resource`, which returns the resource tensor, `_initialize`, which fills it, and may
    define `_destroy_resource`.

    Args:
        device: where the resource is to be; accepted for compatibility.

    >>> class Counts(tf.saved_model.experimental.TrackableResource):
    ...     def _create_resource(self):
    ...         return tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="counts")
    ...     def _initialize(self):
    ...         tf.raw_ops.LookupTableInsertV2(table_handle=self.resource_handle, keys=["a"], values=[1])
    >>> Counts().resource_handle.dtype
    tf.resource
    """

    _resource_handle: Any = None
    _resource_device: str = ""

    def __init__(self, device="") -> None:
        self._resource_handle = None
        self._resource_device = device

    def _create_resource(self) -> Any:
        """The resource, as a tensor."""
        raise NotImplementedError(f"{type(self).__name__}._create_resource must return the resource tensor.")

    def _initialize(self) -> Any:
        """Fill the resource, if it does not begin empty."""

    def _destroy_resource(self) -> Any:
        """Free the resource."""

    @property
    def resource_handle(self) -> Tensor:
        """The resource tensor; it is made when first asked for."""
        if self._resource_handle is None:
            self._resource_handle = self._create_resource()
        return self._resource_handle

    @property
    def resource_device(self) -> str:
        return self._resource_device
