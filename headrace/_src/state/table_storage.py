"""What lookup tables keep: keys, values, and how to find the ones by the others."""

import math
import threading

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.ops.strings.hashing import hash_strings, murmur64

_BATCH = 256  # from so many integer keys on, searching a sorted array is faster than a dict


class TableStorage:
    """The resource behind a table: a dict from keys to rows of an array of values.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        value_shape: the shape of one value.
        name: for messages.
    """

    key_shape: tuple = ()

    def __init__(self, key_dtype, value_dtype, value_shape=(), name=""):
        if key_dtype._kind not in "iusbf" or value_dtype._kind in "rv":
            raise errors.not_found(
                f"There is no table from {key_dtype.name} to {value_dtype.name}: keys must be numbers or "
                f"strings."
            )
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.value_shape = tuple(value_shape)
        self.name = name
        self.lock = threading.RLock()
        self._clear()

    def _clear(self):
        self._rows: dict = {}
        self._values = self._empty_values(4)
        self._free: list = []
        self._sorted = None

    def _empty_values(self, count):
        shape = (count, *self.value_shape)
        if self.value_dtype._kind == "s":
            return np.full(shape, b"", object)
        return np.zeros(shape, self.value_dtype._np)

    def check_types(self, op, keys=None, values=None):
        """Refuse arrays of other dtypes than the table's."""
        for label, array, dtype in (("keys", keys, self.key_dtype), ("values", values, self.value_dtype)):
            if array is not None and array.dtype != dtype._np:
                name = "string" if array.dtype == object else array.dtype.name
                raise errors.invalid_argument(f"{op}: the table's {label} are {dtype.name}, got {name}.")

    def _batch_shape(self, op, keys):
        """The shape of a batch of keys, without the dimensions of one key."""
        rank = keys.ndim - len(self.key_shape)
        # TF: keys that are vectors come in batches only.
        if rank < (1 if self.key_shape else 0) or keys.shape[rank:] != self.key_shape:
            raise errors.invalid_argument(
                f"{op}: keys must be a batch of keys of shape {self.key_shape}, got shape {keys.shape}."
            )
        return keys.shape[:rank]

    def _hashable(self, keys, count):
        """A batch of keys as a list of dict keys."""
        if self.key_shape:
            return [tuple(row) for row in keys.reshape(count, math.prod(self.key_shape)).tolist()]
        return keys.ravel().tolist()

    def _check_values(self, op, batch, values):
        expected = batch + self.value_shape
        if values.shape != expected:
            raise errors.invalid_argument(f"{op}: values must have shape {expected}, got {values.shape}.")

    # Reading.

    def size(self) -> int:
        return len(self._rows)

    def find(self, keys, default, op="LookupTableFindV2"):
        """The values of keys, `default` where there is none; `default` is one value, or one for each key."""
        self.check_types(op, keys, default)
        batch = self._batch_shape(op, keys)
        shape = batch + self.value_shape
        if default.shape not in (self.value_shape, shape):
            raise errors.invalid_argument(
                f"{op}: default_value must have shape {self.value_shape} or {shape}, got {default.shape}."
            )
        with self.lock:
            rows = self._find_rows(keys, math.prod(batch))
            result = self._values[np.maximum(rows, 0)]
        missing = rows < 0
        if missing.any():
            each = np.broadcast_to(default, shape).reshape(result.shape)
            result[missing] = each[missing]
        return result.reshape(shape)

    def _find_rows(self, keys, count):
        """The row of each key, -1 where there is none."""
        if count >= _BATCH and self.key_dtype._kind in "iu" and not self.key_shape and self._rows:
            if self._sorted is None:
                known = np.array(list(self._rows), self.key_dtype._np)
                order = np.argsort(known)
                self._sorted = known[order], np.array(list(self._rows.values()), np.int64)[order]
            known, rows = self._sorted
            places = np.minimum(np.searchsorted(known, keys.ravel()), len(known) - 1)
            return np.where(known[places] == keys.ravel(), rows[places], -1)
        find = self._rows.get
        return np.array([find(key, -1) for key in self._hashable(keys, count)], np.int64)

    def export(self):
        """(keys, values)."""
        with self.lock:
            keys = list(self._rows)
            rows = list(self._rows.values())
            values = self._values[rows] if rows else self._empty_values(0)
        if self.key_dtype._kind == "s":
            array = np.empty(len(keys), object)
            array[:] = keys
            return array, values
        return np.array(keys, self.key_dtype._np).reshape(len(keys), *self.key_shape), values

    # Writing.

    def _row_for(self, key):
        row = self._rows.get(key)
        if row is None:
            if not self._free:
                count = len(self._values)
                self._values = np.concatenate([self._values, self._empty_values(count)])
                self._free = list(range(2 * count - 1, count - 1, -1))
            row = self._rows[key] = self._free.pop()
        return row

    def _reserve(self):
        if not self._free and not self._rows:
            self._free = list(range(len(self._values) - 1, -1, -1))

    def insert(self, keys, values, op="LookupTableInsertV2"):
        """Put values in, in place of those that the keys had; of equal keys the last counts."""
        self.check_types(op, keys, values)
        batch = self._batch_shape(op, keys)
        self._check_values(op, batch, values)
        count = math.prod(batch)
        with self.lock:
            self._sorted = None
            self._reserve()
            rows = [self._row_for(key) for key in self._hashable(keys, count)]
            if rows:
                self._values[rows] = values.reshape(count, *self.value_shape)

    def remove(self, keys, op="LookupTableRemoveV2"):
        """Take keys out; those that are not there are ignored."""
        self.check_types(op, keys)
        count = math.prod(self._batch_shape(op, keys))
        with self.lock:
            self._sorted = None
            for key in self._hashable(keys, count):
                row = self._rows.pop(key, None)
                if row is not None:
                    self._free.append(row)

    def replace(self, keys, values, op="LookupTableImportV2"):
        """Become a table of these keys and values alone."""
        self.check_types(op, keys, values)
        self._check_values(op, self._batch_shape(op, keys), values)
        with self.lock:
            self._clear()
            self.insert(keys, values, op)


