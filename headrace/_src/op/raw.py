"""`tf.raw_ops`: every registered op as a function of keyword arguments, with TensorFlow's names."""

import inspect

from headrace._src.core.tracebacks import entrance
from headrace._src.op.attributes import canonical
from headrace._src.op.definition import Op
from headrace._src.op.signature import REQUIRED


def raw_function(op: Op):
    """A function of keyword arguments that applies `op`."""
    signature = op.signature
    renamed = op.raw_names
    inputs = [renamed.get(argument.name, argument.name) for argument in signature.inputs]
    # The attribute of the op that a parameter stands for, and its kind.
    attributes = {renamed.get(x.name, x.name): x for x in signature.attributes}
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in inputs]
    for name, attribute in attributes.items():
        default = inspect.Parameter.empty if attribute.default is REQUIRED else attribute.default
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    parameters.append(inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None))
    written = inspect.Signature(parameters)

    @entrance
    def raw(**kwargs):
        bound = written.bind(**kwargs).arguments
        name = bound.pop("name", None)
        attrs = {x.name: canonical(op, x, bound[key]) for key, x in attributes.items() if key in bound}
        return op(*[bound[key] for key in inputs], name=name, **attrs)

    raw.__name__ = raw.__qualname__ = op.name
    raw.__doc__ = f"{op.name}: {op.text}"
    raw.__signature__ = written
    return raw
