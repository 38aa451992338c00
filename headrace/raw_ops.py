"""Every op under TensorFlow's name, as a function of keyword arguments: `tf.raw_ops.Add(x=..., y=...)`."""

from typing import Any as _Any  # there is an op of that name

from headrace._src import index
from headrace._src.op.definition import REGISTRY
from headrace._src.op.raw import raw_function


def __getattr__(name: str) -> _Any:
    if name not in REGISTRY:
        raise AttributeError(f"module 'headrace.raw_ops' has no attribute {name!r}")
    function = globals()[name] = raw_function(REGISTRY[name])
    return function


def __dir__() -> list[str]:
    return sorted({*index.OPS, *REGISTRY})
