"""`tf.__internal__`: what Keras uses of TensorFlow besides its public names."""

import contextlib
from collections.abc import Iterator
from typing import Any

from headrace._src.core import types as base_types
from headrace._src.core.context import context
from headrace._src.core.random_state import random_state
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.control.conditional import cond
from headrace._src.op.api import api, export
from headrace._src.ops.arrays.measuring import get_static_value

export("__internal__.EagerTensor")(EagerTensor)
export("__internal__.FuncGraph")(FuncGraph)
export("__internal__.types.Tensor")(base_types.Tensor)


@api("__internal__.smart_cond.smart_cond", dispatch=False)
def smart_cond(pred, true_fn=None, false_fn=None, name=None) -> Any:
    """`tf.cond`, but where the condition is known already, only the function that it chooses is called."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("smart_cond: true_fn and false_fn must be callable.")
    value = known_condition(pred)
    if value is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()


@api("__internal__.smart_cond.smart_constant_value", dispatch=False)
def known_condition(pred) -> Any:
    """A condition as a bool, or None when it is only known when the graph runs."""
    if isinstance(pred, Tensor):
        value = get_static_value(pred)
        return None if value is None else bool(value)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(f"smart_cond: pred must be a boolean, 0, 1 or a tensor, got {type(pred).__name__}.")


@api("__internal__.tf2.enabled", dispatch=False)
def tf2_enabled() -> bool:
    """Whether the behaviour is that of TensorFlow 2: always, with `tf.compat.v1` beside it."""
    return True


@api("__internal__.eager_context.eager_mode", dispatch=False)
@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Within this block, operations run at once, also while a graph is built."""
    before = context.change(graph=None, recorders=(), device=None)
    try:
        yield
    finally:
        context.mode = before


@api("__internal__.eager_context.get_config", dispatch=False)
def get_config() -> None:
    """The settings of the process for sessions; there are none."""
    return None


# What `tensorflow.python.eager.context` and others offer beyond that.


class _EagerContext:
    """What callers of `tensorflow.python.eager.context.context()` ask it."""

    def clear_kernel_cache(self):
        """Nothing: ops have no kernels that are kept."""

    def executing_eagerly(self):
        return context.graph is None


_eager_context = _EagerContext()


def eager_context():
    """`tensorflow.python.eager.context.context()`."""
    return _eager_context


def async_wait():
    """Operations have ended when they return: nothing to wait for."""


def is_op_determinism_enabled() -> bool:
    """Whether `tf.config.experimental.enable_op_determinism` was called."""
    return random_state.deterministic


def disable_op_determinism():
    """Undo `tf.config.experimental.enable_op_determinism`."""
    random_state.deterministic = False
