"""String tensors element by element (length, case, substrings) and joined along axes or segments."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape, broadcast_shapes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import NoRule, Ragged, Rule, along_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN, same_as_input
from headrace._src.op.traits import ELEMENTWISE
from headrace._src.ops.arrays import joining
from headrace._src.ops.arrays.broadcasting import BROADCAST_TO, check_reduces_rows
from headrace._src.ops.arrays.filling import RANGE
from headrace._src.ops.arrays.measuring import RANK
from headrace._src.ops.math.arithmetic import SUB
from headrace._src.ops.strings.kernel_arrays import (
    attribute_bytes,
    attribute_text,
    map_strings,
    map_values,
    one_of,
    string_array,
)

UNITS = ("BYTE", "UTF8_CHAR")
_TRAILING = bytes(range(0x80, 0xC0))  # the bytes that continue a UTF-8 character


def _infer_join(inputs, separator):
    shape, scalars = UNKNOWN, 0
    for spec in inputs:
        if spec.shape.rank == 0:
            scalars += 1
        elif spec.shape.rank is not None:
            shape = shape.merge_with(spec.shape)
    return SCALAR if scalars == len(inputs) else shape


def _join(inputs, separator):
    between = attribute_bytes(separator)
    shapes = [array.shape for array in inputs if array.ndim]
    if not shapes:
        return between.join([array[()] for array in inputs])
    for shape in shapes:
        if shape != shapes[0]:
            raise errors.invalid_argument(
                f"StringJoin: inputs must have the same shape or be scalars, got {shapes[0]} and {shape}."
            )
    columns = [np.broadcast_to(array, shapes[0]).ravel().tolist() for array in inputs]
    return string_array([between.join(parts) for parts in zip(*columns)], shapes[0])


def _vectorize_string_join(batch, node, inputs):
    rank = max(batch.rank(x) for x in inputs)
    # Scalars are repeated by the op itself, stacked ones are scalars no longer.
    whole = next((x for x in inputs if x.stacked and batch.rank(x) == rank), None)
    tensors = []
    for x in inputs:
        if batch.rank(x) == rank or not x.stacked:
            tensors.append(batch.stack(x) if batch.rank(x) else x.tensor)
        elif whole is None:
            raise NoRule("its inputs have different ranks")
        else:
            shape = batch.with_size(batch.shape_of_element(whole))
            tensors.append(BROADCAST_TO(batch.with_rank(x, rank), shape))
    return batch.apply(node, [tensors])


def _vectorize_ragged_string_join(batch, node, inputs):
    if any(not isinstance(x, Ragged) and batch.rank(x) for x in inputs):
        raise NoRule("its inputs differ in rank")
    first, tensors = batch.aligned_rows(inputs)
    return first.like(batch.apply(node, [tensors])[0])


STRING_JOIN = Op(
    "StringJoin",
    "inputs: N*string, *, separator: string = '' -> output: string",
    infer=_infer_join,
    kernel=_join,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=Rule(_vectorize_string_join, _vectorize_ragged_string_join),
)


@api("strings.join")
def join(inputs, separator="", name=None) -> Tensor:
    """Concatenate strings element-wise; scalars are repeated.

    >>> tf.strings.join([["a", "b"], "c"], separator="-").numpy().tolist()
    [b'a-c', b'b-c']

    Args:
        inputs: a list of string tensors of one shape, or scalars.
        separator: stands between them.
        name: a name for the operation.
    """
    if isinstance(inputs, Tensor):
        inputs = joining.unstack(inputs)
    elif not isinstance(inputs, (list, tuple)):
        raise TypeError(f"strings.join: inputs must be a list of string tensors, got {inputs!r}.")
    return STRING_JOIN(list(inputs), separator=attribute_text(separator), name=name)


_MANY = 64


def _length(input, unit):
    one_of("StringLength", "unit", unit, UNITS)
    if unit == "BYTE":
        return map_values(len, input, np.int32)
    items = input.ravel().tolist()
    if len(items) < _MANY:
        return map_values(lambda item: len(item.translate(None, _TRAILING)), input, np.int32)
    # Characters begin at bytes that continue none; they are counted in all strings together.
    begins = np.frombuffer(b"".join(items), np.uint8) & 0xC0 != 0x80
    counts = np.concatenate([[0], np.cumsum(begins)])
    ends = np.cumsum(np.fromiter(map(len, items), np.int64, len(items)))
    return np.diff(counts[ends], prepend=0).astype(np.int32).reshape(input.shape)


STRING_LENGTH = Op(
    "StringLength",
    "input: string, *, unit: string = 'BYTE' -> output: int32",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=_length,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.length", of=STRING_LENGTH)
def length(input, unit="BYTE", name=None) -> Tensor:
    """The length of each string, in bytes or (`unit="UTF8_CHAR"`) in UTF-8 characters."""
    return STRING_LENGTH(input, unit=unit, name=name)


def _case(op, change, input, encoding):
    if encoding not in ("", "utf-8"):
        raise errors.invalid_argument(f"{op}: encoding must be 'utf-8' or '' (ASCII only), got {encoding!r}.")
    if encoding == "":
        return map_strings(change[0], input)
    return map_strings(lambda item: change[1](item.decode("utf-8", "replace")).encode("utf-8"), input)


STRING_LOWER = Op(
    "StringLower",
    "input: string, *, encoding: string = '' -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input, encoding: _case("StringLower", (bytes.lower, str.lower), input, encoding),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.lower", of=STRING_LOWER)
def lower(input, encoding="", name=None) -> Tensor:
    """Upper-case letters become lower-case: ASCII letters, or with `encoding="utf-8"` all letters.

    >>> tf.strings.lower("CamelCase string").numpy()
    b'camelcase string'
    """
    return STRING_LOWER(input, encoding=encoding, name=name)


STRING_UPPER = Op(
    "StringUpper",
    "input: string, *, encoding: string = '' -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input, encoding: _case("StringUpper", (bytes.upper, str.upper), input, encoding),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.upper", of=STRING_UPPER)
def upper(input, encoding="", name=None) -> Tensor:
    """Lower-case letters become upper-case: ASCII letters, or with `encoding="utf-8"` all letters.

    >>> tf.strings.upper("CamelCase string").numpy()
    b'CAMELCASE STRING'
    """
    return STRING_UPPER(input, encoding=encoding, name=name)


STRING_STRIP = Op(
    "StringStrip",
    "input: string -> output: string",
    traits=ELEMENTWISE,
    infer=same_as_input,
    kernel=lambda input: map_strings(bytes.strip, input),
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.strip", of=STRING_STRIP)
def strip(input, name=None) -> Tensor:
    """Remove ASCII whitespace at both ends of each string.

    >>> tf.strings.strip(["  left", "right\\n"]).numpy().tolist()
    [b'left', b'right']
    """
    return STRING_STRIP(input, name=name)


def character_starts(item: bytes) -> list[int]:
    """Where the UTF-8 characters begin, and the end; bytes that continue nothing belong to what precedes."""
    starts = [i for i, byte in enumerate(item) if byte & 0xC0 != 0x80 or i == 0]
    starts.append(len(item))
    return starts


def _outside(pos, item, index):
    return errors.invalid_argument(
        f"Substr: pos {pos} is out of range for the string {item!r} at index {index}."
    )


def _byte_substring(item, pos, size, index):
    if not -len(item) <= pos <= len(item):
        raise _outside(pos, item, index)
    start = pos + len(item) if pos < 0 else pos
    # TF: a negative length reaches to the end.
    return item[start:] if size < 0 else item[start : start + size]


def _character_substring(item, pos, size, index):
    starts = character_starts(item)
    count = len(starts) - 1
    if not -count <= pos <= count:
        raise _outside(pos, item, index)
    first = pos + count if pos < 0 else pos
    return item[starts[first] : starts[min(first + max(size, 0), count)]]


def _same_bytes_of_all(input, pos, size):
    """The bytes from `pos` on of strings that are all long enough for it; None when one is not."""
    items = input.ravel().tolist()
    if not items or min(map(len, items)) < (pos if pos >= 0 else -pos):
        return None
    end = pos + size
    if size < 0 or pos < 0 <= end:
        end = None
    return string_array([item[pos:end] for item in items], input.shape)


def _substr(input, pos, len, unit):
    one_of("Substr", "unit", unit, UNITS)
    if pos.shape != len.shape:
        raise errors.invalid_argument(
            f"Substr: pos and len must have the same shape, got {pos.shape} and {len.shape}."
        )
    if unit == "BYTE" and not pos.ndim:
        found = _same_bytes_of_all(input, int(pos), int(len))
        if found is not None:
            return found
    try:
        input, pos, len = np.broadcast_arrays(input, pos, len)
    except ValueError:
        raise errors.invalid_argument(
            f"Substr: input of shape {input.shape} and pos of shape {pos.shape} do not broadcast."
        ) from None
    cut = _byte_substring if unit == "BYTE" else _character_substring
    triples = zip(input.ravel().tolist(), pos.ravel().tolist(), len.ravel().tolist())
    return string_array([cut(*triple, index) for index, triple in enumerate(triples)], input.shape)


def _infer_substr(input, pos, len, unit):
    return broadcast_shapes(input.shape, pos.shape)


SUBSTR = Op(
    "Substr",
    "input: string, pos: T, len: T, *, unit: string = 'BYTE' -> output: string",
    T=dtypes.INDEX,
    infer=_infer_substr,
    kernel=_substr,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.substr", elementwise=1)
def substr(input, pos, len, unit="BYTE", name=None) -> Tensor:
    """The part of each string that begins at `pos` and has at most `len` bytes or characters.

    >>> tf.strings.substr(["hello", "world"], 1, 3).numpy().tolist()
    [b'ell', b'orl']

    Args:
        input: strings.
        pos: where the parts begin, counted from the end when negative; broadcasts against `input`.
        len: how long they are at most, of the shape of `pos`.
        unit: "BYTE" or "UTF8_CHAR".
        name: a name for the operation.

    Raises:
        InvalidArgumentError: when a position lies outside its string.
    """
    return SUBSTR(input, pos, len, unit=unit, name=name)


def _join_axes(axes, rank):
    """The axes in the order given, in [0, rank)."""
    found = []
    for axis in axes.ravel().tolist():
        if not -rank <= axis < rank:
            raise errors.out_of_range(
                f"ReduceJoin: reduction_indices must be in [{-rank}, {rank}), got {axis}."
            )
        if axis % rank in found:
            raise errors.invalid_argument(f"ReduceJoin: reduction_indices names the axis {axis} twice.")
        found.append(axis % rank)
    return found


def _reduce_join(inputs, reduction_indices, keep_dims, separator):
    axes = _join_axes(reduction_indices, inputs.ndim)
    between = attribute_bytes(separator)
    kept = [i for i in range(inputs.ndim) if i not in axes]
    shape = [inputs.shape[i] for i in kept]
    count = int(np.prod(shape, dtype=np.int64))
    # The order of the axes is the order of joining, the first one innermost.
    rows = inputs.transpose(kept + axes[::-1]).reshape(count, -1).tolist() if inputs.size else [[]] * count
    joined = [between.join(row) for row in rows]
    if keep_dims:
        shape = [1 if i in axes else n for i, n in enumerate(inputs.shape)]
    return string_array(joined, shape)


def _infer_reduce_join(inputs, reduction_indices, keep_dims, separator):
    shape = inputs.shape
    if shape.rank is None:
        return UNKNOWN
    if reduction_indices.value is None:
        return TensorShape([None] * shape.rank) if keep_dims else UNKNOWN
    axes = _join_axes(np.asarray(reduction_indices.value), shape.rank)
    if keep_dims:
        return TensorShape([1 if i in axes else n for i, n in enumerate(shape)])
    return TensorShape([n for i, n in enumerate(shape) if i not in axes])


def _vectorize_ragged_reduce_join(batch, node, x, axes):
    check_reduces_rows(batch, node, x, axes)
    separator = node.attrs["separator"]
    return UNSORTED_SEGMENT_JOIN(x.tensor, batch.owners(x.splits), batch.count(), separator=separator)


REDUCE_JOIN = Op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32, *, keep_dims: bool = False, separator: string = '' "
    "-> output: string",
    infer=_infer_reduce_join,
    kernel=_reduce_join,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=Rule(along_axes.stacked, _vectorize_ragged_reduce_join),
)


@api("strings.reduce_join")
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None) -> Tensor:
    """Join the strings along axes.

    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=0).numpy().tolist()
    [b'ac', b'bd']
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], separator=",").numpy()
    b'a,b,c,d'

    Args:
        inputs: strings.
        axis: the axis or axes to join along, in this order; all of them, the last one first, when None.
        keepdims: keep joined axes with length 1.
        separator: stands between the strings.
        name: a name for the operation.

    Raises:
        OutOfRangeError: when there is no such axis.
    """
    inputs = to_tensor(inputs, dtypes.string)
    if axis is None:
        rank = inputs.shape.rank
        axis = to_tensor([*range(rank)][::-1], dtypes.int32) if rank is not None else _axes_from_last(inputs)
    return REDUCE_JOIN(inputs, axis, keep_dims=keepdims, separator=attribute_text(separator), name=name)


def _axes_from_last(tensor):
    """The axes of a tensor of unknown rank, the last one first."""
    return RANGE(SUB(RANK(tensor), 1), -1, -1)


def _segment_join(inputs, segment_ids, num_segments, separator):
    if num_segments.ndim:
        raise errors.invalid_argument(
            f"UnsortedSegmentJoin: num_segments must be a scalar, got shape {num_segments.shape}."
        )
    segments = int(num_segments)
    if segments < 0:
        raise errors.invalid_argument(
            f"UnsortedSegmentJoin: num_segments must not be negative, got {segments}."
        )
    rank = segment_ids.ndim
    if rank == 0:
        raise errors.invalid_argument("UnsortedSegmentJoin: segment_ids must have a rank of at least 1.")
    if inputs.shape[:rank] != segment_ids.shape:
        raise errors.invalid_argument(
            f"UnsortedSegmentJoin: the shape of inputs, {inputs.shape}, must begin with the shape of "
            f"segment_ids, {segment_ids.shape}."
        )
    ids = segment_ids.ravel()
    wrong = (ids < 0) | (ids >= segments)
    if wrong.any():
        raise errors.invalid_argument(
            f"UnsortedSegmentJoin: segment_ids must be in [0, {segments}), got {ids[wrong][0]}."
        )
    inner = inputs.shape[rank:]
    width = int(np.prod(inner, dtype=np.int64))
    if segments * width >= 2**40:
        raise errors.resource_exhausted(
            f"UnsortedSegmentJoin: the result would have {segments} x {width} strings."
        )
    rows = inputs.reshape(ids.size, width)
    parts: dict = {}
    for segment, row in zip(ids.tolist(), rows):
        parts.setdefault(segment, []).append(row)
    between = attribute_bytes(separator)
    result = np.full((segments, width), b"", object)
    for segment, members in parts.items():
        result[segment] = string_array([between.join(column) for column in zip(*members)], (width,))
    return result.reshape(segments, *inner)


def _infer_segment_join(inputs, segment_ids, num_segments, separator):
    if inputs.shape.rank is None or segment_ids.shape.rank is None:
        return UNKNOWN
    count = None if num_segments.value is None else int(num_segments.value)
    return TensorShape([count]).concatenate(inputs.shape[segment_ids.shape.rank :])


UNSORTED_SEGMENT_JOIN = Op(
    "UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments, *, separator: string = '' "
    "-> output: string",
    Tindices=dtypes.INDEX,
    Tnumsegments=dtypes.INDEX,
    infer=_infer_segment_join,
    kernel=_segment_join,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("strings.unsorted_segment_join")
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None) -> Tensor:
    """Join the strings of each segment, in their order.

    >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, separator=":").numpy().tolist()
    [b'a:c', b'b']

    Args:
        inputs: strings.
        segment_ids: the segment of each string, in [0, num_segments); its shape begins that of `inputs`.
        num_segments: how many segments there are; a segment without strings gives an empty string.
        separator: stands between the strings.
        name: a name for the operation.
    """
    return UNSORTED_SEGMENT_JOIN(
        inputs, segment_ids, num_segments, separator=attribute_text(separator), name=name
    )
