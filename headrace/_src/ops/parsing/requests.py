"""From a dictionary of features to the inputs and attributes of the parsing ops."""

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
)


class Request:
    """What a parsing op is to look for.

    Args:
        function: the public function, for messages.
        features: key to feature.
        allowed: the feature classes that the function takes.

    Attributes:
        sparse, ragged: key to dtype; ragged with the dtype of splits.
        dense: key to (dtype, shape as a tuple, default tensor).
    """

    def __init__(self, function, features, allowed, lists=False):
        self.function = function
        self.lists = lists
        self.sparse: dict = {}
        self.dense: dict = {}
        self.ragged: dict = {}
        self.may_lack: list = []
        for key in sorted(features):
            feature = features[key]
            if not isinstance(feature, allowed):
                names = ", ".join(kind.__name__ for kind in allowed)
                raise ValueError(
                    f"{function}: the feature {key!r} is of an unsupported type, {type(feature).__name__} "
                    f"({feature!r}). Use one of {names}."
                )
            self._add(key, feature)
        taken = [set(self.sparse), set(self.dense), set(self.ragged)]
        names = ("Sparse", "Dense", "ragged")
        for i, j in ((1, 0), (0, 2), (1, 2)):
            if shared := taken[i] & taken[j]:
                raise ValueError(
                    f"{function}: the key {sorted(shared)[0]!r} is asked for as {names[i].lower()} and as "
                    f"{names[j].lower()} feature; it can be only one."
                )

    def _add(self, key, feature):
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, self._dtype(key, feature))
        elif isinstance(feature, SparseFeature):
            self._add_sparse_parts(key, feature)
        elif isinstance(feature, FixedLenFeature):
            self._add_fixed(key, feature)
        elif isinstance(feature, FixedLenSequenceFeature):
            self._add_sequence(key, feature)
        else:
            splits = feature.row_splits_dtype
            self._add_ragged(key if feature.value_key is None else feature.value_key, self._dtype(key, feature), splits)
            for partition in feature.partitions:
                if not isinstance(partition, UniformRowLength):
                    self._add_ragged(partition.key, dtypes.int64, splits)

    def _dtype(self, key, feature):
        if not feature.dtype:
            raise ValueError(f"{self.function}: the feature {key!r} has no type: {feature!r}.")
        dtype = dtypes.as_dtype(feature.dtype)
        if dtype not in (dtypes.float32, dtypes.int64, dtypes.string):
            raise errors.invalid_argument(
                f"{self.function}: the feature {key!r} is asked for as {dtype.name}, but Examples hold float32, int64 "
                "and string. Ask for one of these, and cast it with tf.cast."
            )
        return dtype

    def _shape(self, key, feature):
        if feature.shape is None:
            raise ValueError(f"{self.function}: the feature {key!r} has no shape: {feature!r}.")
        return TensorShape(feature.shape)

    def _add_sparse(self, key, dtype):
        if self.sparse.setdefault(key, dtype) is not dtype:
            raise ValueError(
                f"{self.function}: the feature {key!r} is asked for as {self.sparse[key].name} and as {dtype.name}."
            )

    def _add_ragged(self, key, dtype, splits):
        if self.ragged.setdefault(key, (dtype, splits)) != (dtype, splits):
            one, other = self.ragged[key], (dtype, splits)
            raise ValueError(
                f"{self.function}: the feature {key!r} is asked for as {one[0].name} with {one[1].name} splits and as "
                f"{other[0].name} with {other[1].name} splits."
            )

    def _add_sparse_parts(self, key, feature):
        keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key or ())
        if not keys:
            raise ValueError(f"{self.function}: the sparse feature {key!r} has no index_key: {feature!r}.")
        if not feature.value_key:
            raise ValueError(f"{self.function}: the sparse feature {key!r} has no value_key: {feature!r}.")
        for index_key in sorted(keys):
            self._add_sparse(index_key, dtypes.int64)
        self._add_sparse(feature.value_key, self._dtype(key, feature))

    def _add_fixed(self, key, feature):
        dtype, shape = self._dtype(key, feature), self._shape(key, feature)
        if shape.rank is None or not shape.is_fully_defined():
            raise ValueError(
                f"{self.function}: the shape of the feature {key!r} must be known, got {shape}. "
                "Consider FixedLenSequenceFeature."
            )
        default = feature.default_value
        if default is None:
            default = to_tensor([], dtype)
        else:
            default = RESHAPE(to_tensor(default, dtype), to_tensor(shape.as_list(), dtypes.int32))
        self.dense[key] = (dtype, tuple(shape.as_list()), default)

    def _add_sequence(self, key, feature):
        dtype, shape = self._dtype(key, feature), self._shape(key, feature)
        default = feature.default_value
        if self.lists:
            if default is not None:
                raise ValueError(f"{self.function}: the feature list {key!r} cannot have a default_value.")
            if feature.allow_missing:
                self.may_lack.append(key)
            self.dense[key] = (dtype, tuple(shape.as_list()), None)
            return
        if not feature.allow_missing:
            raise ValueError(
                f"{self.function}: the feature {key!r}: FixedLenSequenceFeature needs allow_missing=True here."
            )
        if default is None:
            default = b"" if dtype is dtypes.string else 0
        default = RESHAPE(to_tensor(default, dtype), to_tensor([], dtypes.int32))
        self.dense[key] = (dtype, (None, *shape.as_list()), default)

    @property
    def sparse_types(self):
        return list(self.sparse.values())

    @property
    def dense_types(self):
        return [dtype for dtype, _, _ in self.dense.values()]

    @property
    def dense_shapes(self):
        return [shape for _, shape, _ in self.dense.values()]

    @property
    def dense_defaults(self):
        return [default for _, _, default in self.dense.values()]

    @property
    def ragged_types(self):
        return [dtype for dtype, _ in self.ragged.values()]

    @property
    def split_types(self):
        return [splits for _, splits in self.ragged.values()]


EXAMPLE_FEATURES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)
CONTEXT_FEATURES = (VarLenFeature, FixedLenFeature, RaggedFeature)
LIST_FEATURES = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)


def keys_tensor(keys):
    """Keys as a vector of strings."""
    return to_tensor(list(keys), dtypes.string)
