"""What headrace writes, in a form that can be compared with what TensorFlow was seen to load.

`scripts/interop --record-ours` keeps the form of the files that TensorFlow has just loaded and trained on; the test
compares what is written now. Whatever may change from run to run stays out: values (whose bits depend on the processor;
that they are read back is shown elsewhere), hashes, versions, and names that frameworks number (of layers, operations,
functions). Operations are compared as a vocabulary: which op was written with which attributes, in any program. A graph
of the same words in another order is one that the definitions of ops, which loading checks, allow.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import re

import headrace as tf
from headrace._src.formats.checkpoint_messages import TrackableObjectGraph
from headrace._src.saved_model.model_files import read_saved_model

RECORD = pathlib.Path(__file__).resolve().parent.parent / "golden" / "interop_written.json"
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
# Fields with names that a framework numbers.
NUMBERED = {("SavedVariable", "name"), ("SavedConstant", "operation"), ("SerializedTensor", "full_name")}
NUMBER = re.compile(r"\d+")


def form_of(folder: pathlib.Path) -> tuple[dict[str, str], set[str]]:
    """Digests of the parts of what one program saved (see `running.write`), and the operations that it is made of."""
    parts, words = {"checkpoint": _checkpoint(folder / "checkpoint" / "ck-1")}, set()
    if (folder / "model").exists():
        model = read_saved_model(folder / "model")
        names = sorted(path.relative_to(folder / "model").as_posix() for path in (folder / "model").rglob("*"))
        parts["model files"] = [names, _checkpoint(folder / "model" / "variables" / "variables")]
        for meta_graph in model.meta_graphs:
            parts["model objects"] = _objects(meta_graph.object_graph_def)
            parts["model signatures"] = [_plain(meta_graph.signature_def), _plain(meta_graph.saver_def)]
            parts["model description"] = _description(meta_graph)
            words |= _vocabulary(meta_graph.graph_def)
    return {name: _digest(part) for name, part in parts.items()}, words


def _unnumbered(text):
    return NUMBER.sub("#", text)


def _digest(part):
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:10]


def _checkpoint(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    tensors = [[name, types[name].name, list(shape)] for name, shape in sorted(shapes.items())]
    return [tensors, _plain(TrackableObjectGraph.FromString(reader.get_tensor(OBJECT_GRAPH)), text=str)]


def _objects(graph):
    """The objects, with functions called by the order in which objects name them."""
    names = [name for node in graph.nodes for name in _functions_named(node)]
    order = {name: f"function {i}" for i, name in enumerate(dict.fromkeys(names))}
    functions = [[order.get(name, "none"), _plain(x)] for name, x in graph.concrete_functions.items()]

    def text(name):
        return order.get(name) or _unnumbered(name)

    return [[_plain(node, text) for node in graph.nodes], sorted(functions, key=str)]


def _functions_named(node):
    yield from node.function.concrete_functions
    yield from filter(
        None, [node.bare_concrete_function.concrete_function_name, node.captured_tensor.concrete_function]
    )


def _description(meta_graph):
    info = meta_graph.meta_info_def
    return [
        sorted(info.tags),
        len(info.function_aliases),
        _plain(meta_graph.collection_def),
        _plain(meta_graph.asset_file_def),
    ]


def _plain(value, text=_unnumbered):
    """A message as lists and dictionaries, without the names that are numbered; `text` is applied to all others."""
    if hasattr(value, "DESCRIPTOR"):
        kept = [x for x in value.ListFields() if (value.DESCRIPTOR.name, x[0].name) not in NUMBERED]
        return {field.name: _plain(part, text) for field, part in kept}
    if hasattr(value, "items"):
        return sorted(([text(str(key)), _plain(part, text)] for key, part in value.items()), key=str)
    if isinstance(value, str | bytes):
        return text(value if isinstance(value, str) else value.hex())
    return value if isinstance(value, int | float) else [_plain(x, text) for x in value]


def _vocabulary(graph):
    functions = graph.library.function
    nodes = [*graph.node, *(node for function in functions for node in function.node_def)]
    words = {f"{node.op} {_attributes(node.attr)}".rstrip() for node in nodes}
    words |= {f"function {_attributes(function.attr)}".rstrip() for function in functions}
    return words | {f"argument {_attributes(x.attr)}".rstrip() for f in functions for x in f.arg_attr.values()}


def _attributes(attributes):
    return " ".join(f"{name}={_kind(value)}" for name, value in sorted(attributes.items()))


def _kind(value):
    """What an attribute holds: a type, a number, a list of shapes."""
    kind = value.WhichOneof("value")
    if kind == "list":
        return "[" + ",".join(sorted({field.name for field, _ in value.list.ListFields()})) + "]"
    return kind or "nothing"


def record(folders: dict[str, pathlib.Path], whole: bool):
    """Keep the forms of what TensorFlow has loaded: in place of all that is kept, or beside it."""
    kept = json.loads(RECORD.read_text()) if RECORD.exists() and not whole else {"programs": {}, "operations": []}
    words = set(kept["operations"])
    for name, folder in folders.items():
        kept["programs"][name], found = form_of(folder)
        words |= found
    kept["operations"] = sorted(words)
    kept["keras"] = importlib.metadata.version("keras")
    RECORD.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
