"""Random programs give the same bits, errors and variables with graph passes and without."""

import pytest
from evaluation_of_programs import outcome
from generator import source_of

import headrace as tf
from headrace._src.graph.compiling.compilation import set_background_compilation
from headrace._src.graph.passes import loop_invariants
from headrace._src.graph.passes.dead_code import needed
from headrace._src.graph.running import plan


def without_passes(nodes, inputs, outputs, targets=()):
    return needed(nodes, inputs, outputs, targets), list(outputs)


def bits(result):
    parts = [[(x.dtype, x.shape, x.tobytes()) for x in result.get(name, ())] for name in ("values", "variables")]
    return result.get("error"), result.get("message"), parts


def check(seeds, monkeypatch):
    set_background_compilation(False)
    try:
        with_passes = {seed: outcome(tf, seed, {}, calls=2) for seed in seeds}
        monkeypatch.setattr(plan, "optimized", without_passes)
        monkeypatch.setattr(loop_invariants, "_split", lambda plan, fixed: (plan, plan))
        for seed in seeds:
            plain = outcome(tf, seed, {}, calls=2)
            assert bits(with_passes[seed]) == bits(plain), f"program {seed}\n{source_of(seed)}"
    finally:
        set_background_compilation(True)


def test_passes_change_no_bit(monkeypatch):
    check(range(3000, 3004), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(3004, 3404, 50))
def test_passes_change_no_bit_of_more_programs(first, monkeypatch):
    check(range(first, first + 50), monkeypatch)
