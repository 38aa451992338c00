"""Rows of the random ops that fill a shape or shuffle: uniform, normal, truncated normal, permutations.

Where TensorFlow promises exact values, or gives them by its algorithm, the rows of these families ask for the
same bits: rtol=0, atol=0.
"""

from rows import FLOATS, INTS, each, normal, row, value

THREEFRY = "TensorFlow has ThreeFry only when compiling with XLA; see docs/decisions/0013-random-streams.md"
INDICES = "TensorFlow loses an index here; see docs/decisions/0013-random-streams.md"


def exact(code, **options):
    """A row whose values are TensorFlow's, bit for bit."""
    return row(code, rtol=0, atol=0, grad=False, **options)


def exact_each(dtypes, code, **options):
    return each(dtypes, code, rtol=0, atol=0, grad=False, **options)


def exact_once_lowered(dtypes, code):
    """Exact rows of which only the float32 one compares the lowering, which takes seconds to compile."""
    return [row for dtype in dtypes.split() for row in exact_each(dtype, code, lower=dtype == "float32")]


def seeded(code, seed=7, **options):
    """A row of a stateful op, after setting the global seed."""
    return row(f"tf.random.set_seed({seed})\nresult = {code}", rtol=0, atol=0, grad=False, **options)


def seeded_each(dtypes, code, seed=7, **options):
    code = f"tf.random.set_seed({seed})\nresult = {code}"
    return each(dtypes, code, rtol=0, atol=0, grad=False, **options)


def both(code, **options):
    """Rows with gradients; finite differences want float64."""
    return [row(code, fd=False, **options), row(code, dtype="float64", **options)]


