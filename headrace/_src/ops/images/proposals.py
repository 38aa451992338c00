"""Proposals of boxes from anchors, as two-stage object detectors make them: GenerateBoundingBoxProposals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import with_rank
from headrace._src.ops.images.suppression_kernels import suppress

if TYPE_CHECKING:
    from headrace._src.attached import GenerateBoundingBoxProposals

f32 = np.float32
# TF: changes of size are limited to this, as in the networks that the op is made for.
_LARGEST_GROWTH = f32(math.log(1000 / 16))


def _checked(scores, bbox_deltas, image_info, anchors, pre_nms_topn, post_nms_topn):
    op = "GenerateBoundingBoxProposals"
    if scores.ndim != 4:
        raise errors.invalid_argument(f"{op}: scores must have 4 dimensions, got shape {scores.shape}.")
    images, height, width, count = scores.shape
    if bbox_deltas.shape != (images, height, width, 4 * count):
        raise errors.invalid_argument(
            f"{op}: bbox_deltas must have shape {(images, height, width, 4 * count)}, got {bbox_deltas.shape}."
        )
    if image_info.ndim != 2 or image_info.shape[0] != images or image_info.shape[1] < 3:
        raise errors.invalid_argument(
            f"{op}: image_info must have height, width and scale for each of {images} images, got shape "
            f"{image_info.shape}."
        )
    if anchors.size not in (height * width * count * 4, count * 4):
        raise errors.invalid_argument(
            f"{op}: anchors must be 4 numbers for each of {count} anchors, at each place or once for all, got shape "
            f"{anchors.shape}."
        )
    if pre_nms_topn <= 0 or post_nms_topn <= 0:
        raise errors.invalid_argument(
            f"{op}: pre_nms_topn and post_nms_topn must be positive, got {int(pre_nms_topn)} and {post_nms_topn}."
        )


def _decoded(deltas, anchors, image_height, image_width):
    """Boxes from anchors and their changes, cut off at the image's edges."""
    low, high = anchors[:, :2], anchors[:, 2:]
    side = high - low
    center = low + f32(0.5) * side + side * deltas[:, :2]
    half = f32(0.5) * side * np.exp(np.minimum(deltas[:, 2:], _LARGEST_GROWTH))
    limit = np.array([image_height, image_width], f32)
    return np.concatenate([np.clip(center - half, 0, limit), np.clip(center + half, 0, limit)], 1)


def _proposals(
    scores, bbox_deltas, image_info, anchors, nms_threshold, pre_nms_topn, min_size, post_nms_topn
):
    _checked(scores, bbox_deltas, image_info, anchors, pre_nms_topn, post_nms_topn)
    images, height, width, count = scores.shape
    anchors = anchors.reshape(-1, 4)
    if len(anchors) == count:
        anchors = np.tile(anchors, (height * width, 1))
    rois = np.zeros((images, post_nms_topn, 4), f32)
    probabilities = np.zeros((images, post_nms_topn), f32)
    for i in range(images):
        values = scores[i].ravel()
        best = np.argsort(-values, kind="stable")[: int(pre_nms_topn)]
        rows, columns, scale = image_info[i, :3]
        boxes = _decoded(bbox_deltas[i].reshape(-1, 4)[best], anchors[best], rows, columns)
        large = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) >= min_size * scale
        boxes, kept = boxes[large], values[best][large]
        chosen = suppress(boxes, kept, post_nms_topn, nms_threshold, f32(-np.inf))
        rois[i, : len(chosen)] = boxes[chosen]
        probabilities[i, : len(chosen)] = kept[chosen]
    return rois, probabilities


def _infer(scores, bbox_deltas, image_info, anchors, nms_threshold, pre_nms_topn, min_size, post_nms_topn):
    images = with_rank(scores, 4, "GenerateBoundingBoxProposals", "scores")[0]
    return TensorShape([images, post_nms_topn, 4]), TensorShape([images, post_nms_topn])


GENERATE_BOUNDING_BOX_PROPOSALS = Op(
    "GenerateBoundingBoxProposals",
    "scores: float32, bbox_deltas: float32, image_info: float32, anchors: float32, nms_threshold: float32, "
    "pre_nms_topn: int32, min_size: float32, *, post_nms_topn: int = 300 -> rois: float32, roi_probabilities: float32",
    infer=_infer,
    kernel=_proposals,
    lower=None,  # how many boxes are large enough depends on the data
    grad=None,
)


@api("image.generate_bounding_box_proposals")
def generate_bounding_box_proposals(
    scores,
    bbox_deltas,
    image_info,
    anchors,
    nms_threshold=0.7,
    pre_nms_topn=6000,
    min_size=16,
    post_nms_topn=300,
    name=None,
) -> GenerateBoundingBoxProposals:
    """The best boxes that a region proposal network finds.

    TensorFlow has this op for GPUs only.

    Args:
        scores: (images, height, width, anchors).
        bbox_deltas: (images, height, width, 4 * anchors): how each box differs from its anchor, as dy, dx (in sizes
            of the anchor) and the logarithms of the changes of height and width.
        image_info: (images, 5): height, width and scale of each image; the rest is ignored.
        anchors: boxes y1, x1, y2, x2: (height, width, anchors, 4), or (anchors, 4) for all places.
        nms_threshold: how much boxes may overlap.
        pre_nms_topn: how many boxes to look at.
        min_size: boxes whose shorter side is less than this, times the scale, are left out.
        post_nms_topn: how many boxes to return.
        name: a name for the operation.

    Returns:
        `rois`, (images, post_nms_topn, 4), and `roi_probabilities`, filled up with zeros.

    >>> info, anchor = [[50.0, 40.0, 1.0, 0.0, 0.0]], [[10.0, 10.0, 30.0, 60.0]]
    >>> rois, _ = tf.image.generate_bounding_box_proposals(
    ...     [[[[0.9]]]], tf.zeros((1, 1, 1, 4)), info, anchor, post_nms_topn=1)
    >>> rois.numpy().tolist()
    [[[10.0, 10.0, 30.0, 40.0]]]
    """
    return GENERATE_BOUNDING_BOX_PROPOSALS(
        to_tensor(scores, name="scores"),
        bbox_deltas,
        image_info,
        anchors,
        nms_threshold,
        pre_nms_topn,
        min_size,
        post_nms_topn=post_nms_topn,
        name=name,
    )
