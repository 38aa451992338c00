"""Where a variable's value is kept, and the ops that read and replace it.

The value is a NumPy array until a compiled program uses the variable. Then it is an array of the program's device,
which the program is given, and replaces when it updates the variable: as long as nobody looks at the value from
outside, the update happens in the same memory. Whoever reads it gets a view that keeps that memory as it is.
"""

import sys
import threading
import weakref

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.device_use import ElsewhereValue
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.definition import Op
from headrace._src.op.lowering import NotLowerable
from headrace._src.op.traits import READS_RESOURCE, UNCHECKED, WRITES_VARIABLE

# Updating fewer elements in place takes longer than making a new array.
_SMALL = 256


class Storage:
    """The resource behind a variable: an array that is replaced, or updated in place when nobody else has it."""

    __slots__ = ("__weakref__", "device", "dtype", "host", "lock", "name", "shape", "value")

    def __init__(self, value, dtype, shape, name):
        self.value = value  # None while uninitialised, on the device, or for the moment of an update in place
        self.device = None  # the value as an array of the programs' device, when it is there
        self.host = None  # which of XLA's clients has that array, if it is one of this machine's processors
        if isinstance(value, ElsewhereValue):
            self.value, self.device = None, value.own_copy()
        self.dtype = dtype
        self.shape = shape  # a TensorShape, which may be partly unknown
        self.name = name
        self.lock = threading.RLock()

    def read(self) -> np.ndarray:
        """The current value, which nobody will change."""
        value = self.value
        if value is None:
            with self.lock:
                value = self.value
                if value is None and self.device is not None:
                    # A view, not kept here: a program can update the variable in place once it is gone.
                    return host_view(self.device)
            if value is None:
                raise errors.FailedPreconditionError(
                    None, None,
                    f"Could not find variable {self.name}. This could mean that the variable has been deleted. "
                    "In TF1, it can also mean the variable is uninitialized.",
                )
        return value

    @property
    def is_initialized(self) -> bool:
        """Whether there is a value."""
        with self.lock:
            return self.value is not None or self.device is not None

    @property
    def value_shape(self) -> tuple:
        """The shape of the current value, which is not looked at. There must be one."""
        with self.lock:
            return (self.device if self.value is None else self.value).shape

    def set(self, value):
        """Replace the value by an array (None: there is none any more)."""
        with self.lock:
            if isinstance(value, ElsewhereValue):
                self.value, self.device = None, value.own_copy()
            else:
                self.value = value
                self.device = None

    def update(self, function, operand):
        """Replace the value by `function(value, operand)`, a NumPy ufunc, without a copy where that is safe."""
        with self.lock:
            value = self.value
            if value is None:
                value = self.read()
            if operand.shape != value.shape:
                raise errors.invalid_argument(
                    f"Cannot update variable {self.name} with shape {value.shape} using a Tensor with shape "
                    f"{operand.shape}, shapes must be equal."
                )
            if value.size < _SMALL or self.value is None:
                self.value = np.asarray(function(value, operand), self.dtype._np)
                self.device = None
                return
            del value
            if sys.getrefcount(self.value) <= EXCLUSIVE and self.value.flags.writeable and self.value.flags.owndata:
                # Readers in other threads find None and wait for the lock.
                value, self.value = self.value, None
                try:
                    function(value, operand, out=value)
                finally:
                    self.value = value
            else:
                self.value = np.asarray(function(self.value, operand), dtype=self.dtype._np)

    def replace(self, function):
        """Replace the value by `function(copy of the value)`; nothing changes when it raises."""
        with self.lock:
            fresh = self.read().copy()
            function(fresh)
            self.set(fresh)


class ReplicaPart(ElsewhereValue):
    """The value of a replica's copy of a variable: a part of an array that is spread over devices.

    Args:
        whole: the array.
        index: the number of the part.
        shape: of the value. A scalar is a part with one element.
        where: the numbers of the devices.
    """

    __slots__ = ("index", "shape", "where", "whole")

    def __init__(self, whole, index, shape, where):
        self.whole = whole
        self.index = index
        self.shape = shape
        self.where = where

    def host(self) -> np.ndarray:
        return host_view(self.whole.addressable_data(self.index)).reshape(self.shape)


def host_view(array) -> np.ndarray:
    """What an array of a device holds, as a read-only NumPy array, without a copy where that is possible."""
    if isinstance(array, ElsewhereValue):
        return array.host()
    if array.dtype.kind in "biufc":
        return np.from_dlpack(array)
    return np.asarray(array)  # the small floats of ml_dtypes, which DLPack does not know


