"""tf.image beyond the rows: in vectorized maps, with unknown shapes, in datasets, and what TensorFlow's CPU lacks."""

import functools

import numpy as np
import pytest

import headrace as tf
from headrace._src.ops.images import photo_kernels as image_byte_kernels

RNG = np.random.default_rng(0)
IMAGES = RNG.random((4, 7, 6, 3)).astype(np.float32)
BYTES = (IMAGES * 255).astype(np.uint8)
BATCHES = RNG.random((4, 2, 5, 6, 3)).astype(np.float32)
BOXES = RNG.random((4, 3, 4)).astype(np.float32)
NUMBERS = RNG.integers(0, 2, (4, 3)).astype(np.int32)
AMOUNTS = RNG.random(4).astype(np.float32)
SEEDS = RNG.integers(0, 99, (4, 2)).astype(np.int32)


def gradient(function):
    def of(x, *others):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(function(x, *others) ** 2)
        return tape.gradient(y, x)

    return of


def _resize(method, antialias=False):
    return lambda x: tf.image.resize(x, (4, 9), method, antialias=antialias)


def _crop(x, boxes, numbers):
    return tf.image.crop_and_resize(x, boxes, numbers, (3, 2))


METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3")
PER_ELEMENT = {
    **{f"resize {m}": (_resize(m), IMAGES) for m in METHODS},
    **{f"resize {m} antialias": (_resize(m, True), BYTES) for m in METHODS},
    **{f"gradient {m}": (gradient(_resize(m)), IMAGES) for m in METHODS if m != "area"},
    "resize batches": (_resize("bilinear"), BATCHES),
    "rot90": (tf.image.rot90, BYTES),
    "rot90 by k": (lambda x, k: tf.image.rot90(x[:6], k), IMAGES, np.arange(4)),
    "flip_left_right": (tf.image.flip_left_right, BYTES),
    "flip_up_down": (tf.image.flip_up_down, BYTES),
    "transpose": (tf.image.transpose, BYTES),
    "to float": (lambda x: tf.image.convert_image_dtype(x, tf.float32), BYTES),
    "to bytes": (lambda x: tf.image.convert_image_dtype(x, tf.uint8, saturate=True), IMAGES),
    "standardize": (tf.image.per_image_standardization, BYTES),
    "brightness": (tf.image.adjust_brightness, IMAGES, AMOUNTS),
    "contrast": (lambda x: tf.image.adjust_contrast(x, 1.7), BYTES),
    "contrast each": (tf.image.adjust_contrast, IMAGES, AMOUNTS),
    "hue": (lambda x: tf.image.adjust_hue(x, 0.2), BYTES),
    "hue each": (tf.image.adjust_hue, IMAGES, AMOUNTS),
    "saturation": (lambda x: tf.image.adjust_saturation(x, 0.2), BYTES),
    "saturation each": (tf.image.adjust_saturation, IMAGES, AMOUNTS),
    "gamma": (lambda x: tf.image.adjust_gamma(x, 0.5), BYTES),
    "grey": (tf.image.rgb_to_grayscale, BYTES),
    "from grey": (lambda x: tf.image.grayscale_to_rgb(x[..., :1]), BYTES),
    "hsv": (lambda x: tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x)), IMAGES),
    "yuv": (tf.image.rgb_to_yuv, IMAGES),
    "central_crop": (lambda x: tf.image.central_crop(x, 0.5), BYTES),
    "crop": (lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 2), BYTES),
    "pad": (lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 13, 12), BYTES),
    "crop or pad": (lambda x: tf.image.resize_with_crop_or_pad(x, 4, 12), BYTES),
    "resize and pad": (lambda x: tf.image.resize_with_pad(x, 4, 12), BYTES),
    "random flip": (tf.image.stateless_random_flip_left_right, IMAGES, SEEDS),
    "random brightness": (lambda x, s: tf.image.stateless_random_brightness(x, 0.3, s), IMAGES, SEEDS),
    "random contrast": (lambda x, s: tf.image.stateless_random_contrast(x, 0.3, 2.0, s), IMAGES, SEEDS),
    "random hue": (lambda x, s: tf.image.stateless_random_hue(x, 0.3, s), IMAGES, SEEDS),
    "random saturation": (lambda x, s: tf.image.stateless_random_saturation(x, 0.3, 2.0, s), IMAGES, SEEDS),
    "random crop": (lambda x, s: tf.image.stateless_random_crop(x, (3, 2, 3), s), IMAGES, SEEDS),
    "total_variation": (tf.image.total_variation, IMAGES),
    "sobel_edges": (tf.image.sobel_edges, BATCHES),
    "ssim": (lambda x: tf.image.ssim(x, x * 0.9, 1.0, filter_size=3), IMAGES),
    "crop_and_resize": (_crop, BATCHES, BOXES, NUMBERS),
    "crop_and_resize shared": (lambda b, n: _crop(tf.constant(BATCHES[0]), b, n), BOXES, NUMBERS),
    "crop_and_resize gradient": (gradient(_crop), BATCHES, BOXES, NUMBERS),
    "crop_and_resize boxes": (gradient(lambda b, x, n: _crop(x, b, n)), BOXES, BATCHES, NUMBERS),
    "draw": (lambda x, b: tf.image.draw_bounding_boxes(x, tf.stack([b, b]), None), BATCHES, BOXES),
    "glimpse": (
        lambda x, o: tf.image.extract_glimpse(x, (3, 3), tf.stack([o[:2], o[2:]]), noise="zero"),
        BATCHES,
        BOXES[:, 0],
    ),
    "patches": (
        lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
        BATCHES,
    ),
    "projective": (
        lambda x, t: tf.raw_ops.ImageProjectiveTransformV3(
            images=x[None], transforms=t[None], output_shape=[5, 4], fill_value=1.0, interpolation="BILINEAR"
        ),
        IMAGES,
        RNG.random((4, 8)).astype(np.float32),
    ),
    "padded suppression": (
        lambda b: tf.image.non_max_suppression_padded(b, b[:, 0], 3, pad_to_max_output_size=True)[0],
        BOXES,
    ),
}


