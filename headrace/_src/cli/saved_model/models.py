"""What the commands ask of a SavedModel: its graphs by tags, its signatures, the ops that it uses."""

from typing import Any

from headrace._src.saved_model.model_files import read_saved_model, tag_sets


class CommandError(Exception):
    """A command cannot be carried out; the message says why, and what to do."""


def tags_of(text: str) -> list[str]:
    """The tags of an option such as `serve,gpu`."""
    return [tag.strip() for tag in text.split(",")]


class Model:
    """A SavedModel, of which only the message is read.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.message = read_saved_model(folder)

    def graph(self, tags: str) -> Any:
        """The `MetaGraphDef` with these tags, which are separated by commas.

        Raises:
            CommandError: there is none.
        """
        wanted = set(tags_of(tags))
        for graph in self.message.meta_graphs:
            if set(graph.meta_info_def.tags) == wanted:
                return graph
        there = [",".join(names) for names in tag_sets(self.message)]
        raise CommandError(
            f"MetaGraphDef associated with tag-set {tags} could not be found in the SavedModel. Please use one of the "
            f"following tag-sets: {there}"
        )


def signature_of(meta_graph: Any, key: str) -> Any:
    """A `SignatureDef` by its key.

    Raises:
        CommandError: there is none.
    """
    signatures = meta_graph.signature_def
    if key not in signatures:
        raise CommandError(f'Could not find signature "{key}". Please choose from: {", ".join(sorted(signatures))}')
    return signatures[key]


def ops_of(meta_graph: Any) -> set[str]:
    """The names of all ops, also those of functions: any of these can be called by who loads the model."""
    graph = meta_graph.graph_def
    nodes = [graph.node, *(function.node_def for function in graph.library.function)]
    return {node.op for group in nodes for node in group}


def set_text(names: set[str]) -> str:
    """A set of names as Python writes it, in the order of the alphabet."""
    return "{" + ", ".join(repr(name) for name in sorted(names)) + "}" if names else "set()"