def _count_of_exclusive() -> int:
    probe = Storage(np.zeros(1), dtypes.float64, None, "")
    return sys.getrefcount(probe.value)


# What getrefcount says of an array that only its storage holds; it differs between Python releases.
EXCLUSIVE = _count_of_exclusive()


def make_handle(storage: Storage) -> EagerTensor:
    """The resource tensor by which ops and tapes know the storage."""
    return EagerTensor(boxed(storage), dtypes.resource)


def storage_of(resource: np.ndarray) -> Storage:
    storage = resource[()]
    if not isinstance(storage, Storage):
        raise errors.invalid_argument(f"The resource is no variable, but {type(storage).__name__}.")
    return storage


def _read_variable(resource, dtype):
    storage = storage_of(resource)
    _check_dtype(storage, dtype)
    return storage.read()


def _check_dtype(storage, dtype):
    if storage.dtype is not dtype:
        raise errors.invalid_argument(
            f"Trying to read variable {storage.name} with wrong dtype. Expected {storage.dtype.name} got {dtype.name}."
        )


def shape_in(resource) -> TensorShape:
    """What `infer` knows of the shape of a variable, from the spec of its handle."""
    storage = None if resource.value is None else resource.value[()]
    return TensorShape(None) if storage is None else storage.shape


def shape_for_gradient(handle):
    """The shape of a variable as an int32 tensor, a constant where it is certain."""
    box = handle._a if isinstance(handle, EagerTensor) else handle._known
    shape = TensorShape(None) if box is None else box[()].shape
    if shape.is_fully_defined():
        return EagerTensor(np.array(shape.as_list(), np.int32), dtypes.int32)
    return VARIABLE_SHAPE(handle, out_type=dtypes.int32)


READ_VARIABLE = Op(
    "ReadVariableOp",
    "resource: resource, *, dtype: type -> value: dtype",
    traits=READS_RESOURCE | UNCHECKED,
    infer=lambda resource, dtype: shape_in(resource),
    kernel=_read_variable,
    lower=lambda ctx, resource, dtype: ctx.read_variable(resource),
    grad=lambda node, dy: (dy,),
    stateful=True,
)


def _assign(resource, value, validate_shape):
    storage = storage_of(resource)
    if not storage.shape.is_compatible_with(value.shape):
        if validate_shape:
            raise errors.invalid_argument(
                f"Trying to assign to variable {storage.name} of shape {storage.shape} a tensor of shape {value.shape}."
            )
        storage.shape = TensorShape(value.shape)
    storage.set(value)


def _lower_assign(ctx, resource, value, validate_shape):
    if not resource.shape.is_compatible_with(value.shape):
        raise NotLowerable("a value of another shape than the variable's")
    ctx.assign_variable(resource, value)


ASSIGN = Op(
    "AssignVariableOp",
    "resource: resource, value: dtype, *, validate_shape: bool = False -> ",
    traits=WRITES_VARIABLE | UNCHECKED,
    infer=lambda resource, value, validate_shape: (),
    kernel=_assign,
    lower=_lower_assign,
    grad=None,
    stateful=True,
)


def _updating(name, ufunc):
    def kernel(resource, value):
        storage_of(resource).update(ufunc, value)

    def lower(ctx, resource, value):
        before = ctx.read_variable(resource)
        if before.shape != value.shape:
            raise NotLowerable("an update of another shape than the variable's")
        ctx.assign_variable(resource, getattr(jnp, ufunc.__name__)(before, value))

    return Op(
        name,
        "resource: resource, value: dtype -> ",
        traits=WRITES_VARIABLE,
        infer=lambda resource, value: (),
        kernel=kernel,
        lower=lower,
        grad=None,
        stateful=True,
    )


ASSIGN_ADD = _updating("AssignAddVariableOp", np.add)
ASSIGN_SUB = _updating("AssignSubVariableOp", np.subtract)

# Those that change one variable, of the dtype of their value, and nothing else; with what they make of the value before
# and of theirs.
ASSIGNMENTS: dict[Op, np.ufunc | None] = {ASSIGN: None, ASSIGN_ADD: np.add, ASSIGN_SUB: np.subtract}


IS_INITIALIZED = Op(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: bool",
    traits=READS_RESOURCE,
    infer=lambda resource: TensorShape([]),
    kernel=lambda resource: np.bool_(storage_of(resource).is_initialized),
    lower=lambda ctx, resource: np.array(True),  # programs run only when all their variables are
    grad=None,
    stateful=True,
)


