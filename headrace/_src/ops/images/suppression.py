"""Non-maximum suppression: of boxes that overlap, only the best remain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.lazy import jax, jnp, lax
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import merging, one_by_one
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op, unregistered
from headrace._src.op.infer import SCALAR, with_rank
from headrace._src.op.lowering import NotLowerable
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.joining import CONCAT, PACK, UNPACK
from headrace._src.ops.arrays.measuring import SHAPE, known_value
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.images.suppression_kernels import lowered_suppress, select, soft_suppress, suppress

if TYPE_CHECKING:
    from headrace._src.attached import CombinedNonMaxSuppression

_WIDE = frozenset({dtypes.float16, dtypes.float32})


def _checked(op, boxes, scores, max_output_size, *thresholds):
    """The number of boxes wanted, once all shapes are seen to be right."""
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise errors.invalid_argument(f"{op}: boxes must have shape (number, 4), got shape {tuple(boxes.shape)}.")
    if scores.ndim != 1 or len(scores) != len(boxes):
        raise errors.invalid_argument(
            f"{op}: scores has incompatible shape: there must be one for each of {len(boxes)} boxes, got shape "
            f"{tuple(scores.shape)}."
        )
    return _checked_numbers(op, max_output_size, *thresholds)


def _checked_numbers(op, max_output_size, iou_threshold, *others):
    for what, value in (("max_output_size", max_output_size), ("iou_threshold", iou_threshold)):
        if np.ndim(value):
            raise errors.invalid_argument(f"{op}: {what} must be a scalar, got shape {np.shape(value)}.")
    for value in others:
        if np.ndim(value):
            raise errors.invalid_argument(f"{op}: thresholds must be scalars, got shape {np.shape(value)}.")
    if max_output_size < 0:
        raise errors.invalid_argument(f"{op}: max_output_size must be non-negative, got {int(max_output_size)}.")
    return int(max_output_size)


def _check_threshold(op, iou_threshold):
    if not 0 <= iou_threshold <= 1:
        raise errors.invalid_argument(f"{op}: iou_threshold must be in [0, 1], got {iou_threshold}.")


def _infer_inputs(op, boxes, scores):
    found = with_rank(boxes, 2, op, "boxes")
    count = with_rank(scores, 1, op, "scores")
    if found[1] not in (None, 4):
        raise errors.invalid_argument(f"{op}: boxes must have shape (number, 4), got shape {found}.")
    if None not in (found[0], count[0]) and found[0] != count[0]:
        raise errors.invalid_argument(f"{op}: boxes and scores must have equal lengths, got {found} and {count}.")


def _number_of(spec):
    return None if spec.value is None else max(int(spec.value), 0)


def _hard(op, boxes, scores, max_output_size, iou_threshold, score_threshold=-np.inf):
    most = _checked(op, boxes, scores, max_output_size, iou_threshold, score_threshold)
    _check_threshold(op, iou_threshold)
    return suppress(boxes, scores, most, iou_threshold, score_threshold)


def _infer_open(op):
    def infer(boxes, scores, *others, **attrs):
        _infer_inputs(op, boxes, scores)
        return TensorShape([None])

    return infer


# The number of boxes that remain is known only when they are: hence no lowering.
NON_MAX_SUPPRESSION = Op(
    "NonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size: int32, *, iou_threshold: float = 0.5 "
    "-> selected_indices: int32",
    infer=_infer_open("NonMaxSuppression"),
    kernel=lambda boxes, scores, max_output_size, iou_threshold: _hard(
        "NonMaxSuppression", boxes, scores, max_output_size, np.float32(iou_threshold)
    ),
    lower=None,
    grad=None,
)

NON_MAX_SUPPRESSION_V2 = Op(
    "NonMaxSuppressionV2",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32",
    T=_WIDE,
    T_threshold=_WIDE,
    infer=_infer_open("NonMaxSuppressionV2"),
    kernel=lambda *inputs: _hard("NonMaxSuppressionV2", *inputs),
    lower=None,
    grad=None,
)

NON_MAX_SUPPRESSION_V3 = Op(
    "NonMaxSuppressionV3",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold "
    "-> selected_indices: int32",
    T=_WIDE,
    T_threshold=_WIDE,
    infer=_infer_open("NonMaxSuppressionV3"),
    kernel=lambda *inputs: _hard("NonMaxSuppressionV3", *inputs),
    lower=None,
    grad=unregistered,
)


def _padded(values, length):
    result = np.zeros(length, values.dtype)
    result[: len(values)] = values
    return result


def _hard_padded(boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size):
    chosen = _hard("NonMaxSuppressionV4", boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = np.int32(len(chosen))
    return (_padded(chosen, int(max_output_size)) if pad_to_max_output_size else chosen), count


def _lower_hard_padded(
    ctx, boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size
):
    if not pad_to_max_output_size:
        raise NotLowerable("the number of boxes that remain is not known")
    most = _checked_numbers("NonMaxSuppressionV4", max_output_size, iou_threshold, score_threshold)
    inside = (iou_threshold >= 0) & (iou_threshold <= 1)
    ctx.check(inside, errors.InvalidArgumentError, "NonMaxSuppressionV4: iou_threshold must be in [0, 1].")
    indices, _, count = lowered_suppress(boxes, scores, most, iou_threshold, score_threshold)
    return indices, count


def _infer_padded(op, outputs):
    def infer(boxes, scores, max_output_size, *others, pad_to_max_output_size):
        _infer_inputs(op, boxes, scores)
        length = TensorShape([_number_of(max_output_size) if pad_to_max_output_size else None])
        return (*(length,) * outputs, SCALAR)

    return infer


NON_MAX_SUPPRESSION_V4 = Op(
    "NonMaxSuppressionV4",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold, *, "
    "pad_to_max_output_size: bool = False -> selected_indices: int32, valid_outputs: int32",
    T=_WIDE,
    T_threshold=_WIDE,
    infer=_infer_padded("NonMaxSuppressionV4", 1),
    kernel=_hard_padded,
    lower=_lower_hard_padded,
    static=("max_output_size",),
    grad=unregistered,
    vectorize=one_by_one,
)


def _soft(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, pad_to_max_output_size):
    op = "NonMaxSuppressionV5"
    most = _checked(op, boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    _check_threshold(op, iou_threshold)
    if soft_nms_sigma < 0:
        raise errors.invalid_argument(f"{op}: soft_nms_sigma must be non-negative, got {soft_nms_sigma}.")
    if soft_nms_sigma > 0:
        chosen, values = soft_suppress(boxes, scores, most, iou_threshold, score_threshold, soft_nms_sigma)
    else:
        chosen = suppress(boxes, scores, most, iou_threshold, score_threshold)
        values = scores[chosen]
    count = np.int32(len(chosen))
    if pad_to_max_output_size:
        chosen, values = _padded(chosen, most), _padded(values, most)
    return chosen, values, count


def _lower_soft(
    ctx, boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, pad_to_max_output_size
):
    if not pad_to_max_output_size:
        raise NotLowerable("the number of boxes that remain is not known")
    op = "NonMaxSuppressionV5"
    most = _checked_numbers(op, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    inside = (iou_threshold >= 0) & (iou_threshold <= 1)
    ctx.check(inside, errors.InvalidArgumentError, f"{op}: iou_threshold must be in [0, 1].")
    ctx.check(soft_nms_sigma >= 0, errors.InvalidArgumentError, f"{op}: soft_nms_sigma must be non-negative.")
    return lowered_suppress(boxes, scores, most, iou_threshold, score_threshold, soft_nms_sigma)


NON_MAX_SUPPRESSION_V5 = Op(
    "NonMaxSuppressionV5",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T, *, "
    "pad_to_max_output_size: bool = False -> selected_indices: int32, selected_scores: T, valid_outputs: int32",
    T=_WIDE,
    infer=_infer_padded("NonMaxSuppressionV5", 2),
    kernel=_soft,
    lower=_lower_soft,
    static=("max_output_size",),
    grad=unregistered,
    vectorize=one_by_one,
)


def _with_overlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold):
    op = "NonMaxSuppressionWithOverlaps"
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise errors.invalid_argument(f"{op}: overlaps must be a square matrix, got shape {overlaps.shape}.")
    if scores.ndim != 1 or len(scores) != len(overlaps):
        raise errors.invalid_argument(
            f"{op}: scores has incompatible shape: there must be {len(overlaps)}, got shape {scores.shape}."
        )
    most = _checked_numbers(op, max_output_size, overlap_threshold, score_threshold)
    close = overlaps > overlap_threshold
    return select(scores, score_threshold, most, lambda candidates, chosen: close[candidates[:, None], chosen])


def _infer_overlaps(overlaps, scores, *others):
    with_rank(overlaps, 2, "NonMaxSuppressionWithOverlaps", "overlaps")
    with_rank(scores, 1, "NonMaxSuppressionWithOverlaps", "scores")
    return TensorShape([None])


NON_MAX_SUPPRESSION_WITH_OVERLAPS = Op(
    "NonMaxSuppressionWithOverlaps",
    "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32",
    infer=_infer_overlaps,
    kernel=_with_overlaps,
    lower=None,
    grad=None,
)


# Several classes and images at once


def _check_combined(boxes, scores, per_class, total, iou_threshold, score_threshold):
    op = "CombinedNonMaxSuppression"
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise errors.invalid_argument(
            f"{op}: boxes must have shape (batch, number, classes or 1, 4), got shape {tuple(boxes.shape)}."
        )
    if scores.ndim != 3:
        raise errors.invalid_argument(
            f"{op}: scores must have shape (batch, number, classes), got shape {tuple(scores.shape)}."
        )
    if boxes.shape[:2] != scores.shape[:2] or boxes.shape[2] not in (1, scores.shape[2]):
        raise errors.invalid_argument(
            f"{op}: boxes and scores have incompatible shapes {tuple(boxes.shape)} and {tuple(scores.shape)}."
        )
    numbers = {
        "max_output_size_per_class": per_class, "max_total_size": total, "iou_threshold": iou_threshold,
        "score_threshold": score_threshold,
    }  # fmt: skip
    for what, value in numbers.items():
        if np.ndim(value):
            raise errors.invalid_argument(f"{op}: {what} must be a scalar, got shape {np.shape(value)}.")
    if per_class <= 0 or total <= 0:
        raise errors.invalid_argument(
            f"{op}: max_output_size_per_class and max_total_size must be > 0, got {int(per_class)} and {int(total)}."
        )


def _combined(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold,
    score_threshold,
    pad_per_class,
    clip_boxes,
):
    _check_combined(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold)
    _check_threshold("CombinedNonMaxSuppression", iou_threshold)
    batch, _, classes = scores.shape
    most, total = int(max_output_size_per_class), int(max_total_size)
    length = min(total, most * classes) if pad_per_class else total
    result_boxes = np.zeros((batch, length, 4), np.float32)
    result_scores = np.zeros((batch, length), np.float32)
    result_classes = np.zeros((batch, length), np.float32)
    counts = np.zeros(batch, np.int32)
    shared = boxes.shape[2] == 1
    for i in range(batch):
        found = []
        for c in range(classes):
            own = boxes[i, :, 0 if shared else c]
            chosen = suppress(own, scores[i, :, c], most, iou_threshold, score_threshold)
            found.append((own[chosen], scores[i, chosen, c], np.full(len(chosen), c, np.float32)))
        if not found:
            continue
        kept, values, names = (np.concatenate(parts) for parts in zip(*found))
        order = np.argsort(-values, kind="stable")[:length]
        n = counts[i] = len(order)
        result_boxes[i, :n] = np.clip(kept[order], 0, 1) if clip_boxes else kept[order]
        result_scores[i, :n] = values[order]
        result_classes[i, :n] = names[order]
    return result_boxes, result_scores, result_classes, counts


def _lower_combined(
    ctx,
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold,
    score_threshold,
    pad_per_class,
    clip_boxes,
):
    _check_combined(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold)
    inside = (iou_threshold >= 0) & (iou_threshold <= 1)
    ctx.check(inside, errors.InvalidArgumentError, "CombinedNonMaxSuppression: iou_threshold must be in [0, 1].")
    _, _, classes = scores.shape
    most, total = int(max_output_size_per_class), int(max_total_size)
    length = min(total, most * classes) if pad_per_class else total

    def one_class(own, values):
        indices, chosen, count = lowered_suppress(own, values, most, iou_threshold, score_threshold)
        there = jnp.arange(most) < count
        return own[indices], jnp.where(there, chosen, -jnp.inf)

    def one_image(own, values):
        own = jnp.broadcast_to(own, (own.shape[0], classes, 4))
        kept, chosen = jax.vmap(one_class, (1, 1))(own, values)
        chosen, kept = chosen.reshape(-1), kept.reshape(-1, 4)
        short = max(0, length - len(chosen))
        chosen = jnp.pad(chosen, (0, short), constant_values=-np.inf)
        kept = jnp.pad(kept, ((0, short), (0, 0)))
        names = jnp.pad(jnp.repeat(jnp.arange(classes), most), (0, short))
        best, order = lax.top_k(chosen, length)
        there = best > -jnp.inf
        kept = jnp.where(there[:, None], jnp.clip(kept[order], 0, 1) if clip_boxes else kept[order], 0)
        names = jnp.where(there, names[order], 0).astype(jnp.float32)
        return kept, jnp.where(there, best, 0), names, there.sum().astype(jnp.int32)

    return jax.vmap(one_image)(boxes, scores)


def _infer_combined(
    boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold, pad_per_class, clip_boxes
):
    op = "CombinedNonMaxSuppression"
    found = with_rank(boxes, 4, op, "boxes")
    values = with_rank(scores, 3, op, "scores")
    batch = values[0] if found[0] is None else found[0]
    length = _number_of(max_total_size)
    if pad_per_class:
        most = _number_of(max_output_size_per_class)
        classes = values[2]
        length = None if None in (length, most, classes) else min(length, most * classes)
    shape = TensorShape([batch, length])
    return TensorShape([batch, length, 4]), shape, shape, TensorShape([batch])


COMBINED_NON_MAX_SUPPRESSION = Op(
    "CombinedNonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float32, score_threshold: float32, *, pad_per_class: bool = False, clip_boxes: bool = True "
    "-> nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32",
    infer=_infer_combined,
    kernel=_combined,
    lower=_lower_combined,
    static=("max_output_size_per_class", "max_total_size"),
    grad=unregistered,
    vectorize=merging(2),
)


@api("image.non_max_suppression")
def non_max_suppression(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None
) -> Tensor:
    """Indices of boxes, best first, without those that overlap a better one too much.

    Args:
        boxes: (number, 4): for each box two opposite corners as y, x, y, x.
        scores: how good each box is.
        max_output_size: how many boxes to keep at most.
        iou_threshold: how much of the union of two boxes may be their intersection.
        score_threshold: boxes must have a higher score.
        name: a name for the operation.

    Returns:
        A vector of indices.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.8], 5).numpy().tolist()
    [1, 2]
    """
    return NON_MAX_SUPPRESSION_V3(boxes, scores, max_output_size, iou_threshold, score_threshold, name=name)


@api("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    soft_nms_sigma=0.0,
    name=None,
) -> tuple[Tensor, Tensor]:
    """Like `tf.image.non_max_suppression`, also in the soft form, in which overlaps only lower the score.

    Args:
        boxes: (number, 4): for each box two opposite corners as y, x, y, x.
        scores: how good each box is.
        max_output_size: how many boxes to keep at most.
        iou_threshold: how much of the union of two boxes may be their intersection.
        score_threshold: boxes must have a higher score.
        soft_nms_sigma: greater than 0: scores are multiplied by `exp(-overlap ** 2 / (2 * sigma))` instead.
        name: a name for the operation.

    Returns:
        Indices, and scores.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
    >>> indices, scores = tf.image.non_max_suppression_with_scores(boxes, [0.5, 0.9, 0.8], 5)
    >>> indices.numpy().tolist()
    [1, 2]
    """
    indices, values, _ = NON_MAX_SUPPRESSION_V5(
        boxes,
        scores,
        max_output_size,
        iou_threshold,
        score_threshold,
        soft_nms_sigma,
        pad_to_max_output_size=False,
        name=name,
    )
    return indices, values


@api("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"), name=None
) -> Tensor:
    """Like `tf.image.non_max_suppression`, with given overlaps.

    Args:
        overlaps: (number, number): how much any two boxes overlap.
        scores: how good each box is.
        max_output_size: how many boxes to keep at most.
        overlap_threshold: how much boxes may overlap.
        score_threshold: boxes must have a higher score.
        name: a name for the operation.

    >>> tf.image.non_max_suppression_overlaps([[1.0, 0.7], [0.7, 1.0]], [0.5, 0.9], 5).numpy().tolist()
    [1]
    """
    return NON_MAX_SUPPRESSION_WITH_OVERLAPS(
        overlaps, scores, max_output_size, overlap_threshold, score_threshold, name=name
    )


@api("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
    sorted_input=False,
    canonicalized_coordinates=False,
    tile_size=512,
) -> tuple[Tensor, Tensor]:
    """Like `tf.image.non_max_suppression`, for batches, with a number of results that is known beforehand.

    Args:
        boxes: (..., number, 4): for each box two opposite corners as y, x, y, x.
        scores: (..., number): how good each box is.
        max_output_size: how many boxes to keep at most.
        iou_threshold: how much of the union of two boxes may be their intersection.
        score_threshold: boxes must have a higher score.
        pad_to_max_output_size: fill up with zeros; needed for batches.
        name: accepted for compatibility.
        sorted_input, canonicalized_coordinates, tile_size: accepted; they change no result.

    Returns:
        Indices, and how many of them are valid.

    Raises:
        ValueError: batches without `pad_to_max_output_size`.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
    >>> indices, valid = tf.image.non_max_suppression_padded(boxes, [0.5, 0.9, 0.8], 3, pad_to_max_output_size=True)
    >>> indices.numpy().tolist(), int(valid)
    ([1, 2, 0], 2)
    """
    boxes, scores = to_tensor(boxes, name="boxes"), to_tensor(scores, name="scores")
    flag = to_tensor(sorted_input)
    if flag.dtype is not dtypes.bool:
        raise TypeError(f"sorted_input must be a bool, got {flag.dtype.name}.")
    rank = boxes.shape.rank
    if rank is None:
        raise ValueError("image.non_max_suppression_padded: the rank of boxes must be known.")
    if not pad_to_max_output_size and rank != 2:
        raise ValueError(
            "image.non_max_suppression_padded: pad_to_max_output_size must be True for batches, got boxes of shape "
            f"{boxes.shape}."
        )
    if isinstance(max_output_size, int) and max_output_size >= 2**31:
        raise TypeError(f"max_output_size must be less than 2**31, got {max_output_size}.")
    most = to_tensor(max_output_size, dtypes.int32)
    limits = [cast(to_tensor(limit), boxes.dtype) for limit in (iou_threshold, score_threshold)]

    def one(inputs):
        indices, count = NON_MAX_SUPPRESSION_V4(
            inputs[0], inputs[1], most, *limits, pad_to_max_output_size=pad_to_max_output_size
        )
        return indices, count

    if rank == 2:
        return one((boxes, scores))
    front = SHAPE(boxes)[:-2]
    flat = [
        RESHAPE(x, CONCAT([to_tensor([-1]), SHAPE(x)[rank - 2 :]], 0))
        for x in (boxes, scores)
    ]
    if context.graph is not None:
        indices, counts = context.graph.map_fn(one, tuple(flat), (dtypes.int32, dtypes.int32))
    else:
        indices, counts = _of_each(one, *flat)
    wanted = known_value(most)
    length = to_tensor([int(wanted)]) if wanted is not None else EXPAND_DIMS(most, 0)
    indices = RESHAPE(indices, CONCAT([front, length], 0))
    return indices, RESHAPE(counts, front)


def _of_each(function, boxes, scores):
    """The pairs that a function gives for each element along the first axis, stacked."""
    count = boxes.shape[0]
    if scores.shape[0] != count:
        raise ValueError(
            f"image.non_max_suppression_padded: boxes and scores must have as many elements, got {count} and "
            f"{scores.shape[0]}."
        )
    if not count:
        nothing = to_tensor(np.zeros(0, np.int32))
        return nothing, nothing
    each = zip(UNPACK(boxes, num=count, axis=0), UNPACK(scores, num=count, axis=0))
    return [PACK(results, axis=0) for results in zip(*map(function, each))]


@api("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
) -> CombinedNonMaxSuppression:
    """The best boxes of several images over all classes, after suppression within each class.

    Args:
        boxes: (batch, number, classes, 4), or (batch, number, 1, 4) for boxes that all classes share.
        scores: (batch, number, classes).
        max_output_size_per_class: how many boxes of a class to keep at most.
        max_total_size: how many boxes of an image to keep at most.
        iou_threshold: how much of the union of two boxes may be their intersection.
        score_threshold: boxes must have a higher score.
        pad_per_class: let results be no longer than `max_output_size_per_class` times classes.
        clip_boxes: clip coordinates to [0, 1].
        name: a name for the operation.

    Returns:
        Boxes, scores, classes, and for each image how many of them are valid; the others are zeros.

    >>> boxes, scores = tf.constant([[[[0.0, 0.0, 1.0, 1.0]]]]), tf.constant([[[0.3, 0.9]]])
    >>> tf.image.combined_non_max_suppression(boxes, scores, 1, 2).nmsed_classes.numpy().tolist()
    [[1.0, 0.0]]
    """
    return COMBINED_NON_MAX_SUPPRESSION(
        boxes,
        scores,
        max_output_size_per_class,
        max_total_size,
        iou_threshold,
        score_threshold,
        pad_per_class=pad_per_class,
        clip_boxes=clip_boxes,
        name=name,
    )
