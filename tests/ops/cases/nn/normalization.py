"""Rows of bias, batch and response normalisation, moments, unit length and dropout."""

from rows import COMPLEXES, FLOATS, INTS, each, normal, row, uniform, value

_DOUBLE = "TensorFlow's fused batch normalisation has no float64; headrace's has"
_FUSED = "tf.raw_ops.{op}(x=a, scale=s, offset=o, mean=m, variance=v{more})"
_FUSED_GRAD = "tf.raw_ops.{op}(y_backprop=g, x=a, scale=s, reserve_space_1=m, reserve_space_2=v{more})"


def fused(op="FusedBatchNormV3", more="", *, a=(2, 3, 2, 4), dtype="float32", given=True, **options):
    """A fused batch normalisation; `given` says whether running statistics are."""
    statistics = {"m": normal(4, dtype="float32"), "v": uniform(0.5, 2.0, 4, dtype="float32")}
    if not given:
        statistics = {"m": value([], "float32"), "v": value([], "float32")}
    # TensorFlow leaves what it reserves for the gradient unset when it does not train, or on nothing.
    kept = "[:3]" if "is_training=False" in more or 0 in a else ""
    # Only the first output has gradients, and none for the statistics: those rows come below.
    options.setdefault("fd", False)
    return row(
        _FUSED.format(op=op, more=more) + kept,
        dtype=dtype,
        **{
            "a": normal(*a),
            "s": uniform(0.5, 2.0, 4, dtype="float32"),
            "o": normal(4, dtype="float32"),
            **statistics,
            **options,
        },
    )


def fused_gradient(op="FusedBatchNormGradV3", more="", *, a=(2, 3, 2, 4), g=None, dtype="float32", **options):
    if op.endswith("V3"):
        more = ", reserve_space_3=0.0" + more
    return row(
        _FUSED_GRAD.format(op=op, more=more),
        dtype=dtype,
        **{
            "g": normal(*(g or a)),
            "a": normal(*a),
            "s": uniform(0.5, 2.0, 4, dtype="float32"),
            "m": normal(4, dtype="float32"),
            "v": uniform(0.5, 2.0, 4, dtype="float32"),
            **options,
        },
    )


