"""One row of the table: how its call is built in each library, and what is expected of it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One workload.

    Args:
        name: in the table, and for `--only`.
        build: takes the module `tf` and returns the call that is timed. It returns a loss, or another number that can
            be compared between libraries. Or `Parts`, whose geometric mean counts.
        torch: the same for PyTorch: takes the module `torch`, and a function that is `torch.compile` or changes
            nothing. None: there is no twin.
        goal, torch_goal: the least ratio of TensorFlow's time, and of PyTorch's, to headrace's. None: only reported.
        eager: nothing is compiled, in any of the libraries.
        warm: calls before the first round, at least.
        calls: of `unit`s that one call makes: times are given for one.
        unit: what the time is of.
        tolerance: of the comparison of losses, relative. None: there is nothing to compare.
        seconds: of one round of one library, or as long as one call takes.
        needs_files: `build` takes a folder with photos and records as its second argument.
    """

    name: str
    build: Callable
    torch: Callable | None = None
    goal: float | None = None
    torch_goal: float | None = None
    eager: bool = False
    warm: int = 20
    calls: int = 1
    unit: str = "step"
    tolerance: float | None = 1e-3
    seconds: float = 1.0
    needs_files: bool = False


class Parts(dict):
    """Calls by name, of which each is timed; the geometric mean of their times is the row's."""


def seconds_per_call(run, seconds) -> float:
    """How long a call takes, over as many as fit into `seconds`; at least one."""
    if isinstance(run, Parts):
        each = [seconds_per_call(part, seconds / len(run)) for part in run.values()]
        return math.exp(sum(map(math.log, each)) / len(each))
    count, start = 0, time.perf_counter()
    while True:
        run()
        count += 1
        spent = time.perf_counter() - start
        if spent >= seconds:
            return spent / count


def call_once(run):
    """What a call returns; of parts, each is called, and there is nothing to compare."""
    if not isinstance(run, Parts):
        return run()
    for part in run.values():
        part()
    return None
