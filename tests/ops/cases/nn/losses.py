"""Rows of `ops/nn/losses.py`, `ops/nn/embedding.py` and `ops/nn/ctc.py`."""

from rows import FLOATS, each, integers, normal, row, uniform, value

_SPARSE = "tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], {}, [4, 3])"
_CTC = dict(a=normal(6, 2, 5), fd=False)

ROWS = [
    *each(FLOATS, "tf.nn.l2_loss(a)", a=normal(3, 4)),
    row("tf.nn.l2_loss(a)", a=normal(0)),
    row("tf.nn.l2_loss([1, 2])"),
    *each(FLOATS, "tf.nn.sigmoid_cross_entropy_with_logits(labels=a, logits=b)", a=uniform(0, 1, 3, 2), b=normal(3, 2)),
    row("tf.nn.sigmoid_cross_entropy_with_logits(a, b)", a=value([0.0, 1.0, 1.0]), b=value([0.0, 300.0, -300.0]), fd=False),
    row("tf.nn.sigmoid_cross_entropy_with_logits(a, b)", a=normal(3), b=normal(2)),
    row("tf.nn.weighted_cross_entropy_with_logits(labels=a, logits=b, pos_weight=1.5)", a=uniform(0, 1, 4), b=normal(4)),
    row("tf.nn.weighted_cross_entropy_with_logits(a, b, 1.5)", a=normal(3), b=normal(2)),
    row("tf.nn.log_poisson_loss(a, b)", a=uniform(0.5, 5, 4), b=normal(4)),
    row("tf.nn.log_poisson_loss(a, b, compute_full_loss=True)", a=uniform(1.5, 5, 4), b=normal(4)),
    row("tf.nn.log_poisson_loss(a, b)", a=normal(3), b=normal(2)),
    row("tf.nn.compute_average_loss(a, global_batch_size=8)", a=normal(4)),
    row("tf.nn.compute_average_loss(a, sample_weight=b)", a=normal(4), b=normal(4)),
    row("tf.nn.compute_average_loss(a)", a=normal()),
    row("tf.nn.scale_regularization_loss(a)", a=normal(3)),
    row("tf.nn.embedding_lookup(a, [1, 0, 1])", a=normal(3, 4)),
    row("tf.nn.embedding_lookup(a, i)", a=normal(5, 2), i=integers(0, 5, 2, 3)),
    row("tf.nn.embedding_lookup(a, i, max_norm=1.0)", a=normal(5, 2), i=integers(0, 5, 3)),
    row("tf.nn.embedding_lookup([a, b], i)", a=normal(3, 2), b=normal(2, 2), i=integers(0, 5, 4)),
    row("tf.nn.embedding_lookup(a, [7])", a=normal(3, 4)),
    row("tf.nn.embedding_lookup([], [7])"),
    *[
        row(f"tf.nn.embedding_lookup_sparse(a, {_SPARSE.format('i')}, None, combiner='{c}')", a=normal(5, 2),
            i=integers(0, 5, 4))
        for c in ("sum", "mean", "sqrtn")
    ],
    *[
        row(f"tf.nn.embedding_lookup_sparse(a, {_SPARSE.format('i')}, {_SPARSE.format('w')}, combiner='{c}')",
            a=normal(5, 2), i=integers(0, 5, 4), w=uniform(0.5, 2, 4))
        for c in ("sum", "mean", "sqrtn")
    ],
    row(f"tf.nn.embedding_lookup_sparse(a, {_SPARSE.format('[0, 1, 2, 3]')}, None, combiner='max')", a=normal(5, 2)),
    row("tf.nn.embedding_lookup_sparse(a, [1], None)", a=normal(5, 2)),
    row(f"tf.nn.safe_embedding_lookup_sparse(a, {_SPARSE.format('[0, -1, 2, 3]')})", a=normal(5, 2)),
    row(f"tf.nn.safe_embedding_lookup_sparse(a, {_SPARSE.format('[0, 1, 2, 3]')}, default_id=2)", a=normal(5, 2)),
    row("tf.nn.sampled_softmax_loss(w, b, tf.constant([[1], [2]], tf.int64), x, 3, 6, sampled_values=(tf.constant([0, 3, 5], tf.int64), "
        "tf.constant([[0.5], [0.4]]), tf.constant([0.3, 0.2, 0.1])))", w=normal(6, 4), b=normal(6), x=normal(2, 4)),
    row("tf.nn.nce_loss(w, b, tf.constant([[1], [2]], tf.int64), x, 3, 6, sampled_values=(tf.constant([0, 3, 5], tf.int64), "
        "tf.constant([[0.5], [0.4]]), tf.constant([0.3, 0.2, 0.1])))", w=normal(6, 4), b=normal(6), x=normal(2, 4)),
    row("tf.nn.sampled_softmax_loss(w, b, tf.constant([[1], [2]], tf.int64), x, 3, 6, sampled_values=(tf.constant([1, 3, 5], tf.int64), "
        "tf.constant([[0.5], [0.4]]), tf.constant([0.3, 0.2, 0.1])))", w=normal(6, 4), b=normal(6), x=normal(2, 4),
        fd=False),
    row("tf.nn.ctc_loss([[1, 2, 2], [3, 0, 0]], a, [3, 1], [6, 5])", **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss([[1, 2, 2], [3, 0, 0]], a, [3, 1], [6, 5], blank_index=4)", **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss([[1, 2], [3, 3]], a, [2, 2], [6, 6], blank_index=-1)", **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss([[1, 2], [3, 3]], a, [2, 0], [6, 6])", **_CTC, rtol=1e-4),
    # TensorFlow's gradient leaves labels that are blank out, and so is not the derivative of its loss.
    row("tf.nn.ctc_loss([[1, 0, 2], [0, 0, 3]], a, [3, 3], [6, 5])", **_CTC, rtol=1e-4, grad=False),
    row("tf.nn.ctc_loss([[1, 0, 2], [0, 0, 3]], a, [2, 1], [6, 5])", **_CTC, rtol=1e-4, grad=False),
    row("tf.nn.ctc_loss([[1, 3, 2], [0, 0, 3]], a, [2, 3], [6, 6], blank_index=3)", **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss([[1, 2], [3, 3]], a, [0, 1], [6, 6], blank_index=2)", **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss([[1, 2], [3, 3]], tf.transpose(a, [1, 0, 2]), [2, 2], [6, 6], logits_time_major=False)",
        **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2]), a, None, [6, 4], blank_index=0)",
        **_CTC, rtol=1e-4),
    row("tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2]), a, None, [1, 4], blank_index=0)",
        **_CTC),
    row("tf.raw_ops.CTCLoss(inputs=a, labels_indices=[[0, 0], [0, 1], [1, 0]], labels_values=[1, 1, 3], "
        "sequence_length=[6, 4])", **_CTC, grad=False, rtol=1e-4),
    row("tf.raw_ops.CTCLoss(inputs=a, labels_indices=[[0, 0], [0, 1], [1, 0]], labels_values=[1, 1, 3], "
        "sequence_length=[6, 4], preprocess_collapse_repeated=True)", **_CTC, grad=False, rtol=1e-4),
    row("tf.raw_ops.CTCLoss(inputs=a, labels_indices=[[0, 0], [0, 1], [1, 0]], labels_values=[1, 1, 3], "
        "sequence_length=[6, 4], ctc_merge_repeated=False)", **_CTC, grad=False, rtol=1e-4),
    row("tf.raw_ops.CTCLoss(inputs=a, labels_indices=[[0, 0], [0, 1]], labels_values=[1, 9], sequence_length=[6, 4])",
        **_CTC, grad=False),
    row("tf.raw_ops.CTCLossV2(inputs=a, labels_indices=[[0, 0], [0, 1], [1, 0]], labels_values=[1, 2, 3], "
        "sequence_length=[6, 4])", **_CTC, grad=False, ours="TensorFlow has a kernel of CTCLossV2 only for GPUs"),
    row("tf.nn.ctc_greedy_decoder(a, [6, 4])", a=normal(6, 2, 4), grad=False),
    row("tf.nn.ctc_greedy_decoder(a, [6, 4], merge_repeated=False, blank_index=0)", a=normal(6, 2, 4), grad=False),
    row("tf.nn.ctc_greedy_decoder(a, [7, 4])", a=normal(6, 2, 4), grad=False),
    row("tf.nn.ctc_beam_search_decoder(a, [6, 4], beam_width=10, top_paths=3)", a=normal(6, 2, 4), grad=False),
    row("tf.nn.ctc_beam_search_decoder(a, [4, 4])", a=normal(4, 2, 3), grad=False),
    row("tf.nn.isotonic_regression(a)", a=normal(3, 6)),
    row("tf.nn.isotonic_regression(a)", a=normal(4), ours="TensorFlow's gradient of a vector has a superfluous axis"),
    row("tf.nn.isotonic_regression(a, decreasing=False, axis=0)", a=normal(5, 2)),
    row("tf.nn.isotonic_regression(i)", i=integers(0, 9, 6)),
    *each("float16 bfloat16 float64", "tf.nn.isotonic_regression(a)", a=normal(1, 5)),
    row("tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 2, 3, 1]])"),
    row("tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [1, 2, 3, 4, 5]], [4, 5])"),
]
