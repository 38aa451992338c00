"""`tensorflow.python.eager.monitoring`: numbers that programs note for those who watch over them."""

import threading
from typing import Any


class _Cell:
    """The number of one set of labels."""

    def __init__(self, initial):
        self._value = initial
        self._lock = threading.Lock()

    def set(self, value):
        """Set it."""
        self._value = value

    def increase_by(self, value):
        """Add to it."""
        with self._lock:
            self._value += value

    def add(self, value):
        """Note one more measurement."""
        with self._lock:
            self._value = [*self._value, value]

    def value(self):
        """What it is now."""
        return self._value


class _Metric:
    """Numbers by labels."""

    initial: Any = 0

    def __init__(self, name, description, *labels):
        self._name = name
        self._description = description
        self._labels = labels
        self._cells: dict[tuple, _Cell] = {}

    def get_cell(self, *labels):
        """The number of these labels.

        Raises:
            ValueError: it is another number of labels than the metric has.
        """
        if len(labels) != len(self._labels):
            raise ValueError(f"The {type(self).__name__} expects taking {len(self._labels)} labels")
        return self._cells.setdefault(labels, _Cell(self.initial))


class Counter(_Metric):
    """Numbers that only grow."""


class IntGauge(_Metric):
    """Whole numbers."""


class StringGauge(_Metric):
    """Texts."""

    initial = ""


class BoolGauge(_Metric):
    """Whether something is so."""

    initial = False


class ExponentialBuckets:
    """Boundaries, each the one before times a factor."""

    def __init__(self, scale, growth_factor, bucket_count):
        self.boundaries = [scale * growth_factor**i for i in range(bucket_count)]


class Sampler(_Metric):
    """Measurements."""

    initial: Any = []

    def __init__(self, name, buckets, description, *labels):
        super().__init__(name, description, *labels)
        self.buckets = buckets
