"""What modules of `tensorflow.python.framework` and `.eager` have beyond public names."""

import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from headrace._src.compat.functions.arrays import get_seed
from headrace._src.core import dtypes
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.names import current_name_scope
from headrace._src.core.nest import map_structure
from headrace._src.core.random_state import random_state
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor, is_tensor
from headrace._src.core.type_specs import TypeSpec
from headrace._src.graph.building.graph import Graph
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.ops.random.truncation import PARAMETERIZED_TRUNCATED_NORMAL
from headrace._src.state.variables import Variable

_numbers = itertools.count(1)


def uid() -> int:
    """A number that no other call gets."""
    return next(_numbers)


class NullContextmanager:
    """A block that does nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        pass

    def __exit__(self, type_arg, value_arg, traceback_arg):
        return False


def name_from_scope_name(name: str) -> str:
    """The name of an operation that has the name of a scope: without the slash at its end."""
    return name[:-1] if name and name[-1] == "/" else name


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope that it begins with."""
    return name.removeprefix(f"{export_scope}/") if export_scope else name


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name in a scope."""
    return f"{import_scope.rstrip('/')}/{name}" if import_scope else name


def convert_to_tensor_or_composite(value: Any, dtype=None, name=None) -> Any:
    """A tensor of a value; composite tensors, and what can be only these, stay what they are.

    Raises:
        RuntimeError: a composite tensor has another dtype.
    """
    if hasattr(value, "_type_spec") and not isinstance(value, Variable):
        made = value if isinstance(value, CompositeTensor) else value._type_spec._to_components(value)
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(f"Tensor dtype {value.dtype.name} is not compatible with requested {dtype!r}.")
        return made
    return to_tensor(value, dtype, name=name)


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """The values of a tensor as a text."""
    values = tensor.numpy()
    text = repr(values) if is_repr else str(values)
    return f"\n{text}" if "\n" in text else text


def tensor_id(tensor: Any) -> int:
    """A number that belongs to a tensor."""
    return id(tensor)


def is_dense_tensor_like(t: Any) -> bool:
    """Whether it is a tensor or a variable, and not made of several."""
    return is_tensor(t) and not isinstance(t, CompositeTensor)


def has_default_graph() -> bool:
    """Whether a graph is being built."""
    return context.graph is not None


@contextlib.contextmanager
def colocate_with(op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """Operations of this block are where another one is: there is one device."""
    yield


# Shapes.


def as_shape(shape: Any) -> TensorShape:
    """A `tf.TensorShape` of what can be one."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """The shape of which at most the rank is known."""
    rank = kwargs.pop("ndims", rank)
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return TensorShape(None) if rank is None else TensorShape([None] * rank)


class _DenseSpecMeta(type(TypeSpec)):  # type: ignore[misc]
    """Lets `tf.TensorSpec` count as a `DenseSpec`."""

    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (cls is DenseSpec and isinstance(instance, TensorSpec))

    def __subclasscheck__(cls, subclass):
        return super().__subclasscheck__(subclass) or (cls is DenseSpec and issubclass(subclass, TensorSpec))


class DenseSpec(TypeSpec, metaclass=_DenseSpecMeta):
    """The base of specs of what is like one dense tensor: with a shape, a dtype and a name."""

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether dtype and shape of a spec or value fit this one."""
        return (
            isinstance(spec_or_value, (DenseSpec, Tensor))
            and self._dtype.is_compatible_with(spec_or_value.dtype)
            and self._shape.is_compatible_with(spec_or_value.shape)
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def _serialize(self) -> tuple:
        return (self._shape, self._dtype, self._name)

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape that a one-dimensional tensor holds, as far as it is known without running anything."""
    if isinstance(tensor, EagerTensor):
        return TensorShape([None if size == -1 else int(size) for size in tensor.numpy()])
    if tensor.shape.rank == 0:
        value = get_static_value(tensor)
        if value is None or value != -1:
            raise ValueError("constant_value_as_shape: a scalar can only be -1, for a shape of unknown rank.")
        return TensorShape(None)
    sizes = get_static_value(tensor, partial=True)
    if sizes is None:
        count = tensor.shape[0]
        return TensorShape(None) if count is None else TensorShape([None] * count)
    return TensorShape([None if size is None or size == -1 else int(size) for size in sizes])


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor of a graph that does not depend on its inputs; None of another one."""
    return get_static_value(tensor)


def shape_equals(tensor_proto: Any, shape: Any) -> bool:
    """Whether a tensor in a message has a shape."""
    return [d.size for d in tensor_proto.tensor_shape.dim] == list(shape)


# `tensorflow.python.eager.context`.


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Within this block, operations are put into a graph."""
    with Graph().as_default():
        yield


def global_seed() -> int | None:
    """The seed of `tf.random.set_seed`."""
    return random_state.seed


def device_name() -> str:
    """The device of the open scope."""
    return context.device or ""


def scope_name() -> str:
    """The name of the open scope."""
    return current_name_scope()


# `tensorflow.python.util.variable_utils`.


@api("__internal__.convert_variables_to_tensors", dispatch=False)
def convert_variables_to_tensors(values: Any) -> Any:
    """A structure with the values of variables in their place, also of those inside of composite tensors."""

    def converted(leaf):
        if isinstance(leaf, Variable) or getattr(leaf, "_is_variable_like", False):
            return leaf._convert_variables_to_tensors() if _has_own_conversion(leaf) else to_tensor(leaf)
        return leaf._convert_variables_to_tensors() if isinstance(leaf, CompositeTensor) else leaf

    return map_structure(converted, values)


def _has_own_conversion(leaf):
    return callable(getattr(leaf, "_convert_variables_to_tensors", None))


def replace_variables_with_atoms(values: Any) -> Any:
    """A structure with a number in the place of each variable, so that it can be compared."""
    return map_structure(lambda leaf: 0 if isinstance(leaf, Variable) else leaf, values)


# `tensorflow.python.util.function_utils`.


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a function takes, without `self`."""
    function = fn
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    target = function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__
    names = [p.name for p in inspect.signature(target).parameters.values()]
    return tuple(name for name in names if name != "self")


def has_kwargs(fn: Callable[..., Any]) -> bool:
    """Whether a function takes any named argument."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def is_constant(tensor_or_op: Any) -> bool:
    """Whether an operation of a graph is a constant."""
    operation = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
    return operation.type == "Const"


def extract_bits(value: Any) -> int:
    """The bits of a number of two bytes."""
    return int(np.asarray(value).view(np.uint16).item())


# `tensorflow.python.ops.random_ops`.


def parameterized_truncated_normal(
    shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=dtypes.float32, seed=None, name=None
) -> Tensor:
    """Normal numbers between two bounds; all parameters may be vectors, with an element for each row of the result."""
    parameters = [to_tensor(value, dtype) for value in (means, stddevs, minvals, maxvals)]
    seed1, seed2 = get_seed(seed)
    return PARAMETERIZED_TRUNCATED_NORMAL(
        to_tensor(shape, dtypes.int32), *parameters, seed=seed1 or 0, seed2=seed2 or 0, name=name
    )
