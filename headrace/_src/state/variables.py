"""`tf.Variable`: a tensor-valued state that assignments change and tapes watch."""

import contextlib
import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from headrace._src.core import absent_attributes, device_use, dtypes, errors, types
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context, idle_runners, outside_functions, quiet_runner
from headrace._src.core.lazy import LazyModule
from headrace._src.core.names import scoped_name
from headrace._src.core.reference import Reference
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import entrance, hide_frames
from headrace._src.core.trackable import RestoredSpec, Trackable
from headrace._src.op.api import api
from headrace._src.op.convert import UnfitArrayError, to_tensor
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.indexing import variable_getitem
from headrace._src.ops.math.operators import attach_operators
from headrace._src.state import scatter, storage
from headrace._src.state.save_slice_info import SaveSliceInfo
from headrace._src.state.scatter_methods import ScatterMethods
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization

placement = LazyModule("headrace._src.op.placement")  # where there are accelerators

if TYPE_CHECKING:
    from headrace._src.attached import VariableMethods
    from headrace._src.core.dtypes import DType

    class VariableSlice(Tensor):
        """`variable[key]` as type checkers see it: a tensor that can be assigned to."""

        def assign(self, value: Any, name: str | None = None) -> "Variable": ...

else:
    VariableMethods = types.FOR_CHECKERS

_accounts = LazyModule("headrace._src.core.accounts")  # for errors
_VALUE = "VARIABLE_VALUE"  # what checkpoints call it
unique_numbers = itertools.count()  # of all variables, for their unique ids


class _VariableType(type):
    """Lets `tf.variable_creator_scope` take part in making variables."""

    def __call__(cls, *args, **kwargs):
        if cls is Variable:
            for name in _OF_ONE.intersection(kwargs):  # TF: what variables of 1.x take means nothing here
                del kwargs[name]
        creators = context.variable_creators
        if cls is not Variable or (not creators and context.mode is None):
            return super().__call__(*args, **kwargs)
        arguments = dict(zip(_PARAMETERS, args)) | kwargs
        for name, default in _DEFAULTS.items():
            arguments.setdefault(name, default)

        def make(**keywords):
            keywords = {k: v for k, v in keywords.items() if k in _DEFAULTS}
            graph = outside_functions(context.graph)
            if graph is None:
                return super(_VariableType, cls).__call__(**keywords)
            with context.changed(graph=graph):
                return graph.make_variable(**keywords)  # its value will be kept by sessions

        for creator in creators:
            make = functools.partial(creator, make)
        return make(**arguments)


@api("variable_creator_scope", dispatch=False)
@contextlib.contextmanager
def variable_creator_scope(variable_creator) -> Iterator[None]:
    """Within this block, `variable_creator(next_creator, **kwargs)` makes the variables.

    Args:
        variable_creator: returns a variable, usually what `next_creator(**kwargs)` returns. The creator of the
            innermost block is asked first.
    """
    before = context.variable_creators
    context.variable_creators = (*before, variable_creator)
    try:
        yield
    finally:
        context.variable_creators = before


def static_shape(value, shape, validate_shape) -> TensorShape:
    """The static shape of a variable, from its initial value and the arguments of its constructor.

    Raises:
        ValueError: when the value is of another shape than `shape`.
    """
    if shape is None:
        return value.shape if validate_shape else TensorShape(None)
    static = TensorShape(shape)
    if not static.is_compatible_with(value.shape):
        raise ValueError(
            f"Variable: the initial value's shape {value.shape} is not compatible with the explicitly supplied shape "
            f"{static}."
        )
    return static


