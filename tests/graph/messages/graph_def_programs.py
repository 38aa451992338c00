"""Programs that are traced by TensorFlow and by headrace, and whose graphs each of them hands to the other.

A program is a function of the module (`tensorflow` or `headrace`) that returns the function to trace, example inputs as
NumPy arrays, and the variables that it uses. `UNKNOWN` are programs that are traced for unknown sizes.
"""

import numpy as np

PROGRAMS = {}
UNKNOWN = {"dynamic_shapes", "loop_with_growing_shape", "map_over_rows"}


def program(build):
    PROGRAMS[build.__name__] = build
    return build


def numbers(*shape, dtype=np.float32, seed=0):
    return np.asarray(np.random.RandomState(seed).randn(*shape), dtype)


@program
def arithmetic(tf):
    weights = numbers(4, 3, seed=1)

    def f(x, y):
        hidden = tf.tanh(tf.matmul(x, tf.constant(weights)) + tf.constant([0.1, -0.2, 0.3]))
        return tf.nn.softmax(hidden), {"sum": tf.reduce_sum(hidden * y, axis=1, keepdims=True), "power": x**2 / 3.0}

    return f, [numbers(2, 4), numbers(2, 3, seed=2)], []


@program
def arranging(tf):
    def f(x):
        a, b = tf.split(x, 2, axis=1)
        rows = tf.unstack(a, axis=0)
        joined = tf.concat([a, b * 2.0, tf.stack(rows)], axis=-1)
        picked = joined[:, 1:-1:2][..., tf.newaxis]
        padded = tf.pad(a, [[0, 1], [1, 0]], constant_values=7.0)
        return tf.transpose(picked, [2, 0, 1]), tf.reshape(joined, [-1]), padded

    return f, [numbers(3, 4)], []


@program
def dynamic_shapes(tf):
    def f(x):
        shape = tf.shape(x)
        flat = tf.reshape(x, [shape[0] * shape[1]])
        return flat, tf.fill([shape[0]], 2), tf.zeros_like(x) + tf.cast(shape[0], tf.float32), tf.range(shape[1])

    return f, [numbers(3, 2)], []


@program
def constants_of_all_types(tf):
    def f(x):
        values = [
            tf.constant([1, 2, 3], tf.uint8), tf.constant(-5, tf.int8), tf.constant([2**40], tf.int64),
            tf.constant(True), tf.constant([1.5, -2.5], tf.float64), tf.constant(2**63 + 5, tf.uint64),
            tf.constant(7, tf.uint16), tf.constant([[1 + 2j]], tf.complex64), tf.zeros([0, 3]),
        ]  # fmt: skip
        small = [tf.cast(tf.constant([1.5, 0.1], kind), tf.float32) for kind in (tf.float16, tf.bfloat16)]
        return values, small, tf.constant(["ab", "", "c\0d"]), x

    return f, [numbers()], []


@program
def strings(tf):
    def f(words):
        upper = tf.strings.upper(words)
        joined = tf.strings.join([upper, words], separator="-")
        vowels = tf.strings.regex_replace(words, "[aeiou]", "_")
        return joined, tf.strings.length(joined), vowels, tf.strings.as_string([1, 2])

    return f, [np.array([b"one", b"three", b""], object)], []


@program
def convolution(tf):
    kernel = numbers(3, 3, 2, 4, seed=1) * 0.1

    def f(images):
        y = tf.nn.conv2d(images, tf.constant(kernel), strides=[1, 2, 1, 1], padding="SAME")
        y = tf.nn.relu(tf.nn.bias_add(y, [0.1, 0.2, 0.3, 0.4]))
        y = tf.nn.max_pool2d(y, 2, 2, "VALID")
        mean, variance = tf.nn.moments(y, [0, 1, 2])
        return tf.nn.batch_normalization(y, mean, variance, None, None, 1e-3), tf.argmax(y, axis=-1)

    return f, [numbers(2, 8, 8, 2)], []


@program
def selecting(tf):
    def f(x, indices):
        values, places = tf.math.top_k(x, 2)
        unique, positions = tf.unique(indices)
        updated = tf.tensor_scatter_nd_update(x[0], tf.expand_dims(tf.range(2), 1), [9.0, 8.0])
        return (values, places, unique, positions, tf.gather(x, indices, axis=1), tf.where(x > 0, x, -x), updated,
                tf.one_hot(indices, 5), tf.math.segment_sum(x, [0, 0, 1]))

    return f, [numbers(3, 4), np.array([3, 1, 1, 0], np.int32)], []


