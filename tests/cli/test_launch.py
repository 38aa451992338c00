"""`headrace launch`, with programs that do nothing together, and a stand-in for the command that reaches hosts."""

import os
import shlex
import signal
import subprocess
import sys

import pytest

from headrace._src.cli import launch

SHOW = """
import json, os, sys
task = json.loads(os.environ["TF_CONFIG"])["task"]
print(task["index"], len(os.environ["HEADRACE_SECRET"]), os.environ.get("TOLD"), sys.argv[1:], flush=True)
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def started(*arguments, **variables):
    command = [sys.executable, "-m", "headrace", "launch", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables}
    )


@pytest.mark.slow
def test_each_worker_knows_its_place_and_the_secret(script):
    out, err = (process := started("-n", "2", script(SHOW), "a b", "--c", TOLD="x")).communicate(timeout=120)
    assert process.returncode == 0, err
    assert sorted(out.splitlines()) == ["[0] 0 64 x ['a b', '--c']", "[1] 1 64 x ['a b', '--c']"]


@pytest.mark.slow
def test_all_end_when_one_fails_and_start_again(script, tmp_path):
    text = """
import json, os, sys, time
mark = sys.argv[1]
if json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 1:
    while not os.path.exists(mark):  # until worker 0 waits as well
        time.sleep(0.01)
    first = not os.path.exists(mark + "1")
    open(mark + "1", "w").close()
    sys.exit(5 if first else 0)
if not os.path.exists(mark):
    open(mark, "w").close()
    time.sleep(1000)
print("second time")
"""
    process = started("-n", "2", "--restarts", "1", "--grace", "0", script(text), str(tmp_path / "mark"))
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "[0] second time\n")
    assert err.splitlines() == [
        "headrace launch: worker 1 ended with exit code 5; the others are ended.", "headrace launch: restart 1 of 1.",
    ]  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_reaches_all(script, interrupts_answered):
    text = """
import time
try:
    print("ready", flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = started("-n", "2", script(text))
    for _ in range(2):
        assert process.stdout.readline().endswith("ready\n")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, sorted(out.splitlines())) == (130, ["[0] interrupted", "[1] interrupted"])


@pytest.mark.slow
def test_hosts_of_a_file(script, tmp_path):
    remote = tmp_path / "remote.py"
    remote.write_text("import subprocess, sys\nprint('to', sys.argv[1], flush=True)\n"
                      "sys.exit(subprocess.call(['sh', '-c', sys.argv[2]]))\n")  # fmt: skip
    hosts = tmp_path / "hosts"
    hosts.write_text("# two machines\nme@a.example\nb.example:99\n")
    process = started(
        "--hosts", str(hosts), "--remote", shlex.join([sys.executable, str(remote)]), "--env", "TOLD", script(SHOW),
        "a b; echo $HOME '", TOLD="it's $HOME",
    )  # fmt: skip
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert sorted(out.splitlines()) == [
        '[0] 0 64 it\'s $HOME ["a b; echo $HOME \'"]', "[0] to me@a.example",
        '[1] 1 64 it\'s $HOME ["a b; echo $HOME \'"]', "[1] to b.example",
    ]  # fmt: skip


def test_places_of_hosts(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("a slots=2\nu@b:5 slots=2 # more\n\n")
    assert launch.read_hosts(str(path)) == [("a", "a:2222"), ("a", "a:2223"), ("u@b", "b:5"), ("u@b", "b:6")]


@pytest.mark.parametrize("line", ["-oProxyCommand=x", "a b", "a;b", "a:x", "$(x)", ""])
def test_what_is_no_host(tmp_path, line):
    path = tmp_path / "hosts"
    path.write_text(line)
    with pytest.raises(SystemExit, match="host"):
        launch.read_hosts(str(path))


def test_neither_the_secret_nor_other_variables_are_in_a_remote_command(monkeypatch):
    monkeypatch.setenv("HEADRACE_SECRET", "hidden")
    monkeypatch.setenv("MY_PASSWORD", "hidden")
    monkeypatch.setenv("TF_DETERMINISTIC_OPS", "1")
    options = launch._parser().parse_args(["--hosts", "x", "train.py", "a b"])
    *command, line = launch.remote_command(options, "host", "{}")
    assert command == ["ssh", "host"]
    assert "hidden" not in line
    assert "TF_DETERMINISTIC_OPS=1" in line
    assert line.endswith("headrace run --worker train.py 'a b'")


@pytest.mark.parametrize("arguments", [["-n", "0", "x.py"], ["-n", "2", "nowhere.py"], ["--hosts", "none", "x.py"],
                                       ["-n", "2", "--env", "A=B", "x.py"], ["x.py"]])  # fmt: skip
def test_wrong_arguments(arguments):
    with pytest.raises(SystemExit) as error:
        launch.main(arguments)
    assert error.value.code
