"""Assertions on ranks, shapes and dtypes, which mostly fail at once, before anything runs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, types
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.options import truth
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.measuring import RANK, SHAPE, SIZE
from headrace._src.ops.debugging.assertions import Assert, passed
from headrace._src.ops.math.arithmetic import SUB
from headrace._src.ops.math.comparison import equal, greater_equal
from headrace._src.ops.math.reductions import reduce_any
from headrace._src.ops.sparse.tensor import SparseTensor

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


def _prefix(message):
    return f"{message}.  " if truth("message", message) else ""


def _tensor(x):
    return x if isinstance(x, CompositeTensor) else to_tensor(x)


def _rank_value(name, rank):
    """An expected rank as an int, or as a tensor when its value is not known yet."""
    rank = to_tensor(rank)
    if rank.dtype != dtypes.int32:
        raise TypeError(f"{name}: the rank must be int32, got {rank.dtype.name}.")
    if rank.shape.rank not in (0, None):
        raise ValueError(f"{name}: the rank must be a scalar, got shape {rank.shape}.")
    known = rank._a if isinstance(rank, EagerTensor) else rank._known
    return rank if known is None else int(known)


def _check_rank(name, x, ranks, holds, wanted, message):
    """Check a rank now if it is known, otherwise when the program runs.

    Args:
        ranks: the expected ranks, ints or int32 tensors.
        holds: `(rank of x, ranks)` to a bool, or to a tensor when one of them is a tensor.
        wanted: words for the expectation.
    """
    prefix = _prefix(message)
    x = _tensor(x)
    static = x.shape.rank
    if static is not None and all(isinstance(rank, int) for rank in ranks):
        if not holds(static, ranks):
            raise ValueError(
                f"{prefix}{name}: x must have rank {wanted}, got rank {static}, shape {x.shape}."
            )
        return passed()
    shape = x.dense_shape if isinstance(x, SparseTensor) else x
    rank = SIZE(shape) if isinstance(x, SparseTensor) else RANK(x)
    return Assert(holds(rank, ranks), [f"{prefix}{name}: x must have rank {wanted}, got", rank])


def _is_same(rank, ranks):
    return rank == ranks[0] if isinstance(rank, int) else equal(rank, ranks[0])


def _is_at_least(rank, ranks):
    return rank >= ranks[0] if isinstance(rank, int) else greater_equal(rank, ranks[0])


def _is_among(rank, ranks):
    return rank in ranks if isinstance(rank, int) else reduce_any(equal(rank, list(ranks)))


@api("debugging.assert_rank", "assert_rank")
def assert_rank(x, rank, message=None, name=None) -> Any:
    """Raise unless `x` has that rank.

    >>> tf.debugging.assert_rank([[1, 2]], 2)

    Raises:
        ValueError: when it has another. In a graph where the rank is not known yet, running it raises
            InvalidArgumentError.
    """
    rank = _rank_value("debugging.assert_rank", rank)
    return _check_rank("debugging.assert_rank", x, [rank], _is_same, rank, message)


@api("debugging.assert_rank_at_least")
def assert_rank_at_least(x, rank, message=None, name=None) -> Any:
    """Raise unless `x` has that rank or a higher one; see `assert_rank`."""
    rank = _rank_value("debugging.assert_rank_at_least", rank)
    if isinstance(x, CompositeTensor):  # TF: `assert_rank` takes these
        x = to_tensor(x)
    words = f"at least {rank}"
    return _check_rank("debugging.assert_rank_at_least", x, [rank], _is_at_least, words, message)


@api("debugging.assert_rank_in")
def assert_rank_in(x, ranks, message=None, name=None) -> Any:
    """Raise unless `x` has one of the ranks; see `assert_rank`."""
    ranks = [_rank_value("debugging.assert_rank_in", rank) for rank in ranks]
    words = f"in {tuple(ranks)}"
    return _check_rank("debugging.assert_rank_in", x, ranks, _is_among, words, message)


@api("debugging.assert_scalar")
def assert_scalar(tensor, message=None, name=None) -> Any:
    """Raise ValueError unless `tensor` is a scalar; returns it when its shape is not known yet."""
    prefix = _prefix(message)
    tensor = to_tensor(tensor)
    rank = tensor.shape.rank
    if rank is None:
        Assert(equal(RANK(tensor), 0), [f"{prefix}debugging.assert_scalar: got", tensor])
        return tensor
    if rank != 0:
        raise ValueError(
            f"{prefix}debugging.assert_scalar: tensor must be a scalar, got shape {tensor.shape}."
        )
    return passed()


@api("debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None) -> Any:
    """Raise TypeError unless `tensor`, which may be sparse or ragged, has the dtype `tf_type`."""
    prefix = _prefix(message)
    tf_type = dtypes.as_dtype(tf_type)
    found = _tensor(tensor).dtype
    if found != tf_type:
        raise TypeError(
            f"{prefix}debugging.assert_type: tensor must be {tf_type.name} (tf_type), got {found.name}."
        )
    return passed()


@api("debugging.assert_integer")
def assert_integer(x, message=None, name=None) -> Any:
    """Raise TypeError unless `x` is of an integer dtype (quantized ones are not)."""
    prefix = _prefix(message)
    found = to_tensor(x).dtype
    if not found.is_integer:
        raise TypeError(
            f"{prefix}debugging.assert_integer: x must be of an integer dtype, got {found.name}."
        )
    return passed()


@api("debugging.assert_proper_iterable", dispatch=False)
def assert_proper_iterable(values) -> None:
    """Raise TypeError unless `values` is an iterable like a list: no string, array or tensor."""
    if isinstance(values, (str, bytes, np.ndarray, types.Tensor, CompositeTensor)) or not hasattr(
        values, "__iter__"
    ):
        raise TypeError(
            f"debugging.assert_proper_iterable: values must be an iterable other than a string, an array or "
            f"a tensor, got {type(values).__name__}."
        )


@api("debugging.assert_same_float_dtype", dispatch=False, told=True)
def assert_same_float_dtype(tensors=None, dtype=None) -> "DType":
    """The one floating dtype that all of `tensors`, and `dtype` if given, have; float32 when there is none.

    Raises:
        ValueError: when they differ, or are not floating.
    """
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    for tensor in tensors or ():
        found = tensor.dtype.base_dtype
        if expected is None:
            expected = found
        elif found != expected:
            raise ValueError(
                f"debugging.assert_same_float_dtype: expected {expected.name}, got {found.name}: {tensor}."
            )
    expected = expected or dtypes.float32
    if not expected.is_floating:
        raise ValueError(
            f"debugging.assert_same_float_dtype: the dtype must be floating, got {expected.name}."
        )
    return expected


@api("debugging.is_numeric_tensor", dispatch=False)
def is_numeric_tensor(tensor) -> bool:
    """Whether it is a tensor (no variable, no array) of numbers.

    >>> tf.debugging.is_numeric_tensor(tf.constant(1)), tf.debugging.is_numeric_tensor(1)
    (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


_MANY = ("...", "*", Ellipsis)
_ANY = (None, ".")


def _described(x):
    return f"the tensor of shape {x.shape} and dtype {x.dtype.name}"


def _expected_sizes(x, shape, message):
    """The sizes that a shape of symbols names, and whether more dimensions may stand before them."""
    if not (hasattr(shape, "__iter__") or hasattr(shape, "__getitem__")):
        raise ValueError(
            f"{_prefix(message)}debugging.assert_shapes: the shape of {_described(x)} must be given as an "
            f"iterable, got {shape!r}."
        )
    sizes = list(shape)
    for place, size in enumerate(sizes):
        if place and any(size is many or size == many for many in _MANY):
            raise ValueError(
                f"{_prefix(message)}debugging.assert_shapes: `...` and `*` may only stand first, but the "
                f"shape {shape!r} of {_described(x)} has one at {place}."
            )
    many = bool(sizes) and any(sizes[0] is mark or sizes[0] == mark for mark in _MANY)
    if many:
        return sizes[1:], True
    return sizes or [1], False


@api("debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None) -> None:
    """Raise unless tensors have the shapes, in which one symbol stands for one size everywhere.

    >>> x, y = tf.zeros([8, 3]), tf.zeros([8, 5])
    >>> tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N", "Q"))])

    Args:
        shapes: pairs of a tensor and its shape (or a dict). In a shape, a number is itself, a string is a
            symbol, None or "." is any size, and "..." or "*" in front is one or more dimensions. A scalar
            passes for a vector of size 1.
        data: shown when the check is done at run time and fails.
        summarize: how many elements of `data` to show.
        message: begins the message of the error.
        name: a name for the operation.

    Raises:
        ValueError: when a shape is not as specified (at run time: InvalidArgumentError).
    """
    is_list = isinstance(data, Iterable) and not (isinstance(data, Tensor) and data.shape.rank == 0)
    if truth("data", data) and not is_list:
        raise TypeError(f"assert_shapes: data must be a list of tensors, got {data!r}.")
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    checked = []
    for x, shape in pairs:
        x = _tensor(x)
        if shape is not None:
            checked.append((x, *_expected_sizes(x, shape, message)))
    for x, sizes, many in checked:
        if many:
            # TF: the dots stand for at least one dimension, unless they stand alone.
            assert_rank_at_least(x, len(sizes) + 1 if sizes else 0, message=message)
        elif len(sizes) <= 1:
            assert_rank_in(x, (0, 1), message=message)
        else:
            assert_rank(x, len(sizes), message=message)
    known: dict = {}
    for x, sizes, _ in checked:
        if x.shape.rank is None:
            _check_sizes_later(x, sizes, known, data, summarize, message)
            continue
        found = x.shape.as_list() or [1]
        for offset, size in enumerate(sizes, start=len(found) - len(sizes)):
            if size in _ANY:
                continue
            origin = "as given"
            if isinstance(size, str) and not size.isdigit():
                if size not in known:
                    known[size] = (_size_of(x, offset, found), f"by {_described(x)}, dimension {offset}")
                    continue
                size, origin = known[size]
            _check_size(x, offset, found, size, origin, data, summarize, message)


def _size_of(x, place, found):
    """The size of a dimension: an int, or a tensor when it is known only at run time."""
    if found[place] is not None:
        return found[place]
    shape = x.dense_shape if isinstance(x, SparseTensor) else SHAPE(x, out_type=dtypes.int32)
    return GATHER_V2(shape, place, 0)


def _check_size(x, place, found, size, origin, data, summarize, message):
    actual = _size_of(x, place, found)
    if isinstance(actual, int) and not isinstance(size, Tensor):
        if actual != int(size):
            raise ValueError(
                f"{_prefix(message)}debugging.assert_shapes: dimension {place} of {_described(x)} must have "
                f"the size {size} (specified {origin}), got {actual}."
            )
        return
    words = f"{_prefix(message)}debugging.assert_shapes: dimension {place} has a wrong size:"
    Assert(equal(actual, size), [words, actual, *(data or [])], summarize=summarize)


def _check_sizes_later(x, sizes, known, data, summarize, message):
    """Sizes counted from the end, of a tensor whose rank is not known yet."""
    shape = x.dense_shape if isinstance(x, SparseTensor) else SHAPE(x, out_type=dtypes.int32)
    for place, size in enumerate(sizes):
        if size in _ANY:
            continue
        last = SUB(SIZE(shape), len(sizes) - place)
        actual = GATHER_V2(shape, last, 0)
        if isinstance(size, str) and not size.isdigit():
            if size not in known:
                known[size] = (actual, "at run time")
                continue
            size = known[size][0]
        words = f"{_prefix(message)}debugging.assert_shapes: a dimension has a wrong size:"
        Assert(equal(actual, size), [words, actual, *(data or [])], summarize=summarize)
