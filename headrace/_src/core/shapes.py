"""Static shapes: `TensorShape`, whose dimensions or rank may be unknown, and the rules for combining them.

A shape holds a tuple of ints and Nones, or None for an unknown rank. Every `tensor.shape` makes one, so
`TensorShape._known` skips all checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headrace._src.core.dimensions import Dimension, dimension_of, dimension_value
from headrace._src.core.messages import message_class
from headrace._src.core.tracebacks import bordered
from headrace._src.core.tracing_protocol import TraceType


class TensorShape:
    """The static shape of a tensor, as far as it is known.

    A shape is fully known (`TensorShape([2, 3])`), partially known (`TensorShape([None, 3])`: the size of the
    first dimension is open) or unknown (`TensorShape(None)`: not even the rank is known).

    Args:
        dims: An iterable of ints, Nones and Dimensions, or an int, a shape, a `TensorShapeProto` or None.

    Raises:
        TypeError: `dims` is not made of dimensions.
        ValueError: A dimension is negative.

    >>> shape = tf.TensorShape([None, 3])
    >>> shape.rank, shape[1], shape.is_fully_defined()
    (2, 3, False)
    >>> shape.merge_with([2, None])
    TensorShape([2, 3])
    """

    __slots__ = ("_dims",)

    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any) -> None:
        kind = type(dims)
        if kind is tuple or kind is list:
            self._dims = tuple([d if type(d) is int and d >= 0 else dimension_of(d) for d in dims])
        elif dims is None:
            self._dims = None
        elif kind is TensorShape:
            self._dims = dims._dims
        else:
            self._dims = _dims_of(dims)

    @classmethod
    def _known(cls, dims: tuple[int | None, ...] | None) -> TensorShape:
        """A shape from a tuple that is known to hold only non-negative ints and Nones (or from None)."""
        shape = _new(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return None if self._dims is None else len(self._dims)

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as a list of `Dimension` objects, or None if the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        """The dimensions as a list of ints and Nones.

        Raises:
            ValueError: The rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The number of elements, or None if the shape is not fully known."""
        if self._dims is None:
            return None
        count = 1
        for d in self._dims:
            # TF: a known 0 beside an unknown dimension still gives None.
            if d is None:
                return None
            count *= d
        return count

    def is_fully_defined(self) -> bool:
        """Whether the rank and every dimension are known."""
        return self._dims is not None and None not in self._dims

    # Python's own protocols.

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        # TF: true for a scalar's shape too; false only if the rank is unknown.
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: Any) -> Any:
        dims = self._dims
        if dims is not None:
            return TensorShape._known(dims[key]) if isinstance(key, slice) else dims[key]
        if not isinstance(key, slice):
            return None
        start = key.start if key.start is not None else 0
        stop = key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        # Only a slice between two bounds of the same sign has a length that does not depend on the rank.
        if stop is None or start < 0 or stop < 0:
            return TensorShape._known(None)
        return TensorShape._known((None,) * max(0, stop - start))

    def __eq__(self, other: object) -> bool:
        if type(other) is TensorShape:
            return self._dims == other._dims
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __reduce__(self):
        return (TensorShape, (self._dims,))

    # How two shapes fit each other.

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some fully known shape is described by both this shape and `other`."""
        mine, theirs = self._dims, as_shape(other)._dims
        if mine is None or theirs is None:
            return True
        if len(mine) != len(theirs):
            return False
        return all(a is None or b is None or a == b for a, b in zip(mine, theirs))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """What is known about a tensor that has this shape and also `other`.

        Raises:
            ValueError: No tensor can have both.
        """
        other = as_shape(other)
        mine, theirs = self._dims, other._dims
        if mine is None:
            return other
        if theirs is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape._known(tuple([b if a is None else a for a, b in zip(mine, theirs)]))

    def concatenate(self, other: Any) -> TensorShape:
        """This shape's dimensions followed by those of `other`; unknown if either rank is."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape._known(None)
        return TensorShape._known(self._dims + other._dims)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that describes all that this shape and `other` describe.

        >>> tf.TensorShape([1, 2]).most_specific_compatible_shape([3, 2])
        TensorShape([None, 2])
        """
        return self._generalise(as_shape(other))

    def _generalise(self, other: TensorShape) -> TensorShape:
        mine, theirs = self._dims, other._dims
        if mine is None or theirs is None or len(mine) != len(theirs):
            return TensorShape._known(None)
        return TensorShape._known(tuple([a if a == b else None for a, b in zip(mine, theirs)]))

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int | None) -> None:
        """Raises ValueError if the rank is known and is not `rank`."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions; ValueError if it has another number."""
        if self._dims is None:
            return unknown_shape(rank)
        if len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it has fewer than `rank` dimensions."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it has more than `rank` dimensions."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless the rank and every dimension are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    # The tracing-type protocol.

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` is a shape that describes everything this one describes.

        >>> tf.TensorShape([1, 2]).is_subtype_of(tf.TensorShape([None, 2]))
        True
        """
        if not isinstance(other, TensorShape):
            return False
        mine, theirs = self._dims, other._dims
        if theirs is None:
            return True
        if mine is None or len(mine) != len(theirs):
            return False
        return all(b is None or a == b for a, b in zip(mine, theirs))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """The narrowest shape that this one and all of `others` are subtypes of; None if one is no shape."""
        result = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            result = result._generalise(other)
        return result

    def placeholder_value(self, placeholder_context: Any) -> None:
        """None: no argument of a traced function has a shape for its type."""
        return None

    def to_tensors(self, value: Any) -> list:
        """An empty list: a shape has no tensors."""
        return []

    def from_tensors(self, tensors: Any) -> None:
        """None: a shape has no tensors."""
        return None

    def flatten(self) -> list:
        """An empty list: a shape has no tensors."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """Raises AssertionError unless `value` is None: no value has a shape for its type."""
        if value is not None:
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value

    # Protos.

    def as_proto(self) -> Any:
        """This shape as a `TensorShapeProto`; an unknown dimension has size -1."""
        proto = message_class("TensorShapeProto")
        if self._dims is None:
            return proto(unknown_rank=True)
        return proto(dim=[proto.Dim(size=-1 if d is None else d) for d in self._dims])

    def experimental_as_proto(self) -> Any:
        """The same as `as_proto`."""
        return self.as_proto()

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> TensorShape:
        """The shape that a `TensorShapeProto` describes."""
        return TensorShape._known(_dims_of_proto(proto))

    @classmethod
    def experimental_type_proto(cls) -> type:
        """The class of `as_proto()`."""
        return message_class("TensorShapeProto")


_new = object.__new__
TraceType.register(TensorShape)


def _dims_of(value: Any) -> tuple[int | None, ...] | None:
    """The dimensions of anything but None, a tuple, a list or a plain TensorShape."""
    if isinstance(value, TensorShape):
        return value._dims
    if isinstance(value, (str, bytes)):
        raise TypeError(
            f"Failed to convert {value!r} to a shape: a shape is one dimension (10), "
            "or an iterable of dimensions ([1, 10, None])."
        )
    if hasattr(value, "unknown_rank") and hasattr(value, "dim"):
        return _dims_of_proto(value)
    try:
        items = iter(value)
    except TypeError:
        # A number, a Dimension, a scalar array or tensor: a shape of one dimension.
        return (dimension_of(value),)
    return tuple([dimension_of(d) for d in items])


def _dims_of_proto(proto: Any) -> tuple[int | None, ...] | None:
    if proto.unknown_rank:
        return None
    return tuple([None if dim.size == -1 else dimension_of(dim.size) for dim in proto.dim])


def as_shape(value: Any) -> TensorShape:
    """`value` as a TensorShape; a TensorShape comes back as it is."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of which at most the rank is known."""
    return TensorShape._known(None if rank is None else (None,) * rank)


def broadcast_dims(
    a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None
) -> tuple[int | None, ...] | None:
    """`broadcast_shapes` on tuples (or None for an unknown rank).

    Raises:
        ValueError: Two known dimensions differ and neither is 1.
    """
    if a == b and a is not None:
        return a
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    head = len(a) - len(b)
    tail = []
    for m, n in zip(a[head:], b):
        if m == n:
            tail.append(m)
        elif m is None or n is None:
            known = n if m is None else m
            # An unknown dimension against 1 may be anything; against more it must be equal or 1.
            # TF: against 0 it counts as unknown too.
            tail.append(known if known > 1 else None)  # type: ignore[operator]
        elif m == 1:
            tail.append(n)
        elif n == 1:
            tail.append(m)
        else:
            raise ValueError(f"Shapes {a} and {b} cannot be broadcast: {m} and {n} differ and neither is 1.")
    return a[:head] + tuple(tail)


def broadcast_shapes(a: Any, b: Any) -> TensorShape:
    """The shape that results when arrays of shapes `a` and `b` are combined element by element."""
    a, b = as_shape(a), as_shape(b)
    try:
        return TensorShape._known(broadcast_dims(a._dims, b._dims))
    except ValueError:
        raise ValueError(
            f"Incompatible shapes for broadcasting: {a} and {b}. "
            "Aligned at the right, two dimensions must be equal, or one of them 1."
        ) from None


@bordered("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that results when arrays of the given shapes are combined element by element.

    Args:
        shape_x: A shape, possibly with unknown dimensions.
        shape_y: Another one.

    Raises:
        ValueError: Two known dimensions differ and neither is 1.

    >>> tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([4, 1, 3]))
    TensorShape([4, None, 3])
    """
    return broadcast_shapes(shape_x, shape_y)


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Dimension `index` of `shape` as a `Dimension`; an unknown one if the rank is unknown."""
    return Dimension(shape[index])


PUBLIC = {
    "TensorShape": TensorShape,
    "broadcast_static_shape": broadcast_static_shape,
    "compat.dimension_at_index": dimension_at_index,
    "compat.dimension_value": dimension_value,
    "compat.v1.Dimension": Dimension,
    "compat.v1.dimension_at_index": dimension_at_index,
    "compat.v1.dimension_value": dimension_value,
    "compat.v1.TensorShape": TensorShape,
}
