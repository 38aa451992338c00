"""Power cuts at every moment of saving: whatever they leave, the last version or the one before it is found."""

import collections
import dataclasses
import os
import random
import shutil

import crash_scenarios
import recorded_disk
from google.protobuf.message import DecodeError

import headrace as tf
from headrace._src.formats import durable_files


class QuickDisk(durable_files.Disk):
    """A disk that flushes nothing, for what need not survive."""

    def sync(self, file):
        pass

    def sync_folder(self, path):
        pass


@dataclasses.dataclass
class Trace:
    """What saving all versions of a scenario did to the disk.

    Args:
        scenario: the scenario.
        root: the folder that it saved into.
        events: what happened, with marks.
        shown: what `Scenario.shown` gave after each version.
    """

    scenario: crash_scenarios.Scenario
    root: str
    events: list[recorded_disk.Event]
    shown: dict[int, object]

    def syncs(self) -> list[int]:
        """The numbers of events that flush."""
        return [number for number, event in enumerate(self.events) if event.kind.startswith("sync")]


def trace_of(scenario, root) -> Trace:
    """Saves all versions of a scenario into a new folder."""
    disk, shown = recorded_disk.RecordedDisk(), {}
    os.makedirs(root)

    def mark(text):
        disk.mark(text)
        if text[0] == "saved":
            shown[text[1]] = scenario.shown(root)

    with durable_files.disk_replaced(disk):
        scenario.run(root, mark)
    return Trace(scenario, root, disk.events, shown)


class Observer:
    """What a program finds in the folders that power cuts leave; each folder is looked at once.

    Args:
        trace: what happened before.
        place: a folder in which to rebuild those.
    """

    def __init__(self, trace, place):
        self._scenario, self._place = trace.scenario, str(place)
        self._shown = trace.shown
        self._seen: dict = {}

    def __len__(self):
        return len(self._seen)

    def complaints(self, key, remains, done, begun) -> list[str]:
        """What is wrong with a folder.

        Args:
            key: that of the remains.
            remains: what there is.
            done: the last version that was saved.
            begun: the last one of which saving has begun.
        """
        if key not in self._seen:
            self._seen[key] = self._look(remains)
        found, wrong, shown, listed = self._seen[key]
        if listed < min(done, self._scenario.keep):
            wrong = [*wrong, f"{listed} versions can be found, not {min(done, self._scenario.keep)}"]
        allowed = {done or None, begun or None}
        if found not in allowed:
            wrong = [*wrong, f"found {found}, but version {done} was saved, and {begun} begun"]
        if done == begun and done and shown != self._shown[done]:
            wrong = [*wrong, f"{shown!r} is found after saving version {done}, not {self._shown[done]!r}"]
        return wrong

    def _look(self, remains):
        root = self.rebuilt(remains)
        scenario = self._scenario
        found, listed = tried(scenario.look, root), tried(scenario.listed, root)
        wrong = []
        for folder, _, _ in os.walk(root):
            if ".partial" not in folder and not folder.endswith("c_temp"):
                wrong += crash_scenarios.complaints_about(folder)
        return found, wrong, tried(scenario.shown, root), listed if isinstance(listed, int) else 0

    def rebuilt(self, remains):
        """A folder as the power cut has left it."""
        shutil.rmtree(self._place, ignore_errors=True)
        recorded_disk.rebuild(remains, self._place)
        return self._place

    def recovery_complaints(self, remains) -> list[str]:
        """What is wrong when the next program saves into such a folder."""
        root, scenario = self.rebuilt(remains), self._scenario
        version = (scenario.look(root) or 0) + 1
        with durable_files.disk_replaced(QuickDisk()):
            scenario.save(root, version, None)
        wrong = [] if scenario.look(root) == version else [f"after recovery {scenario.look(root)}, not {version}"]
        left = (set(paths_in(root)) ^ scenario.files(version)) - {"model/notes.txt"}
        return [*wrong, f"files that should not, or should be there: {sorted(left)}"] if left else wrong


def tried(function, root):
    """What a look at a folder gives, or the text of an error."""
    try:
        return function(root)
    except (OSError, tf.errors.OpError, AssertionError, ValueError, DecodeError) as error:
        return f"{type(error).__name__}: {error}"


def paths_in(root):
    """All files below a folder."""
    for folder, _, names in os.walk(root):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


@dataclasses.dataclass
class Result:
    """What was found.

    Args:
        moments: at how many the power was cut.
        folders: how many different folders that may leave.
        recoveries: how many of these were saved into again.
        failures: what was wrong.
    """

    moments: int = 0
    folders: int = 0
    recoveries: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)


def cut_power(trace, observer, without=None, limit=256, seed=0, recoveries=0.0, first_only=False) -> Result:
    """Cuts the power after each event.

    Args:
        trace: what happened.
        observer: who looks.
        without: the number of a flush that is left out.
        limit: of the possibilities at one moment.
        seed: for choices.
        recoveries: the part of the folders that is saved into again.
        first_only: stop at the first failure.
    """
    cuts = recorded_disk.PowerCuts(trace.root, trace.events, without, limit, seed)
    result, generator, recovered = Result(), random.Random(seed), set()
    before = collections.Counter()
    for moment, possible in cuts.moments(first=without or 0):
        done, begun = _progress(cuts.events[:moment])
        result.moments += 1
        for key, remains in possible:
            before[key] += 1
            wrong = observer.complaints(key, remains, done, begun)
            if not wrong and recoveries and key not in recovered and generator.random() < recoveries:
                recovered.add(key)
                wrong = observer.recovery_complaints(remains)
            if wrong:
                last = cuts.events[moment - 1] if moment else "nothing"
                result.failures.append(f"{trace.scenario}, cut after {last}: {'; '.join(wrong)}: {sorted(remains)}")
                if first_only:
                    return result
    result.folders, result.recoveries = len(before), len(recovered)
    return result


def _progress(events):
    marks = [event.data for event in events if event.kind == "mark"]
    done = [version for text, version in marks if text == "saved"]
    begun = [version for text, version in marks if text == "saving"]
    return (done or [0])[-1], (begun or [0])[-1]


def needless_syncs(trace, observer, limit=64, seed=0) -> list[str]:
    """The flushes without which no power cut does any harm. There should be none."""
    return [
        f"{trace.scenario}: event {number}, {trace.events[number]}: {trace.events[number].site}"
        for number in trace.syncs()
        if not _is_needed(trace, observer, number, limit, seed)
    ]


def needless_sites(traces, limit=64, seed=0) -> list[str]:
    """The lines of code that flush, and need not in any scenario. There should be none."""
    needed: dict[str, bool] = {}
    for trace, observer in traces:
        for number in trace.syncs():
            site = trace.events[number].site
            if ">" in site and not needed.get(site):  # not what a scenario flushes itself
                needed[site] = _is_needed(trace, observer, number, limit, seed)
    return [site for site, is_needed in needed.items() if not is_needed]


def _is_needed(trace, observer, number, limit, seed):
    return bool(cut_power(trace, observer, without=number, limit=limit, seed=seed, first_only=True).failures)
