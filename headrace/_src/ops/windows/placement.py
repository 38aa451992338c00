"""Where the windows of a convolution or a pool lie: data formats, padding, output sizes, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from headrace._src.core import errors

CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
CHANNELS_FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_MAX_ELEMENTS = 2**63 - 1


class Layout(NamedTuple):
    """Which axes of an array are spatial, and which one holds the channels."""

    spatial: tuple[int, ...]
    channel: int

    @property
    def rank(self) -> int:
        return len(self.spatial) + 2

    @property
    def to_channels_last(self) -> tuple[int, ...] | None:
        """The transposition to batch, space, channels; None where nothing has to move."""
        return None if self.channel == self.rank - 1 else (0, *self.spatial, self.channel)

    @property
    def from_channels_last(self) -> tuple[int, ...] | None:
        """The transposition back."""
        return None if self.channel == self.rank - 1 else (0, self.rank - 1, *range(1, self.rank - 1))


LAYOUTS = {name: Layout(tuple(range(1, n + 1)), n + 1) for n, name in CHANNELS_LAST.items()} | {
    name: Layout(tuple(range(2, n + 2)), 1) for n, name in CHANNELS_FIRST.items()
}


class Windows(NamedTuple):
    """The windows along each spatial axis: all fields have one entry per axis.

    Window `o` along an axis covers the positions `o * stride - before + tap * dilation`.
    """

    input: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    output: tuple[int, ...]


def layout_of(op: str, data_format: str, dims: int | None = None) -> Layout:
    """The layout that a data format names.

    Args:
        op: The op's name, for messages.
        data_format: "NHWC" and its likes.
        dims: The number of spatial dims that the op wants, or None for any.
    """
    layout = LAYOUTS.get(data_format)
    if layout is None or (dims is not None and len(layout.spatial) != dims):
        allowed = [n for n, each in LAYOUTS.items() if dims is None or len(each.spatial) == dims]
        raise errors.invalid_argument(f"{op}: data_format must be one of {allowed}, got {data_format!r}.")
    return layout


def spatial_entries(op: str, argument: str, values: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """The spatial entries of a list with one entry per axis of the data: positive, and the others 1."""
    values = tuple(int(v) for v in values)
    if len(values) != layout.rank:
        raise errors.invalid_argument(
            f"{op}: {argument} must have {layout.rank} entries, one per dimension of the input, got {values}."
        )
    if values[0] != 1 or values[layout.channel] != 1:
        raise errors.unimplemented(
            f"{op}: {argument} must be 1 in the batch and channel dimensions, got {values}."
        )
    chosen = tuple(values[a] for a in layout.spatial)
    if min(chosen, default=1) < 1:
        raise errors.invalid_argument(f"{op}: {argument} must be positive, got {values}.")
    return chosen


def explicit_entries(
    op: str, padding: str, explicit: Sequence[int] | None, layout: Layout
) -> tuple[tuple[int, int], ...] | None:
    """The spatial (before, after) pairs of `explicit_paddings`, or None if the padding has a name."""
    explicit = tuple(int(v) for v in explicit or ())
    if padding != "EXPLICIT":
        if padding not in ("SAME", "VALID"):
            raise errors.invalid_argument(
                f"{op}: padding must be 'SAME', 'VALID' or 'EXPLICIT', got {padding!r}."
            )
        if explicit:
            raise errors.invalid_argument(
                f"{op}: explicit_paddings must be empty unless padding is 'EXPLICIT', got {explicit}."
            )
        return None
    if len(explicit) != 2 * layout.rank:
        raise errors.invalid_argument(
            f"{op}: explicit_paddings must have {2 * layout.rank} entries, got {len(explicit)}."
        )
    if min(explicit) < 0:
        raise errors.invalid_argument(f"{op}: explicit_paddings must not be negative, got {explicit}.")
    pairs = tuple(zip(explicit[::2], explicit[1::2], strict=True))
    if any(pairs[0]) or any(pairs[layout.channel]):
        raise errors.invalid_argument(
            f"{op}: explicit_paddings must be 0 in the batch and channel dimensions, got {explicit}."
        )
    return tuple(pairs[a] for a in layout.spatial)


def output_size(
    op: str,
    size: int | None,
    window: int | None,
    stride: int,
    dilation: int,
    padding: str,
    pair: tuple[int, int] | None,
) -> tuple[int | None, int, int]:
    """The number of windows along one axis and the padding on its two sides; None if it is not known."""
    if size is None:
        return None, 0, 0
    if padding == "SAME":
        out = -(-size // stride)
        if window is None:
            return out, 0, 0
        total = max((out - 1) * stride + (window - 1) * dilation + 1 - size, 0) if out else 0
        return out, total // 2, total - total // 2
    if window is None:
        return None, 0, 0
    before, after = pair or (0, 0)
    reach = (window - 1) * dilation + 1
    out = (size + before + after - reach + stride) // stride
    if out < 0:
        raise errors.invalid_argument(
            f"{op}: a window of {reach} is larger than the input, which has size {size}"
            f" and padding ({before}, {after})."
        )
    return out, before, after


@lru_cache(maxsize=1024)
def resolve(
    op: str,
    size: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: str,
    explicit: tuple[tuple[int, int], ...] | None,
) -> Windows:
    """The windows over a spatial extent of `size`."""
    sides = [
        output_size(op, size[i], window[i], stride[i], dilation[i], padding, explicit and explicit[i])
        for i in range(len(size))
    ]
    outputs, before, after = zip(*sides, strict=True)
    return Windows(size, window, stride, dilation, before, after, outputs)


@lru_cache(maxsize=4096)
def tap_slices(w: Windows, tap: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """For one tap: which windows find it inside the data, and the positions that they read."""
    valid, read = [], []
    for i, k in enumerate(tap):
        offset = k * w.dilation[i] - w.before[i]
        stride = w.stride[i]
        low = max(0, -(offset // stride))
        high = max(low, min(w.output[i], (w.input[i] - 1 - offset) // stride + 1))
        valid.append(slice(low, high))
        start = low * stride + offset
        # An empty range must not become a negative start, which would count from the end.
        read.append(
            slice(start, start + (high - low - 1) * stride + 1, stride) if high > low else slice(0, 0)
        )
    return tuple(valid), tuple(read)


def reversed_windows(w: Windows) -> Windows | None:
    """The windows of the convolution over the gradient that gives the input gradient, if there is one."""
    if set(w.stride) != {1}:
        return None
    reach = [(k - 1) * d for k, d in zip(w.window, w.dilation, strict=True)]
    before = tuple(r - b for r, b in zip(reach, w.before, strict=True))
    after = tuple(r - a for r, a in zip(reach, w.after, strict=True))
    if min(before) < 0 or min(after) < 0:
        return None
    return Windows(w.output, w.window, w.stride, w.dilation, before, after, w.input)


def check_elements(op: str, what: str, shape: Sequence[int]) -> tuple[int, ...]:
    """`shape` as a tuple, after refusing negative dims and more elements than an index can count."""
    shape = tuple(int(d) for d in shape)
    count = 1
    for d in shape:
        if d < 0:
            raise errors.invalid_argument(f"{op}: {what} must not be negative, got {shape}.")
        count *= d
    if count > _MAX_ELEMENTS:
        raise errors.invalid_argument(f"{op}: {what} {shape} has more than 2**63 - 1 elements.")
    return shape
