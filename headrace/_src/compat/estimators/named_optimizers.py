"""Optimizers of canned estimators: of 1.x, or those of Keras, whose state has Keras 2's names in checkpoints."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.compat.training.optimizer_base import Optimizer, add_duplicates
from headrace._src.compat.training.optimizers import (
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    RMSPropOptimizer,
    StepOptimizer,
)
from headrace._src.compat.training.slots import base_name
from headrace._src.compat.variables.initializers import Constant
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.ops.arrays import casting
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.elementwise import ABS, SIGN, SQRT
from headrace._src.ops.math.powers import POW

# Steps: functions of a dictionary of settings, the gradient, the value, and those of slots; they return the new ones.


def _sgd(at, grad, value, *last):
    if not last:
        return (value - at["learning_rate"] * grad,)
    step = at["momentum"] * last[0] - at["learning_rate"] * grad
    return value + (at["momentum"] * step - at["learning_rate"] * grad if at["nesterov"] else step), step


def _adam(at, grad, value, mean, square):
    done = casting.cast(at["iteration"] + 1, grad.dtype)
    rate = at["learning_rate"] * SQRT(1 - POW(at["beta_2"], done)) / (1 - POW(at["beta_1"], done))
    mean = mean + (grad - mean) * (1 - at["beta_1"])
    square = square + (grad * grad - square) * (1 - at["beta_2"])
    return value - rate * mean / (SQRT(square) + at["epsilon"]), mean, square


def _adagrad(at, grad, value, total):
    total = total + grad * grad
    return value - at["learning_rate"] * grad / (SQRT(total) + at["epsilon"]), total


def _rmsprop(at, grad, value, square, *last):
    square = at["rho"] * square + (1 - at["rho"]) * grad * grad
    if last:
        step = at["momentum"] * last[0] + at["learning_rate"] * grad / SQRT(square + at["epsilon"])
        return value - step, square, step
    return value - at["learning_rate"] * grad / (SQRT(square) + at["epsilon"]), square


def _ftrl(at, grad, value, square, linear):
    rate, power = at["learning_rate"], at["learning_rate_power"]
    l2 = at["l2_regularization_strength"] + at["beta"] / (2.0 * rate)
    total = square + grad * grad
    shrunk = grad + 2.0 * at["l2_shrinkage_regularization_strength"] * value
    linear = linear + shrunk - (POW(total, -power) - POW(square, -power)) / rate * value
    l1 = at["l1_regularization_strength"]
    moved = (SIGN(linear) * l1 - linear) / (POW(total, -power) / rate + 2.0 * l2)
    return SELECT_V2(ABS(linear) > l1, moved, ZEROS_LIKE(moved)), total, linear


class _Kind(NamedTuple):
    """What an optimizer of Keras is made of.

    Attributes:
        settings: numbers that are variables of a checkpoint, with their usual values.
        constants: other numbers.
        slots: the names of its state, and what each begins with: a number, or the name of a constant.
        step: the formula.
        by_rows: whether rows without a gradient stay as they are.
        with_momentum: the slots that there are only if the momentum is not zero.
    """

    settings: dict
    constants: dict
    slots: tuple
    step: Callable
    by_rows: bool = False
    with_momentum: tuple = ()


_FIRST = "initial_accumulator_value"
_KINDS = {
    "SGD": _Kind({"learning_rate": 0.01, "momentum": 0.0}, {"nesterov": False}, (), _sgd, True, ("momentum",)),
    "Adam": _Kind({"learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999}, {"epsilon": 1e-7},
                  (("m", 0.0), ("v", 0.0)), _adam),
    "Adagrad": _Kind({"learning_rate": 0.001}, {"epsilon": 1e-7, _FIRST: 0.1}, (("accumulator", _FIRST),), _adagrad,
                     True),
    "RMSprop": _Kind({"learning_rate": 0.001, "rho": 0.9, "momentum": 0.0}, {"epsilon": 1e-7}, (("rms", 0.0),),
                     _rmsprop, False, ("momentum",)),
    "Ftrl": _Kind(
        {"learning_rate": 0.001, "learning_rate_power": -0.5, "l1_regularization_strength": 0.0,
         "l2_regularization_strength": 0.0, "beta": 0.0},
        {_FIRST: 0.1, "l2_shrinkage_regularization_strength": 0.0}, (("accumulator", _FIRST), ("linear", 0.0)), _ftrl,
        True),
}  # fmt: skip


class GraphOptimizer(StepOptimizer):
    """An optimizer of Keras for graphs of 1.x, whose settings and state have the names that Keras 2 gives them.

    Args:
        kind: its name, such as "Adam".
        settings: its numbers, where they are not the usual ones.
    """

    def __init__(self, kind: str, settings: dict) -> None:
        super().__init__(False, kind)
        self._kind = _KINDS[kind]
        self._given = {**self._kind.settings, **self._kind.constants, **settings}
        self._variables: dict[str, Any] = {}
        self.iterations: Any = None

    def _slot_plan(self):
        extra = [(slot, 0.0) for slot in self._kind.with_momentum if self._given["momentum"]]
        found = [*self._kind.slots, *extra]
        return [(slot, self._given[first] if isinstance(first, str) else first) for slot, first in found]

    def _made(self, name, value, dtype=dtypes.float32):
        full = f"training/{self._name}/{name}"
        with name_scope(""):
            return make_variable(initial_value=value, name=full, trainable=False, dtype=dtype)

    def _create_slots(self, var_list):
        if self.iterations is None:
            self.iterations = self._made("iter", 0, dtypes.int64)
        for setting in (*self._kind.settings, "decay"):
            self._variables[setting] = self._made(setting, self._given.get(setting, 0.0))
        for variable in var_list:
            for slot, first in self._slot_plan():
                name, shape = f"{base_name(variable)}/{slot}", variable.shape.as_list()
                self._slot(variable, slot, lambda name=name, shape=shape, first=first: self._made(
                    name, lambda: Constant(first)(shape, dtype=dtypes.float32)))  # fmt: skip

    def _prepare(self):
        self._at = {**self._given, **{name: one.value() for name, one in self._variables.items()}}
        self._at["iteration"] = self.iterations.value()
        done = casting.cast(self._at["iteration"], dtypes.float32)
        rate = self._given["learning_rate"]
        rate = rate(self._at["iteration"]) if callable(rate) else self._at["learning_rate"]
        self._at["learning_rate"] = rate / (1.0 + self._at["decay"] * done)

    def _apply_sparse_duplicate_indices(self, gradient, variable):
        if self._kind.by_rows:
            return super()._apply_sparse_duplicate_indices(gradient, variable)
        values, rows = add_duplicates(gradient.values, gradient.indices)
        return self._apply_dense(SCATTER_ND(EXPAND_DIMS(rows, -1), values, variable.shape.as_list()), variable)

    def _step(self, grad, value, *states):
        return self._kind.step(self._at, grad, value, *states)


_FORMER = {
    "Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer, "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}  # fmt: skip


def former_optimizer(given, learning_rate: float) -> Optimizer:
    """An optimizer of 1.x: the one that is given, or one by name.

    Raises:
        ValueError: there is no such name, or it is something else.
    """
    if isinstance(given, str):
        if given not in _FORMER:
            raise ValueError(f"There is no optimizer {given!r} for this estimator; there are {', '.join(_FORMER)}.")
        return _FORMER[given](learning_rate=learning_rate)
    given = given() if callable(given) else given
    if not isinstance(given, Optimizer):
        raise ValueError(f"The optimizer of this estimator must be one of tf.compat.v1.train, got {given!r}.")
    return given


def keras_optimizer(given, learning_rate: float | None) -> Optimizer:
    """The graph form of an optimizer of Keras: the one that is given, or one by name.

    Args:
        given: a name, an optimizer of Keras or of 1.x, or a function that returns one.
        learning_rate: for one by name; None for the usual one.

    Raises:
        ValueError: there is no such name, or it is something else.
    """
    if isinstance(given, str):
        kind = "RMSprop" if given == "RMSProp" else given
        if kind not in _KINDS:
            raise ValueError(f"There is no optimizer {given!r} for this estimator; there are {', '.join(_KINDS)}.")
        return GraphOptimizer(kind, {} if learning_rate is None else {"learning_rate": learning_rate})
    if not hasattr(given, "get_config") and callable(given):
        given = given()
    if isinstance(given, Optimizer):
        return given
    return _read(given)()


def read_in_time(given) -> Any:
    """The same, but an optimizer of Keras is read now, while there is no graph; each graph gets a new one."""
    return _read(given) if hasattr(given, "get_config") else given


def _read(optimizer):
    kind = type(optimizer).__name__
    if kind not in _KINDS or not hasattr(optimizer, "get_config"):
        raise ValueError(
            f"The optimizer of this estimator must be one of {', '.join(_KINDS)} of tf.keras.optimizers, or one of "
            f"tf.compat.v1.train, got {optimizer!r}."
        )
    return functools.partial(GraphOptimizer, kind, _settings(optimizer, kind))


def _settings(optimizer, kind):
    config = optimizer.get_config()
    wanted = {**_KINDS[kind].settings, **_KINDS[kind].constants}
    found = {name: config[name] for name in wanted if name in config}
    if isinstance(found.get("learning_rate"), dict):  # a schedule, described
        found["learning_rate"] = optimizer._learning_rate
    for name in ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay"):
        if config.get(name):
            raise ValueError(f"tf.keras.optimizers.{kind}: {name} is not there for estimators; clip in a model_fn.")
    if config.get("amsgrad") or config.get("centered"):
        raise ValueError(f"tf.keras.optimizers.{kind}: amsgrad and centered are not there for estimators.")
    return found


def linear_rate(columns, most: float) -> float:
    """The learning rate that suits so many columns."""
    return min(most, 1.0 / math.sqrt(len(columns)))
