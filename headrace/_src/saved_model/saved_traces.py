"""Traces of functions as they are saved: of a variable with a copy on each replica, the first one stands for all."""

from __future__ import annotations

import logging
from typing import Any

from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function

_logger = logging.getLogger("tensorflow")


def saved_traces(function: Function) -> list[ConcreteFunction]:
    """The traces of a function that can be saved.

    One that uses all copies of a variable is made again, for a model without replicas. TF: where it calls
    `strategy.run`, the model is saved without it.
    """
    found = []
    for concrete in function._list_all_concrete_functions():
        one = _of_one_copy(function, concrete)
        if variable_of_replicas(one) is None:
            found.append(one)
        else:
            _logger.warning("%s calls strategy.run, and is not saved: a saved model has no replicas.", function.name)
    return found


def only_trace(function: Function) -> ConcreteFunction:
    """The trace of a function that can have only one, as it is saved."""
    return _of_one_copy(function, function.get_concrete_function())


def variable_of_replicas(concrete: ConcreteFunction) -> Any:
    """The first variable of which a trace uses the copies of all replicas; None where there is none."""
    for variable in concrete.graph.used_variables.values():
        reference = getattr(variable, "_distributed_container", None)
        container: Any = None if reference is None else reference()
        if container is not None and variable is not container and variable is not container._primary:
            return container
    return None


def _of_one_copy(function, concrete):
    variable = variable_of_replicas(concrete)
    if variable is None:
        return concrete
    args, kwargs = concrete.structured_input_signature
    with variable._first_copy_alone():
        return function.get_concrete_function(*args, **kwargs)
