"""Pipelines give the same elements in the same order at every level of parallelism, and after they are resumed."""

import random

import pytest
from random_pipelines import pipeline, plain, values_of

COUNT = 50


@pytest.mark.parametrize("seed", range(COUNT))
def test_parallelism_changes_nothing(seed):
    expected = values_of(pipeline(seed, None))
    for parallel in (1, 2, 8):
        assert values_of(pipeline(seed, parallel)) == expected


@pytest.mark.parametrize("seed", range(COUNT))
def test_resumed_walks_go_on_where_they_were(seed):
    for parallel in (None, 8):
        expected = values_of(pipeline(seed, parallel))
        at = random.Random(seed).randrange(len(expected) + 1)
        first = iter(pipeline(seed, parallel))
        assert [plain(next(first)) for _ in range(at)] == expected[:at]
        state = first.state_dict()
        second = iter(pipeline(seed, parallel))
        second.load_state_dict(state)
        assert values_of(second) == expected[at:]
        assert values_of(first) == expected[at:]  # taking the state changes nothing


@pytest.mark.parametrize("seed", range(0, COUNT, 5))
def test_a_second_walk_can_be_resumed_too(seed):
    dataset = pipeline(seed, 2)
    values_of(dataset)
    expected = iter(dataset)
    at = 3
    head = [plain(x) for _, x in zip(range(at), expected)]
    state = expected.state_dict()
    rest = values_of(expected)
    fresh = pipeline(seed, 2)
    resumed = iter(fresh)
    resumed.load_state_dict(state)
    assert values_of(resumed) == rest
    assert len(head) <= at
