"""The public names of `tf.compat.v1.python_io`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.state.record_writer import TFRecordCompressionType as TFRecordCompressionType
    from headrace._src.state.record_writer import TFRecordOptions as TFRecordOptions
    from headrace._src.state.record_writer import TFRecordWriter as TFRecordWriter
    from headrace._src.state.record_writer import tf_record_iterator as tf_record_iterator
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
