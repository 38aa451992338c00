"""Which ops and public functions the package finds by name, where an import would do for a reader.

An op is used by importing its constant. A quoted name stays where the import would close a cycle, or would make
`import headrace` or the first use of a tape and a function load more; all are checked here. A name that is no constant
comes from data, and says from which.
"""

import ast
import functools
import pathlib
import subprocess
import sys

import pytest

import headrace
from headrace._src import index

ROOT = pathlib.Path(headrace.__file__).parent / "_src"
CYCLE, WEIGHT = "its file imports this one", "import headrace would load more"
FIRST_USE = "the first tape and the first function would load more"

QUOTED = {
    "graph.control.loops": {
        "EmptyTensorList": FIRST_USE, "TensorListPopBack": FIRST_USE, "TensorListPushBack": FIRST_USE,
    },
    "ops.arrays.box_slices": {"GatherV2": CYCLE, "Pack": CYCLE, "Pad": CYCLE},
    "ops.arrays.broadcasting": {
        "DynamicStitch": CYCLE, "OnesLike": CYCLE, "Range": CYCLE, "UnsortedSegmentSum": CYCLE,
    },
    "ops.arrays.casting": {"Complex": CYCLE, "Maximum": CYCLE, "Minimum": CYCLE, "Real": CYCLE},
    "ops.arrays.constants": {"Fill": CYCLE},
    "ops.arrays.filling": {"Max": CYCLE},
    "ops.arrays.gathering": {
        "All": CYCLE, "Assert": CYCLE, "Prod": CYCLE, "ScatterNd": CYCLE, "UnsortedSegmentSum": CYCLE,
    },
    "ops.arrays.indexed_slices": {"StridedSlice": CYCLE, "UnsortedSegmentSum": CYCLE},
    "ops.arrays.indexing": {"GatherV2": WEIGHT, "Prod": WEIGHT, "Where": WEIGHT},
    "ops.arrays.joining": {"Split": CYCLE, "SplitV": CYCLE},
    "ops.arrays.measuring": {"Prod": CYCLE},
    "ops.arrays.slicing": {"GatherV2": WEIGHT, "OnesLike": WEIGHT, "SelectV2": WEIGHT},
    "ops.linalg.decompositions": {"MatrixSolve": CYCLE, "MatrixTriangularSolve": CYCLE},
    "ops.linalg.matmul": {"Transpose": WEIGHT},
    "ops.math.arithmetic": {"SelectV2": CYCLE},
    "ops.math.complex_numbers": {
        "DivNoNan": CYCLE, "OnesLike": CYCLE, "Reciprocal": CYCLE, "SelectV2": CYCLE, "ZerosLike": CYCLE,
    },
    "ops.math.elementwise": {"ZerosLike": WEIGHT},
    "ops.math.powers": {"OnesLike": WEIGHT, "SelectV2": WEIGHT, "ZerosLike": WEIGHT},
    "ops.math.reductions": {"Cumprod": CYCLE, "ListDiff": FIRST_USE, "SelectV2": FIRST_USE},
    "ops.sparse.tensor": {"DeserializeSparse": CYCLE, "SerializeManySparse": CYCLE, "SerializeSparse": CYCLE},
    "ops.tensor_lists.single_elements": {"TensorListStack": CYCLE},
    "ops.windows.pool_gradients": {"AvgPool": CYCLE, "AvgPool3D": CYCLE},
}  # fmt: skip

