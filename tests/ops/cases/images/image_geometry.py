"""Rows of flips, turns, crops, paddings and patches of images."""

from rows import each, integers, normal, row, value

_TYPES = "uint8 int32 float16 float32 float64"

ROWS = [
    *each(_TYPES, "tf.image.flip_left_right(a), tf.image.flip_up_down(a), tf.image.transpose(a), tf.image.rot90(a)",
          a=normal(3, 4, 2)),
    *each("float32", "tf.image.flip_left_right(a), tf.image.flip_up_down(a), tf.image.transpose(a), tf.image.rot90(a)",
          a=normal(2, 3, 4, 2)),
    *(row(f"tf.image.rot90(a, {k})", a=normal(*shape)) for k in (-1, 0, 1, 2, 3, 4, 7) for shape in ((2, 3, 1), (2, 3, 4, 2))),
    row("tf.image.rot90(a, k)", a=normal(2, 3, 1), k=value(3, "int32")),
    row("tf.image.rot90(a, tf.constant(2))", a=normal(2, 3, 1)),
    row("tf.image.rot90(a, [1, 2])", a=normal(2, 3, 1)),
    *(row(f"tf.image.{name}(a)", a=normal(2, 3)) for name in
      ("flip_left_right", "flip_up_down", "transpose", "rot90", "random_flip_left_right")),
    *(row(f"tf.image.{name}(a)", a=normal(1, 2, 3, 4, 2)) for name in
      ("flip_left_right", "flip_up_down", "transpose", "rot90", "random_flip_up_down")),
    *(row(f"tf.image.{name}(a)", a=normal(0, 3, 2)) for name in ("flip_left_right", "transpose", "rot90")),
    row("tf.image.flip_left_right(a)", a=normal(0, 2, 3, 2)),
    *(row(f"tf.image.stateless_random_{name}(a, seed={seed})", a=normal(*shape)) for name in
      ("flip_left_right", "flip_up_down") for seed in ((1, 2), (5, 6), (-3, 9)) for shape in ((2, 3, 1), (5, 2, 3, 1))),
    row("tf.image.stateless_random_flip_left_right(a, seed=(3, 4))", a=integers(0, 255, 6, 2, 3, 1, dtype="uint8")),
    *(row(f"tf.random.set_seed({seed})\nresult = [tf.image.random_{name}(a) for _ in range(6)]", a=normal(2, 3, 1), lower=False)
      for name in ("flip_left_right", "flip_up_down") for seed in (1, 5)),
    row("tf.random.set_seed(3)\nresult = [tf.image.random_flip_left_right(a, seed=8) for _ in range(3)]",
        a=normal(5, 2, 3, 1), lower=False),
    # Crops and paddings
    *each(_TYPES, "tf.image.crop_to_bounding_box(a, 1, 2, 2, 3)", a=normal(4, 6, 2)),
    *each(_TYPES, "tf.image.pad_to_bounding_box(a, 1, 2, 7, 9)", a=normal(4, 6, 2)),
    *(row(f"tf.image.crop_to_bounding_box(a, {box})", a=normal(2, 4, 6, 2)) for box in
      ("0, 0, 4, 6", "1, 2, 2, 3", "3, 5, 1, 1", "tf.constant(1), 2, tf.constant(2), 3",
       "0, 0, 5, 6", "0, 4, 4, 3", "-1, 0, 2, 2", "0, -1, 2, 2", "0, 0, 0, 2", "0, 0, 2, 0", "0, 0, -1, 2")),
    *(row(f"tf.image.pad_to_bounding_box(a, {box})", a=normal(2, 4, 6, 2)) for box in
      ("0, 0, 4, 6", "1, 2, 9, 8", "tf.constant(1), 2, tf.constant(9), 8",
       "0, 0, 3, 6", "0, 0, 4, 5", "-1, 0, 6, 6", "0, -1, 6, 6", "3, 0, 6, 6")),
    *(row(f"tf.image.resize_with_crop_or_pad(a, {h}, {w})", a=normal(*shape)) for h, w in
      ((2, 3), (7, 8), (2, 9), (8, 3), (4, 6), (3, 7), (1, 1)) for shape in ((4, 6, 2), (2, 5, 5, 1))),
    row("tf.image.resize_with_crop_or_pad(a, tf.constant(2), tf.constant(9))", a=normal(4, 6, 2)),
    *(row(f"tf.image.resize_with_crop_or_pad(a, {h}, {w})", a=normal(4, 6, 2)) for h, w in ((0, 3), (3, 0), (-1, 2))),
    row("tf.image.resize_with_crop_or_pad(a, 2, 2)", a=normal(4, 6)),
    *(row(f"tf.image.central_crop(a, {fraction})", a=normal(*shape)) for fraction in
      (0.1, 0.3333, 0.5, 0.75, 0.9, 1.0, 1) for shape in ((4, 7, 2), (2, 5, 6, 1))),
    *(row(f"tf.image.central_crop(a, {fraction})", a=normal(4, 7, 2)) for fraction in (0.0, -0.5, 1.5)),
    row("tf.image.central_crop(a, tf.constant(0.5))", a=normal(4, 7, 2)),
    row("tf.image.central_crop(a, 0.5)", a=normal(4, 7)),
    row("tf.image.crop_to_bounding_box(a, 0, 0, 1, 1)", a=normal(4, 7)),
    # Patches
    *(row(f"tf.image.extract_patches(a, [1, {k}, 2, 1], [1, {s}, 1, 1], [1, {r}, 1, 1], {p!r})", a=normal(2, 6, 5, 2))
      for k, s, r, p in ((2, 1, 1, "SAME"), (3, 2, 1, "VALID"), (2, 1, 2, "SAME"), (3, 3, 1, "SAME"))),
    row("tf.compat.v1.image.extract_image_patches(a, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], "
        "padding='VALID')", a=normal(1, 4, 4, 1)),
    # Random crops
    *(row(f"tf.image.stateless_random_crop(a, {size}, seed={seed})", a=normal(6, 7, 3)) for size in ([2, 3, 3], [6, 1, 2])
      for seed in ((1, 2), (9, 0))),
    row("tf.image.stateless_random_crop(a, [2, 8, 3], seed=(1, 2))", a=normal(6, 7, 3)),
    row("tf.image.random_crop(a, [7, 7, 3])", a=normal(6, 7, 3)),
    row("tf.random.set_seed(4)\nresult = [tf.image.random_crop(a, [2, 3, 3]) for _ in range(4)]", a=normal(6, 7, 3), lower=False),
    row("tf.random.set_seed(4)\nresult = [tf.compat.v1.random_crop(a, [3], seed=2) for _ in range(4)]", a=normal(9), lower=False),
]  # fmt: skip