class StaticStorage(TableStorage):
    """A table that is filled once."""

    initialized = False

    def find(self, keys, default, op="LookupTableFindV2"):
        if not self.initialized:
            raise errors.failed_precondition(f"{op}: the table {self.name} is not initialized.")
        return super().find(keys, default, op)

    def initialize(self, keys, values, op):
        """Fill the table; nothing happens when that was done before."""
        self.check_types(op, keys, values)
        if not keys.size:
            raise errors.invalid_argument(f"{op}: keys and values must not be empty.")
        self._check_values(op, keys.shape, values)
        with self.lock:
            if self.initialized:
                return
            self._check_duplicates(op, keys.ravel().tolist(), values.reshape(keys.size))
            super().insert(keys, values, op)
            self.initialized = True

    @staticmethod
    def _check_duplicates(op, keys, values):
        if len(set(keys)) == len(keys):
            return
        first: dict = {}
        for key, value in zip(keys, values.tolist()):
            if first.setdefault(key, value) != value:
                raise errors.failed_precondition(
                    f"{op}: keys must have one value each, but {key!r} has {first[key]!r} and {value!r}."
                )

    def insert(self, keys, values, op="LookupTableInsertV2"):
        raise errors.unimplemented(f"{op}: this table is filled once, by its initializer.")

    def remove(self, keys, op="LookupTableRemoveV2"):
        raise errors.unimplemented(f"{op}: this table is filled once, by its initializer.")

    def replace(self, keys, values, op="LookupTableImportV2"):
        self.initialize(keys, values, op)


