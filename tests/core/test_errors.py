"""The exceptions of tf.errors, against what TensorFlow 2.21 answers."""

import copy
import pickle
import traceback

import pytest

from headrace._src.core import errors

# code, name of the code, class, helper
KINDS = [
    (1, "CANCELLED", "CancelledError", "cancelled"),
    (2, "UNKNOWN", "UnknownError", "unknown"),
    (3, "INVALID_ARGUMENT", "InvalidArgumentError", "invalid_argument"),
    (4, "DEADLINE_EXCEEDED", "DeadlineExceededError", "deadline_exceeded"),
    (5, "NOT_FOUND", "NotFoundError", "not_found"),
    (6, "ALREADY_EXISTS", "AlreadyExistsError", "already_exists"),
    (7, "PERMISSION_DENIED", "PermissionDeniedError", "permission_denied"),
    (8, "RESOURCE_EXHAUSTED", "ResourceExhaustedError", "resource_exhausted"),
    (9, "FAILED_PRECONDITION", "FailedPreconditionError", "failed_precondition"),
    (10, "ABORTED", "AbortedError", "aborted"),
    (11, "OUT_OF_RANGE", "OutOfRangeError", "out_of_range"),
    (12, "UNIMPLEMENTED", "UnimplementedError", "unimplemented"),
    (13, "INTERNAL", "InternalError", "internal"),
    (14, "UNAVAILABLE", "UnavailableError", "unavailable"),
    (15, "DATA_LOSS", "DataLossError", "data_loss"),
    (16, "UNAUTHENTICATED", "UnauthenticatedError", "unauthenticated"),
]


@pytest.mark.parametrize(("code", "constant", "class_name", "helper"), KINDS)
def test_each_kind(code, constant, class_name, helper):
    cls = getattr(errors, class_name)
    assert cls.__mro__[1] is errors.OpError
    assert getattr(errors, constant) == code
    assert errors.PUBLIC[f"errors.{constant}"] == code
    assert errors.PUBLIC[f"errors.{class_name}"] is cls
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code
    for error in (
        cls(None, None, "what happened"),
        cls(node_def=None, op=None, message="what happened"),
        getattr(errors, helper)("what happened"),
        errors.from_code(code, "what happened"),
    ):
        assert type(error) is cls
        assert (error.message, str(error), error.error_code) == ("what happened", "what happened", code)
        assert (error.op, error.node_def, error.experimental_payloads) == (None, None, {})
        assert repr(error) == f"{class_name}('what happened')"
    with pytest.raises(TypeError):
        cls(None, None)


def test_codes_without_a_class():
    assert errors.OK == 0
    for code in (0, 99):
        with pytest.raises(KeyError):
            errors.exception_type_from_error_code(code)
    error = errors.from_code(99, "odd")
    assert (type(error), error.error_code) == (errors.UnknownError, 99)
    # TensorFlow returns this one, it does not raise it.
    assert isinstance(errors.error_code_from_exception_type(ValueError), errors.UnknownError)


def test_payloads():
    error = errors.InvalidArgumentError(None, None, "m", {"a": b"b"})
    assert error.experimental_payloads == {"a": b"b"}
    assert errors.InvalidArgumentError(None, None, "m", {"a": b"b"}, {"c": b"d"}).experimental_payloads == {
        "a": b"b"
    }
    assert errors.InvalidArgumentError(None, None, "m", 5).experimental_payloads == {}


def test_operator_not_allowed_is_a_type_error():
    assert errors.OperatorNotAllowedInGraphError.__mro__[1] is TypeError
    assert str(errors.OperatorNotAllowedInGraphError("no")) == "no"


class Operation:
    """Stands for a graph operation that knows where it was made."""

    name = "model/dense"
    traceback = traceback.StackSummary.from_list([("train.py", 7, "call", "x = dense(x)")])

    def __reduce__(self):
        raise TypeError("graphs cannot be pickled")


def test_a_graph_operation_adds_its_origin():
    error = errors.invalid_argument("it failed", op=Operation())
    assert error.message == "it failed"
    assert "Original stack trace for 'model/dense':" in str(error)
    assert 'File "train.py", line 7, in call' in str(error)


@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_copies(copied):
    error = errors.InvalidArgumentError(None, Operation(), "m", {"a": b"b"})
    error.add_note("a note")
    again = copied(error)
    assert type(again) is errors.InvalidArgumentError
    assert str(again) == str(error)
    assert (again.message, again.error_code, again.args) == ("m", 3, error.args)
    assert again.experimental_payloads == {"a": b"b"}
    assert again.__notes__ == ["a note"]


def test_subclasses_with_another_constructor_pickle():
    again = pickle.loads(pickle.dumps(Custom("k")))
    assert (type(again), again.key, again.message) == (Custom, "k", "no such key: k")


class Custom(errors.NotFoundError):
    def __init__(self, key):
        super().__init__(None, None, f"no such key: {key}")
        self.key = key
