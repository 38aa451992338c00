"""Rows of the categorical, gamma, Poisson, binomial and bounded normal distributions, and of candidates."""

from rows import FLOATS, each, normal, row, value

from cases.random.random import exact, exact_each, exact_once_lowered, seeded

THREADS = "TensorFlow's result depends on its number of threads; see docs/decisions/0013-random-streams.md"
MORE_DTYPES = "TensorFlow's CPU has no kernel for this dtype, which its op allows"
COUNTS = "float16 float32 float64 int32 int64"

_LOGITS = dict(a=normal(3, 5), grad=False, rtol=0, atol=0)
_CATEGORICAL = [
    *each(FLOATS, "tf.random.stateless_categorical(a, 4, [1, 2])", **_LOGITS),
    *each(
        "float32 float64", "tf.random.set_seed(7)\nresult = tf.random.categorical(a, 6, seed=3)", **_LOGITS
    ),
    row("tf.random.set_seed(7)\nresult = [tf.random.categorical(a, 3) for _ in range(3)]", **_LOGITS),
    row(
        "tf.random.set_seed(7)\nresult = [tf.random.categorical(a, 3, tf.int32, 4) for _ in range(3)]",
        **_LOGITS,
    ),
    row("tf.random.stateless_categorical(a, 4, [1, 2], tf.int32)", **_LOGITS),
    row("tf.random.stateless_categorical(a, 30, [1, 2])", **{**_LOGITS, "a": normal(1, 300)}),
    row("tf.random.stateless_categorical(a, 2, [1, 2])", **{**_LOGITS, "a": normal(13, 7)}),
    row("tf.random.stateless_categorical(a, 70, [1, 2])", **{**_LOGITS, "a": normal(5, 3)}),
    row("tf.random.stateless_categorical(a, 0, [1, 2])", **_LOGITS),
    row("tf.random.stateless_categorical(a, 3, [1, 2])", **{**_LOGITS, "a": normal(0, 3)}),
    row("tf.random.stateless_categorical(a, 3, [1, 2])", **{**_LOGITS, "a": normal(3, 1)}),
    exact("tf.random.stateless_categorical([[0.0, -np.inf, 1.0, np.nan, np.inf, -1.0]], 20, [1, 2])"),
    exact("tf.random.stateless_categorical([[-np.inf, -np.inf]], 3, [1, 2])"),
    exact("tf.random.stateless_categorical([[1000.0, 999.0, 0.0]], 12, [1, 2])"),
    row(
        "tf.raw_ops.StatelessMultinomial(logits=a, num_samples=4, seed=[3, 4], output_dtype=tf.int32)",
        **_LOGITS,
    ),
    row(
        "tf.random.set_seed(2)\nresult = tf.raw_ops.Multinomial(logits=a, num_samples=4, seed=3, seed2=4)",
        **_LOGITS,
    ),
    row("tf.random.categorical(tf.zeros([2, 3], tf.int32), 3)", ours=MORE_DTYPES),
    *[
        exact(code)
        for code in (
            "tf.random.categorical([1.0, 2.0], 3)",
            "tf.random.categorical([[1.0, 2.0]], -3)",
            "tf.random.categorical(tf.zeros([2, 0]), 3)",
            "tf.random.categorical([[1.0, 2.0]], [3])",
            "tf.random.categorical([[1.0, 2.0]], 3, dtype=tf.float32)",
            "tf.random.stateless_categorical([[1.0, 2.0]], 3, [1, 2], dtype=tf.uint8)",
            "tf.random.stateless_categorical([[1.0, 2.0]], 3, [1])",
            "tf.raw_ops.StatelessMultinomial(logits=[[1.0]], num_samples=4, seed=[3, 4], output_dtype=tf.float32)",
        )
    ],
]

