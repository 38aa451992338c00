"""Random programs give the same as plain Python, converted and as graphs."""

import linecache

import pytest
from random_programs import Program

import headrace as tf
from headrace._src.autograph.calls import convert


def made(seed):
    source, name = Program(seed).source, f"<program {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"tf": tf, "__name__": "programs"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def check(seed):
    f = made(seed)
    converted, traced = convert(f, strict=True), tf.function(f)
    for x in (0, 3, 7):
        expected = [int(v) for v in f(x)]
        assert [int(v) for v in converted(x)] == expected, Program(seed).source
        assert [int(v) for v in traced(tf.constant(x))] == expected, Program(seed).source


@pytest.mark.parametrize("seed", range(12))
def test_a_few(seed):
    check(seed)


@pytest.mark.slow
def test_many():
    for seed in range(100, 200):
        check(seed)
