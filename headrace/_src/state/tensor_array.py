"""`tf.TensorArray`: an array of tensors that are written and read one by one, in eager code, graphs and loops."""

from typing import TYPE_CHECKING, Any

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.nest_nodes import Composite, register_composite
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.type_specs import TypeSpec, register_type_spec_from_value_converter
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.state.tensor_array_cells import Cells
from headrace._src.state.tensor_array_flow import Flow, SharedShape

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


@api("TensorArray")
class TensorArray:
    """An array of tensors of one dtype, each written once and read one by one, or all together.

    In eager code an array is changed in place. In a graph `write`, `unstack`, `scatter` and `split` return the array
    to go on with, and what is not assigned is lost; so always write `array = array.write(...)`.

    Args:
        dtype: of the elements.
        size: the number of elements, an integer or a scalar tensor.
        dynamic_size: whether the array grows when an index beyond its end is written.
        clear_after_read: eagerly, whether what was read is forgotten (the default); a second read then fails.
        tensor_array_name: accepted, without meaning.
        handle: must be None; of 1.x.
        flow: a variant tensor, the list of another array, to make an array of it.
        infer_shape: whether all elements must have the shape of the first one that is written.
        element_shape: what is known of the elements' shape; zeros of it stand for what was never written.
        colocate_with_first_write_call: accepted, without meaning.
        name: a name for the operation.

    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array = array.write(0, 1.0)
    >>> array = array.write(1, 2.0)
    >>> array.stack().numpy().tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ) -> None:
        dtype = dtypes.as_dtype(dtype)
        dynamic_size = bool(dynamic_size)
        shape = TensorShape(element_shape)
        if handle is not None:
            raise ValueError("TensorArray: TensorArray handles are not supported when eager execution is enabled.")
        if flow is None and context.graph is None:
            clear = clear_after_read is None or bool(clear_after_read)
            self._implementation = Cells(dtype, size, dynamic_size, clear, infer_shape, shape)
        else:
            if isinstance(size, EagerTensor) and not size._a.ndim:
                size = int(size._a)
            self._implementation = Flow(dtype, flow, size, dynamic_size, infer_shape, SharedShape(shape))

    @classmethod
    def _of(cls, implementation):
        array = cls.__new__(cls)
        array._implementation = implementation
        return array

    def _here(self):
        """The implementation to use now: in a graph, an array made outside is the list of its elements."""
        implementation = self._implementation
        if type(implementation) is Cells and context.graph is not None:
            shared = SharedShape(implementation.element_shape)
            return Flow(
                self.dtype, implementation.as_flow(), None, self.dynamic_size, implementation.infer_shape, shared
            )
        return implementation

    def _after(self, implementation):
        """What a method that changes the array returns: None stands for the array itself, changed in place."""
        return self if implementation is None else TensorArray._of(implementation)

    @property
    def dtype(self) -> "DType":
        """The dtype of the elements."""
        return self._implementation.dtype

    @property
    def flow(self) -> Tensor:
        """In a graph the list of tensors, a variant; eagerly a zero, since nothing needs to flow."""
        implementation = self._implementation
        return to_tensor(0) if type(implementation) is Cells else implementation.flow

    @property
    def handle(self) -> None:
        """None. TF: kept from 1.x."""
        return None

    @property
    def dynamic_size(self) -> bool:
        """Whether the array grows when an index beyond its end is written."""
        return self._implementation.dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known about the shape of the elements."""
        return self._implementation.element_shape

    @property
    def _infer_shape(self):
        return self._implementation.infer_shape

    @property
    def _type_spec(self):
        return TensorArraySpec(self.element_shape, self.dtype, self.dynamic_size, self._infer_shape)

    def identity(self) -> "TensorArray":
        """The same array, after all that its elements depend on."""
        implementation = self._here()
        if type(implementation) is Cells:
            return self
        return TensorArray._of(implementation.with_flow(IDENTITY(implementation.flow), implementation._size))

    def grad(self, source, flow=None, name=None) -> Any:
        """Of 1.x: gradients of arrays are computed by tapes and `tf.gradients` here."""
        raise NotImplementedError(
            "TensorArray.grad is not supported: gradients through a TensorArray are computed by tf.GradientTape and "
            "tf.gradients, without this function."
        )

    def read(self, index, name=None) -> Tensor:
        """The element at an index.

        Raises:
            OutOfRangeError: eagerly, when the index is out of bounds.
            InvalidArgumentError: in a graph, for the same; eagerly, when the element was read before and is cleared.
        """
        return self._here().read(index)

    def write(self, index, value, name=None) -> "TensorArray":
        """The array with `value` at an index.

        Raises:
            OutOfRangeError: eagerly, when the index is out of bounds and the array does not grow.
            InvalidArgumentError: in a graph, for the same; and for a value of another dtype.
            ValueError: when the shape of `value` is not that of the other elements.
        """
        return self._after(self._here().write(index, value))

    def stack(self, name=None) -> Tensor:
        """All elements as one tensor, along a new first dimension.

        >>> tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]]).stack().numpy().tolist()
        [[1, 2], [3, 4]]
        """
        return self._here().stack()

    def gather(self, indices, name=None) -> Tensor:
        """The elements at some indices as one tensor, along a new first dimension."""
        return self._here().gather(indices)

    def concat(self, name=None) -> Tensor:
        """All elements as one tensor, along their first dimension, in which alone they may differ."""
        return self._here().concat()

    def unstack(self, value, name=None) -> "TensorArray":
        """The array with the rows of `value` as its elements."""
        return self._after(self._here().unstack(value))

    def scatter(self, indices, value, name=None) -> "TensorArray":
        """The array with the rows of `value` at some indices."""
        return self._after(self._here().scatter(indices, value))

    def split(self, value, lengths, name=None) -> "TensorArray":
        """The array with consecutive parts of `value` as its elements, of the given lengths."""
        return self._after(self._here().split(value, lengths))

    def size(self, name=None) -> Tensor:
        """The number of elements, as an int32 scalar."""
        return self._here().size()

    def close(self, name=None) -> Any:
        """Forget the elements; the array cannot be used afterwards."""
        return self._here().close()

    def _with_flow(self, flow):
        """An array like this one with another list."""
        implementation = self._implementation
        shared, size = SharedShape(self.element_shape), None
        if type(implementation) is Flow and _is_within(implementation.flow):
            shared = implementation.shared
            if not shared.resized and not self.dynamic_size and implementation.flow.graph is context.graph:
                size = implementation._size  # a loop or conditional is done, and has changed elements only
        return TensorArray._of(Flow(self.dtype, flow, size, self.dynamic_size, self._infer_shape, shared))


