"""Vectorization of `ParseExampleV2`: the records of all elements are parsed at once."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.op.batching import Batched, NoRule, Ragged, known_array, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.shaping import EXPAND_DIMS


def check_dense(serialized, shapes, others):
    """Refuse what is not the same size for each element."""
    if others:
        raise NoRule("it has sparse or ragged features, of other sizes in each element")
    if not all(shape is not None and None not in shape for shape in shapes):
        raise NoRule("it has features of unknown size")
    if not serialized.stacked:
        raise NoRule("it parses the same record for each element")


def vectorize_parse(batch, node, serialized, names, sparse_keys, dense_keys, ragged_keys, defaults):
    attrs = node.attrs
    check_dense(serialized, attrs["dense_shapes"], attrs["num_sparse"] or attrs["ragged_value_types"])
    if unstacked(names, "names").shape.num_elements() != 0:
        raise NoRule("records have names")
    keys = [unstacked(value, "keys") for value in (sparse_keys, dense_keys, ragged_keys)]
    defaults = [unstacked(value, "defaults") for value in defaults]
    rank = serialized.tensor.shape.rank
    if rank == 1:
        return batch.apply(node, [serialized, names, *keys, defaults])
    if rank != 2:
        raise NoRule("the rank of its records is not known")
    records, count = batch.merged(serialized)
    outputs = batch.apply(node, [records, names, *keys, defaults])
    return [batch.parted(output, count) for output in outputs]


def vectorize_ragged_parse(batch, node, serialized, names, sparse_keys, dense_keys, ragged_keys, defaults):
    if isinstance(serialized, Ragged) or not serialized.stacked or batch.rank(serialized) != 0:
        raise NoRule("it parses several records for each element")
    if unstacked(names, "names").shape.num_elements() != 0:
        raise NoRule("records have names")
    attrs, count = node.attrs, node.attrs["num_sparse"]
    shapes = attrs["dense_shapes"]
    if any(shape is None or None in shape[1:] for shape in shapes):
        raise NoRule("it has features of unknown size")
    sequences = [i for i, shape in enumerate(shapes) if shape and shape[0] is None]
    if any(list(shapes[i][1:]) for i in sequences):
        raise NoRule("it has sequences of tensors")
    fixed = [i for i in range(len(shapes)) if i not in sequences]
    dense_names = known_array(dense_keys, "keys").tolist()
    defaults = [unstacked(value, "defaults") for value in defaults]
    # All that differs in size is parsed as ragged features: there, only the sizes of elements come with the values.
    keys = [unstacked(sparse_keys, "keys"), unstacked(ragged_keys, "keys"), _strings(dense_names, sequences)]
    value_types = [*attrs["sparse_types"], *attrs["ragged_value_types"], *(defaults[i].dtype for i in sequences)]
    none = to_tensor(np.empty(0, object), dtypes.string)
    outputs = batch.apply(
        node,
        [serialized, none, none, _strings(dense_names, fixed), CONCAT(keys, to_tensor(0)),
         [defaults[i] for i in fixed]],
        dict(num_sparse=0, sparse_types=[], ragged_value_types=value_types,
             ragged_split_types=[dtypes.int64] * len(value_types), dense_shapes=[shapes[i] for i in fixed]),
    )  # fmt: skip
    dense, rest = outputs[: len(fixed)], outputs[len(fixed) :]
    values, splits = rest[: len(value_types)], rest[len(value_types) :]
    ragged = [Ragged(value, split) for value, split in zip(values, splits)]
    sparse, sequence = ragged[:count], dict(zip(sequences, ragged[len(ragged) - len(sequences) :]))
    ragged = ragged[count : len(ragged) - len(sequences)]
    places = dict(zip(fixed, dense))
    return [
        *(_positions(batch, x) for x in sparse),
        *sparse,
        *(EXPAND_DIMS(batch.lengths(x.splits), 1) for x in sparse),
        *(sequence[i] if i in sequence else places[i] for i in range(len(shapes))),
        *ragged,
        *(Batched(to_tensor(np.empty(0, kind._np)), False) for kind in attrs["ragged_split_types"]),
    ]


def _strings(items, places):
    array = np.empty(len(places), object)
    array[:] = [items[i] for i in places]
    return to_tensor(array, dtypes.string)


def _positions(batch, x):
    """The indices of sparse vectors that have all their values."""
    lengths = batch.lengths(x.splits)
    numbers = batch.ranges(lengths - lengths, lengths).tensor
    return Ragged(EXPAND_DIMS(numbers, 1), x.splits, counts=True)
