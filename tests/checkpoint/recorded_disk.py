"""A disk that records each thing that saving does to it, and what a power cut may leave of that.

The model is weaker than the file systems that there are. Flushing a file makes its bytes durable, not its name.
Flushing a folder makes the names in it durable. Of what was not flushed, any part may be there, in any order: each
creation, rename and removal or not; of the bytes of a file none, some, zeros instead, or all. Only a rename is one
step, and never loses the file.
"""

import collections
import dataclasses
import itertools
import math
import os
import random
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import headrace
from headrace._src.formats import durable_files


@dataclasses.dataclass
class Event:
    """Something that happened to the disk, or a mark of the program that saves.

    Args:
        kind: the name of a method of `Disk`, or "mark".
        path: of a file or folder; of the source of a rename.
        target: of a rename, an exchange or a link.
        file: the number of the file.
        data: what was written, or the mark.
        site: of a flush, the lines of code that ask for it.
    """

    kind: str
    path: str = ""
    target: str = ""
    file: int = -1
    data: Any = b""
    site: str = ""

    def __str__(self):
        name, target = os.path.basename(self.path), os.path.basename(self.target)
        text = f"{name} to {target}" if target else name or f"file {self.file}" if self.kind != "mark" else self.data
        return f"{self.kind} {text}"


class RecordedDisk(durable_files.Disk):
    """Works on the real disk, and keeps a list of `Event`s."""

    def __init__(self):
        self.events: list[Event] = []
        self._files: dict[int, int] = {}  # open file to number
        self._count = itertools.count()
        self._lock = threading.Lock()

    def _log(self, *args, **keywords):
        with self._lock:
            self.events.append(Event(*args, **keywords))

    def mark(self, text):
        """Notes how far the program is."""
        self._log("mark", data=text)

    def create(self, path):
        file = super().create(path)
        self._files[file] = next(self._count)
        self._log("create", path, file=self._files[file])
        return file

    def write(self, file, data):
        super().write(file, data)
        self._log("write", file=self._files[file], data=bytes(memoryview(data).cast("B")))

    def sync(self, file):
        super().sync(file)
        self._log("sync", file=self._files[file], site=_site())

    def rename(self, source, target):
        super().rename(source, target)
        self._log("rename", source, target)

    def exchange(self, a, b):
        super().exchange(a, b)
        self._log("exchange", a, b)

    def link(self, source, target):
        super().link(source, target)
        self._log("link", source, target)

    def remove(self, path):
        super().remove(path)
        self._log("remove", path)

    def make_folder(self, path):
        super().make_folder(path)
        self._log("make_folder", path)

    def remove_folder(self, path):
        super().remove_folder(path)
        self._log("remove_folder", path)

    def sync_folder(self, path):
        super().sync_folder(path)
        self._log("sync_folder", path, site=_site())


def _site():
    """Which lines of the package have called the disk: the one there, and the nearest one elsewhere."""
    package = os.path.dirname(headrace.__file__) + os.sep
    frames = [frame for frame in traceback.extract_stack() if frame.filename.startswith(package)]
    near = [frame for frame in frames if not frame.filename.endswith("durable_files.py")][-1:]
    inner = [frame for frame in frames if frame.filename.endswith("durable_files.py")][-1:]
    return " > ".join(f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in [*near, *inner])


@dataclasses.dataclass
class _Change:
    """A change of names that may or may not have reached the disk.

    Args:
        sets: (folder, name) to the number of a file or folder, or None where the name goes.
        folders: whose flush makes it durable.
        needs: another change without which this one is not on the disk.
    """

    sets: dict[tuple[int, str], int | None]
    folders: set[int]
    needs: "_Change | None" = None


