"""Traits fit the rest of the record, and no file keeps a list of other files' ops instead."""

import ast
import pathlib

import headrace
from headrace._src.core import dtypes
from headrace._src.index import OPS
from headrace._src.op import traits
from headrace._src.op.registry import all_ops
from headrace._src.op.traits import (
    CALLS_FUNCTIONS,
    CHANGES_NOTHING,
    ELEMENTWISE,
    EQUAL_SHAPES,
    FAILS_BY_SHAPE,
    IDEMPOTENT,
    INVOLUTION,
    LOOPS,
    NEVER_FAILS,
    PLAIN_CALL,
    READS_FILES,
    READS_RESOURCE,
    WRITES_VARIABLE,
    Trait,
)

SOURCE = pathlib.Path(headrace.__file__).parent / "_src"
# If one of the first is true of an op, so is the second.
IMPLIED = [(EQUAL_SHAPES | IDEMPOTENT | INVOLUTION, ELEMENTWISE), (PLAIN_CALL | LOOPS, CALLS_FUNCTIONS)]
OF_STATE = READS_RESOURCE | READS_FILES | CHANGES_NOTHING | WRITES_VARIABLE
# What is written there names no ops: kinds of updates of 1.x variables.
OTHER_WORDS = {"graph.building.graph_variables", "state.reference_ops"}
# They look at graphs in messages, which hold names, also of ops that are not known here; or at states of TensorFlow's
# iterators, which are named by kinds.
OF_MESSAGES = {
    "cli.saved_model.scanning",
    "compat.saving.meta_graphs",
    "compat.saving.model_loading",
    "data.saving.position_counts",
    "data.saving.rearranged_steps",
    "data.saving.received_graphs",
    "saved_model.debugging_parts",
}


def test_every_trait_has_a_name_of_its_own_and_an_op():
    ops = all_ops()
    for name, trait in vars(traits).items():
        if not isinstance(trait, Trait) or not trait:
            continue
        assert trait.names == {name}
        assert any(trait in op.traits for op in ops), f"{trait} is true of no op"


def test_traits_fit_the_record():
    wrong = []
    for op in all_ops():
        inputs = op.signature.inputs
        wrong += [(op.name, some) for some, all_ in IMPLIED if op.traits & some and all_ not in op.traits]
        if op.traits & OF_STATE and not op.stateful:
            wrong.append((op.name, "is not stateful"))
        if op.traits & (READS_RESOURCE | WRITES_VARIABLE) and inputs[0].dtype is not dtypes.resource:
            wrong.append((op.name, "has no resource as first input"))
        ways_to_fail = [NEVER_FAILS in op.traits, FAILS_BY_SHAPE in op.traits, op.can_fail is not None]
        if sum(ways_to_fail) > 1:
            wrong.append((op.name, "says twice when it fails"))
        if ELEMENTWISE in op.traits and not op.single_output:
            wrong.append((op.name, "has more than one output"))
        if op.neutral is not None and len(inputs) != 2:
            wrong.append((op.name, "has no two inputs"))
        if not set(op.flexible) <= set(op.static):
            wrong.append((op.name, "is flexible where it is not static"))
    assert wrong == []


TRANSLATING = ("graph.messages.", "lite.", "js.")


def _listed(node):
    """The words in a literal set, list, tuple, or dict by its keys, or in a text of many words."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = node.value.split()
        return words if all(word[:1].isupper() for word in words) else []
    items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    return [item.value for item in items if isinstance(item, ast.Constant)]


def test_no_file_lists_ops_of_others():
    """Graphs in messages hold names, and `lite` and `js` translate names into those of other runtimes.

    Whatever else treats ops alike asks for a trait, or imports the ops.
    """
    lists = []
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        if module == "index" or module in OTHER_WORDS | OF_MESSAGES or module.startswith(TRANSLATING):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = {word for word in _listed(node) if isinstance(word, str) and OPS.get(word, module) != module}
            if len(named) > 2:
                lists.append(f"{module}:{node.lineno}: {sorted(named)}")
    assert lists == []
