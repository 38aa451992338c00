"""Rows of boxes in images: suppression, crops, drawing, glimpses, random parts."""

from rows import each, integers, normal, row, uniform, value

_BOXES = value([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101],
                [1, 101, 0, 100], [5, 5, 5, 8]])  # fmt: skip
_SCORES = value([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.3, 0.2])
_NMS = "tf.image.non_max_suppression"
# TensorFlow orders the corners of all boxes as those of the first one need it.
_ORDERED = "tf.concat([b[..., :2], b[..., :2] + 0.5 * b[..., 2:]], -1)"


def nms(call, count=40, **options):
    return row(call, b=uniform(0, 1, count, 4), s=uniform(0, 1, count), grad=False, **options)


def sample(arguments, seed):
    return row(f"tf.image.stateless_sample_distorted_bounding_box({arguments}, seed={seed})", grad=False, lower=False,
               b=value([[[0.1, 0.2, 0.6, 0.7], [0.4, 0.5, 0.9, 1.0]]], "float32"))  # fmt: skip


def crop(arguments, image=(2, 5, 6, 3), **options):
    options.setdefault("b", value([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.8], [0.93, 0.83, 0.11, 0.17], [-0.3, 0.5, 0.53, 1.4]], "float32"))
    options.setdefault("i", value([0, 1, 1, 0], "int32"))
    return row(f"tf.image.crop_and_resize(a, b, i, {arguments})", a=uniform(0, 9, *image), fd=False, **options)