@api("Variable", quick=("value", "read_value", "numpy", "assign", "assign_add", "assign_sub"))
class Variable(VariableMethods, ScatterMethods, Trackable, types.Tensor, metaclass=_VariableType):
    """A value that lives on between computations and can be assigned.

    Args:
        initial_value: a tensor, anything that becomes one, or a function without arguments that returns one.
        trainable: whether tapes watch it by themselves; by default True.
        validate_shape: False allows assignments of any shape.
        name: "Variable" by default.
        dtype: the element type; otherwise that of the initial value.
        constraint: a function that optimizers apply after each update.
        synchronization, aggregation: how distributed copies are kept together.
        shape: the shape, when it may be more general than that of the initial value.

    >>> v = tf.Variable([1.0, 2.0])
    >>> v.assign_add([1.0, 1.0]).numpy()
    array([2., 3.], dtype=float32)
    """

    __array_priority__ = 100
    _in_graph_mode = False
    has_copies = False  # whether it is distributed: each replica of a strategy then has a copy
    reads_as_tensor = True  # ops read the value without asking for conversions

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=True,
    ) -> None:
        if initial_value is None:
            raise ValueError("Variable: initial_value must be given: a tensor, a value, or a function returning one.")
        self._set_use(trainable, constraint, synchronization, aggregation)
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        if callable(initial_value) and not isinstance(initial_value, types.Tensor):
            initial_value = initial_value()
        if isinstance(initial_value, CompositeTensor) and not isinstance(initial_value, IndexedSlices):
            raise ValueError(f"Variable: initial_value must be a dense tensor, got {type(initial_value).__name__}.")
        value = to_tensor(initial_value, dtype)
        if type(value) is not EagerTensor:
            raise ValueError(
                f"Variable: initial_value must have a value, got the symbolic tensor {value!r}. "
                "Inside a tf.function, pass a function that makes the value."
            )
        static = static_shape(value, shape, validate_shape)
        device_use.in_use = True
        full_name = scoped_name("Variable" if name is None else name)
        self._storage = storage.Storage(value._a, value.dtype, static, full_name)
        self._handle = storage.make_handle(self._storage)
        self._dtype = value.dtype
        self._name = full_name
        self._unique_id = f"{full_name}_{next(unique_numbers)}"
        if context.device is not None:
            if context.mode.elsewhere and context.mode.graph is None:
                placement.check(context.device, "VarHandleOp")
            self._handle._device = context.device

    def _copies_to_write(self):
        """The variables that code here changes when it changes this one."""
        return (self,)

    def _set_use(self, trainable, constraint, synchronization, aggregation):
        """Take over the arguments of constructors that say how the variable is to be used."""
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Variable: constraint must be callable, got {constraint!r}.")
        on_read = synchronization is VariableSynchronization.ON_READ
        self._trainable = not on_read if trainable is None else bool(trainable)
        self._constraint = constraint
        self._synchronization = VariableSynchronization(synchronization or 0)
        self._aggregation = VariableAggregation(getattr(aggregation, "value", aggregation) or 0)

    # What it is.

    @property
    def name(self) -> str:
        return self._name + ":0"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def handle(self) -> Tensor:
        """The resource tensor that stands for this variable in ops and on tapes."""
        return self._handle

    @property
    def dtype(self) -> "DType":
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._storage.shape

    def get_shape(self) -> TensorShape:
        return self._storage.shape

    @property
    def ndim(self) -> int | None:
        return self._storage.shape.rank

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Any:
        return self._constraint

    @property
    def device(self) -> str:
        return getattr(self._storage.device, "device_name", self._handle._device)

    @property
    def initializer(self) -> None:
        """None: an eager variable is initialised when it is made."""
        return None

    @property
    def op(self) -> Any:
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> Any:
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def initial_value(self) -> Any:
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def initialized_value(self) -> Any:
        raise NotImplementedError("initialized_value belongs to 1.x graphs; an eager variable is initialised.")

    def eval(self, session=None) -> Any:
        raise RuntimeError("eval is not supported when eager execution is enabled; use numpy().")

    def to_proto(self, export_scope=None) -> Any:
        raise RuntimeError("to_proto is not supported when eager execution is enabled.")

    @staticmethod
    def from_proto(variable_def, import_scope=None) -> Any:
        raise RuntimeError("from_proto is not supported when eager execution is enabled.")

    def is_initialized(self, name=None) -> Tensor:
        """A boolean tensor: whether the variable has a value."""
        return storage.IS_INITIALIZED(self._handle)

    def set_shape(self, shape) -> None:
        """Narrow the static shape."""
        self._storage.shape = self._storage.shape.merge_with(shape)

    # TF: what packages call that wrap variables in classes of their own; Keras 2 gives loaded variables their names.

    @property
    def _handle_name(self) -> str:
        return self.name

    @_handle_name.setter
    def _handle_name(self, name):
        self._name = self._storage.name = name.removesuffix(":0")

    @classmethod
    def _OverloadAllOperators(cls) -> None:
        """Nothing: the operators of this class ask for `value()`, so that subclasses have them as they need them."""

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False) -> Tensor:
        """The value as a tensor, as `tf.convert_to_tensor` gives it."""
        return self.__tf_tensor__(dtype, name)

    def ref(self) -> Reference:
        """A hashable reference to this variable, for dictionaries and sets."""
        return Reference(self)

    def experimental_ref(self) -> Reference:
        return self.ref()

    # Reading.

    def value(self) -> Tensor:
        """The current value as a tensor, which later assignments do not change."""
        mode = context.mode
        if mode is not None and mode.graph is not None:
            return self._symbolic_value(mode)
        array = self._storage.value
        tensor = EagerTensor(self._storage.read() if array is None else array, self._dtype)
        if mode is None:
            return tensor
        for recorder in mode.recorders:
            recorder.variable_read(self, tensor)
        if mode.elsewhere:
            return placement.placed(tensor, mode.device)
        if mode.device is not None:
            tensor._device = mode.device
        return tensor

    def _symbolic_value(self, mode):
        """The value that this variable will have at this point of the graph."""
        mode.graph.used_variables[id(self._handle)] = self
        context.mode = mode.with_recorders(())
        try:
            tensor = storage.READ_VARIABLE(self._handle, dtype=self._dtype)
        finally:
            context.mode = mode
        for recorder in mode.recorders:
            recorder.variable_read(self, tensor)
        return tensor

    def _watch(self):
        """Tell the tapes that this variable is used, by an op that reads it through its handle."""
        if context.mode is not None:
            self.value()

    def read_value(self) -> Tensor:
        """The same as `value()`."""
        return self.value()

    def read_value_no_copy(self) -> Tensor:
        return self.value()

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and dtype is not self._dtype:
            raise UnfitArrayError(
                f"Incompatible type conversion requested to type {dtype.name} for `tf.Variable` of type "
                f"{self._dtype.name}. (Variable: {self})"
            )
        return self.value()

    def numpy(self) -> Any:
        """The current value as a NumPy array of its own."""
        return EagerTensor(self._storage.read(), self._dtype).numpy()

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return EagerTensor(self._storage.read(), self._dtype).__array__(dtype, copy)

    def sparse_read(self, indices, name=None) -> Tensor:
        """The rows at `indices`; its gradient is sparse."""
        self._watch()
        return scatter.RESOURCE_GATHER(self._handle, indices, dtype=self._dtype, name=name)

    def gather_nd(self, indices, name=None) -> Tensor:
        """The slices at the index tuples `indices`."""
        self._watch()
        return scatter.RESOURCE_GATHER_ND(self._handle, indices, dtype=self._dtype, name=name)

    # Assigning.

    def __setitem__(self, key, value):
        raise TypeError(
            "'Variable' object does not support item assignment. Use v[i].assign(value), or "
            "v.scatter_nd_update(indices, updates)."
        )

    def _convert(self, value):
        if type(value) is EagerTensor and value.dtype is self._dtype:
            return value
        return to_tensor(value, self._dtype)

    def assign(self, value, use_locking=False, name=None, read_value=True) -> "Variable":
        """Replace the value; returns this variable (None when `read_value` is False).

        Raises:
            ValueError: when the shape or dtype does not fit.
        """
        try:
            tensor = self._convert(value)
            if not self._storage.shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable shape "
                    f"{self._storage.shape}, and the assigned value shape {tensor.shape} are incompatible."
                )
            storage.ASSIGN(self._handle, tensor, name=name)
            return self if read_value else None
        except Exception as error:
            try:
                raise _accounts.told(error, "Variable.assign", {"value": value, "read_value": read_value})
            except BaseException as told:
                hide_frames(told)
                raise
        except BaseException as error:
            hide_frames(error)
            raise

    def _update(self, op, ufunc, delta, name):
        tensor = delta if type(delta) is EagerTensor and delta.dtype is self._dtype else self._convert(delta)
        mode = context.mode
        if (mode is None or mode.graph is None) and type(tensor) is EagerTensor:
            # What the op's kernel does, without the way there: training does this for every variable and step.
            try:
                run = idle_runners.pop()
            except IndexError:
                run = quiet_runner()
            try:
                run(self._storage.update, ufunc, tensor._a)
            finally:
                idle_runners.append(run)
        else:
            op(self._handle, tensor, name=name)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True) -> "Variable":
        """Add `delta`, which must have the variable's shape."""
        try:
            self._update(storage.ASSIGN_ADD, np.add, delta, name)
            return self if read_value else None
        except Exception as error:
            try:
                raise _accounts.told(error, "Variable.assign_add", {"delta": delta, "read_value": read_value})
            except BaseException as told:
                hide_frames(told)
                raise
        except BaseException as error:
            hide_frames(error)
            raise

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True) -> "Variable":
        """Subtract `delta`, which must have the variable's shape."""
        try:
            self._update(storage.ASSIGN_SUB, np.subtract, delta, name)
            return self if read_value else None
        except Exception as error:
            try:
                raise _accounts.told(error, "Variable.assign_sub", {"delta": delta, "read_value": read_value})
            except BaseException as told:
                hide_frames(told)
                raise
        except BaseException as error:
            hide_frames(error)
            raise

    def load(self, value, session=None) -> None:
        """Replace the value. TF: kept from 1.x."""
        self.assign(value)

    def count_up_to(self, limit) -> Tensor:
        """Return the value and increase it by one; OutOfRangeError once it has reached `limit`."""
        if self._dtype not in dtypes.INDEX:
            raise errors.invalid_argument(f"count_up_to: the variable must be int32 or int64, not {self._dtype.name}.")
        return storage.COUNT_UP_TO(self._handle, limit=int(limit), T=self._dtype)

    # Python's protocols.

    def __getitem__(self, key) -> "VariableSlice":
        """A slice of the value, which also can be assigned: `v[1:2].assign([5.0])`."""
        return variable_getitem(self, key)

    def _assign_slice(self, begin, end, strides, masks, value, name=None):
        scatter.STRIDED_SLICE_ASSIGN(self._handle, begin, end, strides, self._convert(value), name=name, **masks)
        return self

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value())

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __complex__(self):
        return complex(self.value())

    def __hash__(self):
        raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self})")

    def __repr__(self):
        text = "<uninitialized>"
        shape = self._storage.shape
        shape = "<unknown>" if shape.rank is None else shape
        if context.graph is not None:  # the value is that of another time
            return f"<tf.Variable '{self.name}' shape={shape} dtype={self._dtype.name}>"
        if self._storage.is_initialized:
            tensor = EagerTensor(self._storage.read(), self._dtype)
            text = repr(tensor).partition("numpy=")[2][:-1]
        return f"<tf.Variable '{self.name}' shape={shape} dtype={self._dtype.name}, numpy={text}>"

    __str__ = __repr__

    def __copy__(self):
        return self._clone()

    def __deepcopy__(self, memo):
        copied = self._clone()
        memo[id(self)] = copied
        return copied

    def _clone(self):
        return _restore(*self.__reduce__()[1])

    def __reduce__(self):
        return _restore, (
            self._storage.read(),
            self._dtype.name,
            self._name,
            self._trainable,
            self._storage.shape.as_list() if self._storage.shape.rank is not None else None,
            self._constraint,
            self._synchronization.value,
            self._aggregation.value,
        )

    # Checkpoints.

    def _serialize_to_tensors(self):
        if context.graph is not None:
            return {_VALUE: self.value()}
        # Not `value()`, which tapes would see. A variable without a value has none to save.
        return {_VALUE: EagerTensor(self._storage.read(), self._dtype) if self._storage.is_initialized else None}

    def _restored_specs(self):
        return {_VALUE: RestoredSpec(self._dtype, self._storage.shape)}

    def _restore_from_tensors(self, restored_tensors):
        tensor = restored_tensors[_VALUE]
        if context.graph is None and type(tensor) is EagerTensor:
            self._storage.set(tensor._a)
            return self
        return storage.ASSIGN(self._handle, tensor)

    def _restore_from_list(self, tensors):
        return self._restore_from_tensors({_VALUE: tensors[0]})

    def _gather_saveables_for_checkpoint(self):
        return {_VALUE: self}

    SaveSliceInfo: TypeAlias = SaveSliceInfo
    _save_slice_info: "Variable.SaveSliceInfo | None" = None  # for a part of a larger variable: which

    def _set_save_slice_info(self, save_slice_info):
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self):
        return self._save_slice_info


