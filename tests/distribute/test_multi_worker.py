"""MultiWorkerMirroredStrategy in real processes; datasets are divided as TensorFlow 2.21 does it."""

import json
import os
import re
import subprocess
import sys

import pytest
from launched_programs import ENVIRONMENT, HERE, launch


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    for i in range(3):
        (folder / f"{i}.txt").write_text("".join(f"{i}{line}\n" for line in "abc"))
    result = launch("worker_program.py", folder)
    assert (folder / "found.json").exists(), result.stdout + result.stderr
    return {**json.loads((folder / "found.json").read_text()), "code": result.returncode, "said": result.stderr}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "second"), [
    ("data", [[0, 1], [4, 5], [8]], [[2, 3], [6, 7], []]),
    ("odd", [[0, 1, 2], [5, 6, 7]], [[3, 4], [8, 9]]),
    ("fixed", [[0, 1], [4, 5]], [[2, 3], [6, 7]]),
    ("off", [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ("files", [["0a", "0b"], ["0c", "2a"], ["2b"], ["2c"]], [["1a", "1b"], ["1c"], [], []]),
    ("function", [[0], [1], [], []], [[0], [1], [2], [3]]),
    ("through", [18.0, [13.0]], [18.0, [9.0, 24.0]]),
    ("seen", [192, 192], [192, 192]),
])  # fmt: skip
def test_what_each_worker_gets(found, name, first, second):
    assert found[name] == [first, second]


@pytest.mark.slow
def test_the_same_as_the_whole_batch_on_one_device(found):
    assert max(found["worst"] + found["losses"]) < 1e-9


@pytest.mark.slow
def test_a_worker_that_dies_is_named_and_the_checkpoint_loads(found):
    assert re.search(r"worker 1 \(127\.0\.0\.1:\d+\) has died", found["error"])
    assert found["restored"]
    assert found["code"] == 9
    assert "worker 1 ended with exit code 9; the others are ended." in found["said"]


@pytest.mark.slow
@pytest.mark.parametrize(("script", "says"), [
    ("kills", "the weights are the same"),
    ("same_result", "all are the same"),
    ("tutorials", "all have passed"),
])  # fmt: skip
def test_the_quick_form_of_a_long_proof(script, says):
    command = [sys.executable, os.path.join(HERE, "..", "..", "scripts", script), "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    assert says in result.stdout
