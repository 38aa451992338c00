"""Random programs give the same as plain Python, converted and as graphs."""

import contextlib
import linecache

import pytest
from random_programs import Program

import headrace as tf
from headrace._src.autograph.calls import convert


def made(seed, python=False):
    source, name = Program(seed, python).source, f"<program {seed} {python}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"tf": tf, "contextlib": contextlib, "__name__": "programs"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def check(seed):
    f = made(seed)
    converted, traced = convert(f, strict=True), tf.function(f)
    for x in (0, 3, 7):
        expected = [int(v) for v in f(x)]
        assert [int(v) for v in converted(x)] == expected, Program(seed).source
        assert [int(v) for v in traced(tf.constant(x))] == expected, Program(seed).source


def outcome(function, *arguments):
    try:
        return [int(v) for v in function(*arguments)]
    except NameError:
        return NameError  # also UnboundLocalError: which one depends on the frame
    except KeyError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(30))
def test_python_programs(seed):
    f = made(seed, python=True)
    converted = convert(f, strict=True)
    for x in range(5):
        assert outcome(converted, x) == outcome(f, x), Program(seed, True).source


@pytest.mark.parametrize("seed", range(12))
def test_a_few(seed):
    check(seed)


@pytest.mark.slow
def test_many():
    for seed in range(100, 200):
        check(seed)
