"""`convert` itself: signatures, closures, sources, caching, and which functions it leaves alone."""

import asyncio
import contextlib
import functools
import gc
import importlib.util
import inspect
import linecache
import sys
import textwrap
import threading
import types
import warnings
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.autograph import conversion, status
from headrace._src.autograph.calls import convert, converted_call, tf_convert
from headrace._src.autograph.conversion import ConversionError, is_converted
from headrace._src.autograph.loop_steps import Steps, register_loop


def define(source, name="f", filename=None, **names):
    """A function of some source text, registered as notebooks and doctests do it."""
    source = textwrap.dedent(source)
    if filename is not None:
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"tf": tf, "__name__": "defined", **names}
    exec(compile(source, filename or "<string>", "exec"), namespace)
    return namespace[name]


def sign(x, /, y=2, *rest, key=3, **more):
    """Docstring."""
    if x > 0:
        return x, y, rest, key, more
    return -x


# What the converted function has of the original.


def test_signature_and_attributes():
    sign.mark = "own"
    found = convert(sign)
    assert is_converted(found)
    assert inspect.signature(found) == inspect.signature(sign)
    assert found.__defaults__ is sign.__defaults__
    assert found.__kwdefaults__ == sign.__kwdefaults__
    assert found.__name__ == "sign"
    assert found.__qualname__ == sign.__qualname__
    assert found.__module__ == __name__
    assert found.__doc__ == "Docstring."
    assert found.mark == "own"
    assert found.__globals__ is globals()
    assert inspect.getsource(found) == inspect.getsource(sign)
    assert found(1, 5, 6, key=7, z=8) == (1, 5, (6,), 7, {"z": 8})


def test_changed_defaults_are_seen():
    def f(x, y=1):
        return abs(x) + y

    g = define("def g(x, y=1):\n    return abs(x) + y\n", "g", "<defaults>")
    for function in (f, g):
        assert convert(function)(1) == 2
        function.__defaults__ = (5,)
        assert convert(function)(1) == 6


def test_closure_cells_are_shared():
    total = 0

    def add(v):
        nonlocal total
        if v > 0:
            total += v
        return total

    found = convert(add)
    assert found(3) == 3
    assert total == 3
    total = 10
    assert found(1) == 11
    assert add(1) == 12


def test_globals_are_the_very_dictionary():
    source = "def f(x):\n    global count\n    if x:\n        count = x\n    return count\n"
    f = define(source, filename="<globals>", count=0)
    assert convert(f)(0) == 0
    assert convert(f)(4) == 4
    assert f.__globals__["count"] == 4


def test_closures_of_one_code_convert_once():
    seen = []
    conversion.conversion_listeners.append(lambda function, result: seen.append(function.__name__))

    def make(k):
        def closure_converted_once(x):
            return x + k if x > 0 else k

        return closure_converted_once

    try:
        assert [convert(make(k))(1) for k in range(5)] == [1, 2, 3, 4, 5]
    finally:
        conversion.conversion_listeners.clear()
    assert seen == ["closure_converted_once"]


def test_functions_are_remembered_and_freed():
    f = define("def f(x):\n    return f(x - 1) if x > 0 else 0\n", filename="<freed>")
    assert convert(f) is convert(f)
    assert convert(f)(3) == 0

    def recursive(n):
        return recursive(n - 1) if n > 0 else 0  # noqa: F821  deleted below

    assert convert(recursive)(3) == 0
    watched = [weakref.ref(recursive), weakref.ref(f)]
    f.__globals__.clear()
    del recursive, f
    gc.collect()
    assert [w() for w in watched] == [None, None]


def test_no_growth():
    before = len(conversion._cache)
    for i in range(50):
        f = define(f"def f(x):\n    return x if x > {i} else 0\n", filename=f"<growth {i}>")
        convert(f)(1)
        del f
    gc.collect()
    assert len(conversion._cache) <= before + 1


# Where the source comes from.


def test_source_of_exec():
    f = define("def f(x):\n    if x > 1:\n        x = -x\n    return x\n", filename="<cell 1>")
    assert tf.function(f)(tf.constant(5)) == -5


