"""`saved_model_cli scan`: does a SavedModel use ops that one would rather not run?"""

from collections.abc import Iterator

from headrace._src.cli.saved_model.models import Model, ops_of, set_text

DEFAULT = frozenset({"PrintV2", "ReadFile", "WriteFile"})


def scan(folder: str, tags: str | None = None, denied: str | None = None) -> Iterator[str]:
    """The lines of the answer.

    Args:
        folder: of the SavedModel.
        tags: of the graph, separated by commas; None for all graphs.
        denied: ops, separated by commas. TF: an empty text means the default ones, as None does.
    """
    model = Model(folder)
    names = {name.strip() for name in denied.split(",")} if denied else DEFAULT
    for graph in model.message.meta_graphs if tags is None else [model.graph(tags)]:
        found = ops_of(graph) & names
        subject = f"MetaGraph with tag set {list(graph.meta_info_def.tags)}"
        if found:
            yield f"{subject} contains the following denylisted ops: {set_text(found)}"
        else:
            yield f"{subject} does not contain the default denylisted ops: {set_text(set(names))}"
