"""`tf.io.write_graph`: graphs in files."""

import os

from headrace._src.formats import files as filesystem
from headrace._src.graph.messages.graph_import import as_graph_def_message
from headrace._src.op.api import api


@api("io.write_graph", "compat.v1.io.write_graph", "compat.v1.train.write_graph", dispatch=False)
def write_graph(graph_or_graph_def, logdir, name, as_text=True) -> str:
    """Write a graph to a file, as text or as bytes.

    Args:
        graph_or_graph_def: a graph or a `GraphDef` message.
        logdir: the folder, which is made if it is not there.
        name: of the file.
        as_text: whether to write text rather than bytes.

    Returns:
        The path of the file.
    """
    if hasattr(graph_or_graph_def, "as_graph_def"):
        graph_def = graph_or_graph_def.as_graph_def()
    else:
        graph_def = as_graph_def_message(graph_or_graph_def)
    data = str(graph_def).encode() if as_text else graph_def.SerializeToString()
    path = filesystem.join(filesystem.path_string(logdir), name)
    filesystem.make_directories(os.path.dirname(path))
    filesystem.write(path, data)  # wholly there or not at all
    return path
