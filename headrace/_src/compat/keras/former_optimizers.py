"""Checkpoints of optimizers that Keras 2 wrote: what is the same in the optimizers of Keras 3.

Keras 2 had two kinds of optimizers. The older ones keep a slot for each variable (`m`, `rms`), and have settings such
as `beta_1` as variables; the newer ones have lists as Keras 3 has, but count the variables otherwise.
`replacements.py` says where in Keras these functions go; other files of Keras 2 are in
`former_optimizer_files.py`.
"""

from __future__ import annotations

import logging
import weakref
from typing import Any, NamedTuple

import numpy as np

from headrace._src.checkpoint.file_graph import FileGraph, FileNode, register_layout
from headrace._src.checkpoint.object_values import VARIABLE_VALUE
from headrace._src.compat.keras.tracking import add_part
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.trackable import RestoredSpec, Trackable

_logger = logging.getLogger("tensorflow")


class Slots(NamedTuple):
    """What an optimizer keeps for each variable: the list that it is in, and what Keras 2 called it."""

    attribute: str
    newer: str  # in the names of variables of the newer optimizers
    older: str | None = None  # as a slot of the older ones


# By the names of classes; subclasses have what their bases have.
SLOTS = {
    "BaseOptimizer": (Slots("_model_variables_moving_average", "average"),),
    "Adam": (Slots("_momentums", "m", "m"), Slots("_velocities", "v", "v"), Slots("_velocity_hats", "vhat", "vhat")),
    "SGD": (Slots("momentums", "m", "momentum"),),
    "RMSprop": (Slots("_velocities", "velocity", "rms"), Slots("_momentums", "momentum", "momentum"),
                Slots("_average_gradients", "average_gradient", "mg")),
    "Adagrad": (Slots("_accumulators", "accumulator", "accumulator"),),
    "Adadelta": (Slots("_accumulated_grads", "accumulated_grad", "accum_grad"),
                 Slots("_accumulated_delta_vars", "accumulated_delta_var", "accum_var")),
    "Adamax": (Slots("_m", "m", "m"), Slots("_u", "u", "v")),
    "Nadam": (Slots("_momentums", "m", "m"), Slots("_velocities", "v", "v")),
    "Ftrl": (Slots("_accumulators", "accumulator", "accumulator"), Slots("_linears", "linear", "linear")),
    "Lion": (Slots("_momentums", "m"),),
    "Adafactor": (Slots("_r", "r"), Slots("_c", "c"), Slots("_v", "v")),
}  # fmt: skip


def slots_of(optimizer: Any) -> tuple[Slots, ...]:
    """What an optimizer keeps for each variable, by its class."""
    known = next((SLOTS[cls.__name__] for cls in type(optimizer).__mro__ if cls.__name__ in SLOTS), ())
    return known if known is SLOTS["BaseOptimizer"] else (*known, *SLOTS["BaseOptimizer"])


# Checkpoints.


def register_optimizer(module):
    register_layout(module.BaseOptimizer, optimizer_children)


def register_loss_scale(module):
    register_layout(module.LossScaleOptimizer, loss_scale_children)


_OLDER_NAMES = {"iter": "_iterations", "learning_rate": "_learning_rate", "momentum_cache": "_u_product"}


def optimizer_children(graph: FileGraph, number: int, optimizer: Any) -> list[tuple[str, int]]:
    """The variables of an optimizer of either kind."""
    children = graph.nodes[number].children
    names = dict(children)
    if "iter" in names:
        return [(_older_name(graph, optimizer, name, child), child) for name, child in children]
    if "_variables" in names and _is_newer(graph, names):
        _leave_out_unused(graph, names, optimizer)
        return [(_newer_name(optimizer, name), child) for name, child in children if name != "_variables"]
    return children


def _newer_name(optimizer, name):
    lists = {slots.attribute for slots in slots_of(optimizer)}
    return f"_{name}" if name not in lists and f"_{name}" in lists else name  # Lion has another name today


def _is_newer(graph, names):
    """Whether the newer optimizers of Keras 2 wrote this: they do not count the learning rate among the variables."""
    counted = {child for _, child in graph.nodes[names["_variables"]].children}
    return "_index_dict" in names or ("_learning_rate" in names and names["_learning_rate"] not in counted)


def _leave_out_unused(graph, names, optimizer):
    """Keras 2 keeps momentums where there is no momentum: these values say nothing."""
    if "momentums" in names and not getattr(optimizer, "momentum", True):
        for _, child in graph.nodes[names["momentums"]].children:
            graph.nodes[child].attributes.clear()
    if "_current_learning_rate" in names:  # what a schedule gave last
        graph.nodes[names["_current_learning_rate"]].attributes.clear()


def _older_name(graph, optimizer, name, child):
    today = _OLDER_NAMES.get(name, name)
    if today in optimizer._trackable_children() or today == "_u_product":
        return today
    if graph.nodes[child].attributes and VARIABLE_VALUE in dict(graph.nodes[child].attributes):
        add_part(optimizer, name, _Setting(optimizer, name))
    return name


