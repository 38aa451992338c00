"""`tf.compat.v1.estimator.inputs`: arrays and data frames as an `input_fn`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.compat.data_iterators import make_one_shot_iterator
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import DatasetV2
from headrace._src.graph.control.python_functions import numpy_function
from headrace._src.op.api import api


def _batches(columns, batch_size, num_epochs, shuffle, capacity):
    """A dataset of batches, each a list with a part of every column.

    The graph has the numbers of the rows only: arrays stay outside of it, and of its messages.
    """
    size = len(columns[0])
    rows = DatasetV2.range(size).repeat(num_epochs)
    if shuffle:
        rows = rows.shuffle(max(capacity, 1))
    types = [dtypes.as_dtype(column.dtype) for column in columns]

    def taken(numbers):
        return [column[numbers] for column in columns]

    def part(numbers):
        found = numpy_function(taken, [numbers], types)
        for tensor, column in zip(found, columns):
            tensor.set_shape(TensorShape([None, *column.shape[1:]]))
        return tuple(found)

    return rows.batch(batch_size).map(part)


def _input_fn(features, labels, batch_size, num_epochs, shuffle, capacity) -> Callable:
    """A function that returns features, or features and labels: single arrays, or dictionaries of them."""
    named = features if isinstance(features, dict) else {None: features}
    targets = {} if labels is None else labels if isinstance(labels, dict) else {None: labels}
    columns = [*named.values(), *targets.values()]

    def packed(parts, like, names):
        return parts[0] if not isinstance(like, dict) else dict(zip(names, parts))

    def input_fn() -> Any:
        dataset = _batches(columns, batch_size, num_epochs, shuffle, capacity)
        found = list(make_one_shot_iterator(dataset).get_next())
        given = packed(found[: len(named)], features, named)
        if labels is None:
            return given
        return given, packed(found[len(named) :], labels, targets)

    return input_fn


def _check(label, shuffle, lengths):
    if not isinstance(shuffle, bool):
        raise ValueError(
            f"{label}: shuffle must be True or False, got {shuffle!r}. (True for training, False for evaluation.)"
        )
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{label}: all arrays must be equally long, got {lengths}.")


@api("compat.v1.estimator.inputs.numpy_input_fn", "estimator.inputs.numpy_input_fn", dispatch=False)
def numpy_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1
) -> Callable:
    """Arrays as an `input_fn`.

    Args:
        x: an array, or arrays by name: the features.
        y: an array, or arrays by name: the labels.
        batch_size: how many examples in a batch. Batches go on from one epoch to the next.
        num_epochs: how often the data is gone through; None for ever.
        shuffle: whether in another order each time; must be given.
        queue_capacity: among how many examples is shuffled.
        num_threads: accepted.

    Raises:
        ValueError: arrays are not equally long, there are none, or shuffle is not given.
        TypeError: x is neither an array nor a dictionary.

    >>> inputs = tf.compat.v1.estimator.inputs
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     features = inputs.numpy_input_fn({"a": np.arange(3)}, batch_size=2, shuffle=False)()
    ...     session.run(features)["a"].tolist()
    [0, 1]
    """
    if not isinstance(x, (dict, np.ndarray)):
        raise TypeError(f"numpy_input_fn: x must be an array or a dictionary of arrays, got {type(x).__name__}.")
    if isinstance(x, dict) and not x:
        raise ValueError("numpy_input_fn: x must not be empty.")
    if isinstance(y, dict) and not y:
        raise ValueError("numpy_input_fn: y must not be empty; without labels it is None.")
    if isinstance(x, dict) and isinstance(y, dict) and set(x) & set(y):
        raise ValueError(f"numpy_input_fn: x and y both have {sorted(set(x) & set(y))}; names must differ.")
    arrays = {
        **(x if isinstance(x, dict) else {"x": x}),
        **({} if y is None else y if isinstance(y, dict) else {"y of labels": y}),
    }
    _check("numpy_input_fn", shuffle, {key: len(value) for key, value in arrays.items()})
    return _input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity)


@api("compat.v1.estimator.inputs.pandas_input_fn", "estimator.inputs.pandas_input_fn", dispatch=False)
def pandas_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1, target_column="target"
) -> Callable:
    """A data frame of pandas as an `input_fn`: each column is a feature.

    Args:
        x: a data frame.
        y: a series or a data frame: the labels.
        batch_size, num_epochs, shuffle, queue_capacity, num_threads: as of `numpy_input_fn`.
        target_column: accepted; the name that labels get, which no feature may have.

    Raises:
        ValueError: rows of x and y differ, or shuffle is not given.
        TypeError: x is no data frame.
    """
    if not hasattr(x, "columns") or not hasattr(x, "index"):
        raise TypeError(f"pandas_input_fn: x must be a data frame of pandas, got {type(x).__name__}.")
    if y is not None and not np.array_equal(x.index, y.index):
        raise ValueError("pandas_input_fn: the rows of x and y must have the same labels (index).")
    if y is not None and not hasattr(y, "columns") and target_column in x:
        raise ValueError(f"pandas_input_fn: x has a column {target_column!r}; give target_column another name.")
    _check("pandas_input_fn", shuffle, {"x": len(x)})
    features = {name: _array(x[name]) for name in x.columns}
    labels = None if y is None else {n: _array(y[n]) for n in y.columns} if hasattr(y, "columns") else _array(y)
    return _input_fn(features, labels, batch_size, num_epochs, shuffle, queue_capacity)


def _array(series):
    """A column as an array; those of Python objects are text, and so are pandas' own strings."""
    array = np.asarray(series)
    return array if array.dtype.kind in "biufc" else np.asarray([str(value) for value in array], object)
