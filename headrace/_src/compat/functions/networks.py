"""Functions for neural networks with their 1.x signatures; those of windows are in `windows.py`."""

from typing import Any

from headrace._src.compat.functions.renamed_arguments import renamed, required
from headrace._src.compat.variables.partitioned import PartitionedVariable
from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import (
    constants,
    filling,
    gathering,
    joining,
    measuring,
    passing,
    ranking,
    rearranging,
    sorting,
)
from headrace._src.ops.linalg import matmul
from headrace._src.ops.nn import activations, bias, ctc, embedding, losses, normalization
from headrace._src.ops.nn import dropout as nn_dropout
from headrace._src.ops.nn import softmax as nn_softmax
from headrace._src.ops.nn.batch_norm import FUSED_BATCH_NORM_V3
from headrace._src.ops.nn.ctc import CTC_BEAM_SEARCH_DECODER, CTC_LOSS
from headrace._src.ops.sparse.tensor import SparseTensor


@api("compat.v1.nn.softmax", "compat.v1.math.softmax", dispatch=False)
def softmax(logits, axis=None, name=None, dim=None) -> Tensor:
    """As `tf.nn.softmax`; `dim` is the older name of `axis`."""
    axis = renamed("softmax", "axis", axis, "dim", dim)
    return nn_softmax.softmax(logits, -1 if axis is None else axis, name)


@api("compat.v1.nn.log_softmax", "compat.v1.math.log_softmax", dispatch=False)
def log_softmax(logits, axis=None, name=None, dim=None) -> Tensor:
    """As `tf.nn.log_softmax`; `dim` is the older name of `axis`."""
    axis = renamed("log_softmax", "axis", axis, "dim", dim)
    return nn_softmax.log_softmax(logits, -1 if axis is None else axis, name)


@api("compat.v1.nn.softmax_cross_entropy_with_logits_v2", dispatch=False)
def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None) -> Tensor:
    """As `tf.nn.softmax_cross_entropy_with_logits`; `dim` is the older name of `axis`."""
    axis = renamed("softmax_cross_entropy_with_logits", "axis", axis, "dim", dim)
    return nn_softmax.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


@api("compat.v1.nn.softmax_cross_entropy_with_logits", dispatch=False)
def softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None) -> Tensor:
    """As `tf.nn.softmax_cross_entropy_with_logits`, but gradients do not flow into the labels."""
    axis = dim if axis is None else axis
    labels = required("softmax_cross_entropy_with_logits", "labels", labels)
    logits = required("softmax_cross_entropy_with_logits", "logits", logits)
    with name_scope(name or "softmax_cross_entropy_with_logits_sg"):
        labels = passing.stop_gradient(labels)
        return nn_softmax.softmax_cross_entropy_with_logits(labels, logits, axis)


@api("compat.v1.nn.sparse_softmax_cross_entropy_with_logits", dispatch=False)
def sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None) -> Tensor:
    """As `tf.nn.sparse_softmax_cross_entropy_with_logits`."""
    labels = required("sparse_softmax_cross_entropy_with_logits", "labels", labels)
    logits = required("sparse_softmax_cross_entropy_with_logits", "logits", logits)
    return nn_softmax.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


@api("compat.v1.nn.weighted_cross_entropy_with_logits", dispatch=False)
def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None) -> Tensor:
    """As `tf.nn.weighted_cross_entropy_with_logits`; `targets` is the older name of `labels`."""
    labels = renamed("weighted_cross_entropy_with_logits", "labels", labels, "targets", targets)
    return losses.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name)


@api("compat.v1.nn.dropout", dispatch=False)
def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None) -> Tensor:
    """As `tf.nn.dropout`; `keep_prob` is one minus the rate.

    Raises:
        ValueError: neither or both of `rate` and `keep_prob` are given.
    """
    if keep_prob is not None:
        rate = renamed("dropout", "rate", rate, "keep_prob", 1.0 - keep_prob)
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate} and keep_prob={keep_prob}.")
    return nn_dropout.dropout(x, rate, noise_shape, seed, name)


@api("compat.v1.nn.moments", dispatch=False)
def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None) -> tuple[Tensor, Tensor]:
    """As `tf.nn.moments`, with the arguments in another order."""
    keepdims = renamed("moments", "keepdims", keepdims, "keep_dims", keep_dims)
    return normalization.moments(x, axes, shift, bool(keepdims), name)


