"""`headrace shim`: a distribution named tensorflow that is headrace, put into an environment and taken away again."""

import base64
import hashlib
import importlib.metadata
import pathlib
import subprocess
import sysconfig
import venv
import zipfile

import pytest

from headrace._src.cli import shim
from headrace._src.version import VERSION

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder that takes the place of site-packages, and is all that is on the path."""
    monkeypatch.setattr(shim, "_site_packages", lambda: tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_wheel_is_one_that_installers_take(tmp_path):
    path = shim.write_wheel(tmp_path)
    first = path.read_bytes()
    assert path.name == f"tensorflow-{VERSION}+headrace-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        metadata = archive.read(f"{shim.INFORMATION}/METADATA").decode()
        assert "\nRequires-Dist: requests\n" in metadata  # tf_keras imports it, and leaves it to TensorFlow
        record = archive.read(f"{shim.INFORMATION}/RECORD").decode().splitlines()
        rows = {row.split(",")[0]: row.split(",")[1:] for row in record}
        assert sorted(rows) == sorted(archive.namelist())
        for name, (digest, size) in rows.items():
            if not name.endswith("RECORD"):
                content = archive.read(name)
                assert int(size) == len(content)
                expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert digest == f"sha256={expected}"
    assert shim.write_wheel(tmp_path).read_bytes() == first


def test_put_and_removed(packages, capsys):
    (packages / "other.py").write_text("")
    assert shim.main([]) == 0
    assert shim.main([]) == 0  # once more: as before
    assert names(packages) == ["other.py", "tensorflow", shim.INFORMATION]
    found = importlib.metadata.distribution("tensorflow")
    assert found.version == f"{VERSION}+headrace"
    assert all(pathlib.Path(str(found.locate_file(file))).exists() for file in found.files)
    (packages / "tensorflow" / "__pycache__").mkdir()
    (packages / "tensorflow" / "__pycache__" / "__init__.cpython-311.pyc").write_bytes(b"")
    assert shim.main(["--remove"]) == 0
    assert names(packages) == ["other.py"]
    capsys.readouterr()
    assert shim.main(["--remove"]) == 0
    assert "There is no shim" in capsys.readouterr().out


def test_files_of_others_in_its_folder_stay(packages):
    shim.main([])
    (packages / "tensorflow" / "theirs.py").write_text("")
    shim.main(["--remove"])
    assert names(packages / "tensorflow") == ["theirs.py"]


@pytest.mark.parametrize("name", ["tensorflow", "tensorflow_cpu", "tf_nightly", "intel_tensorflow", None])
def test_refused_where_tensorflow_is(packages, capsys, name):
    (packages / "tensorflow").mkdir()
    (packages / "tensorflow" / "__init__.py").write_text("theirs = 1\n")
    if name is not None:  # None: a folder that no installer knows of
        information = packages / f"{name}-2.20.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.20.0\n")
        (information / "RECORD").write_text(f"tensorflow/__init__.py,,\n{information.name}/METADATA,,\n")
    before = names(packages)
    for arguments in ([], ["--remove"]):
        assert shim.main(arguments) == 1
        said = capsys.readouterr().err
        assert (f"{name} 2.20.0" if name else str(packages / "tensorflow")) in said
    assert names(packages) == before
    assert (packages / "tensorflow" / "__init__.py").read_text() == "theirs = 1\n"


def test_refused_where_nobody_may_write(packages, capsys, monkeypatch):
    monkeypatch.setattr(shim.os, "access", lambda path, mode: False)
    assert shim.main([]) == 1
    assert "cannot be written to" in capsys.readouterr().err
    assert names(packages) == []


def test_refused_where_the_system_has_its_own_python(packages, capsys, monkeypatch, tmp_path_factory):
    library = tmp_path_factory.mktemp("library")
    (library / "EXTERNALLY-MANAGED").write_text("")
    monkeypatch.setattr(shim.sysconfig, "get_path", lambda name: str(library))
    monkeypatch.setattr("sys.prefix", shim.sys.base_prefix)
    assert shim.main([]) == 1
    assert "operating system" in capsys.readouterr().err


@pytest.mark.slow
def test_plain_python_finds_headrace(tmp_path):
    """Also when Keras is imported first, on this backend and on another; without headrace it says what is missing."""
    venv.create(tmp_path / "env", with_pip=False)
    python = str(tmp_path / "env" / "bin" / "python")
    packages = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    path = packages / "headrace_here.pth"
    path.write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")

    def say(program, **environment):
        done = subprocess.run(
            [python, "-c", program], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    assert "it is headrace" in say("from headrace._src.cli.main import main; main(['shim'])")
    first = "import tensorflow as tf, headrace; from tensorflow.python.framework import ops; print(tf is headrace)"
    assert say(first) == "True"
    keras = "import keras; import tensorflow as tf; print(keras.backend.backend(), tf.keras.Model is keras.Model)"
    assert say(keras) == "tensorflow True"
    assert say(keras, KERAS_BACKEND="jax") == "jax True"
    path.unlink()
    assert "headrace is not installed" in say("import tensorflow")
