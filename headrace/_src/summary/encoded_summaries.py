"""Encoded `Summary` messages of the kinds that 1.x has: numbers, histograms, images, sounds, tensors."""

import numpy as np

from headrace._src.core import errors
from headrace._src.core.dtypes import FROM_NUMPY, string
from headrace._src.core.lazy import LazyModule, protobuf_message
from headrace._src.formats import wire
from headrace._src.formats.png_images import encode_png
from headrace._src.formats.wav_audio import encode_wav

_messages = LazyModule("headrace._src.formats.event_messages")
_SMALL = 1e-6  # TF: images whose largest value is below are black


def scalars(tags: np.ndarray, values: np.ndarray) -> bytes:
    """A number for each tag."""
    value = _messages.Summary.Value
    pairs = zip(tags.ravel().tolist(), values.ravel().tolist())
    return _encoded([value(tag=_text(tag), simple_value=_single(number)) for tag, number in pairs])


def _single(number):
    # What float32 cannot hold becomes infinite.
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _text(tag):
    return tag.decode("utf-8", "replace")


def _encoded(values):
    return _messages.Summary(value=values).SerializeToString()


# Histograms.


def _limits():
    """The right edges of the buckets: from 1e-12 to 1e20 each is a tenth larger, and the same below zero."""
    positive, edge = [], 1e-12
    while edge < 1e20:
        positive.append(edge)
        edge *= 1.1
    positive.append(np.finfo(np.float64).max)
    return np.array([-edge for edge in reversed(positive)] + [0.0] + positive)


_LIMITS = _limits()


def histogram(tag: bytes, values: np.ndarray) -> bytes:
    """How values are distributed.

    Raises:
        InvalidArgumentError: a value is not finite.
    """
    flat = values.ravel().astype(np.float64)
    if not np.isfinite(flat).all():
        what = "Nan in summary histogram" if np.isnan(flat).any() else "Infinity in Histogram"
        raise errors.invalid_argument(f"{what} for: {_text(tag)}")
    proto = _messages.HistogramProto(min=_LIMITS[-1], max=-_LIMITS[-1], num=flat.size)
    if flat.size:
        proto.min, proto.max = flat.min(), flat.max()
        # One after the other, as TensorFlow adds them: sums of rounded numbers depend on the order.
        proto.sum = 0.0 + np.add.accumulate(flat)[-1]
        proto.sum_squares = np.add.accumulate(flat * flat)[-1]
    places = np.minimum(np.searchsorted(_LIMITS, flat, side="right"), len(_LIMITS) - 1)
    counts = np.bincount(places, minlength=len(_LIMITS))
    last = -1  # of a row of empty buckets only the last edge is written
    for place in np.flatnonzero(counts):
        if place - 1 > last:
            proto.bucket_limit.append(_LIMITS[place - 1])
            proto.bucket.append(0.0)
        proto.bucket_limit.append(_LIMITS[place])
        proto.bucket.append(counts[place])
        last = place
    if last < len(_LIMITS) - 1:
        proto.bucket_limit.append(_LIMITS[-1])
        proto.bucket.append(0.0)
    return _encoded([_messages.Summary.Value(tag=_text(tag), histo=proto)])


# Images and sounds.


def images(tag: bytes, array: np.ndarray, count: int, bad_color: np.ndarray) -> bytes:
    """The first `count` images of a batch, as PNG.

    Args:
        tag: what they are called; `/image` and a number are added.
        array: of shape [images, height, width, channels]. Floating ones are scaled so that the largest value is 255;
            if there are negative ones, zero is 128.
        count: how many at most.
        bad_color: of pixels that are not finite.
    """
    if array.ndim != 4 or array.shape[3] not in (1, 3, 4):
        shape = ",".join(map(str, array.shape))
        raise errors.invalid_argument(f"Tensor must be 4-D with last dim 1, 3, or 4, not [{shape}]")
    _, height, width, channels = array.shape
    if bad_color.size < channels:
        raise errors.invalid_argument(f"expected depth <= bad_color.size, got depth = {channels}, bad_color.size = "
                                      f"{bad_color.size}")
    values = []
    for number, image in enumerate(array[:count]):
        pixels = image if image.dtype == np.uint8 else _scaled(image, bad_color[:channels])
        shown = _messages.Summary.Image(
            height=height, width=width, colorspace=channels, encoded_image_string=encode_png(pixels)
        )
        values.append(_messages.Summary.Value(tag=_numbered(tag, "image", number, count), image=shown))
    return _encoded(values)


