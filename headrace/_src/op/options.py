"""Arguments of public functions that are no tensors: what is true or false, or a real number.

TF: an option is asked for its truth before anything is done with it, so that an array is refused also where the answer
would not matter. Functions that have no use for an option, or only when something fails, ask here as well: a call that
is wrong is wrong for both.
"""

import numbers
import reprlib

import numpy as np

from headrace._src.core import errors
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import UnfitValueError


def truth(name: str, value) -> bool:
    """Whether an option holds.

    Raises:
        UnfitValueError: it has no truth value.
    """
    try:
        return bool(value)
    except errors.OperatorNotAllowedInGraphError:
        raise
    except (TypeError, ValueError) as error:
        raise UnfitValueError(f"{name} must be true or false, got {reprlib.repr(value)}: {error}") from None


def real(name: str, value) -> float:
    """An argument that is a real number and known now: Python's, or a scalar array or tensor.

    Raises:
        UnfitValueError: it is something else, or has an imaginary part.
    """
    number = _scalar(value)
    if isinstance(number, (numbers.Real, np.floating, np.bool_)):
        return float(number)
    raise UnfitValueError(f"{name} must be a real number, got {reprlib.repr(value)}.")


def _scalar(value):
    """What a scalar array or eager tensor holds; other values as they are."""
    value = value._a if isinstance(value, EagerTensor) else value
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value
