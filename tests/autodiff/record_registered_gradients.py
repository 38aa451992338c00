"""Records for which ops TensorFlow registers a gradient, that there is none, or nothing.

    $TENSORFLOW_PYTHON tests/autodiff/record_registered_gradients.py

Only ops that gradients can go through: an input and an output of theirs can be floating, complex or variant.
"""

import json
import pathlib

FILE = pathlib.Path(__file__).resolve().parent.parent / "golden" / "registered_gradients.json"
KINDS = {"float16", "bfloat16", "float32", "float64", "complex64", "complex128", "variant"}


def may_be_differentiable(tf, definition, argument):
    """Whether an input or output can have a gradient. The new value of a 1.x variable counts as none."""
    if argument.is_ref:
        return False
    name = argument.type_attr or argument.type_list_attr
    if not name:
        return tf.as_dtype(argument.type).name in KINDS
    (attribute,) = [attr for attr in definition.attr if attr.name == name]
    allowed = attribute.allowed_values.list.type
    return not allowed or any(tf.as_dtype(number).name in KINDS for number in allowed)


def main():
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry, ops

    registry = ops.gradient_registry
    registered = set(registry.list())
    found = {"gradient": [], "none": [], "nothing": []}
    for name in sorted(name for name in dir(tf.raw_ops) if name[0].isupper()):
        definition = op_def_registry.get(name)
        if not any(may_be_differentiable(tf, definition, x) for x in definition.input_arg):
            continue
        if not any(may_be_differentiable(tf, definition, x) for x in definition.output_arg):
            continue
        if name not in registered:
            found["nothing"].append(name)
        else:
            found["none" if registry.lookup(name) is None else "gradient"].append(name)
    lines = [f'"{kind}": {json.dumps(names)}' for kind, names in found.items()]
    FILE.write_text("{" + ",\n".join([f'"tensorflow": "{tf.__version__}"', *lines]) + "}\n")


if __name__ == "__main__":
    main()
