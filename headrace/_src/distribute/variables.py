"""Variables with a copy on each replica: mirrored ones, which all stay equal, and ones that are combined when read."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.distribute.places import Place, index_here, stands_for_each
from headrace._src.distribute.reductions import ReduceOp
from headrace._src.distribute.values import (
    AllReplicas,
    DistributedValues,
    Mirrored,
    NeedsReplicas,
    regroup,
    select_copy,
)
from headrace._src.graph.replicas.collectives import OF_FIRST_REPLICA
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.program.device_scopes import device as device_scope
from headrace._src.state.storage import Storage
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable, unique_numbers
from headrace._src.tracing.trace_types import Identity

_VALUE = "VARIABLE_VALUE"
_NONE, _SUM, _MEAN = VariableAggregation.NONE, VariableAggregation.SUM, VariableAggregation.MEAN
_FIRST = VariableAggregation.ONLY_FIRST_REPLICA
# By storage of a copy: the variable that it is a copy of, held weakly, and its number.
_copies: Any = weakref.WeakKeyDictionary()


def copy_of_handle(tensor) -> tuple | None:
    """The distributed variable and the number of the copy that a handle belongs to; None for anything else."""
    array = getattr(tensor, "_a", None)
    storage = array[()] if array is not None and array.dtype.hasobject and array.ndim == 0 else None
    reference, number = _copies.get(storage, (None, 0)) if isinstance(storage, Storage) else (None, 0)
    container = None if reference is None else reference()
    return None if container is None else (container, number)


class DistributedVariable(DistributedValues, Variable):
    """What variables with copies have in common. Code on a replica uses that replica's copy.

    Args:
        strategy: whose variable it is.
        copies: the variable of each replica.
        synchronization, aggregation: when and how the copies are brought together.

    Raises:
        ValueError: integers are to be averaged.
    """

    has_copies = True
    is_mirrored = False

    def __init__(self, strategy, copies, synchronization, aggregation) -> None:
        first = copies[0]
        if aggregation == _MEAN and not (first.dtype.is_floating or first.dtype.is_complex):
            raise ValueError(
                f"Variable {first.name}: the mean of copies needs a floating dtype, got {first.dtype.name}. Use "
                "another aggregation, such as tf.VariableAggregation.ONLY_FIRST_REPLICA."
            )
        DistributedValues.__init__(self, copies)
        self._strategy = strategy
        self._dtype = first.dtype
        self._name = first._name
        self._trainable = first.trainable
        self._constraint = first.constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        self._unique_id = f"{self._name}_{next(unique_numbers)}"
        for i, copy in enumerate(copies):
            copy._distributed_container = weakref.ref(self)
            _copies[copy._storage] = weakref.ref(self), i

    def _distributed_container(self) -> DistributedVariable:
        return self

    @property
    def values(self) -> tuple:
        """The copies, in the order of the replicas."""
        if stands_for_each():
            raise NeedsReplicas("the copies of single replicas")
        return self._values

    # Which copy is meant.

    def _copies_here(self):
        """The copies that code means that runs once for all replicas; the first, where it is traced for each."""
        return self._values[:1] if stands_for_each() else self._values

    def _copies_to_write(self):
        return self._copies_here() if index_here(self._strategy) is None else (self._copy_here(),)

    def _copy_here(self):
        return self._values[index_here(self._strategy) or 0]

    @property
    def _storage(self):
        return self._copy_here()._storage

    @property
    def _handle(self):
        return self._copy_here()._handle

    def _first_copy_alone(self):
        """Within this block, code means the first copy: so functions of a model are saved, which has no replicas."""
        return context.changed(place=Place(self._strategy, None, 0))

    @property
    def distribute_strategy(self) -> Any:
        """Whose variable it is."""
        return self._strategy

    @property
    def _devices(self):
        return tuple(copy.device for copy in self._values)

    def set_shape(self, shape) -> None:
        for copy in self._values:
            copy.set_shape(shape)

    def is_initialized(self, name=None) -> Tensor:
        return self._copy_here().is_initialized(name)

    # Reading.

    def value(self) -> Tensor:
        return self._copy_here().value()

    def numpy(self) -> Any:
        return self.value().numpy()

    def __array__(self, dtype=None, copy=None):
        return self.value().__array__(dtype, copy)

    def _watch(self):
        self._copy_here()._watch()

    def sparse_read(self, indices, name=None) -> Tensor:
        return self._copy_here().sparse_read(indices, name)

    def gather_nd(self, indices, name=None) -> Tensor:
        return self._copy_here().gather_nd(indices, name)

    # Writing.

    def _write(self, method: str, value: Any, args: tuple, kwargs: dict) -> Any:
        """Let the copies that code here means take a value by one of the methods that change variables."""
        raise NotImplementedError

    def _write_copies(self, method, value, args, kwargs):
        """Each copy takes its part of the value, on its device."""
        results = []
        every = stands_for_each()
        for i, copy in enumerate(self._copies_here()):
            with context.changed(place=Place(self._strategy, None, i, every)), device_scope(copy.device):
                results.append(getattr(copy, method)(*args, select_copy(i, value), **kwargs))
        return results

    def _assign_slice(self, begin, end, strides, masks, value, name=None):
        index = index_here(self._strategy)
        for copy in self._copies_here() if index is None else [self._values[index]]:
            copy._assign_slice(begin, end, strides, masks, value, name)
        return self

    # Python's protocols. `Variable` comes second among the bases, so what DistributedValues shows is shown.

    def __tf_tracing_type__(self, context: Any) -> Any:
        return Identity(self)

    def __hash__(self):
        return Variable.__hash__(self)

    def _clone(self):
        copies = [copy._clone() for copy in self._values]
        return type(self)(self._strategy, copies, self._synchronization, self._aggregation)

    # Checkpoints: one value, whatever the number of copies.

    def _serialize_to_tensors(self):
        return self._values[0]._serialize_to_tensors()

    def _restored_specs(self):
        return self._values[0]._restored_specs()

    def _restore_from_tensors(self, restored_tensors):
        results = [copy._restore_from_tensors(restored_tensors) for copy in self._values]
        return results[0]

    def _gather_saveables_for_checkpoint(self):
        return {_VALUE: self}


class MirroredVariable(DistributedVariable):
    """A variable whose copies are all equal, as what replicas assign is combined first."""

    is_mirrored = True

    def _write(self, method, value, args, kwargs):
        place = context.place
        if place is None or place.strategy is not self._strategy or place.index is None:
            return self._result(self._write_copies(method, value, args, kwargs), kwargs)
        copy = self._values[place.index]
        if place.replica is None or self._aggregation == _NONE:
            # An update of one copy. TF: without an aggregation, each replica changes its own.
            return getattr(copy, method)(*args, select_copy(place.index, value), **kwargs)

        if method in _NOT_COMBINED and self._aggregation != _FIRST:
            raise NotImplementedError(
                f"{self.name}: what replicas give `{method}` cannot be combined to their {self._aggregation.name}. "
                "Give the variable aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA or NONE."
            )

        def merged(strategy, value):
            return self._write_copies(method, _aggregated(strategy, self._aggregation, value), args, kwargs)

        place.replica.merge_call(merged, args=(value,))
        return copy.value() if kwargs.get("read_value", True) else None

    def _result(self, results, kwargs):
        if not kwargs.get("read_value", True):
            return None
        with_values = [copy.value() for copy in results]
        return Mirrored(with_values)


def _aggregated(strategy, aggregation, value):
    """What the copies of a variable take when replicas assign these values."""
    if aggregation == _FIRST:
        return _of_first(value)
    op = ReduceOp.from_variable_aggregation(aggregation)
    if isinstance(value, Mirrored):
        return value
    return strategy.extended._reduced(op, [value])[0]


def _of_first(value):
    """What the first replica has of a value, for all of them."""
    if not stands_for_each() or not isinstance(value, DistributedValues):
        return value.values[0] if isinstance(value, DistributedValues) else value
    return OF_FIRST_REPLICA(to_tensor(value._of(0)))


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies go their own ways and are combined when code that runs once for all reads it."""

    def value(self) -> Tensor:
        index = index_here(self._strategy)
        return self._values[index].value() if index is not None else self._combined()

    def _combined(self):
        if self._aggregation == _FIRST:
            return self._values[0].value()
        op = ReduceOp.from_variable_aggregation(self._aggregation)
        values = [copy.value() for copy in self._copies_here()]
        value = AllReplicas(values[0]) if stands_for_each() else regroup(values)
        return self._strategy.extended._reduced(op, [value])[0]

    def _write(self, method, value, args, kwargs):
        index = index_here(self._strategy)
        if index is not None:
            return getattr(self._values[index], method)(*args, select_copy(index, value), **kwargs)
        if method != "assign" and (self._aggregation == _SUM or method not in ("assign_add", "assign_sub")):
            raise ValueError(
                f"SyncOnReadVariable {self.name}: `{method}` in a cross-replica context would have to be divided among "
                f"the copies, which aggregation {self._aggregation.name} does not define. Call it within strategy.run."
            )
        if method == "assign" and self._aggregation == _SUM:
            value = self._share_of(to_tensor(value, self._dtype))
        self._write_copies(method, value, args, kwargs)
        if not kwargs.get("read_value", True):
            return None
        # What was divided among all processes need not be added up again by all of them.
        return self._combined() if self._is_local else self._whole_of(self._values[0].value())

    @property
    def _is_local(self):
        return self._strategy.num_replicas_in_sync == len(self._values)

    def _whole_of(self, part):
        count = to_tensor(self._strategy.num_replicas_in_sync, self._dtype)
        return part * count if self._aggregation == _SUM else part

    def _share_of(self, total):
        """What each copy has when the sum of all is `total`. TF: for integers the remainder is lost."""
        count = to_tensor(self._strategy.num_replicas_in_sync, self._dtype)
        return total // count if self._dtype.is_integer else total / count

    def _serialize_to_tensors(self):
        if self._aggregation == _NONE:
            return super()._serialize_to_tensors()
        with context.changed(recorders=(), place=None):
            return {_VALUE: self._combined()}

    def _restore_from_tensors(self, restored_tensors):
        tensor = restored_tensors[_VALUE]
        if self._aggregation == _SUM and tensor is not None:
            tensor = self._share_of(to_tensor(tensor, self._dtype))
        return super()._restore_from_tensors({_VALUE: tensor})


