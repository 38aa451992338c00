"""`saved_model_cli freeze_model`: a signature as a graph with constants in the place of variables; what to feed it."""

from collections.abc import Iterator
from typing import Any

from headrace._src.checkpoint.checkpoints import Checkpoint
from headrace._src.cli.saved_model.models import CommandError, Model, signature_of, tags_of
from headrace._src.core import nest
from headrace._src.formats import files
from headrace._src.formats.graph_messages import TensorShapeProto
from headrace._src.formats.model_messages import TensorInfo
from headrace._src.formats.tensor_protos import shape_to_proto
from headrace._src.graph.messages.frozen_graphs import (
    captured_variables,
    frozen_graph,
    name_of,
    rename_nodes,
    unused_name,
)
from headrace._src.saved_model.loading import load

_DTYPES = TensorInfo.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number


def freeze(
    folder: str, tags: str, key: str, output: str, *, checkpoint: str | None = None, variables: str = ""
) -> Iterator[str]:
    """The lines of the answer.

    Args:
        folder: of the SavedModel.
        tags: of the graph, separated by commas.
        key: of the signature.
        output: the folder to write into.
        checkpoint: the checkpoint with the values of variables; None for the SavedModel's own.
        variables: names of variables that stay variables, separated by commas; "all" for all of them.
    """
    model = Model(folder)
    meta_graph = model.graph(tags)
    signature = signature_of(meta_graph, key)
    loaded = load(folder, tags_of(tags))
    if checkpoint is not None:
        Checkpoint(root=loaded).restore(checkpoint).expect_partial()
    function = loaded.signatures[key]
    wanted = _wanted(variables, function)
    frozen = frozen_graph(function, lambda variable: name_of(variable) in wanted)
    graph = frozen.graph_def
    _name_inputs(graph, frozen.names, function, signature)
    _name_outputs(graph, function, signature)
    files.make_directories(output)
    yield from _written(files.join(output, "original_graph.pb"), meta_graph.graph_def.SerializeToString(), "graph def")
    yield from _written(files.join(output, "frozen_graph.pb"), graph.SerializeToString(), "graph def")
    text = _configuration(signature, frozen.variables)
    yield from _written(files.join(output, "config.pbtxt"), text.encode(), "config_pbtxt")


def _wanted(text, function):
    there = set(map(name_of, captured_variables(function)))
    if text.lower() == "all":
        return there
    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown = sorted(names - there)
    if unknown:
        raise CommandError(f"--variables_to_feed: there are no variables {unknown}. There are: {sorted(there)}.")
    return names


def _written(path, data, what):
    files.write(path, data)
    yield f"Writing {what} to: {path}"


def _name_inputs(graph, names, function, signature):
    """Call the nodes of arguments as the signature does."""
    new = {
        name: signature.inputs[key].name.partition(":")[0] for key, name in zip(function._arg_keywords or names, names)
    }
    _make_room(graph, set(new.values()) - set(names))
    rename_nodes(graph, new)


def _name_outputs(graph, function, signature):
    """Add a node whose outputs are the results, with the name that the signature has for it."""
    keys = sorted(signature.outputs)
    tensors = dict(zip(sorted(function.structured_outputs), nest.flatten(function.graph.structured_outputs)))
    references = {key: tensors[key].name.removesuffix(":0") for key in keys}
    name = signature.outputs[keys[0]].name.partition(":")[0]
    moved = _make_room(graph, {name})
    node = graph.node.add(name=name, op="IdentityN")
    for output, key in enumerate(keys):
        source, separator, number = references[key].partition(":")
        node.input.append(f"{moved.get(source, source)}{separator}{number}")
        node.attr["T"].list.type.append(tensors[key].dtype.as_datatype_enum)
        signature.outputs[key].name = f"{name}:{output}"


def _make_room(graph, names):
    """Give other names to nodes that have these."""
    taken = {node.name for node in graph.node}
    moved = {name: unused_name(f"{name}/inside", taken) for name in names if name in taken}
    rename_nodes(graph, moved)
    return moved


def _configuration(signature, variables):
    """A `tf2xla.Config` as text: what tfcompile has to know."""
    parts = []
    for what, infos in (("feed", signature.inputs), ("fetch", signature.outputs)):
        for key in sorted(infos):
            name, _, number = infos[key].name.partition(":")
            output = f"    output_index: {number}\n" if number not in ("", "0") else ""
            identity = f'  id {{\n    node_name: "{name}"\n{output}  }}\n'
            shape, dtype = _shape_text(infos[key].tensor_shape), _DTYPES[infos[key].dtype].name
            named = f'  name: "{what}_{key}"\n'
            parts.append(f"{what} {{\n{identity}{shape}{named}  type: {dtype}\n}}\n")
    for name, variable in sorted(variables.items()):
        shape = _shape_text(shape_to_proto(variable.shape))
        dtype = _DTYPES[variable.dtype.as_datatype_enum].name
        parts.append(f'variable {{\n  node_name: "{name}"\n  name: "param_{name}"\n{shape}  type: {dtype}\n}}\n')
    return "".join(parts)


def _shape_text(shape: Any | TensorShapeProto) -> str:
    dims = "".join(f"    dim {{\n      size: {dim.size}\n    }}\n" for dim in shape.dim)
    return f"  shape {{\n{dims}  }}\n"
