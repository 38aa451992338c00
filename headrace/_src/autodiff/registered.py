"""Gradient functions that users register by op type, and the graph-only entry points."""

from headrace._src.core.context import executing_eagerly
from headrace._src.op.api import api

# Op type or override name to gradient function; None for "has no gradient".
GRADIENTS: dict[str, object] = {}


@api("RegisterGradient")
class RegisterGradient:
    """Decorator: register a gradient function `(op, *grads)` for an op type or an override name.

    Raises:
        TypeError: when the op type is no string.
        KeyError: when a function is registered for it already.
    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string, got {op_type!r}.")
        self._op_type = op_type

    def __call__(self, f):
        if self._op_type in GRADIENTS:
            raise KeyError(f"Registering two gradient functions with name {self._op_type!r}!")
        GRADIENTS[self._op_type] = f
        return f


@api("no_gradient", dispatch=False)
def no_gradient(op_type):
    """Say that ops of this type have no gradient."""
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string, got {op_type!r}.")
    GRADIENTS[op_type] = None


@api("AggregationMethod")
class AggregationMethod:
    """How gradients along several paths are added up. All of them mean the same here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@api("gradients", dispatch=False)
def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients="none",
):
    """Symbolic derivatives in a graph.

    Raises:
        RuntimeError: when executing eagerly, where `tf.GradientTape` records what is computed.
    """
    _refuse_eagerly("tf.gradients")


@api("hessians", dispatch=False)
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """Symbolic second derivatives in a graph.

    Raises:
        RuntimeError: when executing eagerly.
    """
    _refuse_eagerly("tf.hessians")


def _refuse_eagerly(name):
    if executing_eagerly():
        raise RuntimeError(f"{name} is not supported when eager execution is enabled. Use tf.GradientTape instead.")