def test_source_from_a_loader():
    lines = "def f(x):\n    return -x if x > 1 else x\n"
    module = types.ModuleType("loaded")

    class Loader:
        def get_source(self, name):
            return lines

    module.__spec__ = importlib.util.spec_from_loader("loaded", Loader())
    module.__loader__ = Loader()
    exec(compile(lines, "/nowhere/loaded.py", "exec"), module.__dict__)
    assert tf.function(module.f)(tf.constant(5)) == -5


def test_without_source():
    f = define("def f(x):\n    if x > 1:\n        x = -x\n    return x\n")
    with pytest.raises(ConversionError, match=r"cannot convert f \(<string>:1\): its source is not available"):
        tf.autograph.to_graph(f)
    with pytest.warns(UserWarning, match=r"cannot convert f .* It runs as plain Python") as caught:
        found = convert(f)
    assert (caught[0].filename, caught[0].lineno) == ("<string>", 1)
    assert found(5) == -5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        convert(f)  # it was said once
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as error:
            tf.function(f)(tf.constant(5))
    assert any("cannot convert f" in note for note in error.value.__notes__)


def test_without_source_and_nothing_to_convert():
    f = define("f = lambda x: x * 2 + x[0]\n")
    assert convert(f) is f


def test_changed_source():
    f = define("def f(x):\n    return x if x else 1\n", filename="<changed>")
    source = "# a comment\n\ndef other():\n    pass\n"
    linecache.cache["<changed>"] = (len(source), None, source.splitlines(True), "<changed>")
    with pytest.raises(ConversionError, match="no longer holds it"):
        tf.autograph.to_graph(f)


@pytest.mark.parametrize(
    "now",
    [
        "def f(x):\n    return x\n",  # a variable and lines are gone
        "def f(x):\n    z = x\n    return z if z else 1\n",  # a variable has another name
        "def f(y):\n    z = y\n    return z if z else 1\n",  # a parameter
        "def g(x):\n    y = x\n    return y if y else 1\n",  # the function
    ],
)
def test_edited_source(now):
    f = define("def f(x):\n    y = x\n    return y if y else 1\n", filename="<edited>")
    linecache.cache["<edited>"] = (len(now), None, now.splitlines(True), "<edited>")
    with pytest.raises(ConversionError, match="no longer holds it"):
        tf.autograph.to_graph(f)


def test_unusual_layout():
    f = define(
        '''
        if True:
            def f(
                x,
            ):
                text = """
        not indented
        """
                if x > (
            1
                ):
                    return text, \\
        x
                # a comment

                return None
        ''',
        filename="<layout>",
    )
    assert convert(f, strict=True)(5) == f(5)
    assert "not indented" in f(5)[0]


def test_one_line_functions():
    f = define("def f(x): return x * 2 if x > 0 else x\n", filename="<one line>")
    assert convert(f, strict=True)(3) == 6
    g = define("if True: f = lambda x: x * 2 if x > 0 else x\n", filename="<one line 2>")
    assert convert(g, strict=True)(3) == 6


def test_lambdas_on_a_line():
    a, b, c = (lambda x: x + 1 if x else 0), (lambda x: x + 2 if x else 0), (lambda y: y if y else 9)
    assert [convert(f, strict=True)(5) for f in (a, b, c)] == [6, 7, 5]
    inner = (lambda x: (lambda x: x - 1 if x else 0))(0)
    assert convert(inner, strict=True)(5) == 4


def test_lambda_over_lines():
    f = functools.partial(
        lambda x, k: (
            x + k
            if x > 0
            else x
        ),
        k=3,
    )  # fmt: skip
    assert convert(f)(1) == 4
    assert tf.function(f)(tf.constant(1)) == 4


def test_lines_and_code_of_generated_blocks():
    def f(x):
        if x > 0:
            x = 1
        return x

    code = convert(f).__code__
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    assert {c.co_name for c in inner} == {"f"}
    assert {c.co_filename for c in inner} == {__file__}
    nested = [line for c in inner for *_, line in c.co_lines() if line]
    assert set(nested) <= set(range(f.__code__.co_firstlineno, f.__code__.co_firstlineno + 4))