_STATELESS = [
    *exact_each(FLOATS, "tf.random.stateless_uniform((2, 7), [1, 2], dtype='{T}')"),
    *exact_each("float16 bfloat16 float32", "tf.random.stateless_normal((3, 5), [1, 2], dtype='{T}')"),
    *exact_each(
        "float16 bfloat16 float32", "tf.random.stateless_truncated_normal((5, 9), [3, 4], dtype='{T}')"
    ),
    # The compiled float64 logarithm is an ulp from the C library's at times.
    exact("tf.random.stateless_normal((3, 5), [1, 2], dtype='float64')", lower=False),
    exact("tf.random.stateless_truncated_normal((5, 9), [3, 4], dtype='float64')", lower=False),
    row("tf.random.stateless_normal((3,), [1, 2], dtype='float64')", grad=False),
    row("tf.random.stateless_truncated_normal((5,), [3, 4], dtype=tf.float64)", grad=False),
    *exact_each("int32 int64", "tf.random.stateless_uniform((11,), [1, 2], -5, 100, dtype='{T}')"),
    *exact_each("int32 int64 uint32 uint64", "tf.random.stateless_uniform((7,), [1, 2], None, None, '{T}')"),
    exact("tf.random.stateless_uniform((6,), [1, 2], -2**63, 2**63 - 1, dtype=tf.int64)"),
    exact("tf.random.stateless_uniform((6,), [1, 2], -2**31, 2**31 - 1, dtype=tf.int32)"),
    exact("tf.random.stateless_uniform((6,), [1, 2], 0, 256, dtype=tf.int32)"),
    exact("tf.random.stateless_uniform((3,), [1, 2], -1.5, 2.5)"),
    *both("tf.random.stateless_uniform((2, 3), [1, 2], a, b, '{T}')", a=normal(3), b=value([1.0, 2.0, 3.0])),
    *both("tf.random.stateless_normal((2, 3), [1, 2], a, b, '{T}')", a=normal(3), b=normal(2, 1)),
    *both("tf.random.stateless_truncated_normal((2, 3), [1, 2], a, b, '{T}')", a=normal(), b=normal(3)),
    exact("tf.random.stateless_normal((5,), [1, 2], 3.0, 0.5)"),
    exact("tf.random.stateless_normal((5,), [1, 2], 3, 2)"),
    *[
        exact(f"tf.random.stateless_uniform((5,), {seed})")
        for seed in ("[0, 0]", "[-1, 5]", "[2**31 - 1, -2**31]", "[2**40 + 3, -2**50]", "np.array([3, 4])")
    ],
    *[
        exact(
            f"tf.random.stateless_normal({shape}, [5, 6]), tf.random.stateless_truncated_normal({shape}, [5, 6])"
        )
        for shape in (
            "()",
            "[]",
            "(1,)",
            "(4,)",
            "(5,)",
            "(0,)",
            "(3, 0)",
            "tf.constant([2, 2])",
            "[2, np.int64(3)]",
        )
    ],
    exact("tf.random.stateless_normal((60001,), [5, 6])[-7:]", lower=False),
    exact("tf.random.stateless_uniform((60001,), [5, 6])[-7:]", lower=False),
    exact("tf.random.stateless_truncated_normal((60001,), [5, 6])[-70:]", lower=False),
    exact("tf.random.stateless_uniform((3,), [1, 2], alg='philox')"),
    exact("tf.random.stateless_uniform((3,), [1, 2], alg=tf.random.Algorithm.PHILOX)"),
    exact("tf.random.stateless_normal((3,), [1, 2], alg=tf.random.experimental.Algorithm.AUTO_SELECT)"),
    exact("tf.random.stateless_normal((3,), [1, 2], alg=1)"),
    exact("tf.random.stateless_normal((3,), [1, 2], alg=None)"),
    row("tf.random.stateless_uniform((4, 3), [1, 2], alg='threefry')", ours=THREEFRY),
    row("tf.random.stateless_normal((4, 3), [1, 2], alg='threefry')", ours=THREEFRY),
    row("tf.random.stateless_truncated_normal((4, 3), [1, 2], alg='Three-Fry')", ours=THREEFRY),
    row("tf.random.stateless_uniform((3,), [1, 2], 0, 9, tf.int32, alg='threefry')", ours=THREEFRY),
    row("tf.random.stateless_uniform((3,), [1, 2], None, None, tf.uint64, alg='threefry')", ours=THREEFRY),
    *[
        exact(f"tf.raw_ops.{name}(shape=[5], seed=[1, 2], dtype='{dtype}')")
        for name in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")
        for dtype in ("float16", "float32")
    ],
    exact("tf.raw_ops.StatelessRandomUniformInt(shape=[5], seed=[1, 2], minval=-3, maxval=9)"),
    exact("tf.raw_ops.StatelessRandomUniformFullInt(shape=[5], seed=[1, 2], dtype=tf.int32)"),
    exact("tf.raw_ops.StatelessRandomUniformFullInt(shape=[5], seed=tf.constant([1, 2], tf.uint64))"),
    exact("tf.raw_ops.StatelessRandomGetKeyCounter(seed=[1, -2])"),
    exact("tf.raw_ops.StatelessRandomGetKeyCounterAlg(seed=tf.constant([1, 2**40], tf.int64))"),
    exact("tf.raw_ops.StatelessRandomGetAlg()"),
    *[
        exact(
            f"tf.raw_ops.{name}(shape=[9], key=tf.constant([2**64 - 5], tf.uint64), "
            "counter=tf.constant([2**64 - 1, 2**64 - 1], tf.uint64), alg=1)"
        )
        for name in (
            "StatelessRandomUniformV2",
            "StatelessRandomNormalV2",
            "StatelessTruncatedNormalV2",
            "StatelessRandomUniformFullIntV2",
        )
    ],
    exact(
        "tf.raw_ops.StatelessRandomUniformIntV2(shape=tf.constant([9], tf.int64), "
        "key=tf.constant([3], tf.uint64), counter=tf.constant([4, 5], tf.uint64), alg=3, minval=0, maxval=7)"
    ),
    *[
        exact(
            f"tf.raw_ops.StatelessRandomUniformV2(shape=[2], key=tf.constant({key}, tf.uint64), "
            f"counter=tf.constant({counter}, tf.uint64), alg={alg})"
        )
        for key, counter, alg in (
            ("[1, 2]", "[1, 2]", "1"),
            ("1", "[1, 2]", "1"),
            ("[1]", "[]", "1"),
            ("[1]", "[[1, 2]]", "1"),
            ("[1]", "[1, 2]", "7"),
            ("[1]", "[1, 2]", "[1]"),
        )
    ],
    row(
        "tf.raw_ops.StatelessRandomUniformV2(shape=[2], key=tf.constant([1], tf.uint64), "
        "counter=tf.constant([1], tf.uint64), alg=1)",
        ours="TensorFlow reads beyond the counter",
    ),
    exact("tf.random.split([1, 2], 3), tf.random.split(tf.constant([1, 2], tf.int64))"),
    exact("tf.random.experimental.stateless_split([1, 2], num=1)"),
    exact("tf.random.fold_in([1, 2], 3), tf.random.fold_in([1, 2], tf.constant(3, tf.int64))"),
    exact("tf.random.experimental.stateless_fold_in([1, 2], 3)"),
    *[
        exact(code)
        for code in (
            "tf.random.stateless_uniform([3], [1, 2, 3])",
            "tf.random.stateless_uniform([3], 1)",
            "tf.random.stateless_uniform([3], [1.0, 2.0])",
            "tf.random.stateless_uniform([3], tf.constant([1, 2], tf.uint32))",
            "tf.random.stateless_uniform([-3], [1, 2])",
            "tf.random.stateless_normal([[3]], [1, 2])",
            "tf.random.stateless_normal(3, [1, 2])",
            "tf.random.stateless_normal([1.5], [1, 2])",
            "tf.random.stateless_uniform([2**40, 2**40], [1, 2])",
            "tf.random.stateless_uniform([3], [1, 2], 5, 5, tf.int32)",
            "tf.random.stateless_uniform([0], [1, 2], 5, 5, tf.int32)",
            "tf.random.stateless_uniform([3], [1, 2], [5, 6, 7], 10, tf.int32)",
            "tf.random.stateless_uniform([3], [1, 2], 0, [9], tf.int32)",
            "tf.random.stateless_uniform([3], [1, 2], None, 5, tf.int32)",
            "tf.random.stateless_uniform([3], [1, 2], 0, None, tf.int32)",
            "tf.random.stateless_uniform([3], [1, 2], 0, 5, tf.uint32)",
            "tf.random.stateless_uniform([3], [1, 2], dtype=tf.complex64)",
            "tf.random.stateless_uniform([3], [1, 2], dtype=tf.int8)",
            "tf.random.stateless_normal([3], [1, 2], dtype=tf.int32)",
            "tf.random.stateless_normal([3], [1, 2], dtype=tf.complex64)",
            "tf.random.stateless_normal([3], [1, 2], alg='foo')",
            "tf.random.stateless_normal([3], [1, 2], alg=7)",
            "tf.random.stateless_normal([3], [1, 2], alg=3.5)",
            "tf.raw_ops.StatelessRandomUniformInt(shape=[5], seed=[1, 2], minval=9, maxval=9)",
            "tf.raw_ops.StatelessRandomUniform(shape=[5], seed=[1, 2, 3])",
            "tf.raw_ops.StatelessRandomUniform(shape=[5], seed=[1, 2], dtype=tf.int32)",
        )
    ],
]

