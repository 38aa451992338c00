"""Connectionist temporal classification: loss and decoders."""

import functools

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import whole
from headrace._src.ops.arrays import filling
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.broadcasting import SUM
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.filling import ONES_LIKE, RANGE, ZEROS_LIKE
from headrace._src.ops.arrays.gathering import GATHER_ND, GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.passing import PREVENT_GRADIENT
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.scattering import SCATTER_ND
from headrace._src.ops.arrays.selecting import SELECT_V2, WHERE
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.math.arithmetic import MAXIMUM
from headrace._src.ops.math.comparison import EQUAL, LESS, LESS_EQUAL, LOGICAL_AND, NOT_EQUAL
from headrace._src.ops.math.cumulative import CUMSUM
from headrace._src.ops.math.reductions import ANY, MAX
from headrace._src.ops.nn import ctc_kernels
from headrace._src.ops.nn.activations import SOFTPLUS
from headrace._src.ops.nn.softmax import LOG_SOFTMAX
from headrace._src.ops.ragged.row_arithmetic import require
from headrace._src.ops.sparse.tensor import SparseTensor

_TYPES = frozenset({dtypes.float32, dtypes.float64})


def _loss_kernel(
    inputs, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated, ctc_merge_repeated,
    ignore_longer_outputs_than_inputs, *, name, blank,
):
    position = blank(inputs.shape[-1]) if inputs.ndim else 0
    return ctc_kernels.ctc_loss(
        inputs, labels_indices, labels_values, sequence_length, position, preprocess_collapse_repeated,
        ctc_merge_repeated, ignore_longer_outputs_than_inputs, name,
    )


def _infer_loss(inputs, labels_indices, labels_values, sequence_length, **attrs):
    shape = inputs.shape
    if shape.rank is None:
        return TensorShape([None]), TensorShape([None, None, None])
    return TensorShape([shape[1]]), shape


def _grad_loss(node, dloss, dgradient):
    # The gradient was computed along with the loss; as a value, it has no derivative of its own.
    gradient = PREVENT_GRADIENT(
        node.gradient, message="The second derivative of the CTC loss is not implemented."
    )
    weight = EXPAND_DIMS(EXPAND_DIMS(dloss, 0), 2)
    return weight * gradient, None, None, None


def _loss_op(name, blank):
    return Op(
        name,
        "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32, *, "
        "preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, "
        "ignore_longer_outputs_than_inputs: bool = False -> loss: T, gradient: T",
        T=_TYPES,
        infer=_infer_loss,
        kernel=functools.partial(_loss_kernel, name=name, blank=blank),
        lower=None,  # labels of varying length: runs on the host
        saves=("gradient",),
        grad=_grad_loss,
    )


CTC_LOSS = _loss_op("CTCLoss", lambda classes: classes - 1)
CTC_LOSS_V2 = _loss_op("CTCLossV2", lambda classes: 0)


def _greedy_kernel(inputs, sequence_length, merge_repeated, blank_index):
    classes = _check_decoder("CTCGreedyDecoder", inputs, sequence_length)
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise errors.invalid_argument(
            f"CTCGreedyDecoder: blank_index must be in [{-classes}, {classes}), got {blank_index}."
        )
    return ctc_kernels.greedy(inputs, sequence_length, merge_repeated, blank)


def _check_decoder(op, inputs, sequence_length):
    if inputs.ndim != 3:
        raise errors.invalid_argument(f"{op}: inputs must be [time, batch, classes], got shape {inputs.shape}.")
    steps, batch, classes = inputs.shape
    if not inputs.size:
        raise errors.invalid_argument(f"{op}: inputs must not be empty, got shape {inputs.shape}.")
    if sequence_length.shape != (batch,):
        refuse = errors.invalid_argument if sequence_length.ndim != 1 else errors.failed_precondition
        raise refuse(f"{op}: sequence_length must have shape ({batch},), got {sequence_length.shape}.")
    # TF: a negative length counts as 0.
    if sequence_length.max() > steps:
        bad = int(np.flatnonzero(sequence_length > steps)[0])
        raise errors.FailedPreconditionError(
            None, None, f"{op}: sequence_length({bad}) <= {steps} does not hold, got {sequence_length[bad]}."
        )
    return classes


