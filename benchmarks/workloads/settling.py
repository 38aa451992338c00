"""Calling until headrace's compiled programs have taken over."""

import importlib
import itertools
import time

from workloads.row import call_once

# headrace compiles while its interpreter runs. It has settled when so many calls, or seconds of them, went by in which
# nothing was ordered: a program is tried for eight calls before it is kept.
_CALLS, _SECONDS = 12, 8.0


class Compilation:
    """What headrace has ordered from its compiler."""

    def __init__(self):
        queue = importlib.import_module("headrace._src.graph.compiling.queue").queue
        self.jobs, submit = [], queue.submit

        def noted(job):
            self.jobs.append(job)
            return submit(job)

        queue.submit = noted

    def settle(self, run):
        """Call until the compiled programs have taken over; how many calls that took."""
        calls = itertools.count()
        while True:
            for job in self.jobs:
                job.wait()
            known, end = len(self.jobs), time.perf_counter() + _SECONDS
            for number in range(_CALLS):
                call_once(run)
                next(calls)
                if number >= 2 and time.perf_counter() > end:
                    break
            if known == len(self.jobs):
                return next(calls)
