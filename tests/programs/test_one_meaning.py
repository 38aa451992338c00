"""Random programs mean the same eagerly, interpreted and compiled. `scripts/programs` does this for thousands."""

import pytest
from evaluation_of_programs import difference, outcome
from generator import source_of

import headrace as tf


def agree(seed, tier, **options):
    found = difference(outcome(tf, seed, "eager", **options), outcome(tf, seed, tier, **options))
    assert not found, f"program {seed}: {found}\n{source_of(seed)}"


@pytest.mark.parametrize("seed", range(60))
def test_interpreted_as_eager(seed):
    agree(seed, {})


@pytest.mark.slow
@pytest.mark.parametrize("first", range(60, 460, 20))
def test_more_interpreted_as_eager(first):
    for seed in range(first, first + 20):
        agree(seed, {})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_compiled_as_eager(seed):
    agree(seed, {"jit_compile": True})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2020))
def test_repeated_calls(seed):
    agree(seed, {}, calls=3)


def test_programs_can_fail():
    kinds = {outcome(tf, seed, "eager").get("error") for seed in range(60)}
    assert kinds == {None, "InvalidArgumentError"}
