"""The exceptions of `tf.errors`: one class per status code, all of them an `OpError`.

    Exception
     +-- OpError                       any failure of an op; carries .message .op .node_def .error_code
     |    +-- CancelledError            1  the step was cancelled
     |    +-- UnknownError              2  a failure that nothing below describes
     |    +-- InvalidArgumentError      3  a value, shape or dtype that the op cannot take
     |    +-- DeadlineExceededError     4  a time limit passed
     |    +-- NotFoundError             5  a file, key or resource is not there
     |    +-- AlreadyExistsError        6  what was to be made is there already
     |    +-- PermissionDeniedError     7  the caller may not do this
     |    +-- ResourceExhaustedError    8  memory or a quota ran out
     |    +-- FailedPreconditionError   9  the system is in the wrong state (an uninitialised variable)
     |    +-- AbortedError             10  a concurrent operation won
     |    +-- OutOfRangeError          11  past the end (of a file, of a dataset, of a numeric range)
     |    +-- UnimplementedError       12  the op exists, but not for these arguments
     |    +-- InternalError            13  an invariant of headrace itself does not hold
     |    +-- UnavailableError         14  a remote end is not reachable now
     |    +-- DataLossError            15  stored bytes are corrupt
     |    +-- UnauthenticatedError     16  no valid credentials
     +-- TypeError
          +-- OperatorNotAllowedInGraphError   Python needs a value where there is only a symbol

Where TensorFlow raises one class or another for the same mistake, by the path taken, headrace raises one that is both:

    GraphBuildError              InvalidArgumentError, ValueError   shapes that do not fit, found while a graph is built
    DTypeMismatchError           InvalidArgumentError, TypeError, ValueError   operands of different dtypes
    TooFewError                  InvalidArgumentError, ValueError, IndexError  a dimension that is not there
    CompositeConversionError     TypeError, ValueError              a ragged or sparse tensor where a dense one is due
    InaccessibleTensorError      ValueError, TypeError              a tensor of a graph, used outside of it
    NoSavedModelError            NotFoundError, OSError             a folder without a SavedModel
    UnknownOperationError        KeyError                           a name that no operation of a loaded graph has
    NoProfileError               UnavailableError, RuntimeError     no server has given a profile
    AddressError                 InvalidArgumentError, RuntimeError an address is not one
    AutoGraphConversionError     ValueError                         a function that AutoGraph cannot convert

headrace's own code raises them through the lower-case helpers, which need only the message:

    raise errors.invalid_argument("math.sqrt: x must be floating or complex, got int32.")
"""

from __future__ import annotations

import re
import traceback
from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An op failed. Catch a subclass to tell one kind of failure from another.

    Args:
        node_def: The failing node as a `NodeDef`, or None when the op ran eagerly.
        op: The failing graph operation, or None.
        message: What happened.
        error_code: One of the integer codes of `tf.errors`.
        *payloads: At most one dict from type URL to bytes, kept as `experimental_payloads`.

    >>> tf.errors.OpError(None, None, "it failed", tf.errors.ABORTED).error_code
    10
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *payloads: Any) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._origin: str | None = None
        self._calls: tuple[tuple[str, int, str], ...] = ()
        # TF: only the first payload counts, and what is no dict is ignored.
        self._experimental_payloads = (
            dict(payloads[0]) if payloads and isinstance(payloads[0], dict) else {}
        )

    @property
    def message(self) -> str:
        """What happened, without the place where the failing op was made."""
        return self._message

    def add_to_message(self, text: str) -> None:
        """Say more, before the place where the failing op was made."""
        self._message += text

    @property
    def op(self) -> Any:
        """The failing graph operation, or None if it ran eagerly."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The `NodeDef` of the failing node, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The integer status code, such as `tf.errors.INVALID_ARGUMENT`."""
        return self._error_code

    @property
    def experimental_payloads(self) -> dict:
        """Additional details: a dict from type URL to bytes."""
        return self._experimental_payloads

    def __str__(self) -> str:
        return f"{self._message}{self._where()}"

    def _where(self) -> str:
        """Where the failing operation was made, as text to put after the message."""
        return self._origin if self._origin is not None else _origin_of(self._op, self._calls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._message!r})"

    def __reduce__(self):
        # A graph operation drags its whole graph along, so only the text that it adds to the message is kept.
        state = dict(self.__dict__)
        state["_op"] = None
        state["_origin"] = self._where()
        return (_rebuild, (type(self), self.args, state))


