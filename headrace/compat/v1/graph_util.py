"""The public names of `tf.compat.v1.graph_util`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.graph.messages.graph_def_edits import convert_variables_to_constants as convert_variables_to_constants
    from headrace._src.graph.messages.graph_def_edits import extract_sub_graph as extract_sub_graph
    from headrace._src.graph.messages.graph_def_edits import must_run_on_cpu as must_run_on_cpu
    from headrace._src.graph.messages.graph_def_edits import remove_training_nodes as remove_training_nodes
    from headrace._src.graph.messages.graph_def_edits import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
    from headrace._src.graph.messages.graph_import import import_graph_def as import_graph_def
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
