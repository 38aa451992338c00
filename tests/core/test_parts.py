"""Work in parts: each part is done once, by whoever is free; nobody waits for a thread that has not begun."""

import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from headrace._src.core import parts


@pytest.fixture(autouse=True, params=[1, 2, 5])
def threads(request):
    parts.set_thread_count(request.param)
    yield request.param
    parts.set_thread_count(0)


def test_arrays_are_freed_although_a_thread_has_not_come_yet(monkeypatch):
    late = []
    monkeypatch.setattr(parts, "_ask_for_help", lambda job, number: late.append(job))
    array = np.zeros(10)
    alive = weakref.ref(array)
    parts.in_parts(lambda number, array=array: array.sum(), 3)
    del array
    assert alive() is None
    for job in late:
        job.help()


@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_each_part_is_done_once(count):
    done = []
    parts.in_parts(done.append, count)
    assert sorted(done) == list(range(count))


@pytest.mark.parametrize(("size", "length"), [(0, 4), (1, 4), (4, 4), (9, 4)])
def test_slices_cover_everything(size, length):
    counts = np.zeros(size, int)

    def add(part):
        counts[part] += 1

    parts.in_slices(add, size, length)
    assert (counts == 1).all()


@pytest.mark.parametrize(("size", "width"), [(1, 1), (2, 1), (1001, 1), (3, 1 << 18), (1000, 4096), (7, 1 << 22)])
def test_long_slices_cover_everything_once(size, width):
    counts, slices = np.zeros(size, int), []

    def add(part):
        counts[part] += 1
        slices.append(part)

    parts.in_long_slices(add, size, width)
    assert (counts == 1).all()
    assert len(slices) >= min(2, size)
    assert len(slices) <= max(3, size * width // parts.LONG_PART + 1)


def test_the_error_of_the_first_part_that_fails():
    def fail(number):
        if number in (3, 7, 90):
            raise ValueError(number)

    for _ in range(20):
        with pytest.raises(ValueError, match="^3$"):
            parts.in_parts(fail, 100)
    done = []
    parts.in_parts(done.append, 10)  # the threads live on
    assert len(done) == 10


def test_several_threads_work_at_the_same_time(threads):
    if threads == 1:
        return
    both = threading.Barrier(2, timeout=60)
    parts.in_parts(lambda number: both.wait(), 2)


def test_nobody_waits_for_a_thread_that_has_not_begun(threads, monkeypatch):
    """While all helpers are held up elsewhere, another caller does its parts by itself."""
    if threads == 1:
        return
    monkeypatch.setattr(parts, "_helpers", parts._Threads())  # no more than are held up here
    hold, begun = threading.Event(), threading.Barrier(threads + 1, timeout=60)

    def wait(number):
        begun.wait()
        hold.wait(60)

    other = threading.Thread(target=parts.in_parts, args=(wait, threads))
    other.start()
    begun.wait()
    done = []
    parts.in_parts(lambda number: done.append(threading.current_thread()), 50)
    assert set(done) == {threading.current_thread()}
    assert len(done) == 50
    hold.set()
    other.join()


def test_parts_inside_of_parts():
    done = []
    parts.in_parts(lambda outer: parts.in_parts(lambda inner: done.append((outer, inner)), 5), 5)
    assert len(set(done)) == 25


def test_numpy_is_quiet_in_helpers(threads):
    if threads == 1:
        return
    both = threading.Barrier(2, timeout=60)
    states = []

    def look(number):
        both.wait()
        if threading.current_thread() is not threading.main_thread():
            states.append(np.geterr()["divide"])

    parts.in_parts(look, 2)
    assert states == ["ignore"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(threads):
    if threads != 2:
        return
    program = (
        "import os, threading\nfrom headrace._src.core import parts\nparts.set_thread_count(2)\n"
        "def together(number): both.wait()\n"
        "both = threading.Barrier(2, timeout=60)\nparts.in_parts(together, 2)\n"
        "child = os.fork()\nboth = threading.Barrier(2, timeout=60)\nparts.in_parts(together, 2)\n"
        "if not child: os._exit(0)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert not subprocess.run([sys.executable, "-c", program], timeout=120).returncode


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({"OPENBLAS_NUM_THREADS": "1"}, 1), ({"TF_NUM_INTRAOP_THREADS": "1", "OMP_NUM_THREADS": "2"}, 1),
     ({"OMP_NUM_THREADS": "many"}, None), ({"TF_NUM_INTRAOP_THREADS": "0"}, None)],
)  # fmt: skip
def test_what_the_environment_says(environment, expected, monkeypatch):
    for name in parts._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    parts.set_thread_count(0)
    parts._usual_threads.cache_clear()
    everything = parts.thread_count()
    parts._usual_threads.cache_clear()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert parts.thread_count() == (expected or everything)
    parts._usual_threads.cache_clear()
