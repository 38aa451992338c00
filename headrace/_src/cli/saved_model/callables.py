"""The functions that the object of a SavedModel has, and what they can be called with, as text."""

from collections.abc import Iterator
from typing import Any

from headrace._src.core.specs import TensorSpec
from headrace._src.saved_model.structured_values import decode


def functions_text(object_graph: Any) -> Iterator[str]:
    """The lines about the functions of the root of a `SavedObjectGraph`."""
    yield ""
    yield "Concrete Functions:"
    for number, (name, traces) in enumerate(sorted(_functions_of_root(object_graph).items())):
        if number:
            yield ""
        yield f"  Function Name: '{name}'"
        for option, trace in enumerate(traces, 1):
            signature = object_graph.concrete_functions[trace].canonicalized_input_signature
            yield from _option_text(option, signature)


def _functions_of_root(object_graph):
    """The names of the traces of each function, by the name of its attribute."""
    nodes, functions = object_graph.nodes, {}
    for child in nodes[0].children if nodes else ():
        node = nodes[child.node_id]
        if node.HasField("function"):
            functions[child.local_name] = list(node.function.concrete_functions)
        elif node.HasField("bare_concrete_function"):
            functions[child.local_name] = [node.bare_concrete_function.concrete_function_name]
    return functions


def _option_text(number, signature):
    if signature.WhichOneof("kind") != "tuple_value" or len(signature.tuple_value.values) != 2:
        return
    positional, keyword = signature.tuple_value.values
    # TF: of functions without positional arguments only the named ones are told, and of those only the names.
    if positional.tuple_value.values:
        yield f"    Option #{number}"
        yield "      Callable with:"
    for place, value in enumerate(positional.tuple_value.values, 1):
        yield f"        Argument #{place}"
        for line in _argument_text(value):
            yield f"          {line}"
    for place, name in enumerate(sorted(keyword.dict_value.fields), 1):
        yield f"        Named Argument #{place}"
        yield f"          {name}"


def _argument_text(message):
    try:
        value = decode(message)
    except ValueError as error:
        return ["DType: not known here", f"Value: {error}"]
    if isinstance(value, TensorSpec):
        return [f"{value.name}: {value!r}"]
    if isinstance(value, str):
        return [value]
    return [f"DType: {type(value).__name__}", f"Value: {_value_text(value)}"]


def _value_text(value):
    """TF: a tuple is written as a list, and the keys of a dictionary are in no order."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(repr, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {item!r}' for key, item in sorted(value.items()))}}}"
    return str(value)
