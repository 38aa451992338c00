"""How many multiplications and additions the products of a compiled program are, from XLA's text of it."""

import math
import re
from typing import NamedTuple

# `%name = f32[2,3]{1,0} opcode(operands), attributes`; results of several arrays stand in parentheses.
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*?)\)(.*)$")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\) -> .* \{$")
_CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.\-]+)")
_SHAPE = re.compile(r"\w+\[([\d,]*)\]")
_CONTROL = frozenset({"while", "call", "conditional"})


class Instruction(NamedTuple):
    """What is known of an instruction: what it is, whether it only runs others, and the FLOPs of its products."""

    opcode: str
    is_control: bool
    flops: float


def instructions_of(text: str) -> dict[str, Instruction]:
    """The instructions of a program by name, from what `Compiled.as_text` returns."""
    parsed, shapes, owner = [], {}, ""
    for line in text.splitlines():
        computation = _COMPUTATION.match(line)
        if computation:
            owner = computation[1]
            continue
        found = _INSTRUCTION.match(line)
        if found:
            name, shape, opcode, operands, attributes = found.groups()
            shapes[owner, name] = _sizes(shape)
            parsed.append((owner, name, opcode, operands, attributes))
    inside: dict[str, float] = {}  # FLOPs of computations, of which callers come later in the text
    known = {}
    for owner, name, opcode, operands, attributes in parsed:
        flops = _own_flops(opcode, shapes[owner, name], _operand_sizes(operands, owner, shapes), attributes)
        is_control = opcode in _CONTROL
        if not is_control:  # what loops and branches run has events of its own
            flops += sum(inside.get(called, 0.0) for called in _CALLED.findall(attributes))
        inside[owner] = inside.get(owner, 0.0) + flops
        known[name] = Instruction(opcode, is_control, flops)
    return known


def _sizes(text):
    """The sizes of the first array that a text names."""
    found = _SHAPE.search(text)
    return [int(x) for x in found[1].split(",") if x] if found else []


def _operand_sizes(operands, owner, shapes):
    """Of each operand; XLA writes its shape before its name, or the name alone."""
    names = re.findall(r"(?:\w+\[[\d,]*\](?:\{[^}]*\})? )?%?([A-Za-z_][\w.\-]*)", operands)
    return [shapes.get((owner, name), []) for name in names]


def _own_flops(opcode, result, operands, attributes):
    if opcode == "dot":
        axes = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", attributes)
        summed = [operands[0][int(axis)] for axis in axes[1].split(",") if axis] if axes and operands else []
        return 2.0 * math.prod(result) * math.prod(summed)
    if opcode == "convolution" and len(operands) == 2:
        labels = re.search(r"dim_labels=\w+_(\w+)->", attributes)
        groups = re.search(r"batch_group_count=(\d+)", attributes)
        filters = operands[1][labels[1].index("o")] if labels else 1
        return 2.0 * math.prod(result) * math.prod(operands[1]) / filters / (int(groups[1]) if groups else 1)
    return 0.0
