"""Every row: the recorded result of TensorFlow, the rules of the ops that it runs, and its derivatives."""

import collections
import functools
import os

import families
import golden
import pytest
from comparison import assert_close
from differences import check_gradients
from evaluation import evaluate, run_code
from rules import applications, check_inference, check_lowering

import headrace as tf
from headrace._src.index import OPS
from headrace._src.op.registry import all_ops

FAMILIES = {family: families.rows_of(family) for family in families.NAMES}
# A family stays in one worker: it reads its recorded results once, and compiles each lowering once.
ROWS = [
    pytest.param(family, row, id=f"{family}:{row.name}", marks=pytest.mark.xdist_group(family))
    for family, rows in FAMILIES.items()
    for row in rows
]
_load = functools.cache(golden.load)


@pytest.mark.parametrize(("family", "row"), ROWS)
def test_agrees_with_tensorflow(family, row):
    if row.ours is not None:
        evaluate(tf, row)
        return
    recorded = _load(family).get(row.key)
    assert recorded is not None, "no recorded result: run scripts/golden"
    got = evaluate(tf, row)
    if "error" in recorded:
        assert "error" in got, f"TensorFlow raises {recorded['error'][0]}, headrace returns {got.get('values')}"
        wanted = recorded["error"][0]
        if wanted == "_FallbackException":
            wanted = "Exception"
        assert wanted in got["error"], (
            f"TensorFlow raises {wanted}, headrace {got['error'][0]}: {got['message']}"
        )
        return
    if "error" in got:
        raise got["exception"]
    assert [name for name, _ in got["values"]] == [name for name, _ in recorded["values"]]
    for i, ((_, value), (_, want)) in enumerate(zip(got["values"], recorded["values"], strict=True)):
        assert_close(value, want, row.rtol, row.atol, what=f"output {i}")
    if recorded["grads"] is None:
        assert got["grads"] is None
        return
    for i, (grad, want) in enumerate(zip(got["grads"], recorded["grads"], strict=True)):
        assert (grad is None) == (want is None), f"gradient {i}: TensorFlow {want}, headrace {grad}"
        if want is not None:
            assert_close(grad, want, row.rtol, row.atol, slack=10, what=f"gradient {i}")


_checked = set()
_compiled = collections.Counter()
# jax takes a tenth of a second for each program: of an op's applications to the same dtypes so many are compiled, the
# first ones, unless all are asked for.
ALL_RULES = bool(os.environ.get("HEADRACE_ALL_RULES"))
COMMON, OTHERS = 4, 1


def _is_within_budget(op, arrays):
    """Whether the lowering of this application is to be compiled."""
    kinds = [str(getattr(x, "dtype", "")) for a in arrays for x in (a if isinstance(a, list) else [a])]
    _compiled[op.name, *kinds] += 1
    limit = COMMON if {"float32", "int32", "int64", "bool"}.issuperset(kinds) else OTHERS
    return ALL_RULES or _compiled[op.name, *kinds] <= limit


@pytest.mark.slow
@pytest.mark.parametrize(("family", "row"), ROWS)
def test_rules(family, row):
    with applications() as seen:
        result = evaluate(tf, row)
    if "error" in result:
        return
    for op, arrays, attrs, results in seen:
        if op.calls_functions:
            continue  # what a graph does is checked operation by operation, and in tests/graph
        # jax compiles each new combination: once is enough.
        kinds = [(a.shape, a.dtype.name) if hasattr(a, "shape") else [x.shape for x in a] for a in arrays]
        key = (op.name, repr(kinds), repr(attrs))
        if key in _checked:
            continue
        _checked.add(key)
        check_inference(op, arrays, attrs, results)
        is_seeded = attrs.get("seed2") is None or attrs["seed"] or attrs["seed2"]
        if row.lower and is_seeded and _is_within_budget(op, arrays):
            check_lowering(op, arrays, attrs, results, row.rtol, row.atol)


@pytest.mark.parametrize(
    ("family", "row"),
    [
        param
        for param in ROWS
        if param.values[1].grad
        and param.values[1].fd
        and param.values[1].dtype in ("float32", "float64", "complex64", "complex128")
    ],
)
def test_derivatives(family, row):
    # Where headrace decides otherwise, nothing is recorded, and it is its own gradients that must be right.
    result = _load(family).get(row.key, {}) if row.ours is None else evaluate(tf, row)
    if "error" in result or result.get("grads") is None or all(g is None for g in result["grads"]):
        return
    check_gradients(tf, row, row.second)


# Its program is made by jax; tests/graph/control/test_xla_modules.py has it.
PROGRAMS_OF_OTHERS = {"XlaCallModule"}
# Ops that only sessions run; tests/compat has them.
ONLY_IN_SESSIONS = {
    "Assign", "AssignAdd", "AssignSub", "DisableCopyOnRead", "IsVariableInitialized", "Placeholder",
    "VariableReference", "VariableV2",
}  # fmt: skip


def test_every_op_has_a_row():
    with applications() as seen:
        for rows in FAMILIES.values():
            for row in rows:
                arrays = row.arrays()
                try:
                    run_code(tf, row, {name: tf.constant(array) for name, array in arrays.items()})
                except Exception:  # rows of errors: what they raise is tested above
                    continue
                evaluate(tf, row, arrays)
    run = {application[0].name for application in seen}
    ours = [op.name for op in all_ops() if op.module.startswith("headrace.")]  # other tests define ops of their own
    # Ops of datasets, iterators, checkpoints and summaries are no functions of arrays; tests of these have them.
    # Those of replicas never run by themselves; tests/distribute has them.
    elsewhere = (
        "data.", "distribute.", "graph.replicas.", "compat.data_iterators", "compat.input.", "compat.accumulator_ops",
        "compat.sessions.", "checkpoint.",
        "summary.", "state.reference_ops",
    )  # fmt: skip
    ours = [name for name in ours if not OPS.get(name, "").startswith(elsewhere)]
    # Of the fused optimizers, sessions alone have those for variables without handles; tests/compat has them.
    ours = [name for name in ours if OPS.get(name) != "state.optimizer_ops" or name.startswith("Resource")]
    missing = [name for name in ours if name not in run | ONLY_IN_SESSIONS | PROGRAMS_OF_OTHERS]
    assert not missing, f"ops without a row: {missing}"