def _close(got, want):
    assert got.dtype == want.dtype
    tolerance = 1e-5 if want.dtype.is_floating else 1
    np.testing.assert_allclose(got.numpy().astype(np.float64), want.numpy().astype(np.float64), 1e-5, tolerance)


@pytest.mark.parametrize("name", PER_ELEMENT)
@pytest.mark.parametrize("kind", ["eager", "traced", "unknown size"])
def test_vectorized_map_gives_what_a_loop_gives(name, kind):
    function, *arrays = PER_ELEMENT[name]
    tensors = [tf.constant(a) for a in arrays]
    want = tf.stack([function(*(x[i] for x in tensors)) for i in range(4)])

    def mapped(*elems):
        return tf.vectorized_map(lambda one: function(*one), elems, fallback_to_while_loop=False)

    if kind == "eager":
        got = mapped(*tensors)
    elif kind == "traced":
        got = tf.function(mapped)(*tensors)
    else:
        signature = [tf.TensorSpec([None, *x.shape[1:]], x.dtype) for x in tensors]
        got = tf.function(mapped, input_signature=signature)(*tensors)
    _close(got, want)


UNKNOWN = {
    name: PER_ELEMENT[name]
    for name in PER_ELEMENT
    if not name.startswith(("random", "padded", "crop_and_resize shared")) and name != "rot90 by k"
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_shapes(name):
    """The height, width and channels are not known while tracing."""
    function, *arrays = UNKNOWN[name]
    tensors = [tf.constant(a[0]) for a in arrays]
    signature = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in tensors]
    _close(tf.function(function, input_signature=signature)(*tensors), function(*tensors))


@pytest.mark.parametrize("name", ["flip_left_right", "flip_up_down"])
def test_flips_of_unknown_rank(name):
    flip = getattr(tf.image, name)
    traced = tf.function(flip, input_signature=[tf.TensorSpec(None, tf.float32)])
    for x in (IMAGES, IMAGES[0]):
        _close(traced(x), flip(x))


def test_datasets():
    def prepare(x):
        x = tf.image.resize(tf.image.rot90(x), (4, 4))
        return tf.image.per_image_standardization(x)

    for batch in tf.data.Dataset.from_tensor_slices(BYTES).map(prepare).batch(4):
        np.testing.assert_allclose(batch.numpy(), np.stack([prepare(x).numpy() for x in BYTES]), 1e-5, 1e-5)


def test_infinite_pixels_reach_only_their_neighbours():
    x = np.ones((1, 64, 64, 1), np.float32)
    x[0, 40, 40] = np.inf
    for method in ("bicubic", "lanczos3", "area"):
        y = tf.image.resize(x, (48, 48), method).numpy()
        assert np.isfinite(y[0, :24]).all()
        assert not np.isfinite(y).all()


def test_resizing_a_huge_image_to_a_small_one_reads_few_rows():
    x = np.broadcast_to(np.arange(40_000, dtype=np.float32)[:, None, None], (40_000, 3, 1))
    got = tf.image.resize(np.ascontiguousarray(x), (4, 3)).numpy()[:, 0, 0]
    np.testing.assert_allclose(got, [4999.5, 14999.5, 24999.5, 34999.5])


