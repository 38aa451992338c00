"""The command line: options, exit codes, the report, trees, and what cannot be read, parsed or written."""

import os
import pathlib
import subprocess
import sys

import pytest

from headrace._src.upgrade import command, files, tree
from headrace._src.upgrade.files import Job
from headrace._src.upgrade.rewriting import Options

OLD = "import tensorflow as tf\nx = tf.log(1)\ny = tf.contrib.layers.flatten(x)\n"
NEW = "import tensorflow as tf\nx = tf.math.log(1)\ny = tf.contrib.layers.flatten(x)\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def read(path):
    return pathlib.Path(path).read_bytes().decode("utf-8")


def test_a_file(capsys):
    write("a.py", OLD)
    assert command.main(["--infile", "a.py", "--outfile", "b.py"]) == 0
    assert read("a.py") == OLD
    assert read("b.py") == NEW
    out, report = capsys.readouterr().out, read("report.txt")
    for text in (out, report):
        assert text.startswith("TensorFlow 2.0 Upgrade Script\n-----------------------------\nConverted 1 files\n"
                               "Detected 1 issues that require attention\n")
        assert "a.py:3:4: ERROR: Using member tf.contrib.layers.flatten" in text
    for part in ("Detailed log follows:", "Processing file 'a.py'\n outputting to 'b.py'",
                 "2:4: INFO: Renamed 'tf.log' to 'tf.math.log'", "    Old: x = tf.log(1)\n",
                 "    New: x = tf.math.log(1)\n"):
        assert part in report
        assert part not in out
    assert "Make sure to read the detailed log 'report.txt'" in out
    assert "files changed" in out


def test_print_all_and_the_name_of_the_report(capsys):
    write("a.py", OLD)
    assert command.main(["--infile", "a.py", "--outfile", "b.py", "--print_all", "--reportfile", "r/s.txt"]) == 0
    assert "    New: x = tf.math.log(1)" in capsys.readouterr().out
    assert "    New: x = tf.math.log(1)" in read("r/s.txt")


def test_in_place_keeps_permissions(capsys):
    write("a.py", OLD)
    os.chmod("a.py", 0o750)
    assert command.main(["--infile", "a.py", "--inplace"]) == 0
    assert read("a.py") == NEW
    assert os.stat("a.py").st_mode & 0o777 == 0o750


def test_check_and_diff_write_nothing(capsys):
    write("a.py", OLD)
    assert command.main(["--infile", "a.py", "--check", "--diff"]) == 1
    assert read("a.py") == OLD
    out = capsys.readouterr().out
    assert "--- a/a.py\n+++ b/a.py\n" in out
    assert "-x = tf.log(1)\n+x = tf.math.log(1)\n" in out
    write("a.py", NEW)
    assert command.main(["--infile", "a.py", "--check"]) == 0


def a_tree():
    write("in/a.py", OLD)
    write("in/sub/b.PY", "x = 1\n")
    write("in/sub/notes.txt", "tf.log")
    write("in/sub/n.ipynb", '{"cells": [{"cell_type": "code", "source": ["tf.log(1)"]}], "nbformat": 4}')
    write("in/old.py", "print 'x'\n")
    write("in/binary.py", b"\0\1")
    os.symlink("a.py", "in/link.py")
    os.symlink("nowhere", "in/broken")
    os.symlink("sub", "in/folder")


def test_a_tree(capsys):
    a_tree()
    assert command.main(["--intree", "in", "--outtree", "out"]) == 1  # two files are not Python 3
    assert read("out/a.py") == NEW
    assert read("out/sub/b.PY") == "x = 1\n"
    assert read("out/sub/notes.txt") == "tf.log"
    assert "tf.math.log(1)" in read("out/sub/n.ipynb")
    assert read("out/old.py") == "print 'x'\n"
    assert [os.readlink(f"out/{name}") for name in ("link.py", "broken", "folder")] == ["a.py", "nowhere", "sub"]
    report = read("report.txt")
    assert "Input tree: 'in'" in report
    assert "Failed to convert 2 files" in report
    assert "old.py: ERROR: Failed to convert: it does not parse: line 1" in report
    assert "Python 2" in report
    assert "binary.py: ERROR: Failed to convert: it is a binary file" in report


def test_a_tree_without_other_files_and_into_itself(capsys):
    a_tree()
    assert command.main(["--intree", "in", "--outtree", "in/out", "--copyotherfiles", "False"]) == 1
    assert not os.path.exists("in/out/sub/notes.txt")
    assert command.main(["--intree", "in", "--outtree", "in/out"]) == 1
    assert not os.path.exists("in/out/out")
    assert os.path.exists("in/out/sub/notes.txt")


