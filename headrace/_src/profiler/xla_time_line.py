"""XLA's own time line, of the inside of compiled programs: recorded by jax, merged into ours."""

import logging
import sys
from typing import Any

from headrace._src.core.lazy import jax_profiler
from headrace._src.formats.profile_messages import XSpace
from headrace._src.profiler.time_line import ENVIRONMENT_PLANE, HOST_PLANE, PlaneWriter, plane_named

logger = logging.getLogger("headrace")

# How many runs of programs are looked into, and how many events of them are shown. Each run has a hundred or more.
_RUNS, _EVENTS = 1000, 500_000


class XlaRecording:
    """A recording of what XLA does. It begins once jax is loaded, which programs without compiled functions never do.

    jax has the recorder in a private module: when that is not as it was, there is no time line of XLA's, and a warning.
    """

    def __init__(self):
        self._session = None
        self._ended = False
        self._data: bytes | None = None
        self._runs = 0

    def before_program(self) -> None:
        """A program is about to run: begin, or end when enough of them have run."""
        self._runs += 1
        if self._runs > _RUNS:
            self.end()
        else:
            self.begin()

    def begin(self) -> None:
        """Begin, if jax is there and this has not been done."""
        if self._session is not None or self._ended or "jax" not in sys.modules:
            return
        try:
            options = jax_profiler.ProfileOptions()
            options.python_tracer_level = 0  # each call of a Python function would be an event
            options.host_tracer_level = 2
            self._session = jax_profiler.ProfilerSession(options)
        except Exception as error:
            self._fail(error)

    def end(self) -> bytes | None:
        """Stop; returns the `XSpace` as bytes, None when there is none."""
        session, self._session = self._session, None
        self._ended = True
        if session is not None:
            try:
                self._data = session.stop()
            except Exception as error:
                self._fail(error)
        return self._data

    @property
    def warnings(self) -> list[str]:
        """What a reader of the time line should know."""
        return [f"XLA's time line has the first {_RUNS} of {self._runs} program runs."] if self._runs > _RUNS else []

    def _fail(self, error):
        self._ended = True
        logger.warning("headrace: the profile has no time line of XLA's: %s: %s", type(error).__name__, error)


def shifted_space(data: bytes, begin_unix: int) -> Any:
    """XLA's `XSpace` with its times counted from `begin_unix`, and its lines named as XLA's."""
    space = XSpace.FromString(data)
    shift = _start_of(space, begin_unix) - begin_unix
    room, dropped = _EVENTS, 0
    for plane in space.planes:
        for line in plane.lines:
            dropped += max(len(line.events) - room, 0)
            del line.events[room:]
            room -= len(line.events)
            line.timestamp_ns += shift
            if plane.name == HOST_PLANE:
                line.name = line.display_name = f"XLA: {line.display_name or line.name}"
    if dropped:
        space.warnings.append(f"{dropped} events of XLA's came after the {_EVENTS} that are kept, and are not shown.")
    return space


def _start_of(space, otherwise):
    plane = plane_named(space, ENVIRONMENT_PLANE)
    number = PlaneWriter(plane).stat("profile_start_time")
    for stat in plane.stats:
        if stat.metadata_id == number:
            return getattr(stat, stat.WhichOneof("value"))
    return otherwise