def test_negative_strides_and_slices_are_taken_as_they_are():
    x = tf.constant(BYTES[0])
    turned = tf.image.rot90(tf.image.flip_left_right(x))
    copy = tf.constant(np.ascontiguousarray(turned.numpy()))
    functions = [_resize("bilinear"), _resize("nearest"), _resize("bicubic"), lambda x: tf.image.adjust_hue(x, 0.3)]
    for function in functions:
        np.testing.assert_array_equal(function(turned).numpy(), function(copy).numpy())


class TestProposals:
    """TensorFlow has no kernel for CPUs; see its documentation."""

    INFO = [[100.0, 80.0, 1.0, 0.0, 0.0]]

    def propose(self, scores, deltas, anchors, **options):
        options = {"min_size": 0.0, "post_nms_topn": 3, **options}
        return tf.image.generate_bounding_box_proposals(
            np.array(scores, np.float32).reshape(1, 1, -1, 1), np.array(deltas, np.float32).reshape(1, 1, -1, 4),
            self.INFO, np.array(anchors, np.float32).reshape(1, len(scores), 1, 4), **options,
        )  # fmt: skip

    def test_best_first_without_overlaps(self):
        anchors = [[0, 0, 10, 10], [0, 0, 10, 11], [50, 50, 60, 60]]
        rois, scores = self.propose([0.5, 0.9, 0.7], np.zeros((3, 4)), anchors)
        assert rois.numpy().tolist() == [[[0, 0, 10, 11], [50, 50, 60, 60], [0, 0, 0, 0]]]
        np.testing.assert_allclose(scores.numpy(), [[0.9, 0.7, 0]])

    def test_moved_grown_and_clipped(self):
        deltas = [[0.5, -0.5, np.log(2.0), 0.0], [0, 0, 100.0, 100.0]]
        rois, _ = self.propose([0.9, 0.8], deltas, [[20, 20, 30, 40], [40, 40, 41, 41]], nms_threshold=1.0)
        np.testing.assert_allclose(rois.numpy()[0, 0], [20, 10, 40, 30], rtol=1e-6)
        np.testing.assert_allclose(rois.numpy()[0, 1], [9.25, 9.25, 71.75, 71.75], rtol=1e-6)

    def test_small_ones_and_those_of_low_score_are_left_out(self):
        anchors = [[0, 0, 3, 30], [20, 20, 40, 40], [50, 50, 70, 70]]
        rois, _ = self.propose([0.9, 0.8, 0.1], np.zeros((3, 4)), anchors, min_size=5.0, pre_nms_topn=2)
        assert rois.numpy().tolist() == [[[20, 20, 40, 40], [0, 0, 0, 0], [0, 0, 0, 0]]]

    def test_wrong_shapes(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="bbox_deltas must have shape"):
            self.propose([0.9, 0.8], np.zeros((3, 4)), np.zeros((2, 4)))


def test_suppression_is_the_same_whether_few_or_many_are_wanted():
    boxes = RNG.random((700, 4)).astype(np.float32)
    scores = np.round(RNG.random(700), 2).astype(np.float32)  # many equal ones
    everything = tf.image.non_max_suppression(boxes, scores, 700, 0.3).numpy()
    for most in (1, 7, 40, 200):
        assert tf.image.non_max_suppression(boxes, scores, most, 0.3).numpy().tolist() == everything[:most].tolist()

    @tf.function(jit_compile=True)
    def compiled(boxes, scores):
        return tf.image.non_max_suppression_padded(boxes, scores, 40, 0.3, pad_to_max_output_size=True)[0]

    assert compiled(boxes, scores).numpy().tolist() == everything[:40].tolist()


def test_glimpses_fill_with_noise():
    x = np.full((1, 4, 4, 1), 5.0, np.float32)
    for noise, low, high in (("uniform", 0, 1), ("gaussian", 5, 5)):
        glimpse = tf.image.extract_glimpse(x, (9, 9), [[0.0, 0.0]], noise=noise).numpy()
        assert (glimpse == 5).sum() >= 16
        assert low <= glimpse[0, 0, 0, 0] <= high


