"""Damaged files, a few of each kind, those that once gave the wrong error; and that the fuzzer notices faults."""

import itertools
import pathlib
import subprocess
import sys

import fuzz_running as running
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAULTS = {
    "ending": "the process ended with code 3",
    "crashing": "the process ended with code -11",
    "hanging": "hangs",
    "slow": "slow: 0.4 s",
    "large": "large: ",
    "too_large": "MemoryError",
    "touching": "touches os.listdir",
    "writing": "touches open",
    "running_code": "touches pickle.find_class",
    "untyped": "KeyError: 'x'",
    "subclass": "UnicodeDecodeError",
    "nameless": "does not name the file: DataLossError: something is wrong",
}


@pytest.fixture(scope="module")
def misbehaving():
    files = ["fuzz_misbehaving"]
    targets = dict(running.TARGETS)
    running.load(files)
    with running.Supervisor(1, files) as supervisor:
        yield supervisor
    for name in set(running.TARGETS) - set(targets):
        del running.TARGETS[name]


def wrong_inputs(target, count):
    """The numbers of the first inputs that show the fault."""
    wrong = (number for number in itertools.count() if target.input(1, number)[0]["data"] == b"3")
    return list(itertools.islice(wrong, count))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(misbehaving, fault):
    target = running.TARGETS[fault]
    wrong = wrong_inputs(target, 2)
    result = misbehaving.run(target, wrong[-1] + 1)
    assert [find["number"] for find in result.finds] == wrong
    assert all(FAULTS[fault] in find["text"] for find in result.finds)
    assert result.inputs == wrong[-1] + 1


@pytest.mark.slow
def test_growing_memory_is_noticed(misbehaving):
    result = misbehaving.run(running.TARGETS["growing"], 300)
    assert not result.finds
    assert 50 < result.grown < 1000


@pytest.mark.slow
def test_a_program_may_take_any_time_and_is_stopped(misbehaving):
    target = running.TARGETS["stopped"]
    result = misbehaving.run(target, wrong_inputs(target, 2)[-1] + 1)
    assert not result.finds
    assert result.outcomes["stopped"] == 2


@pytest.mark.slow
def test_valid_files_must_not_be_refused(misbehaving):
    with pytest.raises(RuntimeError, match="the valid input 0 is refused"):
        misbehaving.run(running.TARGETS["refusing"], 9)


@pytest.mark.slow
def test_a_few_of_each():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "fuzz"), "--quick"], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted(running.KEPT.glob("*.zip")), ids=lambda path: path.stem)
def test_what_was_found_before(path, tmp_path):
    running.load()
    target, files, number = running.kept_input(path)
    target.prepare()
    running.run_input(target, files, str(tmp_path), number)


def test_inputs_are_the_same_for_a_seed(tmp_path):
    target = running.load()["checkpoint_index"]
    assert target.input(3, 7) == target.input(3, 7)
    assert target.input(3, 7) != target.input(4, 7)
    path = running.keep(target, 3, 7, tmp_path)
    assert running.kept_input(path) == (target, target.input(3, 7)[0], 7)
