"""The table of names that are replaced in Keras: it fits the installed Keras, and all of it is carried out."""

import importlib
import inspect
import pathlib
import re

import pytest

import headrace as tf
from headrace._src.compat.keras import replacements as table

tf.install_as_tensorflow()
pytest.importorskip("keras")
PROJECT = pathlib.Path(__file__).resolve().parents[3] / "pyproject.toml"


def target(row):
    value = importlib.import_module(row.module)
    for part in row.name.split("."):
        value = inspect.getattr_static(value, part)
    return value


def test_the_installed_keras_has_all_that_the_table_names():
    tf.keras
    missing = table.missing_targets()
    assert not missing, (
        "This release of Keras does not have what headrace/_src/compat/keras/replacements.py names. Mend these rows, "
        "or give them an `until`:\n" + "\n".join(missing)
    )


def test_a_name_that_is_gone_is_reported(monkeypatch):
    rows = [
        table.Replacement("keras.src.no_such_module", "f", table.WRAPPED, None, "a test"),
        table.Replacement("keras.src.layers.layer", "Layer.no_such_method", table.WRAPPED, None, "a test"),
        table.Replacement("keras.src.layers.layer", "NoSuchClass.new", table.ADDED, None, "a test"),
        table.Replacement("keras.src.layers.layer", "Layer.new", table.ADDED, None, "a test"),
        table.Replacement("keras.src.layers.layer", "NoSuchClass.new", table.ADDED, None, "a test", until=(3, 14)),
    ]
    monkeypatch.setattr(table, "REPLACEMENTS", rows)
    monkeypatch.setattr(table, "_release", lambda: (3, 14))
    assert table.missing_targets() == [
        "keras.src.no_such_module: no such module; wanted because: a test",
        "keras.src.layers.layer: no Layer.no_such_method; wanted because: a test",
        "keras.src.layers.layer: no NoSuchClass.new; wanted because: a test",
    ]


@pytest.mark.parametrize(
    "row",
    [row for row in table.REPLACEMENTS if row.how != table.CALLED and row.is_for(table._release())],
    ids=lambda row: f"{row.module}:{row.name}"
)
def test_rows_are_carried_out(row):
    value = target(row)
    if row.how == table.ADDED:
        assert value is row.by
    elif row.how == table.WRAPPED:
        assert inspect.unwrap(value) is not value
    else:
        assert hasattr(value, "__wrapped__") or isinstance(value, row.by)


def test_rows_are_for_some_releases():
    row = table.Replacement("m", "f", table.ADDED, None, "a test", since=(3, 11), until=(3, 13))
    releases = [(3, 10), (3, 11), (3, 12), (3, 13), (4, 0)]
    assert [row.is_for(release) for release in releases] == [False, True, True, False, False]


def test_the_oldest_release_is_the_one_that_the_project_asks_for():
    (oldest,) = set(re.findall(r'"keras>=(\d+)\.(\d+)"', PROJECT.read_text(encoding="utf-8")))
    assert min(row.since for row in table.REPLACEMENTS) == tuple(map(int, oldest))


def test_every_replacement_is_in_the_table():
    used = {id(row.by) for row in table.REPLACEMENTS}
    for module in (table.additions, table.former, table.functional, table.speed):
        for name, value in vars(module).items():
            is_own = inspect.isfunction(value) and value.__module__ == module.__name__
            if is_own and not name.startswith("_"):
                assert id(value) in used, f"{module.__name__}.{name} is in no row"