_STATEFUL = [
    *seeded_each(FLOATS, "tf.random.uniform((2, 7), dtype='{T}')"),
    *seeded_each("float16 bfloat16 float32", "tf.random.normal((5,), dtype='{T}')"),
    *seeded_each("float16 bfloat16 float32", "tf.random.truncated_normal((9,), dtype='{T}', seed=3)"),
    seeded("tf.random.normal((5,), dtype=tf.float64)", lower=False),
    seeded("tf.random.truncated_normal((5,), dtype=tf.float64)", lower=False),
    *seeded_each("int32 int64", "tf.random.uniform((7,), -3, 40, dtype='{T}')"),
    seeded("[tf.random.uniform((2,)) for _ in range(4)]"),
    seeded("[tf.random.uniform((2,), seed=3) for _ in range(4)]"),
    seeded(
        "[tf.random.normal((2,), seed=3), tf.random.uniform((2,), seed=3), tf.random.normal((3,), seed=3)]"
    ),
    seeded(
        "[tf.random.uniform((2,), seed=3), tf.random.uniform((2,), seed=3, dtype=tf.float64), "
        "tf.random.uniform((5,), seed=3), tf.random.uniform(tf.constant([2], tf.int64), seed=3), "
        "tf.random.uniform((2,), seed=3)]",
        lower=False,
    ),
    row(
        "tf.random.set_seed(1)\na = [tf.random.normal((2,)), tf.random.uniform((3,), seed=5)]\n"
        "tf.random.set_seed(1)\nresult = a, [tf.random.normal((2,)), tf.random.uniform((3,), seed=5)]",
        rtol=0,
        atol=0,
        grad=False,
    ),
    *[
        seeded("tf.random.uniform((3,)), tf.random.uniform((3,), seed=4)", seed)
        for seed in (0, -1, 2**31, 2**40 + 5)
    ],
    seeded("tf.random.uniform((3,), seed=0), tf.random.uniform((3,), seed=-1)", 0),
    seeded("tf.random.uniform((3,), seed=2**40), tf.random.uniform((3,), seed=np.int64(5))", "np.int32(5)"),
    seeded("tf.random.uniform((3,))", "tf.constant(3)"),
    seeded("tf.random.uniform((3,), seed=5)", None, lower=False),
    seeded("tf.random.uniform((3,))", "'abc'"),
    seeded("tf.random.uniform((3,), seed='abc')"),
    seeded("tf.random.uniform((4,), 2, 5), tf.random.uniform((4,), 0, 5), tf.random.uniform((4,), 0.0, 1.0)"),
    seeded("tf.random.uniform((4,), maxval=3.5), tf.random.uniform((4,), minval=-1.0)"),
    seeded("tf.random.normal((4,), 3.0, 2.0), tf.random.truncated_normal((4,), 1, 3)"),
    *both(
        "tf.random.set_seed(7)\nresult = tf.random.normal((2, 3), a, b, '{T}')", a=normal(3), b=normal(2, 1)
    ),
    *both("tf.random.set_seed(7)\nresult = tf.random.uniform((2, 3), a, 9.0, '{T}')", a=normal(3)),
    seeded("tf.random.normal(()), tf.random.uniform([]), tf.random.normal((0, 3)), tf.random.uniform((2,))"),
    seeded("tf.random.uniform([], maxval=3, dtype=tf.int32, seed=10)", 5),
    seeded("tf.random.uniform([0], 5, 5, tf.int32)"),
    seeded("tf.random.normal((50001,))[-5:]", lower=False),
    exact("tf.random.set_seed(None)\nresult = tf.random.uniform((3,), 1, 2).shape.as_list()", lower=False),
    *[
        seeded(
            f"[tf.raw_ops.{op}(shape=[3], dtype=tf.float32, seed={seed}, seed2={seed2}) for _ in range(2)]"
        )
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
        for seed, seed2 in ((1, 2), (0, 5), (-5, -6), (2**40, 2**50))
    ],
    seeded("tf.raw_ops.RandomUniformInt(shape=[5], minval=3, maxval=9, seed=3, seed2=4)"),
    *[
        seeded(code)
        for code in (
            "tf.random.uniform(3)",
            "tf.random.uniform([-3])",
            "tf.random.normal([[2]])",
            "tf.random.uniform([2], 5, 4, tf.int32)",
            "tf.random.uniform([2], [5, 6], 9, tf.int32)",
            "tf.random.uniform([2], dtype=tf.complex64)",
            "tf.random.uniform([2], dtype=tf.uint8)",
            "tf.random.uniform([2], dtype=tf.int32)",
            "tf.random.normal([2], dtype=tf.int32)",
            "tf.raw_ops.RandomUniform(shape=[2], dtype=tf.int32)",
            "tf.raw_ops.RandomUniform(shape=[2.5], dtype=tf.float32)",
        )
    ],
]

