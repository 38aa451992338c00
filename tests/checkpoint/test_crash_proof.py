"""Crashes while saving: failing disks, power cuts, kills, two writers. The long form of this is scripts/crash_proof."""

import errno
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys

import crash_scenarios
import failing_disk
import power_cuts
import pytest
import two_writers

import headrace as tf
from headrace._src.formats import durable_files
from headrace._src.formats.tensor_bundle import write_bundle

BY_NAME = {scenario.name: scenario for scenario in crash_scenarios.SCENARIOS}


def naive_save(folder, version, state):
    """As one would write it without thinking: into the file that is there."""
    prefix = os.path.join(folder, "c")
    values = state or crash_scenarios.Values()
    values.become(version)
    tf.train.Checkpoint(values).write(prefix + ".new")
    disk = durable_files.disk()
    for ending in (".index", ".data-00000-of-00001"):
        data = pathlib.Path(prefix + ".new" + ending).read_bytes()
        if os.path.exists(prefix + ending):
            disk.remove(prefix + ending)
        with durable_files.saving_errors(prefix):
            file = disk.create(prefix + ending)
            disk.write(file, data)
            disk.close(file)
        disk.remove(prefix + ".new" + ending)
    return values


NAIVE = crash_scenarios.Scenario(
    "naive", naive_save, BY_NAME["same prefix"].look, 3, lambda version: crash_scenarios.bundle("c")
)


# Steps that fail.


@pytest.mark.parametrize("name", BY_NAME)
def test_any_step_of_the_disk_may_fail(tmp_path, name):
    stride = 7 if "model" in name else 1  # a saved model takes longer; scripts/crash_proof takes all steps
    count = 0
    for kind in failing_disk.KINDS:
        for wrong in failing_disk.failures(BY_NAME[name], tmp_path / "x", kind, stride=stride):
            count += 1
            assert wrong == []
    assert count > 20 // stride


def test_failures_are_noticed(tmp_path):
    wrong = [list(failing_disk.failures(NAIVE, tmp_path / "x", kind)) for kind in ("create", "write")]
    assert sum(map(bool, itertools.chain(*wrong))) > 3


# The error, its type, and what it says to do.
ERRORS = [
    (errno.ENOSPC, tf.errors.ResourceExhaustedError, "Free some space, or save to another place"),
    (errno.EDQUOT, tf.errors.ResourceExhaustedError, "Free some space, or save to another place"),
    (errno.EMFILE, tf.errors.ResourceExhaustedError, "too many files.* Close some, or raise the limit"),
    (errno.EROFS, tf.errors.PermissionDeniedError, "Make the folder writable, or save to another place"),
    (errno.EACCES, tf.errors.PermissionDeniedError, "Make the folder writable, or save to another place"),
    (errno.EFBIG, tf.errors.OutOfRangeError, "tf.train.experimental.MaxShardSizePolicy"),
    (errno.EIO, tf.errors.UnknownError, "Nothing that was saved before has changed"),
]


@pytest.mark.parametrize(("code", "kind", "advice"), ERRORS)
def test_errors_say_what_to_do(tmp_path, code, kind, advice):
    values = crash_scenarios.Values()
    checkpoint = tf.train.Checkpoint(values)
    values.become(1)
    path = checkpoint.save(tmp_path / "c")
    values.become(2)
    disk = failing_disk.QuickFailingDisk("write", 0, code)
    with pytest.raises(kind, match=f"Could not save {tmp_path}/c-2.*{advice}"), durable_files.disk_replaced(disk):
        checkpoint.save(tmp_path / "c")
    assert tf.train.latest_checkpoint(tmp_path) == path
    assert crash_scenarios.version_of(path) == 1


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="everything is writable here")
def test_a_folder_that_is_read_only(tmp_path):
    checkpoint = tf.train.Checkpoint(crash_scenarios.Values())
    path = checkpoint.save(tmp_path / "c")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(tf.errors.PermissionDeniedError, match="Make the folder writable"):
            checkpoint.save(tmp_path / "c")
    finally:
        tmp_path.chmod(0o700)
    assert tf.train.latest_checkpoint(tmp_path) == path


# Power cuts.


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """What saving does to the disk, by scenario."""
    root = tmp_path_factory.mktemp("traces")
    found = {}
    for number, (name, scenario) in enumerate(BY_NAME.items()):
        trace = power_cuts.trace_of(scenario, root / str(number))
        found[name] = trace, power_cuts.Observer(trace, root / "rebuilt")
    return found


@pytest.mark.parametrize("name", BY_NAME)
def test_a_power_cut_at_any_moment(traces, name):
    trace, observer = traces[name]
    result = power_cuts.cut_power(trace, observer, limit=32, recoveries=0.05)
    assert result.failures == []
    assert result.moments > 20
    assert result.folders > 10
    assert result.recoveries > 0


@pytest.mark.parametrize("name", ["manager", "manager of several"])
def test_each_flush_of_a_manager_is_needed(traces, name):
    trace, observer = traces[name]
    assert len(trace.syncs()) > 20
    assert power_cuts.needless_syncs(trace, observer) == []


def test_each_line_that_flushes_is_needed(traces):
    assert power_cuts.needless_sites(traces.values()) == []


def test_harm_is_noticed(tmp_path):
    trace = power_cuts.trace_of(NAIVE, tmp_path / "x")
    observer = power_cuts.Observer(trace, tmp_path / "y")
    assert power_cuts.cut_power(trace, observer, limit=32, first_only=True).failures


# Kills.


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.parametrize(("part", "said"), [("kills", "kills: 5 in all"), ("fits", "Keras ModelCheckpoint: 2")])
def test_killed_programs_go_on_to_the_same_result(part, said):
    if part == "fits" and importlib.util.find_spec("keras") is None:
        pytest.skip("Keras is not installed")
    script = pathlib.Path(__file__).parents[2] / "scripts" / "crash_proof"
    result = subprocess.run(
        [sys.executable, script, "--quick", "--part", part], capture_output=True, text=True, check=False
    )
    assert said in result.stdout
    assert "nothing was lost" in result.stdout, result.stdout


# Several writers.


@pytest.mark.slow
def test_two_processes_save_into_one_folder(tmp_path):
    result = two_writers.write_at_once(tmp_path, saves=6)
    assert result.failures == []
    assert result.looks > 0


def test_leftovers_of_dead_processes_go(tmp_path):
    name = ".c.data-00000-of-00001.{}-{}-0123456789abcdef.partial"
    dead = tmp_path / name.format(durable_files._host(), 2**22 + 1)
    alive = tmp_path / name.format(durable_files._host(), os.getppid())
    elsewhere = tmp_path / name.format("elsewhere", 1)
    old = tmp_path / name.format("elsewhere", 2)
    reused = tmp_path / name.format(durable_files._host(), 1)
    for path in (dead, alive, elsewhere, old, reused):
        path.write_bytes(b"x")
    for path in (old, reused):  # another process may have the number of one that wrote long ago
        os.utime(path, (1e9, 1e9))
    write_bundle(tmp_path / "c", [])
    assert sorted(path.name for path in tmp_path.glob(".*")) == sorted([alive.name, elsewhere.name])
