"""`tf.lookup`: tables from keys to values."""

from typing import TYPE_CHECKING, Any

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import RestoredSpec
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.registry import lookup as op_named
from headrace._src.ops.arrays.selecting import where
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.ops.strings.hash_buckets import to_hash_bucket_fast
from headrace._src.ops.strings.numbers import as_string
from headrace._src.state.resources import TrackableResource, name_in_session
from headrace._src.state.table_ops import (
    ANONYMOUS_HASH_TABLE,
    ANONYMOUS_MUTABLE_DENSE_HASH_TABLE,
    ANONYMOUS_MUTABLE_HASH_TABLE,
    ANONYMOUS_MUTABLE_HASH_TABLE_OF_TENSORS,
    HASH_TABLE,
    LOOKUP_TABLE_EXPORT,
    LOOKUP_TABLE_FIND,
    LOOKUP_TABLE_IMPORT,
    LOOKUP_TABLE_INSERT,
    LOOKUP_TABLE_REMOVE,
    LOOKUP_TABLE_SIZE,
    MUTABLE_DENSE_HASH_TABLE,
    MUTABLE_HASH_TABLE,
    MUTABLE_HASH_TABLE_OF_TENSORS,
)

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType


class LookupInterface(TrackableResource):
    """Base of tables.

    Every table is anonymous: it lives as long as somebody has it, and shares nothing by name. Those of 1.x graphs are
    kept by sessions.
    """

    def __init__(self, key_dtype, value_dtype) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        super().__init__()

    @property
    def key_dtype(self) -> "DType":
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> "DType":
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self) -> None:
        """TF: no name, as tables made eagerly have none."""
        return None

    def size(self, name=None) -> Tensor:
        """How many keys there are, as an int64 scalar."""
        return LOOKUP_TABLE_SIZE(self.resource_handle, name=name)

    def __getitem__(self, keys) -> Tensor:
        """The same as `lookup(keys)`."""
        return self.lookup(keys)

    def _key_tensor(self, keys):
        """Keys as a tensor of the table's dtype."""
        if not isinstance(keys, (SparseTensor, RaggedTensor)):
            keys = to_tensor(keys, None if hasattr(keys, "dtype") else self._key_dtype)
        if keys.dtype != self._key_dtype:
            dtype = dtypes.as_dtype(keys.dtype).name
            raise TypeError(f"{type(self).__name__}: keys must be {self._key_dtype.name}, got {dtype}.")
        return keys

    def _on_values(self, keys, find):
        """`find` of a tensor, or of the values of a sparse or ragged one."""
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, find(keys.values), keys.dense_shape)
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(find(keys.flat_values))
        return find(keys)

    def _export(self, name=None):
        return tuple(
            LOOKUP_TABLE_EXPORT(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype, name=name
            )
        )