@api("compat.v1.nn.weighted_moments", dispatch=False)
def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None) -> Any:
    """As `tf.nn.weighted_moments`, with the arguments in another order."""
    keepdims = renamed("weighted_moments", "keepdims", keepdims, "keep_dims", keep_dims)
    return normalization.weighted_moments(x, axes, frequency_weights, bool(keepdims), name)


@api("compat.v1.nn.sufficient_statistics", dispatch=False)
def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None) -> Any:
    """As `tf.nn.sufficient_statistics`, with the arguments in another order."""
    keepdims = renamed("sufficient_statistics", "keepdims", keepdims, "keep_dims", keep_dims)
    return normalization.sufficient_statistics(x, axes, shift, bool(keepdims), name)


@api("compat.v1.nn.crelu", dispatch=False)
def crelu(features, name=None, axis=-1) -> Tensor:
    """As `tf.nn.crelu`, with the arguments in another order."""
    return activations.crelu(features, axis, name)


@api("compat.v1.nn.xw_plus_b", dispatch=False)
def xw_plus_b(x, weights, biases, name=None) -> Tensor:
    """`matmul(x, weights) + biases`."""
    with name_scope(name or "xw_plus_b") as scope:
        return bias.bias_add(matmul.matmul(x, weights), biases, name=scope)


@api("compat.v1.nn.relu_layer", dispatch=False)
def relu_layer(x, weights, biases, name=None) -> Tensor:
    """`relu(matmul(x, weights) + biases)`."""
    with name_scope(name or "relu_layer") as scope:
        return activations.relu(bias.bias_add(matmul.matmul(x, weights), biases), name=scope)


@api("compat.v1.nn.in_top_k", "compat.v1.math.in_top_k", dispatch=False)
def in_top_k(predictions, targets, k, name=None) -> Tensor:
    """As `tf.math.in_top_k`, with the arguments in another order."""
    return ranking.in_top_k(targets, predictions, k, name)


