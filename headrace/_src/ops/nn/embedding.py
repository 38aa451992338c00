"""Embedding look-ups: rows of a table by id, combined per example, and losses over sampled classes."""

from headrace._src.core import dtypes
from headrace._src.op.api import PUBLIC, api
from headrace._src.op.convert import to_tensor
from headrace._src.op.registry import lookup
from headrace._src.ops.nn.losses import sigmoid_cross_entropy_with_logits
from headrace._src.ops.nn.softmax import softmax_cross_entropy_with_logits
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.sparse.tensor import SparseTensor


def _gather(params, ids):
    """Rows of a table; a variable is read sparsely, so that its gradient has only those rows."""
    if hasattr(params, "sparse_read"):
        return params.sparse_read(ids)
    return lookup("GatherV2")(params, ids, 0)


def _divide(ids, total, count):
    """The table of each id and the row in it, for `total` rows over `count` tables."""
    sub, mod, div = lookup("Sub"), lookup("FloorMod"), lookup("FloorDiv")
    if isinstance(total, int):
        each, extras = divmod(total, count)
    else:
        each, extras = div(total, count), mod(total, count)
    long_part = div(ids, each + 1)
    if isinstance(each, int) and not each:
        return lookup("Cast")(long_part, DstT=dtypes.int32), mod(ids, each + 1)
    part = lookup("Maximum")(long_part, div(sub(ids, extras), each))
    inside = lookup("SelectV2")(lookup("Less")(part, extras), mod(ids, each + 1), mod(sub(ids, extras), each))
    return lookup("Cast")(part, DstT=dtypes.int32), inside


def _rows_of(tables, dtype):
    """The number of rows of all tables; a tensor when it is known only when the graph runs."""
    counts = [table.shape[0] for table in tables]
    if None not in counts:
        return sum(counts)
    rows = [lookup("Shape")(table, out_type=dtype)[0] for table in tables]
    return lookup("AddN")(rows)


def _clip_rows(rows, max_norm, axes):
    return PUBLIC["clip_by_norm"](rows, max_norm, axes=axes)


def _row_axes(rows, ids):
    if ids.shape.rank is None or rows.shape.rank is None:
        return lookup("Range")(lookup("Rank")(ids), lookup("Rank")(rows), 1)
    return list(range(ids.shape.rank, rows.shape.rank))


@api("nn.embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of `params` at `ids`.

    Args:
        params: a table `[rows, ...]`, or a list of tables that hold consecutive rows, the first ones one row more when
            they do not divide evenly.
        ids: integers of any shape.
        max_norm: rows with a larger norm are scaled to it.
        name: accepted for compatibility.

    Returns:
        `[*ids.shape, ...]`.

    Raises:
        ValueError: when `params` is empty.
    """
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError("nn.embedding_lookup: params must be a tensor or a list of tensors.")
    tables = list(params) if isinstance(params, (list, tuple)) else [params]
    tables = [table if hasattr(table, "shape") else to_tensor(table) for table in tables]
    ids = to_tensor(ids)
    if len(tables) == 1:
        rows = _gather(tables[0], ids)
        return rows if max_norm is None else _clip_rows(rows, max_norm, _row_axes(rows, ids))
    # Several tables: look up each part and put the rows back where their ids were.
    flat = lookup("Reshape")(ids, [-1])
    part, inside = _divide(flat, _rows_of(tables, flat.dtype), len(tables))
    places = lookup("DynamicPartition")(
        lookup("Range")(0, lookup("Size")(flat), 1), part, num_partitions=len(tables)
    )
    wanted = lookup("DynamicPartition")(inside, part, num_partitions=len(tables))
    found = [_gather(table, table_ids) for table, table_ids in zip(tables, wanted)]
    rows = lookup("DynamicStitch")(places, found)
    shape = lookup("ConcatV2")([lookup("Shape")(ids), lookup("Shape")(found[0])[1:]], 0)
    rows = lookup("Reshape")(rows, shape)
    return rows if max_norm is None else _clip_rows(rows, max_norm, _row_axes(rows, ids))


def _combine(embeddings, weights, segment_ids, combiner, ignore_weights, number):
    """Rows of one example added up, averaged, or divided by the norm of the weights."""
    segment_sum = lookup("UnsortedSegmentSum")
    if ignore_weights:
        weights = lookup("Fill")(lookup("Shape")(segment_ids), to_tensor(1.0, embeddings.dtype))
    tail = lookup("OnesLike")(lookup("Shape")(embeddings)[1:])
    column = lookup("Reshape")(weights, lookup("ConcatV2")([[-1], tail], 0))
    total = segment_sum(lookup("Mul")(embeddings, column), segment_ids, number)
    if combiner == "sum":
        return total
    square = lookup("Mul")(column, column) if combiner == "sqrtn" else column
    scale = segment_sum(square, segment_ids, number)
    if combiner == "sqrtn":
        scale = lookup("Sqrt")(scale)
    return lookup("DivNoNan")(total, scale)


@api("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """The rows at the ids of each example of a sparse or ragged tensor, combined to one row per example.

    Args:
        params: as for `embedding_lookup`.
        sp_ids: a 2-D `SparseTensor` or `RaggedTensor` of ids.
        sp_weights: weights of the same structure, or None for ones.
        combiner: "mean" (default), "sqrtn" or "sum".
        max_norm: rows with a larger norm are scaled to it first.
        name: accepted for compatibility.
        allow_fast_lookup: accepted for compatibility.

    Raises:
        ValueError: for another combiner.
        TypeError: when ids are neither sparse nor ragged, or weights differ in kind.
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"nn.embedding_lookup_sparse: combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}."
        )
    ids, segment_ids, rows = _ids_and_rows(sp_ids)
    if isinstance(sp_ids, SparseTensor):  # the rows of ragged ids are in order
        steps = lookup("Sub")(segment_ids[1:], segment_ids[:-1])
        growing = lookup("GreaterEqual")(lookup("ConcatV2")([segment_ids[:1], steps], 0), to_tensor(0, dtypes.int64))
        require(
            lookup("All")(growing, [0]),
            "nn.embedding_lookup_sparse: the rows of sp_ids must be sorted and not negative",
            segment_ids,
        )
    weights = None
    if sp_weights is not None:
        if type(sp_weights) is not type(sp_ids):
            raise TypeError(
                "nn.embedding_lookup_sparse: sp_weights must be None or of the same type as sp_ids, got "
                f"{type(sp_weights).__name__}."
            )
        weights = _ids_and_rows(sp_weights)[0]
    distinct = lookup("Unique")(ids)
    embeddings = embedding_lookup(params, distinct.y, max_norm=max_norm)
    embeddings = lookup("GatherV2")(embeddings, distinct.idx, 0)
    small = embeddings.dtype in (dtypes.float16, dtypes.bfloat16)
    dtype = embeddings.dtype
    if small:
        embeddings = lookup("Cast")(embeddings, DstT=dtypes.float32)
    if weights is not None and weights.dtype is not embeddings.dtype:
        weights = lookup("Cast")(weights, DstT=embeddings.dtype)
    result = _combine(embeddings, weights, segment_ids, combiner, weights is None, rows)
    return lookup("Cast")(result, DstT=dtype) if small else result


