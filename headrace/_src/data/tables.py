"""Lookup tables filled from datasets: `tf.data.experimental.DatasetInitializer` and others."""

import collections
from typing import Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.specs import TensorSpec
from headrace._src.data.datasets import DatasetV2
from headrace._src.data.running.stages import Run, stage_of
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.state.lookup import LookupInterface, StaticHashTable, StaticVocabularyTable
from headrace._src.state.table_initializers import TableInitializerBase
from headrace._src.state.table_storage import storage_of

HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
_FAST_HASH = HasherSpec("fasthash", None)


def _initialize(table_handle, dataset):
    op = "InitializeTableFromDataset"
    stage = stage_of(dataset)
    run = Run(stage.options)
    cursor = run.call(stage.cursor, run)
    keys, values = [], []
    try:
        while (element := run.call(cursor.next)) is not None:
            keys.append(element[0][()])
            values.append(element[1][()])
    finally:
        run.stopped.set()
        cursor.close()
    storage = storage_of(op, table_handle)
    arrays = [np.empty(len(items), kind) for items, kind in ((keys, _kind(keys)), (values, _kind(values)))]
    for array, items in zip(arrays, (keys, values)):
        array[:] = items
    storage.initialize(*arrays, op)
    return ()


def _kind(items):
    return object if not items or isinstance(items[0], bytes) else items[0].dtype


INITIALIZE_TABLE_FROM_DATASET = Op(
    "InitializeTableFromDataset",
    "table_handle: resource, dataset: variant -> ",
    infer=lambda table_handle, dataset: (),
    kernel=_initialize,
    lower=None,
    grad=None,
    stateful=True,
    quiet=False,
)


@api("data.experimental.DatasetInitializer", dispatch=False)
class DatasetInitializer(TableInitializerBase):
    """Fills a lookup table from a dataset of pairs of key and value.

    Args:
        dataset: its elements are pairs of scalars.

    >>> pairs = tf.data.Dataset.zip(
    ...     tf.data.Dataset.from_tensor_slices(["a", "b"]), tf.data.Dataset.range(2))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), default_value=-1)
    >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
    [1, -1]
    """

    def __init__(self, dataset) -> None:
        self.dataset = dataset
        specs = nest.flatten(dataset.element_spec)
        if len(specs) != 2 or not all(isinstance(spec, TensorSpec) and spec.shape.rank == 0 for spec in specs):
            raise ValueError(
                "DatasetInitializer: elements of the dataset must be pairs of scalar tensors, key and value, got "
                f"{dataset.element_spec}."
            )
        super().__init__(specs[0].dtype, specs[1].dtype)

    def initialize(self, table) -> Any:
        self.check_table(table)
        return INITIALIZE_TABLE_FROM_DATASET(table.resource_handle, self.dataset._variant_tensor)


def _check_dataset(dataset, where):
    if not isinstance(dataset, DatasetV2):
        raise ValueError(f"{where}: `dataset` must be a tf.data.Dataset, got {type(dataset).__name__}.")


@api("data.experimental.table_from_dataset", dispatch=False)
def table_from_dataset(
    dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None, hasher_spec=_FAST_HASH,
    key_dtype=dtypes.string, name=None,
) -> LookupInterface:  # fmt: skip
    """A lookup table of the pairs of key and value in a dataset.

    Args:
        dataset: its elements are pairs of scalars.
        num_oov_buckets: how many further values there are for keys that are not in the table, chosen by their hash.
        vocab_size: how many pairs to take.
        default_value: for keys that are not in the table; needed unless there are such further values.
        hasher_spec: how keys that are not in the table are hashed.
        key_dtype: of the keys, `tf.string` or an integer type.
        name: a name for the operation.

    >>> table = tf.data.experimental.table_from_dataset(
    ...     tf.data.Dataset.range(3).enumerate(), default_value=-1, key_dtype=tf.int64)
    >>> int(table.lookup(tf.constant(2, tf.int64)))
    2
    """
    where = "table_from_dataset"
    _check_dataset(dataset, where)
    pair = dataset.element_spec
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise ValueError(f"{where}: elements of `dataset` must be pairs of key and value, got {pair}.")
    if vocab_size is not None:
        if isinstance(vocab_size, int) and vocab_size < 1:
            raise ValueError(f"{where}: `vocab_size` must be greater than 0, got {vocab_size}.")
        dataset = dataset.take(vocab_size)
    if num_oov_buckets < 0:
        raise ValueError(f"{where}: `num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    wanted = dtypes.as_dtype(key_dtype)
    if not (wanted.is_integer or wanted == dtypes.string):
        raise TypeError(f"{where}: only integer and string keys are supported, got {wanted.name}.")
    if wanted.is_integer != pair[0].dtype.is_integer:
        raise TypeError(f"{where}: keys are of type {pair[0].dtype.name}, not {wanted.name}.")
    if hasher_spec.hasher != "fasthash":
        raise TypeError(f"{where}: `hasher_spec` must be of the fast hash, got {hasher_spec.hasher}.")
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, lookup_key_dtype=wanted, name=name)
    if default_value is None:
        raise ValueError(f"{where}: give a `default_value` for keys that are not in the table, or `num_oov_buckets`.")
    return StaticHashTable(initializer, default_value, name=name)


@api("data.experimental.index_table_from_dataset", dispatch=False)
def index_table_from_dataset(
    dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=_FAST_HASH,
    key_dtype=dtypes.string, name=None,
) -> LookupInterface:  # fmt: skip
    """A lookup table of the numbers of elements.

    Args:
        dataset: its elements are the keys, scalars.
        num_oov_buckets: how many further numbers there are for keys that are not in the table, chosen by their hash.
        vocab_size: how many elements to take.
        default_value: for keys that are not in the table.
        hasher_spec: how keys that are not in the table are hashed.
        key_dtype: of the keys, `tf.string` or an integer type.
        name: a name for the operation.

    >>> table = tf.data.experimental.index_table_from_dataset(tf.data.Dataset.from_tensor_slices(["a", "b"]))
    >>> table.lookup(tf.constant(["b", "a", "c"])).numpy().tolist()
    [1, 0, -1]
    """
    _check_dataset(dataset, "index_table_from_dataset")
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
