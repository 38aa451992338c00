"""Rows of (expression, what TensorFlow gives): a repr, or the class of the exception."""

import pytest


def check(expression: str, expected, names: dict) -> None:
    """Evaluates `expression` and compares it with `expected`, which came from TensorFlow 2.21."""
    if isinstance(expected, str):
        assert repr(eval(expression, names)) == expected
    else:
        with pytest.raises(expected) as caught:
            eval(expression, names)
        assert type(caught.value) is expected
