"""From recorded events to an `XSpace`, the message that TensorBoard's profile plugin reads."""

import socket
import time
from typing import Any

from headrace._src.formats.profile_messages import XSpace
from headrace._src.profiler.recording import Recorder

HOST_PLANE, ENVIRONMENT_PLANE = "/host:CPU", "Task Environment"


class PlaneWriter:
    """Adds lines and events to a plane, and numbers the names that they use."""

    def __init__(self, plane: Any):
        self.plane = plane
        self._events = {entry.name: number for number, entry in plane.event_metadata.items()}
        self._stats = {entry.name: number for number, entry in plane.stat_metadata.items()}

    def event(self, name: str) -> int:
        """The number of a kind of events."""
        number = self._events.get(name)
        if number is None:
            number = self._events[name] = max(self.plane.event_metadata, default=0) + 1
            entry = self.plane.event_metadata[number]
            entry.id, entry.name = number, name
            operation, _, op = name.rpartition(":")
            if operation and not operation.endswith(":"):
                entry.display_name = op
        return number

    def stat(self, name: str) -> int:
        """The number of a statistic, or of a text that many events have."""
        number = self._stats.get(name)
        if number is None:
            number = self._stats[name] = max(self.plane.stat_metadata, default=0) + 1
            entry = self.plane.stat_metadata[number]
            entry.id, entry.name = number, name
        return number

    def set(self, stats: Any, name: str, value: Any) -> None:
        """Add a statistic to those of an event, or of a plane."""
        stat = stats.add(metadata_id=self.stat(name))
        if isinstance(value, (bool, int)):
            if value > 2**63 - 1:
                stat.uint64_value = value
            else:
                stat.int64_value = value
        elif isinstance(value, float):
            stat.double_value = value
        elif isinstance(value, bytes):
            stat.bytes_value = value
        else:
            stat.ref_value = self.stat(str(value))


def plane_named(space: Any, name: str) -> Any:
    """The plane with that name, a new one where there is none."""
    for plane in space.planes:
        if plane.name == name:
            return plane
    return space.planes.add(name=name)


def space_of(recorder: Recorder, into: Any = None) -> Any:
    """What was recorded, as an `XSpace`: a new one, or added to that of XLA.

    Times count from the beginning of the recording, which the plane of the environment has in unix time.
    """
    space = XSpace() if into is None else into
    writer = PlaneWriter(plane_named(space, HOST_PLANE))
    for line in recorder.lines:
        _add_line(writer, recorder, line)
    environment = PlaneWriter(plane_named(space, ENVIRONMENT_PLANE))
    del environment.plane.stats[:]
    environment.set(environment.plane.stats, "profile_start_time", recorder.begin_unix)
    environment.set(environment.plane.stats, "profile_stop_time", recorder.begin_unix + recorder.end - recorder.begin)
    if recorder.dropped:
        space.warnings.append(
            f"{recorder.dropped} events came after the {recorder.kept} that are kept, and are not shown. "
            "Profile fewer steps."
        )
    del space.hostnames[:]
    space.hostnames.append(host_name())
    return space


def _add_line(writer, recorder, recorded):
    events = recorded.events()
    if not len(events):
        return
    number, name = recorded.number, recorded.name
    line = writer.plane.lines.add(id=number, display_id=number, name=name, display_name=name)
    places: dict[int, str] = {}
    for start, end, key, place in events.tolist():
        title, stats = recorder.keys[key]
        event = line.events.add(metadata_id=writer.event(title))
        event.offset_ps = max(start - recorder.begin, 0) * 1000
        event.duration_ps = (end - start) * 1000
        for stat, value in stats.items():
            writer.set(event.stats, stat, value)
        if place:
            if place not in places:
                places[place] = recorder.text_of_place(place)
            writer.set(event.stats, "source", places[place])


def host_name() -> str:
    """What this machine is called in file names."""
    return socket.gethostname() or "localhost"


def run_name(seconds: float) -> str:
    """The folder of a profile, by the time of its end."""
    return time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(seconds))
