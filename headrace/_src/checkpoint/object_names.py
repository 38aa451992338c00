"""Checkpoints of objects seen by the names of variables, as savers of 1.x see them."""

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY
from headrace._src.checkpoint.reading import open_checkpoint
from headrace._src.core import errors
from headrace._src.core.lazy import protobuf_message
from headrace._src.formats.checkpoint_messages import TrackableObjectGraph


def keys_by_name(prefix: str) -> dict[str, str] | None:
    """The keys of a checkpoint by the full names that its variables had; None if it is no checkpoint of objects.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.
    """
    reader = open_checkpoint(prefix)
    if OBJECT_GRAPH_KEY not in reader:
        return None
    try:
        graph = TrackableObjectGraph.FromString(reader.read(OBJECT_GRAPH_KEY)[()])
    except protobuf_message.DecodeError as error:
        raise errors.data_loss(f"{prefix}: {OBJECT_GRAPH_KEY} is no message of objects: {error}") from None
    return {attribute.full_name: attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes}