class AggregatingVariable(MirroredVariable):
    """A variable that is in one place for all replicas, which combine what they assign to it."""

    def _copy_here(self):
        return self._values[0]

    def __repr__(self):
        return repr(self._values[0])

    __str__ = __repr__

    def _write(self, method, value, args, kwargs):
        copy, place = self._values[0], context.place
        if place is None or place.strategy is not self._strategy or place.replica is None:
            getattr(copy, method)(*args, select_copy(0, value), **kwargs)
        elif self._aggregation == _NONE:
            raise ValueError(
                f"{self.name} has no aggregation, so replicas cannot change it. Make it with "
                "aggregation=tf.VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA."
            )
        else:

            def merged(strategy, value):
                getattr(copy, method)(*args, _aggregated(strategy, self._aggregation, value), **kwargs)

            place.replica.merge_call(merged, args=(value,))
        return self if kwargs.get("read_value", True) else None

    def _assign_slice(self, begin, end, strides, masks, value, name=None):
        self._values[0]._assign_slice(begin, end, strides, masks, value, name)
        return self


def _writing_method(name, original, first):
    """The method of distributed variables that replaces one of `Variable`.

    Args:
        name: of the method.
        original: the method.
        first: how many arguments come before the value.
    """

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        try:
            before, rest = list(args[: first + 1]), args[first + 1 :]
            for parameter in _PARAMETERS[name][len(before) :]:
                before.append(kwargs.pop(parameter))
            kwargs.update(zip(_REST[name], rest))
            if context.place is not None and context.place.replica is not None:
                _require_own(self)
            return self._write(name, _convertible(self, before.pop()), tuple(before), kwargs)
        except BaseException as error:
            hide_frames(error)
            raise

    return method


