"""`Dataset.from_generator`."""

import collections
import gc

import numpy as np
import pytest

import headrace as tf

Spec = tf.TensorSpec
Pair = collections.namedtuple("Pair", "x y")


def values(dataset):
    return list(dataset.as_numpy_iterator())


def of(items, signature):
    return tf.data.Dataset.from_generator(lambda: iter(items), output_signature=signature)


# (what is yielded, spec, what TensorFlow gives): a value, or an error's class and part of its message.
SHAPE = "yielded an element of shape"
TYPE = "could not be converted to the expected type"
STRUCTURE = "did not match the expected structure"
CASES = [
    (1, Spec([], tf.float32), np.float32(1)),
    (1.5, Spec([], tf.int32), np.int32(1)),
    (True, Spec([], tf.int32), np.int32(1)),
    (2**40, Spec([], tf.int32), np.int32(0)),
    (-1, Spec([], tf.uint8), np.uint8(255)),
    (2**70, Spec([], tf.float32), np.float32(2**70)),
    (2**70, Spec([], tf.int32), (tf.errors.UnknownError, "OverflowError")),
    ("é", Spec([], tf.string), "é".encode()),
    (np.array(["a", "bb"]), Spec([2], tf.string), np.array([b"a", b"bb"], object)),
    (["q", b"z"], Spec([None], tf.string), np.array([b"q", b"z"], object)),
    (1, Spec([], tf.string), (tf.errors.InternalError, "Unsupported object type int")),
    (None, Spec([], tf.string), (tf.errors.InternalError, "Unsupported object type NoneType")),
    ("a", Spec([], tf.int32), (tf.errors.InvalidArgumentError, TYPE)),
    ([[1], [2, 3]], Spec([None], tf.int32), (tf.errors.InvalidArgumentError, TYPE)),
    (None, Spec([], tf.int32), (tf.errors.InvalidArgumentError, TYPE)),
    ((1, 2), Spec([2], tf.int32), np.array([1, 2], np.int32)),
    (1, Spec([2], tf.int32), (tf.errors.InvalidArgumentError, SHAPE)),
    (np.ones(3), Spec([2], tf.float64), (tf.errors.InvalidArgumentError, SHAPE)),
    (np.ones(2), Spec([None], tf.float16), np.ones(2, np.float16)),
    (2.5, Spec([], tf.bfloat16), tf.bfloat16.as_numpy_dtype(2.5)),
    (1j, Spec([], tf.complex64), np.complex64(1j)),
    # One tensor of unknown rank: by the rules for tensors.
    (1.5, Spec(None, tf.int32), (tf.errors.InvalidArgumentError, STRUCTURE)),
    (1, Spec(None, tf.bool), (tf.errors.InvalidArgumentError, STRUCTURE)),
    (2**40, Spec(None, tf.int32), np.int32(0)),
    (np.float32(1.5), Spec(None, tf.int32), np.int32(1)),
    ([1.5, 2], Spec(None, tf.float32), np.array([1.5, 2], np.float32)),
]


@pytest.mark.parametrize(("value", "spec", "expected"), CASES)
def test_one_value(value, spec, expected):
    if isinstance(expected, tuple):
        with pytest.raises(expected[0], match=expected[1]) as caught:
            values(of([value], spec))
        assert "element 0" in str(caught.value)
        assert "test_generators.py" in str(caught.value)
        return
    (result,) = values(of([value], spec))
    np.testing.assert_array_equal(result, expected)
    assert getattr(result, "dtype", None) == getattr(expected, "dtype", None)


@pytest.mark.parametrize(("value", "spec", "expected"), [case for case in CASES if case[1].shape.is_fully_defined()])
def test_one_value_in_a_batch(value, spec, expected):
    dataset = of([value, value], spec).batch(3)
    if isinstance(expected, tuple):
        with pytest.raises(expected[0], match=expected[1]):
            values(dataset)
        return
    (result,) = values(dataset)
    np.testing.assert_array_equal(result, np.array([expected, expected]))


