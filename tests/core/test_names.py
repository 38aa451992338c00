"""Name scopes and unique names, against what TensorFlow 2.21 answers."""

import threading

import pytest

from headrace._src.core.context import context
from headrace._src.core.names import (
    NameTable,
    check_scope_name,
    current_name_scope,
    fresh_scope,
    is_valid_name,
    name_scope,
    scoped_name,
)


class Graph:
    """As much of a graph as name scopes need."""

    def __init__(self):
        self.names = NameTable()


@pytest.fixture
def graph():
    with context.changed(graph=Graph()), fresh_scope():
        yield context.graph


def enter(*names):
    """What entering the scopes gives, and the innermost open scope."""
    if not names:
        return [], current_name_scope()
    with name_scope(names[0]) as scope:
        scopes, innermost = enter(*names[1:])
    return [scope, *scopes], innermost


@pytest.mark.parametrize(
    ("names", "scopes", "innermost"),
    [
        (("a",), ["a/"], "a"),
        (("a/",), ["a/"], "a"),
        (("a/b",), ["a/b/"], "a/b"),
        (("a b",), ["a b/"], "a b"),
        (("",), [""], ""),
        (("_a",), ["_a/"], "_a"),
        (("a:0",), ["a:0/"], "a:0"),
        (("/a",), ["/a/"], "/a"),
        (("a//",), ["a//"], "a"),
        (("a", "b"), ["a/", "a/b/"], "a/b"),
        (("a", "b/"), ["a/", "b/"], "b"),
        (("a", ""), ["a/", ""], ""),
        (("a", "a"), ["a/", "a/a/"], "a/a"),
        (("a", "/b"), ["a/", "a//b/"], "a//b"),
    ],
)
def test_eager_scopes(names, scopes, innermost):
    assert enter(*names) == (scopes, innermost)
    assert current_name_scope() == ""


@pytest.mark.parametrize("name", [None, 3, b"a"])
def test_a_name_is_a_string(name):
    with pytest.raises(ValueError, match="name for name_scope must be a string"):
        name_scope(name)


def test_a_scope_can_be_entered_again():
    scope = name_scope("x")
    assert scope.name == "x"
    with scope as first:
        with scope as second:
            assert (first, second, current_name_scope()) == ("x/", "x/x/", "x/x")
        assert current_name_scope() == "x"
    with scope as again:
        assert again == "x/"


def test_an_exception_closes_the_scope():
    with pytest.raises(KeyError), name_scope("a"):
        raise KeyError
    assert current_name_scope() == ""


def test_scoped_name():
    assert scoped_name("v") == "v"
    with name_scope("a"), name_scope("b"):
        assert scoped_name("v") == "a/b/v"


def test_threads_have_their_own_scopes():
    scope = name_scope("a")
    entered, leave = threading.Event(), threading.Event()
    seen = []

    def work():
        with scope:
            entered.set()
            leave.wait()
            seen.append(current_name_scope())
        seen.append(current_name_scope())

    with name_scope("outer"):
        thread = threading.Thread(target=work)
        thread.start()
        entered.wait()
        with scope:
            assert current_name_scope() == "outer/a"
        leave.set()
        thread.join()
        assert current_name_scope() == "outer"
    assert seen == ["a", ""]


def test_unique_names():
    table = NameTable()
    wished = ["q", "q", "Q", "q_1", "q"]
    assert [table.unique_name(name) for name in wished] == ["q", "q_1", "Q_2", "q_1_1", "q_3"]
    assert table.unique_name("z", mark_as_used=False) == "z"
    assert [table.unique_name("z"), table.unique_name("z", mark_as_used=False)] == ["z", "z_1"]
    with name_scope("s"):
        assert [table.unique_name("z"), table.unique_name("z")] == ["s/z", "s/z_1"]


def test_scopes_of_a_graph_are_unique(graph):
    assert enter("a") == (["a/"], "a")
    assert enter("a") == (["a_1/"], "a_1")
    assert enter("a/") == (["a/"], "a")
    with name_scope("a/"):
        assert graph.names.unique_name("c") == "a/c"
        assert graph.names.unique_name("c") == "a/c_1"


def test_a_graph_begins_its_own_scopes():
    with name_scope("outer"):
        with fresh_scope():
            assert enter("a") == (["a/"], "a")
        assert current_name_scope() == "outer"


# name, whether it may be a root scope, whether it may be an inner scope
SCOPE_NAMES = [
    ("a", True, True),
    ("9", True, True),
    (".x", True, True),
    ("a>b", True, True),
    ("a\\b", True, True),
    ("a/b", True, True),
    ("_a", False, True),
    ("-a", False, True),
    ("/a", False, True),
    ("a b", False, False),
    ("a:0", False, False),
    ("é", False, False),
]


@pytest.mark.parametrize(("name", "as_root", "inside"), SCOPE_NAMES)
def test_names_that_a_graph_accepts(graph, name, as_root, inside):
    for outer, valid in (((), as_root), (("out",), inside)):
        if valid:
            enter(*outer, name)
        else:
            with pytest.raises(ValueError, match="is not a valid (root )?scope name"):
                enter(*outer, name)
    assert is_valid_name(name) is as_root
    check_scope_name("", is_root=False)
