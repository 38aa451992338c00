"""The public names of `tf.compat.v1.io`.

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
    from headrace._src.state.record_writer import TFRecordCompressionType as TFRecordCompressionType
    from headrace._src.state.record_writer import TFRecordOptions as TFRecordOptions
    from headrace._src.state.record_writer import TFRecordWriter as TFRecordWriter
    from headrace._src.state.record_writer import tf_record_iterator as tf_record_iterator
    from headrace.compat.v1.io import gfile as gfile
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
