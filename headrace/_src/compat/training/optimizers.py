"""The optimizers of 1.x: `GradientDescentOptimizer`, `MomentumOptimizer`, `AdamOptimizer` and others."""

from headrace._src.compat.training.optimizer_base import Optimizer, after
from headrace._src.compat.variables.initializers import Constant, Ones
from headrace._src.core.context import context
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.scattering import TENSOR_SCATTER_ADD
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.elementwise import ABS, SIGN, SQRT
from headrace._src.ops.math.powers import POW


def _sqrt(x):
    return SQRT(x)


class StepOptimizer(Optimizer):
    """An optimizer whose settings are numbers, tensors, or functions that return them.

    Subclasses define `_step(grad, value, state)`, which is given the gradient, the variable's value and that of each
    slot (whole, or some rows of each), and returns the new ones.
    """

    _settings: tuple = ()  # attributes
    _slots_wanted: tuple = ()  # (name of the slot, function of variable that makes its first value, or None for zeros)

    def _create_slots(self, var_list):
        for variable in var_list:
            for slot, initializer in self._slot_plan():
                if initializer is None:
                    self._zeros_slot(variable, slot, self._name)
                else:
                    dtype = variable.dtype.base_dtype
                    self._get_or_make_slot_with_initializer(
                        variable, initializer, variable.shape, dtype, slot, self._name
                    )

    def _slot_plan(self):
        return self._slots_wanted

    def _prepare(self):
        self._tensors = {name: self._call_if_callable(getattr(self, name)) for name in self._settings}

    def _setting(self, name, dtype):
        value = self._tensors[name]
        return to_tensor(value, dtype) if not hasattr(value, "dtype") else CAST(value, DstT=dtype)

    def _states(self, var):
        return [self.get_slot(var, slot) for slot, _ in self._slot_plan()]

    def _apply_dense(self, grad, var):
        slots = self._states(var)
        self._dtype = var.dtype.base_dtype
        old = [slot.value() for slot in slots]
        if context.graph is not None and type(self)._value is not StepOptimizer._value:
            # The variable is computed from what the slots hold then, not from what was put there: XLA else computes
            # the new state once more, out of the old one, which it must copy before it writes the new one over it.
            with after([slot.assign(state) for slot, state in zip(slots, self._new_states(grad, *old))]):
                return var.assign(self._value(grad, var.value(), *(slot.value() for slot in slots)))
        value, *states = self._step(grad, var.value(), *old)
        updates = [slot.assign(state) for slot, state in zip(slots, states)]
        # Everything new is computed before the variable changes, since state and variable may be one thing's parts.
        with after(updates):
            return var.assign(value)

    def _apply_sparse(self, grad, var):
        slots = self._states(var)
        self._dtype = var.dtype.base_dtype
        rows = grad.indices
        old = [GATHER_V2(variable.value(), rows, 0) for variable in (var, *slots)]
        value, *states = self._step(grad.values, *old)
        updates = [slot.scatter_update(IndexedSlices(state, rows)) for slot, state in zip(slots, states)]
        with after(updates):
            return var.scatter_update(IndexedSlices(value, rows))

    def _step(self, grad, value, *states):
        """The new value and the new states; or a subclass defines these two functions."""
        states = self._new_states(grad, *states)
        return self._value(grad, value, *states), *states

    def _new_states(self, grad, *states):
        """The new states, which do not depend on the variable."""
        raise NotImplementedError(f"{type(self).__name__}._new_states")

    def _value(self, grad, value, *states):
        """The new value, given the new states."""
        raise NotImplementedError(f"{type(self).__name__}._value")


@api("compat.v1.train.GradientDescentOptimizer")
class GradientDescentOptimizer(StepOptimizer):
    """Subtracts the gradient, times the learning rate."""

    _settings = ("_learning_rate",)

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply_dense(self, grad, var):
        return var.assign_sub(grad * self._setting("_learning_rate", grad.dtype))

    def _apply_sparse_duplicate_indices(self, gradient, variable):
        values = gradient.values * self._setting("_learning_rate", gradient.values.dtype)
        return variable.scatter_sub(IndexedSlices(values, gradient.indices))


@api("compat.v1.train.MomentumOptimizer")
class MomentumOptimizer(StepOptimizer):
    """Gradient descent along a running sum of gradients.

    Args:
        learning_rate: the learning rate.
        momentum: how much of the sum is kept at each step.
        use_locking: accepted.
        name: the name of the operations and the state.
        use_nesterov: look one step ahead.
    """

    _settings = ("_learning_rate", "_momentum")
    _slots_wanted = (("momentum", None),)

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _new_states(self, grad, total):
        return (total * self._setting("_momentum", grad.dtype) + grad,)

    def _value(self, grad, value, total):
        rate = self._setting("_learning_rate", grad.dtype)
        if self._use_nesterov:
            return value - (grad * rate + total * self._setting("_momentum", grad.dtype) * rate)
        return value - total * rate


