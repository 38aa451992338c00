"""`tf.test.Benchmark`: methods `benchmark_...` that `tf.test.main` runs when it is asked to."""

import inspect
import json
import numbers
import os
import re
import sys
import time
from typing import Any

import numpy as np

from headrace._src.compat.sessions.options import ConfigProto
from headrace._src.core import nest
from headrace._src.op.api import api

_CLASSES: list = []


class _Registered(type):
    def __init__(cls, name, bases, body):
        super().__init__(name, bases, body)
        if not cls.is_abstract():
            _CLASSES.append(cls)


@api("test.Benchmark")
class Benchmark(metaclass=_Registered):
    """A class whose methods `benchmark_...` measure something and report it.

    >>> class Adding(tf.test.Benchmark):
    ...     def benchmark_ones(self):
    ...         self.report_benchmark(iters=1, wall_time=0.5)
    >>> Adding().benchmark_ones()
    benchmark Adding.benchmark_ones: {"iters": 1, "wall_time": 0.5}
    """

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether a class has no method to run."""
        return not any(name.startswith("benchmark") and callable(getattr(cls, name)) for name in dir(cls))

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None,
                         metrics=None) -> None:
        """Print what was measured, or write it to a file if the environment has TEST_REPORT_FILE_PREFIX.

        Args:
            iters: how often it ran.
            cpu_time, wall_time: seconds for one run.
            throughput: in MB/s.
            extras: other numbers and texts, by name.
            name: of the entry; otherwise class and method.
            metrics: a list of dictionaries with `name`, `value` and perhaps `min_value` and `max_value`.
        """
        if name is None:
            callers = (frame.function for frame in inspect.stack() if frame.function.startswith("benchmark"))
            name = f"{type(self).__name__}.{next(callers, 'report')}"
        for key, value in (extras or {}).items():
            if not isinstance(value, (str, numbers.Number)):
                raise TypeError(f"report_benchmark: extras[{key!r}] must be a number or a text, got {value!r}.")
        times = dict(iters=iters, cpu_time=cpu_time, wall_time=wall_time, throughput=throughput)
        entry = {k: v for k, v in {**times, "extras": extras, "metrics": metrics}.items() if v is not None}
        text = json.dumps(entry, default=float)
        prefix = os.environ.get("TEST_REPORT_FILE_PREFIX")
        if prefix:
            with open(f"{prefix}{name.replace('/', '__')}", "w", encoding="utf-8") as file:
                file.write(text)
        else:
            sys.stdout.write(f"benchmark {name}: {text}\n")

    def evaluate(self, tensors) -> Any:
        """The values of eager tensors."""
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, tensors)

    def run_op_benchmark(self, sess, op_or_tensor, feed_dict=None, burn_iters=2, min_iters=10, store_trace=False,
                         store_memory_usage=True, name=None, extras=None, mbs=0) -> dict[str, Any]:
        """Run part of a graph again and again, and report the median of the times.

        Args:
            sess: a session.
            op_or_tensor: what to run.
            feed_dict: what to feed.
            burn_iters: runs before the clock starts.
            min_iters: runs that count.
            store_trace, store_memory_usage: accepted for compatibility.
            name, extras: of the entry.
            mbs: how many megabytes a run handles, for the throughput.

        Returns:
            What was reported, and the times, as a dictionary.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        median = float(np.median(times)) if times else -1.0
        extras = {**(extras or {}), "wall_time_mean": float(np.mean(times)), "wall_time_stdev": float(np.std(times))}
        given = dict(iters=min_iters, wall_time=median, throughput=mbs / median if times else None, extras=extras)
        self.report_benchmark(name=name, **given)
        return {**given, "name": name, "times": times}


def run_benchmarks(pattern):
    """Run the benchmarks whose class and method a pattern is found in; "all" and "." mean all."""
    wanted = re.compile("." if pattern in ("", "all") else pattern)
    for cls in _CLASSES:
        if cls.__module__ != "__main__" and cls.__module__ not in sys.modules:
            continue
        for method in dir(cls):
            if method.startswith("benchmark") and wanted.search(f"{cls.__name__}.{method}"):
                getattr(cls(), method)()


@api("test.benchmark_config", dispatch=False)
def benchmark_config() -> ConfigProto:
    """Options of a session in which nothing that a benchmark runs is optimised away."""
    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = 2  # off
    return config
