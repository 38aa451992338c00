"""Arguments of TensorFlow 2.0 that Keras 3 calls otherwise, has in another order, or no longer needs.

`replacements.py` says where in Keras each of these goes. A function whose first parameter is `original` stands in the
place of that method of Keras.
"""

from __future__ import annotations

import importlib
import numbers

# Layers.

# Arguments of `add_weight` that say what the only kind of variables is anyway.
_WITHOUT_MEANING = ("use_resource", "synchronization", "partitioner", "getter", "collections", "caching_device")


def add_weight(original, self, *args, **kwargs):
    """`add_weight("kernel", shape=...)`: the name came first."""
    if args and isinstance(args[0], str):
        kwargs["name"], args = args[0], args[1:]
    for name in _WITHOUT_MEANING:
        kwargs.pop(name, None)
    if "experimental_autocast" in kwargs:
        kwargs["autocast"] = kwargs.pop("experimental_autocast")
    if "aggregation" in kwargs and not isinstance(kwargs["aggregation"], (str, type(None))):
        kwargs["aggregation"] = kwargs["aggregation"].name.lower()
    return original(self, *args, **kwargs)


def init_with_weights(original, self, *args, **kwargs):
    """`Dense(3, weights=[kernel, bias])`: values that the weights begin with."""
    weights = kwargs.pop("weights", None)
    original(self, *args, **kwargs)
    if weights is not None:
        self._headrace_first_weights = list(weights)


def set_first_weights(original, self):
    """After `build`: the weights that the layer was made with."""
    original(self)
    weights = self.__dict__.pop("_headrace_first_weights", None)
    if weights is not None:
        self.set_weights(weights)


def _node(layer, index):
    nodes = layer._inbound_nodes
    if index >= len(nodes):
        raise ValueError(f"Asked to get a tensor at node {index}, but {layer.name!r} has only {len(nodes)} nodes.")
    return nodes[index]


def _one_or_list(values):
    return values[0] if len(values) == 1 else list(values)


def get_input_at(self, node_index):
    """The input of the layer's call of that number."""
    return _one_or_list(_node(self, node_index).input_tensors)


def get_output_at(self, node_index):
    """The output of the layer's call of that number."""
    return _one_or_list(_node(self, node_index).outputs)


def get_input_shape_at(self, node_index):
    """The shape of the input of the layer's call of that number."""
    return _one_or_list([tuple(tensor.shape) for tensor in _node(self, node_index).input_tensors])


def get_output_shape_at(self, node_index):
    """The shape of the output of the layer's call of that number."""
    return _one_or_list([tuple(tensor.shape) for tensor in _node(self, node_index).outputs])


inbound_nodes = property(lambda self: self._inbound_nodes, doc="The calls of the layer.")
outbound_nodes = property(lambda self: self._outbound_nodes, doc="What is made of the layer's outputs.")
is_dynamic = property(lambda self: False, doc="Whether the layer is only for eager programs: none is.")
no_updates = property(lambda self: [], doc="Operations to run beside a step: variables are updated at once.")


def get_updates_for(self, inputs):
    """No operations: variables are updated at once."""
    return []


def get_losses_for(self, inputs):
    """The losses of the layer."""
    return self.losses


def init_l1(original, self, l1=0.01, l=None):
    """`l1(l=0.01)`."""
    original(self, l1 if l is None else l)


def init_l2(original, self, l2=0.01, l=None):
    """`l2(l=0.01)`."""
    original(self, l2 if l is None else l)


# Models.


def has_functional_arguments(original, args, kwargs):
    """`Model(inputs, outputs, "name")` is a functional model, too."""
    named = len(args) == 3 and (args[2] is None or isinstance(args[2], str))
    return named or original(args, kwargs)


def init_model(original, self, *args, **kwargs):
    """`super().__init__("name")` in a subclass."""
    if len(args) == 1 and isinstance(args[0], str):
        kwargs["name"], args = args[0], ()
    original(self, *args, **kwargs)


def init_sequential(original, self, layers=None, *args, **kwargs):
    """`Sequential(layers, "name")`."""
    if args and isinstance(args[0], str):
        kwargs["name"], args = args[0], args[1:]
    original(self, layers, *args, **kwargs)


is_stateful = property(
    lambda self: any(getattr(layer, "stateful", False) for layer in self._flatten_layers(include_self=False)),
    doc="Whether a layer keeps its state from batch to batch.",
)


