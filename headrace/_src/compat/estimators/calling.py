"""Calls of the user's functions: `model_fn` and `input_fn`, which take only the arguments that they name."""

import functools
import inspect
import logging
from typing import Any

from headrace._src.compat.data_iterators import make_initializable_iterator
from headrace._src.compat.estimators.specs import EstimatorSpec
from headrace._src.compat.sessions.session_hooks import SessionRunHook
from headrace._src.data.datasets import DatasetV2
from headrace._src.graph.building.graph import Graph

_logger = logging.getLogger("tensorflow")
_FOR_A_MODEL = ("features", "labels", "mode", "params", "config")


def argument_names(function) -> tuple[str, ...]:
    """The names of the arguments of a function, a partial one or an object that can be called."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    given = set(function.keywords) if isinstance(function, functools.partial) else set()
    found = inspect.signature(function).parameters.values()
    return tuple(one.name for one in found if one.kind in kinds and one.name not in given)


def check_model_fn(model_fn, params) -> None:
    """Refuse what cannot be a `model_fn`.

    Raises:
        ValueError: it does not take features, takes something else, or there are params that it does not take.
    """
    names = argument_names(model_fn)
    if "features" not in names:
        raise ValueError(f"Estimator: model_fn must take features; its arguments are {names}.")
    if params is not None and "params" not in names:
        raise ValueError(f"Estimator: there are params, but model_fn does not take them; its arguments are {names}.")
    other = [name for name in names if name not in _FOR_A_MODEL]
    required = inspect.signature(model_fn).parameters
    unknown = [name for name in other if required[name].default is inspect.Parameter.empty]
    if unknown:
        raise ValueError(f"Estimator: model_fn is called with {', '.join(_FOR_A_MODEL)}; it also wants {unknown}.")


def call_model(model_fn, features, labels, mode, params, config) -> EstimatorSpec:
    """What `model_fn` makes of features and labels.

    Raises:
        ValueError: there are labels, but it does not take any; or it returns something else.
    """
    names, given = argument_names(model_fn), {}
    if "labels" in names:
        given["labels"] = labels
    elif labels is not None:
        raise ValueError("Estimator: input_fn gives labels, but model_fn does not take any.")
    for name, value in (("mode", mode), ("params", params), ("config", config)):
        if name in names:
            given[name] = value
    _logger.info("Calling model_fn.")
    spec = model_fn(features=features, **given)
    _logger.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(f"Estimator: model_fn must return an EstimatorSpec, got {spec!r}.")
    return spec


class DatasetHook(SessionRunHook):
    """Begins a dataset when a session has been made."""

    def __init__(self, iterator) -> None:
        self._initializer = iterator.initializer

    def after_create_session(self, session, coord) -> None:
        session.run(self._initializer)


def call_input(input_fn, mode, params, config) -> tuple[Any, list]:
    """What `input_fn` returns, as tensors, and the hooks that these need."""
    names, given = argument_names(input_fn), {}
    for name, value in (("mode", mode), ("params", params), ("config", config)):
        if name in names:
            given[name] = value
    result = input_fn(**given)
    if not isinstance(result, DatasetV2):
        return result, []
    iterator = make_initializable_iterator(result)
    return iterator.get_next(), [DatasetHook(iterator)]


def features_and_labels(result) -> tuple[Any, Any]:
    """Features and labels; None where there are no labels.

    Raises:
        ValueError: there are more than two parts.
    """
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError(f"Estimator: input_fn must give features and perhaps labels; got {len(result)} parts.")
        return result[0], result[1]
    return result, None


def features_alone(result) -> Any:
    """Features, of what may also have labels."""
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 2 else result


def fresh_graph(seed) -> Graph:
    """A graph with a seed."""
    graph = Graph()
    graph.seed = seed
    return graph
