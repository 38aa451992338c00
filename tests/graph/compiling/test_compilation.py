"""When a program is kept, and when it is given up."""

import pytest

from headrace._src.graph.compiling import compilation


class Owner:
    """Stands for the executable that has an entry."""

    reason = ""


@pytest.mark.parametrize(
    ("seconds", "processor_seconds", "kept"),
    [
        (0.05, 0.05, False),
        (0.05, 0.009, True),  # another process had the processors
        (0.009, 0.05, True),  # it uses more processors
        (0.0105, 0.0105, True),  # hardly slower
    ],
)
def test_a_program_is_given_up_if_it_is_slower_on_the_clock_and_in_processor_time(
    monkeypatch, seconds, processor_seconds, kept
):
    now = [0.0, 0.0]

    def run(entry, owner, arrays):
        now[0] += seconds
        now[1] += processor_seconds
        return []

    monkeypatch.setattr(compilation, "_clocks", lambda: tuple(now))
    monkeypatch.setattr(compilation._Entry, "_run_program", run)
    entry, owner = compilation._Entry(False), Owner()
    entry.program, entry._way = object(), compilation._Entry._try_program
    entry._best[0] = 0.01, 0.01  # the interpreter's
    for _ in range(compilation._TRIALS):
        entry.run(owner, [])
    assert (entry.program is not None) == kept
    assert ("a program takes" in owner.reason) == (not kept)