# Arguments of `compile` that have no meaning where tensors have values.
_OF_COMPILE = ("sample_weight_mode", "experimental_run_tf_function", "experimental_steps_per_execution", "distribute")


def compile_model(original, self, *args, **kwargs):
    """`compile(optimizer, loss, metrics)`: the metrics were the third argument, and `loss_weights` the fourth."""
    if kwargs.pop("target_tensors", None) is not None:
        raise ValueError("Model.compile: target_tensors are for graphs. Give the targets to fit, or a tf.data.Dataset.")
    steps = kwargs.get("experimental_steps_per_execution")
    if steps is not None:
        kwargs["steps_per_execution"] = steps
    for name in _OF_COMPILE:
        kwargs.pop(name, None)
    if len(args) > 2 and not _are_numbers(args[2]):
        kwargs["metrics"] = args[2]
        if len(args) > 3:
            kwargs["loss_weights"] = args[3]
        args = args[:2]
    return original(self, *args, **kwargs)


def _are_numbers(value):
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
    return all(item is None or isinstance(item, numbers.Number) for item in values)


def on_batch(original, self, *args, reset_metrics=True, **kwargs):
    """`train_on_batch(x, y, reset_metrics=False)`: metrics go on from the last batch."""
    if reset_metrics:
        return original(self, *args, **kwargs)
    self.__dict__["reset_metrics"] = lambda: None
    try:
        return original(self, *args, **kwargs)
    finally:
        del self.__dict__["reset_metrics"]


class _Producer:
    """`tensor.op` of a symbolic tensor: the layer that computes it."""

    def __init__(self, tensor):
        operation = getattr(getattr(tensor, "_keras_history", None), "operation", None)
        self.name = tensor.name if operation is None else operation.name
        self.type = "Placeholder" if operation is None else type(operation).__name__


producer = property(_Producer, doc="The layer that computes the tensor, by its name and type.")


# Optimizers and callbacks.


def apply_gradients(original, self, grads_and_vars, *args, name=None, experimental_aggregate_gradients=True, **kwargs):
    """`apply_gradients(pairs, name=...)`."""
    return original(self, grads_and_vars, *args, **kwargs)


def get_gradients(self, loss, params):
    """The gradients of a loss in a graph, by some variables."""
    gradients = importlib.import_module("headrace").gradients(loss, params)
    if any(gradient is None for gradient in gradients):
        raise ValueError("Optimizer.get_gradients: a variable has no gradient: the loss does not depend on it.")
    return gradients


class _Variables(list):
    """`optimizer.variables`, which was a method: `optimizer.variables()` gives the same."""

    def __call__(self):
        return self


class CallableVariables:
    """The property `variables` of an optimizer, to be called or not."""

    def __init__(self, original):
        self._original = original
        self.__doc__ = original.__doc__

    def __get__(self, instance, owner=None):
        return self if instance is None else _Variables(self._original.__get__(instance, owner))


decay = property(lambda self: self.__dict__.get("_headrace_decay", 0.0), doc="The `decay` that it was made with.")


def init_tensorboard(original, self, *args, write_grads=False, batch_size=32, embeddings_layer_names=None,
                     embeddings_data=None, **kwargs):  # fmt: skip
    """`TensorBoard(write_grads=..., batch_size=...)`: both had no effect any more in 2.0."""
    original(self, *args, **kwargs)


def init_reduce_on_plateau(original, self, *args, epsilon=None, **kwargs):
    """`ReduceLROnPlateau(epsilon=...)`, the former name of `min_delta`."""
    if epsilon is not None:
        kwargs["min_delta"] = epsilon
    original(self, *args, **kwargs)


def log_rate(original, self, epoch, logs=None):
    """The learning rate stands in the history as `lr`, as it did."""
    logs = {} if logs is None else logs
    original(self, epoch, logs)
    if "learning_rate" in logs:
        logs["lr"] = logs["learning_rate"]


def loss_of(original, identifier):
    """A loss by a name that Keras 2 had."""
    known = {
        "kullback_leibler_divergence": "kl_divergence",
        "logcosh": "log_cosh",
        "cosine_proximity": "cosine_similarity",
    }
    return original(known.get(identifier, identifier) if isinstance(identifier, str) else identifier)


def init_loss(original, self, name=None, reduction="sum_over_batch_size", *args, **kwargs):
    """`Reduction.AUTO`."""
    original(self, name, "sum_over_batch_size" if reduction == "auto" else reduction, *args, **kwargs)


def next_batch(self):
    """The name of `next(iterator)` in TensorFlow 2.0."""
    return next(self)