@pytest.mark.parametrize(
    ("value", "spec", "expected"),
    [
        ({"a": (1, {"b": 2})}, {"a": (Spec([], tf.int32), {"b": Spec([], tf.int64)})}, {"a": (1, {"b": 2})}),
        ({"b": 1, "a": 2}, {"a": Spec([], tf.int32), "b": Spec([], tf.int32)}, {"a": 2, "b": 1}),
        (Pair(1, 2), Pair(Spec([], tf.int32), Spec([], tf.int64)), Pair(1, 2)),
        (Pair(1, 2), (Spec([], tf.int32), Spec([], tf.int64)), (1, 2)),
        ((1.5, 1.5), (Spec([], tf.int32), Spec(None, tf.int32)), (1, 1)),
    ],
)
def test_structures(value, spec, expected):
    (result,) = values(of([value], spec))
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (1, (Spec([], tf.int32), Spec([], tf.int32))),
        ([1, 2], (Spec([], tf.int32), Spec([], tf.int32))),
        ((1, 2, 3), (Spec([], tf.int32), Spec([], tf.int32))),
        ((1, 2), Pair(Spec([], tf.int32), Spec([], tf.int32))),
        ({"a": 1}, {"a": Spec([], tf.int32), "b": Spec([], tf.int32)}),
        ({"a": 1, "b": 2, "c": 3}, {"a": Spec([], tf.int32), "b": Spec([], tf.int32)}),
        (3, {"a": Spec([], tf.int32)}),
    ],
)
def test_wrong_structures(value, spec):
    with pytest.raises(tf.errors.InvalidArgumentError, match=STRUCTURE):
        values(of([value], spec))
    with pytest.raises(tf.errors.InvalidArgumentError, match=STRUCTURE):
        values(of([value], spec).batch(2))


def test_composites():
    ragged = tf.ragged.constant([[1, 2], [3]])
    signature = (tf.RaggedTensorSpec([2, None], tf.int32), tf.SparseTensorSpec([2, 2], tf.int32))
    sparse = tf.sparse.from_dense([[1, 0], [3, 0]])
    ((first, second),) = list(of([(ragged, sparse)], signature))
    assert first.to_list() == [[1, 2], [3]]
    np.testing.assert_array_equal(tf.sparse.to_dense(second), [[1, 0], [3, 0]])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"RaggedTensorSpec\(TensorShape\(\[2, None\]\).* where an"
    ):
        values(of([ragged], tf.RaggedTensorSpec([3, None], tf.int32)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="where an element of RaggedTensorSpec"):
        values(of([5], tf.RaggedTensorSpec([3, None], tf.int32)))
    (batch,) = list(of([ragged, ragged], tf.RaggedTensorSpec([None, None], tf.int32)).batch(2))
    assert batch.to_list() == [[[1, 2], [3]]] * 2


def test_datasets_as_elements():
    spec = tf.data.DatasetSpec(Spec([], tf.int64))
    (inner,) = list(of([tf.data.Dataset.range(3)], spec))
    assert values(inner) == [0, 1, 2]


def test_arguments_arrive_as_numpy_values():
    seen = []

    def generator(number, text, array):
        seen.append((type(number), text, array))
        array[0] = 9  # a copy
        yield number

    dataset = tf.data.Dataset.from_generator(generator, args=(3, "x", [1, 2]), output_signature=Spec([], tf.int32))
    assert values(dataset) == [3]
    assert values(dataset) == [3]
    assert seen[0][:2] == (np.int32, b"x")
    assert seen[1][2].tolist() == [9, 2]


def test_each_walk_calls_the_generator():
    calls = []

    def generator():
        calls.append(None)
        yield len(calls)

    dataset = tf.data.Dataset.from_generator(generator, output_signature=Spec([], tf.int32))
    assert values(dataset.repeat(3)) == [1, 2, 3]
    assert calls == [None] * 3


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("bad"), tf.errors.InvalidArgumentError),
        (TypeError("bad"), tf.errors.InvalidArgumentError),
        (KeyError("bad"), tf.errors.UnknownError),
        (tf.errors.NotFoundError(None, None, "bad"), tf.errors.UnknownError),
        (NotImplementedError("bad"), tf.errors.UnimplementedError),
    ],
)
def test_errors_of_the_generator(error, kind):
    def generator():
        yield 1
        raise error

    dataset = tf.data.Dataset.from_generator(generator, output_signature=Spec([], tf.int32))
    iterator = iter(dataset)
    assert int(next(iterator)) == 1
    with pytest.raises(kind, match=r"(?s)bad.*in generator.*element 1") as caught:
        next(iterator)
    assert type(error).__name__ in str(caught.value)
    assert list(iterator) == []  # a generator that raised has ended
    with pytest.raises(kind):
        values(dataset.batch(2))


