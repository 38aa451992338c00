"""What is known of shapes while tracing: as much as TensorFlow knows, since programs (and Keras) read it."""

import pytest

import headrace as tf


def traced_shape(function, *shapes):
    found = []

    @tf.function(autograph=False)
    def traced(*args):
        found.append(function(*args).shape)

    traced.get_concrete_function(*[tf.TensorSpec(shape, tf.float32) for shape in shapes])
    return None if found[0].rank is None else tuple(found[0])


# Two shapes, and the shape of `==`, which gives one truth value when the two do not broadcast.
COMPARED = [
    ((None, 12), (), (None, 12)),
    ((None, 12), (None, 12), (None, 12)),
    ((None, 12), (12,), (None, 12)),
    ((None, 3), (None, 1), (None, 3)),
    ((None, 2), (None, None, 2), (None, None, 2)),
    ((None,), (1,), (None,)),
    ((None,), (3,), None),
    ((None,), (0,), None),
    ((None, 3), (2, 3), None),
    ((None, 3), (2, 4), None),
    ((3, None), (4, 2), ()),
    ((2, 1), (1, 5), (2, 5)),
    ((2, 3), (2,), ()),
    (None, (), None),
]


@pytest.mark.parametrize(("a", "b", "expected"), COMPARED)
def test_comparisons(a, b, expected):
    assert traced_shape(lambda x, y: x == y, a, b) == expected
    assert traced_shape(lambda x, y: y != x, a, b) == expected


REDUCTIONS = [
    tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod, tf.reduce_logsumexp,
    tf.math.reduce_std, tf.math.reduce_variance, tf.math.reduce_euclidean_norm, tf.math.count_nonzero,
    lambda x, **how: tf.reduce_any(x > 0, **how), lambda x, **how: tf.reduce_all(x > 0, **how),
]  # fmt: skip


@pytest.mark.parametrize("reduce", REDUCTIONS, ids=lambda f: f.__name__)
def test_reductions_of_all_axes_give_scalars(reduce):
    assert traced_shape(reduce, None) == ()
    assert traced_shape(reduce, (None, 3)) == ()
    assert traced_shape(lambda x: reduce(x, keepdims=True), None) is None
    assert traced_shape(lambda x: reduce(x, axis=0), None) is None


# A function, the shapes of its arguments, and the shape of its result.
RESULTS = {
    "rgb_to_hsv": (tf.image.rgb_to_hsv, [(2, None, None, None)], (2, None, None, 3)),
    "hsv_to_rgb": (tf.image.hsv_to_rgb, [(None, None, None)], (None, None, 3)),
    "grayscale_to_rgb": (tf.image.grayscale_to_rgb, [(None, 4, None)], (None, 4, 3)),
    "adjust_hue": (lambda x: tf.image.adjust_hue(x, 0.1), [(None, 4, None)], (None, 4, None)),
    "gather_nd of a batch": (
        lambda x, i: tf.gather_nd(x, tf.cast(i, tf.int32), batch_dims=1), [(None, 3, 4), (None, 5, 1)], (None, 5, 4),
    ),
    "gather_nd of two axes": (
        lambda x, i: tf.gather_nd(x, tf.cast(i, tf.int32), batch_dims=2), [(None, 3, 7, 4), (2, 3, 1)], (2, 3, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    function, shapes, expected = RESULTS[name]
    assert traced_shape(function, *shapes) == expected
