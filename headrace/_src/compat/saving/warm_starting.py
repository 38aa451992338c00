"""`tf.compat.v1.train.warm_start`: variables that begin as those of another training, perhaps with other words."""

from typing import Any, NamedTuple

import numpy as np

from headrace._src.checkpoint.ops import RESTORE_V2
from headrace._src.compat.graph_keys import GraphKeys, get_collection
from headrace._src.compat.saving.initial_checkpoints import Source, begin_with
from headrace._src.core import errors
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.ops.arrays.box_slices import SLICE
from headrace._src.ops.arrays.filling import FILL
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT
from headrace._src.state.variables import Variable


class _VocabFields(NamedTuple):
    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


@api("compat.v1.train.VocabInfo", dispatch=False)
class VocabInfo(_VocabFields):
    """The words that rows (or, with axis 1, columns) of a variable stand for, now and in the checkpoint.

    Args:
        new_vocab: a file with the words of now, one on each line.
        new_vocab_size: how many of these lines count.
        num_oov_buckets: how many rows for other words follow.
        old_vocab: a file with the words of the checkpoint.
        old_vocab_size: how many of these lines count; -1 for all.
        backup_initializer: gives rows to words that are new; zeros if None.
        axis: 0 for rows, 1 for columns.

    >>> tf.compat.v1.train.VocabInfo("new.txt", 3, 0, "old.txt").old_vocab_size
    -1
    """

    __slots__ = ()

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1,
                backup_initializer=None, axis=0):  # fmt: skip
        if axis not in (0, 1):
            raise ValueError(f"VocabInfo: axis must be 0 (rows) or 1 (columns), got {axis}.")
        return super().__new__(
            cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis
        )


@api("compat.v1.train.warm_start", dispatch=False)
def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
               var_name_to_prev_var_name=None) -> None:  # fmt: skip
    """Lets variables of the default graph begin with the values of a checkpoint.

    Args:
        ckpt_to_initialize_from: a checkpoint, or a folder, whose latest checkpoint is meant.
        vars_to_warm_start: which: a regular expression for the names of trainable variables, a list of such for those
            of all variables, or a list of variables. None: only those of `var_name_to_vocab_info`.
        var_name_to_vocab_info: for names of variables, the `VocabInfo` by which rows change their places.
        var_name_to_prev_var_name: for names of variables, the other name in the checkpoint.

    Raises:
        ValueError: the checkpoint has no such tensor, or it has another shape; or a name is of no variable.
        NotFoundError: there is no such checkpoint.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "c")
    >>> tf.raw_ops.SaveV2(prefix=path, tensor_names=["x"], shape_and_slices=[""], tensors=[tf.constant([1.0, 2.0])])
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.compat.v1.get_variable("x", [2])
    ...     tf.compat.v1.train.warm_start(path)
    ...     session.run(x.initializer)
    ...     session.run(x)
    array([1., 2.], dtype=float32)
    """
    words, former = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    variables = _by_name(_chosen(vars_to_warm_start))
    for name, parts in _by_name(get_collection(GraphKeys.TRAINABLE_VARIABLES)).items():
        if name in words:
            variables.setdefault(name, parts)
    for argument, given in (("var_name_to_prev_var_name", former), ("var_name_to_vocab_info", words)):
        unused = set(given) - set(variables)
        if unused:
            raise ValueError(
                f"warm_start: {argument} names {sorted(unused)}, which are not among the variables to warm-start: "
                f"{sorted(variables)}."
            )
    source = Source(ckpt_to_initialize_from)
    for name, parts in sorted(variables.items()):
        key = former.get(name, name)
        source.check(key, key)
        if name in words:
            _give_by_words(source, key, parts, words[name])
        else:
            source.give(key, parts if len(parts) > 1 else parts[0])


def _chosen(which) -> list:
    if which is None:
        return []
    if isinstance(which, str):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, which)
    if not isinstance(which, (list, tuple)):
        raise ValueError(
            f"warm_start: vars_to_warm_start must be a regular expression, a list of such or of variables, or None, "
            f"got {type(which).__name__}."
        )
    found = []
    for each in which:
        if isinstance(each, str):
            found += get_collection(GraphKeys.GLOBAL_VARIABLES, each)
        else:
            found += [each] if isinstance(each, Variable) else list(each)
    return found


def _by_name(variables) -> dict[str, list]:
    """Names to variables; the parts of a divided one are together, under its name."""
    found: dict[str, list] = {}
    for variable in variables:
        info = getattr(variable, "_save_slice_info", None)
        parts = found.setdefault(info.full_name if info else variable.name.partition(":")[0], [])
        if all(each is not variable for each in parts):
            parts.append(variable)
    return found


def _lines(path, count, argument) -> list[str]:
    """The words in a file, at most so many; -1 for all."""
    words = files.read(path).decode("utf-8", "surrogateescape").splitlines()
    if count > len(words):
        raise errors.invalid_argument(f"warm_start: {argument} is {count}, but {path} has {len(words)} lines.")
    return words if count < 0 else words[:count]


def _give_by_words(source, key, parts, info):
    """Lets the parts of a variable begin with a tensor whose rows or columns are found by words."""
    old = {word: place for place, word in enumerate(_lines(info.old_vocab, info.old_vocab_size, "old_vocab_size"))}
    new = _lines(info.new_vocab, info.new_vocab_size, "new_vocab_size")
    places = np.array([old.get(word, -1) for word in new] + [-1] * info.num_oov_buckets, np.int64)
    shape, dtype = list(source.shapes[key]), parts[0].dtype.base_dtype
    if len(shape) <= info.axis or places.max(initial=-1) >= shape[info.axis]:
        raise ValueError(
            f"warm_start: {info.old_vocab} has words for more than the tensor {key} of shape {shape} has along axis "
            f"{info.axis}."
        )
    shape[info.axis] = len(places)
    slices = getattr(parts[0], "_save_slice_info", None)
    whole = list(slices.full_shape) if slices else parts[0].shape.as_list()
    if whole != shape:
        raise ValueError(
            f"warm_start: {parts[0].name} has shape {whole}, and the words of {info.new_vocab} with "
            f"{info.num_oov_buckets} others make {shape} of the tensor {key}."
        )
    (before,) = RESTORE_V2(source.path, [key], [""], dtypes=[dtype], name="checkpoint_initializer")
    before.set_shape(source.shapes[key])
    fresh = _fresh(info, shape, dtype)
    # Where a word is new, its row is taken from those that follow the old ones.
    rows = np.where(places < 0, np.arange(len(places)) + source.shapes[key][info.axis], places)
    values = GATHER_V2(CONCAT([before, fresh], info.axis), rows, info.axis)
    for part in parts:
        slices = getattr(part, "_save_slice_info", None)
        begin_with(part, SLICE(values, list(slices.var_offset), list(slices.var_shape)) if slices else values)


def _fresh(info, shape, dtype):
    """A row for every word, of which those of new words are used."""
    if info.backup_initializer is None:
        return FILL(shape, np.zeros((), dtype.as_numpy_dtype))
    return info.backup_initializer(shape=shape, dtype=dtype)
