"""Lookup tables: what rows cannot say, such as threads, checkpoints and lifetimes."""

import gc
import threading
import weakref

import numpy as np
import pytest

import headrace as tf


def mutable():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b", "c"], [1, 2, 3])
    return table


def dense(**options):
    return tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1, **options
    )


def test_python_values_are_keys():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert table.lookup(["a", "z"]).numpy().tolist() == [1, -1]
    assert table.lookup(np.array(["b"])).numpy().tolist() == [2]
    assert int(table["a"]) == 1


def test_mutable_tables_take_sparse_and_ragged_keys():
    table = mutable()
    ragged = table.lookup(tf.ragged.constant([["a"], ["x", "b"]]))
    assert ragged.to_list() == [[1], [-1, 2]]
    sparse = table.lookup(tf.SparseTensor([[0, 1]], ["c"], [1, 2]))
    assert sparse.values.numpy().tolist() == [3]


@pytest.mark.parametrize("make", [mutable, dense])
def test_restores_what_it_serialized(make):
    table = make()
    if make is dense:
        keys = tf.constant([3, 5, 999], tf.int64)
        table.insert(keys, keys * 2)
        table.remove(keys[:1])
    saved = table._serialize_to_tensors()
    assert set(saved) == {"-keys", "-values"}
    other = make()
    other._restore_from_tensors(saved)
    assert int(other.size()) == int(table.size())
    keys = list(table._export()[0].numpy().ravel()) if make is mutable else [5, 999, 7]
    np.testing.assert_array_equal(other.lookup(keys).numpy(), table.lookup(keys).numpy())


def test_many_integer_keys_are_found_and_missed():
    keys = np.arange(0, 30000, 3)
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    table.insert(keys, keys * 10)
    wanted = np.arange(-5, 30010)
    found = table.lookup(wanted).numpy()
    np.testing.assert_array_equal(found, np.where(np.isin(wanted, keys), wanted * 10, -1))
    table.remove(tf.constant(keys[:100]))
    assert (table.lookup(keys[:300]).numpy()[:100] == -1).all()
    assert int(table.size()) == len(keys) - 100


def test_removed_rows_are_used_again():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    for start in range(0, 1000, 10):
        batch = tf.range(start, start + 10, dtype=tf.int64)
        table.insert(batch, batch)
        table.remove(batch)
    assert int(table.size()) == 0
    assert len(table.resource_handle.numpy()._values) <= 32


def test_dense_table_grows_without_losing_anything():
    table = dense(initial_num_buckets=4)
    rng = np.random.default_rng(0)
    expected = {}
    for _ in range(50):
        keys = rng.integers(1, 500, 20)
        table.insert(keys, keys * 3)
        expected.update(zip(keys.tolist(), (keys * 3).tolist(), strict=True))
        gone = np.unique(rng.integers(1, 500, 5))
        table.remove(tf.constant(gone))
        for key in gone.tolist():
            expected.pop(key, None)
    assert int(table.size()) == len(expected)
    every = np.arange(1, 500)
    wanted = [expected.get(key, -1) for key in every.tolist()]
    np.testing.assert_array_equal(table.lookup(every).numpy(), wanted)


def test_threads_insert_at_once():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def work(number):
        for i in range(200):
            table.insert([number * 1000 + i], [i])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(table.size()) == 800
    keys = np.array([number * 1000 + i for number in range(4) for i in range(200)])
    np.testing.assert_array_equal(table.lookup(keys).numpy(), np.tile(np.arange(200), 4))


def test_a_table_is_freed_with_its_last_owner():
    table = mutable()
    storage = weakref.ref(table.resource_handle.numpy())
    gc.disable()
    try:
        del table
        assert storage() is None
    finally:
        gc.enable()


def test_names_share_tables_only_while_they_live():
    first = tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="shared")
    again = tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="shared")
    tf.raw_ops.LookupTableInsertV2(table_handle=first, keys=["a"], values=tf.constant([1], tf.int64))
    assert int(tf.raw_ops.LookupTableSizeV2(table_handle=again)) == 1
    del first, again
    fresh = tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="shared")
    assert int(tf.raw_ops.LookupTableSizeV2(table_handle=fresh)) == 0


def test_the_initializer_is_a_child():
    init = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64))
    for table in (tf.lookup.StaticHashTable(init, -1), tf.lookup.StaticVocabularyTable(init, 1)):
        assert table._trackable_children() == {"_initializer": init}


def test_floats_can_be_keys():
    table = tf.lookup.experimental.MutableHashTable(tf.float32, tf.string, "?")
    table.insert([0.5, 1.5], ["half", "more"])
    assert table.lookup([1.5, 2.5]).numpy().tolist() == [b"more", b"?"]


def test_export_refuses_other_dtypes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="from string to int64"):
        tf.raw_ops.LookupTableExportV2(
            table_handle=mutable().resource_handle, Tkeys=tf.string, Tvalues=tf.int32
        )