def _require_own(variable):
    """Raises RuntimeError on a replica of another strategy, whose variables have other copies."""
    here = context.place.strategy
    if here is not variable._strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {variable.name} was made in the scope of "
            f"{variable._strategy!r}, and is changed on a replica of {here!r}."
        )


def _convertible(variable, value):
    """A value to be assigned; what is no tensor yet becomes one here, so that a bad one is named by this call."""
    if isinstance(value, (Tensor, DistributedValues, Variable, IndexedSlices, int, float, complex)):
        return value
    return to_tensor(value, variable.dtype)


_ASSIGNING = ("assign", "assign_add", "assign_sub")
_SCATTERING = (
    "scatter_update", "scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_min", "scatter_max",
    "batch_scatter_update",
)  # fmt: skip
_NOT_COMBINED = ("scatter_update", "scatter_min", "scatter_max")  # TF: of these, sums and means have no meaning
_AT_TUPLES = ("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_min", "scatter_nd_max")
_PARAMETERS = {
    **{name: ("value" if name == "assign" else "delta",) for name in _ASSIGNING},
    **dict.fromkeys(_SCATTERING, ("sparse_delta",)),
    **dict.fromkeys(_AT_TUPLES, ("indices", "updates")),
}
_REST = {
    **dict.fromkeys(_ASSIGNING, ("use_locking", "name", "read_value")),
    **dict.fromkeys(_SCATTERING, ("use_locking", "name")),
    **dict.fromkeys(_AT_TUPLES, ("name",)),
}
for _name in (*_ASSIGNING, *_SCATTERING, *_AT_TUPLES):
    _method = _writing_method(_name, getattr(Variable, _name), len(_PARAMETERS[_name]) - 1)
    setattr(DistributedVariable, _name, _method)


# Making them.


def checked_use(keywords) -> tuple:
    """The synchronization and aggregation that a user asks for.

    Raises:
        ValueError: there is none of that kind, or it cannot be had under a strategy.
    """
    name = keywords.get("name")
    synchronization = keywords.get("synchronization") or VariableSynchronization.AUTO
    aggregation = keywords.get("aggregation") or _NONE
    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            f"Variable {name}: synchronization NONE means nothing under a strategy; use AUTO, ON_WRITE or ON_READ."
        )
    try:
        aggregation = VariableAggregation(getattr(aggregation, "value", aggregation))
    except ValueError:
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}") from None
    return synchronization, aggregation


def make_copies(devices, next_creator, keywords) -> list[Variable]:
    """A variable on each device, all with the value that the first one begins with."""
    copies: list[Variable] = []
    for i, device in enumerate(devices):
        if i:
            first = copies[0]
            keywords = {
                **keywords,
                "initial_value": functools.partial(_initial_value, first),
                "name": f"{first._name.rsplit('/', 1)[-1]}/replica_{i}",
                "dtype": None,
                "shape": first.shape,
            }
        with device_scope(device):
            copies.append(next_creator(**keywords))
    return copies


def _initial_value(first):
    if first._storage.is_initialized:
        return EagerTensor(first._storage.read().copy(), first.dtype)
    return first.value()
