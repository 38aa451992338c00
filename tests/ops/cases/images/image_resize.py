"""Rows of the ops and functions that resize images."""

from rows import each, integers, normal, row, uniform, value

_TYPES = "int8 uint8 int16 uint16 int32 int64 float16 bfloat16 float32 float64"
_METHODS = "bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split()
_NO_FLOAT64 = {"fd": False}  # results are float32: finite differences are too coarse


def resize(method, size, shape=(2, 5, 7, 3), more="", **options):
    options.setdefault("grad", method != "area")
    return row(f"tf.image.resize(a, {size}, {method!r}{more})", a=uniform(0, 9, *shape), **_NO_FLOAT64, **options)


def v1(name, attributes, size="[4, 9]", shape=(2, 6, 5, 2), **options):
    return row(f"tf.compat.v1.image.{name}(a, {size}{attributes})", a=uniform(0, 9, *shape), **_NO_FLOAT64, **options)


ROWS = [
    # All methods: smaller, larger, one image, one pixel, with antialias, with proportions kept.
    *(resize(method, size) for method in _METHODS for size in ([3, 4], [9, 11], [4, 10], [1, 1], [1, 8])),
    *(resize(method, [4, 3], (6, 7, 1)) for method in _METHODS),
    *(resize(method, [4, 3], (1, 1, 2)) for method in _METHODS),
    *(resize(method, size, more=", antialias=True") for method in _METHODS for size in ([3, 2], [8, 5], [1, 1])),
    *(resize(method, [6, 6], (1, 40, 31, 2), more=", antialias=True") for method in ("bilinear", "bicubic", "lanczos5")),
    *(resize(method, [4, 4], (1, 5, 6, 9)) for method in _METHODS),
    resize("bilinear", [30, 3], (9, 12, 3), more=", preserve_aspect_ratio=True"),
    resize("nearest", [7, 40], (2, 9, 12, 3), more=", preserve_aspect_ratio=True"),
    resize("bilinear", [5, 7], more=""),
    resize("bilinear", [5, 9], (5, 7, 3), more=", preserve_aspect_ratio=True"),
    *each(_TYPES, "[tf.image.resize(a, [4, 5], m) for m in ('bilinear', 'nearest', 'bicubic', 'area', 'lanczos3')]",
          a=integers(0, 100, 2, 6, 4, 3, dtype=None), grad=False),
    *each(_TYPES, "tf.image.resize(a, [6, 4])", a=integers(0, 100, 2, 6, 4, 3, dtype=None), grad=False),
    *each("float16 bfloat16", "tf.image.resize(a, [4, 5])", a=uniform(0, 9, 2, 6, 4, 3), fd=False),
    *each("float16 bfloat16 float64", "tf.image.resize(a, [4, 5], 'nearest')", a=uniform(0, 9, 2, 6, 4, 3), fd=False),
    *each("float16 bfloat16 float64", "tf.image.resize(a, [4, 5], 'bicubic')", a=uniform(0, 9, 2, 6, 4, 3), fd=False,
          grad=False),
    row("tf.image.resize(a, [4, 5], 'bicubic')", a=uniform(0, 9, 2, 6, 4, 3), dtype="float64", fd=False, rtol=1e-6, atol=1e-6),
    row("tf.image.resize(a, [4, 5])", a=uniform(0, 9, 2, 6, 4, 3), dtype="float64", fd=False, rtol=1e-6, atol=1e-6),
    *each("uint8 float32", "tf.image.resize(a, [64, 48])", a=integers(0, 255, 90, 121, 3, dtype=None), fd=False),
    row("tf.cast(tf.image.resize(a, [50, 77]), tf.uint8)", a=integers(0, 255, 90, 121, 3, dtype="uint8"), atol=0, rtol=0),
    *(row(f"tf.cast(tf.image.resize(a, [17, 23], {m!r}), tf.int32)", a=integers(0, 255, 1, 9, 9, 1, dtype="uint8"),
          atol=1) for m in ("bicubic", "gaussian")),
    row("tf.image.resize(a, s)", a=uniform(0, 1, 4, 4, 1), s=value([3, 5], "int32"), fd=False),
    row("tf.image.resize(a, [2, 0])", a=normal(3, 3, 1)),
    row("tf.image.resize(a, [2, -1], 'nearest')", a=normal(3, 3, 1)),
    row("tf.image.resize(a, [2, 2, 2])", a=normal(3, 3, 1)),
    row("tf.image.resize(a, 2)", a=normal(3, 3, 1)),
    row("tf.image.resize(a, [2, 2])", a=normal(3, 3)),
    row("tf.image.resize(a, [2, 2], 'linear')", a=normal(3, 3, 1)),
    row("tf.image.resize(a, [2, 2])", a=normal(1, 0, 3, 1)),
    row("tf.image.resize(a, [2, 2])", a=normal(0, 3, 3, 1), grad=False),
    row("tf.image.resize(a, [2.5, 2.0])", a=normal(3, 3, 1)),
    row("tf.image.resize(a > 0, [2, 2])", a=normal(3, 3, 1)),
    # 1.x
    *(v1(f"resize_{name}", attributes) for name in ("bilinear", "bicubic", "nearest_neighbor") for attributes in
      ("", ", align_corners=True", ", half_pixel_centers=True")),
    *(v1(f"resize_{name}", ", align_corners=True, half_pixel_centers=True") for name in ("bilinear", "bicubic")),
    *(v1(f"resize_{name}", ", align_corners=True", "[1, 1]") for name in ("bilinear", "bicubic", "nearest_neighbor")),
    *(v1("resize_area", attributes, size, grad=False) for attributes in ("", ", align_corners=True") for size in
      ("[4, 9]", "[3, 2]", "[1, 1]")),
    *(v1("resize", f", method={m}, align_corners={c}", grad=m != 3) for m in range(4) for c in (True, False)),
    v1("resize_images", ", method='bilinear', preserve_aspect_ratio=True", "[3, 20]"),
    v1("resize_images", ", method=7"),
    v1("resize_images", "", shape=(6, 5, 2)),
    *(row(f"tf.compat.v1.image.resize_image_with_pad(a, {h}, {w}, method={m})", a=uniform(0, 1, *shape), fd=False)
      for h, w, m, shape in ((8, 5, 0, (4, 6, 2)), (3, 9, 1, (2, 4, 6, 1)))),
    # With padding
    *(row(f"tf.image.resize_with_pad(a, {h}, {w})", a=uniform(0, 1, *shape), fd=False)
      for h, w in ((8, 5), (3, 9), (7, 7), (12, 3)) for shape in ((4, 6, 2), (2, 5, 3, 1))),
    row("tf.image.resize_with_pad(a, 9, 4, method='lanczos3', antialias=True)", a=uniform(0, 1, 8, 8, 1), fd=False),
    row("tf.image.resize_with_pad(a, 9, 4)", a=integers(0, 255, 8, 8, 1, dtype="uint8")),
    row("tf.image.resize_with_pad(a, 0, 4)", a=normal(8, 8, 1)),
    row("tf.image.resize_with_pad(a, 4, 4)", a=normal(8, 8)),
    # The ops
    *(row(f"tf.raw_ops.ScaleAndTranslate(images=a, size=[5, 4], scale=s, translation=t, kernel_type={kernel!r}, "
          f"antialias={antialias})", a=uniform(0, 1, 2, 6, 7, 2), s=value([0.7, 1.3], "float32"),
          t=value([0.5, -1.2], "float32"), fd=False, lower=False)
      for kernel in ("lanczos1", "lanczos3", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
      for antialias in (True, False)),
    row("tf.raw_ops.ScaleAndTranslate(images=a, size=[5, 4], scale=[0.0, 1.0], translation=[0.0, 0.0])",
        a=normal(1, 3, 3, 1)),
    row("tf.raw_ops.ScaleAndTranslate(images=a, size=[5, 4], scale=[1.0, 1.0], translation=[0.0])",
        a=normal(1, 3, 3, 1)),
    row("tf.raw_ops.ScaleAndTranslate(images=a, size=[5, 4], scale=[1.0, 1.0], translation=[0.0, 0.0], "
        "kernel_type='foo')", a=normal(1, 3, 3, 1)),
    row("tf.raw_ops.ScaleAndTranslate(images=a, size=[5, 4], scale=[3.0, 0.2], translation=[40.0, 0.0])",
        a=normal(1, 3, 3, 1), fd=False),
    row("tf.raw_ops.ScaleAndTranslateGrad(grads=g, original_image=a, scale=[0.5, 2.0], translation=[0.0, 1.0])",
        g=normal(1, 2, 6, 2), a=normal(1, 4, 3, 2), grad=False),
    *(row(f"tf.raw_ops.{name}Grad(grads=g, original_image=a{attributes})", g=normal(2, 4, 6, 2), a=normal(2, 5, 3, 2),
          grad=False) for name in ("ResizeBilinear", "ResizeBicubic") for attributes in
      ("", ", align_corners=True", ", half_pixel_centers=True")),
    *each("uint8 int8 int32 float16 float32 float64",
          "tf.raw_ops.ResizeNearestNeighborGrad(grads=g, size=[2, 3])", g=integers(0, 9, 2, 5, 4, 2, dtype=None),
          grad=False),
    *(row(f"tf.raw_ops.ResizeNearestNeighborGrad(grads=g, size=[6, 3]{attributes})", g=normal(1, 4, 5, 1), grad=False)
      for attributes in ("", ", align_corners=True", ", half_pixel_centers=True")),
    row("tf.raw_ops.ResizeBilinearGrad(grads=g, original_image=a)", g=normal(2, 4, 6), a=normal(2, 5, 3, 2)),
    row("tf.raw_ops.ResizeBilinear(images=a, size=[2, 2, 2])", a=normal(1, 3, 3, 1)),
    row("tf.raw_ops.ResizeBilinear(images=a, size=[2, 2])", a=normal(3, 3, 1)),
]  # fmt: skip
