"""Programs with the control flow of 1.x, which TensorFlow wrote as graphs of Switch, Merge, Enter and so on.

    python tests/graph/messages/dataflow_programs.py FILE

traces them with TensorFlow, runs them, and writes graphs and results into an archive; `scripts/golden_graph_defs` does.
Each takes the framework and the placeholders `x`, three numbers, and `p`, a truth value.
"""

import json
import sys
import zipfile

import numpy as np

VALUES = [[1.0, 2.0, 3.0], [-4.0, 0.5, 1.0]]
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same archive each time


def number(tf, i):
    return tf.cast(i, tf.float32)


def chosen(tf, x, p):
    return tf.cond(p, lambda: x * 2.0, lambda: x - 1.0)


def chosen_together(tf, x, p):
    a, b = tf.cond(p, lambda: (x * 2.0, tf.reduce_sum(x)), lambda: (x, tf.constant(1.0)))
    return a * b


def chosen_apart(tf, x, p):
    """The second result depends on the first, under the same condition."""
    first = tf.cond(p, lambda: x * 2.0, lambda: x + 1.0)
    return tf.cond(p, lambda: first * x, lambda: first - x)


def chosen_in_chosen(tf, x, p):
    q = tf.reduce_sum(x) > 0
    again = lambda: x + tf.cond(p, lambda: 1.0, lambda: 2.0)
    return tf.cond(p, lambda: tf.cond(q, lambda: x * 2.0, lambda: x * 3.0), lambda: tf.cond(q, lambda: x - 1.0, again))


def chosen_of_many(tf, x, p):
    s = tf.reduce_sum(x)
    return tf.case([(s < 0, lambda: x), (s < 5, lambda: x * 2.0), (s < 50, lambda: x * 3.0)], default=lambda: x * 4.0)


def asserted(tf, x, p):
    with tf.control_dependencies([tf.Assert(tf.reduce_sum(x) > -1e9, [x])]):
        return x * 2.0


def repeated(tf, x, p):
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 + x), [0, x])[1]


def repeated_at_most(tf, x, p):
    body = lambda i, y: (i + 1, y + number(tf, i))
    return tf.while_loop(lambda i, y: tf.reduce_sum(y) < 20.0, body, (0, x), maximum_iterations=4)[1]


def never_repeated(tf, x, p):
    return tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * 1.5), [0, x])[1]


def repeated_in_repeated(tf, x, p):
    def body(i, y):
        inner = lambda j, z: (j + 1, z + x * number(tf, i))
        return i + 1, tf.while_loop(lambda j, z: j < i, inner, [0, y])[1]

    return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]


def chosen_in_repeated(tf, x, p):
    def body(i, y):
        deeper = lambda: tf.cond(p, lambda: y + x, lambda: y - x)
        return i + 1, tf.cond(tf.equal(i % 2, 0), deeper, lambda: y * 0.5)

    return tf.while_loop(lambda i, y: i < 5, body, [0, x])[1]


def repeated_in_chosen(tf, x, p):
    loop = lambda: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + x), [0, x])[1]
    return tf.cond(p, loop, lambda: x)


def all_in_all(tf, x, p):
    """A loop in a branch of a conditional in a loop."""

    def body(i, y):
        loop = lambda: tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * 0.5 + x), [0, y])[1]
        return i + 1, tf.cond(tf.logical_and(p, i > 1), loop, lambda: y + 1.0)

    return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]


def growing(tf, x, p):
    invariants = [tf.TensorShape([]), tf.TensorShape([None])]
    body = lambda i, y: (i + 1, tf.concat([y, x], 0))
    return tf.while_loop(lambda i, y: i < 3, body, [0, x], shape_invariants=invariants)[1]


def in_arrays(tf, x, p):
    source = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    body = lambda i, a: (i + 1, a.write(i, source.read(i % 3) * number(tf, i)))
    return tf.while_loop(lambda i, a: i < 4, body, [0, tf.TensorArray(tf.float32, 4)])[1].stack()


def in_growing_arrays(tf, x, p):
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    body = lambda i, a: (i + 1, a.write(i, parts.read(i)))
    array = tf.while_loop(lambda i, a: i < 2, body, [0, array])[1]
    return array.concat() + number(tf, array.size())


def mapped(tf, x, p):
    return tf.map_fn(lambda e: e * e + 1.0, x) + tf.scan(lambda a, e: a * 0.5 + e, x)


def folded(tf, x, p):
    return tf.foldl(lambda a, e: a * 0.5 + e, x) + tf.foldr(lambda a, e: a - e, x) + x


def slope_of_chosen(tf, x, p):
    return tf.gradients(tf.cond(p, lambda: tf.sin(x) * x, lambda: x * x * x), x)[0]


