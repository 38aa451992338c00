"""Cases of calls, nested functions, closures, built-in functions, `try` and `with`."""

import contextlib
import functools

import headrace as tf
from autograph_cases.table import case

# ruff: noqa: B023, F841, PIE804  programs as users write them

OFFSET = 7
counter = 0


def absolute(x):
    if x < 0:
        return -x
    return x


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@case(3, -3)
def calls_function(x):
    return absolute(x) + 1


@case(3, -3)
def calls_twice(x):
    return absolute(x) + absolute(-x - 1)


@case(3, -3)
def keyword_arguments(x):
    def f(a, *, b=2, **rest):
        if a > 0:
            return a * b + rest["c"]
        return a - b

    return f(x, c=5) + f(b=3, a=x, c=1)


@case(3, -3)
def star_arguments(x):
    def f(*args, **kwargs):
        if args[0] > 0:
            return args[0] + args[1] * kwargs["k"]
        return args[1]

    args = (x, 2)
    return f(*args, **{"k": 10})


@case(3, -3)
def default_arguments(x):
    def f(a, b=x):
        if a > b:
            return a
        return b

    return f(0) + f(5)


@case(3, -3)
def nested_function(x):
    def double(v):
        if v > 0:
            return v * 2
        return v

    return double(x) + double(-x)


@case(3, -3)
def closure_reads(x):
    y = 10

    def f():
        if x > 0:
            return y
        return x

    y = 20
    return f()


@case(3, -3)
def nonlocal_write(x):
    total = 0

    def add(v):
        nonlocal total
        if v > 0:
            total += v
        else:
            total -= 1

    add(x)
    add(x - 1)
    return total


@case(3, -3)
def nonlocal_write_in_branch(x):
    total = 1

    def add(v):
        nonlocal total
        total += v

    if x > 0:
        add(x)
    else:
        add(-5)
    return total


@case(3, -3)
def global_read(x):
    if x > 0:
        return x + OFFSET
    return x


@case(3, -3)
def global_write(x):
    global counter
    counter = 0
    if x > 0:
        counter = 1
    else:
        counter = 2
    return counter


@case(3, -3)
def lambda_with_condition(x):
    f = lambda v: v * 2 if v > 0 else v * 3
    return f(x)


@case(3, -3)
def immediate_lambda(x):
    return (lambda v: absolute(v) + 1)(x)


@case(3, -3)
def two_lambdas_on_a_line(x):
    f, g = lambda v: v + 1 if v > 0 else v, lambda v: v - 1 if v > 0 else v
    return f(x) * 100 + g(x)


@case(3, -3)
def lambda_in_list(x):
    functions = [lambda v: v + 1, lambda v: absolute(v)]
    s = 0
    for f in functions:
        s += f(x)
    return s


@case(3, -3)
def comprehension(x):
    return [absolute(v) for v in [x, x + 1, -x]]


@case(3, -3)
def comprehension_with_condition(x):
    return [v if v > 0 else v * 10 for v in [x, -x]], {k: absolute(x + k) for k in range(2)}


@case(3, -3)
def generator_expression(x):
    return tuple(absolute(x * k) for k in range(3))


@case(3, -3)
def partial_function(x):
    def f(a, b):
        if b > 0:
            return a + b
        return a - b

    return functools.partial(f, 10)(x)


@case(3, 1)
def recursive(x):
    def power(n):
        if n == 0:
            return 1
        return x * power(n - 1)

    return power(3)


@case(5, tensors=False, graph=False)
def recursive_on_number(n):
    return factorial(n)


@case(3, -3)
def try_finally(x):
    y = 0
    try:
        if x > 0:
            y = x
        else:
            y = -x
    finally:
        y = y + 1
    return y


@case(3, -3)
def return_in_try(x):
    try:
        if x > 0:
            return x
    except ValueError:
        return x * 0
    else:
        x = x * 5
    return x * 2


@case(3, -3)
def with_statement(x):
    with contextlib.nullcontext(5) as k:
        if x > 0:
            x = x + k
        else:
            x = x - k
    return x


@case(3, -3)
def return_in_with(x):
    with contextlib.nullcontext():
        if x > 0:
            return x * 2
    return x


@case(3, -3)
def decorated_function(x):
    def twice(f):
        @functools.wraps(f)
        def wrapper(v):
            if v > 0:
                return f(f(v))
            return f(v)

        return wrapper

    @twice
    def step(v):
        if v > 1:
            return v + 1
        return v - 1

    return step(x)


@case(3, -3)
def builtins_of_tensors(x):
    return abs(x), int(x), float(x), max(x, 1), min(x, 1)


