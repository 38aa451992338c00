"""What AutoGraph refuses: the class of the error, what it says, and the line that it points at."""

import traceback

import pytest

import headrace as tf
from headrace._src.core.tracebacks import outside_frames


def run(function, *arguments):
    return tf.function(function)(*(tf.constant(a) for a in (arguments or (3,))))


def undefined_in_else(x):
    if x > 0:
        y = 1
    return y


def undefined_in_main(x):
    if x > 0:
        pass
    else:
        y = 1
    return y


def no_return_in_else(x):
    if x > 0:
        return 1


def dtypes_differ(x):
    if x > 0:
        y = 1
    else:
        y = 2.0
    return y


def structures_differ(x):
    if x > 0:
        y = (x, x)
    else:
        y = x
    return y


def lengths_differ(x):
    if x > 0:
        y = [1, 2]
    else:
        y = [1, 2, 3]
    return y


def keys_differ(x):
    if x > 0:
        return {"a": 1}
    return {"b": 1}


def none_in_main(x):
    if x > 0:
        y = None
    else:
        y = x
    return y


def none_in_else(x):
    y = None
    if x > 0:
        y = x
    return y


def objects(x):
    if x > 0:
        y = object()
    else:
        y = object()
    return y


def expression_dtypes(x):
    return x if x > 1 else 2.0


def expression_none(x):
    return None if x > 1 else x


def loop_dtype(x):
    y = 0.0
    for i in tf.range(x):
        y = i
    return y


def loop_shape(x):
    y = tf.constant([1.0])
    for _ in tf.range(x):
        y = tf.concat([y, y], 0)
    return y


def loop_rank(x):
    y = tf.ones([2])
    for _ in tf.range(x):
        y = tf.ones([2, 2])
    return y


def loop_structure(x):
    y = [x]
    while x > 0:
        y = [*y, x]
        x -= 1
    return y


def loop_none(x):
    while x > 0:
        x = None
    return x


def loop_deletes(x):
    y = x
    while x > 0:
        x -= 1
        del y
    return y


def loop_object(x):
    y = object()
    while x > 0:
        y = object()
        x -= 1
    return y


def loop_reads_none(x):
    best = None
    for i in tf.range(x):
        if best is None:
            best = i
        else:
            best = best + i
    return best


def integer_condition(x):
    if x:
        return 1
    return 2


def vector_condition(x):
    if tf.constant([True, False]):
        return 1
    return 2


def integer_loop_condition(x):
    while x:
        x -= 1
    return x


def integer_and(x):
    return x and x


def scalar_loop(x):
    for _ in x:
        pass
    return x


def length_of_scalar(x):
    return len(x)


def python_iterator_break(x):
    s = 0
    for i in iter(range(3)):
        s += i
        if x > i:
            break
    return s


def item_undefined(x):
    d = {"a": x}
    if x > 0:
        d["b"] = x
    return d


def attribute_undefined(x):
    class Holder:
        pass

    h = Holder()
    if x > 0:
        h.value = x
    return x


def leaked_from_loop(x):
    found = []
    for i in tf.range(x):
        found.append(i)
    return tf.stack(found)


def used_as_bool(x):
    return bool(x)


def raised(x):
    if x > 0:
        raise KeyError("mine")
    return x


