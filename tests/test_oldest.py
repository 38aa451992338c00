"""What `scripts/test --oldest` installs: the lower end of each requirement."""

import importlib.util
import pathlib
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
_spec = importlib.util.spec_from_file_location("oldest", ROOT / "scripts" / "oldest.py")
script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)


def test_everything_has_a_lowest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = script.oldest(project)
    names = {line.partition("==")[0] for line in found}
    assert {"numpy", "jax", "keras", "scipy", "protobuf", "ml_dtypes", "pillow"} <= names
    assert {line for line in found if "==" not in line} == script.TOOLS & names


def test_lower_ends():
    project = {
        "dependencies": ["a>=1.2", "b_c>=3"],
        "optional-dependencies": {"keras": ["k>=3.1"], "dev": ["k>=3.1", "pytest>=8"], "unused": ["x"]},
    }
    assert script.oldest(project) == ["a==1.2", "b_c==3", "k==3.1", "pytest"]


@pytest.mark.parametrize("requirements", [["a"], ["a>1"], ["a>=1,<2"], ["a>=1", "a>=2"]])
def test_what_says_no_lowest_version_is_refused(requirements):
    with pytest.raises(ValueError, match="pyproject"):
        script.oldest({"dependencies": requirements})
