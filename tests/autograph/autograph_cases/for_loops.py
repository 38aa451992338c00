"""Cases of `for`, with `break`, `continue`, `else` and returns."""

import headrace as tf
from autograph_cases.table import case

# ruff: noqa: B007  programs as users write them


@case(5, 0)
def for_range(n):
    s = 0
    for i in range(n):
        s += i
    return s


@case((2, 9), (5, 5))
def for_range_bounds(a, b):
    s = 0
    for i in range(a, b):
        s += i * i
    return s


@case((2, 9, 3), (9, 2, -2))
def for_range_step(a, b, c):
    s = 0
    for i in range(a, b, c):
        s = s * 2 + i
    return s


@case(5, 0)
def for_tensor_range(n):
    s = 0
    for i in tf.range(n):
        s += i
    return s


@case(5)
def for_constant_range(x):
    for i in range(3):
        x = x * 2 + i
    return x


@case(5)
def for_static_tensor_range(x):
    for i in tf.range(3):
        x = x * 2 + i
    return x


@case(8, 3)
def for_break(n):
    s = 0
    for i in tf.range(n):
        if i == 4:
            break
        s += i
    return s


@case(8, 3)
def for_continue(n):
    s = 0
    for i in tf.range(n):
        if i % 3 == 1:
            continue
        s += i
    return s


@case(8, 3)
def for_else(n):
    s = 0
    for i in tf.range(n):
        s += i
    else:
        s += 100
    return s


@case(8, 3)
def for_break_else(n):
    s = 0
    for i in tf.range(n):
        if i == 5:
            break
        s += i
    else:
        s += 100
    return s


@case(8, 3)
def for_return(n):
    for i in tf.range(n):
        if i == 5:
            return i * 100
    return n


@case(8, 3)
def for_return_else(n):
    s = 0
    for i in tf.range(n):
        s += i
        if s > 10:
            return s
    else:
        s = s + 1000
    return s


@case(4)
def nested_for(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(i):
            s += i * j
    return s


@case(4)
def nested_for_break(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(n):
            if j > i:
                break
            s += 1
    return s


@case(4)
def nested_for_continue_outer(n):
    s = 0
    for i in tf.range(n):
        if i == 1:
            continue
        for j in tf.range(n):
            if j == 2:
                continue
            s += i * 10 + j
    return s


@case(4)
def target_after_loop(n):
    for i in tf.range(n):
        pass
    return i


@case(4, 0)
def target_defined_before(n):
    i = -1
    for i in tf.range(n):
        pass
    return i


@case(4)
def target_modified(n):
    for i in tf.range(n):
        i = i + 10
    return i


@case(4)
def defined_in_loop(n):
    for i in tf.range(n):
        y = i * 2
    return y


@case(4)
def temporary_in_loop(n):
    s = 0
    for i in tf.range(n):
        t = i * 2
        s += t
    return s


@case(4)
def for_over_tensor(n):
    s = 0
    for v in tf.constant([3, 1, 2]):
        s = s * n + v
    return s


@case(4)
def for_over_matrix(n):
    s = tf.zeros([2], tf.int32)
    for row in tf.constant([[1, 2], [3, 4], [5, 6]]):
        s = s + row * n
    return s


@case(4)
def for_over_computed(n):
    s = 0
    for v in tf.range(n) * 2:
        s += v
    return s


@case(4)
def for_over_slice(n):
    s = 0
    for v in tf.range(10)[:n]:
        s += v
    return s


@case(4)
def for_over_list(x):
    s = 0
    for v in [x, x * 2, x * 3]:
        s = s * 2 + v
    return s


@case(4)
def for_over_tuples(x):
    s = 0
    for a, b in [(x, 1), (x + 1, 2)]:
        s += a * b
    return s


@case(4)
def for_over_dictionary(x):
    s = 0
    for key, value in {"a": x, "b": x + 1}.items():
        s += value * len(key)
    return s


@case(4)
def for_enumerate(x):
    s = 0
    for i, v in enumerate([x, x + 1, x + 2]):
        s += i * v
    return s


@case(4)
def for_enumerate_tensor(n):
    s = 0
    for i, v in enumerate(tf.range(n) * 3):
        s += i * v
    return s


@case(4)
def for_zip(x):
    s = 0
    for a, b in zip([x, x + 1], (2, 3)):
        s += a * b
    return s


@case(4)
def for_zip_tensors(n):
    s = 0
    for a, b in zip(tf.range(n), tf.range(n + 2) * 2):
        s += a * b
    return s


@case(4)
def for_reversed(x):
    for i in reversed(range(3)):
        x = x * 2 - i
    return x


@case(4)
def for_generator(x):
    s = 0
    for v in (x * k for k in range(3)):
        s += v
    return s


@case(4)
def for_if_else(n):
    even, odd = 0, 0
    for i in tf.range(n):
        if i % 2 == 0:
            even += i
        else:
            odd += i
    return even, odd
