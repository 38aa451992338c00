"""The functions by which a SavedModel makes, fills and frees a resource, such as a table."""

from __future__ import annotations

import itertools
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import Trackable
from headrace._src.data.datasets import DatasetV2
from headrace._src.data.saving.dataset_graphs import made_anew
from headrace._src.op.convert import to_tensor
from headrace._src.state.resources import TrackableResource, creating_as
from headrace._src.tracing.function import Function

_numbers = itertools.count(1)


class DatasetTracker(TrackableResource):
    """A dataset as something that a function captures: where the model is loaded, it is made once more."""

    def __init__(self, dataset: DatasetV2) -> None:
        super().__init__()
        self._dataset = dataset

    @property
    def resource_handle(self) -> Tensor:
        return self._dataset._variant_tensor

    def _create_resource(self):
        return made_anew(self._dataset.stage)


def makes_resource(obj: Any) -> bool:
    """Whether an object has a resource and methods that make and fill one, such as a table."""
    if not isinstance(obj, Trackable) or not hasattr(type(obj), "_create_resource"):
        return False
    return isinstance(obj.resource_handle, Tensor)


def new_name(resource: Trackable) -> str:
    """A name under which a server keeps a resource: no other one may have it."""
    return f"{type(resource).__name__.lower()}_{next(_numbers)}"


def resource_functions(resource: Any, name: str) -> dict[str, Function]:
    """The functions of a resource, by the names under which a loader looks for them."""

    def create() -> Any:
        with creating_as(name):
            return resource._create_resource()

    def initialize():
        resource._initialize()
        return to_tensor(1, dtypes.int32)

    def destroy():
        if hasattr(resource, "_destroy_resource"):
            resource._destroy_resource()
        return to_tensor(1, dtypes.int32)

    return {
        "_create_resource": Function(create, "_creator", input_signature=(), autograph=False),
        "_initialize": Function(initialize, "_initializer", input_signature=(), autograph=False),
        "_destroy_resource": Function(destroy, "_destroyer", input_signature=(), autograph=False),
    }
