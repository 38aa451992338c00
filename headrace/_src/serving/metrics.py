"""What a server counts, in the form that Prometheus reads."""

from __future__ import annotations

import bisect
import collections
import threading
from collections.abc import Callable
from typing import Any

# Upper bounds of latencies in microseconds: each 1.8 times the one before, as TensorFlow Serving's.
_BOUNDS = [10.0 * 1.8**n for n in range(33)]
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class _Histogram:
    def __init__(self, counts=None, total=0.0):
        self.counts = counts or [0] * (len(_BOUNDS) + 1)
        self.total = total

    def add(self, value):
        self.counts[bisect.bisect_left(_BOUNDS, value)] += 1
        self.total += value

    def quantile(self, part):
        """About the value below which a part of all are."""
        wanted, seen = part * sum(self.counts), 0
        for count, bound in zip(self.counts, [*_BOUNDS, _BOUNDS[-1] * 1.8]):
            seen += count
            if seen >= wanted and seen:
                return bound
        return 0.0


class Metrics:
    """Counts and histograms by name and labels."""

    def __init__(self):
        self._lock = threading.Lock()
        self._counts: collections.Counter = collections.Counter()
        self._histograms: dict[tuple, _Histogram] = collections.defaultdict(_Histogram)
        self.others: Callable[[], list[Any]] = list  # what other processes of the server have counted

    def state(self) -> list[Any]:
        """Everything, as JSON has it."""
        with self._lock:
            return [
                [[name, labels, amount] for (name, labels), amount in self._counts.items()],
                [[name, labels, one.counts, one.total] for (name, labels), one in self._histograms.items()],
            ]

    def _sum(self):
        """The counts and histograms of all processes."""
        counts: collections.Counter = collections.Counter()
        histograms: dict[tuple, _Histogram] = {}
        for numbers, distributions in [self.state(), *self.others()]:
            for name, labels, amount in numbers:
                counts[name, _key(labels)] += amount
            for name, labels, found, total in distributions:
                known = histograms.get((name, _key(labels)), _Histogram())
                joined = [a + b for a, b in zip(known.counts, found)]
                histograms[name, _key(labels)] = _Histogram(joined, known.total + total)
        return counts, histograms

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        """Add to a number."""
        with self._lock:
            self._counts[name, tuple(labels.items())] += amount

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        with self._lock:
            self._histograms[name, tuple(labels.items())].add(value)

    def quantiles(self, name: str, *parts: float, **labels: str) -> list[float]:
        """About the values below which these parts of all are."""
        with self._lock:
            found = self._histograms[name, tuple(labels.items())]
            return [found.quantile(part) for part in parts]

    def total(self, name: str, **labels: str) -> int:
        """A number."""
        with self._lock:
            return sum(
                amount for (known, found), amount in self._counts.items()
                if known == name and dict(found).items() >= labels.items()
            )  # fmt: skip

    def text(self) -> str:
        """Everything, of all processes, as Prometheus reads it."""
        lines, seen = [], set()
        counts, histograms = self._sum()
        for (name, labels), amount in sorted(counts.items()):
            if name not in seen:
                lines.append(f"# TYPE {name} counter")
                seen.add(name)
            lines.append(f"{name}{_labels(labels)} {amount}")
        for (name, labels), histogram in sorted(histograms.items(), key=lambda item: item[0]):
            if name not in seen:
                lines.append(f"# TYPE {name} histogram")
                seen.add(name)
            so_far = 0
            for bound, count in zip([*map(repr, _BOUNDS), "+Inf"], histogram.counts):
                so_far += count
                lines.append(f"{name}_bucket{_labels((*labels, ('le', bound)))} {so_far}")
            lines.append(f"{name}_sum{_labels(labels)} {histogram.total!r}")
            lines.append(f"{name}_count{_labels(labels)} {so_far}")
        return "\n".join(lines) + "\n"


def _key(labels):
    return tuple((name, value) for name, value in labels)


def _labels(labels):
    return (
        "{" + ",".join(f'{name}="{str(value).translate(_ESCAPES)}"' for name, value in labels) + "}" if labels else ""
    )