@api("compat.v1.train.AdamOptimizer")
class AdamOptimizer(StepOptimizer):
    """Steps scaled by running means of the gradient and of its square.

    Args:
        learning_rate: the learning rate.
        beta1, beta2: how much of the means is kept at each step.
        epsilon: added to the divisor.
        use_locking: accepted.
        name: the name of the operations and the state.
    """

    _settings = ("_lr", "_beta1", "_beta2", "_epsilon")
    _slots_wanted = (("m", None), ("v", None))

    def __init__(
        self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(self._call_if_callable(self._beta2), "beta2_power", first)
        super()._create_slots(var_list)

    def _get_beta_accumulators(self):
        graph = self._state_graph()
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable("beta2_power", graph)

    def _prepare(self):
        super()._prepare()
        self._powers = tuple(power.value() for power in self._get_beta_accumulators())

    def _rates(self, dtype):
        power1, power2 = (CAST(power, DstT=dtype) for power in self._powers)
        rate = self._setting("_lr", dtype) * _sqrt(1 - power2) / (1 - power1)
        return rate, *(self._setting(name, dtype) for name in ("_beta1", "_beta2", "_epsilon"))

    def _new_states(self, grad, mean, square):
        _, beta1, beta2, _ = self._rates(grad.dtype)
        return mean + (grad - mean) * (1 - beta1), square + (grad * grad - square) * (1 - beta2)

    def _value(self, grad, value, mean, square):
        rate, _, _, epsilon = self._rates(grad.dtype)
        return value - mean * rate / (_sqrt(square) + epsilon)

    def _apply_sparse(self, grad, var):
        # TF: the means of all rows decay, and all rows move.
        values, rows = grad.values, grad.indices
        rate, beta1, beta2, epsilon = self._rates(values.dtype)
        mean, square = self.get_slot(var, "m"), self.get_slot(var, "v")
        moved = []
        for slot, beta, row in ((mean, beta1, values), (square, beta2, values * values)):
            column = EXPAND_DIMS(rows, -1)
            moved.append(TENSOR_SCATTER_ADD(slot.value() * beta, column, row * (1 - beta)))
        updates = [mean.assign(moved[0]), square.assign(moved[1])]
        with after(updates):
            return var.assign_sub(rate * moved[0] / (_sqrt(moved[1]) + epsilon))

    def _finish(self, update_ops, name_scope):
        power1, power2 = self._get_beta_accumulators()
        with after(update_ops):
            changes = [
                power.assign(old * self._setting(name, old.dtype))
                for power, old, name in zip((power1, power2), self._powers, ("_beta1", "_beta2"))
            ]
        if context.graph is None:
            return None
        return super()._finish([*update_ops, *changes], name_scope)


@api("compat.v1.train.AdagradOptimizer")
class AdagradOptimizer(StepOptimizer):
    """Steps divided by the root of the sum of all squared gradients."""

    _settings = ("_learning_rate",)

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _slot_plan(self):
        return (("accumulator", Constant(self._initial_accumulator_value)),)

    def _new_states(self, grad, total):
        return (total + grad * grad,)

    def _value(self, grad, value, total):
        return value - self._setting("_learning_rate", grad.dtype) * grad / _sqrt(total)


@api("compat.v1.train.RMSPropOptimizer")
class RMSPropOptimizer(StepOptimizer):
    """Steps divided by the root of a running mean of squared gradients.

    Args:
        learning_rate: the learning rate.
        decay: how much of the mean is kept at each step.
        momentum: how much of the last step is made again.
        epsilon: added to the mean.
        use_locking: accepted.
        centered: subtract the square of a running mean of gradients.
        name: the name of the operations and the state.
    """

    _settings = ("_learning_rate", "_decay", "_momentum", "_epsilon")

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered

    def _slot_plan(self):
        return (("rms", Ones()), *((("mg", None),) if self._centered else ()), ("momentum", None))

    def _step(self, grad, value, square, *states):
        *mean, last = states
        rate, decay, momentum, epsilon = (self._setting(name, grad.dtype) for name in self._settings)
        square = square + (grad * grad - square) * (1 - decay)
        scale = square + epsilon
        if mean:
            mean = [mean[0] + (grad - mean[0]) * (1 - decay)]
            scale = square - mean[0] * mean[0] + epsilon
        last = last * momentum + rate * grad / _sqrt(scale)
        return value - last, square, *mean, last


@api("compat.v1.train.AdadeltaOptimizer")
class AdadeltaOptimizer(StepOptimizer):
    """Steps scaled by the ratio of running means of squared steps and squared gradients."""

    _settings = ("_lr", "_rho", "_epsilon")
    _slots_wanted = (("accum", None), ("accum_update", None))

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta") -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _step(self, grad, value, square, steps):
        rate, rho, epsilon = (self._setting(name, grad.dtype) for name in self._settings)
        square = square * rho + grad * grad * (1 - rho)
        step = _sqrt(steps + epsilon) / _sqrt(square + epsilon) * grad
        steps = steps * rho + step * step * (1 - rho)
        return value - step * rate, square, steps


@api("compat.v1.train.FtrlOptimizer")
class FtrlOptimizer(StepOptimizer):
    """Follow the regularized leader: sparse solutions through an l1 term.

    Args:
        learning_rate: the learning rate.
        learning_rate_power: how it decreases, at most 0.
        initial_accumulator_value: where the sums of squares begin.
        l1_regularization_strength, l2_regularization_strength: at least 0.
        use_locking: accepted.
        name: the name of the operations and the state.
        accum_name, linear_name: names of the two kinds of state.
        l2_shrinkage_regularization_strength: a penalty on magnitudes.
        beta: added to the root of the sums of squares.
    """

    _settings = ("_learning_rate", "_learning_rate_power", "_l1", "_l2", "_shrinkage", "_beta")

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None) -> None:
        super().__init__(use_locking, name)
        for label, number, good in (
            ("initial_accumulator_value", initial_accumulator_value, initial_accumulator_value >= 0.0),
            ("learning_rate_power", learning_rate_power, learning_rate_power <= 0.0),
            ("l1_regularization_strength", l1_regularization_strength, l1_regularization_strength >= 0.0),
            ("l2_regularization_strength", l2_regularization_strength, l2_regularization_strength >= 0.0),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength,
             l2_shrinkage_regularization_strength >= 0.0),
        ):  # fmt: skip
            if not good:
                raise ValueError(f"FtrlOptimizer: {label} has the wrong sign: {number}")
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name = accum_name
        self._linear_name = linear_name

    def _slot_plan(self):
        return (("accum", Constant(self._initial_accumulator_value)), ("linear", None))

    def _create_slots(self, var_list):
        for variable in var_list:
            self._get_or_make_slot_with_initializer(
                variable, Constant(self._initial_accumulator_value), variable.shape, variable.dtype.base_dtype, "accum",
                self._accum_name or self._name,
            )  # fmt: skip
            self._zeros_slot(variable, "linear", self._linear_name or self._name)

    def _step(self, grad, value, square, linear):
        rate, power, l1, l2, shrinkage, beta = (self._setting(name, grad.dtype) for name in self._settings)
        l2 = l2 + beta / (2.0 * rate)
        total = square + grad * grad
        shrunk = grad + 2.0 * shrinkage * value
        linear = linear + shrunk - (POW(total, -power) - POW(square, -power)) / rate * value
        quadratic = POW(total, -power) / rate + 2.0 * l2
        moved = (SIGN(linear) * l1 - linear) / quadratic
        value = SELECT_V2(ABS(linear) > l1, moved, ZEROS_LIKE(moved))
        return value, total, linear


