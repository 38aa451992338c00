"""Linear operators as composite tensors: their type specs, and slices of their batch dimensions."""

import numpy as np

from headrace._src.core import nest
from headrace._src.core.batchable_specs import BatchableTypeSpec
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.errors import invalid_argument
from headrace._src.core.shapes import TensorShape
from headrace._src.core.type_specs import type_spec_from_value
from headrace._src.core.types import Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import known_rank
from headrace._src.ops.linear_operators.shapes import static_value

_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


class LinearOperatorSpec(BatchableTypeSpec):
    """The spec of a linear operator: specs of the arguments that are tensors or operators, and the other arguments.

    Each class of operators has a subclass, `LinearOperatorDiagSpec` for instance.
    """

    __slots__ = ("_non_tensor_params", "_param_specs", "_prefer_static_fields")

    operator_class: type | None = None

    def __init__(self, param_specs, non_tensor_params, prefer_static_fields=()):
        self._param_specs = param_specs
        self._non_tensor_params = non_tensor_params
        self._prefer_static_fields = prefer_static_fields

    @classmethod
    def from_operator(cls, operator):
        """The spec of an operator of this class."""
        # A class of the user may have a constructor without hints.
        hints = [hint for hint in _HINTS if hint in operator.parameters]
        specs, others = {}, {hint: getattr(operator, hint) for hint in hints}
        static = operator._composite_tensor_prefer_static_fields
        for field in operator._composite_tensor_fields:
            value = argument(operator, field)
            known = _plain(static_value(value)) if field in static else None
            if known is not None:
                others[field] = known
            elif value is not None and _is_made_of_tensors(value):
                specs[field] = nest.map_structure(type_spec_from_value, _plain_lists(value))
            else:
                others[field] = value
        return cls(specs, others, tuple(static))

    @property
    def value_type(self):
        return self.operator_class

    def _serialize(self):
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    @property
    def _component_specs(self):
        return self._param_specs

    def _to_components(self, value):
        return {field: _plain_lists(argument(value, field)) for field in self._param_specs}

    def _from_components(self, components):
        return self.operator_class(**components, **self._non_tensor_params)

    def _batch(self, batch_size):
        return self._with(lambda spec: spec._batch(batch_size))

    def _unbatch(self):
        return self._with(lambda spec: spec._unbatch())

    def _with(self, change):
        specs = nest.map_structure(change, self._param_specs)
        return type(self)(specs, self._non_tensor_params, self._prefer_static_fields)


def argument(operator, name: str):
    """An argument of the constructor, as the operator keeps it."""
    for place in (f"_{name}", name):
        if hasattr(operator, place):
            return getattr(operator, place)
    return operator.parameters[name]


def _is_made_of_tensors(value):
    leaves = nest.flatten(value)
    return bool(leaves) and all(isinstance(leaf, (Tensor, CompositeTensor, np.ndarray)) for leaf in leaves)


def _plain_lists(value):
    """`value` with plain lists instead of the tracking ones that attributes hold."""
    if isinstance(value, (list, tuple)):
        return [_plain_lists(item) for item in value]
    return to_tensor(value) if isinstance(value, np.ndarray) else value


def _plain(value):
    """A static argument in a form that can be compared."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return TensorShape(value.tolist())
    return int(value) if isinstance(value, (np.ndarray, np.integer)) else value


def spec_class(operator_class: type) -> type:
    """The class of specs of a class of operators."""
    name = f"{operator_class.__name__}Spec"
    spec = type(name, (LinearOperatorSpec,), {"__slots__": (), "operator_class": operator_class})
    # Pickle finds it where the operator's class keeps it.
    spec.__module__, spec.__qualname__ = operator_class.__module__, f"{operator_class.__qualname__}._spec_class"
    return spec


# Slices.


def sliced(operator, slices):
    """The operator with its batch dimensions indexed by `slices`."""
    slices = slices if isinstance(slices, tuple) else (slices,)
    batch = operator.batch_shape
    arguments = dict(operator.parameters)
    for name, depth in operator._experimental_parameter_ndims_to_matrix_ndims.items():
        value = argument(operator, name)
        if value is not None:
            arguments[name] = _slice_argument(value, depth, slices, batch)
    return type(operator)(**arguments)


def _slice_argument(value, depth, slices, batch):
    if isinstance(value, (list, tuple)):
        return [_slice_argument(*pair, slices, batch) for pair in zip(value, depth)]
    if not isinstance(value, CompositeTensor):
        value = to_tensor(value)
        mine = value.shape[: known_rank("LinearOperator", "a parameter", value) - depth]
        return value[(*_for_part(slices, mine, batch), *[slice(None)] * depth)]
    mine = _for_part(slices, value.batch_shape, batch)
    return value[mine] if mine else value


def _for_part(slices, mine, batch):
    """The slices that a part with batch shape `mine` needs where the whole has batch shape `batch`."""
    if batch.rank is None or mine.rank is None:
        raise ValueError("A LinearOperator can only be sliced when the rank of its batch shape is known.")
    taken = sum(item is not None and item is not Ellipsis for item in slices)
    if taken > batch.rank:
        raise invalid_argument(f"LinearOperator: {taken} indices for the batch shape {batch}.")
    if Ellipsis not in [item for item in slices if not isinstance(item, Tensor)]:
        slices = (*slices, Ellipsis)
    missing = batch.rank - mine.rank
    result, axis = [], 0
    for item in slices:
        if item is None:
            result.append(None)
        elif item is Ellipsis:
            count = batch.rank - taken
            result += [slice(None)] * (max(axis + count, missing) - max(axis, missing))
            axis += count
        else:
            if axis >= missing:
                result.append(_for_dimension(item, mine[axis - missing], batch[axis]))
            elif isinstance(item, slice):
                result.append(None)  # repeated all the same
            axis += 1
    return tuple(result)


def _for_dimension(item, mine, whole):
    if mine != 1 or whole == 1:
        return item
    return slice(None) if isinstance(item, slice) else 0  # a dimension that is repeated


def sliced_shape(batch: TensorShape, slices) -> list:
    """The batch shape that slices leave, for operators without parts."""
    try:
        return list(np.broadcast_to(np.False_, tuple(batch.as_list()))[slices].shape)
    except IndexError as error:
        raise ValueError(f"LinearOperator: the batch shape {batch} cannot be sliced: {error}.") from None
