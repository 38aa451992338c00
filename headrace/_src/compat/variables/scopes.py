"""Sharing variables by name: `get_variable` and `variable_scope`."""

import enum
import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.compat.graph_keys import GraphKeys, get_collection
from headrace._src.compat.variables.initializers import GlorotUniform, Zeros
from headrace._src.compat.variables.partitioned import check_reuse, divided, partitions_of
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import current_name_scope, name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api, export
from headrace._src.op.convert import to_tensor
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable

if TYPE_CHECKING:
    from headrace._src.graph.building.graph_variables import GraphVariable


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = export("compat.v1.AUTO_REUSE")(_ReuseMode.AUTO_REUSE)


class _Store(threading.local):
    """What a graph knows of its scopes: the variables by full name, and in each thread the scope that is open."""

    def __init__(self, variables):
        self.variables = variables  # shared by all threads
        self.scope = VariableScope(False)
        self.counts: dict[str, int] = {}  # how often a scope has been opened

    def open(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inner(self, name):
        """Let the names of scopes inside of `name` begin anew."""
        for other in self.counts:
            if not name or other.startswith(name + "/"):
                self.counts[other] = 0

    def unique(self, prefix):
        """`prefix`, with a number if a scope of that name has been opened here already."""
        full = f"{self.scope.name}/{prefix}" if self.scope.name else prefix
        if not self.counts.get(full):
            return prefix
        number = 1
        while self.counts.get(f"{full}_{number}"):
            number += 1
        return f"{prefix}_{number}"


def _store() -> _Store:
    graph = get_default_graph()
    while graph.building_function and graph.outer_graph is not None:
        graph = graph.outer_graph
    if graph.variable_store is None:
        graph.variable_store = _Store({})
    return graph.variable_store


def variables_of_scopes() -> dict[str, Any]:
    """The variables that `get_variable` has made in the current graph, by full name."""
    return _store().variables


@api("compat.v1.VariableScope")
class VariableScope:
    """The defaults that `get_variable` uses, and the name before those of the variables."""

    def __init__(
        self,
        reuse,
        name="",
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        name_scope="",
        dtype=dtypes.float32,
        use_resource=None,
        constraint=None,
    ) -> None:
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtypes.as_dtype(dtype)
        self._use_resource = use_resource
        self._constraint = constraint

    name = property(lambda self: self._name, doc="The full name of the scope.")
    original_name_scope = property(lambda self: self._name_scope, doc="The scope of operations it was first opened in.")
    reuse = property(lambda self: self._reuse, doc="Whether variables must exist already; AUTO_REUSE: may.")
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    constraint = property(lambda self: self._constraint)

    def reuse_variables(self) -> None:
        """From now on variables must exist already."""
        self._reuse = True

    def set_initializer(self, initializer) -> None:
        """Set the initializer by default."""
        self._initializer = initializer

    def set_regularizer(self, regularizer) -> None:
        """Set the regularizer by default."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device) -> None:
        """Accepted."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner) -> None:
        """Set the partitioner by default."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter) -> None:
        """Set the function that gets variables."""
        self._custom_getter = custom_getter

    def set_dtype(self, dtype) -> None:
        """Set the dtype by default."""
        self._dtype = dtypes.as_dtype(dtype)

    def set_use_resource(self, use_resource) -> None:
        """Say whether variables have handles."""
        self._use_resource = use_resource

    def get_collection(self, name) -> list:
        """What a collection has of this scope."""
        return get_collection(name, f"{self._name}/" if self._name else "")

    def trainable_variables(self) -> list:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, store, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, custom_getter=None, constraint=None,
                     synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE) -> Variable:
        """The variable of that name in this scope, made if it need be."""
        full = "/".join(filter(None, (self._name, name)))
        if initializer is not None and dtype is not None and not callable(initializer):
            found = to_tensor_dtype(initializer)
            if found is not None and found != dtypes.as_dtype(dtype).base_dtype:
                wanted = dtypes.as_dtype(dtype)
                raise ValueError(f"Initializer type '{found}' and explicit dtype '{wanted}' don't match.")
        if dtype is None:
            dtype = self._dtype if callable(initializer) or initializer is None else to_tensor_dtype(initializer)
        keywords = dict(
            shape=shape, dtype=dtypes.as_dtype(dtype or self._dtype),
            initializer=self._initializer if initializer is None else initializer,
            regularizer=self._regularizer if regularizer is None else regularizer,
            reuse=self._reuse if reuse is None else reuse, trainable=trainable, collections=collections,
            caching_device=self._caching_device if caching_device is None else caching_device,
            partitioner=self._partitioner if partitioner is None else partitioner, validate_shape=validate_shape,
            use_resource=self._use_resource if use_resource is None else use_resource,
            constraint=self._constraint if constraint is None else constraint, synchronization=synchronization,
            aggregation=aggregation,
        )  # fmt: skip
        getter = functools.partial(_get, store)
        for custom in (self._custom_getter, custom_getter):
            if custom is not None:
                getter = functools.partial(custom, getter)
        with name_scope(""):
            return getter(full, **keywords)


def to_tensor_dtype(value):
    """The dtype that a constant has as a tensor; None when that cannot be said."""
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, dtypes.DType):
        return dtype.base_dtype
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    with context.changed(graph=None):
        return to_tensor(value).dtype


def _get(store, name, *, shape, dtype, initializer, regularizer, reuse, trainable, collections, caching_device,
         partitioner, validate_shape, use_resource, constraint, synchronization, aggregation, **unknown):
    """Find or make a variable by its full name."""
    if unknown:
        raise TypeError(f"get_variable: unknown arguments {sorted(unknown)}.")
    # TF: eagerly, variables are made anew each time, unless a store keeps them.
    eager = context.graph is None and not getattr(store, "keeps_eager_variables", False)
    found = None if eager else store.variables.get(name)
    wanted = None if shape is None else TensorShape(shape)
    if partitioner is not None and context.graph is not None and (wanted is None or wanted.rank != 0):
        if found is None and reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). "
                "Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        keywords = dict(
            dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=False, trainable=trainable,
            collections=collections, caching_device=caching_device, partitioner=None, validate_shape=validate_shape,
            use_resource=use_resource, constraint=constraint, synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
        return _divided(store, name, found, partitions_of(partitioner, wanted, dtype), wanted, reuse, keywords)
    if found is not None:
        return _shared(found, name, wanted, dtype, reuse)
    if reuse is True and not eager:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). "
            "Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    value, dtype, shape_of_variable = _initial_value(name, wanted, dtype, initializer)
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    variable = make_variable(
        initial_value=value, trainable=trainable, collections=collections, caching_device=caching_device, name=name,
        dtype=dtype, validate_shape=validate_shape, constraint=constraint, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation, shape=shape_of_variable,
    )  # fmt: skip
    if not eager:
        store.variables[name] = variable
    if regularizer is not None:
        with name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _divided(store, name, found, partitions, shape, reuse, keywords):
    """Find or make a variable that is divided into parts, each a variable of its own."""
    if found is not None:
        check_reuse(found, name, shape, partitions, reuse)
        return _shared(found, name, None, keywords["dtype"], reuse)

    def make(full_name, part_shape, initializer):
        return _get(store, full_name, shape=part_shape, **{**keywords, "initializer": initializer})

    whole = store.variables[name] = divided(name, shape, keywords["dtype"], partitions, keywords["initializer"], make)
    return whole


def _shared(variable, name, shape, dtype, reuse):
    if reuse is False or reuse is None:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
            "VarScope?"
        )
    if shape is not None and not shape.is_compatible_with(variable.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape {variable.shape}."
        )
    if dtype is not None and not dtype.base_dtype == variable.dtype.base_dtype:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{variable.dtype.base_dtype.name}."
        )
    return variable


def _initial_value(name, shape, dtype, initializer):
    """What `Variable` is to be given: the initial value or a function that makes it, the dtype, and the shape."""
    if initializer is None:
        if shape is None:
            raise ValueError(
                f"Variable {name} did not get an initializer, so its `shape` argument must be specified."
            )
        if dtype.is_floating:
            initializer = GlorotUniform()
        elif dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
            initializer = Zeros()
        else:
            raise ValueError(f"An initializer for variable {name} of {dtype} is required")
    if not callable(initializer) or isinstance(initializer, (Tensor, Variable)):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer, to_tensor_dtype(initializer) if dtype is None else dtype, None
    if isinstance(initializer, type):
        initializer = initializer()
    if shape is not None and shape.is_fully_defined():
        return _call_with_shape(initializer, shape.as_list(), dtype), dtype, None
    if _takes_no_arguments(initializer):
        return initializer, dtype, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
        "provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _call_with_shape(initializer, shape, dtype):
    try:
        accepts = inspect.signature(initializer).parameters
    except (TypeError, ValueError):
        accepts = {"dtype": None}
    by_name = "dtype" in accepts or any(p is not None and p.kind is p.VAR_KEYWORD for p in accepts.values())
    if by_name:
        return functools.partial(initializer, shape, dtype=dtype)
    if len(accepts) > 1:
        return functools.partial(initializer, shape, dtype)
    return functools.partial(initializer, shape) if accepts else initializer


def _takes_no_arguments(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


@api("compat.v1.get_variable_scope", dispatch=False)
def get_variable_scope() -> VariableScope:
    """The scope that is open."""
    return _store().scope


@api("compat.v1.get_variable", dispatch=False)
def get_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
) -> Variable:
    """The variable of that name in the open scope: an existing one where the scope says reuse, otherwise a new one.

    Args:
        name: the name, to which the scope's is prefixed.
        shape: the shape; not needed when the initializer is a value.
        dtype: the dtype; by default that of the scope.
        initializer: a function of shape and dtype, or a value; by default that of the scope, or `glorot_uniform` for
            floating and zeros for other dtypes.
        regularizer: a function of the variable whose result is added to the collection of losses.
        trainable: whether optimizers change it.
        collections: the collections that it is added to; by default that of the global variables.
        caching_device: accepted.
        partitioner: says into how many parts each axis is divided; the result is then a `PartitionedVariable`.
        validate_shape: whether its shape is fixed.
        use_resource: whether it has a handle.
        custom_getter: called instead, with the function that gets the variable and the arguments.
        constraint: a function that optimizers apply after each update.
        synchronization, aggregation: how distributed copies are kept together.

    Raises:
        ValueError: it exists already and is not to be reused, or does not exist and is, or does not fit.
    """
    store = _store()
    return store.scope.get_variable(
        store, name, shape, dtype, initializer, regularizer, None, trainable, collections, caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


@api("compat.v1.get_local_variable", dispatch=False)
def get_local_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=False,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
) -> "GraphVariable":
    """As `get_variable`, for a variable that is local: not saved, not trained."""
    collections = [*(collections or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(
        name, shape, dtype, initializer, regularizer, False, collections, caching_device, partitioner, validate_shape,
        use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


@api("compat.v1.variable_scope")
class variable_scope:
    """Within this block, `get_variable` puts the scope's name before that of the variable, and uses its defaults.

    Args:
        name_or_scope: the name of a scope inside of the open one, or a `VariableScope` to open again.
        default_name: a name that is made unique, when `name_or_scope` is None.
        values: accepted.
        initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource, constraint: defaults
            of `get_variable` in the scope; otherwise those of the scope around it.
        reuse: True: variables must exist; `AUTO_REUSE`: they may; None: as in the scope around it.
        auxiliary_name_scope: False to leave the names of operations alone.
    """

    def __init__(
        self,
        name_or_scope,
        default_name=None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource=None,
        constraint=None,
        auxiliary_name_scope=True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse not in (True, False, None, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        self._target = name_or_scope
        self._default_name = default_name
        self._settings = {
            "initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
            "partitioner": partitioner, "custom_getter": custom_getter, "dtype": dtype,
            "use_resource": use_resource, "constraint": constraint,
        }  # fmt: skip
        self._reuse = False if reuse is False else reuse
        self._names = auxiliary_name_scope
        self._open: list = []

    def __enter__(self) -> VariableScope:
        store = _store()
        around = store.scope
        target = self._target
        counts = dict(store.counts)
        if target is None:
            target = store.unique(self._default_name)
            label = self._default_name
        elif isinstance(target, VariableScope):
            label = target.name.rpartition("/")[2]
        else:
            label = target
        manager = name_scope(label) if self._names and label else None
        operations = manager.__enter__() if manager is not None else _current_scope()
        if isinstance(target, VariableScope):
            base, name, original = target, target.name, target.original_name_scope
            reuse = target.reuse if not self._reuse else self._reuse
        else:
            base, name = around, f"{around.name}/{target}" if around.name else target
            original = operations
            reuse = self._reuse or around.reuse  # TF: False means as around, like None
        settings = {key: getattr(base, key) if value is None else value for key, value in self._settings.items()}
        if self._settings["custom_getter"] is not None and base.custom_getter is not None:
            settings["custom_getter"] = _nested_getters(base.custom_getter, self._settings["custom_getter"])
        store.open(name)
        store.scope = VariableScope(reuse, name=name, name_scope=original, **settings)
        self._open.append((store, around, name, counts, manager))
        return store.scope

    def __exit__(self, *exception) -> None:
        store, around, name, counts, manager = self._open.pop()
        if isinstance(self._target, VariableScope):
            store.counts = counts
        else:
            store.close_inner(name)
        store.scope = around
        if manager is not None:
            manager.__exit__(*exception)


def _current_scope():
    scope = current_name_scope() if context.graph is not None else ""
    return f"{scope}/" if scope else ""


def _nested_getters(outer, inner):
    """A custom getter that asks `inner` first, which asks `outer`."""

    def getter(next_getter, *args, **kwargs):
        return inner(functools.partial(outer, next_getter), *args, **kwargs)

    return getter


@api("compat.v1.variable_op_scope", dispatch=False)
def variable_op_scope(
    values,
    name_or_scope,
    default_name=None,
    initializer=None,
    regularizer=None,
    caching_device=None,
    partitioner=None,
    custom_getter=None,
    reuse=None,
    dtype=None,
    use_resource=None,
    constraint=None,
) -> Any:
    """The older form of `variable_scope`."""
    return variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner, custom_getter,
        reuse, dtype, use_resource, constraint,
    )  # fmt: skip


@api("compat.v1.no_regularizer", dispatch=False)
def no_regularizer(_) -> None:
    """A regularizer that regularizes nothing, for variables in a scope that has one."""
    return None
