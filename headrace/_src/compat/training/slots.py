"""Variables that belong to another one: an optimizer's state, or a moving average."""

import functools

from headrace._src.compat.variables.scopes import variable_scope
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.graph.building.graph_variables import GraphVariable, RefVariable
from headrace._src.ops.arrays.constants import zeros


def base_name(variable) -> str:
    """The name of a variable without ":0"."""
    return variable.name.rpartition(":")[0]


def create_slot(primary, initial_value, name):
    """A variable called "<primary>/<name>", with a number if there is one already.

    Args:
        primary: the variable that it belongs to.
        initial_value: a tensor, or a function without arguments that returns one.
        name: what it is for.
    """
    with variable_scope(None, default_name=f"{base_name(primary)}/{name}", auxiliary_name_scope=False) as scope:
        full = scope.name
    in_graph = isinstance(primary, GraphVariable)
    with name_scope(""):
        slot = make_variable(
            initial_value=initial_value, trainable=False, name=full, collections=None,
            validate_shape=primary.shape.is_fully_defined(), dtype=primary.dtype.base_dtype,
            use_resource=not isinstance(primary, RefVariable) if in_graph else None,
        )  # fmt: skip
    info = getattr(primary, "_save_slice_info", None)  # a moving average may be that of a tensor
    if info is not None and slot.shape == primary.shape:  # what belongs to a part of a variable is such a part too
        # TF: so many characters are left out, whatever they are: slots made in another scope have a prefix more.
        whole = f"{info.full_name}/{full[len(base_name(primary)) + 1 :]}"
        slot._set_save_slice_info(
            primary.SaveSliceInfo(whole, info.full_shape, info.var_offset, info.var_shape)
        )
    return slot


def create_zeros_slot(primary, name, dtype=None):
    """A variable of zeros with the shape of `primary`."""
    shape = primary.shape
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    if shape.is_fully_defined():
        return create_slot(primary, functools.partial(zeros, shape.as_list(), dtype), name)
    if context.graph is None:
        return create_slot(primary, zeros(primary.value().shape, dtype), name)
    raise ValueError(f"The shape of {primary!r} must be known for variables that belong to it.")
