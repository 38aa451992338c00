"""What checkpoints save of Keras's variables and metrics. `replacements.py` says where in Keras this goes."""

from __future__ import annotations

from headrace._src.core.trackable import Trackable, register_parts, wrap


def serialize_variable(original, self):
    """`Variable._serialize_to_tensors`: nothing while there is no value, and never a value cast for a layer."""
    return {"VARIABLE_VALUE": None} if self._value is None else self._value._serialize_to_tensors()


# Metrics, which are no trackable objects in Keras: a checkpoint that is given one saves its variables.


class MetricParts(Trackable):
    """The variables and metrics that are attributes of a metric, by name; others by their number."""

    def __init__(self, metric):
        self.metric = metric

    def _trackable_children(self, save_type="checkpoint", cache=None, **kwargs):
        children, known = {}, set()
        for name, value in vars(self.metric).items():
            part = parts_of(value) if _is_metric(value) else value
            if isinstance(part, Trackable) and part is not self and not isinstance(part, list):
                children[name] = part
                known |= {id(part), *(id(variable) for variable in getattr(value, "variables", ()))}
        others = [variable for variable in self.metric.variables if id(variable) not in known]
        return {**children, "_variables": wrap(others)} if others else children

    def _lookup_dependency(self, name, cached_dependencies=None):
        return self._trackable_children().get(name)


_PARTS = "_self_checkpoint_parts"


def parts_of(metric) -> MetricParts:
    """What stands for a metric in checkpoints."""
    parts = metric.__dict__.get(_PARTS)
    if parts is None:
        parts = metric.__dict__[_PARTS] = MetricParts(metric)
    return parts


def _is_metric(value):
    return hasattr(type(value), "update_state") and hasattr(type(value), "add_variable") and hasattr(value, "variables")


def register_metrics(module):
    """Lets checkpoints take metrics."""
    register_parts(module.Metric, parts_of)


def set_attribute(original, self, name, value):
    """`Metric.__setattr__`: a variable that a checkpoint waits for is restored."""
    original(self, name, value)
    parts = self.__dict__.get(_PARTS)
    if parts is not None:
        part = parts_of(value) if _is_metric(value) else value
        if isinstance(part, Trackable):
            parts._handle_deferred_dependencies(name, part)
