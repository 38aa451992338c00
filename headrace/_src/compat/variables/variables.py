"""`tf.compat.v1.Variable` and the functions that assign variables in 1.x programs."""

from typing import Any

from headrace._src.compat.behavior import resource_variables_enabled
from headrace._src.compat.variables.updates import updated
from headrace._src.core.context import context
from headrace._src.graph.building.graph_variables import GraphVariable, RefVariable
from headrace._src.graph.building.variable_creation import init_scope
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.gathering import in_batches
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable

_OF_TWO = (
    "initial_value", "trainable", "validate_shape", "caching_device", "name", "variable_def", "dtype", "import_scope",
    "constraint", "synchronization", "aggregation", "shape",
)  # fmt: skip


def _make(**keywords):
    """A variable of whatever kind fits here, given the arguments of `tf.compat.v1.Variable`."""
    collections = keywords.pop("collections", None)
    use_resource = keywords.pop("use_resource", None)
    given = {name: keywords[name] for name in _OF_TWO if name in keywords}
    graph = context.graph
    if graph is None:
        return type.__call__(Variable, **given)
    if graph.building_function:
        with init_scope():
            return _make(**keywords, collections=collections, use_resource=use_resource)
    resource = resource_variables_enabled() if use_resource is None else use_resource
    return (GraphVariable if resource else RefVariable)(**given, collections=collections)


def _with_creator(creator, make):
    return lambda **keywords: creator(make, **keywords)


def make_variable(**keywords):
    """A variable, made with the help of the functions of `variable_creator_scope`."""
    make = _make
    for creator in context.variable_creators:
        make = _with_creator(creator, make)
    return make(**keywords)


class _VariableType(type):
    """Makes `tf.compat.v1.Variable(...)` a variable of the kind that fits, and all variables instances of it."""

    def __call__(
        cls,
        initial_value=None,
        trainable=None,
        collections=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        expected_shape=None,
        import_scope=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=None,
    ):
        return make_variable(
            initial_value=initial_value, trainable=trainable, collections=collections, validate_shape=validate_shape,
            caching_device=caching_device, name=name, variable_def=variable_def, dtype=dtype,
            import_scope=import_scope, constraint=constraint, use_resource=use_resource,
            synchronization=synchronization, aggregation=aggregation, shape=shape,
        )  # fmt: skip

    def __instancecheck__(cls, instance):
        return isinstance(instance, Variable)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, Variable)


@api("compat.v1.Variable")
class VariableV1(metaclass=_VariableType):
    """A variable of a 1.x graph, to be initialised by its `initializer`; eagerly, a `tf.Variable`.

    Args:
        initial_value: a tensor, anything that becomes one, or a function without arguments that returns one.
        trainable: whether optimizers change it; by default True.
        collections: the collections of the graph that it is added to; by default that of the global variables.
        validate_shape: False allows assignments of any shape.
        caching_device, variable_def, expected_shape, import_scope: accepted.
        name: "Variable" by default.
        dtype: the element type; otherwise that of the initial value.
        constraint: a function that optimizers apply after each update.
        use_resource: False for a variable without a handle; None means what `enable_resource_variables` said.
        synchronization, aggregation: how distributed copies are kept together.
        shape: the shape, when it may be more general than that of the initial value.
    """

    SaveSliceInfo = Variable.SaveSliceInfo
    from_proto = GraphVariable.from_proto


@api("compat.v1.variable_creator_scope", dispatch=False)
class variable_creator_scope:
    """Within this block, `creator(next_creator, **kwargs)` makes the variables."""

    def __init__(self, variable_creator) -> None:
        self._creator = variable_creator

    def __enter__(self) -> None:
        context.variable_creators = (*context.variable_creators, self._creator)

    def __exit__(self, *exception) -> None:
        context.variable_creators = context.variable_creators[:-1]


# Assigning.


@api("compat.v1.assign", dispatch=False)
def assign(ref, value, validate_shape=None, use_locking=None, name=None) -> Variable:
    """Replace the value of a variable; in a graph, when the result is run.

    Args:
        ref: the variable.
        value: the new value.
        validate_shape, use_locking: accepted.
        name: a name for the operation.
    """
    return updated(ref, ref.assign(value, name=name))


