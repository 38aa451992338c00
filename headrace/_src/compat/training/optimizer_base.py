"""What the optimizers of 1.x share: gradients of a loss, the updates of variables, and the state kept for each."""

import functools
from typing import Any

from headrace._src.autodiff.gradient_tape import GradientTape
from headrace._src.compat.graph_keys import GraphKeys, get_collection, grouped, trainable_variables
from headrace._src.compat.training.slots import base_name, create_slot, create_zeros_slot
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core.context import context, outside_functions
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import SaveType, Trackable
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.building.graph_variables import GraphVariable, RefVariable
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.derivatives.gradients import gradients
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.partitioning import UNIQUE
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.state.variables import Variable


@api("compat.v1.train.Optimizer")
class Optimizer(Trackable):
    """The base of optimizers: subclasses say how a variable and its state change, given a gradient.

    Args:
        use_locking: accepted; updates are never torn.
        name: the name of the operations and of the state.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict] = {}  # name of the slot to the id of a variable to both variables
        self._non_slots: dict = {}  # (name, graph or None) to variable
        self._waiting_slots: dict = {}  # (name of the slot, id of a variable) to restores that wait for it

    def get_name(self) -> str:
        """The name of this optimizer."""
        return self._name

    # Gradients.

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ) -> Any:
        """Change variables so that the loss becomes smaller; in a graph, when the result is run.

        Args:
            loss: a tensor; eagerly, a function without arguments that returns one.
            global_step: a variable that is increased by one.
            var_list: the variables; by default the trainable ones of the graph.
            gate_gradients, aggregation_method, colocate_gradients_with_ops: accepted.
            name: a name for the operation.
            grad_loss: the gradient of the loss to begin with.
        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method,
                                       colocate_gradients_with_ops, grad_loss)
        if not any(gradient is not None for gradient, _ in pairs):
            variables = [str(variable) for _, variable in pairs]
            raise ValueError(
                f"No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {variables} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ) -> list:
        """Pairs of a gradient (or None) and its variable."""
        if callable(loss) and not isinstance(loss, Tensor):
            with GradientTape() as tape:
                if var_list is not None:
                    tape.watch(var_list)
                value = loss()
            if var_list is None:
                var_list = tape.watched_variables()
            return list(zip(tape.gradient(value, var_list, grad_loss), var_list))
        if context.graph is None:
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH. Not {gate_gradients}")
        if var_list is None:
            var_list = trainable_variables() + get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        elif isinstance(var_list, Variable):
            var_list = [var_list]
        var_list = list(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        for variable in var_list:
            if not isinstance(variable, (Variable, Tensor)):
                raise TypeError(f"Argument is not a tf.Variable: {variable}")
        found = gradients(loss, var_list, None if grad_loss is None else [grad_loss])
        return list(zip(found, var_list))

    # Updates.

    def apply_gradients(self, grads_and_vars, global_step=None, name=None) -> Any:
        """Change variables by their gradients; in a graph, an operation that does so.

        Args:
            grads_and_vars: pairs as `compute_gradients` returns them.
            global_step: a variable that is increased by one afterwards.
            name: a name for the operation; by default the optimizer's.
        """
        pairs = [(_converted(gradient), variable) for gradient, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        given = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not given:
            names = [str(variable) for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        graph = context.graph
        if graph is None:
            self._create_slots([variable for _, variable in given])
            self._prepare()
            for gradient, variable in given:
                self._update(gradient, variable)
            self._finish([], name or self._name)
            if global_step is not None:
                global_step.assign_add(1)
            return None
        with graph.control_dependencies(None) if not graph.building_function else name_scope(""):
            self._create_slots([variable for _, variable in given])
        with name_scope(name or self._name) as scope:
            self._prepare()
            updates = []
            first = _gradients_of_references(given)
            for gradient, variable in given:
                label = base_name(variable).replace(":", "_")
                with name_scope(f"update_{label}"), graph.control_dependencies(first):
                    updates.append(self._update(gradient, variable))
            updates = [operation for operation in map(operation_of, updates) if operation is not None]
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                with graph.control_dependencies([self._finish(updates, "update")]):
                    one = to_tensor(1, global_step.dtype.base_dtype)
                    train = operation_of(global_step.assign_add(one, name=scope))
        if isinstance(graph, BaseGraph) and not graph.building_function:
            if train not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
                graph.add_to_collection(GraphKeys.TRAIN_OP, train)
        return train

    def _update(self, gradient, variable):
        if isinstance(gradient, IndexedSlices):
            update = self._apply_sparse_duplicate_indices(gradient, variable)
        else:
            update = self._apply_dense(gradient, variable)
        constraint = getattr(variable, "constraint", None)
        if constraint is None:
            return update
        if context.graph is None:
            return variable.assign(constraint(variable.value()))
        with context.graph.control_dependencies([update]):
            return variable.assign(constraint(variable.value()))

    def _apply_sparse_duplicate_indices(self, gradient, variable):
        values, rows = add_duplicates(gradient.values, gradient.indices)
        return self._apply_sparse(IndexedSlices(values, rows, gradient.dense_shape), variable)

    # What subclasses define.

    def _create_slots(self, var_list):
        """Make the state that the variables need."""

    def _prepare(self):
        """Make tensors of the settings."""

    def _apply_dense(self, grad, var):
        """Change a variable by a gradient of its shape."""
        raise NotImplementedError(f"{type(self).__name__}._apply_dense")

    def _apply_sparse(self, grad, var):
        """Change some rows of a variable; each is named once."""
        raise NotImplementedError(f"{type(self).__name__}._apply_sparse")

    def _finish(self, update_ops, name_scope):
        """What comes after all updates; in a graph, the operation that stands for all."""
        return None if context.graph is None else grouped(update_ops, name_scope)

    def _call_if_callable(self, param):
        """A setting that may be given as a function."""
        return param() if callable(param) and not isinstance(param, (Tensor, Variable)) else param

    # State.

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def get_slot(self, var, name) -> Variable:
        """The variable that keeps `name` for `var`; None if there is none."""
        found = self._slots.get(name, {}).get(id(var))
        return None if found is None else found[1]

    def get_slot_names(self) -> list:
        """The names of the state that is kept for variables."""
        return sorted(self._slots)

    def variables(self) -> list:
        """All variables that keep the state of this optimizer, by name."""
        graph = outside_functions(context.graph)
        own = [v for (_, owner), v in self._non_slots.items() if owner is graph]
        own += [slot for slots in self._slots.values() for variable, slot in slots.values()
                if getattr(variable, "_graph", None) is graph]
        return sorted(own, key=lambda variable: variable.name)

    def _zeros_slot(self, var, slot_name, op_name):
        return self._slot(var, slot_name, lambda: create_zeros_slot(var, op_name))

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        return self._slot(var, slot_name, lambda: create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        make = functools.partial(initializer, shape.as_list(), dtype=dtype)
        return self._slot(var, slot_name, lambda: create_slot(var, make, op_name))

    def _slot(self, var, slot_name, make):
        slots = self._slot_dict(slot_name)
        if id(var) not in slots:
            slots[id(var)] = (var, make())
            self._restore_slot_variable(slot_name=slot_name, variable=var, slot_variable=slots[id(var)][1])
        return slots[id(var)][1]

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        graph = getattr(colocate_with, "_graph", None)
        key = (name, graph)
        if key not in self._non_slots:
            self._non_slots[key] = make_variable(
                initial_value=initial_value, name=name, trainable=False,
                use_resource=not isinstance(colocate_with, RefVariable) if graph is not None else None,
            )  # fmt: skip
            self._handle_deferred_dependencies(name, self._non_slots[key])
        return self._non_slots[key]

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slots.get((name, graph))

    def _state_graph(self):
        """The graph whose state belongs to the updates made now; None eagerly."""
        graph = outside_functions(context.graph)
        return graph


    # Checkpoints.

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, cache=None, **kwargs):
        graph = self._state_graph()
        own = {name: variable for (name, owner), variable in sorted(self._non_slots.items(), key=lambda x: x[0][0])
               if owner is graph}
        return {**super()._trackable_children(save_type, cache, **kwargs), **own}

    def _lookup_dependency(self, name, cached_dependencies=None):
        found = super()._lookup_dependency(name, cached_dependencies)
        return self._get_non_slot_variable(name, self._state_graph()) if found is None else found

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        """Restore what is kept for a variable: now, or as soon as there is something."""
        slot = self.get_slot(variable, slot_name)
        if slot is None and context.graph is None:
            slot = self._get_or_make_slot(variable, slot_variable_position.value(), slot_name, self._name)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._waiting_slots.setdefault((slot_name, id(variable)), []).append(slot_variable_position)

    def _restore_slot_variable(self, slot_name, variable, slot_variable):
        """Restore what has just been made for a variable; the latest checkpoint wins."""
        for position in reversed(self._waiting_slots.pop((slot_name, id(variable)), [])):
            position.restore(slot_variable)


def _converted(gradient):
    if gradient is None or isinstance(gradient, IndexedSlices):
        return gradient
    return to_tensor(gradient)


def operation_of(update):
    """The operation behind what an assignment returned."""
    if update is None or isinstance(update, Operation):
        return update
    operation = update if isinstance(update, Tensor) else getattr(update, "_operation", None)
    if isinstance(operation, Tensor):
        operation = operation.op
    if operation is None and isinstance(update, GraphVariable):
        return None  # an assignment inside a function, which happens in its turn
    return operation


def add_duplicates(values, indices):
    """Rows that are named several times added up: the sums, and each index once."""
    unique = UNIQUE(to_tensor(indices))
    count = SHAPE(unique.y)[0]
    return UNSORTED_SEGMENT_SUM(values, unique.idx, count), unique.y


def after(updates):
    """A block whose operations run after all of `updates`; eagerly they have run."""
    graph = context.graph
    if graph is None:
        return _NOTHING
    return graph.control_dependencies([op for op in map(operation_of, updates) if op is not None])


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return None


_NOTHING = _Nothing()


def _gradients_of_references(pairs):
    """What updates wait for where a variable has no handle: all gradients.

    Operations here run in the order in which they were made. TensorFlow, which may take over the graph, would read such
    a variable for one gradient when it has been changed by another already.
    """
    if not any(isinstance(variable, RefVariable) for _, variable in pairs):
        return []
    return [gradient.values if isinstance(gradient, IndexedSlices) else gradient for gradient, _ in pairs]
