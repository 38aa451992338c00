"""The public names of `tf.io`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.matched_files import match_filenames_once as match_filenames_once
    from headrace._src.graph.graph_files import write_graph as write_graph
    from headrace._src.ops.files import decode_compressed as decode_compressed
    from headrace._src.ops.files import matching_files as matching_files
    from headrace._src.ops.files import read_file as read_file
    from headrace._src.ops.files import write_file as write_file
    from headrace._src.ops.parsing import parse_example as parse_example
    from headrace._src.ops.parsing import parse_single_example as parse_single_example
    from headrace._src.ops.parsing_features import FixedLenFeature as FixedLenFeature
    from headrace._src.ops.parsing_features import FixedLenSequenceFeature as FixedLenSequenceFeature
    from headrace._src.ops.parsing_features import RaggedFeature as RaggedFeature
    from headrace._src.ops.parsing_features import SparseFeature as SparseFeature
    from headrace._src.ops.parsing_features import VarLenFeature as VarLenFeature
    from headrace._src.ops.sparse_serialization import deserialize_many_sparse as deserialize_many_sparse
    from headrace._src.ops.sparse_serialization import serialize_many_sparse as serialize_many_sparse
    from headrace._src.ops.sparse_serialization import serialize_sparse as serialize_sparse
    from headrace._src.ops.strings_hash import decode_base64 as decode_base64
    from headrace._src.ops.strings_hash import encode_base64 as encode_base64
    from headrace._src.state.record_writer import TFRecordOptions as TFRecordOptions
    from headrace._src.state.record_writer import TFRecordWriter as TFRecordWriter
    from headrace.io import gfile as gfile
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
