"""Operations that TensorFlow.js lacks, or does otherwise, as ones that it has."""

from __future__ import annotations

from typing import Any

from headrace._src.core import dtypes
from headrace._src.js.rewriting import NewNodes, Rule

_INT32 = dtypes.int32.as_datatype_enum
_BOOL = dtypes.bool.as_datatype_enum


def _kind(node):
    return node.attr["T"].type


def _renamed(op: str) -> Rule:
    """The same under another name."""

    def rule(new: NewNodes, node: Any) -> list[str]:
        copy = new.same(node, list(node.input))
        new.nodes[-1].op = op
        return [copy]

    return rule


def _erfc(new, node):
    one = new.constant(1.0, dtypes.as_dtype(_kind(node)))
    return [new.add("Sub", [one, new.add("Erf", [node.input[0]], {"T": _kind(node)})], {"T": _kind(node)})]


def _softsign(new, node):
    kind = {"T": _kind(node)}
    one = new.constant(1.0, dtypes.as_dtype(_kind(node)))
    size = new.add("AddV2", [one, new.add("Abs", [node.input[0]], kind)], kind)
    return [new.add("RealDiv", [node.input[0], size], kind)]


def _xlogy(new, node):
    kind = {"T": _kind(node)}
    x, y = node.input[:2]
    zero = new.constant(0.0, dtypes.as_dtype(_kind(node)))
    product = new.add("Mul", [x, new.add("Log", [y], kind)], kind)
    return [new.add("SelectV2", [new.add("Equal", [x, zero], kind), zero, product], kind)]


def _half_of_squares(new, node):
    kind = {"T": _kind(node)}
    flat = new.add("Reshape", [node.input[0], new.constant([-1], dtypes.int32)], {**kind, "Tshape": _INT32})
    total = new.add("Sum", [new.add("Square", [flat], kind), new.constant(0, dtypes.int32)], {**kind, "Tidx": _INT32})
    return [new.add("Mul", [new.constant(0.5, dtypes.as_dtype(_kind(node))), total], kind)]


def _exclusive_or(new, node):
    a, b = (new.add("Cast", [x], {"SrcT": _BOOL, "DstT": _INT32}) for x in node.input[:2])
    return [new.add("NotEqual", [a, b], {"T": _INT32})]


def _copied_update(new, node):
    """TF.js: the tensor that is updated changes itself. So it is a copy that does."""
    dtype = dtypes.as_dtype(_kind(node))
    if dtype._kind not in "fiu":
        return None
    copy = new.add("Mul", [node.input[0], new.constant(1, dtype)], {"T": _kind(node)})
    return [new.same(node, [copy, *node.input[1:]])]


EQUIVALENTS: dict[str, Rule] = {
    "BatchMatMulV3": _renamed("BatchMatMulV2"),
    "Erfc": _erfc,
    "Inv": _renamed("Reciprocal"),
    "L2Loss": _half_of_squares,
    "LogicalXor": _exclusive_or,
    "Rint": _renamed("Round"),
    "Softsign": _softsign,
    "TensorScatterUpdate": _copied_update,
    "Xlogy": _xlogy,
}