def _numbered(tag, kind, number, count):
    return f"{_text(tag)}/{kind}" if count == 1 else f"{_text(tag)}/{kind}/{number}"


def _scaled(image, bad_color):
    finite = np.isfinite(image).all(axis=-1)
    found = image[finite]
    low, high = (found.min(), found.max()) if found.size else (np.inf, -np.inf)
    if low < 0:
        largest, offset, top = max(abs(float(low)), abs(float(high))), 128.0, 127.0
    else:
        largest, offset, top = float(high), 0.0, 255.0
    scale = np.float32(0.0 if largest < _SMALL else top / np.float32(largest)).astype(image.dtype)
    with np.errstate(all="ignore"):
        pixels = image * scale + image.dtype.type(offset)
    pixels[~finite] = 0
    result = pixels.astype(np.uint8)
    result[~finite] = bad_color
    return result


def sounds(tag: bytes, array: np.ndarray, rate: float, count: int) -> bytes:
    """The first `count` sounds of a batch of shape [sounds, frames] or [sounds, frames, channels], as WAV."""
    if array.ndim not in (2, 3):
        raise errors.invalid_argument(f"Tensor must be 3-D or 2-D, got: [{','.join(map(str, array.shape))}]")
    if not rate > 0:
        raise errors.invalid_argument("sample_rate must be > 0")
    values = []
    for number, sound in enumerate(array.reshape(*array.shape[:2], -1)[:count]):
        frames, channels = sound.shape
        # TF: rounded to the nearest whole number of frames.
        data = encode_wav(sound, int(np.floor(rate + 0.5)))
        shown = _messages.Summary.Audio(
            sample_rate=rate, num_channels=channels, length_frames=frames, encoded_audio_string=data,
            content_type="audio/wav",
        )  # fmt: skip
        values.append(_messages.Summary.Value(tag=_numbered(tag, "audio", number, count), audio=shown))
    return _encoded(values)


# Tensors, and several summaries as one.


def tensor(tag: bytes, array: np.ndarray, metadata: bytes) -> bytes:
    """A tensor, with a `SummaryMetadata` that says what it is.

    Raises:
        InvalidArgumentError: the metadata is something else.
    """
    dtype = string if array.dtype == object else FROM_NUMPY[array.dtype]
    try:
        metadata = _messages.SummaryMetadata.FromString(metadata).SerializeToString()
    except protobuf_message.DecodeError:
        raise errors.invalid_argument("serialized_summary_metadata is no SummaryMetadata message.") from None
    value = wire.message(1, tag) + wire.message(8, wire.tensor_proto(array, dtype)) + wire.message(9, metadata)
    return wire.message(1, value)


def merged(parts: list[np.ndarray]) -> bytes:
    """Several summaries as one.

    Raises:
        InvalidArgumentError: one is no summary, or two have a value of the same tag.
    """
    tags: set[str] = set()
    found = _messages.Summary()
    for data in (item for part in parts for item in part.ravel().tolist()):
        try:
            summary = _messages.Summary.FromString(data)
        except protobuf_message.DecodeError:
            raise errors.invalid_argument("Could not parse one of the summary inputs") from None
        for value in summary.value:
            # TF: values without a tag have a node_name, and are let through.
            if value.tag in tags and value.tag:
                raise errors.invalid_argument(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        found.MergeFrom(summary)
    return found.SerializeToString()
