"""`--keras`: functions of `tf.layers` as layers of Keras, where that means the same.

Layers without variables (flatten, dropout, pools) mean the same anywhere. One with variables makes new ones each time
it is called, and the session of 1.x does not initialise them: it is rewritten only outside of functions and loops, in
files without sessions, and without `reuse`.
"""

import ast
from typing import NamedTuple

from headrace._src.upgrade.arguments import Arguments


class _Layer(NamedTuple):
    keras: str
    parameters: str  # those of 1.x after `inputs`, up to which places are the same in Keras
    has_variables: bool = False
    call: tuple[str, ...] = ()  # arguments of 1.x that Keras takes when the layer is called


_POOL = "pool_size strides padding data_format name"
_REST = "kernel_regularizer bias_regularizer activity_regularizer kernel_constraint bias_constraint trainable name"
_DENSE = f"units activation use_bias kernel_initializer bias_initializer {_REST}"
_CONV = ("filters kernel_size strides padding data_format dilation_rate activation use_bias kernel_initializer "
         f"bias_initializer {_REST}")

LAYERS = {
    "tf.layers.flatten": _Layer("Flatten", "name data_format"),
    "tf.layers.dropout": _Layer("Dropout", "rate noise_shape seed training name", call=("training",)),
    "tf.layers.dense": _Layer("Dense", _DENSE, True),
    **{f"tf.layers.conv{n}d": _Layer(f"Conv{n}D", _CONV, True) for n in (1, 2, 3)},
    **{f"tf.layers.max_pooling{n}d": _Layer(f"MaxPooling{n}D", _POOL) for n in (1, 2, 3)},
    **{f"tf.layers.average_pooling{n}d": _Layer(f"AveragePooling{n}D", _POOL) for n in (1, 2, 3)},
}
_SESSIONS = {"Session", "InteractiveSession", "placeholder", "MonitoredTrainingSession"}
_MANY_TIMES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.For, ast.While, ast.AsyncFor, ast.ListComp,
               ast.SetComp, ast.DictComp, ast.GeneratorExp)


def rewrite(rewriter) -> bool:
    """Rewrite the calls that contain no other one that can be, and say whether there were any."""
    uses_sessions = any(isinstance(node, ast.Attribute) and node.attr in _SESSIONS for node in rewriter.nodes)
    repeated = {id(inner) for node in rewriter.nodes if isinstance(node, _MANY_TIMES) for inner in ast.walk(node)}
    for node in reversed(rewriter.nodes):  # inner ones before outer ones
        if not isinstance(node, ast.Call):
            continue
        symbol = rewriter.symbol(node.func)
        layer = LAYERS.get(symbol.name) if symbol is not None else None
        if layer is None or (layer.has_variables and (uses_sessions or id(node) in repeated)):
            continue
        if _rewrite(rewriter, node, symbol, layer):
            return True  # one at a time: what is moved may contain another one
    return False


def _rewrite(rewriter, node, symbol, layer):
    arguments = Arguments(rewriter.source, rewriter.edits, node)
    inputs = arguments.get("inputs", 0)
    places = layer.parameters.split()
    names = {argument.name for argument in arguments.all}
    if arguments.unpacks or inputs is None or not names <= {None, "inputs", *places}:
        return False
    data = rewriter.source.data
    called = [data[inputs.value_start : inputs.end].decode("utf-8")]
    removed = [inputs]
    for name in layer.call:
        argument = arguments.get(name, places.index(name) + 1)
        if argument is not None:
            removed.append(argument)
            called.append(f"{name}={data[argument.value_start : argument.end].decode('utf-8')}")
        else:
            called.append(f"{name}=False")  # its default was this one; that of Keras asks `fit`
    start = 0 if inputs.name is not None else 1
    for argument, place in zip(arguments.positional[start:], places):
        if argument not in removed and place not in ("units", "filters", "kernel_size", "pool_size", "strides", "rate"):
            arguments.name_it(argument, place)
    arguments.remove(removed)
    keras = f"tf.keras.layers.{layer.keras}"
    source = rewriter.source
    rewriter.edits.replace(source.start(node.func), source.end(node.func), rewriter.written(keras, symbol) or keras)
    rewriter.edits.after(source.end(node), f"({', '.join(called)})")
    rewriter.say(node, "INFO", f"Changed {symbol.name} to the layer {keras}")
    return True
