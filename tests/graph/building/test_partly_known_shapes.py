"""Static shapes that depend on sizes of which only some are known while a graph is built."""

import numpy as np
import pytest

import headrace as tf

X = tf.TensorSpec([None, 4])
N = tf.TensorSpec([], tf.int32)
IMAGES = tf.TensorSpec([None, None, 8, 3])
ROWS = tf.Variable(tf.ones([5, 2, 3]))

CASES = {
    "tile": (lambda x, n: tf.tile(x, [n, 2]), (X, N), [None, 8]),
    "tile of a known size": (lambda x, n: tf.tile(tf.ones([3, 4]), [1, n]), (X, N), [3, None]),
    "pad": (lambda x, n: tf.pad(tf.ones([3, 4]), [[0, n], [1, 2]]), (X, N), [None, 7]),
    "slice": (lambda x, n: tf.slice(x, [0, 1], tf.stack([tf.shape(x)[0], 2])), (X, N), [None, 2]),
    "slice to the end": (lambda x, n: tf.slice(x, tf.stack([n, 1]), [-1, -1]), (X, N), [None, 3]),
    "meshgrid": (lambda x, n: tf.meshgrid(tf.linspace(0.0, 1.0, 5), x[0])[0], (X, N), [4, 5]),
    "unique": (lambda x, n: tf.unique(x[0])[1], (X, N), [4]),
    "segment means": (lambda x, n: tf.math.unsorted_segment_mean(x, [0, 1, 0], 7), (X, N), [7, 4]),
    "segment roots": (lambda x, n: tf.math.unsorted_segment_sqrt_n(x, [0, 1, 0], n), (X, N), [None, 4]),
    "substrings": (lambda s: tf.strings.substr(s, 0, 1), (tf.TensorSpec([None], tf.string),), [None]),
    "padded images": (lambda x: tf.image.pad_to_bounding_box(x, 1, 1, 14, 12), (IMAGES,), [None, 14, 12, 3]),
    "fitted images": (lambda x: tf.image.resize_with_crop_or_pad(x, 10, 4), (IMAGES,), [None, 10, 4, 3]),
    "resized images": (lambda x: tf.image.resize_with_pad(x, 10, 12), (IMAGES,), [None, 10, 12, 3]),
    "image centres": (lambda x: tf.image.central_crop(x, 0.5), (IMAGES,), [None, None, 4, 3]),
    "dropout": (lambda x, rate: tf.nn.dropout(x, rate), (X, tf.TensorSpec(None)), [None, 4]),
    "rows of a variable": (lambda n: tf.gather(ROWS, [n, n]), (N,), [2, 2, 3]),
    "embeddings": (lambda x: tf.nn.embedding_lookup(ROWS, tf.cast(x, tf.int32)), (X,), [None, 4, 2, 3]),
    "elements of a variable": (lambda n: tf.gather_nd(ROWS, [[n, 1]]), (N,), [1, 3]),
    "rows of batches": (lambda n: tf.gather(ROWS, [[0]] * 5, batch_dims=1), (N,), [5, 1, 3]),
}


@pytest.mark.parametrize("case", CASES)
def test_shape(case):
    function, specs, expected = CASES[case]
    assert tf.function(function).get_concrete_function(*specs).outputs[0].shape.as_list() == expected


def test_a_loop_over_segment_means_keeps_its_shape():
    @tf.function
    def centres(points, found):
        for _ in tf.range(3):
            nearest = tf.argmin(tf.abs(points[:, None] - found[None]), 1)
            found = tf.math.unsorted_segment_mean(points, nearest, 2)
        return found

    assert centres(tf.constant([0.0, 1.0, 8.0, 10.0]), tf.constant([0.0, 1.0])).numpy().tolist() == [0.5, 9.0]


def test_gradients_of_rows_of_a_variable():
    def gradients():
        with tf.GradientTape(persistent=True) as tape:
            rows, one, pairs = tf.gather(ROWS, [1, 1]), tf.gather_nd(ROWS, [[3]]), tf.gather_nd(ROWS, [[0, 1], [4, 0]])
            single = tf.gather_nd(ROWS, [2, 1])
        return [tape.gradient(y, ROWS) for y in (rows, one, pairs, single)]

    for rows, one, pairs, single in (gradients(), tf.function(gradients)()):
        for slices, indices in ((rows, [1, 1]), (one, [3])):
            assert isinstance(slices, tf.IndexedSlices)
            assert slices.dense_shape.dtype is tf.int32
            assert slices.dense_shape.numpy().tolist() == [5, 2, 3]
            assert slices.indices.numpy().tolist() == indices
            assert slices.values.shape == [len(indices), 2, 3]
        expected = np.zeros((5, 2, 3), np.float32)
        expected[0, 1] = expected[4, 0] = 1
        assert pairs.numpy().tolist() == expected.tolist()
        assert np.argwhere(single.numpy()[..., 0]).tolist() == [[2, 1]]


def test_gradients_of_rows_of_a_variable_whose_shape_may_change():
    rows = tf.Variable(tf.ones([4, 2]), shape=[None, 2])
    with tf.GradientTape() as tape:
        y = tf.function(lambda: tf.gather(rows, [0, 3]))()
    slices = tape.gradient(y, rows)
    assert slices.dense_shape.numpy().tolist() == [4, 2]
    assert slices.values.numpy().tolist() == [[1.0, 1.0]] * 2


def test_the_gradient_of_frames_is_dense():
    signal = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch(signal)
        y = tf.signal.frame(signal, 3, 2)
    assert tape.gradient(y, signal).numpy().tolist() == [1.0, 1.0, 2.0, 1.0, 1.0]
