"""`tensorflow.python.ops.gen_math_ops` and its siblings: ops as functions, which take arguments by position."""

import functools
import inspect
import re

from headrace._src import index
from headrace._src.core.tracebacks import entrance
from headrace._src.op.raw import raw_function
from headrace._src.op.registry import lookup


def function_name(op: str) -> str:
    """What the function of an op is called: `MatMul` is `mat_mul`, `Conv2D` is `conv2d`.

    >>> from headrace._src.compat.tensorflow_names.op_functions import function_name
    >>> function_name("BatchMatMulV2"), function_name("IsNan")
    ('batch_mat_mul_v2', 'is_nan')
    """
    parted = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", op))
    return parted.lower()


@functools.cache
def _ops() -> dict[str, str]:
    return {function_name(op): op for op in index.OPS}


def __getattr__(name):
    op = _ops().get(name.removeprefix("_"))  # TF: some names begin with an underscore, such as `_clip_by_value`
    if op is None:
        raise AttributeError(f"No op of headrace has the function name {name!r}.")
    function = _with_positions(raw_function(lookup(op)), name)
    globals()[name] = function
    return function


def _with_positions(raw, name):
    """The function of named arguments, which also takes them by position."""
    parameters = list(raw.__signature__.parameters.values())
    # Attributes without a default stand before those with one; `name` is the last.
    ordered = sorted(parameters, key=lambda p: p.default is not p.empty)
    signature = inspect.Signature([p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in ordered])

    @entrance
    def function(*args, **kwargs):
        return raw(**signature.bind(*args, **kwargs).arguments)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = raw.__doc__
    return function
