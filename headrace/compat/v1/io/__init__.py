"""The public names of `tf.compat.v1.io`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.functions.parsing import decode_csv as decode_csv
    from headrace._src.compat.functions.parsing import decode_raw as decode_raw
    from headrace._src.compat.functions.parsing import parse_example as parse_example
    from headrace._src.compat.functions.parsing import parse_single_example as parse_single_example
    from headrace._src.compat.functions.parsing import serialize_many_sparse_first as _serialize_many_sparse
    from headrace._src.compat.functions.parsing import serialize_sparse_first as _serialize_sparse
    from headrace._src.compat.matched_files import match_filenames_once as match_filenames_once
    from headrace._src.graph.messages.graph_files import write_graph as write_graph
    from headrace._src.ops.images.decoding import decode_and_crop_jpeg as decode_and_crop_jpeg
    from headrace._src.ops.images.decoding import decode_bmp as decode_bmp
    from headrace._src.ops.images.decoding import decode_gif as decode_gif
    from headrace._src.ops.images.decoding import decode_image as decode_image
    from headrace._src.ops.images.decoding import decode_jpeg as decode_jpeg
    from headrace._src.ops.images.decoding import decode_jxl as decode_jxl
    from headrace._src.ops.images.decoding import decode_png as decode_png
    from headrace._src.ops.images.decoding import decode_webp as decode_webp
    from headrace._src.ops.images.decoding import extract_jpeg_shape as extract_jpeg_shape
    from headrace._src.ops.images.decoding import is_jpeg as is_jpeg
    from headrace._src.ops.images.encoding import encode_jpeg as encode_jpeg
    from headrace._src.ops.images.encoding import encode_png as encode_png
    from headrace._src.ops.parsing.features import FixedLenFeature as FixedLenFeature
    from headrace._src.ops.parsing.features import FixedLenSequenceFeature as FixedLenSequenceFeature
    from headrace._src.ops.parsing.features import RaggedFeature as RaggedFeature
    from headrace._src.ops.parsing.features import SparseFeature as SparseFeature
    from headrace._src.ops.parsing.features import VarLenFeature as VarLenFeature
    from headrace._src.ops.parsing.file_ops import decode_compressed as decode_compressed
    from headrace._src.ops.parsing.file_ops import matching_files as matching_files
    from headrace._src.ops.parsing.file_ops import read_file as read_file
    from headrace._src.ops.parsing.file_ops import write_file as write_file
    from headrace._src.ops.parsing.protos import decode_proto as decode_proto
    from headrace._src.ops.parsing.protos import encode_proto as encode_proto
    from headrace._src.ops.parsing.sequences import parse_sequence_example as parse_sequence_example
    from headrace._src.ops.parsing.sequences import parse_single_sequence_example as parse_single_sequence_example
    from headrace._src.ops.parsing.tensors import decode_json_example as decode_json_example
    from headrace._src.ops.parsing.tensors import parse_tensor as parse_tensor
    from headrace._src.ops.parsing.tensors import serialize_tensor as serialize_tensor
    from headrace._src.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
    from headrace._src.ops.strings.hash_buckets import decode_base64 as decode_base64
    from headrace._src.ops.strings.hash_buckets import encode_base64 as encode_base64
    from headrace._src.state.queues import PaddingFIFOQueue as PaddingFIFOQueue
    from headrace._src.state.queues import PriorityQueue as PriorityQueue
    from headrace._src.state.queues import QueueBase as QueueBase
    from headrace._src.state.queues import RandomShuffleQueue as RandomShuffleQueue
    from headrace._src.state.record_writer import TFRecordCompressionType as TFRecordCompressionType
    from headrace._src.state.record_writer import TFRecordOptions as TFRecordOptions
    from headrace._src.state.record_writer import TFRecordWriter as TFRecordWriter
    from headrace._src.state.record_writer import tf_record_iterator as tf_record_iterator
    from headrace.compat.v1.io import gfile as gfile
    serialize_many_sparse = _serialize_many_sparse
    serialize_sparse = _serialize_sparse
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
