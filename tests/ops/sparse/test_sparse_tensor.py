"""Sparse tensors beyond single calls: texts, errors, protocols, gradients, and agreement with dense arrays."""

import copy
import pickle

import numpy as np
import pytest

import headrace as tf


def _random_sparse(generator, shape, dtype=np.float32):
    dense = np.where(generator.random(shape) < 0.4, generator.standard_normal(shape), 0).astype(dtype)
    return dense, tf.sparse.from_dense(dense)


@pytest.mark.parametrize("seed", range(4))
def test_functions_agree_with_dense_arrays(seed):
    generator = np.random.Generator(np.random.PCG64(seed))
    dense, sparse = _random_sparse(generator, (4, 3, 5))
    other_dense, other = _random_sparse(generator, (4, 3, 5))
    to_dense = tf.sparse.to_dense
    np.testing.assert_array_equal(to_dense(sparse), dense)
    np.testing.assert_array_equal(to_dense(tf.sparse.transpose(sparse, [2, 0, 1])), dense.transpose(2, 0, 1))
    np.testing.assert_array_equal(to_dense(tf.sparse.reshape(sparse, [5, -1])), dense.reshape(5, -1))
    np.testing.assert_allclose(to_dense(tf.sparse.add(sparse, other)), dense + other_dense, rtol=1e-6)
    np.testing.assert_array_equal(to_dense(tf.sparse.maximum(sparse, other)), np.maximum(dense, other_dense))
    np.testing.assert_array_equal(to_dense(tf.sparse.minimum(sparse, other)), np.minimum(dense, other_dense))
    np.testing.assert_allclose(tf.sparse.reduce_sum(sparse, axis=[0, 2]), dense.sum((0, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(
        to_dense(tf.sparse.concat(1, [sparse, other])), np.concatenate([dense, other_dense], axis=1)
    )
    np.testing.assert_array_equal(to_dense(tf.sparse.slice(sparse, [1, 0, 2], [2, 3, 9])), dense[1:3, :, 2:])
    parts = tf.sparse.split(sparse, 2, axis=2)
    np.testing.assert_array_equal(to_dense(parts[0]), dense[:, :, :3])
    np.testing.assert_array_equal(to_dense(parts[1]), dense[:, :, 3:])
    np.testing.assert_array_equal(to_dense(tf.sparse.expand_dims(sparse, -2)), dense[:, :, None])
    factor = generator.standard_normal((3, 1)).astype(np.float32)
    np.testing.assert_array_equal(to_dense(sparse * factor), dense * factor)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.complex64])
def test_products_agree_with_dense_arrays(dtype):
    generator = np.random.Generator(np.random.PCG64(1))
    dense = (np.where(generator.random((6, 4)) < 0.4, 5 * generator.standard_normal((6, 4)), 0)).astype(dtype)
    sparse = tf.sparse.from_dense(dense)
    right = (5 * generator.standard_normal((4, 3))).astype(dtype)
    left = (5 * generator.standard_normal((3, 6))).astype(dtype)
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(sparse, right), dense @ right, rtol=1e-4)
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(left, sparse), left @ dense, rtol=1e-4)
    np.testing.assert_allclose(
        tf.sparse.sparse_dense_matmul(sparse, left, adjoint_a=True, adjoint_b=True), (left @ dense).conj().T, rtol=1e-4
    )


def test_repeated_and_unsorted_positions():
    repeated = tf.SparseTensor([[1], [0], [1]], [1.0, 2.0, 4.0], [3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.sparse.to_dense(repeated)
    with pytest.raises(tf.errors.InvalidArgumentError, match="repeated"):
        tf.sparse.to_dense(tf.sparse.reorder(repeated))
    assert tf.sparse.to_dense(repeated, validate_indices=False).numpy().tolist() == [2.0, 4.0, 0.0]
    assert tf.sparse.reduce_sum(repeated, axis=[]).numpy().tolist() == [2.0, 5.0, 0.0]
    matrix = tf.SparseTensor([[1, 0], [0, 1], [1, 0]], [1.0, 2.0, 4.0], [2, 2])
    assert tf.sparse.sparse_dense_matmul(matrix, [[1.0], [10.0]]).numpy().tolist() == [[20.0], [5.0]]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tf.SparseTensor([[0, 0]], [1, 2], [2, 2]), ValueError, "indices must be"),
        (lambda: tf.SparseTensor([0], [1], [2]), ValueError, "rank 2"),
        (lambda: tf.sparse.to_dense(tf.SparseTensor([[5]], [1], [2])), tf.errors.InvalidArgumentError, r"\[5\]"),
        (lambda: tf.sparse.to_dense(5), TypeError, "must be a SparseTensor, got int"),
        (lambda: tf.sparse.add(tf.sparse.eye(2), tf.sparse.eye(3)), tf.errors.InvalidArgumentError, "do not match"),
        (lambda: tf.sparse.sparse_dense_matmul(tf.sparse.eye(2), [[1.0]]), tf.errors.InvalidArgumentError, "2 vs. 1"),
        (lambda: tf.sparse.reshape(tf.sparse.eye(2), [3]), tf.errors.InvalidArgumentError, "4 elements"),
        (lambda: tf.sparse.split(tf.sparse.eye(2), 3, axis=0), tf.errors.InvalidArgumentError, "num_split"),
        (lambda: tf.sparse.retain(tf.sparse.eye(2), [True]), ValueError, "not compatible"),
        (lambda: tf.sparse.reset_shape(tf.sparse.eye(2), [1, 1]), ValueError, "dimension sizes"),
        (lambda: tf.sparse.bincount([-1]), tf.errors.InvalidArgumentError, "non-negative"),
    ],
)
def test_errors_say_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_sizes_are_checked_before_memory_is_taken():
    huge = tf.SparseTensor([[0, 0]], [1.0], [2**40, 2**40])
    with pytest.raises(tf.errors.InvalidArgumentError, match="too many"):
        tf.sparse.to_dense(huge)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too many"):
        tf.sparse.reduce_sum(huge, axis=[])
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
        tf.sparse.to_dense(tf.SparseTensor([[0]], [1.0], [2**50]))


