"""One writer at a time in a folder, among threads and processes, also when one of them dies."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest

import headrace as tf
from headrace._src.core import operating_system
from headrace._src.formats import folder_locks
from headrace._src.formats.folder_locks import only_writer


@pytest.fixture(params=["the folder", "a file in it"])
def folder(request, tmp_path, monkeypatch):
    """A folder that is locked in one of the two ways."""
    if request.param == "a file in it":
        monkeypatch.setattr(operating_system, "fcntl", None)
    return str(tmp_path)


def hold(folder, by_file, pipe):
    """Locks a folder until told to go on."""
    if by_file:
        operating_system.fcntl = None
    with only_writer(folder):
        pipe.send("locked")
        pipe.recv()


@contextlib.contextmanager
def other_process(folder):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(folder, operating_system.fcntl is None, theirs))
    process.start()
    assert ours.recv() == "locked"
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()


def test_blocks_nest_and_leave_nothing(folder):
    with only_writer(folder), only_writer(folder):
        pass
    assert os.listdir(folder) == []


def test_another_thread_waits(folder):
    with only_writer(folder):
        found = []

        def other():
            try:
                with only_writer(folder, patience=0.01):
                    found.append("both")
            except tf.errors.AbortedError as error:
                found.append(error.message)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "another thread of this process" in found[0]


def test_another_process_waits_and_its_end_is_noticed(folder):
    with other_process(folder) as (process, pipe):
        with (
            pytest.raises(tf.errors.AbortedError, match="has been writing into this folder"),
            only_writer(folder, 0.05),
        ):
            pass
        pipe.send("go on")
        with only_writer(folder, patience=60):
            pass
    with other_process(folder) as (process, pipe):
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        with only_writer(folder, patience=60):
            assert set(os.listdir(folder)) <= {folder_locks.LOCK_NAME}
    assert os.listdir(folder) == []


FORK = """
import contextlib, os, sys
from headrace._src.core import operating_system
from headrace._src.formats import folder_locks
folder, by_file = sys.argv[1:]
if by_file == "True":
    operating_system.fcntl = None
with contextlib.suppress(KeyError), folder_locks.only_writer(folder):
    child = os.fork()
    if not child:
        status = 1
        with contextlib.suppress(Exception), folder_locks.only_writer(folder, patience=0.05):
            status = 2
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    raise KeyError  # leaves the block
with folder_locks.only_writer(folder, patience=5):
    print("again")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_child_that_is_forked_in_the_block_takes_nothing_with_it(folder):
    # In a process of its own: jax does not like forks.
    arguments = [sys.executable, "-c", FORK, folder, str(operating_system.fcntl is None)]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["1", "again"], result.stderr
    assert os.listdir(folder) == []
