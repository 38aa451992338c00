"""`add_loss`, `add_metric` and what belongs to them, as programs of TensorFlow 2.0 use them.

Keras 3 takes losses of tensors with values, inside of `call`. In 2.0 they could also be symbolic tensors of a
functional model, and functions without arguments. `replacements.py` says where in Keras each of these goes.
"""

from __future__ import annotations

import functools
import importlib

from headrace._src.core import nest


def _is_symbolic(value):
    return isinstance(value, importlib.import_module("keras").KerasTensor)


def _leaves(loss):
    return nest.flatten(loss) if isinstance(loss, (list, tuple, dict)) else [loss]


class _Followed:
    """Symbolic tensors that a functional model computes besides its outputs: its losses, and its metrics by name."""

    def __init__(self, model):
        self.losses, self.metrics = [], {}
        self._plain = model._run_through_graph

    def extend(self, model):
        """Let the model compute them: one graph that has the outputs and these."""
        function = importlib.import_module("keras.src.ops.function").Function
        everything = {"outputs": model._outputs_struct, "losses": self.losses, "metrics": self.metrics}
        self._graph = function(model._inputs_struct, everything, name=f"{model.name}_with_losses")
        layer = importlib.import_module("keras").layers.Layer
        known = {id(each) for each in model._flatten_layers()}
        for operation in self._graph.operations:
            if isinstance(operation, layer) and id(operation) not in known:
                model._tracker.track(operation)  # a layer that only a loss needs is trained as well
                if all(each is not operation for each in model._layers):  # Keras 3.13: another list than the tracker's
                    model._layers = [*model._layers, operation]
        model.__dict__["_run_through_graph"] = functools.partial(self._run, model)

    def _run(self, model, inputs, *args, **kwargs):
        results = self._graph._run_through_graph(inputs, *args, **kwargs)
        values = nest.flatten([results["losses"], results["metrics"]])
        if not any(map(_is_symbolic, values)):  # else only shapes are asked for
            for loss in results["losses"]:
                add_loss_in_call(model, loss)
            for name, value in results["metrics"].items():
                model.add_metric(value, name=name, aggregation="mean")
        return results["outputs"]


def add_loss_in_call(model, loss):
    """The loss of a call: of several samples it is the mean, as Keras 2 has it."""
    keras = importlib.import_module("keras")
    keras.layers.Layer.add_loss(model, keras.ops.mean(loss))


def _followed(model):
    if "_headrace_followed" not in model.__dict__:
        model.__dict__["_headrace_followed"] = _Followed(model)
    return model.__dict__["_headrace_followed"]


def add_loss_of_functional(original, self, loss, inputs=None, **kwargs):
    """`model.add_loss(tensor)`: a symbolic tensor that is computed from the model's inputs, or what layers take."""
    symbolic = [leaf for leaf in _leaves(loss) if _is_symbolic(leaf)]
    others = [leaf for leaf in _leaves(loss) if not _is_symbolic(leaf)]
    if symbolic:
        followed = _followed(self)
        followed.losses += symbolic
        followed.extend(self)
    if others:
        importlib.import_module("keras").layers.Layer.add_loss(self, others)


def add_loss(original, self, loss, inputs=None, **kwargs):
    """`layer.add_loss`, also of functions without arguments, which are asked whenever the losses are."""
    functions = [leaf for leaf in _leaves(loss) if callable(leaf)]
    others = [leaf for leaf in _leaves(loss) if not callable(leaf) and leaf is not None]
    self.__dict__.setdefault("_headrace_losses", []).extend(functions)
    if others:
        original(self, others)


def own_losses(original, self):
    """The losses of a layer, with those of functions."""
    return [*original(self), *(function() for function in self.__dict__.get("_headrace_losses", ()))]


def add_symbolic_metric(model, value, name, aggregation):
    """`model.add_metric(tensor, name=..., aggregation="mean")` of a functional model."""
    if name is None or aggregation not in ("mean", None):
        raise ValueError(f"Model.add_metric: expected a name and aggregation='mean', got {name=} and {aggregation=}.")
    metric = importlib.import_module("keras").metrics.Mean(name=name)
    model._tracker.unlock()
    model._metrics.append(metric)
    followed = _followed(model)
    followed.metrics[name] = value
    followed.extend(model)


# The losses and metrics of `compile`, in a `train_step` of the user's.


def compiled_loss(self, y, y_pred, sample_weight=None, regularization_losses=None):
    """`self.compiled_loss(y, y_pred)`: the loss of `compile`, which counts in the metric `loss`."""
    ops = importlib.import_module("keras").ops
    loss = self._compile_loss(y, y_pred, sample_weight)
    for other in regularization_losses or ():
        loss = loss + ops.cast(other, loss.dtype)
    self._loss_tracker.update_state(loss, sample_weight=ops.shape(_leaves(y_pred)[0])[0])
    return loss


def with_single_target(original, self, x=None, y=None, y_pred=None, sample_weight=None, *args, **kwargs):
    """Targets by name, `fit(x, {"out": y})`, of a model with one output."""
    if isinstance(y, dict) and len(y) == 1 and not isinstance(y_pred, (dict, list, tuple)):
        (y,) = y.values()
        if isinstance(sample_weight, dict) and len(sample_weight) == 1:
            (sample_weight,) = sample_weight.values()
    return original(self, x, y, y_pred, sample_weight, *args, **kwargs)


class _CompiledMetrics:
    """`self.compiled_metrics`: the metrics of `compile`."""

    def __init__(self, model):
        self._model = model

    @property
    def metrics(self):
        metrics = self._model._compile_metrics
        return [] if metrics is None else metrics.metrics

    def update_state(self, y, y_pred, sample_weight=None):
        metrics = self._model._compile_metrics
        if metrics is not None:
            metrics.update_state(y, y_pred, sample_weight=sample_weight)

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()

    reset_states = reset_state


compiled_metrics = property(_CompiledMetrics, doc="The metrics of `compile`.")


def _metrics_names(self):
    names = []
    for metric in self.metrics:
        parts = metric.metrics if type(metric).__name__ == "CompileMetrics" else [metric]
        names += [part.name for part in parts]
    return names


metrics_names = property(_metrics_names, doc="The names of the loss and the metrics, as `evaluate` returns them.")
