"""Each example runs, learns and says so; with --quick, which takes seconds."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
HELPERS = {"handwriting.py", "digit_training.py"}
WITHOUT_KERAS = {"eager_demo.py", "function_timing.py"}
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in HELPERS)


def needs_keras():
    if importlib.util.find_spec("keras") is None:
        pytest.skip("Keras is not installed")


def run(name, *arguments, folder):
    # A cache folder of its own: the data sets of whoever runs the tests stay out of them.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KERAS_HOME": str(folder / "keras")}
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments], cwd=folder, env=environment, text=True,
        capture_output=True, timeout=1200,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "eager_demo.py"])  # tests/test_project.py
def test_example_learns(name, tmp_path):
    if name not in WITHOUT_KERAS:
        needs_keras()
    done = run(name, "--quick", folder=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert done.stdout


@pytest.mark.slow
def test_demo_draws_a_picture(tmp_path):
    needs_keras()
    import headrace as tf

    done = run("demo.py", "--quick", "--picture", "answers.png", folder=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "test accuracy:" in done.stdout
    picture = tf.io.decode_png(tf.io.read_file(str(tmp_path / "answers.png"))).numpy()
    assert picture.shape == (520, 880, 3)
    assert picture.std() > 10


@pytest.mark.slow
def test_demo_says_when_it_did_not_learn(tmp_path):
    needs_keras()
    done = run("demo.py", "--epochs", "0", folder=tmp_path)
    assert done.returncode == 1
    assert "did not learn" in done.stderr


def test_the_table_names_every_example():
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in SCRIPTS if f"`{name}" not in table] == []
