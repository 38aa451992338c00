"""Embedding look-ups: rows of a table by id, combined per example, and losses over sampled classes."""

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.infer import whole
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import FILL, ONES_LIKE, RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import RANK, SHAPE, SIZE
from headrace._src.ops.arrays.partitioning import DYNAMIC_PARTITION, DYNAMIC_STITCH, UNIQUE
from headrace._src.ops.arrays.passing import STOP_GRADIENT
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS, RESHAPE
from headrace._src.ops.arrays.slicing import STRIDED_SLICE
from headrace._src.ops.arrays.splitting import SPLIT_V
from headrace._src.ops.linalg.matmul import MATMUL
from headrace._src.ops.math import clipping
from headrace._src.ops.math.arithmetic import ADD_N, MAXIMUM
from headrace._src.ops.math.division import DIV_NO_NAN
from headrace._src.ops.math.elementwise import LOG, SQRT
from headrace._src.ops.math.reductions import ALL, MAX, PROD
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_SUM
from headrace._src.ops.nn import candidate_sampling
from headrace._src.ops.nn.losses import sigmoid_cross_entropy_with_logits
from headrace._src.ops.nn.softmax import softmax_cross_entropy_with_logits
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.sparse import arranging
from headrace._src.ops.sparse import rows as sparse_rows
from headrace._src.ops.sparse.tensor import SparseTensor


def _gather(params, ids):
    """Rows of a table; a variable is read sparsely, so that its gradient has only those rows."""
    if hasattr(params, "sparse_read"):
        return params.sparse_read(ids)
    return GATHER_V2(params, ids, 0)


