"""`Dense`, `Dropout`, `Flatten`, and their functions."""

from typing import Any

from headrace._src.compat.functions.control_flow import cond
from headrace._src.compat.layers.base import InputSpec, Layer
from headrace._src.compat.variables.initializers import Zeros
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays import measuring, passing, rearranging, shaping
from headrace._src.ops.linalg import einsum, matmul
from headrace._src.ops.nn import bias
from headrace._src.ops.nn import dropout as nn_dropout
from headrace._src.ops.sparse import matmul as sparse_matmul
from headrace._src.ops.sparse.tensor import SparseTensor


def chosen(condition, true_fn, false_fn) -> Any:
    """One of two results: chosen now where the condition is known, otherwise when the graph runs.

    Args:
        condition: a boolean, a number or a scalar boolean tensor.
        true_fn, false_fn: functions without arguments.
    """
    known = known_condition(condition)
    if known is None:
        return cond(condition, true_fn, false_fn)
    return true_fn() if known else false_fn()


def known_condition(condition) -> bool | None:
    """Whether the condition holds; None where that is known only when the graph runs.

    Args:
        condition: a boolean, a number or a scalar boolean tensor.
    """
    if isinstance(condition, (bool, int)):
        return bool(condition)
    value = measuring.get_static_value(condition)
    return None if value is None else bool(value)


@api("compat.v1.layers.Dense")
class Dense(Layer):
    """`activation(matmul(inputs, kernel) + bias)`.

    Args:
        units: how many outputs.
        activation: a function, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: initial values.
        kernel_regularizer, bias_regularizer, activity_regularizer: functions whose results are losses.
        kernel_constraint, bias_constraint: functions that optimizers apply after updates.
        trainable: whether the variables are trained.
        name: a name for the layer.
    """

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer=None,
        bias_initializer=Zeros(),
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        if self.units <= 0:
            raise ValueError(f"Dense: units must be a positive integer, got {units}.")
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.bias: Any = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape) -> None:
        """Make kernel and bias.

        Args:
            input_shape: the shape of the input.
        """
        dtype = self.dtype or dtypes.float32
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Dense: inputs must be floating numbers, got {dtype.name}. Convert them with tf.cast.")
        input_shape = TensorShape(input_shape)
        last = input_shape.as_list()[-1]
        if last is None:
            raise ValueError("Dense: the last dimension of the inputs must be known, for the shape of the kernel. Got "
                             f"inputs of shape {input_shape}.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight("kernel", [last, self.units], None, self.kernel_initializer,
                                      self.kernel_regularizer, True, self.kernel_constraint)
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.units], None, self.bias_initializer, self.bias_regularizer, True,
                                        self.bias_constraint)
        self.built = True

    def call(self, inputs) -> Tensor:
        """The outputs.

        Args:
            inputs: a tensor of at least two dimensions.
        """
        rank = inputs.shape.rank
        if isinstance(inputs, SparseTensor):
            outputs = sparse_matmul.sparse_dense_matmul(inputs, self.kernel)
        elif rank == 2:
            outputs = matmul.matmul(inputs, self.kernel)
        else:
            outputs = einsum.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        if self.bias is not None:
            outputs = bias.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)


@api("compat.v1.layers.dense", dispatch=False)
def dense(
    inputs,
    units,
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=Zeros(),
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
) -> Tensor:
    """The output of a `Dense` layer; the arguments are its own, and `reuse` to share the variables of its name.

    >>> with tf.Graph().as_default():
    ...     tf.compat.v1.layers.dense(tf.ones([2, 3]), 4, activation=tf.nn.relu).name
    'dense/Relu:0'
    """
    return Dense(
        units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


@api("compat.v1.layers.Dropout")
class Dropout(Layer):
    """Sets elements to zero while training.

    Args:
        rate: with which probability.
        noise_shape: the shape in which to draw.
        seed: the seed of the op.
        name: a name for the layer.
    """

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs) -> None:
        super().__init__(True, name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs, training=False) -> Tensor:
        """The input, with elements set to zero where `training` holds.

        Args:
            inputs: a tensor.
            training: a boolean or a scalar boolean tensor.
        """
        return chosen(
            training,
            lambda: nn_dropout.dropout(inputs, self.rate, self.noise_shape, self.seed),
            lambda: passing.identity(inputs),
        )


@api("compat.v1.layers.dropout", dispatch=False)
def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None) -> Tensor:
    """The output of a `Dropout` layer.

    >>> tf.compat.v1.layers.dropout(tf.ones([2]), 0.5, training=False).numpy().tolist()
    [1.0, 1.0]
    """
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


@api("compat.v1.layers.Flatten")
class Flatten(Layer):
    """All dimensions but the first as one.

    Args:
        data_format: "channels_last", or "channels_first": channels are moved to the end before.
    """

    def __init__(self, data_format=None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.data_format = check_format(data_format or "channels_last")
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs) -> Tensor:
        """The input with two dimensions.

        Args:
            inputs: a tensor.
        """
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = rearranging.transpose(inputs, [0, *range(2, rank), 1])
        dims = inputs.shape.as_list()
        rest = TensorShape(dims[1:]).num_elements()
        if rest is None and dims[0] is None:
            flat = shaping.reshape(inputs, [measuring.shape(inputs)[0], -1])
        else:
            flat = shaping.reshape(inputs, [-1, rest] if dims[0] is None else [dims[0], -1 if rest is None else rest])
        flat.set_shape([dims[0], rest])
        return flat


@api("compat.v1.layers.flatten", dispatch=False)
def flatten(inputs, name=None, data_format="channels_last") -> Tensor:
    """The output of a `Flatten` layer.

    >>> tf.compat.v1.layers.flatten(tf.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """
    return Flatten(data_format, name=name)(inputs)


def check_format(data_format: str) -> str:
    """The layout in small letters.

    Raises:
        ValueError: it is neither "channels_last" nor "channels_first".
    """
    lower = data_format.lower()
    if lower not in ("channels_first", "channels_last"):
        raise ValueError(f'data_format must be "channels_first" or "channels_last", got {data_format!r}.')
    return lower
