"""Expressions of a command line: what is evaluated, and what is refused."""

import numpy as np
import pytest

from headrace._src.cli.saved_model.expressions import NotAllowedError, value_of

ALLOWED = [
    "1", "-1.5", "'text'", "b'bytes'", "True", "None", "1+2j", "[1, [2, 3]]", "(1, 2)", "{'a': [1]}", "{1, 2}", "-(2)",
    "2 * 3 + 4 / 2 - 1", "7 // 2", "7 % 4", "2 ** 10", "[0] * 3", "'ab' * 2", "[1, 2, 3][1:]", "{'a': 5}['a']",
    "np.ones(2)", "np.ones((2, 3), dtype=np.float32)", "numpy.zeros([2])", "np.full((2,), 7)", "np.arange(6)",
    "np.arange(6).reshape(2, 3).astype(np.float32)", "np.linspace(0, 1, 5)", "np.eye(2).T", "np.array([[1, 2]]) * 2",
    "np.array(['a', 'b'])", "np.float32(1.5)", "np.pi", "np.array([1, 2]) @ np.array([3, 4])", "np.ones(4)[:2]",
    "np.expand_dims(np.ones(3), 0)", "np.concatenate([np.ones(1), np.zeros(1)])", "np.ones((2, 3)).shape",
]  # fmt: skip


@pytest.mark.parametrize("text", ALLOWED)
def test_evaluates_as_python_does(text):
    expected, value = eval(text, {"np": np, "numpy": np}), value_of(text)
    assert type(value) is type(expected)
    np.testing.assert_equal(value, expected)


@pytest.mark.parametrize("call", ["rand(2, 3)", "randint(0, 5, (2, 3))", "normal(size=(2, 3))"])
def test_makes_random_arrays(call):
    assert value_of(f"np.random.{call}").shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("open('x')", "a call of 'open'"),
        ("__import__('os')", "a call of '__import__'"),
        ("np.load('x.npy')", "a call of 'np.load'"),
        ("np.fromfile('x')", "a call of 'np.fromfile'"),
        ("np.ones(2).tofile('x')", "tofile"),
        ("np.ones(2).__class__", "__class__"),
        ("np.__dict__", "'np.__dict__'"),
        ("np.lib.npyio", "'np.lib.npyio'"),
        ("np", "the name 'np' is not known"),
        ("x", "the name 'x' is not known"),
        ("(lambda: 1)()", "lambda"),
        ("[x for x in [1]]", "is not evaluated here"),
        ("'{}'.format(1)", "format"),
        ("f'{1}'", "is not evaluated here"),
        ("np.ones(*[2])", "* and **"),
        ("{**{}}", "**"),
        ("1 if True else 2", "is not evaluated here"),
        ("1 << 2", "the operator"),
        ("~1", "the operator"),
        ("[1, 2", "it is no Python expression"),
        ("", "it is no Python expression"),
        ("9 ** 99999", "is too large"),
        ("[0] * 9999999999", "is too large"),
        ("(" * 500 + "1" + ")" * 500, ""),
        ("[1][5]", "IndexError"),
        ("np.ones('a')", "TypeError"),
    ],
)
def test_refuses(text, reason):
    with pytest.raises(NotAllowedError) as error:
        value_of(text)
    assert reason in str(error.value)