CTC_GREEDY_DECODER = Op(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32, *, merge_repeated: bool = False, blank_index: int = -1 -> "
    "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
    T=_TYPES,
    infer=lambda inputs, sequence_length, **attrs: (
        TensorShape([None, 2]),
        TensorShape([None]),
        TensorShape([2]),
        TensorShape([None, 1]),
    ),
    kernel=_greedy_kernel,
    lower=None,  # the number of labels depends on data
    grad=None,
)


def _beam_kernel(inputs, sequence_length, beam_width, top_paths, merge_repeated):
    _check_decoder("CTCBeamSearchDecoder", inputs, sequence_length)
    if top_paths > beam_width:
        raise errors.invalid_argument(
            f"CTCBeamSearchDecoder: top_paths must be <= beam_width, got {top_paths} and {beam_width}."
        )
    return ctc_kernels.beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated)


CTC_BEAM_SEARCH_DECODER = Op(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32, *, beam_width: int, top_paths: int, merge_repeated: bool = True -> "
    "decoded_indices: top_paths*int64, decoded_values: top_paths*int64, decoded_shape: top_paths*int64, "
    "log_probability: T",
    T=_TYPES,
    infer=lambda inputs, sequence_length, beam_width, top_paths, merge_repeated: (
        [TensorShape([None, 2])] * top_paths,
        [TensorShape([None])] * top_paths,
        [TensorShape([2])] * top_paths,
        TensorShape([None, top_paths]),
    ),
    kernel=_beam_kernel,
    lower=None,  # the number of labels depends on data
    grad=None,
)


@api("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs, sequence_length, merge_repeated=True, blank_index=None
) -> tuple[list[SparseTensor], Tensor]:
    """The most likely class at each step, with repeats and blanks taken out.

    Args:
        inputs: logits `[time, batch, classes]`.
        sequence_length: int32 `[batch]`.
        merge_repeated: whether equal classes in a row are one label.
        blank_index: the blank class; the last by default.

    Returns:
        A list with one `SparseTensor` of labels, and `[batch, 1]` negated sums of the best logits.
    """
    found = CTC_GREEDY_DECODER(
        inputs,
        sequence_length,
        merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else int(blank_index),
    )
    decoded = SparseTensor(found.decoded_indices, found.decoded_values, found.decoded_shape)
    return [decoded], found.log_probability