class Names:
    """The names on a disk as the running program sees them, and changes of them that a power cut may take back.

    Numbers stand for files and folders; the folder with the number -1 is the one that everything is below.
    """

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.durable: dict[tuple[int, str], int] = {}
        self.waiting: list[_Change] = []
        self.seen: dict[tuple[int, str], int] = {}
        self.folders = {-1}
        self._next_folder = -2

    def place(self, path):
        """The folder and the name of a path."""
        parts = os.path.relpath(os.path.abspath(path), self.root).split(os.sep)
        return self.folder(os.path.join(self.root, *parts[:-1])), parts[-1]

    def folder(self, path):
        """The number of a folder; None for one above all of this, which is taken to be durable."""
        path = os.path.abspath(path)
        if path == self.root:
            return -1
        if not path.startswith(self.root + os.sep):
            return None
        place = self.place(path)
        if place not in self.seen:  # the user's, who made it by other means and long ago
            self.folders.add(self._next_folder)
            self.seen[place] = self.durable[place] = self._next_folder
            self._next_folder -= 1
        return self.seen[place]

    def change(self, event):
        """What an event does to the names."""
        place = self.place(event.path)
        if event.kind == "create":
            self._apply(_Change({place: event.file}, {place[0]}))
        elif event.kind == "make_folder":
            self.folders.add(self._next_folder)
            self._apply(_Change({place: self._next_folder}, {place[0]}))
            self._next_folder -= 1
        elif event.kind == "rename":
            target, file = self.place(event.target), self.seen[place]
            if target[0] == place[0]:
                self._apply(_Change({place: None, target: file}, {place[0]}))
            else:
                arrival = _Change({target: file}, {target[0]})
                self._apply(arrival)
                self._apply(_Change({place: None}, {place[0]}, needs=arrival))
        elif event.kind == "exchange":
            target = self.place(event.target)
            self._apply(_Change({place: self.seen[target], target: self.seen[place]}, {place[0], target[0]}))
        elif event.kind == "link":
            target = self.place(event.target)
            self._apply(_Change({target: self.seen[place]}, {target[0]}))
        else:  # a removal
            self._apply(_Change({place: None}, {place[0]}))

    def _apply(self, change):
        self.waiting.append(change)
        _set_names(self.seen, change)

    def flush(self, folder):
        """All changes in a folder become durable."""
        for change in self.waiting:
            if folder in change.folders:
                _set_names(self.durable, change)
        self.waiting = [change for change in self.waiting if folder not in change.folders]

    def possible(self, limit, generator) -> Iterator[dict[tuple[int, str], int]]:
        """The names after a power cut: all possibilities, or a sample if there are more than `limit`."""
        for chosen in _choices(len(self.waiting), limit, generator):
            names = dict(self.durable)
            done = []
            for change, is_there in zip(self.waiting, chosen):
                if is_there and (change.needs is None or change.needs not in self.waiting or change.needs in done):
                    _set_names(names, change)
                    done.append(change)
            yield names


def _set_names(names, change):
    moved = [number for number in change.sets.values() if number is not None]
    for place, number in change.sets.items():
        if number is not None:
            names[place] = number
        elif not moved or names.get(place) == moved[0]:  # the old name of what was moved, not of another file
            names.pop(place, None)


def _choices(count, limit, generator):
    """For each of some changes whether it is on the disk."""
    if 2**count <= limit:
        yield from itertools.product((False, True), repeat=count)
        return
    for number in range(count + 1):  # in order up to one of them; all but one; only one
        yield tuple(other < number for other in range(count))
        yield tuple(other != number for other in range(count))
        yield tuple(other == number for other in range(count))
    for _ in range(limit - 3 * count):
        yield tuple(generator.random() < 0.5 for _ in range(count))


