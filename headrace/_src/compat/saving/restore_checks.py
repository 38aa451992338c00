"""Whether a checkpoint fits the variables that a 1.x saver would restore: asked before any of them changes."""

from typing import Any, NamedTuple

from headrace._src.checkpoint.reading import open_checkpoint
from headrace._src.core import errors
from headrace._src.core.shapes import TensorShape
from headrace._src.formats.tensor_slices import parse_shape_and_slice

_PASSING = ("Identity",)


class Wanted(NamedTuple):
    """A value that a variable is to get."""

    key: str
    slice_spec: str
    variable: str
    shape: TensorShape


def wanted_by(operation) -> list[Wanted]:
    """What an operation that restores variables will read, as far as its graph says so."""
    found, seen, pending = [], {id(operation)}, [operation]
    while pending:
        node = pending.pop()
        if node.type in ("AssignVariableOp", "Assign"):
            value = _wanted_value(node)
            if value is not None:
                found.append(value)
            continue
        for other in (*node.control_inputs, *(tensor.op for tensor in node.inputs)):
            if id(other) not in seen:
                seen.add(id(other))
                pending.append(other)
    return sorted(found, key=lambda item: item.key)


def _wanted_value(assignment):
    source = assignment.inputs[-1]
    while source.op.type in _PASSING:
        source = source.op.inputs[0]
    if source.op.type != "RestoreV2":
        return None
    names, slices = source.op.inputs[1]._known, source.op.inputs[2]._known
    if names is None or slices is None:
        return None
    if assignment.type == "Assign":
        attributes, checked = assignment.attrs, assignment.attrs["validate_shape"]
        name = attributes["shared_name"]
    else:
        handle = assignment.inputs[0].op
        attributes, checked = handle.attrs, handle.type == "VarHandleOp"
        name = handle.name
    shape = TensorShape(attributes["shape"] if checked else None)
    index = source.value_index
    return Wanted(_text(names, index), _text(slices, index), name, shape)


def _text(array, index):
    return array.reshape(-1)[index].decode("utf-8", "surrogateescape")


def check(path: str, wanted: list[Wanted]) -> None:
    """Compares what is wanted with a checkpoint.

    Raises:
        NotFoundError: it lacks a key.
        InvalidArgumentError: a value is of another shape than its variable; the message lists all such.
    """
    reader: Any = open_checkpoint(path)
    missing = [item.key for item in wanted if item.key not in reader]
    if missing:
        more = f" ({len(missing)} keys are missing, among them {', '.join(missing[:5])})" if len(missing) > 1 else ""
        raise errors.not_found(f"Key {missing[0]} not found in checkpoint {path}{more}")
    wrong = []
    for item in wanted:
        stored = tuple(reader.entries[item.key].shape)
        if item.slice_spec:
            shape, part = parse_shape_and_slice(item.slice_spec)
            stored = tuple(part.resolved(shape).lengths) if shape == stored else stored
        if not item.shape.is_compatible_with(stored):
            wrong.append(f"{item.variable} is of shape {item.shape}, {item.key} in the checkpoint of shape {stored}")
    if wrong:
        raise errors.invalid_argument(
            f"Shapes of variables and of their values in the checkpoint {path} differ: {'; '.join(wrong[:20])}"
            f"{f'; and {len(wrong) - 20} more' if len(wrong) > 20 else ''}. If only the arrangement of the elements "
            "differs, pass reshape=True to the Saver."
        )
