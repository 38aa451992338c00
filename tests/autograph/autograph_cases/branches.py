"""Cases of `if`, conditional expressions, boolean operators, comparisons and `assert`."""

import headrace as tf
from autograph_cases.table import case


@case(3, -3)
def if_without_else(x):
    if x > 0:
        x = x * 10
    return x


@case(3, -3)
def if_else(x):
    if x > 0:
        y = x + 1
    else:
        y = x - 1
    return y


@case(1, 2, 3, 4)
def elif_chain(x):
    if x == 1:
        y = 10
    elif x == 2:
        y = 20
    elif x == 3:
        y = 30
    else:
        y = 0
    return y


@case(5, -5)
def nested_if(x):
    y = 0
    if x > 0:
        if x > 3:
            y = 1
        else:
            y = 2
    else:
        if x < -3:
            y = 3
    return y


@case((1, 2), (2, 1))
def swap(a, b):
    if a > b:
        a, b = b, a
    return a, b


@case(4, -4)
def augmented(x):
    y = 1
    if x > 0:
        y += x
    else:
        y -= x
    return y


@case(2, -2)
def temporary_in_branch(x):
    if x > 0:
        t = x * 2
        y = t + 1
    else:
        y = x
    return y


@case(2, -2)
def different_temporaries(x):
    if x > 0:
        a = x * 2
        y = a
    else:
        b = x * 3
        y = b
    return y


@case(2, -2)
def early_return(x):
    if x > 0:
        return x * 2
    return x - 1


@case(2, -2)
def return_in_both(x):
    if x > 0:
        return x * 2
    else:
        return x - 1


@case(1, 2, 3)
def three_returns(x):
    if x == 1:
        return x + 100
    if x == 2:
        return x + 200
    return x + 300


@case(1, 2, 3, 9)
def returns_in_elif(x):
    if x == 1:
        return x + 100
    elif x == 2:
        y = x + 200
    elif x == 3:
        return x + 300
    else:
        y = x
    return y * 2


@case(-1, 1, 3, 5)
def return_in_nested_if(x):
    if x > 0:
        if x > 4:
            return x * 100
        y = x * 10
        if x > 2:
            return y + 1
    else:
        y = x
    return y


@case(1, -1)
def return_then_use(x):
    y = x
    if x > 0:
        y = y + 1
        if y > 1:
            return y
        y = y + 100
    z = y * 2
    return z


@case(2, -2)
def return_tuple(x):
    if x > 0:
        return x, x + 1
    return x - 1, x


@case(2, -2)
def return_dictionary(x):
    if x > 0:
        return {"a": x, "b": [x, x]}
    return {"a": -x, "b": [x, -x]}


@case(2, -2)
def value_and_no_return(x):
    if x > 0:
        y = x
    else:
        y = -x
    y = y + 1
    return


@case(2, -2)
def only_effects(x):
    if x > 0:
        x + 1
    else:
        x - 1
    return x


@case(2, -2)
def if_pass(x):
    if x > 0:
        pass
    else:
        x = -x
    return x


@case(2, -2)
def if_ellipsis(x):
    if x > 0:
        ...
    return x


@case(0, 1)
def if_constant(x):
    if True:
        y = x
    else:
        y = 5
    return y


@case(7)
def if_is_none(x):
    y = None
    if y is None:
        y = x
    if y is not None:
        y = y + 1
    return y


@case(2, -2)
def conditional_expression(x):
    return x * 2 if x > 0 else x * 3


@case(2, -2, 7)
def nested_conditional_expression(x):
    return x * 2 if x > 5 else x * 3 if x > 0 else x * 4


@case(2, -2)
def conditional_expression_in_call(x):
    return tf.maximum(x if x > 0 else -x, 1)


@case(2, -2)
def conditional_expression_of_tuples(x):
    a, b = (x, 1) if x > 0 else (1, x)
    return a, b


@case((1, 1), (1, 5), (5, 1))
def and_operator(a, b):
    return a > 2 and b > 2


@case((1, 1), (1, 5), (5, 5))
def or_operator(a, b):
    return a > 2 or b > 2


@case(1, 5)
def not_operator(a):
    return not a > 2


@case((1, 2, 3), (3, 2, 1), (0, 0, 0))
def mixed_boolean(a, b, c):
    return (a < b and b < c) or not (a == c or b > 1)


@case((3, 2, 1), (5, 6, 7), (5, 1, 7))
def three_ands(a, b, c):
    if a > 2 and b > 2 and c > 2:
        return a
    return c


@case(-1, 3, 20)
def chained_comparison(x):
    return 0 < x < 10


