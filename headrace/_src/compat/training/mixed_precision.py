"""`tf.compat.v1.mixed_precision`: an optimizer that scales the loss, and the switch that asks for float16.

The switch has TensorFlow's effect on processors: the loss is scaled, and operations stay as they are. TensorFlow
rewrites them to float16 on graphics cards only.
"""

from typing import Any

from headrace._src.compat.logging import warning
from headrace._src.compat.training.loss_scales import cast_to, loss_scale_of
from headrace._src.compat.training.optimizer_base import Optimizer, operation_of
from headrace._src.core.context import context
from headrace._src.core.tensor import Tensor
from headrace._src.devices.configuration import get_experimental_options, set_experimental_options
from headrace._src.graph.building.dependencies import group
from headrace._src.graph.control.conditional import cond
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.passing import no_op

_SWITCH = "auto_mixed_precision"


@api("compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer",
     "compat.v1.train.experimental.MixedPrecisionLossScaleOptimizer", dispatch=False)
class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that multiplies the loss before gradients are computed, and divides gradients before they are used.

    Steps whose gradients are not finite are left out if the scale is dynamic.

    Args:
        opt: the optimizer that does the rest.
        loss_scale: a `LossScale`, a number, or "dynamic".

    Raises:
        ValueError: an argument is none of these.

    >>> v = tf.Variable(3.0)
    >>> opt = tf.compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer(
    ...     tf.compat.v1.train.GradientDescentOptimizer(0.5), 1024)
    >>> opt.minimize(lambda: v * 2.0, var_list=[v])
    >>> float(v.numpy())
    2.0
    """

    def __init__(self, opt, loss_scale) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f"opt must be an optimizer of tf.compat.v1.train, got {opt!r}.")
        self._optimizer = opt
        super().__init__(opt._use_locking, opt._name)
        self._loss_scale = loss_scale_of(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None")
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(
        self, loss, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, grad_loss=None,
    ) -> list:  # fmt: skip
        """Pairs of a gradient (or None) and its variable; the gradients are those of the loss itself."""
        pairs = self._optimizer.compute_gradients(self._scaled(loss), var_list, gate_gradients, aggregation_method,
                                                  colocate_gradients_with_ops, grad_loss)
        divisor = self._loss_scale()
        return [(None if gradient is None else _times(gradient, 1.0 / divisor), variable)
                for gradient, variable in pairs]

    def _scaled(self, loss):
        if callable(loss) and not isinstance(loss, Tensor):
            return lambda: self._scaled(to_tensor(loss()))
        return loss * cast_to(self._loss_scale(), loss.dtype)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None) -> Any:
        """Change variables by their gradients, unless these are not finite; and then the scale."""
        pairs = list(grads_and_vars)
        update, apply = self._loss_scale.update([gradient for gradient, _ in pairs])
        if apply is True:
            applied = self._optimizer.apply_gradients(pairs, global_step, name)
        elif context.graph is None:
            applied = self._optimizer.apply_gradients(pairs, global_step, name) if apply else None
        else:
            # What the optimizer keeps belongs to the graph, not to the branch.
            self._optimizer._create_slots([variable for gradient, variable in pairs if gradient is not None])

            def applying():
                self._optimizer.apply_gradients(pairs, global_step, name)
                return no_op()

            applied = operation_of(cond(apply, applying, no_op))
        return None if context.graph is None else group(applied, update)

    def get_slot(self, var, name) -> Any:
        """What the inner optimizer keeps for a variable."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list:
        """The names of what the inner optimizer keeps."""
        return self._optimizer.get_slot_names()

    def variables(self) -> list:
        """The variables of the inner optimizer."""
        return self._optimizer.variables()


def _times(gradient, factor):
    if isinstance(gradient, IndexedSlices):
        values = gradient.values * cast_to(factor, gradient.values.dtype)
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * cast_to(factor, gradient.dtype)


@api("compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite",
     "compat.v1.train.experimental.enable_mixed_precision_graph_rewrite", dispatch=False)
def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic") -> MixedPrecisionLossScaleOptimizer:
    """An optimizer that scales the loss. Operations stay as they are: float16 is slower on processors.

    Args:
        opt: an optimizer of `tf.compat.v1.train`.
        loss_scale: a `LossScale`, a number, or "dynamic".

    Raises:
        ValueError: it is no such optimizer, or it scales the loss already.

    >>> opt = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    >>> type(tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite(opt)).__name__
    'MixedPrecisionLossScaleOptimizer'
    >>> tf.compat.v1.mixed_precision.disable_mixed_precision_graph_rewrite()
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError("opt scales the loss already: give the optimizer inside of it, which gets a loss scale here.")
    if not isinstance(opt, Optimizer):
        raise ValueError(f"opt must be an optimizer of tf.compat.v1.train, got {opt!r}.")
    set_experimental_options({_SWITCH: True})
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


@api("compat.v1.mixed_precision.disable_mixed_precision_graph_rewrite",
     "compat.v1.train.experimental.disable_mixed_precision_graph_rewrite", dispatch=False)
def disable_mixed_precision_graph_rewrite() -> None:
    """Turn off what `enable_mixed_precision_graph_rewrite` turned on; optimizers that it returned go on as they are."""
    if not get_experimental_options().get(_SWITCH):
        warning("disable_mixed_precision_graph_rewrite: it was not enabled.")
    set_experimental_options({_SWITCH: False})
