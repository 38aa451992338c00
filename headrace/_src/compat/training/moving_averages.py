"""`tf.train.ExponentialMovingAverage`: running averages of variables and tensors."""

from typing import Any

from headrace._src.compat.graph_keys import GraphKeys, add_to_collection, trainable_variables
from headrace._src.compat.training.optimizer_base import after
from headrace._src.compat.training.slots import base_name, create_slot, create_zeros_slot
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.graph.building.dependencies import group
from headrace._src.graph.building.graph_variables import GraphVariable
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.math.arithmetic import MINIMUM
from headrace._src.state.variables import Variable

_FLOATS = ("float16", "float32", "float64", "bfloat16")


@api("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Keeps averages: at each update `average = decay * average + (1 - decay) * value`.

    Args:
        decay: how much of the average is kept.
        num_updates: with the number of updates so far, the decay is at most `(1 + num_updates) / (10 + num_updates)`.
        zero_debias: correct averages of tensors, which begin at zero.
        name: what the averages are called.

    >>> v = tf.Variable(0.0)
    >>> ema = tf.train.ExponentialMovingAverage(0.5)
    >>> ema.apply([v])
    >>> _ = v.assign(4.0)
    >>> ema.apply([v])
    >>> ema.average(v).numpy()
    np.float32(2.0)
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage") -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict = {}  # id to what is averaged and its average
        self._bias: dict = {}  # id to the average from zero and the number of updates

    @property
    def name(self) -> str:
        """What the averages are called."""
        return self._name

    def apply(self, var_list=None) -> Any:
        """Take in the values of variables (by default the trainable ones) or tensors.

        Returns:
            In a graph the operation that does so; None eagerly.
        """
        if var_list is None:
            var_list = trainable_variables()
        for item in var_list:
            if item.dtype.base_dtype.name not in _FLOATS:
                raise TypeError(f"The variables must be half, float, or double, got {item.dtype.name}: {item!r}.")
            if id(item) not in self._averages:
                self._averages[id(item)] = (item, self._make(item))
        with name_scope(self._name) as scope:
            updates = [self._update(item) for item in var_list]
            return None if context.graph is None else group(*updates, name=scope)

    def _make(self, item):
        if isinstance(item, Variable):
            if isinstance(item, GraphVariable):
                average = create_slot(item, item.initialized_value, self._name)
            else:
                average = create_slot(item, item.value, self._name)
            if context.graph is not None:
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
            return average
        if context.graph is None:
            raise TypeError(f"Eagerly only variables have averages, got {item!r}.")
        average = create_zeros_slot(item, self._name)
        if self._zero_debias:
            self._bias[id(item)] = (
                create_zeros_slot(average, "biased"),
                create_slot(average, lambda: to_tensor(0.0, average.dtype.base_dtype), "local_step"),
            )
        return average

    def _kept(self, dtype):
        decay = to_tensor(self._decay, dtype)
        if self._num_updates is not None:
            number = self._num_updates
            number = number.value() if isinstance(number, Variable) else to_tensor(number)
            number = CAST(number, DstT=dtype)
            decay = MINIMUM(decay, (1.0 + number) / (10.0 + number))
        return decay

    def _update(self, item):
        average = self._averages[id(item)][1]
        value = item.value() if isinstance(item, Variable) else item
        rest = 1.0 - self._kept(value.dtype)
        if id(item) not in self._bias:
            return average.assign_sub((average.value() - value) * rest)
        biased, steps = self._bias[id(item)]
        changes = [biased.assign_sub((biased.value() - value) * rest), steps.assign_add(1.0)]
        with after(changes):
            return average.assign(biased.value() / (1.0 - (1.0 - rest) ** steps.value()))

    def average(self, var) -> Variable:
        """The variable that keeps the average of `var`; None if there is none."""
        found = self._averages.get(id(var))
        return None if found is None else found[1]

    def average_name(self, var) -> str:
        """What the average of `var` is or would be called."""
        found = self.average(var)
        return f"{base_name(var)}/{self._name}" if found is None else base_name(found)

    def variables_to_restore(self, moving_avg_variables=None) -> dict:
        """Names to variables: those that have averages under the names of these, the others under their own."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + [item for item, _ in self._averages.values()]
        found = {self.average_name(var): var for var in moving_avg_variables}
        averaged = {id(var) for var in moving_avg_variables}
        from_graph = context.graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if context.graph is not None else []
        kept = {id(average) for _, average in self._averages.values()}
        for var in from_graph:
            if id(var) not in averaged and id(var) not in kept:
                found[base_name(var)] = var
        return found
