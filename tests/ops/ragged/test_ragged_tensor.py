"""Ragged tensors beyond single calls: texts, errors, protocols, gradients, and agreement with plain Python."""

import copy
import pickle
import random

import numpy as np
import pytest

import headrace as tf


def _random_rows(generator, depth, width=4):
    """Nested lists of numbers whose rows have random lengths."""
    if depth == 0:
        return generator.randrange(-9, 9)
    return [_random_rows(generator, depth - 1, width) for _ in range(generator.randrange(width))]


def _leaves(rows, depth):
    return rows if depth == 1 else [leaf for row in rows for leaf in _leaves(row, depth - 1)]


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_lists_go_in_and_come_out(depth, seed):
    rows = _random_rows(random.Random(100 * depth + seed), depth)
    ragged = tf.ragged.constant(rows, tf.int32, ragged_rank=depth - 1)
    assert ragged.to_list() == rows
    assert ragged.flat_values.numpy().tolist() == _leaves(rows, depth)
    assert ragged.ragged_rank == depth - 1
    assert tf.RaggedTensor.from_nested_row_splits(ragged.flat_values, ragged.nested_row_splits).to_list() == rows
    assert tf.RaggedTensor.from_nested_row_lengths(ragged.flat_values, ragged.nested_row_lengths()).to_list() == rows
    assert (
        tf.RaggedTensor.from_nested_value_rowids(
            ragged.flat_values,
            ragged.nested_value_rowids(),
            [partition.nrows() for partition in ragged._nested_row_partitions],
        ).to_list()
        == rows
    )


_KEYS = [
    slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(None, None, 2), slice(-2, None),
    slice(3, 0, -1), slice(-1, -5, -2), slice(5, 9), slice(2, 1),
]  # fmt: skip


@pytest.mark.parametrize("key", _KEYS, ids=str)
def test_slices_do_to_rows_what_python_does(key):
    rows = [[1, 2, 3], [], [4], [5, 6, 7, 8]]
    ragged = tf.ragged.constant(rows)
    assert ragged[key].to_list() == rows[key]
    assert ragged[:, key].to_list() == [row[key] for row in rows]
    deep = [[[1, 2], [3]], [], [[4, 5, 6], [], [7]]]
    nested = tf.ragged.constant(deep)
    assert nested[:, key].to_list() == [row[key] for row in deep]
    assert nested[:, :, key].to_list() == [[row[key] for row in rows] for rows in deep]
    assert nested[key, key, key].to_list() == [[row[key] for row in rows[key]] for rows in deep[key]]


def test_rows_by_number():
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert [row.numpy().tolist() for row in ragged] == [[1, 2], [], [3]]
    assert ragged[-1].numpy().tolist() == [3]
    assert int(ragged[0, 1]) == 2
    assert ragged[tf.newaxis, 0].shape == (1, 2)
    with pytest.raises(IndexError, match="Row key 3 out of bounds"):
        ragged[3]
    with pytest.raises(ValueError, match="inner ragged dimension"):
        ragged[:, 0]
    with pytest.raises(TypeError, match="Only integers, slices"):
        ragged["a"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        ragged[0, 2]


def test_texts():
    assert repr(tf.ragged.constant([[1, 2], []])) == "<tf.RaggedTensor [[1, 2], []]>"
    assert str(tf.ragged.constant([["a"], [b"\xff"]])) == "<tf.RaggedTensor [[b'a'],\n [b'\\xff']]>"
    assert repr(tf.ragged.constant([[0.1, 1e20], []])) == "<tf.RaggedTensor [[0.1, 1e+20], []]>"
    assert "..., 97, 98, 99]" in repr(tf.ragged.constant([list(range(100))] * 30))
    assert repr(tf.experimental.RowPartition.from_row_lengths([1, 0])) == "tf.RowPartition(row_splits=[0 1 1])"


def test_what_ragged_tensors_cannot_do():
    ragged = tf.ragged.constant([[1, 2], []])
    with pytest.raises(TypeError, match="unhashable"):
        hash(ragged)
    with pytest.raises(TypeError, match="boolean"):
        bool(ragged)
    with pytest.raises(TypeError):
        len(ragged)
    with pytest.raises(ValueError, match="private"):
        tf.RaggedTensor(ragged.values, ragged._row_partition)
    with pytest.raises((TypeError, ValueError), match="RaggedTensor"):
        tf.convert_to_tensor(ragged)
    with pytest.raises((TypeError, ValueError)):
        tf.sort(ragged)
    with pytest.raises((TypeError, ValueError)):
        tf.transpose(ragged)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]), tf.errors.InvalidArgumentError, "rows end at 3"),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [1, 2]), tf.errors.InvalidArgumentError, "zero"),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1]), tf.errors.InvalidArgumentError, "monotonic"),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], []), ValueError, "may not be empty"),
        (lambda: tf.RaggedTensor.from_row_lengths([1, 2], [3, -1]), tf.errors.InvalidArgumentError, ">= 0"),
        (lambda: tf.RaggedTensor.from_value_rowids([1, 2], [1, 0]), tf.errors.InvalidArgumentError, "ascending"),
        (lambda: tf.RaggedTensor.from_value_rowids([1, 2], [0, 3], nrows=2), ValueError, "nrows=2"),
        (lambda: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2), ValueError, "nvals=3"),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0.0, 2.0]), ValueError, "int32 or int64"),
        (lambda: tf.ragged.constant([[1], 2]), ValueError, "nesting"),
    ],
)
def test_errors_say_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_gradients_of_and_by_ragged_tensors():
    ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(ragged)
        squares = ragged * ragged
        total = tf.reduce_sum(squares, axis=1)
    gradient = tape.gradient(squares, ragged)
    assert isinstance(gradient, tf.RaggedTensor)
    assert gradient.to_list() == [[2.0, 4.0], [], [6.0]]
    weights = tf.ragged.constant([[1.0, 10.0], [], [100.0]])
    assert tape.gradient(squares, ragged, output_gradients=weights).to_list() == [[2.0, 40.0], [], [600.0]]
    assert tape.gradient(total, ragged).to_list() == [[2.0, 4.0], [], [6.0]]