@api("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1) -> tuple[list[SparseTensor], Tensor]:
    """The most likely labellings, by prefix beam search; the blank is the last class.

    Returns:
        A list of `top_paths` sparse tensors, and `[batch, top_paths]` log probabilities.
    """
    found = CTC_BEAM_SEARCH_DECODER(
        inputs, sequence_length, beam_width=int(beam_width), top_paths=int(top_paths), merge_repeated=False
    )
    decoded = [
        SparseTensor(*parts)
        for parts in zip(found.decoded_indices, found.decoded_values, found.decoded_shape)
    ]
    return decoded, found.log_probability


def _size(x, axis):
    """The length of an axis: an int, or in a graph a scalar tensor if it is unknown."""
    size = x.shape[axis] if x.shape.rank is not None else None
    return SHAPE(x)[axis] if size is None else size


@api("nn.ctc_loss")
def ctc_loss(
    labels,
    logits,
    label_length,
    logit_length,
    logits_time_major=True,
    unique=None,
    blank_index=None,
    name=None,
) -> Tensor:
    """The CTC loss of each example.

    Args:
        labels: int32 `[batch, n]`, or a `SparseTensor`.
        logits: `[time, batch, classes]`, or `[batch, time, classes]`.
        label_length: `[batch]`; None for sparse labels.
        logit_length: `[batch]`.
        logits_time_major: whether time is the first axis of the logits.
        unique: accepted for compatibility.
        blank_index: the blank class; 0 by default for dense labels, required for sparse ones.
        name: accepted for compatibility.

    Returns:
        `[batch]`: the negative log probabilities; infinite where the labels do not fit the time.

    Raises:
        ValueError: when a needed argument is missing.
    """
    logits = to_tensor(logits)
    small = logits.dtype in (dtypes.float16, dtypes.bfloat16)
    scores = CAST(logits, DstT=dtypes.float32) if small else logits
    if not logits_time_major:
        scores = TRANSPOSE(scores, [1, 0, 2])
    classes = _size(scores, 2)
    sparse = isinstance(labels, SparseTensor)
    if sparse and blank_index is None:
        raise ValueError("nn.ctc_loss: blank_index must be given when labels is a SparseTensor.")
    if not sparse and label_length is None:
        raise ValueError("nn.ctc_loss: label_length must be given when labels is a dense tensor.")
    if unique is not None and not (isinstance(unique, (list, tuple)) and len(unique) == 2):
        raise TypeError(f"nn.ctc_loss: unique must be what tf.nn.ctc_unique_labels returns, got {unique!r}.")
    blank = 0 if blank_index is None else whole(blank_index, "blank_index")
    blank = blank + classes if blank < 0 else blank
    if isinstance(classes, int):
        if not 0 <= blank < classes:
            raise ValueError(f"nn.ctc_loss: blank_index must be in [{-classes}, {classes}), got {blank_index}.")
    else:
        inside = LOGICAL_AND(LESS_EQUAL(0, blank), LESS(blank, classes))
        require(inside, f"nn.ctc_loss: blank_index must be a class or count from the end, got {blank_index}")
    logit_length = CAST(to_tensor(logit_length), DstT=dtypes.int32)
    fits = excess = None
    if not sparse:
        labels = to_tensor(labels)
        if not labels.dtype.is_integer:
            raise errors.invalid_argument(f"nn.ctc_loss: labels must be integers, got {labels.dtype.name}.")
        labels = CAST(labels, DstT=dtypes.int32)
        if labels.shape.rank not in (2, None):
            raise errors.invalid_argument(f"nn.ctc_loss: labels must be [batch, n], got shape {labels.shape}.")
        label_length = CAST(to_tensor(label_length), DstT=dtypes.int32)
        # TF: a label that is blank is the class before it, or where the blank is the first class, one that looks
        # like a blank.
        if isinstance(blank, int) and blank == 0:
            if _has_zeros(labels, label_length):
                scores, labels, excess = _with_second_blank(scores, labels, classes, logit_length)
                classes = classes + 1
        else:
            labels = SELECT_V2(EQUAL(labels, blank), blank - 1, labels)
        fits = _fits(labels, label_length, logit_length)
        labels = _sparse_labels(labels, label_length, blank)
    values = CAST(labels.values, DstT=dtypes.int32)
    if not (isinstance(classes, int) and blank == classes - 1):
        # The op takes the last class as the blank: move it there.
        if isinstance(classes, int):
            order = [c for c in range(classes) if c != blank] + [blank]
        else:
            parts = (0, blank), (blank + 1, classes), (blank, blank + 1)
            order = CONCAT([RANGE(start, limit, 1) for start, limit in parts], 0)
        scores = GATHER_V2(scores, order, 2)
        moved = SELECT_V2(values < blank, values, values - 1)
        values = SELECT_V2(EQUAL(values, blank), classes - 1, moved)
    loss = CTC_LOSS(
        scores,
        labels.indices,
        values,
        logit_length,
        ignore_longer_outputs_than_inputs=not sparse,
        name=name,
    ).loss
    if excess is not None:
        loss = loss - excess
    if fits is not None:
        loss = SELECT_V2(fits, loss, to_tensor(np.inf, loss.dtype))
    return CAST(loss, DstT=logits.dtype) if small else loss


def _has_zeros(labels, lengths):
    """Whether a label is 0; True where it cannot be told yet."""
    if type(labels) is not EagerTensor or type(lengths) is not EagerTensor:
        return True
    inside = np.arange(labels._a.shape[1]) < lengths._a.reshape(-1, 1)
    return bool(np.any((labels._a == 0) & inside))


def _with_second_blank(scores, labels, classes, lengths):
    """Logits with the first class once more at the end, which labels 0 then are.

    Returns:
        The logits, the labels, and how much the loss of each example becomes too large: the op divides by the sum
        over all classes, in which the first now counts twice.
    """
    first = scores[:, :, :1]
    longer = CONCAT([scores, first], 2)
    labels = SELECT_V2(EQUAL(labels, 0), classes, labels)
    share = LOG_SOFTMAX(scores)[:, :, 0]
    steps = EXPAND_DIMS(RANGE(0, _size(scores, 0), 1), 1)
    inside = steps < EXPAND_DIMS(lengths, 0)
    excess = SELECT_V2(inside, SOFTPLUS(share), ZEROS_LIKE(share))
    return longer, labels, SUM(excess, [0])


def _sparse_labels(labels, lengths, blank):
    """The first `lengths[i]` labels of each row, as a sparse tensor; a blank where there is none.

    The op refuses an example without labels, and leaves a blank at the end out.
    """
    none = EXPAND_DIMS(EQUAL(lengths, 0), 1)
    labels = SELECT_V2(none, blank, labels)
    lengths = MAXIMUM(lengths, 1)
    width = _size(labels, 1)
    mask = EXPAND_DIMS(RANGE(0, width, 1), 0) < EXPAND_DIMS(lengths, 1)
    indices = WHERE(mask)
    return SparseTensor(indices, GATHER_ND(labels, indices), SHAPE(labels, out_type=dtypes.int64))


def _fits(labels, label_length, logit_length):
    """Whether each labelling fits its time, counting a blank between equal neighbours."""
    equal = EQUAL(labels[:, 1:], labels[:, :-1])
    positions = RANGE(1, _size(equal, 1) + 1, 1)
    inside = EXPAND_DIMS(positions, 0) < EXPAND_DIMS(label_length, 1)
    repeats = SUM(CAST(equal & inside, DstT=dtypes.int32), [1])
    return label_length + repeats <= logit_length


@api("nn.ctc_unique_labels")
def ctc_unique_labels(labels, name=None) -> tuple[Tensor, Tensor]:
    """The distinct labels of each row, and where each label is among them.

    Args:
        labels: `[batch, n]` of non-negative integers, padded with zeros.

    Returns:
        `(values, indices)`, each `[batch, n]`: the distinct labels padded with zeros, and for each label its index.
    """
    labels = to_tensor(labels)
    if labels.shape.rank not in (2, None):
        raise errors.invalid_argument(f"nn.ctc_unique_labels: labels must be [batch, n], got shape {labels.shape}.")
    places = RANGE(0, _size(labels, 1), 1)
    same = EQUAL(EXPAND_DIMS(labels, 2), EXPAND_DIMS(labels, 1))
    earlier = EXPAND_DIMS(places, 0) < EXPAND_DIMS(places, 1)
    is_first = ~ANY(same & earlier, [2])
    # The distinct labels are numbered as they come.
    order = CUMSUM(CAST(is_first, DstT=dtypes.int32), 1, exclusive=True)
    from_first = CAST(same & EXPAND_DIMS(is_first, 1), DstT=dtypes.int32)
    indices = SUM(from_first * EXPAND_DIMS(order, 1), [2])
    goes = EXPAND_DIMS(is_first, 1) & EQUAL(EXPAND_DIMS(order, 1), EXPAND_DIMS(places, 1))
    wide = EXPAND_DIMS(CAST(labels, DstT=dtypes.int64), 1)
    return SUM(CAST(goes, DstT=dtypes.int64) * wide, [2]), indices


@api("nn.collapse_repeated")
def collapse_repeated(labels, seq_length, name=None) -> tuple[Tensor, Tensor]:
    """Labels with equal neighbours merged, and the new lengths.

    Args:
        labels: `[batch, n]`.
        seq_length: `[batch]`.

    Returns:
        `(collapsed labels, lengths)`, the labels padded with zeros to the longest row.
    """
    labels, lengths = to_tensor(labels), to_tensor(seq_length)
    width = _size(labels, 1)
    first = ONES_LIKE(SLICE(labels, [0, 0], [-1, 1]))
    changed = NOT_EQUAL(labels[:, 1:], labels[:, :-1])
    start = CONCAT([CAST(first, DstT=dtypes.bool), changed], 1)
    inside = filling.sequence_mask(lengths, maxlen=width)
    keep = start & inside
    new_lengths = SUM(CAST(keep, DstT=lengths.dtype), [1])
    longest = MAX(new_lengths, [0])
    into = filling.sequence_mask(new_lengths, maxlen=longest)
    where = WHERE(into)
    kept = GATHER_ND(labels, WHERE(keep))
    shape = SHAPE(into, out_type=dtypes.int64)
    return SCATTER_ND(where, kept, shape), new_lengths
