"""Rows of `tf.random.Generator`, its ops, and of initializers."""

from rows import FLOATS, INTS, row

from cases.random.random import exact, exact_each, seeded

THREEFRY = "TensorFlow has ThreeFry only when compiling with XLA; see docs/decisions/0013-random-streams.md"

_GENERATOR = "g = tf.random.Generator.from_seed({})\nresult = {}, tf.identity(g.state)"


def generated(code, seed=1234, **options):
    return exact(_GENERATOR.format(seed, code), **options)


_GENERATORS = [
    *[
        generated(f"g.normal((2, 3), dtype='{dtype}'), g.truncated_normal((5,), 1.0, 2.0, '{dtype}')")
        for dtype in ("float16", "bfloat16", "float32")
    ],
    generated("g.normal((2, 3), dtype='float64'), g.truncated_normal((5,), dtype='float64')", lower=False),
    *[
        generated(f"g.uniform((3,), dtype='{dtype}'), g.uniform((3,), -1, 1, '{dtype}')")
        for dtype in FLOATS.split()
    ],
    *[
        generated(f"g.uniform((3,), -1, 9, '{dtype}'), g.uniform((3,), None, None, '{dtype}')")
        for dtype in ("int32", "int64")
    ],
    *[generated(f"g.uniform_full_int((3,), '{dtype}')") for dtype in ("int32", "int64", "uint32", "uint64")],
    generated("g.uniform_full_int((3,)), g.normal(()), g.normal((0,)), g.uniform([])"),
    generated(
        "g.make_seeds(3), g.make_seeds(), [s.state for s in g.split(2)], [s.normal((2,)) for s in g.split()]"
    ),
    generated("g.skip(10), g.key, g.algorithm, g.skip(tf.constant(3)), g.skip(-1), g.normal((2,))"),
    generated(
        "g.binomial([3], [10.0, 20.0, 3.0], [0.8]), g.binomial([2], 10.0, 0.5, tf.float32), g.normal((2,))"
    ),
    *[
        generated("g.normal((2,))", seed)
        for seed in (
            "0",
            "-1",
            "2**64 - 1",
            "2**200 + 5",
            "[1, 2]",
            "[1, 2, 3, 4]",
            "[2**64 - 1, 5]",
            "np.array([7, 8])",
        )
    ],
    exact("tf.random.Generator.from_state([1, 2, 3], 'philox').normal((3,))"),
    exact("tf.random.Generator.from_state([2**64 - 1, 2**64 - 1, 3], 'philox').uniform((9,))"),
    exact("tf.random.Generator.from_key_counter(5, [1, 2], 'philox').normal((3,))"),
    exact("tf.random.Generator(state=[1, 2, 3], alg=1).state"),
    exact(
        "g = tf.random.Generator.from_seed(3)\nh = tf.random.Generator(copy_from=g)\n"
        "result = g.normal((2,)), h.normal((2,)), g.normal((2,)), h.algorithm"
    ),
    exact(
        "v = tf.Variable([1, 2, 3], dtype=tf.int64)\ng = tf.random.Generator.from_state(v, 'philox')\n"
        "result = g.normal((2,)), v.read_value(), g.state is v"
    ),
    exact(
        "g = tf.random.Generator.from_seed(3)\ng.reset([7, 8, 9])\na = g.uniform((2,))\ng.reset_from_seed(5)\n"
        "b = g.uniform((2,))\ng.reset_from_key_counter(1, [2, 3])\nresult = a, b, g.uniform((2,)), g.state"
    ),
    exact(
        "tf.random.set_global_generator(tf.random.Generator.from_seed(3))\n"
        "result = tf.random.get_global_generator().normal((2,))"
    ),
    exact(
        "tf.random.experimental.set_global_generator(tf.random.experimental.Generator.from_seed(3))\n"
        "result = tf.random.experimental.get_global_generator().normal((2,))"
    ),
    exact("tf.random.Generator.from_non_deterministic_state().state.shape.as_list()", lower=False),
    exact("tf.random.create_rng_state(1234, 'philox'), tf.random.create_rng_state([12, 34], 'threefry')"),
    exact("tf.random.experimental.create_rng_state(2**100, 3)"),
    row("tf.random.Generator.from_seed(1234, alg='threefry').normal((2, 3))", ours=THREEFRY),
    row(
        "g = tf.random.Generator.from_seed(1234, alg='threefry')\nresult = g.uniform((3,)), g.split(2)",
        ours=THREEFRY,
    ),
    *[
        exact(f"g = tf.random.Generator.from_seed(3)\nresult = {code}")
        for code in (
            "g.uniform((2,), 5, 5, tf.int32)",
            "g.uniform((2,), 0, None, tf.int32)",
            "g.normal((-1,))",
            "g.normal(3)",
            "g.normal((2,), dtype=tf.int32)",
            "g.uniform_full_int((2,), tf.int16)",
            "g.uniform((2,), 0, 5, tf.uint8)",
            "g.reset([1, 2])",
            "g.reset_from_key_counter(1, [2])",
            "tf.random.Generator()",
            "tf.random.Generator(copy_from=g, state=[1, 2, 3])",
            "tf.random.Generator.from_seed(5, 'foo')",
            "tf.random.Generator.from_state([1, 2], 'philox')",
            "tf.random.Generator.from_key_counter(5, [1], 'philox')",
            "tf.random.Generator.from_key_counter(5, [1, 2], None)",
            "tf.random.Generator.from_state(tf.Variable([1, 2, 3]), 'philox').normal((2,))",
        )
    ],
    *[
        exact(
            f"g = tf.random.Generator.from_seed(3)\nresult = tf.raw_ops.{op}(resource=g.state.handle, "
            f"algorithm=tf.constant(1, tf.int64), {arguments}), tf.identity(g.state)"
        )
        for op, arguments in (
            ("RngSkip", "delta=tf.constant(5, tf.int64)"),
            ("StatefulStandardNormalV2", "shape=[3]"),
            ("StatefulTruncatedNormal", "shape=[3], dtype=tf.float16"),
            ("StatefulUniform", "shape=[3]"),
            ("StatefulUniformFullInt", "shape=[3]"),
            ("StatefulUniformInt", "shape=[3], minval=tf.constant(0), maxval=tf.constant(9)"),
            ("StatefulRandomBinomial", "shape=[3], counts=10.0, probs=0.5"),
            ("StatefulUniformInt", "shape=[3], minval=9, maxval=9"),
            ("StatefulUniform", "shape=[-3]"),
        )
    ],
    exact(
        "g = tf.random.Generator.from_seed(3)\nresult = tf.raw_ops.RngReadAndSkip(resource=g.state.handle, alg=1, "
        "delta=tf.constant(5, tf.uint64)), tf.identity(g.state)"
    ),
    exact(
        "tf.raw_ops.RngReadAndSkip(resource=tf.Variable([1, 2], dtype=tf.int64).handle, alg=1, "
        "delta=tf.constant(5, tf.uint64))"
    ),
    exact("tf.raw_ops.NonDeterministicInts(shape=[2, 3], dtype=tf.uint32).shape.as_list()", lower=False),
    exact("tf.raw_ops.NonDeterministicInts(shape=[2], dtype=tf.float32)", lower=False),
]