_REJECTING = [
    *exact_each(
        "float16 float32 float64",
        "tf.raw_ops.StatelessRandomGammaV2(shape=[50, 6], seed=[1, 2], "
        "alpha=tf.constant([0.1, 0.5, 1.0, 1.5, 3.0, 100.0], '{T}'))",
        lower=False,
    ),
    *each(
        "float32 float64",
        "tf.random.stateless_gamma([20, 3], [1, 2], a, dtype='{T}')",
        a=value([0.5, 1.0, 4.0]),
        fd=False,
    ),
    row(
        "tf.random.stateless_gamma([20, 3], [1, 2], a, dtype=tf.float16)",
        a=value([0.5, 1.0, 4.0]),
        dtype="float16",
        ours=MORE_DTYPES,
    ),
    exact("tf.random.stateless_gamma([20], [1, 2], 0.5, dtype=tf.float16)", lower=False),
    row(
        "tf.random.stateless_gamma([7, 2, 3], [1, 2], a, b)",
        a=value([0.5, 2.0, 4.0]),
        b=value([[1.0], [3.0]]),
        fd=False,
    ),
    row(
        "tf.random.stateless_gamma([7, 3], [1, 2], a, b, dtype=tf.float64)",
        a=value([2.0]),
        b=value([0.5, 2.0, 4.0]),
        dtype="float64",
        fd=False,
    ),
    row("tf.random.stateless_gamma([5], [1, 2], a)", a=value(0.01), fd=False),
    row(
        "tf.random.set_seed(7)\nresult = tf.random.gamma([9], a, seed=2)", a=value([0.5, 1.0, 4.0]), fd=False
    ),
    row(
        "tf.random.set_seed(7)\nresult = tf.random.gamma([4, 2], a, b)",
        a=value([0.5, 2.0]),
        b=value(3.0),
        fd=False,
        lower=False,
    ),
    row(
        "tf.random.set_seed(7)\nresult = [tf.random.gamma([3], 2.0, seed=1) for _ in range(3)]",
        grad=False,
        lower=False,
    ),
    row("tf.random.gamma([0], [1.0, 2.0])", grad=False),
    row("tf.random.gamma([2], tf.zeros([0]))", grad=False),
    row("tf.random.stateless_gamma([2, 0], [1, 2], tf.zeros([0]))", grad=False),
    *each(
        "float16 float32 float64",
        "tf.random.set_seed(7)\nresult = tf.raw_ops.RandomGamma(shape=[9], alpha=a, seed=1, seed2=2)",
        a=value([0.5, 1.0, 4.0]),
        grad=False,
    ),
    row(
        "tf.raw_ops.StatelessRandomGammaV3(shape=[9, 2], key=tf.constant([3], tf.uint64), "
        "counter=tf.constant([4, 5], tf.uint64), alg=1, alpha=a)",
        a=value([0.5, 4.0]),
        fd=False,
    ),
    *each(
        "float32 float64",
        "tf.raw_ops.RandomGammaGrad(alpha=a, sample=b)",
        a=value([0.1, 0.5, 1.0, 2.0, 30.0]),
        b=value([0.2, 0.1, 3.0, 1.5, 33.0]),
        grad=False,
    ),
    row(
        "tf.raw_ops.RandomGammaGrad(alpha=a, sample=b)",
        a=value([[0.5], [2.0]]),
        b=value([0.1, 1.0, 5.0]),
        grad=False,
    ),
    *[
        exact(code)
        for code in (
            "tf.random.stateless_gamma([3, 2], [1, 2], [1.0, 2.0, 3.0])",
            "tf.random.stateless_gamma([3], [1, 2, 3], 1.0)",
            "tf.random.stateless_gamma([3], [1, 2], 1.0, dtype=tf.int32)",
            "tf.random.stateless_gamma([3], [1, 2], 1.0, dtype=tf.bfloat16)",
            "tf.random.gamma([-3], 1.0)",
            "tf.random.gamma(3, 1.0)",
        )
    ],
    *exact_once_lowered(
        COUNTS,
        "tf.random.stateless_poisson([40, 7], [1, 2], [0.0, 0.5, 3.0, 9.9, 10.0, 20.0, 1000.0], '{T}')",
    ),
    *exact_once_lowered(
        COUNTS, "tf.random.stateless_poisson([20, 3], [1, 2], tf.constant([1, 5, 30], '{T}'))"
    ),
    *exact_once_lowered(
        COUNTS, "tf.random.set_seed(7)\nresult = tf.random.poisson([9], [0.5, 3.0, 30.0], '{T}', seed=4)"
    ),
    seeded("[tf.random.poisson([3], 2.0) for _ in range(3)]", lower=False),
    seeded("tf.random.poisson([4], 3), tf.random.poisson([2, 2], np.array([0.1, 40.0]))", lower=False),
    seeded("tf.raw_ops.RandomPoissonV2(shape=[9], rate=[0.5, 30.0], seed=1, seed2=2)"),
    exact("tf.random.stateless_poisson([3], [1, 2], np.inf, tf.float32)"),
    exact("tf.random.stateless_poisson([3], [1, 2], -1.0)", lower=False),
    exact("tf.random.poisson([0], tf.zeros([2])), tf.random.poisson([3], tf.zeros([0]))", lower=False),
    *[
        exact(code)
        for code in (
            "tf.random.stateless_poisson([3, 2], [1, 2], [1.0, 2.0, 3.0])",
            "tf.random.stateless_poisson([3], [1, 2, 3], 1.0)",
            "tf.random.stateless_poisson([3], [1, 2], 1.0, dtype=tf.complex64)",
            "tf.random.poisson([-3], 1.0)",
            "tf.random.poisson([3], 1.0, dtype=tf.uint8)",
        )
    ],
    *exact_once_lowered(
        COUNTS,
        "tf.random.stateless_binomial([30, 4, 7], [1, 2], [[1.0], [20.0], [100.0], [1000.0]], "
        "[0.0, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0], '{T}')",
    ),
    *exact_once_lowered(
        "float16 float32 float64",
        "tf.random.stateless_binomial([20, 3], [1, 2], "
        "tf.constant([3.0, 40.0, 500.0], '{T}'), tf.constant(0.3, '{T}'))",
    ),
    row("tf.random.stateless_binomial([20], [1, 2], 10, tf.constant(1))", ours=MORE_DTYPES, lower=False),
    exact("tf.random.stateless_binomial([3], [1, 2], 10.0, np.nan, tf.float32)"),
    exact("tf.random.stateless_binomial([3], [1, 2], [2.5, -1.0, 10.0], [0.5, 0.5, 2.0])", lower=False),
    exact("tf.random.stateless_binomial([0], [1, 2], 10.0, 0.5)"),
    *[
        exact(code)
        for code in (
            "tf.random.stateless_binomial([3], [1, 2], [1.0, 2.0], 0.5)",
            "tf.random.stateless_binomial([3], [1, 2], [1.0, 2.0], [0.5, 0.5, 0.5])",
            "tf.random.stateless_binomial([3], [1, 2, 3], 10.0, 0.5)",
            "tf.random.stateless_binomial([-3], [1, 2], 10.0, 0.5)",
            "tf.random.stateless_binomial([3], [1, 2], 10.0, 0.5, tf.uint8)",
        )
    ],
]