def test_private_names():
    class Counter:
        def __init__(self):
            self.__n = 0

        def add(self, x, __k=2):
            if x > 0:
                self.__n = self.__n + x * __k
            return self.__n

    c = Counter()
    assert convert(c.add, strict=True)(3) == 6
    assert tf.function(c.add)(tf.constant(1)) == 8


def test_future_annotations():
    f = define(
        """
        from __future__ import annotations

        def f(x: Unknown) -> AlsoUnknown:
            def g(y: Missing):
                return y if y else 0
            z: Nothing = g(x)
            return z
        """,
        filename="<annotations>",
    )
    assert convert(f, strict=True)(3) == 3


# What is converted, and what is not.


def test_methods():
    class C:
        def plain(self, x):
            return x if x > 0 else self

        @classmethod
        def of_class(cls, x):
            return x if x > 0 else cls

        @staticmethod
        def static(x):
            return x if x > 0 else "static"

        def __call__(self, x):
            return x if x > 0 else "called"

    c = C()
    assert convert(c.plain)(-1) is c
    assert convert(C.of_class)(-1) is C
    assert convert(C.static)(-1) == "static"
    assert convert(c)(-1) == "called"
    assert convert(C.__dict__["static"]).__func__(-1) == "static"
    assert convert(C.__dict__["of_class"]).__func__(C, -1) is C


def test_partial():
    def f(a, b, *, c):
        return a + b if c > 0 else b

    found = convert(functools.partial(f, 1, c=2))
    assert isinstance(found, functools.partial)
    assert found(3) == 4


def test_left_alone():
    def generator(x):
        if x:
            yield x

    async def coroutine(x):
        return x if x else 0

    class C:
        def __init__(self, x):
            self.x = x if x else 0

    for thing in (generator, coroutine, C, len, np.sum, np.mean, [].append, tf.add, inspect.signature):
        assert convert(thing) is thing
    assert list(generator(1)) == [1]
    assert asyncio.run(coroutine(1)) == 1


def test_nothing_to_convert():
    def f(x):
        return x + 1

    assert convert(f) is f


def test_library_functions_are_called_as_they_are():
    def f(x):
        return np.array([x]).sum() + functools.reduce(lambda a, b: a + b, [1, 2]) + int("5")

    assert convert(f)(1) == 9
    assert converted_call(np.sum) is np.sum
    assert converted_call(tf.add) is tf.add
    assert converted_call(textwrap.dedent) is textwrap.dedent


def test_third_party_functions_are_converted():
    f = define("def f(x):\n    return -x if x > 0 else x\n", filename="/x/site-packages/lib/a.py", __name__="lib.a")
    assert is_converted(converted_call(f))
    g = define("def f(x):\n    return -x if x > 0 else x\n", filename="/x/site-packages/jax/a.py", __name__="jax.a")
    assert converted_call(g) is g


def double_if_large(x):
    if x > 1:
        return x * 2
    return x


def add_if_large(a, x):
    if x > 1:
        return a + x
    return a


def always_seven():
    if tf.constant(3) > 1:
        return 7
    return 8


HIGHER_ORDER = {
    "map_fn": (lambda x: tf.map_fn(double_if_large, tf.range(x)), [0, 1, 4, 6]),
    "scan": (lambda x: tf.scan(add_if_large, tf.range(x)), [0, 0, 2, 5]),
    "foldl": (lambda x: tf.foldl(add_if_large, tf.range(x)), 5),
    "foldr": (lambda x: tf.foldr(add_if_large, tf.range(x)), 5),
    "cond": (lambda x: tf.cond(x > 1, always_seven, lambda: 1), 7),
    "switch_case": (lambda x: tf.switch_case(x - 4, [always_seven, always_seven]), 7),
    "case": (lambda x: tf.case([(x > 1, always_seven)], default=always_seven), 7),
    "while_loop": (lambda x: tf.while_loop(lambda i: i < 50, double_if_large, [x])[0], 64),
    "map_structure": (lambda x: tf.nest.map_structure(double_if_large, [x, -x]), [8, -4]),
}


