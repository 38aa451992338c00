"""Checkpoints of objects seen by the names of variables, as savers of 1.x see them."""

from headrace._src.checkpoint.file_graph import object_graph_of
from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY
from headrace._src.checkpoint.reading import open_checkpoint


def keys_by_name(prefix: str) -> dict[str, str] | None:
    """The keys of a checkpoint by the full names that its variables had; None if it is no checkpoint of objects.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.
    """
    reader = open_checkpoint(prefix)
    if OBJECT_GRAPH_KEY not in reader:
        return None
    graph, _ = object_graph_of(reader)
    return {attribute.full_name: attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes}