# Function, class of the error, part of the message, line within the function.
ERRORS = [
    (undefined_in_else, ValueError, "'y' must also be initialized in the else branch", 1),
    (undefined_in_main, ValueError, "'y' must also be initialized in the main branch", 1),
    (no_return_in_else, ValueError, "the else branch must also have a return statement", 1),
    (dtypes_differ, TypeError, "'y' has dtype int32 in the main branch, but dtype float32 in the else branch", 1),
    (structures_differ, TypeError, "'y' must have the same nested structure in the main and else branches", 1),
    (lengths_differ, TypeError, "'y' must have the same nested structure in the main and else branches", 1),
    (keys_differ, TypeError, "the return value must have the same nested structure", 1),
    (none_in_main, ValueError, "'y' is None at the end of the main branch", 1),
    (none_in_else, ValueError, "'y' is None at the end of the else branch", 2),
    (objects, TypeError, "'y' is a object", 1),
    (expression_dtypes, TypeError, "'x > 1' has dtype int32 in the main branch, but dtype float32", 1),
    (expression_none, ValueError, "'x > 1' is None at the end of the main branch", 1),
    (loop_dtype, TypeError, "'y' has dtype float32 before the loop, but dtype int32 after one iteration", 2),
    (loop_shape, ValueError, "'y' has shape (1,) before the loop, but shape (2,) after one iteration", 2),
    (loop_rank, ValueError, "'y' has shape (2,) before the loop, but shape (2, 2) after one iteration", 2),
    (loop_structure, TypeError, "'y' does not have the same nested structure after one iteration", 2),
    (loop_none, ValueError, "'x' is None at the end of the iteration", 1),
    (loop_deletes, ValueError, "'y' has no value at the end of the iteration", 2),
    (loop_object, TypeError, "'y' is a object before the loop", 2),
    (loop_reads_none, ValueError, "'best' is None before the loop, and the loop reads it", 2),
    (integer_condition, ValueError, "condition of if statement expected to be `tf.bool` scalar", 1),
    (vector_condition, ValueError, "condition of if statement expected to be `tf.bool` scalar", 1),
    (integer_loop_condition, ValueError, "condition of while loop expected to be `tf.bool` scalar", 1),
    (integer_and, ValueError, "condition of and expected to be `tf.bool` scalar", 1),
    (scalar_loop, ValueError, "len requires a non-scalar tensor", 1),
    (length_of_scalar, ValueError, "len requires a non-scalar tensor", 1),
    (python_iterator_break, NotImplementedError, "break and return statements which depend on a TF condition", 2),
    (item_undefined, ValueError, "'d['b']' must also be initialized in the else branch", 2),
    (attribute_undefined, ValueError, "'h.value' must also be initialized in the else branch", 5),
    (leaked_from_loop, TypeError, "is out of scope and cannot be used here", 4),
    (used_as_bool, tf.errors.OperatorNotAllowedInGraphError, "Using a symbolic `tf.Tensor` as a Python `bool`", 1),
    (raised, KeyError, "mine", 2),
]


@pytest.mark.parametrize(("function", "kind", "text", "line"), ERRORS, ids=lambda v: getattr(v, "__name__", None))
def test_error(function, kind, text, line):
    with pytest.raises(kind) as caught:
        run(function)
    assert text in str(caught.value)
    frames = traceback.extract_tb(outside_frames(caught.value.__traceback__))
    mine = [f for f in frames if f.name == function.__name__]
    assert [f.lineno - function.__code__.co_firstlineno for f in mine] == [line]
    assert all(f.filename == __file__ for f in frames)


def test_variables_are_as_before_after_an_error():
    class Holder:
        value = 1

    h = Holder()
    h.value = 5

    def f(x):
        while x > 0:
            h.value = h.value + x
            x = tf.cast(x, tf.float32)
        return x

    with pytest.raises(TypeError):
        run(f)
    assert h.value == 5


def test_zero_iterations_of_what_only_the_loop_defines():
    @tf.function
    def f(n):
        for i in tf.range(n):
            y = i * 2
        return y

    assert f(tf.constant(3)) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize y"):
        f(tf.constant(0))


def test_assert_in_a_graph():
    @tf.function
    def f(x):
        assert x > 0, "x must be positive"
        return x

    assert f(tf.constant(1)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be positive"):
        f(tf.constant(-1))


def test_nested_calls_show_each_function_once():
    def inner(v):
        for _ in tf.range(3):
            if v > 0:
                v = v + [1, 2, 3][5]
        return v

    def outer(x):
        while x > 0:
            x = inner(x)
        return x

    with pytest.raises(IndexError) as caught:
        run(outer)
    frames = traceback.extract_tb(outside_frames(caught.value.__traceback__))
    assert [f.name for f in frames if f.filename == __file__][-2:] == ["outer", "inner"]
    first = outer.__code__.co_firstlineno
    assert frames[-2].lineno == first + 2
    assert frames[-1].lineno == inner.__code__.co_firstlineno + 3
    assert frames[-1].line == "v = v + [1, 2, 3][5]"


def test_a_traced_function_shows_the_users_frames():
    with pytest.raises(ValueError, match="must also be initialized") as caught:
        run(undefined_in_else)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in frames if f.filename != __file__] == []
    assert frames[-1].name == "undefined_in_else"