@pytest.mark.parametrize("name", HIGHER_ORDER)
def test_functions_given_to_functions(name):
    function, expected = HIGHER_ORDER[name]
    found = tf.function(function)(tf.constant(4))
    assert np.array(found).tolist() == expected


def test_custom_gradient():
    @tf.custom_gradient
    def f(x):
        if x > 1.0:
            y = x * 2.0
        else:
            y = x
        return y, lambda dy: dy * 100.0

    @tf.function
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    assert [t.numpy() for t in g(tf.constant(3.0))] == [6.0, 100.0]


def test_wrappers_of_libraries_are_seen_through():
    class Manager(contextlib.ContextDecorator):
        entered = 0

        def __enter__(self):
            Manager.entered += 1

        def __exit__(self, *error):
            pass

    @Manager()
    def f(x):
        if x > 0:
            return x * 2
        return x

    def g(x):
        return f(x)

    assert tf.function(g)(tf.constant(3)) == 6
    assert Manager.entered == 1


def test_call_methods_of_layers():
    base = define(
        """
        class Layer:
            def __call__(self, x):
                return self.call(x) + 1
        """,
        "Layer",
        filename="<keras>",
        __name__="keras.layers",
    )

    class Mine(base):
        def call(self, x):
            if x > 0:
                return x * 2
            return x

    class Outer(base):
        def __init__(self):
            self.inner = Mine()

        def call(self, x):
            return self.inner(x)

    layer = Outer()
    assert tf.function(lambda x: layer(x))(tf.constant(3)) == 8
    assert list(vars(layer)) == ["inner"]
    assert converted_call(base()).__class__ is base


def test_decorators_of_the_user_are_converted():
    def positive(f):
        @functools.wraps(f)
        def wrapper(x):
            if x > 0:
                return f(x)
            return x

        return wrapper

    @positive
    def f(x):
        while x < 10:
            x = x * 2
        return x

    assert tf.function(f)(tf.constant(3)) == 12
    assert tf.function(f)(tf.constant(-3)) == -3


def test_cached_functions():
    @functools.lru_cache
    def f(x):
        return x * 2 if x > 0 else 0

    def g(x):
        return f(3) + x

    assert convert(g)(1) == 7
    assert f.cache_info().currsize == 1


def test_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def f(x):
        states.append(status.control_status_ctx().status)
        return x + 1 if isinstance(x, int) else x

    states = []
    assert convert(f) is f
    assert f(1) == 2
    assert states == [status.Status.DISABLED]
    assert f.__name__ == "f"
    assert callable(tf.autograph.experimental.do_not_convert())

    @tf.autograph.experimental.do_not_convert
    def g(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: g(x))(tf.constant(1))


