"""Rows of (expression, what TensorFlow gives): a repr, or the class of the exception."""

import ast
import re
import sys

import pytest

_PAIRS = re.compile(r"OrderedDict\((\{[^{}]*\})\)")


def check(expression: str, expected, names: dict) -> None:
    """Evaluates `expression` and compares it with `expected`, which came from TensorFlow 2.21."""
    if isinstance(expected, str):
        found = repr(eval(expression, names))
        if sys.version_info >= (3, 12):  # where an OrderedDict prints as one of a dict
            found = _PAIRS.sub(lambda match: f"OrderedDict({list(ast.literal_eval(match[1]).items())})", found)
        assert found == expected
    else:
        with pytest.raises(expected) as caught:
            eval(expression, names)
        assert type(caught.value).__name__ == expected.__name__  # a class that is two has the name of one
