"""Random parts of images: `random_crop`, `sample_distorted_bounding_box` and their stateless forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import one_by_one
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.measuring import SHAPE, known_value
from headrace._src.ops.math.division import FLOOR_MOD
from headrace._src.ops.math.reductions import ALL
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.random import uniform_and_normal
from headrace._src.ops.random.seeds import infer_seed, seeded_stream, take_stream

if TYPE_CHECKING:
    from headrace._src.attached import SampleDistortedBoundingBoxV2, StatelessSampleDistortedBoundingBox

f32 = np.float32
_SIZE_TYPES = frozenset({dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64})
_ATTRIBUTES = (
    "aspect_ratio_range: list(float) = [0.75, 1.33], area_range: list(float) = [0.05, 1.0], "
    "max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False"
)
_OUTPUTS = "-> begin: T, size: T, bboxes: float32"


class _Numbers:
    """Random numbers one after the other."""

    def __init__(self, stream):
        self._stream = stream
        self._words: list = []
        self._block = 0

    def word(self) -> int:
        if not self._words:
            self._words = list(reversed(self._stream.block(self._block)))
            self._block += 1
        return self._words.pop()

    def fraction(self) -> np.float32:
        """In [0, 1)."""
        bits = np.array(self.word() & 0x7FFFFF | 0x3F800000, np.uint32)
        return bits.view(f32)[()] - f32(1)

    def below(self, n: int) -> int:
        """In [0, n)."""
        if not n & (n - 1):
            return self.word() & (n - 1)
        # What does not fill a whole range of n is drawn again.
        rest = 0xFFFFFFFF % n + 1
        while True:
            word = self.word()
            if word >= rest:
                return word % n


def _rounded(x) -> int:
    return int(np.rint(x))


def _random_part(numbers, height, width, areas, ratio):
    """A part (top, left, height, width) of that aspect ratio, or None."""
    if areas[1] <= 0 or ratio <= 0 or height <= 0 or width <= 0 or areas[0] > areas[1]:
        return None
    least, most = (f32(f32(area) * f32(width)) * f32(height) for area in areas)
    rows = _rounded(np.sqrt(f32(least / ratio)))
    limit = _rounded(np.sqrt(f32(most / ratio)))
    if _rounded(f32(limit) * ratio) > width:
        limit = int((width + 0.5 - float(f32(0.0000001))) / float(ratio))
        if _rounded(f32(limit) * ratio) > width:
            limit -= 1
    limit = min(limit, height)
    rows = min(rows, limit)
    if rows < limit:
        rows += numbers.below(limit - rows + 1)
    columns = _rounded(f32(rows) * ratio)
    # Rounding may have left the range of areas.
    if f32(rows * columns) < least:
        rows += 1
        columns = _rounded(f32(rows) * ratio)
    if f32(rows * columns) > most:
        rows -= 1
        columns = _rounded(f32(rows) * ratio)
    area = f32(rows * columns)
    if area < least or area > most or columns > width or rows > height or columns <= 0 or rows <= 0:
        return None
    top = numbers.below(height - rows) if rows < height else 0
    left = numbers.below(width - columns) if columns < width else 0
    return top, left, rows, columns


def _covers(part, boxes, least):
    """Whether so much of some box lies within the part."""
    top, left, rows, columns = part
    for y1, x1, y2, x2 in boxes:
        area = f32(max(0, y2 - y1) * max(0, x2 - x1))
        if area < 1:
            continue
        shared = max(0, min(y2, top + rows) - max(y1, top)) * max(0, min(x2, left + columns) - max(x1, left))
        if f32(shared) / area >= least:
            return True
    return False


def _pixel_boxes(op, bounding_boxes, height, width):
    if bounding_boxes.ndim != 3 or bounding_boxes.shape[-1] != 4:
        raise errors.invalid_argument(
            f"{op}: bounding_boxes must have shape (batch, number, 4), got shape {bounding_boxes.shape}."
        )
    found = []
    for y1, x1, y2, x2 in bounding_boxes.reshape(-1, 4):
        if not (0 <= y1 <= 1 and 0 <= x1 <= 1 and 0 <= y2 <= 1 and 0 <= x2 <= 1):
            raise errors.invalid_argument(
                f"{op}: all bounding box coordinates must be in [0, 1], got {[float(v) for v in (y1, x1, y2, x2)]}."
            )
        found.append((int(y1 * f32(height)), int(x1 * f32(width)), int(y2 * f32(height)), int(x2 * f32(width))))
    return found


def _check_attributes(op, aspect_ratio_range, area_range, max_attempts):
    if len(aspect_ratio_range) != 2 or min(aspect_ratio_range) <= 0:
        raise errors.invalid_argument(
            f"{op}: aspect_ratio_range must be two positive numbers, got {list(aspect_ratio_range)}."
        )
    if len(area_range) != 2 or min(area_range) <= 0 or max(area_range) > 1:
        raise errors.invalid_argument(f"{op}: area_range must be two numbers in (0, 1], got {list(area_range)}.")
    if max_attempts <= 0:
        raise errors.invalid_argument(f"{op}: max_attempts must be positive, got {max_attempts}.")


def _sample(
    op,
    stream,
    image_size,
    bounding_boxes,
    min_object_covered,
    aspect_ratio_range,
    area_range,
    max_attempts,
    use_image_if_no_bounding_boxes,
):
    if image_size.shape != (3,):
        raise errors.invalid_argument(f"{op}: image_size must have shape (3,), got shape {image_size.shape}.")
    if np.ndim(min_object_covered):
        raise errors.invalid_argument(f"{op}: min_object_covered must be a scalar, got {np.shape(min_object_covered)}.")
    if min_object_covered < 0:
        raise errors.invalid_argument(f"{op}: min_object_covered must be non-negative, got {min_object_covered}.")
    _check_attributes(op, aspect_ratio_range, area_range, max_attempts)
    height, width = int(image_size[0]), int(image_size[1])
    if not (0 <= height < 2**31 and 0 <= width < 2**31):
        raise errors.invalid_argument(f"{op}: image height and width must be in [0, 2**31), got {height} and {width}.")
    boxes = _pixel_boxes(op, bounding_boxes, height, width)
    if not boxes:
        if not use_image_if_no_bounding_boxes:
            raise errors.invalid_argument(
                f"{op}: no bounding boxes provided as input. Give one, or use use_image_if_no_bounding_boxes=True."
            )
        boxes = [(0, 0, height, width)]
    numbers = _Numbers(stream())
    low, high = (f32(value) for value in aspect_ratio_range)
    part = (0, 0, height, width)
    for _ in range(max_attempts):
        ratio = numbers.fraction() * (high - low) + low
        found = _random_part(numbers, height, width, [f32(a) for a in area_range], ratio)
        if found is not None and _covers(found, boxes, f32(min_object_covered)):
            part = found
            break
    top, left, rows, columns = part
    kind = image_size.dtype
    with np.errstate(invalid="ignore"):  # TF: an empty image has no parts, and its edges are NaN
        edges = np.array([top, left, top + rows, left + columns], f32) / np.array([height, width] * 2, f32)
    return (
        np.array([top, left, 0], kind),
        np.array([rows, columns, -1]).astype(kind),
        edges.reshape(1, 1, 4),
    )


def _infer(image_size, bounding_boxes, *others, **attrs):
    return TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])


def _stateful(op):
    def kernel(image_size, bounding_boxes, min_object_covered, seed, seed2, max_attempts, **attrs):
        def stream():
            # TF: four numbers, one block, are set aside for each attempt.
            return take_stream((op, image_size.dtype), seed, seed2, max_attempts)

        return _sample(
            op, stream, image_size, bounding_boxes, min_object_covered, max_attempts=max_attempts, **attrs
        )

    return kernel


_first, _second = _stateful("SampleDistortedBoundingBox"), _stateful("SampleDistortedBoundingBoxV2")

# How often numbers are drawn depends on the numbers: hence no lowerings.
SAMPLE_DISTORTED_BOUNDING_BOX = Op(
    "SampleDistortedBoundingBox",
    "image_size: T, bounding_boxes: float32, *, seed: int = 0, seed2: int = 0, min_object_covered: float = 0.1, "
    f"{_ATTRIBUTES} {_OUTPUTS}",
    T=_SIZE_TYPES,
    infer=_infer,
    kernel=lambda image_size, bounding_boxes, min_object_covered, **attrs: _first(
        image_size, bounding_boxes, min_object_covered, **attrs
    ),
    lower=None,
    grad=None,
    stateful=True,
)

SAMPLE_DISTORTED_BOUNDING_BOX_V2 = Op(
    "SampleDistortedBoundingBoxV2",
    "image_size: T, bounding_boxes: float32, min_object_covered: float32, *, seed: int = 0, seed2: int = 0, "
    f"{_ATTRIBUTES} {_OUTPUTS}",
    T=_SIZE_TYPES,
    infer=_infer,
    kernel=_second,
    lower=None,
    grad=None,
    stateful=True,
)


def _stateless(image_size, bounding_boxes, min_object_covered, seed, **attrs):
    op = "StatelessSampleDistortedBoundingBox"
    return _sample(
        op, lambda: seeded_stream(op, seed), image_size, bounding_boxes, min_object_covered, **attrs
    )


def _infer_stateless(image_size, bounding_boxes, min_object_covered, seed, **attrs):
    infer_seed("StatelessSampleDistortedBoundingBox", seed)
    return _infer(image_size, bounding_boxes)


STATELESS_SAMPLE_DISTORTED_BOUNDING_BOX = Op(
    "StatelessSampleDistortedBoundingBox",
    f"image_size: T, bounding_boxes: float32, min_object_covered: float32, seed: Tseed, *, {_ATTRIBUTES} {_OUTPUTS}",
    T=_SIZE_TYPES,
    Tseed=dtypes.INDEX,
    infer=_infer_stateless,
    kernel=_stateless,
    lower=None,
    grad=unregistered,
    vectorize=one_by_one,
)


def sampling_attributes(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes):
    """The attributes that were given."""
    given = {
        "aspect_ratio_range": aspect_ratio_range if aspect_ratio_range is None else list(aspect_ratio_range),
        "area_range": area_range if area_range is None else list(area_range),
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    return {name: value for name, value in given.items() if value is not None}


@api("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=0,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
) -> SampleDistortedBoundingBoxV2:
    """A random part of an image that still shows enough of an object.

    Args:
        image_size: height, width and channels.
        bounding_boxes: (batch, number, 4): the objects, as y1, x1, y2, x2 in parts of the image.
        seed: the op's own seed; 0 draws one, as `tf.random.set_seed` tells.
        min_object_covered: how much of some object the part must contain.
        aspect_ratio_range: smallest and largest width over height.
        area_range: smallest and largest part of the image's area.
        max_attempts: how often to try before the whole image is returned.
        use_image_if_no_bounding_boxes: take the whole image for the object if there is none.
        name: a name for the operation.

    Returns:
        `begin` and `size` for `tf.slice`, and `bboxes`, (1, 1, 4), for `tf.image.draw_bounding_boxes`.
    """
    seed, seed2 = draw_seeds(seed) if seed else (0, 0)
    return SAMPLE_DISTORTED_BOUNDING_BOX_V2(
        image_size,
        bounding_boxes,
        min_object_covered,
        seed=seed,
        seed2=seed2,
        name=name,
        **sampling_attributes(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )


@api("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
) -> StatelessSampleDistortedBoundingBox:
    """`tf.image.sample_distorted_bounding_box` that depends on nothing but the arguments.

    Args:
        image_size: height, width and channels.
        bounding_boxes: (batch, number, 4): the objects, as y1, x1, y2, x2 in parts of the image.
        seed: two integers.
        min_object_covered: how much of some object the part must contain.
        aspect_ratio_range: smallest and largest width over height.
        area_range: smallest and largest part of the image's area.
        max_attempts: how often to try before the whole image is returned.
        use_image_if_no_bounding_boxes: take the whole image for the object if there is none.
        name: a name for the operation.

    >>> boxes = [[[0.0, 0.0, 1.0, 1.0]]]
    >>> tf.image.stateless_sample_distorted_bounding_box([100, 80, 3], boxes, (1, 2)).size.numpy()[2].item()
    -1
    """
    return STATELESS_SAMPLE_DISTORTED_BOUNDING_BOX(
        image_size,
        bounding_boxes,
        min_object_covered,
        seed,
        name=name,
        **sampling_attributes(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )


def _random_part_of(function, value, size, draw):
    value = to_tensor(value, name="value")
    size = to_tensor(size, dtypes.int32, name="size")
    shape = SHAPE(value)
    dims, wanted = value.shape, known_value(size)
    known = wanted is not None and dims.is_fully_defined()
    if known and (len(wanted) != dims.rank or any(n < m for n, m in zip(dims.as_list(), wanted.tolist()))):
        raise errors.invalid_argument(
            f"image.{function}: Need value.shape >= size, got {dims.as_list()} and {wanted.tolist()}."
        )
    if not known:
        require(ALL(shape >= size, [0]), f"image.{function}: Need value.shape >= size.")
    limit = shape - size + 1
    offset = FLOOR_MOD(draw(SHAPE(shape), size.dtype), limit)
    return SLICE(value, offset, size)


@api("image.random_crop")
def random_crop(value, size, seed=None, name=None) -> Tensor:
    """A random part of a tensor, all parts being equally likely.

    Args:
        value: a tensor, of any rank.
        size: the size of the part along each axis.
        seed: the op's own seed; see `tf.random.set_seed`.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: `size` is larger than the tensor.

    >>> tf.image.random_crop(tf.zeros((5, 5, 3)), (2, 4, 3)).shape
    TensorShape([2, 4, 3])
    """

    def draw(shape, dtype):
        return uniform_and_normal.uniform(shape, maxval=dtype.max, dtype=dtype, seed=seed)

    return _random_part_of("random_crop", value, size, draw)


@api("image.stateless_random_crop")
def stateless_random_crop(value, size, seed, name=None) -> Tensor:
    """A random part of a tensor that depends on nothing but the arguments.

    Args:
        value: a tensor, of any rank.
        size: the size of the part along each axis.
        seed: two integers.
        name: accepted for compatibility.

    >>> tf.image.stateless_random_crop(tf.range(10), (3,), (1, 2)).numpy().tolist()
    [4, 5, 6]
    """

    def draw(shape, dtype):
        return uniform_and_normal.stateless_uniform(shape, seed, minval=0, maxval=dtype.max, dtype=dtype)

    return _random_part_of("stateless_random_crop", value, size, draw)