_INITIALIZERS = [
    *[
        exact_each(f"{FLOATS} {INTS} bool complex64", f"tf.{kind}_initializer()((2, 3), '{{T}}')")[i]
        for kind in ("zeros", "ones")
        for i in range(14)
    ],
    exact(
        "tf.zeros_initializer()([2]), tf.ones_initializer()(3), tf.zeros_initializer()(tf.TensorShape([2]))"
    ),
    exact("tf.zeros_initializer()((4, 2), partition_shape=(2, 2), partition_offset=(0, 0))"),
    exact("tf.zeros_initializer.from_config(tf.zeros_initializer().get_config())((1,))"),
    *[
        exact(f"tf.constant_initializer({arguments}")
        for arguments in (
            "3)((2, 2))",
            "[1, 2, 3, 4])((2, 2))",
            "np.arange(4.0))((2, 2), tf.float64)",
            "'a')((2,), tf.string)",
            "1.5)((2,), tf.float16)",
            "3.0, support_partition=True)((4, 2), partition_shape=(2, 2), partition_offset=(0, 0))",
            "[1, 2, 3])((2, 2))",
            "1.5)((2,), tf.int32)",
            "{})((2,))",
            "3.0)((4, 2), partition_shape=(2, 2), partition_offset=(0, 0))",
        )
    ],
    exact(
        "tf.constant_initializer(5).get_config()['value'], tf.constant_initializer.from_config({'value': 2})(())"
    ),
    *exact_each(
        "float16 bfloat16 float32",
        "[tf.random_normal_initializer(1.0, 2.0, seed=5)((3,), '{T}') for _ in range(2)]",
    ),
    *exact_each(FLOATS, "tf.random_uniform_initializer(seed=5)((3,), '{T}')"),
    *exact_each("int32 int64", "tf.random_uniform_initializer(0, 10, seed=5)((3,), '{T}')"),
    seeded("tf.random_normal_initializer()((2, 3)), tf.random_uniform_initializer(-1.0, 1.0)((2, 3))"),
    seeded("tf.random_uniform_initializer(0, None)((2, 3))"),
    exact(
        "tf.random_normal_initializer(seed=5).get_config(), tf.random_uniform_initializer(seed=5).get_config()"
    ),
    exact(
        "tf.random_normal_initializer.from_config({'mean': 1, 'stddev': 2, 'seed': 3, 'dtype': 'float32'})((2,))"
    ),
    exact("tf.random_uniform_initializer.from_config({'minval': 1, 'maxval': 2, 'seed': 3})((2,))"),
    exact("tf.random_normal_initializer(seed=1)((4, 2), partition_shape=(2, 2), partition_offset=(2, 0))"),
    exact("tf.Variable(tf.random_normal_initializer(seed=1)((2, 2))).read_value()"),
    *[
        exact(code)
        for code in (
            "tf.zeros_initializer()((2,), tf.string)",
            "tf.ones_initializer()((2,), tf.string)",
            "tf.zeros_initializer()((2,), None)",
            "tf.zeros_initializer()((2,), foo=1)",
            "tf.random_normal_initializer()((2,), tf.int32)",
            "tf.random_normal_initializer()(3)",
            "tf.random_uniform_initializer()((2,), tf.bool)",
            "tf.random_uniform_initializer()((2,), tf.int32)",
        )
    ],
]

ROWS = [*_GENERATORS, *_INITIALIZERS]
