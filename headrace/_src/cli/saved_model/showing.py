"""`saved_model_cli show`: tags, signatures, ops and functions of a SavedModel, as text."""

from collections.abc import Iterator
from typing import Any

from headrace._src.cli.saved_model.callables import functions_text
from headrace._src.cli.saved_model.models import Model, ops_of, set_text, signature_of
from headrace._src.formats.model_messages import TensorInfo

_SUBJECT = "The given SavedModel"
_DTYPES = TensorInfo.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number


def show_tag_sets(model: Model) -> Iterator[str]:
    """The tags of each graph."""
    yield f"{_SUBJECT} contains the following tag-sets:"
    for graph in model.message.meta_graphs:
        yield _quoted(sorted(graph.meta_info_def.tags))


def _quoted(tags):
    return f"'{', '.join(tags)}'"


def show_signature_keys(meta_graph: Any) -> Iterator[str]:
    """The keys of all signatures of a graph."""
    yield f"{_SUBJECT} MetaGraphDef contains SignatureDefs with the following keys:"
    for key in sorted(meta_graph.signature_def):
        yield f'SignatureDef key: "{key}"'


def show_signature(meta_graph: Any, key: str, indent: str = "") -> Iterator[str]:
    """The tensors that a signature takes and returns."""
    signature = signature_of(meta_graph, key)
    for what, infos in (("input", signature.inputs), ("output", signature.outputs)):
        yield f"{indent}{_SUBJECT} SignatureDef contains the following {what}(s):"
        for name in sorted(infos):
            info = infos[name]
            yield f"{indent}  {what}s['{name}'] tensor_info:"
            yield f"{indent}      dtype: {_dtype_text(info.dtype)}"
            yield f"{indent}      shape: {shape_text(info.tensor_shape)}"
            yield f"{indent}      name: {info.name}"
    yield f"{indent}Method name is: {signature.method_name}"


def _dtype_text(number):
    # A number that is not known (of a newer TensorFlow) is better than no answer.
    return _DTYPES[number].name if number in _DTYPES else str(number)


def shape_text(shape: Any) -> str:
    """A `TensorShapeProto` as text, with -1 for what is not known."""
    if shape.unknown_rank:
        return "unknown_rank"
    return f"({', '.join(str(dim.size) for dim in shape.dim)})"


def show_ops(meta_graph: Any) -> Iterator[str]:
    """The ops that a graph and its functions use."""
    tags = list(meta_graph.meta_info_def.tags)
    yield f"The MetaGraph with tag set {tags} contains the following ops: {set_text(ops_of(meta_graph))}"


def show_all(model: Model) -> Iterator[str]:
    """All that is known about all graphs."""
    graphs = model.message.meta_graphs
    for graph in graphs:
        yield ""
        yield f"MetaGraphDef with tag-set: {_quoted(graph.meta_info_def.tags)} contains the following SignatureDefs:"
        for key in sorted(graph.signature_def):
            yield ""
            yield f"signature_def['{key}']:"
            yield from show_signature(graph, key, indent="  ")
        yield from show_ops(graph)
    for graph in graphs:
        if graph.HasField("object_graph_def"):
            yield from functions_text(graph.object_graph_def)


def show(folder: str, tags: str | None, key: str | None, everything: bool, ops: bool) -> Iterator[str]:
    """The lines of the answer.

    Args:
        folder: of the SavedModel.
        tags: of a graph, separated by commas.
        key: of a signature of that graph.
        everything: show all that is known.
        ops: show also the ops that the graph uses.
    """
    model = Model(folder)
    if everything:
        yield from show_all(model)
        return
    if tags is None:
        if ops:
            yield "--list_ops must be paired with a tag-set or with --all."
        yield from show_tag_sets(model)
        return
    graph = model.graph(tags)
    if ops:
        yield from show_ops(graph)
    yield from show_signature_keys(graph) if key is None else show_signature(graph, key)
