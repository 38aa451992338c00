"""What real workers say when one of them never comes, dies, or does something else than the others."""

import json
import re
import subprocess
import sys

import pytest
from launched_programs import ENVIRONMENT, launch

from headrace._src.cli import launch as launcher

ADDRESS = r"\(127\.0\.0\.1:\d+\)"
# For each fault: which of three workers get an error, its class, and what it says.
FAULTS = {
    "shapes": ([0, 1, 2], "InvalidArgumentError", r"worker 0 \S+ is in all_reduce \(SUM\) of float32\[2\] at .*"
               r"faulty_workers\.py:\d+; worker 1 \S+ is in all_reduce \(SUM\) of float32\[3\]"),
    "dtypes": ([0, 1, 2], "InvalidArgumentError", r"worker 1 \S+ is in all_reduce \(SUM\) of float64\[2\]"),
    "programs": ([0, 1, 2], "InvalidArgumentError", r"worker 2 \S+ is in all_gather of float32\[\] along axis 0"),
    "elements": ([0, 1, 2], "InvalidArgumentError", rf"worker 0 {ADDRESS} has float32\[3\], worker 1 {ADDRESS} has "
                 r"float32\[2\]"),
    "no chief": ([1, 2], "UnavailableError", rf"worker 0 {ADDRESS} has died"),
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    result = launch("faulty_workers.py", folder, "differing", workers=3)
    said = result.stdout + result.stderr
    assert result.returncode == 7, said
    assert "Gloo" not in said
    return [json.loads((folder / f"{i}.json").read_text()) for i in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_workers_say_what_is_wrong(found, fault):
    workers, kind, said = FAULTS[fault]
    for i in workers:
        assert found[i][fault][0] == kind, found[i][fault]
        assert re.search(said, found[i][fault][1]), found[i][fault]


@pytest.mark.slow
def test_workers_that_differed_can_go_on(found):
    assert [worker["after all"] for worker in found] == [["nothing", "3.0"]] * 3


@pytest.mark.slow
def test_a_worker_that_takes_fewer_steps_is_named(tmp_path):
    launch("faulty_workers.py", tmp_path, "leaving")
    kind, said = json.loads((tmp_path / "0.json").read_text())["fewer steps"]
    assert kind == "UnavailableError"
    assert re.search(rf"worker 1 {ADDRESS} has ended its program, while worker 0 {ADDRESS} waits for it in all_r", said)


def alone(program, config, **variables):
    """What a worker says to whom nobody comes."""
    command = [sys.executable, "-c", f"import headrace as tf\nd = tf.distribute\n{program}"]
    environment = {**ENVIRONMENT, "TF_CONFIG": json.dumps(config), **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120).stderr


def free_ports(count):
    return [f"127.0.0.1:{port}" for port in launcher._free_ports(count)]


@pytest.mark.slow
@pytest.mark.parametrize(("index", "missing", "arguments", "variables"), [
    (0, 1, "", {"HEADRACE_CLUSTER_TIMEOUT": "0.5"}),
    (1, 0, "", {"HEADRACE_CLUSTER_TIMEOUT": "0.5"}),
    (0, 1, "communication_options=d.experimental.CommunicationOptions(timeout_seconds=0.5)", {}),
])  # fmt: skip
def test_a_worker_that_never_comes_is_named(index, missing, arguments, variables):
    workers = free_ports(2)
    config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
    said = alone(f"d.MultiWorkerMirroredStrategy({arguments})", config, **variables)
    assert "UnavailableError" in said
    assert f"after 0.5 seconds worker {missing} ({workers[missing]}) is still missing" in said