def _is_within(flow):
    """Whether a list belongs to the graph that is built, or to one around it.

    What the body of a loop learns about the elements of such an array holds outside too. The outputs of a traced
    function, which serve many calls, learn nothing from their use.
    """
    graph = context.graph
    own = getattr(flow, "graph", None) if not isinstance(flow, EagerTensor) else None
    while graph is not None:
        if graph is own:
            return True
        graph = graph.outer_graph
    return False


@api("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of a `tf.TensorArray`, as the signature of a function or of a loop has it.

    Args:
        element_shape: what is known about the shape of the elements.
        dtype: of the elements.
        dynamic_size: whether arrays grow.
        infer_shape: whether all elements have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True) -> None:
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = bool(infer_shape)

    @property
    def value_type(self) -> type:
        """The class `TensorArray`."""
        return TensorArray

    @staticmethod
    def from_value(value) -> "TensorArraySpec":
        """The spec of an array."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"TensorArraySpec.from_value: value must be a TensorArray, got {value!r}.")
        return value._type_spec

    def is_compatible_with(self, other) -> bool:
        """Whether dtype, growth and element shape of a spec or an array fit; `infer_shape` does not matter."""
        other = other._type_spec if isinstance(other, TensorArray) else other
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_compatible_with(other._element_shape)
        )

    def is_subtype_of(self, other) -> bool:
        """Whether every array of this spec fits `other`."""
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_subtype_of(other._element_shape)
        )

    def most_specific_common_supertype(self, others) -> "TensorArraySpec | None":
        """The narrowest spec for the arrays of this one and of `others`; None if dtype or growth differ."""
        for other in others:
            if not (
                isinstance(other, TensorArraySpec)
                and self._dtype is other._dtype
                and self._dynamic_size == other._dynamic_size
            ):
                return None
        shape = self._element_shape.most_specific_common_supertype([other._element_shape for other in others])
        infer_shape = self._infer_shape and all(other._infer_shape for other in others)
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, infer_shape)

    def _serialize(self):
        return (self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        if not isinstance(value, TensorArray):
            raise TypeError(f"{self!r}: expected a TensorArray, got {type(value).__name__}: {value!r}.")
        return [value._implementation.as_flow()]

    def _from_components(self, components):
        (flow,) = components
        shared = SharedShape(self._element_shape)
        return TensorArray._of(Flow(self._dtype, flow, None, self._dynamic_size, self._infer_shape, shared))

    def _to_legacy_output_types(self):
        return self._dtype

    # TF: the other two properties come first, as if they were dimensions.
    def _to_legacy_output_shapes(self):
        return TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)

    def _to_legacy_output_classes(self):
        return TensorArray


def _rebuilt(array, components):
    (flow,) = components
    if isinstance(flow, Tensor):
        return array._with_flow(flow)
    return array._type_spec._from_components(components)


register_composite(
    TensorArray,
    Composite(
        components=lambda array: [array._implementation.as_flow()],
        rebuild=_rebuilt,
        type_spec=lambda array: array._type_spec,
    ),
)
register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value, allow_subclass=True)