class DenseStorage(TableStorage):
    """Open addressing with quadratic probing: TensorFlow's layout, which its checkpoints contain as it is.

    The rows are buckets; the dict says in which bucket a key is.

    Args:
        empty_key, deleted_key: keys that stand for buckets never used, and for buckets whose key was removed.
        buckets: the number of buckets to begin with, a power of 2.
        max_load_factor: how full buckets may be before their number doubles.
    """

    def __init__(
        self, key_dtype, value_dtype, value_shape, name, empty_key, deleted_key, buckets, max_load_factor
    ):
        op = "MutableDenseHashTableV2"
        if empty_key.shape != deleted_key.shape or empty_key.ndim > 1:
            raise errors.invalid_argument(
                f"{op}: empty_key and deleted_key must be scalars or vectors of one shape, got "
                f"{empty_key.shape} and {deleted_key.shape}."
            )
        if np.array_equal(empty_key, deleted_key):
            raise errors.invalid_argument(f"{op}: empty_key and deleted_key must not be equal.")
        if buckets < 4 or buckets & (buckets - 1):
            raise errors.invalid_argument(
                f"{op}: initial_num_buckets must be at least 4 and a power of 2, got {buckets}."
            )
        if not 0 < max_load_factor < 1:
            raise errors.invalid_argument(
                f"{op}: max_load_factor must be between 0 and 1, got {max_load_factor}."
            )
        self.key_shape = empty_key.shape
        self.empty_key, self.deleted_key = empty_key, deleted_key
        self.max_load_factor = max_load_factor
        self._count = buckets
        super().__init__(key_dtype, value_dtype, value_shape, name)
        self._marks = {
            label: self._hashable(key[None], 1)[0]
            for label, key in (("empty_key", empty_key), ("deleted_key", deleted_key))
        }

    def _clear(self):
        self._rows = {}
        self._sorted = None
        self._values = self._empty_values(self._count)
        self._keys = np.empty((self._count, *self.key_shape), self.key_dtype._np)
        self._keys[...] = self.empty_key
        self._used = np.zeros(self._count, bool)

    def _checked(self, op, keys, count):
        items = self._hashable(keys, count)
        for label, mark in self._marks.items():
            if mark in items:
                raise errors.invalid_argument(f"{op}: the {label} {mark!r} must not be used as a key.")
        return items

    def _find_rows(self, keys, count):
        self._checked("LookupTableFindV2", keys, count)
        return super()._find_rows(keys, count)

    def _hashes(self, keys, count):
        flat = keys.reshape(count, math.prod(self.key_shape))
        if self.key_dtype._kind == "s":
            columns = hash_strings(murmur64, flat.ravel().tolist()).reshape(flat.shape)
        else:
            columns = flat.astype(np.int64).view(np.uint64)
        if not self.key_shape:
            return columns[:, 0]
        state = np.zeros(count, np.uint64)
        for column in columns.T:
            state = state ^ (column + 0x9E3779B97F4A7800 + (state << 10) + (state >> 4))
        return state

    def _place(self, items, keys, hashes):
        """The bucket of each key, new ones taking the first free bucket of their probe sequence."""
        mask = self._count - 1
        buckets = []
        for item, key, start in zip(items, keys, (hashes & np.uint64(mask)).tolist()):
            bucket = self._rows.get(item)
            if bucket is None:
                bucket, probes = start, 0
                while self._used[bucket]:
                    probes += 1
                    bucket = (bucket + probes) & mask
                self._rows[item] = bucket
                self._keys[bucket] = key
                self._used[bucket] = True
            buckets.append(bucket)
        return buckets

    def insert(self, keys, values, op="LookupTableInsertV2"):
        self.check_types(op, keys, values)
        batch = self._batch_shape(op, keys)
        self._check_values(op, batch, values)
        count = math.prod(batch)
        with self.lock:
            items = self._checked(op, keys, count)
            self._grow(len(self._rows) + count)
            self._sorted = None
            rows = keys.reshape(count, *self.key_shape)
            buckets = self._place(items, rows, self._hashes(rows, count))
            if buckets:
                self._values[buckets] = values.reshape(count, *self.value_shape)

    def _grow(self, entries):
        count = self._count
        while entries > count * self.max_load_factor:
            count *= 2
        if count == self._count:
            return
        occupied = np.flatnonzero(self._used)
        keys, values = self._keys[occupied], self._values[occupied]
        self._count = count
        self._clear()
        items = self._hashable(keys, len(occupied))
        self._values[self._place(items, keys, self._hashes(keys, len(occupied)))] = values

    def remove(self, keys, op="LookupTableRemoveV2"):
        self.check_types(op, keys)
        count = math.prod(self._batch_shape(op, keys))
        with self.lock:
            self._sorted = None
            for item in self._checked(op, keys, count):
                bucket = self._rows.pop(item, None)
                if bucket is not None:
                    self._keys[bucket] = self.deleted_key
                    self._used[bucket] = False

    def export(self):
        """(keys, values) of all buckets, in use or not, as matrices."""
        with self.lock:
            return self._keys.reshape(self._count, -1).copy(), self._values.reshape(self._count, -1).copy()

    def replace(self, keys, values, op="LookupTableImportV2"):
        """Take over buckets that `export` returned."""
        self.check_types(op, keys, values)
        count = keys.shape[0] if keys.ndim else 0
        if count < 4 or count & (count - 1):
            raise errors.invalid_argument(f"{op}: the number of buckets must be a power of 2, got {count}.")
        sizes = count * math.prod(self.key_shape), count * math.prod(self.value_shape)
        if (keys.size, values.size) != sizes:
            raise errors.invalid_argument(
                f"{op}: keys of shape {keys.shape} and values of shape {values.shape} do not fit the table's "
                f"shapes {self.key_shape} and {self.value_shape}."
            )
        with self.lock:
            self._count = count
            self._clear()
            self._keys[...] = keys.reshape(self._keys.shape)
            self._values[...] = values.reshape(self._values.shape)
            marks = set(self._marks.values())
            for bucket, item in enumerate(self._hashable(self._keys, count)):
                if item not in marks:
                    self._rows[item] = bucket
                    self._used[bucket] = True


def storage_of(op: str, handle: np.ndarray) -> TableStorage:
    """The storage that a resource handle holds."""
    storage = handle[()] if handle.ndim == 0 else None
    if not isinstance(storage, TableStorage):
        raise errors.invalid_argument(f"{op}: table_handle must be the handle of a lookup table.")
    return storage


KEY_TYPES = dtypes.INTEGER | dtypes.STRING | dtypes.BOOL | dtypes.FLOATING
VALUE_TYPES = dtypes.ANY - {dtypes.resource, dtypes.variant}