# Module to how often it looks up a name that is not a constant, and where the names come from.
FROM_DATA = {
    "compat.saving.optimized_graphs": (1, "the ops of a GraphDef"),
    "compat.tensorflow_names.op_catalogue": (1, "what packages ask by name"),
    "autodiff.registered": (1, "the op that tf.RegisterGradient names"),
    "compat.data_iterators": (1, "functions of tf.data.experimental, which get a 1.x form"),
    "compat.keras.functional": (1, "the function that a step of a saved Keras model names"),
    "compat.tensorflow_names.exported_names": (1, "the public name that another package asks for"),
    "compat.tensorflow_names.op_functions": (1, "the op of a function of gen_*_ops, by its name"),
    "data.saving.dataset_graphs": (1, "the ops of a saved pipeline"),
    "data.saving.received_graphs": (1, "the ops of a pipeline from another process"),
    "data.service.shards": (2, "the op that made a stage, from its recipe"),
    "graph.compiling.blocks": (1, "the op of an instruction, as the compiling process is sent it"),
    "graph.compiling.lowering": (1, "the op of an instruction, as the compiling process is sent it"),
    "graph.compiling.program_store": (1, "the op of an instruction, as the compiling process is sent it"),
    "graph.compiling.programs": (1, "the op of an instruction, as the compiling process is sent it"),
    "graph.messages.dataflow_nodes": (2, "the ops of a GraphDef"),
    "graph.messages.graph_import": (2, "the ops of a GraphDef"),
    "graph.messages.inlined_graphs": (1, "the ops of a GraphDef"),
    "graph.messages.op_definitions": (3, "the ops of a GraphDef, and that tf.Graph.op_def_for_type is asked for"),
    "graph.messages.reference_nodes": (1, "the ops of a GraphDef"),
    "op.definition": (1, "the op of a pickle"),
    "op.registry": (3, "this is `lookup`"),
    "op.type_dispatch": (1, "the element-wise functions, from the index"),
    "ops.arrays.casting": (1, "Real and Imag, which import this file"),
    "ops.numpy_api.weak_tensors": (2, "the functions that are changed when the mode is set, with those of the index"),
    "saved_model.loaded_graphs": (1, "the ops of a SavedModel"),
    "saved_model.model_building": (1, "the ops of the graph that is saved"),
    "state.reference_ops": (2, "the ops on handles, whose names follow from those on 1.x variables"),
}


def _name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def _trees():
    files = [path for path in ROOT.rglob("*.py") if path.name != "index.py"]
    return {_name_of(path): ast.parse(path.read_text()) for path in files}


def _looked_up(node):
    """What a node of the syntax tree looks up in REGISTRY or PUBLIC; None if it does no such thing."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is_table(node.value):
        return node.slice
    if not isinstance(node, ast.Call) or not node.args:
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "lookup":
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        if _is_table(node.func.value):
            return node.args[0]
        if _is_table(node.args[0]):  # dict.get(PUBLIC, name)
            return node.args[1]
    return None


def _is_table(node):
    return isinstance(node, ast.Name) and node.id in ("REGISTRY", "PUBLIC")


def _sites():
    """Module to the expressions that it looks up."""
    found = {}
    for name, tree in _trees().items():
        for node in ast.walk(tree):
            looked_up = _looked_up(node)
            if looked_up is not None:
                found.setdefault(name, []).append(looked_up)
    return found


def test_quoted_names():
    quoted = {
        module: {node.value for node in nodes if isinstance(node, ast.Constant)} for module, nodes in _sites().items()
    }
    assert {module: names for module, names in quoted.items() if names} == {m: set(rows) for m, rows in QUOTED.items()}


def test_names_from_data():
    counts = {
        module: sum(not isinstance(node, ast.Constant) for node in nodes) for module, nodes in _sites().items()
    }
    assert {module: count for module, count in counts.items() if count} == {m: row[0] for m, row in FROM_DATA.items()}


def _imports(tree):
    """The modules of the package that a module imports when it is loaded."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headrace._src"):
            folder = node.module.removeprefix("headrace._src").removeprefix(".")
            for alias in node.names:
                inside = f"{folder}.{alias.name}".removeprefix(".")
                yield inside if inside in _trees() else folder


@functools.cache
def _needs(module):
    """A module and all that it imports, directly or not."""
    seen, left = set(), [module]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left.extend(_imports(_trees()[name]) if name in _trees() else ())
    return seen


PROGRAMS = {
    WEIGHT: "import headrace",
    FIRST_USE: """import headrace as tf
x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
tf.function(lambda x: x + 1.0)(1.0)""",
}


@functools.cache
def _loaded_by(reason):
    program = f"{PROGRAMS[reason]}\nimport sys; print(*[name for name in sys.modules if name.startswith('headrace.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.removeprefix("headrace._src.") for name in done.stdout.split()}


@pytest.mark.parametrize(("module", "op"), [(module, op) for module, ops in QUOTED.items() for op in ops])
def test_the_reason_holds(module, op):
    needs = _needs(index.OPS[op])
    reason = QUOTED[module][op]
    if reason is CYCLE:
        assert module in needs, f"{op} can be imported from {index.OPS[op]}"
    else:
        assert module not in needs
        assert module in _loaded_by(reason)
        assert not needs <= _loaded_by(reason), f"{op} can be imported from {index.OPS[op]}"
