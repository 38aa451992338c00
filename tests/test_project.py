"""The project's outside: metadata, a silent and light import, clean module borders, the demo."""

import ast
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tomllib

import pytest

import headrace
from headrace._src.version import HEADRACE_VERSION

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGE = ROOT / "headrace"


def run(*args):
    """A fresh interpreter that imports this source tree, installed or not."""
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    return subprocess.run([sys.executable, *args], cwd=ROOT, capture_output=True, text=True, env=env)


def test_version_is_tensorflows_and_our_own_is_in_the_changelog():
    assert headrace.__version__.startswith("2.")  # programs ask tf.__version__ which TensorFlow they run on
    assert f"## {HEADRACE_VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_installed_metadata():
    try:
        installed = importlib.metadata.metadata("headrace")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("headrace is imported from the source tree, not installed")
    assert installed["Version"] == HEADRACE_VERSION
    assert installed["License-Expression"] == PROJECT["license"] == "Apache-2.0"
    assert installed["Requires-Python"] == PROJECT["requires-python"] == ">=3.11"


def test_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_import_is_silent_and_light():
    heavy = ["jax", "jaxlib", "scipy", "keras", "google.protobuf", "tensorflow", "tensorboard"]
    done = run("-W", "error", "-c", f"import headrace, sys; sys.exit(str(sys.modules.keys() & {heavy}))")
    assert (done.stdout, done.stderr) == ("", "set()\n")


def imports(path):
    """Absolute names of what a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_implementation_does_not_import_public_modules():
    guilty = [(str(path.relative_to(ROOT)), name)
              for path in sorted((PACKAGE / "_src").rglob("*.py")) for name in imports(path)
              if name.split(".")[0] == "headrace" and not name.startswith("headrace._src")]
    assert guilty == []


def test_public_modules_only_re_export():
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    by_hand = {"raw_ops.py", "__main__.py", "app.py", "compat.py", "flags.py", "v2.py"}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "_src" in path.parts or path.name in by_hand:
            continue
        body = ast.parse(path.read_text(encoding="utf-8")).body[1:]
        # `if TYPE_CHECKING:` the names, `else:` the functions that import them when used.
        switch = body.pop()
        assert isinstance(switch, ast.If), f"{path} does not end in its names"
        body += switch.body + switch.orelse
        assert all(isinstance(node, allowed) for node in body), f"{path} holds more than names"


def test_names_for_type_checkers_are_those_at_run_time():
    import headrace
    from headrace._src import index

    for folder, names in index.MODULES.items():
        path = PACKAGE.joinpath(*folder.split(".")) if folder else PACKAGE
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        switch = ast.parse(path.read_text(encoding="utf-8")).body[-1]
        imported = {alias.asname for node in switch.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        assigned = {t.id for node in switch.body if isinstance(node, ast.Assign) for t in node.targets}
        # What is renamed is imported under a private name first: docs/decisions/0009.
        assert (imported - {f"_{name}" for name in assigned} - {"_Any"}) | assigned == set(names), path
    module = headrace
    for part in ("math", "special"):
        module = getattr(module, part)
    assert set(dir(module)) == set(index.MODULES["math.special"])


def test_every_file_opens_with_a_docstring():
    bare = [str(path.relative_to(ROOT)) for path in sorted(PACKAGE.rglob("*.py"))
            if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert bare == []


@pytest.mark.slow
def test_test_files_have_names_of_their_own():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert {name for name in names if names.count(name) > 1} == set()  # pytest takes them for one module


def test_demo_learns():
    done = run("examples/eager_demo.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "after training: test accuracy" in done.stdout


@pytest.mark.slow
def test_memory_is_flat_over_a_short_run():
    pytest.importorskip("resource")  # not Windows
    if not pathlib.Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    done = run("benchmarks/memory.py", "--ops", "40000", "--tapes", "4000")
    assert done.returncode == 0, done.stdout + done.stderr
