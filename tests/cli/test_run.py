"""`headrace run`: scripts in which `import tensorflow` means headrace."""

import subprocess
import sys


def run(path, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "headrace", "run", str(path), *arguments], capture_output=True, text=True, check=False
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


def test_processes_that_a_script_starts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys\n"
        "if len(sys.argv) == 1:\n"
        "    subprocess.run([sys.executable, __file__, 'child'], check=True)\n"
        "else:\n"
        "    import tensorflow.math\n"
        "    import tensorflow as tf\n"
        "    import headrace\n"
        "    print(tf is headrace and tensorflow.math is headrace.math)\n"
    )
    result = run(script)
    assert result.stdout == "True\n", result.stderr


def test_installed_programs_do_not_find_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys\n"
        "found = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'tensorflow', '--version'],\n"
        "                       capture_output=True, text=True)\n"
        "print('headrace' in found.stdout + found.stderr)\n"
    )
    result = run(script)
    assert result.stdout == "False\n", result.stderr
