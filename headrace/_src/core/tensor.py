"""`Tensor`, and `EagerTensor`, which holds a NumPy array that nobody may change."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import absent_attributes, dtypes, types
from headrace._src.core.context import HOST, context
from headrace._src.core.device_use import ElsewhereValue
from headrace._src.core.lazy import LazyModule
from headrace._src.core.reference import Reference
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tracebacks import entrance, hide_frames

_accelerators = LazyModule("headrace._src.core.accelerators")  # where somebody asks for them
_tensor_text = LazyModule("headrace._src.core.tensor_text")  # loaded by the first tensor that is printed

if TYPE_CHECKING:
    from headrace._src.attached import TensorMethods
else:
    TensorMethods = types.FOR_CHECKERS

class Tensor(TensorMethods, types.Tensor):
    """A multidimensional array of one dtype.

    Operators and indexing are attached by `headrace._src.ops.math.operators`, where the ops are.
    """

    __array_priority__ = 100
    # Of a symbolic variant: what is known about the tensors inside; see core/handle_data.py. Graphs set it.
    _handle_data: Any = None
    # Names that the op layer attaches.
    OVERLOADABLE_OPERATORS = {
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__",
        "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lt__", "__le__", "__gt__", "__ge__",
        "__ne__", "__eq__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__",
        "__getitem__", "__pow__", "__rpow__", "__invert__", "__neg__", "__abs__", "__matmul__",
        "__rmatmul__", "__div__", "__rdiv__",
    }  # fmt: skip

    @entrance
    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def ref(self) -> Reference:
        """A hashable reference to this tensor, for dictionaries and sets."""
        return Reference(self)

    def experimental_ref(self) -> Reference:
        return self.ref()

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        raise AttributeError("A tensor's class defines its dtype.")

    @property
    def name(self) -> str:
        """The name of the tensor in its graph."""
        raise AttributeError("Tensor.name is undefined when eager execution is enabled.")

    @property
    def shape(self) -> TensorShape:
        """The lengths along the axes."""
        raise AttributeError("A tensor's class defines its shape.")

    def set_shape(self, shape) -> None:
        """Add what is known about the shape."""
        self.shape.assert_is_compatible_with(shape)

    def eval(self, feed_dict=None, session=None) -> Any:
        """The value, computed by a session. TF: kept from 1.x."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    @property
    def ndim(self) -> Any:
        """The number of dimensions, None when it is unknown."""
        return self.shape.rank

    @entrance
    def __setitem__(self, key, value):
        raise TypeError(
            f"{type(self).__name__!r} object does not support item assignment: the value of a tensor does not change. "
            "Use tf.tensor_scatter_nd_update(x, indices, updates) or tf.where(condition, x, y), which make a new one; "
            "or a tf.Variable: v[i].assign(value)."
        )

    # Each kind of tensor has these of its own. Called on the class, `tf.Tensor.__len__(x)`, they are those of x.

    def __bool__(self) -> bool:
        return _method_of_kind(self, "__bool__")(self)

    def __nonzero__(self) -> bool:
        return _method_of_kind(self, "__bool__")(self)

    def __len__(self) -> int:
        return _method_of_kind(self, "__len__")(self)

    def __iter__(self) -> "Iterator[Tensor]":
        return _method_of_kind(self, "__iter__")(self)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return _method_of_kind(self, "__array__")(self, dtype, copy)

    def __dir__(self):
        return [name for name in super().__dir__() if name not in absent_attributes.NAMES]


def _method_of_kind(tensor, name):
    """The method that the kind of a tensor has of its own."""
    method = getattr(type(tensor), name)
    if method is getattr(Tensor, name):  # a class of another package that has taken it over
        raise TypeError(f"{type(tensor).__name__!r} has no {name} of its own.")
    return method