@api("lookup.StaticHashTable")
class StaticHashTable(LookupInterface):
    """A table that is filled once, when it is made.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [10, 20])
    >>> table = tf.lookup.StaticHashTable(init, default_value=-1)
    >>> table[tf.constant(["b", "c"])].numpy().tolist(), int(table.size())
    ([20, -1], 2)

    Args:
        initializer: what fills it, such as a `KeyValueTensorInitializer` or a `TextFileInitializer`.
        default_value: the value of keys that are not there.
        name: accepted for compatibility.
        experimental_is_anonymous: accepted for compatibility; every table is.
    """

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._name = name or "hash_table"
        self._default_value = to_tensor(default_value, self._value_dtype)
        self._default_value.shape.assert_is_compatible_with(TensorShape([]))
        self._initializer = self._track_trackable(initializer, "_initializer")
        self._resource_handle = self._create_resource()
        self._init_op = self._initialize()

    def _create_resource(self):
        types = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        name = name_in_session(self._name)
        if name is not None:
            return HASH_TABLE(shared_name=name, name=self._name, **types)
        return ANONYMOUS_HASH_TABLE(**types)

    def _initialize(self):
        done = self._initializer.initialize(self)
        if name_in_session(self._name) is not None:
            context.graph.add_to_collection("table_initializer", done)  # what tf.compat.v1.tables_initializer runs
        return done

    @property
    def initializer(self) -> Any:
        """In a 1.x graph, the operation that fills the table; None where that has happened."""
        return self._init_op

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not there."""
        return self._default_value

    def lookup(self, keys, name=None) -> Tensor:
        """The values of keys, which may be a tensor, sparse or ragged.

        Raises:
            TypeError: when the keys are not of the table's dtype.
        """

        def find(tensor):
            values = LOOKUP_TABLE_FIND(self.resource_handle, tensor, self._default_value, name=name)
            values.set_shape(tensor.shape)  # the op does not know, since other tables have vectors as values
            return values

        return self._on_values(self._key_tensor(keys), find)

    def export(self, name=None) -> tuple[Tensor, Tensor]:
        """All keys and their values, as two tensors in no particular order."""
        return self._export(name)


@api("lookup.StaticVocabularyTable")
class StaticVocabularyTable(LookupInterface):
    """A table from words to ids, in which unknown words get one of some further ids by their hash.

    >>> words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=3)
    >>> table.lookup(tf.constant(["a", "z"])).numpy().tolist(), int(table.size())
    ([0, 3], 5)

    Args:
        initializer: the ids of known words, int64; None when there are none.
        num_oov_buckets: the number of ids for unknown words, which follow those of the known ones.
        lookup_key_dtype: the dtype of keys to look up; that of the initializer when None.
        name: accepted for compatibility.
        experimental_is_anonymous: accepted for compatibility; every table is.
    """

    def __init__(
        self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError(
                f"lookup.StaticVocabularyTable: num_oov_buckets must be above 0, got {num_oov_buckets}; "
                f"without further ids, use StaticHashTable."
            )
        wanted = None if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
        self._table = None
        key_dtype = dtypes.string
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                dtype = initializer.value_dtype.name
                raise TypeError(f"lookup.StaticVocabularyTable: the values must be int64, got {dtype}.")
            if not (initializer.key_dtype.is_integer or initializer.key_dtype == dtypes.string):
                raise TypeError(
                    f"lookup.StaticVocabularyTable: the keys must be integers or strings, got "
                    f"{initializer.key_dtype.name}."
                )
            key_dtype = wanted or initializer.key_dtype
            if key_dtype.is_integer != initializer.key_dtype.is_integer:
                raise TypeError(
                    f"lookup.StaticVocabularyTable: lookup_key_dtype {key_dtype.name} does not go with "
                    f"keys of "
                    f"dtype {initializer.key_dtype.name}."
                )
            self._table = StaticHashTable(initializer, default_value=-1)
        super().__init__(key_dtype, dtypes.int64)
        self._num_oov_buckets = num_oov_buckets
        if initializer is not None:
            self._initializer = self._track_trackable(initializer, "_initializer")

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the table of known words; None when there are none."""
        return None if self._table is None else self._table.resource_handle

    def _create_resource(self):
        return None if self._table is None else self._table._create_resource()

    def _initialize(self):
        return None if self._table is None else self._table._initialize()

    def size(self, name=None) -> Tensor:
        """The number of ids, those for unknown words included."""
        unknown = to_tensor(self._num_oov_buckets, dtypes.int64)
        return unknown if self._table is None else op_named("AddV2")(self._table.size(), unknown)

    def _find(self, keys, name):
        if self._table is not None and keys.dtype != self._table.key_dtype:
            keys = op_named("Cast")(keys, DstT=self._table.key_dtype)
        words = keys if keys.dtype == dtypes.string else as_string(keys)
        buckets = to_hash_bucket_fast(words, self._num_oov_buckets, name=name)
        if self._table is None:
            return buckets
        ids = self._table.lookup(keys)
        known = op_named("NotEqual")(ids, self._table.default_value)
        return where(known, ids, op_named("AddV2")(buckets, self._table.size()))

    def lookup(self, keys, name=None) -> Tensor:
        """The ids of keys, which may be a tensor, sparse or ragged.

        Raises:
            TypeError: when the keys are not of the table's dtype.
        """
        return self._on_values(self._key_tensor(keys), lambda tensor: self._find(tensor, name))


class _MutableTable(LookupInterface):
    """What tables that can change have in common."""

    def lookup(self, keys, dynamic_default_values=None, name=None) -> Tensor:
        """The values of keys.

        Args:
            keys: keys of the table's dtype; sparse and ragged ones too.
            dynamic_default_values: instead of the table's default: one value, or one for each key.
            name: a name for the operation.
        """
        if not isinstance(keys, (SparseTensor, RaggedTensor)):
            keys = to_tensor(keys, self._key_dtype)
        default = self._default_value
        if dynamic_default_values is not None:
            default = to_tensor(dynamic_default_values, self._value_dtype)
        return self._on_values(
            self._key_tensor(keys),
            lambda tensor: LOOKUP_TABLE_FIND(self.resource_handle, tensor, default, name=name),
        )

    def insert(self, keys, values, name=None) -> Any:
        """Put values in, in place of those that the keys had.

        Raises:
            ValueError: when the dtypes are not the table's.
            InvalidArgumentError: when there are not as many values as keys.
        """
        keys = to_tensor(keys, self._key_dtype)
        values = to_tensor(values, self._value_dtype)
        return LOOKUP_TABLE_INSERT(self.resource_handle, keys, values, name=name)

    def remove(self, keys, name=None) -> Any:
        """Take keys and their values out; keys that are not there are ignored."""
        return LOOKUP_TABLE_REMOVE(self.resource_handle, self._key_tensor(keys), name=name)

    # Checkpoints: one tensor for the keys, one for the values.

    _saveable_name = "table"

    def _serialize_to_tensors(self):
        keys, values = self._export()
        return {"-keys": keys, "-values": values}

    def _restored_specs(self):
        return {"-keys": RestoredSpec(self._key_dtype), "-values": RestoredSpec(self._value_dtype)}

    def _restore_from_tensors(self, restored_tensors):
        return LOOKUP_TABLE_IMPORT(self.resource_handle, restored_tensors["-keys"], restored_tensors["-values"])


