"""Rules of vectorization for the ops that parse strings: the records of all elements are parsed at once."""

from headrace._src.graph.vectorizing.rules import Batched, NoRule, rule, unstacked
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import RESHAPE


def _check_dense(shapes, others):
    if others:
        raise NoRule("it has sparse or ragged features, of other sizes in each element")
    if not all(shape is not None and None not in shape for shape in shapes):
        raise NoRule("it has features of unknown size")


@rule("ParseExampleV2")
def _parse_example(batch, node, serialized, names, sparse_keys, dense_keys, ragged_keys, defaults):
    attrs = node.attrs
    _check_dense(attrs["dense_shapes"], attrs["num_sparse"] or attrs["ragged_value_types"])
    if not serialized.stacked:
        raise NoRule("it parses the same record for each element")
    keys = [unstacked(value, "keys") for value in (sparse_keys, dense_keys, ragged_keys)]
    defaults = [unstacked(value, "defaults") for value in defaults]
    if unstacked(names, "names").shape.num_elements() != 0:
        raise NoRule("records have names")
    rank = serialized.tensor.shape.rank
    if rank == 1:
        return batch.apply(node, [serialized, names, *keys, defaults])
    if rank != 2:
        raise NoRule("the rank of its records is not known")
    flat = RESHAPE(serialized.tensor, to_tensor([-1]))
    first = batch.shape_of_element(Batched(serialized.tensor, True))
    outputs = batch.apply(node, [flat, names, *keys, defaults])
    return [
        RESHAPE(output, batch.join(batch.size_vector(), first, list(shape)))
        for output, shape in zip(outputs, attrs["dense_shapes"])
    ]


@rule("ParseSingleExample")
def _parse_single_example(batch, node, serialized, defaults):
    attrs = node.attrs
    _check_dense(attrs["dense_shapes"], attrs["num_sparse"])
    if not serialized.stacked:
        raise NoRule("it parses the same record for each element")
    defaults = [unstacked(value, "defaults") for value in defaults]
    none = to_tensor([], serialized.tensor.dtype)
    keys = to_tensor(list(attrs["dense_keys"]), serialized.tensor.dtype)
    return batch.apply(
        node,
        [serialized, none, none, keys, none, defaults],
        dict(num_sparse=0, sparse_types=[], ragged_value_types=[], ragged_split_types=[],
             dense_shapes=attrs["dense_shapes"]),
        "ParseExampleV2",
    )  # fmt: skip


@rule("DecodeRaw", "DecodePaddedRaw", "DecodeJSONExample")
def _decode(batch, node, strings, *rest):
    return batch.apply(node, [strings, *(unstacked(value, "length") for value in rest)])


@rule("DecodeCSV")
def _decode_csv(batch, node, records, defaults):
    if not records.stacked:
        raise NoRule("it reads the same line for each element")
    return batch.apply(node, [records, [unstacked(value, "default") for value in defaults]])
