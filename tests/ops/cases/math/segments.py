"""Rows of `ops/math/segments.py`, `ops/math/unsorted_segments.py` and `ops/sparse/segments.py`."""

from rows import COMPLEXES, FLOATS, INTS, each, integers, normal, row, uniform, value

_CONJUGATE = "the gradient is conjugated like that of other products; TensorFlow forgets it"
_NO_KERNEL = "TensorFlow's CPU has no kernel for it"
_V2 = ("Sum", "Prod", "Max", "Min")

ROWS = [
    *each(f"{FLOATS} {COMPLEXES} {INTS}", "tf.math.segment_sum(a, [0, 0, 2, 2, 3])", a=normal(5, 2)),
    *each(f"{FLOATS} {COMPLEXES} {INTS}", "tf.math.segment_mean(a, [0, 0, 2, 2, 2])", a=normal(5, 2)),
    *each(f"{FLOATS} {INTS}", "tf.math.segment_prod(a, [0, 0, 2, 2, 3])", a=normal(5, 2)),
    *each(COMPLEXES, "tf.math.segment_prod(a, [0, 0, 2, 2, 3])", a=normal(5, 2), grad=False),
    row("tf.math.segment_prod(a, [0, 0, 2, 2, 3])", a=normal(5, 2), dtype="complex128", ours=_CONJUGATE),
    *each(f"{FLOATS} {INTS}", "tf.math.segment_max(a, [0, 0, 2, 2, 3])", a=normal(5, 2)),
    *each(f"{FLOATS} {INTS}", "tf.math.segment_min(a, [0, 0, 2, 2, 3])", a=normal(5, 2)),
    row("tf.math.segment_sum(a, i)", a=normal(4, 2, 3), i=value([0, 1, 1, 1], "int64")),
    row("tf.math.segment_prod(a, [0, 0, 1, 1, 1])", a=value([2.0, 0.0, 0.0, 3.0, 0.0]), fd=False),
    row("tf.math.segment_prod(a, [0, 0, 0])", a=value([2.0, 0.0, 3.0]), second=False),
    row("tf.math.segment_max(a, [0, 0, 0])", a=value([2.0, 3.0, 3.0]), fd=False),
    row("tf.math.segment_min(a, [1, 1, 1])", a=value([2.0, 2.0, 3.0]), fd=False),
    row("tf.math.segment_sum(a, i)", a=normal(0, 3), i=value([], "int32")),
    row("tf.math.segment_max(a, i)", a=normal(0, 3), i=value([], "int32")),
    row("tf.math.segment_sum(a, i)", a=normal(3, 0), i=value([0, 0, 1], "int32")),
    row("tf.math.segment_sum(a, [1, 0, 2])", a=normal(3)),
    row("tf.math.segment_sum(a, [-1, 0, 2])", a=normal(3)),
    row("tf.math.segment_mean(a, [-1, -1, -1])", a=normal(3)),
    row("tf.math.segment_sum(a, [0, 0])", a=normal(3)),
    row("tf.math.segment_max(a, [[0, 0, 1]])", a=normal(3)),
    row("tf.math.segment_sum(1.0, 0)"),
    row("tf.math.segment_sum(a, [0.0, 0.0, 1.0])", a=normal(3)),
    row("tf.math.segment_max(a, [0, 0])", a=normal(2, dtype="complex64")),
    *(row(f"tf.raw_ops.Segment{kind}(data=a, segment_ids=[0, 0, 1])", a=normal(3)) for kind in (*_V2, "Mean")),
    *(
        row(
            f"tf.raw_ops.Segment{kind}V2(data=a, segment_ids=[0, 0, 2], num_segments=4)",
            a=normal(3),
            fd=kind not in ("Max", "Min"),  # of no numbers: the least or greatest float, beside which nothing counts
            ours=_NO_KERNEL,
        )
        for kind in _V2
    ),
    # unsorted
    *each(f"{FLOATS} {COMPLEXES} {INTS}", "tf.math.unsorted_segment_sum(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2)),
    *each(f"{FLOATS} {INTS}", "tf.math.unsorted_segment_prod(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2)),
    *each(COMPLEXES, "tf.math.unsorted_segment_prod(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2), grad=False),
    *each(f"{FLOATS} {INTS}", "tf.math.unsorted_segment_max(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2), fd=False),
    *each(f"{FLOATS} {INTS}", "tf.math.unsorted_segment_min(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2), fd=False),
    row("tf.math.unsorted_segment_max(a, [1, 0, -1, 0, 1], 2)", a=normal(5, 2)),
    row("tf.math.unsorted_segment_min(a, [1, 0, -1, 0, 1], 2)", a=normal(5, 2)),
    row("tf.math.unsorted_segment_sum(a, i, 4)", a=normal(2, 3, 2), i=integers(-1, 4, 2, 3)),
    row("tf.math.unsorted_segment_prod(a, i, 4)", a=uniform(0.5, 1.5, 2, 3), i=integers(-1, 4, 2, 3, dtype="int64")),
    row("tf.math.unsorted_segment_sum(a, i, n)", a=normal(3), i=value([1, 0, 1], "int64"), n=value(3, "int64")),
    row("tf.math.unsorted_segment_sum(a, 1, 3)", a=normal()),
    row("tf.math.unsorted_segment_sum(a, i, 2)", a=normal(0, 3), i=value([], "int32")),
    row("tf.math.unsorted_segment_sum(a, i, 50)", a=normal(3000, 30), i=integers(0, 50, 3000), lower=False, fd=False),
    row("tf.math.unsorted_segment_sum(a, i, 50)", a=normal(300, 300, dtype="int32"), i=integers(0, 50, 300)),
    row("tf.math.unsorted_segment_prod(a, [0, 0, 1, 1, 1], 2)", a=value([2.0, 0.0, 0.0, 3.0, 0.0]), fd=False),
    row("tf.math.unsorted_segment_max(a, [0, 0, 0], 1)", a=value([2.0, 3.0, 3.0]), fd=False),
    row("tf.math.unsorted_segment_sum(a, [0, 0, 4], 4)", a=normal(3)),
    row("tf.math.unsorted_segment_sum(a, [0, 0, 1], -1)", a=normal(3)),
    row("tf.math.unsorted_segment_sum(a, [0, 0, 1], [4])", a=normal(3)),
    row("tf.math.unsorted_segment_sum(a, [0, 0], 4)", a=normal(3)),
    row("tf.math.unsorted_segment_max(a, [[0, 0, 1]], 4)", a=normal(3)),
    row("tf.math.unsorted_segment_sum(a, [0, 0, 1], 2.0)", a=normal(3)),
    row("tf.raw_ops.UnsortedSegmentSum(data=a, segment_ids=i, num_segments=2)", a=normal(2), i=value([1, 0], "int16"),
        ours=_NO_KERNEL),
    *(
        row(f"tf.raw_ops.UnsortedSegment{kind}(data=a, segment_ids=[1, 0], num_segments=2)", a=normal(2))
        for kind in _V2
    ),
    *each(FLOATS, "tf.math.unsorted_segment_mean(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2)),
    *each(FLOATS, "tf.math.unsorted_segment_sqrt_n(a, [3, 0, -1, 0, 3], 5)", a=normal(5, 2)),
    row("tf.math.unsorted_segment_mean([1, 2, 3], [0, 0, 1], 3)"),
    row("tf.math.unsorted_segment_mean(a, [[0], [0], [1]], 3)", a=normal(3, 1, 2)),
    row("tf.math.unsorted_segment_sqrt_n([1, 2, 3], [0, 0, 1], 3)"),
    # indirect
    *each(f"{FLOATS} {INTS}", "tf.sparse.segment_sum(a, [3, 0, 3, 1], [0, 0, 1, 3])", a=normal(4, 2)),
    *each(FLOATS, "tf.sparse.segment_mean(a, [3, 0, 3, 1], [0, 0, 0, 3])", a=normal(4, 2)),
    *each(FLOATS, "tf.sparse.segment_sqrt_n(a, [3, 0, 3, 1], [0, 0, 0, 3])", a=normal(4, 2)),
    *(
        row(f"tf.sparse.segment_{kind}(a, [3, 0, 3, 1], [0, 0, 0, 3], num_segments=6)", a=normal(4, 2))
        for kind in ("sum", "mean", "sqrt_n")
    ),
    *(
        row(f"tf.sparse.segment_{kind}(a, [3, 0, 3, 1], [0, 0, 0, 3], sparse_gradient=True)", a=normal(4, 2))
        for kind in ("sum", "mean", "sqrt_n")
    ),
    row("tf.sparse.segment_sum(a, i, s)", a=normal(4, 2, 2), i=integers(0, 4, 5, dtype="int64"),
        s=value([0, 0, 1, 1, 2], "int64")),
    # Without indices, TensorFlow's gradient is whatever was in memory.
    row("tf.sparse.segment_mean(a, n, n)", a=normal(4, 2), n=value([], "int32"), grad=False),
    row("tf.sparse.segment_sum(a, n, n, num_segments=3)", a=normal(4, 2), n=value([], "int32"), grad=False),
    row("tf.sparse.segment_sum(a, [0, 4], [0, 0])", a=normal(4)),
    row("tf.sparse.segment_sum(a, [0, -1], [0, 0])", a=normal(4)),
    row("tf.sparse.segment_sum(a, [0, 1], [1, 0])", a=normal(4)),
    row("tf.sparse.segment_sum(a, [0, 1], [-1, 0])", a=normal(4)),
    row("tf.sparse.segment_sum(a, [0, 1], [0])", a=normal(4)),
    row("tf.sparse.segment_sum(a, [0, 1], [0, 2], num_segments=2)", a=normal(4)),
    row("tf.sparse.segment_sum(a, [0, 1], [0, 2], num_segments=-1)", a=normal(4)),
    row("tf.sparse.segment_sum(1.0, [0], [0])"),
    row("tf.sparse.segment_mean([1, 2], [0], [0])"),
    row("tf.sparse.segment_sum(a, [[0]], [0])", a=normal(4)),
    *(
        row(f"tf.raw_ops.SparseSegment{kind}(data=a, indices=[0, 1], segment_ids=[0, 0])", a=normal(2))
        for kind in ("Sum", "Mean", "SqrtN")
    ),
    *(
        row(f"tf.raw_ops.SparseSegment{kind}WithNumSegments(data=a, indices=[0, 1], segment_ids=[0, 0], "
            "num_segments=2)", a=normal(2))
        for kind in ("Sum", "Mean", "SqrtN")
    ),
    *(
        row(f"tf.raw_ops.SparseSegment{kind}Grad(grad=a, indices=[2, 0, 2], segment_ids=[0, 1, 1], output_dim0=4)",
            dtype=dtype, a=normal(2, 3), grad=False)
        for kind in ("Sum", "Mean", "SqrtN")
        for dtype in FLOATS.split()
    ),
    *(
        row(f"tf.raw_ops.SparseSegment{kind}GradV2(grad=a, indices=[2, 0, 2], segment_ids=[0, 1, 1], "
            "dense_output_dim0=4)", a=normal(2, 3), grad=False)
        for kind in ("Sum", "Mean", "SqrtN")
    ),
    row("tf.raw_ops.SparseSegmentSumGrad(grad=a, indices=[0, 4], segment_ids=[0, 1], output_dim0=4)", a=normal(2)),
    row("tf.raw_ops.SparseSegmentSumGrad(grad=a, indices=[0, 1], segment_ids=[0, 5], output_dim0=4)", a=normal(2)),
    row("tf.raw_ops.SparseSegmentMeanGrad(grad=a, indices=[0, 1], segment_ids=[0], output_dim0=4)", a=normal(2)),
    row("tf.raw_ops.SparseSegmentSumGradV2(grad=a, indices=[0, -1], segment_ids=[0, 1], dense_output_dim0=4)",
        a=normal(2)),
]
