"""Running Keras's own tests, and what is known of them: which pass on TensorFlow, which are counted apart."""

import fnmatch
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

DATA = pathlib.Path(__file__).resolve().parent
KERAS_VERSION = "3.15.1"  # whose tests are recorded
ROOT = DATA.parent.parent
RECORDED = DATA / "tensorflow_passes.txt.gz"


def run(python: pathlib.Path | str, path: str, on_headrace: bool, processes: int = 1) -> dict[str, str]:
    """How each of Keras's tests ends, by its name.

    Args:
        python: an interpreter that has Keras, pytest, and headrace or TensorFlow.
        path: of tests, within keras/src.
        on_headrace: whether headrace is to be the TensorFlow.
        processes: how many run at the same time.
    """
    place = subprocess.run(
        [python, "-c", "import importlib.util; print(importlib.util.find_spec('keras').submodule_search_locations[0])"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    folder = pathlib.Path(place).parent
    start = [python, "-m", "headrace", "run", "-m", "pytest"] if on_headrace else [python, "-m", "pytest"]
    with tempfile.TemporaryDirectory() as scratch:
        results = pathlib.Path(scratch, "results.json")
        settings = pathlib.Path(scratch, "pytest.ini")
        settings.write_text("[pytest]\npython_files = *_test.py\n")
        # What pytest tells processes of its own does not concern this one.
        outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        env = dict(
            outer, KERAS_BACKEND="tensorflow", KERAS_SUITE_RESULTS=str(results),
            PYTHONPATH=os.pathsep.join([str(DATA), str(ROOT)] if on_headrace else [str(DATA)]),
            TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_HOME=str(pathlib.Path(scratch, "keras")),
            HEADRACE_COMPILE="0",  # some compare two trainings closely: neither may be compiled by chance
        )  # fmt: skip
        command = [*start, f"keras/src/{path}", "-q", "-p", "no:cacheprovider", "-p", "conftest", "-c", settings,
                   f"--rootdir={folder}", f"--confcutdir={folder}", "--tb=no", "--continue-on-collection-errors"]
        if processes > 1:
            command += ["-n", str(processes), "--dist", "loadfile"]
        subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(results.read_text()) if results.exists() else {}


def read_recorded() -> set[str]:
    """The names of the tests that pass on TensorFlow."""
    return set(gzip.decompress(RECORDED.read_bytes()).decode().splitlines()) if RECORDED.exists() else set()


def read_apart() -> list[tuple[str, str]]:
    """Patterns of names of tests, and why they are counted apart."""
    lines = (DATA / "apart.tsv").read_text().splitlines()
    return [tuple(line.split("\t", 1)) for line in lines if line and not line.startswith("#")]


def reasons(names, apart: list[tuple[str, str]]) -> dict[str, str]:
    """Why tests are counted apart, for those of these that are."""
    return {name: why for name in names for pattern, why in apart if fnmatch.fnmatch(name, pattern)}
