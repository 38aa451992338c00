"""Rows of projective transforms of images."""

from rows import each, row, uniform, value

_ROTATED = value([[0.8, -0.6, 1.5, 0.6, 0.8, -1.0, 0.0, 0.0], [1.1, 0.2, -0.7, -0.1, 0.9, 0.4, 0.02, -0.01]], "float32")
_FAR = value([[3.0, 0.5, -20.3, -0.7, 4.0, 13.2, 0.0, 0.0]], "float32")


def transform(version, attributes, t=_ROTATED, shape="[6, 4]", fill="", **options):
    code = f"tf.raw_ops.ImageProjectiveTransformV{version}(images=a, transforms=t, output_shape={shape}{fill}, {attributes})"
    return row(code, a=uniform(0, 9, 2, 5, 7, 2), t=t, fd=False, **options)


ROWS = [
    *(transform(2, f"interpolation={i!r}, fill_mode={f!r}", t, grad=i == "BILINEAR") for i in ("NEAREST", "BILINEAR")
      for f in ("REFLECT", "WRAP", "CONSTANT", "NEAREST") for t in (_ROTATED, _FAR)),
    *(transform(3, f"interpolation={i!r}, fill_mode={f!r}", _FAR, fill=", fill_value=2.5", grad=i == "BILINEAR") for i in ("NEAREST", "BILINEAR")
      for f in ("CONSTANT", "NEAREST")),
    *each("uint8 int32 int64 float16 float64", "tf.raw_ops.ImageProjectiveTransformV3(images=a, "
          "transforms=[[0.8, -0.6, 1.5, 0.6, 0.8, -1.0, 0.0, 0.0]], output_shape=[4, 4], fill_value=3.0, interpolation='BILINEAR')",
          a=uniform(0, 99, 2, 5, 7, 1), grad=False, rtol=1e-3, atol=1e-4),
    transform(2, "interpolation='NEAREST'", value([[1.0, 2.0]], "float32")),
    transform(2, "interpolation='NEAREST'", value([[1.0] * 8] * 3, "float32")),
    transform(2, "interpolation='NEAREST'", shape="[4]"),
    transform(2, "interpolation='NEAREST'", shape="[0, 4]"),
    transform(3, "interpolation='NEAREST'", fill=", fill_value=[1.0]"),
]  # fmt: skip
