"""The public names of `tf.io`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.graph.graph_files import write_graph as write_graph
    from headrace._src.ops.sparse_serialization import deserialize_many_sparse as deserialize_many_sparse
    from headrace._src.ops.sparse_serialization import serialize_many_sparse as serialize_many_sparse
    from headrace._src.ops.sparse_serialization import serialize_sparse as serialize_sparse
    from headrace._src.ops.strings_hash import decode_base64 as decode_base64
    from headrace._src.ops.strings_hash import encode_base64 as encode_base64
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
