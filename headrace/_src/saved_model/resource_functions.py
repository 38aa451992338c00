"""The functions by which a SavedModel makes, fills and frees a resource, such as a table."""

from __future__ import annotations

import itertools
from typing import Any

from headrace._src.core import dtypes
from headrace._src.op.convert import to_tensor
from headrace._src.state.resources import TrackableResource, creating_as
from headrace._src.tracing.function import Function

_numbers = itertools.count(1)


def new_name(resource: TrackableResource) -> str:
    """A name under which a server keeps a resource: no other one may have it."""
    return f"{type(resource).__name__.lower()}_{next(_numbers)}"


def resource_functions(resource: TrackableResource, name: str) -> dict[str, Function]:
    """The functions of a resource, by the names under which a loader looks for them."""

    def create() -> Any:
        with creating_as(name):
            return resource._create_resource()

    def initialize():
        resource._initialize()
        return to_tensor(1, dtypes.int32)

    def destroy():
        resource._destroy_resource()
        return to_tensor(1, dtypes.int32)

    return {
        "_create_resource": Function(create, "_creator", input_signature=(), autograph=False),
        "_initialize": Function(initialize, "_initializer", input_signature=(), autograph=False),
        "_destroy_resource": Function(destroy, "_destroyer", input_signature=(), autograph=False),
    }