ROWS = [
    # bias
    *each(f"{FLOATS} {COMPLEXES} {INTS}", "tf.nn.bias_add(a, b)", a=normal(2, 3, 4), b=normal(4)),
    row("tf.nn.bias_add(a, b)", a=normal(2, 3), b=normal(3)),
    row("tf.nn.bias_add(a, b, 'NCHW')", a=normal(2, 3, 2, 2), b=normal(3)),
    row("tf.nn.bias_add(a, b, data_format='NC..')", a=normal(2, 3, 4), b=normal(3)),
    row("tf.nn.bias_add(a, b, 'N..C')", a=normal(2, 3, 2, 2, 2), b=normal(2)),
    row("tf.nn.bias_add(a, b, 'NCHW')", a=normal(2, 3, 1, 1, 1, 2), b=normal(3)),
    row("tf.nn.bias_add(a, b, 'NCHW')", a=normal(2, 3), b=normal(3)),
    row("tf.nn.bias_add(a, b)", a=normal(0, 3), b=normal(3)),
    row("tf.nn.bias_add([[1.0, 2.0]], b)", b=normal(2)),
    row("tf.nn.bias_add(a, b)", a=normal(2, 3), b=normal(2)),
    row("tf.nn.bias_add(a, b)", a=normal(3), b=normal(3)),
    row("tf.nn.bias_add(a, b)", a=normal(2, 3), b=normal(1, 3)),
    row("tf.nn.bias_add(a, b, 'X')", a=normal(2, 3), b=normal(3)),
    row("tf.nn.bias_add(a, tf.cast(b, 'float64'))", a=normal(2, 3), b=normal(3)),
    row("tf.nn.bias_add(a > 0, b > 0)", a=normal(2, 3), b=normal(3)),
    row("tf.raw_ops.BiasAddV1(value=a, bias=b)", a=normal(2, 3, 4), b=normal(4)),
    *each(f"{FLOATS} complex64 int32", "tf.raw_ops.BiasAddGrad(out_backprop=a)", a=normal(2, 3, 4)),
    row("tf.raw_ops.BiasAddGrad(out_backprop=a, data_format='NCHW')", a=normal(2, 3, 2, 2)),
    row("tf.raw_ops.BiasAddGrad(out_backprop=a)", a=normal(3)),
    row("tf.raw_ops.BiasAddGrad(out_backprop=a)", a=normal(0, 3)),
    # fused batch normalisation
    *(fused(dtype=dtype, given=False) for dtype in ("float32", "float16", "bfloat16")),
    fused("FusedBatchNorm", given=False),
    fused("FusedBatchNormV2", given=False),
    fused("FusedBatchNormV2", given=False, dtype="float16"),
    fused(more=", exponential_avg_factor=0.9"),
    fused(more=", epsilon=0.01", given=False),
    fused(more=", is_training=False"),
    fused("FusedBatchNorm", more=", is_training=False"),
    fused("FusedBatchNormV2", more=", is_training=False", dtype="bfloat16"),
    fused(more=", data_format='NCHW'", a=(2, 4, 3, 2), given=False),
    fused(more=", data_format='NCHW', is_training=False", a=(2, 4, 3, 2)),
    fused(more=", data_format='NDHWC'", a=(1, 2, 3, 2, 4), given=False),
    fused(more=", data_format='NCDHW'", a=(1, 4, 2, 3, 2), given=False),
    fused(a=(1, 1, 1, 4), given=False),
    fused(a=(0, 3, 2, 4), given=False, grad=False),
    fused(given=False, dtype="float64", ours=_DOUBLE),
    row(
        "tf.raw_ops.FusedBatchNormV3(x=a, scale=s, offset=s, mean=s[:0], variance=s[:0])",
        dtype="float64",
        a=normal(2, 3, 2, 4),
        s=normal(4),
        fd=False,  # all outputs are summed up, and the statistics among them have no gradient
        ours=_DOUBLE,
    ),
    fused(a=(3, 2, 4), given=False),
    fused(s=uniform(0.5, 2.0, 3), given=False),
    fused(s=uniform(0.5, 2.0, 1, 4), given=False),
    fused(o=normal(3), given=False),
    fused(more=", is_training=False", given=False),
    fused(more=", is_training=False", m=normal(3)),
    fused(more=", exponential_avg_factor=0.5", given=False),
    fused(more=", data_format='X'", given=False),
    *(
        row(
            f"tf.raw_ops.{op}(x=a, scale=s, offset=o, {more}).y",
            a=normal(*shape),
            s=uniform(0.5, 2.0, 2),
            o=normal(2),
        )
        for op, shape, more in (
            ("FusedBatchNorm", (2, 2, 3, 2), "mean=s[:0], variance=s[:0]"),
            ("FusedBatchNormV2", (2, 2, 3, 2), "mean=s[:0], variance=s[:0], epsilon=0.1"),
            ("FusedBatchNormV3", (2, 2, 3, 2), "mean=s[:0], variance=s[:0]"),
            ("FusedBatchNormV3", (2, 2, 2, 3), "mean=s[:0], variance=s[:0], data_format='NCHW'"),
            ("FusedBatchNormV3", (1, 2, 2, 2, 3), "mean=s[:0], variance=s[:0], data_format='NCDHW'"),
            (
                "FusedBatchNormV3",
                (2, 2, 3, 2),
                "mean=tf.constant([0.5, -0.5], s.dtype), variance=tf.constant([0.5, 2.0], s.dtype), is_training=False",
            ),
            (
                "FusedBatchNormV3",
                (2, 2, 2, 3),
                "mean=tf.constant([0.5, -0.5], s.dtype), variance=tf.constant([0.5, 2.0], s.dtype), "
                "is_training=False, data_format='NCHW'",
            ),
        )
    ),
    # Its gradient as an op takes the statistics as they come, so differences of the input do not see them.
    *(fused_gradient(dtype=dtype, grad=False) for dtype in ("float32", "float16", "bfloat16")),
    fused_gradient(more=", is_training=False", fd=False),
    fused_gradient("FusedBatchNormGrad", more=", is_training=False", fd=False),
    fused_gradient("FusedBatchNormGradV2", more=", is_training=False", fd=False),
    fused_gradient(fd=False),
    fused_gradient("FusedBatchNormGrad", fd=False),
    fused_gradient("FusedBatchNormGradV2", fd=False),
    fused_gradient(more=", data_format='NCHW'", a=(2, 4, 3, 2), fd=False),
    fused_gradient(more=", data_format='NCDHW'", a=(1, 4, 3, 2, 2), fd=False),
    fused_gradient(
        more=", data_format='NCDHW', is_training=False",
        a=(1, 4, 3, 2, 2),
        fd=False,
        ours="TensorFlow's CPU refuses three dimensions here; headrace takes them",
    ),
    fused_gradient(a=(0, 3, 2, 4), grad=False),
    fused_gradient(a=(2, 3, 2, 4), g=(1, 3, 2, 4)),
    fused_gradient(s=uniform(0.5, 2.0, 3)),
    # plain batch normalisation
    *each(
        FLOATS,
        "tf.nn.batch_normalization(a, m, v, o, s, 0.001)",
        a=normal(2, 3, 4),
        m=normal(4),
        v=uniform(0.5, 2.0, 4),
        o=normal(4),
        s=normal(4),
        rtol=2e-2,
    ),
    row(
        "tf.nn.batch_normalization(a, m, v, None, None, 0.1)",
        a=normal(2, 3),
        m=normal(2, 1),
        v=uniform(0.5, 2.0, 2, 1),
    ),
    row(
        "tf.nn.batch_normalization(a, m, v, None, s, 0.1)",
        a=normal(2, 3),
        m=normal(3),
        v=uniform(0.5, 2.0, 3),
        s=normal(3),
    ),
    row(
        "tf.nn.batch_normalization(tf.cast(a, 'float16'), m, v, o, None, 0.1)",
        a=normal(2, 3),
        m=normal(3),
        v=uniform(0.5, 2.0, 3),
        o=normal(3),
        fd=False,
        rtol=2e-3,
    ),
    row(
        "tf.nn.batch_norm_with_global_normalization(a, m, v, o, s, 0.001, True)",
        a=normal(1, 2, 2, 3),
        m=normal(3),
        v=uniform(0.5, 2.0, 3),
        o=normal(3),
        s=normal(3),
    ),
    row(
        "tf.nn.batch_norm_with_global_normalization(a, m, v, o, s, 0.001, False)",
        a=normal(1, 2, 2, 3),
        m=normal(3),
        v=uniform(0.5, 2.0, 3),
        o=normal(3),
        s=normal(3),
    ),
    # moments
    *each(FLOATS, "tf.nn.moments(a, [0, 1])", a=normal(3, 4, 2)),
    row("tf.nn.moments(a, [0, -1], keepdims=True)", a=normal(3, 4, 2)),
    row("tf.nn.moments(a, 1)", a=normal(3, 4, 2)),
    row("tf.nn.moments(a, tf.constant([0, 2]), keepdims=True)", a=normal(3, 4, 2)),
    row(
        "tf.nn.moments(a, tf.constant([0, 2]))",
        a=normal(3, 4, 2),
        ours="TensorFlow refuses axes in a tensor unless they are kept",
    ),
    row("tf.nn.moments(a, [], shift=2.0)", a=normal(3, 4)),
    row("tf.nn.moments(a, [0])", a=value([1, 2, 4], "int32")),
    row("tf.nn.moments(a, [7])", a=normal(3, 4)),
    *each(FLOATS, "tf.nn.weighted_moments(a, [0, 1], w)", a=normal(3, 4, 2), w=uniform(0.5, 2.0, 3, 4, 2)),
    row("tf.nn.weighted_moments(a, [0], w)", a=normal(3, 4), w=uniform(0.5, 2.0, 3, 1)),
    row("tf.nn.weighted_moments(a, [0], w, keepdims=True)", a=normal(3, 4), w=uniform(0.5, 2.0, 3, 4)),
    row("tf.nn.weighted_moments(a, [0], 2.0)", a=normal(3, 4)),
    row("tf.nn.weighted_moments(a, [0], w)", a=normal(3, 4), w=value([[1], [2], [0]], "int32")),
    row("tf.nn.weighted_moments(a, [0], w)", a=normal(3, 4), w=uniform(0.5, 2.0, 2, 1)),
    *each(f"{FLOATS} int32", "tf.nn.sufficient_statistics(a, [0, 1])", a=normal(3, 4, 2)),
    row("tf.nn.sufficient_statistics(a, [0], shift=0.5, keepdims=True)", a=normal(3, 4)),
    row("tf.nn.sufficient_statistics(a, [0], shift=b)", a=normal(3, 4), b=normal(4)),
    row("tf.nn.sufficient_statistics(a, 0)", a=normal(3, 4)),
    row("tf.nn.normalize_moments(4.0, a, b, None)", a=normal(3), b=uniform(3.0, 6.0, 3)),
    row("tf.nn.normalize_moments(c, a, b, 0.5)", a=normal(3), b=uniform(3.0, 6.0, 3), c=uniform(2.0, 4.0)),
    # response normalisation
    *each("float32 float16", "tf.nn.lrn(a)", a=normal(2, 2, 3, 7)),
    row("tf.nn.local_response_normalization(a, 2, 2, 0.5, 0.75)", a=normal(1, 2, 3, 7)),
    row("tf.nn.local_response_normalization(a, depth_radius=0, beta=1.0)", a=normal(1, 2, 3, 4)),
    row("tf.nn.local_response_normalization(a, depth_radius=100)", a=normal(1, 2, 3, 4)),
    row("tf.nn.local_response_normalization(a)", a=normal(0, 2, 3, 4)),
    row(
        "tf.nn.lrn(a)",
        a=normal(2, 2, 3, 7),
        dtype="float64",
        ours="TensorFlow's LRN has no float64; headrace's has",
    ),
    row("tf.nn.lrn(a)", a=normal(2, 3, 7)),
    row("tf.nn.lrn(a, depth_radius=-1)", a=normal(1, 2, 3, 4)),
    row("tf.nn.lrn(a, depth_radius=2**40)", a=normal(1, 2, 3, 4)),
    row(
        "tf.raw_ops.LRNGrad(input_grads=g, input_image=a, output_image=y, depth_radius=1, alpha=0.5)",
        g=normal(1, 2, 2, 5),
        a=normal(1, 2, 2, 5),
        y=normal(1, 2, 2, 5),
        grad=False,
    ),
    row(
        "tf.raw_ops.LRNGrad(input_grads=g, input_image=a, output_image=a)",
        g=normal(1, 2, 2, 4),
        a=normal(1, 2, 2, 5),
    ),
    # unit length
    *each(f"{FLOATS} {COMPLEXES}", "tf.math.l2_normalize(a, axis=1)", a=normal(3, 4)),
    row("tf.nn.l2_normalize(a)", a=normal(3, 4)),
    row("tf.linalg.l2_normalize(a, [0, 2], 1e-3)", a=normal(3, 4, 2)),
    row("tf.nn.l2_normalize(a, dim=0)", a=normal(3, 4)),
    row("tf.nn.l2_normalize(tf.zeros(3))"),
    row("tf.nn.l2_normalize(a, axis=0, dim=1)", a=normal(3, 4)),
    row("tf.nn.l2_normalize(a)", a=value([1, 2], "int32")),
    row("tf.nn.l2_normalize(a, axis=5)", a=normal(3, 4)),
    # dropout
    *each(
        FLOATS, "tf.random.set_seed(1)\nresult = tf.nn.dropout(a, 0.5, seed=3)", a=normal(5, 6), second=False
    ),
    row("tf.random.set_seed(1)\nresult = tf.nn.dropout(a, rate=0.3)", a=normal(5, 6), second=False),
    row(
        "tf.random.set_seed(1)\nresult = tf.nn.dropout(a, 0.3, noise_shape=[5, 1])",
        a=normal(5, 6),
        second=False,
    ),
    row("tf.random.set_seed(1)\nresult = tf.nn.dropout(a, 0.3, [None, 1], 7)", a=normal(5, 6), second=False),
    row("tf.random.set_seed(1)\nresult = tf.nn.dropout(a, 0.3, [6])", a=normal(5, 6), second=False),
    row("tf.random.set_seed(1)\nresult = tf.nn.dropout(a, tf.constant(0.25))", a=normal(5, 6), fd=False),
    row("tf.random.set_seed(1)\nresult = [tf.nn.dropout(a, 0), tf.random.uniform([2])]", a=normal(2, 3)),
    row("tf.nn.dropout(a, tf.constant(1.0))", a=normal(3), fd=False, grad=False),
    row("tf.nn.dropout(a, 0.0)", a=normal(5, 6)),
    row("tf.nn.dropout(a, 1)", a=normal(3)),
    row("tf.nn.dropout(a, -0.1)", a=normal(3)),
    row("tf.nn.dropout(a, 2.0)", a=normal(3)),
    row("tf.nn.dropout(a, 'x')", a=normal(3)),
    row("tf.nn.dropout(a, 0.5)", a=normal(3, dtype="int32")),
    row("tf.nn.dropout(a, 0.5)", a=normal(3, dtype="complex64")),
    row("tf.nn.dropout(a, tf.constant(0.5, tf.float64))", a=normal(3)),
    row("tf.nn.dropout(a, tf.constant([0.5, 0.1]))", a=normal(3)),
    row("tf.nn.dropout(a, 0.5, [3, 3])", a=normal(2, 3)),
    *each(
        FLOATS,
        "tf.nn.experimental.stateless_dropout(a, 0.4, seed=[1, 2])",
        a=normal(5, 6),
        second=False,
    ),
    row(
        "tf.nn.experimental.stateless_dropout(a, 0.4, [3, 4], 'philox', [1, 6])", a=normal(5, 6), second=False
    ),
    row("tf.nn.experimental.stateless_dropout(a, 0, [3, 4])", a=normal(2, 2)),
    row("tf.nn.experimental.stateless_dropout(a, 0.4, [3])", a=normal(5, 6)),
    row(
        "tf.nn.experimental.general_dropout(a, 0.5, lambda shape, dtype: tf.constant([0.1, 0.6, 0.4, 0.9], dtype))",
        a=normal(4),
    ),
    row("tf.nn.experimental.general_dropout(a, 0, lambda shape, dtype: 1 / 0)", a=normal(4)),
]