class EagerTensor(Tensor):
    """A tensor that has its value."""

    # `_a`: the array, never written after this object exists.
    # `_id`: the number under which tapes know this tensor, None until one asks.
    __slots__ = ("_a", "_id", "dtype")
    # The device that holds the value. What runs under `tf.device` sets it, where that is not the host.
    _device: str = HOST
    # Whether functions take it as an input however small it is, because it is another one where they are loaded.
    _stays_outside: bool = False

    def __init__(self, array, dtype) -> None:
        self._a = array
        self.dtype = dtype
        self._id = None

    @property
    def shape(self) -> TensorShape:
        return TensorShape._known(self._a.shape)

    @property
    def ndim(self) -> int:
        return self._a.ndim

    @property
    def device(self) -> str:
        """The full name of the device that holds the value."""
        return getattr(self._a, "device_name", self._device)

    backing_device = device

    def numpy(self) -> Any:
        """The value as a NumPy array of its own, or a NumPy scalar when the rank is 0."""
        array = self._a
        if array.ndim == 0:
            return array[()]
        if self.dtype._kind == "q":
            return array.view(self.dtype._numpy_type).copy()
        return array.copy()

    _numpy = numpy  # TF: the same without a copy; TensorFlow Datasets calls it

    def _read_only(self):
        """The array as a view that cannot be made writable."""
        array = self._a
        owner = array
        while owner is not None:
            if isinstance(owner, np.ndarray) and owner.flags.writeable:
                owner.flags.writeable = False
            owner = getattr(owner, "base", None)
        view = array.view()
        view.flags.writeable = False
        return view

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype) != self._a.dtype:
            if copy is False:
                raise ValueError(f"A view of a {self.dtype.name} tensor cannot have dtype {np.dtype(dtype)}.")
            return self._a.astype(dtype)
        return self._a.copy() if copy else self._read_only()

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._read_only())

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if max_version is not None and max_version[0] >= 1:
            return self._read_only().__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
        # Consumers of the older protocol may write into what they get.
        return self._a.copy().__dlpack__()

    def __dlpack_device__(self):
        return self._a.__dlpack_device__()

    def __reduce__(self):
        return _restore, (self._a, self.dtype.name)

    def __copy__(self):
        return EagerTensor(self._a, self.dtype)

    def __deepcopy__(self, memo):
        return EagerTensor(self._a, self.dtype)

    def __str__(self):
        return _tensor_text.tensor_str(self)

    def __repr__(self):
        return _tensor_text.tensor_repr(self)

    def __format__(self, spec):
        return format(self._a[()] if self._a.ndim == 0 else self._a, spec)

    def __len__(self) -> int:
        if not self._a.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._a)

    def __iter__(self) -> Iterator[Tensor]:
        try:
            if not self._a.ndim:
                raise TypeError("Cannot iterate over a scalar tensor.")
            if context.mode is None:
                dtype = self.dtype
                if self._a.ndim == 1:
                    rows = self._a.reshape(-1, 1)
                    return (EagerTensor(row.reshape(()), dtype) for row in rows)
                return (EagerTensor(row, dtype) for row in self._a)
            return (self[i] for i in range(len(self._a)))
        except BaseException as error:
            hide_frames(error)
            raise

    def __bool__(self) -> bool:
        try:
            return bool(self._a)
        except ValueError as error:
            hide_frames(error)
            error.args = (f"{str(error).partition('. ')[0]}. Use tf.reduce_any or tf.reduce_all, or tf.where.",)
            raise

    def __int__(self) -> int:
        try:
            return int(self._scalar("int"))
        except BaseException as error:
            hide_frames(error)
            raise

    def __float__(self) -> float:
        try:
            return float(self._scalar("float"))
        except BaseException as error:
            hide_frames(error)
            raise

    def __complex__(self) -> complex:
        try:
            return complex(self._scalar("complex"))
        except BaseException as error:
            hide_frames(error)
            raise

    def _scalar(self, wanted):
        if self._a.ndim:
            raise TypeError(
                f"{wanted}: only 0-dimensional arrays can be converted to Python scalars, "
                f"this tensor has shape {self._a.shape}."
            )
        return self._a[()]

    def __index__(self) -> int:
        try:
            if self.dtype._kind not in "iu":
                raise TypeError(f"A {self.dtype.name} tensor cannot be used as an index; cast it to an integer.")
            return self._scalar("index").__index__()
        except BaseException as error:
            hide_frames(error)
            raise

    def __round__(self, digits=0):
        return round(self._scalar("round"), digits) if not self._a.ndim else self.astype

    def set_shape(self, shape) -> None:
        """Check that `shape` is compatible with this tensor's shape, which is already known."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self._a.shape} is not compatible with supplied shape {TensorShape(shape)}."
            )

    def cpu(self) -> Tensor:
        """This tensor on the host."""
        array = self._a
        return EagerTensor(array.host() if isinstance(array, ElsewhereValue) else array, self.dtype)

    def gpu(self, gpu_index=0) -> Tensor:
        """This tensor on a GPU.

        Raises:
            RuntimeError: there is none with that number.
        """
        name = f"GPU:{gpu_index}"
        found = {x.name: x for x in _accelerators.logical()}.get(f"{HOST.partition('/device')[0]}/device:{name}")
        if found is None:
            raise RuntimeError(f"{name} unknown device.")
        return EagerTensor(found.take(self._a), self.dtype)

    def _rank(self):
        return self._a.ndim

    @property
    def is_tensor_like(self) -> bool:
        return True

    def consumers(self) -> list:
        raise NotImplementedError("Tensor.consumers is not supported when eager execution is enabled.")


for _name in ("op", "graph", "value_index"):
    _text = f"Tensor.{_name} is undefined when eager execution is enabled."
    setattr(EagerTensor, _name, absent_attributes.Absent(_text))
absent_attributes.add_absences(Tensor, "Tensor", switched=True)


def _restore(array, dtype_name):
    return EagerTensor(array, dtypes.as_dtype(dtype_name))


def is_tensor(x) -> bool:
    """True for tensors, variables and composite tensors; False for arrays and Python values."""
    return isinstance(x, types.Tensor) or getattr(x, "is_tensor_like", False) is True


# What functions accept as a tensor, for annotations.
TensorLike = Tensor | int | float | bool | str | bytes | complex | tuple | list | np.ndarray | np.generic

PUBLIC = {"Tensor": Tensor, "is_tensor": is_tensor, "types.experimental.TensorLike": TensorLike}