_SHUFFLES = [
    *[seeded(f"tf.random.shuffle(tf.range({size}), seed=1)") for size in (0, 1, 2, 5, 100, 1000)],
    seeded("[tf.random.shuffle(tf.range(10)) for _ in range(3)]"),
    seeded("[tf.random.shuffle(tf.range(10), seed=2) for _ in range(3)]"),
    seeded("tf.random.shuffle(tf.reshape(tf.range(24.0), [6, 2, 2])), tf.random.shuffle(3.0)"),
    seeded("tf.random.shuffle(['a', 'b', 'c', 'd'])"),
    *seeded_each(f"{FLOATS} {INTS}", "tf.random.shuffle(tf.cast(tf.range(6), '{T}'))"),
    seeded("tf.raw_ops.RandomShuffle(value=[5, 6, 7, 8], seed=3, seed2=4)"),
    *[
        exact(f"tf.random.experimental.stateless_shuffle(tf.range({n}), [1, 2])")
        for n in (0, 1, 2, 7, 255, 256, 700)
    ],
    exact("tf.random.experimental.stateless_shuffle([[1, 2], [3, 4], [5, 6]], [8, 9])"),
    exact("tf.random.experimental.stateless_shuffle(['a', 'b', 'c'], [1, 2], alg='philox')"),
    exact("tf.random.experimental.stateless_shuffle(5.0, [1, 2])"),
    exact(
        "tf.raw_ops.StatelessShuffle(value=[1, 2, 3], key=tf.constant([3], tf.uint64), "
        "counter=tf.constant([4, 5], tf.uint64), alg=1)"
    ),
    exact("tf.random.experimental.stateless_shuffle([1, 2], [1, 2], alg='threefry')"),
    exact("tf.random.experimental.stateless_shuffle([1, 2], [1])"),
    *exact_once_lowered(
        "int32 int64 uint32 uint64",
        "tf.random_index_shuffle(tf.cast(tf.range(10), '{T}'), [1, 2, 3], tf.constant(9, '{T}'))",
    ),
    *[
        exact(
            f"tf.random_index_shuffle(tf.constant([0, 1, {n}], tf.int64), [1, 2, 3], tf.constant({n}, tf.int64), {r})",
            lower=n < 2**16 and r == 4,
        )
        for n in (1, 255, 65535, 65537, 2**20 - 1, 2**40 + 7, 2**63 - 1)
        for r in (4, 8)
    ],
    row("tf.random_index_shuffle(tf.range(65537), [1, 2, 3], 65536)", ours=INDICES, lower=False),
    exact("tf.random_index_shuffle([1, 1], tf.constant([[1, 2, 3], [4, -5, 6]], tf.int64), 9)"),
    exact(
        "tf.random_index_shuffle(0, [1, 2, 3], 0), tf.random_index_shuffle(1, [1, 2, 3], [5, 9, 300])",
        lower=False,
    ),
    exact("tf.random.experimental.index_shuffle(tf.range(10), [5, 8], 9)"),
    exact(
        "tf.random.experimental.index_shuffle(3, [5, 8], 9), tf.random.experimental.index_shuffle(1, [5, 8], [9, 10])"
    ),
    row("tf.random.experimental.index_shuffle(tf.range(2), [[5, 8], [1, 2]], [9, 9])", ours=INDICES),
    *[
        exact(code)
        for code in (
            "tf.random.experimental.index_shuffle(7, [1, 2], 4)",
            "tf.random.experimental.index_shuffle(0, [1, 2], -4)",
            "tf.random.experimental.index_shuffle(0, [1, 2, 3], 4)",
            "tf.random_index_shuffle([[1, 2]], [1, 2, 3], 5)",
            "tf.random_index_shuffle([1, 2], [1, 2, 3], [5, 6, 7])",
            "tf.random_index_shuffle(-1, [1, 2, 3], 5)",
            "tf.random_index_shuffle(tf.zeros([0], tf.int32), [1, 2, 3], 5)",
        )
    ],
    row(
        "tf.random_index_shuffle(1, [1, 2, 3], 5, rounds=3)",
        ours="TensorFlow reads beyond its table of round keys",
    ),
]

ROWS = [*_STATELESS, *_STATEFUL, *_SHUFFLES]
