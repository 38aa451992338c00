"""`headrace run`: scripts in which `import tensorflow` means headrace."""

import importlib.util
import os
import subprocess
import sys

import pytest

from headrace._src.compat.tensorflow_names import child_path
from headrace._src.version import VERSION

# Other tests do not want children to find headrace.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "HEADRACE_CHILDREN"}


def run(path, *arguments):
    return started("-m", "headrace", "run", str(path), *arguments)


def started(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env={**ENVIRONMENT, **environment}
    )


def test_runs_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "import tensorflow as tf\n"
        "import tensorflow.math\n"
        "from tensorflow import nn\n"
        "import headrace\n"
        "import neighbour\n"
        "assert tf is headrace and tensorflow.math is headrace.math and nn is headrace.nn\n"
        "print(sys.argv[1:], __name__, neighbour.value, tf.add(1, 2).numpy())\n"
    )
    (tmp_path / "neighbour.py").write_text("value = 7\n")
    result = run(script, "a", "--b")
    assert result.stdout.split("\n")[0] == "['a', '--b'] __main__ 7 3", result.stderr


def test_passes_on_how_a_script_ends(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)\n")
    assert run(script).returncode == 3


def test_says_when_there_is_no_script(tmp_path):
    result = run(tmp_path / "nowhere.py")
    assert result.returncode == 1
    assert "there is no file" in result.stderr


def test_says_what_it_takes_when_no_script_is_named(tmp_path):
    done = subprocess.run([sys.executable, "-m", "headrace", "run"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "headrace run train.py" in done.stderr


def test_unknown_modules_stay_unknown(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import tensorflow.nowhere\n")
    assert "No module named 'tensorflow.nowhere'" in run(script).stderr


PROCESSES = """
import multiprocessing, subprocess, sys

def found(x):
    try:
        import tensorflow.math
    except ModuleNotFoundError:
        return "nothing"
    import tensorflow as tf
    return tf.__name__ + str(int(tensorflow.math.add(x, 1)))

if __name__ == "__main__":
    if sys.argv[-1] == "install":
        import headrace
        headrace.install_as_tensorflow()
    if sys.argv[-1] == "keras":
        import headrace
        headrace.keras
    if sys.argv[1] == "subprocess":
        program = "import sys; sys.path[0] = sys.argv[1]; import script; print(script.found(1))"
        subprocess.run([sys.executable, "-c", program, sys.argv[2]])
    elif sys.argv[1] == "spawn":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(found, [1])[0])
    else:
        import joblib
        print(joblib.Parallel(n_jobs=2)(joblib.delayed(found)(i) for i in [1, 1])[0])
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("processes") / "script.py"
    path.write_text(PROCESSES)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("how", ["subprocess", "spawn", "joblib"])
def test_processes_that_a_script_starts(script, how):
    if how == "joblib" and importlib.util.find_spec("joblib") is None:
        pytest.skip("joblib is not installed")
    result = run(script, how, script.parent)
    assert result.stdout == "headrace2\n", result.stderr


@pytest.mark.slow
def test_processes_of_a_program_that_has_installed_it(script):
    result = started(str(script), "subprocess", script.parent, "install")
    assert result.stdout == "headrace2\n", result.stderr


@pytest.mark.slow
def test_processes_that_are_not_meant(script):
    """--no-children, HEADRACE_CHILDREN=0, and a program that only uses tf.keras."""
    arguments = (str(script), "subprocess", str(script.parent))
    for result in (
        started("-m", "headrace", "run", "--no-children", *arguments),
        started("-m", "headrace", "run", *arguments, HEADRACE_CHILDREN="0"),
        started(*arguments, "keras"),
    ):
        assert result.stdout == "nothing\n", result.stderr


def child(program, tmp_path, *options, **environment):
    """What a Python says that a program under `headrace run` would start."""
    paths = os.pathsep.join([child_path.FOLDER, str(tmp_path)])
    environment = {"PYTHONPATH": paths, "HEADRACE_CHILDREN": sys.prefix, **environment}
    result = started(*options, "-c", program, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_hook_leaves_others_alone(tmp_path):
    """A module that runs at the start of its own, TensorBoard, and the Python of another environment."""
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.theirs = 7\n")
    (tmp_path / "tensorflow.py").write_text("__version__ = 'theirs'\n")
    say = "import sys; sys.modules['__main__'].__file__ = {!r}; import tensorflow as tf; print(theirs, tf.__version__)"
    assert child(say.format("script.py"), tmp_path) == f"7 {VERSION}"
    assert child(say.format("/usr/bin/tensorboard"), tmp_path) == "7 theirs"
    assert child(say.format("/usr/lib/tensorboard/main.py"), tmp_path) == "7 theirs"
    assert child(say.format("script.py"), tmp_path, HEADRACE_CHILDREN="/another/environment") == "7 theirs"


def test_an_interrupt_shows_the_frames_of_the_script_only(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("def work():\n    raise KeyboardInterrupt\n\n\nwork()\n")
    result = run(script)
    assert result.returncode != 0
    frames = [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert len(frames) == 2, result.stderr
    assert all(str(script) in frame for frame in frames)
    assert result.stderr.splitlines()[-1] == "KeyboardInterrupt"