class Contents:
    """The bytes of a file: those that are durable, and those that a power cut may change."""

    def __init__(self, changed):
        self.durable = b""
        self.waiting: list[bytes] = []
        self.changed = changed  # when, in events

    def variants(self) -> dict[str, bytes]:
        """What it may hold after a power cut."""
        late = b"".join(self.waiting)
        if not late:
            return {"": self.durable}
        return {
            "absent": self.durable,
            "short": self.durable + late[: len(late) // 2],
            "zero": self.durable + bytes(len(late)),
            "done": self.durable + late,
        }

    def flush(self):
        self.durable += b"".join(self.waiting)
        self.waiting = []


# The folder after a power cut: a path to ("folder",) or to (bytes, when it was changed).
Remains = dict[str, tuple]


class PowerCuts:
    """All folders that power cuts may leave, one event after another.

    Args:
        root: the folder that everything happened in, and that was empty.
        events: what happened.
        without: the number of an event that is left out: the flush that a mutation forgets.
        limit: of the possibilities at one moment that are looked at.
        seed: for the choice of these.
    """

    def __init__(self, root, events, without=None, limit=256, seed=0):
        self.events = [event for number, event in enumerate(events) if number != without]
        self._names = Names(root)
        self._contents: dict[int, Contents] = {}
        self._limit = limit
        self._generator = random.Random(seed)

    def moments(self, first=0) -> Iterator[tuple[int, Iterator[tuple[Any, Remains]]]]:
        """After each event from `first` on: its number, and what may be left, each with a key that says which it is."""
        if not first:
            yield 0, self._remains()
        for number, event in enumerate(self.events):
            self._happen(number, event)
            if number + 1 >= first:
                yield number + 1, self._remains()

    def _happen(self, number, event):
        if event.kind == "write":
            contents = self._contents[event.file]
            contents.waiting.append(event.data)
            contents.changed = number
        elif event.kind == "sync":
            self._contents[event.file].flush()
        elif event.kind == "sync_folder":
            self._names.flush(self._names.folder(event.path))
        elif event.kind != "mark":
            if event.kind == "create":
                self._contents[event.file] = Contents(number)
            self._names.change(event)

    def _remains(self):
        found = set()
        for names in self._names.possible(self._limit, self._generator):
            paths = dict(_paths(names, self._names.folders))
            variants = {}
            for path, number in paths.items():
                if number >= 0:
                    some = self._contents[number].variants()
                    # Nobody reads what has no name yet: one variant is enough, and only a name that counts has all.
                    variants[number] = dict([list(some.items())[-2:][0]]) if ".partial" in path else some
            for chosen in self._chosen(variants):
                # Folders that only differ below a folder without a name count as one.
                counting = {path: number for path, number in paths.items() if ".partial" + os.sep not in path}
                key = frozenset((path, number, chosen.get(number, "")) for path, number in counting.items())
                if key not in found:
                    found.add(key)
                    yield key, {path: self._found(number, chosen, variants) for path, number in paths.items()}

    def _chosen(self, variants):
        """For files of which several things may be left: which; as (what, length) where nothing is open."""
        numbers = sorted(variants)
        choices = [[(what, len(data)) for what, data in variants[number].items()] for number in numbers]
        if math.prod(map(len, choices)) <= self._limit:
            yield from (dict(zip(numbers, chosen)) for chosen in itertools.product(*choices))
            return
        for _ in range(self._limit):
            yield {number: self._generator.choice(choice) for number, choice in zip(numbers, choices)}

    def _found(self, number, chosen, variants):
        if number < 0:
            return ("folder",)
        return variants[number][chosen[number][0]], self._contents[number].changed


def _paths(names, folders, folder=-1, start=""):
    """(path, number) pairs of what can be reached from the root."""
    inside = collections.defaultdict(list)
    for (parent, name), number in names.items():
        inside[parent].append((name, number))
    waiting = [(folder, start)]
    while waiting:
        folder, start = waiting.pop()
        for name, number in inside[folder]:
            yield start + name, number
            if number in folders:
                waiting.append((number, start + name + os.sep))


def rebuild(remains: Remains, root) -> None:
    """Makes the folder that a power cut has left."""
    os.makedirs(root, exist_ok=True)
    for path in sorted(remains):
        place = os.path.join(root, path)
        if remains[path] == ("folder",):
            os.mkdir(place)
        else:
            data, changed = remains[path]
            with open(place, "wb") as file:
                file.write(data)
            os.utime(place, (1e9 + changed, 1e9 + changed))
