"""Ops that hand their input on: identity, stopping gradients, promises about a tensor, nothing at all."""

import time
from typing import Any

import numpy as np

from headrace._src.core import errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.lazy import lax
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import Batched
from headrace._src.op.definition import Op
from headrace._src.op.graph_rules import same_elements
from headrace._src.op.infer import SCALAR, same_as_input
from headrace._src.op.traits import CHANGES_NOTHING, ELEMENTWISE, NEVER_FAILS, PASSES_ON, UNCHECKED
from headrace._src.ops.arrays.measuring import nonempty


def _same(x, **attrs):
    return x


def _lower_same(ctx, x, **attrs):
    return x


def _grad_same(node, dy):
    return (dy,)


IDENTITY = Op(
    "Identity",
    "input: T -> output: T",
    traits=ELEMENTWISE | NEVER_FAILS | PASSES_ON | UNCHECKED,
    partial=same_elements,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
)


@api("identity")
def identity(input, name=None) -> Tensor:
    """A new tensor with the value of `input`; ragged, sparse and other composite tensors are copied too.

    >>> tf.identity([1, 2]).numpy().tolist()
    [1, 2]
    """
    if type(input) is EagerTensor:
        return IDENTITY(input, name=name)
    if isinstance(input, CompositeTensor):
        return nest.map_structure(identity, input, expand_composites=True)
    return IDENTITY(input, name=name)


def _vectorize_identity_n(batch, node, values):
    return [Batched(IDENTITY(x.tensor), x.stacked) for x in values]


IDENTITY_N = Op(
    "IdentityN",
    "input: list(T) -> output: list(T)",
    traits=NEVER_FAILS | PASSES_ON | UNCHECKED,
    infer=lambda input: ([spec.shape for spec in nonempty("IdentityN", "input", input)],),
    kernel=lambda input: nonempty("IdentityN", "input", input),
    lower=_lower_same,
    grad=lambda node, dys: (dys,),
    vectorize=_vectorize_identity_n,
)


@api("identity_n")
def identity_n(input, name=None) -> Any:
    """A list of new tensors with the values of a list of tensors.

    >>> [t.numpy().item() for t in tf.identity_n([1, 2.5])]
    [1, 2.5]
    """
    return IDENTITY_N(list(input), name=name)


SNAPSHOT = Op(
    "Snapshot",
    "input: T -> output: T",
    traits=ELEMENTWISE | NEVER_FAILS | PASSES_ON,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
)

DEEP_COPY = Op(
    "DeepCopy",
    "x: T -> y: T",
    traits=ELEMENTWISE | CHANGES_NOTHING,
    infer=same_as_input,
    kernel=np.copy,
    lower=_lower_same,
    grad=_grad_same,
    stateful=True,
)

COPY = Op(
    "Copy",
    "input: T, *, tensor_name: string = '', debug_ops_spec: list(string) = [] -> output: T",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
)

COPY_HOST = Op(
    "CopyHost",
    "input: T, *, tensor_name: string = '', debug_ops_spec: list(string) = [] -> output: T",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
)

DEBUG_GRADIENT_IDENTITY = Op(
    "DebugGradientIdentity",
    "input: T -> output: T",
    traits=ELEMENTWISE | NEVER_FAILS | PASSES_ON,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
)

STOP_GRADIENT = Op(
    "StopGradient",
    "input: T -> output: T",
    traits=ELEMENTWISE | NEVER_FAILS | PASSES_ON | UNCHECKED,
    infer=same_as_input,
    kernel=_same,
    lower=lambda ctx, x: lax.stop_gradient(x),
    grad=None,  # which is what it is for
)


@api("stop_gradient")
def stop_gradient(input, name=None) -> Tensor:
    """`input`, as a constant to gradients.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy().item()
    3.0
    """
    if isinstance(input, CompositeTensor):
        return nest.map_structure(stop_gradient, input, expand_composites=True)
    return STOP_GRADIENT(input, name=name)


def _grad_prevent(node, dy):
    # TF: asking for the gradient is the error, so it is raised here and not when the op runs.
    raise LookupError(f"Gradient explicitly disabled. Reason: {node.attrs['message']!r}.")


PREVENT_GRADIENT = Op(
    "PreventGradient",
    "input: T, *, message: string = '' -> output: T",
    traits=ELEMENTWISE | NEVER_FAILS | PASSES_ON,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_prevent,
)

GUARANTEE_CONST = Op(
    "GuaranteeConst",
    "input: T -> output: T",
    traits=ELEMENTWISE | CHANGES_NOTHING,
    infer=same_as_input,
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
    stateful=True,
)


@api("guarantee_const")
def guarantee_const(input, name=None) -> Tensor:
    """`input`, with the caller's promise that it never changes."""
    return GUARANTEE_CONST(input, name=name)


PLACEHOLDER_WITH_DEFAULT = Op(
    "PlaceholderWithDefault",
    "input: dtype, *, shape: shape -> output: dtype",
    traits=UNCHECKED,
    infer=lambda input, shape: TensorShape(shape),
    kernel=_same,
    lower=_lower_same,
    grad=_grad_same,
)


@api("check_pinned")
def check_pinned(tensor, name=None) -> Any:
    """`tensor`, if it lies in memory that is pinned for transfers to a GPU.

    Raises:
        FailedPreconditionError: when it does not; on the host it never does.
    """
    raise errors.failed_precondition("check_pinned: there is no pinned memory on the host.")


NO_OP = Op("NoOp", "->", traits=NEVER_FAILS, infer=lambda: (), kernel=lambda: None, lower=lambda ctx: None, grad=None)


@api("no_op")
def no_op(name=None) -> Any:
    """Does nothing. In a graph it is a node that others can depend on."""
    return NO_OP(name=name)


TIMESTAMP = Op(
    "Timestamp",
    "-> ts: float64",
    traits=CHANGES_NOTHING,
    infer=lambda: SCALAR,
    kernel=lambda: np.array(time.time()),
    lower=None,  # the clock is the host's
    grad=None,
    stateful=True,
)


@api("timestamp")
def timestamp(name=None) -> Tensor:
    """The seconds since the epoch (1970-01-01 UTC), as float64."""
    return TIMESTAMP(name=name)