def test_operators():
    sparse = tf.SparseTensor([[0, 1]], [6], [2, 2])
    assert (sparse * 2).values.numpy().tolist() == [12]
    assert (sparse / 4).values.dtype == tf.float64
    with pytest.raises(TypeError):
        sparse + sparse
    with pytest.raises(TypeError):
        2 * sparse
    with pytest.raises(TypeError):
        -sparse
    with pytest.raises((TypeError, ValueError), match="SparseTensor"):
        tf.convert_to_tensor(sparse)
    with pytest.raises((TypeError, ValueError)):
        tf.add(sparse, sparse)


def test_gradients_of_and_by_sparse_tensors():
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sparse)
        product = tf.sparse.sparse_dense_matmul(sparse, [[1.0, 2.0], [3.0, 4.0]])
        scaled = sparse * 5.0
    gradient = tape.gradient(product, sparse)
    assert isinstance(gradient, tf.SparseTensor)
    assert gradient.values.numpy().tolist() == [7.0, 3.0]
    assert tape.gradient(scaled, sparse).values.numpy().tolist() == [5.0, 5.0]


def test_composite_protocols():
    sparse = tf.SparseTensor([[0, 1]], ["a"], [2, 3])
    flat = tf.nest.flatten(sparse, expand_composites=True)
    assert [part.dtype for part in flat] == [tf.int64, tf.string, tf.int64]
    again = tf.nest.pack_sequence_as(sparse, flat, expand_composites=True)
    assert tf.sparse.to_dense(again).numpy().tolist() == [[b"", b"a", b""], [b"", b"", b""]]
    spec = tf.type_spec_from_value(sparse)
    assert spec == tf.SparseTensorSpec([2, 3], tf.string)
    assert pickle.loads(pickle.dumps(spec)) == spec
    for copied in (copy.copy(sparse), copy.deepcopy(sparse), pickle.loads(pickle.dumps(sparse))):
        assert copied.values.numpy().tolist() == [b"a"]
    text = repr(tf.SparseTensor([[0, 1]], [5], [2, 3]))
    assert text == (
        "SparseTensor(indices=tf.Tensor([[0 1]], shape=(1, 2), dtype=int64), "
        "values=tf.Tensor([5], shape=(1,), dtype=int32), dense_shape=tf.Tensor([2 3], shape=(2,), dtype=int64))"
    )


def test_batches_through_variants():
    sparse = tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [1, 2, 3], [3, 4])
    spec = sparse._type_spec
    (rows,) = spec._to_batched_tensor_list(sparse)
    assert rows.shape == (3, 3)
    element = spec._unbatch()
    elements = [element._from_tensor_list([rows[i]]) for i in range(3)]
    assert [part.values.numpy().tolist() for part in elements] == [[1], [], [2, 3]]
    stacked = tf.stack([element._to_tensor_list(part)[0] for part in elements])
    again = element._batch(3)._from_tensor_list([stacked])
    np.testing.assert_array_equal(tf.sparse.to_dense(again), tf.sparse.to_dense(sparse))


@pytest.mark.parametrize("seed", range(3))
def test_damaged_messages_give_typed_errors(seed):
    """Any bytes are a sparse tensor or an InvalidArgumentError."""
    generator = np.random.Generator(np.random.PCG64(seed))
    good = tf.io.serialize_many_sparse(tf.SparseTensor([[0, 1], [1, 0]], ["abc", "de"], [2, 3])).numpy()
    for _ in range(300):
        damaged = good.copy()
        row, column = generator.integers(0, 2), generator.integers(0, 3)
        data = bytearray(damaged[row, column])
        for _ in range(int(generator.integers(1, 4))):
            data[int(generator.integers(0, len(data)))] = int(generator.integers(0, 256))
        damaged[row, column] = bytes(data[: int(generator.integers(0, len(data) + 1))])
        try:
            tf.io.deserialize_many_sparse(damaged, tf.string)
        except tf.errors.InvalidArgumentError:
            pass