def _ids_and_rows(ids):
    """The values, the row of each, and the number of rows that have values up to the last one."""
    if isinstance(ids, SparseTensor):
        column = lookup("StridedSlice")(
            ids.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
        )
        numbers = lookup("ConcatV2")([[-1], lookup("Cast")(column, DstT=dtypes.int32)], 0)
        return ids.values, column, lookup("AddV2")(lookup("Max")(numbers, [0]), 1)
    if hasattr(ids, "value_rowids") and hasattr(ids, "flat_values"):
        return ids.values, ids.value_rowids(), lookup("Cast")(ids.nrows(), DstT=dtypes.int32)
    raise TypeError(
        f"nn.embedding_lookup_sparse: sp_ids must be a SparseTensor or RaggedTensor, got {type(ids).__name__}."
    )


@api("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    max_norm=None,
    name=None,
    allow_fast_lookup=False,
):
    """`embedding_lookup_sparse` for real data: ids below 0 and weights of 0 or less are left out.

    Args:
        embedding_weights: a table or a list of tables.
        sparse_ids: a `SparseTensor` of ids; leading dimensions are kept.
        sparse_weights: weights of the same structure, or None.
        combiner: "mean", "sqrtn" or "sum".
        default_id: the row for examples without ids; zeros when None.
        max_norm: rows with a larger norm are scaled to it first.
        name: accepted for compatibility.
        allow_fast_lookup: accepted for compatibility.

    Raises:
        ValueError: when `embedding_weights` is empty.
    """
    if embedding_weights is None or (isinstance(embedding_weights, (list, tuple)) and not embedding_weights):
        raise ValueError(f"nn.safe_embedding_lookup_sparse: embedding_weights must be given, got {embedding_weights}.")
    original = sparse_ids.dense_shape
    rank = sparse_ids.dense_shape.shape[0]
    reshape = PUBLIC["sparse.reshape"]
    outer = lookup("Slice")(original, [0], [rank - 1])
    flat_shape = lookup("ConcatV2")(
        [
            lookup("Reshape")(lookup("Prod")(outer, [0]), [1]),
            lookup("Slice")(original, [rank - 1], [1]),
        ],
        0,
    )
    ids = reshape(sparse_ids, flat_shape)
    weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
    keep = lookup("GreaterEqual")(ids.values, to_tensor(0, ids.values.dtype))
    if weights is not None:
        keep = lookup("LogicalAnd")(keep, lookup("Greater")(weights.values, to_tensor(0.0, weights.values.dtype)))
    retain = PUBLIC["sparse.retain"]
    ids = retain(ids, keep)
    weights = None if weights is None else retain(weights, keep)
    filled, empty = PUBLIC["sparse.fill_empty_rows"](ids, default_id or 0)
    if weights is not None:
        weights, _ = PUBLIC["sparse.fill_empty_rows"](weights, 1.0)
    result = embedding_lookup_sparse(embedding_weights, filled, weights, combiner=combiner, max_norm=max_norm)
    if default_id is None:
        tail = lookup("OnesLike")(lookup("Shape")(result)[1:])
        column = lookup("Reshape")(empty, lookup("ConcatV2")([[-1], tail], 0))
        result = lookup("SelectV2")(column, lookup("ZerosLike")(result), result)
    shape = lookup("ConcatV2")([lookup("Cast")(outer, DstT=dtypes.int32), lookup("Shape")(result)[1:]], 0)
    return lookup("Reshape")(result, shape, name=name)


