"""The layer that all layers of 1.x stand on: variables by names of scopes, losses and updates in collections."""

import re
from typing import Any

import numpy as np

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.graph_keys import GraphKeys, get_collection, get_collection_ref
from headrace._src.compat.variables.scopes import get_variable, get_variable_scope, variable_scope
from headrace._src.core import dtypes, nest
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.trackable import AutoTrackable
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, measuring
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable


@api("compat.v1.layers.InputSpec")
class InputSpec:
    """What a layer asks of an input.

    Args:
        dtype: the dtype.
        shape: the shape; None for dimensions that may be anything.
        ndim: how many dimensions.
        max_ndim, min_ndim: at most and at least how many.
        axes: lengths of some axes, by number.
        allow_last_axis_squeeze: whether a last axis of length 1 may be missing or too many.
        name: the name of the input.
        optional: whether None may be given.
    """

    def __init__(
        self,
        dtype=None,
        shape=None,
        ndim=None,
        max_ndim=None,
        min_ndim=None,
        axes=None,
        allow_last_axis_squeeze=False,
        name=None,
        optional=False,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = None if shape is None else tuple(TensorShape(shape).as_list())
        self.ndim = ndim if shape is None else len(self.shape or ())
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.name = name
        self.optional = optional
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.axes = {int(axis): length for axis, length in (axes or {}).items()}

    def check(self, layer: str, shape: TensorShape) -> None:
        """Refuse an input of a shape that the layer cannot take.

        Raises:
            ValueError: the shape does not fit.
        """
        start = f'The input of layer "{layer}" is incompatible with it: '
        rank = shape.rank
        if rank is None:
            if any(bound is not None for bound in (self.ndim, self.min_ndim, self.max_ndim)):
                raise ValueError(f"{start}how many dimensions it has is not known, which the layer must know.")
            return
        for label, wrong, bound in (
            ("ndim", self.ndim is not None and rank != self.ndim, self.ndim),
            ("max_ndim", self.max_ndim is not None and rank > self.max_ndim, self.max_ndim),
            ("min_ndim", self.min_ndim is not None and rank < self.min_ndim, self.min_ndim),
        ):
            if wrong:
                raise ValueError(f"{start}expected {label}={bound}, found ndim={rank} (shape {shape}).")
        dims = shape.as_list()
        for axis, length in self.axes.items():
            if length is not None and dims[axis] not in (length, None):
                raise ValueError(f"{start}axis {axis} must be {length} long, but the shape is {shape}.")


def snake_case(name: str) -> str:
    """The name of a class in small letters with underscores, as layers are called by default."""
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return f"private{name}" if name.startswith("_") else name


def _default_name(base: str) -> str:
    """`base`, numbered from the second layer of that name on in this graph and scope, as TensorFlow counts."""
    graph = get_default_graph()
    if graph.layer_counts is None:
        graph.layer_counts = {}
    key = (get_variable_scope().name, base)
    number = graph.layer_counts[key] = graph.layer_counts.get(key, -1) + 1
    return f"{base}_{number}" if number else base


@api("compat.v1.layers.Layer")
class Layer(AutoTrackable):
    """A layer of 1.x: `build` makes variables by `add_weight`, `call` computes.

    The variables are those of `get_variable` in a scope of the layer's name, so that a second layer can share them.

    Args:
        trainable: whether its variables are trained.
        name: its name, which is also that of its scope; by default the class's, made unique.
        dtype: the dtype of its variables; by default that of the first input.
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs) -> None:
        scope, self._reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        activity_regularizer = kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise TypeError(f"{type(self).__name__} has no argument {sorted(kwargs)[0]!r}.")
        self._base_name = snake_case(type(self).__name__) if name is None else name
        self._name = _default_name(self._base_name) if name is None else name
        self._scope = None
        self._given_dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self._weights: list[Variable] = self._no_dependency([])  # attributes of the user's own are what is saved
        self._trained: dict[int, bool] = self._no_dependency({})
        self._losses: list[Any] = self._no_dependency([])
        self._updates: list[Any] = self._no_dependency([])
        self.trainable = trainable
        self.built = False
        self.input_spec: InputSpec | None = None
        self.activity_regularizer = activity_regularizer
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    name = property(lambda self: self._name, doc="The name of the layer.")
    dtype = property(lambda self: self._given_dtype, doc="The dtype of its variables; None before it is known.")
    losses = property(lambda self: [loss() if callable(loss) else loss for loss in self._losses],
                      doc="What regularizers gave.")
    updates = property(lambda self: list(self._updates), doc="Operations that belong to a step of training.")
    variables = weights = property(lambda self: list(self._weights), doc="Its variables.")

    @property
    def trainable_variables(self) -> list:
        """The variables that are trained."""
        return [v for v in self._weights if self.trainable and self._trained[id(v)]]

    @property
    def non_trainable_variables(self) -> list:
        """The variables that are not trained."""
        return [v for v in self._weights if not (self.trainable and self._trained[id(v)])]

    trainable_weights, non_trainable_weights = trainable_variables, non_trainable_variables

    @property
    def scope_name(self) -> str:
        """The name of the scope that has its variables.

        Raises:
            ValueError: the layer was not called yet.
        """
        if self._scope is None:
            raise ValueError(f'Layer "{self._name}" has no scope before its first call. Call it, then ask for '
                             "`scope_name`.")
        return self._scope.name

    @property
    def graph(self) -> Any:
        """The graph that it is in.

        Raises:
            RuntimeError: there is none, as operations run at once.
        """
        if context.graph is None:
            raise RuntimeError("A layer has no graph where operations run at once.")
        return get_default_graph()

    def build(self, input_shape) -> None:
        """Make the variables; layers of the user's own define this.

        Args:
            input_shape: the shape of the input, or a structure of shapes.
        """
        self.built = True

    def call(self, inputs, *args, **kwargs) -> Any:
        """Compute; layers of the user's own define this.

        Args:
            inputs: the inputs.
            args, kwargs: what else the layer was called with.
        """
        return inputs

    def add_weight(
        self,
        name,
        shape,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        partitioner=None,
    ) -> Variable:
        """The variable of that name in the layer's scope, made if it need be.

        Args:
            name: its name within the layer.
            shape: its shape.
            dtype: its dtype; by default the layer's, or float32.
            initializer: its initial value; by default the scope's, or `glorot_uniform`.
            regularizer: a function of it whose result is a loss.
            trainable: whether it is trained.
            constraint: a function that optimizers apply after each update.
            use_resource: whether it has a handle.
            synchronization, aggregation: how distributed copies are kept together.
            partitioner: says how it is divided into parts.
        """
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        self._set_scope(None)
        dtype = dtypes.as_dtype(dtype or self._given_dtype or dtypes.float32)
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            with name_scope(scope.original_name_scope):
                known = self._variables_of_graph()
                regularizer = scope.regularizer if regularizer is None else regularizer
                variable = get_variable(
                    name, shape, dtype, initializer, _nothing, bool(trainable and self.trainable),
                    constraint=constraint, partitioner=partitioner, use_resource=use_resource,
                    synchronization=synchronization, aggregation=aggregation,
                )  # fmt: skip
                if id(variable) not in known and regularizer is not None:
                    self._regularize(variable, regularizer)
        self._weights.append(variable)
        self._trained[id(variable)] = bool(trainable)
        return variable

    add_variable = add_weight

    def _variables_of_graph(self):
        if context.graph is None:
            return set()
        return {id(variable) for variable in get_collection(GraphKeys.GLOBAL_VARIABLES)}

    def _regularize(self, variable, regularizer):
        if context.graph is None:
            self.add_loss(lambda: regularizer(variable))
            return
        with name_scope(f"{variable.name.partition(':')[0]}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            self.add_loss(loss)

    def add_loss(self, losses, inputs=None) -> None:
        """Add losses to the layer's, and to the graph's collection of regularization losses.

        Args:
            losses: a loss or a list of them.
            inputs: accepted.
        """
        losses = nest.flatten(losses)
        self._losses.extend(losses)
        _collect(losses, GraphKeys.REGULARIZATION_LOSSES)

    def add_update(self, updates) -> None:
        """Add operations that belong to a step of training, also to the graph's collection of them.

        Args:
            updates: an operation or a list of them.
        """
        updates = [update for update in nest.flatten(updates) if update is not None]
        self._updates.extend(updates)
        _collect(updates, GraphKeys.UPDATE_OPS)

    def get_weights(self) -> list:
        """The values of its variables, when operations run at once."""
        return [variable.numpy() for variable in self._weights]

    def set_weights(self, weights) -> None:
        """Set its variables, when operations run at once.

        Args:
            weights: values in the order of `variables`.

        Raises:
            ValueError: there are more or fewer of them.
        """
        if len(weights) != len(self._weights):
            raise ValueError(f'Layer "{self._name}" has {len(self._weights)} variables, got {len(weights)} values.')
        for variable, value in zip(self._weights, weights):
            variable.assign(value)

    def count_params(self) -> int:
        """How many numbers its variables have."""
        return sum(variable.shape.num_elements() for variable in self._weights)

    def _set_scope(self, scope):
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(scope if scope is not None else self._base_name)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def _build(self, inputs):
        shapes = nest.map_structure(lambda x: x.shape, inputs)
        if self._given_dtype is None:
            first = next((x for x in nest.flatten(inputs) if hasattr(x, "dtype")), None)
            self._given_dtype = dtypes.float32 if first is None else first.dtype.base_dtype
        self.build(shapes)
        self.built = True

    def __call__(self, inputs, *args, **kwargs) -> Any:
        """The layer's output.

        Args:
            inputs: a tensor or a structure of tensors.
            args, kwargs: passed on to `call`; `scope` is the scope of its variables, in the first call.
        """
        self._set_scope(kwargs.pop("scope", None))
        inputs = nest.map_structure(lambda x: to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x, inputs)
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            with name_scope(scope.original_name_scope):
                if self.input_spec is not None:
                    self.input_spec.check(self._name, inputs.shape)
                if not self.built:
                    self._build(inputs)
                    if self.input_spec is not None:
                        self.input_spec.check(self._name, inputs.shape)
                outputs = self.call(inputs, *args, **kwargs)
                self._regularize_activity(inputs, outputs)
        return outputs

    apply = __call__

    def _regularize_activity(self, inputs, outputs):
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                batch = casting.cast(measuring.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch)


def _nothing(_):
    """No regularizer, not even the scope's: the layer adds the loss itself."""
    return None


def _collect(elements, key):
    """Add what is not there yet to a collection of the graph; eagerly there are no collections."""
    if context.graph is None:
        return
    there = get_collection_ref(key)
    there.extend(element for element in elements if not any(element is other for other in there))
