"""Connectionist temporal classification in NumPy: forward-backward, greedy and prefix beam search."""

import numpy as np

from headrace._src.core import errors

_NEVER = -np.inf


def _log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _collapsed(labels):
    return [label for i, label in enumerate(labels) if i == 0 or labels[i - 1] != label]


def needed_time(labels) -> int:
    """The fewest steps in which a labelling fits: one each, and a blank between equal neighbours."""
    return len(labels) + sum(a == b for a, b in zip(labels, labels[1:]))


class _Lattice:
    """The labels of a batch with blanks between them, and which transitions are allowed."""

    def __init__(self, labels, blank, merge_repeated):
        self.lengths = np.array([2 * len(row) + 1 for row in labels])
        width = int(self.lengths.max())
        self.classes = np.full((len(labels), width), blank, np.int64)
        for b, row in enumerate(labels):
            self.classes[b, 1 : 2 * len(row) : 2] = row
        position = np.arange(width)
        self.inside = position < self.lengths[:, None]
        is_blank = self.classes == blank
        self.stay = np.where(is_blank | merge_repeated, 0.0, _NEVER)
        skip = np.zeros_like(self.inside)
        if width > 2:
            same = self.classes[:, 2:] == self.classes[:, :-2]
            skip[:, 2:] = ~is_blank[:, 2:] & ~(same & merge_repeated)
        self.skip = np.where(skip, 0.0, _NEVER)


def _shift(scores, by):
    """Scores of the lattice position `by` places to the left (or right)."""
    moved = np.full_like(scores, _NEVER)
    if abs(by) < scores.shape[1]:
        if by > 0:
            moved[:, by:] = scores[:, :-by]
        else:
            moved[:, :by] = scores[:, -by:]
    return moved


def loss_and_gradient(logits, labels, lengths, blank, merge_repeated):
    """Losses `[batch]` and their gradients `[time, batch, classes]`, for time-major logits.

    Args:
        logits: `[time, batch, classes]` floats.
        labels: a list of integers per example; what does not fit its length must have been taken out.
        lengths: the number of steps of each example.
        blank: the class that stands for no label.
        merge_repeated: whether equal labels in a row are one label unless a blank is between them.
    """
    steps, batch, _ = logits.shape
    log_p = _log_softmax(logits.astype(np.float64))
    lattice = _Lattice(labels, blank, merge_repeated)
    rows = np.arange(batch)[:, None]
    emitted = log_p[:, rows, lattice.classes]  # [time, batch, width]
    emitted = np.where(lattice.inside, emitted, _NEVER)
    alphas = np.full(emitted.shape, _NEVER)
    betas = np.full(emitted.shape, _NEVER)
    if steps:
        alphas[0, :, :2] = emitted[0, :, :2]
    for t in range(1, steps):
        before = alphas[t - 1]
        total = np.logaddexp(before + lattice.stay, _shift(before, 1))
        total = np.logaddexp(total, _shift(before, 2) + lattice.skip)
        alphas[t] = total + emitted[t]
    last = np.maximum(lengths - 1, 0)
    for t in range(steps - 1, -1, -1):
        if t + 1 < steps:
            after = betas[t + 1] + emitted[t + 1]
            total = np.logaddexp(after + lattice.stay, _shift(after, -1))
            betas[t] = np.logaddexp(total, _shift(after + lattice.skip, -2))
        ending = last == t
        if ending.any():
            ends = np.full(betas[t].shape, _NEVER)
            ends[np.arange(batch), lattice.lengths - 1] = 0.0
            second = np.maximum(lattice.lengths - 2, 0)
            ends[np.arange(batch), second] = 0.0
            betas[t] = np.where(ending[:, None], ends, betas[t])
    joint = alphas + betas
    evidence = np.full(batch, _NEVER)
    if steps:
        evidence = np.logaddexp.reduce(joint[last, np.arange(batch)], axis=1)
    # How likely each class is at each step, given the labels.
    gradient = np.exp(log_p)
    share = np.exp(joint - evidence[:, None])
    occupied = np.zeros_like(gradient)
    times = np.arange(steps)[:, None, None]
    np.add.at(occupied, (times, rows[None], lattice.classes[None]), np.nan_to_num(share))
    gradient -= occupied
    gradient[np.arange(steps)[:, None] >= lengths[None, :]] = 0
    empty = lengths == 0
    gradient[:, empty] = 0
    loss = np.where(empty, 0.0, -evidence)
    return loss.astype(logits.dtype), gradient.astype(logits.dtype)


def labels_per_example(indices, values, batch, op):
    """The values of a sparse `[batch, n]` tensor as lists, in order."""
    labels, before = [[] for _ in range(batch)], [-1, -1]
    for place, label in zip(indices.tolist(), values.tolist()):
        row = place[0]
        if not 0 <= row < batch or place[1] < 0:
            raise errors.invalid_argument(f"{op}: labels_indices has {place}, out of bounds for a batch of {batch}.")
        if place <= before:
            raise errors.invalid_argument(f"{op}: labels_indices has {place} after {before}: they must be sorted.")
        before = place
        labels[row].append(label)
    return labels


