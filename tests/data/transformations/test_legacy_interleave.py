"""`tf.data.experimental.parallel_interleave`."""

import pytest

import headrace as tf

Dataset = tf.data.Dataset
parallel_interleave = tf.data.experimental.parallel_interleave


def of(lengths, cycle, block, **arguments):
    base = Dataset.from_tensor_slices((list(range(len(lengths))), lengths))

    def numbers(i, n):
        return Dataset.range(tf.cast(n, tf.int64)).map(lambda k: tf.cast(i, tf.int64) * 10 + k)

    return base.apply(parallel_interleave(numbers, cycle, block, **arguments))


@pytest.mark.parametrize(
    ("lengths", "cycle", "block", "expected"),
    [
        # What TensorFlow 2.21 gives; in the first two, Dataset.interleave gives another order.
        ([4, 0, 1, 4], 4, 2, [0, 1, 20, 30, 2, 3, 31, 32, 33]),
        ([1, 4, 4, 1, 3, 4, 2], 3, 2, [0, 10, 11, 20, 21, 30, 12, 13, 22, 23, 40, 41, 42, 50, 60, 61, 51, 52, 53]),
        ([2, 2, 2], 2, 1, [0, 10, 1, 11, 20, 21]),
        ([], 2, 1, []),
    ],
)
@pytest.mark.parametrize("sloppy", [False, True])
def test_order(lengths, cycle, block, expected, sloppy):
    dataset = of(lengths, cycle, block, sloppy=sloppy)
    assert [int(x) for x in dataset] == expected
    for position in (0, 1, len(expected) // 2):
        iterator = iter(dataset)
        for _ in range(min(position, len(expected))):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert [int(x) for x in other] == expected[position:]


def test_errors_count_as_elements():
    def inverse(x):
        return Dataset.range(4, 6).map(lambda y: tf.debugging.check_numerics(1.0 / tf.cast(y - x - 2, tf.float32), "e"))

    iterator = iter(Dataset.range(4).apply(parallel_interleave(inverse, cycle_length=2)))
    found = []
    while True:
        try:
            found.append(round(float(next(iterator)), 2))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError:
            found.append("error")
    assert found == [0.5, 1.0, 0.33, 0.5, "error", -1.0, 1.0, "error"]


def test_arguments():
    dataset = of([1], 2, 1)
    assert repr(dataset) == "<ParallelInterleaveDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    for arguments, name in (
        ((0, 1), "cycle_length"),
        ((2, 0), "block_length"),
        ((2, 1, False, 0), "buffer_output_elements"),
        ((2, 1, False, 1, -1), "prefetch_input_elements"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            Dataset.range(3).apply(parallel_interleave(Dataset.range, *arguments))
    with pytest.raises(TypeError, match=r"must return a `tf\.data\.Dataset`"):
        Dataset.range(3).apply(parallel_interleave(lambda x: x, 2))