def add_call(error: BaseException, location: tuple[str, int, str]) -> None:
    """Note that the graph in which an operation failed was run by one that was made at this line: file, line, function.

    Of the lines of one function, only the innermost is kept.
    """
    if isinstance(error, OpError) and error._op is not None:
        inner = error._calls[-1] if error._calls else getattr(error._op, "location", None)
        if location[0] and (inner is None or (location[0], location[2]) != (inner[0], inner[2])):
            error._calls = (*error._calls, location)


def with_message(error: OpError, message: str) -> OpError:
    """An error like this one that says something else, or more."""
    other = _rebuild(type(error), (message,), error.__dict__)
    other._message = message
    return other


def _origin_of(op: Any, calls: tuple = ()) -> str:
    """Where `op` was created, as text to put after a message; empty if it does not say."""
    stack = getattr(op, "traceback", None)
    if not stack or not stack[-1].filename:
        return ""
    outer = [traceback.FrameSummary(*call) for call in reversed(calls)]
    lines = "".join(traceback.format_list([*outer, *stack]))
    return f"\n\nOriginal stack trace for {op.name!r}:\n{lines.rstrip()}"


def _rebuild(cls: type, args: tuple, state: dict) -> Any:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class CancelledError(OpError):
    """The operation was cancelled, for example because the queue or session it used was closed."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, CANCELLED, *args)


class UnknownError(OpError):
    """A failure of unknown kind, for example an exception raised inside a Python function op.

    `error_code` may be given, because errors from elsewhere may carry a code that has no class here.
    """

    def __init__(self, node_def, op, message, error_code=UNKNOWN, *args) -> None:
        super().__init__(node_def, op, message, error_code, *args)


class InvalidArgumentError(OpError):
    """An op got a value, a shape or a dtype that it cannot take.

    >>> tf.reshape([1, 2, 3], (2, 2))
    Traceback (most recent call last):
    ...
    headrace...InvalidArgumentError: ...
    """

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT, *args)


class DeadlineExceededError(OpError):
    """A time limit passed before the operation was done."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED, *args)


class NotFoundError(OpError):
    """Something that was asked for, such as a file or a checkpoint key, does not exist."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, NOT_FOUND, *args)


class AlreadyExistsError(OpError):
    """Something that was to be created exists already."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS, *args)


class PermissionDeniedError(OpError):
    """The caller is known, but may not do this."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED, *args)


class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota ran out."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED, *args)


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs, as when an uninitialised table is read."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION, *args)


class AbortedError(OpError):
    """The operation gave way to a concurrent one and may be tried again."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, ABORTED, *args)


class OutOfRangeError(OpError):
    """The operation went past the end, as an iterator does after its last element."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE, *args)


class UnimplementedError(OpError):
    """The op exists, but not for this combination of arguments or on this device."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED, *args)


class InternalError(OpError):
    """Something that headrace relies on internally turned out false."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, INTERNAL, *args)


class UnavailableError(OpError):
    """A remote end cannot be reached at the moment."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE, *args)


class DataLossError(OpError):
    """Stored data is corrupt or incomplete."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, DATA_LOSS, *args)


class UnauthenticatedError(OpError):
    """The request carries no valid credentials."""

    def __init__(self, node_def, op, message, *args) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED, *args)


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor was used where Python needs its value, as in `if x:` without AutoGraph."""


class _ByMessage:
    """Can be made of a message alone: who catches it as a ValueError or the like may make another of its class."""

    def __init__(self, *args) -> None:
        super().__init__(*((None, None, *args) if len(args) == 1 else args))


class GraphBuildError(_ByMessage, InvalidArgumentError, ValueError):
    """Shapes or values that an op cannot take, found while a graph is built. TF: a ValueError there."""


class DTypeMismatchError(_ByMessage, InvalidArgumentError, TypeError, ValueError):
    """Operands of different dtypes, or of one that the op does not take. TF: one of the classes, by the path taken."""


class TooFewError(_ByMessage, InvalidArgumentError, ValueError, IndexError):
    """A dimension was looked for that an argument does not have. TF: one of the classes, by who looks first."""


class CompositeConversionError(TypeError, ValueError):
    """A composite tensor where a dense one is expected. TensorFlow raises one or the other class, by the path taken."""


class InaccessibleTensorError(ValueError, TypeError):
    """A tensor of a graph used outside of it."""


class NoSavedModelError(_ByMessage, NotFoundError, OSError):
    """A folder without a SavedModel. TF: an OSError, where other missing files are a NotFoundError."""