def _restore(array, dtype_name, name, trainable, shape, constraint, synchronization, aggregation):
    variable = Variable.__new__(Variable)
    dtype = dtypes.as_dtype(dtype_name)
    Variable.__init__(
        variable,
        EagerTensor(array.copy(), dtype),
        trainable=trainable,
        constraint=constraint,
        synchronization=VariableSynchronization(synchronization),
        aggregation=VariableAggregation(aggregation),
        shape=TensorShape(shape),
    )
    variable._name = variable._storage.name = name
    return variable


def restored_variable(array, dtype, shape, name, trainable, synchronization=0, aggregation=0) -> Variable:
    """A variable as a file describes it.

    Args:
        array: its value, which becomes the variable's own; None for a variable without one.
        dtype: its dtype.
        shape: its static shape.
        name: its full name.
        trainable: whether it is trained.
        synchronization, aggregation: the numbers of these.
    """
    variable = Variable.__new__(Variable)
    on_read = VariableSynchronization(synchronization)
    variable._set_use(trainable, None, on_read, VariableAggregation(aggregation))
    device_use.in_use = True
    variable._storage = storage.Storage(array, dtype, shape, name or "Variable")
    variable._handle = storage.make_handle(variable._storage)
    variable._dtype = dtype
    variable._name = name or "Variable"
    variable._unique_id = f"{variable._name}_{next(unique_numbers)}"
    return variable


