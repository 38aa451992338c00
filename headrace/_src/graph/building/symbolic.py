"""`SymbolicTensor`: a tensor that a graph will compute."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.absent_attributes import Absent
from headrace._src.core.context import outside_functions
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.core.tracebacks import entrance
from headrace._src.ops.arrays.filling import FILL, ZEROS_LIKE
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.passing import IDENTITY


class SymbolicTensor(Tensor):
    """One output of an operation of a graph.

    The operation is held, the graph only weakly through it: dropping a graph frees it at once.
    """

    # `_id`: the number under which tapes know this tensor. `_known`: its value when that is certain already.
    # `_partial`: for a vector or scalar of integers, the elements that are certain (None for the others).
    __slots__ = ("_id", "_known", "_partial", "_shape", "dtype", "op", "value_index")

    def __init__(self, operation, value_index, shape, dtype) -> None:
        self.op = operation
        self.value_index = value_index
        self._shape = shape
        self.dtype = dtype
        self._id = None
        self._known = None
        self._partial = None

    @property
    def graph(self) -> Any:
        """The graph that computes this tensor."""
        return self.op.graph

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def device(self) -> str:
        """The device that was asked for; empty when none was."""
        return self.op.device

    def set_shape(self, shape) -> None:
        """Add what is known about the shape.

        Raises:
            ValueError: it contradicts what is known already.
        """
        self._shape = self._shape.merge_with(shape)

    def consumers(self) -> list:
        """The operations that read this tensor."""
        return [node for node in self.graph.nodes if any(x is self for x in node.inputs)]

    def eval(self, feed_dict=None, session=None) -> Any:
        """The value, computed by a session."""
        session = session or self.graph.default_session()
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` "
                "or pass an explicit session to `eval(session=sess)`"
            )
        return session.run(self, feed_dict)

    def _static_value(self, partial):
        """The value as far as it is certain while the graph is built, as `tf.get_static_value` gives it."""
        if self.dtype._kind in "rv":
            return None
        if self._known is not None:
            return self._known[()] if self._known.ndim == 0 else self._known
        if partial and isinstance(self._partial, list):
            return np.array(self._partial, object)
        return None

    # What gradients ask for.

    def _dynamic_shape(self):
        """The shape as a tuple of ints, or where it is not fully known as an int32 tensor."""
        if self._shape.is_fully_defined():
            return tuple(self._shape.as_list())
        return SHAPE(self, out_type=dtypes.int32)

    def _ones_like(self):
        return self._filled_like(1)

    def _zeros_like(self):
        if self.dtype is dtypes.variant:  # a list of tensors
            return ZEROS_LIKE(self)
        return self._filled_like(0)

    def _filled_like(self, number):
        value = np.array(number, self.dtype._np)
        if self._shape.is_fully_defined() and self._shape.num_elements() <= 1024:
            return self.graph.constant_array(np.full(self._shape.as_list(), value, self.dtype._np), self.dtype)
        filled = FILL(self._dynamic_shape(), self.graph.constant_array(value, self.dtype))
        filled.set_shape(self._shape)
        return filled

    # Python's protocols.

    def __repr__(self):
        return f"<tf.Tensor {self.name!r} shape={_shape_text(self._shape)} dtype={self.dtype.name}>"

    def __str__(self):
        parts = [f'"{self.name}"']
        if self._shape.rank is not None:
            parts.append(f"shape={self._shape}")
        parts.append(f"dtype={self.dtype.name}")
        if self.device:
            parts.append(f"device={self.device}")
        return f"Tensor({', '.join(parts)})"

    def __format__(self, spec):
        return format(str(self), spec)

    def _is_of_session(self):
        """Whether the outermost graph is run by sessions. TF: its tensors are compared by identity, and are keys."""
        return outside_functions(self.op.graph) is not None

    def __hash__(self):
        if not self._is_of_session() and Tensor.__eq__ is not object.__eq__:
            return super().__hash__()
        return id(self)

    def __eq__(self, other) -> Any:
        return self is other if self._is_of_session() else super().__eq__(other)

    def __ne__(self, other) -> Any:
        return self is not other if self._is_of_session() else super().__ne__(other)

    @entrance
    def __bool__(self) -> bool:
        raise self._not_allowed("Using a symbolic `tf.Tensor` as a Python `bool`")

    @entrance
    def __iter__(self) -> Iterator[Tensor]:
        raise self._not_allowed("Iterating over a symbolic `tf.Tensor`")

    def _not_allowed(self, what):
        file, line, function = self.op.location
        return errors.OperatorNotAllowedInGraphError(
            f"{what} is not allowed. {self!r}, made at {file}:{line} in {function}, has no value while the graph is "
            "built. In a function decorated with @tf.function, AutoGraph turns `if`, `while` and `for` into graph "
            "operations when it can see the source (and is not switched off by autograph=False or do_not_convert); "
            "otherwise use tf.cond, tf.while_loop or tf.where."
        )

    def _out_of_scope(self):
        """The error for using this tensor where its graph is not being built."""
        file, line, function = self.op.location
        return errors.InaccessibleTensorError(
            f"{self!r} is out of scope and cannot be used here. It was made at {file}:{line} in {function} while a "
            "graph was built, and has no value outside of it. Use return values, explicit Python locals or TensorFlow "
            "collections to access it."
        )

    @entrance
    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            f"Please call `x.shape` rather than `len(x)` for shape information."
        )

    @entrance
    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array: it has no value while the graph is "
            "built. Use functions of tf in the place of NumPy's; tf.numpy_function calls Python code when a graph runs."
        )

    @entrance
    def __int__(self) -> int:
        if self._known is not None and self._known.ndim == 0 and self.dtype._kind in "iub":
            return int(self._known)  # what `tf.get_static_value` says; TensorFlow refuses also then
        raise self._no_number("int")

    @entrance
    def __float__(self) -> float:
        raise self._no_number("float")

    @entrance
    def __complex__(self) -> complex:
        raise self._no_number("complex")

    @entrance
    def __index__(self) -> int:
        raise self._no_number("index")

    def _no_number(self, what):
        return TypeError(f"{what}: {self!r} has no value while the graph is built. Use tf.cast to change its dtype.")

    numpy = Absent(
        "'SymbolicTensor' object has no attribute 'numpy': it has no value while the graph of a tf.function (or of "
        "Dataset.map, or of Keras) is built. Use functions of tf on the tensor itself; tf.py_function calls Python "
        "code that needs the value; tf.config.run_functions_eagerly(True) runs without graphs while debugging."
    )

    def __copy__(self):
        return IDENTITY(self)

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(f"{self!r} cannot be pickled: it belongs to a graph.")


def _shape_text(shape):
    return "<unknown>" if shape.rank is None else str(shape)