def test_autograph_false():
    def f(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(f, autograph=False)(tf.constant(1))

    @tf.function
    def outer(x):
        @tf.function(autograph=False)
        def inner(y):
            return f(y)

        return inner(x)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        outer(tf.constant(1))


def test_not_recursive():
    def inner(x):
        return x if x > 0 else -x

    def f(x):
        return inner(x) + len([x]) if x is not None else 0

    assert tf.autograph.to_graph(f, recursive=False)(3) == 4
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(convert(f, recursive=False), autograph=False)(tf.constant(1))


def test_tf_functions_call_each_other():
    @tf.function
    def inner(x):
        if x > 0:
            return x * 2
        return x

    @tf.function
    def outer(x):
        for _ in tf.range(2):
            x = inner(x)
        return x

    assert outer(tf.constant(3)) == 12


def test_control_status():
    assert status.control_status_ctx().status is status.Status.UNSPECIFIED
    seen = []

    def f(x):
        seen.append(status.control_status_ctx().status)
        return -x if x > 0 else x

    tf.function(f)(tf.constant(1))
    assert seen == [status.Status.ENABLED]
    assert tf_convert(f, status.ENABLED)(1) == -1
    assert tf_convert(f, status.DISABLED)(1) == -1
    assert tf_convert(f, status.UNSPECIFIED, convert_by_default=False)(1) == -1
    assert seen[1:] == [status.Status.ENABLED, status.Status.DISABLED, status.Status.UNSPECIFIED]
    assert status.control_status_ctx().status is status.Status.UNSPECIFIED


def test_status_is_of_the_thread():
    seen = []
    with status.ENABLED:
        thread = threading.Thread(target=lambda: seen.append(status.control_status_ctx().status))
        thread.start()
        thread.join()
    assert seen == [status.Status.UNSPECIFIED]


def test_converting_twice_changes_nothing():
    found = convert(sign)
    assert convert(found) is found
    assert tf_convert(tf_convert(sign, status.ENABLED), status.ENABLED)(1) == sign(1)


# What cannot be converted.


def test_return_in_finally():
    f = define(
        """
        def f(x):
            for i in range(3):
                try:
                    x += 1
                finally:
                    continue
            return x
        """,
        filename="<finally>",
    )
    with pytest.raises(ConversionError, match="line 7: return, break or continue inside finally|line 4"):
        tf.autograph.to_graph(f)


def test_misplaced_directive():
    def f(x):
        while x > 0:
            x -= 1
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
        return x

    with pytest.raises(ConversionError, match="set_loop_options must be the first statement of a loop"):
        tf.autograph.to_graph(f)


def test_what_is_no_function():
    for thing in (len, 3, int):
        with pytest.raises(ValueError, match="no function with Python code"):
            tf.autograph.to_graph(thing)
    with pytest.raises(ValueError, match="python_function"):
        tf.autograph.to_code(tf.function(sign))


# The public functions.


def test_to_code():
    def f(x):
        for i in tf.range(x):
            if i > 2:
                x = x + 1
        return x

    text = tf.autograph.to_code(f)
    parts = (
        "def tf__f(x):", "ag__.for_stmt(", "ag__.if_stmt(i > 2, if_body, None, get_state, set_state, ('x',))",
        "ag__.converted_call(tf.range)(x)", "def get_state():", "def set_state(vars_):",
    )
    for part in parts:
        assert part in text
    compile(text, "", "exec")
    assert tf.autograph.to_code(tf.function(f).python_function) == text
    assert tf.autograph.to_code(lambda x: 1 if x else 2).startswith("tf__lam = lambda x: ag__.if_exp(x")


def test_to_graph():
    g = tf.autograph.to_graph(sign)
    assert g(1) == sign(1)
    assert inspect.signature(g) == inspect.signature(sign)
    assert tf.autograph.to_graph(sign, experimental_optional_features=tf.autograph.experimental.Feature.ALL)(1)
    with pytest.raises(TypeError, match="Feature"):
        tf.autograph.to_graph(sign, experimental_optional_features="ALL")


def test_features():
    assert "LISTS" in tf.autograph.experimental.Feature.__members__
    assert tf.autograph.experimental.Feature.LISTS not in tf.autograph.experimental.Feature.all_but(
        tf.autograph.experimental.Feature.LISTS
    )


def test_features_that_do_not_exist():
    with pytest.warns(UserWarning, match="LISTS changes nothing"):
        tf.autograph.to_code(sign, experimental_optional_features=[tf.autograph.experimental.Feature.LISTS])


def test_module_methods():
    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="model")
            self.w = tf.Variable(2)

        @tf.Module.with_name_scope
        def scaled(self, x):
            if x > 0:
                return x * self.w
            return x

        @tf.function
        def __call__(self, x):
            return self.scaled(x) + self.twice(-x)

        @tf.function
        def twice(self, x):
            if x > 0:
                return x * 2
            return x

    assert Model()(tf.constant(3)) == 3
    assert Model()(tf.constant(-3)) == 3


def test_trace_and_verbosity(capsys):
    tf.autograph.trace("seen", 1)
    assert capsys.readouterr().out == "seen 1\n"
    tf.autograph.set_verbosity(3, alsologtostdout=True)
    try:
        convert(define("def loud(x):\n    return x if x else 1\n", "loud", "<loud>"))
    finally:
        tf.autograph.set_verbosity(0)
    captured = capsys.readouterr()
    assert "loud (<loud>:1) is converted" in captured.err
    assert "ag__.if_exp" in captured.out