def _divide(ids, total, count):
    """The table of each id and the row in it, for `total` rows over `count` tables."""
    if isinstance(total, int):
        each, extras = divmod(total, count)
    else:
        each, extras = total // count, total % count
    long_part = ids // (each + 1)
    if isinstance(each, int) and not each:
        return CAST(long_part, DstT=dtypes.int32), ids % (each + 1)
    part = MAXIMUM(long_part, (ids - extras) // each)
    inside = SELECT_V2(part < extras, ids % (each + 1), (ids - extras) % each)
    return CAST(part, DstT=dtypes.int32), inside


def _rows_of(tables, dtype):
    """The number of rows of all tables; a tensor when it is known only when the graph runs."""
    counts = [table.shape[0] for table in tables]
    if None not in counts:
        return sum(counts)
    rows = [SHAPE(table, out_type=dtype)[0] for table in tables]
    return ADD_N(rows)


def _clip_rows(rows, max_norm, axes):
    return clipping.clip_by_norm(rows, max_norm, axes=axes)


def _row_axes(rows, ids):
    if ids.shape.rank is None or rows.shape.rank is None:
        return RANGE(RANK(ids), RANK(rows), 1)
    return list(range(ids.shape.rank, rows.shape.rank))


@api("nn.embedding_lookup", scope="embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None) -> Tensor:
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
    divided = isinstance(params, (list, tuple)) or hasattr(params, "_get_partitions")  # of 1.x
    tables = list(params) if divided else [params]
    tables = [table if hasattr(table, "shape") else to_tensor(table) for table in tables]
    ids = to_tensor(ids)
    if len(tables) == 1:
        rows = _gather(tables[0], ids)
        return rows if max_norm is None else _clip_rows(rows, max_norm, _row_axes(rows, ids))
    # Several tables: look up each part and put the rows back where their ids were.
    flat = RESHAPE(ids, [-1])
    part, inside = _divide(flat, _rows_of(tables, flat.dtype), len(tables))
    places = DYNAMIC_PARTITION(
        RANGE(0, SIZE(flat), 1), part, num_partitions=len(tables)
    )
    wanted = DYNAMIC_PARTITION(inside, part, num_partitions=len(tables))
    found = [_gather(table, table_ids) for table, table_ids in zip(tables, wanted)]
    rows = DYNAMIC_STITCH(places, found)
    shape = CONCAT([SHAPE(ids), SHAPE(found[0])[1:]], 0)
    rows = RESHAPE(rows, shape)
    return rows if max_norm is None else _clip_rows(rows, max_norm, _row_axes(rows, ids))


def _combine(embeddings, weights, segment_ids, combiner, ignore_weights, number):
    """Rows of one example added up, averaged, or divided by the norm of the weights."""
    if ignore_weights:
        weights = FILL(SHAPE(segment_ids), to_tensor(1.0, embeddings.dtype))
    tail = ONES_LIKE(SHAPE(embeddings)[1:])
    column = RESHAPE(weights, CONCAT([[-1], tail], 0))
    total = UNSORTED_SEGMENT_SUM(embeddings * column, segment_ids, number)
    if combiner == "sum":
        return total
    square = column * column if combiner == "sqrtn" else column
    scale = UNSORTED_SEGMENT_SUM(square, segment_ids, number)
    if combiner == "sqrtn":
        scale = SQRT(scale)
    return DIV_NO_NAN(total, scale)


@api("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
) -> Tensor:
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
        steps = segment_ids[1:] - segment_ids[:-1]
        growing = CONCAT([segment_ids[:1], steps], 0) >= 0
        require(
            ALL(growing, [0]),
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
    distinct = UNIQUE(ids)
    embeddings = embedding_lookup(params, distinct.y, max_norm=max_norm)
    embeddings = GATHER_V2(embeddings, distinct.idx, 0)
    small = embeddings.dtype in (dtypes.float16, dtypes.bfloat16)
    dtype = embeddings.dtype
    if small:
        embeddings = CAST(embeddings, DstT=dtypes.float32)
    if weights is not None and weights.dtype is not embeddings.dtype:
        weights = CAST(weights, DstT=embeddings.dtype)
    result = _combine(embeddings, weights, segment_ids, combiner, weights is None, rows)
    return CAST(result, DstT=dtype) if small else result


def _ids_and_rows(ids):
    """The values, the row of each, and the number of rows that have values up to the last one."""
    if isinstance(ids, SparseTensor):
        column = STRIDED_SLICE(
            ids.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
        )
        numbers = CONCAT([[-1], CAST(column, DstT=dtypes.int32)], 0)
        return ids.values, column, MAX(numbers, [0]) + 1
    if hasattr(ids, "value_rowids") and hasattr(ids, "flat_values"):
        return ids.values, ids.value_rowids(), CAST(ids.nrows(), DstT=dtypes.int32)
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
) -> Tensor:
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
    reshape = arranging.reshape
    outer = SLICE(original, [0], [rank - 1])
    flat_shape = CONCAT(
        [
            RESHAPE(PROD(outer, [0]), [1]),
            SLICE(original, [rank - 1], [1]),
        ],
        0,
    )
    ids = reshape(sparse_ids, flat_shape)
    weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
    keep = ids.values >= 0
    if weights is not None:
        keep = keep & (weights.values > 0)
    retain = arranging.retain
    ids = retain(ids, keep)
    weights = None if weights is None else retain(weights, keep)
    filled, empty = sparse_rows.fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = sparse_rows.fill_empty_rows(weights, 1.0)
    result = embedding_lookup_sparse(embedding_weights, filled, weights, combiner=combiner, max_norm=max_norm)
    if default_id is None:
        tail = ONES_LIKE(SHAPE(result)[1:])
        column = RESHAPE(empty, CONCAT([[-1], tail], 0))
        result = SELECT_V2(column, ZEROS_LIKE(result), result)
    shape = CONCAT([CAST(outer, DstT=dtypes.int32), SHAPE(result)[1:]], 0)
    return RESHAPE(result, shape, name=name)


def _sampled_logits(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, subtract_log_q,
    remove_accidental_hits, seed,
):
    """Logits and labels of the true and the sampled classes."""
    if whole(num_sampled, "num_sampled") < 1:
        raise errors.invalid_argument(f"num_sampled must be positive, got {num_sampled}.")
    labels = to_tensor(labels)
    if labels.dtype is not dtypes.int64:
        labels = CAST(labels, DstT=dtypes.int64)
    inputs = to_tensor(inputs)
    flat = RESHAPE(labels, [-1])
    if sampled_values is None:
        sampled_values = candidate_sampling.log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed=seed
        )
    sampled, true_expected, sampled_expected = (STOP_GRADIENT(to_tensor(part)) for part in sampled_values)
    sampled = CAST(sampled, DstT=dtypes.int64)
    every = CONCAT([flat, sampled], 0)
    all_weights = embedding_lookup(weights, every)
    all_biases = embedding_lookup(biases, every)
    count = SIZE(flat)
    split = PACK([count, SIZE(sampled)])
    true_weights, sampled_weights = SPLIT_V(all_weights, split, 0, num_split=2)
    true_biases, sampled_biases = SPLIT_V(all_biases, split, 0, num_split=2)
    per_label = RESHAPE(true_weights, [-1, num_true, SHAPE(inputs)[-1]])
    products = EXPAND_DIMS(inputs, 1) * per_label
    true_logits = SUM(products, [2]) + RESHAPE(true_biases, [-1, num_true])
    sampled_logits = MATMUL(inputs, sampled_weights, transpose_b=True) + sampled_biases
    if remove_accidental_hits:
        hits = candidate_sampling.compute_accidental_hits(labels, sampled, num_true=num_true)
        rows, columns, values = hits
        indices = PACK([rows, CAST(columns, DstT=dtypes.int32)], axis=1)
        shape = SHAPE(sampled_logits)
        sampled_logits = sampled_logits + SCATTER_ND(indices, CAST(values, DstT=inputs.dtype), shape)
    if subtract_log_q:
        true_logits = true_logits - LOG(CAST(true_expected, DstT=inputs.dtype))
        sampled_logits = sampled_logits - LOG(CAST(sampled_expected, DstT=inputs.dtype))
    logits = CONCAT([true_logits, sampled_logits], 1)
    ones = ONES_LIKE(true_logits) / float(num_true)
    return logits, CONCAT([ones, ZEROS_LIKE(sampled_logits)], 1)


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
) -> Tensor:
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
    return SUM(losses, [1])


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
) -> Tensor:
    """A softmax over the true classes and some sampled ones, for training with very many classes.

    Args: as for `nce_loss`, and the seed of the sampler.
    """
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, seed,
    )
    return softmax_cross_entropy_with_logits(labels=STOP_GRADIENT(targets), logits=logits)
