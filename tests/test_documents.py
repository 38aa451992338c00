"""The documents: the tour runs, decision pages have one form, and links and names of files lead somewhere."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = ROOT / "headrace" / "_src"
DECISIONS = ROOT / "docs" / "decisions"
PAGES = sorted(DECISIONS.glob("[0-9]*.md"))
INDEX = (DECISIONS / "README.md").read_text(encoding="utf-8")
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.slow
def test_tour_runs():
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "docs/tour.py"], cwd=ROOT, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_decision_is_in_the_index_under_its_title():
    rows = re.findall(r"^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \|$", INDEX, re.M)
    assert [name for _, name, _ in rows] == [path.name for path in PAGES]
    for (number, name, title), page in zip(rows, PAGES):
        assert name.startswith(f"{number}-")
        assert page.read_text(encoding="utf-8").startswith(f"# {number}: {title}\n"), name


@pytest.mark.parametrize("page", PAGES, ids=[path.name[:4] for path in PAGES])
def test_decisions_have_one_form(page):
    paragraphs = page.read_text(encoding="utf-8").split("\n\n")
    parts = [part for text in paragraphs for part in re.findall(r"\A\*\*(Decided|Why|Cost)\.\*\*", text)]
    assert parts == ["Decided", "Why", "Cost"], "see the form at the top of docs/decisions/README.md"
    assert paragraphs[1].startswith("**Decided.**")
    headings = [text.split("**")[1].rstrip(".:") for text in paragraphs if text.startswith("**")]
    assert headings[:3] == ["Decided", "Why", "Cost"], "other parts come after these three"


def test_decisions_that_the_code_names_exist():
    files = [ROOT / "pyproject.toml", *(path for folder in ("headrace", "tests", "scripts", "benchmarks", "docs")
                                        for path in (ROOT / folder).rglob("*.py"))]
    names = {path.name for path in PAGES}
    for path in files:
        for number, rest in re.findall(r"docs/decisions/(\d{4})(-[\w-]+\.md)?", path.read_text(encoding="utf-8")):
            wanted = number + rest
            assert any(name.startswith(wanted) for name in names), f"{name_of(path)} names docs/decisions/{wanted}"


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_links_resolve(path):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert broken == []


# Not the changelog: it speaks of what was.
@pytest.mark.parametrize("path", [ROOT / "docs" / "tour.py", *(p for p in TEXTS if p.stem != "CHANGELOG")], ids=name_of)
def test_files_that_documents_name_exist(path):
    names = re.findall(r"(?<![\w/*.<>-])[a-z_]\w*(?:/\w+)+\.(?:py|md|tsv)\b", path.read_text(encoding="utf-8"))
    missing = [name for name in names if not any((folder / name).is_file() for folder in (ROOT, SOURCE, path.parent))]
    assert missing == []


def test_the_page_about_the_architecture_names_every_folder_and_only_those():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*)/`", text))
    folders = {str(path.parent.relative_to(SOURCE)) for path in SOURCE.glob("*/**/__init__.py")}
    assert folders - named == set()
    assert {name for name in named if not any((folder / name).is_dir() for folder in (ROOT, SOURCE))} == set()