def _proximal(value, rate, l1, l2):
    """The step that l1 and l2 terms ask for after a gradient step."""
    shrunk = MAXIMUM(ABS(value) - rate * l1, ZEROS_LIKE(value))
    return SIGN(value) * shrunk / (1.0 + rate * l2)


@api("compat.v1.train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(StepOptimizer):
    """Gradient descent with l1 and l2 terms that are minimised exactly at each step."""

    _settings = ("_learning_rate", "_l1", "_l2")

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _step(self, grad, value):
        rate, l1, l2 = (self._setting(name, grad.dtype) for name in self._settings)
        return (_proximal(value - rate * grad, rate, l1, l2),)


@api("compat.v1.train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(StepOptimizer):
    """Adagrad with l1 and l2 terms that are minimised exactly at each step."""

    _settings = ("_learning_rate", "_l1", "_l2")

    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _slot_plan(self):
        return (("accumulator", Constant(self._initial_accumulator_value)),)

    def _step(self, grad, value, total):
        rate, l1, l2 = (self._setting(name, grad.dtype) for name in self._settings)
        total = total + grad * grad
        rate = rate / _sqrt(total)
        return _proximal(value - rate * grad, rate, l1, l2), total


@api("compat.v1.train.AdagradDAOptimizer")
class AdagradDAOptimizer(StepOptimizer):
    """Adagrad by dual averaging: the variable is computed anew from the sums of gradients and of their squares."""

    _settings = ("_learning_rate", "_l1", "_l2")

    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _slot_plan(self):
        return (("gradient_accumulator", None), ("gradient_squared_accumulator", Constant(self._initial)))

    def _prepare(self):
        super()._prepare()
        self._steps = to_tensor(self._global_step) + 1

    def _step(self, grad, value, total, square):
        rate, l1, l2 = (self._setting(name, grad.dtype) for name in self._settings)
        steps = CAST(self._steps, DstT=grad.dtype)
        total, square = total + grad, square + grad * grad
        shrunk = MAXIMUM(ABS(total) - l1 * steps, ZEROS_LIKE(total))
        moved = SIGN(total) * shrunk
        return -rate * moved / (l2 * steps * rate + _sqrt(square)), total, square


