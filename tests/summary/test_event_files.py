"""Event files: when events become visible, several threads, forks, crashes, remote stores, hostile bytes."""

import os
import re
import subprocess
import sys
import threading

import fsspec
import pytest
from summary_programs import events_of

import headrace as tf
from headrace._src.formats import event_wire
from headrace._src.formats.records import RecordReader
from headrace._src.summary import event_files
from headrace._src.summary.event_files import EventFile

EVENT = event_wire.event(1.0, 2, event_wire.SUMMARY, b"")


def _count(file):
    return len(events_of(file.path)) - 1  # without the first one


def test_name_and_first_event(tmp_path):
    file = EventFile(str(tmp_path / "a" / "b"), ".sfx")
    (name,) = os.listdir(tmp_path / "a" / "b")
    assert re.fullmatch(rf"events\.out\.tfevents\.\d{{10}}\..+\.{os.getpid()}\.\d+\.sfx", name)
    assert events_of(file.path) == [b"\x1a\rbrain.Event:2R\x1e\n\x1cheadrace.summary.event_files"]
    other = EventFile(str(tmp_path / "a" / "b"), ".sfx")
    assert other.path != file.path


def test_more_events_than_the_queue_holds_are_flushed(tmp_path):
    file = EventFile(str(tmp_path), max_queue=3)
    for _ in range(3):
        file.add(EVENT)
    assert _count(file) == 0
    file.add(EVENT)
    assert _count(file) == 4
    file.add(EVENT)
    assert _count(file) == 4
    file.flush()
    assert _count(file) == 5


def test_what_waits_is_flushed_after_a_while(tmp_path):
    file = EventFile(str(tmp_path), max_queue=10, flush_seconds=0)
    flushed = threading.Event()
    write_out = file._write_out

    def noticed():
        write_out()
        flushed.set()

    file._write_out = noticed
    file.add(EVENT)
    assert flushed.wait(60)
    assert _count(file) == 1


def test_an_error_in_the_background_is_raised_later(tmp_path):
    file = EventFile(str(tmp_path), max_queue=10)

    def fail():
        raise tf.errors.ResourceExhaustedError(None, None, "no space left")

    write_out, file._write_out = file._write_out, fail
    file.add(EVENT)
    file.flush_in_background()
    file._write_out = write_out
    with pytest.raises(tf.errors.ResourceExhaustedError, match="no space left"):
        file.flush()
    file.flush()
    assert _count(file) == 1  # nothing was lost


def test_closing_and_opening_again(tmp_path):
    file = EventFile(str(tmp_path))
    file.add(EVENT)
    path = file.path
    file.close()
    file.close()
    assert len(events_of(path)) == 2
    with pytest.raises(tf.errors.FailedPreconditionError, match="is closed"):
        file.add(EVENT)
    file.flush()
    file.reopen()
    file.add(EVENT)
    file.flush()
    assert file.path != path
    assert _count(file) == 1


def test_dropping_a_file_writes_what_waits(tmp_path):
    file = EventFile(str(tmp_path))
    path = file.path
    file.add(EVENT)
    del file
    assert len(events_of(path)) == 2


def test_many_threads(tmp_path):
    file = EventFile(str(tmp_path), max_queue=5)

    def work(number):
        for step in range(200):
            file.add(event_wire.event(1.0, number * 1000 + step, event_wire.SUMMARY, b""))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()
    (path,) = tmp_path.iterdir()
    records = list(RecordReader(str(path)))[1:]
    assert len(set(records)) == len(records) == 1600


@pytest.mark.filterwarnings("ignore:os.fork")  # of jax, where an earlier test has loaded it; the child does not use it
def test_a_fork_writes_to_a_file_of_its_own(tmp_path):
    file = EventFile(str(tmp_path), max_queue=10)
    file.add(EVENT)
    child = os.fork()
    if child == 0:
        try:
            file.add(EVENT)
            file.add(EVENT)
            file.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    file.close()
    counts = {f".{os.getpid()}." in path.name: len(events_of(path)) - 1 for path in tmp_path.iterdir()}
    assert counts == {True: 1, False: 2}


_PROGRAM = """
import os, sys
import headrace as tf
writer = tf.summary.create_file_writer(sys.argv[1], max_queue=4)
with writer.as_default():
    for step in range(7):
        tf.summary.scalar("s", 1.0, step=step)
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), 9)
    if sys.argv[2] == "exit":
        sys.exit(0)
"""


@pytest.mark.parametrize(("end", "count"), [("kill", 5), ("exit", 7)])
def test_the_end_of_a_program(tmp_path, end, count):
    subprocess.run([sys.executable, "-c", _PROGRAM, str(tmp_path), end], check=end != "kill")
    (path,) = tmp_path.iterdir()
    assert len(events_of(path)) == count + 1


def test_a_remote_store(monkeypatch):
    monkeypatch.setattr(event_files, "_ROLL_OVER", 200)
    writer = tf.summary.create_file_writer("memory://headrace_summaries/run")
    with writer.as_default():
        for step in range(30):
            tf.summary.scalar("s", 1.0, step=step)
            writer.flush()
    writer.close()
    store = fsspec.filesystem("memory")
    paths = sorted(store.ls("/headrace_summaries/run", detail=False))
    assert len(paths) > 5  # one after another, as they get too large
    assert paths == sorted(paths, key=lambda path: int(path.split(".")[-2]))
    records = [record for path in paths for record in RecordReader(f"memory://{path}")]
    assert len(records) == 30 + len(paths)
    store.rm("/headrace_summaries", recursive=True)


def test_errors_name_the_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="file/x"):
        tf.summary.create_file_writer(str(tmp_path / "file" / "x"))
    with pytest.raises(tf.errors.UnimplementedError, match="nowhere"):
        tf.summary.create_file_writer("nowhere://x")