ERRORS = {
    "image.resize: images must have 3 or 4 dimensions": lambda: tf.image.resize([[1.0]], (2, 2)),
    "image.resize: size must be a 1-D": lambda: tf.image.resize(IMAGES, (2, 2, 2)),
    "Resize method is not implemented: 'cubic'": lambda: tf.image.resize(IMAGES, (2, 2), "cubic"),
    "image.crop_to_bounding_box: width must be >=": lambda: tf.image.crop_to_bounding_box(IMAGES, 0, 0, 2, 20),
    "image.central_crop: central_fraction must be in": lambda: tf.image.central_crop(IMAGES, 1.5),
    "image.random_hue: max_delta must be <= 0.5": lambda: tf.image.random_hue(IMAGES, 0.7),
    "image.crop_and_resize: box_indices must": lambda: tf.image.crop_and_resize(IMAGES, BOXES[0], [0, 1, 9], (2, 2)),
    "image.non_max_suppression: iou_threshold": lambda: tf.image.non_max_suppression(BOXES[0], AMOUNTS[:3], 2, 1.5),
    # TensorFlow logs this, and takes the nearest pixels.
    "ImageProjectiveTransformV2: interpolation must be": lambda: tf.raw_ops.ImageProjectiveTransformV2(
        images=IMAGES, transforms=[[1.0, 0, 0, 0, 1, 0, 0, 0]], output_shape=[2, 2], interpolation="CUBIC"
    ),
    "image.adjust_hue: images must have 3 channels": lambda: tf.image.adjust_hue(IMAGES[..., :2], 0.1),
}  # fmt: skip


@pytest.mark.parametrize("message", ERRORS)
def test_messages(message):
    with pytest.raises((ValueError, tf.errors.OpError), match=message.replace("(", r"\(")):
        ERRORS[message]()


# Enlarged with weights of few bits and of many, made smaller, much smaller, and differently along the two axes.
SIZES = [(5, 7, 128, 128), (57, 61, 200, 100), (1, 1, 160, 104), (128, 136, 128, 136), (300, 20, 96, 256),
         (40, 500, 256, 96), (333, 301, 101, 163), (900, 700, 128, 128)]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bytes_are_resized_as_floats_are(size, channels, dtype):
    """Bytes take a way of their own; what is equal stays equal."""
    height, width, *new = size
    new = [2 * n for n in new] if channels == 1 else new
    x = np.random.default_rng(0).integers(0, 256, (2, height, width, channels)).astype(dtype)
    assert image_byte_kernels.can_resize(x, *new)
    corners = functools.partial(tf.compat.v1.image.resize_bilinear, align_corners=True)
    for resize in (tf.image.resize, tf.compat.v1.image.resize_bilinear, corners):
        np.testing.assert_allclose(resize(x, new), resize(x.astype(np.float32), new), rtol=1e-6, atol=4e-5)
        assert (resize(np.full_like(x, 101), new).numpy() == 101).all()


def test_resizing_bytes_reads_few_rows():
    x = np.broadcast_to(np.arange(40_000, dtype=np.uint32)[:, None, None] // 160, (40_000, 3, 1)).astype(np.uint8)
    got = tf.image.resize(x, (128, 128)).numpy()
    np.testing.assert_allclose(got, tf.image.resize(x.astype(np.float32), (128, 128)), rtol=1e-6)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 16, 17])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, np.complex128])
def test_flips_of_many_pixels(channels, dtype):
    x = np.random.default_rng(0).integers(0, 256, (2, 40, 36, channels)).astype(dtype)
    turned = x.swapaxes(1, 2)
    for axes in ([2], [1, 2], [0, 2], [2, 3], [0, 1, 2, 3]):
        np.testing.assert_array_equal(tf.reverse(x, axes), np.flip(x, axes))
        np.testing.assert_array_equal(tf.reverse(turned, axes), np.flip(turned, axes))


@pytest.mark.parametrize("shape", [(6, 1, 1), (1, 1, 1), (), (6, 50, 1), (6, 50, 3), (50, 1)])
def test_choosing_whole_rows(shape):
    rng = np.random.default_rng(0)
    x, y = rng.random((6, 50, 3)), rng.random((6, 50, 3))
    for condition in (rng.random(shape) < 0.5, np.ones(shape, bool), np.zeros(shape, bool)):
        np.testing.assert_array_equal(tf.where(condition, x, y), np.where(condition, x, y))
        np.testing.assert_array_equal(tf.where(condition, x[:, ::-1], y), np.where(condition, x[:, ::-1], y))
        np.testing.assert_array_equal(tf.where(condition, x[:1], y), np.where(condition, x[:1], y))


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "area"])
@pytest.mark.parametrize("size", [(90, 70), (300, 310)])
def test_large_batches_are_resized_image_by_image(method, size):
    images = np.random.default_rng(0).standard_normal((7, 200, 200, 3)).astype(np.float32)
    images[2, 5, 5, 0], images[6, 9, 9, 2] = np.inf, np.nan
    found = tf.image.resize(images, size, method).numpy()
    for image, one in zip(images, found):
        np.testing.assert_allclose(one, tf.image.resize(image, size, method), rtol=1e-5, atol=1e-5)
