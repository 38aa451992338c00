"""Imports of large packages are not looked through for garbage, and what a program has decided about that stays."""

import gc

import pytest

from headrace._src.core.garbage import lasting_objects


@pytest.fixture
def collections():
    """The generations that were collected."""
    found = []

    def note(phase, about):
        if phase == "start":
            found.append(about["generation"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def test_lasting_objects_are_not_looked_through(collections):
    gc.collect()
    collections.clear()
    with lasting_objects():
        kept = [[] for _ in range(100_000)]
    assert collections == []
    more = [[] for _ in range(gc.get_threshold()[0] // 2)]  # the 100,000 do not count as new ones
    assert collections == []
    assert len(kept) > len(more)


def test_garbage_is_found_afterwards():
    class Node:
        pass

    with lasting_objects():
        node = Node()
        node.itself = node
        del node
    before = sum(type(x) is Node for x in gc.get_objects())
    gc.collect()
    assert before == 1
    assert not any(type(x) is Node for x in gc.get_objects())


@pytest.mark.parametrize("is_enabled", [True, False])
def test_switches_stay(is_enabled):
    before = gc.isenabled()
    try:
        gc.enable() if is_enabled else gc.disable()
        with lasting_objects():
            assert not gc.isenabled()
        assert gc.isenabled() == is_enabled
    finally:
        gc.enable() if before else gc.disable()


def test_what_is_frozen_stays_frozen():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with lasting_objects():
            pass
        assert gc.get_freeze_count() >= count - 100 > 0
    finally:
        gc.unfreeze()
