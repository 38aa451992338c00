"""`tf.profiler.experimental.Trace`: the user's own parts of a time line, such as the steps of a training."""

from headrace._src.op.api import api
from headrace._src.profiler.recording import clock, current


@api("profiler.experimental.Trace", dispatch=False)
class Trace:
    """A part of a time line, with a name: `with tf.profiler.experimental.Trace("train", step_num=i, _r=1): ...`.

    With `step_num`, TensorBoard takes it for a step, and groups what runs in it. Without a profile that is recorded it
    does nothing.

    >>> with tf.profiler.experimental.Trace("train", step_num=0, _r=1) as part:
    ...     part.set_metadata(rows=32)

    Args:
        name: what is shown.
        **kwargs: statistics: numbers and texts.
    """

    def __init__(self, name, **kwargs) -> None:
        self._name = name
        self._stats = kwargs
        if "step_num" in kwargs:
            kwargs.setdefault("_r", 1)  # Keras's batches have no such mark, and would be no steps
        self._recorder = current.recorder
        self._start = 0 if self._recorder is None else clock()

    def __enter__(self) -> "Trace":
        return self

    def set_metadata(self, **kwargs) -> None:
        """Add statistics."""
        if self._recorder is not None:
            self._stats.update(kwargs)

    def __exit__(self, kind, value, traceback) -> None:
        recorder = self._recorder
        if recorder is not None and recorder.running:
            stats = {name: _plain(value) for name, value in self._stats.items()}
            recorder.add(self._start, clock(), recorder.key(self._name, **stats))
            self._recorder = None


def _plain(value):
    """A number or text; of a tensor or NumPy number, its value."""
    if isinstance(value, (bool, int, float, str, bytes)):
        return value
    item = getattr(value, "numpy", lambda: value)()
    item = getattr(item, "item", lambda: item)()
    return item if isinstance(item, (bool, int, float, str, bytes)) else str(item)
