"""Around training in 1.x: the global step, and learning rates that depend on it."""

import math
from typing import TYPE_CHECKING, Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.graph_keys import GraphKeys
from headrace._src.compat.variables.initializers import Zeros
from headrace._src.compat.variables.scopes import get_variable
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.ops.math.comparison import EQUAL, LESS_EQUAL
from headrace._src.ops.math.elementwise import CEIL, EXP, FLOOR, LOG, SQRT
from headrace._src.ops.math.trigonometry import COS
from headrace._src.ops.random.uniform_and_normal import normal
from headrace._src.state.variables import Variable

if TYPE_CHECKING:
    from headrace._src.graph.building.graph_variables import GraphVariable

# The global step.


def _graph_of(graph):
    graph = get_default_graph() if graph is None else graph
    while graph.building_function and graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph


@api("compat.v1.train.get_global_step", dispatch=False)
def get_global_step(graph=None) -> "GraphVariable | None":
    """The variable that counts steps of training; None if there is none."""
    graph = _graph_of(graph)
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise RuntimeError("Multiple items found in collection 'global_step', there should only be one.")
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@api("compat.v1.train.create_global_step", dispatch=False)
def create_global_step(graph=None) -> "GraphVariable":
    """Make the variable that counts steps of training.

    Raises:
        ValueError: there is one already.
    """
    graph = _graph_of(graph)
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    keywords = dict(
        shape=[], dtype=dtypes.int64, initializer=Zeros(), trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
    )  # fmt: skip
    if context.graph is None:
        step = get_variable(GraphKeys.GLOBAL_STEP, **keywords)
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)
        return step
    with graph.as_default(), name_scope(""):
        return get_variable(GraphKeys.GLOBAL_STEP, **keywords)


@api("compat.v1.train.get_or_create_global_step", dispatch=False)
def get_or_create_global_step(graph=None) -> "GraphVariable":
    """The variable that counts steps of training, made if there is none."""
    graph = _graph_of(graph)
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


@api("compat.v1.train.assert_global_step", dispatch=False)
def assert_global_step(global_step_tensor) -> None:
    """Refuse what is no integer scalar.

    Raises:
        TypeError: it is of another kind.
    """
    if not hasattr(global_step_tensor, "dtype"):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


@api("compat.v1.train.global_step", dispatch=False)
def global_step(sess, global_step_tensor) -> int:
    """The number of steps as a Python int."""
    if context.graph is None and isinstance(global_step_tensor, Variable):
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


# Learning rates.


def _decayed(compute):
    """A learning rate: in a graph a tensor; eagerly a function that is to be called at each step."""
    return compute if context.graph is None else compute()


def _operands(learning_rate, *others):
    rate = to_tensor(learning_rate)
    return rate, *(_as(rate.dtype, other) for other in others)


def _as(dtype, value):
    if isinstance(value, Variable):
        value = value.value()
    return CAST(value, DstT=dtype) if hasattr(value, "dtype") else to_tensor(value, dtype)


def _needs_step(step, what):
    if step is None:
        raise ValueError(f"global_step is required for {what}.")


@api("compat.v1.train.exponential_decay", dispatch=False)
def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None) -> Any:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`; with `staircase` the exponent is rounded down."""
    _needs_step(global_step, "exponential_decay")

    def compute():
        with name_scope(name or "ExponentialDecay"):
            rate, step, steps, decay = _operands(learning_rate, global_step, decay_steps, decay_rate)
            exponent = step / steps
            return rate * decay ** (FLOOR(exponent) if staircase else exponent)

    return _decayed(compute)


@api("compat.v1.train.natural_exp_decay", dispatch=False)
def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None) -> Tensor:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`."""
    _needs_step(global_step, "natural_exp_decay")

    def compute():
        with name_scope(name or "NaturalExpDecay"):
            rate, step, steps, decay = _operands(learning_rate, global_step, decay_steps, decay_rate)
            exponent = step / steps
            exponent = FLOOR(exponent) if staircase else exponent
            return rate * EXP(-decay) ** exponent

    return _decayed(compute)


@api("compat.v1.train.inverse_time_decay", dispatch=False)
def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None) -> Tensor:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`."""
    _needs_step(global_step, "inverse_time_decay")

    def compute():
        with name_scope(name or "InverseTimeDecay"):
            rate, step, steps, decay = _operands(learning_rate, global_step, decay_steps, decay_rate)
            part = step / steps
            return rate / (1 + decay * (FLOOR(part) if staircase else part))

    return _decayed(compute)


@api("compat.v1.train.polynomial_decay", dispatch=False)
def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None) -> Tensor:
    """From `learning_rate` to `end_learning_rate` along a power of the remaining part of `decay_steps`."""
    _needs_step(global_step, "polynomial_decay")

    def compute():
        with name_scope(name or "PolynomialDecay"):
            rate, step, steps, end, exponent = _operands(
                learning_rate, global_step, decay_steps, end_learning_rate, power
            )
            if cycle:
                rounds = CEIL(step / steps)
                steps = steps * SELECT_V2(EQUAL(step, 0.0), ONES_LIKE(rounds), rounds)
            else:
                step = MINIMUM(step, steps)
            return (rate - end) * (1 - step / steps) ** exponent + end

    return _decayed(compute)


