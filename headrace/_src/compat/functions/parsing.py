"""The functions of `tf.compat.v1` and `tf.compat.v1.io` that parse strings."""

from typing import Any

from headrace._src.compat.functions.renamed_arguments import renamed
from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api, export
from headrace._src.ops.parsing import csv_lines, examples, protos, raw_bytes, sequences, tensors
from headrace._src.ops.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from headrace._src.ops.sparse.serialization import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from headrace._src.ops.strings.hash_buckets import decode_base64, encode_base64

# What is the same as in TensorFlow 2, under two names each.
for _same in (
    FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature, decode_base64, encode_base64,
    deserialize_many_sparse, tensors.decode_json_example, sequences.parse_single_sequence_example,
    tensors.parse_tensor, tensors.serialize_tensor,
):  # fmt: skip
    export(f"compat.v1.io.{_same.__name__}", f"compat.v1.{_same.__name__}")(_same)
# And under one.
for _same in (
    RaggedFeature, sequences.parse_sequence_example, protos.decode_proto, protos.encode_proto,
):  # fmt: skip
    export(f"compat.v1.io.{_same.__name__}")(_same)


@api("compat.v1.io.parse_example", "compat.v1.parse_example")
def parse_example(serialized, features, name=None, example_names=None) -> dict[str, Any]:
    """`tf.io.parse_example` with 1.x's order of arguments."""
    return examples.parse_example(serialized, features, example_names, name)


@api("compat.v1.io.parse_single_example", "compat.v1.parse_single_example")
def parse_single_example(serialized, features, name=None, example_names=None) -> dict[str, Any]:
    """`tf.io.parse_single_example` with 1.x's order of arguments."""
    return examples.parse_single_example(serialized, features, example_names, name)


@api("compat.v1.io.decode_csv", "compat.v1.decode_csv")
def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="", select_cols=None
) -> list[Tensor]:
    """`tf.io.decode_csv` with 1.x's order of arguments."""
    return csv_lines.decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name)


@api("compat.v1.io.decode_raw", "compat.v1.decode_raw")
def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None) -> Tensor:
    """`tf.io.decode_raw` of strings of one length; `bytes` is the old name of `input_bytes`."""
    input_bytes = renamed("decode_raw", "input_bytes", input_bytes, "bytes", bytes)
    if input_bytes is None or out_type is None:
        raise ValueError("decode_raw: input_bytes and out_type must be given.")
    return raw_bytes.decode_raw(input_bytes, out_type, little_endian, name=name)


@api("compat.v1.io.serialize_sparse", "compat.v1.serialize_sparse")
def serialize_sparse_first(sp_input, name=None, out_type=dtypes.string) -> Any:
    """`tf.io.serialize_sparse` with 1.x's order of arguments."""
    return serialize_sparse(sp_input, out_type, name)


@api("compat.v1.io.serialize_many_sparse", "compat.v1.serialize_many_sparse")
def serialize_many_sparse_first(sp_input, name=None, out_type=dtypes.string) -> Any:
    """`tf.io.serialize_many_sparse` with 1.x's order of arguments."""
    return serialize_many_sparse(sp_input, out_type, name)