@case(3)
def builtins_of_vectors(x):
    v = tf.range(x) + 1
    return len(v), sum(v), max(v), min(v)


@case(3)
def sorted_vector(x):
    return tf.convert_to_tensor(sorted(tf.range(x) * 2 % 3, reverse=True))


@case(3)
def any_and_all(x):
    v = tf.range(x)
    return any(v > 1), all(v > 1), all(v >= 0)


@case(3, -3)
def map_and_filter(x):
    return list(map(absolute, [x, -x])), list(filter(None, [1, 0, 2]))


@case(3, -3)
def reduce_function(x):
    def larger(a, b):
        if a > b:
            return a
        return b

    return functools.reduce(larger, [x, -x, 1])


@case(3)
def eval_expression(x):
    return eval("x + 1")


@case(3, -3)
def eval_in_branch(x):
    y = 2
    if x > 0:
        z = eval("x * y")
    else:
        z = eval("x - y")
    return z


@case(3, tensors=False, graph=False)
def locals_in_branch(x):
    y = 2
    if x > 0:
        z = sorted(locals())
    return z


@case(3, tensors=False, graph=False)
def globals_seen(x):
    if x:
        return globals()["OFFSET"]


@case(3, -3)
def import_in_branch(x):
    if x > 0:
        import math

        y = x + math.floor(2.5)
    else:
        y = x
    return y


@case(3, tensors=False, graph=False)
def exception_is_caught(x):
    try:
        if x > 0:
            raise KeyError("k")
        y = 1
    except KeyError as error:
        y = error.args
    return y


@case(0, 2, tensors=False, graph=False)
def exception_through_loop(x):
    log = []
    for i in range(3):
        try:
            log.append(6 // (i - x))
        except ZeroDivisionError:
            log.append("zero")
        else:
            log.append("fine")
        finally:
            log.append("done")
    return log


@case(3, tensors=False, graph=False)
def generator_function(x):
    def numbers(n):
        while n > 0:
            yield n
            n -= 1

    return list(numbers(x))


@case(3, tensors=False, graph=False)
def assignment_seen_by_handler(x):
    y = 0
    try:
        if x:
            y = 1
            raise ValueError
        y = 2
    except ValueError:
        pass
    return y


@case(3, tensors=False, graph=False)
def closure_sees_later_assignment(x):
    functions = []
    for i in range(x):
        functions.append(lambda: i)
    return [f() for f in functions]


@case(3, tensors=False, graph=False)
def identity_kept(x):
    a = object()
    b = a if x else None
    if x:
        c = a
    return a is b, a is c


@case(3, tensors=False, graph=False)
def string_methods(x):
    s = ""
    for word in "a b c".split():
        if word != "b":
            s += word.upper() * x
    return f"{s!r:>10}"


@case(3, tensors=False, graph=False)
def set_and_dictionary(x):
    seen, counts = set(), {}
    for c in "hello":
        if c in seen:
            counts[c] += 1
        else:
            seen.add(c)
            counts[c] = 1
    return sorted(seen), counts


@case(3, tensors=False, graph=False)
def chained_calls(x):
    class Builder:
        def __init__(self):
            self.parts = []

        def add(self, part):
            if part is not None:
                self.parts.append(part)
            return self

    return Builder().add(x).add(None).add(x + 1).parts


@case(3, tensors=False, graph=False)
def positional_only(x):
    def f(a, /, b=2, *c, d=4):
        if a:
            return a, b, c, d
        return None

    return f(x), f(x, 5, 6, 7, d=8), f(0)


@case(3, -3)
def gradient(x):
    v = tf.cast(x, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(v)
        if v > 0:
            y = v * v
        else:
            y = v * 3.0
    return tape.gradient(y, v)


@case(3)
def gradient_of_loop(n):
    v = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v
        for _ in tf.range(n):
            y = y * v
    return tape.gradient(y, v)


@case(3, -3)
def function_as_value(x):
    f = absolute if x is not None else None
    return f(x)


@case(3, -3)
def do_not_convert(x):
    @tf.autograph.experimental.do_not_convert
    def f(v):
        return tf.where(v > 0, v, -v)

    return f(x)


@case(3, -3)
def annotated_assignment(x):
    y: int = 0
    z: int
    if x > 0:
        y = 1
        z = 5
    else:
        z = 6
    return y, z


@case(3, -3)
def docstring_and_names(x):
    """Names of generated variables may be the user's own."""
    ag__, item, if_body, loop_body, retval_, broke_ = 1, 2, 3, 4, 5, 6
    for i in tf.range(3):
        if i > x:
            break
        item += i
    return ag__, item, if_body, loop_body, retval_, broke_
