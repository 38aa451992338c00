"""The text that `tf.autograph.to_code` gives can be run, and means what the function means."""

import types

import pytest

import headrace as tf
from headrace._src.autograph.conversion import OPERATORS
from headrace._src.autograph.printed_code import operators_of_text

total = 0


def branch(x):
    """A variable that only the branches define."""
    if x > 0:
        y = x * x
    else:
        y = 0
    return y


def early_return(x):
    if x > 2:
        return x
    x = x + 1
    return -x


def loops(x):
    steps = 0
    while x < 10:
        x = x * 2
        steps += 1
        if x > 6:
            w = x
            if w > 7:
                w = 7
            steps += w
    for i in tf.range(5):
        if i == 3:
            break
        for j in tf.range(i):
            if j == 1:
                continue
            x += j + i
    return x + steps


def attribute(x):
    holder = types.SimpleNamespace(value=x)
    while holder.value < 10:
        holder.value = holder.value + 3
    return holder.value


def shared(x):
    global total
    total = x
    if x > 1:
        total = x + 1
    return total * 1


def expressions(x):
    return (x if 0 < x < 3 else -x) + tf.cast(x > 0 and not x > 2, tf.int32)


@pytest.mark.parametrize("function", [branch, early_return, loops, attribute, shared, expressions])
@pytest.mark.parametrize("value", [1, 2, 3])
def test_the_text_runs(function, value):
    text = tf.autograph.to_code(function)
    names = {**globals(), "ag__": operators_of_text(OPERATORS.cell_contents)}
    exec(text, names)  # our own functions
    printed = names[f"tf__{function.__name__}"]
    expected = tf.function(function)(tf.constant(value)).numpy()
    assert tf.function(printed, autograph=False)(tf.constant(value)).numpy() == expected
    assert printed(value) == function(value) == expected


def test_state_functions_are_shown():
    text = tf.autograph.to_code(branch)
    for line in (
        "    y = ag__.Undefined('y')",
        "    def get_state():",
        "        return (y,)",
        "    def set_state(vars_):",
        "        nonlocal y",
        "        y, = vars_",
        "    ag__.if_stmt(x > 0, if_body, else_body, get_state, set_state, ('y',))",
    ):
        assert line in text.splitlines()
