"""`BatchNormalization`, and its function: statistics of the batch in training, their moving means otherwise."""

import math
from typing import Any

from headrace._src.compat.functions.networks import fused_batch_norm
from headrace._src.compat.layers.base import InputSpec, Layer
from headrace._src.compat.layers.dense import chosen, known_condition
from headrace._src.compat.variables.initializers import Ones, Zeros
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, passing, shaping
from headrace._src.ops.math import arithmetic, elementwise
from headrace._src.ops.nn import normalization
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization

_ZEROS, _ONES = Zeros(), Ones()


@api("compat.v1.layers.BatchNormalization")
class BatchNormalization(Layer):
    """Inputs with mean zero and variance one over all axes but some, then scaled and moved.

    In a graph, what updates the moving means is in the collection `tf.compat.v1.GraphKeys.UPDATE_OPS`.

    Args:
        axis: the axis, or the axes, that have numbers of their own: usually that of the channels.
        momentum: how much of the moving means is kept in an update.
        epsilon: added to the variance.
        center, scale: whether there are `beta` and `gamma`.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: initial values.
        beta_regularizer, gamma_regularizer: functions whose results are losses.
        beta_constraint, gamma_constraint: functions that optimizers apply after updates.
        renorm: whether statistics of the batch are corrected by moving ones in training (batch renormalization).
        renorm_clipping: the least and greatest factor, and the greatest shift, of that: "rmin", "rmax", "dmax".
        renorm_momentum: how much of these moving statistics is kept in an update.
        fused: True: images only, by one operation; None: where that can be.
        trainable: whether `beta` and `gamma` are trained.
        virtual_batch_size, adjustment: refused.
        name: a name for the layer.
    """

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer=_ZEROS,
        gamma_initializer=_ONES,
        moving_mean_initializer=_ZEROS,
        moving_variance_initializer=_ONES,
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        renorm=False,
        renorm_clipping=None,
        renorm_momentum=0.99,
        fused=None,
        trainable=True,
        virtual_batch_size=None,
        adjustment=None,
        name=None,
        **kwargs,
    ) -> None:
        super().__init__(trainable, name, **kwargs)
        refused = {"virtual_batch_size": virtual_batch_size, "adjustment": adjustment}
        for label, value in refused.items():
            if value:
                raise NotImplementedError(f"batch_normalization: {label} is not offered; leave it out, which "
                                          "normalizes with the statistics of the whole batch.")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = beta_initializer
        self.gamma_initializer = gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        unknown = sorted(set(renorm_clipping or ()) - {"rmin", "rmax", "dmax"})
        if unknown:
            raise ValueError(f"batch_normalization: renorm_clipping may have rmin, rmax and dmax, got {unknown}.")
        if renorm and fused:
            raise ValueError("batch_normalization: fused=True and renorm=True cannot be combined.")
        self.renorm = renorm
        self.renorm_clipping = dict(renorm_clipping or {})
        self.renorm_momentum = renorm_momentum
        self.fused = False if renorm else fused
        self.beta: Any = None
        self.gamma: Any = None

    def build(self, input_shape) -> None:
        """Make `gamma`, `beta` and the moving means.

        Args:
            input_shape: the shape of the input.
        """
        input_shape = TensorShape(input_shape)
        rank = input_shape.rank
        if rank is None:
            raise ValueError("batch_normalization: how many dimensions the inputs have must be known.")
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        for axis in axes:
            if not -rank <= axis < rank:
                raise ValueError(f"batch_normalization: axis={self.axis} is not one of {rank} dimensions.")
        self._axes = self._no_dependency(sorted(axis % rank for axis in axes))
        dims = input_shape.as_list()
        for axis in self._axes:
            if dims[axis] is None:
                raise ValueError(f"batch_normalization: the length of axis {axis} must be known, got inputs of shape "
                                 f"{input_shape}.")
        images = rank == 4 and self._axes in ([1], [3])
        if self.fused and not images:
            raise ValueError("batch_normalization: fused=True is for images, four dimensions with axis 1 or 3. Got "
                             f"{rank} dimensions and axis={self.axis}.")
        self._fused = images if self.fused is None else bool(self.fused)
        self.input_spec = InputSpec(ndim=rank, axes={axis: dims[axis] for axis in self._axes})
        one = len(self._axes) == 1
        shape = [dims[axis] if axis in self._axes else 1 for axis in range(rank)]
        shape = [dims[self._axes[0]]] if one else shape
        # Statistics of half precision would lose most of what they add up.
        dtype = dtypes.float32 if self.dtype in (dtypes.float16, dtypes.bfloat16) else self.dtype
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, dtype, self.gamma_initializer, self.gamma_regularizer, True,
                                         self.gamma_constraint)
        if self.center:
            self.beta = self.add_weight("beta", shape, dtype, self.beta_initializer, self.beta_regularizer, True,
                                        self.beta_constraint)
        read = {"synchronization": VariableSynchronization.ON_READ, "aggregation": VariableAggregation.MEAN}
        self.moving_mean = self.add_weight("moving_mean", shape, dtype, self.moving_mean_initializer, trainable=False,
                                           **read)
        self.moving_variance = self.add_weight("moving_variance", shape, dtype, self.moving_variance_initializer,
                                               trainable=False, **read)
        if self.renorm:
            def stddev_initializer(*args, **kwargs):
                return elementwise.sqrt(self.moving_variance_initializer(*args, **kwargs))

            self.moving_stddev, self.renorm_mean, self.renorm_stddev = (
                self.add_weight(name, shape, dtype, initializer, trainable=False, **read)
                for name, initializer in (
                    ("moving_stddev", stddev_initializer), ("renorm_mean", self.moving_mean_initializer),
                    ("renorm_stddev", stddev_initializer),
                )
            )  # fmt: skip
        self.built = True

    def call(self, inputs, training=False) -> Tensor:
        """The normalized inputs.

        Args:
            inputs: a tensor.
            training: a boolean or a scalar boolean tensor: whether statistics are those of the batch.
        """
        if training is None:
            training = False
        return self._by_one_operation(inputs, training) if self._fused else self._by_moments(inputs, training)

    def _by_one_operation(self, inputs, training):
        data_format = "NCHW" if self._axes == [1] else "NHWC"
        channels = inputs.shape[self._axes[0]]
        gamma = filling.ones([channels]) if self.gamma is None else self.gamma
        beta = filling.zeros([channels]) if self.beta is None else self.beta

        def of_batch():
            return fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=data_format)

        def of_means():
            return fused_batch_norm(inputs, gamma, beta, self.moving_mean, self.moving_variance, self.epsilon,
                                    data_format, False)

        outputs, mean, variance = chosen(training, of_batch, of_means)
        known = known_condition(training)
        if known is not False:
            momentum = chosen(training, lambda: to_tensor(self.momentum), lambda: to_tensor(1.0))
            self._update(mean, variance, momentum)
        return outputs

    def _by_moments(self, inputs, training):
        rank = inputs.shape.rank
        axes = [axis for axis in range(rank) if axis not in self._axes]
        dims = [inputs.shape[axis] if axis in self._axes else 1 for axis in range(rank)]
        mean: Any = self.moving_mean
        variance: Any = self.moving_variance
        gamma, beta = self.gamma, self.beta
        known = known_condition(training)
        if known is not False:
            wide = casting.cast(inputs, self.moving_mean.dtype)
            batch_mean, batch_variance = normalization.moments(wide, axes, keepdims=len(self._axes) > 1)
            mean = chosen(training, lambda: batch_mean, lambda: to_tensor(self.moving_mean))
            variance = chosen(training, lambda: batch_variance, lambda: to_tensor(self.moving_variance))
            momentum = chosen(training, lambda: to_tensor(self.momentum), lambda: to_tensor(1.0))
            if self.renorm:
                factor, shift = self._correction(mean, variance, training)
                beta = shift * (1.0 if gamma is None else gamma) + (0.0 if beta is None else beta)
                gamma = factor * (1.0 if gamma is None else gamma)
                self._update_renormalization(mean, variance, momentum, training)
            else:
                self._update(mean, variance, momentum)

        def spread(value):
            """With the axes that are not normalized where the input has them."""
            if value is None or len(self._axes) > 1 or self._axes == [rank - 1]:
                return value
            return shaping.reshape(value, dims)

        def cast(value):
            return None if value is None else casting.cast(spread(value), inputs.dtype)

        outputs = normalization.batch_normalization(inputs, cast(mean), cast(variance), cast(beta),
                                                    cast(gamma), self.epsilon)
        outputs.set_shape(inputs.shape)
        return outputs

    def _correction(self, mean, variance, training):
        """By what the normalized inputs are multiplied in training, and what is added to them then; no gradients."""
        least = math.sqrt(self.epsilon)  # the first moving deviations may be 0
        moving = arithmetic.maximum(to_tensor(self.renorm_stddev), least)
        factor = elementwise.sqrt(variance + self.epsilon) / moving
        shift = (mean - to_tensor(self.renorm_mean)) / moving
        limits = self.renorm_clipping
        if limits.get("rmin") is not None:
            factor = arithmetic.maximum(factor, limits["rmin"])
        if limits.get("rmax") is not None:
            factor = arithmetic.minimum(factor, limits["rmax"])
        if limits.get("dmax") is not None:
            shift = arithmetic.minimum(arithmetic.maximum(shift, -limits["dmax"]), limits["dmax"])
        factor = chosen(training, lambda: factor, lambda: filling.ones_like(factor))
        shift = chosen(training, lambda: shift, lambda: filling.zeros_like(shift))
        return passing.stop_gradient(factor), passing.stop_gradient(shift)

    def _update_renormalization(self, mean, variance, momentum, training):
        """Move the statistics of the correction, and those that are used outside of training."""
        stddev = elementwise.sqrt(variance + self.epsilon)
        own = chosen(training, lambda: to_tensor(self.renorm_momentum), lambda: to_tensor(1.0))

        def moved(variable, value, momentum):
            now = to_tensor(variable)
            return now - (now - value) * casting.cast(1.0 - momentum, variable.dtype)

        deviation = moved(self.moving_stddev, stddev, momentum)
        squared = arithmetic.maximum(deviation * deviation - self.epsilon, 0.0)
        values = [
            (self.renorm_mean, moved(self.renorm_mean, mean, own)),
            (self.renorm_stddev, moved(self.renorm_stddev, stddev, own)),
            (self.moving_mean, moved(self.moving_mean, mean, momentum)),
            (self.moving_stddev, deviation),
            (self.moving_variance, chosen(training, lambda: squared, lambda: to_tensor(self.moving_variance))),
        ]
        updates = []
        for variable, value in values:
            with name_scope("AssignMovingAvg"):
                updates.append(variable.assign(value, read_value=False))
        if context.graph is not None:
            self.add_update(updates)

    def _update(self, mean, variance, momentum):
        """Move the moving means towards the statistics, in a graph by operations for the training step to run."""
        updates = []
        for variable, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            with name_scope("AssignMovingAvg"):
                decay = casting.cast(1.0 - momentum, variable.dtype)
                change = (to_tensor(variable) - casting.cast(value, variable.dtype)) * decay
                updates.append(variable.assign_sub(change, read_value=False))
        if context.graph is not None:
            self.add_update(updates)


@api("compat.v1.layers.batch_normalization", dispatch=False)
def batch_normalization(
    inputs,
    axis=-1,
    momentum=0.99,
    epsilon=1e-3,
    center=True,
    scale=True,
    beta_initializer=_ZEROS,
    gamma_initializer=_ONES,
    moving_mean_initializer=_ZEROS,
    moving_variance_initializer=_ONES,
    beta_regularizer=None,
    gamma_regularizer=None,
    beta_constraint=None,
    gamma_constraint=None,
    training=False,
    trainable=True,
    name=None,
    reuse=None,
    renorm=False,
    renorm_clipping=None,
    renorm_momentum=0.99,
    fused=None,
    virtual_batch_size=None,
    adjustment=None,
) -> Tensor:
    """The output of a `BatchNormalization` layer; `reuse` shares the variables of its name.

    >>> with tf.Graph().as_default():
    ...     y = tf.compat.v1.layers.batch_normalization(tf.ones([2, 3]), training=True)
    ...     len(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS))
    2
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
        renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _scope=name,
        _reuse=reuse,
    )  # fmt: skip
    return layer(inputs, training=training)