@api("compat.v1.train.piecewise_constant", "compat.v1.train.piecewise_constant_decay", dispatch=False)
def piecewise_constant(x, boundaries, values, name=None) -> Tensor:
    """`values[i]` where `x` is above `boundaries[i - 1]` and at most `boundaries[i]`."""
    boundaries, values = list(boundaries), list(values)
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            f"The length of boundaries should be 1 less than the length of values. Received: len(boundaries)="
            f"{len(boundaries)} and len(values)={len(values)}"
        )

    def compute():
        with name_scope(name or "PiecewiseConstant"):
            step = x.value() if isinstance(x, Variable) else to_tensor(x)
            result = to_tensor(values[-1])
            for limit, value in zip(reversed(boundaries), reversed(values[:-1])):
                low = LESS_EQUAL(step, to_tensor(limit, step.dtype))
                result = SELECT_V2(low, to_tensor(value, result.dtype), result)
            return result

    return _decayed(compute)


@api("compat.v1.train.cosine_decay", dispatch=False)
def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None) -> Tensor:
    """Along half a cosine from `learning_rate` to `alpha * learning_rate`."""
    _needs_step(global_step, "cosine_decay")

    def compute():
        with name_scope(name or "CosineDecay"):
            rate, step, steps, low = _operands(learning_rate, global_step, decay_steps, alpha)
            part = MINIMUM(step, steps) / steps
            cosine = 0.5 * (1.0 + COS(part * math.pi))
            return rate * ((1 - low) * cosine + low)

    return _decayed(compute)


@api("compat.v1.train.cosine_decay_restarts", dispatch=False)
def cosine_decay_restarts(
    learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None
) -> Tensor:
    """Half cosines one after another, each `t_mul` times as long and `m_mul` times as high as the one before."""
    _needs_step(global_step, "cosine_decay_restarts")

    def compute():
        with name_scope(name or "SGDRDecay"):
            rate, step, steps, longer, higher, low = _operands(
                learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha
            )
            part = step / steps
            if t_mul == 1.0:
                number = FLOOR(part)
                part = part - number
            else:
                number = FLOOR(LOG(1.0 - part * (1.0 - longer)) / LOG(longer))
                begin = (1.0 - longer**number) / (1.0 - longer)
                part = (part - begin) / longer**number
            cosine = 0.5 * higher**number * (1.0 + COS(part * math.pi))
            return rate * ((1 - low) * cosine + low)

    return _decayed(compute)


@api("compat.v1.train.linear_cosine_decay", dispatch=False)
def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None
) -> Tensor:
    """A cosine whose height decreases linearly, between `beta` and `alpha` times the learning rate."""
    _needs_step(global_step, "linear_cosine_decay")

    def compute():
        with name_scope(name or "LinearCosineDecay"):
            rate, step, steps, periods, low, end = _operands(
                learning_rate, global_step, decay_steps, num_periods, alpha, beta
            )
            step = MINIMUM(step, steps)
            linear = (steps - step) / steps
            cosine = 0.5 * (1.0 + COS(2.0 * periods * step / steps * math.pi))
            return rate * ((low + linear) * cosine + end)

    return _decayed(compute)


@api("compat.v1.train.noisy_linear_cosine_decay", dispatch=False)
def noisy_linear_cosine_decay(
    learning_rate, global_step, decay_steps, initial_variance=1.0, variance_decay=0.55, num_periods=0.5, alpha=0.0,
    beta=0.001, name=None,
) -> Tensor:  # fmt: skip
    """As `linear_cosine_decay`, with normal noise on the linear part, which becomes smaller with every step.

    Args:
        learning_rate, global_step, decay_steps, num_periods, alpha, beta: as of `linear_cosine_decay`.
        initial_variance: the variance of the noise at the first step.
        variance_decay: the variance is divided by `(1 + global_step) ** variance_decay`.
        name: a name for the operations.

    Raises:
        ValueError: there is no `global_step`.
    """
    _needs_step(global_step, "noisy_linear_cosine_decay")

    def compute():
        with name_scope(name or "NoisyLinearCosineDecay"):
            rate, step, steps, variance, shrinking, periods, low, end = _operands(
                learning_rate, global_step, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta
            )
            step = MINIMUM(step, steps)
            deviation = SQRT(variance / (1.0 + step) ** shrinking)
            linear = (steps - step) / steps + normal(SHAPE(step), stddev=deviation, dtype=rate.dtype)
            cosine = 0.5 * (1.0 + COS(2.0 * periods * step / steps * math.pi))
            return rate * ((low + linear) * cosine + end)

    return _decayed(compute)