def test_a_tree_in_place(capsys):
    a_tree()
    before = os.stat("in/sub/b.PY").st_mtime_ns
    assert command.main(["--intree", "in", "--inplace"]) == 1
    assert read("in/a.py") == NEW
    assert os.stat("in/sub/b.PY").st_mtime_ns == before  # what does not change is not written
    assert os.path.islink("in/link.py")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folders_that_cannot_be_read_are_named(capsys):
    a_tree()
    os.chmod("in/sub", 0)
    try:
        assert command.main(["--intree", "in", "--outtree", "out"]) == 1
    finally:
        os.chmod("in/sub", 0o700)
    assert "the folder cannot be read" in read("report.txt")
    assert read("out/a.py") == NEW


def test_folders_that_cannot_be_listed_are_named(monkeypatch):
    write("in/a.py", OLD)

    def walk(root, onerror):
        onerror(PermissionError(13, "Permission denied", "in/secret"))
        yield "in", [], ["a.py"]

    monkeypatch.setattr(tree.os, "walk", walk)
    plan = tree.plan("in", "out", Options(), True)
    assert plan.errors == [("in/secret", "the folder cannot be read: Permission denied")]
    assert [job.source for job in plan.jobs] == ["in/a.py"]


def test_files_that_cannot_be_read_or_written_are_named(capsys):
    assert command.main(["--infile", "absent.py", "--outfile", "b.py"]) == 1
    assert "absent.py: ERROR: Failed to convert: it cannot be read: No such file" in read("report.txt")
    assert not os.path.exists("b.py")
    write("a.py", OLD)
    write("file", "")
    assert command.main(["--infile", "a.py", "--outfile", "file/b.py"]) == 1
    assert "it cannot be written" in read("report.txt")


def test_nothing_is_half_written(monkeypatch):
    """Until a file is complete the old one is there, and nothing else is left behind."""
    write("a.py", OLD)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    outcome = files.process(Job("a.py", "a.py", Options()))
    assert outcome.error == "it cannot be written: No space left on device"
    assert read("a.py") == OLD
    assert os.listdir() == ["a.py"]


def test_a_mistake_of_the_tool_does_not_stop_the_others(monkeypatch):
    write("a.py", OLD)

    def fail(*_):
        raise KeyError("x")

    monkeypatch.setitem(files._SUFFIXES, ".py", fail)
    assert "please report" in files.process(Job("a.py", "b.py", Options())).error
    assert read("b.py") == OLD


@pytest.mark.parametrize("arguments", [
    ["--infile", "a.py"], ["--intree", "in"], ["--infile", "a.py", "--outfile", "b.py", "--inplace"],
    ["--infile", "a.py", "--intree", "in", "--inplace"], ["--infile", "a.py", "--outfile", "./a.py"],
    ["--intree", "absent", "--outtree", "out"], ["--intree", "in", "--outtree", "out", "--mode", "OTHER"],
    ["--intree", "in", "--outtree", "out", "--copyotherfiles", "perhaps"],
])
def test_contradictions_are_refused(arguments, capsys):
    write("a.py", OLD)
    write("in/a.py", OLD)
    with pytest.raises(SystemExit) as raised:
        command.main(arguments)
    assert raised.value.code == 2
    assert sorted(os.listdir()) == ["a.py", "in"]


def test_without_arguments_it_explains_itself(capsys):
    assert command.main([]) == 0
    assert "--copyotherfiles" in capsys.readouterr().out


@pytest.mark.slow
def test_large_trees_are_shared_among_processes():
    for number in range(130):
        write(f"in/{number % 7}/{number}.py", OLD)
    write("in/old.py", "print 'x'\n")
    root = pathlib.Path(command.__file__).parents[3]
    options = ["--intree", "in", "--outtree", "out", "--processes", "2"]
    done = subprocess.run([sys.executable, "-m", "headrace", "upgrade", *options], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=str(root)))
    assert done.returncode == 1, done.stderr
    assert "Converted 130 files\nDetected 130 issues" in done.stdout
    assert [read(path) for path in sorted(pathlib.Path("out").glob("*/*.py"))] == [NEW] * 130


def test_the_tool_loads_nothing_of_headrace_but_itself():
    code = ("import sys, headrace; before = set(sys.modules); import headrace._src.upgrade.command; "
            "print(*[m for m in set(sys.modules) - before if m.startswith(('headrace', 'numpy', 'jax'))])")
    root = pathlib.Path(command.__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=dict(os.environ, PYTHONPATH=str(root)))
    assert all(name.startswith("headrace._src.upgrade") for name in done.stdout.split())


def test_a_reader_that_has_seen_enough():
    for number in range(200):
        write(f"old/{number}.py", OLD * 20)
    program = "from headrace._src.upgrade.command import main; raise SystemExit(main())"
    arguments = ["--intree", "old", "--check", "--diff"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().startswith("---")
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 1
    assert "Detected" in read("report.txt")