class UnknownOperationError(KeyError):
    """A name of an operation that is not there. TF: a KeyError, where a user gives it."""


class NoProfileError(_ByMessage, UnavailableError, RuntimeError):
    """No server has given a profile. TF: a RuntimeError."""


class AddressError(_ByMessage, InvalidArgumentError, RuntimeError):
    """An address is not one. TF: a RuntimeError."""


class AutoGraphConversionError(ValueError):
    """A function that AutoGraph cannot convert; the message says why."""


_CLASS_OF_CODE: dict[int, Any] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}
_CODE_OF_CLASS = {cls: code for code, cls in _CLASS_OF_CODE.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The exception class of a status code.

    Raises:
        KeyError: The code has no class (0, which is success, has none either).
    """
    return _CLASS_OF_CODE[error_code]


def error_code_from_exception_type(cls: type) -> int | OpError:
    """The status code of an exception class of this module."""
    try:
        return _CODE_OF_CLASS[cls]
    except KeyError:
        # TF: for any other class an error object is returned, not raised.
        return UnknownError(None, None, f"Unknown class: {cls}", UNKNOWN)


def from_code(error_code: int, message: str, op: Any = None, node_def: Any = None) -> OpError:
    """The exception for a status code; a code without a class gives an UnknownError that keeps the code."""
    cls = _CLASS_OF_CODE.get(error_code)
    if cls is None:
        return UnknownError(node_def, op, message, error_code)
    return cls(node_def, op, message)


_TOO_BIG = re.compile("array is too big|[Mm]aximum (allowed|possible) (size|dimension)|larger than the maximum")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether NumPy refused a size that no memory holds, or that this machine's does not."""
    return isinstance(error, MemoryError) or (type(error) is ValueError and bool(_TOO_BIG.search(str(error))))


def cancelled(message: str, op: Any = None) -> CancelledError:
    return CancelledError(None, op, message)


def unknown(message: str, op: Any = None) -> UnknownError:
    return UnknownError(None, op, message)


def invalid_argument(message: str, op: Any = None) -> InvalidArgumentError:
    return InvalidArgumentError(None, op, message)


def deadline_exceeded(message: str, op: Any = None) -> DeadlineExceededError:
    return DeadlineExceededError(None, op, message)


def not_found(message: str, op: Any = None) -> NotFoundError:
    return NotFoundError(None, op, message)


def already_exists(message: str, op: Any = None) -> AlreadyExistsError:
    return AlreadyExistsError(None, op, message)


def permission_denied(message: str, op: Any = None) -> PermissionDeniedError:
    return PermissionDeniedError(None, op, message)


def resource_exhausted(message: str, op: Any = None) -> ResourceExhaustedError:
    return ResourceExhaustedError(None, op, message)


def failed_precondition(message: str, op: Any = None) -> FailedPreconditionError:
    return FailedPreconditionError(None, op, message)


def aborted(message: str, op: Any = None) -> AbortedError:
    return AbortedError(None, op, message)


def out_of_range(message: str, op: Any = None) -> OutOfRangeError:
    return OutOfRangeError(None, op, message)


def unimplemented(message: str, op: Any = None) -> UnimplementedError:
    return UnimplementedError(None, op, message)


def internal(message: str, op: Any = None) -> InternalError:
    return InternalError(None, op, message)


def unavailable(message: str, op: Any = None) -> UnavailableError:
    return UnavailableError(None, op, message)


def data_loss(message: str, op: Any = None) -> DataLossError:
    return DataLossError(None, op, message)


def unauthenticated(message: str, op: Any = None) -> UnauthenticatedError:
    return UnauthenticatedError(None, op, message)


_CODES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip

_CLASSES = (
    OpError, *_CODE_OF_CLASS, OperatorNotAllowedInGraphError, GraphBuildError, DTypeMismatchError, TooFewError,
    CompositeConversionError, InaccessibleTensorError, NoSavedModelError, UnknownOperationError, NoProfileError,
    AddressError, AutoGraphConversionError,
)  # fmt: skip
for _class in _CLASSES:
    _class.__module__ = "headrace.errors"  # what tracebacks and pickles say

PUBLIC = {
    **{f"errors.{name}": globals()[name] for name in _CODES},
    **{f"errors.{cls.__name__}": cls for cls in _CLASSES},
    "compat.v1.errors.exception_type_from_error_code": exception_type_from_error_code,
    "compat.v1.errors.error_code_from_exception_type": error_code_from_exception_type,
}