def ctc_loss(inputs, indices, values, lengths, blank, collapse, merge, ignore_longer, op):
    """The kernel of the CTCLoss ops: checks, then `loss_and_gradient` of what fits."""
    if inputs.ndim != 3:
        raise errors.invalid_argument(f"{op}: inputs must be [time, batch, classes], got shape {inputs.shape}.")
    steps, batch, classes = inputs.shape
    if lengths.shape != (batch,):
        raise errors.invalid_argument(f"{op}: sequence_length must have shape ({batch},), got {lengths.shape}.")
    if values.ndim != 1 or indices.shape != (len(values), 2):
        raise errors.invalid_argument(
            f"{op}: labels_indices must have shape (n, 2) and labels_values (n,), got {indices.shape} and "
            f"{values.shape}."
        )
    if not batch:
        raise errors.invalid_argument(f"{op}: the batch must not be empty.")
    if lengths.size and (lengths.min() < 0 or lengths.max() > steps):
        raise errors.invalid_argument(f"{op}: sequence_length must be in [0, {steps}], got {lengths.tolist()}.")
    labels = labels_per_example(indices, values, batch, op)
    left_out = np.zeros(batch, bool)
    for b, row in enumerate(labels):
        if not row:
            raise errors.invalid_argument(f"{op}: labels_values has no label for example {b}.")
        if any(label < 0 for label in row):
            raise errors.invalid_argument(f"{op}: labels_values must not be negative, got {row} in example {b}.")
        # TF: labels that are no class, or blank, may stand at the end: they are left out.
        kept = row
        while kept and (kept[-1] >= classes or kept[-1] == blank):
            kept = kept[:-1]
        if any(label >= classes or label == blank for label in kept):
            raise errors.invalid_argument(
                f"{op}: labels_values has a label that is blank or no class before one that is, in example {b} of "
                f"{classes} classes: {row}."
            )
        row = labels[b] = _collapsed(kept) if collapse else kept
        required = needed_time(row) if merge else len(row)
        if lengths[b] and required > lengths[b]:
            if not ignore_longer:
                raise errors.invalid_argument(
                    f"{op}: Not enough time for target transition sequence (required: {required}, available: "
                    f"{lengths[b]}). You can turn this error into a warning by using the flag "
                    "ignore_longer_outputs_than_inputs"
                )
            left_out[b] = True
            labels[b] = []
    loss, gradient = loss_and_gradient(inputs, labels, lengths, blank, merge)
    loss[left_out] = 0
    gradient[:, left_out] = 0
    return loss, gradient


def _as_sparse(paths):
    """Decoded label lists as the parts of a sparse tensor."""
    indices = [[b, i] for b, path in enumerate(paths) for i in range(len(path))]
    values = [label for path in paths for label in path]
    shape = [len(paths), max((len(path) for path in paths), default=0)]
    return np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int64), np.array(shape, np.int64)


def greedy(inputs, lengths, merge_repeated, blank):
    """The best class at each step, without blanks: sparse parts, and the negated sum of the best logits."""
    steps, batch, _ = inputs.shape
    best = inputs.argmax(axis=2)
    top = inputs.max(axis=2)
    inside = np.arange(steps)[:, None] < lengths[None, :]
    score = -np.sum(np.where(inside, top, 0), axis=0, dtype=inputs.dtype)
    paths = []
    for b in range(batch):
        path, before = [], -1
        for label in best[: max(lengths[b], 0), b].tolist():
            if label != blank and not (merge_repeated and label == before):
                path.append(label)
            before = label
        paths.append(path)
    return (*_as_sparse(paths), score[:, None])


class _Beam:
    """A prefix: its probability of ending in a blank, and in its last label."""

    __slots__ = ("blank", "label", "prefix")

    def __init__(self, prefix, blank, label):
        self.prefix = prefix
        self.blank = blank
        self.label = label

    @property
    def total(self):
        return np.logaddexp(self.blank, self.label)


def _search(log_p, beam_width, blank):
    """Prefix beam search of one example; the best beams, best first."""
    beams = {(): _Beam((), 0.0, _NEVER)}
    for scores in log_p:
        grown = {}

        def beam(prefix, grown=grown):
            if prefix not in grown:
                grown[prefix] = _Beam(prefix, _NEVER, _NEVER)
            return grown[prefix]

        for old in beams.values():
            total = old.total
            same = beam(old.prefix)
            same.blank = np.logaddexp(same.blank, total + scores[blank])
            if old.prefix:
                same.label = np.logaddexp(same.label, old.label + scores[old.prefix[-1]])
            for label in range(len(scores)):
                if label == blank:
                    continue
                # After the same label only what ended in a blank makes a new one.
                source = old.blank if old.prefix and old.prefix[-1] == label else total
                if source == _NEVER:
                    continue
                longer = beam((*old.prefix, label))
                longer.label = np.logaddexp(longer.label, source + scores[label])
        kept = sorted(grown.values(), key=lambda b: -b.total)[:beam_width]
        beams = {b.prefix: b for b in kept}
    return sorted(beams.values(), key=lambda b: -b.total)


def beam_search(inputs, lengths, beam_width, top_paths, merge_repeated):
    """The `top_paths` best labellings per example: sparse parts per path, and log probabilities."""
    steps, batch, classes = inputs.shape
    log_p = _log_softmax(inputs.astype(np.float64)) if steps else inputs.astype(np.float64)
    paths = [[] for _ in range(top_paths)]
    scores = np.zeros((batch, top_paths), inputs.dtype)
    for b in range(batch):
        beams = _search(log_p[: max(lengths[b], 0), b], beam_width, classes - 1)
        if len(beams) < top_paths:
            raise errors.invalid_argument(
                f"CTCBeamSearchDecoder: fewer than top_paths={top_paths} labellings exist for example {b}."
            )
        for k in range(top_paths):
            path = list(beams[k].prefix)
            paths[k].append(_collapsed(path) if merge_repeated else path)
            scores[b, k] = beams[k].total
    parts = [_as_sparse(path) for path in paths]
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts], scores