_TRUNCATED = [
    *[
        exact_each(
            "float16 float32 float64",
            "tf.random.stateless_parameterized_truncated_normal([37], [1, 2], "
            + ", ".join(f"tf.constant({x}, '{{T}}')" for x in parameters)
            + ")",
            lower=False,
        )[i]
        for parameters in (
            (0.0, 1.0, -2.0, 2.0),
            (0.0, 1.0, -0.5, 0.5),
            (0.0, 1.0, 3.0, 5.0),
            (0.0, 1.0, 3.0, "np.inf"),
            (1.0, 2.0, "-np.inf", -4.0),
            (5.0, 1.0, -10.0, 0.0),
            (0.0, 1.0, 0.0, 0.1),
        )
        for i in range(3)
    ],
    row(
        "tf.random.stateless_parameterized_truncated_normal([9, 2, 3], [1, 2], a, b, c, d)",
        a=normal(3),
        b=value([[1.0], [2.0]]),
        c=value(-4.0),
        d=value([3.0, 4.0, 10.0]),
        fd=False,
    ),
    row(
        "tf.random.stateless_parameterized_truncated_normal([5], [3, 4], a, b, c, d)",
        a=value(1.0),
        b=value(2.0),
        c=value(-1.0),
        d=value(4.0),
        dtype="float64",
        fd=False,
    ),
    row("tf.random.stateless_parameterized_truncated_normal([3, 40], [3, 4], tf.zeros([40]))", ours=THREADS),
    exact("tf.random.stateless_parameterized_truncated_normal([4], [3, 4])"),
    *[
        exact_each(
            "float16 float32 float64",
            "tf.random.set_seed(1)\nresult = tf.raw_ops.ParameterizedTruncatedNormal(shape=[5, 7], "
            "means=tf.constant([0.0, 1.0, 2.0, 3.0, 4.0], '{T}'), stdevs=tf.constant([1.0], '{T}'), "
            "minvals=tf.constant([-1.0], '{T}'), maxvals=tf.constant([3.0, 4.0, 10.0, 5.0, 6.0], '{T}'), "
            "seed=5, seed2=6)",
        )[i]
        for i in range(3)
    ],
    seeded(
        "tf.raw_ops.ParameterizedTruncatedNormal(shape=[30, 7], means=0.0, stdevs=1.0, minvals=-1.0, maxvals=2.0, "
        "seed=7, seed2=8)"
    ),
    *[
        exact(code)
        for code in (
            "tf.random.stateless_parameterized_truncated_normal([3], [1, 2], 0.0, 1.0, 2.0, 1.0)",
            "tf.random.stateless_parameterized_truncated_normal([3], [1, 2], 0.0, -1.0, 0.0, 1.0)",
            "tf.random.stateless_parameterized_truncated_normal([3], [1, 2], 0.0, 1.0, -np.inf, np.inf)",
            "tf.random.stateless_parameterized_truncated_normal([3], [1, 2], [0.0, 1.0])",
            "tf.random.stateless_parameterized_truncated_normal([3], [1, 2], [0.0, 1.0], [1.0, 1.0, 1.0])",
            "tf.random.stateless_parameterized_truncated_normal([3], [1, 2, 3])",
            "tf.raw_ops.ParameterizedTruncatedNormal(shape=[5], means=[[0.0]], stdevs=1.0, minvals=-1.0, maxvals=2.0)",
            "tf.raw_ops.ParameterizedTruncatedNormal(shape=[5], means=[0.0, 1.0], stdevs=1.0, minvals=-1.0, maxvals=2.0)",
        )
    ],
]