@program
def branches(tf):
    def f(x):
        a = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0)
        b, c = tf.cond(x[0] > 100.0, lambda: (a, tf.constant(1)), lambda: (tf.reverse(a, [0]), tf.size(a)))
        return a, b, c

    return f, [numbers(3)], []


@program
def nested_branches(tf):
    def f(x, n):
        if n > 2:
            if x > 0.0:
                y = x * 10.0
            else:
                y = -x
        elif n > 0:
            y = x + 1.0
        else:
            y = tf.constant(0.0)
        return y

    return f, [np.float32(-2.5), np.int32(3)], []


@program
def loop(tf):
    def f(n):
        i, total = tf.constant(0), tf.constant(0.0)
        while i < n:
            total += tf.sqrt(tf.cast(i, tf.float32))
            i += 1
        return total, i

    return f, [np.int32(17)], []


@program
def loop_with_break(tf):
    def f(x):
        total = tf.constant(0.0)
        for i in tf.range(10):
            if i == 2:
                continue
            total += x[i]
            if total > 3.0:
                break
        return total

    return f, [np.linspace(-1, 3, 10).astype(np.float32)], []


@program
def loop_with_growing_shape(tf):
    def f(x):
        i = tf.constant(0)
        _, y = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, tf.concat([y, y[:1] + 1.0], 0)),
            (i, x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )
        return y

    return f, [numbers(2)], []


@program
def bounded_loop(tf):
    def f(x):
        return tf.while_loop(lambda x: tf.reduce_sum(x) < 1000.0, lambda x: [x * 1.5], [x], maximum_iterations=5)[0]

    return f, [np.array([1.0, 2.0], np.float32)], []


@program
def loop_in_branch_in_loop(tf):
    def f(x):
        def body(i, x):
            def collatz():
                return tf.while_loop(lambda k, x: k < i, lambda k, x: (k + 1, x + 0.5), (tf.constant(0), x))[1]

            return i + 1, tf.cond(i % 2 == 0, collatz, lambda: x * 2.0)

        return tf.while_loop(lambda i, x: i < 6, body, (tf.constant(0), x))[1]

    return f, [numbers(2, 2)], []


@program
def switch(tf):
    def f(i, x):
        return tf.switch_case(i, [lambda: x, lambda: x * 2.0, lambda: x * 3.0], default=lambda: -x)

    return f, [np.int32(2), numbers(2)], []


@program
def called_functions(tf):
    @tf.function
    def square(x):
        return x * x

    @tf.function
    def norm(x):
        return tf.sqrt(tf.reduce_sum(square(x)))

    def f(x):
        return norm(x) + norm(x + 1.0), square(tf.constant(3))

    return f, [numbers(4)], []


@program
def gradient(tf):
    def f(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.reduce_mean(tf.nn.sigmoid(tf.matmul(x, w)) ** 2)
        return tape.gradient(y, [x, w])

    return f, [numbers(3, 4), numbers(4, 2, seed=1)], []


@program
def gradient_of_branches(tf):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 1.0, lambda: tf.sin(x) * x, lambda: x**3)
        return tape.gradient(y, x)

    return f, [np.float32(0.7)], []


@program
def gradient_of_loop(tf):
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * x), (tf.constant(0), x))
        return y, tape.gradient(y, x)

    return f, [numbers(3), np.int32(4)], []


@program
def gradient_of_call(tf):
    @tf.function
    def inner(x):
        return tf.exp(x) * x

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x) + inner(x * 2.0)
        return tape.gradient(y, x)

    return f, [numbers(3)], []


@program
def second_derivative(tf):
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.cond(x[0] > 0.0, lambda: x**3, lambda: tf.exp(x)))
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    return f, [np.array([0.5, 2.0], np.float32)], []


@program
def map_over_rows(tf):
    def f(x):
        return tf.map_fn(lambda row: tf.reduce_max(row) - row, x)

    return f, [numbers(4, 3)], []


@program
def tensor_array(tf):
    def f(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])
        for i in tf.range(4):
            rows = rows.write(i, x * tf.cast(i, tf.float32))
        return rows.stack(), rows.size()

    return f, [numbers(3)], []