@api("compat.v1.nn.batch_norm_with_global_normalization", dispatch=False)
def batch_norm_with_global_normalization(
    t=None,
    m=None,
    v=None,
    beta=None,
    gamma=None,
    variance_epsilon=None,
    scale_after_normalization=None,
    name=None,
    input=None,
    mean=None,
    variance=None,
) -> Tensor:
    """Batch normalization with given moments; `t`, `m` and `v` are older names."""
    label = "batch_norm_with_global_normalization"
    x = renamed(label, "input", input, "t", t)
    mean, variance = renamed(label, "mean", mean, "m", m), renamed(label, "variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return normalization.batch_normalization(x, mean, variance, beta, scale, variance_epsilon, name)


@api("compat.v1.nn.fused_batch_norm", dispatch=False)
def fused_batch_norm(
    x,
    scale,
    offset,
    mean=None,
    variance=None,
    epsilon=0.001,
    data_format="NHWC",
    is_training=True,
    name=None,
    exponential_avg_factor=1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization of images.

    Args:
        x: images.
        scale, offset: one number per channel.
        mean, variance: the moments to use, or when training their running means.
        epsilon: added to the variance.
        data_format: "NHWC" or "NCHW".
        is_training: whether the moments are computed from `x`.
        name: a name for the operation.
        exponential_avg_factor: the weight of new moments in running means.

    Returns:
        The normalized images, and the (running) mean and variance.
    """
    if not is_training and (mean is None or variance is None):
        raise ValueError("Both `mean` and `variance` must be a 1D tensor when `is_training` is False.")
    x = to_tensor(x)
    empty = constants.constant([], dtypes.float32)
    result = FUSED_BATCH_NORM_V3(
        x, scale, offset, empty if mean is None else mean, empty if variance is None else variance,
        epsilon=max(epsilon, 1.001e-5), exponential_avg_factor=float(exponential_avg_factor), data_format=data_format,
        is_training=is_training, name=name,
    )  # fmt: skip
    return result[0], result[1], result[2]


# Embeddings and sampled losses. TF: with several parts of the parameters, `partition_strategy` says who has which row.


def _one_part(label, params, partition_strategy):
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"{label}: partition_strategy must be 'mod' or 'div', got {partition_strategy!r}.")
    if isinstance(params, PartitionedVariable):
        params = list(params)
    if isinstance(params, (list, tuple)) and len(params) > 1 and partition_strategy == "mod":
        # Row i of the whole is row i // n of part i % n.
        parts = [to_tensor(part) for part in params]
        rows = joining.concat([filling.range_(i, measuring.shape(part)[0] * len(parts) + i, len(parts))
                                 for i, part in enumerate(parts)], 0)
        order = sorting.argsort(rows)
        return gathering.gather(joining.concat(parts, 0), order)
    return params


@api("compat.v1.nn.embedding_lookup", dispatch=False)
def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None) -> Tensor:
    """As `tf.nn.embedding_lookup`; `partition_strategy` says how rows are spread over several `params`."""
    return embedding.embedding_lookup(_one_part("embedding_lookup", params, partition_strategy), ids, max_norm, name)


@api("compat.v1.nn.embedding_lookup_sparse", dispatch=False)
def embedding_lookup_sparse(
    params,
    sp_ids,
    sp_weights,
    partition_strategy="mod",
    name=None,
    combiner=None,
    max_norm=None,
    allow_fast_lookup=False,
) -> Any:
    """As `tf.nn.embedding_lookup_sparse`, with `partition_strategy`."""
    params = _one_part("embedding_lookup_sparse", params, partition_strategy)
    return embedding.embedding_lookup_sparse(params, sp_ids, sp_weights, combiner, max_norm, name, allow_fast_lookup)


@api("compat.v1.nn.safe_embedding_lookup_sparse", dispatch=False)
def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
    allow_fast_lookup=False,
) -> Any:
    """As `tf.nn.safe_embedding_lookup_sparse`, with `partition_strategy`."""
    params = _one_part("safe_embedding_lookup_sparse", embedding_weights, partition_strategy)
    return embedding.safe_embedding_lookup_sparse(
        params, sparse_ids, sparse_weights, combiner, default_id, max_norm, name, allow_fast_lookup
    )


@api("compat.v1.nn.nce_loss", dispatch=False)
def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name="nce_loss",
) -> Tensor:
    """As `tf.nn.nce_loss`, with `partition_strategy`."""
    weights = _one_part("nce_loss", weights, partition_strategy)
    return embedding.nce_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        name,
    )  # fmt: skip


@api("compat.v1.nn.sampled_softmax_loss", dispatch=False)
def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_softmax_loss",
    seed=None,
) -> Tensor:
    """As `tf.nn.sampled_softmax_loss`, with `partition_strategy`."""
    weights = _one_part("sampled_softmax_loss", weights, partition_strategy)
    return embedding.sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        seed, name,
    )  # fmt: skip


# Connectionist temporal classification.


@api("compat.v1.nn.ctc_loss_v2", dispatch=False)
def ctc_loss_v2(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None
) -> Any:
    """As `tf.nn.ctc_loss`; for sparse labels the last class is the blank."""
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
    return ctc.ctc_loss(
        labels, logits, label_length, logit_length, logits_time_major, unique, blank_index or 0, name
    )


@api("compat.v1.nn.ctc_loss", dispatch=False)
def ctc_loss(
    labels,
    inputs=None,
    sequence_length=None,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
    time_major=True,
    logits=None,
) -> Tensor:
    """The CTC loss of sparse labels; the last class is the blank.

    Args:
        labels: an int32 `SparseTensor`.
        inputs: logits of shape (time, batch, classes), or (batch, time, classes) when not `time_major`.
        sequence_length: the length of each input.
        preprocess_collapse_repeated: merge repeated labels first.
        ctc_merge_repeated: merge repeated classes of a path.
        ignore_longer_outputs_than_inputs: leave out what cannot fit, instead of failing.
        time_major: the layout of `inputs`.
        logits: the newer name of `inputs`.
    """
    x = to_tensor(required("ctc_loss", "logits", renamed("ctc_loss", "logits", logits, "inputs", inputs)))
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected argument `labels` to be a SparseTensor.")
    if not time_major:
        x = rearranging.transpose(x, [1, 0, 2])
    loss, _ = CTC_LOSS(
        x, labels.indices, labels.values, sequence_length, preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated, ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss


@api("compat.v1.nn.ctc_beam_search_decoder", dispatch=False)
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True) -> Any:
    """As `tf.nn.ctc_beam_search_decoder`; `merge_repeated` merges repeated classes of the result."""
    indices, values, shapes, scores = CTC_BEAM_SEARCH_DECODER(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes)], scores
