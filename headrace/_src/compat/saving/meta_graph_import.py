"""`tf.compat.v1.train.import_meta_graph`: a saved graph with its collections, and a saver for its variables."""

import logging

from headrace._src.compat.saving.meta_graphs import add_meta_graph, read_meta_graph
from headrace._src.compat.saving.saver import Saver, all_saveable_objects
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")


@api("compat.v1.train.import_meta_graph", dispatch=False)
def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs) -> Saver | None:
    """Adds the graph that a `MetaGraphDef` holds to the current one, with its collections.

    Args:
        meta_graph_or_file: the message, or the path of a file that holds it, such as `model-100.meta`.
        clear_devices: whether to forget on which devices operations were.
        import_scope: a scope for the operations.
        **kwargs: `input_map` (tensors to use in place of those of the message, by their names), `return_elements`
            accepted.

    Returns:
        The saver that the message has; one for all variables where it has none; None without variables.

    Raises:
        OSError: there is no such file, or it holds something else.
        NotFoundError: headrace has no op of that name.
        RuntimeError: executing eagerly.

    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     message = tf.compat.v1.train.Saver().export_meta_graph()
    >>> with tf.Graph().as_default():
    ...     saver = tf.compat.v1.train.import_meta_graph(message)
    ...     print(tf.compat.v1.global_variables()[0].name)
    v:0
    """
    meta_graph = read_meta_graph(meta_graph_or_file)
    _, _, scope = add_meta_graph(
        meta_graph, clear_devices, import_scope, kwargs.get("input_map"), kwargs.get("return_elements")
    )
    if meta_graph.HasField("saver_def"):
        return Saver(saver_def=meta_graph.saver_def, name=scope)
    if all_saveable_objects(scope=f"{scope}/" if scope else None):
        return Saver()
    _logger.info("Saver not created because there are no variables in the graph to restore")
    return None