def test_second_derivative_through_rows():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            rows = tf.RaggedTensor.from_row_splits(x, [0, 2, 3])
            y = tf.reduce_sum(tf.reduce_sum(rows, axis=1) ** 3)
        first = inner.gradient(y, x)
    assert first.numpy().tolist() == [27.0, 27.0, 27.0]
    assert outer.gradient(first, x).numpy().tolist() == [36.0, 36.0, 18.0]


def test_composite_protocols():
    ragged = tf.ragged.constant([[[1], [2, 3]], []])
    flat = tf.nest.flatten(ragged, expand_composites=True)
    assert [part.dtype for part in flat] == [tf.int32, tf.int64, tf.int64]
    again = tf.nest.pack_sequence_as(ragged, flat, expand_composites=True)
    assert again.to_list() == ragged.to_list()
    assert again.shape == ragged.shape
    spec = tf.type_spec_from_value(ragged)
    assert spec == tf.RaggedTensorSpec([2, None, None], tf.int32)
    assert spec.is_compatible_with(ragged)
    assert hash(spec) == hash(tf.RaggedTensorSpec([2, None, None], tf.int32))
    for copied in (copy.copy(ragged), copy.deepcopy(ragged), pickle.loads(pickle.dumps(ragged))):
        assert copied.to_list() == ragged.to_list()
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_uniform_rows_survive_flattening():
    ragged = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [], [2], [3]]), 2)
    parts = tf.nest.flatten(ragged, expand_composites=True)
    again = tf.nest.pack_sequence_as(ragged, parts, expand_composites=True)
    assert again.shape == (2, 2, None)
    assert again[:, 1].to_list() == [[], [3]]


def test_batches_through_variants():
    ragged = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    spec = ragged._type_spec
    (rows,) = spec._to_batched_tensor_list(ragged)
    assert rows.shape == (3,)
    element = spec._unbatch()
    assert [element._from_tensor_list([rows[i]]).to_list() for i in range(3)] == ragged.to_list()
    stacked = tf.stack([element._to_tensor_list(part)[0] for part in (ragged[0], ragged[2])])
    assert element._batch(2)._from_tensor_list([stacked]).to_list() == [[[1], [2, 3]], [[4]]]


@pytest.mark.parametrize("seed", range(4))
def test_functions_agree_with_padded_arrays(seed):
    generator = np.random.Generator(np.random.PCG64(seed))
    lengths = generator.integers(0, 5, 6)
    values = generator.standard_normal(int(lengths.sum())).astype(np.float32)
    ragged = tf.RaggedTensor.from_row_lengths(values, lengths)
    mask = np.arange(5) < lengths[:, None]
    padded = np.zeros((6, 5), np.float32)
    padded[mask] = values
    np.testing.assert_array_equal(ragged.to_tensor(shape=[6, 5]), padded)
    np.testing.assert_allclose(tf.reduce_sum(ragged, axis=1), padded.sum(1), rtol=1e-5, atol=1e-6)
    wide = tf.reduce_sum(ragged, axis=0).numpy()
    np.testing.assert_allclose(wide, padded.sum(0)[: len(wide)], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(tf.sparse.to_dense(ragged.to_sparse()), padded[:, : lengths.max()])
    factors = generator.standard_normal((6, 1)).astype(np.float32)
    np.testing.assert_array_equal((ragged * factors).to_tensor(shape=[6, 5]), padded * factors)
    joined = tf.concat([ragged, ragged[:, ::-1]], axis=1)
    for i in range(6):
        row = padded[i, : lengths[i]]
        np.testing.assert_array_equal(joined[i], np.concatenate([row, row[::-1]]))


def test_dense_functions_refuse_what_they_do_not_know():
    """No dense function may take a ragged tensor for something else."""
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0, 4.0]])
    for function in (tf.linalg.inv, tf.linalg.det, tf.argmax, tf.unstack, tf.roll, tf.linalg.diag, tf.unique, tf.fill):
        arguments = {tf.roll: (1, 0), tf.fill: (1,)}.get(function, ())
        with pytest.raises((TypeError, ValueError)):
            function(ragged, *arguments)


def test_gathered_rows_are_ragged_even_where_the_parameters_are_uniform():
    uniform = tf.RaggedTensor.from_tensor(tf.zeros((5, 4, 3)))
    assert uniform.shape == (5, 4, 3)
    assert tf.gather(uniform, [0, 1]).shape.as_list() == [2, None, 3]
    assert tf.gather(uniform, [[0, 1], [1, 0]]).shape.as_list() == [2, None, None, 3]
    assert uniform[:2].shape.as_list() == [2, 4, 3]
