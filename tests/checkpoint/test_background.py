"""Saving in the background: the order of jobs, errors that come up later, the end of a program, and forks."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from headrace._src.checkpoint.background import Background


def test_the_caller_goes_on_and_waits_when_it_wants_to():
    background, gate, done = Background(), threading.Event(), []
    background.submit(lambda: (gate.wait(), done.append(threading.current_thread())))
    assert background.is_busy
    assert done == []
    gate.set()
    background.wait()
    assert not background.is_busy
    assert done[0] is not threading.main_thread()


def test_jobs_keep_their_order():
    background, done = Background(), []
    gates = [threading.Event() for _ in range(3)]
    background.submit(lambda: (gates[0].wait(), done.append(0)))
    later = threading.Thread(target=background.submit, args=(lambda: (gates[1].wait(), done.append(1)),))
    later.start()
    gates[1].set()  # it could go on, were it not for the one before
    assert done == []
    gates[0].set()
    later.join()
    background.wait()
    assert done == [0, 1]


def fail():
    raise ValueError("the disk is full")


def test_an_error_comes_up_once_and_the_job_after_it_is_not_run():
    background, done = Background(), []
    background.submit(fail)
    with pytest.raises(ValueError, match="the disk is full"):
        background.submit(lambda: done.append(1))
    background.wait()
    assert done == []
    background.submit(fail)
    with pytest.raises(ValueError, match="the disk is full"):
        background.wait()
    background.submit(lambda: done.append(2))
    background.wait()
    assert done == [2]


def test_a_job_does_not_wait_for_itself():
    background, found = Background(), []

    def job():
        background.wait()
        try:
            background.submit(fail)
        except RuntimeError as error:
            found.append(str(error))

    background.submit(job)
    background.wait()
    assert "cannot save another one" in found[0]


def run(program):
    """What a program of its own says on both streams; it has `Background`, `fail` and a file `out`."""
    head = """
        import atexit, os, sys, threading
        from headrace._src.checkpoint.background import Background
        background = Background()
        def fail():
            raise ValueError("the disk is full")
    """
    text = textwrap.dedent(head) + textwrap.dedent(program)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)


def test_the_end_of_a_program_waits_and_raises():
    result = run("""
        main = threading.main_thread()
        def slow():
            main.join()  # until the program is at its end
            print("written", flush=True)
            fail()
        background.submit(slow)
        del background
    """)
    assert result.stdout == "written\n"
    assert "ValueError: the disk is full" in result.stderr


def test_saving_while_the_program_ends():
    result = run("""
        @atexit.register
        def last():
            background.submit(lambda: print("written", flush=True))
            background.wait()
    """)
    assert result.stdout == "written\n", result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_forked_process_leaves_the_writing_to_the_other():
    result = run("""
        import tempfile
        from headrace._src.formats.folder_locks import only_writer
        folder, inside, gate = tempfile.mkdtemp(), threading.Event(), threading.Event()
        def job():
            with only_writer(folder):
                inside.set()
                gate.wait()
            print("written by the parent", flush=True)
        background.submit(job)
        inside.wait()
        child = os.fork()
        if not child:
            background.wait()
            background.submit(lambda: print("the child saves elsewhere", flush=True))
            background.wait()
            try:
                with only_writer(folder, patience=0.05):
                    print("both write", flush=True)
            except Exception as error:
                print(type(error).__name__, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        gate.set()
    """)
    assert result.stdout.splitlines() == ["the child saves elsewhere", "AbortedError", "written by the parent"], (
        result.stderr
    )