@api("lookup.experimental.MutableHashTable")
class MutableHashTable(_MutableTable):
    """A table that can be changed.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.remove(tf.constant(["a"]))
    >>> table.lookup(["a", "b"]).numpy().tolist()
    [-1, 2]

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of keys that are not there, a scalar or vector; all values have its shape.
        name: accepted for compatibility.
        checkpoint: accepted for compatibility; the contents are part of checkpoints.
        experimental_is_anonymous: accepted for compatibility; every table is.
    """

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        name="MutableHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = to_tensor(default_value, self._value_dtype)
        self._value_shape = self._default_value.shape
        self._name = name
        self._checkpoint = checkpoint
        self._resource_handle = self._create_resource()

    def _create_resource(self):
        types = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        name = name_in_session(self._name)
        scalars = self._value_shape.rank == 0
        if not scalars:
            types["value_shape"] = tuple(self._value_shape.as_list())
        if name is not None:
            op = MUTABLE_HASH_TABLE if scalars else MUTABLE_HASH_TABLE_OF_TENSORS
            return op(shared_name=name, name=self._name, **types)
        return (ANONYMOUS_MUTABLE_HASH_TABLE if scalars else ANONYMOUS_MUTABLE_HASH_TABLE_OF_TENSORS)(**types)

    def export(self, name=None) -> tuple[Tensor, Tensor]:
        """All keys and their values, as two tensors in no particular order."""
        return self._export(name)


@api("lookup.experimental.DenseHashTable")
class DenseHashTable(_MutableTable):
    """A table that can be changed, kept in buckets that checkpoints contain as they are.

    >>> table = tf.lookup.experimental.DenseHashTable(
    ...     tf.string, tf.int64, default_value=-1, empty_key="", deleted_key="$")
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.lookup(["b", "c"]).numpy().tolist()
    [2, -1]

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of keys that are not there; all values have its shape.
        empty_key, deleted_key: two different keys that are never used; all keys have their shape.
        initial_num_buckets: a power of 2.
        name: accepted for compatibility.
        checkpoint: accepted for compatibility; the contents are part of checkpoints.
        experimental_is_anonymous: accepted for compatibility; every table is.

    Raises:
        InvalidArgumentError: when the two keys are equal, or are used as keys.
    """

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = to_tensor(default_value, self._value_dtype)
        self._value_shape = self._default_value.shape
        self._empty_key = to_tensor(empty_key, self._key_dtype)
        self._deleted_key = to_tensor(deleted_key, self._key_dtype)
        self._initial_num_buckets = 131072 if initial_num_buckets is None else int(initial_num_buckets)
        self._name = name
        self._checkpoint = checkpoint
        self._resource_handle = self._create_resource()

    def _create_resource(self):
        keywords = {
            "value_dtype": self._value_dtype, "value_shape": tuple(self._value_shape.as_list()),
            "initial_num_buckets": self._initial_num_buckets,
        }  # fmt: skip
        name = name_in_session(self._name)
        if name is not None:
            return MUTABLE_DENSE_HASH_TABLE(
                self._empty_key, self._deleted_key, shared_name=name, name=self._name, **keywords
            )
        return ANONYMOUS_MUTABLE_DENSE_HASH_TABLE(self._empty_key, self._deleted_key, **keywords)

    def insert_or_assign(self, keys, values, name=None) -> Any:
        """The same as `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys, name=None) -> Any:
        """The same as `remove`."""
        return self.remove(keys, name)

    def export(self, name=None) -> tuple[Tensor, Tensor]:
        """The keys and values of all buckets; those not in use have `empty_key` or `deleted_key`."""
        return self._export(name)
