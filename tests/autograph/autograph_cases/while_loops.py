"""Cases of `while`, with `break`, `continue`, `else` and returns."""

from autograph_cases.table import case


@case(5, 0)
def while_loop(x):
    s = 0
    while x > 0:
        s = s + x
        x = x - 1
    return s


@case(5, 0)
def while_augmented(x):
    s = 0
    while x > 0:
        s += x
        x -= 1
    return s, x


@case(10, 3)
def while_two_conditions(x):
    n = 0
    while x > 0 and n < 5:
        x -= 1
        n += 1
    return x, n


@case(10, 3)
def while_break(x):
    n = 0
    while x > 0:
        if n == 5:
            break
        x -= 1
        n += 1
    return x, n


@case(10, 3)
def while_continue(x):
    s = 0
    while x > 0:
        x -= 1
        if x % 2 == 0:
            continue
        s += x
    return s


@case(10, 3)
def while_break_and_continue(x):
    s = 0
    while x > 0:
        x -= 1
        if x % 2 == 0:
            continue
        if x == 3:
            break
        s += x
    return s, x


@case(5, 0)
def while_else(x):
    s = 0
    while x > 0:
        s += x
        x -= 1
    else:
        s += 100
    return s


@case(5, 2)
def while_break_else(x):
    while x > 0:
        if x == 3:
            break
        x -= 1
    else:
        x = x + 100
    return x


@case(7, 2)
def while_return(x):
    while x > 0:
        if x == 4:
            return x * 100
        x -= 1
    return x


@case(7, 2)
def while_return_in_else(x):
    while x > 0:
        x -= 1
        if x == 4:
            y = x
        else:
            y = x + 1
        if y > 5:
            return y
    return x


@case(3)
def while_true(x):
    while True:
        x += 1
        if x > 5:
            break
    return x


@case(3)
def while_true_return(x):
    while True:
        x += 1
        if x > 5:
            return x * 2


@case(9, 4)
def nested_while(x):
    n = 0
    while x > 0:
        y = x
        while y > 0:
            y -= 2
            n += 1
        x -= 3
    return n


@case(9, 4)
def nested_while_break(x):
    n = 0
    while x > 0:
        y = x
        while y > 0:
            y -= 1
            if y == 3:
                break
            n += 1
        x -= 1
        if n > 10:
            break
    return n, x


@case(9, 2)
def return_from_nested_loop(x):
    i = 0
    while i < x:
        j = 0
        while j < x:
            if i * j == 6:
                return i * 10 + j
            j += 1
        i += 1
    return x * 0 - 1


@case(6)
def fibonacci(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a


@case((48, 18), (17, 5))
def greatest_common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@case(27)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
