"""Where a variable's value is kept, and the ops that read and replace it."""

import sys
import threading

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.definition import Op

# Updating fewer elements in place takes longer than making a new array.
_SMALL = 256


class Storage:
    """The resource behind a variable: an array that is replaced, or updated in place when nobody else has it."""

    __slots__ = ("__weakref__", "dtype", "lock", "name", "shape", "value")

    def __init__(self, value, dtype, shape, name):
        self.value = value  # None while uninitialised, or for the moment of an update in place
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
            if value is None:
                raise errors.FailedPreconditionError(
                    None, None, f"Could not find variable {self.name}: it is uninitialized or was deleted."
                )
        return value

    def update(self, function, operand):
        """Replace the value by `function(value, operand)`, a NumPy ufunc, without a copy where that is safe."""
        with self.lock:
            value = self.read()
            if operand.shape != value.shape:
                raise errors.invalid_argument(
                    f"Cannot update variable {self.name} with shape {value.shape} using a Tensor with shape "
                    f"{operand.shape}, shapes must be equal."
                )
            if value.size < _SMALL:
                self.value = np.asarray(function(value, operand))
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
            self.value = fresh


def _count_of_exclusive() -> int:
    probe = Storage(np.zeros(1), dtypes.float64, None, "")
    return sys.getrefcount(probe.value)


# What getrefcount says of an array that only its storage holds; it differs between Python releases.
EXCLUSIVE = _count_of_exclusive()


def make_handle(storage: Storage) -> EagerTensor:
    """The resource tensor by which ops and tapes know the storage."""
    box = np.empty((), object)
    box[()] = storage
    return EagerTensor(box, dtypes.resource)


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


def _infer_read(resource, dtype):
    storage = None if resource.value is None else resource.value[()]
    return TensorShape(None) if storage is None else storage.shape


READ_VARIABLE = Op(
    "ReadVariableOp",
    "resource: resource, *, dtype: type -> value: dtype",
    infer=_infer_read,
    kernel=_read_variable,
    lower=None,  # the compiled tier reads variables as arguments of the program
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
    with storage.lock:
        storage.value = value


ASSIGN = Op(
    "AssignVariableOp",
    "resource: resource, value: dtype, *, validate_shape: bool = False -> ",
    infer=lambda resource, value, validate_shape: (),
    kernel=_assign,
    lower=None,  # the compiled tier returns new values of variables as results of the program
    grad=None,
    stateful=True,
)


def _updating(name, ufunc):
    def kernel(resource, value):
        storage_of(resource).update(ufunc, value)

    return Op(
        name,
        "resource: resource, value: dtype -> ",
        infer=lambda resource, value: (),
        kernel=kernel,
        lower=None,  # see ASSIGN
        grad=None,
        stateful=True,
    )


ASSIGN_ADD = _updating("AssignAddVariableOp", np.add)
ASSIGN_SUB = _updating("AssignSubVariableOp", np.subtract)


IS_INITIALIZED = Op(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: bool",
    infer=lambda resource: TensorShape([]),
    kernel=lambda resource: np.bool_(storage_of(resource).value is not None),
    lower=None,  # asks about state, not about values
    grad=None,
    stateful=True,
)


def _destroy(resource, ignore_lookup_error):
    storage_of(resource).value = None


DESTROY = Op(
    "DestroyResourceOp",
    "resource: resource, *, ignore_lookup_error: bool = True -> ",
    infer=lambda resource, ignore_lookup_error: (),
    kernel=_destroy,
    lower=None,  # changes state on the host
    grad=None,
    stateful=True,
)


def _var_handle(container, shared_name, debug_name, dtype, shape, allowed_devices):
    box = np.empty((), object)
    box[()] = Storage(None, dtype, TensorShape(shape), shared_name or debug_name or "Variable")
    return box


VAR_HANDLE = Op(
    "VarHandleOp",
    "*, container: string = '', shared_name: string = '', debug_name: string = '', dtype: type, shape: shape, "
    "allowed_devices: list(string) = [] -> resource: resource",
    infer=lambda **attrs: TensorShape([]),
    kernel=_var_handle,
    lower=None,  # makes state on the host
    grad=None,
    stateful=True,
)

VARIABLE_SHAPE = Op(
    "VariableShape",
    "input: resource, *, out_type: type = int32 -> output: out_type",
    infer=lambda input, out_type: TensorShape([None]),
    kernel=lambda input, out_type: np.array(storage_of(input).read().shape, out_type._np),
    lower=None,  # asks about state, not about values
    grad=None,
    stateful=True,
)


def _count_up_to(resource, limit, T):
    storage = storage_of(resource)
    with storage.lock:
        value = storage.read()
        if value.ndim:
            raise errors.invalid_argument(f"count_up_to: the variable must be a scalar, it has shape {value.shape}.")
        if value >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        storage.value = np.asarray(value + 1, value.dtype)
    return value


COUNT_UP_TO = Op(
    "ResourceCountUpTo",
    "resource: resource, *, limit: int, T: type -> output: T",
    infer=lambda resource, limit, T: TensorShape([]),
    kernel=_count_up_to,
    lower=None,  # changes state and fails at the limit
    grad=None,
    stateful=True,
)
