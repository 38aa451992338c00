"""A disk on which the n-th step of some kind fails, and what saving makes of that."""

import errno
import os
import shutil

import crash_scenarios
import power_cuts

import headrace as tf
from headrace._src.formats import durable_files

KINDS = [
    "create",
    "write",
    "sync",
    "rename",
    "exchange",
    "link",
    "remove",
    "make_folder",
    "remove_folder",
    "sync_folder",
]


class FailingDisk(durable_files.Disk):
    """Fails once.

    Args:
        kind: the method that fails.
        number: at which call, counted from 0.
        code: with which error.

    Attributes:
        failed: whether it has.
    """

    def __init__(self, kind, number, code):
        self._kind, self._left, self._code = kind, number, code
        self.failed = False

    def _step(self, kind):
        """Whether this step fails; it raises if nothing is done before."""
        if kind != self._kind or self.failed:
            return
        self._left -= 1
        if self._left < 0:
            self.failed = True
            raise OSError(self._code, os.strerror(self._code))

    def create(self, path):
        self._step("create")
        return super().create(path)

    def write(self, file, data):
        try:
            self._step("write")
        except OSError:
            super().write(file, memoryview(data).cast("B")[: len(data) // 2])  # a full disk takes a part
            raise
        super().write(file, data)

    def sync(self, file):
        self._step("sync")
        super().sync(file)

    def rename(self, source, target):
        self._step("rename")
        super().rename(source, target)

    def exchange(self, a, b):
        self._step("exchange")
        super().exchange(a, b)

    def link(self, source, target):
        self._step("link")
        super().link(source, target)

    def remove(self, path):
        self._step("remove")
        super().remove(path)

    def remove_folder(self, path):
        self._step("remove_folder")
        super().remove_folder(path)

    def make_folder(self, path):
        self._step("make_folder")
        super().make_folder(path)

    def sync_folder(self, path):
        self._step("sync_folder")
        super().sync_folder(path)


class QuickFailingDisk(FailingDisk):
    """The same without real flushes."""

    def sync(self, file):
        self._step("sync")

    def sync_folder(self, path):
        self._step("sync_folder")


def failures(scenario, place, kind, code=errno.ENOSPC, disk_class=QuickFailingDisk, stride=1):
    """Lets each step of a kind fail in turn. Yields, for each, what is wrong afterwards.

    Args:
        scenario: how to save.
        place: a folder that is made, and removed.
        kind: of the steps.
        code: the error.
        disk_class: the disk.
        stride: 2 takes every second step.
    """
    number = 0
    while True:
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        disk = disk_class(kind, number, code)
        with durable_files.disk_replaced(disk):
            wrong = _saved_with_failure(scenario, place, disk)
        if not disk.failed:
            return
        yield [f"{scenario}, {kind} {number} fails with {errno.errorcode[code]}: {text}" for text in wrong]
        number += stride


def _saved_with_failure(scenario, place, disk):
    """Saves until something fails, and once more. Returns what is wrong."""
    state, wrong = None, []
    for version in range(1, scenario.versions + 1):
        try:
            state = scenario.save(place, version, state)
        except tf.errors.OpError as error:
            wrong += _complaints(scenario, place, version, error)
            state = scenario.save(place, version, state)
            found = power_cuts.tried(scenario.look, place)
            if found != version:
                wrong.append(f"saving again gives version {found}, not {version}")
            left = [path for path in power_cuts.paths_in(place) if path.endswith((".partial", ".pending"))]
            return [*wrong, f"left over: {left}"] if left else wrong
        if disk.failed:
            # What failed was not needed: a leftover that stays until the next time.
            found = power_cuts.tried(scenario.look, place)
            if found != version:
                wrong.append(f"no error, and {found} is found, not version {version}")
    return wrong


def _complaints(scenario, place, version, error):
    found = power_cuts.tried(scenario.look, place)
    wrong = crash_scenarios.complaints_about(place)
    if found not in (version - 1 or None, version):
        wrong.append(f"after the error {found} is found, not version {version} or the one before")
    if str(place) not in error.message or "Could not save" not in error.message:
        wrong.append(f"the error does not say what could not be saved: {error.message}")
    return wrong
