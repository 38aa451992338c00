"""The lower ends of what headrace depends on, as exact requirements: what `scripts/test --oldest` installs.

    python scripts/oldest.py        prints one requirement on each line

Every `name>=version` of `dependencies` and of the extras becomes `name==version`. Tools that only check or run the
tests keep their newest version: they are no part of what users install.
"""

import pathlib
import re
import tomllib

TOOLS = {"pytest", "pytest-xdist", "ruff", "mypy", "import-linter"}
EXTRAS = ("remote", "dev")  # the others bring programs and codecs of which tests need nothing
_LOWEST = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def oldest(project: dict) -> list[str]:
    """The requirements of a `[project]` table with the lowest versions that it allows.

    Raises:
        ValueError: a requirement says no lowest version, or says it in another way.
    """
    found: dict[str, str] = {}
    extras = project.get("optional-dependencies", {})
    for requirement in [*project["dependencies"], *(line for name in EXTRAS for line in extras.get(name, ()))]:
        match = _LOWEST.fullmatch(requirement)
        if match is None:
            raise ValueError(f"pyproject.toml: {requirement!r} does not say the lowest version as name>=version.")
        name, version = match.groups()
        if found.setdefault(name, version) != version:
            raise ValueError(f"pyproject.toml: {name} has two lowest versions, {found[name]} and {version}.")
    return [name if name in TOOLS else f"{name}=={version}" for name, version in found.items()]


if __name__ == "__main__":
    root = pathlib.Path(__file__).resolve().parent.parent
    print("\n".join(oldest(tomllib.loads((root / "pyproject.toml").read_text())["project"])))