_DEFAULTS = {
    "initial_value": None,
    "trainable": None,
    "validate_shape": True,
    "caching_device": None,
    "name": None,
    "variable_def": None,
    "dtype": None,
    "import_scope": None,
    "constraint": None,
    "synchronization": VariableSynchronization.AUTO,
    "aggregation": VariableAggregation.NONE,
    "shape": None,
    "experimental_enable_variable_lifting": True,
}
_PARAMETERS = tuple(_DEFAULTS)
_OF_ONE = frozenset({"use_resource", "collections", "expected_shape"})


def _on_values(operator):
    """An operator of tensors for variables: it reads them first, which is the shortest way to the op."""
    if operator.__code__.co_argcount == 1:
        return functools.wraps(operator)(entrance(lambda self: operator(self.value())))

    @functools.wraps(operator)
    def apply(self, other):
        try:
            return operator(self.value(), other.value() if type(other) is Variable else other)
        except BaseException as error:
            hide_frames(error)
            raise

    return apply


attach_operators(Variable)
for _name in Tensor.OVERLOADABLE_OPERATORS - {"__getitem__", "__eq__", "__ne__"}:
    setattr(Variable, _name, _on_values(getattr(Tensor, _name)))
absent_attributes.add_absences(Variable, "Variable", switched=False)