_TRUE = "[[1, 2], [3, 4], [0, 9]]"
_CANDIDATES = [
    *[
        # Expected counts go through the C library's float32 logarithm: an ulp is allowed.
        row(
            f"tf.random.set_seed(3)\nresult = tf.random.{sampler}_candidate_sampler({_TRUE}, 2, {count}, {unique}, 10, seed=5)",
            grad=False,
            rtol=1e-6,
            atol=0,
        )
        for sampler in ("uniform", "log_uniform", "learned_unigram")
        for count, unique in ((1, False), (5, False), (12, False), (5, True), (10, True))
    ],
    *[
        row(
            f"tf.random.set_seed(3)\nresult = tf.{module}.fixed_unigram_candidate_sampler({_TRUE}, 2, {count}, {unique}, 10, "
            "unigrams=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], distortion=0.75, seed=5)",
            grad=False,
            rtol=1e-6,
            atol=0,
        )
        for module in ("random", "nn")
        for count, unique in ((5, False), (40, False), (9, True))
    ],
    row(
        f"tf.random.set_seed(3)\nresult = tf.random.fixed_unigram_candidate_sampler({_TRUE}, 2, 5, False, 12, "
        "unigrams=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], num_reserved_ids=2)",
        grad=False,
    ),
    row(
        "tf.random.set_seed(3)\nresult = tf.random.fixed_unigram_candidate_sampler([[0, 1]], 2, 5, False, 6, "
        "unigrams=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], num_reserved_ids=2, num_shards=2, shard=1)",
        grad=False,
    ),
    seeded(f"[tf.nn.learned_unigram_candidate_sampler({_TRUE}, 2, 6, False, 10, seed=5) for _ in range(3)]"),
    seeded(f"[tf.random.uniform_candidate_sampler({_TRUE}, 2, 6, False, 16) for _ in range(3)]"),
    seeded("tf.random.uniform_candidate_sampler([[1]], 1, 3000, False, 1000003)[0][-9:]"),
    row(
        "tf.random.set_seed(3)\nresult = tf.random.uniform_candidate_sampler([[1]], 1, 900, True, 1007)",
        grad=False,
    ),
    exact(
        f"tf.random.all_candidate_sampler({_TRUE}, 2, 10, True), tf.nn.all_candidate_sampler({_TRUE}, 2, 10, False)"
    ),
    seeded(
        "tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(true_classes=[[1]], num_true=1, num_sampled=6, unique=False, "
        "range_max=9, seed=1, seed2=2)"
    ),
    exact(f"tf.nn.compute_accidental_hits({_TRUE}, [3, 8, 1, 3, 9], 2)"),
    exact(f"tf.nn.compute_accidental_hits({_TRUE}, tf.zeros([0], tf.int64), 2)"),
    exact(f"tf.nn.compute_accidental_hits(np.array({_TRUE}), tf.constant([11, 12], tf.int64), 2, seed=3)"),
    *[
        exact(code.replace("TRUE", _TRUE))
        for code in (
            "tf.random.uniform_candidate_sampler(TRUE, 2, 11, True, 10)",
            "tf.random.uniform_candidate_sampler(TRUE, 1, 5, True, 10)",
            "tf.random.uniform_candidate_sampler(TRUE, 2, 5, True, 9)",
            "tf.random.uniform_candidate_sampler(TRUE, 2, 0, True, 10)",
            "tf.random.uniform_candidate_sampler([1, 2], 2, 5, True, 10)",
            "tf.random.uniform_candidate_sampler(TRUE, 2, 5, True, 0)",
            "tf.random.uniform_candidate_sampler(tf.constant(TRUE), 2, 5, True, 10)",
            "tf.random.fixed_unigram_candidate_sampler(TRUE, 2, 5, True, 10)",
            "tf.random.fixed_unigram_candidate_sampler(TRUE, 2, 5, True, 10, unigrams=[1.0])",
            "tf.random.fixed_unigram_candidate_sampler(TRUE, 2, 5, True, 10, vocab_file='/no/such/file')",
            "tf.random.all_candidate_sampler(TRUE, 2, 5, True)",
            "tf.nn.compute_accidental_hits(TRUE, [[1]], 2)",
            "tf.nn.compute_accidental_hits(TRUE, [1], 1)",
        )
    ],
]

ROWS = [*_CATEGORICAL, *_REJECTING, *_TRUNCATED, *_CANDIDATES]
