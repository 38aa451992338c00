"""Which `saved_model_cli` starts: TensorFlow's where it is installed, ours where it is not or is asked for."""

import os
import pathlib
import subprocess
import sysconfig
import tomllib
import venv

import pytest

from headrace._src.cli import deferring

ROOT = pathlib.Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STAND_IN = "import sys\n\n\ndef main():\n    print('TensorFlow has', sys.argv[1:])\n    return 7\n"


# What the distributions bring: headrace has the scripts of this project, and its files stay where they are.
DISTRIBUTIONS = {
    "headrace": (PROJECT["scripts"], {"headrace_here.pth": f"{ROOT}\n{sysconfig.get_path('purelib')}\n"}),
    "tensorflow_cpu": (  # the name does not matter
        {"saved_model_cli": "tensorflow.python.tools.saved_model_cli:main"},
        {
            "tensorflow/__init__.py": "",
            "tensorflow/python/__init__.py": "",
            "tensorflow/python/tools/__init__.py": "",
            "tensorflow/python/tools/saved_model_cli.py": STAND_IN,
        },
    ),
}


def installed(folder, names):
    """An environment into which distributions were put one after the other, as installers do it; its scripts."""
    venv.create(folder, with_pip=False)
    packages = next((folder / "lib").glob("python*/site-packages"))
    for name in names:
        scripts, files = DISTRIBUTIONS[name]
        information = f"{name}-1.0.dist-info"
        entries = "[console_scripts]\n" + "".join(f"{script} = {place}\n" for script, place in scripts.items())
        metadata = {
            f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{information}/entry_points.txt": entries,
        }
        for path, text in {**files, **metadata}.items():
            (packages / path).parent.mkdir(parents=True, exist_ok=True)
            (packages / path).write_text(text)
        for script, place in scripts.items():
            module, function = place.split(":")
            code = f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n"
            path = folder / "bin" / script
            path.write_text(f"#!{folder}/bin/python\n{code}")  # whose script it was before is lost
            path.chmod(0o755)
    return folder / "bin"


def output(command, **environment):
    environment = {**os.environ, **environment}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="looks for scripts where POSIX has them")
@pytest.mark.parametrize("order", [("headrace", "tensorflow_cpu"), ("tensorflow_cpu", "headrace")], ids="-".join)
def test_install_orders(tmp_path, order):
    scripts = installed(tmp_path, order)
    command = [str(scripts / "saved_model_cli"), "show", "--dir", "nowhere"]
    ours = "SavedModel file does not exist at: nowhere"
    assert output(command) == (7, "TensorFlow has ['show', '--dir', 'nowhere']\n")
    if order[-1] == "headrace":
        code, text = output(command, HEADRACE_CLI="1")
        assert code == 1
        assert ours in text
    code, text = output([str(scripts / "headrace"), "saved-model", "show", "--dir", "nowhere"])
    assert code == 1
    assert ours in text


class Entry:
    group, name = "console_scripts", "saved_model_cli"

    def __init__(self, value):
        self.value = value

    def load(self):
        return lambda: self.value


class Distribution:
    def __init__(self, *values):
        self.entry_points = [Entry(value) for value in values]


@pytest.mark.parametrize(
    ("values", "switch", "expected"),
    [
        (["headrace._src.cli.deferring:saved_model_cli"], None, "ours"),
        (["headrace._src.cli.deferring:saved_model_cli", "json.tool:main"], None, "json.tool:main"),
        (["json.tool:main"], "1", "ours"),
        (["json.tool:main"], "0", "json.tool:main"),
        (["no_such_package_at_all.cli:main"], None, "ours"),  # its files were removed, its metadata was not
        ([], None, "ours"),
    ],
)
def test_which_one_starts(monkeypatch, values, switch, expected):
    installed = [Distribution(value) for value in values]
    monkeypatch.setattr(deferring.importlib.metadata, "distributions", lambda: installed)
    monkeypatch.delenv(deferring.SWITCH, raising=False)
    if switch is not None:
        monkeypatch.setenv(deferring.SWITCH, switch)
    assert deferring.start("saved_model_cli", lambda: "ours") == expected


def test_scripts_of_the_project_exist():
    for name, place in PROJECT["scripts"].items():
        module, function = place.split(":")
        assert callable(getattr(__import__(module, fromlist=[function]), function)), name
