"""Columns as plain dictionaries, for the files of models with layers over them; and back."""

from typing import Any

import numpy as np

from headrace._src.compat.features import columns, sequences
from headrace._src.compat.variables import initializers
from headrace._src.core import dtypes

_PLAIN = (str, int, float, bool, type(None))


def config_of(column: columns.Column) -> dict:
    """A column as a dictionary that JSON can hold.

    Raises:
        NotImplementedError: it has a function, which JSON cannot hold.
    """
    fields = zip(column._fields, column)  # type: ignore[attr-defined]  # columns are named tuples
    return {"column": type(column).__name__, "config": {name: _plain(column, name, value) for name, value in fields}}


def _plain(column, name, value) -> Any:
    if isinstance(value, columns.Column):
        return config_of(value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(column, name, item) for item in value]
    if isinstance(value, dtypes.DType):
        return {"dtype": value.name}
    if hasattr(initializers, type(value).__name__) and hasattr(value, "get_config"):
        config = {key: _plain(column, key, item) for key, item in value.get_config().items()}
        return {"initializer": type(value).__name__, "config": config}
    raise NotImplementedError(f"Column {column.name}: {name} is {value!r}, which the file of a model cannot hold. Save "
                              "the weights alone, and make the layer anew.")


def column_of(config: dict) -> columns.Column:
    """The column of which `config_of` gave the dictionary."""
    kind = getattr(columns, config["column"], None) or getattr(sequences, config["column"])
    return kind(**{name: _value(value) for name, value in config["config"].items()})


def _value(value) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    if not isinstance(value, dict):
        return value
    if "column" in value:
        return column_of(value)
    if "dtype" in value and len(value) == 1:
        return dtypes.as_dtype(value["dtype"])
    return getattr(initializers, value["initializer"])(**{k: _value(v) for k, v in value["config"].items()})
