"""Cases of loops in branches, branches in loops, loops that turn symbolic, and loop variables of all kinds."""

import itertools

import headrace as tf
from autograph_cases.table import case

# ruff: noqa: B007  programs as users write them


@case(2, 9)
def python_loop_tensor_break(x):
    for i in range(4):
        if i > x:
            break
        x = x - 1
    return x


@case(2, 9)
def python_loop_tensor_return(x):
    for i in range(4):
        if x * i > 5:
            return i * 100 + x
    return x


@case(2, 9)
def python_loop_tensor_continue(x):
    s = 0
    for i in range(4):
        if i == x:
            continue
        s += i
    return s


@case(2, 9)
def python_while_tensor_break(x):
    i = 0
    while i < 4:
        i += 1
        if i > x:
            break
    return i


@case(2, 9)
def while_turns_tensor(x):
    n = 0
    while n < 20:
        n = n + x
    return n


@case(5)
def loop_in_branch(n):
    s = 0
    if n > 3:
        for i in tf.range(n):
            s += i
    else:
        s = -1
    return s


@case(5)
def branch_in_loop_in_branch(n):
    s = 0
    if n > 3:
        for i in tf.range(n):
            if i > 2:
                s += i
    return s


@case(5)
def vector_variable(n):
    v = tf.zeros([3], tf.int32)
    for i in tf.range(n):
        v = v + i
    return v


@case(5)
def structure_variable(n):
    d = {"a": 0, "b": (1, 2)}
    for i in tf.range(n):
        d = {"a": d["a"] + i, "b": (d["b"][1], d["b"][0] + 1)}
    return d


@case(5)
def tensor_array(n):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        ta = ta.write(i, i * i)
    return ta.stack()


@case(5)
def tensor_array_in_branch(n):
    ta = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        if i % 2 == 0:
            ta = ta.write(i, i)
        else:
            ta = ta.write(i, -i)
    return ta.stack()


@case(3)
def shape_invariant(n):
    v = tf.constant([1])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [i]], 0)
    return v


@case(5)
def loop_options(n):
    s = 0
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1, swap_memory=False)
        s += i
    return s


@case(4)
def none_before_loop(n):
    y = None
    for i in tf.range(n):
        y = i
    return y


@case(4)
def while_with_walrus(n):
    s = 0
    while (n := n - 1) > 0:
        s += n
    return s, n


@case(5)
def floats(n):
    y = 1.0
    while n > 0:
        y = y * 1.5
        n -= 1
    return y


@case((5, 3))
def loop_over_two(n, m):
    s = 0
    for i in tf.range(n):
        if i > m:
            s += 100
        elif i == m:
            continue
        else:
            s += 1
    return s


@case(10)
def prime_sieve(n):
    count = 0
    for i in tf.range(2, n):
        is_prime = True
        for j in tf.range(2, i):
            if i % j == 0:
                is_prime = False
                break
        if is_prime:
            count += 1
    return count


@case(5)
def bubble(n):
    a, b, c = n, 2, n - 4
    for _ in tf.range(3):
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
    return a, b, c


@case(6)
def underscore_target(n):
    x = 1
    for _ in tf.range(n):
        x *= 2
    return x


@case(3)
def returns_in_both_loops(n):
    for i in tf.range(n):
        for j in tf.range(n):
            if i + j == 3:
                return i, j
        if i == 5:
            return i, i
    return n, n


@case(3)
def loop_in_python_loop(x):
    for _ in range(2):
        for j in tf.range(3):
            x = x + j
    return x


@case(3)
def python_loop_in_loop(n):
    s = 0
    for i in tf.range(n):
        for k in [1, 2]:
            s += i * k
    return s


@case(3, tensors=False, graph=False)
def side_effects_in_order(n):
    log = []
    for i in range(n):
        log.append(("start", i))
        if i == 1:
            continue
        log.append(("end", i))
    else:
        log.append("else")
    return log


@case(4, tensors=False, graph=False)
def break_consumes_no_more(n):
    items = iter(range(10))
    for i in items:
        if i == n:
            break
    return next(items)


@case(4, tensors=False, graph=False)
def infinite_iterator(n):
    for i in itertools.count():
        if i > n:
            break
    return i


@case(0, 4, tensors=False, graph=False)
def unbound_target(n):
    for i in range(n):
        pass
    try:
        return i
    except NameError:
        return "unbound"


@case(4, tensors=False, graph=False)
def list_append(n):
    found = []
    for i in range(n):
        found.append(i * i)
    while len(found) > 2:
        found.pop()
    return found


@case(4, tensors=False, graph=False)
def break_in_try(n):
    log = []
    for i in range(n):
        try:
            if i == 2:
                break
            log.append(i)
        finally:
            log.append("finally")
    return log


@case(4, tensors=False, graph=False)
def continue_in_with(n):
    log = []

    class Manager:
        def __enter__(self):
            log.append("enter")

        def __exit__(self, *error):
            log.append("exit")

    for i in range(n):
        with Manager():
            if i % 2:
                continue
            log.append(i)
    return log


@case(3, tensors=False, graph=False)
def loop_else_inner_break_outer(n):
    log = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            log.append((i, j))
        else:
            log.append("inner else")
            break
    else:
        log.append("outer else")
    return log


@case(3, 0)
def continue_in_else_of_inner_loop(n):
    s = 0
    for i in tf.range(n):
        for j in range(3):
            if i == 1:
                break
        else:
            continue
        s += 10 + i
    return s
