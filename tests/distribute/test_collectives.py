"""What workers do together, with threads in the place of processes and a table in the place of XLA."""

import threading

import ml_dtypes
import numpy as np
import pytest
from waiting_threads import answers

import headrace as tf
from headrace._src.distribute.collectives import MAX, MEAN, MIN, SUM, Group
from headrace._src.distribute.rendezvous import Member

MEMBERS = [Member("worker", i, f"host:{i}") for i in range(3)]


class Table:
    """Where the arrays of all workers lie. Arrays of different sizes would be an error of XLA, or wrong sums."""

    def __init__(self):
        self.barrier = threading.Barrier(3)
        self.rows = [None] * 3
        self.sizes = []

    def exchange(self, rank, array):
        self.rows[rank] = np.array(array)
        self.barrier.wait(30)
        rows = list(self.rows)
        self.barrier.wait(30)
        assert len({(row.size, row.dtype) for row in rows}) == 1
        if rank == 0:
            self.sizes.append(array.size)
        return np.stack(rows)


class StandIn:
    def __init__(self, table, rank):
        self.table, self.rank = table, rank

    def gather(self, array):
        return self.table.exchange(self.rank, array)

    def sum(self, array):
        rows = self.table.exchange(self.rank, array)
        return rows.sum(0, dtype=rows.dtype)


class LinkOfThreads:
    """As much of a link as groups use."""

    def __init__(self, rank, said, barrier):
        self.rank, self.members, self.count, self.doing = rank, MEMBERS, 0, ""
        self._said, self._barrier = said, barrier
        self.failure = None
        self.wake = set()
        self.on_change, self.no_more = self.wake.add, self.wake.discard

    def raise_failure(self):
        if self.failure is not None:
            raise self.failure

    def error_for(self, number, doing):
        return self.failure

    def awaited_failure(self):
        return self.failure

    def behind(self, number):
        return [MEMBERS[2]]

    def agree(self, key, value, doing=""):
        self._said[self.rank] = value
        self._barrier.wait(30)
        return list(self._said)


@pytest.fixture
def table():
    return Table()


@pytest.fixture
def groups(table):
    said, barrier = [None] * 3, threading.Barrier(3)
    return [Group(LinkOfThreads(rank, said, barrier), lambda rank=rank: StandIn(table, rank)) for rank in range(3)]


def together(groups, call):
    return answers(*[lambda group=group: call(group) for group in groups])


REDUCTIONS = [
    (dtype, reduction)
    for dtype in map(np.dtype, ["float32", "float64", "int32", "complex64", ml_dtypes.bfloat16, "bool"])
    for reduction in (SUM, MEAN, MIN, MAX)
    if not (dtype.kind == "c" and reduction in (MIN, MAX)) and not (dtype == np.bool_ and reduction == MEAN)
]


@pytest.mark.parametrize("size", [1, 7, 3000])
@pytest.mark.parametrize(("dtype", "reduction"), REDUCTIONS)
def test_reductions(groups, size, dtype, reduction):
    generator = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    if (reduction in (MIN, MAX) and dtype.kind == "c") or (dtype == np.bool_ and reduction == MEAN):
        pytest.skip("has no meaning")
    values = [[generator.integers(0, 9, size).astype(dtype), np.float64(rank)] for rank in range(3)]
    found = together(groups, lambda group: group.all_reduce(list(map(np.asarray, values[group.rank])), reduction))
    stacked = np.stack([value[0] for value in values])
    expected = {
        SUM: lambda: stacked.any(0) if dtype == np.bool_ else stacked.sum(0, dtype=dtype),
        MEAN: lambda: stacked.sum(0) // 3 if dtype.kind in "iu" else stacked.sum(0, dtype=dtype) / dtype.type(3),
        MIN: lambda: stacked.min(0), MAX: lambda: stacked.max(0),
    }[reduction]()  # fmt: skip
    for result in found:
        np.testing.assert_array_equal(result[0], expected.astype(dtype))
        assert (result[0].dtype, result[1].shape) == (dtype, ())


def test_many_small_arrays_are_one_message(groups, table):
    together(groups, lambda group: group.all_reduce([np.ones(i, np.float32) for i in range(40)]))
    assert table.sizes == [4096]
    table.sizes.clear()
    results = together(groups, lambda group: group.all_reduce([np.ones((i, 9), np.float32) for i in range(40)]))
    assert table.sizes == [4096, 9 * sum(range(40))]
    assert [part.shape for part in results[0]] == [(i, 9) for i in range(40)]
    assert all((part == 3).all() for part in results[2])


def test_gathers_of_different_sizes(groups):
    found = together(groups, lambda group: group.all_gather(np.full((2, group.rank), group.rank), 1))
    for parts in found:
        assert [part.tolist() for part in parts] == [[[], []], [[1], [1]], [[2, 2], [2, 2]]]
    texts = [np.array([b"", b"a\0"], object), np.array([], object), np.array([b"x" * 5000], object)]
    for parts in together(groups, lambda group: group.all_gather(texts[group.rank])):
        assert [part.tolist() for part in parts] == [list(text) for text in texts]


@pytest.mark.parametrize("value", [np.float32(3), np.arange(5000), np.array([True]), np.array([b"ab", b""], object)])
def test_the_first_value_is_the_chiefs(groups, value):
    value = np.asarray(value)
    found = together(groups, lambda group: group.broadcast(value if group.rank == 0 else np.zeros_like(value)))
    for result in found:
        np.testing.assert_array_equal(result, value)
        assert result.dtype == value.dtype


@pytest.mark.parametrize(("call", "said"), [
    (lambda group: group.all_reduce([np.ones(group.rank)]), "worker 1 (host:1) is in all_reduce (SUM) of float64[1]"),
    (lambda group: group.all_reduce([np.ones(2, "fd"[group.rank > 0])]), "of float32[2]"),
    (lambda group: group.all_reduce([np.ones(2)], MEAN if group.rank else SUM), "all_reduce (MEAN)"),
    (lambda group: group.barrier() if group.rank else group.all_gather(np.ones(2)), "worker 2 (host:2) is in barrier"),
    (lambda group: group.broadcast(np.ones(2 + group.rank)), "float64[4]"),
])  # fmt: skip
def test_what_differs_is_said(groups, call, said):
    for error in together(groups, call):
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert said in error.message
        assert "test_collectives.py" in error.message


def test_waiting_ends_when_a_worker_dies(groups, table):
    error = tf.errors.UnavailableError(None, None, "worker 2 (host:2) has died")

    def call(group):
        if group.rank == 2:
            for other in groups[:2]:
                other.link.failure = error
                for wake in list(other.link.wake):
                    wake()
            return "dead"
        return group.all_reduce([np.ones(2)])

    assert together(groups, call) == [error, error, "dead"]
    table.barrier.abort()


def test_waiting_ends_after_a_while(groups, table):
    groups[0].timeout = 0.05
    (error,) = answers(lambda: groups[0].barrier())
    assert isinstance(error, tf.errors.DeadlineExceededError)
    assert "worker 2 (host:2)" in error.message
    table.barrier.abort()