@api("compat.v1.assign_add", dispatch=False)
def assign_add(ref, value, use_locking=None, name=None) -> Any:
    """Add to a variable; in a graph, when the result is run."""
    return updated(ref, ref.assign_add(value, name=name))


@api("compat.v1.assign_sub", dispatch=False)
def assign_sub(ref, value, use_locking=None, name=None) -> Any:
    """Subtract from a variable; in a graph, when the result is run."""
    return updated(ref, ref.assign_sub(value, name=name))


@api("compat.v1.count_up_to", dispatch=False)
def count_up_to(ref, limit, name=None) -> Any:
    """Increase an integer variable by one, up to a limit; gives the value before."""
    return ref.count_up_to(limit)


def _slices(indices, updates):
    return IndexedSlices(to_tensor(updates) if not hasattr(updates, "dtype") else updates, to_tensor(indices))


def _rows(ref, updates):
    return to_tensor(updates, ref.dtype.base_dtype)


@api("compat.v1.scatter_update", dispatch=False)
def scatter_update(ref, indices, updates, use_locking=True, name=None) -> Any:
    """Replace rows of a variable."""
    return updated(ref, ref.scatter_update(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_add", dispatch=False)
def scatter_add(ref, indices, updates, use_locking=False, name=None) -> Any:
    """Add to rows of a variable."""
    return updated(ref, ref.scatter_add(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_sub", dispatch=False)
def scatter_sub(ref, indices, updates, use_locking=False, name=None) -> Any:
    """Subtract from rows of a variable."""
    return updated(ref, ref.scatter_sub(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_mul", dispatch=False)
def scatter_mul(ref, indices, updates, use_locking=False, name=None) -> Any:
    """Multiply rows of a variable."""
    return updated(ref, ref.scatter_mul(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_div", dispatch=False)
def scatter_div(ref, indices, updates, use_locking=False, name=None) -> Any:
    """Divide rows of a variable."""
    return updated(ref, ref.scatter_div(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_min", dispatch=False)
def scatter_min(ref, indices, updates, use_locking=False, name=None) -> Any:
    """The minimum of rows of a variable and updates."""
    return updated(ref, ref.scatter_min(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_max", dispatch=False)
def scatter_max(ref, indices, updates, use_locking=False, name=None) -> Any:
    """The maximum of rows of a variable and updates."""
    return updated(ref, ref.scatter_max(_slices(indices, _rows(ref, updates)), name=name))


@api("compat.v1.scatter_nd_update", dispatch=False)
def scatter_nd_update(ref, indices, updates, use_locking=True, name=None) -> Any:
    """Replace slices of a variable."""
    return updated(ref, ref.scatter_nd_update(indices, updates, name=name))


@api("compat.v1.scatter_nd_add", dispatch=False)
def scatter_nd_add(ref, indices, updates, use_locking=False, name=None) -> Any:
    """Add to slices of a variable."""
    return updated(ref, ref.scatter_nd_add(indices, updates, name=name))


@api("compat.v1.scatter_nd_sub", dispatch=False)
def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None) -> Any:
    """Subtract from slices of a variable."""
    return updated(ref, ref.scatter_nd_sub(indices, updates, name=name))


@api("compat.v1.batch_scatter_update", dispatch=False)
def batch_scatter_update(ref, indices, updates, use_locking=True, name=None) -> Any:
    """Replace rows of a variable batch by batch: `ref[i, ..., indices[i, ..., j]] = updates[i, ..., j]`.

    >>> v = tf.compat.v1.Variable([[1, 2, 3], [4, 5, 6]])
    >>> tf.compat.v1.batch_scatter_update(v, [[0], [2]], [[7], [8]]).numpy().tolist()
    [[7, 2, 3], [4, 5, 8]]
    """
    return scatter_nd_update(ref, in_batches(to_tensor(indices)), _rows(ref, updates), use_locking, name)