def test_errors_before_the_first_element():
    def broken():
        raise RuntimeError("at once")

    with pytest.raises(tf.errors.UnknownError, match="at once"):
        values(tf.data.Dataset.from_generator(broken, output_signature=Spec([], tf.int32)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not iterable"):
        values(tf.data.Dataset.from_generator(lambda: 3, output_signature=Spec([], tf.int32)))


def test_elements_after_one_that_does_not_fit():
    iterator = iter(of([np.ones(2), np.ones(3), np.zeros(2)], Spec([2], tf.float64)))
    assert next(iterator).numpy().tolist() == [1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1"):
        next(iterator)
    assert next(iterator).numpy().tolist() == [0, 0]


def test_the_same_array_with_other_contents():
    def generator():
        array = np.zeros(2, np.int32)
        for i in range(3):
            array[:] = i
            yield array

    dataset = tf.data.Dataset.from_generator(generator, output_signature=Spec([2], tf.int32))
    assert [x.tolist() for x in values(dataset)] == [[0, 0], [1, 1], [2, 2]]
    assert values(dataset.batch(3))[0].tolist() == [[0, 0], [1, 1], [2, 2]]


def test_a_dropped_iterator_ends_the_generator():
    ended = []

    def generator():
        try:
            yield from range(10)
        finally:
            ended.append(True)

    dataset = tf.data.Dataset.from_generator(generator, output_signature=Spec([], tf.int32))
    for pipeline in (dataset, dataset.prefetch(2), dataset.take(3), dataset.batch(2)):
        ended.clear()
        iterator = iter(pipeline)
        next(iterator)
        assert not ended
        del iterator
        gc.collect()
        assert ended == [True]


def test_resume():
    def generator():
        for i in range(100):
            yield i, np.full(3, i)

    signature = (Spec([], tf.int32), Spec([3], tf.int64))
    dataset = tf.data.Dataset.from_generator(generator, output_signature=signature).batch(7)
    expected = values(dataset)
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    state = iterator.state_dict()
    other = iter(dataset)
    other.load_state_dict(state)
    rest = [tuple(part.numpy() for part in element) for element in other]
    assert len(rest) == len(expected) - 5
    for got, wanted in zip(rest, expected[5:]):
        np.testing.assert_array_equal(got[0], wanted[0])
        np.testing.assert_array_equal(got[1], wanted[1])


def test_large_blocks_take_no_more_memory_than_there_are_elements():
    dataset = of([np.zeros(1000)] * 3, Spec([1000], tf.float64)).batch(10**9)
    assert values(dataset)[0].shape == (3, 1000)


def test_in_a_function():
    dataset = tf.data.Dataset.from_generator(lambda n: iter(range(n)), args=[5], output_signature=Spec([], tf.int64))

    @tf.function
    def total(count):
        result = tf.constant(0, tf.int64)
        inner = tf.data.Dataset.from_generator(
            lambda n: iter(range(n)), args=[count], output_signature=Spec([], tf.int64)
        )
        for x in inner:
            result += x
        for x in dataset:
            result += x
        return result

    assert int(total(tf.constant(4))) == 6 + 10
    assert int(total(tf.constant(3))) == 3 + 10


def test_legacy_types_and_shapes():
    dataset = tf.data.Dataset.from_generator(lambda: iter([([1, 2], 3)]), (tf.int32, tf.int64), ([2], []))
    assert dataset.element_spec == (Spec([2], tf.int32), Spec([], tf.int64))
    assert repr(dataset).startswith("<_FlatMapDataset element_spec=(")
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert tf.data.Dataset.from_generator(lambda: iter([1]), tf.int32).element_spec == Spec(None, tf.int32)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (dict(generator=lambda: iter([])), "output_signature"),
        (dict(generator=3, output_types=tf.int32), "callable"),
        (dict(generator=iter, output_types=tf.int32, output_signature=Spec([], tf.int32)), "together"),
        (dict(generator=iter, output_signature=tf.int32), "TypeSpec"),
        (dict(generator=iter, output_signature=[Spec([], tf.int32)]), "TypeSpec"),
        (dict(generator=iter, output_signature=(Spec([], tf.int32), None)), "TypeSpec"),
        (dict(generator=iter, output_types=[tf.int32]), "output_types"),
        (dict(generator=iter, output_types=(tf.int32, tf.int32), output_shapes=[3]), "output_shapes"),
        (dict(generator=iter, output_types=tf.int32, args=3), "args"),
        (dict(generator=iter, output_signature=()), "component"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(TypeError, match=match):
        tf.data.Dataset.from_generator(**arguments)


def test_in_flat_map_and_interleave():
    def numbers(n):
        for i in range(n):
            yield 10 * n + i

    def inner(n):
        return tf.data.Dataset.from_generator(numbers, args=[n], output_signature=Spec([], tf.int64))

    source = tf.data.Dataset.range(1, 4)
    assert values(source.flat_map(inner)) == [10, 20, 21, 30, 31, 32]
    assert values(source.interleave(inner, cycle_length=3)) == [10, 20, 30, 21, 31, 32]
    assert values(source.interleave(inner, cycle_length=2, num_parallel_calls=2)) == [10, 20, 21, 30, 31, 32]
    assert values(source.flat_map(inner).batch(4))[0].tolist() == [10, 20, 21, 30]