def slope_of_repeated(tf, x, p):
    y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])[1]
    return tf.gradients(y, x)[0]


def slope_of_chosen_in_repeated(tf, x, p):
    branches = lambda i, y: tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(y) * x, lambda: y * y)
    return tf.gradients(tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, branches(i, y)), [0, x])[1], x)[0]


def slope_of_repeated_in_chosen(tf, x, p):
    loop = lambda: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])[1]
    return tf.gradients(tf.cond(p, loop, lambda: x * x), x)[0]


def slope_of_repeated_in_repeated(tf, x, p):
    def body(i, y):
        inner = lambda j, z: (j + 1, tf.sin(z) * x)
        return i + 1, tf.while_loop(lambda j, z: j < 2, inner, [0, y])[1]

    return tf.gradients(tf.while_loop(lambda i, y: i < 3, body, [0, x])[1], x)[0]


def slope_of_scanned(tf, x, p):
    return tf.gradients(tf.scan(lambda a, e: a * e + tf.sin(e), x), x)[0]


def slope_of_random(tf, x, p):
    """The gradient reads the random numbers of the branch, which must not be drawn again: the result is zero."""
    y = tf.cond(p, lambda: tf.nn.dropout(x, rate=0.5) * x, lambda: x * x)
    return tf.gradients(y, x)[0] - 2 * y / x


def changed_in_chosen(tf, x, p):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)
    y = tf.cond(p, lambda: v.assign_add(x).read_value(), lambda: v + 1.0)
    with tf.control_dependencies([y]):
        return tf.concat([y, v.read_value()], 0)


def changed_in_repeated(tf, x, p):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)

    def body(i, s):
        with tf.control_dependencies([v.assign_add(x)]):
            return i + 1, s + v.read_value()

    y = tf.while_loop(lambda i, s: i < 3, body, [0, x], parallel_iterations=1)[1]
    with tf.control_dependencies([y]):
        return y + v.read_value()


def reference_in_chosen(tf, x, p):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=False)
    y = tf.cond(p, lambda: tf.assign_add(v, x), lambda: v + 1.0)
    with tf.control_dependencies([y]):
        return tf.concat([y, v * 1.0], 0)


def reference_in_repeated(tf, x, p):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=False)

    def body(i, s):
        with tf.control_dependencies([tf.assign_add(v, x)]):
            return i + 1, s + tf.identity(x)

    y = tf.while_loop(lambda i, s: i < 3, body, [0, x], parallel_iterations=1)[1]
    with tf.control_dependencies([y]):
        return y + v * 1.0


def in_a_function(tf, x, p):
    """TF: functions of 1.x have its control flow too."""
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.bool)
    def inner(a, b):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + a), [0, a])[1]
        return tf.cond(b, lambda: y * 2.0, lambda: y)

    result = inner(x, p)
    result.set_shape([3])
    return tf.cond(p, lambda: result + 1.0, lambda: inner(x + 1.0, p))


PROGRAMS = [
    chosen, chosen_together, chosen_apart, chosen_in_chosen, chosen_of_many, asserted, repeated, repeated_at_most,
    never_repeated, repeated_in_repeated, chosen_in_repeated, repeated_in_chosen, all_in_all, growing, in_arrays,
    in_growing_arrays, mapped, folded, slope_of_chosen, slope_of_repeated, slope_of_chosen_in_repeated,
    slope_of_repeated_in_chosen, slope_of_repeated_in_repeated, slope_of_scanned, slope_of_random, changed_in_chosen,
    changed_in_repeated, reference_in_chosen, reference_in_repeated, in_a_function,
]  # fmt: skip


def feeds():
    return [{"x:0": np.array(x, np.float32), "p:0": p} for x in VALUES for p in (True, False)]


def record(path):
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    results = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for program in PROGRAMS:
            name = program.__name__
            with tf.Graph().as_default() as graph, tf.Session() as session:
                x, p = tf.placeholder(tf.float32, [3], "x"), tf.placeholder(tf.bool, [], "p")
                result = tf.identity(program(tf, x, p), name="result")
                start = tf.global_variables_initializer()
                assert start.name == "init"
                results[name] = []
                for feed in feeds():
                    session.run(start)
                    results[name].append(session.run(result, feed).tolist())
                archive.writestr(
                    zipfile.ZipInfo(f"{name}.pb", EPOCH), graph.as_graph_def().SerializeToString(deterministic=True)
                )
        archive.writestr(zipfile.ZipInfo("results.json", EPOCH), json.dumps(results))


if __name__ == "__main__":
    record(sys.argv[1])