def _sampled_logits(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, subtract_log_q,
    remove_accidental_hits, seed,
):
    """Logits and labels of the true and the sampled classes."""
    labels = to_tensor(labels)
    if labels.dtype is not dtypes.int64:
        labels = lookup("Cast")(labels, DstT=dtypes.int64)
    inputs = to_tensor(inputs)
    flat = lookup("Reshape")(labels, [-1])
    if sampled_values is None:
        sampled_values = PUBLIC["random.log_uniform_candidate_sampler"](
            labels, num_true, num_sampled, True, num_classes, seed=seed
        )
    sampled, true_expected, sampled_expected = (lookup("StopGradient")(to_tensor(part)) for part in sampled_values)
    sampled = lookup("Cast")(sampled, DstT=dtypes.int64)
    every = lookup("ConcatV2")([flat, sampled], 0)
    all_weights = embedding_lookup(weights, every)
    all_biases = embedding_lookup(biases, every)
    count = lookup("Size")(flat)
    split = lookup("Pack")([count, lookup("Size")(sampled)])
    true_weights, sampled_weights = lookup("SplitV")(all_weights, split, 0, num_split=2)
    true_biases, sampled_biases = lookup("SplitV")(all_biases, split, 0, num_split=2)
    per_label = lookup("Reshape")(true_weights, [-1, num_true, lookup("Shape")(inputs)[-1]])
    products = lookup("Mul")(lookup("ExpandDims")(inputs, 1), per_label)
    true_logits = lookup("Sum")(products, [2])
    true_logits = lookup("AddV2")(true_logits, lookup("Reshape")(true_biases, [-1, num_true]))
    sampled_logits = lookup("MatMul")(inputs, sampled_weights, transpose_b=True)
    sampled_logits = lookup("AddV2")(sampled_logits, sampled_biases)
    if remove_accidental_hits:
        hits = PUBLIC["nn.compute_accidental_hits"](labels, sampled, num_true=num_true)
        rows, columns, values = hits
        indices = lookup("Pack")([rows, lookup("Cast")(columns, DstT=dtypes.int32)], axis=1)
        shape = lookup("Shape")(sampled_logits)
        sampled_logits = lookup("AddV2")(
            sampled_logits, lookup("ScatterNd")(indices, lookup("Cast")(values, DstT=inputs.dtype), shape)
        )
    if subtract_log_q:
        log = lookup("Log")
        true_logits = lookup("Sub")(true_logits, log(lookup("Cast")(true_expected, DstT=inputs.dtype)))
        sampled_logits = lookup("Sub")(sampled_logits, log(lookup("Cast")(sampled_expected, DstT=inputs.dtype)))
    logits = lookup("ConcatV2")([true_logits, sampled_logits], 1)
    ones = lookup("RealDiv")(lookup("OnesLike")(true_logits), to_tensor(float(num_true), inputs.dtype))
    return logits, lookup("ConcatV2")([ones, lookup("ZerosLike")(sampled_logits)], 1)


@api("nn.nce_loss")
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
    name="nce_loss",
):
    """Noise-contrastive estimation: a loss over the true classes and some sampled ones.

    Args:
        weights: `[num_classes, dim]`, or a list of such.
        biases: `[num_classes]`.
        labels: int64 `[batch, num_true]`.
        inputs: `[batch, dim]`.
        num_sampled: how many classes are drawn per batch.
        num_classes: how many there are.
        num_true: how many of them are true per example.
        sampled_values: what a candidate sampler returned; log-uniform by default.
        remove_accidental_hits: leave out sampled classes that are true.
        name: accepted for compatibility.

    Returns:
        `[batch]` losses.
    """
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, None,
    )
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
    return lookup("Sum")(losses, [1])


@api("nn.sampled_softmax_loss")
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
    seed=None,
    name="sampled_softmax_loss",
):
    """A softmax over the true classes and some sampled ones, for training with very many classes.

    Args: as for `nce_loss`, and the seed of the sampler.
    """
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, seed,
    )
    return softmax_cross_entropy_with_logits(labels=lookup("StopGradient")(targets), logits=logits)