def test_print_stays_pythons(capsys):
    @tf.function
    def f(x):
        print("tracing", x)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == 'tracing Tensor("x:0", shape=(), dtype=int32)\n'


# Loops over types of one's own.


def test_registered_loop():
    class Countdown:
        def __init__(self, start):
            self.start = start

    register_loop(
        Countdown,
        lambda c: Steps((c.start,), lambda i: i > 0, lambda i: i * 10, lambda i: (i - 1,)),
    )

    @tf.function
    def f(x):
        s = 0
        for v in Countdown(x):
            if v == 10:
                break
            s += v
        return s

    assert f(tf.constant(4)) == 90


def test_maximum_iterations():
    @tf.function
    def f(x):
        while x > 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            x -= 1
        return x

    assert f(tf.constant(10)) == 8


def test_condition_with_effects_runs_as_often_as_in_python():
    v = tf.Variable(0)

    @tf.function
    def f(n):
        while v.assign_add(1) < n:
            pass
        return v.read_value()

    assert f(tf.constant(5)) == 5
    assert v.numpy() == 5


def test_loop_without_variables():
    v = tf.Variable(0)

    @tf.function
    def f(n):
        while tf.constant(True):
            if v.assign_add(1) >= n:
                break

    f(tf.constant(4))
    assert v.numpy() == 4

    @tf.function
    def g(n):
        for _ in tf.range(n):
            v.assign_add(10)

    g(tf.constant(3))
    assert v.numpy() == 34


def test_variables_as_conditions():
    flag, n = tf.Variable(True), tf.Variable(3)

    @tf.function
    def f():
        s = 0
        if flag:
            s = 1
        while n > 0:
            n.assign_sub(1)
            s += 10
        return s

    assert f() == 31
    flag.assign(False)
    n.assign(1)
    assert f() == 10


def test_big_loops_are_not_unrolled():
    data = tf.range(1000)

    @tf.function
    def f():
        s = 0
        for v in data:
            s += v
        return s

    assert f() == 499500
    assert len(f.get_concrete_function().graph.nodes) < 30


def test_graphs_are_freed_without_the_cycle_collector():
    def make(k):
        @tf.function
        def f(x):
            s = 0
            for i in tf.range(x):
                if i > 2 and x > 1:
                    continue
                s += i * k
            while s > 10:
                s -= 5
                if s == 11:
                    return s
            return s if s > 2 else -s

        return f

    f = make(3)
    assert f(tf.constant(6)) == 9
    watched = weakref.ref(f.get_concrete_function(tf.constant(6)).graph)
    gc.collect()
    gc.disable()
    try:
        del f
        assert watched() is None
    finally:
        gc.enable()


def test_python_of_this_version():
    assert sys.version_info >= (3, 11)
    if sys.version_info >= (3, 12):
        f = define("def f[T](x: T) -> T:\n    type A = int\n    return x if x else 1\n", filename="<generics>")
        assert convert(f, strict=True)(3) == 3


ONE_ELEMENT = [((1,), [True]), ((1, 1), [[True]]), ((None,), [True]), ((1, None), [[True]]), (None, [[True]])]


@pytest.mark.parametrize(("shape", "value"), ONE_ELEMENT)
def test_a_condition_may_have_any_shape_with_one_element(shape, value):
    @tf.function(input_signature=[tf.TensorSpec(shape, tf.bool)])
    def conditions(x):
        if not x:
            first = 1
        else:
            first = 2
        count = 0
        while x:
            x = tf.logical_not(x)
            count += 1
        for i in tf.range(3):
            if not x:
                break
            first = i
        return first, count, 1 if x else 2, x or tf.constant(True)

    assert [int(found) for found in conditions(tf.constant(value))] == [2, 1, 2, 1]


@pytest.mark.parametrize("shape", [None, (None,)])
def test_a_condition_with_several_elements_is_refused_when_it_runs(shape):
    @tf.function(input_signature=[tf.TensorSpec(shape, tf.bool)])
    def chosen(x):
        return 1 if x else 2

    assert int(chosen(tf.constant([False]))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        chosen(tf.constant([True, False]))
