"""Reads profiles that tests have recorded."""

import contextlib
import glob
from typing import NamedTuple

import headrace as tf
from headrace._src.formats.profile_messages import XSpace


class Event(NamedTuple):
    """An event with the names behind its numbers; times in nanoseconds from the beginning of the profile."""

    name: str
    start: int
    end: int
    stats: dict


def value_of(plane, stat):
    """What a statistic says; a text for a reference to one."""
    kind = stat.WhichOneof("value")
    value = getattr(stat, kind)
    return plane.stat_metadata[value].name if kind == "ref_value" else value


def stats_of(plane, stats):
    return {plane.stat_metadata[stat.metadata_id].name: value_of(plane, stat) for stat in stats}


def plane_of(space, name):
    (plane,) = [plane for plane in space.planes if plane.name == name]
    return plane


def events_of(space, line=None):
    """The events of the host, of the lines with that name."""
    plane = plane_of(space, "/host:CPU")
    return [
        Event(
            plane.event_metadata[event.metadata_id].name,
            one.timestamp_ns + event.offset_ps // 1000,
            one.timestamp_ns + (event.offset_ps + event.duration_ps) // 1000,
            stats_of(plane, event.stats),
        )
        for one in plane.lines
        if line is None or one.name == line
        for event in one.events
    ]


def files_in(logdir):
    return sorted(glob.glob(f"{logdir}/plugins/profile/*/*.xplane.pb"))


def read_profile(logdir):
    """The only profile in a log folder."""
    (path,) = files_in(logdir)
    with open(path, "rb") as file:
        return XSpace.FromString(file.read())


@contextlib.contextmanager
def recorded(logdir, **options):
    """Records a block; the list that it gives has the profile afterwards."""
    spaces: list = []
    with tf.profiler.experimental.Profile(str(logdir), tf.profiler.experimental.ProfilerOptions(**options)):
        yield spaces
    spaces.append(read_profile(logdir))