@case(-1, 3, 5, 20)
def long_chain(x):
    return 0 <= x < 10 != x + 5


@case(-1, 3, 20)
def chain_in_if(x):
    if 0 < x <= 10:
        return x
    return x * 0


@case(2, 3)
def equality(x):
    if x == 2:
        y = 1
    else:
        y = 0
    if x != 2:
        y = y + 10
    return y


@case(2, -2)
def and_with_python_value(x):
    flag = True
    return flag and x > 0


@case(2, -2)
def or_with_python_value(x):
    flag = False
    return flag or x > 0


@case(2, -2)
def short_circuit_on_none(x):
    y = None
    if y is not None and y > x:
        x = x * 100
    return x


@case(2)
def assert_true(x):
    assert x > 0
    return x + 1


@case(2)
def assert_with_message(x):
    assert x > 0, "x must be positive"
    return x + 1


@case(2, -2)
def several_variables(x):
    a = b = c = 0
    if x > 0:
        a = 1
        b = 2
    else:
        c = 3
    return a, b, c


@case(2, -2)
def nested_structure(x):
    d = {"a": x, "b": (x, [x])}
    if x > 0:
        d = {"a": x + 1, "b": (x, [x - 1])}
    return d


@case(2, -2)
def unpacking(x):
    a, (b, *c) = x, (x, x, x)
    if x > 0:
        a, (b, *c) = b, (a, a + 1, a + 2)
    return a, b, c


@case(2, -2)
def float_branches(x):
    y = tf.constant(1.5)
    if x > 0:
        y = y * 2.0
    return y


@case(2, -2)
def boolean_variable(x):
    positive = x > 0
    if positive:
        y = x
    else:
        y = -x
    return y, positive


@case(2, -2)
def string_branches(x):
    if x > 0:
        s = "positive"
    else:
        s = "negative"
    return s


@case((2, 1), (-2, 1), (-2, -1))
def if_in_else(a, b):
    if a > 0:
        y = a
    else:
        if b > 0:
            y = b
        else:
            y = a * b
    return y


@case(2, -2)
def deleted_in_branch(x):
    y = x
    if x > 0:
        z = y
        del y
    else:
        z = -y
        del y
    return z


@case(2, -2)
def variable_read_by_the_other_branch(x):
    y = x
    if x > 0:
        y = y * 10
        z = y
    else:
        z = y + 1
    return z


@case(2, -2)
def shape_differs(x):
    if x > 0:
        y = tf.ones([2])
    else:
        y = tf.ones([3])
    return tf.reduce_sum(y)


@case(1, 5)
def condition_from_function(x):
    if tf.greater(x, 2):
        return x
    return x * 0


@case(1, 5)
def walrus_in_test(x):
    if (y := x * 2) > 4:
        return y
    return y + 100


@case(1, 5)
def walrus_in_statement(x):
    z = (y := x + 1) * 2
    if z > 5:
        y = y + z
    return y


@case(1, 5)
def lambda_in_branch(x):
    f = lambda v: v + x
    if x > 2:
        y = f(10)
    else:
        y = f(20)
    return y


@case((1, 2), (3, 2))
def comparison_of_expressions(a, b):
    if a * 2 - b > b - a:
        return a - b
    return b - a


@case(1, -1)
def not_in_if(x):
    if not x > 0:
        x = -x
    return x


@case(1, -1)
def not_of_boolean_operator(x):
    if not (x > 0 and x < 5):
        x = x * 7
    return x


@case(0, 3)
def tensor_condition_with_python_else(x):
    if x > 1:
        r = 1
    else:
        r = 1
    return r + x


@case((True, 2), (False, 2), tensors=False, graph=False)
def python_flag(flag, x):
    if flag:
        y = x * 2
    else:
        y = "other"
    return y


@case("a", "b", "c", tensors=False, graph=False)
def python_string(mode):
    if mode == "a":
        return 1
    if mode in ("b", "d"):
        return [1, 2]
    return None


@case([], [1], None, 0, "", "x", 0.0, {}, tensors=False, graph=False)
def truthiness(x):
    if x:
        return "true"
    elif x is None:
        return "none"
    else:
        return "false"


@case(([], 1), (0, []), (3, 4), tensors=False, graph=False)
def operators_return_operands(a, b):
    return a and b, a or b, not a


@case(1, 2, "x", (1, 2), ([1, 2, 3],), tensors=False, graph=False)
def match_statement(*x):
    match x:
        case (1,):
            r = "one"
        case (int(n),):
            r = n
            if n > 1:
                return n * 10
        case ([first, *rest],):
            return first, rest
        case (a, b):
            r = (b, a)
        case _:
            r = "other"
    return r
