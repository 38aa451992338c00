"""Arguments that are no tensors: what has no truth value, or is no whole number, is refused wherever it is given."""

import pytest

import headrace as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])
SPARSE = tf.sparse.from_dense(X)
LU = tf.linalg.lu(X)
PAIR = tf.constant([True, False])

# Options that are not used, or only when something fails: an array is no answer to a yes-or-no question.
WITHOUT_TRUTH = {
    "back_prop": [
        lambda flag: tf.foldl(lambda a, x: a + x, X, back_prop=flag),
        lambda flag: tf.foldr(lambda a, x: a + x, X, back_prop=flag),
        lambda flag: tf.scan(lambda a, x: a + x, X, back_prop=flag),
        lambda flag: tf.map_fn(lambda x: x, X, back_prop=flag),
        lambda flag: tf.while_loop(lambda i: i < 2, lambda i: (i + 1,), (0,), back_prop=flag),
    ],
    "validate_args": [
        lambda flag: tf.linalg.matrix_rank(X, validate_args=flag),
        lambda flag: tf.linalg.pinv(X, validate_args=flag),
        lambda flag: tf.linalg.lu_reconstruct(*LU, validate_args=flag),
        lambda flag: tf.linalg.lu_solve(*LU, rhs=X, validate_args=flag),
        lambda flag: tf.linalg.lu_matrix_inverse(*LU, validate_args=flag),
    ],
    "strict": [lambda flag: tf.case([(tf.constant(True), lambda: X)], strict=flag)],
    "message": [
        lambda flag: tf.debugging.assert_equal(X, X, message=flag),
        lambda flag: tf.debugging.assert_positive(X, message=flag),
        lambda flag: tf.debugging.assert_near(X, X, message=flag),
        lambda flag: tf.debugging.assert_rank(X, 2, message=flag),
        lambda flag: tf.debugging.assert_type(X, tf.float32, message=flag),
    ],
    "condition": [lambda flag: tf.debugging.Assert(flag | True, [])],
}


@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name, calls in WITHOUT_TRUTH.items() for call in calls]
)
def test_what_has_no_truth_value_is_refused(name, call):
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match=name):
            call(PAIR)
    call(tf.constant(True))  # TF: a scalar has one


NO_NUMBER = [
    (lambda value: tf.image.rot90(tf.ones([2, 2, 1]), value), "k"),
    (lambda value: tf.sparse.reduce_sum(SPARSE, axis=value), "axis"),
    (lambda value: tf.sparse.expand_dims(SPARSE, axis=value), "axis"),
    (lambda value: tf.sparse.eye(2, value), "num_columns"),
    (lambda value: tf.nn.avg_pool2d(tf.ones([1, 2, 2, 1]), value, 1, "SAME"), "ksize"),
    (lambda value: tf.signal.irfft2d(tf.ones([2, 2], tf.complex64), [value, value]), "fft_length"),
    (lambda value: tf.image.resize_with_crop_or_pad(tf.ones([2, 2, 1]), value, 2), "target_height"),
    (lambda value: tf.math.bincount([1], minlength=value), "minlength"),
    (lambda value: tf.strings.ngrams(["a"], [value]), "ngram_width"),
]


@pytest.mark.parametrize(("call", "name"), NO_NUMBER)
@pytest.mark.parametrize("value", [1.5, 1 + 2j])
def test_what_is_no_whole_number_is_refused(call, name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        call(value)


@pytest.mark.parametrize("data_format", ["", [], {}, ()])
def test_an_empty_data_format_is_none(data_format):
    image, volume = tf.ones([1, 3, 3, 1]), tf.ones([1, 3, 3, 3, 1])
    for call in (
        lambda: tf.nn.conv2d(image, tf.ones([1, 1, 1, 1]), 1, "SAME", data_format),
        lambda: tf.nn.conv3d(volume, tf.ones([1, 1, 1, 1, 1]), [1] * 5, "SAME", data_format),
        lambda: tf.nn.max_pool2d(image, 2, 1, "SAME", data_format),
        lambda: tf.nn.avg_pool3d(volume, 2, 1, "SAME", data_format),
        lambda: tf.nn.conv2d_transpose(image, tf.ones([1, 1, 1, 1]), [1, 3, 3, 1], 1, "SAME", data_format),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError, tf.errors.InvalidArgumentError)):
            call()
