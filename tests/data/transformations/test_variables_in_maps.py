"""Functions of datasets that make variables, as layers do when they are first called."""

import headrace as tf


class _Scale:
    def __init__(self):
        self.factor = None

    def __call__(self, x):
        if self.factor is None:
            self.factor = tf.Variable(lambda: tf.fill((2,), 5.0) * 1.0)
        return x * self.factor


def test_variables_are_made_outside_of_the_graph():
    scale = _Scale()
    dataset = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]).map(scale)
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[5, 10], [15, 20]]
    scale.factor.assign([0.0, 1.0])
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[0, 2], [0, 4]]


def test_variables_are_made_once_within_a_function():
    scale = _Scale()

    @tf.function
    def total():
        result = 0.0
        for x in tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]).map(scale):
            result += tf.reduce_sum(x)
        return result

    assert float(total()) == 50
    assert float(total()) == 50
    assert scale.factor.numpy().tolist() == [5, 5]
