"""Every op with a row in tests/ops/cases: an application of it as a node, written and read again."""

import importlib
import pathlib
import sys

import numpy as np
import pytest
from single_operations import flat, graph_of

import headrace as tf
from headrace._src.graph.building.func_graph import FuncGraph
from headrace._src.graph.building.operation import called_graphs
from headrace._src.graph.messages.retired_ops import is_retired

OPS = pathlib.Path(__file__).resolve().parents[2] / "ops"
FAMILIES = sorted(path.stem for path in OPS.glob("cases/*/*.py") if path.stem != "__init__")


def rows_of(family):
    """The rows of a family, the function that evaluates one, and the one that collects what ops are applied to."""
    if str(OPS) not in sys.path:
        sys.path.append(str(OPS))
    rows = importlib.import_module("families").rows_of(family)
    return rows, importlib.import_module("evaluation").evaluate, importlib.import_module("rules").applications


def plain(value):
    """An attribute in a form that compares: tensors by dtype and bytes, numbers as a message holds them, graphs."""
    if hasattr(value, "_a"):
        return value.dtype, value._a.shape, value._a.tolist() if value._a.dtype == object else value._a.tobytes()
    if hasattr(value, "nodes"):
        return [node.type for node in value.nodes]
    if isinstance(value, float):
        return np.float32(value).tobytes()
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_nodes_survive(family):
    rows, evaluate, applications = rows_of(family)
    seen = set()
    for row in rows:
        with applications() as applied:
            evaluate(tf, row)
        for op, arrays, attrs, _ in applied:
            if op.calls_functions:
                continue  # a graph that ran may be gone by now; test_graph_def.py has those
            kinds = tuple(np.asarray(x).dtype for x in flat(list(arrays)))
            key = (op.name, kinds, str({k: v for k, v in attrs.items() if k != "value"}))
            if key in seen:
                continue
            seen.add(key)
            graph = graph_of(op, arrays, attrs)
            node = graph.nodes[-1]
            message = graph.as_graph_def()
            other = FuncGraph("other")
            with other.building():
                (again,) = tf.import_graph_def(message, return_elements=[node.name], name="")
            if is_retired(node):
                assert again.type == "PartitionedCall"
                continue
            assert again.record is op
            assert again.types == node.types
            floats = {attribute.name for attribute in op.signature.attributes if attribute.kind == "float"}
            attrs = {k: float(v) if k in floats else v for k, v in node.attrs.items()}
            assert {k: plain(v) for k, v in again.attrs.items()} == {k: plain(v) for k, v in attrs.items()}
            shapes = [[str(tensor.shape) for tensor in x.outputs] for x in (again, node)]
            assert shapes[0] == shapes[1]
            if not called_graphs(attrs):  # functions get other names
                assert other.as_graph_def() == message
    assert seen or family in ("core", "bad_input", "debugging")
