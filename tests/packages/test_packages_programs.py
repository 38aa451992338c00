"""The programs of `scripts/packages`: one for each row of its table, and how results are compared."""

import importlib.machinery
import importlib.util
import math
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "packages" / "programs"


@pytest.fixture(scope="module")
def script():
    loader = importlib.machinery.SourceFileLoader("packages_script", str(ROOT / "scripts" / "packages"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_each_package_has_a_program(script):
    found = {path.name.removesuffix("_program.py") for path in PROGRAMS.glob("*_program.py")}
    assert found == set(script.PACKAGES)
    page = (ROOT / "docs" / "other_packages.md").read_text(encoding="utf-8")
    assert [name for name in script.PACKAGES if f"`scripts/packages {name}`" not in page] == []


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1.0, 1.00001, True), (1.0, 1.01, False), ([1.0, [2]], [1.0, [2]], True), ([1.0], [1.0, 2.0], False),
        (math.nan, math.nan, True), ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"b": 1}, False), ("x", "y", False),
        (True, False, False), (None, None, True),
    ],
)  # fmt: skip
def test_equal(script, a, b, same):
    assert script.equal(a, b) is same


def test_what_counts_as_wrong(script):
    ours = {"a": {"value": 1.0}, "b": {"error": "TypeError: x"}, "c": {"value": 2.0}, "d": {"error": "here too"}}
    theirs = {"a": {"value": 1.0}, "b": {"value": 3.0}, "c": {"value": 9.0}, "d": {"error": "there"}, "e": {"value": 1}}
    line, wrong = script.compare("name", ours, theirs)
    assert "2 of 5 right" in line
    assert [text.partition(":")[0] for text in wrong] == ["b", "c", "not reached"]
    line, wrong = script.compare("name", {"program": {"error": "exit code 1"}}, theirs)
    assert "0 of 5 right" in line
    assert wrong == ["program: exit code 1", "not reached: a, b, c, d, e"]


def test_rows_are_kept(script, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "RESULT", tmp_path / "rows.txt")
    script.keep_rows("einops", ["einops 1 0 of 1 right", "x: wrong"])
    script.keep_rows("keras", ["keras 2 1 of 1 right"])
    assert script.RESULT.read_text() == "keras 2 1 of 1 right\neinops 1 0 of 1 right\n    x: wrong\n"
    script.keep_rows("einops", ["einops 1 1 of 1 right"])
    assert script.RESULT.read_text() == "keras 2 1 of 1 right\neinops 1 1 of 1 right\n"


@pytest.mark.slow
def test_a_program_runs(script):
    """Keras is installed with headrace: its program is also what `scripts/packages --quick` runs everywhere."""
    found = script.results([script.sys.executable, "-m", "headrace", "run"], "keras", {})
    assert [name for name, result in found.items() if "error" in result] == []
    assert set(found) == {"fit", "save", "the same Keras"}