class _Setting(Trackable):
    """A setting of an optimizer that Keras 2 kept as a variable and Keras 3 has as a number."""

    def __init__(self, optimizer, name):
        self._optimizer = weakref.ref(optimizer)
        self._name = name

    def _serialize_to_tensors(self):
        return {}

    def _restored_specs(self):
        return {VARIABLE_VALUE: RestoredSpec(dtypes.float32, TensorShape([]))}

    def _restore_from_tensors(self, restored_tensors):
        optimizer, value = self._optimizer(), float(restored_tensors[VARIABLE_VALUE])
        current = _current(optimizer, self._name)
        if current is not None and np.float32(current) == np.float32(value):
            return
        if self._name == "decay" and type(optimizer).__name__ == "Nadam":
            why = "the momentum follows another schedule in Keras 3, so training goes on slightly otherwise"
        elif self._name in _OF_THE_RATE or current is None or optimizer.built:
            why = f"it stays {current}; make the optimizer with {self._name}={value:.7g}"
        else:
            setattr(optimizer, self._name, value)
            why = f"it is set to that, in the place of {current}"
        _logger.warning(
            "%s was saved by Keras 2 with %s=%.7g: %s.", type(optimizer).__name__, self._name, value, why
        )  # fmt: skip


_OF_THE_RATE = ("learning_rate", "decay")  # parts of a schedule, which stays as the program has made it


def _current(optimizer, name):
    """A setting of today: a number, or None for what there is none of."""
    schedule = optimizer._learning_rate
    if name == "learning_rate":
        return getattr(schedule, "initial_learning_rate", None)
    if name == "decay":
        return getattr(schedule, "decay_rate", 0.0)
    value = getattr(optimizer, name, None)
    return float(value) if isinstance(value, (int, float)) else None


def loss_scale_children(graph: FileGraph, number: int, optimizer: Any) -> list[tuple[str, int]]:
    """Keras 2 saved an optimizer with a loss scale like the optimizer inside, and the scale beside it."""
    children = graph.nodes[number].children
    names = dict(children)
    if "loss_scale" not in names:
        return children
    scale = dict(graph.nodes[names["loss_scale"]].children)
    of_inner = [(name, child) for name, child in children if name not in ("loss_scale", "base_optimizer")]
    own = [("inner_optimizer", graph.add(FileNode(of_inner)))]
    own += [("dynamic_scale", scale["current_loss_scale"])] if "current_loss_scale" in scale else []
    return own + ([("step_counter", scale["good_steps"])] if "good_steps" in scale else [])


# Slots.


def get_slot(self, var, slot_name):
    """What the optimizer keeps for a variable, by the name that Keras 2 has for it: `get_slot(v, "m")`.

    Raises:
        KeyError: it keeps nothing of that name, or nothing for that variable.
    """
    inner = getattr(self, "inner_optimizer", self)
    if inner is not self:
        return inner.get_slot(var, slot_name)
    for slots in slots_of(self):
        if slot_name in (slots.older, slots.attribute) and getattr(self, slots.attribute, None):
            return getattr(self, slots.attribute)[self._get_variable_index(var)]
    raise KeyError(f"{type(self).__name__} keeps no {slot_name!r} for {getattr(var, 'path', var)}.")


def restore_slot(self, slot_variable_position, slot_name, variable):
    """Take what a checkpoint has for a variable, as soon as the optimizer keeps it."""
    inner = getattr(self, "inner_optimizer", self)
    if inner is not self:
        inner._create_or_restore_slot_variable(slot_variable_position, slot_name, variable)
        return
    try:
        slot = self.get_slot(variable, slot_name)
    except KeyError:
        waiting = self.__dict__.setdefault("_headrace_waiting_slots", [])
        waiting.append((slot_variable_position, slot_name, weakref.ref(variable)))
    else:
        slot_variable_position.restore(slot)


def handle_deferred(original, self, name, trackable):
    """A list of the optimizer has been made: what waits for its variables is restored."""
    lists = self.__dict__.setdefault("_headrace_lists", {})
    before, lists[name] = lists.get(name), trackable
    original(self, name, trackable)
    if before is not None and before is not trackable:
        _move_waiting(before, trackable)  # an empty list was there first
    waiting = self.__dict__.get("_headrace_waiting_slots")
    slot_names = {slots.older for slots in slots_of(self) if slots.attribute == name} if waiting else ()
    if not slot_names:
        return
    left = self.__dict__["_headrace_waiting_slots"] = []
    for each in waiting:
        position, slot_name, variable = each[0], each[1], each[2]()
        place = None if variable is None else self._trainable_variables_indices.get(self._var_key(variable))
        kept = trackable._lookup_dependency(str(place)) if slot_name in slot_names else None
        if kept is None:
            left.append(each)
        else:
            position.restore(kept)


def _move_waiting(before, after):
    """Let what waits for items of a list wait for those of another one."""
    for name, positions in list(before._deferred_dependencies.items()):
        item = after._lookup_dependency(name)
        for position in positions:
            if item is None:
                after._defer_restoration(name, position)
            else:
                position.restore(item)
    before._deferred_dependencies.clear()