@program
def folded(tf):
    def f(x):
        running = tf.scan(lambda total, row: total + tf.square(row), x)
        return running, tf.foldl(lambda total, row: total * 0.5 + row, x)

    return f, [numbers(4, 2)], []


@program
def own_gradient(tf):
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clipped(x) ** 2
        return y, tape.gradient(y, x)

    return f, [numbers(3)], []


@program
def ragged(tf):
    def f(lines):
        words = tf.strings.split(lines)
        return words.to_tensor(b"-"), words.row_lengths(), tf.reduce_max(tf.strings.length(words), axis=1)

    return f, [np.array([b"a bc", b"def g hi"], object)], []


@program
def stateless_random(tf):
    def f(n):
        seed = tf.stack([n, 7])
        return tf.random.stateless_uniform([3], seed), tf.random.stateless_normal([2, 2], seed)

    return f, [np.int32(5)], []


@program
def integers(tf):
    def f(x, y):
        return x // y, x % y, tf.bitwise.bitwise_xor(x, y), tf.bitwise.left_shift(x, 3), -x, tf.maximum(x, y)

    return f, [np.array([7, -7, 12], np.int32), np.array([2, 2, 5], np.int32)], []


@program
def linear_algebra(tf):
    def f(x):
        a = tf.matmul(x, x, transpose_b=True) + tf.eye(3)
        return tf.linalg.cholesky(a), tf.linalg.inv(a), tf.einsum("ij,kj->ik", x, x), tf.linalg.diag_part(a)

    return f, [numbers(3, 4)], []


@program
def retired_ops(tf):
    """Ops that TensorFlow refuses in new graphs: it computes their functions in other ways."""

    @tf.function
    def inner(x):
        return tf.linalg.expm(x * 30.0)

    def f(x, y):
        many = tf.linalg.expm(tf.stack([x, x * 20.0, x * 0.0]))
        return tf.linalg.expm(x), many, tf.cast(tf.linalg.expm(y), tf.complex64), inner(x)

    return f, [numbers(3, 3), numbers(2, 2, dtype=np.complex128)], []


@program
def checked(tf):
    def f(x):
        tf.debugging.assert_greater(tf.reduce_sum(x), -100.0)
        with x.graph.control_dependencies([tf.debugging.Assert(x[0] < 50.0, [x])]):
            return tf.identity(x) + 1.0

    return f, [numbers(3)], []


# With effects.


@program
def variables(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3)

    def f(x):
        before = v + 0.0
        v.assign_add(x)
        w.assign(w * 2)
        middle = v.read_value()
        v.assign(middle * 10.0)
        return before, middle, v + 0.0, tf.cast(w, tf.float32) * x

    return f, [np.array([0.5, -0.5], np.float32)], [v, w]


@program
def variables_in_branches(tf):
    v = tf.Variable(1.0)

    def f(x):
        def yes():
            v.assign_add(x)
            return v * 1.0

        def no():
            v.assign(-1.0)
            return v * 2.0

        a = tf.cond(x > 0.0, yes, no)
        b = tf.cond(x > 10.0, yes, no)
        return a, b, v + 0.0

    return f, [np.float32(2.0)], [v]


@program
def variables_in_loop(tf):
    v, count = tf.Variable([1.0, 1.0]), tf.Variable(0)

    def f(n):
        total = tf.zeros([2])
        for i in tf.range(n):
            v.assign(v * 2.0 + tf.cast(i, tf.float32))
            total += v
            if total[0] > 20.0:
                count.assign_add(1)
        return total, count + 0

    return f, [np.int32(5)], [v, count]


@program
def effects_in_order(tf):
    v = tf.Variable([0.0])

    @tf.function
    def push(x):
        v.assign(v * 10.0 + x)
        return v.read_value()

    def f(x):
        first = push(x)
        tf.debugging.assert_less(tf.reduce_sum(v), 1000.0)
        second = push(x + 1.0)
        v.assign_sub([1.0])
        third = push(x + 2.0)
        return first, second, third

    return f, [np.array([1.0], np.float32)], [v]


@program
def seeded_random(tf):
    tf.random.set_seed(7)

    def f(x):
        dice = tf.random.uniform([2], maxval=9, dtype=tf.int32)
        return tf.random.uniform([3], seed=1) * x, tf.random.normal([2], seed=2), dice

    return f, [np.float32(2.0)], []
