"""`tf.compat.v1.mixed_precision.LossScale`: by what a loss is multiplied so that small gradients survive float16."""

from typing import Any

from headrace._src.compat.training.optimizer_base import operation_of
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import Trackable
from headrace._src.graph.control.conditional import cond
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.passing import no_op
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import GREATER_EQUAL, LOGICAL_AND
from headrace._src.ops.math.elementwise import IS_FINITE
from headrace._src.ops.math.reductions import reduce_all


def _names(name):
    return tuple(f"compat.v1.{folder}.{name}"
                 for folder in ("mixed_precision", "mixed_precision.experimental", "train.experimental"))  # fmt: skip


@api(*_names("LossScale"), dispatch=False)
class LossScale(Trackable):
    """The base of loss scales: subclasses define `__call__`, `update` and `get_config`."""

    def __call__(self) -> Tensor:
        """The scale, a float32 scalar."""
        raise NotImplementedError(f"{type(self).__name__} must define __call__.")

    def update(self, grads) -> tuple:
        """Change the scale after a step.

        Args:
            grads: the gradients of the step, without the scale; None among them does not count.

        Returns:
            An operation that does it (None when executing eagerly), and whether the gradients should be applied.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update.")

    def get_config(self) -> dict:
        """The arguments with which an equal one is made."""
        raise NotImplementedError(f"{type(self).__name__} must define get_config.")

    @classmethod
    def from_config(cls, config) -> "LossScale":
        """One with the arguments that `get_config` gave."""
        return cls(**config)


@api(*_names("FixedLossScale"), dispatch=False)
class FixedLossScale(LossScale):
    """A scale that stays.

    Args:
        loss_scale_value: a number, at least 1.

    Raises:
        ValueError: it is none.

    >>> float(tf.compat.v1.mixed_precision.FixedLossScale(128)())
    128.0
    """

    def __init__(self, loss_scale_value) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError(f"FixedLossScale: loss_scale_value must be a number, got {loss_scale_value!r}.")
        if loss_scale_value < 1:
            raise ValueError(f"FixedLossScale: loss_scale_value must be 1 or more, got {loss_scale_value}.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        """The scale."""
        return to_tensor(self._loss_scale_value, dtypes.float32)

    def update(self, grads) -> tuple:
        """Change nothing; gradients are always applied."""
        return no_op(), True

    def get_config(self) -> dict:
        """The scale."""
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self):
        return f"FixedLossScale({self._loss_scale_value})"


@api(*_names("DynamicLossScale"), dispatch=False)
class DynamicLossScale(LossScale):
    """A scale that becomes larger after many steps with finite gradients, and smaller at once after one without.

    Args:
        initial_loss_scale: the scale to begin with.
        increment_period: after how many good steps it grows.
        multiplier: by what it grows and shrinks.

    >>> scale = tf.compat.v1.mixed_precision.DynamicLossScale(initial_loss_scale=8.0)
    >>> _, is_good = scale.update([tf.constant([1.0, float("inf")])])
    >>> bool(is_good), float(scale())
    (False, 4.0)
    """

    def __init__(self, initial_loss_scale=2**15, increment_period=2000, multiplier=2.0) -> None:
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    def _add_weight(self, name, initial_value, dtype):
        return self._track_trackable(
            make_variable(initial_value=to_tensor(initial_value, dtype), name=name, dtype=dtype, trainable=False,
                          use_resource=True), name,
        )  # fmt: skip

    @property
    def initial_loss_scale(self) -> float:
        """The scale to begin with."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """After how many good steps it grows."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """By what it grows and shrinks."""
        return self._multiplier

    def __call__(self) -> Tensor:
        """The scale as it is now."""
        return to_tensor(self._current_loss_scale)

    def update(self, grads) -> tuple:
        """Let the scale grow or shrink; gradients are applied if all are finite."""
        finite = _all_finite(grads)

        def good():
            grown = self._current_loss_scale.value() * self._multiplier
            enough = GREATER_EQUAL(self._num_good_steps.value() + 1, to_tensor(self._increment_period, dtypes.int64))
            kept = SELECT_V2(LOGICAL_AND(enough, IS_FINITE(grown)), grown, self._current_loss_scale.value())
            count = SELECT_V2(enough, to_tensor(0, dtypes.int64), self._num_good_steps.value() + 1)
            return self._set(kept, count)

        def bad():
            smaller = MAXIMUM(self._current_loss_scale.value() / self._multiplier, to_tensor(1.0))
            return self._set(smaller, to_tensor(0, dtypes.int64))

        if context.graph is None:
            (good if finite else bad)()
            return None, finite
        return operation_of(cond(finite, good, bad)), finite

    def _set(self, scale, count):
        self._current_loss_scale.assign(scale)
        self._num_good_steps.assign(count)
        return no_op()

    def get_config(self) -> dict:
        """The three arguments."""
        return {
            "initial_loss_scale": self._initial_loss_scale, "increment_period": self._increment_period,
            "multiplier": self._multiplier,
        }  # fmt: skip

    def __repr__(self):
        now = ""
        if context.graph is None:
            scale, steps = float(self._current_loss_scale.numpy()), int(self._num_good_steps.numpy())
            now = f"current_loss_scale={scale}, num_good_steps={steps}, "
        return (f"DynamicLossScale({now}initial_loss_scale={self._initial_loss_scale}, "
                f"increment_period={self._increment_period}, multiplier={self._multiplier})")


def _all_finite(grads) -> Any:
    """Whether all numbers of gradients are finite."""
    found = [reduce_all(IS_FINITE(grad.values if isinstance(grad, IndexedSlices) else to_tensor(grad)))
             for grad in nest.flatten(grads) if grad is not None]
    if not found:
        return to_tensor(True)
    result = found[0]
    for other in found[1:]:
        result = LOGICAL_AND(result, other)
    return result


def loss_scale_of(identifier) -> LossScale | None:
    """The loss scale that a user means: a number, "dynamic", a loss scale, or None.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")


def cast_to(value, dtype):
    """A number as another type."""
    return value if value.dtype == dtype else CAST(value, DstT=dtype)