# A read gives an array that no update changes, with or without this. Functions that save have it.
DISABLE_COPY_ON_READ = Op(
    "DisableCopyOnRead",
    "resource: resource -> ",
    traits=READS_RESOURCE,
    infer=lambda resource: (),
    kernel=lambda resource: storage_of(resource) and (),
    lower=None,  # it is only in functions that save
    grad=None,
    stateful=True,
)


# In place of a variable without a handle, for ops of imported graphs that take a reference to it.
VARIABLE_REFERENCE = Op(
    "VariableReference",
    "*, shape: shape, dtype: type, container: string = '', shared_name: string = '' -> reference: resource",
    infer=lambda **attrs: TensorShape([]),
    kernel=lambda shape, dtype, container, shared_name: boxed(session_storage(container, shared_name, dtype, shape)),
    lower=None,  # makes state on the host
    grad=None,
    stateful=True,
)


def boxed(storage: Storage) -> np.ndarray:
    """The array of a resource tensor with the storage."""
    box = np.empty((), object)
    box[()] = storage
    return box


def _destroy(resource, ignore_lookup_error):
    storage_of(resource).set(None)


DESTROY = Op(
    "DestroyResourceOp",
    "resource: resource, *, ignore_lookup_error: bool = True -> ",
    infer=lambda resource, ignore_lookup_error: (),
    kernel=_destroy,
    lower=None,  # changes state on the host
    grad=None,
    stateful=True,
)


# Of models that were loaded outside of any session: their variables, which operations know by these names.
_loaded: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def register_storage(container: str, name: str, storage: Storage) -> None:
    """Let operations that name a variable find it, as long as somebody has it. The name is of this process alone."""
    _loaded[container, name] = storage


def session_storage(container, name, dtype, shape) -> Storage:
    """The variable of that name of the session that runs; a new one when none does, or it has none."""
    if _loaded:
        storage = _loaded.get((container, name))
        if storage is not None:
            return storage
    resources = context.resources
    if resources is None or not name:
        return Storage(None, dtype, TensorShape(shape), name or "Variable")
    key = ("variable", container, name)
    storage = resources.get(key)
    return storage or resources.setdefault(key, Storage(None, dtype, TensorShape(shape), name))


def _var_handle(container, shared_name, debug_name, dtype, shape, allowed_devices):
    return boxed(session_storage(container, shared_name or debug_name, dtype, shape))


VAR_HANDLE = Op(
    "VarHandleOp",
    "*, container: string = '', shared_name: string = '', debug_name: string = '', dtype: type, shape: shape, "
    "allowed_devices: list(string) = [] -> resource: resource",
    traits=UNCHECKED,
    infer=lambda **attrs: TensorShape([]),
    kernel=_var_handle,
    lower=None,  # makes state on the host
    grad=None,
    stateful=True,
)

VARIABLE_SHAPE = Op(
    "VariableShape",
    "input: resource, *, out_type: type = int32 -> output: out_type",
    traits=READS_RESOURCE,
    infer=lambda input, out_type: TensorShape([shape_in(input).rank]),
    kernel=lambda input, out_type: np.array(storage_of(input).read().shape, out_type._np),
    lower=lambda ctx, input, out_type: np.array(ctx.read_variable(input).shape, out_type._np),
    grad=None,
    stateful=True,
    out_type=dtypes.INDEX,
)


def _count_up_to(resource, limit, T):
    storage = storage_of(resource)
    with storage.lock:
        value = storage.read()
        if value.ndim:
            raise errors.invalid_argument(f"count_up_to: the variable must be a scalar, it has shape {value.shape}.")
        if value >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        storage.set(np.asarray(value + 1, value.dtype))
    return value


def _lower_count_up_to(ctx, resource, limit, T):
    value = ctx.read_variable(resource)
    if value.ndim:
        raise NotLowerable("a counter that is no scalar")
    ctx.check(value < limit, errors.OutOfRangeError, f"Reached limit of {limit}")
    ctx.assign_variable(resource, value + np.ones((), value.dtype))
    return value


COUNT_UP_TO = Op(
    "ResourceCountUpTo",
    "resource: resource, *, limit: int, T: type -> output: T",
    traits=WRITES_VARIABLE,
    infer=lambda resource, limit, T: TensorShape([]),
    kernel=_count_up_to,
    lower=_lower_count_up_to,
    grad=None,
    stateful=True,
    T=dtypes.INDEX,
)