ROWS = [
    # Suppression
    *each("float16 float32", f"[{_NMS}(b, s, n) for n in (0, 1, 3, 30)]", b=_BOXES, s=_SCORES, grad=False),
    *(row(f"{_NMS}(b, s, 30, iou_threshold={t}, score_threshold={m})", b=_BOXES, s=_SCORES, grad=False)
      for t in (0.0, 0.3, 0.5, 1.0) for m in (0.0, 0.5, 2.0)),
    *(nms(f"{_NMS}(b, s, {n}, {t})", count) for n, t in ((10, 0.5), (300, 0.2), (70, 0.7)) for count in (0, 1, 64, 300)),
    nms(f"{_NMS}(b, tf.round(s * 4), 50, 0.4)", 60),
    nms(f"{_NMS}(b, s, 900, 0.6)", 900),
    row(f"{_NMS}(b, s, 5, iou_threshold=1.5)", b=_BOXES, s=_SCORES),
    row(f"{_NMS}(b, s, 5, iou_threshold=-0.1)", b=_BOXES, s=_SCORES),
    row(f"{_NMS}(b, s, -1)", b=_BOXES, s=_SCORES),
    row(f"{_NMS}(b, s[:3], 5)", b=_BOXES, s=_SCORES),
    row(f"{_NMS}(b[:, :3], s, 5)", b=_BOXES, s=_SCORES),
    row(f"{_NMS}(b, s, [5])", b=_BOXES, s=_SCORES),
    row(f"{_NMS}(b, s, 5, [0.5])", b=_BOXES, s=_SCORES),
    row("tf.raw_ops.NonMaxSuppression(boxes=b, scores=s, max_output_size=4, iou_threshold=0.3), "
        "tf.raw_ops.NonMaxSuppressionV2(boxes=b, scores=s, max_output_size=4, iou_threshold=0.3)", b=_BOXES, s=_SCORES, grad=False),
    *(nms(f"{_NMS}_with_scores(b, s, 20, 0.5, 0.1, soft_nms_sigma={sigma})", lower=False) for sigma in (0.0, 0.3, 0.5, 2.0)),
    nms(f"{_NMS}_with_scores(b, s, 40, 0.3, 0.05, soft_nms_sigma=0.5)", lower=False),
    row(f"{_NMS}_with_scores(b, s, 6, 0.5, 0.0, soft_nms_sigma=0.5)", b=_BOXES, s=_SCORES, grad=False, lower=False),
    row(f"{_NMS}_with_scores(b, s, 6, 0.5, 0.0, soft_nms_sigma=-0.5)", b=_BOXES, s=_SCORES),
    *(row(f"tf.raw_ops.NonMaxSuppressionV5(boxes=b, scores=s, max_output_size=7, iou_threshold=0.4, score_threshold=0.25, "
          f"soft_nms_sigma={sigma}, pad_to_max_output_size=True)", b=_BOXES, s=_SCORES, grad=False) for sigma in (0.0, 0.5)),
    *(nms(f"{_NMS}_padded({_ORDERED}, s, 12, 0.5, 0.1, pad_to_max_output_size={p})", 30, lower=p) for p in (True, False)),
    *(row(f"tf.raw_ops.NonMaxSuppressionV4(boxes=b, scores=s, max_output_size=7, iou_threshold=0.4, score_threshold=0.25, "
          f"pad_to_max_output_size={p})", b=_BOXES, s=_SCORES, grad=False, lower=p) for p in (True, False)),
    row(f"{_NMS}_padded({_ORDERED}, s, 12, 0.5, 0.1, pad_to_max_output_size=True)", b=uniform(0, 1, 3, 20, 4), s=uniform(0, 1, 3, 20),
        grad=False),
    row(f"{_NMS}_padded({_ORDERED}, s, 5, 0.3, pad_to_max_output_size=True)", b=uniform(0, 1, 2, 2, 20, 4), s=uniform(0, 1, 2, 2, 20),
        grad=False),
    row(f"{_NMS}_padded(b, s, 12)", b=uniform(0, 1, 3, 20, 4), s=uniform(0, 1, 3, 20)),
    *(row(f"{_NMS}_overlaps(o, s, {n}, {t}, {m})", o=uniform(0, 1, 20, 20), s=uniform(0, 1, 20), grad=False)
      for n, t, m in ((10, 0.5, 0.0), (20, 0.9, 0.3), (5, 0.97, 0.0))),
    row(f"{_NMS}_overlaps(o, s, 3)", o=uniform(0, 1, 20, 21), s=uniform(0, 1, 20)),
    *(row(f"tf.image.combined_non_max_suppression(b, s, {m}, {n}, {t}, {lowest}, pad_per_class={p}, clip_boxes={c})",
          b=uniform(-0.2, 1.2, 2, 15, q, 4), s=uniform(0, 1, 2, 15, 3), grad=False)
      for m, n, t, lowest, p, c, q in ((4, 9, 0.5, 0.2, False, True, 1), (4, 30, 0.3, 0.0, True, False, 3),
                                       (2, 4, 0.6, 0.9, True, True, 3), (20, 20, 0.1, 0.5, False, False, 1))),
    row("tf.image.combined_non_max_suppression(b, s, 4, 9)", b=uniform(0, 1, 2, 15, 2, 4), s=uniform(0, 1, 2, 15, 3)),
    row("tf.image.combined_non_max_suppression(b, s, 0, 9)", b=uniform(0, 1, 2, 15, 1, 4), s=uniform(0, 1, 2, 15, 3)),
    row("tf.image.generate_bounding_box_proposals(s, d, [[50.0, 40.0, 1.0, 0.0, 0.0]], 20 * b, post_nms_topn=4, min_size=1)",
        s=uniform(0, 1, 1, 2, 3, 2), d=normal(1, 2, 3, 8), b=uniform(0, 1, 2, 4), grad=False,
        ours="TensorFlow has a kernel for GPUs only"),
    # Crops
    *(crop(f"[{h}, {w}], method={method!r}") for h, w in ((3, 4), (1, 1), (7, 2)) for method in ("bilinear", "nearest")),
    crop("[3, 3], extrapolation_value=-7.5"),
    *each("uint8 uint16 int8 int16 int32 int64 float16 float64", "tf.image.crop_and_resize(a, [[0.1, 0.2, 0.9, 1.1]], [1], [3, 4])",
          a=uniform(0, 9, 2, 5, 6, 1), fd=False),
    crop("[0, 3]"),
    crop("[3]"),
    crop("[3, 3], method='cubic'"),
    crop("[3, 3]", i=value([0, 1, 2, 0], "int32")),
    crop("[3, 3]", i=value([0, -1, 1, 0], "int32")),
    crop("[3, 3]", i=value([0, 1], "int32")),
    crop("[3, 3]", b=value([[0, 1, 0.5]] * 4, "float32")),
    crop("[3, 3]", image=(5, 6, 3)),
    row("tf.image.crop_and_resize(a, b, i, [3, 3])", a=uniform(0, 9, 2, 5, 6, 3), b=normal(0, 4), i=integers(0, 1, 0), grad=False),
    row("tf.compat.v1.image.crop_and_resize(a, b, box_ind=[0], crop_size=[3, 3])", a=uniform(0, 9, 2, 5, 6, 3), b=uniform(0, 1, 1, 4),
        fd=False),
    *each("float16 float32 float64", "tf.raw_ops.CropAndResizeGradImage(grads=g, boxes=[[0.1, 0.2, 0.9, 1.1]], box_ind=[1], "
          "image_size=[2, 5, 6, 1], T=tf.{T})", g=normal(1, 4, 3, 1, dtype="float32"), grad=False),
    row("tf.raw_ops.CropAndResizeGradBoxes(grads=g, image=a, boxes=[[0.1, 0.2, 0.9, 1.1]], box_ind=[1])",
        a=uniform(0, 9, 2, 5, 6, 2), g=normal(1, 4, 3, 2), grad=False),
    # Drawing
    *(row(f"tf.image.draw_bounding_boxes(a, b, {colors})", a=uniform(0, 1, 2, 9, 12, channels), grad=False,
          b=value([[[0.1, 0.1, 0.6, 0.7], [0.5, 0.5, 1.5, 1.2], [-0.2, -0.3, 0.3, 0.2]],
                   [[1.1, 1.1, 1.2, 1.3], [0.6, 0.6, 0.4, 0.4], [0.0, 0.2, 1.0, 0.9]]], "float32"))
      for channels in (1, 3, 4) for colors in ("None", "[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]]")),
    row("tf.image.draw_bounding_boxes(a, tf.tile([[[0.3, 0.3, 0.6, 0.6]]], [1, 11, 1]) + tf.reshape(tf.range(11.0), [1, 11, 1]) / 40, "
        "None)", a=uniform(0, 1, 1, 30, 30, 3), grad=False),
    row("tf.image.draw_bounding_boxes(a, [[[0.1, 0.1, 0.6, 0.7]]], None)", a=uniform(0, 1, 1, 9, 12, 3), dtype="float16", grad=False),
    row("tf.compat.v1.image.draw_bounding_boxes(a, [[[0.1, 0.1, 0.6, 0.7]]])", a=uniform(0, 1, 1, 9, 12, 3), grad=False),
    *(row(f"tf.image.draw_bounding_boxes(a, {b}, {c})", a=uniform(0, 1, 1, 9, 12, 3)) for b, c in
      (("[[[0.0, 0.0, 0.5]]]", None), ("[[[0.0, 0.0, 0.5, 0.5]]]", "[[1.0, 2.0]]"), ("[[0.0, 0.0, 0.5, 0.5]]", None),
       ("[[[0.0, 0.0, 0.5, 0.5]]] * 2", None), ("[[[0.0, 0.0, 0.5, 0.5]]]", "[1.0, 2.0, 3.0]"))),
    row("tf.image.draw_bounding_boxes(a, [[[0.0, 0.0, 0.5, 0.5]]], None)", a=uniform(0, 1, 1, 9, 12, 2)),
    # Glimpses
    *(row(f"tf.image.extract_glimpse(a, [3, 4], o, centered={c}, normalized={n}, noise='zero')", a=uniform(0, 1, 3, 5, 6, 2),
          o=value([[0, 0], [0.5, -0.5], [-2, 1]], "float32"), grad=False) for c in (True, False) for n in (True, False)),
    *(row(f"tf.raw_ops.ExtractGlimpse(input=a, size=[3, 4], offsets=o, centered={c}, normalized={n}, uniform_noise=False, "
          "noise='zero')", a=uniform(0, 1, 3, 5, 6, 2), o=value([[0, 0], [0.5, -0.5], [-2, 1]], "float32"), grad=False)
      for c in (True, False) for n in (True, False)),
    row("tf.image.extract_glimpse(a, [3, 3], [[0.0, 0.0]], noise='uniform')", a=uniform(0, 1, 1, 9, 9, 1), grad=False),
    row("tf.compat.v1.image.extract_glimpse(a, [3, 3], [[0.0, 0.0]], uniform_noise=False)", a=uniform(0, 1, 1, 9, 9, 1), grad=False),
    *(row(f"tf.image.extract_glimpse(a, {size}, {offsets}, noise={noise!r})", a=uniform(0, 1, 1, 9, 9, 1)) for size, offsets, noise in
      (("[3]", "[[0.0, 0.0]]", "zero"), ("[3, 3]", "[[0.0, 0.0]] * 2", "zero"), ("[3, 3]", "[[0.0]]", "zero"),
       ("[3, 3]", "[[0.0, 0.0]]", "pink"))),
    # Random parts
    *(sample("[50, 70, 3], b", (1, seed)) for seed in range(8)),
    *(sample("[50, 70, 3], b, min_object_covered=0.9", (2, seed)) for seed in range(3)),
    *(sample("[333, 500, 3], b, aspect_ratio_range=[0.5, 2.0], area_range=[0.3, 0.6]", (3, seed)) for seed in range(5)),
    sample("[10, 10, 3], b, aspect_ratio_range=[20.0, 30.0], max_attempts=5", (3, 4)),
    *(sample(f"[10, 20, 3], tf.zeros([0, 0, 4]), use_image_if_no_bounding_boxes={u}", (3, 4)) for u in (True, False)),
    *(sample(arguments, (3, 4)) for arguments in
      ("[10, 20], b", "[10, 20, 3], b[0]", "[10, 20, 3], b * 2", "[0, 20, 3], b", "[10, 20, 3], 1 - b",
       "[10, 20, 3], b, aspect_ratio_range=[1.0]", "[10, 20, 3], b, area_range=[0.1, 1.5]", "[10, 20, 3], b, max_attempts=0",
       "[10, 20, 3], b, min_object_covered=-0.5")),
    row("tf.image.stateless_sample_distorted_bounding_box(tf.constant([40, 60, 3], tf.int64), b, seed=(1, 2))",
        b=value([[[0.1, 0.2, 0.6, 0.7]]], "float32"), grad=False),
    row("tf.random.set_seed(5)\nresult = [tf.image.sample_distorted_bounding_box([40, 60, 3], b, seed=3) for _ in range(4)]",
        b=value([[[0.1, 0.2, 0.6, 0.7]]], "float32"), grad=False, lower=False),
    row("tf.random.set_seed(5)\nresult = [tf.compat.v1.image.sample_distorted_bounding_box([40, 60, 3], b, seed=3, seed2=9) for _ in range(3)]",
        b=value([[[0.1, 0.2, 0.6, 0.7]]], "float32"), grad=False, lower=False),
    row("tf.random.set_seed(5)\nresult = [tf.raw_ops.SampleDistortedBoundingBox(image_size=[40, 60, 3], bounding_boxes=b, seed=3, "
        "seed2=4) for _ in range(3)]", b=value([[[0.1, 0.2, 0.6, 0.7]]], "float32"), grad=False, lower=False),
]  # fmt: skip
